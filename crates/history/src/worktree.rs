//! The work tree, read beneath the handle of its top: no link is followed, pipes and devices are not opened, other
//! repositories are not entered.

use std::fs::File;
use std::io::Read;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::State;
use gix::index::entry::{Flags, Stage};
use gix::objs::tree::EntryKind;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::attributes::MAX_RULES;
use crate::budget::Budget;
use crate::error::{Done, HistoryError};
use crate::paths::{base, parent};

/// A work tree and what may be spent on it.
pub(crate) struct Tree<'a> {
    pub(crate) repo: &'a gix::Repository,
    pub(crate) top: BorrowedFd<'a>,
    pub(crate) budget: &'a Budget<'a>,
}

/// One name in a folder.
pub(crate) struct Named {
    pub(crate) name: BString,
    pub(crate) kind: FileType,
}

impl Tree<'_> {
    /// Opens a folder; its path has no links in it.
    pub(crate) fn folder(&self, path: &BStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if path.is_empty() {
            return rustix::fs::openat(self.top, ".", flags, Mode::empty());
        }
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(self.top, path.as_bytes(), flags, Mode::empty(), beneath) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
        // An old kernel, or one where the call is filtered: part by part.
        let mut at = self.top.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
        for part in path.split_str("/") {
            if matches!(part, b"" | b"." | b"..") {
                return Err(Errno::NOENT);
            }
            at = rustix::fs::openat(&at, part, flags, Mode::empty())?;
        }
        Ok(at)
    }

    /// What is in a folder, by name.
    pub(crate) fn list(&self, folder: &OwnedFd) -> Done<Vec<Named>> {
        let failed = || HistoryError::io("a folder of the work tree could not be listed");
        let mut out = Vec::new();
        for entry in rustix::fs::Dir::read_from(folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            self.budget.entry()?;
            let kind = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                known => known,
            };
            out.push(Named { name: name.into(), kind });
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    /// Opens an ordinary file of a folder; a pipe does not block.
    pub(crate) fn file(folder: &OwnedFd, name: &[u8]) -> Option<(File, Stat)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&opened).ok()?;
        FileType::from_raw_mode(stat.st_mode).is_file().then(|| (File::from(opened), stat))
    }

    /// All bytes of an open file; `None` where there are more than `largest`.
    pub(crate) fn bytes(&self, file: File, largest: u64) -> Done<Option<Vec<u8>>> {
        let mut out = Vec::new();
        let mut file = file.take(largest.saturating_add(1));
        loop {
            let read = (&mut file)
                .take(1 << 20)
                .read_to_end(&mut out)
                .map_err(HistoryError::io("a file of the work tree could not be read"))?;
            if read == 0 {
                break;
            }
            self.budget.bytes(read as u64)?;
        }
        Ok((out.len() as u64 <= largest).then_some(out))
    }

    /// The target of a link of a folder.
    pub(crate) fn link(folder: &OwnedFd, name: &[u8]) -> Option<Vec<u8>> {
        rustix::fs::readlinkat(folder, name, Vec::new()).ok().map(std::ffi::CString::into_bytes)
    }

    /// A file of rules: from the work tree, else from the index.
    pub(crate) fn rules(&self, state: &State, path: &BStr) -> Done<Option<Vec<u8>>> {
        let folder = self.folder(parent(path)).ok();
        let here = folder.map(|folder| self.rules_in(&folder, base(path))).transpose()?.flatten();
        if here.is_some() {
            return Ok(here);
        }
        self.rules_of(state, path, Flags::empty())
    }

    /// A file of rules in an open folder.
    pub(crate) fn rules_in(&self, folder: &OwnedFd, name: &[u8]) -> Done<Option<Vec<u8>>> {
        let Some((file, _)) = Self::file(folder, name) else { return Ok(None) };
        let bytes = self.bytes(file, MAX_RULES)?;
        bytes.map(Some).ok_or(HistoryError::TooLarge { what: "bytes of a file of rules", limit: MAX_RULES })
    }

    /// A file of rules in the index, where its entry has all of `flags`.
    pub(crate) fn rules_of(&self, state: &State, path: &BStr, flags: Flags) -> Done<Option<Vec<u8>>> {
        let entry = state.entry_by_path_and_stage(path, Stage::Unconflicted);
        let blob = |e: &&gix::index::Entry| {
            let kind = e.mode.to_tree_entry_mode().map(|m| m.kind());
            e.flags.contains(flags) && matches!(kind, Some(EntryKind::Blob | EntryKind::BlobExecutable))
        };
        let Some(entry) = entry.filter(blob) else { return Ok(None) };
        let Ok(Some(header)) = self.repo.try_find_header(entry.id) else { return Ok(None) };
        if header.size() > MAX_RULES {
            return Err(HistoryError::TooLarge { what: "bytes of a file of rules", limit: MAX_RULES });
        }
        let object =
            self.repo.find_object(entry.id).map_err(HistoryError::git("an object could not be read"))?;
        Ok(Some(object.detach().data))
    }
}

/// The handle of a repository's top.
impl crate::Repo {
    pub(crate) fn tree<'a>(&'a self, budget: &'a Budget<'a>) -> Tree<'a> {
        Tree { repo: &self.git, top: self.top.as_fd(), budget }
    }
}
