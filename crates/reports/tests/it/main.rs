//! What is read of captured outputs, and what holds for any output.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod compilers;
mod every;
mod go;
mod identity;
mod linters;
mod node;
mod others;
mod python;
mod rust;
mod samples;

use gatewright_reports::{Context, Diagnostic, Format, Report, TestCase, read};

/// The directory of the runs that the fixtures were captured from.
const ROOT: &str = "/srv/shop";

/// A captured file.
macro_rules! fixture {
    ($path:literal) => {
        include_bytes!(concat!("../../fixtures/", $path)).as_slice()
    };
}
use fixture;

fn context(dir: &str) -> Context<'_> {
    Context { root: ROOT, dir, modules: &[("example.com/shop", "go")] }
}

/// Reads what was written to standard output.
fn out(format: Format, dir: &str, stdout: &[u8], exit: i32) -> Report {
    read(format, stdout, b"", Some(exit), &context(dir))
}

/// Reads what was written to standard error.
fn err(format: Format, dir: &str, stderr: &[u8], exit: i32) -> Report {
    read(format, b"", stderr, Some(exit), &context(dir))
}

/// Where a diagnostic is, as `file:line:column`.
fn at(diagnostic: &Diagnostic) -> String {
    let part = |number: Option<u32>| number.map(|number| format!(":{number}")).unwrap_or_default();
    let file = diagnostic.file.as_deref().unwrap_or("-");
    format!("{file}{}{}", part(diagnostic.line), part(diagnostic.column))
}

/// Where a test failed, as `file:line`.
fn spot(test: &TestCase) -> String {
    let line = test.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}", test.file.as_deref().unwrap_or("-"))
}

/// The test of a name.
fn named<'r>(report: &'r Report, name: &str) -> &'r TestCase {
    report
        .tests
        .iter()
        .find(|test| test.name == name)
        .unwrap_or_else(|| panic!("no test {name}: {report:#?}"))
}

/// The diagnostic of a rule.
fn ruled<'r>(report: &'r Report, rule: &str) -> &'r Diagnostic {
    let found = report.diagnostics.iter().find(|diagnostic| diagnostic.rule.as_deref() == Some(rule));
    found.unwrap_or_else(|| panic!("no diagnostic {rule}: {report:#?}"))
}
