//! `gatewright quickstart`: all of it, on a scratch copy of the example, through the protocol, with nothing left behind.

use std::path::Path;
use std::process::ExitCode;

use ::audit::Anchor;
use contract::text::counted;
use serde_json::{Value, json};

use super::scratch::{self, Client, Place};
use super::{CommandError, CommandResult};
use crate::cli::QuickstartArgs;
use crate::term::{self, BAD, BOLD, DIM, GOOD, NOTE};

/// Lines of a diff that are shown.
const SHOWN: usize = 14;

pub fn run(args: &QuickstartArgs) -> CommandResult {
    let scratch = tempfile::Builder::new().prefix("gatewright-quickstart-").tempdir()?;
    let place = Place::make(scratch.path())?;
    super::runtime()?.block_on(show(&place))?;
    clients()?;
    if args.keep {
        let kept = scratch.keep();
        say!("\nKept in {}.", kept.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn wrong(what: impl std::fmt::Display) -> CommandError {
    CommandError::Quickstart(format!("quickstart: {what}"))
}

fn step(n: u32, what: &str) {
    say!("\n{BOLD}{n}. {what}{BOLD:#}");
}

async fn call(client: &Client, arguments: Value) -> Result<(Value, Option<Anchor>), CommandError> {
    let answer = scratch::call(client, "tokens_build", arguments).await.map_err(wrong)?;
    Ok((answer.value, answer.anchor))
}

fn show_plan(value: &Value) {
    for effect in value.pointer("/plan/effects").and_then(Value::as_array).into_iter().flatten() {
        say!("   {}", effect.as_str().unwrap_or_default());
    }
    let diff = value.pointer("/plan/diff").and_then(Value::as_str).unwrap_or_default();
    let shown = diff.lines().take(SHOWN).collect::<Vec<_>>().join("\n");
    term::diff(&shown);
    let rest = diff.lines().count().saturating_sub(SHOWN);
    if rest > 0 {
        say!("{DIM}   … {rest} more lines{DIM:#}");
    }
}

async fn show(place: &Place) -> Result<(), CommandError> {
    say!("{BOLD}Gatewright on a scratch copy of a small design system.{BOLD:#}");
    step(1, "An agent connects: the server is started and spoken to over MCP (stdio).");
    let client = place.connect().await.map_err(wrong)?;
    let tools = client.list_all_tools().await.map_err(wrong)?;
    let names: Vec<&str> = tools.iter().map(|t| &*t.name).collect();
    say!("   tools: {}", names.join(", "));

    step(2, "It asks for the tokens to be built. Nothing is changed: the result is a plan.");
    let arguments = json!({ "source": "tokens", "platforms": ["css", "scss", "js"], "preview": true });
    let (rehearsed, _) = call(&client, arguments.clone()).await?;
    say!("   {}", rehearsed["message"].as_str().unwrap_or_default().replace('\n', "\n   "));
    show_plan(&rehearsed);
    let plan =
        rehearsed.pointer("/plan/id").and_then(Value::as_str).ok_or_else(|| wrong("no plan came back"))?;
    if place.root.join("artifacts").exists() {
        return Err(wrong("the rehearsal changed something"));
    }

    step(3, "You say yes: exactly that plan is applied.");
    let mut with_plan = arguments.clone();
    with_plan["apply"] = json!(true);
    with_plan["plan"] = json!(plan);
    let (applied, anchor) = call(&client, with_plan).await?;
    let anchor = anchor.ok_or_else(|| wrong("no anchor came back"))?;
    say!("   {GOOD}{}{GOOD:#}", applied["status"].as_str().unwrap_or_default());
    for artifact in applied["artifacts"].as_array().into_iter().flatten() {
        let path = artifact["path"].as_str().unwrap_or_default();
        let size = std::fs::metadata(place.root.join(path))?.len();
        say!("   {path} ({size} bytes)");
    }
    client.cancel().await.map_err(wrong)?;

    step(4, "Anyone can check the record, against the anchor that the agent was given.");
    let ledger = place.ledger()?;
    check(&ledger, &anchor, true)?;

    step(5, "Somebody edits a copy of the record: it shows.");
    tamper(&ledger, &anchor, &place.state)?;

    step(6, "You change your mind: the plan is taken back.");
    let output = place.command()?.args(["undo", "last"]).output().await?;
    if !output.status.success() || place.root.join("artifacts").exists() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr)));
    }
    say!("   {GOOD}taken back{GOOD:#}: the working copy is as it was, and the record says so.");
    check(&ledger, &anchor, true)
}

fn check(ledger: &Path, anchor: &Anchor, expected: bool) -> Result<(), CommandError> {
    let report = scratch::verified(ledger, anchor)?;
    let style = if report.intact { GOOD } else { BAD };
    say!(
        "   {style}{}{style:#}: {}, {}, {} and {} matched",
        report.verdict(),
        counted(report.records, "record"),
        counted(report.transcripts, "call"),
        counted(report.checkpoints, "checkpoint"),
        counted(report.anchors, "anchor")
    );
    for finding in report.findings.iter().filter(|f| f.gravity == ::audit::verify::Gravity::Broken).take(3) {
        say!(
            "   {BAD}{}{BAD:#} at record {}: {}",
            finding.code,
            finding.seq.unwrap_or_default(),
            finding.message
        );
    }
    if report.intact == expected { Ok(()) } else { Err(wrong("the verdict is not what it should be")) }
}

fn tamper(ledger: &Path, anchor: &Anchor, state: &Path) -> Result<(), CommandError> {
    let copy = state.join("tampered");
    std::fs::create_dir_all(copy.join(::audit::ledger::SEGMENTS))?;
    for name in ["head", "checkpoints.jsonl", "initial.key", "lock"] {
        std::fs::copy(ledger.join(name), copy.join(name))?;
    }
    let segment = ::audit::ledger::segment_path(ledger, 1);
    let text = std::fs::read_to_string(segment)?;
    let edited = text.replacen("\"executionMode\":\"apply\"", "\"executionMode\":\"dry-run\"", 1);
    if edited == text {
        return Err(wrong("there is nothing to tamper with"));
    }
    say!("   {DIM}\"executionMode\":\"apply\" → \"dry-run\" in the copy{DIM:#}");
    std::fs::write(::audit::ledger::segment_path(&copy, 1), edited)?;
    check(&copy, anchor, false)
}

fn clients() -> Result<(), CommandError> {
    let exe = std::env::current_exe()?.display().to_string();
    let generic = json!({ "mcpServers": { "gatewright": { "command": exe, "args": ["serve"] } } });
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let vscode =
        json!({ "servers": { "gatewright": { "type": "stdio", "command": exe, "args": ["serve"] } } });
    say!("\n{BOLD}Add it to your client{BOLD:#}\n");
    say!("{NOTE}Claude Code{NOTE:#}\n  claude mcp add --transport stdio gatewright -- {exe} serve\n");
    say!("{NOTE}Codex{NOTE:#}\n  codex mcp add gatewright -- {exe} serve\n");
    say!(
        "{NOTE}Claude Desktop{NOTE:#}  ~/Library/Application Support/Claude/claude_desktop_config.json (macOS),\n  \
         %APPDATA%\\Claude\\claude_desktop_config.json (Windows); then restart it. Add \"--root\", \"DIR\" to args there."
    );
    say!("{NOTE}Cursor{NOTE:#}  .cursor/mcp.json\n{}\n", pretty(&generic));
    say!("{NOTE}VS Code{NOTE:#}  .vscode/mcp.json\n{}\n", pretty(&vscode));
    say!(
        "{NOTE}OpenAI Agents SDK{NOTE:#}\n  new MCPServerStdio({{ fullCommand: \"{exe} serve --root .\" }})"
    );
    Ok(())
}
