//! What a question needs of the libraries: which terms, how much each says, and which blobs are to be fetched.

use crate::analysed::Kind;
use crate::base::{Columns, Vocabulary};
use crate::bytes::small;
use crate::delta::Delta;
use crate::expand::{self, Far};
use crate::fields::{Tuning, idf};
use crate::query::{Asked, Filters, Mode, Query};
use crate::why::How;

/// Most terms of a question, in every library.
pub const MAX_TERMS: usize = 64;

/// Of words that more documents have the places are not read, which are longer than everything else: nearly everything is near them.
const MOST_PLACES: u32 = 50_000;

/// What so many documents have, and a hundredth of all, is not unfinished, unless it is the last word.
const COMMON: u32 = 1_000;

/// A library as a question sees it: its base and what changed since.
#[derive(Clone, Copy)]
pub struct LibraryView<'l> {
    /// Of the base; [`Vocabulary::empty`] without one.
    pub vocabulary: &'l Vocabulary,
    /// Of the base; [`Columns::empty`] without one.
    pub columns: &'l Columns,
    /// What changed since.
    pub delta: &'l Delta,
}

impl LibraryView<'_> {
    /// How many documents it has now.
    pub fn documents(&self) -> u32 {
        self.columns.documents().saturating_sub(self.delta.dead()).saturating_add(self.delta.documents())
    }

    /// How many documents of the base that live have the term of this number.
    pub(crate) fn living(&self, term: u32) -> u32 {
        self.vocabulary.count(term).saturating_sub(self.delta.lost(term))
    }

    /// Calls with terms of a kind that begin so, and how many documents have them: with all of them, or with those of the base that are
    /// commonest, at most so many, and of what changed since. Says whether it was all.
    pub(crate) fn beginning(
        &self,
        kind: Kind,
        with: &str,
        most: usize,
        on: &mut dyn FnMut(&str, u32),
    ) -> bool {
        let is_all = self.vocabulary.commonest(kind, with, most, |number| self.living(number), &mut *on);
        self.delta.beginning(kind, with).for_each(|(text, documents)| on(text, documents));
        is_all
    }

    /// How many documents have a term.
    pub(crate) fn count(&self, kind: Kind, text: &str) -> u32 {
        self.counted(kind, text, self.vocabulary.number(kind, text))
    }

    /// The same of a term whose number in the base is known.
    fn counted(&self, kind: Kind, text: &str, number: Option<u32>) -> u32 {
        let of_base = number.map_or(0, |number| self.living(number));
        of_base.saturating_add(self.delta.count(kind, text))
    }
}

/// How many documents of all libraries have a term.
pub(crate) fn count(libraries: &[LibraryView<'_>], kind: Kind, text: &str) -> u32 {
    libraries.iter().fold(0, |sum, library| sum.saturating_add(library.count(kind, text)))
}

/// A blob that is to be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The number in the library's vocabulary.
    pub term: u32,
    /// Whether its positions are needed, too.
    pub positions: bool,
}

/// A question made ready for these libraries, as they are. When one of them changes, plan again.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) terms: Vec<PlanTerm>,
    pub(crate) words: Vec<PlanWord>,
    pub(crate) pairs: Vec<PlanPair>,
    /// Terms that must stand one behind another; `None` where no document has one of them, so that none is found.
    pub(crate) phrases: Vec<Option<Vec<usize>>>,
    pub(crate) excluded: Vec<Vec<usize>>,
    /// How many words are asked for.
    pub(crate) asked: u32,
    pub(crate) mode: Mode,
    pub(crate) filters: Filters,
    pub(crate) tuning: Tuning,
    pub(crate) libraries: usize,
    is_cut: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct PlanTerm {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) has_positions: bool,
    /// By library.
    pub(crate) numbers: Vec<Option<u32>>,
    /// How many documents of all libraries have it.
    documents: u32,
}

/// A word that is asked for, and what may stand for it.
#[derive(Debug, Clone)]
pub(crate) struct PlanWord {
    pub(crate) text: String,
    /// The term of its stem, if a document has it.
    pub(crate) stem: Option<usize>,
    /// Whether it is looked how near it stands to the others.
    pub(crate) is_near: bool,
    /// The best of these counts.
    pub(crate) options: Vec<PlanOption>,
}

/// One term that stands for a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanOption {
    pub(crate) term: usize,
    pub(crate) how: How,
    /// What an impact of 1 counts, in thousandths: the rarity by the expansion.
    pub(crate) worth: u32,
    /// The word as it stands, and what an impact of it adds.
    pub(crate) exact: Option<(usize, u32)>,
}

#[derive(Debug, Clone)]
pub(crate) struct PlanPair {
    pub(crate) text: String,
    pub(crate) term: usize,
    pub(crate) worth: u32,
}

/// `impact` by `worth`, at least 1: what was found counts.
pub(crate) fn points(worth: u32, impact: u8) -> u32 {
    (worth / 1000)
        .saturating_mul(u32::from(impact))
        .saturating_add(worth % 1000 * u32::from(impact) / 1000)
        .max(1)
}

impl Plan {
    /// Looks up what the question's words are in the libraries, and what may stand for them: in their vocabularies and
    /// deltas, without any blob. Common to all libraries: how many documents there are and how many have a word.
    pub fn new(query: &Query, libraries: &[LibraryView<'_>]) -> Self {
        Self::tuned(query, libraries, Tuning::DEFAULT)
    }

    /// As [`Plan::new`], looking for all that a word may be a misspelling of: where nothing was found by a plan that
    /// [was cut](Self::is_cut).
    pub fn thorough(query: &Query, libraries: &[LibraryView<'_>]) -> Self {
        Self::made(query, libraries, Tuning::DEFAULT, true)
    }

    /// As [`Plan::new`], with other numbers for what they decide about questions.
    pub fn tuned(query: &Query, libraries: &[LibraryView<'_>], tuning: Tuning) -> Self {
        Self::made(query, libraries, tuning, false)
    }

    /// Whether words were left out that may be meant, since nearer ones are there.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn made(query: &Query, libraries: &[LibraryView<'_>], tuning: Tuning, is_thorough: bool) -> Self {
        let all = libraries.iter().fold(0u32, |sum, library| sum.saturating_add(library.documents()));
        let plan = Self {
            terms: Vec::new(),
            words: Vec::new(),
            pairs: Vec::new(),
            phrases: Vec::new(),
            excluded: Vec::new(),
            asked: small(query.words.len()),
            mode: query.mode,
            filters: query.filters.clone(),
            tuning,
            libraries: libraries.len(),
            is_cut: false,
        };
        let mut planner = Planner { plan, libraries, all };
        planner.phrases(query);
        for asked in &query.words {
            planner.word(asked);
        }
        planner.pairs(query);
        planner.expansions(query, is_thorough);
        planner.plan
    }

    /// What is to be fetched of a library, by its place in the list that the plan was made for; in order, at most
    /// [`MAX_TERMS`].
    pub fn needs(&self, library: usize) -> Vec<Need> {
        let of = |term: &PlanTerm| {
            let number = term.numbers.get(library).copied().flatten()?;
            Some(Need { term: number, positions: term.has_positions })
        };
        let mut needs: Vec<Need> = self.terms.iter().filter_map(of).collect();
        needs.sort_unstable();
        needs
    }
}

struct Planner<'p> {
    plan: Plan,
    libraries: &'p [LibraryView<'p>],
    all: u32,
}

impl Planner<'_> {
    /// The place of a term among the plan's, if a document has it and there is room.
    fn term(&mut self, kind: Kind, text: &str, has_positions: bool) -> Option<usize> {
        let known = self.plan.terms.iter_mut().enumerate().find(|(_, t)| t.kind == kind && t.text == text);
        if let Some((at, term)) = known {
            term.has_positions |= has_positions;
            return Some(at);
        }
        if self.plan.terms.len() >= MAX_TERMS {
            return None;
        }
        let numbers: Vec<_> = self.libraries.iter().map(|l| l.vocabulary.number(kind, text)).collect();
        let counts = self.libraries.iter().zip(&numbers).map(|(l, number)| l.counted(kind, text, *number));
        let documents = counts.fold(0u32, u32::saturating_add);
        if documents == 0 {
            return None;
        }
        self.plan.terms.push(PlanTerm { kind, text: text.to_owned(), has_positions, numbers, documents });
        Some(self.plan.terms.len() - 1)
    }

    /// How many documents have a stem, which is the plan's term at `place` if it is one.
    fn documents(&self, stem: &str, place: Option<usize>) -> u32 {
        let known = place.and_then(|at| self.plan.terms.get(at));
        known.map_or_else(|| count(self.libraries, Kind::Stem, stem), |term| term.documents)
    }

    fn phrases(&mut self, query: &Query) {
        for phrase in &query.phrases {
            let is_long = phrase.len() > 1;
            let terms = phrase.iter().map(|stem| self.term(Kind::Stem, stem, is_long)).collect();
            self.plan.phrases.push(terms);
        }
        for phrase in &query.excluded {
            let is_long = phrase.len() > 1;
            // What no document has excludes none.
            if let Some(terms) = phrase.iter().map(|stem| self.term(Kind::Stem, stem, is_long)).collect() {
                self.plan.excluded.push(terms);
            }
        }
    }

    fn word(&mut self, asked: &Asked) {
        let stem = self.term(Kind::Stem, &asked.stem, false);
        let documents = self.documents(&asked.stem, stem);
        let rarity = idf(self.all, documents);
        // Where words stand close together, it is told by their places.
        let looks_near = self.plan.mode == Mode::Comprehensive && self.plan.asked > 1;
        let is_near = looks_near && documents <= MOST_PLACES;
        if let Some(term) = stem.and_then(|at| self.plan.terms.get_mut(at)) {
            term.has_positions |= is_near;
        }
        let mut options = Vec::new();
        if let Some(term) = stem {
            let exact = self.term(Kind::Exact, &asked.text, false);
            let how = match (asked.is_quoted, asked.wholes.is_empty()) {
                (true, _) => How::Phrase,
                (false, true) => How::Stem,
                (false, false) => How::Part,
            };
            let exact = exact.map(|exact| (exact, rarity.saturating_mul(self.plan.tuning.exact)));
            options.push(PlanOption { term, how, worth: rarity.saturating_mul(1000), exact });
        }
        for whole in &asked.wholes {
            if let Some(term) = self.term(Kind::Stem, whole, false) {
                self.option(&mut options, term, How::Whole, self.plan.tuning.whole, rarity);
            }
        }
        self.plan.words.push(PlanWord { text: asked.text.clone(), stem, is_near, options });
    }

    /// Adds what may stand for a word; what is there already counts as what it was first.
    fn option(&self, options: &mut Vec<PlanOption>, term: usize, how: How, factor: u32, rarity: u32) {
        let Some(found) = self.plan.terms.get(term) else { return };
        if options.iter().any(|option| option.term == term) {
            return;
        }
        let own = idf(self.all, found.documents);
        options.push(PlanOption { term, how, worth: rarity.min(own).saturating_mul(factor), exact: None });
    }

    fn pairs(&mut self, query: &Query) {
        for (first, second) in &query.pairs {
            let text = format!("{first} {second}");
            let Some(term) = self.term(Kind::Pair, &text, false) else { continue };
            let documents = self.plan.terms.get(term).map_or(0, |term| term.documents);
            let worth = idf(self.all, documents).saturating_mul(self.plan.tuning.pair);
            self.plan.pairs.push(PlanPair { text, term, worth });
        }
    }

    /// Longer words and misspelt ones, while there is room: the first of every word, the second of every word, and so on.
    fn expansions(&mut self, query: &Query, is_thorough: bool) {
        let mut candidates = Vec::new();
        let counts: Vec<(u32, bool)> = (query.words.iter().enumerate())
            .map(|(at, asked)| {
                let stem = self.plan.words.get(at).and_then(|word| word.stem);
                (self.documents(&asked.stem, stem), stem.is_some())
            })
            .collect();
        let most = COMMON.max(self.all / 100);
        let is_common = |asked: &Asked, known: u32| !asked.is_last && !is_thorough && known >= most;
        let known = |(documents, is_known): (u32, bool)| if is_known { documents } else { 0 };
        let may_be_unfinished = |asked: &Asked| expand::may_be_unfinished(asked, query.mode);
        let unfinished = query.words.iter().zip(&counts);
        let unfinished =
            unfinished.filter(|(a, of)| may_be_unfinished(a) && !is_common(a, known(**of))).count();
        for ((at, asked), of) in query.words.iter().enumerate().zip(counts) {
            let ((documents, is_known), known) = (of, known(of));
            let mut of_word = Vec::new();
            let may_be_unfinished = may_be_unfinished(asked);
            let is_common = is_common(asked, known);
            self.plan.is_cut |= may_be_unfinished && is_common;
            if may_be_unfinished && !is_common {
                for stem in expand::longer(self.libraries, asked, unfinished) {
                    of_word.push((stem, How::Prefix, self.plan.tuning.prefix));
                }
            }
            let may_be_misspelt = expand::may_be_misspelt(asked, query.mode, known, is_thorough);
            self.plan.is_cut |= may_be_misspelt.is_none();
            if may_be_misspelt == Some(true) {
                let far = match query.mode {
                    _ if is_thorough => Far::Everywhere,
                    // What is there, or what other words begin with, is hardly misspelt.
                    Mode::Comprehensive if is_known => Far::One,
                    Mode::Comprehensive => Far::All,
                    Mode::Fast if of_word.is_empty() => Far::Nearest,
                    Mode::Fast => Far::One,
                };
                let (typos, is_cut) = expand::typos(self.libraries, asked, far, is_known);
                self.plan.is_cut |= is_cut;
                for typo in typos {
                    let factor = self.plan.tuning.typo.get(typo.distance - 1).copied().unwrap_or(0);
                    of_word.push((typo.stem, How::Typo, factor));
                }
            }
            of_word.sort_by_key(|(_, _, factor)| std::cmp::Reverse(*factor));
            candidates.push((at, idf(self.all, documents), of_word.into_iter()));
        }
        loop {
            let mut went_on = false;
            for (at, rarity, of_word) in &mut candidates {
                let Some((stem, how, factor)) = of_word.next() else { continue };
                went_on = true;
                let Some(term) = self.term(Kind::Stem, &stem, false) else { continue };
                let Some(mut options) = self.plan.words.get_mut(*at).map(|w| std::mem::take(&mut w.options))
                else {
                    continue;
                };
                self.option(&mut options, term, how, factor, *rarity);
                if let Some(word) = self.plan.words.get_mut(*at) {
                    word.options = options;
                }
            }
            if !went_on {
                return;
            }
        }
    }
}
