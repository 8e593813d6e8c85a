//! The formats that are read, by their names.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::draft::{Draft, Kind};
use crate::formats::{
    actionlint, bandit, cargo_json, commitlint, eslint, gcc, go_build, go_test, golangci, govulncheck, jest,
    junit, libtest, make, markdownlint, mocha, mypy, nextest, prettier, pyright, pytest, ruff, rustfmt,
    sarif, staticcheck, tap, tsc, vermin, vitest_bench, yamllint,
};
use crate::text::torn;
use crate::{Context, Report};

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `go test -json` (test2json events), of Go 1.19 to 1.27.
    GoTestJson,
    /// What go build, go vet and gofmt -l print.
    GoBuild,
    /// JUnit XML, in the dialects of pytest, jest-junit, vitest, node and nextest.
    Junit,
    /// The Test Anything Protocol, 13 and 14, with subtests.
    Tap,
    /// pytest's terminal report.
    Pytest,
    /// `jest --json`.
    JestJson,
    /// `vitest --reporter=json`.
    VitestJson,
    /// `mocha --reporter json`.
    MochaJson,
    /// What `cargo test` prints.
    Libtest,
    /// nextest's JUnit file or its libtest-json lines.
    Nextest,
    /// `cargo --message-format=json`.
    CargoJson,
    /// What gcc, clang and the linker print.
    Gcc,
    /// `gcc -fdiagnostics-format=json`, or its SARIF.
    GccJson,
    /// What tsc prints, plain or pretty.
    Tsc,
    /// `prettier --list-different`.
    PrettierList,
    /// `rustfmt -l`, with or without `--check`.
    RustfmtList,
    /// `vitest bench --outputJson`.
    VitestBench,
    /// `eslint -f json`.
    EslintJson,
    /// markdownlint-cli, markdownlint-cli2: text or JSON.
    Markdownlint,
    /// `yamllint -f parsable`.
    YamllintParsable,
    /// commitlint: its text, or the JSON of commitlint-format-json.
    Commitlint,
    /// `actionlint -format '{{json .}}'`.
    ActionlintJson,
    /// `golangci-lint run --output.json.path=stdout` (2) or `--out-format json` (1).
    GolangciJson,
    /// `staticcheck -f json`, or its text.
    StaticcheckJson,
    /// `govulncheck -json`.
    GovulncheckJson,
    /// `ruff check --output-format=json`, and of `ruff format --check` the same.
    RuffJson,
    /// `pyright --outputjson`.
    PyrightJson,
    /// mypy's lines.
    Mypy,
    /// `bandit -f json`.
    BanditJson,
    /// `vermin -f parsable --violations`.
    VerminParsable,
    /// SARIF 2.1.0.
    Sarif,
    /// Which target make could not build, and compilers' lines on the way.
    Make,
}

/// A name that is no format's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no report format; the formats are: {names}", names = Format::ALL.map(Format::name).join(", "))]
pub struct UnknownFormat(pub String);

/// What a program wrote.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) stdout: &'a [u8],
    pub(crate) stderr: &'a [u8],
}

impl Input<'_> {
    /// Both streams, standard output first: in which order their lines were written is not known.
    pub(crate) fn both(self) -> [Self; 2] {
        [Self { stderr: b"", ..self }, Self { stdout: self.stderr, stderr: b"" }]
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 32] = [
        Self::GoTestJson,
        Self::GoBuild,
        Self::Junit,
        Self::Tap,
        Self::Pytest,
        Self::JestJson,
        Self::VitestJson,
        Self::MochaJson,
        Self::Libtest,
        Self::Nextest,
        Self::CargoJson,
        Self::Gcc,
        Self::GccJson,
        Self::Tsc,
        Self::PrettierList,
        Self::RustfmtList,
        Self::VitestBench,
        Self::EslintJson,
        Self::Markdownlint,
        Self::YamllintParsable,
        Self::Commitlint,
        Self::ActionlintJson,
        Self::GolangciJson,
        Self::StaticcheckJson,
        Self::GovulncheckJson,
        Self::RuffJson,
        Self::PyrightJson,
        Self::Mypy,
        Self::BanditJson,
        Self::VerminParsable,
        Self::Sarif,
        Self::Make,
    ];

    /// The format's name, as it is written in configuration.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The program whose format it is: the `source` of what is read, unless the output names another.
    pub fn program(self) -> &'static str {
        self.row().1
    }

    /// Whether it tells of tests; the others tell of diagnostics alone.
    pub fn has_tests(self) -> bool {
        self.row().2 == Kind::Tests
    }

    fn row(self) -> (&'static str, &'static str, Kind) {
        use Kind::{Document, Lines, Tests};
        match self {
            Self::GoTestJson => ("go-test-json", "go test", Tests),
            Self::GoBuild => ("go-build", "go", Lines),
            Self::Junit => ("junit", "junit", Tests),
            Self::Tap => ("tap", "tap", Tests),
            Self::Pytest => ("pytest", "pytest", Tests),
            Self::JestJson => ("jest-json", "jest", Tests),
            Self::VitestJson => ("vitest-json", "vitest", Tests),
            Self::MochaJson => ("mocha-json", "mocha", Tests),
            Self::Libtest => ("libtest", "cargo test", Tests),
            Self::Nextest => ("nextest", "cargo nextest", Tests),
            Self::CargoJson => ("cargo-json", "cargo", Lines),
            Self::Gcc => ("gcc", "gcc", Lines),
            Self::GccJson => ("gcc-json", "gcc", Lines),
            Self::Tsc => ("tsc", "tsc", Lines),
            Self::PrettierList => ("prettier-list", "prettier", Lines),
            Self::RustfmtList => ("rustfmt-list", "rustfmt", Lines),
            Self::VitestBench => ("vitest-bench", "vitest", Document),
            Self::EslintJson => ("eslint-json", "eslint", Document),
            Self::Markdownlint => ("markdownlint", "markdownlint", Lines),
            Self::YamllintParsable => ("yamllint-parsable", "yamllint", Lines),
            Self::Commitlint => ("commitlint", "commitlint", Lines),
            Self::ActionlintJson => ("actionlint-json", "actionlint", Document),
            Self::GolangciJson => ("golangci-json", "golangci-lint", Document),
            Self::StaticcheckJson => ("staticcheck-json", "staticcheck", Lines),
            Self::GovulncheckJson => ("govulncheck-json", "govulncheck", Document),
            Self::RuffJson => ("ruff-json", "ruff", Document),
            Self::PyrightJson => ("pyright-json", "pyright", Document),
            Self::Mypy => ("mypy", "mypy", Lines),
            Self::BanditJson => ("bandit-json", "bandit", Document),
            Self::VerminParsable => ("vermin-parsable", "vermin", Lines),
            Self::Sarif => ("sarif", "sarif", Document),
            Self::Make => ("make", "make", Lines),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// Reads what a program wrote. Any bytes give a report; how much of them was understood is in [`Report::parsed`].
///
/// `stdout` is the program's standard output, or the file that it wrote its report to (JUnit, SARIF). `exit` is its
/// exit code, nothing when it was killed: a run that reports no failure and does not end with 0 is said to contradict
/// itself. Output is expected as it was written: of formats of lines, a last line without an end is taken as torn, and
/// is not read. The work is linear in the output; beside it, a report of bounded size is held.
pub fn read(
    format: Format,
    stdout: &[u8],
    stderr: &[u8],
    exit: Option<i32>,
    context: &Context<'_>,
) -> Report {
    let (_, program, kind) = format.row();
    let mut draft = Draft::new(context, program, kind);
    let (input, into) = (Input { stdout, stderr }, &mut draft);
    match format {
        Format::GoTestJson => go_test::read(input, into),
        Format::GoBuild => go_build::read(input, into),
        Format::Junit => junit::read(input, into),
        Format::Tap => tap::read(input, into),
        Format::Pytest => pytest::read(input, into),
        Format::JestJson | Format::VitestJson => jest::read(input, into),
        Format::MochaJson => mocha::read(input, into),
        Format::Libtest => libtest::read(input, into),
        Format::Nextest => nextest::read(input, into),
        Format::CargoJson => cargo_json::read(input, into),
        Format::Gcc => gcc::read(input, into),
        Format::GccJson => gcc::read_json(input, into),
        Format::Tsc => tsc::read(input, into),
        Format::PrettierList => prettier::read(input, into),
        Format::RustfmtList => rustfmt::read(input, into),
        Format::VitestBench => vitest_bench::read(input, into),
        Format::EslintJson => eslint::read(input, into),
        Format::Markdownlint => markdownlint::read(input, into),
        Format::YamllintParsable => yamllint::read(input, into),
        Format::Commitlint => commitlint::read(input, into),
        Format::ActionlintJson => actionlint::read(input, into),
        Format::GolangciJson => golangci::read(input, into),
        Format::StaticcheckJson => staticcheck::read(input, into),
        Format::GovulncheckJson => govulncheck::read(input, into),
        Format::RuffJson => ruff::read(input, into),
        Format::PyrightJson => pyright::read(input, into),
        Format::Mypy => mypy::read(input, into),
        Format::BanditJson => bandit::read(input, into),
        Format::VerminParsable => vermin::read(input, into),
        Format::Sarif => sarif::read(input, into),
        Format::Make => make::read(input, into),
    }
    let lines = kind == Kind::Lines || matches!(format, Format::Tap | Format::Pytest | Format::Libtest);
    draft.cut |= lines && torn(stdout) || torn(stderr);
    draft.finish(exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_are_those_of_serde() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
        assert!("gotest".parse::<Format>().unwrap_err().to_string().contains("go-test-json, go-build"));
    }
}
