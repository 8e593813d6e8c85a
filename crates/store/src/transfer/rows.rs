//! What a row must be: one that a write of this program could have left. What it could not read again is not taken in.

use contract::Digest;
use serde::de::{DeserializeOwned, IgnoredAny};
use store_api::document::{NewDocument, Origin};
use store_api::handoff::{Anchor, HandoffStatus, NewCheckpoint, NewHandoff};
use store_api::id::MachineId;
use store_api::machine::NewMachine;
use store_api::note::{NewNote, sorted};
use store_api::once::Once;
use store_api::outbox::Letter;
use store_api::rules::Line;
use store_api::server::{NewKey, NewText, TextKind};
use store_api::session::{Begin, SessionKey, SessionStatus, Speaker, Standing, check_reason};
use store_api::uses::NewUse;
use store_api::{FailureSeen, LineState, Outcome, RunOutcome, StoreError, TestSeen, Timestamp, Verdicts};

use super::row::Row;

/// What is wrong with a row.
pub(super) type Checked = Result<(), String>;

/// The greatest number of a row: there are as many again before a database runs out of them.
const MAX_NUMBER: i64 = 1 << 53;

fn said(error: StoreError) -> String {
    error.to_string()
}

/// A number that a row goes by, or how often it was changed: both are counted on from there.
fn counted(row: &Row<'_>, name: &str) -> Checked {
    let number = row.int(name)?;
    if (1..=MAX_NUMBER).contains(&number) { Ok(()) } else { Err(format!("{name} is {number}")) }
}

fn flag(row: &Row<'_>, name: &str) -> Checked {
    match row.int(name)? {
        0 | 1 => Ok(()),
        other => Err(format!("{name} is {other}, and it is 0 or 1")),
    }
}

fn json<T: DeserializeOwned>(row: &Row<'_>, name: &str) -> Result<T, String> {
    serde_json::from_str(row.text(name)?).map_err(|error| format!("{name}: {error}"))
}

fn maybe_json<T: DeserializeOwned>(row: &Row<'_>, name: &str) -> Result<Option<T>, String> {
    let Some(text) = row.maybe_text(name)? else { return Ok(None) };
    serde_json::from_str(text).map(Some).map_err(|error| format!("{name}: {error}"))
}

fn id<T: std::str::FromStr<Err = StoreError>>(row: &Row<'_>, name: &str) -> Result<T, String> {
    row.text(name)?.parse().map_err(said)
}

fn machine_of(row: &Row<'_>) -> Result<Option<MachineId>, String> {
    row.maybe_text("machine")?.map(|id| id.parse().map_err(said)).transpose()
}

fn word<T>(row: &Row<'_>, name: &str, of: impl Fn(&str) -> Option<T>) -> Result<T, String> {
    let word = row.text(name)?;
    of(word).ok_or_else(|| format!("{name} is {word:?}"))
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn issue(row: &Row<'_>) -> Result<Option<u64>, String> {
    row.maybe_int("issue")?.map(u64::try_from).transpose().map_err(|_| "issue is less than 1".to_owned())
}

fn key(row: &Row<'_>, agent: &str) -> Result<SessionKey, String> {
    Ok(SessionKey {
        agent: agent.to_owned(),
        venture: row.text("venture")?.to_owned(),
        repo: row.text("repo")?.to_owned(),
        track: row.text("track")?.to_owned(),
    })
}

/// A run of nothing, by which the names of what failures hold are checked.
fn named(root: &str, tool: &str, scope: &str) -> RunOutcome {
    RunOutcome {
        root: root.to_owned(),
        tool: tool.to_owned(),
        scope: scope.to_owned(),
        commit: None,
        dirty: false,
        branch: None,
        at: Timestamp::from_millis(0),
        transcript: None,
        ran: Vec::new(),
        failures: Vec::new(),
        complete: false,
    }
}

pub(super) fn run(row: &Row<'_>) -> Checked {
    counted(row, "number")?;
    flag(row, "dirty")?;
    let run = RunOutcome {
        commit: owned(row.maybe_text("revision")?),
        branch: owned(row.maybe_text("branch")?),
        ..named(row.text("root")?, row.text("tool")?, row.text("scope")?)
    };
    run.prepare().map_err(said)?;
    maybe_json::<Verdicts>(row, "verdicts")?;
    if row.maybe_text("verdicts")?.is_some() && row.maybe_text("transcript")?.is_none() {
        return Err("it has verdicts and no transcript".to_owned());
    }
    Ok(())
}

pub(super) fn test(row: &Row<'_>) -> Checked {
    let passed = TestSeen {
        id: row.text("id")?.to_owned(),
        name: String::new(),
        suite: None,
        outcome: Outcome::Passed,
        duration: None,
    };
    let run = RunOutcome {
        commit: owned(Some(row.text("revision")?)),
        branch: owned(row.maybe_text("branch")?),
        ran: vec![passed],
        ..named(row.text("root")?, "tool", "")
    };
    run.prepare().map(|_| ()).map_err(said)
}

pub(super) fn failure(row: &Row<'_>) -> Checked {
    counted(row, "entry")?;
    counted(row, "failed_run")?;
    let report: FailureSeen = json(row, "report")?;
    if report.id != row.text("id")? {
        return Err("its report is of another failure".to_owned());
    }
    let run = RunOutcome { failures: vec![report], ..named(row.text("root")?, "tool", "") };
    run.prepare().map(|_| ()).map_err(said)
}

const STATES: [LineState; 5] =
    [LineState::Open, LineState::Passing, LineState::Gone, LineState::Fixed, LineState::Unaffected];

pub(super) fn line(row: &Row<'_>) -> Checked {
    word(row, "state", |word| STATES.into_iter().find(|state| state.as_str() == word))?;
    json::<Line>(row, "memory")?;
    let (tool, scope) = (row.maybe_text("tool")?, row.maybe_text("scope")?);
    if tool.is_some() != scope.is_some() {
        return Err("it has a tool or a scope alone".to_owned());
    }
    let branch = Some(row.text("branch")?).filter(|branch| !branch.is_empty());
    let run = RunOutcome {
        branch: owned(branch),
        ..named("root", tool.unwrap_or("tool"), scope.unwrap_or_default())
    };
    run.prepare().map(|_| ()).map_err(said)
}

pub(super) fn session(row: &Row<'_>) -> Checked {
    counted(row, "number")?;
    counted(row, "version")?;
    let begun = Begin {
        id: id(row, "id")?,
        key: key(row, row.text("agent")?)?,
        speaker: Speaker {
            client: owned(row.maybe_text("client")?),
            client_version: owned(row.maybe_text("client_version")?),
            machine: machine_of(row)?,
        },
        standing: Standing {
            branch: owned(row.maybe_text("branch")?),
            commit: owned(row.maybe_text("commit_id")?),
            issue: issue(row)?,
        },
        by: row.text("principal")?.to_owned(),
    };
    begun.check().map_err(said)?;
    let started = Standing { commit: owned(row.maybe_text("started_commit")?), ..Standing::default() };
    started.check().map_err(said)?;
    check_reason(row.maybe_text("reason")?.unwrap_or_default()).map_err(said)?;
    let status = word(row, "status", SessionStatus::of)?;
    if (status == SessionStatus::Active) == row.maybe_int("ended")?.is_some() {
        return Err(format!("it is {}, and when it ended says something else", status.word()));
    }
    Ok(())
}

pub(super) fn handoff(row: &Row<'_>) -> Checked {
    counted(row, "number")?;
    id::<store_api::id::SessionId>(row, "session")?;
    key(row, row.text("agent")?)?.check().map_err(said)?;
    machine_of(row)?;
    let told = NewHandoff {
        id: id(row, "id")?,
        summary: row.text("summary")?.to_owned(),
        status: word(row, "status", HandoffStatus::of)?,
        issue: issue(row)?,
        anchor: maybe_json::<Anchor>(row, "anchor")?,
        payload: maybe_json(row, "payload")?,
    };
    told.check().map_err(said)
}

pub(super) fn checkpoint(row: &Row<'_>) -> Checked {
    counted(row, "number")?;
    counted(row, "ordinal")?;
    let told = NewCheckpoint {
        id: id(row, "id")?,
        session: id(row, "session")?,
        summary: row.text("summary")?.to_owned(),
        anchor: maybe_json::<Anchor>(row, "anchor")?,
        payload: maybe_json(row, "payload")?,
    };
    told.check().map_err(said)
}

pub(super) fn note(row: &Row<'_>) -> Checked {
    for name in ["number", "place", "version"] {
        counted(row, name)?;
    }
    flag(row, "archived")?;
    let note = NewNote {
        id: id(row, "id")?,
        venture: owned(row.maybe_text("venture")?),
        title: row.text("title")?.to_owned(),
        content: row.text("content")?.to_owned(),
        tags: json(row, "tags")?,
        by: row.text("principal")?.to_owned(),
    };
    note.check().map_err(said)?;
    if note.tags != sorted(&note.tags) {
        return Err("its tags are not sorted".to_owned());
    }
    if row.int("characters")? != crate::notes::length(&note.content) {
        return Err("it has another number of characters".to_owned());
    }
    Ok(())
}

pub(super) fn document(row: &Row<'_>) -> Checked {
    counted(row, "version")?;
    let document = NewDocument {
        scope: row.text("scope")?.to_owned(),
        name: row.text("name")?.to_owned(),
        title: row.text("title")?.to_owned(),
        content: row.text("content")?.to_owned(),
        origin: word(row, "origin", Origin::of)?,
        sources: json(row, "sources")?,
        expected: None,
    };
    document.check().map_err(said)?;
    if document.digest().to_string() == row.text("sha256")? {
        Ok(())
    } else {
        Err("its text has another digest".to_owned())
    }
}

pub(super) fn machine(row: &Row<'_>) -> Checked {
    let machine = NewMachine {
        id: id(row, "id")?,
        name: row.text("name")?.to_owned(),
        os: row.text("os")?.to_owned(),
        arch: row.text("arch")?.to_owned(),
        version: row.text("version")?.to_owned(),
        build: row.text("build")?.to_owned(),
    };
    machine.check().map_err(said)
}

pub(super) fn answer(row: &Row<'_>) -> Checked {
    let once = Once {
        owner: row.text("owner")?.to_owned(),
        key: row.text("key")?.to_owned(),
        request: Digest::ZERO,
    };
    once.check().map_err(said)?;
    json::<IgnoredAny>(row, "answer").map(|_| ())
}

pub(super) fn api_key(row: &Row<'_>) -> Checked {
    flag(row, "admin")?;
    let hash = row.text("hash")?.parse::<Digest>().map_err(|_| "hash is no digest".to_owned())?;
    let key = NewKey { id: id(row, "id")?, name: row.text("name")?.to_owned(), admin: false, hash };
    key.check().map_err(said)
}

pub(super) fn text(row: &Row<'_>) -> Checked {
    counted(row, "version")?;
    let kinds = [TextKind::Requirement, TextKind::Script];
    let text = NewText {
        kind: word(row, "kind", |word| kinds.into_iter().find(|kind| kind.word() == word))?,
        name: row.text("name")?.to_owned(),
        content: row.text("content")?.to_owned(),
        expected: None,
    };
    text.check().map_err(said)?;
    if Digest::of(text.content.as_bytes()).to_string() == row.text("sha256")? {
        Ok(())
    } else {
        Err("its text has another digest".to_owned())
    }
}

pub(super) fn letter(row: &Row<'_>) -> Checked {
    counted(row, "number")?;
    let letter = Letter {
        key: row.text("key")?.to_owned(),
        request: row.text("request")?.parse().map_err(|_| "request is no digest".to_owned())?,
        context: row.text("context")?.to_owned(),
        path: row.text("path")?.to_owned(),
        body: row.text("body")?.to_owned(),
    };
    letter.check().map_err(said)
}

pub(super) fn renamed(row: &Row<'_>) -> Checked {
    if row.text("id")? == row.text("becomes")? { Err("it keeps its name".to_owned()) } else { Ok(()) }
}

fn of_pattern(row: &Row<'_>, project: Option<&str>, context: &str) -> Checked {
    let used = NewUse {
        library: row.text("library")?.to_owned(),
        pattern: row.text("pattern")?.to_owned(),
        project: owned(project),
        context: context.to_owned(),
        stated: 0,
    };
    used.check().map_err(said)
}

pub(super) fn used(row: &Row<'_>) -> Checked {
    counted(row, "recorded")?;
    if row.int("stated")? < 0 {
        return Err("stated is less than 0".to_owned());
    }
    of_pattern(row, None, "")
}

pub(super) fn pattern_use(row: &Row<'_>) -> Checked {
    counted(row, "number")?;
    of_pattern(row, row.maybe_text("project")?, row.text("context")?)
}
