//! The database's folder and file: private, and made before SQLite opens them.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use store_api::StoreError;

use crate::transfer::TransferError;

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(found: &std::fs::Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

fn place(doing: &'static str) -> impl Fn(Error) -> StoreError {
    move |source| StoreError::Place { doing, source }
}

pub(super) fn identity(path: &Path) -> std::io::Result<Identity> {
    Ok(Identity::of(&std::fs::symlink_metadata(path)?))
}

/// Makes what is missing and closes what is open to others.
///
/// A file that is there is never opened here: closing it would drop the locks that SQLite holds on it in this process
/// (<https://www.sqlite.org/howtocorrupt.html> §2.2). The log and its index take the file's mode from SQLite.
pub(super) fn prepare(path: &Path) -> Result<Identity, StoreError> {
    let folder = path.parent().unwrap_or(path);
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|above| std::fs::symlink_metadata(above).is_err()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(place("its folder was made"))?;
    for above in missing.iter().filter_map(|made| made.parent()) {
        File::open(above).and_then(|dir| dir.sync_all()).map_err(place("its folder was synced"))?;
    }
    let found = std::fs::symlink_metadata(folder).map_err(place("its folder was looked at"))?;
    if !found.is_dir() {
        return Err(place("its folder was looked at")(Error::from(ErrorKind::NotADirectory)));
    }
    private(folder, &found, 0o700)?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(place("its file was made")(error)),
    }
    let found = std::fs::symlink_metadata(path).map_err(place("its file was looked at"))?;
    if !found.is_file() {
        let other = Error::new(ErrorKind::InvalidInput, "it is not a regular file");
        return Err(place("its file was looked at")(other));
    }
    private(path, &found, 0o600)?;
    Ok(Identity::of(&found))
}

/// Makes an empty file for a copy, for nobody else's eyes. One that is there must be empty.
pub(super) fn blank(file: &Path) -> Result<(), TransferError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(place("the backup's file was made")(error).into()),
    }
    let found = std::fs::symlink_metadata(file).map_err(place("the backup's file was looked at"))?;
    if !found.is_file() || found.len() > 0 {
        return Err(TransferError::BackupExists);
    }
    private(file, &found, 0o600)?;
    Ok(())
}

/// What the name of a database's log ends with, and that of the log's index (<https://www.sqlite.org/tempfiles.html>).
pub(super) const LOG: &str = "-wal";
const INDEX: &str = "-shm";

/// A file of a database that is named as it is, with `end` behind.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(end);
    file.into()
}

/// Removes a database with its log, and the log's index.
pub(super) fn removed(path: &Path) -> Result<(), StoreError> {
    for file in [path.to_owned(), beside(path, LOG), beside(path, INDEX)] {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(place("its file was removed")(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Sees that a copy is on disk.
pub(super) fn synced(file: &Path) -> Result<(), TransferError> {
    let synced = File::open(file).and_then(|copy| copy.sync_all());
    let synced =
        synced.and_then(|()| File::open(file.parent().unwrap_or(file)).and_then(|dir| dir.sync_all()));
    Ok(synced.map_err(place("the backup was synced"))?)
}

/// What belongs to somebody else is not used; what others may look into is closed.
fn private(path: &Path, found: &std::fs::Metadata, mode: u32) -> Result<(), StoreError> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        let other = Error::new(ErrorKind::PermissionDenied, "it belongs to another user");
        return Err(place("its owner was looked at")(other));
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).map_err(place("its mode was set"))?;
    }
    Ok(())
}
