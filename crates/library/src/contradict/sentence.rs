//! What a sentence asks for, rules out and chooses.

use std::collections::{BTreeMap, BTreeSet};

use rust_stemmers::{Algorithm, Stemmer};

/// Most sentences of a decision that are looked at.
const MAX_SENTENCES: usize = 20;
/// Most words of a sentence that are looked at.
const MAX_WORDS: usize = 120;
/// How much of the words of the shorter sentence both must have, in tenths.
const SHARED: usize = 6;

/// What turns the sense of the words behind it in its clause.
const TURNS: [&str; 30] = [
    "not",
    "never",
    "no",
    "without",
    "avoid",
    "avoids",
    "avoiding",
    "stop",
    "stops",
    "forbid",
    "forbidden",
    "cannot",
    "don't",
    "dont",
    "doesn't",
    "didn't",
    "can't",
    "won't",
    "shouldn't",
    "mustn't",
    "isn't",
    "aren't",
    "wasn't",
    "needn't",
    "neither",
    "nor",
    "refuse",
    "ban",
    "banned",
    "disallow",
];

/// Words that say that something is taken.
const TAKES: [&str; 20] = [
    "use",
    "uses",
    "used",
    "using",
    "choose",
    "chose",
    "chosen",
    "choosing",
    "prefer",
    "prefers",
    "preferred",
    "pick",
    "picked",
    "adopt",
    "adopted",
    "switch",
    "switched",
    "take",
    "go",
    "went",
];

/// What a context begins with.
const CONTEXTS: [&str; 20] = [
    "for", "in", "on", "at", "by", "during", "when", "from", "to", "with", "as", "between", "behind",
    "after", "before", "per", "of", "within", "under", "if",
];

/// Words that say nothing of what is decided.
const EMPTY: [&str; 56] = [
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "we", "our", "us", "i", "you", "your",
    "they", "their", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "done", "has",
    "have", "had", "will", "would", "shall", "should", "must", "can", "could", "may", "might", "need",
    "needs", "all", "any", "each", "every", "always", "only", "also", "now", "then", "and", "or", "us",
    "please", "just",
];

/// Stems, each with its place in the clause and the word that it was made of.
type Words = BTreeMap<String, (usize, String)>;

/// What a clause rules out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Ban {
    /// In the order of the clause.
    said: Vec<String>,
    banned: BTreeSet<String>,
    /// Where or when: neither asked for nor ruled out.
    context: BTreeSet<String>,
    /// What stands before the negation.
    before: BTreeSet<String>,
}

/// "use A for P".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Choice {
    taken: Words,
    purpose: Words,
}

/// A sentence as it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sentence {
    all: BTreeSet<String>,
    asked: BTreeSet<String>,
    denied: BTreeSet<String>,
    bans: Vec<Ban>,
    choices: Vec<Choice>,
}

impl Sentence {
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(String::as_str)
    }

    /// Sets of stems: only a sentence that has one of a set whole can contradict by it. Of a purpose most words are enough, so
    /// its rarest word may miss some.
    pub(super) fn keys(&self) -> Vec<Vec<&str>> {
        let bans = self.bans.iter().map(|ban| ban.banned.iter().map(String::as_str).collect());
        let choices = self.choices.iter().map(|choice| choice.purpose.keys().map(String::as_str).collect());
        bans.chain(choices).collect()
    }

    /// The words that this one rules out and the other asks for.
    pub(super) fn rules_out(&self, other: &Self) -> Option<String> {
        let shared = self.all.intersection(&other.all).count();
        if shared * 10 < self.all.len().min(other.all.len()) * SHARED {
            return None;
        }
        let ban = self.bans.iter().find(|ban| {
            let about = ban.before.intersection(&other.all).count();
            ban.banned.is_subset(&other.asked)
                && ban.context.is_disjoint(&other.denied)
                && about * 2 >= ban.before.len()
        })?;
        Some(ban.said.join(" "))
    }

    /// In which purpose both take something else.
    pub(super) fn chooses_else(&self, other: &Self) -> Option<String> {
        for mine in &self.choices {
            for theirs in &other.choices {
                let shared = mine.purpose.keys().filter(|stem| theirs.purpose.contains_key(*stem)).count();
                let most = mine.purpose.len().max(theirs.purpose.len());
                let apart = mine.taken.keys().all(|stem| !theirs.taken.contains_key(stem));
                if apart && shared > 0 && shared * 10 >= most * SHARED {
                    let words = |words: &Words| {
                        let mut said: Vec<_> = words.values().collect();
                        said.sort();
                        said.into_iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ")
                    };
                    return Some(format!(
                        "for {} one takes {}, the other {}",
                        words(&theirs.purpose),
                        words(&mine.taken),
                        words(&theirs.taken)
                    ));
                }
            }
        }
        None
    }
}

/// The sentences of a decision that say something, at most [`MAX_SENTENCES`].
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = Vec::new();
    for clauses in split(text).into_iter().take(MAX_SENTENCES) {
        let mut sentence = Sentence::default();
        for clause in &clauses {
            read(clause, &stemmer, &mut sentence);
        }
        // What is asked for beside it ("feature a, not feature b") is not what is ruled out.
        let asked = &sentence.asked;
        for ban in &mut sentence.bans {
            ban.banned.retain(|stem| !asked.contains(stem));
        }
        sentence.bans.retain(|ban| !ban.banned.is_empty());
        sentence.denied = sentence.bans.iter().flat_map(|ban| ban.banned.iter().cloned()).collect();
        if !sentence.all.is_empty() {
            found.push(sentence);
        }
    }
    found
}

/// Words by clauses by sentences. A point inside a word (`moment.js`) belongs to it.
fn split(text: &str) -> Vec<Vec<Vec<String>>> {
    let mut sentences = vec![vec![Vec::new()]];
    let mut word = String::new();
    let mut count = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let inner = matches!(c, '.' | '\'' | '’' | '_')
            && !word.is_empty()
            && chars.peek().is_some_and(|n| n.is_alphanumeric());
        if c.is_alphanumeric() || inner {
            if word.len() < 60 {
                if c == '’' { word.push('\'') } else { word.extend(c.to_lowercase()) }
            }
            continue;
        }
        if !word.is_empty() {
            end_word(&mut sentences, std::mem::take(&mut word), &mut count);
        }
        match c {
            '.' | ';' | '!' | '?' | '\n' => {
                if sentences.len() > MAX_SENTENCES {
                    return sentences;
                }
                sentences.push(vec![Vec::new()]);
                count = 0;
            }
            ',' | ':' | '(' | ')' | '—' | '–' => {
                if let Some(sentence) = sentences.last_mut() {
                    sentence.push(Vec::new());
                }
            }
            _ => {}
        }
    }
    if !word.is_empty() {
        end_word(&mut sentences, word, &mut count);
    }
    sentences
}

fn end_word(sentences: &mut [Vec<Vec<String>>], word: String, count: &mut usize) {
    let Some(sentence) = sentences.last_mut() else { return };
    if *count == MAX_WORDS {
        return;
    }
    *count += 1;
    if word == "but" {
        sentence.push(Vec::new());
    } else if let Some(clause) = sentence.last_mut() {
        clause.push(word);
    }
}

/// One clause into what its sentence asks for, rules out and chooses.
fn read(clause: &[String], stemmer: &Stemmer, sentence: &mut Sentence) {
    let (mut turned, mut in_context, mut takes) = (false, false, false);
    let mut ban = Ban::default();
    let mut asked: Vec<String> = Vec::new();
    let mut choice = Choice::default();
    let mut purpose = false;
    let mut turns = 0_usize;
    let mut after_turn = 0_usize;
    let mut skip = false;
    for (at, word) in clause.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        let next = clause.get(at + 1).map_or("", String::as_str);
        let instead = matches!((word.as_str(), next), ("instead", "of") | ("rather", "than"));
        let over = word == "over" && takes;
        if TURNS.contains(&word.as_str()) || instead || over {
            turned = !turned;
            skip = instead;
            turns += 1;
            (after_turn, in_context, purpose) = (0, false, false);
            continue;
        }
        // Why it was decided is not what was.
        if matches!(word.as_str(), "because" | "since") && at > 0 {
            break;
        }
        if TAKES.contains(&word.as_str()) {
            takes = true;
            // "for P we use A"
            (in_context, purpose) = (false, false);
            continue;
        }
        if CONTEXTS.contains(&word.as_str()) {
            // "switch to A" has no context yet; "not at A" rules A out.
            let is_object = takes && asked.is_empty() && matches!(word.as_str(), "to" | "with")
                || turned && after_turn == 0 && turns > 0;
            in_context = !is_object;
            purpose = matches!(word.as_str(), "for" | "as");
            continue;
        }
        if EMPTY.contains(&word.as_str()) {
            continue;
        }
        let stem = stem(word, stemmer);
        sentence.all.insert(stem.clone());
        if turned {
            after_turn += 1;
        }
        match (turned, in_context) {
            (true, true) => {
                ban.context.insert(stem);
            }
            (true, false) => {
                ban.said.push(word.clone());
                ban.banned.insert(stem);
            }
            (false, context) => {
                if context && purpose {
                    choice.purpose.insert(stem.clone(), (at, word.clone()));
                } else if !context && takes {
                    choice.taken.insert(stem.clone(), (at, word.clone()));
                }
                asked.push(stem);
            }
        }
    }
    if turned && after_turn == 0 {
        // "A is not": what stands before is ruled out.
        ban.said.clone_from(&asked);
        ban.banned.extend(asked.drain(..));
    } else if turns > 0 {
        ban.before.extend(asked.iter().cloned());
        if takes {
            // "use A instead of B": A is asked for whatever is said of B.
            ban.before.clear();
        }
    }
    sentence.asked.extend(asked);
    if !ban.banned.is_empty() {
        sentence.bans.push(ban);
    }
    if !choice.taken.is_empty() && !choice.purpose.is_empty() {
        sentence.choices.push(choice);
    }
}

fn stem(word: &str, stemmer: &Stemmer) -> String {
    let plain = word.is_ascii() && word.len() > 3 && word.bytes().all(|b| b.is_ascii_alphabetic());
    if plain { stemmer.stem(word).into_owned() } else { word.to_owned() }
}
