//! `head`: where the ledger ends. Two checksummed slots, both rewritten at every append, so that a torn write of
//! one leaves the other, and so that no slot keeps an old ratchet key for longer than one append.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use contract::Digest;

use super::{LedgerError, io};
use crate::chain::RatchetKey;
use crate::merkle::Frontier;

const MAGIC: &[u8; 8] = b"gwhead\x00\x01";
const SLOT: usize = 4096;
const ID: usize = 32;
/// Magic, id, four numbers, hash, key, node count.
const FIXED: usize = 8 + ID + 4 * 8 + 32 + 32 + 8;

/// Where the ledger ends.
#[derive(Clone)]
pub struct Head {
    /// The ledger's random id: 32 hexadecimal digits.
    pub ledger: String,
    /// Grows with every write, so that the newer slot is known.
    pub generation: u64,
    /// How many records.
    pub size: u64,
    /// The current segment's number; 0 before the first.
    pub segment: u64,
    /// The current segment's length in bytes.
    pub segment_len: u64,
    /// The `integrityHash` of the last record.
    pub last_hash: Digest,
    /// The ratchet key of the next record.
    pub key: RatchetKey,
    /// The Merkle tree over all records.
    pub frontier: Frontier,
}

impl std::fmt::Debug for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Head({} records, segment {} at {})", self.size, self.segment, self.segment_len)
    }
}

impl Head {
    /// Reads the newer intact slot.
    pub fn read(file: &File) -> Result<Self, LedgerError> {
        let mut bytes = vec![0; 2 * SLOT];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io("head", "read")(error)),
            }
        }
        let (first, second) = bytes.split_at(SLOT);
        match (Self::decode(first), Self::decode(second)) {
            (Some(a), Some(b)) => Ok(if a.generation >= b.generation { a } else { b }),
            (Some(head), None) | (None, Some(head)) => Ok(head),
            (None, None) => Err(LedgerError::DamagedHead),
        }
    }

    /// Writes both slots, the older one first.
    pub(super) fn write(&mut self, file: &File) -> Result<(), LedgerError> {
        self.generation += 1;
        let bytes = self.encode();
        let older = self.generation % 2;
        for slot in [older, 1 - older] {
            file.write_all_at(&bytes, slot * SLOT as u64).map_err(io("head", "written"))?;
        }
        Ok(())
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED + 32 * self.frontier.nodes().len() + 32);
        out.extend_from_slice(MAGIC);
        let mut id = [0; ID];
        for (to, from) in id.iter_mut().zip(self.ledger.bytes()) {
            *to = from;
        }
        out.extend_from_slice(&id);
        for number in [self.generation, self.size, self.segment, self.segment_len] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(self.last_hash.as_bytes());
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(&(self.frontier.nodes().len() as u64).to_le_bytes());
        for node in self.frontier.nodes() {
            out.extend_from_slice(node.as_bytes());
        }
        let checksum = Digest::of(&out);
        out.extend_from_slice(checksum.as_bytes());
        out
    }

    fn decode(slot: &[u8]) -> Option<Self> {
        let mut rest = slot.strip_prefix(MAGIC)?;
        let mut take = |n: usize| -> Option<&[u8]> {
            let (taken, left) = rest.split_at_checked(n)?;
            rest = left;
            Some(taken)
        };
        let ledger = std::str::from_utf8(take(ID)?).ok()?.to_owned();
        let mut number = || take(8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
        let (generation, size, segment, segment_len) = (number()?, number()?, number()?, number()?);
        let last_hash = Digest::from_bytes(take(32)?.try_into().ok()?);
        let key = RatchetKey::from_bytes(take(32)?.try_into().ok()?);
        let count = u64::from_le_bytes(take(8)?.try_into().ok()?);
        // Sixty-four nodes are enough for any size that fits the number.
        let count = usize::try_from(count).ok().filter(|n| *n <= 64)?;
        let nodes: Option<Vec<Digest>> =
            (0..count).map(|_| take(32).and_then(|b| b.try_into().ok()).map(Digest::from_bytes)).collect();
        let covered = FIXED + 32 * count;
        let stated = Digest::from_bytes(take(32)?.try_into().ok()?);
        if Digest::of(slot.get(..covered)?) != stated {
            return None;
        }
        let frontier = Frontier::new(size, nodes?)?;
        Some(Self { ledger, generation, size, segment, segment_len, last_hash, key, frontier })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_slot_leaves_the_other() {
        let file = tempfile::tempfile().unwrap();
        let mut head =
            Head::first("0123456789abcdef0123456789abcdef".into(), RatchetKey::from_bytes([3; 32]));
        head.write(&file).unwrap();
        for i in 0..5u8 {
            head.advance(Digest::of(&[i]), Digest::of(&[i, i]), 10);
        }
        head.write(&file).unwrap();
        for torn in [0, SLOT as u64] {
            file.write_all_at(b"x", torn + 50).unwrap();
            let read = Head::read(&file).unwrap();
            assert_eq!((read.size, read.frontier.root()), (5, head.frontier.root()));
            head.write(&file).unwrap();
        }
        file.write_all_at(b"x", 50).unwrap();
        file.write_all_at(b"x", SLOT as u64 + 50).unwrap();
        assert!(matches!(Head::read(&file), Err(LedgerError::DamagedHead)));
    }

    #[test]
    fn no_slot_keeps_an_old_key() {
        let file = tempfile::tempfile().unwrap();
        let mut head =
            Head::first("0123456789abcdef0123456789abcdef".into(), RatchetKey::from_bytes([3; 32]));
        head.write(&file).unwrap();
        head.advance(Digest::ZERO, Digest::ZERO, 1);
        head.write(&file).unwrap();
        let bytes = super::super::read_to_end(&file, 0).unwrap();
        assert!(!bytes.windows(32).any(|window| window == [3; 32]));
    }
}
