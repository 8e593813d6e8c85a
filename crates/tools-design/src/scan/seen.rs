//! What was looked at, before it is told.

use std::time::Instant;

use a11y::Findings;
use a11y::report::{self, Looker, PageFindings};
use contract::Fault;
use contract::text::counted;
use exec::reports::ReportFile;
use kit::ReadDesk;
use schemars::JsonSchema;
use serde::Serialize;

use super::engine::Engine;
use super::outcome::Outcome;
use crate::tools::a11y_scan::Mode;

/// A page that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Looked {
    /// The page.
    pub(crate) url: String,
    /// Its HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// Rules that are broken on it.
    pub(crate) issue_count: u64,
    /// How long it took.
    pub(crate) milliseconds: u64,
    /// Why it was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// A request of a page that was not let through.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Stopped {
    /// What was asked for.
    pub(crate) url: String,
    /// Why not.
    pub(crate) why: String,
}

/// Two colours of tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Contrast {
    /// The token in front.
    pub(crate) foreground: String,
    /// The token behind it.
    pub(crate) background: String,
    /// The mode; absent for the default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) mode: String,
    /// WCAG contrast ratio.
    pub(crate) ratio: f64,
    /// The least that it may be.
    pub(crate) minimum: f64,
    /// Whether it is at least that.
    pub(crate) passes: bool,
}

/// What was looked at, before it is told.
pub(crate) struct Scan {
    pub(crate) mode: Mode,
    pub(crate) engine: Engine,
    pub(crate) outcome: Outcome,
    pub(crate) pages: Vec<Looked>,
    pub(crate) blocked: Vec<Stopped>,
    pub(crate) contrast: Vec<Contrast>,
    pub(crate) undecided: Vec<String>,
    pub(crate) seen: Vec<Seen>,
}

/// A page as it goes into the report.
pub(crate) struct Seen {
    pub(crate) page: String,
    pub(crate) findings: Findings,
    pub(crate) picture: Option<(Vec<u8>, u32)>,
}

impl Scan {
    pub(crate) fn new(mode: Mode, engine: Engine) -> Self {
        Self {
            mode,
            engine,
            outcome: Outcome::default(),
            pages: Vec::new(),
            blocked: Vec::new(),
            contrast: Vec::new(),
            undecided: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Keeps what was found as files.
    pub(crate) fn report(&self, desk: &ReadDesk) -> Result<Option<String>, Fault> {
        if self.seen.is_empty() {
            return Ok(None);
        }
        let looker = Looker { name: &self.engine.name, version: &self.engine.version };
        let pages: Vec<PageFindings<'_>> = self
            .seen
            .iter()
            .map(|seen| PageFindings {
                page: &seen.page,
                findings: &seen.findings,
                picture: seen.picture.as_ref().map(|(png, width)| (png.as_slice(), *width)),
            })
            .collect();
        let title = match self.seen.as_slice() {
            [one] => format!("Accessibility of {}", one.page),
            all => format!("Accessibility of {}", counted(all.len() as u64, "page")),
        };
        let sarif = report::sarif(&pages, looker).to_string();
        let page = report::html(&title, &pages, looker);
        let mut files = vec![
            ReportFile { name: "report.html".to_owned(), mime: "text/html", bytes: page.into_bytes() },
            ReportFile {
                name: "report.sarif".to_owned(),
                mime: "application/sarif+json",
                bytes: sarif.into_bytes(),
            },
        ];
        for (number, seen) in self.seen.iter().enumerate() {
            if let Some((png, _)) = &seen.picture {
                let name = format!("page-{}.png", number + 1);
                files.push(ReportFile { name, mime: "image/png", bytes: png.clone() });
            }
        }
        desk.keep_report(&title, &files).map(|handle| Some(format!("report://{handle}")))
    }
}

/// How long something has taken.
pub(crate) fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
