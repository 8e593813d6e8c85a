//! Texts into words (§5 of `docs/design/library.md`): case and accents folded, identifiers taken apart and kept whole,
//! stems of English.

use rust_stemmers::{Algorithm, Stemmer};

/// The number of this analysis. Whatever was indexed under another one must be indexed again.
pub const ANALYSIS: u8 = 1;

/// Longest word, in characters; what is longer is no word that anybody types.
pub const MAX_WORD: usize = 40;

/// Words that are in every text. They are indexed, and ignored in a question that has another word.
const STOP: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
];

/// Whether a folded word says nothing of a text.
pub(crate) fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

/// Latin letters with accents, by what they are without; decompositions of Unicode, and the letters that have none.
const LATIN: [(&str, &str); 33] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("ae", "æǣǽ"),
    ("b", "ƀḃḅḇ"),
    ("c", "çćĉċčȼḉ"),
    ("d", "ðďđḋḍḏḑḓ"),
    ("dz", "ǆǳ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ƒḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥħȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįıǐȉȋḭḯỉị"),
    ("ij", "ĳ"),
    ("j", "ĵǰ"),
    ("k", "ķĸǩḱḳḵ"),
    ("l", "ĺļľŀłḷḹḻḽ"),
    ("lj", "ǉ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňŉŋǹṅṇṉṋ"),
    ("nj", "ǌ"),
    ("o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("oe", "œ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšſșṡṣṥṧṩẛ"),
    ("ss", "ß"),
    ("t", "ţťŧțṫṭṯṱẗ"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
];

/// Marks that stand behind the letter that they belong to.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Writes a character in lower case and without its accent.
pub(crate) fn fold(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    for lower in c.to_lowercase() {
        if is_accent(lower) {
            continue;
        }
        let may_be_latin = matches!(lower, '\u{df}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
        match may_be_latin.then(|| LATIN.iter().find(|(_, with)| with.contains(lower))).flatten() {
            Some((plain, _)) => out.push_str(plain),
            None => out.push(lower),
        }
    }
}

/// Scripts that are written without spaces between words, and Korean, whose particles are written to the word.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{323af}')
}

/// A word, or several as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'w> {
    /// Folded, at most [`MAX_WORD`] characters, never empty.
    pub(crate) text: &'w str,
    /// The number of the (first) word in its field.
    pub(crate) at: u32,
    /// How many words it is made of: 1 for a word, more for an identifier as one.
    pub(crate) words: u32,
}

/// Whether words on both sides of it may be one whole, as [`Splitter`] joins them: behind anything else they begin anew.
pub(crate) fn may_be_within(c: char) -> bool {
    c.is_alphanumeric() || is_accent(c) || matches!(c, '-' | '_' | '.')
}

/// Takes texts apart. Keeps its buffers, so that a million texts do not allocate a million times.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    run: Vec<char>,
    word: String,
    /// What the run, what dots part, and what all joints join are as one.
    wholes: [Whole; 3],
    at: u32,
}

#[derive(Debug, Default)]
struct Whole {
    text: String,
    first: u32,
    /// How many of the next smaller kind are in it: one alone is not said twice.
    members: u32,
}

const RUN: usize = 0;
const DOTTED: usize = 1;
const JOINED: usize = 2;

impl Splitter {
    /// The words of a text, the first of which is number `at`; where a run of letters and digits has several words, and
    /// with `joins` where `-`, `_` and `.` join them, they are also given as one, behind their last. Gives the number
    /// after the last word. Linear in the text.
    pub(crate) fn split(&mut self, text: &str, at: u32, joins: bool, mut on: impl FnMut(Piece<'_>)) -> u32 {
        self.at = at;
        self.run.clear();
        for whole in &mut self.wholes {
            *whole = Whole { text: std::mem::take(&mut whole.text), first: at, members: 0 };
            whole.text.clear();
        }
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c.is_alphanumeric() {
                if self.run.last().is_some_and(|last| is_cjk(*last) != is_cjk(c)) {
                    self.end_run(&mut on);
                    self.end_group(&mut on);
                }
                self.run.push(c);
                continue;
            }
            if self.run.is_empty() || is_accent(c) {
                continue;
            }
            self.end_run(&mut on);
            let goes_on = joins && rest.peek().is_some_and(|next| next.is_alphanumeric());
            match c {
                '-' | '_' if goes_on => {}
                '.' if goes_on => self.end(DOTTED, &mut on),
                _ => self.end_group(&mut on),
            }
        }
        self.end_run(&mut on);
        self.end_group(&mut on);
        self.at
    }

    /// Gives a whole that has several members, and makes it a member of the next greater one.
    fn end(&mut self, kind: usize, on: &mut impl FnMut(Piece<'_>)) {
        let Some(whole) = self.wholes.get_mut(kind) else { return };
        if whole.members == 0 {
            return;
        }
        let (text, first, members) = (std::mem::take(&mut whole.text), whole.first, whole.members);
        whole.members = 0;
        if members > 1
            && self.at > first.saturating_add(1)
            && text.chars().count() <= MAX_WORD
            && !text.is_empty()
        {
            on(Piece { text: &text, at: first, words: self.at - first });
        }
        if let Some(greater) = self.wholes.get_mut(kind + 1) {
            if greater.members == 0 {
                greater.first = first;
            }
            greater.members += 1;
            // What is too long for a word already needs no more of it.
            if greater.text.len() <= 8 * MAX_WORD {
                greater.text.push_str(&text);
            }
        }
        if let Some(whole) = self.wholes.get_mut(kind) {
            whole.text = text;
            whole.text.clear();
        }
    }

    fn end_group(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        self.end(DOTTED, on);
        self.end(JOINED, on);
    }

    fn end_run(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        if run.first().copied().is_some_and(is_cjk) {
            self.pairs_of(&run, on);
        } else {
            let mut from = 0;
            for (i, c) in run.iter().enumerate().skip(1) {
                if is_cut(&run, i, *c) {
                    self.part(run.get(from..i).unwrap_or_default(), on);
                    from = i;
                }
            }
            self.part(run.get(from..).unwrap_or_default(), on);
        }
        self.end(RUN, on);
        self.run = run;
        self.run.clear();
    }

    /// Two neighbours at a time; one that stands alone is itself.
    fn pairs_of(&mut self, run: &[char], on: &mut impl FnMut(Piece<'_>)) {
        if run.len() == 1 {
            self.part(run, on);
        }
        for two in run.windows(2) {
            self.part(two, on);
        }
        // Pairs overlap: together they are not what was written.
        if let Some(whole) = self.wholes.get_mut(RUN) {
            whole.members = 0;
            whole.text.clear();
        }
    }

    fn part(&mut self, part: &[char], on: &mut impl FnMut(Piece<'_>)) {
        self.word.clear();
        for c in part {
            fold(*c, &mut self.word);
        }
        if let Some(whole) = self.wholes.get_mut(RUN) {
            if whole.members == 0 {
                whole.first = self.at;
            }
            whole.members += 1;
            if whole.text.len() <= 8 * MAX_WORD {
                whole.text.push_str(&self.word);
            }
        }
        let is_word = !self.word.is_empty()
            && (self.word.len() <= MAX_WORD
                || (part.len() <= 2 * MAX_WORD && self.word.chars().count() <= MAX_WORD));
        if is_word {
            on(Piece { text: &self.word, at: self.at, words: 1 });
            self.at = self.at.saturating_add(1);
        }
    }
}

/// Whether a word begins at `run[i]`, which is `c`.
fn is_cut(run: &[char], i: usize, c: char) -> bool {
    let Some(before) = i.checked_sub(1).and_then(|b| run.get(b)) else { return false };
    if before.is_numeric() {
        let letters = run.iter().skip(i).take(3).take_while(|l| l.is_alphabetic()).count();
        return letters == 3;
    }
    if !c.is_uppercase() {
        return false;
    }
    if !before.is_uppercase() {
        return true;
    }
    // `HTTPServer`, but not `URLs`.
    let is_plural = run.get(i + 1) == Some(&'s') && !run.get(i + 2).is_some_and(|after| after.is_lowercase());
    run.get(i + 1).is_some_and(|next| next.is_lowercase()) && !is_plural
}

/// Snowball's English stemmer, for the words that it is for.
pub(crate) struct Stems(Stemmer);

impl Stems {
    pub(crate) fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    /// What grammar leaves of a folded word; words of fewer than four letters, or with anything but letters of ASCII, are
    /// kept.
    pub(crate) fn of<'w>(&self, word: &'w str) -> std::borrow::Cow<'w, str> {
        if !is_stemmed(word) {
            return word.into();
        }
        let stem = self.0.stem(word);
        if stem.is_empty() { word.into() } else { stem }
    }
}

/// Whether this may be what grammar leaves of a folded word: its letters from the first one on, which may be all that is left, and of
/// `dying` and its like `die`.
pub(crate) fn may_be_of(stem: &str, word: &str) -> bool {
    if !is_stemmed(word) {
        return stem == word;
    }
    match (stem.as_bytes(), word.as_bytes()) {
        ([first], [of_word, ..]) => first == of_word,
        ([first, second, ..], [of_word, next, ..]) => {
            first == of_word && (second == next || (*next == b'y' && *second == b'i'))
        }
        _ => false,
    }
}

/// Whether a folded word has a stem of its own.
pub(crate) fn is_stemmed(word: &str) -> bool {
    word.len() >= 4 && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// The words of a text as an index knows them, in order: folded, and what grammar leaves of each. Identifiers as one are
/// not among them. For looking at the analysis, and for passages.
#[must_use]
pub fn words_of(text: &str) -> Vec<(String, String)> {
    let stems = Stems::new();
    let mut found = Vec::new();
    Splitter::default().split(text, 0, false, |piece| {
        if piece.words == 1 {
            found.push((piece.text.to_owned(), stems.of(piece.text).into_owned()));
        }
    });
    found
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
