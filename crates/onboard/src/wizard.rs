//! The seven phases: what is found, what would be written, what is wrong.

use projects::Project;
use schemars::JsonSchema;
use serde::Serialize;

use crate::clients::{Client, Scope, Start};
use crate::edit::{Edited, Unfit, with_entry};
use crate::migrate::{self, Migrated, migrate};

/// The project's configuration.
pub const CONFIGURATION: &str = "gatewright.toml";

/// A file as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// There is none.
    Absent,
    /// It holds this.
    Bytes(Vec<u8>),
    /// It was not read, and why: a link, a folder, too large.
    Unfit(String),
}

/// What is known before anything is decided.
#[derive(Debug, Clone)]
pub struct Facts {
    /// What the project is.
    pub project: Project,
    /// `gatewright.toml`.
    pub configuration: Seen,
    /// Why `gatewright.toml` is not understood, where it is not.
    pub misunderstood: Option<String>,
    /// `.mcp-devtools.json`.
    pub old: Seen,
    /// The clients that are to be set up here, with their files as they are. All are of one [`Scope`].
    pub clients: Vec<(Client, Seen)>,
    /// How clients start the server.
    pub start: Start,
    /// Programs of the project that are on this machine.
    pub installed: Vec<String>,
}

/// What is wished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the tool's own inputs")]
pub struct Options {
    /// Write `gatewright.toml`.
    pub generate: bool,
    /// Keep what is replaced, and say how it comes back.
    pub back_up: bool,
    /// Look whether the project's programs are there.
    pub verify: bool,
    /// Hold the outcome to what it should be.
    pub validate: bool,
    /// Propose what is missing; else say that it is.
    pub propose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { generate: true, back_up: true, verify: true, validate: true, propose: true }
    }
}

/// A phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum PhaseName {
    Detect,
    Generate,
    Review,
    Backup,
    Verify,
    Write,
    Validate,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and could be better.
    Warning,
    /// It does not work.
    Error,
    /// It was not looked at.
    Skipped,
}

/// What a phase did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Phase {
    /// Which.
    pub name: PhaseName,
    /// How it went.
    pub state: State,
    /// What it found.
    pub said: String,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub said: String,
    /// What to do, where something is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// A file that would be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Below the root.
    pub path: String,
    /// Whether something is replaced.
    pub replaces: bool,
    /// What it becomes.
    pub bytes: Vec<u8>,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// All seven, in order.
    pub phases: Vec<Phase>,
    /// What would be written.
    pub files: Vec<File>,
    /// What was looked at.
    pub checks: Vec<Check>,
    /// 0 to 100.
    pub score: u32,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Decides everything.
#[must_use]
pub fn wizard(facts: &Facts, options: Options) -> Outcome {
    let (mut files, mut checks, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let is_project = facts.clients.iter().all(|(client, _)| client.scope() == Scope::Project);
    let generated = if options.generate && is_project {
        generated(facts, options.propose, &mut files, &mut checks, &mut notes)
    } else {
        Phase { name: PhaseName::Generate, state: State::Skipped, said: "not asked for".to_owned() }
    };
    for (client, seen) in &facts.clients {
        checks.push(entered(*client, seen, facts, options.propose, &mut files));
    }
    let replaced = files.iter().filter(|file| file.replaces).count();
    let verified = if options.verify { verified(facts, &mut checks) } else { skipped(PhaseName::Verify) };
    let validated = if options.validate {
        let wrong = checks.iter().filter(|check| check.state == State::Error).count();
        let state = if wrong == 0 { State::Ok } else { State::Error };
        Phase {
            name: PhaseName::Validate,
            state,
            said: format!("{} of {} checks are wrong", wrong, checks.len()),
        }
    } else {
        skipped(PhaseName::Validate)
    };
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let phases = vec![
        Phase { name: PhaseName::Detect, state: State::Ok, said: told(&facts.project) },
        generated,
        Phase {
            name: PhaseName::Review,
            state: State::Ok,
            said: if names.is_empty() {
                "nothing is to be written".to_owned()
            } else {
                format!("to be written: {}", names.join(", "))
            },
        },
        if options.back_up {
            let said = format!("what is replaced is kept, byte for byte; files: {replaced}");
            Phase { name: PhaseName::Backup, state: State::Ok, said }
        } else {
            skipped(PhaseName::Backup)
        },
        verified,
        Phase {
            name: PhaseName::Write,
            state: State::Ok,
            said: if files.is_empty() {
                "nothing to do".to_owned()
            } else {
                "a person applies the plan".to_owned()
            },
        },
        validated,
    ];
    let score = score(&checks);
    Outcome { phases, files, checks, score, notes }
}

/// The share of checks that passed in percent, less 10 for each error and 2 for each warning. What was skipped is none.
#[must_use]
pub fn score(checks: &[Check]) -> u32 {
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let (ok, warnings, errors) = (count(State::Ok), count(State::Warning), count(State::Error));
    let all = ok + warnings + errors;
    let share = (100 * ok).checked_div(all).unwrap_or(100);
    u32::try_from(share.saturating_sub(10 * errors + 2 * warnings)).unwrap_or(0)
}

fn skipped(name: PhaseName) -> Phase {
    Phase { name, state: State::Skipped, said: "not asked for".to_owned() }
}

fn told(project: &Project) -> String {
    let kind = serde_json::to_value(project.kind).ok();
    let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or("unknown").to_owned();
    let name = project.name.as_deref().map_or_else(String::new, |name| format!(", called {name}"));
    format!("{kind}{name}")
}

/// `gatewright.toml`, where there is none: with what the old file said.
fn generated(
    facts: &Facts,
    propose: bool,
    files: &mut Vec<File>,
    checks: &mut Vec<Check>,
    notes: &mut Vec<String>,
) -> Phase {
    let phase = |state, said: String| Phase { name: PhaseName::Generate, state, said };
    let check = |state, said: String, fix: Option<&str>| Check {
        name: CONFIGURATION.to_owned(),
        state,
        said,
        fix: fix.map(str::to_owned),
    };
    match (&facts.configuration, &facts.misunderstood) {
        (Seen::Absent, _) if !propose => {
            let said = "there is none: everything is as usual".to_owned();
            checks.push(check(State::Warning, said, Some("Run `gatewright init`: it proposes one.")));
            return phase(State::Ok, "nothing is proposed".to_owned());
        }
        (Seen::Absent, _) => {}
        (Seen::Bytes(_), None) => {
            checks.push(check(State::Ok, "it is there, and understood".to_owned(), None));
            return phase(State::Ok, "gatewright.toml stays as it is".to_owned());
        }
        (Seen::Bytes(_), Some(why)) | (Seen::Unfit(why), _) => {
            let fix = Some("Edit gatewright.toml; `gatewright config schema` prints what is understood.");
            checks.push(check(State::Error, why.clone(), fix));
            return phase(State::Error, "gatewright.toml stays as it is".to_owned());
        }
    }
    let old = match &facts.old {
        Seen::Absent => None,
        Seen::Unfit(why) => {
            notes.push(format!("{}: {why}", migrate::FILE));
            None
        }
        Seen::Bytes(bytes) => match migrate(&String::from_utf8_lossy(bytes)) {
            Ok(made) => {
                notes.extend(made.notes.iter().map(|note| format!("{}: {note}", migrate::FILE)));
                Some(made)
            }
            Err(why) => {
                notes.push(format!("{}: {why}", migrate::FILE));
                None
            }
        },
    };
    let text = configuration(old.as_ref());
    files.push(File { path: CONFIGURATION.to_owned(), replaces: false, bytes: text.into_bytes() });
    checks.push(check(State::Ok, "it would be written".to_owned(), None));
    phase(
        State::Ok,
        if old.is_some() {
            format!("taken over from {}", migrate::FILE)
        } else {
            "with nothing but what is usual".to_owned()
        },
    )
}

/// The text of a new `gatewright.toml`.
#[must_use]
pub fn configuration(old: Option<&Migrated>) -> String {
    let mut text = String::from(
        "# What gatewright's tools do in this project where a call does not say.\n\
         # `gatewright config schema` prints every key; what widens what tools may do is your own configuration's to say.\n",
    );
    let sections = old.into_iter().flat_map(|old| [("devtools", &old.devtools), ("plugins", &old.plugins)]);
    for (name, table) in sections.filter(|(_, table)| !table.is_empty()) {
        let whole = toml::Table::from_iter([(name.to_owned(), toml::Value::Table(table.clone()))]);
        text.push('\n');
        text.push_str(&whole.to_string());
    }
    text
}

/// Our entry in one client's file.
fn entered(client: Client, seen: &Seen, facts: &Facts, propose: bool, files: &mut Vec<File>) -> Check {
    let path = client.file().to_owned();
    let check = |state, said: String, fix: Option<String>| Check {
        name: format!("{} ({path})", client.title()),
        state,
        said,
        fix,
    };
    if files.iter().any(|file| file.path == path) {
        return check(State::Ok, "the same file as another client's".to_owned(), None);
    }
    let bytes = match seen {
        Seen::Absent => None,
        Seen::Bytes(bytes) => Some(bytes.as_slice()),
        Seen::Unfit(why) => {
            return check(
                State::Error,
                why.clone(),
                Some(format!("Put a file in the place of {path}, or add the entry by hand.")),
            );
        }
    };
    match with_entry(client, bytes, &facts.start) {
        Ok(Edited::Same) => check(State::Ok, "it has the entry".to_owned(), None),
        Ok(Edited::Made(_)) if !propose => {
            let said =
                if bytes.is_some() { "it has no entry of gatewright" } else { "there is no such file" };
            check(
                State::Error,
                said.to_owned(),
                Some("Run `gatewright init`: it proposes the entry.".to_owned()),
            )
        }
        Ok(Edited::Made(made)) => {
            files.push(File { path: path.clone(), replaces: bytes.is_some(), bytes: made });
            check(State::Ok, "the entry would be added".to_owned(), None)
        }
        Err(unfit @ Unfit::Other(_)) => check(
            State::Warning,
            unfit.to_string(),
            Some(format!("Take that entry out of {path}, if it is not meant.")),
        ),
        Err(unfit) => {
            check(State::Error, unfit.to_string(), Some(format!("Repair {path}, then do this again.")))
        }
    }
}

fn verified(facts: &Facts, checks: &mut Vec<Check>) -> Phase {
    let mut missing = Vec::new();
    for program in &facts.project.programs {
        let is_there = facts.installed.contains(program);
        checks.push(Check {
            name: program.clone(),
            state: if is_there { State::Ok } else { State::Warning },
            said: if is_there { "it is installed" } else { "it is not installed" }.to_owned(),
            fix: (!is_there).then(|| format!("Install {program}, or leave the tools alone that need it.")),
        });
        if !is_there {
            missing.push(program.as_str());
        }
    }
    let said = if missing.is_empty() {
        "every program of the project is there".to_owned()
    } else {
        format!("missing: {}", missing.join(", "))
    };
    Phase {
        name: PhaseName::Verify,
        state: if missing.is_empty() { State::Ok } else { State::Warning },
        said,
    }
}
