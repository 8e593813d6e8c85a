//! One tool, one file.

pub mod a11y_scan;
pub mod tokens_build;
pub mod tokens_diff;
pub mod visual_diff;
