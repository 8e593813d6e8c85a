//! What calls saved their callers in tokens, and what they cost them: arithmetic over what the record has of each answer
//! ([`Cost`]). Nothing is guessed for calls of which nothing was measured.
//!
//! - [`book`]: the arithmetic, record by record.
//! - [`band`]: how far the integer rule is off, as it was measured, and what that does to the figure.
//!
//! It is read, not verified: whether records are whole is what [`crate::verify`] is for.

pub mod band;
pub mod book;

use std::collections::BTreeMap;

use serde::Serialize;

pub use band::{Amount, Errors};
pub use book::{Book, Rules};

/// One transcript, as far as its cost matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The transcript's id.
    pub id: String,
    /// When the call began and ended: milliseconds since 1970.
    pub began: i64,
    /// See `began`.
    pub ended: i64,
    /// The tool.
    pub tool: String,
    /// Its arguments: canonical JSON, redacted.
    pub arguments: String,
    /// The plan that was made or applied.
    pub plan: Option<String>,
    /// Whether it failed.
    pub failed: bool,
    /// Whether it changed something.
    pub applied: bool,
    /// What was measured; none in records of before it was, and of calls that no client made.
    pub cost: Option<crate::record::Cost>,
}

/// One line of the sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Tokens by the integer rule.
    pub tokens: i64,
    /// Calls, or answers to `tools/list`, that it is made of.
    pub calls: u64,
}

/// What is taken off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Minus {
    /// Answers to `tools/list`.
    pub menus: Line,
    /// Looking for tools.
    pub lookups: Line,
    /// Reading again what an answer left out.
    pub rereads: Line,
    /// The same call again after an answer that left something out.
    pub reruns: Line,
    /// What had been counted as saved before such a call.
    pub taken_back: Line,
    /// Asking after jobs.
    pub polls: Line,
    /// Errors.
    pub errors: Line,
    /// Answers that are longer than what the programs said.
    pub longer: Line,
}

impl Minus {
    /// All of it.
    #[must_use]
    pub fn tokens(&self) -> i64 {
        let Self { menus, lookups, rereads, reruns, taken_back, polls, errors, longer } = self;
        let all = [menus, lookups, rereads, reruns, taken_back, polls, errors, longer];
        all.iter().fold(0, |sum: i64, line| sum.saturating_add(line.tokens))
    }
}

/// What one tool saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfTool {
    /// The tool.
    pub tool: String,
    /// Its calls that were measured.
    pub calls: u64,
    /// Tokens of what programs said, or lists had, without the cap.
    pub whole: u64,
    /// Tokens of its answers.
    pub shown: u64,
    /// What is counted as saved.
    pub saved: i64,
    /// What is taken off for it, reading again what it left out included.
    pub minus: i64,
    /// `saved` less `minus`.
    pub net: i64,
}

/// Calls of one tool that are neither counted as saving nor taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NotCounted {
    /// The tool.
    pub tool: String,
    /// Its calls.
    pub calls: u64,
    /// Tokens of their answers.
    pub shown: u64,
}

/// How many records there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Records {
    /// Calls on record in the time that was asked about.
    pub calls: u64,
    /// Those of which the cost was measured.
    pub measured: u64,
    /// Those of which it was not: commands of people, and records of before it was.
    pub not_measured: u64,
    /// Lines that are no record, at any time.
    pub damaged: u64,
}

/// What came out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gain {
    /// `saved` less all of `minus`. It may be negative.
    pub net: i64,
    /// The same where the rule's measured errors are taken out.
    pub band: Band,
    /// What would have been read and was not.
    pub saved: Line,
    /// What is taken off.
    pub minus: Minus,
    /// By tool, the one that saved most first.
    pub tools: Vec<OfTool>,
    /// What claims nothing.
    pub not_counted: Vec<NotCounted>,
    /// Conversations.
    pub sessions: u64,
    /// The records.
    pub records: Records,
    /// When the first call that was measured began, milliseconds since 1970.
    #[serde(skip)]
    pub from: Option<i64>,
    /// When the last one ended.
    #[serde(skip)]
    pub to: Option<i64>,
}

/// The net, by the tokenizer that the rule was held against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Band {
    /// Where every text is off as the worst twentieth of its kind is, to our disadvantage.
    pub low: i64,
    /// Where every text is off as its kind is altogether.
    pub likely: i64,
    /// Where every text is off as the worst twentieth is, to our advantage.
    pub high: i64,
}

/// Reads the calls of a ledger, in order, and adds them up; beside it, how many lines are no record.
pub fn of_ledger(dir: &std::path::Path, rules: Rules) -> Result<Gain, crate::LedgerError> {
    let mut book = Book::new(rules);
    let damaged = crate::recent::seen(dir, |seen| book.take(&seen))?;
    let mut gain = book.gain();
    gain.records.damaged = damaged;
    Ok(gain)
}

/// The parts of `tools` in the order in which they are told.
fn ordered(tools: BTreeMap<String, OfTool>) -> Vec<OfTool> {
    let mut all: Vec<OfTool> =
        tools.into_values().filter(|tool| tool.saved != 0 || tool.minus != 0).collect();
    all.sort_by(|a, b| b.net.cmp(&a.net).then_with(|| a.tool.cmp(&b.tool)));
    all
}
