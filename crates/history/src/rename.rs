//! Renames: deleted and added files that are the same, or enough of the same.
//!
//! The order of the tries and the measure are git's (gitdiffcore(7), 2.47): identical files first, then equal names at
//! three quarters, then the best pairs at one half; a file's measure is how many bytes of it lie in lines, or pieces of 64
//! bytes, that the other has too.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::tree::EntryKind;

use crate::content::{self, Reader};
use crate::error::Done;
use crate::paths::base;
use crate::tree::{Content, Delta, Side};

const MAX_SCORE: u64 = 60_000;
const HALF: u64 = MAX_SCORE / 2;
/// For pairs with the same name.
const NAMED: u64 = MAX_SCORE * 3 / 4;

/// More candidates on each side than this are not compared by content; git's default.
const MAX_CANDIDATES: usize = 1000;

/// Most bytes that are measured in all; what is left over is not taken for a rename.
const MAX_BYTES: u64 = 256 << 20;

/// How many sources are kept for each destination.
const KEPT: usize = 4;

/// One end of a possible rename.
struct End {
    at: usize,
    side: Side,
    id: Option<ObjectId>,
    measure: Measured,
    used: bool,
}

/// Whether an end was measured.
enum Measured {
    NotYet,
    /// It is too large, gone, or came after the last byte that is measured.
    Never,
    As(Measure),
}

/// What a file consists of: bytes by the hash of the piece they are in.
struct Measure {
    size: u64,
    pieces: BTreeMap<u64, u64>,
}

struct Detection<'a, 'r> {
    reader: &'a Reader<'r>,
    deltas: &'a [Delta],
    left: u64,
    pairs: BTreeMap<usize, usize>,
}

/// Joins deletions and additions that are renames.
pub(crate) fn detect(reader: &Reader<'_>, deltas: Vec<Delta>) -> Done<Vec<Delta>> {
    let end = |at: usize, side: Option<Side>| {
        let side = side?;
        let id = match side.content {
            Content::Object(id) => Some(id),
            Content::WorkTree => None,
        };
        Some(End { at, side, id, measure: Measured::NotYet, used: false })
    };
    let pick = |one: fn(&Delta) -> Option<Side>, other: fn(&Delta) -> Option<Side>| -> Vec<End> {
        let one_sided = deltas.iter().enumerate().filter(|(_, d)| other(d).is_none());
        one_sided.filter_map(|(at, d)| end(at, one(d))).collect()
    };
    let mut sources = pick(|d| d.old, |d| d.new);
    let mut targets = pick(|d| d.new, |d| d.old);
    if sources.is_empty() || targets.is_empty() {
        return Ok(deltas);
    }
    let mut this = Detection { reader, deltas: &deltas, left: MAX_BYTES, pairs: BTreeMap::new() };
    this.identical(&mut sources, &mut targets)?;
    sources.retain(|s| !s.used);
    targets.retain(|t| !t.used);
    if !sources.is_empty()
        && !targets.is_empty()
        && sources.len().saturating_mul(targets.len()) <= MAX_CANDIDATES * MAX_CANDIDATES
    {
        this.named(&mut sources, &mut targets)?;
        this.similar(&mut sources, &mut targets)?;
    }
    let pairs = this.pairs;
    let gone: BTreeSet<usize> = pairs.values().copied().collect();
    let mut out = Vec::with_capacity(deltas.len());
    for (at, delta) in deltas.iter().enumerate() {
        let mut delta = delta.clone();
        if let Some(source) = pairs.get(&at).and_then(|source| deltas.get(*source)) {
            delta.from = Some(source.path.clone());
            delta.old = source.old;
        } else if gone.contains(&at) {
            continue;
        }
        out.push(delta);
    }
    Ok(out)
}

fn regular(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable)
}

impl Detection<'_, '_> {
    fn path(&self, end: &End) -> &BStr {
        self.deltas.get(end.at).map_or(b"".as_bstr(), |d| d.path.as_bstr())
    }

    fn pair(&mut self, source: &mut End, target: &mut End) {
        source.used = true;
        target.used = true;
        self.pairs.insert(target.at, source.at);
    }

    /// The stored bytes of one end; `None` where they are too many.
    fn bytes(&self, end: &End) -> Done<Option<Vec<u8>>> {
        if end.side.kind == EntryKind::Commit {
            return Ok(None);
        }
        self.reader.read(self.path(end), end.side)
    }

    fn identical(&mut self, sources: &mut [End], targets: &mut [End]) -> Done<()> {
        for end in targets.iter_mut().filter(|t| t.id.is_none()) {
            end.id = self.bytes(end)?.map(|bytes| content::id_of(&bytes)).transpose()?;
        }
        let mut by_id: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        for (at, source) in sources.iter().enumerate() {
            if let Some(id) = source.id {
                by_id.entry(id).or_default().push(at);
            }
        }
        for target in targets.iter_mut() {
            let Some(same) = target.id.and_then(|id| by_id.get(&id)) else { continue };
            let mut best: Option<(usize, bool)> = None;
            // Many identical files are as good as each other.
            for at in same.iter().copied().take(100) {
                let Some(source) = sources.get(at).filter(|s| !s.used) else { continue };
                self.reader.tree.budget.entry()?;
                let kinds = (source.side.kind, target.side.kind);
                if !(regular(kinds.0) && regular(kinds.1)) && kinds.0 != kinds.1 {
                    continue;
                }
                let named = base(self.path(source)) == base(self.path(target));
                if best.is_none_or(|(_, best_named)| named && !best_named) {
                    best = Some((at, named));
                    if named {
                        break;
                    }
                }
            }
            if let Some(source) = best.and_then(|(at, _)| sources.get_mut(at)) {
                self.pair(source, target);
            }
        }
        Ok(())
    }

    /// Pairs whose name, without the folder, is the only one of its kind on both sides.
    fn named(&mut self, sources: &mut [End], targets: &mut [End]) -> Done<()> {
        let names = |ends: &[End]| {
            let mut out: BTreeMap<Vec<u8>, Option<usize>> = BTreeMap::new();
            for (at, end) in ends.iter().enumerate() {
                let name = base(self.path(end)).to_vec();
                out.entry(name).and_modify(|known| *known = None).or_insert(Some(at));
            }
            out
        };
        let (from, to) = (names(sources), names(targets));
        for (name, at) in from {
            let Some((source, target)) = at.zip(to.get(&name).copied().flatten()) else { continue };
            let (Some(source), Some(target)) = (sources.get_mut(source), targets.get_mut(target)) else {
                continue;
            };
            if self.score(source, target)? >= NAMED {
                self.pair(source, target);
            }
        }
        Ok(())
    }

    /// The best pairs of what is left.
    fn similar(&mut self, sources: &mut [End], targets: &mut [End]) -> Done<()> {
        /// Score, equal names, source, target.
        type Candidate = (u64, bool, usize, usize);
        let mut all: Vec<Candidate> = Vec::new();
        for to in 0..targets.len() {
            let mut kept: Vec<Candidate> = Vec::new();
            for from in 0..sources.len() {
                let (Some(source), Some(target)) = (sources.get_mut(from), targets.get_mut(to)) else {
                    continue;
                };
                if source.used || target.used {
                    continue;
                }
                self.reader.tree.budget.entry()?;
                let score = self.score(source, target)?;
                let named = base(self.path(source)) == base(self.path(target));
                if score >= HALF {
                    kept.push((score, named, from, to));
                    kept.sort_by_key(|c| std::cmp::Reverse((c.0, c.1)));
                    kept.truncate(KEPT);
                }
            }
            all.extend(kept);
        }
        all.sort_by_key(|c| std::cmp::Reverse((c.0, c.1)));
        for (_, _, from, to) in all {
            let (Some(source), Some(target)) = (sources.get_mut(from), targets.get_mut(to)) else { continue };
            if !source.used && !target.used {
                self.pair(source, target);
            }
        }
        Ok(())
    }

    fn measured(&mut self, end: &mut End) -> Done<()> {
        if !matches!(end.measure, Measured::NotYet) {
            return Ok(());
        }
        let bytes = if self.left == 0 { None } else { self.bytes(end)? };
        self.left = self.left.saturating_sub(bytes.as_ref().map_or(0, |b| b.len() as u64));
        end.measure = bytes.map_or(Measured::Never, |bytes| Measured::As(Measure::of(&bytes)));
        Ok(())
    }

    fn score(&mut self, source: &mut End, target: &mut End) -> Done<u64> {
        if !regular(source.side.kind) || !regular(target.side.kind) {
            return Ok(0);
        }
        self.measured(source)?;
        self.measured(target)?;
        let (Measured::As(from), Measured::As(to)) = (&source.measure, &target.measure) else { return Ok(0) };
        let larger = from.size.max(to.size);
        if larger * (MAX_SCORE - HALF) < from.size.abs_diff(to.size) * MAX_SCORE || to.size == 0 {
            return Ok(0);
        }
        let shared: u64 =
            from.pieces.iter().filter_map(|(hash, n)| to.pieces.get(hash).map(|m| *n.min(m))).sum();
        Ok(shared * MAX_SCORE / larger)
    }
}

impl Measure {
    fn of(bytes: &[u8]) -> Self {
        let text = !is_binary(bytes);
        let mut pieces: BTreeMap<u64, u64> = BTreeMap::new();
        let mut piece: Vec<u8> = Vec::with_capacity(64);
        let mut finish = |piece: &mut Vec<u8>| {
            let mut hasher = DefaultHasher::new();
            hasher.write(piece);
            *pieces.entry(hasher.finish()).or_default() += piece.len() as u64;
            piece.clear();
        };
        let mut rest = bytes.iter().copied().peekable();
        while let Some(byte) = rest.next() {
            if text && byte == b'\r' && rest.peek() == Some(&b'\n') {
                continue;
            }
            piece.push(byte);
            if piece.len() == 64 || byte == b'\n' {
                finish(&mut piece);
            }
        }
        if !piece.is_empty() {
            finish(&mut piece);
        }
        Self { size: bytes.len() as u64, pieces }
    }
}

/// Whether git takes the bytes for binary: a NUL among the first 8000.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8000).any(|b| *b == 0)
}
