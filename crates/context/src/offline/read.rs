//! Readings: asked of the context, else what it said last.

use serde::Serialize;
use serde::de::DeserializeOwned;
use store_api::document::{Document, DocumentRow, Index};
use store_api::handoff::{Handoff, HandoffQuery};
use store_api::id::SessionId;
use store_api::note::{DayNotes, Note, NotePage, NoteQuery, NoteScope};
use store_api::session::{LiveQuery, SILENCE, Session, SessionKey, SessionStatus};
use store_api::{Answer, Documents as _, Notes as _, Page, Sessions as _, StoreError};

use super::stand_in::{self, Mirrored};
use super::{Offline, PATIENCE};
use crate::wire::note::DayNotesOut;

/// A list as it is kept: entries, and how many there are.
type Kept<T> = (Vec<T>, u64);

/// Entries that must be asked for, or a list is not kept.
const WHOLE: u32 = 10;
/// Entries of a list that are kept.
const ENTRIES: usize = 100;

fn nobody() -> StoreError {
    StoreError::Unreachable(
        "the context does not answer, and nothing is known here of what was asked".to_owned(),
    )
}

impl Offline {
    /// Asks the context; an answer is kept, and the last one stands in where nobody answers.
    pub(super) async fn ask<T>(&self, question: &str, asking: Answer<T>) -> Result<T, StoreError>
    where
        T: Serialize + DeserializeOwned + Send + Sync,
    {
        match self.try_asking(asking).await {
            Ok(answer) => {
                self.keep(question, &answer).await?;
                Ok(answer)
            }
            Err(StoreError::Unreachable(_)) => self.last(question).await?.ok_or_else(nobody),
            Err(error) => Err(error),
        }
    }

    /// Asks the context alone, for a while.
    pub(super) async fn try_asking<T>(&self, asking: Answer<T>) -> Result<T, StoreError> {
        // What waits comes first: the context does not know yet what was done here.
        if self.rests() || !self.caught_up().await? {
            return Err(nobody());
        }
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Err(StoreError::Unreachable(why))) => {
                self.is_away();
                Err(StoreError::Unreachable(why))
            }
            Ok(answer) => {
                if answer.is_ok() {
                    self.is_back();
                }
                answer
            }
            Err(_) => {
                self.is_away();
                Err(nobody())
            }
        }
    }

    /// What was answered last.
    pub(super) async fn last<T: DeserializeOwned>(&self, question: &str) -> Result<Option<T>, StoreError> {
        let Some((at, answer)) = Mirrored::of(self).last(question).await? else { return Ok(None) };
        let mut state = self.state();
        state.shown_from = Some(state.shown_from.map_or(at, |shown| shown.min(at)));
        Ok(Some(answer))
    }

    /// The first page of a list; further ones are of the context alone.
    async fn first_page<T>(
        &self,
        question: &str,
        limit: u32,
        asking: Answer<Page<T>>,
    ) -> Result<Page<T>, StoreError>
    where
        T: Serialize + DeserializeOwned + Send + Sync + Clone,
    {
        match self.try_asking(asking).await {
            Ok(page) => {
                // A short part of a list does not stand for it.
                if limit >= WHOLE {
                    let kept: Kept<&T> = (page.items.iter().take(ENTRIES).collect(), page.total);
                    self.keep(question, &kept).await?;
                }
                Ok(page)
            }
            Err(StoreError::Unreachable(_)) => {
                let (mut items, total) = self.last::<Kept<T>>(question).await?.ok_or_else(nobody)?;
                items.truncate(limit as usize);
                Ok(Page { items, next: None, total })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn read_session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.caught_up().await?;
        let id = self.named(id).await?;
        let question = stand_in::session(&id);
        match self.try_asking(self.remote.session(id)).await {
            Ok(Some(session)) => {
                self.keep(&question, &Some(&session)).await?;
                Ok(Some(session))
            }
            Err(StoreError::Unreachable(_)) => self.last(&question).await?.ok_or_else(nobody),
            other => other,
        }
    }

    pub(super) async fn read_current(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        let question = stand_in::current(&key);
        match self.try_asking(self.remote.current(key)).await {
            Ok(session) => {
                self.keep(&question, &session).await?;
                Ok(session)
            }
            Err(StoreError::Unreachable(_)) => self.known(&question).await,
            Err(error) => Err(error),
        }
    }

    /// The active session that is known here: not one that fell silent meanwhile.
    pub(super) async fn known(&self, question: &str) -> Result<Option<Session>, StoreError> {
        let kept: Option<Session> = self.last(question).await?.flatten();
        let silent = self.now().as_millis().saturating_sub(SILENCE);
        Ok(kept.filter(|session| {
            session.status == SessionStatus::Active && session.heartbeat.as_millis() > silent
        }))
    }

    pub(super) async fn read_live(&self, query: LiveQuery) -> Result<Page<Session>, StoreError> {
        let question = stand_in::live([query.venture.as_deref(), query.repo.as_deref()]);
        if query.after.is_some() {
            return self.try_asking(self.remote.live(query)).await;
        }
        let (limit, except) = (query.limit, query.except.clone());
        let mut page = self.first_page(&question, limit, self.remote.live(query)).await?;
        page.items.retain(|session| Some(&session.id) != except.as_ref());
        Ok(page)
    }

    pub(super) async fn read_handoffs(&self, query: HandoffQuery) -> Result<Page<Handoff>, StoreError> {
        let HandoffQuery { venture, repo, track, session, .. } = &query;
        let session = session.as_ref().map(SessionId::as_str);
        let question = stand_in::handoffs(
            [venture.as_deref(), repo.as_deref(), track.as_deref(), session],
            query.since.is_some(),
        );
        if query.after.is_some() {
            return self.try_asking(self.remote.handoffs(query)).await;
        }
        let (limit, since) = (query.limit, query.since);
        let mut page = self.first_page(&question, limit, self.remote.handoffs(query)).await?;
        page.items.retain(|handoff| since.is_none_or(|since| handoff.at >= since));
        Ok(page)
    }

    pub(super) async fn read_note(&self, id: store_api::id::NoteId) -> Result<Option<Note>, StoreError> {
        let asking = self.remote.note(id.clone());
        self.ask(&stand_in::note(&id), asking).await
    }

    pub(super) async fn read_notes(&self, query: NoteQuery) -> Result<NotePage, StoreError> {
        // What is searched for by words is nothing that a list of before could answer.
        if query.after.is_some() || query.q.is_some() || query.archived {
            return self.try_asking(self.remote.notes(query)).await;
        }
        let (scope, global) = match &query.scope {
            NoteScope::Any => (None, None),
            NoteScope::Venture(venture) => (Some(venture.as_str()), None),
            NoteScope::Global => (None, Some("global")),
        };
        let question = stand_in::notes([scope, global, query.tag.as_deref()]);
        let (limit, remote) = (query.limit, self.remote.clone());
        let asking: Answer<Page<_>> = Box::pin(async move {
            let page = remote.notes(query).await?;
            Ok(Page { items: page.items, next: page.next, total: page.total })
        });
        let page = self.first_page(&question, limit, asking).await?;
        Ok(NotePage { items: page.items, next: page.next, total: page.total, ranked: None })
    }

    pub(super) async fn read_for_day(
        &self,
        venture: String,
        most: u32,
        characters: u64,
    ) -> Result<DayNotes, StoreError> {
        let (question, remote) = (stand_in::for_day(&venture), self.remote.clone());
        let asking: Answer<DayNotesOut> =
            Box::pin(async move { Ok(remote.for_day(venture, most, characters).await?.into()) });
        Ok(self.ask(&question, asking).await?.into())
    }

    pub(super) async fn read_document(
        &self,
        scope: String,
        name: String,
    ) -> Result<Option<Document>, StoreError> {
        let question = stand_in::document(&scope, &name);
        self.ask(&question, self.remote.document(scope, name)).await
    }

    pub(super) async fn read_index(&self, scopes: Vec<String>, limit: u32) -> Result<Index, StoreError> {
        let (question, remote) = (stand_in::index(&scopes), self.remote.clone());
        let asking: Answer<Kept<DocumentRow>> = Box::pin(async move {
            let index = remote.index(scopes, limit).await?;
            Ok((index.rows, index.total))
        });
        let (rows, total) = self.ask(&question, asking).await?;
        Ok(Index { rows, total })
    }

    /// Puts something before the entries of a list that is kept.
    pub(super) async fn prepend<T>(&self, question: &str, entry: T) -> Result<(), StoreError>
    where
        T: Serialize + DeserializeOwned + Send + Sync,
    {
        // Where nothing is known of a list, one entry is not the list.
        let Some((_, (mut items, total))) = Mirrored::of(self).last::<Kept<T>>(question).await? else {
            return Ok(());
        };
        items.insert(0, entry);
        items.truncate(ENTRIES);
        self.keep(question, &(items, total.saturating_add(1))).await
    }
}
