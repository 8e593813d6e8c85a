//! Known vulnerabilities, as package managers and auditors tell of them, in one vocabulary.
//!
//! What could not be asked is never "none found": [`Audit::state`] says whether the data was whole, and only a whole one without
//! rows means that nothing is known.

mod cargo;
mod npm;
mod python;

use schemars::JsonSchema;
use serde::Serialize;

/// The largest report that is read, in bytes.
const MAX_REPORT: usize = 64 << 20;

/// Most rows.
const MAX_ADVISORIES: usize = 20_000;

/// Most ways by which a package is reached that are kept of one advisory.
pub const MAX_PATHS: usize = 5;

/// Longest text that is kept of what others wrote, in characters.
const MAX_TEXT: usize = 300;

/// Whose report it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auditor {
    /// `npm audit --json`, report version 2.
    Npm,
    /// `pnpm audit --json`.
    Pnpm,
    /// `yarn audit --json` of yarn 1: lines of JSON.
    Yarn,
    /// `pip-audit -f json`.
    PipAudit,
    /// `cargo audit --json`.
    CargoAudit,
}

/// How much is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Every package was asked about.
    Complete,
    /// Some were not, or a part of the report was not understood.
    Partial,
    /// Nothing: whether there is any vulnerability is not known.
    None,
}

/// How bad an advisory says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It informs.
    Info,
    /// Low.
    Low,
    /// Moderate, also called medium.
    Moderate,
    /// High.
    High,
    /// Critical.
    Critical,
}

impl Severity {
    fn of(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "info" | "informational" => Self::Info,
            "low" => Self::Low,
            "moderate" | "medium" => Self::Moderate,
            "high" => Self::High,
            "critical" => Self::Critical,
            _ => return None,
        })
    }
}

/// What the manager would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fix {
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Advisory {
    /// The package.
    pub package: String,
    /// Versions of it that are there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<String>,
    // The one it is known by first, then aliases.
    /// Names of the advisory.
    pub ids: Vec<String>,
    /// The advisory's own word, never guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub severity: Option<Severity>,
    /// Versions that are concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    // Or ranges of them.
    /// Versions that are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed_in: Vec<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it is told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    // None where nobody says.
    /// Whether the project itself asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    // Or its places, `MAX_PATHS` at most.
    /// Ways by which it is reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What the manager would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A package that was not asked about, or a warning that is no vulnerability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The package.
    pub package: String,
    /// Why, or what of it.
    pub why: String,
}

/// A report, read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// How much is known.
    pub state: State,
    /// Why it is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When the data was made, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// How many packages were asked about, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// By package and name.
    pub advisories: Vec<Advisory>,
    /// Packages that were not asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Remark>,
    /// What is no vulnerability: yanked, unmaintained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Remark>,
}

impl Audit {
    /// Nothing is known, and why.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self {
            state: State::None,
            why: Some(line(&why.into())),
            as_of: None,
            asked: None,
            advisories: Vec::new(),
            skipped: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn complete() -> Self {
        Self { state: State::Complete, why: None, ..Self::unknown("") }
    }

    /// Not all of it was understood, or asked.
    fn lacks(&mut self, why: &str) {
        self.state = State::Partial;
        self.why.get_or_insert_with(|| line(why));
    }

    fn add(&mut self, advisory: Advisory) {
        if advisory.package.is_empty() || advisory.ids.is_empty() {
            self.lacks("an advisory without a package or a name was left out");
        } else if self.advisories.len() >= MAX_ADVISORIES {
            self.lacks("there are more advisories than are read");
        } else if let Some(same) = self
            .advisories
            .iter_mut()
            .find(|known| known.package == advisory.package && known.ids.first() == advisory.ids.first())
        {
            same.join(advisory);
        } else {
            self.advisories.push(advisory);
        }
    }

    fn sorted(mut self) -> Self {
        self.advisories.sort_by(|a, b| (&a.package, &a.ids).cmp(&(&b.package, &b.ids)));
        self
    }
}

impl Advisory {
    /// The same advisory, found at another place.
    fn join(&mut self, other: Self) {
        fn united(into: &mut Vec<String>, from: Vec<String>, most: usize) {
            for text in from {
                if into.len() < most && !into.contains(&text) {
                    into.push(text);
                }
            }
        }
        united(&mut self.installed, other.installed, MAX_PATHS * 4);
        united(&mut self.paths, other.paths, MAX_PATHS);
        united(&mut self.ids, other.ids, 20);
        self.direct = match (self.direct, other.direct) {
            (Some(one), Some(two)) => Some(one || two),
            (one, two) => one.or(two),
        };
    }
}

/// Reads what an auditor said on its standard output.
pub fn audit(auditor: Auditor, bytes: &[u8]) -> Audit {
    if bytes.len() > MAX_REPORT {
        return Audit::unknown(format!(
            "the report has {} bytes; at most {MAX_REPORT} are read",
            bytes.len()
        ));
    }
    let text = String::from_utf8_lossy(bytes);
    match auditor {
        Auditor::Npm => npm::npm(&text),
        Auditor::Pnpm => npm::pnpm(&text),
        Auditor::Yarn => npm::yarn(&text),
        Auditor::PipAudit => python::read(&text),
        Auditor::CargoAudit => cargo::read(&text),
    }
    .sorted()
}

/// The first line of what others wrote, without what a terminal would act upon, bounded.
fn line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.trim().chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

/// The name that an address of GitHub's advisories ends with.
fn ghsa(url: &str) -> Option<String> {
    url.rsplit('/').next().filter(|name| name.starts_with("GHSA-")).map(str::to_owned)
}

/// What a report that is no JSON begins with.
fn no_report(text: &str) -> Audit {
    let said = line(text);
    Audit::unknown(if said.is_empty() {
        "the auditor gave no report".to_owned()
    } else {
        format!("the auditor gave no report, it said: {said}")
    })
}
