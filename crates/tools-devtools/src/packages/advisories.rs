//! Known vulnerabilities, as results show them.

use deps::{Audit, MAX_PATHS, State};
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

/// What the manager would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// The package that would move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version that it would have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether that is another major version.
    pub major: bool,
}

/// One advisory about one package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Advisory {
    /// The package.
    pub package: String,
    /// Versions of it that are there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<String>,
    /// Names of the advisory.
    pub ids: Vec<String>,
    /// The advisory's own word, never guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Versions that are concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Versions that are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed_in: Vec<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it is told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether the project itself asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Ways by which it is reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What the manager would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Remedy>,
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
        let advisories: Vec<Advisory> = audit.advisories.into_iter().map(shown).collect();
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

fn shown(row: deps::Advisory) -> Advisory {
    let mut paths = row.paths;
    paths.truncate(MAX_PATHS);
    Advisory {
        package: row.package,
        installed: row.installed,
        ids: row.ids,
        severity: row.severity.map(|severity| format!("{severity:?}").to_lowercase()),
        range: row.range,
        fixed_in: row.fixed_in,
        title: row.title,
        url: row.url,
        direct: row.direct,
        paths,
        fix: row.fix.map(|fix| Remedy { name: fix.name, version: fix.version, major: fix.major }),
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
