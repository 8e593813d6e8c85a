//! What was gathered, as it is told.

use store_api::Timestamp;
use store_api::document::Index;
use store_api::handoff;
use store_api::note::DayNotes;
use store_api::session::{self, Begun};

use super::output::{DayStatus, Documents, Handed, Left, Note, Notes, Other, Output, Row, Session, Weekly};
use super::sources::Day;
use crate::age::is_old;
use crate::grade::Graded;
use crate::here::Venture;
use crate::weekly;
use kit::markdown::front;

/// Characters of a handoff's summary that are shown.
const SUMMARY: usize = 1_500;
/// Characters of the plan's priorities that are shown.
const PRIORITY: usize = 1_000;

/// What was gathered, as it is told; and the texts of the notes. Documents are stale from `max_age` days on.
pub(crate) fn told(day: Day, venture: &Venture, now: Timestamp, max_age: i64) -> (Output, Vec<String>) {
    let Day { begun, shared, weekly, audit, p0, left } = day;
    let mut output = Output::of(if begun.is_ok() { DayStatus::Valid } else { DayStatus::Error });
    let lefts = left.into_iter();
    output.left_out = lefts
        .map(|left| Left { source: left.source.to_owned(), why: left.why, after_ms: left.after_ms })
        .collect();
    match begun {
        Ok(begun) => {
            let overs =
                begun.ended.iter().map(|over| format!("session {} is {}", over.id, over.status.word()));
            output.warnings.extend(overs);
            output.session = Some(of_session(begun, venture));
        }
        Err(why) => output.warnings.push(format!("no session was recorded: {why}")),
    }
    output.handoffs = shared.handoffs.into_iter().map(handed).collect();
    let more = shared.handoffs_total.saturating_sub(output.handoffs.len() as u64);
    if more > 0 {
        output.warnings.push(format!("{more} older handoffs of the last day are not shown"));
    }
    output.sessions = shared.sessions.into_iter().map(other).collect();
    output.weekly_plan = weekly.map(planned);
    if let Some(index) = shared.index {
        output.documents = indexed(index, |updated| is_old(updated, now, max_age));
    }
    output.audit = audit;
    output.p0 = p0;
    let (notes, texts) = shared.notes.map(noted).unwrap_or_default();
    output.notes = notes;
    (output, texts)
}

fn of_session(begun: Begun, venture: &Venture) -> Session {
    let session = begun.session;
    Session {
        id: session.id.to_string(),
        resumed: begun.resumed,
        venture: venture.code.clone(),
        venture_name: venture.name.clone(),
        repository: session.key.repo,
        branch: session.standing.branch,
        agent: session.key.agent,
        track: session.key.track,
        started: session.started,
    }
}

fn handed((handoff, graded): (handoff::Handoff, Graded)) -> Handed {
    let (summary, cut) = front(&handoff.summary, SUMMARY);
    Handed {
        id: handoff.id.to_string(),
        at: handoff.at,
        from: handoff.from.agent,
        status: handoff.status,
        issue: handoff.issue,
        summary: summary.to_owned(),
        cut,
        grade: graded.grade,
        because: graded.because,
        changed: graded.changed,
    }
}

fn other(session: session::Session) -> Other {
    Other {
        id: session.id.to_string(),
        agent: session.key.agent,
        machine: session.speaker.machine.map(|machine| machine.to_string()),
        repository: session.key.repo,
        branch: session.standing.branch,
        issue: session.standing.issue,
        heartbeat: session.heartbeat,
    }
}

fn planned(plan: weekly::Weekly) -> Weekly {
    Weekly {
        freshness: plan.freshness,
        age_days: plan.age_days,
        priority: plan.priority().map(|section| front(&section.text, PRIORITY).0.to_owned()),
        sections: plan.sections.iter().filter(|section| section.level > 0).count() as u64,
        path: plan.path,
    }
}

fn indexed(index: Index, is_stale: impl Fn(Timestamp) -> bool) -> Documents {
    let rows: Vec<Row> = index
        .rows
        .into_iter()
        .map(|row| Row {
            stale: is_stale(row.updated),
            scope: row.scope,
            name: row.name,
            title: row.title,
            version: row.version,
        })
        .collect();
    Documents { shown: rows.len() as u64, total: index.total, rows }
}

fn noted(day: DayNotes) -> (Notes, Vec<String>) {
    let last = day.notes.len().saturating_sub(1);
    let (mut items, mut texts) = (Vec::new(), Vec::new());
    for (at, note) in day.notes.into_iter().enumerate() {
        items.push(Note {
            id: note.id.to_string(),
            characters: (note.title.chars().count() + note.content.chars().count()) as u64,
            title: note.title,
            venture: note.venture,
            tags: note.tags,
            cut: day.cut && at == last,
        });
        texts.push(note.content);
    }
    (Notes { shown: items.len() as u64, total: day.total, characters: day.characters, items }, texts)
}
