//! Pull requests of a stack, for plugins that declare them: once every branch is where its remote has it, each has one, the lowest first.
//!
//! A plan has one request, so that one call opens one pull request, or moves one onto another base; the answer says how many are left.
//! What is asked of GitHub beforehand names the repository and its branches, and nothing else of it.

use std::collections::BTreeSet;

use contract::text::{counted, visible};
use contract::{Code, Fault};
use exec::Workshop;
use exec::history::LogQuery;
use exec::run::Command;
use github::{Opening, Pull, Sending, of_branch, onto, read_pulls};
use kit::desk::git;
use kit::{Answer, RunDesk};
use plugins::file::Pulls;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tools_session::{Asking, Workplace, slug};

use super::footing::{PATIENCE, complaint, remote_of};

/// Most branches of a stack: GitHub is asked about each.
const MOST: usize = 30;

/// Most commits that a text is made from.
const MOST_COMMITS: usize = 100;

/// A branch, and the one that it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stacked {
    branch: String,
    base: String,
}

/// What becomes of a branch's pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// It is open, onto the right base.
    Open,
    /// This plan opens it.
    Opens,
    /// This plan moves it onto its base.
    Moves,
    /// Its turn comes with a later call.
    Waits,
    /// The branch has no commit of its own.
    Empty,
    /// What the remote has by this name is another branch.
    Elsewhere,
}

/// A branch, and its pull request.
#[derive(Debug, Serialize)]
struct Row {
    branch: String,
    base: String,
    state: State,
    #[serde(flatten)]
    pull: Option<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    number: u64,
    url: String,
    draft: bool,
}

impl From<&Pull> for Shown {
    fn from(pull: &Pull) -> Self {
        Self { number: pull.number, url: visible(&pull.url), draft: pull.draft }
    }
}

/// Proposes what comes next of a stack's pull requests, as a request of the plan. `drafts` says whether new ones are drafts.
pub async fn propose(
    pulls: &Pulls,
    program: &str,
    drafts: bool,
    desk: &RunDesk,
    answer: &mut Answer<Map<String, Value>>,
) -> Result<(), Fault> {
    let workshop = desk.opened().await?;
    let looking = workshop.clone();
    if desk.blocking(move |_| looking.has_pushed()).await? {
        let next = "No pull request is opened by this plan: the branches are pushed first. Once it is applied, the same call opens them, one in a plan.";
        answer.message.push_str(&format!("\n\n{next}"));
        answer.output.insert("pullRequests".to_owned(), json!({ "after": "push" }));
        return Ok(());
    }
    let workplace =
        desk.service::<dyn Workplace>().ok_or_else(|| Fault::internal("there is no workplace"))?;
    let (remote, slug) = match place(&workshop, &*workplace) {
        Ok(place) => place,
        Err(why) => {
            answer.message.push_str(&format!("\n\nNo pull request is opened: {why}."));
            answer.output.insert("pullRequests".to_owned(), json!({ "none": why }));
            return Ok(());
        }
    };
    let asking = Asking::of(desk, workplace, &slug).await?.map_err(|why| {
        let message = format!("no pull request can be opened: {why}");
        Fault::new(Code::ToolExecutionFailed, message)
            .suggest("Without the input that asks for them the stack is pushed; [github] in the user's configuration says whose account is used.")
    })?;
    let is_there = |branch: &str| {
        let there = workshop.ref_was(&format!("refs/remotes/{remote}/{branch}"));
        there.is_some() && there == workshop.ref_was(&format!("refs/heads/{branch}"))
    };
    let stack = stack(pulls, program, desk, &workshop).await?;
    let mut rows = Vec::new();
    let mut sending: Option<Sending> = None;
    for Stacked { branch, base } in stack {
        if !is_there(&branch) {
            rows.push(Row { branch, base, state: State::Elsewhere, pull: None });
            continue;
        }
        let endpoint = of_branch(&asking.repository, &branch).map_err(|e| Fault::invalid(e.to_string()))?;
        let said = asking.get(desk, endpoint).await?;
        let found = read_pulls(&said, &asking.repository, &branch)
            .map_err(|error| Fault::new(Code::ToolExecutionFailed, error.to_string()))?;
        let state = match &found {
            Some(pull) if pull.base == base => State::Open,
            _ if sending.is_some() => State::Waits,
            Some(pull) => {
                sending = Some(sent(onto(&asking.repository, pull.number, &base))?);
                State::Moves
            }
            None => match text(desk, &branch, &base).await? {
                None => State::Empty,
                Some((title, body)) => {
                    let (title, body, repository) = (&title, &body, asking.repository.as_str());
                    let opening =
                        Opening { repository, head: &branch, base: &base, title, body, draft: drafts };
                    sending = Some(sent(opening.sending())?);
                    State::Opens
                }
            },
        };
        rows.push(Row { branch, base, state, pull: found.as_ref().map(Shown::from) });
    }
    if let Some(Sending { method, endpoint, body }) = sending {
        let headers = [("accept", "application/vnd.github+json"), ("x-github-api-version", github::VERSION)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        desk.request(method, &asking.url(&endpoint), headers, body.into_bytes())?;
    }
    answer.message.push_str(&format!("\n\n{}", told(&rows, drafts)));
    let left = rows.iter().filter(|row| row.state == State::Waits).count();
    let value = json!({ "repository": asking.repository, "branches": rows, "left": left });
    answer.output.insert("pullRequests".to_owned(), value);
    Ok(())
}

fn sent(made: Result<Sending, github::QuestionError>) -> Result<Sending, Fault> {
    made.map_err(|error| Fault::invalid(error.to_string()))
}

/// Where the stack is pushed to: the remote, and what it is called; or why it is no repository of GitHub's.
fn place(workshop: &Workshop, workplace: &dyn Workplace) -> Result<(String, String), String> {
    let remote = remote_of(workshop).ok_or("the repository has no remote")?;
    let url = workshop.remote_url(&remote).unwrap_or_default();
    let slug = slug(&url).ok_or_else(|| format!("{remote} is a folder, and no forge"))?;
    let host = &workplace.github().host;
    if slug.starts_with(&format!("{}/", host.to_lowercase())) {
        return Ok((remote, slug));
    }
    Err(format!("{remote} is {slug}, which is not at {host}"))
}

/// The branches of the stack as its program names them, each after the one that it stands on.
async fn stack(
    pulls: &Pulls,
    program: &str,
    desk: &RunDesk,
    workshop: &Workshop,
) -> Result<Vec<Stacked>, Fault> {
    let mut command = Command::new(program, &[]);
    command.args.clone_from(&pulls.stack);
    command.timeout = PATIENCE;
    let ran = desk.run(command).await?;
    let unread = |why: String| {
        Fault::new(Code::ToolExecutionFailed, format!("`{}`: {why}", ran.line.join(" ")))
            .suggest("Open the pull requests yourself: the branches are pushed.")
    };
    if !ran.is_success() {
        return Err(unread(complaint(&ran)));
    }
    let text = String::from_utf8_lossy(&ran.stdout.bytes);
    let values: Vec<Value> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|error| unread(format!("what it says of the stack is no JSON: {error}")))?;
    let named = |value: &Value, pointer: &str| value.pointer(pointer)?.as_str().map(str::to_owned);
    let rows: Vec<Stacked> = values
        .iter()
        .filter_map(|value| {
            Some(Stacked { branch: named(value, &pulls.branch)?, base: named(value, &pulls.base)? })
        })
        .collect();
    if rows.len() > MOST {
        return Err(unread(format!("the stack has {} branches, at most {MOST} are taken", rows.len())));
    }
    for name in rows.iter().flat_map(|row| [&row.branch, &row.base]) {
        if !workshop.had_ref(&format!("refs/heads/{name}")) {
            return Err(unread(format!("{} is no branch here", visible(name))));
        }
    }
    ordered(rows).ok_or_else(|| unread("branches of the stack stand on each other".to_owned()))
}

/// Each after the one that it stands on; nothing where that cannot be.
fn ordered(mut rows: Vec<Stacked>) -> Option<Vec<Stacked>> {
    let mut all: Vec<Stacked> = Vec::new();
    while !rows.is_empty() {
        let waiting: BTreeSet<String> = rows.iter().map(|row| row.branch.clone()).collect();
        let (ready, rest): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| !waiting.contains(&row.base));
        if ready.is_empty() {
            return None;
        }
        all.extend(ready);
        rows = rest;
    }
    Some(all)
}

/// A pull request's title and text, from the commits of its branch: the message of a single one; of several the first's summary, and all
/// of them as a list. Nothing where there is none.
async fn text(desk: &RunDesk, branch: &str, base: &str) -> Result<Option<(String, String)>, Fault> {
    let mut query = LogQuery::new(&format!("refs/heads/{base}..refs/heads/{branch}"));
    query.limit = MOST_COMMITS;
    query.merges = Some(false);
    let log =
        git::read(desk, move |repository, limits, cancel| repository.log(&query, limits, cancel)).await?;
    let Some(first) = log.commits.last() else { return Ok(None) };
    let body = match log.commits.as_slice() {
        [only] => only.body.clone(),
        all => {
            let lines: Vec<String> = all.iter().rev().map(|commit| format!("- {}", commit.summary)).collect();
            lines.join("\n")
        }
    };
    Ok(Some((visible(&first.summary), visible(body.trim_end()))))
}

fn told(rows: &[Row], drafts: bool) -> String {
    let line = |row: &Row| {
        let (branch, base) = (visible(&row.branch), visible(&row.base));
        let number = row.pull.as_ref().map(|pull| format!(" #{}", pull.number)).unwrap_or_default();
        match row.state {
            State::Open => {
                let url = row.pull.as_ref().map(|pull| format!(", {}", pull.url)).unwrap_or_default();
                format!("- `{branch}`:{number} is open onto `{base}`{url}")
            }
            State::Opens => {
                let kind = if drafts { "a draft" } else { "a pull request" };
                format!("- `{branch}`: this plan opens {kind} onto `{base}`")
            }
            State::Moves => format!("- `{branch}`: this plan moves{number} onto `{base}`"),
            State::Waits => format!("- `{branch}`: its turn comes with a later call"),
            State::Empty => format!("- `{branch}` has no commit of its own, and no pull request"),
            State::Elsewhere => {
                format!(
                    "- `{branch}` is not what the remote has by this name: open its pull request yourself"
                )
            }
        }
    };
    let mut text = match rows {
        [] => "The stack has no branch on its trunk: there is nothing to open.".to_owned(),
        _ => format!("Pull requests:\n{}", rows.iter().map(line).collect::<Vec<_>>().join("\n")),
    };
    let left = rows.iter().filter(|row| row.state == State::Waits).count();
    if left > 0 {
        text.push_str(&format!(
            "\n\nA plan has one request: once this one is applied, the same call has the next ({} left).",
            counted(left, "branch")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(branch: &str, base: &str) -> Stacked {
        Stacked { branch: branch.into(), base: base.into() }
    }

    #[test]
    fn a_branch_comes_after_the_one_that_it_stands_on() {
        let all = ordered(vec![row("c", "b"), row("a", "main"), row("b", "a"), row("x", "main")]).unwrap();
        let names: Vec<&str> = all.iter().map(|row| row.branch.as_str()).collect();
        assert_eq!(names, ["a", "x", "b", "c"]);
        assert_eq!(ordered(vec![row("a", "b"), row("b", "a")]), None);
        assert_eq!(ordered(Vec::new()), Some(Vec::new()));
    }
}
