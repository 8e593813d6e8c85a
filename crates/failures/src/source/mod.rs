//! Code, read for what no program's output says: secrets, SQL put together from values, loops inside loops.

mod diff;
mod loops;
mod pieces;
pub(crate) mod secrets;
mod sql;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use diff::analyze_diff;

use crate::{
    builtin,
    pattern::{Category, Language, Severity},
    place::excerpt,
};

/// How much of a source or diff is read, in bytes, from its beginning.
pub const SOURCE_BYTES: usize = 10 << 20;
/// The most matches that are listed.
pub const SOURCE_MATCHES: usize = 1_000;

/// What was found in code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceAnalysis {
    /// By line; at most 1,000.
    pub matches: Vec<SourceMatch>,
    /// How many there are.
    pub total: usize,
    /// Whether the end of the text was not read, because it is longer than 10 MiB.
    pub cut: bool,
}

/// One place of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceMatch {
    /// The pattern's id.
    pub pattern: String,
    /// Its category.
    pub category: Category,
    /// Its severity.
    pub severity: Severity,
    /// The file, where it came from a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1; of the new file, where it came from a diff.
    pub line: usize,
    /// The line's text, at most 240 characters of it, secrets masked.
    pub excerpt: String,
}

/// A pattern at a byte of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    at: usize,
    pattern: &'static str,
}

/// Reads a source. Without a language, strings and comments are guessed, loops are not looked for, and lines such as
/// `PASSWORD=…` of settings files are looked at too.
#[must_use]
pub fn analyze_source(text: &str, language: Option<Language>) -> SourceAnalysis {
    let read = text.get(..text.floor_char_boundary(SOURCE_BYTES)).unwrap_or_default();
    let mut matches = Vec::new();
    let mut total = 0;
    let (mut line, mut seen) = (1, 0);
    for hit in hits(read, language) {
        line += read.get(seen..hit.at).unwrap_or_default().bytes().filter(|&b| b == b'\n').count();
        seen = hit.at;
        total += 1;
        if matches.len() < SOURCE_MATCHES {
            matches.push(said(
                hit.pattern,
                None,
                line,
                line_at(read, hit.at),
                hit.at - start_of(read, hit.at),
            ));
        }
    }
    SourceAnalysis { matches, total, cut: read.len() < text.len() }
}

/// What is in a text, by place; a pattern counts once for each line.
fn hits(text: &str, language: Option<Language>) -> Vec<Hit> {
    let pieces = pieces::pieces(text, language);
    let mut hits: Vec<Hit> = Vec::new();
    hits.extend(
        secrets::find(text, &pieces, language).into_iter().map(|at| Hit { at, pattern: builtin::SECRETS }),
    );
    hits.extend(sql::find(text, &pieces, language).into_iter().map(|at| Hit { at, pattern: builtin::SQL }));
    hits.extend(
        loops::find(text, &pieces, language).into_iter().map(|at| Hit { at, pattern: builtin::NESTED_LOOPS }),
    );
    hits.sort_unstable();
    // The same line twice is one match.
    let mut last: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    hits.retain(|hit| {
        let previous = last.insert(hit.pattern, hit.at);
        previous
            .is_none_or(|previous| text.get(previous..hit.at).is_none_or(|between| between.contains('\n')))
    });
    hits
}

fn said(pattern: &str, file: Option<&str>, line: usize, text: &str, at: usize) -> SourceMatch {
    let (category, severity) = match pattern {
        builtin::NESTED_LOOPS => (Category::Performance, Severity::Low),
        _ => (Category::Security, Severity::High),
    };
    SourceMatch {
        pattern: pattern.to_owned(),
        category,
        severity,
        file: file.map(str::to_owned),
        line,
        excerpt: excerpt(text, at..at),
    }
}

fn start_of(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|front| front.rfind('\n')).map_or(0, |newline| newline + 1)
}

fn line_at(text: &str, at: usize) -> &str {
    let rest = text.get(start_of(text, at)..).unwrap_or_default();
    rest.split(['\n', '\r']).next().unwrap_or_default()
}
