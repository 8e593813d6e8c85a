//! `gatewright selftest`: whether all of it works on this machine, from a server that starts to the store that is configured. It is what
//! a new machine runs first, and what a deployment is judged by.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::audit::Anchor;
use contract::Fault;
use contract::text::{counted, spelled_out};
use exec::run::Level;
use exec::{Rights, Root, StateDir};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::Context;
use store_api::machine::NewMachine;
use tokio::time::timeout;
use tools_session::workplace::StoreKind;

use super::scratch::{self, Client, Place, Wrong};
use super::{CommandResult, doctor};
use crate::cli::{Format, SelftestArgs};
use crate::config::{self, Config};
use crate::remembered::{self, Remembered};
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};
use crate::workplace::machine;

/// How long one check may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was found out. A fleet reads it from machines with other versions: what is added there is passed over here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// Whether nothing failed.
    pub passed: bool,
    /// The program's version.
    pub version: String,
    /// What it was built for.
    pub build: String,
    /// This machine, where it could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// What was looked at, in order.
    pub checks: Vec<Check>,
}

/// This machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub name: String,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Check {
    /// What.
    pub name: String,
    /// How it is.
    pub status: Status,
    /// In words.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// How long it took.
    pub millis: u64,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As it should be.
    Pass,
    /// Works, with less than there could be.
    Warn,
    /// Does not work.
    Fail,
    /// Was not looked at, because there is nothing to look at or something before it failed.
    Skip,
}

/// What a check found.
struct Fine<T> {
    status: Status,
    message: String,
    fix: Option<String>,
    value: T,
}

#[expect(clippy::unnecessary_wraps, reason = "it is what checks end with")]
fn pass<T>(message: impl Into<String>, value: T) -> Looked<T> {
    Ok(Fine { status: Status::Pass, message: message.into(), fix: None, value })
}

/// What a check did not find, and what to do.
struct Bad(String, Option<String>);

type Looked<T> = Result<Fine<T>, Bad>;

impl From<Wrong> for Bad {
    fn from(wrong: Wrong) -> Self {
        Self(wrong.0, None)
    }
}

impl From<std::io::Error> for Bad {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string(), None)
    }
}

impl From<Fault> for Bad {
    fn from(fault: Fault) -> Self {
        Self(fault.message, fault.suggestions.into_iter().next())
    }
}

pub fn run(args: &SelftestArgs) -> CommandResult {
    let mut trial = Trial { says: args.output == Format::Text, checks: Vec::new() };
    let (version, build) = (env!("CARGO_PKG_VERSION").to_owned(), machine::build());
    if trial.says {
        say!("{BOLD}gatewright {version}{BOLD:#} ({build})");
    }
    let runtime = super::runtime()?;
    let machine = runtime.block_on(whole(&mut trial));
    // A store that does not answer is not waited for.
    runtime.shutdown_timeout(Duration::from_millis(500));
    let passed = trial.works();
    if trial.says {
        let (style, verdict) = if passed { (GOOD, "all of it works") } else { (BAD, "not all of it works") };
        say!("{style}{verdict}{style:#}");
    } else {
        let machine = machine.map(|m| Machine { id: m.id.to_string(), name: m.name });
        let report = Report { passed, version, build, machine, checks: trial.checks };
        let value = serde_json::to_value(&report).map_err(|e| Fault::internal(e.to_string()))?;
        super::print_json(&value)?;
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The checks so far.
struct Trial {
    says: bool,
    checks: Vec<Check>,
}

impl Trial {
    /// Whether nothing failed so far.
    fn works(&self) -> bool {
        self.checks.iter().all(|check| check.status != Status::Fail)
    }

    /// Looks at one thing, for [`PATIENCE`] at most.
    async fn look<T>(&mut self, name: &str, work: impl Future<Output = Looked<T>>) -> Option<T> {
        let began = Instant::now();
        let late = || Bad(format!("it took longer than {} s", PATIENCE.as_secs()), None);
        let looked = timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(late()));
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (status, message, fix, value) = match looked {
            Ok(Fine { status, message, fix, value }) => (status, message, fix, Some(value)),
            Err(Bad(message, fix)) => (Status::Fail, message, fix, None),
        };
        self.note(Check { name: name.to_owned(), status, message, fix, millis });
        value
    }

    /// As [`Self::look`], where what it needs is there.
    async fn then<A, T>(
        &mut self,
        name: &str,
        given: Option<A>,
        work: impl AsyncFnOnce(A) -> Looked<T>,
    ) -> Option<T> {
        if let Some(given) = given {
            return self.look(name, work(given)).await;
        }
        let message = "not tried: what it needs is missing".to_owned();
        self.note(Check { name: name.to_owned(), status: Status::Skip, message, fix: None, millis: 0 });
        None
    }

    fn note(&mut self, check: Check) {
        if self.says {
            let (style, mark) = match check.status {
                Status::Pass => (GOOD, "✓"),
                Status::Warn => (NOTE, "!"),
                Status::Fail => (BAD, "✗"),
                Status::Skip => (DIM, "–"),
            };
            let Check { name, millis, .. } = &check;
            say!(
                "{style}{mark}{style:#} {name:<14} {} {DIM}({millis} ms){DIM:#}",
                spelled_out(&check.message)
            );
            if let Some(fix) = &check.fix {
                say!("  {NOTE}→{NOTE:#} {}", spelled_out(fix));
            }
        }
        self.checks.push(check);
    }
}

/// Every check. Returns this machine.
async fn whole(trial: &mut Trial) -> Option<NewMachine> {
    let config = trial.look("configuration", async { configuration() }).await;
    let scratch = trial.look("scratch", async { scratch_place() }).await;
    let place = scratch.as_ref().map(|(_, place)| place);
    served(trial, place).await;
    trial
        .then("confinement", config.as_ref().zip(place), async |(config, place)| confinement(config, place))
        .await;
    let store = trial.then("store", config.as_ref(), async |config| store(config).await).await;
    // A machine on which something fails, or a program that is about to be taken back from it, is nothing that others should see.
    let store = store.filter(|_| trial.works());
    trial.look("machine", this_machine(store)).await
}

fn configuration() -> Looked<Config> {
    let config = config::load(None).map_err(|e| {
        Bad(
            e.to_string(),
            Some("correct it: `gatewright config schema` prints what is understood".to_owned()),
        )
    })?;
    pass("understood", config)
}

/// A repository of its own, which goes with what is returned first.
fn scratch_place() -> Looked<(tempfile::TempDir, Place)> {
    let dir = tempfile::Builder::new().prefix("gatewright-selftest-").tempdir()?;
    let place = Place::make(dir.path())?;
    place.make_repository()?;
    pass("a repository to try it on", (dir, place))
}

/// A client's view: a server starts, lists, rehearses, applies, begins a day; what it recorded holds and is taken back.
async fn served(trial: &mut Trial, place: Option<&Place>) {
    let server = trial.then("server", place, async |place| greeted(place).await).await;
    let client = server.as_ref();
    trial.then("tools", client, async |client| listed(client).await).await;
    let given = client.zip(place);
    let plan = trial.then("rehearsal", given, async |(client, place)| rehearsed(client, place).await).await;
    let given = client.zip(place).zip(plan);
    let applied =
        trial.then("apply", given, async |((client, place), plan)| applied(client, place, &plan).await).await;
    trial.then("day", client, async |client| begun(client).await).await;
    let given = place.zip(applied.as_ref());
    trial.then("record", given, async |(place, anchor)| recorded(place, anchor)).await;
    trial.then("undo", given, async |(place, _)| undone(place).await).await;
    if let Some(server) = server {
        // What it keeps is about to be removed.
        let _ = timeout(PATIENCE, server.cancel()).await;
    }
}

async fn greeted(place: &Place) -> Looked<Client> {
    let client = place.connect().await.map_err(|wrong| {
        Bad(
            format!("no server answers over standard input and output: {wrong}"),
            Some("run `gatewright serve` by hand: it says why".to_owned()),
        )
    })?;
    let version = client.peer_info().and_then(|info| Some(info.server_info.as_ref()?.version.clone()));
    if version.as_deref() != Some(env!("CARGO_PKG_VERSION")) {
        return Err(Bad(format!("the server says that its version is {version:?}"), None));
    }
    pass("starts and answers over standard input and output", client)
}

async fn listed(client: &Client) -> Looked<()> {
    let tools = client.list_all_tools().await.map_err(scratch::wrong)?;
    if !tools.iter().any(|tool| tool.name == "tools_search") {
        return Err(Bad("the tool that finds the others is not listed".to_owned(), None));
    }
    pass(format!("{} listed", counted(tools.len(), "tool")), ())
}

/// What is built of the example.
fn arguments() -> Value {
    json!({ "source": "tokens", "platforms": ["css"] })
}

fn is_built(place: &Place) -> bool {
    place.root.join("artifacts").exists()
}

/// A tool's answer, where it is none of a fault.
async fn called(
    client: &Client,
    tool: &'static str,
    arguments: Value,
) -> Result<(Value, Option<Anchor>), Bad> {
    let answer = scratch::call(client, tool, arguments).await?;
    if answer.is_fault {
        let said = answer.value.pointer("/error/message").and_then(Value::as_str).unwrap_or("it failed");
        return Err(Bad(format!("{tool}: {said}"), None));
    }
    Ok((answer.value, answer.anchor))
}

async fn rehearsed(client: &Client, place: &Place) -> Looked<String> {
    let (value, _) = called(client, "tokens_build", arguments()).await?;
    if is_built(place) {
        return Err(Bad("a rehearsal changed something".to_owned(), None));
    }
    let plan = value.pointer("/plan/id").and_then(Value::as_str);
    let plan = plan.ok_or_else(|| Bad("no plan came back".to_owned(), None))?;
    pass("a tool was called, and changed nothing", plan.to_owned())
}

async fn applied(client: &Client, place: &Place, plan: &str) -> Looked<Anchor> {
    let mut arguments = arguments();
    arguments["apply"] = json!(true);
    arguments["plan"] = json!(plan);
    let (_, anchor) = called(client, "tokens_build", arguments).await?;
    if !is_built(place) {
        return Err(Bad("what was applied is not there".to_owned(), None));
    }
    let anchor = anchor.ok_or_else(|| Bad("no anchor came back".to_owned(), None))?;
    pass("its plan was applied", anchor)
}

async fn begun(client: &Client) -> Looked<()> {
    let (value, _) = called(client, "sod", json!({})).await?;
    match value["day"].as_str() {
        Some("valid") => pass("a day was begun in a store of its own", ()),
        day => Err(Bad(format!("a day does not begin: it is {}", day.unwrap_or("nothing")), None)),
    }
}

fn recorded(place: &Place, anchor: &Anchor) -> Looked<()> {
    let report = scratch::verified(&place.ledger()?, anchor).map_err(|e| Bad(e.to_string(), None))?;
    if report.verdict() != "verified" {
        let found = report.findings.first().map(|finding| finding.message.as_str()).unwrap_or_default();
        return Err(Bad(format!("the record is {}: {found}", report.verdict()), None));
    }
    let (calls, records) = (counted(report.transcripts, "call"), counted(report.records, "record"));
    pass(format!("verified: {calls}, {records}"), ())
}

async fn undone(place: &Place) -> Looked<()> {
    let output = place.command()?.args(["undo", "last"]).output().await?;
    if !output.status.success() || is_built(place) {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Bad(format!("what was applied was not taken back: {said}"), None));
    }
    pass("what was applied was taken back", ())
}

fn confinement(config: &Config, place: &Place) -> Looked<()> {
    let state = StateDir::at(place.state.join("confinement"))?;
    let root = Root::open(&place.root, "selftest", Rights::ReadWrite)?;
    let confined = doctor::confined(&state, Some(&root), config.security.confinement.level())?;
    if confined.level < confined.least {
        return Err(Bad(confined.text, Some(doctor::CONFINE.to_owned())));
    }
    if confined.level < Level::Full {
        let fix = Some(doctor::CONFINE.to_owned());
        return Ok(Fine { status: Status::Warn, message: confined.text, fix, value: () });
    }
    pass(confined.text, ())
}

/// Opens the store that is configured, and reads from it.
async fn store(config: &Config) -> Looked<(Arc<dyn Context>, StoreKind)> {
    let Remembered { context: store, using: kind, .. } = remembered::remembered(config)?;
    let machines = store.machines().await.map_err(Fault::from)?;
    let what = match kind {
        StoreKind::Sqlite => "a file of this machine".to_owned(),
        StoreKind::Postgres => {
            format!("a database that a team shares, with {}", counted(machines.len(), "machine"))
        }
        StoreKind::Remote => format!("a team's context, with {}", counted(machines.len(), "machine")),
    };
    pass(what, (store, kind))
}

/// This machine, registered where others can see it.
async fn this_machine(store: Option<(Arc<dyn Context>, StoreKind)>) -> Looked<NewMachine> {
    let here = machine::here(&StateDir::base()?)?;
    let why = match store {
        Some((_, StoreKind::Sqlite)) => "no store of a team is configured",
        None => "something before failed",
        Some((store, _)) => {
            store.register(here.clone()).await.map_err(Fault::from)?;
            return pass(format!("{} is registered", here.name), here);
        }
    };
    let message = format!("{} is not registered: {why}", here.name);
    Ok(Fine { status: Status::Skip, message, fix: None, value: here })
}

impl Report {
    /// What failed first, and what to do about it.
    pub fn failure(&self) -> Option<(String, Option<String>)> {
        let check = self.checks.iter().find(|check| check.status == Status::Fail)?;
        Some((
            spelled_out(&format!("{}: {}", check.name, check.message)),
            check.fix.as_deref().map(spelled_out),
        ))
    }

    /// What works with less than there could be.
    pub fn warning(&self) -> Option<String> {
        let check = self.checks.iter().find(|check| check.status == Status::Warn)?;
        Some(spelled_out(&format!("{}: {}", check.name, check.message)))
    }
}

/// Reads a report that another machine gave; what follows it is passed over.
pub fn read(text: &str) -> Option<Report> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}
