//! Failure history in tables: loads what the rules need, saves what they changed. Lists go in as one JSON text each, so
//! that a run of thousands of tests is a handful of statements.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::FromRow as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use store_api::rules::{Branch, Line, Memory, judge};
use store_api::run::Prepared;
use store_api::{
    Cursor, FailureHistory, FailureSeen, Forgotten, HistoryQuery, Mark, Page, REPLAYS, RunOutcome,
    StoreError, Timestamp, Verdicts,
};

use super::Sqlite;
use super::error::{Doing as _, damaged, driver};

const RECORDING: &str = "a run was recorded";
const ASKING: &str = "the history was read";
const FORGETTING: &str = "old runs were forgotten";

/// Memories by the failure's number.
type Entries = BTreeMap<i64, Memory>;

impl Sqlite {
    pub(crate) async fn record(&self, run: RunOutcome) -> Result<Verdicts, StoreError> {
        let run = run.prepare()?;
        let mut tx = self.write().await?;
        if let Some(first) = replay(&mut tx, &run).await? {
            return Ok(first);
        }
        let number = insert_run(&mut tx, &run).await?;
        let (mut memories, passed) = load(&mut tx, &run).await?;
        let verdicts = judge(&run, number, &mut memories, &passed);
        save_failures(&mut tx, &run, number, &memories).await?;
        save_lines(&mut tx, &run, &memories).await?;
        save_passes(&mut tx, &run).await?;
        if run.transcript.is_some() {
            save_answer(&mut tx, &run, number, &verdicts).await?;
        }
        tx.commit().await.doing(RECORDING)?;
        Ok(verdicts)
    }

    pub(crate) async fn history(&self, query: HistoryQuery) -> Result<Page<FailureHistory>, StoreError> {
        query.check()?;
        let ids = if query.ids.is_empty() { None } else { Some(json(&query.ids)?) };
        let state = query.state.map(store_api::LineState::as_str);
        let mut tx = self.read().await?;
        let total: i64 = sqlx::query_scalar(COUNT)
            .bind(&query.root)
            .bind(&ids)
            .bind(&query.branch)
            .bind(state)
            .fetch_one(&mut *tx)
            .await
            .doing(ASKING)?;
        let rows = sqlx::query(LIST)
            .bind(&query.root)
            .bind(&ids)
            .bind(&query.branch)
            .bind(state)
            .bind(query.after.map(|after| after.rank))
            .bind(query.after.map(|after| after.number))
            .bind(i64::from(query.limit) + 1)
            .fetch_all(&mut *tx)
            .await
            .doing(ASKING)?;
        let shown = rows.get(..query.limit as usize).unwrap_or(&rows);
        let more = rows.len() > shown.len();
        let mut order = Vec::with_capacity(shown.len());
        let mut entries = Entries::new();
        for row in shown {
            let (entry, report, run) = <(i64, String, i64)>::from_row(row).doing(ASKING)?;
            order.push(Cursor { rank: run, number: entry });
            entries.insert(entry, Memory::new(report_of(&report)?, BTreeMap::new()));
        }
        lines(&mut tx, &mut entries).await?;
        let items = order.iter().filter_map(|at| entries.get(&at.number)).map(Memory::history).collect();
        let next = order.last().copied().filter(|_| more);
        Ok(Page { items, next, total: total.unsigned_abs() })
    }

    pub(crate) async fn forget(&self, before: Timestamp) -> Result<Forgotten, StoreError> {
        let mut tx = self.write().await?;
        let mut counts = [0; 4];
        for (statement, count) in FORGET.iter().zip(&mut counts) {
            let done = sqlx::query(*statement).bind(before.as_millis()).execute(&mut *tx).await;
            *count = done.doing(FORGETTING)?.rows_affected();
        }
        tx.commit().await.doing(FORGETTING)?;
        let [_, failures, tests, runs] = counts;
        Ok(Forgotten { runs, failures, tests })
    }
}

/// Branches first: a failure goes with its last one.
const FORGET: [&str; 4] = [
    "DELETE FROM lines WHERE latest < ?1",
    "DELETE FROM failures WHERE ?1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM lines WHERE lines.entry = failures.entry)",
    "DELETE FROM tests WHERE at < ?1",
    "DELETE FROM runs WHERE at < ?1",
];

/// What a query asks for: root ?1, ids ?2, branch ?3, state ?4.
macro_rules! matching {
    ($what:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $what,
            " FROM failures AS f WHERE f.root = ?1",
            " AND (?2 IS NULL OR f.id IN (SELECT value FROM json_each(?2)))",
            " AND EXISTS (SELECT 1 FROM lines AS l WHERE l.entry = f.entry",
            " AND (?3 IS NULL OR l.branch = ?3) AND (?4 IS NULL OR l.state = ?4))",
            $rest
        )
    };
}

const COUNT: &str = matching!("count(*)", "");
const LIST: &str = matching!(
    "f.entry, f.report, f.failed_run",
    " AND (?5 IS NULL OR (f.failed_run, f.entry) < (?5, ?6)) ORDER BY f.failed_run DESC, f.entry DESC LIMIT ?7"
);

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| driver("a list was written as JSON", error))
}

fn report_of(text: &str) -> Result<FailureSeen, StoreError> {
    serde_json::from_str(text).map_err(damaged)
}

/// The answer of the first time, when the run was recorded before.
async fn replay(tx: &mut SqliteConnection, run: &Prepared) -> Result<Option<Verdicts>, StoreError> {
    let Some(transcript) = &run.transcript else { return Ok(None) };
    let before: Option<Option<String>> = sqlx::query_scalar(
        "SELECT verdicts FROM runs WHERE root = ?1 AND transcript = ?2 AND tool = ?3 AND scope = ?4",
    )
    .bind(&run.root)
    .bind(transcript.as_str())
    .bind(&run.tool)
    .bind(&run.scope)
    .fetch_optional(tx)
    .await
    .doing(RECORDING)?;
    match before {
        None => Ok(None),
        Some(None) => Err(StoreError::AlreadyRecorded),
        Some(Some(text)) => {
            let verdicts: Verdicts = serde_json::from_str(&text).map_err(damaged)?;
            Ok(Some(Verdicts { repeated: true, ..verdicts }))
        }
    }
}

async fn insert_run(tx: &mut SqliteConnection, run: &Prepared) -> Result<i64, StoreError> {
    sqlx::query_scalar(
        "INSERT INTO runs (root, tool, scope, revision, dirty, branch, at, transcript)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING number",
    )
    .bind(&run.root)
    .bind(&run.tool)
    .bind(&run.scope)
    .bind(&run.mark.commit)
    .bind(run.mark.dirty)
    .bind(&run.mark.branch)
    .bind(run.mark.at.as_millis())
    .bind(run.transcript.as_ref().map(contract::TranscriptId::as_str))
    .fetch_one(tx)
    .await
    .doing(RECORDING)
}

/// What the rules need to know: memories of what the run names or should have named, and last passes of the rest.
async fn load(
    tx: &mut SqliteConnection,
    run: &Prepared,
) -> Result<(BTreeMap<String, Memory>, BTreeMap<String, Mark>), StoreError> {
    let mut entries = Entries::new();
    let mut take = |rows: Vec<SqliteRow>| -> Result<(), StoreError> {
        for row in &rows {
            let (entry, report) = <(i64, String)>::from_row(row).doing(RECORDING)?;
            entries.insert(entry, Memory::new(report_of(&report)?, BTreeMap::new()));
        }
        Ok(())
    };
    let named =
        "SELECT entry, report FROM failures WHERE root = ?1 AND id IN (SELECT value FROM json_each(?2))";
    let rows = sqlx::query(named).bind(&run.root).bind(json(&run.named)?).fetch_all(&mut *tx).await;
    take(rows.doing(RECORDING)?)?;
    if run.misses_diagnostics || run.misses_tests {
        let rows = sqlx::query(
            "SELECT f.entry, f.report FROM lines AS l JOIN failures AS f ON f.entry = l.entry
             WHERE l.tool = ?1 AND l.scope = ?2 AND l.branch = ?3 AND f.root = ?4",
        )
        .bind(&run.tool)
        .bind(&run.scope)
        .bind(stored(&run.mark.branch))
        .bind(&run.root)
        .fetch_all(&mut *tx)
        .await;
        take(rows.doing(RECORDING)?)?;
    }
    lines(tx, &mut entries).await?;
    let memories: BTreeMap<String, Memory> =
        entries.into_values().map(|memory| (memory.failure.id.clone(), memory)).collect();

    let fresh: Vec<&str> =
        run.failing.iter().map(|f| f.id.as_str()).filter(|id| !memories.contains_key(*id)).collect();
    let mut passed = BTreeMap::new();
    if !fresh.is_empty() {
        let rows: Vec<(String, String, Branch, i64)> = sqlx::query_as(
            "SELECT id, revision, branch, at FROM tests WHERE root = ?1 AND id IN (SELECT value FROM json_each(?2))",
        )
        .bind(&run.root)
        .bind(json(&fresh)?)
        .fetch_all(&mut *tx)
        .await
        .doing(RECORDING)?;
        for (id, commit, branch, at) in rows {
            let at = Timestamp::from_millis(at);
            passed.insert(id, Mark { commit: Some(commit), dirty: false, branch, at });
        }
    }
    Ok((memories, passed))
}

/// A branch as a part of a key, which SQL's null cannot be. Git has no branch without a name.
fn stored(branch: &Branch) -> &str {
    branch.as_deref().unwrap_or_default()
}

/// Loads all branches of the entries.
async fn lines(tx: &mut SqliteConnection, entries: &mut Entries) -> Result<(), StoreError> {
    let keys: Vec<i64> = entries.keys().copied().collect();
    let rows: Vec<(i64, String, String)> = sqlx::query_as(
        "SELECT entry, branch, memory FROM lines WHERE entry IN (SELECT value FROM json_each(?1))",
    )
    .bind(json(&keys)?)
    .fetch_all(tx)
    .await
    .doing(ASKING)?;
    for (entry, branch, memory) in rows {
        let line: Line = serde_json::from_str(&memory).map_err(damaged)?;
        let branch = Some(branch).filter(|name| !name.is_empty());
        entries.entry(entry).and_modify(|memory| {
            memory.lines.insert(branch, line);
        });
    }
    Ok(())
}

async fn save_failures(
    tx: &mut SqliteConnection,
    run: &Prepared,
    number: i64,
    memories: &BTreeMap<String, Memory>,
) -> Result<(), StoreError> {
    let reported: Vec<&FailureSeen> = memories.values().filter(|m| m.reported).map(|m| &m.failure).collect();
    if reported.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO failures (root, id, report, failed_run)
         SELECT ?1, value ->> 'id', value, ?2 FROM json_each(?3) WHERE true
         ON CONFLICT (root, id) DO UPDATE SET report = excluded.report, failed_run = excluded.failed_run",
    )
    .bind(&run.root)
    .bind(number)
    .bind(json(&reported)?)
    .execute(tx)
    .await
    .doing(RECORDING)
    .map(|_| ())
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
    tx: &mut SqliteConnection,
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
    sqlx::query(
        "INSERT INTO lines (entry, branch, state, tool, scope, latest, memory)
         SELECT f.entry, j.value ->> 'branch', j.value ->> 'state', j.value ->> 'tool', j.value ->> 'scope',
                j.value ->> 'latest', j.value ->> 'memory'
         FROM json_each(?2) AS j CROSS JOIN failures AS f WHERE f.root = ?1 AND f.id = j.value ->> 'id'
         ON CONFLICT (entry, branch) DO UPDATE SET state = excluded.state, tool = excluded.tool,
                scope = excluded.scope, latest = excluded.latest, memory = excluded.memory",
    )
    .bind(&run.root)
    .bind(json(&rows)?)
    .execute(tx)
    .await
    .doing(RECORDING)
    .map(|_| ())
}

/// Notes clean passes. One at the same commit and branch is written again after a day, for its age.
async fn save_passes(tx: &mut SqliteConnection, run: &Prepared) -> Result<(), StoreError> {
    let Some(commit) = run.mark.clean().filter(|_| !run.passed.is_empty()) else { return Ok(()) };
    sqlx::query(
        "INSERT INTO tests (root, id, revision, branch, at)
         SELECT ?1, value, ?3, ?4, ?5 FROM json_each(?2) WHERE true
         ON CONFLICT (root, id) DO UPDATE SET revision = excluded.revision, branch = excluded.branch, at = excluded.at
         WHERE revision IS NOT excluded.revision OR branch IS NOT excluded.branch OR excluded.at - at > 86400000",
    )
    .bind(&run.root)
    .bind(json(&run.passed)?)
    .bind(commit)
    .bind(&run.mark.branch)
    .bind(run.mark.at.as_millis())
    .execute(tx)
    .await
    .doing(RECORDING)
    .map(|_| ())
}

/// Keeps the answer, and lets go of the one that is too old now.
async fn save_answer(
    tx: &mut SqliteConnection,
    run: &Prepared,
    number: i64,
    verdicts: &Verdicts,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE runs SET verdicts = ?2 WHERE number = ?1")
        .bind(number)
        .bind(json(verdicts)?)
        .execute(&mut *tx)
        .await
        .doing(RECORDING)?;
    sqlx::query(
        "UPDATE runs SET verdicts = NULL WHERE root = ?1 AND verdicts IS NOT NULL AND number <= (
           SELECT number FROM runs WHERE root = ?1 AND verdicts IS NOT NULL
           ORDER BY number DESC LIMIT 1 OFFSET ?2)",
    )
    .bind(&run.root)
    .bind(REPLAYS)
    .execute(tx)
    .await
    .doing(RECORDING)
    .map(|_| ())
}
