//! What a day begins with, each from its own source and in its own time: one that is late is left out and named.

use std::time::Duration;

use contract::{Code, Fault};
use kit::ReadDesk;
use kit::desk::git;
use store_api::Context;
use store_api::day::{DOCUMENTS, HANDOFFS, HANDOFFS_SINCE, NOTE_CHARACTERS, NOTES, SESSIONS};
use store_api::document::{GLOBAL, Index};
use store_api::handoff::{Handoff, HandoffQuery};
use store_api::note::DayNotes;
use store_api::session::{Begin, Begun, LiveQuery, Session};
use store_api::{StoreError, Timestamp};
use tokio::time::error::Elapsed;

use super::healed;
use super::output::Audit;
use crate::grade::{self, Graded};
use crate::here::Here;
use crate::issues;
use crate::past::Now;
use crate::settings::IssuesSection;
use crate::tools::status::Group;
use crate::weekly::Weekly;

/// How long the store may take.
const OF_STORE: Duration = Duration::from_millis(1_200);
/// How long the plan may take.
const OF_PLAN: Duration = Duration::from_millis(400);
/// How long GitHub may take.
const OF_ISSUES: Duration = Duration::from_millis(1_300);
/// How long the documents may take.
const OF_DOCUMENTS: Duration = Duration::from_secs(1);
/// How long git may take to say what became of handoffs.
const OF_GRADES: Duration = Duration::from_millis(600);

/// What was late or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Left {
    /// What it is called.
    pub(crate) source: &'static str,
    /// Why.
    pub(crate) why: String,
    /// The milliseconds that it had.
    pub(crate) after_ms: u64,
}

/// What the store gave besides the session.
pub(crate) struct Shared {
    pub(crate) handoffs: Vec<(Handoff, Graded)>,
    pub(crate) handoffs_total: u64,
    pub(crate) sessions: Vec<Session>,
    pub(crate) notes: Option<DayNotes>,
    pub(crate) index: Option<Index>,
}

/// All that a day begins with.
pub(crate) struct Day {
    pub(crate) begun: Result<Begun, String>,
    pub(crate) shared: Shared,
    pub(crate) weekly: Option<Weekly>,
    pub(crate) audit: Option<Audit>,
    pub(crate) p0: Option<Group>,
    pub(crate) left: Vec<Left>,
}

/// Begins the session and gathers everything.
pub(crate) async fn gather(
    desk: &ReadDesk,
    here: &Here,
    store: &dyn Context,
    new: Begin,
) -> Result<Day, Fault> {
    let mut left = Vec::new();
    let now = here.workplace.now();
    let (stored, weekly, audit, p0) = tokio::join!(
        tokio::time::timeout(OF_STORE, stored(store, new, now)),
        tokio::time::timeout(OF_PLAN, Weekly::look(desk, now)),
        tokio::time::timeout(OF_DOCUMENTS, healed::audited(desk, here, store)),
        tokio::time::timeout(OF_ISSUES, first(desk, here)),
    );
    let weekly = unless_late("weekly_plan", OF_PLAN, weekly, &mut left)?;
    let p0 = unless_late("issues", OF_ISSUES, p0, &mut left)?.flatten();
    let audit = unless_late("audit", OF_DOCUMENTS, audit, &mut left)?.flatten();
    let nothing =
        || Shared { handoffs: Vec::new(), handoffs_total: 0, sessions: Vec::new(), notes: None, index: None };
    let (begun, gathered) = match stored {
        Err(_) => {
            left.push(late("store", OF_STORE));
            (Err(format!("the store did not answer within {} ms", OF_STORE.as_millis())), None)
        }
        Ok(Err(error)) => (Err(error.to_string()), None),
        Ok(Ok((begun, gathered))) => (Ok(begun), Some(gathered)),
    };
    let mut shared = nothing();
    if let Some(gathered) = gathered {
        let mut take = |source: &'static str, error: StoreError| {
            left.push(Left { source, why: error.to_string(), after_ms: 0 });
        };
        match gathered.handoffs {
            Ok((handoffs, total)) => {
                shared.handoffs = handoffs.into_iter().map(|handoff| (handoff, Graded::default())).collect();
                shared.handoffs_total = total;
            }
            Err(error) => take("handoffs", error),
        }
        match gathered.sessions {
            Ok(sessions) => shared.sessions = sessions,
            Err(error) => take("sessions", error),
        }
        match gathered.notes {
            Ok(notes) => shared.notes = Some(notes),
            Err(error) => take("notes", error),
        }
        match gathered.index {
            Ok(index) => shared.index = Some(index),
            Err(error) => take("documents", error),
        }
    }
    graded(desk, here, &mut shared.handoffs, &mut left).await?;
    Ok(Day { begun, shared, weekly, audit, p0, left })
}

/// The issues of first priority; nothing where the repository is not on GitHub.
async fn first(desk: &ReadDesk, here: &Here) -> Result<Option<Group>, Fault> {
    let is_there = here.repository.as_ref().is_some_and(|repository| {
        repository.slug.starts_with(&format!("{}/", here.workplace.github().host.to_lowercase()))
    });
    if !is_there {
        return Ok(None);
    }
    let asking =
        issues::asking(desk, here).await?.map_err(|why| Fault::new(Code::ToolExecutionFailed, why))?;
    let lists = desk.settings::<IssuesSection>()?;
    Ok(Some(Group::of(&lists.p0, issues::ask(&asking, desk, &lists.p0).await?)))
}

/// What a source gave, unless it failed or was late: then it is named.
fn unless_late<T>(
    source: &'static str,
    had: Duration,
    gave: Result<Result<T, Fault>, Elapsed>,
    left: &mut Vec<Left>,
) -> Result<Option<T>, Fault> {
    match gave {
        Ok(Ok(value)) => Ok(Some(value)),
        Ok(Err(fault)) if fault.code == Code::Cancelled => Err(fault),
        Ok(Err(fault)) => {
            left.push(Left { source, why: fault.message, after_ms: 0 });
            Ok(None)
        }
        Err(_) => {
            left.push(late(source, had));
            Ok(None)
        }
    }
}

fn late(source: &'static str, had: Duration) -> Left {
    let after_ms = u64::try_from(had.as_millis()).unwrap_or(u64::MAX);
    Left { source, why: format!("it took longer than {after_ms} ms"), after_ms }
}

/// What the store was asked for, each with its own answer.
struct Gathered {
    handoffs: Result<(Vec<Handoff>, u64), StoreError>,
    sessions: Result<Vec<Session>, StoreError>,
    notes: Result<DayNotes, StoreError>,
    index: Result<Index, StoreError>,
}

async fn stored(store: &dyn Context, new: Begin, now: Timestamp) -> Result<(Begun, Gathered), StoreError> {
    let (venture, repo) = (new.key.venture.clone(), new.key.repo.clone());
    let begun = store.begin(new, None).await?.value;
    let handoffs = store.handoffs(HandoffQuery {
        venture: Some(venture.clone()),
        repo: Some(repo),
        track: None,
        session: None,
        since: Some(Timestamp::from_millis(now.as_millis() - HANDOFFS_SINCE)),
        limit: HANDOFFS,
        after: None,
    });
    let sessions = store.live(LiveQuery {
        except: Some(begun.session.id.clone()),
        venture: Some(venture.clone()),
        repo: None,
        limit: SESSIONS,
        after: None,
    });
    let notes = store.for_day(venture.clone(), NOTES, NOTE_CHARACTERS);
    let index = store.index(vec![venture, GLOBAL.to_owned()], DOCUMENTS);
    let (handoffs, sessions, notes, index) = tokio::join!(handoffs, sessions, notes, index);
    let gathered = Gathered {
        handoffs: handoffs.map(|page| (page.items, page.total)),
        sessions: sessions.map(|page| page.items),
        notes,
        index,
    };
    Ok((begun, gathered))
}

/// Holds the handoffs of this repository against git, as far as the time goes.
async fn graded(
    desk: &ReadDesk,
    here: &Here,
    handoffs: &mut [(Handoff, Graded)],
    left: &mut Vec<Left>,
) -> Result<(), Fault> {
    let is_git = here.repository.as_ref().is_some_and(|repository| repository.is_git);
    let anchors: Vec<_> = handoffs.iter().map(|(handoff, _)| handoff.anchor.clone()).collect();
    if !is_git || anchors.iter().all(Option::is_none) {
        return Ok(());
    }
    let window = desk.clone();
    let reading = git::read(desk, move |repo, limits, cancel| {
        let now = Now::new(repo, window.view(), limits, cancel)?;
        Ok(anchors
            .iter()
            .map(|anchor| anchor.as_ref().map(|anchor| grade::grade(anchor, &now)))
            .collect::<Vec<_>>())
    });
    let grades = tokio::time::timeout(OF_GRADES, reading).await;
    for ((_, graded), grade) in
        handoffs.iter_mut().zip(unless_late("grades", OF_GRADES, grades, left)?.into_iter().flatten())
    {
        *graded = grade.unwrap_or_default();
    }
    Ok(())
}
