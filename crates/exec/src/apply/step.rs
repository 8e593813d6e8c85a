//! One path's part of a plan: staged beside its target, exchanged for it, looked at, taken back.

use std::io::Write as _;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{
    Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _,
};
use contract::{Code, Fault, RelPath, State};
use rustix::fs::RenameFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::journal::Blocked;
use crate::jail;
use crate::root::Root;
use crate::state::StateDir;

/// One path's part of a plan, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: RelPath,
    pub(super) before: State,
    pub(super) after: State,
    /// The name beside the target: first of the new bytes, after the exchange of the old.
    pub(super) temporary: String,
}

impl Step {
    fn parent(&self, root: &Root) -> Result<Option<Dir>, Fault> {
        jail::open_parent(root.dir(), &self.path)
    }

    fn parent_there(&self, root: &Root) -> Result<Dir, Fault> {
        self.parent(root)?.ok_or_else(|| self.moved("its folder is gone"))
    }

    fn name(&self) -> &str {
        self.path.file_name()
    }

    fn moved(&self, why: &str) -> Fault {
        Fault::new(Code::Conflict, format!("{}: {why}; nothing was changed", self.path))
            .about(self.path.as_str())
            .suggest("Rehearse again: call the tool without `plan`, look at the new diff, and apply that.")
    }

    /// Writes the new content beside the target and syncs it.
    pub(super) fn stage(&self, root: &Root, state: &StateDir) -> Result<(), Fault> {
        self.stage_in(&self.parent_there(root)?, state)
    }

    fn stage_in(&self, parent: &Dir, state: &StateDir) -> Result<(), Fault> {
        let io = |e: std::io::Error| jail::fault(&self.path, &e);
        match &self.after {
            State::File { digest, mode, .. } => {
                let bytes = state.blob(digest)?;
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(mode.bits()).follow(FollowSymlinks::No);
                let mut file = parent.open_with(&self.temporary, &options).map_err(io)?;
                file.write_all(&bytes).map_err(io)?;
                // Exactly what the plan says, whatever the process's own mask.
                file.set_permissions(Permissions::from_mode(mode.bits())).map_err(io)?;
                if let State::File { .. } = &self.before {
                    let standing = parent.symlink_metadata(self.name()).map_err(io)?;
                    if standing.nlink() > 1 {
                        let message = format!("{}: it has {} hard links", self.path, standing.nlink());
                        return Err(Fault::new(Code::PathNotAllowed, message)
                            .about(self.path.as_str())
                            .suggest("Break the link first: copy the file and move the copy over it."));
                    }
                    let ours = file.metadata().map_err(io)?;
                    if ours.gid() != standing.gid() && !rustix::process::geteuid().is_root() {
                        let group = Some(rustix::fs::Gid::from_raw(standing.gid()));
                        if rustix::fs::fchown(&file, None, group).is_err() {
                            // The bits were for another group: nobody gets them who did not have them.
                            let narrowed = Permissions::from_mode(mode.bits() & !0o070);
                            file.set_permissions(narrowed).map_err(io)?;
                        }
                    }
                    if rustix::process::geteuid().is_root() {
                        let owner = Some(rustix::fs::Uid::from_raw(standing.uid()));
                        let group = Some(rustix::fs::Gid::from_raw(standing.gid()));
                        rustix::fs::fchown(&file, owner, group).map_err(|e| io(e.into()))?;
                    }
                }
                file.sync_all().map_err(io)
            }
            State::Symlink { target } => parent.symlink_contents(target, &self.temporary).map_err(io),
            State::Absent => Ok(()),
            State::Directory { .. } => Err(Fault::internal("a plan never makes a directory as such")),
        }
    }

    /// Puts the staged content in place and checks what it displaced.
    pub(super) fn take_place(&self, root: &Root) -> Result<(), Fault> {
        let parent = self.parent_there(root)?;
        let (name, temporary) = (self.name(), self.temporary.as_str());
        let result = match (&self.before, &self.after) {
            (State::Absent, _) => rename(&parent, temporary, name, RenameFlags::NOREPLACE),
            (_, State::Absent) => rename(&parent, name, temporary, RenameFlags::NOREPLACE),
            _ => rename(&parent, temporary, name, RenameFlags::EXCHANGE),
        };
        match result {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(self.moved("something was created there meanwhile")),
            Err(Errno::NOENT) => return Err(self.moved("it was removed meanwhile")),
            Err(error) => return Err(jail::fault(&self.path, &error.into())),
        }
        if self.before == State::Absent {
            return Ok(());
        }
        let displaced = jail::state_in(&parent, temporary, &self.path)?;
        if displaced == self.before { Ok(()) } else { Err(self.moved("it changed at the last moment")) }
    }

    /// Makes things as they were, by looking at what is there. Bytes that are neither ours nor the ones that the plan
    /// knew are left, or put back where they were; where that cannot be, the place is reported. It can be interrupted
    /// and begun again at any point.
    ///
    /// `staged` says that every step's content was whole before any took its place.
    pub(super) fn take_back(
        &self,
        root: &Root,
        state: &StateDir,
        staged: bool,
    ) -> Result<Option<Blocked>, Fault> {
        let Some(parent) = self.parent(root)? else { return Ok(None) };
        let (name, temporary) = (self.name(), self.temporary.as_str());
        let beside = jail::state_in(&parent, temporary, &self.path)?;
        let back = |from: &str, to: &str, how| {
            rename(&parent, from, to, how).map_err(|e| jail::fault(&self.path, &e.into()))
        };
        if !staged || !self.has_taken_place(&beside) {
            // Only what we staged is beside, whole or in part.
            if beside != State::Absent {
                self.unlink(&parent, temporary)?;
            }
            return Ok(None);
        }
        let target = jail::state_in(&parent, name, &self.path)?;
        match (&self.before, &self.after) {
            // Created: taken away again, unless somebody has worked on it.
            (State::Absent, after) => match target {
                State::Absent => Ok(None),
                there if there == *after => {
                    back(name, temporary, RenameFlags::NOREPLACE)?;
                    self.discard(&parent, after, state)
                }
                _ => Ok(Some(self.blocked("it was created by the plan, or since, and changed by someone"))),
            },
            // Put back already, or everything beside is gone: by an earlier attempt, or by someone tidying up.
            (before, _) if beside == State::Absent && target == *before => Ok(None),
            (_, after) if beside == State::Absent && target == *after => self.restore(&parent, state),
            _ if beside == State::Absent => {
                Ok(Some(self.blocked("what the plan displaced is gone, and something else is in its place")))
            }
            // Removed by the plan, or by someone since: what was displaced goes back where nothing is.
            _ if target == State::Absent => {
                back(temporary, name, RenameFlags::NOREPLACE)?;
                Ok(None)
            }
            (_, after) if target == *after => {
                back(temporary, name, RenameFlags::EXCHANGE)?;
                self.discard(&parent, after, state)
            }
            // Someone wrote over it since. Theirs stays; the plan's before is among the pre-images.
            (before, _) if beside == *before => {
                self.unlink(&parent, temporary)?;
                Ok(Some(self.blocked("someone wrote over what the plan had put there")))
            }
            _ => {
                self.salvage(&parent, temporary, state)?;
                Ok(Some(self.blocked(
                    "two others wrote here while the plan was applied; the earlier is in the salvage folder",
                )))
            }
        }
    }

    /// Puts the pre-image in the place of what the plan had put there.
    fn restore(&self, parent: &Dir, state: &StateDir) -> Result<Option<Blocked>, Fault> {
        let reversed = Self { before: self.after.clone(), after: self.before.clone(), ..self.clone() };
        reversed.stage_in(parent, state)?;
        let how = if self.after == State::Absent { RenameFlags::NOREPLACE } else { RenameFlags::EXCHANGE };
        rename(parent, &self.temporary, self.name(), how).map_err(|e| jail::fault(&self.path, &e.into()))?;
        self.discard(parent, &self.after, state)
    }

    /// Whether the step took place: what is beside is no longer what was staged.
    fn has_taken_place(&self, beside: &State) -> bool {
        match (&self.before, &self.after) {
            (State::Absent, _) => *beside == State::Absent,
            // Removed: staged is nothing, displaced is something; with nothing beside, the target decides.
            (_, State::Absent) => true,
            _ => *beside != self.after,
        }
    }

    /// Removes what was displaced, once the plan is committed.
    pub(super) fn clean(&self, root: &Root, state: &StateDir) -> Result<Option<Blocked>, Fault> {
        let Some(parent) = self.parent(root)? else { return Ok(None) };
        self.discard(&parent, &self.before, state)
    }

    /// Removes what is beside when it is `expected`; keeps it for a person when someone has written to it.
    fn discard(&self, parent: &Dir, expected: &State, state: &StateDir) -> Result<Option<Blocked>, Fault> {
        let beside = jail::state_in(parent, &self.temporary, &self.path)?;
        if beside == State::Absent {
            return Ok(None);
        }
        if beside == *expected {
            self.unlink(parent, &self.temporary)?;
            return Ok(None);
        }
        self.salvage(parent, &self.temporary, state)?;
        Ok(Some(
            self.blocked("someone wrote to what the plan displaced; their bytes are in the salvage folder"),
        ))
    }

    fn salvage(&self, parent: &Dir, name: &str, state: &StateDir) -> Result<(), Fault> {
        let (bytes, _) = jail::read_in(parent, name, &self.path)?;
        let kept = state.salvage(&bytes)?;
        tracing::warn!(path = %self.path, kept, "bytes of another writer were kept");
        self.unlink(parent, name)
    }

    fn unlink(&self, parent: &Dir, name: &str) -> Result<(), Fault> {
        parent.remove_file(name).map_err(|e| jail::fault(&self.path, &e))
    }

    fn blocked(&self, why: &str) -> Blocked {
        Blocked { path: self.path.clone(), why: why.to_owned() }
    }

    /// Syncs the folder that the name is in.
    pub(super) fn sync(&self, root: &Root) -> Result<(), Fault> {
        match self.parent(root)? {
            Some(parent) => jail::sync_dir(&parent).map_err(|e| jail::fault(&self.path, &e)),
            None => Ok(()),
        }
    }
}

fn rename(parent: &Dir, from: &str, to: &str, how: RenameFlags) -> rustix::io::Result<()> {
    rustix::fs::renameat_with(parent, from, parent, to, how)
}
