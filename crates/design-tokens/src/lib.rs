//! A compiler for design tokens: the Design Tokens Community Group format 2025.10 (format, color and resolver modules)
//! and the older dialects that are still about, to CSS, SCSS and JavaScript.
//!
//! It has no I/O: a [`Loader`] gives texts by name. All errors come in one go, each with file, line, column, code and
//! what to do; where there is an error there is no output.
//!
//! ```
//! use std::collections::BTreeMap;
//! use design_tokens::{Options, Platform, compile};
//!
//! let files = BTreeMap::from([(
//!     "tokens.json".to_owned(),
//!     r#"{"space": {"$type": "dimension", "s": {"$value": {"value": 4, "unit": "px"}}}}"#.to_owned(),
//! )]);
//! let compiled = compile(&["tokens.json".to_owned()], &files, &Options::default()).unwrap();
//! let css = compiled.emit(Platform::Css, &Options::default()).unwrap();
//! assert!(css[0].text.contains("--space-s: 4px;"));
//! ```

mod compile;
mod diagnostic;
pub mod diff;
mod emit;
mod extends;
mod json;
pub mod lint;
mod names;
mod options;
mod reference;
mod resolve;
mod resolver;
mod strict;
mod studio;
mod tree;
pub mod usage;
pub mod value;

pub use compile::{Compiled, Loader, Mode, Pair, Permutation, compile};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use emit::{Output, Platform, css_value, preview};
pub use options::{Contrast, ModeOptions, Naming, Options, References};
pub use resolve::{Map, Token, Tokens};
