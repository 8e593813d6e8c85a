//! Run every linter of the project.
//!
//! Runs the linters that the project is set up for, one after another, and says which could not run and why. Returns findings by
//! linter; with `fix` it proposes the fixes of those that can.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, ReadDesk, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use contract::Code;
use contract::text::counted;
use reports::{Diagnostic, Format, Levels, Parsed};
use serde::Serialize;

use crate::families::LINT;
use crate::files::Choice;
use crate::own::Own;
use crate::running::{self, ALL_CACHES, Asked, WHATEVER_IS_IGNORED, is_there, reported, words};
use crate::settings::DevtoolsSection;
use crate::tools::{eslint, go_lint, go_vet, markdownlint, yamllint};
use crate::window::detected;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Propose fixes.
    #[serde(default)]
    pub fix: bool,
}

/// Most diagnostics of each linter.
const MAX_SHOWN: usize = 15;

/// A linter that is run here.
struct Linter {
    program: &'static str,
    /// What detection calls it.
    names: &'static [&'static str],
    flags: &'static [&'static str],
    /// What makes it fix, where it can.
    fix: Option<&'static str>,
    rest: &'static [&'static str],
    /// Instead of `rest`: the files that it looks at.
    files: Option<Choice>,
    format: Format,
}

impl Linter {
    /// What it is called in results.
    fn name(&self) -> &'static str {
        if self.program == "go" { "go vet" } else { self.program }
    }

    /// Whether the configuration means it by `name`.
    fn is_named(&self, name: &str) -> bool {
        name == self.program || name == self.name()
    }
}

/// Every linter that is run here.
const LINTERS: &[Linter] = &[
    Linter {
        program: "eslint",
        names: &["eslint"],
        flags: eslint::FLAGS,
        fix: Some("--fix"),
        rest: &["."],
        files: None,
        format: Format::EslintJson,
    },
    Linter {
        program: "markdownlint",
        names: &["markdownlint"],
        flags: markdownlint::FLAGS,
        fix: Some("--fix"),
        rest: &[],
        files: Some(markdownlint::FILES),
        format: Format::Markdownlint,
    },
    Linter {
        program: "yamllint",
        names: &["yamllint"],
        flags: yamllint::FLAGS,
        fix: None,
        rest: &[],
        files: Some(yamllint::FILES),
        format: Format::YamllintParsable,
    },
    Linter {
        program: "golangci-lint",
        names: &["golangci-lint", "golangci"],
        flags: go_lint::FLAGS,
        fix: Some("--fix"),
        rest: &["./..."],
        files: None,
        format: Format::GolangciJson,
    },
    Linter {
        program: "go",
        names: &[],
        flags: go_vet::FLAGS,
        fix: None,
        rest: &["./..."],
        files: None,
        format: Format::GoBuild,
    },
];

/// What the linters say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Each linter of the project.
    pub linters: Vec<Linted>,
}

/// What one linter says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Linted {
    /// Its name.
    pub linter: String,
    /// Whether it found nothing.
    pub success: bool,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Diagnostics by level.
    pub levels: Levels,
    /// Diagnostics, errors first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    /// How much of its output was understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Parsed>,
}

impl Linted {
    fn skipped(linter: &str, why: String) -> Self {
        Self {
            linter: linter.to_owned(),
            success: false,
            skipped: Some(why),
            levels: Levels::default(),
            diagnostics: Vec::new(),
            parsed: None,
        }
    }
}

/// The tool.
#[derive(Debug, Default)]
pub struct LintAll;

impl Define for LintAll {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "lint_all";
    const TOOLSET: Toolset = LINT;
    const DOC: Doc = doc!("lint_all.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = grammar::NAMES;
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "fix": true, "directory": "web" })]
    }
}

impl Run for LintAll {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let settings: DevtoolsSection = desk.settings()?;
        let wanted = &settings.linters;
        if let Some(own) = Own::of(&settings, "lint")?.filter(|_| wanted.is_empty()) {
            return its_own(&desk, &asked, &own, input.fix).await;
        }
        let directory = asked.directory.map(str::to_owned);
        let looked = move |desk: &ReadDesk| {
            is_there(desk, running::directory(directory.as_deref())?.as_ref())?;
            detected(desk, directory.as_deref())
        };
        let project = desk.blocking(move |desk| looked(desk)).await?;
        let names: Vec<&str> = project.linters.iter().map(|found| found.name.as_str()).collect();
        let is_go = project.build_systems.contains(&projects::BuildSystem::Go);
        let chosen = LINTERS.iter().filter(|linter| {
            if wanted.is_empty() {
                names.iter().any(|name| linter.names.contains(name)) || linter.program == "go" && is_go
            } else {
                wanted.iter().any(|name| linter.is_named(name))
            }
        });
        let mut linters = Vec::new();
        for linter in chosen {
            linters.push(ran(&desk, &asked, linter, input.fix).await?);
        }
        let known: Vec<&str> = LINTERS.iter().map(Linter::name).collect();
        let why = format!("lint_all does not know it; it knows {}", known.join(", "));
        let unknown = wanted.iter().filter(|name| !LINTERS.iter().any(|linter| linter.is_named(name)));
        linters.extend(unknown.map(|name| Linted::skipped(name, why.clone())));
        let could: Vec<&Linted> = linters.iter().filter(|linted| linted.skipped.is_none()).collect();
        let bad = could.iter().filter(|linted| !linted.success).count();
        let skipped: Vec<&str> =
            linters.iter().filter(|l| l.skipped.is_some()).map(|l| l.linter.as_str()).collect();
        let mut message = match (could.len(), bad) {
            (0, _) => "No linter of the project could be run.".to_owned(),
            (all, 0) => format!("{} found nothing.", counted(all as u64, "linter")),
            (all, bad) => format!("{bad} of {} found something.", counted(all as u64, "linter")),
        };
        if !skipped.is_empty() {
            message.push_str(&format!(" Not run: {}.", skipped.join(", ")));
        }
        let success = bad == 0 && !could.is_empty();
        let mut answer = Answer::new(message, Output { linters });
        answer.success = success;
        Ok(answer)
    }
}

/// Runs the project's own command, which says by its end alone whether it found something.
async fn its_own(desk: &RunDesk, asked: &Asked<'_>, own: &Own, fix: bool) -> Result<Answer<Output>, Fault> {
    if fix {
        return Err(own.unable("fix"));
    }
    let (ran, report) = reported(desk, own.command(desk, asked, Vec::new())?, own.format()).await?;
    let success = ran.is_success();
    let message = format!("`{}` {}.", own.line(), if success { "found nothing" } else { "found something" });
    let linted = Linted {
        linter: own.line(),
        success,
        skipped: None,
        levels: report.levels,
        diagnostics: report.diagnostics.into_iter().take(MAX_SHOWN).collect(),
        parsed: Some(report.parsed),
    };
    let mut answer = Answer::new(message, Output { linters: vec![linted] });
    answer.success = success;
    Ok(answer)
}

async fn ran(desk: &RunDesk, asked: &Asked<'_>, linter: &Linter, fix: bool) -> Result<Linted, Fault> {
    let mut flags = words(linter.flags);
    flags.extend(linter.fix.filter(|_| fix).map(str::to_owned));
    let name = linter.name();
    let rest = match &linter.files {
        None => Some(words(linter.rest)),
        Some(choice) => choice.given(desk, asked, &[]).await?,
    };
    let Some(rest) = rest else {
        return Ok(Linted::skipped(name, "there is no file for it to look at".to_owned()));
    };
    let command = match asked.any_command(desk, linter.program, flags, rest) {
        // What one linter takes, another does not.
        Err(fault) if fault.code == Code::InvalidArgument && !asked.args.is_empty() => {
            return Ok(Linted::skipped(name, fault.message));
        }
        command => command?,
    };
    match reported(desk, command, linter.format).await {
        Ok((ran, report)) => Ok(Linted {
            linter: name.to_owned(),
            success: ran.is_success(),
            skipped: None,
            levels: report.levels,
            diagnostics: report.diagnostics.into_iter().take(MAX_SHOWN).collect(),
            parsed: Some(report.parsed),
        }),
        Err(fault) if fault.code == Code::ToolExecutionFailed => Ok(Linted::skipped(name, fault.message)),
        Err(fault) => Err(fault),
    }
}
