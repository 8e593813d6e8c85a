//! `gatewright fleet deploy`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use contract::Fault;
use contract::text::counted;
use exec::helper::ssh::Word;
use serde::Serialize;
use serde_json::json;

use super::super::{CommandResult, print_json, selftest};
use super::binary::{self, Binary};
use super::hosts::{self, Host};
use super::remote::{File, Put, Reach, Trouble, writable};
use super::{Row as _, Stage, millis};
use crate::cli::{DeployArgs, Format};
use crate::term::{BAD, DIM, GOOD, NOTE};
use crate::workplace::machine;

/// How long a host may take for all of it: the copy over a slow line, and its test.
const PATIENCE: Duration = Duration::from_mins(20);

/// What became of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It would be deployed.
    WouldDeploy,
    /// It has the program, which passed its own test there.
    Deployed,
    /// It had it already.
    Unchanged,
    /// Nothing changed there.
    Failed,
    /// The program failed its own test there, and what was there before is there again.
    RolledBack,
}

/// A program on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Version {
    /// What it says of itself; nothing where it does not.
    version: Option<String>,
    /// Its digest.
    sha256: String,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digest = self.sha256.get(..12).unwrap_or_default();
        write!(f, "{} ({digest})", self.version.as_deref().unwrap_or("unknown"))
    }
}

/// One host.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    host: String,
    state: State,
    /// What it had; nothing where there was none, or where nobody knows.
    from: Option<Version>,
    /// What it is to have.
    to: Version,
    /// In milliseconds.
    took: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl super::Row for Row {
    fn host(&self) -> &str {
        &self.host
    }

    fn trouble(&self) -> Option<(&str, Option<&str>)> {
        let failed = matches!(self.state, State::Failed | State::RolledBack);
        failed.then(|| (self.why.as_deref().unwrap_or_default(), self.advice.as_deref()))
    }

    fn print(&self, width: usize) {
        let (style, mark) = match self.state {
            State::Deployed => (GOOD, "✓"),
            State::WouldDeploy => (NOTE, "+"),
            State::Unchanged => (DIM, "="),
            State::Failed | State::RolledBack => (BAD, "✗"),
        };
        let from = self.from.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
        let what = match self.state {
            State::Deployed => format!("deployed: {from} → {}", self.to),
            State::WouldDeploy => format!("would be deployed: {from} → {}", self.to),
            State::Unchanged => format!("has it: {}", self.to),
            State::Failed => "failed".to_owned(),
            State::RolledBack => format!("rolled back to {from}"),
        };
        let note = self.why.as_ref().filter(|_| self.trouble().is_none());
        let note = note.map(|why| format!("; {why}")).unwrap_or_default();
        say!("{style}{mark}{style:#} {:<width$}  {what}{note} {DIM}({} ms){DIM:#}", self.host, self.took);
    }
}

pub fn run(args: &DeployArgs) -> CommandResult {
    let fleet = &args.fleet;
    let hosts = hosts::load(fleet.hosts.as_deref(), &fleet.only)?;
    let binary = Binary::of(fleet.binary.as_deref())?;
    if let Some(dir) = &args.from_checkout {
        binary::is_released(dir, &binary)?;
    }
    let stage = Stage::new(fleet.jobs)?;
    let text = fleet.output == Format::Text;
    let rows = stage.all(&hosts, text, |host, reach| one(host, reach, &binary, args.apply));
    let failed = rows.iter().filter(|row| row.trouble().is_some()).count();
    if text {
        told(&rows, failed);
    } else {
        print_json(&json!({
            "applied": args.apply,
            "binary": { "path": binary.path, "version": binary.version, "sha256": binary.sha256, "system": binary.system },
            "hosts": rows,
        }))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn told(rows: &[Row], failed: usize) {
    super::collected(rows);
    let count = |state: State| rows.iter().filter(|row| row.state == state).count();
    let (would, deployed) = (count(State::WouldDeploy), count(State::Deployed));
    let all = counted(rows.len(), "host");
    if deployed > 0 {
        say!(
            "{GOOD}{deployed} of {all} deployed.{GOOD:#} Servers that run there go on with the program that they were started from: \
             exit and relaunch their clients."
        );
    } else if would > 0 {
        say!("{NOTE}A rehearsal: nothing was changed.{NOTE:#} `--apply` deploys to {would} of {all}.");
    } else if failed == 0 {
        say!("{GOOD}Nothing to do:{GOOD:#} {all} with this program.");
    }
    if failed > 0 {
        say!("{BAD}{failed} of {all} failed.{BAD:#}");
    }
}

/// One host, from looking at it to what it says of itself afterwards.
fn one(host: &Host, reach: &Reach<'_>, binary: &Binary, apply: bool) -> Row {
    let began = Instant::now();
    let to = Version { version: Some(binary.version.clone()), sha256: binary.sha256.clone() };
    let mut row = Row {
        host: host.name.clone(),
        state: State::Failed,
        from: None,
        to,
        took: 0,
        why: None,
        advice: None,
    };
    match tried(host, reach, binary, apply, &mut row.from) {
        Ok((state, noted)) => {
            row.state = state;
            (row.why, row.advice) = noted.map_or((None, None), |noted| (Some(noted.why), noted.advice));
        }
        Err(trouble) => (row.why, row.advice) = (Some(trouble.why), trouble.advice),
    }
    row.took = millis(began);
    row
}

type Ended = Result<(State, Option<Trouble>), Trouble>;

fn tried(host: &Host, reach: &Reach<'_>, binary: &Binary, apply: bool, from: &mut Option<Version>) -> Ended {
    let found = reach.look(host)?;
    if let File::There { sha256, version } = &found.file {
        *from = Some(Version { version: version.clone(), sha256: sha256.clone() });
        if *sha256 == binary.sha256 {
            return Ok((State::Unchanged, None));
        }
    }
    if found.system != binary.system {
        return Err(Trouble::new(
            format!("it is {}, and the program is for {}", found.system, binary.system),
            format!("build it for that, and name it with --binary and --only {}", host.name),
        ));
    }
    if found.file == File::Folder {
        let why = format!("a folder is at {}", host.path);
        return Err(Trouble::new(why, "name the file itself as `path`"));
    }
    if let Some(blocked) = found.blocked {
        return Err(Trouble::new(format!("{blocked} may not be written to"), writable(host)));
    }
    if !apply {
        return Ok((State::WouldDeploy, None));
    }
    let fault = |fault: Fault| Trouble { why: fault.message, advice: None };
    let name = format!("{:032x}", machine::random().map_err(fault)?);
    let word =
        |text: &str| text.parse::<Word>().map_err(|unfit| Trouble { why: unfit.to_string(), advice: None });
    let input = binary
        .input()
        .map_err(|error| Trouble { why: format!("the program could not be read: {error}"), advice: None })?;
    Ok(match reach.put(host, input, (word(&name)?, word(&binary.sha256)?), PATIENCE)? {
        Put::Deployed(said) => (State::Deployed, unusual(&said, binary)),
        Put::Restored(said) => {
            (State::RolledBack, Some(failure(&said, "what was there before is there again")))
        }
        Put::Removed(said) => {
            (State::RolledBack, Some(failure(&said, "there was none before, and it was removed")))
        }
    })
}

/// What is worth saying of a test that was passed.
fn unusual(said: &str, binary: &Binary) -> Option<Trouble> {
    let why = match selftest::read(said) {
        None => "it passed its selftest, and what it said of it is not understood".to_owned(),
        Some(report) if report.version != binary.version => {
            format!("it passed its selftest as version {:?}", report.version)
        }
        Some(report) => report.warning()?,
    };
    Some(Trouble { why, advice: None })
}

/// Why its own test failed.
fn failure(said: &str, after: &str) -> Trouble {
    let (why, fix) = selftest::read(said)
        .and_then(|report| report.failure())
        .unwrap_or_else(|| ("it came to no end that is understood".to_owned(), None));
    let advice = fix.unwrap_or_else(|| "run `gatewright selftest` with that program on that host".to_owned());
    Trouble::new(format!("its selftest failed: {why}; {after}"), advice)
}
