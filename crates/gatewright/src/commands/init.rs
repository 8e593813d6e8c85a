//! `gatewright init`: what the setup tools propose, shown to a person and applied by one.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use contract::text::counted;
use contract::{CallId, Fault, Key, Principal, Reply, TranscriptId};
use kit::call::ClientInfo;
use kit::consent::Consent;
use kit::{Call, Done, Engine, House, Progress};
use onboard::{Client, Scope};
use rmcp::ServiceExt as _;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tools_setup::tools::onboarding_wizard::annex_of;

use super::{CommandError, CommandResult, find, runtime};
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{self, BAD, BOLD, GOOD, NOTE};

/// How long a server may take that is started to see whether it answers.
const PATIENCE: Duration = Duration::from_secs(5);
/// The tool that proposes all of it.
const WIZARD: &str = "onboarding_wizard";
/// The tools whose plans are taken back.
const SETS_UP: [&str; 2] = [WIZARD, "generate_config"];

/// What is set up, and how.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Only show what would be written, or taken back.
    #[arg(long)]
    pub dry_run: bool,
    /// Take back everything that setting this repository up wrote.
    #[arg(long, conflicts_with_all = ["yes", "client"])]
    pub undo: bool,
    /// Write without asking.
    #[arg(long)]
    pub yes: bool,
    /// A client: claude-code, cursor, vscode, generic, codex, claude-desktop. Give several. Default: those that the repository shows
    /// traces of.
    #[arg(long, value_name = "NAME")]
    pub client: Vec<String>,
}

pub fn run(asked: &Asked, args: &InitArgs) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    if house.first().root().is_none() {
        return Err(Fault::new(contract::Code::NoRoot, "there is no repository to set up here")
            .suggest("Run this inside a git repository, or name a directory with `--root DIR`.")
            .into());
    }
    if args.undo {
        return undo(&house, args);
    }
    let runtime = runtime()?;
    let (mut is_well, mut has_written) = (true, false);
    for arguments in calls(&args.client)? {
        let set_up = runtime.block_on(set_up(&house, arguments, args))?;
        is_well &= set_up.is_well;
        has_written |= set_up.has_written;
    }
    if has_written && let Some(root) = house.first().root().map(|root| root.path()) {
        match runtime.block_on(answers(root)) {
            Ok(tools) => say!(
                "{GOOD}✓{GOOD:#} A server started as the clients start it answers: {}.",
                counted(tools, "tool")
            ),
            Err(why) => {
                is_well = false;
                say!(
                    "{BAD}✗{BAD:#} A server started as the clients start it does not answer: {why}\n  {NOTE}→{NOTE:#} `gatewright doctor` says what is wrong here."
                );
            }
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The calls to make: one for the repository's own files, one for each file of the user's.
fn calls(named: &[String]) -> Result<Vec<Map<String, Value>>, CommandError> {
    let of = |clients: &[Client]| Map::from_iter([("clients".to_owned(), json!(clients))]);
    let mut clients = Vec::new();
    for name in named {
        clients.push(Client::named(name).ok_or_else(|| {
            let known: Vec<&str> = Client::ALL.into_iter().map(Client::name).collect();
            CommandError::Usage(format!("--client {name}: there are {}", known.join(", ")))
        })?);
    }
    let (users, own): (Vec<Client>, Vec<Client>) =
        clients.into_iter().partition(|client| client.scope() == Scope::User);
    let mut calls = Vec::new();
    if !own.is_empty() || users.is_empty() {
        calls.push(if own.is_empty() { Map::new() } else { of(&own) });
    }
    calls.extend(users.iter().map(|client| of(std::slice::from_ref(client))));
    Ok(calls)
}

/// How many tools a server lists that is started as clients start it.
async fn answers(root: &Path) -> Result<u64, String> {
    let start = crate::clients::itself().start(Some(root));
    let mut command = tokio::process::Command::new(start.command);
    command.args(start.args).current_dir(root).kill_on_drop(true).env("LOG_LEVEL", "error");
    let talk = async {
        let client =
            ().serve(TokioChildProcess::new(command).map_err(|e| e.to_string())?)
                .await
                .map_err(|e| e.to_string())?;
        let tools = client.list_all_tools().await.map_err(|e| e.to_string())?;
        // What it says at its end is nobody's any more.
        let _ = client.cancel().await;
        Ok(tools.len() as u64)
    };
    tokio::time::timeout(PATIENCE, talk)
        .await
        .unwrap_or_else(|_| Err(format!("not within {} s", PATIENCE.as_secs())))
}

/// What became of one plan.
struct SetUp {
    /// Whether nothing is wrong.
    is_well: bool,
    /// Whether something was written.
    has_written: bool,
}

/// Rehearses, shows, asks, applies.
async fn set_up(
    house: &House,
    arguments: Map<String, Value>,
    args: &InitArgs,
) -> Result<SetUp, CommandError> {
    let rehearsed = made(house, arguments.clone(), Consent::default()).await.result?;
    let is_well = rehearsed.envelope.success;
    let untouched = SetUp { is_well, has_written: false };
    let Some(plan) = shown(&rehearsed) else { return Ok(untouched) };
    if args.dry_run {
        say!("{NOTE}A rehearsal: nothing was changed.{NOTE:#}");
        return Ok(untouched);
    }
    if !args.yes && !agreed("Write this?") {
        say!("{NOTE}Nothing was changed.{NOTE:#} `--yes` writes without asking.");
        return Ok(SetUp { is_well: false, ..untouched });
    }
    let done = made(house, arguments, Consent::Given(Some(plan))).await;
    let transcript = match &done.result {
        Ok(reply) => reply.envelope.metadata.transcript.clone(),
        Err(fault) => return Err(fault.clone().into()),
    };
    let recorded = transcript.map_or_else(String::new, |id| format!(" Recorded as {id}."));
    say!("{GOOD}Written.{GOOD:#}{recorded} `gatewright init --undo` takes it back.");
    Ok(SetUp { is_well, has_written: true })
}

async fn made(house: &House, arguments: Map<String, Value>, consent: Consent) -> Done {
    let progress: Progress = Arc::new(|_| {});
    house
        .call(Call {
            id: CallId(format!("init-{}", Key::random().map(|k| k.to_string()).unwrap_or_default())),
            tool: WIZARD.to_owned(),
            arguments: Value::Object(arguments),
            consent,
            principal: Principal::Local { uid: house.first().uid() },
            bearer: None,
            client: ClientInfo::new("gatewright", env!("CARGO_PKG_VERSION")),
            from: None,
            inquiries: None,
            session: None,
            detach: false,
            cancel: CancellationToken::new(),
            progress,
        })
        .await
}

/// Shows what was rehearsed, and gives its plan where something would change.
fn shown(reply: &Reply) -> Option<contract::PlanId> {
    say!("{}", reply.envelope.message);
    for note in reply.output.get("notes").and_then(Value::as_array).into_iter().flatten() {
        say!("{NOTE}note:{NOTE:#} {}", note.as_str().unwrap_or_default());
    }
    let plan = reply.envelope.plan.as_ref().filter(|plan| !plan.effects.is_empty())?;
    say!();
    plan.effects.iter().for_each(|effect| say!("  {effect}"));
    say!();
    term::diff(&plan.diff);
    Some(plan.id)
}

/// Asks whoever sits at the terminal; nobody there is no consent.
fn agreed(question: &str) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    anstream::eprint!("{question} [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Takes back everything that setting this repository up applied, the latest first.
fn undo(house: &House, args: &InitArgs) -> CommandResult {
    let home = house.first().root().map(|root| root.id().to_owned());
    let annexes = Client::ALL
        .into_iter()
        .filter_map(annex_of)
        .filter_map(|name| house.find(|engine| engine.root().is_some_and(|root| root.name() == name)));
    let engines = std::iter::once(Arc::clone(house.first())).chain(annexes);
    let (mut taken, mut failed) = (0, 0);
    for (at, engine) in engines.enumerate() {
        for id in applied(&engine, home.as_deref().filter(|_| at > 0))? {
            let principal = Principal::Local { uid: engine.uid() };
            match kit::undo::undo(&engine, &id, &principal, !args.dry_run) {
                Ok(undone) if undone.effects.is_empty() => {}
                Ok(undone) => {
                    taken += undone.effects.len();
                    undone.effects.iter().for_each(|effect| say!("  {effect}"));
                    term::diff(&undone.diff);
                }
                Err(fault) => {
                    failed += 1;
                    say!("{BAD}✗{BAD:#} {id}: {}", fault.message);
                    fault.suggestions.iter().for_each(|fix| say!("  {NOTE}→{NOTE:#} {fix}"));
                }
            }
        }
    }
    match (taken, args.dry_run) {
        (0, _) => say!("{NOTE}Nothing to take back.{NOTE:#}"),
        (_, true) => say!("{NOTE}A rehearsal: nothing was changed.{NOTE:#}"),
        (_, false) => say!("{BOLD}{GOOD}Taken back.{GOOD:#}{BOLD:#}"),
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The calls that set up and applied something here, the latest first; in a folder of the user's, those made from this repository.
fn applied(engine: &Engine, from: Option<&str>) -> Result<Vec<TranscriptId>, CommandError> {
    let entries = find::entries(engine.state())?;
    let is_ours = |transcript: &&::audit::Transcript| {
        let applied = engine.state().applied(&transcript.id);
        SETS_UP.contains(&transcript.tool_name.as_str())
            && applied.is_ok_and(|applied| {
                let source = applied.plan.source.as_ref().map(|source| source.root.as_str());
                from.is_none_or(|from| source == Some(from))
            })
    };
    let ours = find::transcripts(&entries).map(|(_, transcript)| transcript).filter(is_ours);
    let mut ids: Vec<TranscriptId> = ours.map(|transcript| transcript.id.clone()).collect();
    ids.reverse();
    Ok(ids)
}
