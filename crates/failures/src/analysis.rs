//! What an analysis says.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    pattern::{Category, Severity},
    suggestion::Suggestion,
};

/// The most places of one pattern that are listed.
pub const PLACES: usize = 5;
/// The most places that are listed.
pub const MATCHES: usize = 50;
/// The most files that are listed.
pub const AFFECTED_FILES: usize = 50;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    /// Of the first finding; general where nothing was recognised.
    pub category: Category,
    /// The highest of the findings; medium where nothing was recognised.
    pub severity: Severity,
    /// From 0 to 1, to two digits: 0.3 where nothing was recognised; else 0.5, 0.15 for each finding (0.3 at most),
    /// 0.1 for a high one; nine tenths of that where the output is longer than 5,000 characters.
    pub confidence: f64,
    /// Whether anything was recognised.
    pub explained: bool,
    /// The patterns that matched: the most severe first, then causes before their consequences.
    pub findings: Vec<Finding>,
    /// Where, in the order of the findings; at most 5 for each and 50 in all.
    pub matches: Vec<Match>,
    /// What to do, at most 5, the most urgent first.
    pub suggestions: Vec<Suggestion>,
    /// Root-relative paths, each once, in the order of the findings; at most 50.
    pub affected_files: Vec<String>,
    /// Said where only the beginning and the end of the output were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// A pattern that matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The pattern's id.
    pub pattern: String,
    /// Its category.
    pub category: Category,
    /// Its severity.
    pub severity: Severity,
    /// What happened.
    pub title: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explanation: String,
    /// How many lines matched; 0 where the way the run ended said it.
    pub count: usize,
}

/// A stream of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One place of the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// The pattern's id.
    pub pattern: String,
    /// The stream.
    pub stream: Stream,
    /// The line of the stream, from 1.
    pub line: usize,
    /// The line, at most 240 characters of it, secrets masked.
    pub excerpt: String,
    /// What the pattern's groups found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub captures: BTreeMap<String, String>,
}

/// How much was looked at, both streams together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// Bytes that were looked at, at the beginning and the end of each stream.
    pub analysed_bytes: usize,
    /// Bytes that there are.
    pub total_bytes: usize,
}
