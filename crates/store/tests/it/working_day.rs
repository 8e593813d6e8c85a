//! What only the database's own side can bring about: rows that another program wrote, and more of them than a test writes one by one.

use store_api::note::{MAX_COUNT, MAX_RANKED, NoteQuery, NoteScope, Ranked};
use store_api::session::SessionStatus;
use store_api::testing::context::{Watch, begin, key};
use store_api::testing::notes::note;
use store_api::testing::{failure, run};
use store_api::{Documents, FailureKind, Failures, Notes, RunOutcome, Sessions, Verdict};

use crate::conformance::SUNDAY;
use crate::{Place, runtime};

#[test]
fn of_several_active_sessions_the_latest_goes_on_and_the_others_are_superseded() {
    const ASIDE: &str =
        "DROP INDEX IF EXISTS sessions_active; UPDATE sessions SET track = 'aside' WHERE track = ''";
    const BACK: &str = "UPDATE sessions SET track = ''";
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let store = place.store().with_clock(watch.clock());
            let key = key("import", "a", "");
            let mut ids = Vec::new();
            for _ in 0..3 {
                watch.turn(1);
                ids.push(store.begin(begin(&watch, &key), None).await.unwrap().value.session.id);
                place.behind(ASIDE, ASIDE).await;
            }
            place.behind(BACK, BACK).await;
            let begun = store.begin(begin(&watch, &key), None).await.unwrap().value;
            assert_eq!((begun.resumed, &begun.session.id), (true, &ids[2]));
            let over: Vec<_> = begun.ended.iter().map(|over| (&over.id, over.status)).collect();
            assert_eq!(over, [(&ids[1], SessionStatus::Superseded), (&ids[0], SessionStatus::Superseded)]);
        });
    }
}

const MANY_LITE: &str = "
    WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 6000)
    INSERT INTO notes (id, place, venture, title, tags, version, archived, created, updated, principal, characters,
                       content)
    SELECT 'note_' || substr('0000000000000000000000000' || n, -26), n, venture, title, tags, version, archived,
           created, updated, principal, characters, content
    FROM n, notes WHERE notes.number = 1;
    INSERT INTO note_words (rowid, scope, title, tags, body)
    SELECT place, '__g', 'title', '', 'needle text' FROM notes WHERE place > 1";

const MANY_PG: &str = "
    INSERT INTO notes (id, place, venture, title, tags, version, archived, created, updated, principal, characters,
                       content)
    SELECT 'note_' || lpad(n::text, 26, '0'), n, venture, title, tags, version, archived, created, updated,
           principal, characters, content
    FROM generate_series(2, 6000) AS n, notes WHERE notes.number = 1;
    INSERT INTO note_words (place, words)
    SELECT place, $$'__g' 'needle':3 'text':4$$::tsvector FROM notes WHERE place > 1";

#[test]
fn of_more_matches_than_are_ranked_the_newest_are_and_counting_stops() {
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let store = place.store().with_clock(watch.clock());
            let first = store.add_note(note(&watch, None, "title", "needle text"), None).await.unwrap();
            place.behind(MANY_LITE, MANY_PG).await;
            let ask = |after| NoteQuery {
                q: Some("needle".to_owned()),
                scope: NoteScope::Global,
                limit: 1_000,
                after,
                ..NoteQuery::default()
            };
            let page = store.notes(ask(None)).await.unwrap();
            assert_eq!((page.total, page.ranked), (MAX_COUNT + 1, Some(Ranked::Newest)));
            let (mut seen, mut next) = (page.items.len(), page.next);
            while let Some(after) = next {
                let page = store.notes(ask(Some(after))).await.unwrap();
                assert!(page.items.iter().all(|hit| hit.id != first.value.id), "the oldest is not ranked");
                seen += page.items.len();
                next = page.next;
            }
            assert_eq!(seen, MAX_RANKED as usize);
            let all = NoteQuery { q: None, limit: 1, ..ask(None) };
            assert_eq!(store.notes(all).await.unwrap().total, 6_000, "without words they are all counted");
        });
    }
}

const PASSED: &str =
    "INSERT INTO tests (root, id, revision, branch, at) VALUES ('root', 't', 'c1', 'main', 1)";

#[test]
fn a_store_of_the_first_schema_is_brought_up_to_date_with_what_is_in_it() {
    const FIRST_LITE: &str = include_str!("../../migrations/sqlite/0001_failures.sql");
    const FIRST_PG: &str = concat!(
        "CREATE SCHEMA gatewright;
         CREATE TABLE gatewright_schema (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL);
         INSERT INTO gatewright_schema VALUES (1, 1);",
        include_str!("../../migrations/postgres/0001_failures.sql")
    );
    for place in Place::all() {
        runtime().block_on(async {
            std::fs::create_dir(place.path().parent().unwrap()).unwrap();
            place.behind(FIRST_LITE, FIRST_PG).await;
            place.behind(PASSED, PASSED).await;
            let store = place.store();
            store.add_note(note(&Watch::at(SUNDAY), None, "title", "text"), None).await.unwrap();
            let failing = RunOutcome {
                failures: vec![failure("t", FailureKind::Test)],
                ..run("root", Some("main"), Some("c1"))
            };
            let verdicts = store.record(failing).await.unwrap();
            assert!(matches!(verdicts.of("t"), Some(Verdict::Flaky { .. })), "it knows the pass of before");
        });
    }
}

#[test]
fn a_store_goes_by_the_systems_clock_unless_it_is_told_otherwise() {
    runtime().block_on(async {
        let place = Place::new();
        let document = store_api::testing::documents::document("global", "d", "text");
        let kept = place.store().put(document).await.unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let ago = i64::try_from(now).unwrap() - kept.row.updated.as_millis();
        assert!((0..60_000).contains(&ago), "{ago}");
    });
}
