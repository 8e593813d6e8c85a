//! Which programs those are: each by its place and the digest of its bytes, so that another binary is another plugin.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use contract::Digest;
use exec::run::{find, trusted};
use serde_json::{Value, json};

/// Largest program that is read.
const MAX_PROGRAM: u64 = 1 << 30;

/// What a file was when its digest was taken: whoever changes its bytes changes one of these.
type Seen = (PathBuf, u64, u64, i64, i64, u64);

/// Digests that were taken. A program is many megabytes, and asked about before every call.
static KNOWN: Mutex<BTreeMap<Seen, Digest>> = Mutex::new(BTreeMap::new());

/// Programs of a plugin, where they are now; or which is missing.
pub fn identities(programs: &[String], root: Option<&Path>) -> Result<BTreeMap<String, Value>, String> {
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let nowhere = Path::new("/nonexistent");
    let root = root.unwrap_or(nowhere);
    let path = trusted(&folders, root);
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
    let there = std::fs::metadata(file)?;
    if there.len() > MAX_PROGRAM {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let seen = (file.to_owned(), there.ino(), there.len(), there.ctime(), there.ctime_nsec(), there.dev());
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&seen).copied();
    if let Some(digest) = known {
        return Ok(digest);
    }
    let digest = Digest::of(&std::fs::read(file)?);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(seen, digest);
    Ok(digest)
}
