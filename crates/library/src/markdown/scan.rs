//! The lines of a document, one after the other.

use std::ops::Range;

use super::line::{atx, closes, fence, indent, key, marker, rule, underline};
use super::{Fence, Heading};
use crate::front;
use crate::text::number;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of the front matter, its marks included.
    Front,
    /// White space.
    Blank,
    /// A heading, its underline included.
    Heading,
    /// The first or last line of a fenced block.
    Fence,
    /// Inside a fenced block.
    Code,
    /// Of an HTML comment.
    Comment,
    /// A thematic break.
    Rule,
    /// All else.
    Text,
}

/// A line without its line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) at: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) lines: Vec<Line>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) fences: Vec<Fence>,
}

struct Open {
    mark: u8,
    length: usize,
}

/// Reads a text once, line by line.
pub(crate) fn scan(text: &str) -> Scan {
    let mut found = Scan::default();
    let front_end = front::split(text).body.start;
    let mut open: Option<Open> = None;
    let mut comment = false;
    // Where the paragraph began that a line of `=` or `-` would make a heading.
    let mut paragraph: Option<usize> = None;
    // Where the text of the list item begins that lines may belong to, in columns.
    let mut list: Option<usize> = None;
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let end = start + whole.len();
        let (line, at) = line_of(whole, start);
        let index = found.lines.len();
        let (columns, skip) = indent(line);
        let rest = line.get(skip..).unwrap_or_default();
        let begin = at.start;
        start = end;
        let mut push = |kind| found.lines.push(Line { at: at.clone(), kind });
        if begin < front_end {
            push(Kind::Front);
            continue;
        }
        if let Some(fence) = &open {
            let is_end = columns <= list.unwrap_or(0) + 3 && closes(rest, fence.mark, fence.length);
            push(if is_end { Kind::Fence } else { Kind::Code });
            if let Some(last) = found.fences.last_mut() {
                last.body.end = if is_end { begin } else { end };
                last.is_closed = is_end;
            }
            if is_end {
                open = None;
            }
            continue;
        }
        if comment || columns <= 3 && rest.starts_with("<!--") {
            let inner = if comment { rest } else { rest.get(4..).unwrap_or_default() };
            comment = !inner.contains("-->");
            push(Kind::Comment);
            paragraph = None;
            continue;
        }
        if rest.trim().is_empty() {
            push(Kind::Blank);
            paragraph = None;
            continue;
        }
        if columns <= list.unwrap_or(0) + 3
            && let Some((mark, length, info)) = fence(rest)
        {
            push(Kind::Fence);
            let info = begin + skip + info.start..begin + skip + info.end;
            found.fences.push(Fence {
                line: number(index + 1),
                info,
                body: end..end,
                indent: columns,
                is_closed: false,
            });
            open = Some(Open { mark, length });
            paragraph = None;
            continue;
        }
        if columns <= 3 {
            if let Some((level, title)) = atx(rest) {
                push(Kind::Heading);
                let title = begin + skip + title.start..begin + skip + title.end;
                found.headings.push(Heading { level, title, line: number(index + 1), at: begin..end });
                (paragraph, list) = (None, None);
                continue;
            }
            if let (Some(first), Some(level)) = (paragraph, underline(rest)) {
                push(Kind::Heading);
                under(text, &mut found, first, level, end);
                (paragraph, list) = (None, None);
                continue;
            }
            if rule(rest) {
                push(Kind::Rule);
                (paragraph, list) = (None, None);
                continue;
            }
        }
        push(Kind::Text);
        let item = marker(rest);
        let blank =
            index.checked_sub(1).and_then(|i| found.lines.get(i)).is_none_or(|l| l.kind != Kind::Text);
        match item {
            // Nested ones count from where they stand.
            Some(width) => list = Some(columns + width),
            None if columns == 0 && blank => list = None,
            None => {}
        }
        let may_be_titled = item.is_none() && !rest.starts_with(['|', '>']) && key(line).is_none();
        paragraph = match paragraph {
            _ if !may_be_titled => None,
            Some(first) => Some(first),
            None if columns <= 3 && list.is_none() => Some(index),
            None => None,
        };
    }
    found
}

/// A line without its break, and where it is. A byte order mark belongs to no line.
fn line_of(whole: &str, start: usize) -> (&str, Range<usize>) {
    let line = whole.strip_suffix('\n').map_or(whole, |l| l.strip_suffix('\r').unwrap_or(l));
    let marked = if start == 0 { line.strip_prefix('\u{feff}') } else { None };
    let begin = start + marked.map_or(0, |rest| line.len() - rest.len());
    let line = marked.unwrap_or(line);
    (line, begin..begin + line.len())
}

/// A paragraph becomes a heading when a line of `=` or `-` stands under it.
fn under(text: &str, found: &mut Scan, first: usize, level: u8, end: usize) {
    let last = found.lines.len().saturating_sub(2);
    let (Some(from), Some(to)) = (found.lines.get(first), found.lines.get(last)) else { return };
    let (begin, whole) = (from.at.start, from.at.start..to.at.end);
    let title = text.get(whole).unwrap_or_default();
    let from = begin + (title.len() - title.trim_start().len());
    let title = from..from + title.trim().len();
    found.headings.push(Heading { level, title, line: number(first + 1), at: begin..end });
    for line in found.lines.iter_mut().skip(first) {
        line.kind = Kind::Heading;
    }
}
