//! One module for each format or family of formats.

#![allow(clippy::struct_field_names, reason = "fields are named as the formats name them")]

pub(crate) mod actionlint;
pub(crate) mod bandit;
pub(crate) mod cargo_json;
pub(crate) mod commitlint;
pub(crate) mod eslint;
pub(crate) mod gcc;
pub(crate) mod go_build;
pub(crate) mod go_test;
pub(crate) mod golangci;
pub(crate) mod govulncheck;
pub(crate) mod jest;
pub(crate) mod junit;
pub(crate) mod libtest;
pub(crate) mod make;
pub(crate) mod markdownlint;
pub(crate) mod mocha;
pub(crate) mod mypy;
pub(crate) mod nextest;
pub(crate) mod prettier;
pub(crate) mod pyright;
pub(crate) mod pytest;
pub(crate) mod ruff;
pub(crate) mod rustc;
pub(crate) mod rustfmt;
pub(crate) mod sarif;
pub(crate) mod staticcheck;
pub(crate) mod tap;
pub(crate) mod trace;
pub(crate) mod tsc;
pub(crate) mod vermin;
pub(crate) mod vitest_bench;
pub(crate) mod yamllint;

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::text::looked_at;

/// A pattern of this crate; each is compiled once. One that does not compile matches nothing, and a test finds it.
pub(crate) type Pattern = LazyLock<Option<Regex>>;

/// The groups of `pattern` in `line`.
pub(crate) fn matched<'l>(pattern: &Pattern, line: &'l str) -> Option<Captures<'l>> {
    looked_at(line.len());
    pattern.as_ref().and_then(|pattern| pattern.captures(line))
}

/// A group as text; empty where it is absent.
pub(crate) fn part<'l>(groups: &Captures<'l>, name: &str) -> &'l str {
    groups.name(name).map_or("", |group| group.as_str())
}

/// A group as a number.
pub(crate) fn number<T: std::str::FromStr>(groups: &Captures<'_>, name: &str) -> Option<T> {
    part(groups, name).parse().ok()
}

/// Milliseconds as programs give them: rounded, and never below 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; `as` saturates")]
pub(crate) fn milliseconds(value: f64) -> Option<u64> {
    value.is_finite().then(|| value.max(0.0).round() as u64)
}
