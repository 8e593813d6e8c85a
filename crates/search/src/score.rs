//! Answers: every document that has one of the words gets its score, the best are kept, and told why.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::SearchError;
use crate::bytes::place;
use crate::phrase;
use crate::plan::{LibraryView, Plan, PlanOption, points};
use crate::postings::{Cursor, Posting};
use crate::query::Mode;
use crate::tier::{Blob, Tier, tiers};
use crate::why::{Found, How, Parts, Why, coverage};
use crate::{Field, MAX_DOCUMENTS};

/// Documents that are scored at a time: their sums stay in the processor's cache.
const BLOCK: u32 = 1 << 15;

/// How many of the best are looked at again for words that stand together.
const LOOKED_AT_AGAIN: usize = 200;

/// In which order hits come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Score, quality, id, library.
    #[default]
    Score,
    /// Quality with none last, name, id, library; without a word, all documents.
    Quality,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its library's place in the list that was given.
    pub library: usize,
    /// Its number in the base; none for a document of the delta.
    pub number: Option<u32>,
    /// Its id.
    pub id: String,
    /// Higher is better; comparable within one answer. 0 when no word was asked for.
    pub score: u32,
    /// Why.
    pub why: Why,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The first ones, at most as many as were wanted.
    pub hits: Vec<Hit>,
    /// How many there are altogether.
    pub total: usize,
}

/// Answers a plan from what it asked for: `blobs` by library, as [`Plan::needs`] says. Reads every posting of every term
/// once, and no more memory than the sums of 32,768 documents and `limit` hits.
pub fn answer(
    libraries: &[LibraryView<'_>],
    plan: &Plan,
    blobs: &[Vec<Blob<'_>>],
    order: Order,
    limit: usize,
) -> Result<Answer, SearchError> {
    let tiers = tiers(libraries, plan, blobs)?;
    let looks_near = order == Order::Score && plan.mode == Mode::Comprehensive && plan.asked > 1;
    let kept = if looks_near { limit.max(LOOKED_AT_AGAIN) } else { limit };
    let (mut found, mut total) = (Vec::new(), 0);
    for (at, tier) in tiers.iter().enumerate() {
        let mut scan = Scan::new(tier, plan, order, kept)?;
        scan.run()?;
        total += scan.total;
        found.extend(scan.best.into_iter().map(|Reverse(ranked)| Candidate::new(at, tier, &ranked, order)));
    }
    sort(&mut found, &tiers);
    if looks_near {
        found.truncate(kept);
        let again = found.len().min(LOOKED_AT_AGAIN);
        let (first, _) = found.split_at_mut(again);
        look_again(first, &tiers, plan)?;
        sort(&mut found, &tiers);
    }
    found.truncate(limit);
    let hits = explained(found, &tiers, plan)?;
    Ok(Answer { hits, total })
}

/// A document that may be among the best.
struct Candidate {
    tier: usize,
    document: u32,
    parts: Parts,
    score: u32,
    /// Higher comes first; then names and ids decide.
    rank: u64,
    name: String,
    id: String,
}

impl Candidate {
    fn new(at: usize, tier: &Tier<'_>, ranked: &Ranked<'_>, order: Order) -> Self {
        let (document, parts, score) = (ranked.document, ranked.parts, ranked.score);
        let name = if order == Order::Quality { tier.name(document) } else { String::new() };
        Self { tier: at, document, parts, score, rank: ranked.rank, name, id: tier.id(document) }
    }
}

fn sort(found: &mut [Candidate], tiers: &[Tier<'_>]) {
    let library = |c: &Candidate| tiers.get(c.tier).map(|tier| tier.library);
    found.sort_by(|a, b| {
        let by_text = a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id));
        b.rank.cmp(&a.rank).then(by_text).then_with(|| library(a).cmp(&library(b)))
    });
}

/// What decides between documents of one tier that rank alike: less comes first. The documents of a base are numbered by
/// their ids, and their names by their letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tie<'t> {
    Base(u32, u32),
    Delta(&'t str, &'t str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ranked<'t> {
    rank: u64,
    tie: Tie<'t>,
    document: u32,
    score: u32,
    parts: Parts,
}

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank).then_with(|| other.tie.cmp(&self.tie))
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn rank(order: Order, score: u32, quality: Option<u8>) -> u64 {
    let quality = quality.map_or(0, |q| u64::from(q) + 1);
    match order {
        Order::Score => u64::from(score) << 8 | quality,
        Order::Quality => quality,
    }
}

/// One tier, gone through.
struct Scan<'s> {
    tier: &'s Tier<'s>,
    plan: &'s Plan,
    order: Order,
    kept: usize,
    best: BinaryHeap<Reverse<Ranked<'s>>>,
    total: usize,
    /// By how many words a document has.
    coverages: Vec<u64>,
    /// Of the documents of a block: what their words sum to, how many words they have, the best for this word.
    sums: Vec<u32>,
    matched: Vec<u8>,
    of_word: Vec<u32>,
    touched: Vec<u32>,
}

/// A term that goes on from block to block.
struct Option_<'s> {
    cursor: Cursor<'s>,
    table: Box<[u32; 256]>,
    exact: Option<(Cursor<'s>, u32)>,
}

fn table(worth: u32) -> Box<[u32; 256]> {
    let mut table = Box::new([0; 256]);
    for (impact, value) in (0..=u8::MAX).zip(table.iter_mut()) {
        *value = points(worth, impact);
    }
    table
}

impl<'s> Option_<'s> {
    fn new(tier: &'s Tier<'s>, term: usize, worth: u32, exact: Option<(usize, u32)>) -> Option<Self> {
        let exact = exact.and_then(|(term, worth)| Some((tier.cursor(term)?, worth)));
        Some(Self { cursor: tier.cursor(term)?, table: table(worth), exact })
    }

    /// Calls with every document before `end` and its points.
    #[inline]
    fn until(&mut self, end: u32, mut on: impl FnMut(u32, u32)) {
        while let Some(now) = self.cursor.now().filter(|now| now.document < end) {
            let [points, ..] = self.table.get(usize::from(now.impact)..).unwrap_or_default() else { return };
            let mut points = *points;
            if let Some((exact, worth)) = &mut self.exact {
                points = points.saturating_add(bonus(exact, *worth, now.document));
            }
            on(now.document, points);
            self.cursor.step();
        }
    }

    fn is_damaged(&self) -> bool {
        self.cursor.is_damaged() || self.exact.as_ref().is_some_and(|(exact, _)| exact.is_damaged())
    }
}

/// What a document has more for a word that stands in it as it was asked.
fn bonus(exact: &mut Cursor<'_>, worth: u32, document: u32) -> u32 {
    exact.seek(document);
    exact.now().filter(|now| now.document == document).map_or(0, |now| points(worth, now.impact))
}

impl<'s> Scan<'s> {
    fn new(tier: &'s Tier<'s>, plan: &'s Plan, order: Order, kept: usize) -> Result<Self, SearchError> {
        if tier.documents > MAX_DOCUMENTS {
            return Err(SearchError::TooMany("documents"));
        }
        let block = place(BLOCK.min(tier.documents));
        Ok(Self {
            tier,
            plan,
            order,
            kept,
            best: BinaryHeap::new(),
            total: 0,
            coverages: (0..=plan.asked).map(|n| coverage(n, plan.asked, &plan.tuning)).collect(),
            sums: vec![0; block],
            matched: vec![0; block],
            of_word: vec![0; block],
            touched: Vec::new(),
        })
    }

    fn run(&mut self) -> Result<(), SearchError> {
        let required = phrase::required(self.tier, self.plan)?;
        let excluded = phrase::excluded(self.tier, self.plan)?;
        let option = |o: &PlanOption| Option_::new(self.tier, o.term, o.worth, o.exact);
        let mut words: Vec<Vec<Option_<'s>>> =
            self.plan.words.iter().map(|word| word.options.iter().filter_map(option).collect()).collect();
        let pair = |p: &crate::plan::PlanPair| Option_::new(self.tier, p.term, p.worth, None);
        let mut pairs: Vec<Option_<'s>> = self.plan.pairs.iter().filter_map(pair).collect();
        let takes_all = self.order == Order::Quality && self.plan.asked == 0;
        let mut start = 0;
        while start < self.tier.documents {
            let end = start.saturating_add(BLOCK).min(self.tier.documents);
            self.sums.fill(0);
            self.matched.fill(0);
            for options in &mut words {
                self.word(options, start, end);
            }
            for pair in &mut pairs {
                let sums = &mut self.sums;
                pair.until(end, |document, points| {
                    if let Some(sum) = sums.get_mut(place(document - start)) {
                        *sum = sum.saturating_add(points);
                    }
                });
            }
            for document in start..end {
                let at = place(document - start);
                let matched = self.matched.get(at).copied().unwrap_or(0);
                if (matched > 0 || takes_all)
                    && required.as_ref().is_none_or(|bits| bits.has(document))
                    && excluded.as_ref().is_none_or(|bits| !bits.has(document))
                    && self.tier.is_looked_at(document)
                {
                    let sum = self.sums.get(at).copied().unwrap_or(0);
                    self.offer(document, sum, u32::from(matched));
                }
            }
            start = end;
        }
        let is_damaged = words.iter().flatten().chain(&pairs).any(Option_::is_damaged);
        if is_damaged { Err(SearchError::Corrupt("a list of documents")) } else { Ok(()) }
    }

    /// Adds the best of a word's options to the sums of a block.
    fn word(&mut self, options: &mut [Option_<'s>], start: u32, end: u32) {
        let Self { sums, matched, of_word, touched, .. } = self;
        let mut add = |at: usize, points: u32| {
            if let (Some(sum), Some(matched)) = (sums.get_mut(at), matched.get_mut(at)) {
                *sum = sum.saturating_add(points);
                *matched = matched.saturating_add(1);
            }
        };
        if let [only] = options {
            only.until(end, |document, points| add(place(document - start), points));
            return;
        }
        touched.clear();
        for option in options {
            option.until(end, |document, points| {
                if let Some(best) = of_word.get_mut(place(document - start)) {
                    if *best == 0 {
                        touched.push(document - start);
                    }
                    *best = points.max(*best);
                }
            });
        }
        for at in touched.iter().map(|at| place(*at)) {
            if let Some(best) = of_word.get_mut(at) {
                add(at, std::mem::take(best));
            }
        }
    }

    /// Keeps a document if it is among the best.
    fn offer(&mut self, document: u32, sum: u32, matched: u32) {
        self.total += 1;
        let facts = self.tier.facts(document);
        let parts = Parts {
            sum,
            matched,
            asked: self.plan.asked,
            near: 0,
            quality: facts.quality,
            verified: facts.verified,
        };
        let coverage = self.coverages.get(place(matched)).copied().unwrap_or(1000);
        let score = parts.covered(coverage, &self.plan.tuning).1;
        let rank = rank(self.order, score, facts.quality);
        let is_full = self.best.len() >= self.kept;
        if is_full && self.best.peek().is_none_or(|Reverse(least)| rank < least.rank) {
            return;
        }
        let by_name = self.order == Order::Quality;
        let tie = if self.tier.is_delta {
            let Some(found) = self.tier.view.delta.slot(document) else { return };
            Tie::Delta(if by_name { &found.name } else { "" }, &found.id)
        } else {
            Tie::Base(if by_name { self.tier.view.columns.name_place(document) } else { 0 }, document)
        };
        self.best.push(Reverse(Ranked { rank, tie, document, score, parts }));
        if is_full {
            self.best.pop();
        }
    }
}

/// Adds to the scores of those whose words stand together.
fn look_again(found: &mut [Candidate], tiers: &[Tier<'_>], plan: &Plan) -> Result<(), SearchError> {
    let Some(stems) = plan.words.iter().map(|word| word.stem).collect::<Option<Vec<usize>>>() else {
        return Ok(());
    };
    for (at, tier) in tiers.iter().enumerate() {
        let Some(mut places) = stems.iter().map(|t| tier.places(*t)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let mut of_tier: Vec<&mut Candidate> = found.iter_mut().filter(|c| c.tier == at).collect();
        of_tier.sort_unstable_by_key(|c| c.document);
        for candidate in of_tier {
            candidate.parts.near = phrase::near(&mut places, candidate.document, plan.tuning.near)?;
            candidate.score = candidate.parts.scores(&plan.tuning).1;
            candidate.rank = rank(Order::Score, candidate.score, candidate.parts.quality);
        }
    }
    Ok(())
}

/// Tells of each why it was found.
fn explained(found: Vec<Candidate>, tiers: &[Tier<'_>], plan: &Plan) -> Result<Vec<Hit>, SearchError> {
    let mut reasons: Vec<Vec<Found>> = found.iter().map(|_| Vec::new()).collect();
    for (at, tier) in tiers.iter().enumerate() {
        let mut of_tier: Vec<(u32, usize)> =
            found.iter().enumerate().filter(|(_, c)| c.tier == at).map(|(i, c)| (c.document, i)).collect();
        of_tier.sort_unstable();
        let mut cursors: Vec<Option<Cursor<'_>>> = (0..plan.terms.len()).map(|t| tier.cursor(t)).collect();
        for (document, i) in of_tier {
            let mut look = |term: usize| -> Option<Posting> {
                let cursor = cursors.get_mut(term)?.as_mut()?;
                cursor.seek(document);
                cursor.now().filter(|now| now.document == document)
            };
            if let Some(reasons) = reasons.get_mut(i) {
                *reasons = reasons_for(plan, &mut look);
            }
        }
        if cursors.iter().flatten().any(Cursor::is_damaged) {
            return Err(SearchError::Corrupt("a list of documents"));
        }
    }
    let hit = |(candidate, found): (Candidate, Vec<Found>)| {
        let tier = tiers.get(candidate.tier)?;
        let score = if plan.asked == 0 { 0 } else { candidate.score };
        Some(Hit {
            library: tier.library,
            number: (!tier.is_delta).then_some(candidate.document),
            id: candidate.id,
            score,
            why: Why::new(found, candidate.parts, &plan.tuning),
        })
    };
    Ok(found.into_iter().zip(reasons).filter_map(hit).collect())
}

/// What of a question a document has; the same as was added up.
fn reasons_for(plan: &Plan, look: &mut impl FnMut(usize) -> Option<Posting>) -> Vec<Found> {
    let mut found = Vec::new();
    let text = |term: usize| plan.terms.get(term).map_or("", |t| t.text.as_str());
    for word in &plan.words {
        let mut best: Option<Found> = None;
        for option in &word.options {
            let Some(posting) = look(option.term) else { continue };
            let mut reason = Found {
                word: word.text.clone(),
                found: text(option.term).to_owned(),
                how: option.how,
                fields: Field::of(posting.fields),
                share: 0,
                points: points(option.worth, posting.impact),
            };
            if let Some((term, worth)) = option.exact
                && let Some(exact) = look(term)
            {
                reason.points = reason.points.saturating_add(points(worth, exact.impact));
                reason.found.clone_from(&word.text);
                if reason.how == How::Stem {
                    reason.how = How::Exact;
                }
            } else if reason.how == How::Stem && !crate::words::is_stemmed(&word.text) {
                reason.how = How::Exact;
            }
            if best.as_ref().is_none_or(|best| reason.points > best.points) {
                best = Some(reason);
            }
        }
        found.extend(best);
    }
    for pair in &plan.pairs {
        if let Some(posting) = look(pair.term) {
            found.push(Found {
                word: pair.text.clone(),
                found: pair.text.clone(),
                how: How::Phrase,
                fields: Field::of(posting.fields),
                share: 0,
                points: points(pair.worth, posting.impact),
            });
        }
    }
    found
}
