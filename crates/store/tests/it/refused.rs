//! Files that cannot be taken in: each is refused with its reason, and nothing is written.

use std::io::Cursor;

use gatewright_store::Store;
use gatewright_store::transfer::{TransferError, check};
use store_api::Documents;
use store_api::testing::documents::document;

use crate::transfer::{body, exported, imported, of_small, rows, sealed};
use crate::{Place, runtime};

async fn is_empty(store: &Store) -> bool {
    store.status().await.unwrap().rows.iter().all(|(_, rows)| *rows == 0)
}

#[test]
fn a_file_that_was_cut_off_is_refused_wherever_it_was_cut() {
    runtime().block_on(async {
        let file = of_small().await;
        assert_eq!(sealed(&rows(&file)), file, "what the other tests here seal is sealed as exports are");
        for end in 0..file.len() {
            let cut = &file.as_bytes()[..end];
            let refused = check(&mut Cursor::new(cut)).unwrap_err();
            let is_told = matches!(refused, TransferError::CutOff { .. } | TransferError::NotAnExport);
            assert!(is_told, "{end}: {refused}");
        }
        let place = Place::new();
        let store = place.store();
        let cut = &file[..file.len() / 2];
        let told = imported(&store, cut).await.unwrap_err().to_string();
        assert!(told.contains("cut off") && told.contains("export again"), "{told}");
        assert!(is_empty(&store).await);
        imported(&store, &file).await.unwrap();
    });
}

#[test]
fn a_changed_byte_is_seen() {
    runtime().block_on(async {
        let file = of_small().await;
        let head = file.find('\n').unwrap();
        for at in head..file.len() {
            let mut changed = file.clone().into_bytes();
            changed[at] ^= 1;
            let refused = check(&mut Cursor::new(changed));
            assert!(refused.is_err(), "byte {at} of {}", file.len());
        }
    });
}

/// Changes of the first row of a table, and what is said of them.
const ROWS: &[[&str; 4]] = &[
    ["notes", "\"t\":\"notes\"", "\"t\":\"votes\"", "no table \"votes\""],
    ["notes", "\"t\":\"notes\"", "\"t\":\"note_tags\"", "no table"],
    ["notes", "\"title\"", "\"titel\"", "stands where title should"],
    ["notes", ",\"title\":\"one\"", "", "stands where title should"],
    ["notes", "\\n\"}", "\\n\",\"more\":1}", "no column \"more\""],
    ["notes", "\"version\":1", "\"version\":\"1\"", "invalid type"],
    ["notes", "\"version\":1", "\"version\":1.0", "invalid type"],
    ["notes", "\"version\":1", "\"version\":null", "version is null"],
    ["notes", "\"version\":1", "\"version\":99999999999999999999", "line "],
    ["notes", "\"number\":1", "\"number\":0", "number is 0"],
    ["notes", "\"place\":1", "\"place\":9223372036854775807", "place is 9223372036854775807"],
    ["notes", "\"version\":1", "\"version\": 1", "not spelled"],
    ["notes", "needle", "\\u006eeedle", "not spelled"],
    ["notes", "needle", "need\\u0000", "NUL"],
    ["notes", "needle", "needles", "number of characters"],
    ["notes", "\"archived\":0", "\"archived\":2", "0 or 1"],
    ["notes", "[\\\"Tag\\\"]", "[\\\"b\\\",\\\"a\\\"]", "not sorted"],
    ["notes", "[\\\"Tag\\\"]", "{}", "tags"],
    ["notes", "note_", "node_", "note is not valid"],
    ["documents", "\"content\":\"text\"", "\"content\":\"test\"", "another digest"],
    ["documents", "\"written\"", "\"found\"", "origin is"],
    ["sessions", "\"ended\"", "\"endet\"", "line "],
    ["sessions", "\"status\":\"ended\"", "\"status\":\"active\"", "says something else"],
    ["sessions", "\"status\":\"ended\"", "\"status\":\"gone\"", "status is"],
    ["handoffs", "in_progress", "in_limbo", "status is"],
    ["checkpoints", "{\\\"a\\\"", "{\\\"a", "payload"],
    ["failures", "\"id\":\"t\"", "\"id\":\"u\"", "another failure"],
    ["lines", "\"open\"", "\"shut\"", "state is"],
    ["runs", "\"dirty\":0", "\"dirty\":7", "0 or 1"],
    ["machines", "\"name\":\"host\"", "\"name\":\"\"", "empty"],
    ["idempotency", "\"key\":\"k\"", "\"key\":\"k k\"", "idempotency key"],
    ["idempotency", "\"answer\":\"{", "\"answer\":\"[", "answer"],
    ["api_keys", "\"admin\":1", "\"admin\":9", "0 or 1"],
    ["texts", "true\\n", "false\\n", "another digest"],
    ["texts", "\"script\"", "\"sript\"", "kind is"],
    ["outbox", "\"path\":\"/notes\"", "\"path\":\"\"", "empty"],
    ["used_patterns", "\"recorded\":1", "\"recorded\":0", "recorded is 0"],
    ["used_patterns", "\"library\":\"user\"", "\"library\":\"\"", "empty"],
    ["pattern_uses", "\"project\":\"app\"", "\"project\":\" \"", "empty"],
    ["renamed", "\"becomes\":\"", "\"becomes\":null,\"x\":\"", "becomes is null"],
];

/// Changes that only a database sees.
const CONTRADICTIONS: &[[&str; 3]] =
    &[["lines", "\"entry\":1", "\"entry\":2"], ["notes", "\"place\":1", "\"place\":2"]];

/// Where the first row of a table stands.
fn first_of(lines: &[String], table: &str) -> usize {
    lines.iter().position(|line| line.starts_with(&format!("{{\"t\":\"{table}\""))).unwrap()
}

/// An export with another first row of a table.
fn changed(lines: &[String], table: &str, from: &str, to: &str) -> String {
    let mut lines = lines.to_vec();
    let at = first_of(&lines, table);
    assert!(lines[at].contains(from), "{} has no {from}", lines[at]);
    lines[at] = lines[at].replacen(from, to, 1);
    sealed(&lines)
}

/// That a file is refused in these words, and leaves nothing.
async fn is_refused(place: &Place, file: &str, say: &str) {
    let store = place.store();
    let refused = imported(&store, file).await.unwrap_err();
    assert!(refused.to_string().contains(say), "{say}: {refused}");
    assert!(is_empty(&store).await, "{say}");
}

#[test]
fn what_is_no_export_or_a_newer_one_is_refused_and_says_so() {
    runtime().block_on(async {
        let file = of_small().await;
        let head = file.lines().next().unwrap();
        let headed = |from: &str, to: &str| format!("{}\n{}", head.replace(from, to), body(&file));
        let newer = headed("\"schema\":4", "\"schema\":9999");
        assert!(matches!(
            check(&mut Cursor::new(&newer)),
            Err(TransferError::NewerSchema { found: 9999, .. })
        ));
        let place = Place::new();
        for (case, say) in [
            (String::new(), "no export of a store"),
            ("{}\n".to_owned(), "no export of a store"),
            (file.replacen("\"store\"", "\"shop\"", 1), "no export of a store"),
            (body(&file).to_owned(), "no export of a store"),
            (newer, "schema 9999"),
            (headed("\"format\":1", "\"format\":2"), "format 2"),
            (headed("\"schema\":4", "\"schema\":1"), "line 1"),
            (headed("\"format\":1", "\"format\":0"), "line 1"),
            (headed("sqlite", "oracle"), "line 1"),
            (headed("\"from\"", "\"more\":1,\"from\""), "line 1"),
            (format!("{file}\n"), "behind the end"),
            (format!("{file}{file}"), "behind the end"),
            (file.replacen("\"notes\":2", "\"notes\":3", 1), "counts other rows"),
        ] {
            is_refused(&place, &case, say).await;
        }
    });
}

#[test]
fn a_row_that_no_write_could_have_left_is_refused_and_says_why() {
    runtime().block_on(async {
        let lines = rows(&of_small().await);
        let place = Place::new();
        for [table, from, to, say] in ROWS {
            is_refused(&place, &changed(&lines, table, from, to), say).await;
        }
    });
}

#[test]
fn rows_that_stand_twice_in_another_order_or_alone_are_refused() {
    let lines = runtime().block_on(async { rows(&of_small().await) });
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        sealed(&lines)
    };
    for place in Place::all() {
        runtime().block_on(async {
            for table in ["sessions", "documents"] {
                let at = first_of(&lines, table);
                let twice = with(&|lines| lines.insert(at, lines[at].clone()));
                is_refused(&place, &twice, "order of rows").await;
            }
            let (one, other) = (first_of(&lines, "runs"), first_of(&lines, "sessions"));
            is_refused(&place, &with(&|lines| lines.swap(one, other)), "order of rows").await;
            for table in ["failures", "sessions"] {
                let without = with(&|lines| {
                    lines.remove(first_of(lines, table));
                });
                is_refused(&place, &without, "contradict").await;
            }
            for [table, from, to] in CONTRADICTIONS {
                is_refused(&place, &changed(&lines, table, from, to), "contradict").await;
            }
        });
    }
}

#[test]
fn two_active_sessions_of_one_key_are_a_contradiction() {
    for place in Place::all() {
        runtime().block_on(async {
            let mut lines = rows(&of_small().await);
            let last = lines.iter().rposition(|line| line.starts_with("{\"t\":\"sessions\"")).unwrap();
            let another = lines[last].replacen("\"number\":2", "\"number\":3", 1);
            let id = another.find("sess_").unwrap() + 30;
            let other = if &another[id..=id] == "0" { "1" } else { "0" };
            lines.insert(last + 1, format!("{}{other}{}", &another[..id], &another[id + 1..]));
            let store = place.store();
            let refused = imported(&store, &sealed(&lines)).await;
            assert!(matches!(refused, Err(TransferError::Contradiction(_))), "{refused:?}");
            assert!(is_empty(&store).await);
        });
    }
}

#[test]
fn only_an_empty_store_takes_an_export_in_and_nothing_in_it_is_touched() {
    for place in Place::all() {
        runtime().block_on(async {
            let file = of_small().await;
            let store = place.store();
            store.put(document("global", "mine", "text")).await.unwrap();
            let refused = imported(&store, &file).await.unwrap_err();
            assert!(matches!(refused, TransferError::NotEmpty { table: "documents" }), "{refused}");
            assert!(refused.to_string().contains("GATEWRIGHT_STORE_URL"), "{refused}");
            assert!(store.remove("global".to_owned(), "mine".to_owned()).await.unwrap());
            let told = imported(&store, &file).await.unwrap();
            assert!(matches!(imported(&store, &file).await, Err(TransferError::NotEmpty { table: "runs" })));
            assert_eq!(exported(&store).await.1, told);
            let status = store.status().await.unwrap();
            assert_eq!((status.rows, status.schema, status.kind), (told.rows, 4, place.kind()));
            assert!(status.bytes > 10_000 && !status.place.is_empty(), "{} {}", status.bytes, status.place);
        });
    }
}
