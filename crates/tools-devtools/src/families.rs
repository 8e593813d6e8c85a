//! The families: one per ecosystem, since a project that has use for one need not have any for another.

use contract::Toolset;
use kit::{Entry, Family};

use crate::tools;

/// What runs said, and those that go on.
pub const RUNS: Toolset = Toolset("runs");

/// All of this crate.
pub static FAMILIES: &[&Family] = &[&RUNS_FAMILY];

/// What runs said, and those that go on: of use to whoever runs anything.
pub static RUNS_FAMILY: Family = Family {
    name: "runs",
    guide: "What a program said in full: run_output. Calls that go on: job_status, job_cancel.",
    markers: &[],
    toolsets: &[RUNS],
    tools: &[
        Entry::read::<tools::run_output::RunOutput>(),
        Entry::read::<tools::job_status::JobStatus>(),
        Entry::read::<tools::job_cancel::JobCancel>(),
    ],
    sections: &[],
};
