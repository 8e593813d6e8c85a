//! One tool, one file.

pub mod tokens_build;
