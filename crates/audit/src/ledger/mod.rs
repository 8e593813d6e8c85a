//! The append-only files, shared by any number of processes on one machine.
//!
//! ```text
//! lock                 held for every append, by one process at a time
//! head                 where the ledger ends: sizes, hashes, the current ratchet key (two checksummed slots)
//! segments/000001.jsonl  one record per line; the first line of each says what came before
//! checkpoints.jsonl    signed notes
//! signing.key          Ed25519, 0600
//! initial.key          the first ratchet key: an operator takes it away and keeps it for `verify`
//! tag.key              keys the tags that redaction leaves
//! quarantine/          torn bytes that recovery moved aside
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "the sink: the only I/O of this crate, on the ledger's own folder"
)]

mod files;
mod head;
mod held;
mod queue;
mod segments;
mod settle;
mod sync;

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use contract::Digest;
use contract::canonical::Text;
use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};

use crate::chain::RatchetKey;
use crate::checkpoint::{self, Checkpoint};
use crate::merkle::Frontier;
use crate::record::{self, Body, Rekey, Sealed, Segment};

pub(crate) use files::read_to_end;
use files::segment_name;
pub use files::{CHECKPOINTS, HEAD, INITIAL_KEY, KeyFile, SEGMENTS, segment_numbers, segment_path};
pub use head::Head;
use head::HeadFile;
pub(crate) use held::Held;
use queue::Queue;
pub use queue::{Flushed, Lot, Written};
use segments::Segments;
use sync::Syncer;

pub(crate) const LOCK: &str = "lock";
const SIGNING_KEY: &str = "signing.key";
const NEXT_KEY: &str = "signing.key.next";

/// When a segment has grown past this many bytes, the next record begins another.
pub const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// A checkpoint is signed at least every so many records.
const CHECKPOINT_EVERY: u64 = 256;

/// Largest record, in bytes. Callers bound what they put in; this is the last line of defence.
pub const MAX_RECORD: usize = 32 * 1024 * 1024;

/// When a record must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before `append` returns (`fdatasync`).
    Now,
    /// Within 100 ms.
    Soon,
}

/// What a caller keeps to check the ledger against later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The ledger's id.
    pub ledger: String,
    /// The place of the last record that the root covers.
    pub seq: u64,
    /// The Merkle root over records 0 to `seq`.
    pub root: Digest,
}

/// Why the ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file system said no.
    #[error("the ledger's {what} could not be {action}: {source}")]
    Io {
        /// Which file.
        what: &'static str,
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gave no random bytes")]
    Randomness,
    /// `head` is damaged in both its slots.
    #[error("the ledger's head is damaged: move the folder aside and keep it, a new ledger will be begun")]
    DamagedHead,
    /// Another folder is where the ledger was opened, or none: what is done by names would be done to that one.
    #[error(
        "the ledger's folder was moved or replaced while it was in use: start again, and what is there now is used"
    )]
    Replaced,
    /// A key file is damaged or gone.
    #[error("the ledger's {0} is missing or damaged: restore it, or move the folder aside and keep it")]
    DamagedKey(&'static str),
    /// A record could not be encoded.
    #[error("a record could not be encoded: {0}")]
    Encode(#[from] serde_json::Error),
    /// A record would not read back.
    #[error("a record would not read back: {0}")]
    Unreadable(String),
    /// A record is larger than [`MAX_RECORD`].
    #[error("a record of {0} bytes is larger than the ledger takes")]
    TooLarge(usize),
}

/// Gives I/O errors their place.
pub(crate) fn io(what: &'static str, action: &'static str) -> impl FnOnce(std::io::Error) -> LedgerError {
    move |source| LedgerError::Io { what, action, source }
}

/// An open ledger. Cheap to share; appends are serialised, also between processes.
pub struct Ledger {
    dir: PathBuf,
    lock: File,
    tag_key: [u8; 32],
    segment_bytes: u64,
    state: Mutex<State>,
    queue: Queue,
    syncer: Syncer,
}

/// Without the key of tags.
impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("dir", &self.dir).field("queue", &self.queue).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct State {
    head_file: HeadFile,
    segment: Option<(u64, Arc<File>)>,
    segments: Segments,
}

impl Ledger {
    /// Opens the ledger in `dir`, creating it (0700) when there is none, and recovers what a crash left unfinished.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        Self::open_with(dir, SEGMENT_BYTES)
    }

    /// As [`Ledger::open`], with another bound on the size of a segment.
    pub fn open_with(dir: &Path, segment_bytes: u64) -> Result<Self, LedgerError> {
        files::create_private_dir(dir)?;
        files::create_private_dir(&dir.join(SEGMENTS))?;
        let lock = files::open_private(&dir.join(LOCK), "lock")?;
        let held = Held::exclusive(&lock)?;
        let mut head_file = HeadFile::new(files::open_private(&dir.join(HEAD), "head")?);
        if head_file.is_empty()? {
            // A lost head is no reason to begin over what is there: that would destroy it.
            if files::has_records(dir)? {
                return Err(LedgerError::DamagedHead);
            }
            files::begin(dir, &mut head_file)?;
        }
        let tag_key = files::read_key(dir, "tag.key")?;
        drop(held);
        let state = Mutex::new(State { head_file, segment: None, segments: Segments::open(dir)? });
        let dir = dir.to_owned();
        let ledger = Self {
            dir,
            lock,
            tag_key,
            segment_bytes,
            state,
            queue: Queue::default(),
            syncer: Syncer::default(),
        };
        ledger.locked(|ledger, state, head| {
            ledger.settle(state, head)?;
            ledger.settle_key(head)
        })?;
        Ok(ledger)
    }

    /// The key of the tags that redaction leaves in place of secrets.
    #[must_use]
    pub const fn tag_key(&self) -> [u8; 32] {
        self.tag_key
    }

    /// What nobody without this machine's key can make of `text`, for one purpose (RFC 2104). It is the same as long as the key is kept.
    #[must_use]
    pub fn keyed(&self, purpose: &str, text: &[u8]) -> Digest {
        let key = crate::chain::hmac(&self.tag_key, purpose.as_bytes());
        Digest::from_bytes(crate::chain::hmac(&key, text))
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Appends one record and returns the anchor that covers it.
    pub fn append(&self, body: &Body, durability: Durability) -> Result<Anchor, LedgerError> {
        let text = record::text_of(body).map_err(unreadable)?;
        self.locked(|ledger, state, head| {
            ledger.prepare(state, head)?;
            let (mut next, mut line) = (head.clone(), Vec::new());
            next_line(&mut next, text, durability, &mut line)?;
            ledger.put(state, head, next, &line)?;
            if durability == Durability::Now {
                ledger.sync_now(state)?;
            }
            if durability == Durability::Now || head.size.is_multiple_of(CHECKPOINT_EVERY) {
                ledger.sign(&head.checkpoint())?;
            }
            Ok(head.anchor())
        })
    }

    /// The anchor of what is there now; `None` for an empty ledger.
    pub fn anchor(&self) -> Result<Option<Anchor>, LedgerError> {
        self.locked(|_, _, head| Ok((head.size > 0).then(|| head.anchor())))
    }

    /// Begins a new segment now, whatever the size of the current one.
    pub fn rotate(&self) -> Result<(), LedgerError> {
        self.locked(|ledger, state, head| {
            ledger.settle(state, head)?;
            ledger.begin_segment(state, head)?;
            ledger.sign(&head.checkpoint())
        })
    }

    /// Replaces the signing key; the old one signs the new one.
    pub fn rekey(&self) -> Result<(), LedgerError> {
        let mut fresh = [0; 32];
        getrandom::fill(&mut fresh).map_err(|_| LedgerError::Randomness)?;
        let new = SigningKey::from_bytes(&fresh);
        let public_key = checkpoint::encode_key(&new.verifying_key());
        self.locked(|ledger, state, head| {
            ledger.settle(state, head)?;
            let message = checkpoint::rekey_message(&head.ledger, &public_key);
            let signature = checkpoint::sign(&ledger.signing()?, &message);
            // The new key is there before the record names it; whoever opens the ledger next finishes the swap.
            files::replace_key(&ledger.dir, NEXT_KEY, &fresh)?;
            let body = Body::Rekey(Rekey { public_key: public_key.clone(), signature, timestamp: now() });
            ledger.write(state, head, &body)?;
            ledger.sync_now(state)?;
            files::promote_key(&ledger.dir, NEXT_KEY, SIGNING_KEY)
        })
    }

    /// Runs `work` with the lock held and the head as it is on disk now, then writes what came to wait for that.
    fn locked<T>(
        &self,
        work: impl FnOnce(&Self, &mut State, &mut Head) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let done = self.exclusively(work);
        self.flush_left();
        done
    }

    fn exclusively<T>(
        &self,
        work: impl FnOnce(&Self, &mut State, &mut Head) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let _held = Held::exclusive(&self.lock)?;
        self.is_in_place(&state)?;
        let mut head = state.head_file.read()?;
        work(self, &mut state, &mut head)
    }

    fn is_in_place(&self, state: &State) -> Result<(), LedgerError> {
        let is_there = files::is_at(&self.lock, &self.dir.join(LOCK)) && state.segments.is_in(&self.dir);
        if is_there { Ok(()) } else { Err(LedgerError::Replaced) }
    }

    /// Settles what is there, and begins another segment when this one is full.
    fn prepare(&self, state: &mut State, head: &mut Head) -> Result<(), LedgerError> {
        self.settle(state, head)?;
        if head.segment_len >= self.segment_bytes { self.begin_segment(state, head) } else { Ok(()) }
    }

    /// The signing key as it is now: another process may have replaced it.
    fn signing(&self) -> Result<SigningKey, LedgerError> {
        files::read_key(&self.dir, SIGNING_KEY).map(|bytes| SigningKey::from_bytes(&bytes))
    }

    /// The file of the segment that the head names.
    fn segment(&self, state: &mut State, head: &Head) -> Result<Arc<File>, LedgerError> {
        if let Some((open, file)) = &state.segment
            && *open == head.segment
            // A file that was deleted meanwhile would swallow records without a sound.
            && file.metadata().map_err(io("segment", "read"))?.nlink() > 0
        {
            return Ok(Arc::clone(file));
        }
        let path = segment_path(&self.dir, head.segment);
        // The name of one that has records was synced before the first of them was written.
        let is_new = head.segment_len == 0 || std::fs::symlink_metadata(&path).is_err();
        let file = Arc::new(files::open_private(&path, "segment")?);
        if is_new {
            files::sync_dir(&self.dir.join(SEGMENTS))?;
        }
        state.segment = Some((head.segment, Arc::clone(&file)));
        Ok(file)
    }

    fn begin_segment(&self, state: &mut State, head: &mut Head) -> Result<(), LedgerError> {
        if let Some((_, open)) = &state.segment {
            open.sync_data().map_err(io("segment", "synced"))?;
        }
        head.segment += 1;
        head.segment_len = 0;
        let body = Body::Segment(Segment {
            ledger: head.ledger.clone(),
            segment: head.segment,
            public_key: checkpoint::encode_key(&self.signing()?.verifying_key()),
            frontier: head.frontier.nodes().to_vec(),
            timestamp: now(),
        });
        self.write(state, head, &body)?;
        self.sync_now(state)?;
        // The head must not be older on disk than the segment that it is to name.
        state.head_file.sync()
    }

    /// Writes a record of the ledger's own.
    fn write(&self, state: &mut State, head: &mut Head, body: &Body) -> Result<(), LedgerError> {
        let (mut next, mut line) = (head.clone(), Vec::new());
        let text = record::text_of(body).map_err(unreadable)?;
        next_line(&mut next, text, Durability::Now, &mut line)?;
        self.put(state, head, next, &line)
    }

    /// Writes the lines that lead from `head` to `next`, and makes that the head.
    fn put(&self, state: &mut State, head: &mut Head, next: Head, lines: &[u8]) -> Result<(), LedgerError> {
        self.syncer.check()?;
        let segment = match &state.segment {
            // Just looked at, to settle.
            Some((open, file)) if *open == head.segment => Arc::clone(file),
            _ => self.segment(state, head)?,
        };
        if let Err(error) = files::write_at(&segment, lines, head.segment_len) {
            // A disk that filled up half-way: take the torn bytes back. If that fails too, recovery will.
            let _ = segment.set_len(head.segment_len);
            return Err(io("segment", "written")(error));
        }
        *head = next;
        state.head_file.write(head)?;
        self.syncer.soon(&segment);
        Ok(())
    }

    fn sync_now(&self, state: &State) -> Result<(), LedgerError> {
        if let Some((_, segment)) = &state.segment {
            segment.sync_data().map_err(io("segment", "synced"))?;
            self.syncer.done(segment);
        }
        Ok(())
    }

    fn sign(&self, checkpoint: &Checkpoint) -> Result<(), LedgerError> {
        files::append_checkpoint(&self.dir, checkpoint, &self.signing()?)
    }

    /// The first ratchet key, when the operator has not taken it away.
    #[must_use]
    pub fn initial_key(&self) -> Option<KeyFile> {
        KeyFile::read(&self.dir.join(INITIAL_KEY)).ok()
    }
}

fn unreadable(why: impl std::fmt::Display) -> LedgerError {
    LedgerError::Unreadable(why.to_string())
}

/// Appends the line of the record after `head` to `lines`, and moves `head` behind it.
fn next_line(
    head: &mut Head,
    text: Text,
    durability: Durability,
    lines: &mut Vec<u8>,
) -> Result<(), LedgerError> {
    let Sealed { line, hash, leaf, next } =
        record::seal_text(text, head.size, head.last_hash, &head.key).map_err(unreadable)?;
    if line.len() > MAX_RECORD {
        return Err(LedgerError::TooLarge(line.len()));
    }
    // `seal` refuses what would not read back. A record of something done is read back for all that: it costs little
    // beside its sync.
    if durability == Durability::Now || cfg!(debug_assertions) {
        record::open(&line).map_err(unreadable)?;
    }
    head.advance(leaf, hash, next, line.len() as u64 + 1);
    lines.extend_from_slice(&line);
    lines.push(b'\n');
    Ok(())
}

/// Now: RFC 3339, UTC, milliseconds.
#[must_use]
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

impl Head {
    fn advance(&mut self, leaf: Digest, hash: Digest, next: RatchetKey, bytes: u64) {
        self.size += 1;
        self.segment_len += bytes;
        self.last_hash = hash;
        self.frontier.push(leaf);
        self.key = next;
    }

    /// The anchor of the last record.
    fn anchor(&self) -> Anchor {
        Anchor { ledger: self.ledger.clone(), seq: self.size.saturating_sub(1), root: self.frontier.root() }
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint { ledger: self.ledger.clone(), size: self.size, root: self.frontier.root() }
    }

    /// The head of a ledger that has no record yet.
    fn first(ledger: String, key: RatchetKey) -> Self {
        Self {
            ledger,
            generation: 0,
            size: 0,
            segment: 0,
            segment_len: 0,
            last_hash: Digest::ZERO,
            key,
            frontier: Frontier::default(),
        }
    }
}
