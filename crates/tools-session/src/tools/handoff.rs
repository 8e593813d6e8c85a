//! Hand over, and end the session.
//!
//! Records what the next one should know, with where git stands (commit, branch, what is not committed, files touched), and ends the
//! session. `sod` shows it the next time, held against git as it is then. Secrets are taken out first.

use contract::{Code, Fault, Toolset};
use kit::desk::git;
use kit::{Answer, Define, ReadDesk, Record, RecordDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use store_api::handoff::{Anchor, HandoffStatus, NewHandoff};
use store_api::id::{HandoffId, SessionId};
use store_api::once::{Done, Once};
use store_api::session::{Begin, Session, SessionStatus};
use store_api::{Context, StoreError, Timestamp};

use crate::here::Here;
use crate::sod::Cleaning;
use kit::markdown::code;

/// How long git is asked.
const PATIENCE: Duration = Duration::from_secs(10);

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What the next one should know, in Markdown.
    #[schemars(length(min = 1))]
    summary: String,
    /// How the work is handed over.
    status: HandoffStatus,
    /// The issue that it is about.
    #[serde(default)]
    #[schemars(range(min = 1))]
    issue_number: Option<u64>,
    /// The session to end; without, the one of this place.
    #[serde(default)]
    session: Option<SessionId>,
    /// The track of the session.
    #[serde(default)]
    #[schemars(length(max = 200))]
    track: Option<String>,
    /// The same key within an hour is the same write.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,128}$"))]
    idempotency_key: Option<String>,
}

/// What was recorded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recorded {
    /// Its id.
    id: HandoffId,
    /// When.
    at: Timestamp,
    /// Whether it says where git stands.
    anchored: bool,
}

/// The session that ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Over {
    /// Its id.
    id: SessionId,
    /// What became of it.
    status: SessionStatus,
}

/// Where git stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Standing {
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Paths that are not committed.
    dirty: u64,
    /// Files that were committed since the work began.
    files: Vec<String>,
    /// How many more.
    more: u64,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What was recorded.
    handoff: Recorded,
    /// The session that ended.
    session: Over,
    /// Where git stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Standing>,
    /// How many of the texts had secrets that were taken out.
    redacted: u64,
    /// Whether the key was used before, and this is the answer of then.
    replayed: bool,
    /// Whether it waits here for a context that does not answer.
    queued: bool,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Handoff;

impl Define for Handoff {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "handoff";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("handoff.rs");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "summary": "Login works; tests of the token refresh are missing.", "status": "in_progress", "issue_number": 41 }),
        ]
    }
}

impl Record for Handoff {
    type Store = dyn Context;

    async fn record(&self, input: Input, desk: RecordDesk<dyn Context>) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let mut cleaning = Cleaning::new(&desk);
        let summary = cleaning.take(&input.summary);
        let place = place(&desk, &here, &input).await?;
        let anchor = anchor(&desk, &here, place.start()).await?;
        let new = NewHandoff {
            id: HandoffId::new(here.workplace.now(), here.workplace.random()?),
            summary,
            status: input.status,
            issue: input.issue_number,
            anchor,
            payload: None,
        };
        let owner = here.owner(&desk, "handoff")?;
        let once = input.idempotency_key.clone().map(|key| Once {
            owner,
            key,
            request: crate::sod::digest(&json!([
                input.summary,
                input.status,
                input.issue_number,
                input.session,
                input.track
            ])),
        });
        let ended = place.end(&**desk.store(), new, once).await?;
        let (session, Some(handoff)) = ended.value else {
            return Err(Fault::internal("the session ended without its handoff"));
        };
        here.workplace.ended(&session.id);
        let queued = here.is_queued().await;
        let mut message =
            format!("Handed over as {}; {} ended.", code(handoff.id.as_str()), code(session.id.as_str()));
        match &handoff.anchor {
            Some(anchor) => {
                let at = anchor.head.as_deref().map_or("no commit", |head| head.get(..8).unwrap_or(head));
                let dirty = paths(anchor);
                message.push_str(&format!(" Git stands at {}", code(at)));
                if let Some(branch) = &anchor.branch {
                    message.push_str(&format!(" on {}", code(branch)));
                }
                message.push_str(&if dirty == 0 {
                    ", all committed.".to_owned()
                } else {
                    format!(", {dirty} {} not committed.", if dirty == 1 { "path" } else { "paths" })
                });
            }
            None => {
                message.push_str(" Git could not be read, so nobody can tell later whether it still holds.");
            }
        }
        if cleaning.count > 0 {
            message.push_str(" What looked like a secret was taken out.");
        }
        if queued {
            message.push_str(" It waits here until the context answers.");
        }
        let anchor = handoff.anchor.as_ref().map(|anchor| Standing {
            head: anchor.head.clone(),
            branch: anchor.branch.clone(),
            dirty: paths(anchor),
            files: anchor.files.iter().take(20).map(|file| file.path.clone()).collect(),
            more: anchor.more + (anchor.files.len() as u64).saturating_sub(20),
        });
        let recorded = Recorded { id: handoff.id, at: handoff.at, anchored: anchor.is_some() };
        let over = Over { id: session.id, status: session.status };
        let output = Output {
            handoff: recorded,
            session: over,
            anchor,
            redacted: cleaning.count,
            replayed: ended.replayed,
            queued,
        };
        Ok(Answer::new(message, output))
    }
}

const fn paths(anchor: &Anchor) -> u64 {
    let dirty = &anchor.dirty;
    dirty.staged + dirty.unstaged + dirty.untracked + dirty.conflicted
}

/// What is to end.
enum Place {
    /// A session that goes on.
    Known(Box<Session>),
    /// One that begins with this: nobody called `sod`.
    Unborn(Box<Begin>),
}

impl Place {
    /// The commit at which it began.
    fn start(&self) -> Option<String> {
        match self {
            Self::Known(session) => {
                session.started_commit.clone().or_else(|| session.standing.commit.clone())
            }
            Self::Unborn(_) => None,
        }
    }

    async fn end(
        self,
        store: &dyn Context,
        new: NewHandoff,
        once: Option<Once>,
    ) -> Result<Done<(Session, Option<store_api::handoff::Handoff>)>, StoreError> {
        let reason = || "handoff".to_owned();
        let begin = match self {
            Self::Known(session) => return store.end(session.id, Some(new), reason(), once).await,
            Self::Unborn(begin) => begin,
        };
        if once.is_some() {
            // A write that is sent again finds its answer, and begins nothing.
            match store.end(begin.id.clone(), Some(new.clone()), reason(), once.clone()).await {
                // Nobody can know where the context does not answer: then it begins and ends here.
                Err(StoreError::NotFound { .. } | StoreError::Unreachable(_)) => {}
                other => return other,
            }
        }
        let session = store.begin(*begin, None).await?.value.session;
        store.end(session.id, Some(new), reason(), once).await
    }
}

/// The session that is to end: the one that is named, the one that was begun here, the active one of this place; else one that begins
/// with this.
async fn place(desk: &RecordDesk<dyn Context>, here: &Here, input: &Input) -> Result<Place, Fault> {
    let (who, root) = here.place(desk, input.track.as_deref())?;
    let named = match &input.session {
        Some(id) => Some(id.clone()),
        None => here.workplace.session(&who, &root),
    };
    if let Some(id) = named {
        let found = desk.store().session(id.clone()).await?;
        match found {
            Some(session) if input.session.is_some() && !is_own(desk, here, &session)? => {
                return Err(Fault::new(
                    Code::Forbidden,
                    format!("session {id} is somebody else's, or of another repository"),
                )
                .suggest("Leave out `session` for your own of this place."));
            }
            Some(session) if input.session.is_some() || session.status == SessionStatus::Active => {
                return Ok(Place::Known(Box::new(session)));
            }
            None if input.session.is_some() => {
                return Err(Fault::new(Code::NotFound, format!("there is no session {id}"))
                    .suggest("Leave out `session` for the one of this place."));
            }
            _ => {}
        }
    }
    let venture = here.venture.as_ref().ok_or_else(|| {
        Fault::new(Code::NotFound, "this repository belongs to no venture that is configured")
            .suggest("`ventures` lists those that are; `[ventures]` of the configuration names them.")
    })?;
    let key = here.key(desk, venture, input.track.as_deref())?;
    if let Some(session) = desk.store().current(key.clone()).await? {
        return Ok(Place::Known(Box::new(session)));
    }
    Ok(Place::Unborn(Box::new(Begin {
        id: SessionId::new(here.workplace.now(), here.workplace.random()?),
        key,
        speaker: here.speaker(desk)?,
        standing: here.repository()?.standing.clone(),
        by: desk.principal().label(),
    })))
}

/// Whether a session is this caller's, and of this repository.
fn is_own(desk: &RecordDesk<dyn Context>, here: &Here, session: &Session) -> Result<bool, Fault> {
    let is_here = session.key.repo == here.repository()?.slug;
    Ok(is_here
        && session.by == desk.principal().label()
        && session.speaker.machine == here.speaker(desk)?.machine)
}

/// Where git stands; `None` where there is no repository, or it cannot be read in time.
async fn anchor(
    desk: &RecordDesk<dyn Context>,
    here: &Here,
    start: Option<String>,
) -> Result<Option<Anchor>, Fault> {
    if !here.repository()?.is_git {
        return Ok(None);
    }
    let window: ReadDesk = (**desk).clone();
    let reading = git::read(desk, move |repo, limits, cancel| {
        crate::anchor::now(repo, window.view(), start.as_deref(), limits, cancel)
    });
    match tokio::time::timeout(PATIENCE, reading).await {
        Ok(Ok(anchor)) => Ok(Some(anchor)),
        Ok(Err(fault)) if fault.code == Code::Cancelled => Err(fault),
        Ok(Err(fault)) => {
            tracing::warn!("a handoff has no anchor: {}", fault.message);
            Ok(None)
        }
        Err(_) => Ok(None),
    }
}
