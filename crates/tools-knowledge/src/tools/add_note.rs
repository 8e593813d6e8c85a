//! Note a decision, a hypothesis or a blocker.
//!
//! Appends one line to `.agent-memory/session-notes.jsonl` of the project, where later sessions find it. Secrets are taken out first. A
//! note that takes the place of others names them in `supersedes`; one that is true for a while has `expires`. Decisions that may
//! contradict it are answered: tell the person, do not choose between them.

use contract::{Code, Fault, Toolset};
use exec::lines::Lines;
use kit::markdown::{code, text};
use kit::{Answer, Define, Record, RecordDesk, doc};
use library::contradict::{Claim, conflicts_of};
use library::notes::{Draft, Note, NoteId, NoteType, State, ends_at, iso, read, states};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::memory::{Clash, clash, decisions, file};
use crate::project;

/// Notes at the end of the file among which a key is looked for.
const LATEST: usize = 1_000;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The project's folder: `.` for the root.
    #[schemars(length(min = 1, max = 4096))]
    project_path: String,
    /// What it is.
    #[serde(rename = "type")]
    kind: NoteType,
    /// What it says.
    #[schemars(length(min = 1, max = 100_000))]
    content: String,
    /// What it is about, in a few words: two decisions about one subject are held against each other.
    #[serde(default)]
    #[schemars(length(min = 1, max = 120))]
    subject: Option<String>,
    /// Ids of notes that it takes the place of.
    #[serde(default)]
    #[schemars(length(max = 100))]
    supersedes: Vec<NoteId>,
    /// When it ends: a date, a time, or how long (`30d`).
    #[serde(default)]
    #[schemars(length(min = 2, max = 40))]
    expires: Option<String>,
    /// The same key among the last thousand notes is the same note.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,128}$"))]
    idempotency_key: Option<String>,
}

/// The note as it was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Written {
    /// Its id.
    id: String,
    /// What it is.
    #[serde(rename = "type")]
    kind: NoteType,
    /// When it was written.
    timestamp: String,
    /// Its text, where secrets were taken out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// Whether it was there already under this key.
    replayed: bool,
    /// Decisions that hold and may contradict it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Clash>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The note.
    data: Written,
}

/// The tool.
#[derive(Debug, Default)]
pub struct AddNote;

impl Define for AddNote {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "add_note";
    const TOOLSET: Toolset = crate::MEMORY;
    const DOC: kit::Doc = doc!("add_note.rs");
    const ALIASES: &'static [&'static str] = &["addNote"];
    const PROJECT: Option<&'static str> = Some("projectPath");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "projectPath": ".", "type": "decision", "content": "Use PostgreSQL for sessions: several servers share them.", "subject": "session storage" }),
            json!({ "projectPath": "services/api", "type": "blocker", "content": "No access to staging.", "expires": "14d" }),
        ]
    }
}

impl Record for AddNote {
    type Store = Lines;

    async fn record(&self, input: Input, desk: RecordDesk<Lines>) -> Result<Answer<Output>, Fault> {
        let project = project::folder(&input.project_path)?;
        let path = file(project.as_ref())?;
        let lines = std::sync::Arc::clone(desk.store());
        let content = desk.cleaned(&input.content);
        let is_cleaned = content != input.content;
        let draft = Draft {
            content,
            subject: input.subject.map(|subject| desk.cleaned(&subject)),
            supersedes: input.supersedes,
            expires: input.expires,
            by: None,
            key: input.idempotency_key,
        };
        let written = desk
            .blocking(move |desk| {
                project::check(desk, project.as_ref())?;
                let mut done = None;
                lines.append(desk.view().root(), &path, |there| {
                    let (line, written) =
                        put(&String::from_utf8_lossy(there), path.as_str(), input.kind, draft)?;
                    done = Some(written);
                    Ok(line)
                })?;
                done.ok_or_else(|| Fault::internal("a note was neither written nor found"))
            })
            .await?;
        let written = Written { content: written.content.filter(|_| is_cleaned), ..written };
        Ok(Answer::new(said(&written), Output { data: written }))
    }
}

/// The line that is put to what is there, where it is not there already.
fn put(there: &str, name: &str, kind: NoteType, draft: Draft) -> Result<(Option<String>, Written), Fault> {
    let all = read(there, name);
    let unfit = |why: String| Fault::invalid(why);
    if let Some(key) = &draft.key
        && let Some(same) = all.notes.iter().rev().take(LATEST).find(|note| note.key.as_ref() == Some(key))
    {
        let is_same = same.content == draft.content
            && same.kind == kind
            && same.subject == draft.subject
            && same.supersedes == draft.supersedes
            && same.expires.is_some() == draft.expires.is_some();
        if !is_same {
            let message = "idempotencyKey: another note was written under this key";
            return Err(Fault::new(Code::Conflict, message).suggest("Take a new key for a new note."));
        }
        return Ok((None, written(same, kind, true, Vec::new())));
    }
    if let Some(unknown) = draft.supersedes.iter().find(|id| !all.notes.iter().any(|note| note.id == **id)) {
        return Err(Fault::new(
            Code::NotFound,
            format!("supersedes: there is no note {unknown} in this project"),
        )
        .suggest("`get_decisions`, `get_hypotheses` and `get_blockers` give the ids; nothing was written."));
    }
    // Notes have their ids by what they say and when: two that say the same are apart by a millisecond.
    let mut now = jiff::Timestamp::now();
    let note = loop {
        let note = Note::new(kind, draft.clone(), now).map_err(|e| unfit(e.to_string()))?;
        if !all.notes.iter().any(|other| other.id == note.id) {
            break note;
        }
        now = now.checked_add(jiff::SignedDuration::from_millis(1)).map_err(|e| unfit(e.to_string()))?;
    };
    if note.expires.as_deref().and_then(ends_at).is_some_and(|end| end <= now) {
        return Err(Fault::invalid("expires: that is over already, so nobody would see the note")
            .suggest("Give a time to come, or how long (`14d`)."));
    }
    let clashes = if kind == NoteType::Decision { clashes(&all.notes, &note) } else { Vec::new() };
    Ok((Some(note.line()), written(&note, kind, false, clashes)))
}

/// Decisions that still hold once this one is written, and may contradict it.
fn clashes(notes: &[Note], note: &Note) -> Vec<Clash> {
    let states: Vec<State> = states(notes, jiff::Timestamp::now());
    let mut others = decisions(notes, &states);
    others.retain(|claim| !note.supersedes.contains(&claim.id));
    let new = Claim { id: note.id, content: &note.content, subject: note.subject.as_deref() };
    conflicts_of(new, &others).found.iter().map(clash).collect()
}

fn written(note: &Note, kind: NoteType, replayed: bool, conflicts: Vec<Clash>) -> Written {
    Written {
        id: note.id.to_string(),
        kind,
        timestamp: note.at.map_or_else(|| note.timestamp.clone(), iso),
        content: Some(note.content.clone()),
        expires: note.expires.clone(),
        replayed,
        conflicts,
    }
}

fn said(note: &Written) -> String {
    let how = if note.replayed { "Was noted already" } else { "Noted" };
    let mut message = format!("{how}: {}.", code(&note.id));
    if note.content.is_some() {
        message.push_str(" Secrets were taken out of its text.");
    }
    for conflict in &note.conflicts {
        let other = conflict.notes.iter().find(|id| **id != note.id).map_or("another note", String::as_str);
        message.push_str(&format!(
            "\nIt may contradict {}: {}. Both stand; ask which one holds, and supersede the other.",
            code(other),
            text(&conflict.why)
        ));
    }
    message
}
