//! Move what a Python project's lock pins.
//!
//! With `check` it says which packages could move within what the manifest allows, and how far. The other modes move them: by patches, by
//! minor or by major versions; the change of the lock is the plan, and `python_install_deps` installs it. Ranges are never widened: `beyond`
//! names what is newer still.

use contract::{Code, Fault, RelPath, Toolset};
use deps::Lock;
use exec::run::{Cache, MAX_TIMEOUT};
use kit::choice::{Choice, MOST, Offered};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::python;
use crate::python::managers::{self, Manager, Moved, Step, Wanted};
use crate::python::newest::{Beyond, Newest};
use crate::python::pipenv;
use crate::running::{self, Asked, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What to do.
    #[serde(default)]
    pub mode: Mode,
    /// Only these packages.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub packages: Vec<String>,
    /// Only say what would move; nothing is proposed.
    #[serde(default)]
    pub dry_run: bool,
    /// Have the user choose; else answer with the choices.
    #[serde(default)]
    pub interactive: bool,
}

/// How far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Say what could move.
    #[default]
    Check,
    /// The third number.
    UpdatePatch,
    /// The second number.
    UpdateMinor,
    /// Any, as far as the manifest allows.
    UpdateMajor,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What resolves.
    pub manager: Manager,
    /// What could move, or moves.
    pub outdated: Vec<Step>,
    /// Packages that were asked for and stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// What the lock gains, loses and moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Moved>,
    /// Newer versions than the ranges allow, where nothing is moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Vec<Beyond>>,
    /// Packages whose newest version is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PythonUpdateDeps;

impl Define for PythonUpdateDeps {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_update_deps";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_update_deps.rs");

    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["uv", "poetry", "pipenv", "python3"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "mode": "update-major" }),
            json!({}),
            json!({ "mode": "update-patch", "packages": ["attrs"], "dryRun": true }),
            json!({ "mode": "update-minor", "interactive": true }),
        ]
    }
}

impl Run for PythonUpdateDeps {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let directory = desk.asked().directory.clone();
        let named = directory.clone();
        let (manager, dir, before) = desk
            .blocking(move |desk| {
                let dir = running::directory(named.as_deref())?;
                running::is_there(desk, dir.as_ref())?;
                let manager = Manager::of(desk, named.as_deref(), Wanted::Auto)?;
                let lock = managers::lock_now(desk, manager, dir.as_ref())?;
                Ok((manager, dir, lock))
            })
            .await?;
        if manager == Manager::Pip {
            return Err(Fault::new(Code::InvalidArgument, "pip has no lock that could be moved")
                .suggest("Change requirements.txt yourself, or keep a lock with uv, poetry or pipenv; `python_security {\"fix\":true}` moves what is vulnerable."));
        }
        let looks = input.mode == Mode::Check || input.interactive || input.dry_run;
        // What is only looked at is resolved elsewhere, and is nobody's proposal.
        let place = if looks { desk.afresh() } else { desk.clone() };
        let mode = if input.mode == Mode::Check { Mode::UpdateMajor } else { input.mode };
        if manager == Manager::Pipenv {
            plain(&desk, dir.as_ref()).await?;
        }
        let args = told(manager, mode, &input.packages, before.as_ref())?;
        let asked = Asked { directory: directory.as_deref(), args: &desk.asked().args };
        let mut command = asked.command(manager.program(), args, Vec::new())?;
        if manager == Manager::Pipenv {
            command = pipenv::resolving(command);
        }
        command.timeout = MAX_TIMEOUT;
        let command = running::configured(&place, Manager::fetching(&place, command, false)).await?;
        let ran = place.run(command).await?;
        if !ran.is_success() {
            return Err(managers::failed(&format!("`{}`", ran.line.join(" ")), &ran));
        }
        if manager == Manager::Pipenv && !input.packages.is_empty() {
            let left = managers::bytes_then(&place, "Pipfile.lock", dir.as_ref()).await?;
            pipenv::sound(&place, dir.as_ref(), &left.unwrap_or_default()).await?;
        }
        let after = managers::lock_then(&place, manager, dir.clone()).await?;
        let moved = Moved::between(before.as_ref(), after.as_ref());
        let held = held(&input.packages, &moved);
        let outdated = moved.changed.clone();
        let newest = match (&after, looks) {
            (Some(after), true) => {
                let pair = (before.as_ref(), after);
                Newest::of(&place, manager, dir.as_ref(), pair, &input.packages).await?
            }
            _ => Newest::default(),
        };
        let mut message = message(&moved, &held, &input, looks);
        message.extend(newest.in_words().map(|told| format!("\n\n{told}")));
        let choice =
            if input.interactive && !input.dry_run { choice(manager, input.mode, &outdated) } else { None };
        let lock = (!looks).then_some(moved);
        let (beyond, unknown) = (newest.beyond, newest.unknown);
        let output = Output { manager, outdated, held, lock, beyond, unknown };
        Ok(Answer { choice, ..Answer::new(message, output) })
    }
}

/// What could move, for the user to choose from. Whoever chooses wants it moved: `check` becomes what it looked for.
fn choice(manager: Manager, mode: Mode, outdated: &[Step]) -> Option<Choice> {
    let offered = |step: &Step| {
        let title = format!("{}: {} to {}, {}", step.name, step.from, step.to, step.kind);
        Offered { name: step.name.clone(), title, chosen: true }
    };
    let rest = match outdated.len().saturating_sub(MOST) {
        0 => String::new(),
        left_out => format!(" {left_out} more are not offered: name them in `packages`."),
    };
    let besides = match mode {
        Mode::Check => json!({ "mode": "update-major" }),
        _ => json!({}),
    };
    (!outdated.is_empty()).then(|| Choice {
        text: format!("Which packages of {}'s lock are to move?{rest}", manager.program()),
        options: outdated.iter().map(offered).collect(),
        argument: "packages".to_owned(),
        instead_of: "interactive".to_owned(),
        besides: besides.as_object().cloned().unwrap_or_default(),
    })
}

/// A fault where pipenv would run code to resolve.
async fn plain(desk: &RunDesk, dir: Option<&RelPath>) -> Result<(), Fault> {
    let dir = dir.cloned();
    let found = desk.blocking(move |desk| pipenv::builds(desk, dir.as_ref())).await?;
    if found.is_empty() {
        return Ok(());
    }
    Err(Fault::invalid(format!("pipenv would build {} to resolve, which runs their code", found.join(", ")))
        .suggest("`python_install_deps` with `build: true` locks anew and installs, once you agree to that."))
}

/// What the manager is told: which packages, and how far each may go.
fn told(
    manager: Manager,
    mode: Mode,
    packages: &[String],
    lock: Option<&Lock>,
) -> Result<Vec<String>, Fault> {
    let locked: Vec<(&str, &str)> = lock
        .into_iter()
        .flat_map(|lock| &lock.packages)
        .filter(|package| package.source == deps::Source::Registry || package.source == deps::Source::Unknown)
        .filter_map(|package| Some((package.name.as_str(), package.version.as_deref()?)))
        .collect();
    for name in packages {
        if !locked.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err(Fault::new(Code::NotFound, format!("packages: the lock has no {name:?}"))
                .suggest("`python_update_deps {}` names what it has; add packages to the manifest first."));
        }
    }
    let wanted =
        |name: &str| packages.is_empty() || packages.iter().any(|named| named.eq_ignore_ascii_case(name));
    if manager != Manager::Uv {
        if mode != Mode::UpdateMajor {
            return Err(Fault::invalid(format!(
                "mode: {} cannot be told how far packages may move",
                manager.program()
            ))
            .suggest(
                "Take `check` or `update-major` with `packages`; the manifest's ranges are kept in any case.",
            ));
        }
        let mut args = words(match (manager, packages.is_empty()) {
            (Manager::Pipenv, true) => &["lock"],
            (Manager::Pipenv, false) => &["upgrade", "--lock-only"],
            _ => &["update", "--lock", "-n"],
        });
        args.extend(packages.iter().cloned());
        return Ok(args);
    }
    let mut args = words(&["lock", "--no-build"]);
    for (name, version) in locked.iter().filter(|(name, _)| wanted(name)) {
        args.extend(["-P".to_owned(), bounded(name, version, mode)]);
    }
    if args.len() == 2 {
        args.push("--upgrade".to_owned());
    }
    Ok(args)
}

/// A package, and how far it may go: `name>=1.2.3,<1.3`.
fn bounded(name: &str, version: &str, mode: Mode) -> String {
    let mut numbers = version.split('.').map(|part| part.parse::<u64>().ok());
    let (major, minor) = (numbers.next().flatten(), numbers.next().flatten());
    match (mode, major, minor) {
        (Mode::UpdatePatch, Some(major), Some(minor)) => format!("{name}>={version},<{major}.{}", minor + 1),
        (Mode::UpdatePatch | Mode::UpdateMinor, Some(major), _) => {
            format!("{name}>={version},<{}", major + 1)
        }
        _ => name.to_owned(),
    }
}

fn held(packages: &[String], moved: &Moved) -> Vec<String> {
    let goes = |name: &String| moved.changed.iter().any(|step| step.name.eq_ignore_ascii_case(name));
    packages.iter().filter(|name| !goes(name)).cloned().collect()
}

fn message(moved: &Moved, held: &[String], input: &Input, looks: bool) -> String {
    let mut text = match (moved.is_empty(), looks) {
        (true, _) => "Nothing moves within what the manifest allows.".to_owned(),
        (false, true) => format!(
            "{} could move within what the manifest allows:\n\n{}",
            contract::text::counted(moved.changed.len() as u64, "package"),
            moved.told()
        ),
        (false, false) => format!(
            "{} moves:\n\n{}",
            contract::text::counted(moved.changed.len() as u64, "package"),
            moved.told()
        ),
    };
    if !held.is_empty() {
        text.push_str(&format!(
            "\n\nStays where it is: {}. Ranges of the manifest are not widened.",
            held.join(", ")
        ));
    }
    if input.interactive && !moved.is_empty() {
        text.push_str("\n\nName those that are meant as `packages`.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_bounded_by_how_far_it_may_go() {
        assert_eq!(bounded("a", "1.2.3", Mode::UpdatePatch), "a>=1.2.3,<1.3");
        assert_eq!(bounded("a", "1.2.3", Mode::UpdateMinor), "a>=1.2.3,<2");
        assert_eq!(bounded("a", "1.2.3", Mode::UpdateMajor), "a");
        assert_eq!(bounded("a", "2024", Mode::UpdatePatch), "a>=2024,<2025");
    }
}
