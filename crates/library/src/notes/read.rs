//! Notes from lines.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{MAX_FILE, MAX_LINE, MAX_SUPERSEDES, Note, NoteId, NoteType, ends_at, time};
use crate::problem::{Code, Place, Problems};
use crate::text::number;

/// What a file of notes holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Notes {
    /// Oldest first; equal lines once. A note without a time stands where its line does.
    pub notes: Vec<Note>,
    /// What was passed over, line by line; what the lines say is never repeated.
    pub problems: Problems,
}

/// Reads a file of notes. What is no note is passed over and told with its line. Linear in the file but for sorting; nothing
/// behind [`MAX_FILE`] is read.
pub fn read(text: &str, file: &str) -> Notes {
    let mut problems = Problems::of(file);
    let mut end = text.len().min(MAX_FILE);
    if end < text.len() {
        // A line that is cut would be none.
        end = text
            .as_bytes()
            .get(..end)
            .and_then(|t| t.iter().rposition(|b| *b == b'\n'))
            .map_or(0, |at| at + 1);
        problems.whole(
            Code::TooLarge,
            "notes behind the first 64 MiB are not read: move old ones into another file",
        );
    }
    let text = text.get(..end).unwrap_or_default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut notes: Vec<Note> = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim_matches([' ', '\t', '\r']);
        if line.is_empty() {
            continue;
        }
        let line_number = number(index + 1);
        match parse(line, line_number, &mut problems) {
            Ok(note) => {
                if seen.insert(note.id) {
                    notes.push(note);
                }
            }
            Err(why) => problems.at(Place::line(line_number), Code::NoteInvalid, why),
        }
    }
    // References are looked at when all notes are there: lines may have been moved.
    for note in &notes {
        let missing = note.supersedes.iter().filter(|id| !seen.contains(*id)).count();
        if missing > 0 {
            let why = format!(
                "{missing} of the notes that this one supersedes are not here: nothing is replaced by that"
            );
            problems.at(Place::line(note.line), Code::NoteInvalid, why);
        }
    }
    sort(&mut notes);
    Notes { notes, problems }
}

/// By time; a note without one has that of the line before it.
fn sort(notes: &mut Vec<Note>) {
    let mut last = None;
    let mut timed: Vec<_> = std::mem::take(notes)
        .into_iter()
        .map(|note| {
            last = note.at.or(last);
            (last, note)
        })
        .collect();
    timed.sort_by_key(|(at, note)| (*at, note.line));
    notes.extend(timed.into_iter().map(|(_, note)| note));
}

/// One line. What is wrong with parts that can do without is told; the error is why it is no note.
fn parse(line: &str, at: u32, problems: &mut Problems) -> Result<Note, String> {
    if line.len() > MAX_LINE {
        return Err("the line is longer than 1 MiB: it is passed over".to_owned());
    }
    let value: Value = serde_json::from_str(&whole_surrogates(line)).map_err(|error| {
        // The position alone: the words could repeat what the line says.
        let what = if error.is_eof() { "ends too early" } else { "is no JSON" };
        format!("the line {what} (column {}): it is passed over", error.column())
    })?;
    let Value::Object(mut map) = value else {
        return Err("the line is no JSON object: it is passed over".to_owned());
    };
    let Some(Value::String(content)) = map.remove("content") else {
        return Err("the note has no text in `content`: it is passed over".to_owned());
    };
    if content.trim().is_empty() {
        return Err("the note's `content` is empty: it is passed over".to_owned());
    }
    let Some(Value::String(stated)) = map.remove("type") else {
        return Err("the note has no `type`: it is passed over".to_owned());
    };
    let kind = NoteType::ALL.into_iter().find(|kind| kind.as_str() == stated).unwrap_or(NoteType::General);
    let mut told = |why: &str| problems.at(Place::line(at), Code::NoteInvalid, why);
    let timestamp = match map.remove("timestamp") {
        Some(Value::String(text)) => text,
        // Without its type, a number would be another note when it is written again.
        Some(other) => {
            map.insert("timestamp".to_owned(), other);
            String::new()
        }
        None => String::new(),
    };
    let when = time(&timestamp);
    if when.is_none() {
        told("the note's `timestamp` is no time: it is sorted by its line");
    }
    let expires = text(&mut map, "expires");
    if expires.as_deref().is_some_and(|text| ends_at(text).is_none()) {
        told("the note's `expires` is no date and no time: it does not expire");
    }
    let supersedes = ids(&mut map, &mut told);
    Ok(Note {
        id: NoteId::of(&stated, &timestamp, &content),
        kind,
        stated,
        content,
        timestamp,
        at: when,
        subject: text(&mut map, "subject"),
        supersedes,
        expires,
        by: text(&mut map, "by"),
        key: text(&mut map, "key"),
        other: map,
        line: at,
    })
}

/// A text; of another type it stays among the other keys.
fn text(map: &mut Map<String, Value>, key: &str) -> Option<String> {
    match map.remove(key)? {
        Value::String(text) => Some(text),
        other => {
            map.insert(key.to_owned(), other);
            None
        }
    }
}

fn ids(map: &mut Map<String, Value>, told: &mut impl FnMut(&str)) -> Vec<NoteId> {
    let list = match map.get("supersedes") {
        None => return Vec::new(),
        Some(Value::Array(list)) if list.len() <= MAX_SUPERSEDES => list,
        Some(_) => {
            told("the note's `supersedes` is no list of at most 100 ids: nothing is replaced by it");
            return Vec::new();
        }
    };
    let found: Option<Vec<NoteId>> = list.iter().map(|id| id.as_str()?.parse().ok()).collect();
    match found {
        Some(found) => {
            map.remove("supersedes");
            found
        }
        None => {
            told("the note's `supersedes` names what is no id of a note: nothing is replaced by it");
            Vec::new()
        }
    }
}

/// `\ud800` without its other half is what JavaScript writes for a text that was cut in a pair, and no text elsewhere: it
/// becomes `\ufffd`.
pub(super) fn whole_surrogates(line: &str) -> Cow<'_, str> {
    if !line.contains("\\ud") && !line.contains("\\uD") {
        return Cow::Borrowed(line);
    }
    let unit = |at: usize| -> Option<u16> {
        let digits = line.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        if digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            u16::from_str_radix(digits, 16).ok()
        } else {
            None
        }
    };
    let mut out = String::with_capacity(line.len());
    let (mut from, mut at) = (0, 0);
    let bytes = line.as_bytes();
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(line.get(from..at).unwrap_or_default());
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            // The escaped character, a backslash too, begins no escape.
            _ => at += 2,
        }
    }
    out.push_str(line.get(from..).unwrap_or_default());
    Cow::Owned(out)
}
