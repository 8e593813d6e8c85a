//! Where plans, their bytes, journals and receipts are kept: outside every root, 0700, one folder per root.
//!
//! ```text
//! lock           held while anything is applied, undone or recovered in the root
//! ledger/        the audit crate's
//! blobs/ab/…     bytes by digest: planned content and pre-images, unredacted, 0600, expiring
//! plans/         rehearsed plans by id, and what a person said when asked about one
//! handles/       what cursors and the like stand for; they expire
//! journal/       applies under way: TX.json prepared, TX.done committed
//! applied/       what each applied plan did, by transcript id: what undo works from
//! outputs/ab/…   what runs said, compressed, by digest, without secrets; it expires
//! caches/        what programs keep for themselves between runs, by the cache's name
//! scratch/       private copies of the root that programs work over; each goes with its call
//! salvage/       bytes of others that an apply displaced and could not put back
//! ```

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use contract::{Code, Digest, Fault, Plan, PlanFile, PlanId, Principal, TranscriptId};
use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FlockOperation, OFlags};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::apply::Applied;
use crate::draft::Proposal;
use crate::root::Root;
use crate::scratch::{self, Scratch};
use crate::workshop;

/// How long a rehearsed plan can be applied.
pub const PLAN_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// What a person said when asked about a plan, other than yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// No.
    No,
    /// Nothing: nobody answered.
    Nothing,
}

impl Said {
    const fn word(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Nothing => "nothing",
        }
    }
}

/// The folder of one root's state.
#[derive(Debug, Clone)]
pub struct StateDir {
    dir: PathBuf,
}

/// Something about our own files went wrong: never the caller's fault.
pub(crate) fn broken(what: &str, error: &std::io::Error) -> Fault {
    Fault::new(Code::FilesystemError, format!("gatewright's {what} could not be used: {}", error.kind()))
        .suggest(
            "Check that the state folder is writable and its disk has room; `gatewright doctor` names it.",
        )
}

impl StateDir {
    /// The base for all roots: `$XDG_STATE_HOME/gatewright`, else `~/.local/state/gatewright`.
    pub fn base() -> Result<PathBuf, Fault> {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
            .map(|state| state.join("gatewright"))
            .ok_or_else(|| {
                Fault::new(
                    Code::FilesystemError,
                    "neither XDG_STATE_HOME nor HOME names a folder for the state",
                )
                .suggest("Set XDG_STATE_HOME to an absolute path.")
            })
    }

    /// Whether there is state of `root` below `base`: something was done in it, or begun.
    #[must_use]
    pub fn is_there(base: &Path, root: &Root) -> bool {
        base.join(root.id()).is_dir()
    }

    /// Opens, and creates where needed, the state of `root` below `base`.
    pub fn for_root(base: &Path, root: &Root) -> Result<Self, Fault> {
        Self::at(base.join(root.id()))
    }

    /// Opens, and creates where needed, the state folder `dir`.
    pub fn at(dir: PathBuf) -> Result<Self, Fault> {
        create_durably(&dir).map_err(|e| broken("state folder", &e))?;
        let mut created = false;
        for part in ["blobs", "plans", "journal", "applied", "salvage", "scratch", "handles"] {
            match DirBuilder::new().mode(0o700).create(dir.join(part)) {
                Ok(()) => created = true,
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(broken("state folder", &e)),
            }
        }
        if created {
            sync_path(&dir).map_err(|e| broken("state folder", &e))?;
        }
        Ok(Self { dir })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// An empty folder, for tools that look at nothing, and over which the roots of runs are put together.
    pub fn nowhere(&self) -> Result<PathBuf, Fault> {
        let place = self.dir.join("nowhere");
        DirBuilder::new()
            .recursive(true)
            .mode(0o500)
            .create(&place)
            .map_err(|e| broken("state folder", &e))?;
        Ok(place)
    }

    /// Where the ledger is.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.dir.join("ledger")
    }

    /// Takes the root's lock; it is released when the value is dropped, or when the process dies.
    pub fn lock(&self) -> Result<RootLock, Fault> {
        self.locked(FlockOperation::LockExclusive)?
            .ok_or_else(|| Fault::internal("a lock was not waited for"))
    }

    /// The same, unless somebody has it.
    fn lock_if_free(&self) -> Result<Option<RootLock>, Fault> {
        self.locked(FlockOperation::NonBlockingLockExclusive)
    }

    fn locked(&self, how: FlockOperation) -> Result<Option<RootLock>, Fault> {
        let file = open_private(&self.dir.join("lock")).map_err(|e| broken("lock", &e))?;
        loop {
            match rustix::fs::flock(&file, how) {
                Ok(()) => return Ok(Some(RootLock { _file: file })),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(broken("lock", &error.into())),
            }
        }
    }

    fn blob_path(&self, digest: &Digest) -> PathBuf {
        let hex = digest.to_string();
        self.dir.join("blobs").join(&hex[..2]).join(&hex[2..])
    }

    /// Keeps `bytes` under their digest.
    pub fn put_blob(&self, digest: &Digest, bytes: &[u8], durable: Durable) -> Result<(), Fault> {
        let path = self.blob_path(digest);
        if self.blob(digest).is_ok() {
            // It is needed anew: its time to expire begins again.
            let touched = File::open(&path).and_then(|file| {
                file.set_modified(std::time::SystemTime::now())?;
                // It may have been kept as what could be lost.
                if durable == Durable::Yes {
                    file.sync_all()
                        .and_then(|()| sync_above(&path))
                        .and_then(|()| sync_path(&self.dir.join("blobs")))
                } else {
                    Ok(())
                }
            });
            return touched.map_err(|e| broken("blob store", &e));
        }
        let parent = path.parent().unwrap_or(&self.dir);
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(|e| broken("blob store", &e))?;
        write_atomically(&path, bytes, durable)
            .and_then(|()| if durable == Durable::Yes { sync_path(&self.dir.join("blobs")) } else { Ok(()) })
            .map_err(|e| broken("blob store", &e))
    }

    /// Fails when no bytes are kept under `digest`, without reading them.
    pub(crate) fn expect_blob(&self, digest: &Digest) -> Result<(), Fault> {
        if std::fs::symlink_metadata(self.blob_path(digest)).is_ok_and(|m| m.is_file()) {
            return Ok(());
        }
        Err(expired())
    }

    /// Bytes that were kept, checked against their digest.
    pub fn blob(&self, digest: &Digest) -> Result<Vec<u8>, Fault> {
        let bytes = read_private(&self.blob_path(digest)).map_err(|_| expired())?;
        if Digest::of(&bytes) == *digest { Ok(bytes) } else { Err(expired()) }
    }

    /// Keeps a rehearsed plan with its bytes and the answer that goes with it. A power cut may lose it: then there is
    /// no such plan, and whoever wanted it rehearses again. What an apply needs afterwards is made durable by the apply.
    pub fn keep_plan(&self, proposal: &Proposal, answer: serde_json::Value) -> Result<PlanId, Fault> {
        let id = proposal.plan.id().map_err(|e| Fault::internal(e.to_string()))?;
        for (digest, bytes) in &proposal.blobs {
            self.put_blob(digest, bytes, Durable::No)?;
        }
        let now = Timestamp::now();
        let expires = now.checked_add(PLAN_LIFETIME).map_err(|e| Fault::internal(e.to_string()))?;
        let file = PlanFile {
            plan: proposal.plan.clone(),
            planned: format!("{now:.3}"),
            expires: format!("{expires:.3}"),
            answer,
        };
        let bytes = serde_json::to_vec(&file).map_err(|e| Fault::internal(e.to_string()))?;
        write_atomically(&self.plan_path(&id), &bytes, Durable::No).map_err(|e| broken("plan", &e))?;
        Ok(id)
    }

    /// A rehearsed plan of `principal`. One that expired or belongs to someone else does not exist.
    pub fn plan(&self, id: &PlanId, principal: &Principal) -> Result<PlanFile, Fault> {
        let unknown = || {
            Fault::new(
                Code::NotFound,
                format!("there is no plan {id} that can be applied: it expired, or never was"),
            )
            .suggest("Rehearse again: call the tool without `plan` and pass the new plan id.")
        };
        let file: PlanFile = Self::read_json(&self.plan_path(id)).ok_or_else(unknown)?;
        let expired = file.expires.parse::<Timestamp>().map_or(true, |at| at < Timestamp::now());
        let tampered = file.plan.id().ok() != Some(*id);
        if expired || tampered || file.plan.owner != principal.key() {
            return Err(unknown());
        }
        Ok(file)
    }

    /// Keeps what a person said when asked about a plan of `principal`; it lasts as long as a plan does, also when the same
    /// plan is rehearsed again. Of a plan that does not exist nothing is kept.
    pub fn keep_answer(&self, id: &PlanId, principal: &Principal, said: Said) -> Result<(), Fault> {
        self.plan(id, principal)?;
        write_atomically(&self.answer_path(id), said.word().as_bytes(), Durable::No)
            .map_err(|e| broken("answer", &e))
    }

    /// What a person said when asked about the plan.
    #[must_use]
    pub fn answer(&self, id: &PlanId) -> Option<Said> {
        let word = read_private(&self.answer_path(id)).ok()?;
        [Said::No, Said::Nothing].into_iter().find(|said| said.word().as_bytes() == word)
    }

    fn answer_path(&self, id: &PlanId) -> PathBuf {
        self.dir.join("plans").join(format!("{id}.answer"))
    }

    /// The plans that `principal` could apply, the newest first, at most `most`.
    #[must_use]
    pub fn plans(&self, principal: &Principal, most: usize) -> Vec<(PlanId, PlanFile)> {
        let listed = std::fs::read_dir(self.dir.join("plans")).into_iter().flatten().flatten();
        let ids = listed
            .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json")?.parse::<PlanId>().ok());
        let mut own: Vec<(PlanId, PlanFile)> =
            ids.filter_map(|id| self.plan(&id, principal).ok().map(|file| (id, file))).collect();
        own.sort_by(|a, b| b.1.planned.cmp(&a.1.planned));
        own.truncate(most);
        own
    }

    /// The plan that `name` means: its id, or the beginning of one.
    pub fn plan_named(&self, name: &str) -> Result<PlanId, Fault> {
        let listed = std::fs::read_dir(self.dir.join("plans")).into_iter().flatten().flatten();
        let ids = listed
            .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json")?.parse::<PlanId>().ok());
        let begins = |id: &PlanId| id.to_string().starts_with(name);
        let mut found: Vec<PlanId> = ids.filter(begins).collect();
        match (found.pop(), found.len()) {
            (Some(one), 0) => Ok(one),
            (None, _) => Err(Fault::new(
                Code::NotFound,
                format!("there is no plan {name:?}: it expired, or never was"),
            )
            .suggest("Rehearse again: call the tool without `plan` and pass the new plan id.")),
            (Some(_), more) => Err(Fault::invalid(format!("{} plans begin with {name:?}", more + 1))
                .suggest("Give more of the id.")),
        }
    }

    fn plan_path(&self, id: &PlanId) -> PathBuf {
        self.dir.join("plans").join(format!("{id}.json"))
    }

    /// What the call with this transcript applied.
    pub fn applied(&self, transcript: &TranscriptId) -> Result<Applied, Fault> {
        Self::read_json(&self.applied_path(transcript)).ok_or_else(|| {
            Fault::new(
                Code::NotFound,
                format!("the call {transcript} applied nothing that can be undone here"),
            )
            .suggest("`gatewright audit tail` lists the calls; only applied ones can be undone.")
        })
    }

    /// Whether this very plan was applied, and the other side took its request.
    pub(crate) fn was_sent(&self, plan: &Plan) -> Result<bool, Fault> {
        let id = plan.id().map_err(|e| Fault::internal(e.to_string()))?;
        let Ok(entries) = std::fs::read_dir(self.dir.join("applied")) else { return Ok(false) };
        // What can be applied is younger than that.
        let young = |entry: &std::fs::DirEntry| {
            let age =
                entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
            age.is_none_or(|age| age <= PLAN_LIFETIME.unsigned_abs())
        };
        Ok(entries.flatten().filter(young).any(|entry| {
            Self::read_json::<Applied>(&entry.path()).is_some_and(|applied| {
                applied.receipt.plan == id && applied.request.is_some_and(|outcome| outcome.is_success())
            })
        }))
    }

    pub(crate) fn applied_path(&self, transcript: &TranscriptId) -> PathBuf {
        self.dir.join("applied").join(format!("{transcript}.json"))
    }

    pub(crate) fn journal_dir(&self) -> PathBuf {
        self.dir.join("journal")
    }

    /// Keeps displaced bytes of others where a person finds them; returns the file's name.
    pub(crate) fn salvage(&self, bytes: &[u8]) -> Result<String, Fault> {
        let name = Digest::of(bytes).short(16);
        write_atomically(&self.dir.join("salvage").join(&name), bytes, Durable::Yes)
            .map_err(|e| broken("salvage", &e))?;
        Ok(name)
    }

    /// A fresh folder for one call's private copy of the root.
    pub(crate) fn scratch(&self) -> Result<Scratch, Fault> {
        let id = TranscriptId::random().map_err(|e| Fault::internal(e.to_string()))?;
        let place = self.dir.join("scratch").join(id.as_str());
        Scratch::make(place).map_err(|e| broken("scratch folder", &e))
    }

    /// The folder of the cache called `name`: what programs keep for themselves between runs.
    pub(crate) fn cache(&self, name: &str) -> Result<PathBuf, Fault> {
        let place = self.dir.join("caches").join(name);
        DirBuilder::new().recursive(true).mode(0o700).create(&place).map_err(|e| broken("cache", &e))?;
        Ok(place)
    }

    /// The folder that holds the state of all roots, where this one's lies in it.
    pub(crate) fn of_all(&self) -> &Path {
        self.dir
            .parent()
            .filter(|above| above.file_name().is_some_and(|n| n == "gatewright"))
            .unwrap_or(&self.dir)
    }

    pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Fault> {
        let bytes = serde_json::to_vec(value).map_err(|e| Fault::internal(e.to_string()))?;
        write_atomically(path, &bytes, Durable::Yes).map_err(|e| broken("state", &e))
    }

    pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
        serde_json::from_slice(&read_private(path).ok()?).ok()
    }

    /// Removes plans, receipts and bytes that have expired: plans after [`PLAN_LIFETIME`], the rest after `keep`, which no plan outlives;
    /// and what processes that were killed left of their runs, here and beside `root`, where there is one. While somebody applies, what
    /// has expired stays until the next time.
    pub fn expire(&self, root: Option<&Root>, keep: SignedDuration) -> Result<u64, Fault> {
        let mut removed = scratch::sweep(&self.dir.join("scratch")) + root.map_or(0, workshop::sweep);
        let Some(_lock) = self.lock_if_free()? else { return Ok(removed) };
        let (now, keep) = (Timestamp::now(), keep.max(PLAN_LIFETIME));
        let older = |path: &Path, age: SignedDuration| {
            let modified = std::fs::symlink_metadata(path).and_then(|m| m.modified()).ok();
            modified.and_then(|t| Timestamp::try_from(t).ok()).is_some_and(|t| now.duration_since(t) > age)
        };
        let mut sweep = |dir: PathBuf, age: SignedDuration| {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                if older(&entry.path(), age) && std::fs::remove_file(entry.path()).is_ok() {
                    removed += 1;
                }
            }
        };
        sweep(self.dir.join("plans"), PLAN_LIFETIME);
        sweep(self.dir.join("handles"), PLAN_LIFETIME);
        sweep(self.dir.join("outputs"), PLAN_LIFETIME);
        for entry in std::fs::read_dir(self.dir.join("outputs")).into_iter().flatten().flatten() {
            sweep(entry.path(), PLAN_LIFETIME);
        }
        sweep(self.dir.join("applied"), keep);
        for entry in std::fs::read_dir(self.dir.join("blobs")).into_iter().flatten().flatten() {
            sweep(entry.path(), keep);
        }
        Ok(removed)
    }
}

/// The per-root lock.
#[derive(Debug)]
pub struct RootLock {
    _file: File,
}

pub(crate) fn open_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

fn read_private(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed())
        .open(path)?
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn sync_path(dir: &Path) -> std::io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Creates a folder and what is missing above it, each name synced: what is kept below must not go with it.
fn create_durably(dir: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> =
        dir.ancestors().take_while(|above| std::fs::symlink_metadata(above).is_err()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    missing
        .iter()
        .filter_map(|created| created.parent())
        .filter(|p| !p.as_os_str().is_empty())
        .try_for_each(sync_path)
}

/// Removes a tree, however deep, folders without permission to write among them: what programs leave is like that. Every
/// folder is brought up to the top before it is looked into, so that no path grows and nothing recurs.
pub(crate) fn remove_tree(top: &Path) -> std::io::Result<()> {
    let open = |dir: &Path| std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700));
    open(top)?;
    let (mut folders, mut number) = (vec![top.to_owned()], 0_u64);
    let mut emptied = Vec::new();
    while let Some(dir) = folders.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                std::fs::remove_file(entry.path())?;
                continue;
            }
            // Moving a folder writes to it: its way up is another.
            open(&entry.path())?;
            let up = loop {
                let up = top.join(format!(".remove-{number}"));
                number += 1;
                if std::fs::symlink_metadata(&up).is_err() {
                    break up;
                }
            };
            if dir == *top && entry.file_name().to_string_lossy().starts_with(".remove-") {
                folders.push(entry.path());
            } else {
                std::fs::rename(entry.path(), &up)?;
                folders.push(up);
            }
        }
        if dir != *top {
            emptied.push(dir);
        }
    }
    emptied.iter().try_for_each(std::fs::remove_dir)?;
    std::fs::remove_dir(top)
}

fn sync_above(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), sync_path)
}

/// Whether a power cut may lose what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// It is on the disk before the call returns.
    Yes,
    /// It may be lost: whoever reads it checks it.
    No,
}

fn expired() -> Fault {
    Fault::new(Code::NotFound, "bytes that the plan needs have expired")
        .suggest("Rehearse again: call the tool without `plan`.")
}

/// Write beside, rename: the file is there whole, or as it was. Durable, both steps are synced.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8], durable: Durable) -> std::io::Result<()> {
    let parent = path.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce).map_err(|_| std::io::ErrorKind::Other)?;
    let beside = parent.join(format!(".{}.new", u64::from_le_bytes(nonce)));
    let written =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).and_then(|mut file| {
            file.write_all(bytes)?;
            if durable == Durable::Yes { file.sync_all() } else { Ok(()) }
        });
    if let Err(error) = written.and_then(|()| std::fs::rename(&beside, path)) {
        let _ = std::fs::remove_file(&beside);
        return Err(error);
    }
    if durable == Durable::Yes { sync_path(parent) } else { Ok(()) }
}
