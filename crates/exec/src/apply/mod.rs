//! A plan happens all or not at all, also across a crash, and can be taken back.
//!
//! 1. Under the root's lock, what other processes left unfinished is [recovered](recover).
//! 2. Everything that the plan observed, and every state that it starts from, must still hold: else `conflict`.
//! 3. Pre-images are kept; the journal says what is about to happen and is synced.
//! 4. New bytes are written beside their targets and synced.
//! 5. One by one they take their places: created only where nothing is, exchanged only for what was expected.
//!    What was displaced is looked at; if it is not what the plan knew, it goes back, and so does everything else.
//! 6. Branches are created, and refs move. The journal is renamed: from here on the plan *has* happened.
//! 7. The request, if there is one, is sent. Leftovers go; a receipt stays.
//!
//! Recovery finishes what was committed and takes back what was not. It decides by looking at bytes, and never
//! overwrites any that are neither the plan's before nor its after: those stay, and are reported.

mod journal;
mod step;

use std::collections::BTreeMap;

use contract::effect::Reverse;
use contract::{
    Code, Digest, Effect, Fault, Observation, Plan, Precondition, Receipt, RelPath, State, TranscriptId,
};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::branch;
use crate::draft::{Draft, Proposal};
use crate::jail;
use crate::push;
use crate::refs;
use crate::request::{self, Outcome, Sender};
use crate::root::{Rights, Root};
use crate::state::StateDir;
use crate::view::View;
pub use journal::Blocked;
use journal::Journal;

/// What an applied plan did: enough to show it and to take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// What happened.
    pub receipt: Receipt,
    /// The plan.
    pub plan: Plan,
    /// How the request went, when the plan had one.
    pub request: Option<Outcome>,
}

/// What [`recover`] did.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Recovered {
    /// Plans that had been committed and were finished.
    pub finished: Vec<Applied>,
    /// Plans that had not been committed and were taken back, by the call that was applying them.
    pub taken_back: Vec<(TranscriptId, Plan)>,
    /// Places where bytes of others were in the way: left as they are.
    pub blocked: Vec<Blocked>,
}

/// Applies `plan` in `root`. On any fault the files are as they were; how a request went is in the result.
///
/// `transcript` names the call; the caller has written its intent. `sender` performs the plan's request, if any. A plan that was
/// computed from another root is for [`apply_from`]: here it is a `conflict`.
pub fn apply(
    root: &Root,
    state: &StateDir,
    plan: &Plan,
    transcript: &TranscriptId,
    sender: Option<&dyn Sender>,
    cancel: &CancellationToken,
) -> Result<Applied, Fault> {
    apply_from(None, root, state, plan, transcript, sender, cancel)
}

/// As [`apply`], of a plan that was computed from `source`, too: what it saw there must still hold. It is looked at once, under the
/// lock of `root` alone.
pub fn apply_from(
    source: Option<&Root>,
    root: &Root,
    state: &StateDir,
    plan: &Plan,
    transcript: &TranscriptId,
    sender: Option<&dyn Sender>,
    cancel: &CancellationToken,
) -> Result<Applied, Fault> {
    if root.rights() == Rights::Read {
        return Err(Fault::new(Code::Forbidden, format!("the root {:?} is read-only", root.name())));
    }
    if plan.root != root.id() {
        return Err(Fault::new(Code::Conflict, "the plan was made for another root")
            .suggest("Rehearse again: call the tool without `plan`."));
    }
    let _lock = state.lock()?;
    refuse_blocked(&recover_locked(root, state)?.blocked)?;
    if already_done(root, state, plan)? {
        return nothing_left(plan, transcript);
    }
    check_source(source, plan)?;
    check_preconditions(root, plan)?;
    let mut journal = Journal::prepare(root, state, plan, transcript)?;
    let happened = happen(root, state, plan, &mut journal, cancel);
    if let Err(fault) = happened {
        let blocked = journal.take_back(root, state)?;
        return Err(blocked.iter().fold(fault, |fault, b| fault.suggest(b.to_string())));
    }
    journal.commit(state)?;
    let request = send(root, state, &journal, sender, cancel);
    journal.finish(root, state, request)
}

/// Whether every effect's outcome stands already: applying the same plan again is a no-op.
fn already_done(root: &Root, state: &StateDir, plan: &Plan) -> Result<bool, Fault> {
    if plan.effects.is_empty() {
        return Ok(false);
    }
    for effect in &plan.effects {
        let stands = match (effect, effect.change()) {
            (_, Some(change)) => jail::state(root.dir(), &change.path)? == change.after,
            (Effect::Refs(moves), _) => refs::stand(root, moves)?,
            // Not every server knows a key of idempotency.
            (Effect::Request(_), _) => state.was_sent(plan)?,
            _ => false,
        };
        if !stands {
            return Ok(false);
        }
    }
    Ok(true)
}

fn nothing_left(plan: &Plan, transcript: &TranscriptId) -> Result<Applied, Fault> {
    let receipt = Receipt {
        plan: plan.id().map_err(|e| Fault::internal(e.to_string()))?,
        transcript: transcript.clone(),
        effects: Vec::new(),
        created_directories: Vec::new(),
        commits: Vec::new(),
    };
    Ok(Applied { receipt, plan: plan.clone(), request: None })
}

fn happen(
    root: &Root,
    state: &StateDir,
    plan: &Plan,
    journal: &mut Journal,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    journal.stage(root, state)?;
    for index in 0..journal.steps.len() {
        if cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
        }
        journal.steps[index].take_place(root)?;
    }
    for effect in &plan.effects {
        if let Effect::Branch(planned) = effect {
            let written =
                branch::write_commit(root, state, planned, transcript_trailer(&journal.transcript))?;
            // The journal knows the commit before the branch exists, so that recovery can take it back.
            journal.add_branch(&planned.name, &written)?;
            branch::create(root, &planned.name, &written)?;
        }
        if let Effect::Refs(planned) = effect {
            refs::write_objects(root, state, planned)?;
            // Looked at again: writing may have taken a while.
            refs::check(root, planned)?;
            journal.add_moves(&planned.moves)?;
            refs::make(root, &planned.moves)?;
        }
    }
    journal.sync(root)
}

fn transcript_trailer(transcript: &TranscriptId) -> String {
    format!("Gatewright-Transcript: {transcript}")
}

fn send(
    root: &Root,
    state: &StateDir,
    journal: &Journal,
    sender: Option<&dyn Sender>,
    cancel: &CancellationToken,
) -> Option<Outcome> {
    let planned = journal.plan.effects.iter().find(|effect| effect.sends())?;
    let Some(sender) = sender else {
        return Some(Outcome::NotSent { why: "no connections are allowed here".into() });
    };
    let body = match planned {
        Effect::Request(request) => match state.blob(&request.body) {
            Ok(body) => body,
            Err(_) => return Some(Outcome::NotSent { why: "the body has expired".into() }),
        },
        _ => Vec::new(),
    };
    if let Err(fault) = journal.mark_sending() {
        return Some(Outcome::NotSent { why: fault.message });
    }
    match planned {
        Effect::Request(request) => Some(request::perform(sender, request, &body, &journal.key)),
        Effect::Push(push) => Some(push::perform(sender, (root, state), push, cancel)),
        _ => None,
    }
}

/// What earlier processes left: nothing of it is changed by looking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Plans that were cut short.
    pub interrupted: usize,
    /// The places that recovery had to leave and nobody has accepted yet.
    pub blocked: Vec<Blocked>,
}

/// Looks for what earlier processes left, under the root's lock: what another process is applying now is not cut short.
pub fn unfinished(state: &StateDir) -> Result<Unfinished, Fault> {
    let _lock = state.lock()?;
    Ok(Unfinished { interrupted: Journal::left(state)?.len(), blocked: Journal::blocked(state)? })
}

/// Finishes or takes back what earlier processes left in `root`, under its lock.
pub fn recover(root: &Root, state: &StateDir) -> Result<Recovered, Fault> {
    let _lock = state.lock()?;
    recover_locked(root, state)
}

fn recover_locked(root: &Root, state: &StateDir) -> Result<Recovered, Fault> {
    let mut recovered = Recovered::default();
    for found in Journal::left(state)? {
        let transcript = found.transcript.clone();
        if found.committed {
            let request = found.unknown_request();
            recovered.finished.push(found.finish(root, state, request)?);
        } else {
            let plan = found.plan.clone();
            recovered.blocked.extend(found.take_back(root, state)?);
            recovered.taken_back.push((transcript, plan));
        }
    }
    recovered.blocked.extend(Journal::blocked(state)?);
    recovered.blocked.sort();
    recovered.blocked.dedup();
    Ok(recovered)
}

fn refuse_blocked(blocked: &[Blocked]) -> Result<(), Fault> {
    let Some(first) = blocked.first() else { return Ok(()) };
    let mut fault = Fault::new(
        Code::Conflict,
        format!("an earlier plan was interrupted and could not be taken back whole: {first}"),
    );
    for b in blocked {
        fault = fault.about(b.path.as_str());
    }
    Err(fault
        .suggest("Look at the paths; when they are as you want them, run `gatewright recover --accept`."))
}

/// Accepts the paths that recovery had to leave as they are.
pub fn accept_blocked(state: &StateDir) -> Result<Vec<Blocked>, Fault> {
    let _lock = state.lock()?;
    Journal::accept(state)
}

/// What of `observed` is otherwise now.
fn moved(root: &Root, observed: &[Observation]) -> Result<Vec<Precondition>, Fault> {
    let mut moved = Vec::new();
    for observation in observed {
        let now = observe(root, observation)?;
        if now.seen != observation.seen {
            let path = observation.path.as_ref().map_or_else(|| ".".to_owned(), ToString::to_string);
            moved.push(Precondition { path, why: "it changed since the rehearsal".into() });
        }
    }
    Ok(moved)
}

fn check_source(source: Option<&Root>, plan: &Plan) -> Result<(), Fault> {
    let Some(planned) = &plan.source else { return Ok(()) };
    match source.filter(|root| root.id() == planned.root) {
        Some(root) => conflict(&moved(root, &planned.observed)?),
        None => Err(Fault::new(Code::Conflict, "the plan was made from another root; nothing was changed")
            .suggest(
                "Call the tool in the root that it was rehearsed in, or rehearse again: without `plan`.",
            )),
    }
}

fn check_preconditions(root: &Root, plan: &Plan) -> Result<(), Fault> {
    let mut moved = moved(root, &plan.observed)?;
    for change in plan.effects.iter().filter_map(Effect::change) {
        jail::check_writable_by(&change.path, plan.by_person)?;
        root.check_only(&change.path)?;
        let now = jail::state(root.dir(), &change.path)?;
        if now != change.before && !moved.iter().any(|m| m.path == change.path.as_str()) {
            moved.push(Precondition { path: change.path.to_string(), why: format!("it is now {now}") });
        }
    }
    conflict(&moved)?;
    plan.effects.iter().try_for_each(|effect| match effect {
        Effect::Refs(planned) => refs::check(root, planned),
        Effect::Push(planned) => push::check(root, planned),
        Effect::Request(planned) => refs::check_seen(root, &planned.seen),
        _ => Ok(()),
    })
}

fn observe(root: &Root, observation: &Observation) -> Result<Observation, Fault> {
    let state = match &observation.path {
        None => {
            let here = RelPath::new("here").map_err(|e| Fault::internal(e.to_string()))?;
            State::Directory { listing: jail::listing(root.dir(), &here)?.1 }
        }
        // The same two ways to look as the view has: what was read through a link is read through it again.
        Some(path) => match jail::read(root.dir(), path) {
            Ok((bytes, metadata)) => {
                let through = jail::file_state(&bytes, &metadata);
                let seen = Observation::of(Some(path.clone()), &through);
                if seen.seen == observation.seen {
                    return Ok(seen);
                }
                jail::state(root.dir(), path).unwrap_or(through)
            }
            Err(_) => match jail::state(root.dir(), path) {
                Ok(state) => state,
                // What cannot be looked at any more has moved.
                Err(_) => return Ok(Observation { path: observation.path.clone(), seen: Digest::ZERO }),
            },
        },
    };
    Ok(Observation::of(observation.path.clone(), &state))
}

fn conflict(moved: &[Precondition]) -> Result<(), Fault> {
    let Some(first) = moved.first() else { return Ok(()) };
    let more = if moved.len() > 1 { format!(" (and {} more)", moved.len() - 1) } else { String::new() };
    let message = format!("{}: {}{more}; nothing was changed", first.path, first.why);
    let fault = moved.iter().fold(Fault::new(Code::Conflict, message), |fault, m| fault.about(&*m.path));
    Err(fault.suggest("Rehearse again: call the tool without `plan`, look at the new diff, and apply that."))
}

/// The plan that takes `applied` back. A state other than the one that it left is a `conflict`.
pub fn plan_undo(
    root: &std::sync::Arc<Root>,
    state: &StateDir,
    applied: &Applied,
) -> Result<Proposal, Fault> {
    let plan = &applied.plan;
    let mut moved = Vec::new();
    let view = View::new(std::sync::Arc::clone(root), CancellationToken::new());
    let mut effects = Vec::new();
    let mut blobs: BTreeMap<Digest, Vec<u8>> = BTreeMap::new();
    for effect in plan.effects.iter().rev() {
        let back = match effect.reverse() {
            Reverse::Effect(back) => back,
            // Branches are looked at by [`undo`]; what cannot be taken back is said by whoever shows the undo.
            Reverse::DeleteBranch(_) | Reverse::Irreversible => continue,
        };
        if let Effect::Refs(moves) = &back {
            if refs::stand(root, moves)? {
                continue;
            }
            refs::check(root, moves)?;
        }
        if let Some(change) = back.change() {
            let now = view.state(&change.path)?;
            if now == change.after {
                // Somebody has taken it back already.
                continue;
            }
            if now != change.before {
                moved.push(Precondition {
                    path: change.path.to_string(),
                    why: format!("it is now {now}, which is later work"),
                });
                continue;
            }
        }
        for digest in back.blobs() {
            blobs.insert(digest, state.blob(&digest)?);
        }
        effects.push(back);
    }
    if let Some(first) = moved.first() {
        let message = format!("{}: {}; nothing was changed", first.path, first.why);
        let fault = moved.iter().fold(Fault::new(Code::Conflict, message), |fault, m| fault.about(&*m.path));
        return Err(fault.suggest(
            "Undo the later work first, or put the file back as the call left it; `gatewright audit tail` lists the calls.",
        ));
    }
    let mut proposal = Draft::default().into_proposal(
        &view,
        plan.tool.clone(),
        Digest::of(format!("undo {}", applied.receipt.transcript).as_bytes()),
        &contract::Principal::Local { uid: 0 },
    );
    proposal.plan.owner = plan.owner;
    proposal.plan.by_person = plan.by_person;
    proposal.plan.effects = effects;
    proposal.blobs = blobs;
    Ok(proposal)
}

/// Takes `applied` back: its files by `undo`, the plan of [`plan_undo`]; its branches where they still point at our
/// commits; its directories where they are empty.
pub fn undo(
    root: &Root,
    state: &StateDir,
    applied: &Applied,
    undo: &Plan,
    transcript: &TranscriptId,
) -> Result<Applied, Fault> {
    for (name, commit) in &applied.receipt.commits {
        branch::check_points_at(root, name, commit)?;
    }
    let done = apply(root, state, undo, transcript, None, &CancellationToken::new())?;
    let _lock = state.lock()?;
    for (name, commit) in &applied.receipt.commits {
        branch::delete(root, name, commit)?;
    }
    for path in applied.receipt.created_directories.iter().rev() {
        // Only what is empty goes; a directory with later work in it stays.
        if let Ok(Some(parent)) = jail::open_parent(root.dir(), path) {
            let _ = parent.remove_dir(path.file_name());
        }
    }
    let _ = std::fs::remove_file(state.applied_path(&applied.receipt.transcript));
    Ok(done)
}
