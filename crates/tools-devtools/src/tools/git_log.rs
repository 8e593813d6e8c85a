//! History of the repository.
//!
//! Lists commits, newest first, by range, path, author, time or words of the message. Returns ids, authors, times, messages and,
//! when asked, how much each changed.

use contract::text::counted;
use std::sync::atomic::AtomicBool;

use exec::history::{Commit, Grep, Limits, LogQuery, Repo};

use crate::git;

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
    /// A revision or range; HEAD without.
    #[serde(default)]
    pub revision: Option<String>,
    /// Only commits that touch these.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
    /// Most commits.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: u32,
    /// How many to pass over first.
    #[serde(default)]
    pub skip: u32,
    /// Not before: a date or time.
    #[serde(default)]
    pub since: Option<String>,
    /// Not after: a date or time.
    #[serde(default)]
    pub until: Option<String>,
    /// Part of the author's name or address.
    #[serde(default)]
    pub author: Option<String>,
    /// What the message has in it.
    #[serde(default)]
    pub grep: Option<String>,
    /// `grep` is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// Follow only first parents of merges.
    #[serde(default)]
    pub first_parent: bool,
    /// Only merges, or none.
    #[serde(default)]
    pub merges: Option<bool>,
    /// How much each changed.
    #[serde(default)]
    pub stats: bool,
}

const fn twenty() -> u32 {
    20
}

/// Most characters of a message's body.
const MAX_BODY: usize = 600;

/// The commits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The commits, newest first.
    pub commits: Vec<Commit>,
    /// Whether there are more.
    pub more: bool,
    /// Whether history ends early: a shallow clone.
    pub shallow: bool,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GitLog;

impl Define for GitLog {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "git_log";
    const TOOLSET: Toolset = GIT;
    const DOC: Doc = doc!("git_log.rs");

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "revision": "v1.0..HEAD", "paths": ["src"], "author": "ada", "limit": 50, "stats": true }),
        ]
    }
}

impl Read for GitLog {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let mut query = LogQuery::new(input.revision.as_deref().unwrap_or("HEAD"));
        query.paths = git::paths(input.directory.as_deref(), &input.paths)?;
        query.limit = input.limit as usize;
        query.skip = input.skip as usize;
        query.since = input.since;
        query.until = input.until;
        query.author = input.author;
        query.grep = input.grep.map(|text| if input.regex { Grep::Regex(text) } else { Grep::Text(text) });
        query.first_parent = input.first_parent;
        query.merges = input.merges;
        query.stats = input.stats;
        // Sums of lines depend on the work tree's attributes.
        let mut log = if query.stats {
            git::read(&desk, move |repository, limits, cancel| repository.log(&query, limits, cancel)).await?
        } else {
            let asked = format!("log {query:?}");
            let log = move |repository: &Repo, limits: &Limits, cancel: &AtomicBool| {
                repository.log(&query, limits, cancel)
            };
            git::read_again(&desk, asked, log).await?
        };
        for commit in &mut log.commits {
            if let Some((end, _)) = commit.body.char_indices().nth(MAX_BODY) {
                commit.body.truncate(end);
                commit.body.push('…');
            }
        }
        let many = counted(log.commits.len() as u64, "commit");
        let latest = log.commits.first().map(|c| format!(": the latest is {} “{}”", c.short, c.summary));
        let more = if log.truncated { "; there are more" } else { "" };
        let message = format!("{many}{}{more}.", latest.unwrap_or_default());
        Ok(Answer::new(message, Output { commits: log.commits, more: log.truncated, shallow: log.shallow }))
    }
}
