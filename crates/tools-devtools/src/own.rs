//! A project's own commands, as `[devtools.commands]` writes them: split without a shell, held to their programs' grammars.

use contract::Fault;
use exec::run::Command;
use kit::RunDesk;
use reports::Format;

use crate::running::Asked;
use crate::settings::{DevtoolsSection, TestRunner};

/// What a project runs for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Own {
    key: &'static str,
    pub(crate) program: &'static str,
    words: Vec<String>,
}

impl Own {
    /// The project's command for `purpose`, where it has one.
    pub(crate) fn of(settings: &DevtoolsSection, purpose: &str) -> Result<Option<Self>, Fault> {
        let Some((key, text)) = settings.commands.of(purpose) else { return Ok(None) };
        let fault = |why: String| {
            Fault::invalid(format!("[devtools.commands] {key}: {why}"))
                .about("gatewright.toml")
                .suggest("Name one program with its arguments in gatewright.toml, such as `make check`.")
        };
        let words = grammar::split(text).map_err(|e| fault(e.to_string()))?;
        let (first, words) = words.split_first().ok_or_else(|| fault("it is empty".to_owned()))?;
        let program = grammar::program_of(first).map_err(|e| fault(e.to_string()))?;
        Ok(Some(Self { key, program, words: words.to_vec() }))
    }

    /// The command, `flags` before its own words and what the caller adds behind them.
    pub(crate) fn command(
        &self,
        desk: &RunDesk,
        asked: &Asked<'_>,
        mut flags: Vec<String>,
    ) -> Result<Command, Fault> {
        flags.extend(self.words.iter().cloned());
        asked.any_command(desk, self.program, flags, Vec::new())
    }

    /// The command line, in words.
    pub(crate) fn line(&self) -> String {
        let words: Vec<String> =
            std::iter::once(self.program.to_owned()).chain(self.words.iter().cloned()).collect();
        grammar::join(&words).unwrap_or_else(|| words.join(" "))
    }

    /// Refuses what is asked of a command that has words of its own for everything.
    pub(crate) fn unable(&self, asked: &str) -> Fault {
        Fault::invalid(format!(
            "{asked}: [devtools.commands] {} is run as it stands: `{}`",
            self.key,
            self.line()
        ))
        .suggest("Leave it out; flags of the program go into `args`.")
        .suggest("Or call the tool of the program.")
    }

    /// How its output is read: as the program, told so, writes it.
    pub(crate) fn format(&self) -> Format {
        let says = |word: &str| self.words.iter().any(|own| own == word);
        let begins = |word: &str| self.words.first().is_some_and(|own| own == word);
        match self.program {
            "make" | "gmake" => Format::Make,
            "go" if begins("test") && says("-json") => Format::GoTestJson,
            "go" | "gofmt" => Format::GoBuild,
            "cargo" if begins("nextest") => Format::Nextest,
            "cargo" if says("--message-format=json") => Format::CargoJson,
            "eslint" => Format::EslintJson,
            "markdownlint" | "markdownlint-cli2" => Format::Markdownlint,
            "yamllint" => Format::YamllintParsable,
            "commitlint" => Format::Commitlint,
            "actionlint" => Format::ActionlintJson,
            "golangci-lint" => Format::GolangciJson,
            "staticcheck" => Format::StaticcheckJson,
            "govulncheck" => Format::GovulncheckJson,
            "tsc" => Format::Tsc,
            "ruff" if says("--output-format=json") => Format::RuffJson,
            "pyright" if says("--outputjson") => Format::PyrightJson,
            "mypy" => Format::Mypy,
            "bandit" if says("json") => Format::BanditJson,
            "python" | "python3" | "uv" if says("pytest") => Format::Pytest,
            // Scripts of packages, and what else there is: tests say how they are in TAP, if in anything that is read here.
            program => TestRunner::named(program).map_or(Format::Tap, TestRunner::format),
        }
    }
}
