//! One tool, one file.

pub mod tokens_build;
pub mod tokens_diff;
