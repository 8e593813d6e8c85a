//! Files that somebody changed, and sealed again: they are refused, or taken in as they are. Nothing panics.

use std::io::Cursor;
use std::sync::OnceLock;

use gatewright_store::transfer::{TABLES, check};
use proptest::prelude::*;

use crate::transfer::{exported, of_small, rows, sealed};
use crate::{Place, runtime};

/// What is put where something else was.
const PIECES: [&str; 24] = [
    "",
    "null",
    "0",
    "-1",
    "1",
    "2",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "\"\"",
    "\"x\"",
    "\\u0000",
    "\\n",
    "\\ud800",
    "\u{1f600}",
    "e\u{301}",
    "{",
    "}",
    "[]",
    ",",
    "\"",
    "\\",
    "true",
    "1e3",
];

#[derive(Debug, Clone)]
enum Change {
    /// Some bytes of a line give way to a piece.
    Replace {
        line: usize,
        at: usize,
        bytes: usize,
        piece: usize,
    },
    /// A number, a text or a null of a line gives way to a piece.
    Value {
        line: usize,
        at: usize,
        piece: usize,
    },
    /// A value goes into another line's place.
    Moved {
        line: usize,
        from: usize,
    },
    Twice(usize),
    Gone(usize),
    Swap(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let n = || any::<usize>();
    prop_oneof![
        2 => (n(), n(), 0..12_usize, n()).prop_map(|(line, at, bytes, piece)| Change::Replace { line, at, bytes, piece }),
        6 => (n(), n(), n()).prop_map(|(line, at, piece)| Change::Value { line, at, piece }),
        2 => (n(), n()).prop_map(|(line, from)| Change::Moved { line, from }),
        1 => n().prop_map(Change::Twice),
        1 => n().prop_map(Change::Gone),
        1 => (n(), n()).prop_map(|(one, other)| Change::Swap(one, other)),
    ]
}

/// Where values stand in a row, from `:` to the next key or the end.
fn values(line: &str) -> Vec<std::ops::Range<usize>> {
    let Ok(row) = serde_json::from_str::<serde_json::Value>(line) else { return Vec::new() };
    let Some(table) = TABLES.iter().find(|table| row["t"] == table.name) else { return Vec::new() };
    let mut places = Vec::new();
    for column in table.columns {
        let key = format!("\"{}\":", column.name);
        let Some(at) = line.get(6..).and_then(|rest| rest.find(&key)) else { continue };
        let start = 6 + at + key.len();
        let text = row["r"][column.name].to_string();
        if line[start..].starts_with(&text) {
            places.push(start..start + text.len());
        }
    }
    places
}

fn apply(lines: &mut Vec<String>, change: &Change) {
    let row = |lines: &[String], n: usize| 1 + n % (lines.len() - 1);
    if lines.len() < 3 {
        return;
    }
    match *change {
        Change::Replace { line, at, bytes, piece } => {
            let line = row(lines, line);
            let line = &mut lines[line];
            let boundary = |mut at: usize| {
                while !line.is_char_boundary(at) {
                    at += 1;
                }
                at
            };
            let start = boundary(at % (line.len() + 1));
            let end = boundary((start + bytes).min(line.len()));
            line.replace_range(start..end, PIECES[piece % PIECES.len()]);
        }
        Change::Value { line, at, piece } => {
            let line = row(lines, line);
            let places = values(&lines[line]);
            if let Some(place) = places.get(at % places.len().max(1)) {
                lines[line].replace_range(place.clone(), PIECES[piece % PIECES.len()]);
            }
        }
        Change::Moved { line, from } => {
            let (line, from) = (row(lines, line), row(lines, from));
            let (into, of) = (values(&lines[line]), values(&lines[from]));
            if let (Some(into), Some(of)) =
                (into.get(from % into.len().max(1)), of.get(line % of.len().max(1)))
            {
                let text = lines[from][of.clone()].to_owned();
                lines[line].replace_range(into.clone(), &text);
            }
        }
        Change::Twice(line) => {
            let line = row(lines, line);
            let again = lines[line].clone();
            lines.insert(line, again);
        }
        Change::Gone(line) => {
            let line = row(lines, line);
            lines.remove(line);
        }
        Change::Swap(one, other) => {
            let (one, other) = (row(lines, one), row(lines, other));
            lines.swap(one, other);
        }
    }
}

fn original() -> &'static str {
    static FILE: OnceLock<String> = OnceLock::new();
    FILE.get_or_init(|| runtime().block_on(of_small()))
}

/// Refused with nothing in the store, or taken in and written out again as it was.
fn is_refused_or_equal(place: &Place, file: &str) -> bool {
    let is_whole = check(&mut Cursor::new(file));
    runtime().block_on(async {
        let store = place.store();
        match store.import(&mut Cursor::new(file)).await {
            Ok(told) => {
                assert_eq!(told, is_whole.unwrap());
                let (back, _) = exported(&store).await;
                assert_eq!(back.split_once('\n').unwrap().1, file.split_once('\n').unwrap().1);
                store.close().await;
                true
            }
            Err(refused) => {
                assert!(!refused.to_string().is_empty());
                let rows = store.status().await.unwrap().rows;
                assert!(rows.iter().all(|(_, rows)| *rows == 0), "{refused} and yet {rows:?}");
                store.close().await;
                false
            }
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_file_that_was_changed_and_sealed_again_is_refused_or_taken_in_as_it_is(
        changes in proptest::collection::vec(change(), 1..3),
    ) {
        let mut lines = rows(original());
        for change in &changes {
            apply(&mut lines, change);
        }
        is_refused_or_equal(&Place::new(), &sealed(&lines));
    }

    #[test]
    fn bytes_of_any_kind_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in any::<usize>()) {
        prop_assert!(check(&mut Cursor::new(&bytes)).is_err());
        let mut file = original().as_bytes().to_vec();
        let at = at % file.len();
        let before = file.clone();
        file.splice(at..(at + bytes.len()).min(before.len()), bytes);
        let head = before.iter().position(|byte| *byte == b'\n').unwrap();
        prop_assert!(file == before || at <= head || check(&mut Cursor::new(&file)).is_err());
    }
}

/// What SQLite takes PostgreSQL takes, too: the changes that a check lets through.
#[test]
fn what_one_database_takes_in_the_other_does() {
    let Some(_) = Place::in_postgres() else { return };
    let mut lines = rows(original());
    let harmless = [
        ("sessions", "\"client\":\"claude-code\"", "\"client\":null"),
        ("notes", "needle", "n\u{1f600}edle"),
        ("handoffs", "done", "\\u0001\\f\u{7f}\u{2028}\u{ffff}"),
        ("machines", "\"seen\":", "\"seen\":-"),
        ("idempotency", "\"expires\":", "\"expires\":-9"),
    ];
    for (table, from, to) in harmless {
        let line = lines.iter_mut().find(|line| line.starts_with(&format!("{{\"t\":\"{table}\""))).unwrap();
        assert!(line.contains(from), "{line}");
        *line = line.replacen(from, to, 1);
    }
    let file = sealed(&lines);
    for place in Place::all() {
        assert!(is_refused_or_equal(&place, &file), "{}", place.kind());
    }
}
