//! Sessions read from Markdown.

use std::ops::Range;

use super::{MAX_ITEMS, Part, Session, unescaped};
use crate::code::{blocks, unindented};
use crate::markdown::{Kind, Markdown, indent, marker};
use crate::text::plain;

/// Any Markdown is a session. Sections are found by their headings, at any level, by several names each. A section's items are
/// its list's, with the lines that belong to them; where it has headings below it, each of those with its text; else its
/// paragraphs. Code is taken out of them: it is among the blocks. Without a summary the first paragraph is one.
pub fn read(text: &str) -> Session {
    let document = Markdown::of(text);
    let mut session = Session { code_blocks: blocks(&document), ..Session::default() };
    let called = |heading| {
        let (name, unnumbered) = document.names_of(heading);
        Part::named(&name).or_else(|| Part::named(&unnumbered))
    };
    let parts: Vec<Option<Part>> = document.headings().iter().map(called).collect();
    let part_of = |index: usize| parts.get(index).copied().flatten();
    let mut tops =
        document.headings().iter().enumerate().filter(|(_, h)| h.level == 1).map(|(index, _)| index);
    let title = match (tops.next(), tops.next()) {
        (Some(first), None) => Some(first),
        // Where sections are of the first level, one of them is no title.
        (Some(first), Some(_)) if part_of(first).is_none() => Some(first),
        _ => None,
    };
    session.title = title.and_then(|at| document.headings().get(at)).map(|h| document.title_of(h).to_owned());
    let mut has_summary = false;
    for (index, heading) in document.headings().iter().enumerate() {
        let Some(part) = part_of(index).filter(|_| title != Some(index)) else { continue };
        let mut following = document.headings().iter().enumerate().skip(index + 1);
        let next = following
            .find(|(at, h)| h.level <= heading.level || part_of(*at).is_some())
            .map(|(_, h)| h.at.start);
        let body = heading.at.end..next.unwrap_or(text.len());
        match session.list(part) {
            Some(list) => list.extend(items(&document, &body)),
            None if !has_summary => {
                session.summary = prose(&document, &body);
                has_summary = !session.summary.trim().is_empty();
            }
            None => {}
        }
    }
    if !has_summary {
        let begin =
            title.and_then(|at| document.headings().get(at)).map_or(document.body().start, |h| h.at.end);
        let next = document.headings().iter().map(|h| h.at.start).find(|at| *at >= begin);
        session.summary = document.paragraph(&(begin..next.unwrap_or(text.len()))).unwrap_or_default();
    }
    session.normal()
}

/// Text, headings as lines of it, without code, comments and rules.
fn prose(document: &Markdown<'_>, body: &Range<usize>) -> String {
    let mut out = String::new();
    for (kind, at) in document.lines_in(body) {
        match kind {
            Kind::Text => out.push_str(&unescaped(document.slice(&at))),
            Kind::Heading => out.push_str(title_at(document, &at).unwrap_or_default()),
            Kind::Blank => {}
            _ => continue,
        }
        out.push('\n');
    }
    out
}

fn title_at<'a>(document: &Markdown<'a>, line: &Range<usize>) -> Option<&'a str> {
    let at = document.headings().binary_search_by_key(&line.start, |h| h.at.start).ok()?;
    document.headings().get(at).map(|h| document.title_of(h))
}

/// The list item that lines are added to, and where its text begins, in columns.
struct Item {
    text: String,
    offset: usize,
    blank: usize,
}

fn items(document: &Markdown<'_>, body: &Range<usize>) -> Vec<String> {
    let from = document.headings().partition_point(|h| h.at.start < body.start);
    let headings = document.headings().iter().skip(from).take_while(|h| h.at.start < body.end);
    let starts: Vec<usize> = headings.map(|h| h.at.start).take(MAX_ITEMS).collect();
    let end = starts.first().copied().unwrap_or(body.end);
    let before = body.start..end;
    let has_list = document.lines_in(&before).any(|(kind, at)| {
        let line = document.slice(&at);
        kind == Kind::Text && line.get(indent(line).1..).and_then(marker).is_some()
    });
    let mut found = if has_list { listed(document, &before) } else { paragraphs(document, &before) };
    for (at, start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(body.end);
        let text = prose(document, &(*start..end));
        // The heading is text here: its marks would be shown.
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        found.push(format!("{}\n{}", plain(first), rest.trim_start_matches('\n')));
    }
    found
}

fn listed(document: &Markdown<'_>, body: &Range<usize>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<Item> = None;
    for (kind, at) in document.lines_in(body) {
        let line = document.slice(&at);
        let (columns, skip) = indent(line);
        let rest = line.get(skip..).unwrap_or_default();
        match (kind, &mut open) {
            (Kind::Blank, Some(item)) => item.blank += 1,
            (Kind::Text, Some(item)) if columns >= item.offset => {
                (0..=item.blank).for_each(|_| item.text.push('\n'));
                item.blank = 0;
                item.text.push_str(&unescaped(unindented(line, item.offset)));
            }
            (Kind::Text, _) if marker(rest).is_some() => {
                let width = marker(rest).unwrap_or_default();
                let text = unescaped(rest.get(width..).unwrap_or_default().trim_start());
                found.extend(
                    open.replace(Item { text, offset: columns + width, blank: 0 }).map(|item| item.text),
                );
            }
            // A line that goes on without its indent.
            (Kind::Text, Some(item)) if item.blank == 0 => {
                item.text.push('\n');
                item.text.push_str(&unescaped(rest));
            }
            (Kind::Text | Kind::Rule, _) => found.extend(open.take().map(|item| item.text)),
            _ => {}
        }
    }
    found.extend(open.map(|item| item.text));
    found
}

fn paragraphs(document: &Markdown<'_>, body: &Range<usize>) -> Vec<String> {
    let mut found = vec![String::new()];
    for (kind, at) in document.lines_in(body) {
        match (kind, found.last_mut()) {
            (Kind::Text, Some(text)) => {
                text.push_str(&unescaped(document.slice(&at)));
                text.push('\n');
            }
            (_, Some(text)) if !text.is_empty() => found.push(String::new()),
            _ => {}
        }
    }
    found
}
