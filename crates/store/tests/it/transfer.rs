//! A store written out and read in: nothing is lost, also from one database to the other.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Cursor;

use contract::Digest;
use gatewright_store::Store;
use gatewright_store::transfer::{LEFT_OUT, TABLES, TransferError, Transferred, check};
use store_api::Uses as _;
use store_api::id::{KeyId, NoteId};
use store_api::note::{NotePatch, NoteQuery};
use store_api::outbox::Letter;
use store_api::server::{NewKey, NewText, TextKind};
use store_api::testing::context::{Watch, begin, key};
use store_api::testing::documents::document;
use store_api::testing::notes::note;
use store_api::testing::{context, failure, run, table};
use store_api::{
    Documents, FailureKind, Failures, HistoryQuery, Keys, Notes, Outbox, RunOutcome, Sessions, StoreError,
    Texts,
};

use crate::conformance::SUNDAY;
use crate::{Place, runtime};

/// Every kind of row, with all that the conformance suite writes: other scripts, quotes, nulls, the longest texts and greatest numbers.
async fn fill(store: &Store, watch: &Watch, name: &str) {
    context(store, watch, name).await;
    store_api::testing::server(store, watch).await;
    store_api::testing::outbox(store, watch).await;
    store_api::testing::uses(store, watch).await;
    small(store, watch).await;
    table::every_row_holds(store, name).await;
    store_api::testing::history::texts_come_back_as_they_were(store, name).await;
}

pub(crate) async fn exported(store: &Store) -> (String, Transferred) {
    let mut file = Vec::new();
    let told = store.export(&mut file).await.unwrap();
    (String::from_utf8(file).unwrap(), told)
}

pub(crate) async fn imported(store: &Store, file: &str) -> Result<Transferred, TransferError> {
    store.import(&mut Cursor::new(file)).await
}

/// All but the first line.
pub(crate) fn body(file: &str) -> &str {
    file.split_once('\n').unwrap().1
}

/// What is found by words, by question.
async fn found(store: &Store) -> Vec<(u64, BTreeSet<NoteId>)> {
    let mut all = Vec::new();
    for q in [
        "token",
        "useAuthToken",
        "caf\u{e9}",
        "\u{65e5}\u{672c}",
        "tag:database",
        "depl*",
        "\"auth token\"",
        "token -deploy",
    ] {
        let mut query = NoteQuery { q: Some(q.to_owned()), limit: 1_000, ..NoteQuery::default() };
        for archived in [false, true] {
            query.archived = archived;
            let page = store.notes(query.clone()).await.unwrap();
            all.push((page.total, page.items.into_iter().map(|hit| hit.id).collect()));
        }
    }
    all
}

#[test]
fn what_went_from_one_database_into_the_other_and_back_is_the_same_to_the_byte() {
    for (from, into) in
        [(Place::in_postgres(), Some(Place::new())), (Some(Place::new()), Place::in_postgres())]
    {
        // Where there is no PostgreSQL, from SQLite into SQLite.
        let (from, into) = (from.unwrap_or_else(Place::new), into.unwrap_or_else(Place::new));
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let (store, other) = (from.store().with_clock(watch.clock()), into.store().with_clock(watch.clock()));
            fill(&store, &watch, "fill").await;
            let (file, told) = exported(&store).await;
            assert!(file.starts_with(&format!("{{\"gatewright\":\"store\",\"format\":1,\"schema\":4,\"made\":\"{}\",\"from\":\"{}\"}}\n", watch.now(), from.kind())), "{}", file.lines().next().unwrap());
            assert!(told.rows.iter().all(|(table, rows)| *rows > 0 || panic!("{table} has no row")));
            assert_eq!(told.total(), file.lines().count() as u64 - 2);
            assert_eq!(check(&mut Cursor::new(&file)).unwrap(), told);

            assert_eq!(imported(&other, &file).await.unwrap(), told);
            let (there, told_there) = exported(&other).await;
            assert!(body(&there) == body(&file) && told_there == told, "from {} into {}", from.kind(), into.kind());
            assert_eq!(found(&other).await, found(&store).await);

            let back = Place::new();
            let back = back.store();
            imported(&back, &there).await.unwrap();
            assert!(body(&exported(&back).await.0) == body(&file), "and back");

            // All that can be written can be written there, too: nothing meets a number that is taken.
            let hour = 60 * 60 * 1_000;
            watch.turn(hour);
            small(&other, &watch).await;
            let fresh = RunOutcome { failures: vec![failure("fresh", FailureKind::Test)], ..run("fresh", Some("main"), Some("c1")) };
            other.record(fresh).await.unwrap();
            let newest = other.notes(NoteQuery { limit: 1, ..NoteQuery::default() }).await.unwrap().items.remove(0);
            assert_eq!(newest.title, "two");
            let patch = NotePatch { content: Some("changed".to_owned()), ..NotePatch::of(newest.id, "x") };
            other.change_note(patch, None).await.unwrap();
            let (more, told_more) = exported(&other).await;
            for (now, then) in told_more.rows.iter().zip(&told.rows) {
                let is_numbered = TABLES.iter().any(|table| table.name == now.0 && table.key == ["number"]);
                assert!(now.1 > then.1 || now.1 == then.1 && !is_numbered || now.0 == "idempotency", "{now:?} {then:?}");
            }
            check(&mut Cursor::new(more)).unwrap();
        });
    }
}

#[test]
fn every_table_and_column_is_written_out_or_left_out_for_a_reason() {
    for place in Place::all() {
        runtime().block_on(async {
            let store = place.store();
            store.put(document("global", "d", "text")).await.unwrap();
            store.close().await;
            let real = place.columns().await;
            let known: BTreeSet<&str> =
                TABLES.iter().map(|table| table.name).chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
            let names: BTreeSet<&str> = real.keys().map(String::as_str).chain(["note_words"]).collect();
            assert_eq!(
                names, known,
                "add what is new to `TABLES` or `LEFT_OUT` (store/src/transfer/tables.rs)"
            );
            for table in TABLES {
                let told = table.columns.iter().map(|column| {
                    let of = format!("{:?}", column.holds).to_lowercase().replace("int", "integer");
                    (column.name.to_owned(), of, column.maybe)
                });
                assert_eq!(told.collect::<Vec<_>>(), real[table.name], "the columns of {}", table.name);
                assert!(
                    table.columns.iter().all(|column| column.since == table.since || column.maybe),
                    "exports of before have none"
                );
            }
            assert!(LEFT_OUT.iter().all(|(name, why)| !name.is_empty() && why.len() > 10));
        });
    }
}

/// A small store with a row of each kind.
async fn small(store: &Store, watch: &Watch) {
    let begun =
        store.begin(begin(watch, &key("v", "a", "")), Some(context::once("o", "k", "r"))).await.unwrap();
    let id = begun.value.session.id;
    let new = store_api::handoff::NewCheckpoint {
        id: store_api::id::CheckpointId::new(watch.now(), context::next()),
        session: id.clone(),
        summary: "half".to_owned(),
        anchor: None,
        payload: Some(serde_json::json!({ "a": [1, null] })),
    };
    store.checkpoint(new, None).await.unwrap();
    store
        .end(
            id,
            Some(store_api::testing::handoffs::handoff(watch, "done \u{1f600}")),
            "manual".to_owned(),
            None,
        )
        .await
        .unwrap();
    store.begin(begin(watch, &key("v", "b", "t")), None).await.unwrap();
    for title in ["one", "two"] {
        let mut note = note(watch, Some("v"), title, "a needle in \"hay\"\n");
        note.tags = vec!["Tag".to_owned()];
        store.add_note(note, None).await.unwrap();
    }
    store.put(document("global", "d", "text")).await.unwrap();
    store_api::Machines::register(store, store_api::testing::machines::machine(watch, "host")).await.unwrap();
    let hash = Digest::of(b"secret");
    let key =
        NewKey { id: KeyId::new(watch.now(), context::next()), name: "ana".to_owned(), admin: true, hash };
    store.add_key(key).await.unwrap();
    let text = NewText {
        kind: TextKind::Script,
        name: format!("n{}", context::next()),
        content: "true\n".to_owned(),
        expected: None,
    };
    store.put_text(text).await.unwrap();
    let letter = |key: u128| Letter {
        key: key.to_string(),
        request: hash,
        context: "https://context.example".to_owned(),
        path: "/notes".to_owned(),
        body: "{}".to_owned(),
    };
    let refused = store.post(letter(context::next())).await.unwrap();
    store.refuse(refused, "because".to_owned()).await.unwrap();
    store.post(letter(context::next())).await.unwrap();
    store.rename(format!("sess_{}", context::next()), "sess_b".to_owned()).await.unwrap();
    store.record_use(store_api::testing::uses::a_use("p"), None).await.unwrap();
    let failing = RunOutcome {
        failures: vec![failure("t", FailureKind::Test)],
        ran: vec![store_api::testing::test("p", store_api::Outcome::Passed)],
        transcript: Some(table::transcript(u64::try_from(context::next()).unwrap())),
        ..run("root", Some("main"), Some("c1"))
    };
    store.record(failing).await.unwrap();
}

pub(crate) async fn of_small() -> String {
    let watch = Watch::at(SUNDAY);
    let place = Place::new();
    let store = place.store().with_clock(watch.clock());
    small(&store, &watch).await;
    exported(&store).await.0
}

/// The lines of an export with the last line that belongs to them.
pub(crate) fn sealed(lines: &[String]) -> String {
    let (head, rows) = lines.split_first().unwrap();
    let rows: String = rows.iter().fold(String::new(), |mut all, row| {
        writeln!(all, "{row}").unwrap();
        all
    });
    let counts: Vec<String> = TABLES
        .iter()
        .map(|table| {
            let of_it = format!("{{\"t\":\"{}\",", table.name);
            format!("\"{}\":{}", table.name, rows.lines().filter(|row| row.starts_with(&of_it)).count())
        })
        .collect();
    let sha256 = Digest::of(rows.as_bytes());
    format!("{head}\n{rows}{{\"end\":{{{}}},\"sha256\":\"{sha256}\"}}\n", counts.join(","))
}

/// All lines but the last.
pub(crate) fn rows(file: &str) -> Vec<String> {
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    lines.pop();
    lines
}

#[test]
fn the_next_run_comes_after_all_that_failures_name_also_those_that_are_forgotten() {
    const LATER: &str = "UPDATE failures SET failed_run = 1000; DELETE FROM runs";
    for (from, into) in [
        (Place::new(), Place::in_postgres().unwrap_or_else(Place::new)),
        (Place::in_postgres().unwrap_or_else(Place::new), Place::new()),
    ] {
        runtime().block_on(async {
            let seen = |id: &str| RunOutcome {
                failures: vec![failure(id, FailureKind::Test)],
                ..run("root", Some("main"), Some("c1"))
            };
            let store = from.store();
            store.record(seen("old")).await.unwrap();
            from.behind(LATER, LATER).await;
            let (file, _) = exported(&store).await;
            let other = into.store();
            imported(&other, &file).await.unwrap();
            other.record(seen("new")).await.unwrap();
            let page = other.history(HistoryQuery::of("root")).await.unwrap();
            assert_eq!(
                page.items.iter().map(|item| item.failure.id.as_str()).collect::<Vec<_>>(),
                ["new", "old"],
                "what failed last comes first"
            );
            assert!(exported(&other).await.0.contains("\"number\":1001"));
        });
    }
}

#[test]
fn an_export_is_of_one_time_whoever_writes_meanwhile() {
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let store = place.store();
            let ended = async |n: u32| {
                let id = store
                    .begin(begin(&watch, &key("v", &format!("a{n}"), "")), None)
                    .await
                    .unwrap()
                    .value
                    .session
                    .id;
                let told = Some(store_api::testing::handoffs::handoff(&watch, "done"));
                store.end(id, told, String::new(), None).await.unwrap();
            };
            for n in 0..200 {
                ended(n).await;
            }
            let writing = async {
                for n in 200..300 {
                    ended(n).await;
                }
            };
            let exporting = async {
                let mut seen = Vec::new();
                for _ in 0..10 {
                    let (file, told) = exported(&store).await;
                    let there = Place::new();
                    assert_eq!(imported(&there.store(), &file).await.unwrap(), told);
                    seen.push(
                        told.rows
                            .iter()
                            .filter(|(table, _)| matches!(*table, "sessions" | "handoffs"))
                            .map(|(_, rows)| *rows)
                            .collect::<Vec<_>>(),
                    );
                }
                seen
            };
            let ((), seen) = tokio::join!(writing, exporting);
            // A session that is over has its handoff; one may have just begun.
            assert!(seen.iter().all(|rows| rows[0] - rows[1] <= 1), "{seen:?}");
        });
    }
}

/// As the first version that exports wrote one. It stays as it is: exports are kept for years.
#[test]
fn exports_of_before_are_still_taken_in() {
    const FIRST: &str = include_str!("export-of-schema-2.jsonl");
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY + 2 * 60 * 60 * 1_000);
            let store = place.store().with_clock(watch.clock());
            let told = imported(&store, FIRST).await.unwrap();
            assert!(told.rows.iter().all(|(table, rows)| *rows > 0 || panic!("{table} has no row")));
            let (file, now) = exported(&store).await;
            assert!(now.total() == told.total() && check(&mut Cursor::new(file)).is_ok());
            small(&store, &watch).await;
        });
    }
}

#[test]
fn an_errors_words_say_what_is_wrong_with_the_disk() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    runtime().block_on(async {
        let place = Place::new();
        let store = place.store();
        let refused = store.export(&mut Full).await;
        assert!(matches!(refused, Err(TransferError::Write(_))), "{refused:?}");
        // Nothing is held on to.
        store.put(document("global", "d", "text")).await.unwrap();
        assert!(matches!(
            store.backup(std::path::Path::new("relative")).await,
            Err(TransferError::Store(StoreError::Invalid { .. }))
        ));
    });
}
