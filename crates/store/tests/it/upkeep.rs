//! What is let go of, in each database.

use store_api::testing::context::Watch;
use store_api::testing::upkeep;
use store_api::upkeep::DAY;
use store_api::{Documents, Swept, Upkeep};

use crate::conformance::SUNDAY;
use crate::{Place, runtime};

#[test]
fn each_database_lets_go_of_what_is_over() {
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            upkeep(&place.store().with_clock(watch.clock()), &watch, place.kind()).await;
        });
    }
}

const MANY_LITE: &str = "
    CREATE TEMP TABLE n AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200) SELECT n FROM n;
    INSERT INTO idempotency (owner, key, request, answer, created, expires) SELECT 'o', n, 'r', '1', 0, n FROM n;
    INSERT INTO sessions (id, agent, venture, repo, track, status, started, heartbeat, ended, version, principal)
      SELECT 'sess_' || substr('0000000000000000000000000' || n, -26), n, 'v', 'r', '', 'active', 0, n, NULL, 1, 'p' FROM n;
    INSERT INTO handoffs (id, session, venture, repo, track, agent, summary, status, at)
      SELECT 'ho_' || substr('0000000000000000000000000' || n, -26), 'sess_' || substr('0000000000000000000000000' || n, -26), 'v', 'r', '', n, 's', 'done', n FROM n;
    INSERT INTO notes (id, place, title, tags, version, archived, created, updated, principal, characters, content)
      SELECT 'note_' || substr('0000000000000000000000000' || n, -26), n, 't', '[]', 1, 1, 0, n, 'p', 1, 'c' FROM n;
    INSERT INTO note_words (rowid, scope, title, tags, body) SELECT place, '__g', 't', '', 'c' FROM notes";

const MANY_PG: &str = "
    CREATE TEMP TABLE n AS SELECT n FROM generate_series(1, 1200) AS n;
    INSERT INTO idempotency (owner, key, request, answer, created, expires) SELECT 'o', n::text, 'r', '1', 0, n FROM n;
    INSERT INTO sessions (id, agent, venture, repo, track, status, started, heartbeat, ended, version, principal)
      SELECT 'sess_' || lpad(n::text, 26, '0'), n::text, 'v', 'r', '', 'active', 0, n, NULL, 1, 'p' FROM n;
    INSERT INTO handoffs (id, session, venture, repo, track, agent, summary, status, at)
      SELECT 'ho_' || lpad(n::text, 26, '0'), 'sess_' || lpad(n::text, 26, '0'), 'v', 'r', '', n::text, 's', 'done', n FROM n;
    INSERT INTO notes (id, place, title, tags, version, archived, created, updated, principal, characters, content)
      SELECT 'note_' || lpad(n::text, 26, '0'), n, 't', '[]', 1, 1, 0, n, 'p', 1, 'c' FROM n;
    INSERT INTO note_words (place, words) SELECT place, $$'__g' 'c':1$$::tsvector FROM notes";

#[test]
fn more_than_one_step_takes_is_let_go_of_to_the_last() {
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let store = place.store().with_clock(watch.clock());
            store.put(store_api::testing::documents::document("global", "d", "text")).await.unwrap();
            place.behind(MANY_LITE, MANY_PG).await;
            let swept = store.sweep(Some(1)).await.unwrap();
            let all = Swept {
                answers: 1_200,
                abandoned: 1_200,
                sessions: 1_200,
                handoffs: 1_200,
                notes: 1_200,
                ..Swept::default()
            };
            assert_eq!(swept, all, "{}", place.kind());
            assert!(store.sweep(Some(1)).await.unwrap().is_nothing());
            let left: Vec<_> =
                store.status().await.unwrap().rows.into_iter().filter(|(_, rows)| *rows > 0).collect();
            assert_eq!(left, [("documents", 1)]);
        });
    }
}

#[test]
fn two_that_sweep_at_once_let_go_of_each_thing_once() {
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let (one, other) =
                (place.store().with_clock(watch.clock()), place.store().with_clock(watch.clock()));
            one.put(store_api::testing::documents::document("global", "d", "text")).await.unwrap();
            place.behind(MANY_LITE, MANY_PG).await;
            let (one_swept, other_swept) = tokio::join!(one.sweep(Some(1)), other.sweep(Some(1)));
            let (a, b) = (one_swept.unwrap(), other_swept.unwrap());
            let rest = one.sweep(Some(1)).await.unwrap();
            let sum = |of: fn(&Swept) -> u64| of(&a) + of(&b) + of(&rest);
            assert_eq!(
                [
                    sum(|s| s.answers),
                    sum(|s| s.abandoned),
                    sum(|s| s.sessions),
                    sum(|s| s.handoffs),
                    sum(|s| s.notes)
                ],
                [1_200; 5]
            );
            watch.turn(DAY);
            assert!(one.sweep(Some(1)).await.unwrap().is_nothing());
        });
    }
}
