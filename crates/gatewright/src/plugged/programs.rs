//! Which programs those are: each by its place and the digest of its bytes, so that another binary is another plugin.

//!
//! A digest is taken once for what a file is on disk, and kept in gatewright's own state: every start, also of a command, would read all
//! programs otherwise. Whoever changes a file's bytes changes the time of its change, which nobody but the kernel sets; where that is too
//! young to tell two changes apart, nothing is kept.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use contract::Digest;
use exec::StateDir;
use exec::run::{find, trusted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::approved;

/// Largest program that is read.
const MAX_PROGRAM: u64 = 1 << 30;

/// Most programs of which digests are kept.
const MOST: usize = 256;

/// Largest file of digests.
const MAX_KEPT: u64 = 1 << 20;

/// A change younger than this may be followed by another of the same time: file systems count in ticks.
const SETTLED: i64 = 2;

/// What a file was when its digest was taken: whoever changes its bytes changes one of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Seen {
    path: PathBuf,
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A program's digest, as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    seen: Seen,
    sha256: Digest,
}

/// Digests that were taken, once those of earlier processes were read.
static KNOWN: Mutex<Option<BTreeMap<Seen, Digest>>> = Mutex::new(None);

fn kept_in() -> Option<PathBuf> {
    StateDir::base().ok().map(|base| base.join("programs.json"))
}

/// What earlier processes kept: nothing where it cannot be read, is not ours alone, or is no such file.
fn read() -> BTreeMap<Seen, Digest> {
    let read = || -> Option<Vec<Kept>> {
        let file = kept_in()?;
        approved::refuse_link(&file).ok()?;
        let there = std::fs::metadata(&file).ok()?;
        let is_ours = there.uid() == rustix::process::getuid().as_raw() && there.mode() & 0o022 == 0;
        if !is_ours || there.len() > MAX_KEPT {
            return None;
        }
        serde_json::from_slice(&std::fs::read(&file).ok()?).ok()
    };
    read().unwrap_or_default().into_iter().map(|kept| (kept.seen, kept.sha256)).collect()
}

/// Keeps them for other processes. That it cannot be done costs time and nothing else.
fn keep(known: &BTreeMap<Seen, Digest>) {
    let Some(file) = kept_in() else { return };
    let all: Vec<Kept> = known
        .iter()
        .filter(|(seen, _)| Seen::of(&seen.path).is_ok_and(|now| now == **seen))
        .take(MOST)
        .map(|(seen, sha256)| Kept { seen: seen.clone(), sha256: *sha256 })
        .collect();
    let Ok(text) = serde_json::to_string(&all) else { return };
    // The folder is made by whoever keeps records: before that there is nothing to save.
    if file.parent().is_some_and(Path::is_dir)
        && let Err(fault) = approved::write(&file, &text, 0o600)
    {
        tracing::debug!("digests of programs are not kept: {}", fault.message);
    }
}

impl Seen {
    fn of(file: &Path) -> std::io::Result<Self> {
        let there = std::fs::metadata(file)?;
        Ok(Self {
            path: file.to_owned(),
            device: there.dev(),
            inode: there.ino(),
            size: there.len(),
            modified: (there.mtime(), there.mtime_nsec()),
            changed: (there.ctime(), there.ctime_nsec()),
        })
    }

    /// Whether a later change would have another time.
    fn is_settled(&self) -> bool {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| i64::try_from(since.as_secs()).ok());
        now.is_some_and(|now| self.changed.0.saturating_add(SETTLED) < now)
    }
}

/// Where programs are looked for that a plugin in `root` needs.
fn path_of(programs: &[impl AsRef<str>], root: &Path) -> Vec<PathBuf> {
    // Most folders have none of them, and need not be looked at further.
    let has_one = |dir: &PathBuf| programs.iter().any(|program| dir.join(program.as_ref()).exists());
    let folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).filter(has_one).collect())
        .unwrap_or_default();
    trusted(&folders, root)
}

/// No root lies here.
const NOWHERE: &str = "/nonexistent";

/// Which of a plugin's programs is missing.
pub fn missing(programs: &[&str], root: Option<&Path>) -> Option<String> {
    let root = root.unwrap_or(Path::new(NOWHERE));
    let path = path_of(programs, root);
    programs.iter().find_map(|program| find(program, &path, root).err()).map(|fault| fault.message)
}

/// Programs of a plugin, where they are now; or which is missing.
pub fn identities(programs: &[String], root: Option<&Path>) -> Result<BTreeMap<String, Value>, String> {
    let root = root.unwrap_or(Path::new(NOWHERE));
    let path = path_of(programs, root);
    let mut all = BTreeMap::new();
    for program in programs {
        let place = find(program, &path, root).map_err(|fault| fault.message)?;
        let real = std::fs::canonicalize(&place).map_err(|e| format!("{program}: {e}"))?;
        let digest = digest(&real).map_err(|e| format!("{program}: {e}"))?;
        all.insert(program.clone(), json!({ "path": real.display().to_string(), "sha256": digest }));
    }
    Ok(all)
}

fn digest(file: &Path) -> std::io::Result<Digest> {
    let seen = Seen::of(file)?;
    if seen.size > MAX_PROGRAM {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let known =
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(read).get(&seen).copied();
    if let Some(digest) = known {
        return Ok(digest);
    }
    let digest = Digest::of(&std::fs::read(file)?);
    // What changed while it was read has a digest of neither.
    if seen.is_settled() && Seen::of(file)? == seen {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_with(read);
        known.insert(seen, digest);
        keep(known);
    }
    Ok(digest)
}
