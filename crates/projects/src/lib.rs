//! What a folder is: its type, languages, frameworks, build system, package manager, targets, scripts, linters, tests,
//! CI, containers, hooks, editors and packages, read from its manifests.
//!
//! There is no I/O here: everything is looked at through [`Look`], over paths relative to a root, and within bounds
//! ([`MAX_FILE`], [`MAX_FOLDERS`], [`MAX_PACKAGES`]) that a hostile repository cannot raise. A manifest that cannot be
//! read is a [`Problem`], never the end.

mod builds;
mod detect;
mod gather;
mod golang;
mod look;
mod makefile;
mod manifest;
mod markers;
mod paths;
mod programs;
mod project;
mod survey;

pub use detect::{DetectError, detect};
pub use golang::{
    GoModule, GoPackage, GoUse, MAX_GO_FILES, MAX_GO_PACKAGES, go_module, go_modules,
    gomod::{GoMod, Replace, Require, Retract, parse as parse_go_mod},
    gowork::{GoWork, parse as parse_go_work},
};
pub use look::{Entry, EntryKind, Look, LookError, MAX_FILE, Trace, Traced, Within};
pub use makefile::{MAX_MAKEFILES, MAX_TARGETS, Makefile, Target, makefile};
pub use project::{
    BuildSystem, Found, Framework, Language, Package, PackageManager, Problem, Project, ProjectType, Script,
};
pub use survey::{Excludes, MAX_FOLDERS, MAX_PACKAGES};
