//! `gatewright fleet status`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use contract::Fault;
use contract::text::counted;
use serde::Serialize;
use serde_json::json;
use store_api::Timestamp;
use store_api::machine::Machine;
use tools_session::workplace::StoreKind;

use super::super::{CommandError, CommandResult, print_json, runtime};
use super::binary::Binary;
use super::hosts::{self, Host};
use super::remote::{File, Reach};
use super::{Stage, millis};
use crate::cli::{Format, StatusArgs};
use crate::remembered::Remembered;
use crate::term::{BAD, DIM, GOOD, NOTE};
use crate::{config, remembered};

/// How long the store is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a host's program is to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// The same file.
    Same,
    /// Another.
    Other,
    /// None is there.
    Missing,
    /// Nobody knows.
    Failed,
}

/// One host.
#[derive(Debug, Clone, Serialize)]
struct Row {
    host: String,
    state: State,
    /// What its program says of itself.
    version: Option<String>,
    sha256: Option<String>,
    /// What it runs on.
    system: Option<String>,
    /// Its id, by which a store knows it.
    machine: Option<String>,
    /// What it told the store that its program was built for.
    build: Option<String>,
    /// When it last gave the store a sign of life.
    seen: Option<Timestamp>,
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
        (self.state == State::Failed)
            .then(|| (self.why.as_deref().unwrap_or_default(), self.advice.as_deref()))
    }

    fn print(&self, width: usize) {
        let (style, mark, what) = match self.state {
            State::Same => (GOOD, "✓", "as here"),
            State::Other => (NOTE, "≠", "another than here"),
            State::Missing => (NOTE, "–", "none"),
            State::Failed => (BAD, "✗", "failed"),
        };
        let version = self.version.as_deref().map(|version| format!("{version}, ")).unwrap_or_default();
        let seen = self.seen.map(|seen| format!(", last seen {seen}")).unwrap_or_default();
        say!(
            "{style}{mark}{style:#} {:<width$}  {version}{what}{seen} {DIM}({} ms){DIM:#}",
            self.host,
            self.took
        );
    }
}

pub fn run(args: &StatusArgs) -> CommandResult {
    let fleet = &args.fleet;
    let hosts = hosts::load(fleet.hosts.as_deref(), &fleet.only)?;
    let binary = Binary::of(fleet.binary.as_deref())?;
    let (machines, left_out) = match known() {
        Ok(machines) => (machines, None),
        Err(fault) => (BTreeMap::new(), Some(fault.message)),
    };
    let stage = Stage::new(fleet.jobs)?;
    let text = fleet.output == Format::Text;
    let rows = stage.all(&hosts, text, |host, reach| one(host, reach, &binary, &machines));
    if text {
        super::collected(&rows);
        if let Some(why) = &left_out {
            say!("{NOTE}When they were last seen is not known:{NOTE:#} {why}");
        }
        let same = rows.iter().filter(|row| row.state == State::Same).count();
        say!("{same} of {} with this program ({}).", counted(rows.len(), "host"), binary.version);
    } else {
        print_json(&json!({
            "binary": { "path": binary.path, "version": binary.version, "sha256": binary.sha256, "system": binary.system },
            "hosts": rows,
            "store": left_out,
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the store of a team knows of machines, by id; nothing where there is none.
fn known() -> Result<BTreeMap<String, Machine>, Fault> {
    let config = config::load(None).map_err(|e| Fault::invalid(e.to_string()))?;
    let Remembered { context: store, using: kind, .. } = remembered::remembered(&config)?;
    if kind == StoreKind::Sqlite {
        return Ok(BTreeMap::new());
    }
    let runtime = runtime().map_err(|error: CommandError| Fault::internal(error.to_string()))?;
    let listed = runtime.block_on(async { tokio::time::timeout(PATIENCE, store.machines()).await });
    runtime.shutdown_timeout(Duration::from_millis(500));
    let late = |_| {
        Fault::new(
            contract::Code::Timeout,
            format!("the store did not answer within {} s", PATIENCE.as_secs()),
        )
    };
    let listed = listed.map_err(late)?.map_err(Fault::from)?;
    Ok(listed.into_iter().map(|machine| (machine.told.id.to_string(), machine)).collect())
}

fn one(host: &Host, reach: &Reach<'_>, binary: &Binary, machines: &BTreeMap<String, Machine>) -> Row {
    let began = Instant::now();
    let mut row = Row {
        host: host.name.clone(),
        state: State::Failed,
        version: None,
        sha256: None,
        system: None,
        machine: None,
        build: None,
        seen: None,
        took: 0,
        why: None,
        advice: None,
    };
    match reach.look(host) {
        Ok(found) => {
            row.state = State::Missing;
            if let File::There { sha256, version } = found.file {
                row.state = if sha256 == binary.sha256 { State::Same } else { State::Other };
                (row.sha256, row.version) = (Some(sha256), version);
            }
            if let Some(machine) = found.machine.as_ref().and_then(|id| machines.get(id)) {
                (row.build, row.seen) = (Some(machine.told.build.clone()), Some(machine.seen));
            }
            (row.system, row.machine) = (Some(found.system), found.machine);
        }
        Err(trouble) => (row.why, row.advice) = (Some(trouble.why), trouble.advice),
    }
    row.took = millis(began);
    row
}
