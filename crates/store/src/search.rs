//! Notes by words. What a note is found by is decided by the crate `words`: the database compares terms.

use contract::Digest;
use serde_json::{Value, json};
use store_api::note::{MAX_COUNT, MAX_RANKED, NoteHit, NotePage, NoteQuery, NoteScope, Ranked};
use store_api::{Cursor, StoreError};
use words::{
    Columns, Label, Query, TAG, Tokens, Weight, analyze, fts5_labels, fts5_match, fts5_text, snippet,
    tsquery_literal, tsquery_rank, tsvector_literal,
};

use crate::error::json as written;
use crate::notes::{hit, hit_columns};
use crate::sql::{Conn, Sql, sql, values};

/// Where words are looked for, and labels. The weights of titles, tags and texts (8, 4, 1) stand in [`BEST`].
const COLUMNS: Columns<'static> = Columns { words: &["title", "tags", "body"], labels: "scope" };

/// What a note is found by.
pub(crate) struct Indexed {
    labels: Vec<Label>,
    title: Tokens,
    tags: Tokens,
    body: Tokens,
}

/// The label of notes of nobody in particular.
fn global() -> Option<Label> {
    Label::new('g', "")
}

/// The label of a venture. Codes are longer than labels may be, and differ by case: a digest does not.
fn venture_label(code: &str) -> Option<Label> {
    Label::new('v', &Digest::of(code.as_bytes()).to_string())
}

/// The label of what is put away.
fn archived() -> Option<Label> {
    Label::new('x', "")
}

/// A tag as it is compared: without case, as the words of a question are.
pub(crate) fn tag_term(tag: &str) -> String {
    Label::new(TAG, tag).map_or_else(|| tag.to_owned(), |label| label.term().to_owned())
}

impl Indexed {
    /// Of a note's parts: at most [`words::MAX_TEXT`] bytes of its text.
    pub(crate) fn of(
        venture: Option<&str>,
        title: &str,
        tags: &[String],
        content: &str,
        is_archived: bool,
    ) -> Self {
        let whose = venture.map_or_else(global, venture_label);
        let away = if is_archived { archived() } else { None };
        let labels = tags.iter().filter_map(|tag| Label::new(TAG, tag));
        Self {
            labels: whose.into_iter().chain(away).chain(labels).collect(),
            title: analyze(title),
            tags: analyze(&tags.join(" ")),
            body: analyze(content),
        }
    }

    /// Puts many into the index, each under a place that is free, in one statement.
    pub(crate) async fn keep_all(tx: &mut Conn, all: &[(i64, Self)]) -> Result<(), StoreError> {
        if all.is_empty() {
            return Ok(());
        }
        let is_pg = tx.is_pg();
        let rows: Vec<Value> = all.iter().map(|(place, words)| words.row(*place, is_pg)).collect();
        let keep = Sql::new(
            "INSERT INTO note_words (rowid, scope, title, tags, body)
             SELECT value ->> 'place', value ->> 'scope', value ->> 'title', value ->> 'tags', value ->> 'body'
             FROM json_each($1)",
            "INSERT INTO note_words (place, words)
             SELECT (value ->> 'place')::bigint, (value ->> 'words')::tsvector FROM json_array_elements($1::json) AS j(value)",
        );
        tx.execute(keep, values![written(&rows)?]).await.map(|_| ())
    }

    fn row(&self, place: i64, is_pg: bool) -> Value {
        if is_pg {
            return json!({ "place": place, "words": self.literal() });
        }
        let (title, tags, body) = (fts5_text(&self.title), fts5_text(&self.tags), fts5_text(&self.body));
        json!({ "place": place, "scope": fts5_labels(&self.labels), "title": title, "tags": tags, "body": body })
    }

    /// As PostgreSQL has it.
    fn literal(&self) -> String {
        let fields = [(Weight::A, &self.title), (Weight::B, &self.tags), (Weight::D, &self.body)];
        tsvector_literal(&fields, &self.labels).literal
    }

    /// Puts it into the index under a place that is free.
    pub(crate) async fn keep(&self, tx: &mut Conn, place: i64) -> Result<(), StoreError> {
        if tx.is_pg() {
            let keep = "INSERT INTO note_words (place, words) VALUES ($1, $2::tsvector)";
            return tx.execute(keep, values![place, self.literal()]).await.map(|_| ());
        }
        let keep = "INSERT INTO note_words (rowid, scope, title, tags, body) VALUES ($1, $2, $3, $4, $5)";
        let (title, tags, body) = (fts5_text(&self.title), fts5_text(&self.tags), fts5_text(&self.body));
        tx.execute(keep, values![place, fts5_labels(&self.labels), title, tags, body]).await.map(|_| ())
    }
}

/// Takes a note out of the index.
pub(crate) async fn drop_words(tx: &mut Conn, place: i64) -> Result<(), StoreError> {
    let away = Sql::new("DELETE FROM note_words WHERE rowid = $1", "DELETE FROM note_words WHERE place = $1");
    tx.execute(away, values![place]).await.map(|_| ())
}

/// Words as a question within what else is asked for.
fn asked(query: &NoteQuery, q: &str) -> Result<Query, StoreError> {
    let mut asked = Query::parse(q);
    if asked.is_cut() {
        let most = format!("{} bytes and {} words, phrases and tags", words::MAX_QUERY, words::MAX_ITEMS);
        return Err(StoreError::Query(format!("it is longer than {most}: leave some out")));
    }
    if asked.is_empty() {
        let why = "nothing is asked for: give words, \"phrases in quotes\", begin* or tag:name; what stands behind a - is left out";
        return Err(StoreError::Query(why.to_owned()));
    }
    let scope = match &query.scope {
        NoteScope::Any => None,
        NoteScope::Venture(code) => venture_label(code),
        NoteScope::Global => global(),
    };
    let tag = query.tag.as_deref().and_then(|tag| Label::new(TAG, tag.trim()));
    for label in scope.into_iter().chain(tag) {
        asked = asked.with(label);
    }
    if let Some(archived) = archived() {
        asked = if query.archived { asked.with(archived) } else { asked.without(archived) };
    }
    Ok(asked)
}

/// How many match, counted up to $3.
const COUNT: Sql = Sql::new(
    "SELECT count(*) FROM (SELECT 1 FROM note_words WHERE note_words MATCH $1 AND rowid <= $2 LIMIT $3)",
    "SELECT count(*) FROM (SELECT 1 FROM note_words WHERE words @@ $1::tsquery AND place <= $2 LIMIT $3) AS m",
)
.planned_anew();
/// The oldest and newest of the newest $3 that match.
const NEWEST: Sql = Sql::new(
    "SELECT min(place), max(place) FROM (SELECT rowid AS place FROM note_words
       WHERE note_words MATCH $1 AND rowid <= $2 ORDER BY rowid DESC LIMIT $3)",
    "SELECT min(place), max(place) FROM (SELECT place FROM note_words
       WHERE words @@ $1::tsquery AND place <= $2 ORDER BY place DESC LIMIT $3) AS m",
)
.planned_anew();
/// Of those between $2 and $3 the best by the words $6, after $5 of them. The weights are those of title, tags and text: 8, 4, 1.
const BEST: Sql = Sql::new(
    "SELECT rowid FROM note_words WHERE note_words MATCH $1 AND rowid BETWEEN $2 AND $3 AND $6 IS NOT NULL
     ORDER BY bm25(note_words, 0.0, 8.0, 4.0, 1.0), rowid DESC LIMIT $4 OFFSET $5",
    "SELECT place FROM note_words WHERE words @@ $1::tsquery AND place BETWEEN $2 AND $3
     ORDER BY ts_rank('{0.125, 0.25, 0.5, 1.0}', words, $6::tsquery) DESC, place DESC LIMIT $4 OFFSET $5",
)
.planned_anew();
/// The same where there are no words to be better by.
const LATEST: Sql = Sql::new(
    "SELECT rowid FROM note_words WHERE note_words MATCH $1 AND rowid BETWEEN $2 AND $3
     ORDER BY rowid DESC LIMIT $4 OFFSET $5",
    "SELECT place FROM note_words WHERE words @@ $1::tsquery AND place BETWEEN $2 AND $3
     ORDER BY place DESC LIMIT $4 OFFSET $5",
)
.planned_anew();

/// A page of what matches, the best first. A cursor has the place among the best, and the newest note of the first page: notes that
/// come meanwhile move nothing.
pub(crate) async fn search(tx: &mut Conn, query: &NoteQuery, q: &str) -> Result<NotePage, StoreError> {
    let asked = asked(query, q)?;
    let matching = if tx.is_pg() { tsquery_literal(&asked) } else { fts5_match(&asked, &COLUMNS) };
    let Some(matching) = matching else {
        return Err(StoreError::Query("nothing is asked for".to_owned()));
    };
    let (passed, bound) = query.after.map_or((0, i64::MAX), |after| (after.rank.max(0), after.number));
    let counted = i64::try_from(MAX_COUNT).unwrap_or(i64::MAX).saturating_add(1);
    let total = tx.one(COUNT, values![&matching, bound, counted]).await?.fields().count()?;
    let newest = tx.one(NEWEST, values![&matching, bound, MAX_RANKED]).await?;
    let mut newest = newest.fields();
    let (oldest, bound) = (newest.maybe_int()?.unwrap_or(0), newest.maybe_int()?.unwrap_or(0));
    let limit = i64::from(query.limit);
    let mut wanted = values![&matching, oldest, bound, limit + 1, passed];
    let rows = match tsquery_rank(&asked) {
        Some(words) => {
            wanted.extend(values![words]);
            tx.rows(BEST, wanted).await?
        }
        None => tx.rows(LATEST, wanted).await?,
    };
    let mut items = Vec::new();
    for row in rows.iter().take(query.limit as usize) {
        // One by one: contents are large, and one is enough to have at a time.
        items.extend(shown(tx, row.int()?, &asked).await?);
    }
    let goes_on = rows.len() as u64 > u64::from(query.limit);
    let next = goes_on.then_some(Cursor { rank: passed.saturating_add(limit), number: bound });
    let ranked = if total > u64::from(MAX_RANKED) { Ranked::Newest } else { Ranked::All };
    Ok(NotePage { items, next, total, ranked: Some(ranked) })
}

async fn shown(tx: &mut Conn, place: i64, asked: &Query) -> Result<Option<NoteHit>, StoreError> {
    let one = hit_columns!("SELECT ", ", content FROM notes WHERE place = $1");
    let Some(row) = tx.maybe(one, values![place]).await? else { return Ok(None) };
    let mut row = row.fields();
    let hit = hit(&mut row)?;
    let found = snippet(&row.text()?, asked);
    let snippet = (!found.hits.is_empty()).then(|| marked(&found));
    Ok(Some(NoteHit { snippet, ..hit }))
}

/// A passage with `**` around what was found.
fn marked(found: &words::Snippet) -> String {
    let mut text = found.text.clone();
    for hit in found.hits.iter().rev() {
        for at in [hit.end, hit.start] {
            if text.is_char_boundary(at) {
                text.insert_str(at, "**");
            }
        }
    }
    text
}
