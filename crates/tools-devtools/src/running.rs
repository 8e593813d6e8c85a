//! Running a program for a tool: its arguments held to the program's grammar, its output read into one vocabulary.

use std::time::Duration;

use contract::{Code, Fault, RelPath, State};
use exec::run::{Cache, Command, DEFAULT_TIMEOUT, Ran};
use grammar::{Grammar, Place};
use kit::{ReadDesk, RunDesk};
use reports::{Context, Format, Report};

use crate::settings::DevtoolsSection;

/// The shortest and the longest that a caller may give a run, in milliseconds.
pub(crate) const TIMEOUTS: (u64, u64) = (1_000, 600_000);

const GO_BUILD: Cache = Cache { name: "go-build", variable: "GOCACHE" };

const GO_MOD: Cache = Cache { name: "go-mod", variable: "GOMODCACHE" };

/// What Go keeps for itself.
pub(crate) const GO_CACHES: &[Cache] = &[
    GO_BUILD,
    GO_MOD,
    Cache { name: "staticcheck", variable: "STATICCHECK_CACHE" },
    Cache { name: "golangci-lint", variable: "GOLANGCI_LINT_CACHE" },
];

/// What programs of every ecosystem keep for themselves: for tools that run whatever a project runs.
pub(crate) const ALL_CACHES: &[Cache] = &[
    GO_BUILD,
    GO_MOD,
    Cache { name: "npm", variable: "npm_config_cache" },
    Cache { name: "pip", variable: "PIP_CACHE_DIR" },
    Cache { name: "uv", variable: "UV_CACHE_DIR" },
    Cache { name: "xdg", variable: "XDG_CACHE_HOME" },
];

/// Everything that the project ignores may persist: for tools whose build folders nobody can know.
pub(crate) const WHATEVER_IS_IGNORED: &[&str] = &["**"];

/// The programs of [`grammar::NAMES`] that npm installs in projects.
const OF_NPM: &[&str] = &[
    "commitlint",
    "eslint",
    "jest",
    "markdownlint",
    "markdownlint-cli2",
    "mocha",
    "prettier",
    "pyright",
    "tsc",
    "vitest",
];

/// Where a tool's program runs, and with what besides the tool's own arguments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked<'a> {
    /// Where below the root.
    pub(crate) directory: Option<&'a str>,
    /// More arguments of the caller's.
    pub(crate) args: &'a [String],
}

impl<'a> Asked<'a> {
    /// As the call asks for it.
    pub(crate) fn of(desk: &'a RunDesk) -> Self {
        Self { directory: desk.asked().directory.as_deref(), args: &desk.asked().args }
    }

    /// What the program, where it runs, calls `path`, as the root has it.
    pub(crate) fn below(&self, path: &str) -> String {
        let path = path.strip_prefix("./").unwrap_or(path);
        match directory(self.directory) {
            Ok(Some(dir)) if !path.starts_with('/') => format!("{dir}/{path}"),
            _ => path.to_owned(),
        }
    }

    /// `program` with the tool's own `flags`, then what the caller adds, then the tool's own `rest`; all of it held to the
    /// program's grammar.
    pub(crate) fn command(
        &self,
        program: &'static str,
        flags: Vec<String>,
        rest: Vec<String>,
    ) -> Result<Command, Fault> {
        let dir = directory(self.directory)?;
        let mut args = flags;
        args.extend(self.args.iter().cloned());
        args.extend(rest);
        held(program, &args, dir.as_ref())?;
        let mut command = Command::new(program, &[]);
        command.args = args;
        command.dir = dir;
        Ok(command)
    }
}

impl Asked<'_> {
    /// As [`Asked::command`], with the project's own installation of a program of npm where it has one: Node runs it then,
    /// which is a program of this machine. What npm installed in the root is code of the root's, and confined as such.
    pub(crate) fn node_command(
        &self,
        desk: &RunDesk,
        program: &'static str,
        flags: Vec<String>,
        rest: Vec<String>,
    ) -> Result<Command, Fault> {
        let mut command = self.command(program, flags, rest)?;
        if let Some(script) = installed(desk, program, command.dir.as_ref())? {
            command.args.insert(0, script);
            command.program = "node".into();
        }
        Ok(command)
    }
}

impl Asked<'_> {
    /// As [`Asked::command`], for any program that has a grammar: as its own tool would start it, but that it looks nothing up.
    /// What may connect is a tool of its own.
    pub(crate) fn any_command(
        &self,
        desk: &RunDesk,
        program: &'static str,
        flags: Vec<String>,
        rest: Vec<String>,
    ) -> Result<Command, Fault> {
        if OF_NPM.contains(&program) {
            return self.node_command(desk, program, flags, rest);
        }
        let command = self.command(program, flags, rest)?;
        Ok(match program {
            "go" | "staticcheck" | "golangci-lint" | "govulncheck" => crate::go::offline(command),
            "cargo" => crate::cargo::offline(command),
            _ => command,
        })
    }
}

/// Where the project has `program` installed, seen from `dir`: in the nearest `node_modules` above.
pub(crate) fn installed(
    desk: &ReadDesk,
    program: &str,
    dir: Option<&RelPath>,
) -> Result<Option<String>, Fault> {
    let mut above: Vec<RelPath> = dir.into_iter().cloned().collect();
    above.extend(dir.iter().flat_map(|dir| dir.ancestors().into_iter().rev()));
    let places = above.iter().map(Some).chain([None]);
    for (up, place) in places.enumerate() {
        let name = format!("node_modules/.bin/{program}");
        let path = match place {
            Some(dir) => dir.join(&name),
            None => RelPath::new(&name),
        };
        let path = path.map_err(|e| Fault::internal(e.to_string()))?;
        if matches!(desk.view().state(&path), Ok(State::Symlink { .. } | State::File { .. })) {
            return Ok(Some(format!("{}{name}", "../".repeat(up))));
        }
    }
    Ok(None)
}

/// Words of ours as a command takes them.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The directory of a call, which must be there: a program that finds none says so as if itself were missing.
pub(crate) fn is_there(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<(), Fault> {
    match dir {
        Some(dir) if !desk.view().is_folder(dir) => {
            Err(Fault::new(Code::NotFound, format!("{dir}: there is no such folder"))
                .about(dir.as_str())
                .suggest("`directory` is relative to the root: name a folder that is there."))
        }
        _ => Ok(()),
    }
}

/// A directory that a caller names; the root where none is named.
pub(crate) fn directory(named: Option<&str>) -> Result<Option<RelPath>, Fault> {
    match named {
        None | Some("" | "." | "./") => Ok(None),
        Some(named) => exec::view::path_argument(named.trim_end_matches('/')).map(Some),
    }
}

/// Holds arguments to the program's grammar.
pub(crate) fn held(program: &str, args: &[String], dir: Option<&RelPath>) -> Result<(), Fault> {
    let Some(grammar) = Grammar::of(program) else {
        return Err(Fault::internal(format!("{program} has no grammar")));
    };
    let place = dir.map_or_else(Place::root, |dir| Place::at(dir.clone()));
    grammar.check(args, &place).map(|_| ()).map_err(|refusal| Fault::invalid(refusal.to_string()))
}

/// `command` with what the call says of every run, and where it says nothing, the configuration. A time that the tool itself sets is
/// longer than others for a reason: the configuration does not shorten it.
pub(crate) async fn configured(desk: &RunDesk, mut command: Command) -> Result<Command, Fault> {
    let asked = desk.asked().timeout;
    desk.blocking(move |desk| {
        is_there(desk, command.dir.as_ref())?;
        let settings: DevtoolsSection = desk.settings()?;
        for (name, value) in settings.variables()? {
            command.env.entry(name.clone()).or_insert_with(|| value.clone());
        }
        let usual = settings.timeout.filter(|_| command.timeout == DEFAULT_TIMEOUT);
        if let Some(millis) = asked.or(usual) {
            command.timeout = Duration::from_millis(millis.clamp(TIMEOUTS.0, TIMEOUTS.1));
        }
        Ok(command)
    })
    .await
}

/// Runs `command`, and reads what it says as `format`.
pub(crate) async fn reported(
    desk: &RunDesk,
    command: Command,
    format: Format,
) -> Result<(Ran, Report), Fault> {
    let command = configured(desk, command).await?;
    let dir = command.dir.clone();
    let ran = desk.run(command).await?;
    let root = desk.view().root().path().display().to_string();
    desk.blocking(move |desk| {
        // Of a file in which a test failed, Go says only the base name.
        let modules = match format {
            Format::GoTestJson => crate::go::modules(desk, dir.as_ref()),
            _ => Vec::new(),
        };
        let modules: Vec<(&str, &str)> =
            modules.iter().filter_map(|used| Some((used.module.as_deref()?, used.dir.as_str()))).collect();
        let dir = dir.as_ref().map_or("", RelPath::as_str);
        let context = Context { root: &root, dir, modules: &modules };
        let report = reports::read(format, &ran.stdout.bytes, &ran.stderr.bytes, ran.code(), &context);
        Ok((ran, report))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_npm_has_a_grammar() {
        assert!(OF_NPM.iter().all(|program| grammar::NAMES.contains(program)));
    }
}
