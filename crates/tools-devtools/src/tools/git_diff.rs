//! Differences in the repository.
//!
//! Shows what differs between two revisions, in the index or in the work tree, file by file as unified hunks. Runs neither
//! external diff programs nor filters, and lists what it therefore could not compare.

use contract::Truncated;
use contract::text::counted;
use exec::history::{Diff, DiffQuery, Sides};

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
    /// `a..b`, `a...b`, or a revision; else the index.
    #[serde(default)]
    pub range: Option<String>,
    /// What is staged, against HEAD.
    #[serde(default)]
    pub staged: bool,
    /// Only these files and folders.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
    /// Unchanged lines around each change.
    #[serde(default = "three")]
    #[schemars(range(min = 0, max = 50))]
    pub context: u32,
    /// Leave out changes of white space.
    #[serde(default)]
    pub ignore_whitespace: bool,
    /// Only files and figures, no hunks.
    #[serde(default)]
    pub names_only: bool,
}

const fn three() -> u32 {
    3
}

/// Most bytes of hunks.
const MAX_BYTES: usize = 24 * 1024;

/// Most files.
const MAX_FILES: usize = 100;

/// What differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The differences.
    pub diff: Diff,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GitDiff;

impl Define for GitDiff {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "git_diff";
    const TOOLSET: Toolset = GIT;
    const DOC: Doc = doc!("git_diff.rs");

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "range": "main...HEAD", "paths": ["src"], "context": 5 }),
            json!({ "staged": true, "namesOnly": true }),
        ]
    }
}

impl Read for GitDiff {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        if input.staged && input.range.as_deref().is_some_and(|range| range.contains("..")) {
            return Err(Fault::invalid(
                "staged: what is staged is compared with one revision, not with a range",
            ));
        }
        let sides = match (&input.range, input.staged) {
            (range, true) => Sides::Staged { from: range.clone() },
            (Some(range), false) => Sides::parse(range),
            (None, false) => Sides::WorkTree { from: None },
        };
        let mut query = DiffQuery::new(sides);
        query.paths = git::paths(input.directory.as_deref(), &input.paths)?;
        query.context = input.context;
        query.ignore_whitespace = input.ignore_whitespace;
        query.max_bytes = if input.names_only { 0 } else { MAX_BYTES };
        query.max_files = MAX_FILES;
        let diff =
            git::read(&desk, move |repository, limits, cancel| repository.diff(&query, limits, cancel))
                .await?;
        let stats = diff.stats;
        let mut message =
            format!("{}: +{} −{}.", counted(stats.files, "file"), stats.additions, stats.deletions);
        if !diff.not_compared.is_empty() {
            message.push_str(&format!(
                " {} could not be compared.",
                counted(diff.not_compared.len() as u64, "file")
            ));
        }
        let mut answer = Answer::new(message, Output { diff });
        let shown = answer.output.diff.files.len() as u64;
        if answer.output.diff.truncated && !input.names_only {
            let next = "git_diff with `paths`".to_owned();
            answer.truncated = Some(Truncated { shown, total: stats.files, next });
        }
        Ok(answer)
    }
}
