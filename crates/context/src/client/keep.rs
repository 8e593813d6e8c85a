//! The traits of a store, by requests. What is given is checked here first, by the same rules as everywhere.

use std::sync::PoisonError;

use store_api::document::{Document, Index, NewDocument, Origin, placed};
use store_api::handoff::{Checkpoint, Handoff, HandoffQuery, NewCheckpoint, NewHandoff};
use store_api::history::check_limit;
use store_api::id::{MachineId, NoteId, SessionId};
use store_api::machine::{Machine, NewMachine};
use store_api::note::{DayNotes, NewNote, Note, NotePage, NotePatch, NoteQuery};
use store_api::once::{Done, Once};
use store_api::session::{Begin, Begun, LiveQuery, Session, SessionKey, Update, check_reason};
use store_api::{Answer, Cursor, Documents, Machines, Notes, Page, Sessions, StoreError};

use super::Remote;
use crate::wire::document::{Doc, DocIn, Docs, Generated, RemoveDoc, Written};
use crate::wire::handoff::{CheckpointIn, Checkpoints, HandoffIn, Handoffs};
use crate::wire::machine::{Machines as AllOfThem, Register, Seen};
use crate::wire::note::{ForDay, NoteById, NoteChange, NoteIn, Notes as Asked};
use crate::wire::session::{Active, Current, Eod, Heartbeat, SessionById, Sod, Update as Changed};
use crate::wire::{Endpoint, MAX_PAGE, Page as Wired, Part, cursor, question};

fn checked(once: Option<&Once>) -> Result<(), StoreError> {
    once.map_or(Ok(()), Once::check)
}

/// The request that begins a session.
pub(crate) fn sod(begin: Begin) -> Result<Sod, StoreError> {
    begin.check()?;
    let Begin { id, key, speaker, standing, by } = begin;
    Ok(Sod { session_id: Some(id), key, speaker, standing, by, notes_characters: 0, only_session: true })
}

/// The request that ends a session.
pub(crate) fn eod(id: SessionId, handoff: Option<NewHandoff>, reason: String) -> Result<Eod, StoreError> {
    handoff.as_ref().map_or(Ok(()), NewHandoff::check)?;
    check_reason(&reason)?;
    Ok(Eod { session_id: id, handoff: handoff.map(HandoffIn::from), reason })
}

/// The request that changes a session.
pub(crate) fn update(update: Update) -> Result<Changed, StoreError> {
    update.standing.check()?;
    let Update { id, expected, standing } = update;
    Ok(Changed { session_id: id, standing, expected_version: expected })
}

/// The request that keeps a checkpoint.
pub(crate) fn checkpoint(new: NewCheckpoint) -> Result<CheckpointIn, StoreError> {
    new.check()?;
    Ok(new.into())
}

/// The request that keeps a note.
pub(crate) fn add_note(note: NewNote) -> Result<NoteIn, StoreError> {
    note.check()?;
    Ok(note.into())
}

/// The request that changes a note.
pub(crate) fn change_note(patch: NotePatch) -> Result<NoteChange, StoreError> {
    patch.check()?;
    Ok(patch.into())
}

/// What a list gave: its entries, where it goes on, how many there are in all.
type List<T> = (Vec<T>, Option<Cursor>, u64);

/// Gathers `limit` entries of a list: pages over the wire are shorter.
async fn gathered<E, T>(
    remote: &Remote,
    limit: u32,
    after: Option<Cursor>,
    ask: impl Fn(Part) -> E,
    take: impl Fn(E::Answer) -> Result<List<T>, StoreError>,
) -> Result<List<T>, StoreError>
where
    E: Endpoint,
{
    check_limit(limit)?;
    let question = question(&ask(Part::default()));
    let (mut items, mut after, mut total) = (Vec::new(), after, None);
    loop {
        let left = limit.saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX));
        let part = Part {
            limit: Some(left.clamp(1, MAX_PAGE)),
            cursor: after.map(|after| cursor::written(after, &question)),
        };
        let (page, next, all) = take(remote.call(&ask(part)).await?)?;
        let is_over = page.is_empty();
        items.extend(page);
        let total = *total.get_or_insert(all);
        after = next;
        if after.is_none() || is_over || items.len() >= limit as usize {
            return Ok((items, after, total));
        }
    }
}

fn listed<T>(page: Wired<T>) -> Result<List<T>, StoreError> {
    let page = page.kept()?;
    Ok((page.items, page.next, page.total))
}

fn page<T>((items, next, total): List<T>) -> Page<T> {
    Page { items, next, total }
}

impl Sessions for Remote {
    fn begin(&self, begin: Begin, once: Option<Once>) -> Answer<Done<Begun>> {
        let remote = self.clone();
        Box::pin(async move {
            checked(once.as_ref())?;
            let day = remote.asked(&sod(begin)?, once.as_ref()).await?;
            let (session, resumed, ended) = (day.value.session, day.value.resumed, day.value.ended);
            Ok(Done { value: Begun { session, resumed, ended }, replayed: day.replayed })
        })
    }

    fn update(&self, new: Update, once: Option<Once>) -> Answer<Done<Session>> {
        let remote = self.clone();
        Box::pin(async move {
            checked(once.as_ref())?;
            let alive = remote.asked(&update(new)?, once.as_ref()).await?;
            Ok(Done { value: alive.value.session, replayed: alive.replayed })
        })
    }

    fn heartbeat(&self, id: SessionId) -> Answer<Session> {
        let remote = self.clone();
        Box::pin(async move { Ok(remote.call(&Heartbeat { session_id: id }).await?.session) })
    }

    fn end(
        &self,
        id: SessionId,
        handoff: Option<NewHandoff>,
        reason: String,
        once: Option<Once>,
    ) -> Answer<Done<(Session, Option<Handoff>)>> {
        let remote = self.clone();
        Box::pin(async move {
            checked(once.as_ref())?;
            let ended = remote.asked(&eod(id, handoff, reason)?, once.as_ref()).await?;
            Ok(Done { value: (ended.value.session, ended.value.handoff), replayed: ended.replayed })
        })
    }

    fn checkpoint(&self, new: NewCheckpoint, once: Option<Once>) -> Answer<Done<Checkpoint>> {
        let remote = self.clone();
        Box::pin(async move {
            checked(once.as_ref())?;
            let kept = remote.asked(&checkpoint(new)?, once.as_ref()).await?;
            Ok(Done { value: kept.value.checkpoint, replayed: kept.replayed })
        })
    }

    fn checkpoints(&self, session: SessionId, limit: u32, after: Option<Cursor>) -> Answer<Page<Checkpoint>> {
        let remote = self.clone();
        Box::pin(async move {
            let ask = |part| Checkpoints { session_id: session.clone(), part };
            Ok(page(gathered(&remote, limit, after, ask, listed).await?))
        })
    }

    fn session(&self, id: SessionId) -> Answer<Option<Session>> {
        let remote = self.clone();
        Box::pin(async move { Ok(remote.call(&SessionById { session_id: id }).await?.session) })
    }

    fn current(&self, key: SessionKey) -> Answer<Option<Session>> {
        let remote = self.clone();
        Box::pin(async move {
            key.check()?;
            Ok(remote.call(&Current { key }).await?.session)
        })
    }

    fn live(&self, query: LiveQuery) -> Answer<Page<Session>> {
        let remote = self.clone();
        Box::pin(async move {
            query.check()?;
            let LiveQuery { except, venture, repo, limit, after } = query;
            let ask =
                |part| Active { except: except.clone(), venture: venture.clone(), repo: repo.clone(), part };
            Ok(page(gathered(&remote, limit, after, ask, listed).await?))
        })
    }

    fn handoffs(&self, query: HandoffQuery) -> Answer<Page<Handoff>> {
        let remote = self.clone();
        Box::pin(async move {
            query.check()?;
            let HandoffQuery { venture, repo, track, session, since, limit, after } = query;
            let asked = Handoffs { venture, repo, track, session_id: session, since, part: Part::default() };
            let ask = |part| Handoffs { part, ..asked.clone() };
            Ok(page(gathered(&remote, limit, after, ask, listed).await?))
        })
    }
}

impl Notes for Remote {
    fn add_note(&self, note: NewNote, once: Option<Once>) -> Answer<Done<Note>> {
        let remote = self.clone();
        Box::pin(async move {
            checked(once.as_ref())?;
            let kept = remote.asked(&add_note(note)?, once.as_ref()).await?;
            Ok(Done { value: kept.value.note, replayed: kept.replayed })
        })
    }

    fn change_note(&self, patch: NotePatch, once: Option<Once>) -> Answer<Done<Note>> {
        let remote = self.clone();
        Box::pin(async move {
            checked(once.as_ref())?;
            let changed = remote.asked(&change_note(patch)?, once.as_ref()).await?;
            Ok(Done { value: changed.value.note, replayed: changed.replayed })
        })
    }

    fn note(&self, id: NoteId) -> Answer<Option<Note>> {
        let remote = self.clone();
        Box::pin(async move { Ok(remote.call(&NoteById { id }).await?.note) })
    }

    fn notes(&self, query: NoteQuery) -> Answer<NotePage> {
        let remote = self.clone();
        Box::pin(async move {
            query.check()?;
            let (limit, after) = (query.limit, query.after);
            let asked = Asked::from(query);
            let ask = |part| Asked { part, ..asked.clone() };
            // The same on every page.
            let ranked = std::sync::Mutex::new(None);
            let take = |found: crate::wire::note::Found| {
                let found = found.kept()?;
                *ranked.lock().unwrap_or_else(PoisonError::into_inner) = found.ranked;
                Ok((found.items, found.next, found.total))
            };
            let (items, next, total) = gathered(&remote, limit, after, ask, take).await?;
            let ranked = ranked.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok(NotePage { items, next, total, ranked })
        })
    }

    fn for_day(&self, venture: String, most: u32, characters: u64) -> Answer<DayNotes> {
        let remote = self.clone();
        Box::pin(async move {
            let most = most.min(MAX_PAGE);
            Ok(remote.call(&ForDay { venture, most, characters }).await?.into())
        })
    }
}

impl Documents for Remote {
    fn put(&self, document: NewDocument) -> Answer<Document> {
        let remote = self.clone();
        Box::pin(async move {
            document.check()?;
            let origin = document.origin;
            let doc = DocIn::of(document);
            match origin {
                Origin::Generated => Ok(remote.call(&Generated { doc }).await?.document),
                Origin::Written => Ok(remote.call(&Written { doc }).await?.document),
            }
        })
    }

    fn document(&self, scope: String, name: String) -> Answer<Option<Document>> {
        let remote = self.clone();
        Box::pin(async move {
            placed(&scope, &name)?;
            Ok(remote.call(&Doc { scope, name }).await?.document)
        })
    }

    fn index(&self, scopes: Vec<String>, limit: u32) -> Answer<Index> {
        let remote = self.clone();
        Box::pin(async move {
            check_limit(limit)?;
            scopes.iter().try_for_each(|scope| placed(scope, "name"))?;
            if scopes.is_empty() {
                return Ok(Index::default());
            }
            Ok(remote.call(&Docs { scope: scopes.join(","), limit: Some(limit) }).await?.into())
        })
    }

    fn remove(&self, scope: String, name: String) -> Answer<bool> {
        let remote = self.clone();
        Box::pin(async move {
            placed(&scope, &name)?;
            Ok(remote.call(&RemoveDoc { scope, name }).await?.done)
        })
    }
}

impl Machines for Remote {
    fn register(&self, machine: NewMachine) -> Answer<Machine> {
        let remote = self.clone();
        Box::pin(async move {
            machine.check()?;
            Ok(remote.call(&Register { machine }).await?.machine)
        })
    }

    fn machines(&self) -> Answer<Vec<Machine>> {
        let remote = self.clone();
        Box::pin(async move { Ok(remote.call(&AllOfThem {}).await?.machines) })
    }

    fn seen(&self, id: MachineId) -> Answer<bool> {
        let remote = self.clone();
        Box::pin(async move { Ok(remote.call(&Seen { id }).await?.done) })
    }
}
