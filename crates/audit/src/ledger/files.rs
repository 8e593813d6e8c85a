//! The ledger's files: private modes, no symbolic links followed, directories synced when names come and go.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use contract::Digest;
use ed25519_dalek::SigningKey;
use rustix::fs::OFlags;
use serde::Serialize;

use super::head::HeadFile;
use super::{Head, LedgerError, io};
use crate::chain::RatchetKey;
use crate::checkpoint::Checkpoint;

/// The folder of segments.
pub const SEGMENTS: &str = "segments";
/// The file of signed notes.
pub const CHECKPOINTS: &str = "checkpoints.jsonl";
/// The file that says where the ledger ends.
pub const HEAD: &str = "head";
/// The first ratchet key, for the operator to take away.
pub const INITIAL_KEY: &str = "initial.key";

/// Segments are numbered with at least six digits, so that they sort as text too.
pub(super) fn segment_name(number: u64) -> String {
    format!("{number:06}.jsonl")
}

/// Where a segment is.
#[must_use]
pub fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(SEGMENTS).join(segment_name(number))
}

/// The numbers of the segments in `dir`, ascending.
pub fn segment_numbers(dir: &Path) -> Result<Vec<u64>, LedgerError> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(dir.join(SEGMENTS)).map_err(io("segments", "listed"))? {
        let name = entry.map_err(io("segments", "listed"))?.file_name();
        let number: Option<u64> =
            name.to_str().and_then(|n| n.strip_suffix(".jsonl")).and_then(|n| n.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Creates a folder and what is missing above it. Each new name is synced: a folder that a power cut takes away takes
/// every record in it along.
pub(super) fn create_private_dir(dir: &Path) -> Result<(), LedgerError> {
    let missing: Vec<&Path> =
        dir.ancestors().take_while(|above| std::fs::symlink_metadata(above).is_err()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io("folder", "created"))?;
    for above in missing.iter().filter_map(|created| created.parent()) {
        sync_dir(if above.as_os_str().is_empty() { Path::new(".") } else { above })?;
    }
    let mode = std::fs::symlink_metadata(dir).map_err(io("folder", "read"))?.permissions().mode();
    if mode & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
            .map_err(io("folder", "closed"))?;
    }
    Ok(())
}

pub(super) fn open_private(path: &Path, what: &'static str) -> Result<File, LedgerError> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits();
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.cast_signed())
        .open(path)
        .map_err(io(what, "opened"))
}

/// Reads a small private file, never through a symbolic link.
pub(crate) fn read_private(path: &Path) -> std::io::Result<String> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text)?;
    Ok(text)
}

/// Everything in `file` from `offset` on.
pub(crate) fn read_to_end(file: &File, offset: u64) -> Result<Vec<u8>, LedgerError> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match file.read_at(&mut chunk, offset + bytes.len() as u64) {
            Ok(0) => return Ok(bytes),
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io("file", "read")(error)),
        }
    }
}

/// Whether an open file is what is there by its name.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    let there = std::fs::symlink_metadata(path).map(identity);
    there.is_ok_and(|there| file.metadata().is_ok_and(|own| identity(own) == there))
}

pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    file.write_all_at(bytes, offset)
}

pub(super) fn sync_dir(dir: &Path) -> Result<(), LedgerError> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(io("folder", "synced"))
}

/// Whether anything was recorded in `dir`. Keys alone are what a process leaves that is killed while it begins a ledger: the
/// head is written after them, and the first segment after the head.
pub(super) fn has_records(dir: &Path) -> Result<bool, LedgerError> {
    Ok(std::fs::symlink_metadata(dir.join(CHECKPOINTS)).is_ok() || !segment_numbers(dir)?.is_empty())
}

/// Puts a prepared key in the place of the current one.
pub(super) fn promote_key(dir: &Path, from: &'static str, to: &'static str) -> Result<(), LedgerError> {
    std::fs::rename(dir.join(from), dir.join(to)).map_err(io(to, "put in place"))?;
    sync_dir(dir)
}

/// The first ratchet key, as an operator keeps it.
#[derive(Clone)]
pub struct KeyFile(pub(crate) RatchetKey);

impl KeyFile {
    /// Reads the key from the file that the ledger began with.
    pub fn read(path: &Path) -> Result<Self, LedgerError> {
        read_private(path)
            .ok()
            .and_then(|text| text.trim_end().parse::<Digest>().ok())
            .map(|digest| Self(RatchetKey::from_bytes(*digest.as_bytes())))
            .ok_or(LedgerError::DamagedKey("initial key"))
    }
}

/// Makes the keys and the first head.
pub(super) fn begin(dir: &Path, head_file: &mut HeadFile) -> Result<(), LedgerError> {
    let mut random = [[0; 32]; 3];
    for bytes in &mut random {
        getrandom::fill(bytes).map_err(|_| LedgerError::Randomness)?;
    }
    let [signing, tag, id] = random;
    let first = RatchetKey::random().map_err(|_| LedgerError::Randomness)?;
    replace_key(dir, "signing.key", &signing)?;
    replace_key(dir, "tag.key", &tag)?;
    replace_key(dir, INITIAL_KEY, first.as_bytes())?;
    let ledger = Digest::from_bytes(id).short(32);
    head_file.write(&mut Head::first(ledger, first))?;
    head_file.sync()?;
    sync_dir(dir)
}

/// Writes a key as hexadecimal text, atomically.
pub(super) fn replace_key(dir: &Path, name: &'static str, key: &[u8; 32]) -> Result<(), LedgerError> {
    let fresh = dir.join(format!("{name}.new"));
    let file = open_private(&fresh, name)?;
    file.set_len(0).map_err(io(name, "written"))?;
    let text = format!("{}\n", Digest::from_bytes(*key));
    file.write_all_at(text.as_bytes(), 0).and_then(|()| file.sync_all()).map_err(io(name, "written"))?;
    std::fs::rename(&fresh, dir.join(name)).map_err(io(name, "put in place"))?;
    sync_dir(dir)
}

pub(super) fn read_key(dir: &Path, name: &'static str) -> Result<[u8; 32], LedgerError> {
    use std::io::ErrorKind::{InvalidData, NotFound, PermissionDenied};
    match read_private(&dir.join(name)) {
        Ok(text) => text
            .trim_end()
            .parse::<Digest>()
            .map(|digest| *digest.as_bytes())
            .map_err(|_| LedgerError::DamagedKey(name)),
        Err(error) if matches!(error.kind(), NotFound | InvalidData | PermissionDenied) => {
            Err(LedgerError::DamagedKey(name))
        }
        // The key is fine for all that is known: the system has run out of something.
        Err(error) => Err(io("key", "read")(error)),
    }
}

/// Keeps torn bytes where a person can look at them.
pub(super) fn quarantine(dir: &Path, torn: &[u8]) -> Result<(), LedgerError> {
    let folder = dir.join("quarantine");
    create_private_dir(&folder)?;
    let file = open_private(&folder.join(Digest::of(torn).short(16)), "quarantine")?;
    file.write_all_at(torn, 0).and_then(|()| file.sync_all()).map_err(io("quarantine", "written"))
}

/// One line of `checkpoints.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    size: u64,
    note: &'a str,
}

pub(super) fn append_checkpoint(
    dir: &Path,
    checkpoint: &Checkpoint,
    key: &SigningKey,
) -> Result<(), LedgerError> {
    let note = checkpoint.sign(key);
    // On a line of its own, whatever an earlier crash left.
    let mut line = vec![b'\n'];
    line.extend(serde_json::to_vec(&Line { size: checkpoint.size, note: &note })?);
    line.push(b'\n');
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits();
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.cast_signed())
        .open(dir.join(CHECKPOINTS))
        .and_then(|mut file| file.write_all(&line))
        .map_err(io("checkpoints", "written"))
}
