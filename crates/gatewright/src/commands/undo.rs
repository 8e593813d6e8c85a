//! `gatewright undo` and `gatewright plan show`.

use std::process::ExitCode;
use std::sync::Arc;

use contract::{Effect, Principal};
use kit::Engine;
use serde_json::json;

use super::{CommandResult, find, print_json};
use crate::cli::{Format, UndoArgs};
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{self, BOLD, GOOD, NOTE};

pub fn run(asked: &Asked, args: &UndoArgs) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    // Which root the call was in is part of its record.
    let holds = |engine: &Engine| {
        let entries = find::entries(engine.state()).unwrap_or_default();
        find::one(&entries, &args.transcript, |_| true).is_ok()
    };
    let named = args.transcript != "last";
    let engine = &house.find(holds).filter(|_| named).unwrap_or_else(|| Arc::clone(house.first()));
    let entries = find::entries(engine.state())?;
    // `last` means the last thing that an agent did; an undo is itself undone by its id.
    let undoable = |t: &::audit::Transcript| {
        t.tool_name != "undo" && engine.state().applied(&t.id).is_ok_and(|a| !a.receipt.effects.is_empty())
    };
    let (_, target) = find::one(&entries, &args.transcript, undoable)?;
    let principal = Principal::Local { uid: engine.uid() };
    let undone = kit::undo::undo(engine, &target.id, &principal, !args.dry_run)?;
    if args.output == Format::Json {
        return print_json(&json!({
            "undoOf": target.id, "effects": undone.effects, "diff": undone.diff, "transcript": undone.transcript,
        }));
    }
    if undone.effects.is_empty() {
        say!(
            "{NOTE}Nothing to take back:{NOTE:#} what {} ({}) changed is as it was before.",
            target.tool_name,
            target.id
        );
        return Ok(ExitCode::SUCCESS);
    }
    say!("{BOLD}Undo of {} ({}){BOLD:#}", target.tool_name, target.id);
    undone.effects.iter().for_each(|effect| say!("  {effect}"));
    say!();
    term::diff(&undone.diff);
    match undone.transcript {
        Some(id) => say!("{GOOD}Taken back.{GOOD:#} Recorded as {id}."),
        None => say!("{NOTE}A rehearsal: nothing was changed.{NOTE:#}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The whole diff of a rehearsed plan.
pub fn show_plan(asked: &Asked, id: &str) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    let holds = |engine: &Engine| engine.state().plan_named(id).is_ok();
    let engine = house.find(holds).unwrap_or_else(|| Arc::clone(house.first()));
    let id = engine.state().plan_named(id)?;
    let file = engine.state().plan(&id, &Principal::Local { uid: engine.uid() })?;
    let mut blobs = std::collections::BTreeMap::new();
    for digest in file.plan.effects.iter().flat_map(Effect::blobs) {
        blobs.insert(digest, engine.state().blob(&digest)?);
    }
    say!("{BOLD}{id}{BOLD:#}\n{} · planned {} · expires {}\n", file.plan.tool, file.planned, file.expires);
    let cleaner = engine.cleaner();
    for effect in &file.plan.effects {
        say!("  {}", cleaner.text(&effect.summary()));
    }
    if let Some(root) = engine.root() {
        let diff = exec::diff::of(root, &file.plan.effects, &blobs, usize::MAX, &|t| cleaner.reviewed(t));
        say!();
        term::diff(&cleaner.reviewed(&diff.text));
    }
    Ok(ExitCode::SUCCESS)
}
