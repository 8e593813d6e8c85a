//! Accessibility findings, whoever makes them.
//!
//! - [`finding`]: issues, their nodes and criteria; the same for both ways of looking.
//! - [`engine`]: what axe-core answers, read.
//! - [`report`]: findings as files, for people and for programs.
//! - [`check`]: the rules that markup alone decides, under axe's ids, for files and for machines without a browser. It names
//!   what it cannot decide.
//!
//! Without I/O: texts come in, findings go out. The rules are those of axe-core 4.14 by id, impact and criteria; how names
//! and roles come about follows accname-1.2, ARIA 1.2 and HTML-AAM as axe-core reads them.

mod catalogue;
mod dom;
pub mod engine;
pub mod finding;
mod focus;
mod hidden;
mod name;
pub mod report;
mod role;
mod rules;
mod scan;
mod spec;
mod style;
mod table;
mod text;

pub use finding::{Box as Rectangle, Finding, Findings, Impact, Node};
pub use rules::{check, undecided};
