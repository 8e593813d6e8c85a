//! What may stand for a word: longer words that begin as it does, and words that it may be a misspelling of.
//!
//! A vocabulary has stems, and of short fields the words as they stand. Both are looked through, since a stem may be
//! shorter than what was typed, or far from it: `configuraton` is one letter from `configuration`, and four from its stem.

use std::collections::BTreeMap;

use fst::Automaton as _;
use fst::automaton::Str;

use crate::analysed::Kind;
use crate::near::{exchanged, typo_distance};
use crate::plan::{LibraryView, MAX_TERMS, count};
use crate::query::{Asked, Mode};
use crate::reach::Near;
use crate::words::Stems;

/// Most longer words.
const MAX_LONGER: usize = 32;

/// Words of a library and a kind that are looked at for the longer ones of so many words: twice as many as a question has terms.
fn looked_at(words: usize) -> usize {
    (2 * MAX_TERMS).checked_div(words).unwrap_or(MAX_TERMS).clamp(MAX_LONGER, MAX_TERMS)
}

/// Most words that it may be a misspelling of.
const MAX_TYPOS: usize = 16;

/// What so many documents have is no misspelling.
const MANY: u32 = 10;

/// From so many letters on, words as they stand are looked through for longer ones, too: stems keep the first letters.
const STEM_KEEPS: usize = 3;

pub(crate) fn may_be_unfinished(asked: &Asked, mode: Mode) -> bool {
    let letters = asked.text.chars().count();
    // One letter of an alphabet begins a twentieth of all words; one of a script that has thousands says something.
    let says_something = letters > 1 || !asked.text.is_ascii();
    !asked.is_quoted
        && match mode {
            Mode::Fast => asked.is_last && says_something,
            Mode::Comprehensive => letters >= 3 || (asked.is_last && says_something),
        }
}

/// Whether a word that so many documents have is perhaps another one: `None` where it would be, had fewer of them the word.
pub(crate) fn may_be_misspelt(asked: &Asked, mode: Mode, documents: u32, is_thorough: bool) -> Option<bool> {
    let is_long = mode == Mode::Comprehensive && asked.text.chars().count() >= 5;
    let may_be = !asked.is_quoted && (documents == 0 || is_long);
    if may_be && documents >= MANY && !is_thorough { None } else { Some(may_be) }
}

/// The stems of words longer than one of so many that longer ones are looked for of, by how many documents have them, then by
/// letters. Where very many begin so, those are looked at that are commonest in their library.
pub(crate) fn longer(libraries: &[LibraryView<'_>], asked: &Asked, words: usize) -> Vec<String> {
    let most = looked_at(words);
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    let mut add = |stem: &str, documents: u32| {
        if documents > 0 && stem != asked.stem {
            match found.get_mut(stem) {
                Some(sum) => *sum = sum.saturating_add(documents),
                None => {
                    found.insert(stem.to_owned(), documents);
                }
            }
        }
    };
    let mut is_all = true;
    for library in libraries {
        is_all &= library.beginning(Kind::Stem, &asked.text, most, &mut add);
    }
    if !is_all {
        // What is commonest in one library may be in another, and was not looked at there.
        for (stem, documents) in &mut found {
            *documents = count(libraries, Kind::Stem, stem);
        }
    }
    if asked.text.chars().count() > STEM_KEEPS {
        let stems = Stems::new();
        let mut add = |word: &str, documents: u32| {
            let stem = stems.of(word);
            if documents > 0 && *stem != *asked.stem && !found.contains_key(&*stem) {
                let documents = count(libraries, Kind::Stem, &stem);
                found.insert(stem.into_owned(), documents);
            }
        };
        for library in libraries {
            library.beginning(Kind::Exact, &asked.text, most, &mut add);
        }
    }
    let mut ranked: Vec<(String, u32)> = found.into_iter().filter(|(_, documents)| *documents > 0).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked.truncate(MAX_LONGER);
    ranked.into_iter().map(|(stem, _)| stem).collect()
}

/// A word that another may be a misspelling of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typo {
    pub(crate) stem: String,
    /// 1 or 2.
    pub(crate) distance: usize,
}

/// How far a word of so many letters may be.
fn most_for(letters: usize) -> usize {
    match letters {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

/// How far from a word is looked, of those that [`most_for`] words of its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Far {
    /// As far as that, whatever is nearer.
    Everywhere,
    /// As far as that; where two letters are wrong the first one is not, unless nothing is found so.
    All,
    /// One letter; farther where no word is that near.
    Nearest,
    /// One letter.
    One,
}

/// Words that it may be a misspelling of, by distance, then by how many documents have them, then by letters; and whether
/// farther ones were left out. The first letter is taken to be right where the word is known, and where two letters are wrong
/// unless nothing is found so: a vocabulary has few words that begin alike, and takes long to go through as a whole.
pub(crate) fn typos(
    libraries: &[LibraryView<'_>],
    asked: &Asked,
    far: Far,
    is_known: bool,
) -> (Vec<Typo>, bool) {
    let most = most_for(asked.text.chars().count());
    let cut = |Within { found, is_cut, .. }| (found, is_cut);
    if most < 2 || matches!(far, Far::All | Far::Everywhere) {
        return cut(within(libraries, asked, most, (is_known, far == Far::Everywhere)));
    }
    let near = within(libraries, asked, 1, (is_known, false));
    if near.is_sure || far == Far::One {
        return (near.found, true);
    }
    cut(within(libraries, asked, most, (is_known, false)))
}

/// What lies so far from a word.
struct Within {
    found: Vec<Typo>,
    /// Whether one of them is a word as it stands: stems lie elsewhere, so that the nearest stem may be another word's than the one
    /// that was meant.
    is_sure: bool,
    /// Whether others are as far.
    is_cut: bool,
}

/// Those that are at most so far.
fn within(
    libraries: &[LibraryView<'_>],
    asked: &Asked,
    most: usize,
    (is_known, is_everywhere): (bool, bool),
) -> Within {
    let (mut found, mut is_sure) = (BTreeMap::<String, usize>::new(), false);
    if most == 0 {
        return Within { found: Vec::new(), is_sure, is_cut: false };
    }
    let stems = Stems::new();
    let mut look = |most, keeps_first| {
        let search = Search { libraries, most, keeps_first };
        search.each(Kind::Exact, &asked.text, &mut |word, distance| {
            let stem = stems.of(word);
            is_sure |= *stem != *asked.stem;
            keep(&mut found, &stem, distance);
        });
        search.each(Kind::Stem, &asked.stem, &mut |stem, distance| keep(&mut found, stem, distance));
        found.keys().any(|stem| *stem != asked.stem)
    };
    let mut is_cut = false;
    if is_known || most < 2 || is_everywhere {
        look(most, is_known);
    } else if look(1, false) | look(most, true) {
        is_cut = true;
    } else {
        look(most, false);
    }
    let mut ranked: Vec<(usize, u32, String)> = found
        .into_iter()
        .filter(|(stem, _)| *stem != asked.stem)
        .map(|(stem, distance)| (distance, count(libraries, Kind::Stem, &stem), stem))
        .filter(|(_, documents, _)| *documents > 0)
        .collect();
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then_with(|| a.2.cmp(&b.2)));
    ranked.truncate(MAX_TYPOS);
    let found = ranked.into_iter().map(|(distance, _, stem)| Typo { stem, distance }).collect();
    Within { found, is_sure, is_cut }
}

fn keep(found: &mut BTreeMap<String, usize>, stem: &str, distance: usize) {
    match found.get_mut(stem) {
        Some(known) => *known = distance.min(*known),
        None => {
            found.insert(stem.to_owned(), distance);
        }
    }
}

struct Search<'s> {
    libraries: &'s [LibraryView<'s>],
    most: usize,
    keeps_first: bool,
}

impl Search<'_> {
    /// Calls with every living word of a kind that is near.
    fn each(&self, kind: Kind, word: &str, on: &mut dyn FnMut(&str, usize)) {
        let first: String = if self.keeps_first { word.chars().take(1).collect() } else { String::new() };
        let exchanged: Vec<String> = exchanged(word).into_iter().filter(|w| w.starts_with(&first)).collect();
        for library in self.libraries {
            let mut check = |text: &str, number: u32| {
                if library.living(number) > 0
                    && let Some(distance) = typo_distance(word, text, self.most).filter(|d| *d > 0)
                {
                    on(text, distance);
                }
            };
            if self.most == 1 {
                library.vocabulary.one_off(kind, word, self.keeps_first, &mut check);
            } else {
                let begins = Str::new(&first).starts_with();
                library.vocabulary.each(kind, Near::new(word, self.most).intersection(begins), &mut check);
            }
            for other in &exchanged {
                if library.vocabulary.number(kind, other).is_some_and(|n| library.living(n) > 0) {
                    on(other, 1);
                }
            }
            for (text, _) in library.delta.beginning(kind, &first) {
                if let Some(distance) = typo_distance(word, text, self.most).filter(|d| *d > 0) {
                    on(text, distance);
                }
            }
        }
    }
}
