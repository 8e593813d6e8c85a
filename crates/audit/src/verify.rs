//! What anyone can check about a ledger's folder, or a copy of it, with what is in hand.
#![allow(clippy::disallowed_methods, reason = "reads the ledger's own folder, which no tool can")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use contract::{Digest, TranscriptId};
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};

use crate::chain::RatchetKey;
use crate::checkpoint::{self, BadNote, Checkpoint};
use crate::ledger::{self, Anchor, Held, KeyFile, LedgerError, io};
use crate::merkle::{self, Frontier};
use crate::record::{self, Body, Entry};

/// What to check against.
#[derive(Default, Clone)]
pub struct With {
    /// The first ratchet key; without it MACs are not checked.
    pub initial_key: Option<KeyFile>,
    /// Anchors kept outside.
    pub anchors: Vec<Anchor>,
    /// The signing key that is expected at the beginning; without it, the one that the ledger states.
    pub public_key: Option<VerifyingKey>,
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// Worth knowing.
    Note,
    /// Evidence of a crash.
    Warning,
    /// The ledger is not what was written.
    Broken,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How grave it is.
    pub gravity: Gravity,
    /// A stable name: `hash`, `chain`, `sequence`, `mac`, `segment`, `checkpoint`, `anchor`, `truncated`, `key`,
    /// `head`, `uncounted`, `orphan_intent`, `recovery`, `mac_unchecked`.
    pub code: String,
    /// The record it is about.
    pub seq: Option<u64>,
    /// What it is, for people.
    pub message: String,
}

/// The verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The ledger's id.
    pub ledger: String,
    /// Records read.
    pub records: u64,
    /// Transcripts among them.
    pub transcripts: u64,
    /// The Merkle root over them.
    pub root: Digest,
    /// Whether nothing is broken.
    pub intact: bool,
    /// Whether every MAC was checked, with the first key in hand.
    pub macs_checked: bool,
    /// How many checkpoints matched.
    pub checkpoints: u64,
    /// How many outside anchors matched. At zero, whoever ran as the same account could have rewritten everything.
    pub anchors: u64,
    /// Everything that was found, in order.
    pub findings: Vec<Finding>,
}

impl Report {
    /// `verified`, `unanchored` or `broken`.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match (self.intact, self.anchors) {
            (false, _) => "broken",
            (true, 0) => "unanchored",
            (true, _) => "verified",
        }
    }
}

/// Checks the ledger in `dir`, handing every intact record to `each` on the way.
pub fn verify(dir: &Path, with: &With, mut each: impl FnMut(&Entry)) -> Result<Report, LedgerError> {
    let mut check = Check::new(with);
    // Under the lock no append is half-way, and the head is that of the segments; a copy may lack the file.
    let lock = File::open(dir.join(ledger::LOCK)).ok();
    let _held = lock.as_ref().map(Held::shared).transpose()?;
    if let Ok(file) = File::open(dir.join(ledger::HEAD)) {
        check.head =
            ledger::Head::read(&file).map_or(HeadFile::Damaged, |head| HeadFile::Read(Box::new(head)));
    }
    let notes = notes(dir)?;
    check.asked.extend(notes.iter().filter_map(|note| Checkpoint::size_stated(note)));
    for number in ledger::segment_numbers(dir)? {
        check.segment(dir, number, &mut each)?;
    }
    check.against_head();
    check.against_checkpoints(dir, &notes)?;
    Ok(check.finish())
}

/// The head beside the segments.
enum HeadFile {
    Missing,
    Damaged,
    Read(Box<ledger::Head>),
}

struct Check<'a> {
    with: &'a With,
    key: Option<RatchetKey>,
    ledger: Option<String>,
    /// Each key with the record from which it is in force.
    signing: Vec<(u64, VerifyingKey)>,
    /// What the head says: none there, damaged, or read.
    head: HeadFile,
    next_seq: u64,
    last_hash: Digest,
    frontier: Frontier,
    segment: u64,
    /// The sizes whose roots checkpoints and anchors ask for.
    asked: BTreeSet<u64>,
    /// Those roots, where they are known.
    wanted: BTreeMap<u64, Option<Digest>>,
    intents: BTreeMap<TranscriptId, u64>,
    records: u64,
    transcripts: u64,
    checkpoints: u64,
    findings: Vec<Finding>,
    roots_known: bool,
}

impl<'a> Check<'a> {
    fn new(with: &'a With) -> Self {
        Self {
            with,
            key: with.initial_key.as_ref().map(|k| k.0.clone()),
            ledger: None,
            signing: Vec::new(),
            head: HeadFile::Missing,
            next_seq: 0,
            last_hash: Digest::ZERO,
            frontier: Frontier::default(),
            segment: 0,
            asked: with.anchors.iter().filter_map(|anchor| anchor.seq.checked_add(1)).collect(),
            wanted: BTreeMap::new(),
            intents: BTreeMap::new(),
            records: 0,
            transcripts: 0,
            checkpoints: 0,
            findings: Vec::new(),
            roots_known: true,
        }
    }

    fn find(&mut self, gravity: Gravity, code: &str, seq: Option<u64>, message: impl Into<String>) {
        self.findings.push(Finding { gravity, code: code.into(), seq, message: message.into() });
    }

    fn broken(&mut self, code: &str, seq: u64, message: impl Into<String>) {
        self.find(Gravity::Broken, code, Some(seq), message);
    }

    fn segment(&mut self, dir: &Path, number: u64, each: &mut impl FnMut(&Entry)) -> Result<(), LedgerError> {
        if number != self.segment + 1 {
            let message = format!("segment {} is followed by segment {number}", self.segment);
            self.broken("segment", self.next_seq, message);
        }
        self.segment = number;
        let file = File::open(ledger::segment_path(dir, number)).map_err(io("segment", "opened"))?;
        let length = file.metadata().map_err(io("segment", "read"))?.len();
        // What the head has not counted is the trace of a process that stopped, and is recovered by the next.
        let counted = match &self.head {
            HeadFile::Read(head) if head.segment == number => head.segment_len.min(length),
            HeadFile::Read(head) if number > head.segment => 0,
            _ => length,
        };
        if counted < length {
            let message =
                format!("{} bytes at the end are not counted yet: a process stopped there", length - counted);
            self.find(Gravity::Warning, "uncounted", None, message);
        }
        let mut reader = BufReader::with_capacity(256 * 1024, file.take(counted));
        let mut line = Vec::new();
        let mut first = counted > 0;
        loop {
            line.clear();
            let read = reader
                .by_ref()
                .take(ledger::MAX_RECORD as u64 + 1)
                .read_until(b'\n', &mut line)
                .map_err(io("segment", "read"))?;
            if read == 0 {
                break;
            }
            let Some(bare) = line.strip_suffix(b"\n") else {
                self.broken("hash", self.next_seq, "the last line is torn");
                break;
            };
            if let Some(entry) = self.line(bare, first) {
                each(&entry);
            }
            first = false;
        }
        if first {
            self.broken("segment", self.next_seq, format!("segment {number} is empty"));
        }
        Ok(())
    }

    fn line(&mut self, bare: &[u8], first: bool) -> Option<Entry> {
        self.records += 1;
        let opened = match record::open(bare) {
            Ok(opened) => opened,
            Err(error) => {
                self.broken("hash", self.next_seq, error.to_string());
                let bound = record::bound(bare).map(|bound| (bound.leaf, bound.hash));
                let (leaf, hash) = bound.unwrap_or_else(|_| (merkle::leaf(bare), Digest::of(bare)));
                self.step(leaf, hash);
                return None;
            }
        };
        let (seq, leaf) = (opened.entry.seq, opened.leaf);
        if seq != self.next_seq {
            let message = format!("record {} was expected, {seq} stands here", self.next_seq);
            self.broken("sequence", seq, message);
            // Keys only ratchet forward: a gap can be stepped over, a repetition cannot.
            if let Some(key) = &mut self.key
                && let Some(steps) = seq.checked_sub(self.next_seq).filter(|n| *n < 1 << 24)
            {
                (0..steps).for_each(|_| *key = key.next());
            }
            self.roots_known = false;
        }
        if opened.entry.prev_hash != self.last_hash {
            self.broken("chain", seq, "it does not point at the record before it");
        }
        if self.key.as_ref().is_some_and(|key| !opened.is_sealed_with(key)) {
            self.broken("mac", seq, "its MAC is not the ledger's");
        }
        let entry = opened.entry;
        match (&entry.body, first) {
            (Body::Segment(segment), true) => self.begins(seq, segment),
            (Body::Segment(_), false) => self.broken("segment", seq, "a segment begins inside another"),
            (_, true) => self.broken("segment", seq, "the segment does not begin with its header"),
            _ => {}
        }
        self.next_seq = seq;
        self.step(leaf, entry.integrity_hash);
        self.content(&entry);
        Some(entry)
    }

    fn step(&mut self, leaf: Digest, hash: Digest) {
        self.next_seq += 1;
        self.last_hash = hash;
        self.frontier.push(leaf);
        if let Some(key) = &mut self.key {
            *key = key.next();
        }
        if self.asked.contains(&self.next_seq) {
            let root = self.roots_known.then(|| self.frontier.root());
            self.wanted.insert(self.next_seq, root);
        }
    }

    fn begins(&mut self, seq: u64, segment: &record::Segment) {
        match self.ledger.clone() {
            None => self.ledger = Some(segment.ledger.clone()),
            Some(id) if id != segment.ledger => self.broken("segment", seq, "it belongs to another ledger"),
            Some(_) => {}
        }
        if segment.segment != self.segment {
            self.broken("segment", seq, format!("it says that it is segment {}", segment.segment));
        }
        match Frontier::new(seq, segment.frontier.clone()) {
            None => self.broken("segment", seq, "its statement of what came before is malformed"),
            Some(stated) => {
                if self.roots_known && stated.root() != self.frontier.root() {
                    self.broken("segment", seq, "what it says came before is not what stands before it");
                }
                // After a gap the header's own statement is all there is to go on.
                self.frontier = stated;
                self.roots_known = true;
            }
        }
        let Some(key) = checkpoint::decode_key(&segment.public_key) else {
            return self.broken("key", seq, "its signing key is malformed");
        };
        match self.signing.last() {
            Some((_, current)) if *current == key => {}
            Some(_) => self.broken("key", seq, "its signing key is not the one in force"),
            None => {
                if self.with.public_key.as_ref().is_some_and(|expected| *expected != key) {
                    self.broken("key", seq, "its signing key is not the one expected");
                }
                self.signing.push((0, key));
            }
        }
    }

    fn content(&mut self, entry: &Entry) {
        match &entry.body {
            Body::Intent(intent) => {
                self.intents.insert(intent.id.clone(), entry.seq);
            }
            Body::Transcript(transcript) => {
                self.transcripts += 1;
                self.intents.remove(&transcript.id);
            }
            Body::Recovery(recovery) => {
                self.find(Gravity::Note, "recovery", Some(entry.seq), recovery.reason.clone());
            }
            Body::Rekey(rekey) => {
                let ledger = self.ledger.clone().unwrap_or_default();
                let message = checkpoint::rekey_message(&ledger, &rekey.public_key);
                let signed = self
                    .signing
                    .last()
                    .is_some_and(|(_, old)| checkpoint::verify(old, &message, &rekey.signature));
                match checkpoint::decode_key(&rekey.public_key) {
                    Some(key) if signed => self.signing.push((entry.seq, key)),
                    _ => self.broken("key", entry.seq, "the new signing key is not signed by the old one"),
                }
            }
            Body::Segment(_) => {}
        }
    }

    fn against_head(&mut self) {
        match std::mem::replace(&mut self.head, HeadFile::Missing) {
            HeadFile::Missing => {
                let message = "there is no head: whether the end is missing is unknown";
                self.find(Gravity::Warning, "truncated", None, message);
            }
            HeadFile::Damaged => self.broken("truncated", self.next_seq, "the head is damaged"),
            HeadFile::Read(head) if head.size > self.next_seq => {
                let message = format!("the head counts {} records, {} are here", head.size, self.next_seq);
                self.broken("truncated", self.next_seq, message);
            }
            HeadFile::Read(head) => {
                let same = head.size == self.next_seq
                    && head.last_hash == self.last_hash
                    && (!self.roots_known || head.frontier.root() == self.frontier.root());
                if !same || self.ledger.as_ref().is_some_and(|id| *id != head.ledger) {
                    self.broken("head", self.next_seq, "the head knows other records than are here");
                }
            }
        }
    }

    fn against_checkpoints(&mut self, dir: &Path, notes: &[String]) -> Result<(), LedgerError> {
        let mut open = Vec::new();
        for note in notes {
            match self.open_note(note) {
                Ok(checkpoint) => open.push(checkpoint),
                Err(error) => {
                    self.find(Gravity::Broken, "checkpoint", None, format!("a checkpoint is {error}"));
                }
            }
        }
        // Roots that are not known after a gap are those of the lines as they stand.
        let sizes: Vec<u64> = open.iter().map(|c| c.size).collect();
        let roots = roots_at(dir, &sizes, &self.wanted)?;
        for checkpoint in open {
            let seq = checkpoint.size.saturating_sub(1);
            if checkpoint.size > self.next_seq {
                let message =
                    format!("a checkpoint covers {} records, {} are here", checkpoint.size, self.next_seq);
                self.broken("truncated", seq, message);
            } else if Some(&checkpoint.ledger) != self.ledger.as_ref() {
                self.broken("checkpoint", seq, "a checkpoint belongs to another ledger");
            } else if roots.get(&checkpoint.size) == Some(&checkpoint.root) {
                self.checkpoints += 1;
            } else {
                self.broken("checkpoint", seq, "a signed checkpoint has another root");
            }
        }
        Ok(())
    }

    /// Opens a note with the key that was in force at its size.
    fn open_note(&self, note: &str) -> Result<Checkpoint, BadNote> {
        let mut verdict = Err(BadNote::Key);
        for (index, (from, key)) in self.signing.iter().enumerate() {
            verdict = Checkpoint::open(note, key);
            if let Ok(checkpoint) = &verdict {
                let until = self.signing.get(index + 1).map_or(u64::MAX, |(next, _)| *next);
                let last = checkpoint.size.saturating_sub(1);
                return if (*from..=until).contains(&last) { verdict } else { Err(BadNote::Retired) };
            }
        }
        verdict
    }

    fn finish(mut self) -> Report {
        let mut anchored = 0;
        for anchor in &self.with.anchors {
            if Some(&anchor.ledger) != self.ledger.as_ref() {
                self.find(Gravity::Broken, "anchor", Some(anchor.seq), "an anchor belongs to another ledger");
            } else if anchor.seq >= self.next_seq {
                let message = format!(
                    "an anchor covers record {}, only {} records are here",
                    anchor.seq, self.next_seq
                );
                self.find(Gravity::Broken, "anchor", Some(anchor.seq), message);
            } else if self.wanted.get(&anchor.seq.saturating_add(1)) == Some(&Some(anchor.root)) {
                anchored += 1;
            } else {
                self.find(Gravity::Broken, "anchor", Some(anchor.seq), "an anchor has another root");
            }
        }
        for (id, seq) in std::mem::take(&mut self.intents) {
            let message = format!("call {id} was about to apply a plan and left no transcript: a crash");
            self.find(Gravity::Warning, "orphan_intent", Some(seq), message);
        }
        if self.key.is_none() {
            let message = "MACs were not checked: the first key is not in hand";
            self.find(Gravity::Note, "mac_unchecked", None, message);
        }
        if self.records == 0 {
            self.find(Gravity::Broken, "truncated", None, "there is no record");
        }
        self.findings.sort_by_key(|f| f.seq);
        Report {
            ledger: self.ledger.unwrap_or_default(),
            records: self.records,
            transcripts: self.transcripts,
            root: self.frontier.root(),
            intact: self.findings.iter().all(|f| f.gravity < Gravity::Broken),
            macs_checked: self.key.is_some(),
            checkpoints: self.checkpoints,
            anchors: anchored,
            findings: self.findings,
        }
    }
}

/// The checkpoints' notes, in order.
fn notes(dir: &Path) -> Result<Vec<String>, LedgerError> {
    #[derive(Deserialize)]
    struct Line {
        note: String,
    }
    let Ok(file) = File::open(dir.join(ledger::CHECKPOINTS)) else { return Ok(Vec::new()) };
    let mut notes = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(io("checkpoints", "read"))?;
        // A torn note is a crash between record and note; it says nothing.
        notes.extend(serde_json::from_slice(&line).map(|Line { note }| note));
    }
    Ok(notes)
}

/// The Merkle roots at `sizes`, over the lines as they stand; those in `known` are not computed again.
fn roots_at(
    dir: &Path,
    sizes: &[u64],
    known: &BTreeMap<u64, Option<Digest>>,
) -> Result<BTreeMap<u64, Digest>, LedgerError> {
    let mut roots: BTreeMap<u64, Digest> =
        known.iter().filter_map(|(n, root)| Some((*n, (*root)?))).collect();
    if sizes.iter().all(|n| roots.contains_key(n)) {
        return Ok(roots);
    }
    let wanted: BTreeSet<u64> = sizes.iter().copied().collect();
    let mut frontier = Frontier::default();
    for_each_line(dir, |line| {
        frontier.push(record::leaf_of(line));
        if wanted.contains(&frontier.size()) {
            roots.insert(frontier.size(), frontier.root());
        }
    })?;
    Ok(roots)
}

/// Every line of every segment, in order, without its newline.
pub fn for_each_line(dir: &Path, mut each: impl FnMut(&[u8])) -> Result<(), LedgerError> {
    for number in ledger::segment_numbers(dir)? {
        let file = File::open(ledger::segment_path(dir, number)).map_err(io("segment", "opened"))?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(io("segment", "read"))? > 0 {
            each(line.strip_suffix(b"\n").unwrap_or(&line));
            line.clear();
        }
    }
    Ok(())
}
