//! What of the working day is configured.

use std::collections::BTreeMap;

use documents::{Documents, Wish};
use kit::settings::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[session]`: the user's alone. How sessions are called that begin here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SessionSection {
    /// Who works; without, the client's name and the machine's.
    #[schemars(length(min = 1, max = 200))]
    pub agent: Option<String>,
    /// What tells two sessions of one agent in one repository apart. `GATEWRIGHT_TRACK` says it for one process.
    pub track: Option<String>,
    /// Folders whose folders are looked through for checkouts of ventures, besides the one that the root is in.
    pub checkouts: Vec<String>,
}

/// `[ventures]`: the user's alone. What is worked on, by code.
pub type VenturesSection = BTreeMap<String, VentureEntry>;

/// One venture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct VentureEntry {
    /// What people call it.
    pub name: String,
    /// Whose repositories belong to it, such as `github.com/acme`.
    pub organisation: Option<String>,
    /// Repositories that belong to it, such as `github.com/acme/app`.
    pub repositories: Vec<String>,
    /// What it has, such as `api` or `database`: some documents are required for that alone.
    pub capabilities: Vec<String>,
}

/// `[github]`: the user's alone. Where issues are asked for, and as whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GithubSection {
    /// The host: `github.com`, or a server of one's own.
    pub host: String,
    /// The address of its API, where that is another than usual.
    pub api: Option<String>,
    /// The environment variable that has a token; without, `GH_TOKEN` or `GITHUB_TOKEN`.
    pub token_env: Option<String>,
    /// Whether GitHub's own program is asked, where it is signed in. It runs unconfined, with the user's credentials.
    pub gh: bool,
}

impl Default for GithubSection {
    fn default() -> Self {
        Self { host: "github.com".to_owned(), api: None, token_env: None, gh: true }
    }
}

/// `[issues]`: what issues are labelled with here. A project may say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct IssuesSection {
    /// Those that come first. One of the labels is enough.
    pub p0: IssueList,
    /// Those that can be begun.
    pub ready: IssueList,
    /// Those that are worked on.
    pub in_progress: IssueList,
    /// Those that wait.
    pub blocked: IssueList,
    /// Those that nobody has looked at.
    pub triage: IssueList,
}

/// One list of issues.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IssueList {
    /// The labels: one of them is enough.
    #[schemars(length(min = 1, max = 10))]
    pub labels: Vec<String>,
    /// How many are shown.
    #[schemars(range(min = 1, max = 50))]
    pub most: u32,
}

impl Default for IssuesSection {
    fn default() -> Self {
        let list = |label: &str, most| IssueList { labels: vec![label.to_owned()], most };
        Self {
            p0: list("prio:P0", 10),
            ready: list("status:ready", 10),
            in_progress: list("status:in-progress", 10),
            blocked: list("status:blocked", 10),
            triage: list("status:triage", 5),
        }
    }
}

impl Section for IssuesSection {
    const NAME: &'static str = "issues";
}

/// `[documents]`: which documents there must be, and where the plan of the week is. A project may say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DocumentsSection {
    /// The plan of the week, from the root.
    pub weekly_plan: String,
    /// Days after which it is stale.
    #[schemars(range(min = 1, max = 366))]
    pub weekly_plan_days: u32,
    /// Days after which a document that nobody looked at is stale, where its own requirement does not say; 0: never.
    #[schemars(range(max = 3660))]
    pub max_age_days: u32,
    /// Documents by name: more than the default ones, or others in their place.
    pub requirements: BTreeMap<String, Wish>,
}

impl DocumentsSection {
    /// What is required.
    pub(crate) fn documents(&self) -> Documents {
        Documents { max_age_days: Some(self.max_age_days), requirements: self.requirements.clone() }
    }
}

impl Default for DocumentsSection {
    fn default() -> Self {
        Self {
            weekly_plan: "docs/planning/WEEKLY_PLAN.md".to_owned(),
            weekly_plan_days: 7,
            max_age_days: documents::MAX_AGE_DAYS,
            requirements: BTreeMap::new(),
        }
    }
}

impl Section for DocumentsSection {
    const NAME: &'static str = "documents";
}
