//! The state of a work tree: what `git status` says.

use std::sync::atomic::AtomicBool;

use gix::bstr::{BString, ByteSlice};
use gix::index::State;
use gix::index::entry::Stage;
use gix::objs::tree::EntryKind;
use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::{Budget, Limits};
use crate::content::Reader;
use crate::error::{Done, HistoryError};
use crate::paths::{Selection, show};
use crate::tree::{Comparison, Delta};
use crate::unstaged::Walk;
use crate::{index, rename, upstream, walk};

/// The state of a repository and its work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Branch name; absent when HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commit id of HEAD; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// HEAD names a commit, not a branch.
    pub detached: bool,
    /// History ends early: a shallow clone.
    pub shallow: bool,
    /// The branch that this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
    /// What git was asked and has not finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Differences between HEAD and the index.
    pub staged: Vec<Change>,
    /// Differences between the index and files.
    pub unstaged: Vec<Change>,
    /// Untracked files; folders end in a slash.
    pub untracked: Vec<String>,
    /// Paths with an unfinished merge.
    pub conflicted: Vec<Conflict>,
    /// Tracked paths whose content was not compared.
    pub not_compared: Vec<NotCompared>,
    /// Nothing staged, changed, untracked or in conflict.
    pub clean: bool,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Where the file is now, or was.
    pub path: String,
    /// Where it was before a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened to it.
    pub kind: Kind,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// It is new.
    Added,
    /// Its content or mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It was called otherwise; perhaps changed too.
    Renamed,
    /// A file became a link or submodule, or back.
    TypeChanged,
}

/// A path with an unfinished merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The path.
    pub path: String,
    /// Git's two letters: ours, theirs (D, A, U).
    pub code: String,
}

/// A tracked path whose content was not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotCompared {
    /// The path.
    pub path: String,
    /// Why not.
    pub reason: Reason,
}

/// Why a content was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// Filtered: a program would have to convert it.
    Filter,
    /// Stored in another encoding than on disk.
    Encoding,
    /// Another repository, which is not entered.
    Submodule,
    /// A pipe or device took its place.
    Special,
    /// Larger than what is compared.
    TooLarge,
    /// We may not read it.
    Unreadable,
}

/// The branch that a branch follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Upstream {
    /// Its short name, such as origin/main.
    pub name: String,
    /// Commits that only this branch has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// Commits that only the upstream has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
}

/// What git was asked to do and has not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git rebase`, of either kind.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
    /// `git am`.
    ApplyMailbox,
}

impl crate::Repo {
    /// What `git status` says, with the repository's own configuration only. Nothing is written: the index is not
    /// refreshed.
    pub fn status(&self, limits: &Limits, cancel: &AtomicBool) -> Result<Status, HistoryError> {
        let budget = Budget::new(limits, cancel);
        budget.check()?;
        let all = Selection::new(&[])?;
        let head = self.head()?;
        let tree = self.tree(&budget);
        let state = index::read(&tree)?;
        let base = head.id.map(|id| self.tree_of(id)).transpose()?;
        let mut staged = Comparison::new(&self.git, &budget, &all);
        staged.tree_with_index(base, &state)?;
        let reader = Reader::new(&tree, &state)?;
        let staged = rename::detect(&reader, staged.finish())?;
        let mut found = Walk::new(&tree, &state, &all, true)?.run()?;
        // Only a file that was announced can be the new place of another here.
        found.changes = rename::detect(&reader, found.changes)?;
        let conflicted = conflicts(&state);
        let clean = staged.is_empty()
            && found.changes.is_empty()
            && found.untracked.is_empty()
            && conflicted.is_empty()
            && found.not_compared.iter().all(|(_, reason)| *reason == Reason::Submodule);
        Ok(Status {
            upstream: self.upstream(&head, &budget)?,
            branch: head.branch,
            head: head.id.map(|id| id.to_string()),
            detached: head.detached,
            shallow: self.is_shallow(),
            operation: self.operation(),
            staged: staged.iter().map(change).collect(),
            unstaged: found.changes.iter().map(change).collect(),
            untracked: found.untracked.iter().map(|path| show(path)).collect(),
            conflicted,
            not_compared: found.not_compared.iter().map(not_compared).collect(),
            clean,
        })
    }

    pub(crate) fn is_shallow(&self) -> bool {
        self.git.is_shallow().unwrap_or(false)
    }

    fn operation(&self) -> Option<Operation> {
        use gix::state::InProgress as P;
        self.git.state().map(|state| match state {
            P::ApplyMailbox | P::ApplyMailboxRebase => Operation::ApplyMailbox,
            P::Bisect => Operation::Bisect,
            P::CherryPick | P::CherryPickSequence => Operation::CherryPick,
            P::Merge => Operation::Merge,
            P::Rebase | P::RebaseInteractive => Operation::Rebase,
            P::Revert | P::RevertSequence => Operation::Revert,
        })
    }

    fn upstream(&self, head: &upstream::Head, budget: &Budget<'_>) -> Done<Option<Upstream>> {
        let Some(full) = head.branch.as_deref().and_then(|branch| self.follows(branch)) else {
            return Ok(None);
        };
        let name = full.strip_prefix("refs/remotes/").or(full.strip_prefix("refs/heads/")).unwrap_or(&full);
        let mut out = Upstream { name: name.to_owned(), ahead: None, behind: None };
        let theirs = self.reference(&full)?.and_then(|id| self.commit_of(id));
        if let (Some(ours), Some(theirs)) = (head.id, theirs) {
            let painted = walk::paint(&self.git, budget, &[ours], &[theirs])?;
            out.ahead = Some(painted.only_left());
            out.behind = Some(painted.only_right());
        }
        Ok(Some(out))
    }
}

pub(crate) fn kind(delta: &Delta) -> Kind {
    match (&delta.old, &delta.new) {
        _ if delta.from.is_some() => Kind::Renamed,
        (None, _) => Kind::Added,
        (_, None) => Kind::Deleted,
        (Some(old), Some(new)) if old.class() != new.class() => Kind::TypeChanged,
        _ => Kind::Modified,
    }
}

fn change(delta: &Delta) -> Change {
    Change { path: show(&delta.path), from: delta.from.as_ref().map(|from| show(from)), kind: kind(delta) }
}

pub(crate) fn not_compared((path, reason): &(BString, Reason)) -> NotCompared {
    NotCompared { path: show(path), reason: *reason }
}

/// The paths with several stages and what git calls each combination.
pub(crate) fn conflicts(state: &State) -> Vec<Conflict> {
    let mut out: Vec<(&[u8], [bool; 3])> = Vec::new();
    for entry in state.entries() {
        let at = match entry.stage() {
            Stage::Unconflicted => continue,
            Stage::Base => 0,
            Stage::Ours => 1,
            Stage::Theirs => 2,
        };
        let path = entry.path(state).as_bytes();
        if out.last().is_none_or(|(last, _)| *last != path) {
            out.push((path, [false; 3]));
        }
        if let Some(stage) = out.last_mut().and_then(|(_, stages)| stages.get_mut(at)) {
            *stage = true;
        }
    }
    let code = |stages: [bool; 3]| match stages {
        [_, false, false] => "DD",
        [false, true, false] => "AU",
        [true, true, false] => "UD",
        [false, false, true] => "UA",
        [true, false, true] => "DU",
        [false, true, true] => "AA",
        [true, true, true] => "UU",
    };
    out.into_iter()
        .map(|(path, stages)| Conflict { path: show(path), code: code(stages).to_owned() })
        .collect()
}

/// The letter of a mode in a diff: what git prints as an octal number.
pub(crate) fn mode(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Tree => "040000",
        EntryKind::Blob => "100644",
        EntryKind::BlobExecutable => "100755",
        EntryKind::Link => "120000",
        EntryKind::Commit => "160000",
    }
}
