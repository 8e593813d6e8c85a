//! Issues by what is to be done with them.
//!
//! Five lists of this repository's open issues on GitHub: first priority, ready, in progress, blocked, triage, each with how many there are in
//! all. Asked by `gh` where it is signed in, else by the REST API with a token.

use contract::{Fault, Toolset};
use github::{Found, Issue};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::asking::Via;
use crate::here::Here;
use crate::issues;
use crate::settings::{IssueList, IssuesSection};
use kit::markdown::text;

/// The arguments: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// A list of issues.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Group {
    /// Its labels: one of them is enough.
    pub labels: Vec<String>,
    /// How many are shown.
    pub shown: u64,
    /// How many there are.
    pub total: u64,
    /// Whether GitHub ended its search before it had looked at all.
    pub incomplete: bool,
    /// The ones changed last.
    pub issues: Vec<Issue>,
}

impl Group {
    pub(crate) fn of(list: &IssueList, found: Found) -> Self {
        Self {
            labels: list.labels.clone(),
            shown: found.issues.len() as u64,
            total: found.total,
            incomplete: found.incomplete,
            issues: found.issues,
        }
    }
}

/// A list that is not there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Which.
    list: String,
    /// Why.
    why: String,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// `owner/name`.
    repository: String,
    /// How GitHub was asked.
    via: Via,
    /// Those that come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    p0: Option<Group>,
    /// Those that can be begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<Group>,
    /// Those that are worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_progress: Option<Group>,
    /// Those that wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<Group>,
    /// Those that nobody has looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    triage: Option<Group>,
    /// Lists that could not be had.
    left_out: Vec<LeftOut>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Status;

impl Define for Status {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "status";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("status.rs");
    const OPEN_WORLD: bool = true;

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for Status {
    async fn read(&self, _: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let asking = issues::asking(&desk, &here).await?.map_err(|why| {
            Fault::new(contract::Code::ToolExecutionFailed, why).suggest("`preflight` says what is missing.")
        })?;
        let lists = desk.settings::<IssuesSection>()?;
        let ask = |list| issues::ask(&asking, &desk, list);
        let (p0, ready, in_progress, blocked, triage) = tokio::join!(
            ask(&lists.p0),
            ask(&lists.ready),
            ask(&lists.in_progress),
            ask(&lists.blocked),
            ask(&lists.triage),
        );
        let all = [&p0, &ready, &in_progress, &blocked, &triage];
        if all.iter().all(|found| found.is_err())
            && let Err(fault) = p0
        {
            return Err(fault);
        }
        let (mut left_out, mut message) = (Vec::new(), String::new());
        let mut group = |name: &str, list: &IssueList, found: Result<Found, Fault>| match found {
            Ok(found) => {
                let group = Group::of(list, found);
                told(&mut message, name, &group);
                Some(group)
            }
            Err(fault) => {
                message.push_str(&format!("Left out: {name}: {}.\n\n", text(&fault.message)));
                left_out.push(LeftOut { list: name.to_owned(), why: fault.message });
                None
            }
        };
        let p0 = group("First", &lists.p0, p0);
        let ready = group("Ready", &lists.ready, ready);
        let in_progress = group("In progress", &lists.in_progress, in_progress);
        let blocked = group("Blocked", &lists.blocked, blocked);
        let triage = group("Triage", &lists.triage, triage);
        let output = Output {
            repository: asking.repository.clone(),
            via: asking.via,
            p0,
            ready,
            in_progress,
            blocked,
            triage,
            left_out,
        };
        let mut answer = Answer::new(message, output);
        answer.success = answer.output.left_out.is_empty();
        Ok(answer)
    }
}

/// A list in Markdown.
pub(crate) fn told(out: &mut String, name: &str, group: &Group) {
    let more = if group.incomplete { ", at least" } else { "" };
    out.push_str(&format!("**{name}** ({} of {}{more})\n", group.shown, group.total));
    for issue in &group.issues {
        let whose = if issue.assignees.is_empty() {
            String::new()
        } else {
            format!(" ({})", text(&issue.assignees.join(", ")))
        };
        out.push_str(&format!("- {}: {}{whose}\n", issue.number, text(&issue.title)));
    }
    out.push('\n');
}
