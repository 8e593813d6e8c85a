//! What a component keeps: a file in the state folder of the root, its own alone.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use components::limits;
use components::talk::Bytes;
use contract::Fault;

/// What is under each key.
pub type State = BTreeMap<String, Bytes>;

/// Two calls at once keep one after the other.
static KEEPING: Mutex<()> = Mutex::new(());

/// The file.
#[derive(Debug)]
pub struct Kept(PathBuf);

impl Kept {
    /// What is kept in `file`.
    pub const fn new(file: PathBuf) -> Self {
        Self(file)
    }

    /// All of it. What cannot be read is as if nothing had been kept.
    pub fn load(&self) -> State {
        std::fs::read(&self.0).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Keeps `fresh` besides what other calls have kept meanwhile.
    pub fn keep(&self, fresh: &State) -> Result<(), Fault> {
        let _alone = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.load();
        put(&mut all, fresh);
        if size(&all) > limits::STATE_BYTES {
            return Err(Fault::invalid("the plugin keeps more than 1 MB"));
        }
        let bytes = serde_json::to_vec(&all).map_err(|e| Fault::internal(e.to_string()))?;
        write(&self.0, &bytes).map_err(|e| Fault::internal(format!("what the plugin keeps: {e}")))
    }
}

/// Puts values over others; an empty one is none.
pub fn put(all: &mut State, fresh: &State) {
    for (key, value) in fresh {
        if value.0.is_empty() {
            all.remove(key);
        } else {
            all.insert(key.clone(), value.clone());
        }
    }
}

/// How many bytes that are.
pub fn size(state: &State) -> usize {
    state.iter().map(|(key, value)| key.len() + value.0.len()).sum()
}

/// Writes a file whole or not at all, for this user alone.
pub fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    fresh.write_all(bytes)?;
    fresh.persist(file).map(drop).map_err(|e| e.error)
}
