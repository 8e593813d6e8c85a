//! Proofs that travel: one record with its audit path, and the consistency of two anchors.

use std::path::Path;

use contract::{Digest, TranscriptId};
use serde::{Deserialize, Serialize};

use crate::ledger::{Anchor, LedgerError};
use crate::merkle;
use crate::record::{self, Body};
use crate::verify::for_each_line;

/// That one record stands in a ledger under some anchor, checkable without the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// The anchor that the record is proved under.
    pub anchor: Anchor,
    /// The record's place.
    pub seq: u64,
    /// The record, as it stands in the ledger: exact bytes.
    pub record: String,
    /// The audit path (RFC 9162 §2.1.3).
    pub path: Vec<Digest>,
    /// That an earlier anchor is a prefix of this one (RFC 9162 §2.1.4), when one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

/// The consistency of an earlier anchor with the proof's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// The earlier anchor.
    pub anchor: Anchor,
    /// The consistency path.
    pub path: Vec<Digest>,
}

/// Why nothing could be proved.
#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    /// The ledger could not be read.
    #[error("{0}")]
    Ledger(#[from] LedgerError),
    /// There is no such transcript.
    #[error("there is no transcript {0}")]
    NotFound(TranscriptId),
    /// The earlier anchor lies beyond the end.
    #[error("the earlier anchor covers more records than there are")]
    Beyond,
    /// The record's bytes are not text.
    #[error("the record is damaged")]
    Damaged,
}

/// Proves the transcript `id` in the ledger in `dir`, and that `since` is a prefix of it.
pub fn prove(dir: &Path, id: &TranscriptId, since: Option<&Anchor>) -> Result<Proof, NoProof> {
    let mut leaves = Vec::new();
    let mut found = None;
    let mut ledger = String::new();
    for_each_line(dir, |line| {
        let opened = record::open(line);
        leaves.push(opened.as_ref().map_or_else(|_| record::leaf_of(line), |opened| opened.leaf));
        if let Ok(opened) = opened {
            match opened.entry.body {
                Body::Segment(segment) => ledger = segment.ledger,
                Body::Transcript(transcript) if transcript.id == *id => {
                    found = Some((leaves.len() - 1, line.to_vec()));
                }
                _ => {}
            }
        }
    })?;
    let (index, line) = found.ok_or_else(|| NoProof::NotFound(id.clone()))?;
    let record = String::from_utf8(line).map_err(|_| NoProof::Damaged)?;
    let anchor = Anchor { ledger, seq: leaves.len() as u64 - 1, root: merkle::root(&leaves) };
    let since = since
        .map(|earlier| {
            let size =
                usize::try_from(earlier.seq).ok().and_then(|n| n.checked_add(1)).ok_or(NoProof::Beyond)?;
            if size > leaves.len() {
                return Err(NoProof::Beyond);
            }
            Ok(Since { anchor: earlier.clone(), path: merkle::consistency(size, &leaves) })
        })
        .transpose()?;
    Ok(Proof { anchor, seq: index as u64, record, path: merkle::inclusion(index, &leaves), since })
}

impl Proof {
    /// Whether the record is intact, stands under the anchor, and the earlier anchor is a prefix.
    #[must_use]
    pub fn holds(&self) -> bool {
        let size = self.anchor.seq.saturating_add(1);
        let Ok(opened) = record::open(self.record.as_bytes()) else { return false };
        let intact = opened.entry.seq == self.seq;
        let included = merkle::verify_inclusion(opened.leaf, self.seq, size, &self.path, self.anchor.root);
        let consistent = self.since.as_ref().is_none_or(|since| {
            since.anchor.ledger == self.anchor.ledger
                && merkle::verify_consistency(
                    (since.anchor.seq.saturating_add(1), since.anchor.root),
                    (size, self.anchor.root),
                    &since.path,
                )
        });
        intact && included && consistent
    }
}
