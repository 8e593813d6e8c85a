//! `gatewright audit`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::audit::ledger::KeyFile;
use ::audit::proof::{self, Proof};
use ::audit::verify::{Gravity, Report, With, for_each_line, verify};
use ::audit::{Anchor, Ledger, report};
use contract::text::{counted, escaped_json};
use contract::{Fault, TranscriptId};
use exec::StateDir;
use serde_json::{Value, json};

use super::{CommandError, CommandResult, find, print_json};
use crate::cli::{AuditCommand, ExportFormat, Format};
use crate::compose;
use crate::roots::Asked;
use crate::term::{self, BAD, BOLD, DIM, GOOD, NOTE};

/// The exit code when an anchor was required and none matched.
const UNANCHORED: u8 = 3;

pub fn run(asked: &Asked, command: AuditCommand) -> CommandResult {
    let root = asked.first()?;
    let state = compose::state(root.as_deref())?;
    match command {
        AuditCommand::Verify { anchor, key, require_anchor, ledger, output } => {
            let dir = ledger.unwrap_or_else(|| state.ledger());
            check(&dir, &anchor, key, require_anchor, output)
        }
        AuditCommand::Show { transcript, output } => show(&state, &transcript, output),
        AuditCommand::Tail { count, output } => tail(&state, count, output),
        AuditCommand::Export { format, to } => export(&state, format, to.as_deref()),
        AuditCommand::Prove { check: Some(file), .. } => check_proof(&file),
        AuditCommand::Prove { transcript, since, .. } => {
            prove(&state, transcript.as_deref(), since.as_deref())
        }
        AuditCommand::Rotate { key } => rotate(&state, key),
    }
}

fn usage(message: impl Into<String>) -> CommandError {
    CommandError::Usage(message.into())
}

/// `SEQ:ROOT`, or a file with one anchor or a list of them.
fn anchors(dir: &Path, text: &str) -> Result<Vec<Anchor>, CommandError> {
    if let Some((seq, root)) = text.split_once(':')
        && let (Ok(seq), Ok(root)) = (seq.parse(), root.parse())
    {
        let mut ledger = String::new();
        verify(dir, &With::default(), |entry| {
            if let (0, ::audit::Body::Segment(segment)) = (entry.seq, &entry.body) {
                ledger.clone_from(&segment.ledger);
            }
        })?;
        return Ok(vec![Anchor { ledger, seq, root }]);
    }
    let bytes = std::fs::read(text)
        .map_err(|e| usage(format!("--anchor {text}: neither SEQ:ROOT nor a file ({e})")))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|e| usage(format!("--anchor {text}: {e}")))?;
    let list = if value.is_array() { value } else { json!([value]) };
    serde_json::from_value(list).map_err(|e| usage(format!("--anchor {text}: {e}")))
}

fn check(
    dir: &Path,
    given: &[String],
    key: Option<PathBuf>,
    require_anchor: bool,
    output: Format,
) -> CommandResult {
    let initial_key = match key {
        Some(file) => Some(KeyFile::read(&file)?),
        None => KeyFile::read(&dir.join(::audit::ledger::INITIAL_KEY)).ok(),
    };
    let mut with = With { initial_key, ..With::default() };
    for text in given {
        with.anchors.extend(anchors(dir, text)?);
    }
    let report = verify(dir, &with, |_| {})?;
    match output {
        Format::Json => {
            let mut value = serde_json::to_value(&report).map_err(|e| Fault::internal(e.to_string()))?;
            value["verdict"] = json!(report.verdict());
            print_json(&value)?;
        }
        Format::Text => print_report(&report),
    }
    Ok(match (report.intact, report.anchors) {
        (false, _) => ExitCode::from(1),
        (true, 0) if require_anchor => ExitCode::from(UNANCHORED),
        _ => ExitCode::SUCCESS,
    })
}

fn print_report(report: &Report) {
    let style = if report.intact { GOOD } else { BAD };
    say!("{style}{}{style:#} ledger {}", report.verdict(), report.ledger.get(..8).unwrap_or_default());
    let records = counted(report.records, "record");
    say!("  {records}, {} of them calls, root {}", report.transcripts, report.root);
    let macs = if report.macs_checked { "every MAC checked" } else { "MACs not checked (no first key)" };
    let (checkpoints, anchors) =
        (counted(report.checkpoints, "checkpoint"), counted(report.anchors, "anchor"));
    say!("  {macs}; {checkpoints} and {anchors} matched");
    for finding in &report.findings {
        let style = match finding.gravity {
            Gravity::Broken => BAD,
            Gravity::Warning => NOTE,
            Gravity::Note => DIM,
        };
        let place = finding.seq.map(|seq| format!(" at record {seq}")).unwrap_or_default();
        say!("  {style}{}{style:#}{place}: {}", finding.code, finding.message);
    }
    if report.intact && report.anchors == 0 {
        say!(
            "  {DIM}No anchor from outside was given: keep one (`_meta` of every result has it) and pass --anchor.{DIM:#}"
        );
    }
}

fn show(state: &StateDir, name: &str, output: Format) -> CommandResult {
    let entries = find::entries(state)?;
    let (entry, call) = find::one(&entries, name, |_| true)?;
    if output == Format::Json {
        return print_json(&serde_json::to_value(entry).map_err(|e| Fault::internal(e.to_string()))?);
    }
    say!("{BOLD}{}{BOLD:#} {} record {}", call.tool_name, call.id, entry.seq);
    say!("  {} – {} by {}", call.timestamp_start, call.timestamp_end, call.principal);
    say!("  decision: {}", call.decision);
    say!("  arguments: {}", escaped_json(&call.tool_args.to_string()));
    if let Some(plan) = &call.plan_id {
        say!("  plan: {plan}");
    }
    call.effects.iter().for_each(|effect| say!("  {effect}"));
    if let Some(error) = &call.error {
        say!("  {BAD}{}{BAD:#}: {}", error.code.as_str(), error.message);
    }
    if !call.stdout.is_empty() {
        say!("\n{}", call.stdout);
    }
    term::diff(&call.diff);
    Ok(ExitCode::SUCCESS)
}

fn tail(state: &StateDir, count: usize, output: Format) -> CommandResult {
    let entries = find::entries(state)?;
    let mut latest: Vec<_> = find::transcripts(&entries).rev().take(count).collect();
    latest.reverse();
    if output == Format::Json {
        let all: Vec<_> = latest.iter().map(|(entry, _)| entry).collect();
        return print_json(&serde_json::to_value(all).map_err(|e| Fault::internal(e.to_string()))?);
    }
    for (entry, call) in latest {
        let (style, outcome) = match &call.error {
            Some(error) => (BAD, error.code.as_str()),
            None if find::has_applied(call) => (GOOD, "applied"),
            None if call.plan_id.is_some() => (NOTE, "rehearsed"),
            None => (DIM, "read"),
        };
        let (at, id) = (call.timestamp_start.get(..19).unwrap_or_default(), call.id.as_str());
        say!("{:>5} {DIM}{at}{DIM:#} {id} {style}{outcome:<10}{style:#} {}", entry.seq, call.tool_name);
    }
    Ok(ExitCode::SUCCESS)
}

fn export(state: &StateDir, format: ExportFormat, to: Option<&Path>) -> CommandResult {
    let mut bytes = Vec::new();
    match format {
        ExportFormat::Jsonl => for_each_line(&state.ledger(), |line| {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        })?,
        ExportFormat::Html => {
            let with = With {
                initial_key: KeyFile::read(&state.ledger().join(::audit::ledger::INITIAL_KEY)).ok(),
                ..With::default()
            };
            let mut entries = Vec::new();
            let checked = verify(&state.ledger(), &with, |entry| entries.push(entry.clone()))?;
            bytes = report::page(&entries, &checked, &::audit::ledger::now()).into_bytes();
        }
    }
    match to {
        None => std::io::stdout().write_all(&bytes)?,
        Some(file) => {
            std::fs::write(file, &bytes)?;
            anstream::eprintln!("{GOOD}Wrote{GOOD:#} {} ({} bytes)", file.display(), bytes.len());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn prove(state: &StateDir, transcript: Option<&str>, since: Option<&str>) -> CommandResult {
    let dir = state.ledger();
    let entries = find::entries(state)?;
    let (_, call) = find::one(&entries, transcript.unwrap_or("last"), |_| true)?;
    let id: TranscriptId = call.id.clone();
    let since = since.map(|text| anchors(&dir, text)).transpose()?.and_then(|all| all.into_iter().next());
    let proof = proof::prove(&dir, &id, since.as_ref()).map_err(|e| usage(e.to_string()))?;
    print_json(&serde_json::to_value(&proof).map_err(|e| Fault::internal(e.to_string()))?)
}

fn check_proof(file: &Path) -> CommandResult {
    let bytes = std::fs::read(file)?;
    let proof: Proof =
        serde_json::from_slice(&bytes).map_err(|e| usage(format!("{}: {e}", file.display())))?;
    if proof.holds() {
        say!("{GOOD}holds{GOOD:#} record {} under root {}", proof.seq, proof.anchor.root);
        return Ok(ExitCode::SUCCESS);
    }
    say!("{BAD}does not hold{BAD:#}");
    Ok(ExitCode::from(1))
}

fn rotate(state: &StateDir, key: bool) -> CommandResult {
    let ledger = Ledger::open(&state.ledger())?;
    if key {
        ledger.rekey()?;
        say!("{GOOD}Replaced{GOOD:#} the signing key; the old one signed the new one.");
    } else {
        ledger.rotate()?;
        say!("{GOOD}Began{GOOD:#} a new segment.");
    }
    Ok(ExitCode::SUCCESS)
}
