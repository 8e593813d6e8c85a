//! Folders that live as long as a call, and no longer than their process: what a killed one left is known by nobody holding it.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::state::{open_private, remove_tree};

/// The file in each whose lock says that somebody holds it.
const HELD: &str = "held";

/// A private folder, gone with this value.
#[derive(Debug)]
pub(crate) struct Scratch {
    place: PathBuf,
    /// Whether the folder that it is in goes, too, once it is empty.
    alone: bool,
    _held: File,
}

impl Scratch {
    /// Makes the folder `place`, which must not be there.
    pub(crate) fn make(place: PathBuf) -> io::Result<Self> {
        Self::made(place, false)
    }

    /// Makes it in a folder that is there for such ones only: made with the first and removed with the last.
    pub(crate) fn make_among(place: PathBuf) -> io::Result<Self> {
        Self::made(place, true)
    }

    fn made(place: PathBuf, alone: bool) -> io::Result<Self> {
        loop {
            if let Some(above) = place.parent().filter(|_| alone) {
                DirBuilder::new().mode(0o700).recursive(true).create(above)?;
                if !is_ours(above) {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
            }
            match DirBuilder::new().mode(0o700).create(&place) {
                Ok(()) => {}
                // The last of the others has just gone.
                Err(error) if alone && error.kind() == io::ErrorKind::NotFound => continue,
                // Swept below, between being made and being held.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !place.join(HELD).exists() => {}
                Err(error) => return Err(error),
            }
            let Some(held) = absent(open_private(&place.join(HELD)))? else { continue };
            lock(&held, FlockOperation::LockExclusive)?;
            // A sweep may have been faster: then it is another folder that is held.
            let there = absent(std::fs::metadata(place.join(HELD)))?;
            if there.is_some_and(|there| held.metadata().is_ok_and(|held| held.ino() == there.ino())) {
                return Ok(Self { place, alone, _held: held });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.place
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = remove_tree(&self.place) {
            tracing::warn!(%error, "a scratch folder could not be removed");
        }
        if let Some(above) = self.place.parent().filter(|_| self.alone) {
            // Where there are others it stays.
            let _ = std::fs::remove_dir(above);
        }
    }
}

/// Whether nobody else can put anything into `dir` or in its place. Its name can be foreseen, and where everybody may write
/// somebody else may have made it, to have removed what a link in it leads to.
fn is_ours(dir: &Path) -> bool {
    let Ok(there) = std::fs::symlink_metadata(dir) else { return false };
    let Some(Ok(above)) = dir.parent().map(std::fs::metadata) else { return false };
    let me = rustix::process::geteuid().as_raw();
    let is_open = above.mode() & 0o022 != 0 && above.mode() & 0o1000 == 0;
    there.is_dir() && there.uid() == me && there.mode() & 0o777 == 0o700 && !is_open
}

/// Removes the folders in `dir` that nobody holds: their processes were killed. Says how many.
pub(crate) fn sweep(dir: &Path) -> u64 {
    let mut swept = 0;
    if !is_ours(dir) {
        return swept;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let place = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(held) = open_private(&place.join(HELD)) else { continue };
        if lock(&held, FlockOperation::NonBlockingLockExclusive).is_ok() && remove_tree(&place).is_ok() {
            swept += 1;
        }
    }
    swept
}

fn lock(file: &File, how: FlockOperation) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, how) {
            Err(Errno::INTR) => {}
            done => return done.map_err(io::Error::from),
        }
    }
}

fn absent<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s30_a_folder_that_others_may_write_is_neither_used_nor_swept() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        std::fs::create_dir_all(victim.join("kept")).unwrap();
        std::fs::write(victim.join(HELD), "").unwrap();
        let foreseen = dir.path().join("foreseen");
        let set = |mode: u32| {
            std::fs::set_permissions(&foreseen, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        };
        std::os::unix::fs::symlink(&victim, &foreseen).unwrap();
        assert!(Scratch::make_among(foreseen.join("mine")).is_err(), "a link");
        assert_eq!(sweep(&foreseen), 0);
        std::fs::remove_file(&foreseen).unwrap();
        std::fs::create_dir(&foreseen).unwrap();
        std::fs::create_dir(foreseen.join("left")).unwrap();
        std::fs::write(foreseen.join("left").join(HELD), "").unwrap();
        set(0o777);
        assert!(Scratch::make_among(foreseen.join("mine")).is_err(), "everybody may write it");
        assert_eq!(sweep(&foreseen), 0);
        set(0o700);
        assert_eq!(sweep(&foreseen), 1, "ours");
        assert!(Scratch::make_among(foreseen.join("mine")).is_ok());
        assert!(victim.join("kept").exists());
    }

    #[test]
    fn what_is_held_stays_and_what_nobody_holds_goes() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let mine = Scratch::make(dir.path().join("mine")).unwrap();
        assert!(Scratch::make(dir.path().join("mine")).is_err(), "it is somebody's");
        let left = dir.path().join("left");
        std::fs::create_dir_all(left.join("upper/deep")).unwrap();
        std::fs::write(left.join(HELD), "").unwrap();
        std::fs::write(dir.path().join("file"), "no folder").unwrap();
        assert_eq!(sweep(dir.path()), 1);
        assert!(!left.exists() && mine.path().exists());
        let place = mine.path().to_owned();
        drop(mine);
        assert!(!place.exists() && sweep(dir.path()) == 0);
    }
}
