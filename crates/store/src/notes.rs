//! Notes in tables. Lists go by a note's place, which grows with every change: what was changed last comes first, whatever clocks
//! said, and a change moves a note to where every cursor is past.

use std::collections::BTreeSet;

use store_api::id::NoteId;
use store_api::note::{
    DayNotes, EXCERPT, MIN_CUT, NewNote, Note, NoteHit, NotePage, NotePatch, NoteQuery, NoteScope, sorted,
};
use store_api::once::{Done, Once};
use store_api::text::MAX_KEY;
use store_api::{Answer, Notes, Page, StoreError, Timestamp};

use crate::Store;
use crate::error::json;
use crate::once::Write;
use crate::search::{Indexed, drop_words, search, tag_term};
use crate::sql::{Conn, Fields, Sql, page, sql, values};

const ASKING: &str = "notes were read";

/// A statement with the columns that [`hit`] reads.
macro_rules! hit_columns {
    ($before:literal, $($after:tt)+) => {
        sql!(
            $before
            "id, venture, title, tags, version, updated, characters, substr(content, 1, 200)"
            $($after)+
        )
    };
}

pub(crate) use hit_columns;

/// A statement with the columns that [`read`] reads.
macro_rules! note {
    ($before:literal $([$part:ident] $between:literal)?, $($after:tt)+) => {
        sql!(
            $before
            $([$part] $between)?
            "id, venture, title, content, tags, version, archived, created, updated, principal"
            $($after)+
        )
    };
}

fn read(row: &mut Fields<'_>) -> Result<Note, StoreError> {
    Ok(Note {
        id: row.parsed(|id| id.parse().ok())?,
        venture: row.maybe_text()?,
        title: row.text()?,
        content: row.text()?,
        tags: row.parsed(|tags| serde_json::from_str(tags).ok())?,
        version: row.int()?,
        archived: row.int()? != 0,
        created: row.time()?,
        updated: row.time()?,
        by: row.text()?,
    })
}

/// A note in a list. Its excerpt has [`EXCERPT`] characters: the statement's 200.
pub(crate) fn hit(row: &mut Fields<'_>) -> Result<NoteHit, StoreError> {
    Ok(NoteHit {
        id: row.parsed(|id| id.parse().ok())?,
        venture: row.maybe_text()?,
        title: row.text()?,
        tags: row.parsed(|tags| serde_json::from_str(tags).ok())?,
        version: row.int()?,
        updated: row.time()?,
        characters: row.count()?,
        excerpt: row.text()?,
        snippet: None,
    })
}

const _: () = assert!(EXCERPT == 200, "what the statements cut");

impl Notes for Store {
    fn add_note(&self, note: NewNote, once: Option<Once>) -> Answer<Done<Note>> {
        self.once(Adding::of(note), once)
    }

    fn change_note(&self, patch: NotePatch, once: Option<Once>) -> Answer<Done<Note>> {
        self.once(patch, once)
    }

    fn note(&self, id: NoteId) -> Answer<Option<Note>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read(ASKING).await?;
            let one = note!("SELECT ", " FROM notes WHERE id = $1");
            tx.maybe(one, values![id.as_str()]).await?.map(|row| read(&mut row.fields())).transpose()
        })
    }

    fn notes(&self, query: NoteQuery) -> Answer<NotePage> {
        let store = self.clone();
        Box::pin(async move {
            query.check()?;
            let mut tx = store.read(ASKING).await?;
            match &query.q {
                Some(q) => search(&mut tx, &query, q).await,
                None => list(&mut tx, &query).await,
            }
        })
    }

    fn for_day(&self, venture: String, most: u32, characters: u64) -> Answer<DayNotes> {
        let store = self.clone();
        Box::pin(async move { for_day(&store, &venture, most, characters).await })
    }
}

async fn of_id(tx: &mut Conn, id: &NoteId) -> Result<Option<(Kept, Note)>, StoreError> {
    let one = note!("SELECT number, place, ", " FROM notes WHERE id = $1"[lock]);
    let Some(row) = tx.maybe(one, values![id.as_str()]).await? else { return Ok(None) };
    let mut row = row.fields();
    let kept = Kept { number: row.int()?, place: row.int()? };
    Ok(Some((kept, read(&mut row)?)))
}

/// Where a note is kept.
#[derive(Debug, Clone, Copy)]
struct Kept {
    number: i64,
    place: i64,
}

/// A note that is to be kept, analysed before anybody waits for the database.
struct Adding {
    note: NewNote,
    tags: Vec<String>,
    indexed: Option<Indexed>,
}

impl Adding {
    fn of(note: NewNote) -> Self {
        let tags = sorted(&note.tags);
        // What does not fit is refused, and need not be read.
        let fits = note.check().is_ok();
        let indexed =
            fits.then(|| Indexed::of(note.venture.as_deref(), &note.title, &tags, &note.content, false));
        Self { note, tags, indexed }
    }
}

impl Write for Adding {
    type Answer = Note;
    const DOING: &'static str = "a note was kept";

    fn check(&self) -> Result<(), StoreError> {
        self.note.check()
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Note, StoreError> {
        let NewNote { id, venture, title, content, by, .. } = &self.note;
        if let Some((_, known)) = of_id(tx, id).await? {
            return Ok(known);
        }
        let insert = note!(
            "INSERT INTO notes (id, place, venture, title, tags, version, archived, created, updated, principal,
                    characters, content)
             VALUES ($1, " [next_place] ", $2, $3, $4, 1, 0, $5, $5, $6, $7, $8) RETURNING number, place, ",
            ""
        );
        let row = values![id.as_str(), venture, title, json(&self.tags)?, now, by, length(content), content];
        let row = tx.one(insert, row).await?;
        let mut row = row.fields();
        let kept = Kept { number: row.int()?, place: row.int()? };
        save_tags(tx, &[(kept.number, &self.tags)]).await?;
        if let Some(indexed) = &self.indexed {
            indexed.keep(tx, kept.place).await?;
        }
        read(&mut row)
    }
}

/// Characters of a text as a column has them.
pub(crate) fn length(content: &str) -> i64 {
    i64::try_from(content.chars().count()).unwrap_or(i64::MAX)
}

pub(crate) async fn save_tags(tx: &mut Conn, of: &[(i64, &[String])]) -> Result<(), StoreError> {
    let terms = |tags: &[String]| tags.iter().map(|tag| tag_term(tag)).collect::<BTreeSet<_>>();
    let row = |note: i64, tag: String| serde_json::json!({ "note": note, "tag": tag });
    let rows: Vec<serde_json::Value> =
        of.iter().flat_map(|(note, tags)| terms(tags).into_iter().map(|tag| row(*note, tag))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let save = sql!(
        "INSERT INTO note_tags (note, tag) SELECT CAST(j.value ->> 'note' AS BIGINT), j.value ->> 'tag' FROM "
        [rows "$1"]
    );
    tx.execute(save, values![json(&rows)?]).await.map(|_| ())
}

impl Write for NotePatch {
    type Answer = Note;
    const DOING: &'static str = "a note was changed";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Note, StoreError> {
        let Some((kept, known)) = of_id(tx, &self.id).await? else {
            return Err(StoreError::NotFound { what: "note", id: self.id.to_string() });
        };
        if let Some(expected) = self.expected.filter(|expected| *expected != known.version) {
            return Err(StoreError::Stale { found: known.version, expected });
        }
        let changed = Note {
            title: self.title.clone().unwrap_or_else(|| known.title.clone()),
            content: self.content.clone().unwrap_or_else(|| known.content.clone()),
            tags: self.tags.as_deref().map_or_else(|| known.tags.clone(), sorted),
            venture: self.venture.clone().unwrap_or_else(|| known.venture.clone()),
            archived: self.archived.unwrap_or(known.archived),
            ..known.clone()
        };
        if changed == known {
            return Ok(known);
        }
        let update = note!(
            "UPDATE notes SET place = " [next_place] ", venture = $2, title = $3, tags = $4, version = version + 1,
               archived = $5, updated = $6, principal = $7, characters = $8, content = $9
             WHERE number = $1 RETURNING number, place, ",
            ""
        );
        let Note { venture, title, content, tags, archived, .. } = &changed;
        let row = values![
            kept.number,
            venture,
            title,
            json(tags)?,
            *archived,
            now,
            &self.by,
            length(content),
            content,
        ];
        let row = tx.one(update, row).await?;
        let mut row = row.fields();
        let moved = Kept { number: row.int()?, place: row.int()? };
        tx.execute("DELETE FROM note_tags WHERE note = $1", values![moved.number]).await?;
        save_tags(tx, &[(moved.number, tags)]).await?;
        drop_words(tx, kept.place).await?;
        Indexed::of(venture.as_deref(), title, tags, content, *archived).keep(tx, moved.place).await?;
        read(&mut row)
    }
}

/// Notes of a scope and a tag: archived $1, venture $2, tag $3.
macro_rules! of {
    ($spelled:ident, [$($head:tt)+], $scope:literal, $tag:literal, $rest:literal) => {
        $spelled!($($head)+ " FROM notes WHERE archived = $1" $scope $tag $rest)
    };
}

/// What counts and what lists.
macro_rules! both {
    ($scope:literal, $tag:literal) => {
        [
            of!(sql, ["SELECT count(*)"], $scope, $tag, ""),
            of!(
                hit_columns,
                ["SELECT place, place, ",],
                $scope,
                $tag,
                " AND place < $4 ORDER BY place DESC LIMIT $5"
            ),
        ]
    };
}

macro_rules! tagged {
    ($scope:literal) => {
        [
            both!($scope, " AND $3 IS NULL"),
            both!($scope, " AND number IN (SELECT note FROM note_tags WHERE tag = $3)"),
        ]
    };
}

const ANY: [[Sql; 2]; 2] = tagged!(" AND $2 IS NULL");
const VENTURE: [[Sql; 2]; 2] = tagged!(" AND venture = $2");
const GLOBAL: [[Sql; 2]; 2] = tagged!(" AND venture IS NULL AND $2 IS NULL");

async fn list(tx: &mut Conn, query: &NoteQuery) -> Result<NotePage, StoreError> {
    let (scope, venture) = match &query.scope {
        NoteScope::Any => (ANY, None),
        NoteScope::Venture(venture) => (VENTURE, Some(venture.as_str())),
        NoteScope::Global => (GLOBAL, None),
    };
    let tag = query.tag.as_deref().map(|tag| tag_term(tag.trim()));
    let [untagged, tagged] = scope;
    let [count, list] = if tag.is_some() { tagged } else { untagged };
    let mut wanted = values![query.archived, venture, tag];
    let total = tx.one(count, wanted.clone()).await?.fields().count()?;
    let before = query.after.map_or(i64::MAX, |after| after.number);
    wanted.extend(values![before, i64::from(query.limit) + 1]);
    let rows = tx.rows(list, wanted).await?;
    let Page { items, next, total } = page(&rows, query.limit, total, hit)?;
    Ok(NotePage { items, next, total, ranked: None })
}

/// Whose notes a day begins with, in this order. Each by an index of its own: no order is made of all notes.
const DAY: [Sql; 3] = [
    note!("SELECT ", " FROM notes WHERE archived = 0 AND venture = $1 ORDER BY place DESC LIMIT $2"),
    note!(
        "SELECT ",
        " FROM notes WHERE archived = 0 AND venture IS NULL AND $1 IS NOT NULL ORDER BY place DESC LIMIT $2"
    ),
    note!("SELECT ", " FROM notes WHERE archived = 0 AND venture <> $1 ORDER BY place DESC LIMIT $2"),
];

async fn for_day(store: &Store, venture: &str, most: u32, room: u64) -> Result<DayNotes, StoreError> {
    if venture.len() > MAX_KEY || venture.contains('\0') {
        return Err(StoreError::Invalid { what: "venture", why: "it is longer than 200 bytes or has a NUL" });
    }
    let mut tx = store.read(ASKING).await?;
    let count = "SELECT count(*) FROM notes WHERE archived = 0";
    let total = tx.one(count, Vec::new()).await?.fields().count()?;
    let mut day = DayNotes { notes: Vec::new(), cut: false, total, characters: 0 };
    for of in DAY {
        let wanted = most.saturating_sub(u32::try_from(day.notes.len()).unwrap_or(u32::MAX));
        for row in tx.rows(of, values![venture, wanted]).await? {
            if !fit(&mut day, read(&mut row.fields())?, room) {
                return Ok(day);
            }
        }
    }
    Ok(day)
}

/// Takes a note into the day, whole or, where a good part of it fits, its beginning. Whether there may be more.
fn fit(day: &mut DayNotes, mut note: Note, room: u64) -> bool {
    let title = note.title.chars().count() as u64;
    let content = note.content.chars().count() as u64;
    let left = room.saturating_sub(day.characters);
    let fits = title + content <= left;
    if !fits {
        let left = left.saturating_sub(title);
        if left < MIN_CUT {
            return false;
        }
        cut(&mut note.content, left);
        day.cut = true;
    }
    day.characters += title + note.content.chars().count() as u64;
    day.notes.push(note);
    fits
}

/// The beginning of a text: whole lines, unless the first is too long for that.
fn cut(text: &mut String, characters: u64) {
    let most = usize::try_from(characters).unwrap_or(usize::MAX);
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    // The end of a line belongs to it.
    let line = text.get(..end).and_then(|text| text.rfind('\n')).map(|at| at + 1);
    text.truncate(line.unwrap_or(end));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_a_line_or_in_the_middle_of_its_only_one() {
        for (text, most, expected) in [
            ("ab\ncd\nef", 7, "ab\ncd\n"),
            ("ab\ncd\nef", 6, "ab\ncd\n"),
            ("ab\ncd\nef", 5, "ab\n"),
            ("abcdef", 3, "abc"),
            ("äöü", 2, "äö"),
            ("", 2, ""),
        ] {
            let mut text = text.to_owned();
            cut(&mut text, most);
            assert_eq!(text, expected);
        }
    }
}
