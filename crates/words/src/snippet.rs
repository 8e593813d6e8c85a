//! The passage of a text that shows best why it was found.

use std::collections::VecDeque;
use std::ops::Range;

use crate::analyze::{Tokens, analyze};
use crate::ask::{Hit, found};
use crate::query::Query;

/// Longest snippet, in characters, the signs of what was left out included.
pub const MAX_SNIPPET: usize = 240;

/// A passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// One line: runs of spaces, line ends and control characters are one space; `…` where there is more before or behind.
    pub text: String,
    /// What of it answers the question: bytes of `text`, in order, not touching each other.
    pub hits: Vec<Range<usize>>,
    /// Where the passage begins in the text that it was taken from, in bytes.
    pub from: usize,
}

/// The passage with the most different parts of the question, then the most of them, then the first one; its beginning where
/// there are none. The same text and question give the same passage.
#[must_use]
pub fn snippet(text: &str, query: &Query) -> Snippet {
    snippet_of(text, &analyze(text), query)
}

/// The same, of a text that was analysed before: `tokens` are those of `text`.
#[must_use]
pub fn snippet_of(text: &str, tokens: &Tokens, query: &Query) -> Snippet {
    let chars = Chars::of(text);
    let mut hits = found(&query.wanted, tokens).hits;
    // A hit that is longer than any passage shows its beginning.
    for hit in &mut hits {
        hit.end = hit.end.min(ahead(text, hit.start, ROOM));
    }
    let (first, last) = best(&hits, &chars).unwrap_or((0, 0));
    let passage = around(text, &chars, first, last);
    one_line(text, passage, &hits)
}

/// What is left of a snippet when both ends are signs.
const ROOM: usize = MAX_SNIPPET - 2;

/// How many characters are before a byte: every 64 bytes it is written down.
struct Chars<'t> {
    text: &'t str,
    marks: Vec<usize>,
}

const STEP: usize = 64;

impl<'t> Chars<'t> {
    fn of(text: &'t str) -> Self {
        let mut marks = Vec::with_capacity(text.len() / STEP + 1);
        let mut count = 0;
        for chunk in text.as_bytes().chunks(STEP) {
            marks.push(count);
            count += chunk.iter().filter(|byte| is_start(**byte)).count();
        }
        marks.push(count);
        Self { text, marks }
    }

    /// `at` is a boundary.
    fn before(&self, at: usize) -> usize {
        let mark = at / STEP;
        let bytes = self.text.as_bytes().get(mark * STEP..at).unwrap_or_default();
        self.marks.get(mark).copied().unwrap_or_default()
            + bytes.iter().filter(|byte| is_start(**byte)).count()
    }

    fn between(&self, from: usize, to: usize) -> usize {
        self.before(to).saturating_sub(self.before(from))
    }
}

/// Whether a byte begins a character of UTF-8.
fn is_start(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Where the best hits begin and end: a window over hits in order, both ends moving forward.
fn best(hits: &[Hit], chars: &Chars<'_>) -> Option<(usize, usize)> {
    let mut counts: Vec<usize> = vec![0; hits.iter().map(|hit| hit.item + 1).max()?];
    let mut window: VecDeque<&Hit> = VecDeque::new();
    let (mut different, mut best) = (0, None);
    for hit in hits {
        while let Some(first) = window.front()
            && chars.between(first.start, hit.end) > ROOM
        {
            if let Some(count) = counts.get_mut(first.item) {
                *count -= 1;
                different -= usize::from(*count == 0);
            }
            window.pop_front();
        }
        if let Some(count) = counts.get_mut(hit.item) {
            different += usize::from(*count == 0);
            *count += 1;
        }
        window.push_back(hit);
        let score = (different, window.len());
        if best.as_ref().is_none_or(|(known, _)| score > *known) {
            let start = window.front().map_or(hit.start, |first| first.start);
            best = Some((score, (start, hit.end)));
        }
    }
    best.map(|(_, range)| range)
}

/// A passage around what must be in it: some before, the rest behind, both to the ends of words.
fn around(text: &str, chars: &Chars<'_>, first: usize, last: usize) -> Range<usize> {
    let total = chars.before(text.len());
    if total <= MAX_SNIPPET {
        return 0..text.len();
    }
    let free = ROOM.saturating_sub(chars.between(first, last));
    let behind = total - chars.before(last);
    let lead = (free / 3).max(free.saturating_sub(behind)).min(chars.before(first));
    let mut start = back(text, first, lead);
    if start > 0 && !is_edge(text, start) {
        let inner = text.get(start..first).unwrap_or_default();
        start += inner.find(char::is_whitespace).unwrap_or(0);
    }
    let mut end = ahead(text, last, ROOM.saturating_sub(chars.between(start, last)));
    if end < text.len() && !is_edge(text, end) {
        let inner = text.get(last..end).unwrap_or_default();
        end = inner.rfind(char::is_whitespace).map_or(end, |at| last + at);
    }
    start..end
}

/// Whether there is space on either side.
fn is_edge(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|t| t.chars().next_back());
    let behind = text.get(at..).and_then(|t| t.chars().next());
    before.is_none_or(char::is_whitespace) || behind.is_none_or(char::is_whitespace)
}

/// So many characters before.
fn back(text: &str, at: usize, chars: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.char_indices().rev().take(chars).last().map_or(at, |(here, _)| here)
}

/// So many characters behind.
fn ahead(text: &str, at: usize, chars: usize) -> usize {
    let behind = text.get(at..).unwrap_or_default();
    behind.char_indices().nth(chars).map_or(text.len(), |(here, _)| at + here)
}

/// Hits that lie in a passage, those that overlap or touch as one.
fn merged(hits: &[Hit], passage: &Range<usize>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.start >= passage.start && hit.end <= passage.end) {
        match merged.last_mut() {
            Some(last) if hit.start <= last.end => last.end = last.end.max(hit.end),
            _ => merged.push(hit.start..hit.end),
        }
    }
    merged
}

fn one_line(text: &str, passage: Range<usize>, hits: &[Hit]) -> Snippet {
    let mut snippet = Snippet { from: passage.start, ..Snippet::default() };
    let mut hits = merged(hits, &passage).into_iter().peekable();
    let (mut is_space, mut is_open) = (true, false);
    if passage.start > 0 {
        snippet.text.push('…');
    }
    for (offset, c) in text.get(passage.clone()).unwrap_or_default().char_indices() {
        let here = passage.start + offset;
        if hits.next_if(|hit| hit.end <= here).is_some() {
            is_open = false;
        }
        if c.is_whitespace() || c.is_control() {
            if !is_space {
                snippet.text.push(' ');
            }
            is_space = true;
            continue;
        }
        is_space = false;
        let at = snippet.text.len();
        snippet.text.push(c);
        if hits.peek().is_some_and(|hit| hit.start <= here) {
            match snippet.hits.last_mut() {
                Some(last) if is_open => last.end = snippet.text.len(),
                _ => snippet.hits.push(at..snippet.text.len()),
            }
            is_open = true;
        }
    }
    snippet.text.truncate(snippet.text.trim_end().len());
    if passage.end < text.trim_end().len() {
        snippet.text.push('…');
    }
    snippet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, question: &str) -> String {
        let snippet = snippet(text, &Query::parse(question));
        let mut shown = snippet.text.clone();
        for hit in snippet.hits.iter().rev() {
            shown.insert_str(hit.end, "**");
            shown.insert_str(hit.start, "**");
        }
        shown
    }

    #[test]
    fn short_texts_are_shown_whole_on_one_line() {
        assert_eq!(shown("# Tokens\n\n  were\trunning \n", "run token"), "# **Tokens** were **running**");
        assert_eq!(shown("a useAuthToken b", "auth"), "a use**Auth**Token b");
        assert_eq!(shown("日本語の文", "本語の"), "日**本語の**文");
        assert_eq!(shown("two\n words, twowords", "\"two words\""), "**two words**, twowords");
        assert_eq!(shown("nothing here", "absent"), "nothing here");
        assert_eq!(shown("", "absent"), "");
        assert_eq!(shown("cafe\u{301} au lait", "café"), "**cafe\u{301}** au lait");
    }

    #[test]
    fn the_passage_with_most_of_the_question_is_shown() {
        let filler = "lorem ipsum dolor ".repeat(30);
        let text = format!("alpha first. {filler}alpha and beta together. {filler}alpha alpha alpha");
        let found = snippet(&text, &Query::parse("alpha beta"));
        assert!(found.text.contains("alpha and beta together"), "{}", found.text);
        assert!(found.text.starts_with('…') && found.text.ends_with('…'));
        let words: Vec<_> = found.hits.iter().map(|hit| &found.text[hit.clone()]).collect();
        assert_eq!(words, ["alpha", "beta"]);
        assert!(found.text.chars().count() <= MAX_SNIPPET && found.text.chars().count() > MAX_SNIPPET - 20);
        assert!(text[found.from..].trim_start().starts_with(&found.text['…'.len_utf8()..][..20]));
        let last = shown(&text, "alpha -beta");
        assert!(last.ends_with("**alpha** **alpha** **alpha**"), "{last}");
    }

    #[test]
    fn one_endless_word_is_shown_from_its_beginning() {
        let found = snippet(&"x".repeat(10_000), &Query::parse(&"x".repeat(100)));
        assert_eq!(found.text.chars().count(), MAX_SNIPPET - 1);
        assert_eq!(found.hits.len(), 1);
    }
}
