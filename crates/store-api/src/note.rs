//! Notes that a team keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::history::{Cursor, check_limit};
use crate::id::NoteId;
use crate::text::{MAX_KEY, MAX_TITLE, at_most, named};
use crate::time::Timestamp;

/// Most bytes of a note: 500 KiB.
pub const MAX_NOTE: usize = 500 * 1_024;
/// Most tags of a note.
pub const MAX_TAGS: usize = 20;
/// Most characters of a tag.
pub const MAX_TAG: usize = 50;
/// Characters of a note that lists show where nothing was searched for.
pub const EXCERPT: usize = 200;
/// Most matches that are ranked: the newest. Beyond it [`Ranked::Newest`].
pub const MAX_RANKED: u32 = 2_000;
/// Where counting ends: one more is told as "more than".
pub const MAX_COUNT: u64 = 5_000;

/// Most bytes of a principal.
const MAX_BY: usize = 1_024;

/// Fewest characters of a note's text that are worth showing when the rest has no room.
pub const MIN_CUT: u64 = 500;

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Its id.
    pub id: NoteId,
    /// The venture's code; none is for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub content: String,
    /// Its tags, sorted.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How often it was changed, from 1.
    pub version: i64,
    /// Whether it is put away.
    pub archived: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub updated: Timestamp,
    /// The principal that changed it last.
    pub by: String,
}

/// A note that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    /// Its id.
    pub id: NoteId,
    /// The venture's code; none is for all.
    pub venture: Option<String>,
    /// Its title.
    pub title: String,
    /// Its text.
    pub content: String,
    /// Its tags, in any order.
    pub tags: Vec<String>,
    /// The principal.
    pub by: String,
}

impl NewNote {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        named("title", &self.title, MAX_TITLE)?;
        at_most("content", &self.content, MAX_NOTE)?;
        self.venture.as_deref().map_or(Ok(()), |venture| named("venture", venture, MAX_KEY))?;
        named("principal", &self.by, MAX_BY)?;
        tagged(&self.tags)
    }
}

/// A change of a note. What is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePatch {
    /// The note.
    pub id: NoteId,
    /// The version that was changed; another one is [`StoreError::Stale`].
    pub expected: Option<i64>,
    /// Another title.
    pub title: Option<String>,
    /// Another text.
    pub content: Option<String>,
    /// Other tags.
    pub tags: Option<Vec<String>>,
    /// Another venture, or none.
    pub venture: Option<Option<String>>,
    /// Put away, or taken out again.
    pub archived: Option<bool>,
    /// The principal.
    pub by: String,
}

impl NotePatch {
    /// A change of nothing.
    #[must_use]
    pub fn of(id: NoteId, by: impl Into<String>) -> Self {
        Self {
            id,
            expected: None,
            title: None,
            content: None,
            tags: None,
            venture: None,
            archived: None,
            by: by.into(),
        }
    }

    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        self.title.as_deref().map_or(Ok(()), |title| named("title", title, MAX_TITLE))?;
        self.content.as_deref().map_or(Ok(()), |content| at_most("content", content, MAX_NOTE))?;
        self.venture.iter().flatten().try_for_each(|venture| named("venture", venture, MAX_KEY))?;
        named("principal", &self.by, MAX_BY)?;
        self.tags.as_deref().map_or(Ok(()), tagged)
    }
}

fn tagged(tags: &[String]) -> Result<(), StoreError> {
    if tags.len() > MAX_TAGS {
        return Err(StoreError::TooLarge { what: "tags", got: tags.len(), most: MAX_TAGS });
    }
    for tag in tags {
        named("tag", tag, MAX_TAG * 4)?;
        let got = tag.chars().count();
        if got > MAX_TAG {
            return Err(StoreError::TooLarge { what: "characters of a tag", got, most: MAX_TAG });
        }
    }
    Ok(())
}

/// Tags as they are stored: trimmed, sorted, each once.
#[must_use]
pub fn sorted(tags: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = tags.iter().map(|tag| tag.trim().to_owned()).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Whose notes are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NoteScope {
    /// Everybody's.
    #[default]
    Any,
    /// A venture's.
    Venture(String),
    /// Those of no venture.
    Global,
}

/// Which notes are asked for: without words the ones changed last first, with words the best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteQuery {
    /// Whose.
    pub scope: NoteScope,
    /// Those with this tag.
    pub tag: Option<String>,
    /// Words, "phrases", begin*, -not.
    pub q: Option<String>,
    /// Those that are put away, instead of those that are not.
    pub archived: bool,
    /// Most entries, from 1 to [`crate::history::MAX_PAGE`].
    pub limit: u32,
    /// Goes on after a page.
    pub after: Option<Cursor>,
}

impl NoteQuery {
    /// Whether it can be asked. What words make no question only the driver says ([`StoreError::Query`]).
    pub fn check(&self) -> Result<(), StoreError> {
        check_limit(self.limit)?;
        if let NoteScope::Venture(venture) = &self.scope {
            named("venture", venture, MAX_KEY)?;
        }
        self.tag.as_deref().map_or(Ok(()), |tag| tagged(&[tag.to_owned()]))
    }
}

/// A note in a list, without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoteHit {
    /// Its id.
    pub id: NoteId,
    /// The venture's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// Its title.
    pub title: String,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How often it was changed.
    pub version: i64,
    /// When it was changed last.
    pub updated: Timestamp,
    /// How long its text is, in characters.
    pub characters: u64,
    /// How it begins, at most [`EXCERPT`] characters.
    pub excerpt: String,
    /// Where the words are, each between `**`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
}

/// Which matches were ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ranked {
    /// All of them.
    All,
    /// The newest [`MAX_RANKED`].
    Newest,
}

/// A page of notes.
#[derive(Debug, Clone, PartialEq)]
pub struct NotePage {
    /// The notes.
    pub items: Vec<NoteHit>,
    /// Goes on after them; none at the end.
    pub next: Option<Cursor>,
    /// How many there are, counted up to [`MAX_COUNT`] and one where words were searched for.
    pub total: u64,
    /// Which were ranked; none where nothing was searched for.
    pub ranked: Option<Ranked>,
}

/// The notes with which a day begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayNotes {
    /// Notes with their texts, the venture's own first, then those of no venture, then others', each the ones changed last first;
    /// the text of the last may be cut.
    pub notes: Vec<Note>,
    /// Whether the last one's text is cut.
    pub cut: bool,
    /// How many there are.
    pub total: u64,
    /// Characters of titles and texts that are given.
    pub characters: u64,
}
