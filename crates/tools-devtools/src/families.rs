//! The families: one per ecosystem, since a project that has use for one need not have any for another.

use contract::Toolset;
use kit::{Entry, Family};

use crate::tools;

/// What runs said, and those that go on.
pub const RUNS: Toolset = Toolset("runs");

/// Projects with a Makefile.
pub const MAKE: Toolset = Toolset("make");

/// Go modules.
pub const GO: Toolset = Toolset("go");

/// All of this crate.
pub static FAMILIES: &[&Family] = &[&RUNS_FAMILY, &MAKE_FAMILY, &GO_FAMILY];

/// Go modules.
pub static GO_FAMILY: Family = Family {
    name: "go",
    guide: "Go: go_test, go_build, go_fmt, go_vet and more; go_mod_tidy for modules.",
    markers: &["go.mod", "go.work"],
    toolsets: &[GO],
    tools: &[
        Entry::run::<tools::go_test::GoTest>(),
        Entry::run::<tools::go_build::GoBuild>(),
        Entry::run::<tools::go_fmt::GoFmt>(),
        Entry::run::<tools::go_vet::GoVet>(),
        Entry::run::<tools::go_lint::GoLint>(),
        Entry::run::<tools::staticcheck::Staticcheck>(),
        Entry::run::<tools::go_mod_tidy::GoModTidy>(),
        Entry::run::<tools::go_mod_download::GoModDownload>(),
        Entry::run::<tools::go_benchmark::GoBenchmark>(),
        Entry::run::<tools::go_generate::GoGenerate>(),
        Entry::run::<tools::go_work::GoWork>(),
        Entry::run::<tools::go_vulncheck::GoVulncheck>(),
    ],
    sections: &[],
};

/// Projects with a Makefile.
pub static MAKE_FAMILY: Family = Family {
    name: "make",
    guide: "Make targets: make_lint, make_test, make_build, make_depend, make_clean.",
    markers: &["Makefile", "makefile", "GNUmakefile"],
    toolsets: &[MAKE],
    tools: &[
        Entry::run::<tools::make_lint::MakeLint>(),
        Entry::run::<tools::make_test::MakeTest>(),
        Entry::run::<tools::make_depend::MakeDepend>(),
        Entry::run::<tools::make_build::MakeBuild>(),
        Entry::run::<tools::make_clean::MakeClean>(),
    ],
    sections: &[],
};

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
