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

#[test]
fn what_cannot_be_taken_in_is_refused_and_says_why() {
    runtime().block_on(async {
        let file = of_small().await;
        let lines = rows(&file);
        let at = |table: &str| {
            lines.iter().position(|line| line.starts_with(&format!("{{\"t\":\"{table}\""))).unwrap()
        };
        let changed = |table: &str, from: &str, to: &str| {
            let mut lines = lines.clone();
            let line = &mut lines[at(table)];
            assert!(line.contains(from), "{line} has no {from}");
            *line = line.replacen(from, to, 1);
            sealed(&lines)
        };
        let without = |table: &str| {
            let mut lines = lines.clone();
            lines.remove(at(table));
            sealed(&lines)
        };
        let twice = |table: &str| {
            let mut lines = lines.clone();
            lines.insert(at(table), lines[at(table)].clone());
            sealed(&lines)
        };
        let swapped = |one: &str, other: &str| {
            let mut lines = lines.clone();
            lines.swap(at(one), at(other));
            sealed(&lines)
        };
        let headed = |head: &str| format!("{head}\n{}", body(&file));
        let head = lines[0].as_str();
        for (case, say) in [
            (String::new(), "no export of a store"),
            ("{}\n".to_owned(), "no export of a store"),
            (file.replacen("\"store\"", "\"shop\"", 1), "no export of a store"),
            (body(&file).to_owned(), "no export of a store"),
            (headed(&head.replace("\"format\":1", "\"format\":2")), "format 2"),
            (headed(&head.replace("\"schema\":3", "\"schema\":9999")), "schema 9999"),
            (headed(&head.replace("\"schema\":3", "\"schema\":1")), "line 1"),
            (headed(&head.replace("\"format\":1", "\"format\":0")), "line 1"),
            (headed(&head.replace("sqlite", "oracle")), "line 1"),
            (headed(&head.replace("\"from\"", "\"more\":1,\"from\"")), "line 1"),
            (format!("{file}\n"), "behind the end"),
            (format!("{file}{file}"), "behind the end"),
            (file.replacen("\"notes\":2", "\"notes\":3", 1), "counts other rows"),
            (changed("notes", "\"t\":\"notes\"", "\"t\":\"votes\""), "no table \"votes\""),
            (changed("notes", "\"t\":\"notes\"", "\"t\":\"note_tags\""), "no table"),
            (changed("notes", "\"title\"", "\"titel\""), "stands where title should"),
            (changed("notes", ",\"title\":\"one\"", ""), "stands where title should"),
            (changed("notes", "\\n\"}", "\\n\",\"more\":1}"), "no column \"more\""),
            (changed("notes", "\"version\":1", "\"version\":\"1\""), "invalid type"),
            (changed("notes", "\"version\":1", "\"version\":1.0"), "invalid type"),
            (changed("notes", "\"version\":1", "\"version\":null"), "version is null"),
            (changed("notes", "\"version\":1", "\"version\":99999999999999999999"), "line "),
            (changed("notes", "\"number\":1", "\"number\":0"), "number is 0"),
            (
                changed("notes", "\"place\":1", "\"place\":9223372036854775807"),
                "place is 9223372036854775807",
            ),
            (changed("notes", "\"version\":1", "\"version\": 1"), "not spelled"),
            (changed("notes", "needle", "\\u006eeedle"), "not spelled"),
            (changed("notes", "needle", "need\\u0000"), "NUL"),
            (changed("notes", "needle", "needles"), "number of characters"),
            (changed("notes", "\"archived\":0", "\"archived\":2"), "0 or 1"),
            (changed("notes", "[\\\"Tag\\\"]", "[\\\"b\\\",\\\"a\\\"]"), "not sorted"),
            (changed("notes", "[\\\"Tag\\\"]", "{}"), "tags"),
            (changed("notes", "note_", "node_"), "note is not valid"),
            (changed("documents", "\"content\":\"text\"", "\"content\":\"test\""), "another digest"),
            (changed("documents", "\"written\"", "\"found\""), "origin is"),
            (changed("sessions", "\"ended\"", "\"endet\""), "line "),
            (changed("sessions", "\"status\":\"ended\"", "\"status\":\"active\""), "says something else"),
            (changed("sessions", "\"status\":\"ended\"", "\"status\":\"gone\""), "status is"),
            (changed("handoffs", "in_progress", "in_limbo"), "status is"),
            (changed("checkpoints", "{\\\"a\\\"", "{\\\"a"), "payload"),
            (changed("failures", "\"id\":\"t\"", "\"id\":\"u\""), "another failure"),
            (changed("lines", "\"open\"", "\"shut\""), "state is"),
            (changed("runs", "\"dirty\":0", "\"dirty\":7"), "0 or 1"),
            (changed("machines", "\"name\":\"host\"", "\"name\":\"\""), "empty"),
            (changed("idempotency", "\"key\":\"k\"", "\"key\":\"k k\""), "idempotency key"),
            (changed("idempotency", "\"answer\":\"{", "\"answer\":\"["), "answer"),
            (changed("api_keys", "\"admin\":1", "\"admin\":9"), "0 or 1"),
            (changed("texts", "true\\n", "false\\n"), "another digest"),
            (changed("texts", "\"script\"", "\"sript\""), "kind is"),
            (changed("outbox", "\"path\":\"/v1/notes\"", "\"path\":\"\""), "empty"),
            (changed("renamed", "\"becomes\":\"", "\"becomes\":null,\"x\":\""), "becomes is null"),
            (twice("sessions"), "order of rows"),
            (twice("documents"), "order of rows"),
            (swapped("runs", "sessions"), "order of rows"),
            (without("failures"), "contradict"),
            (without("sessions"), "contradict"),
            (changed("lines", "\"entry\":1", "\"entry\":2"), "contradict"),
            (changed("notes", "\"place\":1", "\"place\":2"), "contradict"),
        ] {
            for place in [Some(Place::new()), (say == "contradict").then(Place::in_postgres).flatten()]
                .into_iter()
                .flatten()
            {
                let store = place.store();
                let refused = imported(&store, &case).await.unwrap_err();
                assert!(refused.to_string().contains(say), "{say}: {refused}");
                assert!(is_empty(&store).await, "{say}");
            }
        }
        assert!(matches!(
            check(&mut Cursor::new(headed(&head.replace("\"schema\":3", "\"schema\":9999")))),
            Err(TransferError::NewerSchema { found: 9999, .. })
        ));
    });
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
            assert_eq!((status.rows, status.schema, status.kind), (told.rows, 3, place.kind()));
            assert!(status.bytes > 10_000 && !status.place.is_empty(), "{} {}", status.bytes, status.place);
        });
    }
}
