//! Answers in place of those of a context that cannot be reached.

use contract::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store_api::id::{NoteId, SessionId};
use store_api::outbox::Outbox;
use store_api::session::SessionKey;
use store_api::{StoreError, Timestamp};

use super::Offline;

/// Most bytes of an answer that is kept.
const MOST: usize = 1 << 20;

/// The last answers.
pub(super) struct Mirrored<'o> {
    outbox: &'o dyn Outbox,
    /// What tells one context's from another's.
    context: String,
}

impl<'o> Mirrored<'o> {
    pub(super) fn of(offline: &'o Offline) -> Self {
        let context = Digest::of(offline.context().as_bytes()).short(16);
        Self { outbox: &*offline.outbox, context }
    }

    /// A question to this context: its kind stays in front.
    fn question(&self, question: &str) -> String {
        match question.split_once(' ') {
            Some((kind, rest)) => format!("{kind}:{}:{rest}", self.context),
            None => format!("{question}:{}", self.context),
        }
    }

    /// Keeps an answer, where it is not too long and another one than before.
    pub(super) async fn keep<T: Serialize>(&self, question: &str, answer: &T) -> Result<(), StoreError> {
        let Ok(text) = serde_json::to_string(answer) else { return Ok(()) };
        if text.len() > MOST {
            return Ok(());
        }
        self.outbox.mirror(self.question(question), text).await
    }

    /// The last answer, and from when it is.
    pub(super) async fn last<T: DeserializeOwned>(
        &self,
        question: &str,
    ) -> Result<Option<(Timestamp, T)>, StoreError> {
        let Some((at, text)) = self.outbox.mirrored(self.question(question)).await? else { return Ok(None) };
        // What another version kept may not be read any more: then there is none.
        Ok(serde_json::from_str(&text).ok().map(|answer| (at, answer)))
    }
}

/// The question for the active session of a key.
pub(super) fn current(key: &SessionKey) -> String {
    let SessionKey { agent, venture, repo, track } = key;
    format!("current {}", digest(&[agent, venture, repo, track]))
}

/// The question for a session.
pub(super) fn session(id: &SessionId) -> String {
    format!("session {id}")
}

/// The question for a note.
pub(super) fn note(id: &NoteId) -> String {
    format!("note {id}")
}

/// The question for handoffs of a place.
pub(super) fn handoffs(parts: [Option<&str>; 4], recent: bool) -> String {
    let of = if recent { "recent" } else { "all" };
    format!("handoffs {of} {}", digest(&parts.map(|part| part.unwrap_or("\u{0}"))))
}

/// The question for active sessions.
pub(super) fn live(parts: [Option<&str>; 2]) -> String {
    format!("live {}", digest(&parts.map(|part| part.unwrap_or("\u{0}"))))
}

/// The question for a list of notes.
pub(super) fn notes(parts: [Option<&str>; 3]) -> String {
    format!("notes {}", digest(&parts.map(|part| part.unwrap_or("\u{0}"))))
}

/// The question for the notes of a day.
pub(super) fn for_day(venture: &str) -> String {
    format!("notes for a day {}", digest(&[venture]))
}

/// The question for documents of scopes.
pub(super) fn index(scopes: &[String]) -> String {
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    format!("index {}", digest(&scopes))
}

/// The question for a document.
pub(super) fn document(scope: &str, name: &str) -> String {
    format!("document {}", digest(&[scope, name]))
}

/// What tells lists of texts apart.
fn digest(parts: &[&str]) -> String {
    let mut all = Vec::new();
    for part in parts {
        all.extend_from_slice(part.len().to_string().as_bytes());
        all.push(b':');
        all.extend_from_slice(part.as_bytes());
    }
    Digest::of(&all).short(32)
}
