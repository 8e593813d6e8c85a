//! Review a branch.
//!
//! Looks at what a branch changed against its base for secrets, injected code, nested loops, long lines and leftovers. Returns
//! concerns with file and line, gravest first; it judges by patterns and runs nothing.

use contract::Truncated;
use contract::text::counted;
use exec::history::{DiffQuery, DiffStats, Sides};

use crate::git;
use crate::review::{self, Concern, Focus};

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
    /// Look at tests, too.
    #[serde(default)]
    pub include_tests: bool,
    /// Most files to look at.
    #[serde(default = "many")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_files: u32,
    /// What to look for.
    #[serde(default)]
    pub focus: Focus,
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

fn main_branch() -> String {
    "main".to_owned()
}

const fn many() -> u32 {
    100
}

/// Most bytes of the diff that is looked at.
const MAX_DIFF: usize = 10 << 20;

/// Most concerns that are counted.
const MAX_CONCERNS: usize = 1_000;

/// Most concerns in one result.
const MAX_SHOWN: usize = 40;

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Concerns, gravest first.
    pub concerns: Vec<Concern>,
    /// How many there are.
    pub total: usize,
    /// Files that were looked at.
    pub files: usize,
    /// Files that were left out.
    pub skipped: usize,
    /// Lines added and removed.
    pub stats: DiffStats,
    /// Whether a limit cut the look short.
    pub cut: bool,
}

/// The tool.
#[derive(Debug, Default)]
pub struct CodeReview;

impl Define for CodeReview {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "code_review";
    const TOOLSET: Toolset = GIT;
    const DOC: Doc = doc!("code_review.rs");

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "base": "develop", "focus": "security", "includeTests": true, "maxFiles": 50 }),
        ]
    }
}

impl Read for CodeReview {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let sides = Sides::Revisions { from: input.base.clone(), to: "HEAD".to_owned(), merge_base: true };
        let mut query = DiffQuery::new(sides);
        query.context = 0;
        query.max_bytes = MAX_DIFF;
        query.paths = git::paths(input.directory.as_deref(), &[])?;
        let diff =
            git::read(&desk, move |repository, limits, cancel| repository.diff(&query, limits, cancel))
                .await?;
        let (focus, most) = (input.focus, input.max_files as usize);
        let tests = input.include_tests;
        desk.blocking(move |_| {
            let wanted =
                diff.files.iter().filter(|file| !file.binary && (tests || !review::is_test(&file.path)));
            let chosen: Vec<_> = wanted.take(most).collect();
            let mut concerns: Vec<Concern> = chosen.iter().flat_map(|file| review::concerns(file)).collect();
            concerns.retain(|concern| focus.wants(concern.category));
            concerns.sort_by(|a, b| (b.severity, &a.file, a.line).cmp(&(a.severity, &b.file, b.line)));
            let total = concerns.len();
            let message = match concerns.first() {
                None => format!(
                    "Nothing stands out in {} of {} changed.",
                    chosen.len(),
                    counted(diff.files.len() as u64, "file")
                ),
                Some(first) => format!(
                    "{}; the gravest: {} ({}:{}).",
                    counted(total as u64, "concern"),
                    first.message,
                    first.file,
                    first.line
                ),
            };
            let cut = diff.truncated || total > MAX_CONCERNS;
            concerns.truncate(MAX_SHOWN);
            let shown = concerns.len();
            let (files, skipped) = (chosen.len(), diff.files.len() - chosen.len());
            let mut answer =
                Answer::new(message, Output { concerns, total, files, skipped, stats: diff.stats, cut });
            if shown < total {
                let next = "code_review with `focus` or `directory`".to_owned();
                answer.truncated = Some(Truncated { shown: shown as u64, total: total as u64, next });
            }
            Ok(answer)
        })
        .await
    }
}
