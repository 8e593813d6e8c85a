//! One tool, one file.

pub mod job_cancel;
pub mod job_status;
pub mod run_output;
