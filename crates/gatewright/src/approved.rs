//! Where approvals are kept: the user's own outside of every repository, a team's in `gatewright.lock`.

use std::path::{Path, PathBuf};

use contract::{Code, Fault};
use exec::StateDir;
use kit::lock::{self, Lock};
use kit::{Approvals, Approver};

/// Largest file of approvals.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The user's approvals of tools of others. Whatever is not in it is not called.
pub fn file() -> Result<PathBuf, Fault> {
    Ok(StateDir::base()?.join("approvals.json"))
}

/// What the user approved.
pub fn own() -> Result<Lock, Fault> {
    Ok(read(&file()?)?.unwrap_or_default())
}

/// Reads a lock file; `None` where there is none. A link is refused: a repository may ship one that leads anywhere.
pub fn read(file: &Path) -> Result<Option<Lock>, Fault> {
    refuse_link(file)?;
    let name = file.file_name().unwrap_or_default().display();
    let invalid = |why: String| {
        Fault::invalid(format!("{name}: {why}"))
            .suggest("Restore the file from git, or accept anew: `gatewright approvals accept --all`.")
    };
    match std::fs::metadata(file) {
        Ok(there) if there.len() > MAX_FILE => return Err(invalid(format!("more than {MAX_FILE} bytes"))),
        _ => {}
    }
    match std::fs::read_to_string(file) {
        Ok(text) => Lock::read(&text).map(Some).map_err(|e| invalid(e.to_string())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Fault::new(Code::FilesystemError, format!("{name} cannot be read: {e}"))
            .suggest("Check its permissions.")),
    }
}

fn refuse_link(file: &Path) -> Result<(), Fault> {
    match std::fs::symlink_metadata(file) {
        Ok(there) if !there.is_file() => {
            let name = file.file_name().unwrap_or_default().display();
            Err(Fault::new(Code::PathNotAllowed, format!("{name} is a link or a folder, not a file"))
                .suggest("Remove it, and accept anew."))
        }
        _ => Ok(()),
    }
}

/// Writes a lock file beside its place and renames it: whatever comes to stand there meanwhile is replaced, never
/// followed.
pub fn write(file: &Path, lock: &Lock) -> Result<(), Fault> {
    refuse_link(file)?;
    let failed = |e: std::io::Error| {
        let name = file.file_name().unwrap_or_default().display();
        Fault::new(Code::FilesystemError, format!("{name} cannot be written: {e}"))
            .suggest("Check the folder's permissions, and that the disk is not full.")
    };
    let text = lock.to_text().map_err(|e| Fault::internal(e.to_string()))?;
    let fresh = file.with_extension("new");
    let _ = std::fs::remove_file(&fresh);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = std::fs::OpenOptions::new();
    let mut writer = options.write(true).create_new(true).open(&fresh).map_err(failed)?;
    std::io::Write::write_all(&mut writer, text.as_bytes()).map_err(failed)?;
    writer.sync_all().map_err(failed)?;
    std::fs::rename(&fresh, file).map_err(failed)
}

/// Reads both files for each call of a tool of others. What cannot be read approves nothing.
pub struct Kept {
    /// The repository's, where there is a root.
    pub team: Option<PathBuf>,
}

impl Approver for Kept {
    fn approved(&self) -> Result<Approvals, Fault> {
        let team = match &self.team {
            None => None,
            Some(file) => read(file)?,
        };
        Ok(Approvals { own: own()?, team: team.unwrap_or_default() })
    }
}

/// The place of the repository's lock file.
pub fn team(root: &Path) -> PathBuf {
    root.join(lock::FILE)
}
