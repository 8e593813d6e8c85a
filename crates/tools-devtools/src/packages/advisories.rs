//! Known vulnerabilities, as results show them.

use deps::{Advisory, Audit, MAX_PATHS, State};
use schemars::JsonSchema;
use serde::Serialize;

/// How much is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// complete, partial, or none: nothing is known.
    pub state: String,
    /// Why it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Who was asked.
    pub asked: Vec<String>,
    /// Packages that were asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<u64>,
    /// Of when the data is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Packages that were not asked about, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

/// What an audit says, in the words of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) data: Data,
    pub(crate) advisories: Vec<Advisory>,
    pub(crate) warnings: Vec<String>,
}

/// Most packages that a message names.
const MAX_NAMED: usize = 10;

impl Told {
    /// `asked` are the hosts, or the database, that were asked.
    pub(crate) fn of(audit: Audit, asked: Vec<String>) -> Self {
        let skipped: Vec<String> =
            audit.skipped.iter().map(|remark| format!("{}: {}", remark.package, remark.why)).collect();
        let mut advisories = audit.advisories;
        for row in &mut advisories {
            row.paths.truncate(MAX_PATHS);
        }
        let why = audit.why.clone().unwrap_or_default();
        let why = why.trim_end_matches('.');
        let found = in_words(&advisories);
        let message = match (audit.state, advisories.is_empty()) {
            (State::None, _) => format!("Not known: {why}."),
            (State::Partial, true) => {
                format!("Not known of everything: {why}. Of the rest no vulnerability is known.")
            }
            (State::Partial, false) => format!("{found} Not known of everything: {why}."),
            (State::Complete, true) => "No known vulnerability.".to_owned(),
            (State::Complete, false) => found,
        };
        let data = Data {
            state: match audit.state {
                State::Complete => "complete",
                State::Partial => "partial",
                State::None => "none",
            }
            .to_owned(),
            why: audit.why,
            asked,
            packages: audit.asked,
            as_of: audit.as_of,
            skipped,
        };
        let warnings = audit.warnings.iter().map(|remark| format!("{}: {}", remark.package, remark.why));
        Self {
            success: advisories.is_empty() && audit.state == State::Complete,
            message,
            data,
            warnings: warnings.collect(),
            advisories,
        }
    }
}

fn in_words(advisories: &[Advisory]) -> String {
    let mut packages: Vec<&str> = advisories.iter().map(|row| row.package.as_str()).collect();
    packages.dedup();
    let more = packages.len().saturating_sub(MAX_NAMED);
    packages.truncate(MAX_NAMED);
    let named = packages.join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let many = if advisories.len() == 1 {
        "1 known vulnerability".into()
    } else {
        format!("{} known vulnerabilities", advisories.len())
    };
    format!("{many}: {named}{more}.")
}
