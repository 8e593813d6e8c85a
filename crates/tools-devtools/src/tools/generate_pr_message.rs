//! Write a pull request message.
//!
//! Writes a conventional title and a description from the commits and files of a branch, in the repository's own template where
//! it has one. Returns text; nothing is sent anywhere.

use contract::RelPath;
use exec::history::{DiffQuery, LogQuery, Sides};

use crate::git;
use crate::message::{self, Type, Wish};

use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::GIT;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What to compare with.
    #[serde(default = "main_branch")]
    pub base: String,
    /// Its type; found out without.
    #[serde(default)]
    pub r#type: Option<Type>,
    /// Its scope.
    #[serde(default)]
    pub scope: Option<String>,
    /// Say what it breaks.
    #[serde(default)]
    pub include_breaking: bool,
    /// The issue that it closes, such as 12.
    #[serde(default)]
    pub include_issue: Option<String>,
    /// Fill the repository's template.
    #[serde(default = "yes")]
    pub use_template: bool,
    /// Only what changed in this folder below the root.
    #[serde(default)]
    pub directory: Option<String>,
}

fn main_branch() -> String {
    "main".to_owned()
}

const fn yes() -> bool {
    true
}

/// Most commits that are looked at.
const MAX_COMMITS: usize = 50;

/// Where a repository keeps its template.
const TEMPLATES: &[&str] = &[
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/pull_request_template.md",
    "docs/pull_request_template.md",
    "docs/PULL_REQUEST_TEMPLATE.md",
    "PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    ".gitlab/merge_request_templates/Default.md",
];

/// The message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The title, at most 72 characters.
    pub title: String,
    /// The description, in Markdown.
    pub body: String,
    /// Its type.
    pub r#type: Type,
    /// Commits that it is made from.
    pub commits: usize,
    /// What the commits say that it breaks.
    pub breaking: Vec<String>,
    /// The template that was filled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GeneratePrMessage;

impl Define for GeneratePrMessage {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "generate_pr_message";
    const TOOLSET: Toolset = GIT;
    const DOC: Doc = doc!("generate_pr_message.rs");

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "base": "develop", "type": "fix", "scope": "store", "includeBreaking": true, "includeIssue": "12" }),
        ]
    }
}

impl Read for GeneratePrMessage {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let range = format!("{}..HEAD", input.base);
        let sides = Sides::Revisions { from: input.base.clone(), to: "HEAD".to_owned(), merge_base: true };
        let paths = git::paths(input.directory.as_deref(), &[])?;
        let (log, diff) = git::read(&desk, move |repository, limits, cancel| {
            let mut query = LogQuery::new(&range);
            query.limit = MAX_COMMITS;
            query.merges = Some(false);
            query.paths.clone_from(&paths);
            let mut changed = DiffQuery::new(sides);
            changed.max_bytes = 0;
            changed.paths = paths;
            Ok((repository.log(&query, limits, cancel)?, repository.diff(&changed, limits, cancel)?))
        })
        .await?;
        if log.commits.is_empty() {
            return Err(Fault::new(
                contract::Code::NotFound,
                format!("no commit lies between {} and HEAD", input.base),
            )
            .suggest("Commit something on this branch, or name another `base`."));
        }
        let template = if input.use_template { template(&desk)? } else { None };
        let wish = Wish {
            kind: input.r#type,
            scope: input.scope,
            breaking: input.include_breaking,
            issue: input.include_issue,
        };
        let output = message::of(&log.commits, &diff, &wish, template);
        let text = format!("{}\n\n{}", output.title, output.body);
        Ok(Answer::new(text, output))
    }
}

/// The repository's template: where it is, and what it says.
fn template(desk: &ReadDesk) -> Result<Option<(String, String)>, Fault> {
    for place in TEMPLATES {
        let path = RelPath::new(place).map_err(|e| Fault::internal(e.to_string()))?;
        if let Some(bytes) = desk.view().read_optional(&path)? {
            return Ok(Some(((*place).to_owned(), String::from_utf8_lossy(&bytes).into_owned())));
        }
    }
    Ok(None)
}
