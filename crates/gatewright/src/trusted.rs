//! What a person trusts of what a repository asks for: sections that only a person may say, and plugins. Each is in force
//! while it is, to the byte, what was accepted; the word for it is kept outside of every repository.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use contract::{Code, Digest, Fault, canonical};
use exec::{Rights, Root, StateDir};
use kit::lock;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approved;

/// Largest file of what is trusted.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The file's version.
const VERSION: u32 = 1;

/// What a repository asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// `section` or `plugin`.
    pub kind: &'static str,
    /// The section's or the plugin's name.
    pub name: String,
    /// What it says, whole.
    pub value: Value,
}

impl Item {
    /// As it is named on the command line.
    pub fn id(&self) -> String {
        format!("{}:{}", self.kind, self.name)
    }

    /// What trust is bound to.
    pub fn hash(&self) -> Digest {
        Digest::of(&canonical::of(&self.value))
    }
}

/// Whether an item is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is as it was accepted.
    Trusted,
    /// Nobody has accepted it.
    Inert,
    /// It differs from what was accepted: how.
    Changed(Vec<String>),
}

/// One item as it was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    hash: Digest,
    value: Value,
}

/// What a person accepted of one root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OfRoot {
    accepted: BTreeMap<String, Accepted>,
    /// What was last shown: only that can be accepted.
    seen: BTreeMap<String, Digest>,
}

impl OfRoot {
    /// Whether `item` is in force.
    pub fn standing(&self, item: &Item) -> Standing {
        match self.accepted.get(&item.id()) {
            None => Standing::Inert,
            Some(accepted) if accepted.hash == item.hash() => Standing::Trusted,
            Some(accepted) => {
                let changes = lock::changes(&accepted.value, &item.value);
                Standing::Changed(changes.iter().map(ToString::to_string).collect())
            }
        }
    }

    /// Notes that a person was shown `item` as it is.
    pub fn show(&mut self, item: &Item) {
        self.seen.insert(item.id(), item.hash());
    }

    /// Whether a person was shown `item` as it is.
    pub fn was_shown(&self, item: &Item) -> bool {
        self.seen.get(&item.id()) == Some(&item.hash())
    }

    /// Accepts `item` as it is.
    pub fn accept(&mut self, item: &Item) {
        self.accepted.insert(item.id(), Accepted { hash: item.hash(), value: item.value.clone() });
    }

    /// Takes the word back. Whether it was given.
    pub fn revoke(&mut self, id: &str) -> bool {
        self.seen.remove(id);
        self.accepted.remove(id).is_some()
    }

    /// What was accepted, by name.
    pub fn accepted(&self) -> impl Iterator<Item = &str> {
        self.accepted.keys().map(String::as_str)
    }
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    /// By the root's id, which its place decides.
    roots: BTreeMap<String, OfRoot>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { version: VERSION, roots: BTreeMap::new() }
    }
}

/// Where it is kept.
pub fn file() -> Result<PathBuf, Fault> {
    Ok(StateDir::base()?.join("trusted.json"))
}

fn read() -> Result<Kept, Fault> {
    let file = file()?;
    approved::refuse_link(&file)?;
    let invalid = |why: String| {
        Fault::invalid(format!("trusted.json: {why}"))
            .suggest("Move the file away, and accept anew: `gatewright trust`.")
    };
    match std::fs::metadata(&file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Kept::default()),
        Ok(there) if there.len() > MAX_FILE => return Err(invalid(format!("more than {MAX_FILE} bytes"))),
        _ => {}
    }
    let bytes = std::fs::read(&file).map_err(|e| invalid(e.to_string()))?;
    canonical::parse_strict(&bytes).map_err(|e| invalid(e.to_string()))?;
    let kept: Kept = serde_json::from_slice(&bytes).map_err(|e| invalid(e.to_string()))?;
    if kept.version != VERSION {
        return Err(invalid(format!("it has version {}, this gatewright reads {VERSION}", kept.version)));
    }
    let all = kept.roots.values().flat_map(|root| &root.accepted);
    for (id, accepted) in all {
        if Digest::of(&canonical::of(&accepted.value)) != accepted.hash {
            return Err(invalid(format!("{id} does not have the hash that stands beside it")));
        }
    }
    Ok(kept)
}

/// What is trusted of the root at this place. What cannot be read trusts nothing, and that is said.
pub fn of(root: &Path) -> OfRoot {
    let known = || -> Result<OfRoot, Fault> {
        let root = Root::open(root, "root", Rights::Read)?;
        Ok(read()?.roots.remove(root.id()).unwrap_or_default())
    };
    known().unwrap_or_else(|fault| {
        tracing::warn!("{}: nothing of the repository is trusted", fault.message);
        OfRoot::default()
    })
}

/// The file, while nobody else changes it.
pub struct Own {
    /// What is known of the root.
    pub here: OfRoot,
    id: String,
    kept: Kept,
    _held: File,
}

impl Own {
    /// Waits for whoever changes it, and reads it.
    pub fn open(root: &Root) -> Result<Self, Fault> {
        let folder = StateDir::base()?;
        let failed = |e: std::io::Error| {
            Fault::new(Code::FilesystemError, format!("the state folder cannot be used: {e}"))
                .suggest("Check its permissions, and that the disk is not full.")
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let held = options.open(folder.join("trusted.held")).map_err(failed)?;
        flock(&held, FlockOperation::LockExclusive).map_err(|e| failed(e.into()))?;
        let mut kept = read()?;
        let here = kept.roots.remove(root.id()).unwrap_or_default();
        Ok(Self { here, id: root.id().to_owned(), kept, _held: held })
    }

    /// Writes it.
    pub fn write(mut self) -> Result<(), Fault> {
        self.kept.roots.insert(self.id, self.here);
        let text = serde_json::to_string_pretty(&self.kept).map_err(|e| Fault::internal(e.to_string()))?;
        approved::write(&file()?, &text, 0o600)
    }
}

/// `above` laid over `below`: tables are merged, lists joined, and of anything else `above` is what counts.
pub fn joined(below: &Value, above: &Value) -> Value {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            let mut all = below.clone();
            for (key, value) in above {
                let merged = all.get(key).map_or_else(|| value.clone(), |there| joined(there, value));
                all.insert(key.clone(), merged);
            }
            Value::Object(all)
        }
        (Value::Array(below), Value::Array(above)) => {
            let mut all = above.clone();
            all.extend(below.iter().filter(|item| !above.contains(item)).cloned());
            Value::Array(all)
        }
        (_, above) => above.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(value: Value) -> Item {
        Item { kind: "section", name: "egress".into(), value }
    }

    #[test]
    fn what_differs_by_anything_is_not_what_was_accepted() {
        let mut here = OfRoot::default();
        let first = item(json!({ "hosts": ["a.example"] }));
        assert_eq!(here.standing(&first), Standing::Inert);
        here.accept(&first);
        assert_eq!(here.standing(&first), Standing::Trusted);
        let Standing::Changed(how) = here.standing(&item(json!({ "hosts": ["b.example"] }))) else {
            panic!()
        };
        assert!(how[0].contains("a.example") && how[0].contains("b.example"), "{how:?}");
        assert!(here.revoke("section:egress") && !here.revoke("section:egress"));
    }

    #[test]
    fn the_users_word_goes_before_the_repositorys_and_lists_are_joined() {
        let project = json!({ "hosts": ["b", "a"], "allow-private": true, "x": { "p": 1 } });
        let user = json!({ "hosts": ["a"], "allow-private": false, "x": { "u": 2 } });
        let both = json!({ "hosts": ["a", "b"], "allow-private": false, "x": { "p": 1, "u": 2 } });
        assert_eq!(joined(&project, &user), both);
    }
}
