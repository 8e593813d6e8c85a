//! Package managers of Python: which one a project has, how it is told where packages come from, and what its lock says before and after.

use contract::{Code, Fault, RelPath};
use deps::{Difference, Lock};
use exec::run::{Command, Ran};
use kit::{ReadDesk, RunDesk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pins::file;
use crate::registries::registries;
use crate::window::detected;

/// A package manager that installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Manager {
    Uv,
    Poetry,
    Pipenv,
    Pip,
}

/// The package manager that a call names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Wanted {
    #[default]
    Auto,
    Uv,
    Poetry,
    Pipenv,
    Pip,
}

/// What a lock gained, lost and moved.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Moved {
    /// Packages that are new.
    pub added: Vec<String>,
    /// Packages that are gone.
    pub removed: Vec<String>,
    /// Packages of another version.
    pub changed: Vec<Step>,
}

/// A package that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// The package.
    pub name: String,
    /// Its version now.
    pub from: String,
    /// Its version then.
    pub to: String,
    /// `patch`, `minor`, `major` or `prerelease`.
    pub kind: String,
}

/// Most rows of each list.
const MAX_ROWS: usize = 200;

impl Manager {
    /// The manager that the call or the project means.
    pub(crate) fn of(desk: &ReadDesk, directory: Option<&str>, wanted: Wanted) -> Result<Self, Fault> {
        let named = match wanted {
            Wanted::Uv => "uv".to_owned(),
            Wanted::Poetry => "poetry".to_owned(),
            Wanted::Pipenv => "pipenv".to_owned(),
            Wanted::Pip => "pip".to_owned(),
            Wanted::Auto => {
                let project = detected(desk, directory)?;
                let mut names = project.package_managers.into_iter().map(|manager| manager.name);
                names.find(|name| ["uv", "poetry", "pipenv", "pip"].contains(&name.as_str())).ok_or_else(
                    || {
                        Fault::new(Code::NotFound, "no manifest of Python is here").suggest(
                            "Name the folder of pyproject.toml or requirements.txt with `directory`.",
                        )
                    },
                )?
            }
        };
        Ok(match named.as_str() {
            "uv" => Self::Uv,
            "poetry" => Self::Poetry,
            "pipenv" => Self::Pipenv,
            _ => Self::Pip,
        })
    }

    /// The program of its name.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Uv => "uv",
            Self::Poetry => "poetry",
            Self::Pipenv => "pipenv",
            Self::Pip => "pip",
        }
    }

    /// Its lock file; pip has none.
    pub(crate) const fn lock(self) -> Option<&'static str> {
        match self {
            Self::Uv => Some("uv.lock"),
            Self::Poetry => Some("poetry.lock"),
            Self::Pipenv => Some("Pipfile.lock"),
            Self::Pip => None,
        }
    }

    /// `command`, told where packages come from, and that nothing is built unless `build`.
    pub(crate) fn fetching(desk: &RunDesk, mut command: Command, build: bool) -> Command {
        let registry = registries(desk).python;
        if let Some(url) = &registry.url {
            for name in ["UV_DEFAULT_INDEX", "PIP_INDEX_URL", "PIPENV_PYPI_MIRROR"] {
                command.env.insert(name.to_owned(), url.to_string());
            }
        }
        for (name, value) in [("UV_LINK_MODE", "copy"), ("POETRY_VIRTUALENVS_IN_PROJECT", "true")] {
            command.env.insert(name.to_owned(), value.to_owned());
        }
        if &*command.program == "pipenv" {
            for (name, value) in super::pipenv::TOLD {
                command.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
        if !build {
            for name in ["PIP_ONLY_BINARY", "POETRY_INSTALLER_ONLY_BINARY"] {
                command.env.insert(name.to_owned(), ":all:".to_owned());
            }
        }
        registry.reached_by(super::quiet(command))
    }
}

/// The lock of `manager` in `dir` as the root has it; nothing where there is none.
pub(crate) fn lock_now(
    desk: &ReadDesk,
    manager: Manager,
    dir: Option<&RelPath>,
) -> Result<Option<Lock>, Fault> {
    let Some(name) = manager.lock() else { return Ok(None) };
    let bytes = file(desk, dir, name)?;
    bytes.map(|bytes| read(name, &bytes)).transpose()
}

/// The lock of `manager` in `dir` as programs left it.
pub(crate) async fn lock_then(
    desk: &RunDesk,
    manager: Manager,
    dir: Option<RelPath>,
) -> Result<Option<Lock>, Fault> {
    let Some(name) = manager.lock() else { return Ok(None) };
    let bytes = bytes_then(desk, name, dir.as_ref()).await?;
    bytes.map(|bytes| read(name, &bytes)).transpose()
}

/// A file of `dir` as programs left it.
pub(crate) async fn bytes_then(
    desk: &RunDesk,
    name: &str,
    dir: Option<&RelPath>,
) -> Result<Option<Vec<u8>>, Fault> {
    let Some(workshop) = desk.workshop().cloned() else { return Ok(None) };
    let path = dir.map_or_else(|| RelPath::new(name), |dir| dir.join(name));
    let path = path.map_err(|e| Fault::internal(e.to_string()))?;
    desk.blocking(move |_| match workshop.read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(fault) if fault.code == Code::NotFound => Ok(None),
        Err(fault) => Err(fault),
    })
    .await
}

fn read(name: &str, bytes: &[u8]) -> Result<Lock, Fault> {
    let format = deps::Format::of(name).ok_or_else(|| Fault::internal(format!("{name} is no lock")))?;
    deps::read(format, bytes).map_err(|unread| {
        Fault::new(Code::InvalidSource, format!("{name}: {unread}")).suggest("Make the lock anew.")
    })
}

impl Moved {
    /// What turns `before` into `after`.
    pub(crate) fn between(before: Option<&Lock>, after: Option<&Lock>) -> Self {
        let named = |name: &str, version: Option<&str>| match version {
            Some(version) => format!("{name} {version}"),
            None => name.to_owned(),
        };
        let (Some(before), Some(after)) = (before, after) else {
            let all = after.into_iter().flat_map(|lock| &lock.packages);
            let others = all.filter(|package| package.source != deps::Source::Local);
            let added = others.map(|package| named(&package.name, package.version.as_deref())).take(MAX_ROWS);
            return Self { added: added.collect(), ..Self::default() };
        };
        let difference = Difference::between(before, after);
        let pins = |pins: Vec<deps::Pin>| -> Vec<String> {
            pins.iter().map(|pin| named(&pin.name, pin.version.as_deref())).take(MAX_ROWS).collect()
        };
        let changed = difference.changed.into_iter().take(MAX_ROWS).map(|change| Step {
            kind: kind(change.step),
            name: change.name,
            from: change.from,
            to: change.to,
        });
        Self { changed: changed.collect(), added: pins(difference.added), removed: pins(difference.removed) }
    }

    /// In words.
    pub(crate) fn told(&self) -> String {
        let mut lines: Vec<String> = self
            .changed
            .iter()
            .map(|step| format!("- `{}` {} → {} ({})", step.name, step.from, step.to, step.kind))
            .collect();
        lines.extend(self.added.iter().map(|name| format!("- `{name}` is new")));
        lines.extend(self.removed.iter().map(|name| format!("- `{name}` goes")));
        let more = lines.len().saturating_sub(20);
        lines.truncate(20);
        if more > 0 {
            lines.push(format!("- and {more} more"));
        }
        lines.join("\n")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

pub(crate) fn kind(step: Option<deps::Step>) -> String {
    match step {
        Some(deps::Step::Patch) => "patch",
        Some(deps::Step::Minor) => "minor",
        Some(deps::Step::Major) => "major",
        Some(deps::Step::Prerelease) => "prerelease",
        None => "other",
    }
    .to_owned()
}

/// Packages that have no built distribution, as managers name them.
pub(crate) fn unbuilt(ran: &Ran) -> Vec<String> {
    // Of what the door refuses managers say the same as of what there is not.
    if !ran.refused.is_empty() {
        return Vec::new();
    }
    let said = format!("{}\n{}", ran.stdout.text(), ran.stderr.text());
    let mut found: Vec<String> = Vec::new();
    for line in said.lines() {
        let word = if line.contains("no binary distribution")
            || line.contains("--no-build")
            || line.contains("Building source distributions")
        {
            line.split('`').nth(1)
        } else if let Some(rest) = line.trim().strip_prefix("ERROR: No matching distribution found for ") {
            Some(rest)
        } else if line.contains("Unable to find installation candidates for ") {
            line.split("candidates for ").nth(1)
        } else {
            None
        };
        let name = word.and_then(|word| word.split([' ', '@', '(', '=']).find(|part| !part.is_empty()));
        if let Some(name) = name.filter(|name| !found.iter().any(|known| known == name)) {
            found.push(name.to_owned());
        }
    }
    found.truncate(50);
    found
}

/// The fault of a manager that did not come to its end.
pub(crate) fn failed(what: &str, ran: &Ran) -> Fault {
    let said = super::said(&ran.stderr.text());
    let said = if said.is_empty() { super::said(&ran.stdout.text()) } else { said };
    let fault = Fault::new(Code::ToolExecutionFailed, format!("{what} failed: {said}"));
    match ran.refused.as_slice() {
        [] => fault.suggest("Mend what it names: a range that nothing fits, a name, or the registry."),
        refused => fault.suggest(format!(
            "It asked for {}, which is not among the registries: name it in the user's configuration, `[registries] python = {{ url = \"https://…/simple\" }}`, and what lies at a private address in `[security] private-hosts`.",
            refused.join(", ")
        )),
    }
}
