//! Answers: every document that has one of the words gets its score, the best are kept, and told why.

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::plan::{LibraryView, Plan, points};
use crate::postings::{Cursor, Posting};
use crate::query::Mode;
use crate::scan::{self, Ranked, rank};
use crate::tier::{Blob, Tier, tiers};
use crate::why::{Found, How, Parts, Why};
use crate::{Field, SearchError, phrase};

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
/// once, and no more memory than the sums of 32,768 documents and `limit` hits for each processor that helps, of four at most.
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
        let best = scan::best(tier, plan, order, kept)?;
        total += best.total;
        found.extend(best.ranked.iter().map(|ranked| Candidate::new(at, ranked)));
    }
    sort(&mut found, &tiers, order);
    if looks_near {
        found.truncate(kept);
        let again = found.len().min(LOOKED_AT_AGAIN);
        let (first, _) = found.split_at_mut(again);
        // Who is passed even by these without what is added now, whatever would be added to it, is not among the first ones.
        let least = limit.checked_sub(1).and_then(|last| first.get(last)).map_or(0, |last| last.score);
        look_again(first, &tiers, plan, least)?;
        sort(&mut found, &tiers, order);
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
    /// Looked up where they decide: of most of two hundred they do not.
    name: OnceCell<String>,
    id: OnceCell<String>,
}

impl Candidate {
    fn new(at: usize, ranked: &Ranked<'_>) -> Self {
        let (document, parts, score) = (ranked.document, ranked.parts, ranked.score);
        let (name, id) = (OnceCell::new(), OnceCell::new());
        Self { tier: at, document, parts, score, rank: ranked.rank, name, id }
    }

    fn name(&self, tiers: &[Tier<'_>]) -> &str {
        self.name
            .get_or_init(|| tiers.get(self.tier).map_or_else(String::new, |tier| tier.name(self.document)))
    }

    fn id(&self, tiers: &[Tier<'_>]) -> &str {
        self.id.get_or_init(|| tiers.get(self.tier).map_or_else(String::new, |tier| tier.id(self.document)))
    }
}

fn sort(found: &mut [Candidate], tiers: &[Tier<'_>], order: Order) {
    let library = |c: &Candidate| tiers.get(c.tier).map(|tier| tier.library);
    found.sort_by(|a, b| {
        let by_name = || match order {
            Order::Score => Ordering::Equal,
            Order::Quality => a.name(tiers).cmp(b.name(tiers)),
        };
        // The documents of a base are numbered by their ids.
        let are_of_one_base = || a.tier == b.tier && tiers.get(a.tier).is_some_and(|tier| !tier.is_delta);
        let by_id = || {
            if are_of_one_base() { a.document.cmp(&b.document) } else { a.id(tiers).cmp(b.id(tiers)) }
        };
        let by_text = || by_name().then_with(by_id);
        b.rank.cmp(&a.rank).then_with(by_text).then_with(|| library(a).cmp(&library(b)))
    });
}

/// Adds to the scores of those whose words stand together, where they may come to `least`.
fn look_again(
    found: &mut [Candidate],
    tiers: &[Tier<'_>],
    plan: &Plan,
    least: u32,
) -> Result<(), SearchError> {
    if plan.words.iter().any(|word| word.stem.is_none()) {
        return Ok(());
    }
    let stems: Vec<usize> =
        plan.words.iter().filter(|word| word.is_near).filter_map(|word| word.stem).collect();
    if stems.len() < 2 {
        return Ok(());
    }
    for (at, tier) in tiers.iter().enumerate() {
        let Some(mut places) = stems.iter().map(|t| tier.places(*t)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let at_best = |c: &Candidate| Parts { near: plan.tuning.near, ..c.parts }.scores(&plan.tuning).1;
        let mut of_tier: Vec<&mut Candidate> =
            found.iter_mut().filter(|c| c.tier == at && at_best(c) >= least).collect();
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
            id: candidate.id(tiers).to_owned(),
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
