//! What a team shares: sessions and what they hand over, notes, documents, machines.
//!
//! Writes that can be sent again take an [`Once`]; all check what they are given and change nothing where it does not fit. The time is
//! the driver's [`Clock`].

use std::sync::Arc;

use crate::Boxed;
use crate::document::{Document, Index, NewDocument};
use crate::error::StoreError;
use crate::handoff::{Checkpoint, Handoff, HandoffQuery, NewCheckpoint, NewHandoff};
use crate::history::{Cursor, Page};
use crate::id::{MachineId, NoteId, SessionId};
use crate::machine::{Machine, NewMachine};
use crate::note::{DayNotes, NewNote, Note, NotePage, NotePatch, NoteQuery};
use crate::once::{Done, Once};
use crate::session::{Begin, Begun, LiveQuery, Session, SessionKey, Update};
use crate::time::Timestamp;

/// What says what time it is; tests turn it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What a call gives.
pub type Answer<T> = Boxed<Result<T, StoreError>>;

/// Sessions, handoffs and checkpoints.
pub trait Sessions: Send + Sync {
    /// Begins a session or goes on with the one of the same key, in one transaction: those of the key that were silent for
    /// [`crate::session::SILENCE`] or more are abandoned as of their last sign of life; of several active ones the latest stays and
    /// the others are superseded; what is left is resumed, with the standing and speaker that are given (a branch and a commit go
    /// together; what else is absent stays as it is); else a new one begins. An id that is there already under this key is answered
    /// as it is now; under another key it is [`StoreError::Exists`].
    fn begin(&self, begin: Begin, once: Option<Once>) -> Answer<Done<Begun>>;

    /// Changes where the work stands, which is a sign of life. [`StoreError::Closed`] where it is no longer active.
    fn update(&self, update: Update, once: Option<Once>) -> Answer<Done<Session>>;

    /// Gives a sign of life. [`StoreError::Closed`] where it is no longer active.
    fn heartbeat(&self, id: SessionId) -> Answer<Session>;

    /// Ends a session with what it hands over, in one transaction. [`StoreError::Closed`] where it is no longer active, unless it was
    /// ended with the same handoff before. `reason` is kept beside it.
    fn end(
        &self,
        id: SessionId,
        handoff: Option<NewHandoff>,
        reason: String,
        once: Option<Once>,
    ) -> Answer<Done<(Session, Option<Handoff>)>>;

    /// Keeps where a session stands, which is a sign of life. [`StoreError::Closed`] where it is no longer active.
    fn checkpoint(&self, new: NewCheckpoint, once: Option<Once>) -> Answer<Done<Checkpoint>>;

    /// The checkpoints of a session, the first first: `limit` of them, from 1 to [`crate::history::MAX_PAGE`].
    fn checkpoints(&self, session: SessionId, limit: u32, after: Option<Cursor>) -> Answer<Page<Checkpoint>>;

    /// A session.
    fn session(&self, id: SessionId) -> Answer<Option<Session>>;

    /// The active session of a key that is not silent.
    fn current(&self, key: SessionKey) -> Answer<Option<Session>>;

    /// Active sessions, whoever's they are.
    fn live(&self, query: LiveQuery) -> Answer<Page<Session>>;

    /// Handoffs.
    fn handoffs(&self, query: HandoffQuery) -> Answer<Page<Handoff>>;
}

/// Notes.
pub trait Notes: Send + Sync {
    /// Keeps a note. An id that is there already is answered as it is now.
    fn add_note(&self, note: NewNote, once: Option<Once>) -> Answer<Done<Note>>;

    /// Changes a note. What changes nothing is answered as it is and is no change.
    fn change_note(&self, patch: NotePatch, once: Option<Once>) -> Answer<Done<Note>>;

    /// A note with its text.
    fn note(&self, id: NoteId) -> Answer<Option<Note>>;

    /// Notes without their texts.
    fn notes(&self, query: NoteQuery) -> Answer<NotePage>;

    /// The notes with which a day in a venture begins: at most `most`, and at most `characters` of titles and texts together.
    fn for_day(&self, venture: String, most: u32, characters: u64) -> Answer<DayNotes>;
}

/// Documents.
pub trait Documents: Send + Sync {
    /// Keeps a document in place of what was there. What is generated never takes the place of what was written
    /// ([`StoreError::Exists`]); the same text again changes nothing.
    fn put(&self, document: NewDocument) -> Answer<Document>;

    /// A document.
    fn document(&self, scope: String, name: String) -> Answer<Option<Document>>;

    /// The first `limit` documents of some scopes.
    fn index(&self, scopes: Vec<String>, limit: u32) -> Answer<Index>;

    /// Removes a document; whether there was one.
    fn remove(&self, scope: String, name: String) -> Answer<bool>;
}

/// Machines.
pub trait Machines: Send + Sync {
    /// Registers a machine, or what it says of itself now.
    fn register(&self, machine: NewMachine) -> Answer<Machine>;

    /// The machines, the last seen first: the first 10,000.
    fn machines(&self) -> Answer<Vec<Machine>>;

    /// A machine's sign of life; whether it is registered.
    fn seen(&self, id: MachineId) -> Answer<bool>;
}

/// All that a team shares.
pub trait Context: Sessions + Notes + Documents + Machines {}

impl<T: Sessions + Notes + Documents + Machines> Context for T {}
