//! Notes over the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use store_api::StoreError;
use store_api::id::NoteId;
use store_api::note::{DayNotes, NewNote, Note, NoteHit, NotePage, NotePatch, NoteQuery, NoteScope, Ranked};

use super::{Part, cursor, endpoint, nobody};

/// Keeps a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteIn {
    /// Its id; the server makes one where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NoteId>,
    /// The venture's code; none is for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub content: String,
    /// Its tags, in any order.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The principal, as the client knows it.
    #[serde(default = "nobody")]
    pub by: String,
}

impl From<NewNote> for NoteIn {
    fn from(new: NewNote) -> Self {
        let NewNote { id, venture, title, content, tags, by } = new;
        Self { id: Some(id), venture, title, content, tags, by }
    }
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneNote {
    /// It.
    pub note: Note,
}

endpoint!(NoteIn: Post "/notes" (ONCE: bool = true), "Keeps a note" => OneNote);

/// Whose notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notes {
    /// Those of a venture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// Those of no venture.
    #[serde(default)]
    pub global: bool,
    /// Those with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Words, "phrases", begin*, -not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Those that are put away, instead of those that are not.
    #[serde(default)]
    pub archived: bool,
    /// Which part.
    #[serde(flatten)]
    pub part: Part,
}

impl From<NoteQuery> for Notes {
    fn from(query: NoteQuery) -> Self {
        let (venture, global) = match query.scope {
            NoteScope::Any => (None, false),
            NoteScope::Venture(venture) => (Some(venture), false),
            NoteScope::Global => (None, true),
        };
        Self { venture, global, tag: query.tag, q: query.q, archived: query.archived, part: Part::default() }
    }
}

/// Notes without their texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The notes.
    pub items: Vec<NoteHit>,
    /// Goes on after them, as `cursor`; none at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How many there are; counted up to 5,001 where words were searched for.
    pub total: u64,
    /// Which were ranked, where words were searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranked: Option<Ranked>,
}

impl Found {
    /// A page of a list that `question` names.
    pub(crate) fn of(page: NotePage, question: &str) -> Self {
        let next_cursor = page.next.map(|next| cursor::written(next, question));
        Self { items: page.items, next_cursor, total: page.total, ranked: page.ranked }
    }

    /// As a store has it.
    pub(crate) fn kept(self) -> Result<NotePage, StoreError> {
        let next = self.next_cursor.as_deref().map(cursor::read).transpose();
        let next = next.map_err(|_| StoreError::Refused("the context's cursor is not one".to_owned()))?;
        Ok(NotePage { items: self.items, next, total: self.total, ranked: self.ranked })
    }
}

endpoint!(Notes: Get "/notes", "Notes: without words the ones changed last first, with words the best first" => Found);

/// A note by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteById {
    /// The note.
    pub id: NoteId,
}

/// A note, where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaybeNote {
    /// It.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

endpoint!(NoteById: Get "/notes/{id}", "A note with its text" => MaybeNote);

/// What is there, also where it is null: absent and null are two things.
#[expect(clippy::option_option, reason = "absent, null and a text are three things")]
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// Changes a note. What is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteChange {
    /// The note.
    pub id: NoteId,
    /// The version that was changed; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
    /// Another title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Other tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Another venture; null for none.
    #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    pub venture: Option<Option<String>>,
    /// Put away, or taken out again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The principal, as the client knows it.
    #[serde(default = "nobody")]
    pub by: String,
}

impl From<NotePatch> for NoteChange {
    fn from(patch: NotePatch) -> Self {
        let NotePatch { id, expected, title, content, tags, venture, archived, by } = patch;
        Self { id, expected_version: expected, title, content, tags, venture, archived, by }
    }
}

impl From<NoteChange> for NotePatch {
    fn from(change: NoteChange) -> Self {
        let NoteChange { id, expected_version, title, content, tags, venture, archived, by } = change;
        Self { id, expected: expected_version, title, content, tags, venture, archived, by }
    }
}

endpoint!(NoteChange: Post "/notes/{id}/update" (ONCE: bool = true), "Changes a note" => OneNote);

/// Puts a note away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Archive {
    /// The note.
    pub id: NoteId,
    /// The principal, as the client knows it.
    #[serde(default = "nobody")]
    pub by: String,
}

endpoint!(Archive: Post "/notes/{id}/archive" (ONCE: bool = true), "Puts a note away" => OneNote);

/// The notes with which a day begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForDay {
    /// The venture whose own notes come first.
    pub venture: String,
    /// Most notes.
    #[schemars(range(max = 100))]
    pub most: u32,
    /// Most characters of titles and texts.
    pub characters: u64,
}

/// The notes with which a day begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DayNotesOut {
    /// Notes with their texts, own ones first.
    pub notes: Vec<Note>,
    /// Whether the last one's text is cut.
    pub cut: bool,
    /// How many there are.
    pub total: u64,
    /// Characters of titles and texts that are given.
    pub characters: u64,
}

impl From<DayNotes> for DayNotesOut {
    fn from(day: DayNotes) -> Self {
        let DayNotes { notes, cut, total, characters } = day;
        Self { notes, cut, total, characters }
    }
}

impl From<DayNotesOut> for DayNotes {
    fn from(day: DayNotesOut) -> Self {
        let DayNotesOut { notes, cut, total, characters } = day;
        Self { notes, cut, total, characters }
    }
}

endpoint!(ForDay: Get "/notes/day", "The notes with which a day begins, with their texts" => DayNotesOut);
