//! Consent to tool definitions that arrive from elsewhere, bound to the hash of the whole definition.
//!
//! What is compiled in needs none: it cannot change under a user's feet. A tool of others is callable only while its
//! definition is the one that a person approved, and whoever serves it is asked for that before every call.

use std::sync::Arc;

use contract::{Code, Digest, Fault, canonical};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call::Call;
use crate::course::Course;
use crate::engine::Engine;
use crate::lock::{self, FILE, Lock};
use crate::registry::Registered;
use crate::running::{blocking, bounded};

/// Most changed fields that a refusal names.
const MOST_FIELDS: usize = 12;

/// Where approvals are kept. They are read for each call of a tool of others, so that what a person approves or takes
/// back meanwhile counts.
pub trait Approver: Send + Sync {
    /// What is approved now.
    fn approved(&self) -> Result<Approvals, Fault>;
}

/// The definitions that were approved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Approvals {
    /// By the user of this machine: nothing else approves anything.
    pub own: Lock,
    /// By teams, in the repositories that are offered: what stands there otherwise narrows, whichever root a call names.
    pub teams: Vec<Lock>,
}

impl Approver for Approvals {
    fn approved(&self) -> Result<Approvals, Fault> {
        Ok(self.clone())
    }
}

impl Approvals {
    /// Fails unless `definition` is the one that was approved as `name`.
    fn check(&self, name: &str, definition: &Value) -> Result<(), Fault> {
        let Some(approved) = self.own.definition(name) else {
            return Err(wanted(name, format!("{name}: nobody has approved its definition")));
        };
        held(name, "since it was approved", approved, definition)?;
        let mut looked_at = self.teams.iter().filter_map(|team| team.definition(name));
        looked_at.try_for_each(|team| {
            held(name, &format!("from what the team looked at ({FILE})"), team, definition)
        })
    }
}

/// What stands before the names of skills where they are named beside tools.
pub const SKILL: &str = "skill:";

impl Approvals {
    /// Fails unless the code of a skill is what was approved: `identity` has the digests of all its files and what it asks for.
    pub fn check_skill(&self, name: &str, identity: &Value) -> Result<(), Fault> {
        let shown = format!("{SKILL}{name}");
        let Some(approved) = self.own.skill(name) else {
            return Err(wanted(&shown, format!("{name}: nobody has approved that its code runs")));
        };
        held(&shown, "since it was approved", approved, identity)?;
        let mut looked_at = self.teams.iter().filter_map(|team| team.skill(name));
        looked_at.try_for_each(|team| {
            held(&shown, &format!("from what the team looked at ({FILE})"), team, identity)
        })
    }
}

/// Fails where two definitions differ. Which fields do is said, what is new in them is not: nobody has approved that it
/// is read.
fn held(name: &str, since: &str, approved: &Value, now: &Value) -> Result<(), Fault> {
    let hash = |value: &Value| Digest::of(&canonical::of(value));
    if hash(approved) == hash(now) {
        return Ok(());
    }
    let changes = lock::changes(approved, now);
    let mut fields: Vec<String> = changes.iter().take(MOST_FIELDS).map(lock::FieldChange::measured).collect();
    if changes.len() > MOST_FIELDS {
        fields.push(format!("{} more", changes.len() - MOST_FIELDS));
    }
    Err(wanted(name, format!("{name}: its definition has changed {since}: {}", fields.join("; "))))
}

fn wanted(name: &str, message: String) -> Fault {
    let reads = if name.starts_with(SKILL) {
        format!("`gatewright approvals show {name}`")
    } else {
        "`gatewright approvals diff`".to_owned()
    };
    Fault::new(Code::ApprovalRequired, message).suggest(format!(
        "A person reads what {reads} shows and runs `gatewright approvals accept {name}`; until then it is not called."
    ))
}

impl Engine {
    /// Fails unless `tool` is ours, or is offered here as it was approved. Nobody is asked: what was never approved is
    /// not even connected to.
    pub(crate) async fn approved(&self, tool: &Registered) -> Result<(), Fault> {
        let Some(offered) = tool.tool.identity() else { return Ok(()) };
        self.approvals().await?.check(tool.head().name.as_str(), offered)
    }

    async fn approvals(&self) -> Result<Approvals, Fault> {
        let approver = Arc::clone(&self.parts.approvals);
        blocking(move || approver.approved()).await
    }

    /// Fails unless a tool of others is now, asked again, as it is approved now: the last thing before it is called.
    pub(crate) async fn still_approved(&self, tool: &Arc<Registered>, call: &Call) -> Result<(), Fault> {
        let cancel: CancellationToken = call.cancel.child_token();
        let Some(asked) = tool.tool.current(self.setting(tool, call, cancel.clone(), &Course::default()))
        else {
            return Ok(());
        };
        let now = bounded(asked, false, (tool.tool.limits().timeout, None), &call.cancel, &cancel).await?;
        self.approvals().await?.check(tool.head().name.as_str(), &now)
    }
}
