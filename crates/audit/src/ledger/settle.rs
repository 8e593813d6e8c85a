//! Bringing the files and the head together after whatever another process, or a crash, did.

use std::os::unix::fs::MetadataExt as _;

use contract::Digest;
use ed25519_dalek::SigningKey;

use super::{
    Head, Ledger, LedgerError, NEXT_KEY, SEGMENTS, SIGNING_KEY, State, files, io, now, read_to_end,
    segment_path,
};
use crate::checkpoint;
use crate::record::{self, Body, Recovery};

impl Ledger {
    /// Finishes, or drops, a replacement of the signing key that was interrupted.
    pub(super) fn settle_key(&self, head: &Head) -> Result<(), LedgerError> {
        let Ok(next) = files::read_key(&self.dir, NEXT_KEY) else { return Ok(()) };
        let named = checkpoint::encode_key(&SigningKey::from_bytes(&next).verifying_key());
        let text =
            std::fs::read_to_string(segment_path(&self.dir, head.segment)).map_err(io("segment", "read"))?;
        if text.lines().any(|line| line.contains("\"rekey\"") && line.contains(&named)) {
            files::promote_key(&self.dir, NEXT_KEY, SIGNING_KEY)
        } else {
            std::fs::remove_file(self.dir.join(NEXT_KEY)).map_err(io(NEXT_KEY, "removed"))
        }
    }

    /// Whether the head says what is there, and the segment that it names is open here.
    pub(super) fn is_settled(state: &mut State, head: &Head) -> Result<bool, LedgerError> {
        let Some((_, segment)) = state.segment.as_ref().filter(|(open, _)| *open == head.segment) else {
            return Ok(false);
        };
        let found = segment.metadata().map_err(io("segment", "read"))?;
        let is_whole = found.len() == head.segment_len && found.nlink() > 0;
        // A segment beyond the one that the head knows was begun by a process that stopped.
        Ok(is_whole && !state.segments.has(head.segment + 1)?)
    }

    /// Brings the segment file and the head together after whatever another process, or a crash, did.
    pub(super) fn settle(&self, state: &mut State, head: &mut Head) -> Result<(), LedgerError> {
        if !state.head_file.is_even() {
            // A process stopped between its slots, or one was damaged; an older one has the key of before, too.
            state.head_file.write(head)?;
        }
        if head.segment == 0 {
            return self.begin_segment(state, head);
        }
        if Self::is_settled(state, head)? {
            return Ok(());
        }
        let segment = self.segment(state, head)?;
        let length = segment.metadata().map_err(io("segment", "read"))?.len();
        if length == head.segment_len {
            return self.settle_next(state, head);
        }
        if length < head.segment_len {
            // What the head counted is gone: cut off by someone, or lost with power before it was synced.
            // The chain goes on from what the head knows, so that `verify` sees the gap.
            let reason = format!(
                "the segment has {length} bytes, the head says {}: records are missing",
                head.segment_len
            );
            self.begin_segment(state, head)?;
            return self.write(state, head, &recovery(reason, 0, &[]));
        }
        let tail = read_to_end(&segment, head.segment_len)?;
        let (adopted, used) = adopt(head, &tail);
        let torn = &tail[used..];
        if !torn.is_empty() {
            files::quarantine(&self.dir, torn)?;
            segment.set_len(head.segment_len).map_err(io("segment", "cut"))?;
        }
        state.head_file.write(head)?;
        let reason = "a process stopped between writing a record and counting it".to_owned();
        self.write(state, head, &recovery(reason, adopted, torn))?;
        self.sync_now(state)
    }

    /// A segment beyond the one that the head knows: begun by a process that stopped before it could say so.
    fn settle_next(&self, state: &mut State, head: &mut Head) -> Result<(), LedgerError> {
        if !state.segments.has(head.segment + 1)? {
            return Ok(());
        }
        let path = segment_path(&self.dir, head.segment + 1);
        let file = files::open_private(&path, "segment")?;
        let bytes = read_to_end(&file, 0)?;
        let mut candidate = Head { segment: head.segment + 1, segment_len: 0, ..head.clone() };
        let (adopted, used) = adopt(&mut candidate, &bytes);
        let torn = &bytes[used..];
        if !torn.is_empty() {
            files::quarantine(&self.dir, torn)?;
        }
        if adopted == 0 {
            return std::fs::remove_file(&path).map_err(io("segment", "removed"));
        }
        file.set_len(candidate.segment_len).map_err(io("segment", "cut"))?;
        files::sync_dir(&self.dir.join(SEGMENTS))?;
        *head = candidate;
        state.head_file.write(head)?;
        let reason = "a process stopped after it had begun a segment".to_owned();
        self.write(state, head, &recovery(reason, adopted, torn))?;
        self.sync_now(state)
    }
}

/// Counts the whole records at the beginning of `tail` that continue the chain; returns them and their bytes.
fn adopt(head: &mut Head, tail: &[u8]) -> (u64, usize) {
    let (mut adopted, mut used) = (0, 0);
    for line in tail.split_inclusive(|b| *b == b'\n') {
        let Some(bare) = line.strip_suffix(b"\n") else { break };
        let Ok(opened) = record::open(bare) else { break };
        let follows = opened.entry.seq == head.size && opened.entry.prev_hash == head.last_hash;
        if !follows || !opened.is_sealed_with(&head.key) {
            break;
        }
        let next = head.key.next();
        head.advance(opened.leaf, opened.entry.integrity_hash, next, line.len() as u64);
        adopted += 1;
        used += line.len();
    }
    (adopted, used)
}

fn recovery(reason: String, adopted: u64, torn: &[u8]) -> Body {
    Body::Recovery(Recovery {
        reason,
        adopted,
        torn_bytes: torn.len() as u64,
        torn_digest: (!torn.is_empty()).then(|| Digest::of(torn)),
        timestamp: now(),
    })
}
