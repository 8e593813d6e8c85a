use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;

use super::read::whole_surrogates;
use super::*;
use crate::problem::Problems;

fn now() -> Timestamp {
    "2026-11-23T03:46:04.123456Z".parse().unwrap()
}

fn note(content: &str, draft: Draft) -> Note {
    Note::new(NoteType::Decision, Draft { content: content.into(), ..draft }, now()).unwrap()
}

fn told(problems: &Problems) -> Vec<(Option<u32>, &str)> {
    problems.found().iter().map(|p| (p.line, p.message.as_str())).collect()
}

#[test]
fn a_plain_note_is_written_as_json_stringify_does() {
    // As Node 20 writes it: JSON.stringify({type: 'decision', content: …, timestamp: …}).
    let content = "a\"b\\c/d\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}\u{80}é\u{2028}\u{2029}😀<>&'";
    let line = note(content, Draft::default()).line();
    assert_eq!(
        line,
        "{\"type\":\"decision\",\"content\":\"a\\\"b\\\\c/d\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}\u{80}é\u{2028}\u{2029}😀<>&'\",\"timestamp\":\"2026-11-23T03:46:04.123Z\"}"
    );
}

#[test]
fn more_keys_follow_only_where_they_are_used() {
    let old = note("a", Draft::default());
    let draft = Draft {
        content: String::new(),
        subject: Some("db".into()),
        supersedes: vec![old.id, old.id],
        expires: Some("30d".into()),
        by: Some("me".into()),
        key: Some("k".into()),
    };
    let full = note("b", draft);
    let expected = format!(
        "{{\"type\":\"decision\",\"content\":\"b\",\"timestamp\":\"2026-11-23T03:46:04.123Z\",\"subject\":\"db\",\"supersedes\":[\"{}\"],\"expires\":\"2026-12-23T03:46:04.123Z\",\"by\":\"me\",\"key\":\"k\"}}",
        old.id
    );
    assert_eq!(full.line(), expected);
    let file = format!("{}\n{}\n", old.line(), full.line());
    let found = read(&file, "n.jsonl");
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    assert_eq!(found.notes.iter().map(Note::line).collect::<Vec<_>>(), [old.line(), full.line()]);
    assert_eq!(found.notes[1].id, full.id);
}

#[test]
fn an_id_is_of_what_a_note_says_and_not_of_where_it_stands() {
    let id = NoteId::of("decision", "2026-01-01T00:00:00.000Z", "x");
    assert_eq!(id.to_string().parse::<NoteId>().unwrap(), id);
    assert_eq!(id.to_string().len(), 21);
    assert_ne!(NoteId::of("ab", "c", "d"), NoteId::of("a", "bc", "d"));
    let line = r#"{"timestamp":"2026-01-01T00:00:00.000Z","content":"x","subject":"s","type":"decision"}"#;
    assert_eq!(read(line, "n").notes[0].id, id);
    for text in [
        "",
        "note_",
        "note_0123456789ABCDEF",
        "note_0123456789abcdeg",
        "note_0123456789abcdef0",
        "x_0123456789abcdef",
    ] {
        assert!(text.parse::<NoteId>().is_err(), "{text}");
    }
}

#[test]
fn what_is_no_note_is_passed_over_and_told_with_its_line_and_never_repeated() {
    let file = "\u{feff}{\"type\":\"decision\",\"content\":\"one\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\r\n\r\n   \n[\"secret\"]\n{\"type\":\"decision\",\"content\":\"secret\n{\"type\":3,\"content\":\"x\"}\n{\"content\":\"x\"}\n{\"type\":\"decision\",\"content\":\" \"}\n{\"type\":\"decision\"}\nsecret\n{\"type\":\"idea\",\"content\":\"two\",\"timestamp\":5,\"extra\":[1]}\n{\"type\":\"blocker\",\"content\":\"three\",\"timestamp\":\"2025-01-01T00:00:00Z\",\"expires\":\"soon\",\"supersedes\":[\"note_0000000000000000\"]}\n{\"type\":\"decision\",\"content\":\"one\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n{\"type\":\"general\",\"content\":\"four\",\"timestamp\":\"2026-02-01T01:00:00+01:00\",\"supersedes\":\"x\"}";
    let found = read(file, "n.jsonl");
    let lines: Vec<_> = told(&found.problems).iter().map(|(line, _)| line.unwrap()).collect();
    assert_eq!(lines, [4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 12]);
    assert!(found.problems.found().iter().all(|p| !p.message.contains("secret")));
    let contents: Vec<_> = found.notes.iter().map(|n| (n.content.as_str(), n.kind, n.line)).collect();
    assert_eq!(
        contents,
        [
            ("three", NoteType::Blocker, 12),
            ("one", NoteType::Decision, 1),
            ("two", NoteType::General, 11),
            ("four", NoteType::General, 14)
        ]
    );
    let two = &found.notes[2];
    assert_eq!(
        (two.stated.as_str(), &two.other),
        ("idea", json!({"extra": [1], "timestamp": 5}).as_object().unwrap())
    );
}

#[test]
fn half_a_surrogate_pair_is_read_as_a_replacement() {
    let line = r#"{"type":"decision","content":"a\ud800b \\ud800 \ud83d\ude00 \udc00\ud83d","timestamp":"2026-01-01T00:00:00Z"}"#;
    let found = read(line, "n");
    assert_eq!(found.notes[0].content, "a\u{fffd}b \\ud800 😀 \u{fffd}\u{fffd}");
    assert_eq!(whole_surrogates("plain"), "plain");
    assert_eq!(whole_surrogates("\\ud8"), "\\ud8");
}

#[test]
fn a_day_ends_with_it_and_a_time_when_it_is_reached() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let state = |expires: &str, now: &str| {
        let note = note("x", Draft { expires: Some(expires.into()), ..Draft::default() });
        states(&[note], at(now)).remove(0)
    };
    assert_eq!(state("2026-03-01", "2026-03-01T23:59:59.999Z"), State::Active);
    assert_eq!(state("2026-03-01", "2026-03-02T00:00:00Z"), State::Expired);
    assert_eq!(state("2026-03-01T12:00:00Z", "2026-03-01T11:59:59Z"), State::Active);
    assert_eq!(state("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"), State::Expired);
    assert_eq!(state("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00Z"), State::Expired);
    assert_eq!(expiry("12h", at("2026-03-01T12:00:00Z")).unwrap(), "2026-03-02T00:00:00.000Z");
    assert_eq!(expiry("2w", at("2026-03-01T12:00:00Z")).unwrap(), "2026-03-15T12:00:00.000Z");
    for text in [
        "",
        "soon",
        "0d",
        "-1d",
        "30",
        "d",
        "30m",
        "99999999999999999999d",
        "36526d",
        "2026-02-30",
        "2026-03-01T12:00",
    ] {
        assert!(expiry(text, at("2026-03-01T12:00:00Z")).is_err(), "{text}");
    }
    assert!(ends_at("9999-12-31").is_none(), "beyond what a time can be, so it never expires");
}

/// Notes `n0`, `n1`, … on lines of that order; each with the numbers that it supersedes.
fn chain(supersedes: &[&[usize]]) -> Vec<Note> {
    let plain: Vec<Note> = (0..supersedes.len()).map(|n| note(&format!("n{n}"), Draft::default())).collect();
    let ids: Vec<NoteId> = plain.iter().map(|n| n.id).collect();
    let with = |(at, mut note): (usize, Note)| {
        note.supersedes = supersedes[at].iter().map(|n| ids[*n]).collect();
        note.line = u32::try_from(at + 1).unwrap();
        note
    };
    plain.into_iter().enumerate().map(with).collect()
}

fn by(supersedes: &[&[usize]]) -> Vec<Vec<usize>> {
    let notes = chain(supersedes);
    let number = |id: &NoteId| notes.iter().position(|n| n.id == *id).unwrap();
    states(&notes, now())
        .iter()
        .map(
            |state| {
                if let State::Superseded(by) = state { by.iter().map(number).collect() } else { Vec::new() }
            },
        )
        .collect()
}

#[test]
fn what_is_superseded_is_told_by_what_and_in_a_circle_the_later_line_wins() {
    assert_eq!(by(&[&[], &[0], &[1], &[0]]), [vec![1, 3], vec![2], vec![], vec![]]);
    // A line that was moved before what it replaces.
    assert_eq!(by(&[&[1], &[]]), [vec![], vec![0]]);
    assert_eq!(by(&[&[1], &[0]]), [vec![1], vec![]]);
    assert_eq!(by(&[&[0]]), [Vec::<usize>::new()], "itself is nothing");
    assert_eq!(
        by(&[&[1], &[2], &[0]]),
        [vec![2], vec![], vec![]],
        "of a circle's references only those to earlier lines hold"
    );
    assert_eq!(by(&[&[3], &[0], &[1], &[2]]), [vec![1], vec![2], vec![3], vec![]]);
}

#[test]
fn a_long_chain_is_no_deep_recursion() {
    let mut notes: Vec<Note> = (0..50_000).map(|n| note(&format!("n{n}"), Draft::default())).collect();
    let ids: Vec<NoteId> = notes.iter().map(|n| n.id).collect();
    notes.iter_mut().zip(ids.iter().skip(1)).for_each(|(note, next)| note.supersedes = vec![*next]);
    let began = Instant::now();
    let active = states(&notes, now()).into_iter().filter(|s| *s == State::Active).count();
    assert_eq!(active, 1);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn what_is_not_fit_to_be_written_is_refused() {
    let new = |draft: Draft| Note::new(NoteType::General, draft, now()).map(|_| ());
    let with = |content: &str| Draft { content: content.into(), ..Draft::default() };
    assert_eq!(new(with(" \n")), Err(NoteError::Empty));
    assert_eq!(new(with(&"é".repeat(MAX_CONTENT))), Ok(()));
    assert_eq!(new(with(&"\u{1}".repeat(MAX_CONTENT))), Ok(()), "the longest spelling fits a line");
    assert_eq!(new(with(&"x".repeat(MAX_CONTENT + 1))), Err(NoteError::Long));
    assert_eq!(new(Draft { subject: Some("x".repeat(121)), ..with("x") }), Err(NoteError::Subject));
    assert_eq!(new(Draft { supersedes: vec![NoteId([0; 8]); 101], ..with("x") }), Err(NoteError::Supersedes));
    assert_eq!(new(Draft { key: Some("x".repeat(MAX_LINE)), ..with("x") }), Err(NoteError::Line));
}

#[test]
fn a_time_is_written_as_to_iso_string_does() {
    assert_eq!(iso(now()), "2026-11-23T03:46:04.123Z");
    assert_eq!(iso("1969-12-31T23:59:59.9999Z".parse().unwrap()), "1969-12-31T23:59:59.999Z");
    assert_eq!(iso("-000001-01-01T00:00:00Z".parse().unwrap()), "-000001-01-01T00:00:00.000Z");
}

proptest! {
    #[test]
    fn a_note_is_read_back_as_it_was_written(content in "\\PC{1,60}|[\"\\\\\n\u{0}-\u{20}😀]{1,30}", subject in proptest::option::of("[a-z ]{0,8}[a-z]")) {
        prop_assume!(!content.trim().is_empty());
        let written = note(&content, Draft { subject, ..Draft::default() });
        let found = read(&format!("{}\n", written.line()), "n");
        let expected = Note { line: 1, at: written.timestamp.parse().ok(), ..written };
        prop_assert_eq!(&found.notes, &vec![expected]);
    }

    #[test]
    fn a_torn_line_costs_only_itself(cut in 0_usize..200, junk in "\\PC{0,40}|[{}\"\\\\u0-9d,:\\[\\]]{0,40}") {
        let (first, second) = (note("first", Draft::default()).line(), note("second é", Draft::default()).line());
        let mut cut = cut.min(second.len());
        while !second.is_char_boundary(cut) {
            cut -= 1;
        }
        let file = format!("{first}\n{}\n{junk}\n{second}", &second[..cut]);
        let found = read(&file, "n");
        let contents: Vec<&str> = found.notes.iter().map(|n| n.content.as_str()).collect();
        prop_assert!(contents.contains(&"first") && contents.contains(&"second é"));
    }

    #[test]
    fn references_of_any_shape_leave_one_that_holds(
        edges in proptest::collection::vec(proptest::collection::vec(0_usize..8, 0..4), 8),
    ) {
        let edges: Vec<&[usize]> = edges.iter().map(Vec::as_slice).collect();
        let by = by(&edges);
        prop_assert!(by.iter().any(Vec::is_empty));
    }
}
