//! Failure history in tables: loads what the rules need, saves what they changed. Lists go in as one JSON text each, so
//! that a run of thousands of tests is a handful of statements.

use std::collections::BTreeMap;

use serde::Serialize;
use store_api::rules::{Branch, Line, Memory, judge};
use store_api::run::Prepared;
use store_api::{
    Boxed, Cursor, FailureHistory, FailureSeen, Failures, Forgotten, HistoryQuery, Mark, Page, REPLAYS,
    RunOutcome, StoreError, Timestamp, Verdicts,
};

use crate::Store;
use crate::error::{damaged, json};
use crate::once::Write;
use crate::sql::{Conn, Sql, sql, values};

const ASKING: &str = "the history was read";
/// What whoever forgets takes, and whoever records shares.
const ALL_ROOTS: &str = "all roots";

/// Memories by the failure's number.
type Entries = BTreeMap<i64, Memory>;

impl Failures for Store {
    fn record(&self, run: RunOutcome) -> Boxed<Result<Verdicts, StoreError>> {
        let store = self.clone();
        Box::pin(async move {
            let recording = Recording(run.prepare()?);
            Ok(store.written(&recording, None).await?.value)
        })
    }

    fn history(&self, query: HistoryQuery) -> Boxed<Result<Page<FailureHistory>, StoreError>> {
        let store = self.clone();
        Box::pin(async move { history(&store, query).await })
    }

    fn forget(&self, before: Timestamp) -> Boxed<Result<Forgotten, StoreError>> {
        self.plain(Forgetting(before))
    }
}

/// A run that is to be recorded.
struct Recording(Prepared);

impl Write for Recording {
    type Answer = Verdicts;
    const DOING: &'static str = "a run was recorded";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, _: Timestamp) -> Result<Verdicts, StoreError> {
        let Self(run) = self;
        // One run of a root at a time, and none while old ones are forgotten.
        tx.share(ALL_ROOTS).await?;
        tx.lock(&format!("root {}", run.root)).await?;
        if let Some(first) = replay(tx, run).await? {
            return Ok(first);
        }
        let number = insert_run(tx, run).await?;
        let (mut memories, passed) = load(tx, run).await?;
        let verdicts = judge(run, number, &mut memories, &passed);
        save_failures(tx, run, number, &memories).await?;
        save_lines(tx, run, &memories).await?;
        save_passes(tx, run).await?;
        if run.transcript.is_some() {
            save_answer(tx, run, number, &verdicts).await?;
        }
        Ok(verdicts)
    }
}

async fn history(store: &Store, query: HistoryQuery) -> Result<Page<FailureHistory>, StoreError> {
    query.check()?;
    let ids = if query.ids.is_empty() { None } else { Some(json(&query.ids)?) };
    let state = query.state.map(store_api::LineState::as_str);
    let mut tx = store.read(ASKING).await?;
    let mut wanted = values![&query.root, &ids, &query.branch, state];
    let total = tx.one(COUNT, wanted.clone()).await?.fields().count()?;
    let after = query.after;
    wanted.extend(values![
        after.map(|after| after.rank),
        after.map(|after| after.number),
        i64::from(query.limit) + 1
    ]);
    let rows = tx.rows(LIST, wanted).await?;
    let shown = rows.get(..query.limit as usize).unwrap_or(&rows);
    let more = rows.len() > shown.len();
    let mut order = Vec::with_capacity(shown.len());
    let mut entries = Entries::new();
    for row in shown {
        let mut row = row.fields();
        let (entry, report) = (row.int()?, row.text()?);
        order.push(Cursor { rank: row.int()?, number: entry });
        entries.insert(entry, Memory::new(report_of(&report)?, BTreeMap::new()));
    }
    lines(&mut tx, &mut entries).await?;
    let items = order.iter().filter_map(|at| entries.get(&at.number)).map(Memory::history).collect();
    let next = order.last().copied().filter(|_| more);
    Ok(Page { items, next, total })
}

/// What was last seen before a time is to be forgotten.
struct Forgetting(Timestamp);

impl Write for Forgetting {
    type Answer = Forgotten;
    const DOING: &'static str = "old runs were forgotten";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, _: Timestamp) -> Result<Forgotten, StoreError> {
        tx.lock(ALL_ROOTS).await?;
        let mut counts = [0; 4];
        for (statement, count) in FORGET.iter().zip(&mut counts) {
            *count = tx.execute(*statement, values![self.0]).await?;
        }
        let [_, failures, tests, runs] = counts;
        Ok(Forgotten { runs, failures, tests })
    }
}

/// Branches first: a failure goes with its last one.
const FORGET: [&str; 4] = [
    "DELETE FROM lines WHERE latest < $1",
    "DELETE FROM failures WHERE $1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM lines WHERE lines.entry = failures.entry)",
    "DELETE FROM tests WHERE at < $1",
    "DELETE FROM runs WHERE at < $1",
];

/// What a query asks for: root $1, ids $2, branch $3, state $4.
macro_rules! matching {
    ($what:literal, $rest:literal) => {
        sql!(
            "SELECT "
            $what
            " FROM failures AS f WHERE f.root = $1 AND ($2 IS NULL OR f.id IN "
            [texts "$2"]
            ") AND EXISTS (SELECT 1 FROM lines AS l WHERE l.entry = f.entry
               AND ($3 IS NULL OR l.branch = $3) AND ($4 IS NULL OR l.state = $4))"
            $rest
        )
    };
}

const COUNT: Sql = matching!("count(*)", "");
const LIST: Sql = matching!(
    "f.entry, f.report, f.failed_run",
    " AND ($5 IS NULL OR (f.failed_run, f.entry) < ($5, $6)) ORDER BY f.failed_run DESC, f.entry DESC LIMIT $7"
);

fn report_of(text: &str) -> Result<FailureSeen, StoreError> {
    serde_json::from_str(text).map_err(damaged)
}

/// The answer of the first time, when the run was recorded before.
async fn replay(tx: &mut Conn, run: &Prepared) -> Result<Option<Verdicts>, StoreError> {
    let Some(transcript) = &run.transcript else { return Ok(None) };
    let before = tx
        .maybe(
            "SELECT verdicts FROM runs WHERE root = $1 AND transcript = $2 AND tool = $3 AND scope = $4",
            values![&run.root, transcript.as_str(), &run.tool, &run.scope],
        )
        .await?;
    let Some(before) = before else { return Ok(None) };
    let Some(text) = before.fields().maybe_text()? else { return Err(StoreError::AlreadyRecorded) };
    let verdicts: Verdicts = serde_json::from_str(&text).map_err(damaged)?;
    Ok(Some(Verdicts { repeated: true, ..verdicts }))
}

async fn insert_run(tx: &mut Conn, run: &Prepared) -> Result<i64, StoreError> {
    let row = tx
        .one(
            "INSERT INTO runs (root, tool, scope, revision, dirty, branch, at, transcript)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING number",
            values![
                &run.root,
                &run.tool,
                &run.scope,
                &run.mark.commit,
                run.mark.dirty,
                &run.mark.branch,
                run.mark.at,
                run.transcript.as_ref().map(contract::TranscriptId::as_str),
            ],
        )
        .await?;
    row.int()
}

/// What the rules need to know: memories of what the run names or should have named, and last passes of the rest.
async fn load(
    tx: &mut Conn,
    run: &Prepared,
) -> Result<(BTreeMap<String, Memory>, BTreeMap<String, Mark>), StoreError> {
    let named = sql!("SELECT entry, report FROM failures WHERE root = $1 AND id IN " [texts "$2"]);
    let mut rows = tx.rows(named, values![&run.root, json(&run.named)?]).await?;
    if run.misses_diagnostics || run.misses_tests {
        // The root is not looked up by: PostgreSQL, before it has statistics, takes it for the narrower condition, and goes through
        // all lines for each failure of the root.
        let missing = tx
            .rows(
                "SELECT f.entry, f.report FROM lines AS l JOIN failures AS f ON f.entry = l.entry
                 WHERE l.tool = $1 AND l.scope = $2 AND l.branch = $3 AND f.root || '' = $4",
                values![&run.tool, &run.scope, stored(&run.mark.branch), &run.root],
            )
            .await?;
        rows.extend(missing);
    }
    let mut entries = Entries::new();
    for row in &rows {
        let mut row = row.fields();
        let (entry, report) = (row.int()?, row.text()?);
        entries.insert(entry, Memory::new(report_of(&report)?, BTreeMap::new()));
    }
    lines(tx, &mut entries).await?;
    let memories: BTreeMap<String, Memory> =
        entries.into_values().map(|memory| (memory.failure.id.clone(), memory)).collect();

    let fresh: Vec<&str> =
        run.failing.iter().map(|f| f.id.as_str()).filter(|id| !memories.contains_key(*id)).collect();
    let mut passed = BTreeMap::new();
    if !fresh.is_empty() {
        let query =
            sql!("SELECT id, revision, branch, at FROM tests WHERE root = $1 AND id IN " [texts "$2"]);
        for row in tx.rows(query, values![&run.root, json(&fresh)?]).await? {
            let mut row = row.fields();
            let (id, commit, branch) = (row.text()?, row.text()?, row.maybe_text()?);
            passed.insert(id, Mark { commit: Some(commit), dirty: false, branch, at: row.time()? });
        }
    }
    Ok((memories, passed))
}

/// A branch as a part of a key, which SQL's null cannot be. Git has no branch without a name.
fn stored(branch: &Branch) -> &str {
    branch.as_deref().unwrap_or_default()
}

/// Loads all branches of the entries.
async fn lines(tx: &mut Conn, entries: &mut Entries) -> Result<(), StoreError> {
    let keys: Vec<i64> = entries.keys().copied().collect();
    let of_them = sql!("SELECT entry, branch, memory FROM lines WHERE entry IN " [ints "$1"]);
    for row in tx.rows(of_them, values![json(&keys)?]).await? {
        let mut row = row.fields();
        let (entry, branch, memory) = (row.int()?, row.text()?, row.text()?);
        let line: Line = serde_json::from_str(&memory).map_err(damaged)?;
        let branch = Some(branch).filter(|name| !name.is_empty());
        entries.entry(entry).and_modify(|memory| {
            memory.lines.insert(branch, line);
        });
    }
    Ok(())
}

async fn save_failures(
    tx: &mut Conn,
    run: &Prepared,
    number: i64,
    memories: &BTreeMap<String, Memory>,
) -> Result<(), StoreError> {
    let reported: Vec<&FailureSeen> = memories.values().filter(|m| m.reported).map(|m| &m.failure).collect();
    if reported.is_empty() {
        return Ok(());
    }
    let save = sql!(
        "INSERT INTO failures (root, id, report, failed_run)
         SELECT $1, j.value ->> 'id', CAST(j.value AS TEXT), $2 FROM " [rows "$3"] " WHERE true
         ON CONFLICT (root, id) DO UPDATE SET report = excluded.report, failed_run = excluded.failed_run"
    );
    tx.execute(save, values![&run.root, number, json(&reported)?]).await.map(|_| ())
}

/// A changed line as it goes in (SQLite takes the tables of a `CROSS JOIN` in the order given: the list is gone through
/// once). The memory is text within the text: the table keeps it as it is.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    branch: &'a str,
    state: &'static str,
    tool: Option<&'a str>,
    scope: Option<&'a str>,
    latest: i64,
    memory: String,
}

async fn save_lines(
    tx: &mut Conn,
    run: &Prepared,
    memories: &BTreeMap<String, Memory>,
) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    for (id, memory) in memories {
        for (branch, line) in memory.lines.iter().filter(|(branch, _)| memory.changed.contains(*branch)) {
            let (tool, scope) = line.awaited().unzip();
            let (branch, state) = (stored(branch), line.state().as_str());
            let latest = line.latest().as_millis();
            rows.push(Row { id, branch, state, tool, scope, latest, memory: json(line)? });
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let save = sql!(
        "INSERT INTO lines (entry, branch, state, tool, scope, latest, memory)
         SELECT f.entry, j.value ->> 'branch', j.value ->> 'state', j.value ->> 'tool', j.value ->> 'scope',
                CAST(j.value ->> 'latest' AS BIGINT), j.value ->> 'memory'
         FROM " [rows "$2"] " CROSS JOIN failures AS f WHERE f.root = $1 AND f.id = j.value ->> 'id'
         ON CONFLICT (entry, branch) DO UPDATE SET state = excluded.state, tool = excluded.tool,
                scope = excluded.scope, latest = excluded.latest, memory = excluded.memory"
    );
    tx.execute(save, values![&run.root, json(&rows)?]).await.map(|_| ())
}

/// Notes clean passes. One at the same commit and branch is written again after a day, for its age.
async fn save_passes(tx: &mut Conn, run: &Prepared) -> Result<(), StoreError> {
    let Some(commit) = run.mark.clean().filter(|_| !run.passed.is_empty()) else { return Ok(()) };
    let save = sql!(
        "INSERT INTO tests (root, id, revision, branch, at)
         SELECT $1, p.id, $3, $4, $5 FROM " [column "$2"] " WHERE true
         ON CONFLICT (root, id) DO UPDATE SET revision = excluded.revision, branch = excluded.branch, at = excluded.at
         WHERE tests.revision IS DISTINCT FROM excluded.revision OR tests.branch IS DISTINCT FROM excluded.branch
            OR excluded.at - tests.at > 86400000"
    );
    let passed = json(&run.passed)?;
    tx.execute(save, values![&run.root, passed, commit, &run.mark.branch, run.mark.at]).await.map(|_| ())
}

/// Keeps the answer, and lets go of the one that is too old now.
async fn save_answer(
    tx: &mut Conn,
    run: &Prepared,
    number: i64,
    verdicts: &Verdicts,
) -> Result<(), StoreError> {
    let keep = "UPDATE runs SET verdicts = $2 WHERE number = $1";
    tx.execute(keep, values![number, json(verdicts)?]).await?;
    let forget = "UPDATE runs SET verdicts = NULL WHERE root = $1 AND verdicts IS NOT NULL AND number <= (
           SELECT number FROM runs WHERE root = $1 AND verdicts IS NOT NULL
           ORDER BY number DESC LIMIT 1 OFFSET $2)";
    tx.execute(forget, values![&run.root, REPLAYS]).await.map(|_| ())
}
