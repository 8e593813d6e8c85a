//! Find notes of the team.
//!
//! Without `q` the ones changed last first; with it the best first: words, "phrases", beginn*, -not, in titles, tags and texts.
//! `id` gives one note with its text, in parts where it is long.

use contract::text::counted;
use contract::{Code, Fault, Toolset};
use kit::kinds::List;
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::id::NoteId;
use store_api::note::{MAX_COUNT, NoteHit, NoteQuery, NoteScope, Ranked};
use store_api::{Context, Timestamp};

use kit::markdown::{code, front, text};

/// Characters of a note's text that come at once.
const MOST: usize = 9_000;
/// Most notes that are asked for at once.
const STEP: u32 = 500;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A venture's code; `none` for those of no venture.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    venture: Option<String>,
    /// A tag.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    tag: Option<String>,
    /// What to look for.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    q: Option<String>,
    /// One note.
    #[serde(default)]
    id: Option<NoteId>,
    /// Of that note: the character to begin at.
    #[serde(default)]
    from: usize,
}

/// A note.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Shown {
    /// Its id.
    id: NoteId,
    /// Its title.
    title: String,
    /// The venture's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    venture: Option<String>,
    /// Its tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// How often it was changed.
    version: i64,
    /// When it was changed last.
    updated: Timestamp,
    /// How long its text is.
    characters: u64,
    /// How it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<String>,
    /// Where the words are, between `**`.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    /// Its text, or the part that begins at `from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Where the text goes on: `from` of the next call.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_from: Option<u64>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The notes.
    notes: Vec<Shown>,
    /// Which matches were ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranked: Option<Ranked>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Notes;

impl Define for Notes {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "notes";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("notes.rs");
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("notes");
    const PAGE: u32 = 20;

    fn examples() -> Vec<Value> {
        vec![json!({ "q": "staging vpn" }), json!({ "venture": "none", "tag": "deploy" })]
    }
}

impl Read for Notes {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let store = crate::sod::store(&desk)?;
        if let Some(id) = input.id {
            if input.venture.is_some() || input.tag.is_some() || input.q.is_some() {
                return Err(Fault::invalid("id: one note is named; leave out `venture`, `tag` and `q`"));
            }
            return one(&*store, id, input.from).await;
        }
        if input.from > 0 {
            return Err(Fault::invalid("from: it is for the text of one note: give its `id`"));
        }
        let scope = match input.venture.as_deref() {
            None => NoteScope::Any,
            Some("none") => NoteScope::Global,
            Some(code) => NoteScope::Venture(code.to_owned()),
        };
        let page = desk.page();
        let mut query = NoteQuery {
            scope,
            tag: input.tag,
            q: input.q.clone(),
            archived: false,
            limit: STEP,
            after: None,
        };
        let (mut left, mut items, mut passed) = (page.offset, Vec::new(), 0_u64);
        let (total, ranked) = loop {
            let want = left.saturating_add(page.limit).saturating_sub(items.len() as u64);
            query.limit = u32::try_from(want).unwrap_or(STEP).clamp(1, STEP);
            let found = store.notes(query.clone()).await?;
            let skipped = left.min(found.items.len() as u64);
            left -= skipped;
            passed += skipped;
            items.extend(found.items.into_iter().skip(usize::try_from(skipped).unwrap_or(usize::MAX)));
            match found.next {
                Some(next) if (items.len() as u64) < page.limit => query.after = Some(next),
                _ => break (found.total, found.ranked),
            }
        };
        let notes: Vec<Shown> = items.into_iter().map(shown).collect();
        let mut answer =
            Answer::new(said(&notes, total, input.q.as_deref(), ranked), Output { notes, ranked });
        answer.results = Some(total);
        answer.list = Some(List { field: "notes".to_owned(), total, offset: passed });
        Ok(answer)
    }
}

fn shown(hit: NoteHit) -> Shown {
    let excerpt = if hit.snippet.is_some() { None } else { Some(hit.excerpt) };
    Shown {
        id: hit.id,
        title: hit.title,
        venture: hit.venture,
        tags: hit.tags,
        version: hit.version,
        updated: hit.updated,
        characters: hit.characters,
        excerpt,
        snippet: hit.snippet,
        content: None,
        more_from: None,
    }
}

async fn one(store: &dyn Context, id: NoteId, from: usize) -> Result<Answer<Output>, Fault> {
    let note = store.note(id.clone()).await?.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("there is no note {id}"))
            .suggest("`notes` with `q` finds notes by their words.")
    })?;
    let characters = note.content.chars().count();
    let rest: String = note.content.chars().skip(from).collect();
    let (part, is_cut) = front(&rest, MOST);
    let until = from + part.chars().count();
    let mut message = format!("**{}**, version {}.", text(&note.title), note.version);
    if is_cut {
        message.push_str(&format!(" Characters {from} to {until} of {characters}: `from: {until}` goes on."));
    }
    let shown = Shown {
        id,
        title: note.title,
        venture: note.venture,
        tags: note.tags,
        version: note.version,
        updated: note.updated,
        characters: characters as u64,
        excerpt: None,
        snippet: None,
        content: Some(part.to_owned()),
        more_from: is_cut.then_some(until as u64),
    };
    Ok(Answer::new(message, Output { notes: vec![shown], ranked: None }))
}

fn said(notes: &[Shown], total: u64, q: Option<&str>, ranked: Option<Ranked>) -> String {
    let many = if total > MAX_COUNT && q.is_some() {
        format!("More than {MAX_COUNT} notes")
    } else {
        counted(total, "note")
    };
    let mut message = match q {
        Some(q) => format!("{many} for {}.", code(q)),
        None => format!("{many}."),
    };
    if ranked == Some(Ranked::Newest) {
        message.push_str(" Only the newest matches were ranked: use more words.");
    }
    message.push('\n');
    for note in notes {
        let whose =
            note.venture.as_deref().map_or_else(String::new, |venture| format!(" [{}]", text(venture)));
        message.push_str(&format!("- **{}**{whose} {}\n", text(&note.title), code(note.id.as_str())));
    }
    message
}
