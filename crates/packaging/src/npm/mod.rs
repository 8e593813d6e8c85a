//! Packages of npm. The rules were read from npm's, publint's and TypeScript's behaviour: `docs/design/npm-packing.md`.

pub mod bill;
pub mod exports;
mod json;
pub mod lint;
pub mod list;
pub mod manifest;
pub mod pattern;
pub(crate) mod syntax;
pub mod tarball;
pub mod types;
pub mod workspaces;
