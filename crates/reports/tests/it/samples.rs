//! One passing and one failing run of each format, as captured.

use gatewright_reports::Format;

use crate::fixture;

/// A captured run.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) format: Format,
    pub(crate) name: &'static str,
    pub(crate) stdout: &'static [u8],
    pub(crate) stderr: &'static [u8],
    pub(crate) exit: i32,
}

macro_rules! samples {
    ($($format:ident $exit:literal $out:tt $(, $err:tt)?;)*) => {
        pub(crate) const SAMPLES: &[Sample] = &[$(Sample {
            format: Format::$format,
            name: concat!(stringify!($out), $(" ", stringify!($err))?),
            stdout: samples!(@ $out),
            stderr: samples!(@ $($err)?),
            exit: $exit,
        }),*];
    };
    (@) => { b"" };
    // A program that prints nothing when all is well.
    (@ silent) => { b"" };
    (@ $file:literal) => { fixture!($file) };
}

samples! {
    GoTestJson 0 "go-test/pass.json";
    GoTestJson 1 "go-test/all.json";
    GoTestJson 1 "go-test/timeout.json";
    GoTestJson 1 "go-test/race.json";
    GoTestJson 2 "go-test/old-build-fail.json", "go-test/old-build-fail.json.stderr";
    GoBuild 0 silent;
    GoBuild 1 silent, "go-build/build.txt.stderr";
    GoBuild 1 silent, "go-build/vet.txt.stderr";
    Junit 0 "nextest/pass.xml";
    Junit 1 "junit/pytest.xml";
    Junit 1 "junit/vitest.xml";
    Junit 1 "junit/node.xml";
    Tap 0 "tap/pass.tap";
    Tap 1 "tap/node.tap";
    Tap 1 "tap/tap.tap";
    Tap 3 "tap/mocha.tap";
    Pytest 0 "pytest/pass.txt";
    Pytest 1 "pytest/fail.txt";
    Pytest 1 "pytest/verbose.txt";
    JestJson 0 "jest/pass.json";
    JestJson 1 "jest/fail.json";
    VitestJson 0 "vitest/pass.json";
    VitestJson 1 "vitest/fail.json";
    MochaJson 0 "mocha/quiet.json";
    MochaJson 3 "mocha/fail.json";
    Libtest 0 "libtest/pass.txt", "libtest/pass.txt.stderr";
    Libtest 101 "libtest/fail.txt", "libtest/fail.txt.stderr";
    Nextest 0 "nextest/pass.xml";
    Nextest 0 "nextest/pass.json";
    Nextest 100 "nextest/fail.xml";
    Nextest 100 "nextest/fail.json", "nextest/fail.json.stderr";
    CargoJson 0 "cargo/warn.json";
    CargoJson 101 "cargo/fail.json";
    Gcc 0 silent;
    Gcc 1 silent, "gcc/fail.txt.stderr";
    Gcc 1 silent, "gcc/clang.txt.stderr";
    GccJson 0 silent, "gcc/warn.json.stderr";
    GccJson 1 silent, "gcc/fail.json.stderr";
    Tsc 0 silent;
    Tsc 1 "tsc/fail.txt";
    Tsc 1 "tsc/pretty.txt";
    PrettierList 0 silent;
    PrettierList 2 "prettier/fail.txt", "prettier/fail.txt.stderr";
    RustfmtList 0 silent;
    RustfmtList 1 silent, "rustfmt/fail.txt.stderr";
    RustfmtList 1 silent, "rustfmt/manifest.txt.stderr";
    VitestBench 0 "vitest-bench/pass.json";
    VitestBench 0 "vitest-bench/fail.json";
    EslintJson 0 "eslint/pass.json";
    EslintJson 1 "eslint/fail.json";
    Markdownlint 0 silent;
    Markdownlint 1 silent, "markdownlint/fail.txt.stderr";
    Markdownlint 1 silent, "markdownlint/fail.json.stderr";
    YamllintParsable 0 silent;
    YamllintParsable 1 "yamllint/fail.txt";
    Commitlint 0 silent;
    Commitlint 0 "commitlint/verbose.txt";
    Commitlint 1 "commitlint/fail.txt";
    Commitlint 1 "commitlint/fail.json";
    ActionlintJson 0 "actionlint/pass.json";
    ActionlintJson 1 "actionlint/fail.json";
    GolangciJson 0 "golangci/pass.json";
    GolangciJson 1 "golangci/fail-v1.json";
    StaticcheckJson 0 silent;
    StaticcheckJson 1 "staticcheck/fail.json";
    StaticcheckJson 1 "staticcheck/fail.txt";
    GovulncheckJson 0 "govulncheck/pass.json";
    GovulncheckJson 3 "govulncheck/fail.json";
    RuffJson 0 "ruff/pass.json";
    RuffJson 1 "ruff/fail.json";
    RuffJson 1 "ruff/format.json";
    RuffJson 2 "ruff/syntax.json";
    PyrightJson 0 "pyright/pass.json";
    PyrightJson 1 "pyright/fail.json";
    Mypy 0 silent;
    Mypy 1 "mypy/fail.txt";
    BanditJson 0 "bandit/pass.json";
    BanditJson 1 "bandit/fail.json";
    VerminParsable 0 "vermin/pass.txt";
    VerminParsable 1 "vermin/fail.txt";
    Sarif 0 "sarif/pass.sarif";
    Sarif 0 "sarif/staticcheck.sarif";
    Make 0 "make/uptodate.txt";
    Make 2 silent, "make/missing.txt.stderr";
    Make 2 silent, "make/keep.txt.stderr";
    Make 2 "make/sub.txt", "make/sub.txt.stderr";
}
