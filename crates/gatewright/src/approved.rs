//! Where approvals are kept: the user's own outside of every repository, a team's in `gatewright.lock`.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use contract::{Code, Digest, Fault};
use exec::StateDir;
use kit::lock::{self, Lock};
use kit::{Approvals, Approver};
use rustix::fs::{FlockOperation, flock};

/// Largest file of approvals.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The user's approvals of tools of others. Whatever is not in it is not called.
pub fn file() -> Result<PathBuf, Fault> {
    Ok(StateDir::base()?.join("approvals.json"))
}

/// What the user approved.
pub fn own() -> Result<Lock, Fault> {
    let advice = "Move the file away, and look at and accept anew what you want called.";
    Ok(read(&file()?, advice)?.unwrap_or_default())
}

/// The place of a repository's lock file.
pub fn team_file(root: &Path) -> PathBuf {
    root.join(lock::FILE)
}

/// What a team looked at; `None` where it has no lock file.
pub fn team(root: &Path) -> Result<Option<Lock>, Fault> {
    read(
        &team_file(root),
        "Restore the file from git, or accept gatewright's own tools anew: `gatewright approvals accept --all`.",
    )
}

/// Reads a lock file. A link is refused: a repository may ship one that leads anywhere.
fn read(file: &Path, advice: &str) -> Result<Option<Lock>, Fault> {
    refuse_link(file)?;
    let name = name(file);
    let invalid = |why: String| Fault::invalid(format!("{name}: {why}")).suggest(advice);
    if std::fs::metadata(file).is_ok_and(|there| there.len() > MAX_FILE) {
        return Err(invalid(format!("more than {MAX_FILE} bytes")));
    }
    match std::fs::read_to_string(file) {
        Ok(text) => Lock::read(&text).map(Some).map_err(|e| invalid(e.to_string())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Fault::new(Code::FilesystemError, format!("{name} cannot be read: {e}"))
            .suggest("Check its permissions.")),
    }
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().display().to_string()
}

pub fn refuse_link(file: &Path) -> Result<(), Fault> {
    match std::fs::symlink_metadata(file) {
        Ok(there) if !there.is_file() => {
            let message = format!("{} is a link or a folder, not a file", name(file));
            Err(Fault::new(Code::PathNotAllowed, message).suggest("Remove it, and accept anew."))
        }
        _ => Ok(()),
    }
}

/// Writes a team's lock file.
pub fn write_team(root: &Path, lock: &Lock) -> Result<(), Fault> {
    let text = lock.to_text().map_err(|e| Fault::internal(e.to_string()))?;
    write(&team_file(root), &text, 0o644)
}

/// Writes a file beside its place and renames it: whatever comes to stand there meanwhile is replaced, never followed.
pub fn write(file: &Path, text: &str, mode: u32) -> Result<(), Fault> {
    refuse_link(file)?;
    let written = || -> std::io::Result<()> {
        let folder = file.parent().unwrap_or_else(|| Path::new("."));
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(text.as_bytes())?;
        fresh.as_file().set_permissions(Permissions::from_mode(mode))?;
        fresh.as_file().sync_all()?;
        fresh.persist(file).map(|_| ()).map_err(|e| e.error)
    };
    written().map_err(|e| {
        Fault::new(Code::FilesystemError, format!("{} cannot be written: {e}", name(file)))
            .suggest("Check the folder's permissions, and that the disk is not full.")
    })
}

/// The user's files about tools of others, while nobody else changes them.
pub struct Own {
    /// What is approved.
    pub lock: Lock,
    /// What was last shown to the user, by name: only that can be approved.
    pub seen: BTreeMap<String, Digest>,
    folder: PathBuf,
    _held: File,
}

impl Own {
    /// Waits for whoever changes them, and reads them.
    pub fn open() -> Result<Self, Fault> {
        let folder = StateDir::base()?;
        let failed = |e: std::io::Error| {
            Fault::new(Code::FilesystemError, format!("the state folder cannot be used: {e}"))
                .suggest("Check its permissions, and that the disk is not full.")
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        let held = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(folder.join("approvals.held"))
            .map_err(failed)?;
        flock(&held, FlockOperation::LockExclusive).map_err(|e| failed(e.into()))?;
        // What cannot be read was seen by nobody.
        let seen = std::fs::read(folder.join("seen.json")).ok();
        let seen = seen.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Ok(Self { lock: own()?, seen, folder, _held: held })
    }

    /// Writes both.
    pub fn write(&self) -> Result<(), Fault> {
        let internal = |e: serde_json::Error| Fault::internal(e.to_string());
        write(&self.folder.join("seen.json"), &serde_json::to_string(&self.seen).map_err(internal)?, 0o600)?;
        write(&file()?, &self.lock.to_text().map_err(internal)?, 0o600)
    }
}

/// Reads the files for each call of a tool of others. What cannot be read approves nothing.
pub struct Kept {
    /// The roots that are offered: each may have a team's lock file.
    pub roots: Vec<PathBuf>,
}

impl Approver for Kept {
    fn approved(&self) -> Result<Approvals, Fault> {
        let teams = self.roots.iter().filter_map(|root| team(root).transpose());
        Ok(Approvals { own: own()?, teams: teams.collect::<Result<_, _>>()? })
    }
}
