//! Plans: the ordered effects that a call would have, and what they were computed from.

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;
use crate::effect::{Effect, State};
use crate::id::{PlanId, TranscriptId};
use crate::name::ToolName;
use crate::path::RelPath;
use crate::principal::Principal;

/// Something that a plan was computed from: it must still be so when the plan is applied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Observation {
    /// Where was looked; `None` is the root itself.
    pub path: Option<RelPath>,
    /// The digest of what was seen there: the canonical form of a [`State`], without the mode.
    pub seen: Digest,
}

impl Observation {
    /// The observation that `state` was at `path`.
    #[must_use]
    pub fn of(path: Option<RelPath>, state: &State) -> Self {
        let seen = match state {
            State::Absent => Digest::of(b"absent"),
            State::File { digest, .. } => Digest::of_parts(&[b"file\0", digest.as_bytes()]),
            State::Symlink { target } => Digest::of_parts(&[b"symlink\0", target.as_bytes()]),
            State::Directory { listing } => Digest::of_parts(&[b"directory\0", listing.as_bytes()]),
        };
        Self { path, seen }
    }
}

/// A precondition that no longer holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// The path that moved; `.` is the root itself.
    pub path: String,
    /// What happened to it, for people.
    pub why: String,
}

/// What a plan was computed from in another root than that which it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// That root, by its id.
    pub root: String,
    /// What was read there, sorted by path, without duplicates.
    pub observed: Vec<Observation>,
}

/// The ordered effects of one call, with everything that must still hold when they are applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The tool that planned.
    pub tool: ToolName,
    /// The digest of the arguments, without `apply` and `plan`.
    pub arguments: Digest,
    /// The root that the effects are in, by its id.
    pub root: String,
    /// The key of the principal that the plan belongs to.
    pub owner: Digest,
    /// What was read, sorted by path, without duplicates.
    pub observed: Vec<Observation>,
    /// What was read elsewhere: of a plan that changes a library, in the root that the call came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Whether only a person applies it, since it may hold gatewright's own configuration.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// What would change, in order; a request comes last.
    pub effects: Vec<Effect>,
}

impl Plan {
    /// A plan without effects.
    #[must_use]
    pub fn empty(tool: ToolName, arguments: Digest, root: String, owner: &Principal) -> Self {
        let (observed, effects) = (Vec::new(), Vec::new());
        Self { tool, arguments, root, owner: owner.key(), observed, source: None, by_person: false, effects }
    }

    /// The id: the hash of the canonical form. Times are no part of it.
    pub fn id(&self) -> Result<PlanId, serde_json::Error> {
        let mut this = self.clone();
        for observed in
            std::iter::once(&mut this.observed).chain(this.source.as_mut().map(|s| &mut s.observed))
        {
            observed.sort();
            observed.dedup();
        }
        canonical::to_vec(&this).map(|bytes| PlanId::from_digest(Digest::of(&bytes)))
    }

    /// Whether applying it would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

/// A plan as it is kept between rehearsal and apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// When it was planned: RFC 3339, UTC.
    pub planned: String,
    /// When it expires: RFC 3339, UTC.
    pub expires: String,
    /// What the tool answered with it, to be answered again when it is applied.
    pub answer: serde_json::Value,
}

/// What applying a plan did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The plan.
    pub plan: PlanId,
    /// The call whose transcript records it.
    pub transcript: TranscriptId,
    /// The effects that took place, in order.
    pub effects: Vec<Effect>,
    /// Directories that were created on the way, outermost first.
    pub created_directories: Vec<RelPath>,
    /// Commits that were written, by branch name.
    pub commits: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let owner = Principal::Local { uid: 1 };
        Plan::empty(ToolName::new("t").unwrap(), Digest::ZERO, "r".into(), &owner)
    }

    #[test]
    fn the_id_depends_on_what_was_read_but_not_on_its_order() {
        let a = Observation::of(Some(RelPath::new("a").unwrap()), &State::Absent);
        let b = Observation::of(None, &State::Directory { listing: Digest::ZERO });
        let (mut one, mut two) = (plan(), plan());
        one.observed = vec![a.clone(), b.clone()];
        two.observed = vec![b, a.clone(), a];
        assert_eq!(one.id().unwrap(), two.id().unwrap());
        assert_ne!(one.id().unwrap(), plan().id().unwrap());
    }

    #[test]
    fn the_id_depends_on_what_was_read_elsewhere() {
        let seen = Observation::of(Some(RelPath::new("a").unwrap()), &State::Absent);
        let from = |root: &str| {
            let source = Source { root: root.into(), observed: vec![seen.clone()] };
            Plan { source: Some(source), ..plan() }.id().unwrap()
        };
        assert!(from("one") != from("two") && from("one") != plan().id().unwrap());
    }

    #[test]
    fn the_id_is_bound_to_the_principal() {
        let other = Plan { owner: Principal::Local { uid: 2 }.key(), ..plan() };
        assert_ne!(other.id().unwrap(), plan().id().unwrap());
    }
}
