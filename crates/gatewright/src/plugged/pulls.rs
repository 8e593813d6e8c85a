//! Pull requests of a stack, for plugins that declare them: once every branch is where its remote has it, each has one, the lowest first.
//!
//! A plan has one request, so that one call opens one pull request, or moves one onto another base; the answer says how many are left.
//! What is proposed is held, when it is applied, to where the branches were seen. What is asked of GitHub beforehand names the repository
//! and its branches, and nothing else of it.

use std::collections::BTreeSet;

use contract::text::{counted, visible};
use contract::{Code, Fault, SeenRef};
use exec::Workshop;
use exec::history::LogQuery;
use exec::run::Command;
use github::{Opening, Pull, Sending, Standing, of_branch, onto, read_pulls, read_tip, tip};
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
    /// It was merged with what the branch has now.
    Merged,
    /// It was closed with what the branch has now: whoever did that meant it.
    Closed,
    /// The branch has no commit of its own.
    Empty,
    /// What the remote has by this name is another branch.
    Elsewhere,
    /// What it stands on is not at the remote by that name, or was merged or closed.
    Unbased,
    /// Several are open, none of them onto its base.
    Several,
}

impl State {
    /// Whether a pull request may be onto the branch.
    const fn carries(self) -> bool {
        !matches!(self, Self::Merged | Self::Closed | Self::Elsewhere)
    }
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

/// What there is of a branch's pull requests, before it is known whether anything may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// Nothing is to be done, or can be.
    Done(State, Option<Pull>),
    /// It is to be opened.
    Missing,
    /// It is to be moved.
    Astray(Pull),
}

/// What the pull requests of a branch that is at `head` mean for it. `all` are the newest first.
fn found(all: Vec<Pull>, base: &str, head: &str) -> Found {
    let (open, ended): (Vec<Pull>, Vec<Pull>) =
        all.into_iter().partition(|pull| pull.standing == Standing::Open);
    let is_several = open.len() > 1;
    let right = open.iter().position(|pull| pull.base == base);
    match right.or_else(|| (!open.is_empty()).then_some(0)).and_then(|at| open.into_iter().nth(at)) {
        // Somebody has pushed since.
        Some(pull) if pull.head != head => Found::Done(State::Elsewhere, Some(pull)),
        Some(pull) if right.is_some() => Found::Done(State::Open, Some(pull)),
        Some(pull) if is_several => Found::Done(State::Several, Some(pull)),
        Some(pull) => Found::Astray(pull),
        None => match ended.into_iter().find(|pull| pull.head == head) {
            Some(pull) if pull.standing == Standing::Merged => Found::Done(State::Merged, Some(pull)),
            Some(pull) => Found::Done(State::Closed, Some(pull)),
            None => Found::Missing,
        },
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
    let (remote, slug) = match place(desk, &workshop, &*workplace).await? {
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
    desk.check_reaches(&asking.url(""))?;
    let stack = stack(pulls, program, desk, &workshop).await?;
    let forge = Forge { desk, workshop: &workshop, asking: &asking, remote: &remote };
    let all: BTreeSet<String> = stack.iter().map(|row| row.branch.clone()).collect();
    let mut carrying: BTreeSet<String> = BTreeSet::new();
    let mut rows = Vec::new();
    let mut sending: Option<(Sending, Vec<SeenRef>)> = None;
    for Stacked { branch, base } in stack {
        let found = forge.look(&branch, &base).await?;
        let has_base =
            if all.contains(&base) { carrying.contains(&base) } else { forge.there(&base).is_some() };
        let (state, pull) = match found {
            Found::Done(state, pull) => (state, pull),
            Found::Missing | Found::Astray(_) if !has_base => (State::Unbased, None),
            Found::Missing | Found::Astray(_) if sending.is_some() => (State::Waits, None),
            Found::Missing | Found::Astray(_) if !forge.is_at_github(&branch).await? => {
                (State::Elsewhere, None)
            }
            Found::Astray(pull) => {
                let made = sent(onto(&asking.repository, pull.number, &base))?;
                sending = Some((made, forge.seen(&branch, &base)));
                (State::Moves, Some(pull))
            }
            Found::Missing => match forge.text(&branch, &base).await? {
                None => (State::Empty, None),
                Some((title, body)) => {
                    let (title, body, repository) = (&title, &body, asking.repository.as_str());
                    let opening =
                        Opening { repository, head: &branch, base: &base, title, body, draft: drafts };
                    sending = Some((sent(opening.sending())?, forge.seen(&branch, &base)));
                    (State::Opens, None)
                }
            },
        };
        if state.carries() {
            carrying.insert(branch.clone());
        }
        rows.push(Row { branch, base, state, pull: pull.as_ref().map(Shown::from) });
    }
    if let Some((Sending { method, endpoint, body }, seen)) = sending {
        let headers = [("accept", "application/vnd.github+json"), ("x-github-api-version", github::VERSION)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        desk.request(method, &asking.url(&endpoint), headers, body.into_bytes(), seen)?;
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

/// The repository of the stack: here, and at GitHub.
struct Forge<'a> {
    desk: &'a RunDesk,
    workshop: &'a Workshop,
    asking: &'a Asking,
    remote: &'a str,
}

impl Forge<'_> {
    fn here(&self, branch: &str) -> Option<String> {
        self.workshop.ref_was(&format!("refs/heads/{branch}"))
    }

    /// Where the remote was last seen to have a branch.
    fn there(&self, branch: &str) -> Option<String> {
        self.workshop.ref_was(&format!("refs/remotes/{}/{branch}", self.remote))
    }

    async fn ask<T>(
        &self,
        endpoint: Result<String, github::QuestionError>,
        read: impl FnOnce(&[u8]) -> Result<T, github::AnswerError>,
    ) -> Result<T, Fault> {
        let endpoint = endpoint.map_err(|error| Fault::invalid(error.to_string()))?;
        let said = self.asking.get(self.desk, endpoint).await?;
        read(&said).map_err(|error| Fault::new(Code::ToolExecutionFailed, error.to_string()))
    }

    /// What there is of a branch's pull requests.
    async fn look(&self, branch: &str, base: &str) -> Result<Found, Fault> {
        let Some(head) = self.here(branch).filter(|here| self.there(branch).as_ref() == Some(here)) else {
            return Ok(Found::Done(State::Elsewhere, None));
        };
        let all =
            self.ask(of_branch(&self.asking.repository, branch), |said| read_pulls(said, branch)).await?;
        Ok(found(all, base, &head))
    }

    /// Whether GitHub, too, has the branch where it is here: what a repository says of its remotes is its own word.
    async fn is_at_github(&self, branch: &str) -> Result<bool, Fault> {
        let at = self.ask(tip(&self.asking.repository, branch), |said| read_tip(said, branch)).await?;
        Ok(at.is_some() && at == self.here(branch))
    }

    /// What a request about a branch is held to.
    fn seen(&self, branch: &str, base: &str) -> Vec<SeenRef> {
        let remote = self.remote;
        let names = [
            format!("refs/heads/{branch}"),
            format!("refs/remotes/{remote}/{branch}"),
            format!("refs/remotes/{remote}/{base}"),
        ];
        let at = |name: String| Some(SeenRef { id: self.workshop.ref_was(&name)?, name });
        names.into_iter().filter_map(at).collect()
    }

    /// A pull request's title and text, without secrets, from the commits of its branch: the message of a single one; of several the
    /// first's summary, and all of them as a list. Nothing where there is none.
    async fn text(&self, branch: &str, base: &str) -> Result<Option<(String, String)>, Fault> {
        let mut query = LogQuery::new(&format!("refs/remotes/{}/{base}..refs/heads/{branch}", self.remote));
        query.limit = MOST_COMMITS;
        query.merges = Some(false);
        query.first_parent = true;
        let read =
            git::read(self.desk, move |repository, limits, cancel| repository.log(&query, limits, cancel));
        let log = read.await?;
        let Some(first) = log.commits.last() else { return Ok(None) };
        let mut title = first.summary.clone();
        let body = match log.commits.as_slice() {
            [only] => only.body.clone(),
            all => {
                let mut lines: Vec<String> =
                    all.iter().rev().map(|commit| format!("- {}", commit.summary)).collect();
                if log.truncated {
                    // The first is not among them.
                    title = String::new();
                    lines.insert(0, "- …".to_owned());
                }
                lines.join("\n")
            }
        };
        if title.trim().is_empty() {
            branch.clone_into(&mut title);
        }
        let clean = |text: &str| visible(&self.desk.cleaned(text));
        Ok(Some((clean(&title), clean(body.trim_end()))))
    }
}

/// Where the stack is pushed to: the remote, and what it is called; or why it is no repository of GitHub's, or not the only one.
async fn place(
    desk: &RunDesk,
    workshop: &Workshop,
    workplace: &dyn Workplace,
) -> Result<Result<(String, String), String>, Fault> {
    let Some(remote) = remote_of(workshop) else {
        return Ok(Err("the repository has no remote".to_owned()));
    };
    let Some(own) = workshop.remote_url(&remote).as_deref().and_then(slug) else {
        return Ok(Err(format!("{remote} is a folder, and no forge")));
    };
    let host = workplace.github().host.to_lowercase();
    let is_there = |slug: &String| slug.starts_with(&format!("{host}/"));
    if !is_there(&own) {
        return Ok(Err(format!("{remote} is {own}, which is not at {host}")));
    }
    // A fork and what it is of, or a place to fetch from and another to push to: which of them is meant is not said.
    let remotes = git::read(desk, |repository, _, _| repository.remotes()).await?;
    let slugs: BTreeSet<String> =
        remotes.iter().filter_map(|remote| slug(&remote.url)).chain([own.clone()]).filter(is_there).collect();
    if slugs.len() > 1 {
        let all: Vec<&str> = slugs.iter().map(String::as_str).collect();
        return Ok(Err(format!(
            "the repository is at {}, and which of them is meant is not said",
            all.join(" and ")
        )));
    }
    Ok(Ok((remote, own)))
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
            State::Merged => {
                format!("- `{branch}`:{number} was merged; a sync with the remote deletes the branch")
            }
            State::Closed => format!("- `{branch}`:{number} was closed, and is not opened again"),
            State::Several => {
                format!("- `{branch}`: several are open, none of them onto `{base}`: move one yourself")
            }
            State::Unbased => {
                format!(
                    "- `{branch}` stands on `{base}`, which nothing can be merged into: sync with the remote first"
                )
            }
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
    fn what_is_open_goes_before_what_has_ended_and_the_right_base_before_others() {
        let pull = |number: u64, base: &str, standing: Standing, head: &str| Pull {
            number,
            url: String::new(),
            base: base.into(),
            draft: false,
            standing,
            head: head.into(),
        };
        let state = |all: Vec<Pull>| match found(all, "main", "1") {
            Found::Done(state, pull) => (Some(state), pull.map(|pull| pull.number)),
            Found::Missing => (None, None),
            Found::Astray(pull) => (None, Some(pull.number)),
        };
        use Standing::{Closed, Merged, Open};
        assert_eq!(state(Vec::new()), (None, None));
        assert_eq!(
            state(vec![pull(2, "dev", Open, "1"), pull(1, "main", Open, "1")]),
            (Some(State::Open), Some(1))
        );
        assert_eq!(state(vec![pull(2, "dev", Open, "1")]), (None, Some(2)));
        assert_eq!(
            state(vec![pull(3, "x", Open, "1"), pull(2, "dev", Open, "1")]),
            (Some(State::Several), Some(3))
        );
        assert_eq!(state(vec![pull(2, "main", Open, "9")]), (Some(State::Elsewhere), Some(2)));
        assert_eq!(state(vec![pull(2, "main", Merged, "1")]), (Some(State::Merged), Some(2)));
        assert_eq!(state(vec![pull(2, "dev", Closed, "1")]), (Some(State::Closed), Some(2)));
        // The branch has gone on since.
        assert_eq!(state(vec![pull(2, "main", Merged, "9"), pull(1, "main", Closed, "8")]), (None, None));
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
