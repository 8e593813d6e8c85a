//! One tool, one file.

pub mod a11y_scan;
pub mod release_pack_verify;
pub mod review_kit_create;
pub mod tokens_build;
pub mod tokens_diff;
pub mod tokens_lint;
pub mod tokens_usage;
pub mod visual_diff;
