//! Run Rust tests.
//!
//! Runs tests with nextest where it is installed, else with cargo, and documentation tests besides. Returns counts, and the tests that did
//! not hold with file, line and message, first failure first. Crates come from this machine unless `fetch` is set.

use contract::{Fault, Toolset};
use exec::run::{Cache, Command};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cargo::{self, Picked, Targets, Told};
use crate::families::RUST;
use crate::findings::{self, Findings};
use crate::memory;
use crate::running::{Asked, WHATEVER_IS_IGNORED, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is an input of its own")]
pub struct Input {
    /// Package of the workspace.
    #[serde(default)]
    pub package: Option<String>,
    /// Part of the tests' names.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub pattern: Option<String>,
    /// Features to switch on.
    #[serde(default)]
    pub features: Vec<String>,
    /// All features.
    #[serde(default)]
    pub all_features: bool,
    /// Without default features.
    #[serde(default)]
    pub no_default_features: bool,
    /// With optimisations.
    #[serde(default)]
    pub release: bool,
    /// What of it to compile.
    #[serde(default)]
    pub targets: Option<Targets>,
    /// Tests that are ignored, too, or alone.
    #[serde(default)]
    pub ignored: Ignored,
    /// What runs them.
    #[serde(default)]
    pub runner: Runner,
    /// Tests in documentation, too.
    #[serde(default)]
    pub doc: Option<bool>,
    /// Name the tests that passed.
    #[serde(default)]
    pub verbose: bool,
    /// Fetch crates that are missing.
    #[serde(default)]
    pub fetch: bool,
}

/// What becomes of tests that are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ignored {
    /// They are left out.
    #[default]
    Skip,
    /// They are run with the others.
    Include,
    /// They alone are run.
    Only,
}

/// What runs tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    /// nextest, where it is installed.
    #[default]
    Auto,
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What ran the tests.
    pub runner: Runner,
    /// Crates that are not on this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct CargoTest;

impl Define for CargoTest {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "cargo_test";
    const TOOLSET: Toolset = RUST;
    const DOC: Doc = doc!("cargo_test.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["cargo"];
    const CACHES: &'static [Cache] = cargo::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "package": "shop", "pattern": "totals", "ignored": "include", "runner": "cargo", "doc": false, "verbose": true }),
        ]
    }
}

impl Run for CargoTest {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let has_nextest =
            exec::run::find("cargo-nextest", &desk.programs(), desk.view().root().path()).is_ok();
        let runner = match input.runner {
            Runner::Auto if has_nextest => Runner::Nextest,
            Runner::Auto => Runner::Cargo,
            named => named,
        };
        let command =
            if runner == Runner::Nextest { with_nextest(&input, &desk) } else { with_cargo(&input, &desk) };
        let (format, what) = match runner {
            Runner::Nextest => (Format::Nextest, "`cargo nextest run`"),
            _ => (Format::Libtest, "`cargo test`"),
        };
        let mut told = cargo::reported(&desk, command?, format, input.fetch, what).await?;
        let wants_doc = input.doc.unwrap_or(input.targets.is_none());
        if runner == Runner::Nextest && wants_doc && told.missing.is_empty() && has_library(&told) {
            told = with_documentation(&input, &desk, told).await?;
        }
        let verdicts = memory::remember(&desk, Self::NAME, &told.ran, &told.report).await;
        let mut answer = findings::answer(told.what, &told.ran, told.report, input.verbose);
        answer.message.push_str(&cargo::advice(Self::NAME, &told.missing));
        Ok(memory::told(answer, verdicts).map(|findings| Output { runner, missing: told.missing, findings }))
    }
}

fn picked(input: &Input) -> Picked<'_> {
    Picked {
        package: input.package.as_deref(),
        features: &input.features,
        all_features: input.all_features,
        no_default_features: input.no_default_features,
        release: input.release,
        targets: input.targets,
    }
}

/// `cargo test`: libraries, binaries, tests, and documentation.
fn with_cargo(input: &Input, desk: &RunDesk) -> Result<Command, Fault> {
    let asked = Asked::of(desk);
    let mut flags = words(&["test", "--no-fail-fast"]);
    flags.extend(picked(input).flags());
    if input.doc == Some(false) && input.targets.is_none() {
        flags.extend(words(&["--lib", "--bins", "--tests", "--examples"]));
    }
    flags.extend(input.pattern.clone());
    cargo::command(&asked, flags, told_libtest(input, &asked))
}

/// `cargo nextest run`, as lines of JSON.
fn with_nextest(input: &Input, desk: &RunDesk) -> Result<Command, Fault> {
    let mut flags = words(&[
        "nextest",
        "run",
        "--no-fail-fast",
        "--no-tests",
        "pass",
        "--message-format",
        "libtest-json-plus",
    ]);
    flags.extend(picked(input).flags());
    match input.ignored {
        Ignored::Skip => {}
        Ignored::Include => flags.extend(words(&["--run-ignored", "all"])),
        Ignored::Only => flags.extend(words(&["--run-ignored", "only"])),
    }
    let mut command = cargo::command(&Asked::of(desk), flags, input.pattern.clone().into_iter().collect())?;
    command.env.insert("NEXTEST_EXPERIMENTAL_LIBTEST_JSON".into(), "1".into());
    Ok(command)
}

/// What libtest is told behind `--`.
fn told_libtest(input: &Input, asked: &Asked<'_>) -> Vec<String> {
    let flag = match input.ignored {
        Ignored::Skip => return Vec::new(),
        Ignored::Include => "--include-ignored",
        Ignored::Only => "--ignored",
    };
    let begun = asked.args.iter().any(|arg| arg == "--");
    words(if begun { &[][..] } else { &["--"] }).into_iter().chain([flag.to_owned()]).collect()
}

/// Whether there was anything that documentation can be of: what does not compile has none that could be run.
fn has_library(told: &Told) -> bool {
    told.report.levels.errors == 0
}

/// The same with the tests in documentation, which nextest leaves to cargo.
async fn with_documentation(input: &Input, desk: &RunDesk, told: Told) -> Result<Told, Fault> {
    let mut flags = words(&["test", "--doc", "--no-fail-fast"]);
    flags.extend(picked(input).flags());
    flags.extend(input.pattern.clone());
    let asked = Asked { directory: desk.asked().directory.as_deref(), args: &[] };
    let command = cargo::command(&asked, flags, told_libtest(input, &asked))?;
    let also = cargo::reported(desk, command, Format::Libtest, false, "`cargo test --doc`").await?;
    // A package without a library is no failure.
    if !also.ran.is_success() && also.ran.stderr.text().contains("no library targets found") {
        return Ok(told);
    }
    let is_worse = told.ran.is_success() && !also.ran.is_success();
    let ran = if is_worse { also.ran } else { told.ran };
    Ok(Told {
        ran,
        report: told.report.and(also.report),
        missing: told.missing,
        what: "`cargo nextest run` and `cargo test --doc`",
    })
}
