//! Markdown by its lines: headings, fences, tables, `**Key:**` lines, paragraphs, sections, and where to cut.
//!
//! No parser of `CommonMark`: block quotes, HTML but for comments, and what stands in a line are text. What it does see is seen
//! as `CommonMark` does, and nothing inside a fence, a comment or the front matter is a heading, key or table. Two things
//! differ on purpose: fences of a list's items are seen at any indent that the item allows, and a `**Key:** value` line is
//! never made a heading by a rule under it.

mod line;
mod scan;
mod table;

use std::ops::Range;

pub(crate) use self::line::{indent, marker};
pub(crate) use self::scan::Kind;
use self::scan::{Line, Scan, scan};
pub use self::table::{Row, Table};
use crate::problem::Place;
use crate::text::{column, folded, number, plain};

/// How much of a document is read, in bytes: 1 MiB. What is behind it is not there ([`Markdown::is_cut`]).
pub const MAX_DOCUMENT: usize = 1 << 20;

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Where its words are, in bytes.
    pub title: Range<usize>,
    /// From 1; the first, of a title over several lines.
    pub line: u32,
    /// Its lines, with the underline and the line break.
    pub at: Range<usize>,
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Of the line that opens it, from 1.
    pub line: u32,
    /// Where its info string is, in bytes.
    pub info: Range<usize>,
    /// Where what it holds is, in bytes, with the last line's break.
    pub body: Range<usize>,
    /// How far the opening line is indented, in columns: its lines are less by as much.
    pub indent: usize,
    /// Whether it is closed; else it goes on to the end of the document.
    pub is_closed: bool,
}

/// A `**Key:** value` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key<'a> {
    /// Without emphasis and colon, as it is spelled.
    pub name: &'a str,
    /// Trimmed; emphasis of the value stays.
    pub value: &'a str,
    /// Where the value is, in bytes.
    pub at: Range<usize>,
    /// From 1.
    pub line: u32,
    /// What stands before its emphasis: white space, a list's marker.
    pub lead: &'a str,
    /// Where its line ends, without the break, in bytes.
    pub end: usize,
}

/// What is below a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its number among [`Markdown::headings`].
    pub heading: usize,
    /// With the heading, in bytes.
    pub whole: Range<usize>,
    /// Without the heading, to the next of its level or above, in bytes.
    pub body: Range<usize>,
}

/// A document cut at a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut<'a> {
    /// What is shown.
    pub text: &'a str,
    /// The title to go on with; none where all is shown, or where no heading follows.
    pub next: Option<&'a str>,
    /// Whether there is more.
    pub is_cut: bool,
}

/// A document that was read.
#[derive(Debug, Clone)]
pub struct Markdown<'a> {
    text: &'a str,
    lines: Vec<Line>,
    headings: Vec<Heading>,
    fences: Vec<Fence>,
    is_cut: bool,
}

impl<'a> Markdown<'a> {
    /// Any text is a document. Time and memory are linear in it.
    pub fn of(text: &'a str) -> Self {
        let mut end = text.len().min(MAX_DOCUMENT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let read = text.get(..end).unwrap_or_default();
        let Scan { lines, headings, fences } = scan(read);
        Self { text: read, lines, headings, fences, is_cut: end < text.len() }
    }

    /// What was read of it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether it was longer than [`MAX_DOCUMENT`].
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// In their order.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// In their order.
    pub fn fences(&self) -> &[Fence] {
        &self.fences
    }

    /// A piece of the text; nothing for a range that is none.
    pub fn slice(&self, at: &Range<usize>) -> &'a str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    /// The words of a heading, as they stand.
    pub fn title_of(&self, heading: &Heading) -> &'a str {
        self.slice(&heading.title)
    }

    /// The first heading of level 1, as text in one line.
    pub fn title(&self) -> Option<String> {
        let title = self.headings.iter().find(|h| h.level == 1).map(|h| plain(self.title_of(h)))?;
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() { None } else { Some(title) }
    }

    /// The line and column of a byte of the text.
    pub fn place(&self, at: usize) -> Place {
        let index = self.lines.partition_point(|line| line.at.start <= at).saturating_sub(1);
        let column = self
            .lines
            .get(index)
            .and_then(|line| Some(column(self.text.get(line.at.clone())?, at.checked_sub(line.at.start)?)));
        Place { line: number(index + 1), column }
    }

    /// The first section whose heading is one of these names. Case, emphasis, marks and numbering (`1.`, `2)`) are nothing.
    pub fn section(&self, names: &[&str]) -> Option<Section> {
        let names: Vec<String> = names.iter().map(|name| folded(name)).collect();
        let index = self.headings.iter().position(|heading| {
            let (found, unnumbered) = self.names_of(heading);
            !found.is_empty() && names.iter().any(|name| *name == found || *name == unnumbered)
        })?;
        self.section_of(index)
    }

    /// A heading's words as they are compared, and the same without a number before them.
    pub(crate) fn names_of(&self, heading: &Heading) -> (String, String) {
        let found = folded(self.title_of(heading));
        let unnumbered = found.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().to_owned();
        (found, unnumbered)
    }

    /// What is below a heading, by its number among [`Markdown::headings`].
    pub fn section_of(&self, index: usize) -> Option<Section> {
        let heading = self.headings.get(index)?;
        let next = self.headings.iter().skip(index + 1).find(|h| h.level <= heading.level);
        let end = next.map_or(self.text.len(), |next| next.at.start);
        Some(Section { heading: index, whole: heading.at.start..end, body: heading.at.end..end })
    }

    /// All `**Key:** value` lines.
    pub fn keys(&self) -> impl Iterator<Item = Key<'a>> + '_ {
        self.lines.iter().enumerate().filter(|(_, line)| line.kind == Kind::Text).filter_map(
            |(index, line)| {
                let text = self.slice(&line.at);
                let (name, value) = line::key(text)?;
                Some(Key {
                    lead: text.get(..name.start)?.trim_end().trim_end_matches(['*', '_']),
                    end: line.at.end,
                    name: text.get(name)?,
                    value: text.get(value.clone())?,
                    at: line.at.start + value.start..line.at.start + value.end,
                    line: number(index + 1),
                })
            },
        )
    }

    /// The list items directly below a line, by the line's number: what `**Dependencies:**` may be followed by.
    pub(crate) fn items_below(&self, line: u32) -> Vec<&'a str> {
        let below = self.lines.iter().skip(usize::try_from(line).unwrap_or(usize::MAX));
        below
            .skip_while(|line| line.kind == Kind::Blank)
            .map_while(|line| {
                let text = self.slice(&line.at).trim();
                let width = if line.kind == Kind::Text { marker(text) } else { None }?;
                if line::key(text).is_some() { None } else { text.get(width..).map(str::trim) }
            })
            .collect()
    }

    /// The tables in a part of the text, at most 20.
    pub fn tables(&self, within: &Range<usize>) -> Vec<Table> {
        table::tables(self.text, &self.lines, within)
    }

    /// The first paragraph in a part of the text, in one line, as it stands: no heading, list, quote, table, key or comment,
    /// and nothing fenced.
    pub fn paragraph(&self, within: &Range<usize>) -> Option<String> {
        let mut out = String::new();
        for line in self.lines.iter().filter(|l| within.start <= l.at.start && l.at.start < within.end) {
            let text = self.slice(&line.at);
            let (columns, skip) = indent(text);
            let rest = text.get(skip..).unwrap_or_default();
            let is_prose = line.kind == Kind::Text
                && (columns < 4 || !out.is_empty())
                && marker(rest).is_none()
                && !rest.starts_with(['>', '|', '<'])
                && line::key(text).is_none()
                && !is_picture(rest);
            match is_prose {
                true => {
                    if !out.is_empty() {
                        out.push(' ');
                    }
                    out.push_str(rest.trim());
                }
                false if out.is_empty() => {}
                false => break,
            }
        }
        if out.is_empty() { None } else { Some(out) }
    }

    /// The whole text without its front matter.
    pub fn body(&self) -> Range<usize> {
        let front = self.lines.iter().take_while(|line| line.kind == Kind::Front).count();
        let begin = self.lines.get(front).map_or(self.text.len(), |line| line.at.start);
        if front == 0 { 0..self.text.len() } else { begin..self.text.len() }
    }

    /// The lines in a part of the text, with what they are.
    pub(crate) fn lines_in(&self, within: &Range<usize>) -> impl Iterator<Item = (Kind, Range<usize>)> + '_ {
        let from = self.lines.partition_point(|line| line.at.start < within.start);
        let end = within.end;
        self.lines.iter().skip(from).take_while(move |l| l.at.start < end).map(|l| (l.kind, l.at.clone()))
    }

    /// As much of a part as has at most `most` bytes: to a heading where one follows, so that the rest can be asked for by
    /// its title; else to the end of a line.
    pub fn cut(&self, within: &Range<usize>, most: usize) -> Cut<'a> {
        let text = self.slice(within);
        if text.len() <= most {
            return Cut { text, next: None, is_cut: false };
        }
        let limit = within.start.saturating_add(most);
        let inside = |h: &&Heading| within.start < h.at.start && h.at.start < within.end;
        let at = self.headings.iter().filter(inside).take_while(|h| h.at.start <= limit).last();
        // The part's own heading alone would be no answer.
        let worth = at.filter(|h| {
            let before = self.slice(&(within.start..h.at.start));
            before.lines().filter(|line| !line.trim().is_empty()).count() > 1
        });
        if let Some(heading) = worth {
            let shown = self.slice(&(within.start..heading.at.start));
            return Cut { text: shown, next: Some(self.title_of(heading)), is_cut: true };
        }
        let mut ends = self.lines.iter().map(|line| line.at.start);
        let end = ends.rfind(|start| within.start < *start && *start <= limit).unwrap_or_else(|| {
            let mut end = limit.min(self.text.len());
            while !self.text.is_char_boundary(end) {
                end -= 1;
            }
            end
        });
        let next = self.headings.iter().filter(inside).find(|h| h.at.start >= end);
        Cut { text: self.slice(&(within.start..end)), next: next.map(|h| self.title_of(h)), is_cut: true }
    }
}

/// A line that only shows pictures, as badges do.
fn is_picture(text: &str) -> bool {
    text.starts_with("![") || text.starts_with("[![")
}

#[cfg(test)]
mod tests;
