//! Decisions that may contradict each other, found by their words.
//!
//! Possible conflicts, no more: both are shown, none is removed. English only. Three kinds are seen: the same subject decided twice;
//! a sentence that rules out what another asks for; two choices for one purpose. What says the same thing with other words, or
//! another value in the same place ("stored in UTC", "stored in local time"), is not.

mod sentence;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use self::sentence::{Sentence, sentences};
use crate::notes::NoteId;
use crate::text::folded;

/// Most pairs of sentences that are compared: with the bound of a sentence (120 words) that bounds the time.
pub const MAX_PAIRS: usize = 50_000;
/// Most conflicts that are told.
pub const MAX_CONFLICTS: usize = 100;
/// Most decisions that are looked at: the last ones.
pub const MAX_DECISIONS: usize = 10_000;
/// Most sentences that a word leads to: the last ones. A word that so many have says little.
const MAX_HOLDERS: usize = 200;

/// A decision, as it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The note.
    pub id: NoteId,
    /// What it says.
    pub content: &'a str,
    /// What it is about.
    pub subject: Option<&'a str>,
}

/// How two decisions may contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Kind {
    /// They have the same subject and say something else of it.
    Subject,
    /// One rules out what the other asks for.
    Polarity,
    /// They choose different things for the same purpose.
    Choice,
}

/// Two decisions that may contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The earlier and the later, in the order in which they were given.
    pub notes: [NoteId; 2],
    /// How.
    pub kind: Kind,
    /// In words of theirs.
    pub why: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conflicts {
    /// By the later note, at most [`MAX_CONFLICTS`]; of several kinds between two notes the first.
    pub found: Vec<Conflict>,
    /// Whether a bound ended the search: there may be more.
    pub is_cut: bool,
}

struct Search<'a> {
    claims: &'a [Claim<'a>],
    sentences: Vec<(usize, Sentence)>,
    pairs: BTreeSet<(usize, usize)>,
    told: BTreeMap<(usize, usize), (Kind, String)>,
    is_cut: bool,
}

/// Possible conflicts among active decisions, given oldest first. Time: O(n log n) in the words, and at most [`MAX_PAIRS`] comparisons.
pub fn conflicts(claims: &[Claim<'_>]) -> Conflicts {
    let claims = claims.get(claims.len().saturating_sub(MAX_DECISIONS)..).unwrap_or_default();
    let mut search = Search {
        claims,
        sentences: Vec::new(),
        pairs: BTreeSet::new(),
        told: BTreeMap::new(),
        is_cut: claims.len() == MAX_DECISIONS,
    };
    search.subjects();
    search.sentences = claims
        .iter()
        .enumerate()
        .flat_map(|(at, claim)| sentences(claim.content).into_iter().map(move |sentence| (at, sentence)))
        .collect();
    search.compare();
    search.finish()
}

/// Possible conflicts of one decision with the others: what is told to who writes it.
pub fn conflicts_of(new: Claim<'_>, others: &[Claim<'_>]) -> Conflicts {
    let others = others.get(others.len().saturating_sub(MAX_DECISIONS - 1)..).unwrap_or_default();
    let mut all: Vec<Claim<'_>> = others.iter().filter(|claim| claim.id != new.id).copied().collect();
    all.push(new);
    let mut found = conflicts(&all);
    found.found.retain(|conflict| conflict.notes.contains(&new.id));
    found
}

impl Search<'_> {
    fn tell(&mut self, a: usize, b: usize, kind: Kind, why: impl FnOnce() -> String) {
        let pair = (a.max(b), a.min(b));
        if a == b || self.told.contains_key(&pair) {
            return;
        }
        // Kept in full, so that the order of the answer does not depend on that of the search.
        if self.told.len() == MAX_CONFLICTS * 10 {
            self.is_cut = true;
            return;
        }
        self.told.insert(pair, (kind, why()));
    }

    /// Each decision with the ones before it on its subject, the last ten of them.
    fn subjects(&mut self) {
        let mut by: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, claim) in self.claims.iter().enumerate() {
            let Some(subject) = claim.subject.map(folded).filter(|subject| !subject.is_empty()) else {
                continue;
            };
            by.entry(subject).or_default().push(at);
        }
        for (_, holders) in by {
            for (index, at) in holders.iter().enumerate() {
                for before in holders.get(index.saturating_sub(10)..index).unwrap_or_default() {
                    let (Some(a), Some(b)) = (self.claims.get(*before), self.claims.get(*at)) else {
                        continue;
                    };
                    if folded(a.content) != folded(b.content) {
                        let subject = b.subject.unwrap_or_default();
                        self.tell(*before, *at, Kind::Subject, || {
                            format!("both decide on {}", crate::text::shown(subject))
                        });
                    }
                }
            }
        }
    }

    /// Sentences are compared where they share the rarest word of what one rules out, or of a purpose.
    fn compare(&mut self) {
        let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, (_, sentence)) in self.sentences.iter().enumerate() {
            for stem in sentence.stems() {
                holders.entry(stem.to_owned()).or_default().push(at);
            }
        }
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        'all: for (at, (claim, sentence)) in self.sentences.iter().enumerate() {
            for words in sentence.keys() {
                let rarest = words.iter().filter_map(|stem| holders.get(*stem)).min_by_key(|list| list.len());
                for other in rarest.into_iter().flat_map(|list| list.iter().rev().take(MAX_HOLDERS)) {
                    if self.sentences.get(*other).is_none_or(|(other, _)| other == claim) {
                        continue;
                    }
                    let pair = (at.min(*other), at.max(*other));
                    if self.pairs.insert(pair) {
                        wanted.push(pair);
                    }
                    if wanted.len() == MAX_PAIRS {
                        self.is_cut = true;
                        break 'all;
                    }
                }
            }
        }
        for (a, b) in wanted {
            let (Some((first, left)), Some((second, right))) = (self.sentences.get(a), self.sentences.get(b))
            else {
                continue;
            };
            let (first, second) = (*first, *second);
            let ruled_out = left.rules_out(right).or_else(|| right.rules_out(left));
            let chosen = if ruled_out.is_none() { left.chooses_else(right) } else { None };
            if let Some(words) = ruled_out {
                self.tell(first, second, Kind::Polarity, || {
                    format!("one rules out what the other asks for: {words}")
                });
            } else if let Some(words) = chosen {
                self.tell(first, second, Kind::Choice, || words);
            }
        }
    }

    fn finish(self) -> Conflicts {
        let is_cut = self.is_cut || self.told.len() > MAX_CONFLICTS;
        let id = |at: usize| self.claims.get(at).map(|claim| claim.id);
        let found = self.told.into_iter().filter_map(|((later, earlier), (kind, why))| {
            Some(Conflict { notes: [id(earlier)?, id(later)?], kind, why })
        });
        Conflicts { found: found.take(MAX_CONFLICTS).collect(), is_cut }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn claims<'a>(contents: &[(&'a str, Option<&'a str>)]) -> Vec<Claim<'a>> {
        let id = |n: usize| NoteId::of("decision", &n.to_string(), "");
        contents
            .iter()
            .enumerate()
            .map(|(n, (content, subject))| Claim { id: id(n), content, subject: *subject })
            .collect()
    }

    #[test]
    fn the_same_subject_with_other_words_is_a_conflict() {
        let all = claims(&[
            ("a b", Some("The DB")),
            ("A b.", Some("the db")),
            ("c", Some("**The DB**")),
            ("d", Some("x")),
            ("e", None),
        ]);
        let found = conflicts(&all);
        let pairs: Vec<_> = found.found.iter().map(|c| (c.notes, c.kind)).collect();
        assert_eq!(pairs, [([all[0].id, all[2].id], Kind::Subject), ([all[1].id, all[2].id], Kind::Subject)]);
        assert_eq!(conflicts_of(all[0], &all).found.len(), 1);
    }

    #[test]
    fn why_is_said_in_words_of_the_notes() {
        let all = claims(&[
            ("Retry failed payments three times. It helps.", None),
            ("Because of fraud: don't retry failed payments", None),
            ("We chose Vitest for unit tests", None),
            ("For unit tests we use Jest", None),
        ]);
        let why: Vec<_> = conflicts(&all).found.into_iter().map(|c| (c.kind, c.why)).collect();
        assert_eq!(
            why,
            [
                (Kind::Polarity, "one rules out what the other asks for: retry failed payments".to_owned()),
                (Kind::Choice, "for unit tests one takes vitest, the other jest".to_owned()),
            ]
        );
    }

    #[test]
    fn many_decisions_are_looked_at_in_bounded_time() {
        let texts: Vec<String> = (0..MAX_DECISIONS)
            .map(|n| {
                format!(
                    "{} service {} for queue {} of module {}",
                    ["Use", "Do not use"][n % 2],
                    n % 50,
                    n % 7,
                    n % 90
                )
            })
            .collect();
        let contents: Vec<(&str, Option<&str>)> = texts.iter().map(|text| (text.as_str(), None)).collect();
        let began = Instant::now();
        let found = conflicts(&claims(&contents));
        assert!(found.is_cut && found.found.len() == MAX_CONFLICTS);
        assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    }

    proptest! {
        #[test]
        fn any_texts_are_compared(texts in proptest::collection::vec("(use|not|never|for|instead of|[a-c]{1,2}|[,.]|\\PC| ){0,20}", 0..8)) {
            let contents: Vec<(&str, Option<&str>)> = texts.iter().map(|text| (text.as_str(), None)).collect();
            let all = claims(&contents);
            let found = conflicts(&all);
            for conflict in &found.found {
                prop_assert!(conflict.notes[0] != conflict.notes[1]);
            }
            prop_assert_eq!(conflicts(&all), found);
        }
    }
}
