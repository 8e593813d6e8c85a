//! A question in the languages of the databases, and answered without one.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::{Form, Tokens};
use crate::index::quoted;
use crate::label::Label;
use crate::query::{Query, Spelled, Wanted};

/// Columns of a table of FTS5.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'c> {
    /// Where words are looked for.
    pub words: &'c [&'c str],
    /// Where labels are.
    pub labels: &'c str,
}

/// The question for FTS5's `MATCH`, to be bound as text. `None`: it asks for nothing.
#[must_use]
pub fn fts5_match(query: &Query, columns: &Columns<'_>) -> Option<String> {
    if query.is_empty() {
        return None;
    }
    let column = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let words = columns.words.iter().map(|name| column(name)).collect::<Vec<_>>().join(" ");
    let label = |label: &Label| format!("({{{}}} : \"{}\")", column(columns.labels), label.term());
    let item = |wanted: &Wanted| {
        let any = wanted.any.iter().map(fts5_phrase).collect::<Vec<_>>().join(" OR ");
        format!("({{{words}}} : ({any}))")
    };
    let all: Vec<_> = query.labels.iter().map(label).chain(query.wanted.iter().map(item)).collect();
    let none: Vec<_> = query.without.iter().map(label).chain(query.unwanted.iter().map(item)).collect();
    let all = all.join(" AND ");
    Some(if none.is_empty() { all } else { format!("({all}) NOT ({})", none.join(" OR ")) })
}

/// Terms in one pair of quotes are a phrase to FTS5 (SQLite's documentation, "FTS5 Phrases"); a term holds no quote.
fn fts5_phrase(spelled: &Spelled) -> String {
    format!("\"{}\"{}", spelled.terms.join(" "), if spelled.is_prefix { " *" } else { "" })
}

/// The question as a literal of a tsquery, to be bound as text and cast. `None`: it asks for nothing.
#[must_use]
pub fn tsquery_literal(query: &Query) -> Option<String> {
    if query.is_empty() {
        return None;
    }
    let label = |label: &Label| quoted(label.term());
    let not = |what: String| format!("!{what}");
    let parts: Vec<_> = query
        .labels
        .iter()
        .map(label)
        .chain(query.wanted.iter().map(tsquery_item))
        .chain(query.without.iter().map(label).map(not))
        .chain(query.unwanted.iter().map(tsquery_item).map(not))
        .collect();
    Some(parts.join(" & "))
}

/// The words of the question alone, as a literal of a tsquery to rank by: a rank over labels is none. `None`: it asks for no
/// words.
#[must_use]
pub fn tsquery_rank(query: &Query) -> Option<String> {
    let parts: Vec<_> = query.wanted.iter().map(tsquery_item).collect();
    (!parts.is_empty()).then(|| parts.join(" & "))
}

fn tsquery_item(wanted: &Wanted) -> String {
    let phrase = |spelled: &Spelled| {
        let mut terms: Vec<_> = spelled.terms.iter().map(|term| quoted(term)).collect();
        if let (true, Some(last)) = (spelled.is_prefix, terms.last_mut()) {
            last.push_str(":*");
        }
        terms.join(" <-> ")
    };
    let any: Vec<_> = wanted.any.iter().map(phrase).map(|phrase| format!("({phrase})")).collect();
    format!("({})", any.join(" | "))
}

/// Where a question's words are in a text.
pub(crate) struct Found {
    /// Bytes of the text, sorted, none inside another, and which item of the question they answer.
    pub(crate) hits: Vec<Hit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) item: usize,
}

impl Query {
    /// Whether fields and labels answer the question, as both databases decide it (but for the limits of an index:
    /// [`crate::MAX_POSITIONS`], [`crate::MAX_PLACES`]).
    #[must_use]
    pub fn is_answered_by(&self, fields: &[&Tokens], labels: &[Label]) -> bool {
        let is_there = |items: &[Wanted]| -> BTreeSet<usize> {
            fields.iter().flat_map(|field| found(items, field).hits).map(|hit| hit.item).collect()
        };
        !self.is_empty()
            && self.labels.iter().all(|label| labels.contains(label))
            && !self.without.iter().any(|label| labels.contains(label))
            && is_there(&self.wanted).len() == self.wanted.len()
            && is_there(&self.unwanted).is_empty()
    }
}

/// Looks for items in a text's terms: linear in the terms times the length of the question.
pub(crate) fn found(items: &[Wanted], tokens: &Tokens) -> Found {
    let mut terms: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let (mut begun, mut phrases) = (Vec::new(), Vec::new());
    for (item, wanted) in items.iter().enumerate() {
        for spelled in &wanted.any {
            match spelled.terms.as_slice() {
                [term] if spelled.is_prefix => begun.push((term.as_str(), item)),
                [term] => terms.entry(term).or_default().push(item),
                _ => phrases.push((spelled, item)),
            }
        }
    }
    let mut hits = Vec::new();
    for token in tokens.tokens() {
        let same = terms.get(token.term()).into_iter().flatten().copied();
        let longer = begun.iter().filter(|(start, _)| token.term().starts_with(start)).map(|(_, item)| *item);
        hits.extend(same.chain(longer).map(|item| Hit { start: token.at.start, end: token.at.end, item }));
    }
    let words: Vec<_> = tokens.tokens().iter().filter(|t| t.form == Form::Word).collect();
    for (spelled, item) in phrases {
        for here in words.windows(spelled.terms.len()) {
            let is_here = spelled.terms.iter().zip(here).enumerate().all(|(i, (term, word))| {
                let is_begun = spelled.is_prefix && i + 1 == spelled.terms.len();
                if is_begun { word.term().starts_with(term.as_str()) } else { word.term() == term }
            });
            if let (true, Some(first), Some(last)) = (is_here, here.first(), here.last()) {
                hits.push(Hit { start: first.at.start, end: last.at.end, item });
            }
        }
    }
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end), hit.item));
    hits.dedup();
    Found { hits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::analyze;

    #[test]
    fn a_question_is_written_for_both_databases() {
        let query = Query::parse("auth* \"two words\" -no tag:x -tag:y");
        let columns = Columns { words: &["title", "bo\"dy"], labels: "scope" };
        assert_eq!(
            fts5_match(&query, &columns).unwrap(),
            "(({\"scope\"} : \"__tx\") AND ({\"title\" \"bo\"\"dy\"} : (\"_auth\" * OR \"auth\" *)) AND ({\"title\" \"bo\"\"dy\"} : \
             (\"two words\"))) NOT (({\"scope\"} : \"__ty\") OR ({\"title\" \"bo\"\"dy\"} : (\"_no\" OR \"no\")))"
        );
        assert_eq!(
            tsquery_literal(&query).unwrap(),
            "'__tx' & (('_auth':*) | ('auth':*)) & (('two' <-> 'words')) & !'__ty' & !(('_no') | ('no'))"
        );
        assert_eq!(tsquery_rank(&query).unwrap(), "(('_auth':*) | ('auth':*)) & (('two' <-> 'words'))");
        let empty = Query::parse("-no -tag:x");
        assert_eq!(
            (fts5_match(&empty, &columns), tsquery_literal(&empty), tsquery_rank(&empty)),
            (None, None, None)
        );
        assert_eq!(quoted("a'b\\c"), "'a''b\\\\c'");
    }

    #[test]
    fn texts_answer_questions() {
        let text = "The useAuthToken hook was renamed; see e-mail of José about OAuth2 and 日本語の文. Tests were running.";
        let tokens = analyze(text);
        let answers = |question: &str| {
            Query::parse(question).is_answered_by(&[&tokens], &[Label::new('t', "ui").unwrap()])
        };
        for question in [
            "hook",
            "hooks",
            "auth token",
            "useauthtoken",
            "use_auth_token",
            "UseAuthTokens",
            "rename",
            "email",
            "e-mail",
            "jose",
            "José",
            "JOSÉ",
            "oauth",
            "oauth2",
            "run",
            "runs",
            "renam*",
            "useAuth*",
            "日本",
            "語",
            "文",
            "本語の",
            "tag:ui",
            "tag:UI hook",
            "hook -cold",
            "\"hook was renamed\"",
            "\"e mail of jose\"",
            "-tag:other hook",
            "\"was ren*\" hook",
        ] {
            // A star in quotes is no more than a character that is not a word.
            assert_eq!(answers(question), question != "\"was ren*\" hook", "{question}");
        }
        for question in [
            "hok",
            "token auth*x",
            "\"renamed was\"",
            "本文",
            "hook -run",
            "tag:x hook",
            "-tag:ui hook",
            "-hook",
            "",
            "\"auth token\"",
        ] {
            assert!(!answers(question), "{question}");
        }
    }
}
