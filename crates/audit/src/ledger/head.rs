//! `head`: where the ledger ends. Two checksummed slots of a page each, both rewritten at every append, so that a torn write of
//! one leaves the other, and so that no slot keeps an old ratchet key for longer than one append.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use contract::Digest;
use zeroize::Zeroizing;

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
        let mut image = Image::default();
        image.fill(file)?;
        Self::newer(&image).map(|(head, _)| head)
    }

    /// What the newer intact slot says, and where the other one is that is damaged or older.
    fn newer(image: &Image) -> Result<(Self, Option<usize>), LedgerError> {
        let (first, second) = image.0.split_at(SLOT);
        match (Self::decode(first), Self::decode(second)) {
            (Some(head), Some(other)) if head.generation == other.generation => Ok((head, None)),
            (Some(other), Some(head)) if head.generation > other.generation => Ok((head, Some(0))),
            (Some(head), _) => Ok((head, Some(SLOT))),
            (None, Some(head)) => Ok((head, Some(0))),
            (None, None) => Err(LedgerError::DamagedHead),
        }
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

/// The bytes of both slots. They hold a key: erased when dropped.
struct Image(Zeroizing<Vec<u8>>);

impl Default for Image {
    fn default() -> Self {
        Self(Zeroizing::new(vec![0; 2 * SLOT]))
    }
}

impl Image {
    fn fill(&mut self, file: &File) -> Result<(), LedgerError> {
        let mut filled = 0;
        // A slot is shorter than its place: what is read up to the end of the file is all there is.
        while filled <= SLOT {
            match file.read_at(&mut self.0[filled..], filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io("head", "read")(error)),
            }
        }
        self.0[filled..].fill(0);
        Ok(())
    }
}

/// The file, with what it said when it was last read or written here.
pub(super) struct HeadFile {
    file: File,
    seen: Image,
    now: Image,
    /// What `seen` says; nothing while that is not known.
    head: Option<Head>,
    /// Where the slot is that is not as good as the other one.
    worse: Option<usize>,
}

impl std::fmt::Debug for HeadFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HeadFile({:?})", self.head)
    }
}

impl HeadFile {
    pub(super) fn new(file: File) -> Self {
        Self { file, seen: Image::default(), now: Image::default(), head: None, worse: None }
    }

    /// The head as it is on disk now. It is decoded only when its bytes are other than they were: no trust is put in
    /// what is remembered, and whatever another process writes has another generation at least.
    pub(super) fn read(&mut self) -> Result<Head, LedgerError> {
        self.now.fill(&self.file)?;
        if let Some(head) = &self.head
            && *self.now.0 == *self.seen.0
        {
            return Ok(head.clone());
        }
        let (head, worse) = Head::newer(&self.now)?;
        self.worse = worse;
        std::mem::swap(&mut self.now, &mut self.seen);
        self.head = Some(head.clone());
        Ok(head)
    }

    /// Whether both slots say the same.
    pub(super) const fn is_even(&self) -> bool {
        self.worse.is_none()
    }

    /// Writes both slots at once: whatever part of that comes to the file, one of them is whole. Where one was not as good as the other,
    /// it is written by itself before, and is on disk before the better one is touched.
    pub(super) fn write(&mut self, head: &mut Head) -> Result<(), LedgerError> {
        // Until it is written whole, what is there is not known.
        self.head = None;
        head.generation += 1;
        let bytes = Zeroizing::new(head.encode());
        for at in [0, SLOT] {
            self.seen.0[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        // It has the key of before.
        self.now.0.fill(0);
        if let Some(worse) = self.worse {
            self.file.write_all_at(&bytes, worse as u64).map_err(io("head", "written"))?;
            self.sync()?;
        }
        let both = &self.seen.0[..SLOT + bytes.len()];
        self.file.write_all_at(both, 0).map_err(io("head", "written"))?;
        (self.head, self.worse) = (Some(head.clone()), None);
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<(), LedgerError> {
        self.file.sync_data().map_err(io("head", "synced"))
    }

    pub(super) fn is_empty(&self) -> Result<bool, LedgerError> {
        self.file.metadata().map(|m| m.len() == 0).map_err(io("head", "read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head::first("0123456789abcdef0123456789abcdef".into(), RatchetKey::from_bytes([3; 32]))
    }

    #[test]
    fn a_torn_slot_leaves_the_other() {
        let file = tempfile::tempfile().unwrap();
        let mut ours = HeadFile::new(file.try_clone().unwrap());
        let mut head = head();
        ours.write(&mut head).unwrap();
        for i in 0..5u8 {
            head.advance(Digest::of(&[i]), Digest::of(&[i, i]), head.key.next(), 10);
        }
        ours.write(&mut head).unwrap();
        for torn in [0, SLOT as u64] {
            file.write_all_at(b"x", torn + 50).unwrap();
            for read in [Head::read(&file).unwrap(), ours.read().unwrap()] {
                assert_eq!((read.size, read.frontier.root()), (5, head.frontier.root()));
            }
            assert!(!ours.is_even());
            ours.write(&mut head).unwrap();
        }
        file.write_all_at(b"x", 50).unwrap();
        file.write_all_at(b"x", SLOT as u64 + 50).unwrap();
        assert!(matches!(Head::read(&file), Err(LedgerError::DamagedHead)));
        assert!(matches!(ours.read(), Err(LedgerError::DamagedHead)));
    }

    #[test]
    fn what_another_process_wrote_is_seen_and_what_was_written_here_is_remembered_as_it_is_on_disk() {
        let file = tempfile::tempfile().unwrap();
        let mut ours = HeadFile::new(file.try_clone().unwrap());
        let mut theirs = HeadFile::new(file.try_clone().unwrap());
        let mut head = head();
        ours.write(&mut head).unwrap();
        // Frontiers grow and shrink: what stays of a longer one behind a shorter one is part of the image.
        for i in 0..20u8 {
            let (writer, reader) =
                if i % 3 == 0 { (&mut theirs, &mut ours) } else { (&mut ours, &mut theirs) };
            let mut head = writer.read().unwrap();
            head.advance(Digest::of(&[i]), Digest::of(&[i, i]), head.key.next(), 10);
            writer.write(&mut head).unwrap();
            for file in [writer, reader] {
                let read = file.read().unwrap();
                assert_eq!((read.size, read.generation), (u64::from(i) + 1, u64::from(i) + 2));
                file.now.fill(&file.file).unwrap();
                assert!(*file.now.0 == *file.seen.0, "the image is the file");
            }
        }
    }

    #[test]
    fn no_slot_keeps_an_old_key() {
        let file = tempfile::tempfile().unwrap();
        let mut ours = HeadFile::new(file.try_clone().unwrap());
        let mut head = head();
        ours.write(&mut head).unwrap();
        head.advance(Digest::ZERO, Digest::ZERO, head.key.next(), 1);
        ours.write(&mut head).unwrap();
        let bytes = super::super::read_to_end(&file, 0).unwrap();
        for kept in [&bytes, &*ours.seen.0, &*ours.now.0] {
            assert!(!kept.windows(32).any(|window| window == [3; 32]));
        }
    }

    #[test]
    fn a_write_that_stops_anywhere_leaves_a_head_whatever_the_other_slot_was_like() {
        let slot_of = |head: &Head, generation| Head { generation, ..head.clone() }.encode();
        let mut before = head();
        before.advance(Digest::ZERO, Digest::ZERO, before.key.next(), 1);
        let (old, new) = (slot_of(&before, 6), slot_of(&before, 7));
        // The second slot as good as the first, older, and damaged; and the first one.
        let damaged = vec![9; new.len()];
        for (first, second, is_even) in
            [(&new, &new, true), (&new, &old, false), (&new, &damaged, false), (&damaged, &new, false)]
        {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(first, 0).unwrap();
            file.write_all_at(second, SLOT as u64).unwrap();
            let mut ours = HeadFile::new(file.try_clone().unwrap());
            let mut next = ours.read().unwrap();
            assert_eq!((next.generation, ours.is_even()), (7, is_even));
            next.advance(Digest::of(&[1]), Digest::of(&[2]), next.key.next(), 10);
            ours.write(&mut next).unwrap();
            let written = super::super::read_to_end(&file, 0).unwrap();
            assert!(ours.is_even() && written.len() == SLOT + next.encode().len());
            // What was written last is both slots from the beginning on. Before, the worse slot had been written.
            let mut there = vec![0; written.len()];
            there[..first.len()].copy_from_slice(first);
            there[SLOT..SLOT + second.len()].copy_from_slice(second);
            if !is_even {
                let worse = if first == &damaged { 0 } else { SLOT };
                there[worse..worse + next.encode().len()].copy_from_slice(&next.encode());
            }
            for cut in 0..=written.len() {
                let mut image = Image::default();
                image.0[..there.len()].copy_from_slice(&there);
                image.0[..cut].copy_from_slice(&written[..cut]);
                let (read, _) = Head::newer(&image).unwrap();
                assert!([7, 8].contains(&read.generation), "cut at {cut}");
            }
        }
    }
}
