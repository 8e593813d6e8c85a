//! What programs report, read from their output into one vocabulary of diagnostics and tests.
//!
//! [`read`] takes a [`Format`], what the program wrote and its exit code, and gives a [`Report`]: failures first, in the
//! order in which they happened, each with an identity that stays the same from run to run ([`FailureId`]). It never
//! claims more than it read: [`Parsed`] says how much was understood, and figures that contradict each other are told
//! in `disagreements`.
//!
//! There is no I/O, and any bytes give a report. Lists and texts are bounded by the constants here; counts are whole.
//!
//! ```
//! use gatewright_reports::{Context, Format, read};
//!
//! let context = Context { root: "/srv/shop", ..Context::default() };
//! let report = read(Format::Tsc, b"/srv/shop/a.ts(1,7): error TS2322: No.\n", b"", Some(1), &context);
//! let first = &report.diagnostics[0];
//! assert_eq!((first.file.as_deref(), first.line, first.rule.as_deref()), (Some("a.ts"), Some(1), Some("TS2322")));
//! ```

mod context;
mod coverage;
mod draft;
mod figures;
mod format;
mod formats;
mod id;
mod json;
mod profile;
mod report;
#[cfg(test)]
mod size;
mod text;

pub use context::Context;
pub use coverage::coverage_summary;
pub use figures::{coverage_py, pytest_benchmark};
pub use format::{Format, UnknownFormat, read};
pub use id::{FailureId, NotAnId, normal};
pub use profile::{Profile, Spot, cpu_profile, heap_profile};
pub use report::{
    Benchmark, Counts, Coverage, Covered, Diagnostic, Failure, Level, Levels, MAX_DETAIL, MAX_DIAGNOSTICS,
    MAX_FAILED, MAX_FIGURES, MAX_MESSAGE, MAX_NAME, MAX_PASSED, Outcome, Parsed, Report, TestCase,
};
