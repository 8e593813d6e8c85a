//! The journal of one apply: written before anything happens, renamed when it has, removed when all is tidy.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use cap_fs_ext::DirExt as _;
use contract::{Code, Digest, Effect, Fault, Key, Plan, Receipt, RefMove, RelPath, State, TranscriptId};
use serde::{Deserialize, Serialize};

use super::Applied;
use super::step::Step;
use crate::branch;
use crate::jail::{self, TEMPORARY};
use crate::refs;
use crate::request::Outcome;
use crate::root::Root;
use crate::state::{Durable, StateDir, broken, sync_path};

/// A place that recovery had to leave as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Blocked {
    /// Where.
    pub path: RelPath,
    /// What is in the way.
    pub why: String,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

/// What is about to happen, or has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Journal {
    pub(super) transcript: TranscriptId,
    pub(super) plan: Plan,
    pub(super) steps: Vec<Step>,
    /// Directories that the plan needs and that are not there, outermost first.
    directories: Vec<RelPath>,
    /// Whether every step's content is whole beside its target; before that, no step has taken place.
    staged: bool,
    branches: Vec<(String, String)>,
    /// Refs that are being moved.
    #[serde(default)]
    moves: Vec<RefMove>,
    /// The idempotency key of the plan's request.
    pub(super) key: Key,
    /// Whether the request may have been sent.
    sending: bool,
    #[serde(skip)]
    pub(super) committed: bool,
    #[serde(skip)]
    file: PathBuf,
}

const PREPARED: &str = "json";
const COMMITTED: &str = "done";
const BLOCKED: &str = "blocked";

impl Journal {
    /// Keeps pre-images and writes down what is about to happen.
    pub(super) fn prepare(
        root: &Root,
        state: &StateDir,
        plan: &Plan,
        transcript: &TranscriptId,
    ) -> Result<Self, Fault> {
        let mut steps = Vec::new();
        let mut directories = Vec::new();
        let mark = transcript.as_str().replace('-', "");
        for (index, change) in plan.effects.iter().filter_map(Effect::change).enumerate() {
            if let State::File { digest, .. } = &change.before {
                state.put_blob(digest, &pre_image(root, &change.path, digest)?, Durable::Yes)?;
            }
            if let State::File { digest, .. } = &change.after {
                // Whether it is whole is seen when it is staged, before anything takes its place.
                state.expect_blob(digest)?;
            }
            for ancestor in change.path.ancestors() {
                if !directories.contains(&ancestor) && jail::state(root.dir(), &ancestor)? == State::Absent {
                    directories.push(ancestor);
                }
            }
            steps.push(Step {
                path: change.path.clone(),
                before: change.before.clone(),
                after: change.after.clone(),
                temporary: format!("{TEMPORARY}{mark}-{index}"),
            });
        }
        let key = Key::random().map_err(|e| Fault::internal(e.to_string()))?;
        let file = state.journal_dir().join(format!("{transcript}.{PREPARED}"));
        let journal = Self {
            transcript: transcript.clone(),
            plan: plan.clone(),
            steps,
            directories,
            staged: false,
            branches: Vec::new(),
            moves: Vec::new(),
            key,
            sending: false,
            committed: false,
            file,
        };
        StateDir::write_json(&journal.file, &journal)?;
        Ok(journal)
    }

    /// Creates the directories and stages every step's content.
    pub(super) fn stage(&mut self, root: &Root, state: &StateDir) -> Result<(), Fault> {
        for directory in &self.directories {
            let parent = jail::open_parent(root.dir(), directory)?;
            let Some(parent) = parent else {
                return Err(Fault::new(Code::Conflict, format!("{directory}: its folder is gone")));
            };
            match parent.create_dir(directory.file_name()) {
                Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(jail::fault(directory, &e));
                }
                // Made by someone meanwhile: as good, as long as it is a directory.
                _ => drop(
                    parent
                        .open_dir_nofollow(directory.file_name())
                        .map_err(|e| jail::fault(directory, &e))?,
                ),
            }
        }
        self.steps.iter().try_for_each(|step| step.stage(root, state))?;
        self.staged = true;
        StateDir::write_json(&self.file, self)
    }

    pub(super) fn add_branch(&mut self, name: &str, commit: &str) -> Result<(), Fault> {
        self.branches.push((name.to_owned(), commit.to_owned()));
        StateDir::write_json(&self.file, self)
    }

    /// What recovery has to look at, before any of them moves.
    pub(super) fn add_moves(&mut self, moves: &[RefMove]) -> Result<(), Fault> {
        self.moves.extend_from_slice(moves);
        StateDir::write_json(&self.file, self)
    }

    pub(super) fn mark_sending(&self) -> Result<(), Fault> {
        StateDir::write_json(&self.file, &Self { sending: true, ..self.clone() })
    }

    /// How a request went whose answer nobody heard.
    pub(super) fn unknown_request(&self) -> Option<Outcome> {
        let planned = self.plan.effects.iter().find(|effect| effect.sends())?;
        Some(match planned {
            _ if !self.sending => {
                Outcome::NotSent { why: "the process stopped before the request was sent".into() }
            }
            Effect::Push(_) => Outcome::PushUnknown,
            _ => Outcome::Unknown { key: self.key.clone() },
        })
    }

    /// Syncs every folder that names changed in.
    pub(super) fn sync(&self, root: &Root) -> Result<(), Fault> {
        let changed = self.steps.iter().map(|step| &step.path).chain(&self.directories);
        // Each folder once, by any of the names in it.
        let folders: BTreeMap<Option<RelPath>, &RelPath> =
            changed.map(|path| (path.parent(), path)).collect();
        for path in folders.into_values() {
            if let Some(parent) = jail::open_parent(root.dir(), path)? {
                jail::sync_dir(&parent).map_err(|e| jail::fault(path, &e))?;
            }
        }
        Ok(())
    }

    /// From here on the plan has happened. The receipt stands before: there is nothing left that must not fail.
    pub(super) fn commit(&mut self, state: &StateDir) -> Result<(), Fault> {
        StateDir::write_json(&state.applied_path(&self.transcript), &self.applied(None)?)?;
        self.rename(state, COMMITTED)?;
        self.committed = true;
        Ok(())
    }

    fn applied(&self, request: Option<Outcome>) -> Result<Applied, Fault> {
        let receipt = Receipt {
            plan: self.plan.id().map_err(|e| Fault::internal(e.to_string()))?,
            transcript: self.transcript.clone(),
            effects: self.plan.effects.clone(),
            created_directories: self.directories.clone(),
            commits: self.branches.clone(),
        };
        Ok(Applied { receipt, plan: self.plan.clone(), request })
    }

    fn rename(&mut self, state: &StateDir, extension: &str) -> Result<(), Fault> {
        let to = self.file.with_extension(extension);
        std::fs::rename(&self.file, &to).map_err(|e| broken("journal", &e))?;
        self.file = to;
        if let Err(error) = sync_path(&state.journal_dir()) {
            // It is renamed for everyone who looks; only a power cut could still find the old name, and recovery then
            // does what the old name says.
            tracing::warn!(%error, "the journal's folder could not be synced");
        }
        Ok(())
    }

    /// Adds the request's outcome to the receipt and removes what was displaced. The plan has happened: what cannot be
    /// tidied is litter, which the next recovery takes away, and not a failure.
    pub(super) fn finish(
        self,
        root: &Root,
        state: &StateDir,
        request: Option<Outcome>,
    ) -> Result<Applied, Fault> {
        let applied = self.applied(request)?;
        let receipt = state.applied_path(&self.transcript);
        let written = if applied.request.is_some() || !receipt.exists() {
            StateDir::write_json(&receipt, &applied)
        } else {
            Ok(())
        };
        if let Err(fault) = written {
            tracing::warn!("the receipt: {}", fault.message);
        }
        for step in &self.steps {
            match step.clean(root, state) {
                Ok(None) => {}
                Ok(Some(blocked)) => tracing::warn!("{blocked}"),
                Err(fault) => tracing::warn!("{}: {}", step.path, fault.message),
            }
        }
        // What was displaced is gone for good before the journal that knows of it.
        if self.steps.iter().any(|step| step.before != State::Absent) {
            self.sync_what_is_there(root);
        }
        if let Err(error) = std::fs::remove_file(&self.file) {
            tracing::warn!(%error, "the journal could not be removed");
        }
        Ok(applied)
    }

    /// Makes things as they were; returns the places that had to be left.
    pub(super) fn take_back(mut self, root: &Root, state: &StateDir) -> Result<Vec<Blocked>, Fault> {
        // Whatever stands in the way of one path, the others are taken back.
        let mut blocked = Vec::new();
        for (name, commit) in &self.branches {
            if let Err(fault) = branch::delete(root, name, commit)
                && let Ok(path) = RelPath::new(name)
            {
                blocked.push(Blocked { path, why: fault.message });
            }
        }
        for (name, why) in refs::take_back(root, &self.moves) {
            if let Ok(path) = RelPath::new(&name) {
                blocked.push(Blocked { path, why });
            }
        }
        for step in self.steps.iter().rev() {
            match step.take_back(root, state, self.staged) {
                Ok(found) => blocked.extend(found),
                Err(fault) => blocked.push(Blocked { path: step.path.clone(), why: fault.message }),
            }
        }
        for directory in self.directories.iter().rev() {
            if let Ok(Some(parent)) = jail::open_parent(root.dir(), directory) {
                // Only an empty one goes.
                let _ = parent.remove_dir(directory.file_name());
            }
        }
        self.sync_what_is_there(root);
        // It may have been written for a commit that then failed.
        let _ = std::fs::remove_file(state.applied_path(&self.transcript));
        if blocked.is_empty() {
            std::fs::remove_file(&self.file).map_err(|e| broken("journal", &e))?;
        } else {
            StateDir::write_json(&self.file.with_extension("why"), &blocked)?;
            self.rename(state, BLOCKED)?;
        }
        Ok(blocked)
    }

    fn sync_what_is_there(&self, root: &Root) {
        for step in &self.steps {
            // A folder that went with the rest needs no syncing.
            let _ = step.sync(root);
        }
    }

    /// The journals that earlier processes left, oldest name first.
    pub(super) fn left(state: &StateDir) -> Result<Vec<Self>, Fault> {
        let mut found = Vec::new();
        for path in entries(state)? {
            let committed = match path.extension().and_then(|e| e.to_str()) {
                Some(PREPARED) => false,
                Some(COMMITTED) => true,
                Some("new") => {
                    // A journal whose writing was cut off before it got its name: nothing had happened yet.
                    std::fs::remove_file(&path).map_err(|e| broken("journal", &e))?;
                    continue;
                }
                _ => continue,
            };
            let Some(journal) = StateDir::read_json::<Self>(&path) else {
                return Err(Fault::new(Code::FilesystemError, "a journal of an earlier apply is damaged")
                    .suggest("Keep the state folder's `journal` for a report, then move it aside."));
            };
            found.push(Self { committed, file: path, ..journal });
        }
        Ok(found)
    }

    /// The places that earlier recoveries had to leave and nobody has accepted yet.
    pub(super) fn blocked(state: &StateDir) -> Result<Vec<Blocked>, Fault> {
        let why = |path: &PathBuf| path.extension().is_some_and(|e| e == "why");
        Ok(entries(state)?
            .iter()
            .filter(|p| why(p))
            .filter_map(|p| StateDir::read_json::<Vec<Blocked>>(p))
            .flatten()
            .collect())
    }

    /// Forgets them.
    pub(super) fn accept(state: &StateDir) -> Result<Vec<Blocked>, Fault> {
        let accepted = Self::blocked(state)?;
        for path in entries(state)? {
            if path.extension().is_some_and(|e| e == "why" || e == BLOCKED) {
                std::fs::remove_file(&path).map_err(|e| broken("journal", &e))?;
            }
        }
        Ok(accepted)
    }
}

/// The bytes that are about to be displaced, when they still are what the plan knew.
fn pre_image(root: &Root, path: &RelPath, expected: &Digest) -> Result<Vec<u8>, Fault> {
    let parent = jail::open_parent(root.dir(), path)?;
    let read = parent.and_then(|parent| jail::read_in(&parent, path.file_name(), path).ok());
    read.map(|(bytes, _)| bytes).filter(|bytes| Digest::of(bytes) == *expected).ok_or_else(|| {
        Fault::new(Code::Conflict, format!("{path}: it changed at the last moment; nothing was changed"))
            .about(path.as_str())
            .suggest("Rehearse again: call the tool without `plan`.")
    })
}

fn entries(state: &StateDir) -> Result<Vec<PathBuf>, Fault> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(state.journal_dir()).map_err(|e| broken("journal", &e))? {
        paths.push(entry.map_err(|e| broken("journal", &e))?.path());
    }
    paths.sort();
    Ok(paths)
}
