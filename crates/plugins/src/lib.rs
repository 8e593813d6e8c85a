//! Declarative plugins: other people's programs as tools, by a file that says what a caller may name, which argument list
//! that makes, and what the program may write. No code of a plugin's runs here: there is none.
//!
//! - [`component`]: the file beside a plugin that does have code, in WebAssembly: what that may.
//! - [`file`]: what a file may say, as it stands there.
//! - `git`: what it may say of the repository's record.
//! - [`input`]: what callers give, held to the kinds of value that the grammars have.
//! - [`template`]: the argument list that it makes, word by word.
//! - [`plugin`]: a file that was understood, its examples and refusals held.
//!
//! `docs/guide/plugins.md` takes an author through it.

pub mod component;
pub mod file;
mod git;
pub mod input;
pub mod plugin;
pub mod template;

pub use component::Manifest;
pub use file::{Kind, Parser, Pushes};
pub use plugin::{BadPlugin, MAX_FILE, Plugin, RESERVED, Tool};

/// The version of the schema that is understood.
pub const SCHEMA: u32 = 1;

/// JSON Schema of a plugin's file.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(file::File).to_value()
}
