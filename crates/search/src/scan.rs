//! The lists of a tier, gone through once: every document's words are added up, and the best documents are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::panic::resume_unwind;

use crate::bytes::place;
use crate::plan::{Plan, PlanOption, PlanPair, PlanWord, points};
use crate::postings::Cursor;
use crate::score::Order;
use crate::share::{shares, workers};
use crate::tier::{Bits, Tier};
use crate::why::{Parts, coverage};
use crate::{MAX_DOCUMENTS, SearchError, phrase};

/// Documents that are scored at a time: their sums stay in the processor's cache.
pub(crate) const BLOCK: u32 = 1 << 15;

/// Documents that are gone through before it is looked again which sums are too small.
const STRETCH: u32 = 512;

/// Documents that are looked at together: most have none of the words. A byte of each makes a number.
const GROUP: usize = size_of::<u64>();
const PER_GROUP: u32 = u64::BITS / u8::BITS;

/// What decides between documents of one tier that rank alike: less comes first. The documents of a base are numbered by
/// their ids, and their names by their letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tie<'t> {
    Base(u32, u32),
    Delta(&'t str, &'t str),
}

/// A document among the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ranked<'t> {
    /// Higher comes first.
    pub(crate) rank: u64,
    tie: Tie<'t>,
    pub(crate) document: u32,
    pub(crate) score: u32,
    pub(crate) parts: Parts,
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

pub(crate) fn rank(order: Order, score: u32, quality: Option<u8>) -> u64 {
    let quality = quality.map_or(0, |q| u64::from(q) + 1);
    match order {
        Order::Score => u64::from(score) << 8 | quality,
        Order::Quality => quality,
    }
}

/// The best of a tier, in no order, and how many there are altogether.
pub(crate) struct Best<'s> {
    pub(crate) ranked: Vec<Ranked<'s>>,
    pub(crate) total: usize,
}

/// Goes through a tier, and keeps so many. A large one is shared out among the processors: whoever asks waits.
pub(crate) fn best<'s>(
    tier: &'s Tier<'s>,
    plan: &'s Plan,
    order: Order,
    kept: usize,
) -> Result<Best<'s>, SearchError> {
    best_of(tier, plan, (order, kept), &shares(tier.documents, workers()))
}

/// The same in these shares, which begin where blocks do.
fn best_of<'s>(
    tier: &'s Tier<'s>,
    plan: &'s Plan,
    (order, kept): (Order, usize),
    shares: &[Range<u32>],
) -> Result<Best<'s>, SearchError> {
    if tier.documents > MAX_DOCUMENTS {
        return Err(SearchError::TooMany("documents"));
    }
    let gate = Gate {
        required: phrase::required(tier, plan)?,
        excluded: phrase::excluded(tier, plan)?,
        is_open: tier.is_all_looked_at() && plan.phrases.is_empty() && plan.excluded.is_empty(),
        // What has none of the words is found where none was asked for.
        takes_all: order == Order::Quality && plan.asked == 0,
    };
    let part = &|documents| part(tier, plan, &gate, (order, kept), documents);
    let (first, others) = match shares {
        [] => return part(0..0),
        [all] => return part(all.clone()),
        [first, others @ ..] => (first, others),
    };
    std::thread::scope(|scope| {
        // Where the system gives no thread, it is done here.
        let begun = |share: &Range<u32>| {
            let share = share.clone();
            let thread = std::thread::Builder::new().name("search".to_owned());
            (share.clone(), thread.spawn_scoped(scope, move || part(share)))
        };
        let others: Vec<_> = others.iter().map(begun).collect();
        let mut all = part(first.clone())?;
        for (share, other) in others {
            let Best { ranked, total } = match other {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic))?,
                Err(_) => part(share)?,
            };
            all.ranked.extend(ranked);
            all.total += total;
        }
        Ok(all)
    })
}

/// Goes through some of a tier, from the beginning of a block on, and keeps so many.
fn part<'s>(
    tier: &'s Tier<'s>,
    plan: &'s Plan,
    gate: &Gate,
    (order, kept): (Order, usize),
    documents: Range<u32>,
) -> Result<Best<'s>, SearchError> {
    let mut words: Vec<Vec<Scored<'s>>> = plan.words.iter().map(|word| Scored::of(tier, word)).collect();
    let pair = |pair: &PlanPair| Scored::new(tier, pair.term, pair.worth, None);
    let mut pairs: Vec<Scored<'s>> = plan.pairs.iter().filter_map(pair).collect();
    let Range { mut start, end: last } = documents;
    if start > 0 {
        words.iter_mut().flatten().chain(&mut pairs).for_each(|scored| scored.seek(start));
    }
    let mut tally = Tally::new(place(BLOCK.min(last - start).next_multiple_of(PER_GROUP)));
    let mut keeping = Keeping::new(tier, plan, order, kept);
    while start < last {
        let end = start.saturating_add(BLOCK).min(last);
        tally.clear();
        for options in &mut words {
            tally.word(options, start, end);
        }
        for pair in &mut pairs {
            tally.pair(pair, start, end);
        }
        keeping.sweep(&tally, gate, start, end);
        start = end;
    }
    let is_damaged = words.iter().flatten().chain(&pairs).any(Scored::is_damaged);
    if is_damaged { Err(SearchError::Corrupt("a list of documents")) } else { Ok(keeping.best()) }
}

/// Which documents are passed over whatever they have.
struct Gate {
    required: Option<Bits>,
    excluded: Option<Bits>,
    /// Whether none is.
    is_open: bool,
    /// Whether those that have no word are taken, too.
    takes_all: bool,
}

impl Gate {
    #[inline]
    fn lets_in(&self, tier: &Tier<'_>, document: u32) -> bool {
        self.is_open
            || (self.required.as_ref().is_none_or(|bits| bits.has(document))
                && self.excluded.as_ref().is_none_or(|bits| !bits.has(document))
                && tier.is_looked_at(document))
    }
}

/// A term that goes on from block to block.
struct Scored<'s> {
    list: Counted<'s>,
    /// The word as it stands, which adds to that.
    exact: Option<Counted<'s>>,
}

/// A list of documents, and what each counts.
struct Counted<'s> {
    cursor: Cursor<'s>,
    worth: u32,
    /// What each impact counts; of a list that is shorter than that it is computed for each document.
    table: Option<Box<[u32; 256]>>,
}

impl<'s> Counted<'s> {
    fn new(cursor: Cursor<'s>, worth: u32) -> Self {
        let table = (cursor.left() >= 256).then(|| {
            let mut table = Box::new([0; 256]);
            for (impact, value) in (0..=u8::MAX).zip(table.iter_mut()) {
                *value = points(worth, impact);
            }
            table
        });
        Self { cursor, worth, table }
    }

    /// Calls with the place in the block of every document before `end`, and its points.
    #[inline]
    fn each(&mut self, (start, end): (u32, u32), mut on: impl FnMut(usize, u32)) {
        let Self { cursor, worth, table } = self;
        match table {
            Some(table) => cursor.each_until(end, |document, impact| {
                let points = table.get(usize::from(impact)).copied().unwrap_or(0);
                on(place(document.wrapping_sub(start)), points);
            }),
            None => cursor.each_until(end, |document, impact| {
                on(place(document.wrapping_sub(start)), points(*worth, impact));
            }),
        }
    }
}

impl<'s> Scored<'s> {
    fn new(tier: &'s Tier<'s>, term: usize, worth: u32, exact: Option<(usize, u32)>) -> Option<Self> {
        let exact = exact.and_then(|(term, worth)| Some(Counted::new(tier.cursor(term)?, worth)));
        Some(Self { list: Counted::new(tier.cursor(term)?, worth), exact })
    }

    fn of(tier: &'s Tier<'s>, word: &PlanWord) -> Vec<Self> {
        let option = |o: &PlanOption| Self::new(tier, o.term, o.worth, o.exact);
        word.options.iter().filter_map(option).collect()
    }

    fn seek(&mut self, document: u32) {
        for list in std::iter::once(&mut self.list).chain(&mut self.exact) {
            list.cursor.seek(document);
        }
    }

    fn is_damaged(&self) -> bool {
        std::iter::once(&self.list).chain(&self.exact).any(|list| list.cursor.is_damaged())
    }
}

/// Of the documents of a block: what their words sum to, how many words they have, the best for the word at hand.
struct Tally {
    sums: Vec<u32>,
    matched: Vec<u8>,
    of_word: Vec<u32>,
    touched: Vec<u32>,
}

impl Tally {
    fn new(block: usize) -> Self {
        Self { sums: vec![0; block], matched: vec![0; block], of_word: vec![0; block], touched: Vec::new() }
    }

    fn clear(&mut self) {
        self.sums.fill(0);
        self.matched.fill(0);
    }

    /// Adds the best of a word's options.
    fn word(&mut self, options: &mut [Scored<'_>], start: u32, end: u32) {
        let Self { sums, matched, of_word, touched } = self;
        let mut add = |at: usize, points: u32| {
            if let (Some(sum), Some(matched)) = (sums.get_mut(at), matched.get_mut(at)) {
                *sum = sum.saturating_add(points);
                *matched = matched.saturating_add(1);
            }
        };
        if let [Scored { list, exact: None }] = options {
            list.each((start, end), add);
            return;
        }
        touched.clear();
        for Scored { list, exact } in options {
            list.each((start, end), |at, points| {
                if let Some(best) = of_word.get_mut(at) {
                    if *best == 0 {
                        touched.push(crate::bytes::small(at));
                    }
                    *best = points.max(*best);
                }
            });
            let Some(exact) = exact else { continue };
            // Only the word itself has one, which comes first.
            exact.each((start, end), |at, points| {
                if let Some(best) = of_word.get_mut(at).filter(|best| **best > 0) {
                    *best = best.saturating_add(points);
                }
            });
        }
        for at in touched.iter().map(|at| place(*at)) {
            if let Some(best) = of_word.get_mut(at) {
                add(at, std::mem::take(best));
            }
        }
    }

    /// Adds for two words that are neighbours.
    fn pair(&mut self, pair: &mut Scored<'_>, start: u32, end: u32) {
        let sums = &mut self.sums;
        pair.list.each((start, end), |at, points| {
            if let Some(sum) = sums.get_mut(at) {
                *sum = sum.saturating_add(points);
            }
        });
    }
}

/// The best so far.
struct Keeping<'s> {
    tier: &'s Tier<'s>,
    plan: &'s Plan,
    order: Order,
    kept: usize,
    best: BinaryHeap<Reverse<Ranked<'s>>>,
    total: usize,
    /// By how many words a document has: its coverage, and the least sum that can still be among the best.
    of_words: Vec<(u64, u32)>,
    /// The least score among the best when that was looked at.
    least: u32,
}

impl<'s> Keeping<'s> {
    fn new(tier: &'s Tier<'s>, plan: &'s Plan, order: Order, kept: usize) -> Self {
        let of_words = (0..=plan.asked).map(|n| (coverage(n, plan.asked, &plan.tuning), 0)).collect();
        Self { tier, plan, order, kept, best: BinaryHeap::new(), total: 0, of_words, least: 0 }
    }

    fn best(self) -> Best<'s> {
        let ranked = self.best.into_iter().map(|Reverse(ranked)| ranked).collect();
        Best { ranked, total: self.total }
    }

    /// Looks at the documents of a block.
    fn sweep(&mut self, tally: &Tally, gate: &Gate, start: u32, end: u32) {
        let (groups, _) = tally.matched.as_chunks::<GROUP>();
        let (of_groups, _) = tally.sums.as_chunks::<GROUP>();
        let mut document = start;
        for (group, sums) in groups.iter().zip(of_groups) {
            if document.is_multiple_of(STRETCH) {
                self.look_at_least();
            }
            let mut some = u64::from_le_bytes(*group);
            if gate.takes_all {
                for (at, (matched, sum)) in (document..end).zip(group.iter().zip(sums)) {
                    if gate.lets_in(self.tier, at) {
                        self.offer(at, *sum, *matched);
                    }
                }
            } else {
                while some != 0 {
                    let place = some.trailing_zeros() / 8;
                    let [matched, ..] = (some >> (place * 8)).to_le_bytes();
                    some &= !(0xff << (place * 8));
                    let at = document + place;
                    if gate.lets_in(self.tier, at)
                        && let Some(sum) = sums.get(crate::bytes::place(place))
                    {
                        self.offer(at, *sum, matched);
                    }
                }
            }
            document = document.saturating_add(PER_GROUP);
        }
    }

    /// Looks which sums are too small, where the least of the best is another than it was.
    fn look_at_least(&mut self) {
        if self.order != Order::Score || self.best.len() < self.kept {
            return;
        }
        let least = self.best.peek().map_or(u32::MAX, |Reverse(least)| least.score);
        if least == self.least {
            return;
        }
        self.least = least;
        let tuning = &self.plan.tuning;
        for (coverage, floor) in &mut self.of_words {
            // At best it is of the highest quality, and was used often enough.
            let at_best = |sum: u32| {
                let parts = Parts { sum, matched: 0, asked: 0, near: 0, quality: Some(100), verified: true };
                parts.covered(*coverage, tuning).1
            };
            let (mut low, mut high) = (*floor, u32::MAX);
            while low < high {
                let middle = low + (high - low) / 2;
                if at_best(middle) < least { low = middle + 1 } else { high = middle }
            }
            *floor = low;
        }
    }

    /// Counts a document, and keeps it if it is among the best.
    #[inline]
    fn offer(&mut self, document: u32, sum: u32, matched: u8) {
        self.total += 1;
        let (coverage, floor) = self.of_words.get(usize::from(matched)).copied().unwrap_or((1000, 0));
        if sum >= floor {
            self.keep(document, coverage, sum, matched);
        }
    }

    fn keep(&mut self, document: u32, coverage: u64, sum: u32, matched: u8) {
        let facts = self.tier.facts(document);
        let parts = Parts {
            sum,
            matched: u32::from(matched),
            asked: self.plan.asked,
            near: 0,
            quality: facts.quality,
            verified: facts.verified,
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Filters, Mode, Query};
    use crate::{Analyst, Document, Memory};

    /// So that what is shared out is what one finds who goes through all of it.
    #[test]
    fn shares_find_together_what_one_finds() {
        let mut analyst = Analyst::new();
        let documents = (0..3 * BLOCK + 100).map(|n| {
            let id = format!("a/n{n:06}");
            let has =
                [(2, "even"), (7, "seventh"), (30_011, "rare")].into_iter().filter(|(of, _)| n % of == 0);
            let title = has.map(|(_, word)| word).collect::<Vec<_>>().join(" ");
            let quality = Some(u8::try_from(n % 101).unwrap());
            let (name, category, code, body) = (&*id, "a", "", "");
            let (executable, verified, none, description) = (false, n % 500 == 0, &[] as &[&str], "");
            analyst.analyse(&Document {
                id: &id,
                category,
                quality,
                executable,
                verified,
                name,
                title: &title,
                tags: none,
                description,
                headings: none,
                code,
                body,
            })
        });
        let memory = Memory::build(documents.collect::<Vec<_>>()).unwrap();
        for (asked, order) in [
            ("even sevnth rar", Order::Score),
            ("even seventh", Order::Score),
            ("rare", Order::Score),
            ("\"even seventh\" -rare", Order::Score),
            ("even", Order::Quality),
            ("", Order::Quality),
            ("nothing", Order::Score),
        ] {
            let query = Query::parse(asked, Mode::Comprehensive, Filters::default()).unwrap();
            let views = [memory.view()];
            let plan = Plan::new(&query, &views);
            let blobs = [memory.blobs(&plan, 0)];
            let tiers = crate::tier::tiers(&views, &plan, &blobs).unwrap();
            let of = |shares: &[Range<u32>]| {
                let best = best_of(&tiers[0], &plan, (order, 40), shares).unwrap();
                let mut ranked = best.ranked;
                ranked.sort_by(|a, b| b.cmp(a));
                ranked.truncate(40);
                (best.total, ranked.iter().map(|r| (r.document, r.score, r.parts)).collect::<Vec<_>>())
            };
            let end = tiers[0].documents;
            let all = of(&shares(end, 1));
            assert_eq!(of(&[0..BLOCK, BLOCK..3 * BLOCK, 3 * BLOCK..end]), all, "{asked}");
            assert_eq!(of(&[0..2 * BLOCK, 2 * BLOCK..end]), all, "{asked}");
        }
    }
}
