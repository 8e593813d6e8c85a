//! The documents of a term as bytes: by chunks of 128, each behind the number of its last document and its length, so
//! that looking up one document reads one chunk. The places of a term are chunked alike, apart from it: they are read
//! for phrases only.
//!
//! Postings: how many documents; of each chunk the distance of its last document from the last one of the chunk before,
//! its length, and of each document the distance, the impact, the fields.
//! Positions: of each chunk its length, and of each document the length of its places, and them.

use crate::bytes::{Reader, place, put, put_bytes, small};

/// Documents of a chunk.
const CHUNK: u32 = 128;

/// A document that a term is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// From 1 to 255.
    pub(crate) impact: u8,
    /// By the bits of [`crate::Field`].
    pub(crate) fields: u8,
}

/// Writes the documents of a term, which come in order.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    count: u32,
    postings: Vec<u8>,
    positions: Vec<u8>,
    chunk: Vec<u8>,
    places: Vec<u8>,
    in_chunk: u32,
    /// One more than the last document of the last chunk, and of this one.
    before: u32,
    next: u32,
}

impl Writer {
    pub(crate) fn add(&mut self, posting: Posting, places: &[u8], has_places: bool) {
        put(&mut self.chunk, posting.document.saturating_sub(self.next));
        self.chunk.extend([posting.impact, posting.fields]);
        if has_places {
            put_bytes(&mut self.places, places);
        }
        self.next = posting.document.saturating_add(1);
        self.count += 1;
        self.in_chunk += 1;
        if self.in_chunk == CHUNK {
            self.end_chunk();
        }
    }

    fn end_chunk(&mut self) {
        if self.in_chunk == 0 {
            return;
        }
        put(&mut self.postings, self.next.saturating_sub(self.before));
        put_bytes(&mut self.postings, &self.chunk);
        if !self.places.is_empty() {
            put_bytes(&mut self.positions, &self.places);
        }
        self.before = self.next;
        self.in_chunk = 0;
        self.chunk.clear();
        self.places.clear();
    }

    /// How many documents, the postings, the positions.
    pub(crate) fn finish(mut self) -> (u32, Vec<u8>, Vec<u8>) {
        self.end_chunk();
        let mut out = Vec::with_capacity(self.postings.len() + 5);
        put(&mut out, self.count);
        out.extend_from_slice(&self.postings);
        (self.count, out, self.positions)
    }
}

/// Goes through the documents of a term. Damaged bytes end it; [`Cursor::is_damaged`] says so then.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'b> {
    chunks: Reader<'b>,
    chunk: Reader<'b>,
    /// Documents that are still to come.
    left: u32,
    in_chunk: u32,
    /// One more than the last document.
    next: u32,
    /// One more than the last document of this chunk.
    end: u32,
    now: Option<Posting>,
    is_damaged: bool,
}

impl<'b> Cursor<'b> {
    pub(crate) fn new(postings: &'b [u8]) -> Self {
        let mut chunks = Reader::new(postings);
        let left = chunks.number();
        let mut cursor = Self {
            chunks,
            chunk: Reader::new(&[]),
            left: left.unwrap_or(0),
            in_chunk: 0,
            next: 0,
            end: 0,
            now: None,
            is_damaged: left.is_none(),
        };
        cursor.step();
        cursor
    }

    /// Where it stands; `None` at the end.
    #[inline]
    pub(crate) fn now(&self) -> Option<Posting> {
        self.now
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// How many documents are to come behind this one.
    pub(crate) const fn left(&self) -> u32 {
        self.left
    }

    /// Goes on by one document.
    #[inline]
    pub(crate) fn step(&mut self) {
        self.now = None;
        if self.left == 0 {
            return;
        }
        if self.in_chunk == 0 && self.open().is_none() {
            self.damaged();
            return;
        }
        let Some((distance, impact, fields)) = posting(&mut self.chunk) else {
            self.damaged();
            return;
        };
        let document = self.next.saturating_add(distance);
        if document >= self.end {
            self.damaged();
            return;
        }
        self.next = document.saturating_add(1);
        self.left -= 1;
        self.in_chunk -= 1;
        self.now = Some(Posting { document, impact, fields });
    }

    /// Calls with every document before `end` and its impact, and stands at the first that is not before it.
    #[inline]
    pub(crate) fn each_until(&mut self, end: u32, mut on: impl FnMut(u32, u8)) {
        let Some(now) = self.now.filter(|now| now.document < end) else { return };
        on(now.document, now.impact);
        self.now = None;
        while self.left > 0 {
            if self.in_chunk == 0 && self.open().is_none() {
                self.damaged();
                return;
            }
            // The same as `step`, with what changes at hand.
            let (mut chunk, mut next, many) = (self.chunk, self.next, self.in_chunk);
            for read in 1..=many {
                let Some((distance, impact, fields)) = posting(&mut chunk) else {
                    self.damaged();
                    return;
                };
                let document = next.saturating_add(distance);
                if document >= self.end {
                    self.damaged();
                    return;
                }
                next = document.saturating_add(1);
                if document >= end {
                    (self.chunk, self.next, self.in_chunk) = (chunk, next, many - read);
                    self.left -= read;
                    self.now = Some(Posting { document, impact, fields });
                    return;
                }
                on(document, impact);
            }
            self.next = next;
            self.in_chunk = 0;
            self.left -= many;
        }
    }

    fn damaged(&mut self) {
        self.is_damaged = true;
        self.left = 0;
    }

    /// Opens the next chunk.
    fn open(&mut self) -> Option<()> {
        self.next = self.end;
        self.end = self.end.checked_add(self.chunks.number()?)?;
        self.chunk = Reader::new(self.chunks.bytes()?);
        self.in_chunk = self.left.min(CHUNK);
        Some(())
    }

    /// Goes on to the first document that is not before this one, over whole chunks where it can.
    pub(crate) fn seek(&mut self, document: u32) {
        if self.now.is_none_or(|now| now.document >= document) {
            return;
        }
        while self.end <= document && !self.is_damaged {
            // The rest of this chunk is before it.
            self.left -= self.in_chunk;
            self.in_chunk = 0;
            self.now = None;
            if self.left == 0 {
                return;
            }
            if self.open().is_none() {
                self.damaged();
                return;
            }
        }
        while self.now.is_none_or(|now| now.document < document) && (self.left > 0) {
            self.step();
        }
        if self.now.is_some_and(|now| now.document < document) {
            self.now = None;
        }
    }
}

/// How far a document is from the one before, its impact and its fields. Most distances are of one byte or two.
#[inline]
fn posting(chunk: &mut Reader<'_>) -> Option<(u32, u8, u8)> {
    match chunk.rest() {
        [distance @ 0..0x80, impact, fields, rest @ ..] => {
            *chunk = Reader::new(rest);
            Some((u32::from(*distance), *impact, *fields))
        }
        [low @ 0x80..=0xff, high @ 0..0x80, impact, fields, rest @ ..] => {
            *chunk = Reader::new(rest);
            Some((u32::from(low & 0x7f) | u32::from(*high) << 7, *impact, *fields))
        }
        _ => Some((chunk.number()?, chunk.byte()?, chunk.byte()?)),
    }
}

/// Looks up the places of documents in a term, in order.
#[derive(Debug, Clone)]
pub(crate) struct Places<'b> {
    cursor: Cursor<'b>,
    positions: Reader<'b>,
    chunk: Reader<'b>,
    /// Which document of the term comes next in `chunk`, and how many there are before `chunk`'s end.
    at: u32,
    until: u32,
    count: u32,
}

impl<'b> Places<'b> {
    pub(crate) fn new(postings: &'b [u8], positions: &'b [u8]) -> Self {
        let cursor = Cursor::new(postings);
        let count = Reader::new(postings).number().unwrap_or(0);
        Self { cursor, positions: Reader::new(positions), chunk: Reader::new(&[]), at: 0, until: 0, count }
    }

    /// The posting of a document with its places, if the term is in it. Documents are asked in ascending order.
    pub(crate) fn of(&mut self, document: u32) -> Option<(Posting, &'b [u8])> {
        self.cursor.seek(document);
        let posting = self.cursor.now().filter(|now| now.document == document)?;
        let index = self.count.checked_sub(self.cursor.left)?.checked_sub(1)?;
        while self.until <= index {
            self.chunk = Reader::new(self.positions.bytes()?);
            self.at = self.until;
            self.until += CHUNK;
        }
        while self.at < index {
            self.chunk.bytes()?;
            self.at += 1;
        }
        // Asked for the same document again, it is read again.
        Some((posting, self.chunk.clone_bytes()?))
    }
}

impl<'b> Reader<'b> {
    /// What [`Reader::bytes`] would give, without going on.
    fn clone_bytes(self) -> Option<&'b [u8]> {
        let mut here = self;
        let length = here.number()?;
        here.take(place(length))
    }
}

/// Writes numbers that are in order, each once, by their distances.
pub(crate) fn put_ascending(out: &mut Vec<u8>, numbers: &[u32]) {
    put(out, small(numbers.len()));
    let mut next = 0;
    for number in numbers {
        put(out, number.saturating_sub(next));
        next = number.saturating_add(1);
    }
}

/// Reads what [`put_ascending`] wrote, if all are below `most`.
pub(crate) fn read_ascending(reader: &mut Reader<'_>, most: u32) -> Option<Vec<u32>> {
    let count = reader.number()?;
    let mut numbers = Vec::new();
    let mut next = 0u32;
    for _ in 0..count {
        let number = next.checked_add(reader.number()?)?;
        if number >= most {
            return None;
        }
        numbers.push(number);
        next = number.checked_add(1)?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(documents: &[u32]) -> (u32, Vec<u8>, Vec<u8>) {
        let mut writer = Writer::default();
        for d in documents {
            let [low, ..] = d.to_le_bytes();
            writer.add(Posting { document: *d, impact: low | 1, fields: 1 }, &d.to_le_bytes(), true);
        }
        writer.finish()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(documents in proptest::collection::btree_set(0u32..100_000, 0..600)) {
            let documents: Vec<u32> = documents.into_iter().collect();
            let (df, postings, positions) = written(&documents);
            prop_assert_eq!(place(df), documents.len());
            let mut cursor = Cursor::new(&postings);
            let mut read = Vec::new();
            while let Some(now) = cursor.now() {
                read.push(now.document);
                cursor.step();
            }
            prop_assert!(!cursor.is_damaged());
            prop_assert_eq!(&read, &documents);
            let mut places = Places::new(&postings, &positions);
            for asked in (0..100_000).step_by(97) {
                let found = places.of(asked).map(|(p, at)| (p.document, at.to_vec()));
                let expected = documents.binary_search(&asked).is_ok().then(|| (asked, asked.to_le_bytes().to_vec()));
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(&places.of(asked).map(|(p, at)| (p.document, at.to_vec())), &expected);
            }
        }

        #[test]
        fn seeking_finds_what_stepping_finds(
            documents in proptest::collection::btree_set(0u32..5_000, 0..600),
            asked in proptest::collection::btree_set(0u32..6_000, 0..50),
        ) {
            let documents: Vec<u32> = documents.into_iter().collect();
            let (_, postings, _) = written(&documents);
            let mut cursor = Cursor::new(&postings);
            for d in asked {
                cursor.seek(d);
                let expected = documents.iter().copied().find(|x| *x >= d);
                prop_assert_eq!(cursor.now().map(|n| n.document), expected);
            }
        }

        #[test]
        fn what_is_gone_through_in_parts_is_what_stepping_finds(
            documents in proptest::collection::btree_set(0u32..60_000, 0..600),
            ends in proptest::collection::vec(0u32..70_000, 0..8),
        ) {
            let documents: Vec<u32> = documents.into_iter().collect();
            let (_, postings, _) = written(&documents);
            let (mut cursor, mut steps) = (Cursor::new(&postings), Cursor::new(&postings));
            for end in ends.into_iter().chain([u32::MAX]) {
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                cursor.each_until(end, |document, impact| found.push((document, impact)));
                while let Some(now) = steps.now().filter(|now| now.document < end) {
                    expected.push((now.document, now.impact));
                    steps.step();
                }
                prop_assert_eq!(found, expected);
                prop_assert_eq!(cursor.now(), steps.now());
            }
            prop_assert!(!cursor.is_damaged() && cursor.now().is_none());
        }

        #[test]
        fn damaged_bytes_end_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0u32..1000) {
            let mut cursor = Cursor::new(&bytes);
            let mut last = None;
            while let Some(now) = cursor.now() {
                prop_assert!(last < Some(now.document));
                last = Some(now.document);
                cursor.step();
            }
            let mut parts = Cursor::new(&bytes);
            parts.each_until(at, |_, _| {});
            parts.each_until(u32::MAX, |_, _| {});
            prop_assert_eq!(parts.is_damaged(), cursor.is_damaged());
            let mut cursor = Cursor::new(&bytes);
            cursor.seek(at);
            let _ = Places::new(&bytes, &bytes).of(at);
            let _ = read_ascending(&mut Reader::new(&bytes), 1000);
            let _ = crate::places::read(at.to_le_bytes()[0], &bytes);
        }
    }
}
