//! Notes: one JSON object a line, in `.agent-memory/session-notes.jsonl`.
//!
//! A plain note is `{"type":…,"content":…,"timestamp":…}`, byte for byte as `JSON.stringify` writes it (ECMA-262, 25.5.2): other
//! programs read the file and write to it. More keys follow only where they are used. No id is stored: it is made of what the
//! note says, so lines of others have one too, and may be moved.

mod read;
mod state;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use self::read::{Notes, read};
pub use self::state::{State, states};
use crate::text::shown;

/// Longest content, in characters.
pub const MAX_CONTENT: usize = 100_000;
/// Longest subject, in characters.
pub const MAX_SUBJECT: usize = 120;
/// Longest line that is read or written, in bytes, without its break: 1 MiB. A content of the most characters fits in any spelling.
pub const MAX_LINE: usize = 1 << 20;
/// Largest file that is read, in bytes: 64 MiB.
pub const MAX_FILE: usize = 64 << 20;
/// Most notes that one note supersedes.
pub const MAX_SUPERSEDES: usize = 100;
/// Longest time that a note may be given until it expires, in days: a hundred years.
const MAX_DAYS: i64 = 36_525;

/// What a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum NoteType {
    /// What was decided.
    Decision,
    /// What is thought to be so.
    Hypothesis,
    /// What is in the way.
    Blocker,
    /// Anything else.
    General,
}

impl NoteType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Decision, Self::Hypothesis, Self::Blocker, Self::General];

    /// As the file has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Hypothesis => "hypothesis",
            Self::Blocker => "blocker",
            Self::General => "general",
        }
    }
}

/// What a note is known by: `note_` and 16 hexadecimal digits of SHA-256 over type, timestamp and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId([u8; 8]);

/// A text that is no note's id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no note's id: it is note_ and 16 hexadecimal digits in lower case, as the notes' own answers give it"
)]
pub struct NoteIdError(String);

impl NoteId {
    /// The id of what says this. The parts are taken with their lengths, so that none runs into the next.
    pub fn of(kind: &str, timestamp: &str, content: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [kind, timestamp, content] {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let mut id = [0; 8];
        id.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        Self(id)
    }

    /// The grammar as a regular expression for JSON Schema.
    pub const fn pattern() -> &'static str {
        "^note_[0-9a-f]{16}$"
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "note_{:016x}", u64::from_be_bytes(self.0))
    }
}

impl FromStr for NoteId {
    type Err = NoteIdError;

    fn from_str(text: &str) -> Result<Self, NoteIdError> {
        let digits = text.strip_prefix("note_").filter(|d| d.len() == 16);
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        number.map(|n| Self(n.to_be_bytes())).ok_or_else(|| NoteIdError(shown(text)))
    }
}

impl JsonSchema for NoteId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NoteId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": Self::pattern() })
    }
}

impl Serialize for NoteId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NoteId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A note, as it was read or as it will be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// What it is known by.
    pub id: NoteId,
    /// What it is; an unknown type is [`NoteType::General`].
    pub kind: NoteType,
    /// What the file calls it.
    pub stated: String,
    /// What it says. Half of a surrogate pair, which another program may have written, is U+FFFD.
    pub content: String,
    /// As it stands; empty where there is none.
    pub timestamp: String,
    /// The same as a time, where it is one.
    pub at: Option<Timestamp>,
    /// What it is about.
    pub subject: Option<String>,
    /// What it replaces.
    pub supersedes: Vec<NoteId>,
    /// When it ends, as it stands: a date or a time.
    pub expires: Option<String>,
    /// Who wrote it.
    pub by: Option<String>,
    /// What makes writing it again no second note.
    pub key: Option<String>,
    /// All other keys, as they are.
    pub other: Map<String, Value>,
    /// From 1; 0 of a note that was not read.
    pub line: u32,
}

/// Why a note is not written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoteError {
    /// Nothing in it.
    #[error("a note says something: its content is empty")]
    Empty,
    /// Too long.
    #[error(
        "the content has more than {MAX_CONTENT} characters: keep the finding, and name the file that holds the rest"
    )]
    Long,
    /// A subject that is none.
    #[error("a subject has 1 to {MAX_SUBJECT} characters: shorten it, or leave it out")]
    Subject,
    /// Too many are replaced.
    #[error("a note supersedes at most {MAX_SUPERSEDES} others: write several")]
    Supersedes,
    /// No time to end at.
    #[error(
        "`{0}` is no time to expire at: write a date (2026-03-01), a time (2026-03-01T12:00:00Z), or how long (12h, 30d, 6w)"
    )]
    Expires(String),
    /// The line would be longer than is read.
    #[error("the note's line would be longer than 1 MiB: shorten what it holds beside its content")]
    Line,
}

/// What a note is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// What it says, 1 to [`MAX_CONTENT`] characters.
    pub content: String,
    /// What it is about, 1 to [`MAX_SUBJECT`] characters.
    pub subject: Option<String>,
    /// What it replaces, at most [`MAX_SUPERSEDES`].
    pub supersedes: Vec<NoteId>,
    /// A date, a time, or how long (`30d`).
    pub expires: Option<String>,
    /// Who writes.
    pub by: Option<String>,
    /// What makes writing it again no second note.
    pub key: Option<String>,
}

impl Note {
    /// A new note, written at this time.
    pub fn new(kind: NoteType, draft: Draft, now: Timestamp) -> Result<Self, NoteError> {
        let Draft { content, subject, mut supersedes, expires, by, key } = draft;
        if content.trim().is_empty() {
            return Err(NoteError::Empty);
        }
        if content.chars().count() > MAX_CONTENT {
            return Err(NoteError::Long);
        }
        let fits = |s: &String| !s.trim().is_empty() && s.chars().count() <= MAX_SUBJECT;
        if !subject.as_ref().is_none_or(fits) {
            return Err(NoteError::Subject);
        }
        if supersedes.len() > MAX_SUPERSEDES {
            return Err(NoteError::Supersedes);
        }
        let mut seen = std::collections::BTreeSet::new();
        supersedes.retain(|id| seen.insert(*id));
        let expires = expires.map(|text| expiry(&text, now)).transpose()?;
        let timestamp = iso(now);
        let note = Self {
            id: NoteId::of(kind.as_str(), &timestamp, &content),
            kind,
            stated: kind.as_str().to_owned(),
            content,
            timestamp,
            at: Some(now),
            subject,
            supersedes,
            expires,
            by,
            key,
            other: Map::new(),
            line: 0,
        };
        if note.line().len() > MAX_LINE { Err(NoteError::Line) } else { Ok(note) }
    }

    /// Its line, without the break: `type`, `content`, `timestamp`, then what is used of `subject`, `supersedes`, `expires`, `by`,
    /// `key`, then other keys.
    pub fn line(&self) -> String {
        let mut out = String::with_capacity(self.content.len() + 100);
        out.push('{');
        member(&mut out, "type", &Value::String(self.stated.clone()));
        member(&mut out, "content", &Value::String(self.content.clone()));
        member(&mut out, "timestamp", &Value::String(self.timestamp.clone()));
        let texts = |text: &Option<String>| text.clone().map(Value::String);
        let ids = self.supersedes.iter().map(|id| Value::String(id.to_string())).collect::<Vec<_>>();
        let ids = if ids.is_empty() { None } else { Some(Value::Array(ids)) };
        let more = [
            ("subject", texts(&self.subject)),
            ("supersedes", ids),
            ("expires", texts(&self.expires)),
            ("by", texts(&self.by)),
            ("key", texts(&self.key)),
        ];
        more.into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .for_each(|(k, v)| member(&mut out, k, &v));
        self.other.iter().for_each(|(key, value)| member(&mut out, key, value));
        out.push('}');
        out
    }
}

/// `serde_json` escapes what `JSON.stringify` does, and in the same way: `"`, `\`, the five short ones, other controls as `\u00xx` in
/// lower case, nothing else. Half surrogates, the one other thing that is escaped there, are in no Rust string.
fn member(out: &mut String, key: &str, value: &Value) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push_str(&Value::String(key.to_owned()).to_string());
    out.push(':');
    out.push_str(&value.to_string());
}

/// As `toISOString` writes it: UTC, milliseconds (cut), `Z` (ECMA-262, 21.4.1.32).
pub fn iso(time: Timestamp) -> String {
    let at = TimeZone::UTC.to_datetime(time);
    let year = match at.year() {
        year @ 0..=9999 => format!("{year:04}"),
        year => format!("-{:06}", year.unsigned_abs()),
    };
    format!(
        "{year}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.millisecond()
    )
}

/// When a note ends: a date (`2026-03-01`) or a time (`2026-03-01T12:00:00Z`) as it stands; `12h`, `30d`, `6w` from now, as a time.
pub fn expiry(text: &str, now: Timestamp) -> Result<String, NoteError> {
    let no = || NoteError::Expires(shown(text));
    let text = text.trim();
    if ends_at(text).is_some() {
        return Ok(text.to_owned());
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(no)?;
    let (number, unit) = text.split_at_checked(end).ok_or_else(no)?;
    let number: i64 = number.parse().map_err(|_| no())?;
    let (each, most) = match unit {
        "h" => (1, MAX_DAYS * 24),
        "d" => (24, MAX_DAYS),
        "w" => (24 * 7, MAX_DAYS / 7),
        _ => return Err(no()),
    };
    if !(1..=most).contains(&number) {
        return Err(no());
    }
    let then = now.checked_add((number * each).hours()).map_err(|_| no())?;
    Ok(iso(then))
}

/// The time at which a note with this `expires` has ended: a date ends with its day in UTC.
pub fn ends_at(expires: &str) -> Option<Timestamp> {
    let text = expires.trim();
    if text.len() == 10 {
        let date: Date = text.parse().ok()?;
        return TimeZone::UTC.to_timestamp(date.tomorrow().ok()?.at(0, 0, 0, 0)).ok();
    }
    time(text)
}

/// A time with its offset, as RFC 3339 has it.
pub(crate) fn time(text: &str) -> Option<Timestamp> {
    // Annotations in brackets would ask for a database of zones.
    if text.len() > 40 || text.contains('[') { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests;
