//! What users ask: any text is a question, and none of it is an operator of a database.

use std::collections::BTreeSet;

use rust_stemmers::Stemmer;

use crate::analyze::{joined, marked, stem, stemmer};
use crate::chars::{head, spell};
use crate::label::{Label, TAG};
use crate::split::{Group, groups, parts};

/// How much of a question is read, in bytes.
pub const MAX_QUERY: usize = 1_024;

/// Most words, phrases and tags of a question.
pub const MAX_ITEMS: usize = 32;

/// Most words of all of them together.
const MAX_WORDS: usize = 64;

/// Fewest letters of a word that stands for all that begin so.
const MIN_PREFIX: usize = 2;

/// A question. All of its parts must be there, and none that it leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) unwanted: Vec<Wanted>,
    pub(crate) labels: Vec<Label>,
    pub(crate) without: Vec<Label>,
    is_cut: bool,
}

/// A word or phrase: any of its spellings will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) any: BTreeSet<Spelled>,
}

/// Terms one after another; the last may be the beginning of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spelled {
    pub(crate) terms: Vec<String>,
    pub(crate) is_prefix: bool,
}

impl Query {
    /// Reads a question. `word` is found in all its forms, `"some words"` as they stand, `begin*` whatever begins so, `tag:x`
    /// and `tag:"x y"` by label; `-` before any of them leaves out what it finds. Everything else is a word: there is no
    /// wrong question, only an empty one.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let taken = head(text, MAX_QUERY);
        let mut query = Self { is_cut: taken.len() < text.len(), ..Self::default() };
        let stemmer = stemmer();
        let mut rest = taken.trim_start();
        let mut words = 0;
        while !rest.is_empty() {
            let (piece, behind) = piece(rest);
            rest = behind.trim_start();
            let wanted = match &piece.what {
                What::Tag(tag) => {
                    let Some(label) = Label::new(TAG, tag) else { continue };
                    let labels = if piece.is_unwanted { &mut query.without } else { &mut query.labels };
                    if labels.len() == MAX_ITEMS {
                        query.is_cut = true;
                    } else if !labels.contains(&label) {
                        labels.push(label);
                    }
                    continue;
                }
                What::Phrase(words) => phrase(words),
                What::Word(word) => word_of(word, &stemmer),
            };
            let Some(wanted) = wanted else { continue };
            words += wanted.any.iter().map(|s| s.terms.len()).max().unwrap_or_default();
            if query.wanted.len() + query.unwanted.len() == MAX_ITEMS || words > MAX_WORDS {
                query.is_cut = true;
                break;
            }
            let items = if piece.is_unwanted { &mut query.unwanted } else { &mut query.wanted };
            if !items.contains(&wanted) {
                items.push(wanted);
            }
        }
        query
    }

    /// Also only what bears this label.
    #[must_use]
    pub fn with(mut self, label: Label) -> Self {
        self.labels.push(label);
        self
    }

    /// Nothing that bears this label.
    #[must_use]
    pub fn without(mut self, label: Label) -> Self {
        self.without.push(label);
        self
    }

    /// Whether it asks for nothing: no word, phrase or label is wanted. What is only to be left out is no question.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.labels.is_empty()
    }

    /// Whether it asks for words or phrases, and so has a rank.
    pub fn has_words(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether it was too long, and its end was not read ([`MAX_QUERY`], [`MAX_ITEMS`]): the user is to be told.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// A piece of a question, as it is written.
struct Piece<'t> {
    what: What<'t>,
    is_unwanted: bool,
}

enum What<'t> {
    Word(&'t str),
    Phrase(&'t str),
    Tag(&'t str),
}

/// The first piece of a text that begins with no space, and what is behind it.
fn piece(text: &str) -> (Piece<'_>, &str) {
    let minus =
        text.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || is_quote(c)));
    let is_unwanted = minus.is_some();
    let text = minus.unwrap_or(text);
    if let Some((words, rest)) = quoted(text) {
        return (Piece { what: What::Phrase(words), is_unwanted }, rest);
    }
    let tag = text.get(..4).filter(|start| start.eq_ignore_ascii_case("tag:")).and_then(|_| text.get(4..));
    if let Some((tag, rest)) = tag.and_then(quoted) {
        return (Piece { what: What::Tag(tag), is_unwanted }, rest);
    }
    let (word, rest) =
        text.split_at_checked(text.find(char::is_whitespace).unwrap_or(text.len())).unwrap_or((text, ""));
    let what = match tag.and(word.get(4..)).filter(|tag| !tag.is_empty()) {
        Some(tag) => What::Tag(tag),
        None => What::Word(word),
    };
    (Piece { what, is_unwanted }, rest)
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}')
}

/// What is in quotes at the beginning; to the end where they are never closed.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix(is_quote)?;
    Some(inside.split_once(is_quote).unwrap_or((inside, "")))
}

/// Words as they stand: the terms of the text alone, of neither another form nor a part.
fn phrase(text: &str) -> Option<Wanted> {
    let (terms, is_prefix) = terms(text);
    (!terms.is_empty()).then(|| Wanted { any: BTreeSet::from([Spelled { terms, is_prefix }]) })
}

/// What a text's words are in an index, one after another, and whether the last one may go on: a character of a script without
/// spaces is there with the one that follows it, whatever that is.
fn terms(text: &str) -> (Vec<String>, bool) {
    let (mut terms, mut is_prefix) = (Vec::new(), false);
    let mut groups = groups(text).peekable();
    while let Some(group) = groups.next() {
        match group {
            Group::Joined(words) => {
                terms.extend(words.into_iter().filter_map(|at| Some(spell(text.get(at)?)?.plain)));
                is_prefix = false;
            }
            Group::Run(units) => {
                let is_last = groups.peek().is_none();
                for (i, unit) in units.iter().enumerate() {
                    let next = units.get(i + 1);
                    if is_last && next.is_none() && i > 0 {
                        break;
                    }
                    let end = next.map_or(unit.end, |next| next.end);
                    terms.extend(text.get(unit.start..end).and_then(spell).map(|s| s.plain));
                }
                is_prefix = is_last && units.len() == 1;
            }
        }
    }
    (terms, is_prefix)
}

/// A word in all its forms; one of several words (`a/b.rs`) as they stand.
fn word_of(text: &str, stemmer: &Stemmer) -> Option<Wanted> {
    let (terms, is_run) = terms(text);
    let mut any = BTreeSet::new();
    let begun = text.strip_suffix('*').filter(|word| word.ends_with(char::is_alphanumeric));
    let is_prefix =
        is_run || (begun.is_some() && terms.last().is_some_and(|t| t.chars().count() >= MIN_PREFIX));
    let mut all = groups(text);
    let (first, is_alone) = (all.next(), all.next().is_none());
    let mut one_of = |spelling: String| {
        any.insert(Spelled { terms: vec![marked(&spelling)], is_prefix });
        any.insert(Spelled { terms: vec![spelling], is_prefix });
    };
    if let (Some(Group::Joined(words)), true) = (first, is_alone) {
        let whole = joined(terms.iter().map(String::as_str));
        let stem = stem(stemmer, &whole).filter(|_| !is_prefix);
        if !whole.is_empty() {
            one_of(whole);
        }
        stem.into_iter().for_each(one_of);
        if let [only] = words.as_slice() {
            let word = text.get(only.clone()).unwrap_or_default();
            if let Some(accented) = spell(word).and_then(|s| s.accented) {
                any.insert(Spelled { terms: vec![marked(&accented)], is_prefix });
            }
            let parts: Vec<String> = apart(word);
            if !parts.is_empty() {
                any.insert(Spelled { terms: parts, is_prefix });
            }
        }
    }
    if !terms.is_empty() {
        any.insert(Spelled { terms, is_prefix });
    }
    (!any.is_empty()).then_some(Wanted { any })
}

/// A word's parts, as words beside each other would be.
fn apart(word: &str) -> Vec<String> {
    let mut end = 0;
    let mut found = Vec::new();
    for part in parts(word) {
        // The runs come behind the parts and begin again before.
        if part.start < end {
            break;
        }
        end = part.end;
        found.extend(word.get(part).and_then(spell).map(|s| s.plain));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Vec<String>> {
        let show = |spelled: &Spelled| {
            format!("{}{}", spelled.terms.join("+"), if spelled.is_prefix { "*" } else { "" })
        };
        Query::parse(text).wanted.iter().map(|w| w.any.iter().map(show).collect()).collect()
    }

    #[test]
    fn a_word_is_asked_for_in_its_forms() {
        for (text, expected) in [
            ("run", vec![vec!["_run", "run"]]),
            ("running", vec![vec!["_run", "_running", "run", "running"]]),
            ("Café", vec![vec!["_cafe", "_café", "cafe"]]),
            ("useAuth", vec![vec!["_useauth", "use+auth", "useauth"]]),
            ("OAuth2", vec![vec!["_oauth2", "o+auth+2", "oauth2"]]),
            ("e-mail", vec![vec!["_email", "e+mail", "email"]]),
            ("src/lib.rs", vec![vec!["src+lib+rs"]]),
            ("beg*", vec![vec!["_beg*", "beg*"]]),
            ("src/li*", vec![vec!["src+li*"]]),
            ("b*", vec![vec!["_b", "b"]]),
            ("日", vec![vec!["日*"]]),
            ("日本語", vec![vec!["日本+本語"]]),
            ("日本語x", vec![vec!["日本+本語+語+x"]]),
            ("\"running OAuth2\"", vec![vec!["running+oauth2"]]),
            ("“never closed", vec![vec!["never+closed"]]),
            ("a AND b", vec![vec!["_a", "a"], vec!["_and", "and"], vec!["_b", "b"]]),
            ("* ** - -- \"\" ' & | ! ( ) :* <->", vec![]),
            ("--apply", vec![vec!["_apply", "_appli", "appli", "apply"]]),
        ] {
            let mut expected: Vec<Vec<String>> =
                expected.into_iter().map(|e: Vec<&str>| e.into_iter().map(str::to_owned).collect()).collect();
            for forms in &mut expected {
                forms.sort();
            }
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn tags_and_what_is_left_out_are_read() {
        let label = |value| Label::new(TAG, value).unwrap();
        let query = Query::parse("tag:a Tag:\"b c\" -tag:d -no -\"not this\" tag: tag:a yes");
        assert_eq!(query.labels, [label("a"), label("b c")]);
        assert_eq!(query.without, [label("d")]);
        assert_eq!(query.unwanted.len(), 2);
        assert_eq!(query.wanted.len(), 2, "`tag:` alone is a word, and so is yes");
        assert!(!query.is_empty() && query.has_words() && !query.is_cut());
        assert!(Query::parse("-no").is_empty() && Query::parse(" \t").is_empty());
        assert!(!Query::parse("-no").with(label("a")).is_empty());
    }

    #[test]
    fn long_questions_are_cut_and_say_so() {
        assert!(Query::parse(&"word ".repeat(300)).is_cut());
        let many: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
        let query = Query::parse(&many.join(" "));
        assert!(query.is_cut() && query.wanted.len() == MAX_ITEMS);
        assert!(Query::parse(&format!("\"{}\"", "a ".repeat(65))).is_cut());
    }
}
