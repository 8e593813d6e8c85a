//! One tool, one file.

pub mod go_benchmark;
pub mod go_build;
pub mod go_fmt;
pub mod go_generate;
pub mod go_lint;
pub mod go_mod_download;
pub mod go_mod_tidy;
pub mod go_test;
pub mod go_vet;
pub mod go_vulncheck;
pub mod go_work;
pub mod job_cancel;
pub mod job_status;
pub mod make_build;
pub mod make_clean;
pub mod make_depend;
pub mod make_lint;
pub mod make_test;
pub mod run_output;
pub mod staticcheck;
