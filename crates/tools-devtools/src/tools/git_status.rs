//! Status of the repository.
//!
//! Says which branch this is, how it stands to its upstream, and what is staged, changed, untracked or in conflict. Runs no
//! program and nothing that the repository defines.

use contract::Truncated;
use exec::history::{Repo, Status};

use crate::{git, running};

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
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Most entries of each list.
const MAX_SHOWN: usize = 50;

/// How the repository is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The state; each list has its first entries.
    #[serde(flatten)]
    pub status: Status,
    /// How many of each there are.
    pub counts: Counts,
}

/// How many entries there are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Counts {
    /// Staged.
    pub staged: usize,
    /// Changed and not staged.
    pub unstaged: usize,
    /// Untracked.
    pub untracked: usize,
    /// In conflict.
    pub conflicted: usize,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GitStatus;

impl Define for GitStatus {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "git_status";
    const TOOLSET: Toolset = GIT;
    const DOC: Doc = doc!("git_status.rs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "web" })]
    }
}

impl Read for GitStatus {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let folder = running::directory(input.directory.as_deref())?.map(|dir| dir.to_string());
        let mut status = git::read(&desk, Repo::status).await?;
        let below = |path: &str| git::is_below(path.trim_end_matches('/'), folder.as_deref());
        status.staged.retain(|change| below(&change.path));
        status.unstaged.retain(|change| below(&change.path));
        status.untracked.retain(|path| below(path));
        status.conflicted.retain(|conflict| below(&conflict.path));
        status.not_compared.retain(|not| below(&not.path));
        let counts = Counts {
            staged: status.staged.len(),
            unstaged: status.unstaged.len(),
            untracked: status.untracked.len(),
            conflicted: status.conflicted.len(),
        };
        let place = match (&status.branch, &status.head) {
            (Some(branch), _) => format!("On `{branch}`"),
            (None, Some(head)) => format!("HEAD is detached at {}", head.get(..12).unwrap_or(head)),
            (None, None) => "No branch".to_owned(),
        };
        let Counts { staged, unstaged, untracked, conflicted } = &counts;
        let changes =
            format!("{staged} staged, {unstaged} changed, {untracked} untracked, {conflicted} in conflict");
        let is_clean = staged + unstaged + untracked + conflicted == 0;
        let changes = if is_clean { "nothing to commit".to_owned() } else { changes };
        let total = (staged + unstaged + untracked + conflicted) as u64;
        status.staged.truncate(MAX_SHOWN);
        status.unstaged.truncate(MAX_SHOWN);
        status.untracked.truncate(MAX_SHOWN);
        status.conflicted.truncate(MAX_SHOWN);
        status.not_compared.truncate(MAX_SHOWN);
        let shown =
            status.staged.len() + status.unstaged.len() + status.untracked.len() + status.conflicted.len();
        let mut answer = Answer::new(format!("{place}: {changes}."), Output { status, counts });
        if (shown as u64) < total {
            let next = "git_status with a `directory`".to_owned();
            answer.truncated = Some(Truncated { shown: shown as u64, total, next });
        }
        Ok(answer)
    }
}
