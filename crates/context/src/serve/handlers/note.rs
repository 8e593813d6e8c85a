//! Notes.

use std::sync::Arc;

use store_api::id::NoteId;
use store_api::note::{NewNote, NotePatch, NoteQuery, NoteScope};
use store_api::once::Once;

use super::{done, part};
use crate::serve::App;
use crate::serve::table::{Handle, Reply};
use crate::wire::MAX_PAGE;
use crate::wire::error::ApiError;
use crate::wire::note::{
    Archive, DayNotesOut, ForDay, Found, MaybeNote, NoteById, NoteChange, NoteIn, Notes, OneNote,
};
use crate::wire::question;

impl Handle for NoteIn {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<OneNote>, ApiError> {
        let Self { id, venture, title, content, tags, by } = self;
        let id = id.unwrap_or(NoteId::new(app.now(), App::random()?));
        let kept = app.store.add_note(NewNote { id, venture, title, content, tags, by }, once).await?;
        Ok(done(kept, |note| OneNote { note }))
    }
}

impl Handle for Notes {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<Found>, ApiError> {
        let question = question(&self);
        let Self { venture, global, tag, q, archived, part: asked } = self;
        let scope = match (venture, global) {
            (Some(_), true) => return Err(ApiError::invalid("venture, global: one or the other")),
            (Some(venture), false) => NoteScope::Venture(venture),
            (None, true) => NoteScope::Global,
            (None, false) => NoteScope::Any,
        };
        let (limit, after) = part(asked, &question)?;
        let query = NoteQuery { scope, tag, q, archived, limit, after };
        Ok(Found::of(app.store.notes(query).await?, &question).into())
    }
}

impl Handle for NoteById {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<MaybeNote>, ApiError> {
        Ok(MaybeNote { note: app.store.note(self.id).await? }.into())
    }
}

impl Handle for NoteChange {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<OneNote>, ApiError> {
        let changed = app.store.change_note(self.into(), once).await?;
        Ok(done(changed, |note| OneNote { note }))
    }
}

impl Handle for Archive {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<OneNote>, ApiError> {
        let patch = NotePatch { archived: Some(true), ..NotePatch::of(self.id, self.by) };
        let changed = app.store.change_note(patch, once).await?;
        Ok(done(changed, |note| OneNote { note }))
    }
}

impl Handle for ForDay {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DayNotesOut>, ApiError> {
        if self.most > MAX_PAGE {
            return Err(ApiError::invalid(format!("most: it is more than {MAX_PAGE}")));
        }
        let day = app.store.for_day(self.venture, self.most, self.characters).await?;
        Ok(DayNotesOut::from(day).into())
    }
}
