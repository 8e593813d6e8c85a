//! Keep a note for the team.
//!
//! Creates a note, or changes one by its id: what is not named stays as it is. Secrets are taken out first. Notes are shown at the
//! start of a day and found by `notes`; give the venture's code, or none for what concerns all.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Record, RecordDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::id::NoteId;
use store_api::note::{NewNote, NotePatch};
use store_api::once::Once;
use store_api::{Context, Timestamp};

use crate::here::Here;
use crate::sod::Cleaning;
use kit::markdown::{code, text};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Keep a new note.
    Create,
    /// Change a note.
    Update,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to do.
    action: Action,
    /// The note to change.
    #[serde(default)]
    id: Option<NoteId>,
    /// Its title; required to create.
    #[serde(default)]
    #[schemars(length(min = 1, max = 300))]
    title: Option<String>,
    /// Its text, in Markdown; required to create.
    #[serde(default)]
    content: Option<String>,
    /// Its tags: 20 of 50 characters at most.
    #[serde(default)]
    #[schemars(length(max = 20))]
    tags: Option<Vec<String>>,
    /// A venture's code; empty for none.
    #[serde(default)]
    venture: Option<String>,
    /// The version that you read; another one is a conflict.
    #[serde(default)]
    #[schemars(range(min = 1))]
    version: Option<i64>,
    /// The same key within an hour is the same write.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,128}$"))]
    idempotency_key: Option<String>,
}

/// The note as it is now, without its text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kept {
    /// Its id.
    id: NoteId,
    /// Its title.
    title: String,
    /// The venture's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    venture: Option<String>,
    /// Its tags.
    tags: Vec<String>,
    /// How often it was changed.
    version: i64,
    /// When it was made.
    created: Timestamp,
    /// When it was changed last.
    updated: Timestamp,
    /// How long its text is.
    characters: u64,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The note.
    note: Kept,
    /// How many of its texts had secrets that were taken out.
    redacted: u64,
    /// Whether the key was used before, and this is the answer of then.
    replayed: bool,
    /// Whether it waits here for a context that does not answer.
    queued: bool,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Note;

impl Define for Note {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "note";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("note.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "action": "create", "title": "Staging needs a VPN", "content": "Ask ops for an account.", "tags": ["staging"] }),
            json!({ "action": "update", "id": "note_01ARZ3NDEKTSV4RRFFQ69G5FAV", "content": "No longer.", "version": 1 }),
        ]
    }
}

impl Record for Note {
    type Store = dyn Context;

    async fn record(&self, input: Input, desk: RecordDesk<dyn Context>) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let mut cleaning = Cleaning::new(&desk);
        let title = input.title.as_deref().map(|title| cleaning.take(title));
        let content = input.content.as_deref().map(|content| cleaning.take(content));
        let tags: Option<Vec<String>> =
            input.tags.as_ref().map(|tags| tags.iter().map(|tag| cleaning.take(tag)).collect());
        let by = desk.principal().label();
        let owner = here.owner(&desk, "note")?;
        let once = input.idempotency_key.clone().map(|key| Once {
            owner,
            key,
            request: crate::sod::digest(&json!([
                input.action == Action::Create,
                input.id,
                title,
                content,
                tags,
                input.venture,
                input.version
            ])),
        });
        let venture = input.venture.map(|code| Some(code).filter(|code| !code.is_empty()));
        let done = match (input.action, input.id) {
            (Action::Create, Some(_)) => {
                return Err(Fault::invalid("id: a new note gets an id of its own")
                    .suggest("Leave out `id`, or say `update`."));
            }
            (Action::Create, None) => {
                let (Some(title), Some(content)) = (title, content) else {
                    return Err(Fault::invalid("note: a new note needs `title` and `content`"));
                };
                if input.version.is_some() {
                    return Err(Fault::invalid("version: a new note has none"));
                }
                let id = NoteId::new(here.workplace.now(), here.workplace.random()?);
                let note = NewNote {
                    id,
                    venture: venture.flatten(),
                    title,
                    content,
                    tags: tags.unwrap_or_default(),
                    by,
                };
                desk.store().add_note(note, once).await?
            }
            (Action::Update, None) => {
                return Err(Fault::invalid("id: which note is to be changed?")
                    .suggest("`notes` finds it by its words."));
            }
            (Action::Update, Some(id)) => {
                if title.is_none() && content.is_none() && tags.is_none() && venture.is_none() {
                    return Err(Fault::invalid(
                        "note: nothing is to be changed: give `title`, `content`, `tags` or `venture`",
                    ));
                }
                let patch = NotePatch {
                    expected: input.version,
                    title,
                    content,
                    tags,
                    venture,
                    ..NotePatch::of(id, by)
                };
                desk.store().change_note(patch, once).await?
            }
        };
        let (note, queued) = (done.value, here.is_queued().await);
        let what = if input.action == Action::Create { "Kept" } else { "Changed" };
        let mut message = format!(
            "{what} {}: **{}**, version {}.",
            code(note.id.as_str()),
            text(&note.title),
            note.version
        );
        if cleaning.count > 0 {
            message.push_str(" What looked like a secret was taken out.");
        }
        if queued {
            message.push_str(" It waits here until the context answers.");
        }
        let characters = note.content.chars().count() as u64;
        let kept = Kept {
            id: note.id,
            title: note.title,
            venture: note.venture,
            tags: note.tags,
            version: note.version,
            created: note.created,
            updated: note.updated,
            characters,
        };
        Ok(Answer::new(
            message,
            Output { note: kept, redacted: cleaning.count, replayed: done.replayed, queued },
        ))
    }
}
