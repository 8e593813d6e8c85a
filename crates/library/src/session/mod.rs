//! Sessions: what was done in one, as Markdown, as a finalization pack, and as figures.

mod files;
mod metrics;
mod pack;
mod read;
mod render;

use serde::{Deserialize, Serialize};

pub use self::files::{Files, MAX_RAW, Main, Sessions, sessions};
pub use self::metrics::{Aggregate, Compression, ComputedFrom, NoRatio, aggregate, compression};
pub use self::pack::{MAX_PACK, read_pack};
pub use self::read::read;
pub use self::render::render;
use crate::code::{Block, MAX_BLOCKS, file_name, language, language_of, named_inside};
use crate::text::cut_on_word;

/// Longest summary, in characters.
pub const MAX_SUMMARY: usize = 20_000;
/// Longest item of a list, in characters.
pub const MAX_ITEM: usize = 10_000;
/// Most items of a list.
pub const MAX_ITEMS: usize = 500;
/// Longest title, in characters.
pub const MAX_TITLE: usize = 200;
/// Most characters of a summary in a list of sessions.
pub const MAX_SHORT: usize = 300;

/// What a session's file says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// In one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Lines of text; empty where there is none.
    #[serde(default)]
    pub summary: String,
    /// What was decided.
    #[serde(default)]
    pub decisions: Vec<String>,
    /// What was built.
    #[serde(default)]
    pub implementations: Vec<String>,
    /// What was in the way.
    #[serde(default)]
    pub challenges: Vec<String>,
    /// What is to be done.
    #[serde(default)]
    pub next_steps: Vec<String>,
    /// All code.
    #[serde(default)]
    pub code_blocks: Vec<Block>,
}

/// The lists of a session, and what their headings may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Summary,
    Decisions,
    Implementations,
    Challenges,
    NextSteps,
}

impl Part {
    const ALL: [Self; 5] =
        [Self::Summary, Self::Decisions, Self::Implementations, Self::Challenges, Self::NextSteps];

    /// The heading that is written.
    fn heading(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::Decisions => "Decisions",
            Self::Implementations => "Implementations",
            Self::Challenges => "Challenges",
            Self::NextSteps => "Next Steps",
        }
    }

    /// The part that a heading of this name begins, folded as headings are compared.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "summary" | "session summary" | "executive summary" | "overview" | "tl dr" | "tldr" => {
                Self::Summary
            }
            "decisions"
            | "key decisions"
            | "decisions made"
            | "technical decisions"
            | "design decisions"
            | "architecture decisions" => Self::Decisions,
            "implementations"
            | "implementation"
            | "key implementations"
            | "implemented"
            | "implementation details"
            | "what was built"
            | "work completed"
            | "accomplishments" => Self::Implementations,
            "challenges" | "blockers" | "challenges and solutions" | "challenges solutions" | "problems" => {
                Self::Challenges
            }
            "next steps" | "next" | "follow ups" | "followups" | "to do" | "todo" | "todos" => {
                Self::NextSteps
            }
            _ => return None,
        })
    }
}

impl Session {
    /// The summary in one line, at most 300 characters, cut on a word.
    pub fn short(&self) -> String {
        cut_on_word(&self.summary, MAX_SHORT)
    }

    fn list(&mut self, part: Part) -> Option<&mut Vec<String>> {
        match part {
            Part::Summary => None,
            Part::Decisions => Some(&mut self.decisions),
            Part::Implementations => Some(&mut self.implementations),
            Part::Challenges => Some(&mut self.challenges),
            Part::NextSteps => Some(&mut self.next_steps),
        }
    }

    /// As it is after it was written and read: lines end in `\n` and in no white space, nothing is empty, languages have one
    /// spelling, everything is within its bound. [`read()`] and [`read_pack`] give nothing else.
    #[must_use]
    pub fn normal(self) -> Self {
        let Self { title, summary, decisions, implementations, challenges, next_steps, code_blocks } = self;
        Self {
            title: title.as_deref().and_then(normal_title),
            summary: normal_text(&summary, MAX_SUMMARY),
            decisions: normal_list(decisions),
            implementations: normal_list(implementations),
            challenges: normal_list(challenges),
            next_steps: normal_list(next_steps),
            code_blocks: code_blocks.into_iter().filter_map(normal_block).take(MAX_BLOCKS).collect(),
        }
    }
}

/// One line; without what would be the closing marks of a heading.
fn normal_title(title: &str) -> Option<String> {
    let mut title = cut_on_word(title, MAX_TITLE);
    loop {
        let open = title.trim_end_matches('#');
        if open.len() == title.len() || !(open.is_empty() || open.ends_with(' ')) {
            break;
        }
        title.truncate(open.trim_end().len());
    }
    if title.is_empty() { None } else { Some(title) }
}

fn normal_text(text: &str, most: usize) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let lines: Vec<&str> = text.get(..end).unwrap_or_default().split('\n').map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

fn normal_list(items: Vec<String>) -> Vec<String> {
    let items = items.into_iter().map(|item| normal_text(&item, MAX_ITEM));
    items.filter(|item| !item.is_empty()).take(MAX_ITEMS).collect()
}

fn normal_block(block: Block) -> Option<Block> {
    let code = block.code.replace("\r\n", "\n").replace('\r', "\n");
    if code.trim().is_empty() {
        return None;
    }
    let file = block.file.as_deref().and_then(file_name).or_else(|| named_inside(&code));
    Some(Block { language: language_of(&language(&block.language)), code, file, line: block.line })
}

/// Whether a line would be more than text where it stands: a heading, fence, rule, comment, or an escape itself.
fn is_mark(text: &str) -> bool {
    text.starts_with(['#', '\\'])
        || ["```", "~~~", "<!--"].iter().any(|mark| text.starts_with(mark))
        || !text.is_empty() && text.bytes().all(|b| matches!(b, b'-' | b'=' | b'*' | b'_' | b' ' | b'\t'))
}

/// Splits a line before its text.
fn behind_indent(line: &str) -> (&str, &str) {
    let at = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.split_at_checked(at).unwrap_or(("", line))
}

/// A line as it is written: a backslash before what would be more than text.
fn escaped(line: &str) -> String {
    let (indent, text) = behind_indent(line);
    if is_mark(text) { format!("{indent}\\{text}") } else { line.to_owned() }
}

/// A line as it was before [`escaped`]; any other stays as it is.
fn unescaped(line: &str) -> String {
    let (indent, text) = behind_indent(line);
    match text.strip_prefix('\\') {
        Some(rest) if is_mark(rest) => format!("{indent}{rest}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
