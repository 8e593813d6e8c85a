//! The lines between parent and worker.

use gatewright_skills::talk::{Inspected, Level, Lines};
use gatewright_skills::{
    Event, Failure, Frame, Grants, Hearing, Kind, Request, SourceFile, TalkError, limits,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Talk, one};

fn hearing(reads: bool) -> Hearing {
    let mut run = one("export default () => 1;", Value::Null);
    run.grants = Grants { reads, ..Grants::default() };
    Hearing::begin(&Request::Run(Box::new(run))).unwrap().1
}

fn says(hearing: &mut Hearing, event: &Event) -> Result<Vec<Event>, TalkError> {
    hearing.hear(&event.encode().unwrap())
}

#[test]
fn an_inspection_says_what_is_imported_and_exported_and_runs_nothing() {
    let files = vec![
        SourceFile {
            path: "a.ts".into(),
            text: "import x from 'lodash'; for (;;) {} export const f = (): void => {};".into(),
        },
        SourceFile { path: "b.ts".into(), text: "\nenum A {}".into() },
    ];
    let mut talk = Talk::ours(&Request::Inspect { files, texts: true });
    let (events, _) = talk.listen(std::time::Duration::from_secs(20), |_| None);
    let [Event::Inspected(found)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(found[0].imports[0].specifier, "lodash");
    assert_eq!((found[0].exports[0].name.as_str(), found[0].exports[0].function), ("f", true));
    assert_eq!(
        found[0].text.as_deref(),
        Some("import x from 'lodash'; for (;;) {} export const f = ()       => {};")
    );
    assert_eq!(found[1].refused.as_ref().map(|refused| (refused.line, refused.column)), Some((2, 1)));
}

#[test]
fn requests_are_checked_before_they_are_said() {
    let run = one("export default () => 1;", Value::Null);
    let refused = |change: &dyn Fn(&mut gatewright_skills::Run)| {
        let mut run = run.clone();
        change(&mut run);
        Hearing::begin(&Request::Run(Box::new(run))).is_err()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|run| run.entry = "other.ts".into()));
    assert!(refused(&|run| run.files.clear()));
    assert!(refused(&|run| run.files.push(run.files[0].clone())));
    assert!(refused(&|run| run.files[0].path = "../skill-name.ts".into()));
    assert!(refused(&|run| run.files[0].text = "x".repeat(limits::FILES_BYTES + 1)));
    assert!(refused(&|run| run.input = json!("x".repeat(limits::INPUT_BYTES))));
    assert!(refused(&|run| run.input = (0..65).fold(json!(1), |inner, _| json!([inner]))));
    assert!(!refused(&|run| run.input = (0..64).fold(json!(1), |inner, _| json!([inner]))));
    assert!(Hearing::begin(&Request::Text("a".into())).is_err());
}

#[test]
fn the_end_is_the_end() {
    let mut hearing = hearing(false);
    assert!(hearing.closed().is_err());
    let done = Event::Done { result: json!(1), log_cut: false };
    assert_eq!(says(&mut hearing, &done), Ok(vec![done.clone()]));
    assert!(hearing.is_ended() && hearing.closed().is_ok());
    assert!(says(&mut hearing, &done).is_err());
}

#[test]
fn results_are_held_to_their_size_and_depth_by_the_parent_too() {
    let large = Event::Done { result: json!("x".repeat(limits::RESULT_BYTES)), log_cut: false };
    assert_eq!(says(&mut hearing(false), &large), Err(TalkError::Long(limits::RESULT_BYTES)));
    let deep = (0..65).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        says(&mut hearing(false), &Event::Done { result: deep, log_cut: false }),
        Err(TalkError::Deep)
    );
    let deeper = format!(
        "{{\"done\":{{\"result\":{}{},\"log_cut\":false}}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(hearing(false).hear(deeper.as_bytes()), Err(TalkError::Deep));
}

#[test]
fn a_question_waits_for_its_answer_and_an_answer_for_its_question() {
    let mut talk = hearing(true);
    assert!(talk.answer(&Request::Text("a".into())).is_err());
    assert!(says(&mut talk, &Event::Read("a.sql".into())).is_ok());
    assert!(talk.answer(&Request::Paths(Vec::new())).is_err());
    assert!(says(&mut talk, &Event::Log { level: Level::Info, text: "impatient".into() }).is_err());
    let mut talk = hearing(true);
    says(&mut talk, &Event::Glob("*.sql".into())).unwrap();
    assert_eq!(talk.answer(&Request::Paths(vec!["a.sql".into()])).unwrap(), b"{\"paths\":[\"a.sql\"]}\n");
    assert!(says(&mut hearing(false), &Event::Read("a.sql".into())).is_err());
    assert!(says(&mut hearing(true), &Event::Read("../a.sql".into())).is_err());
}

#[test]
fn a_run_reads_no_more_than_it_may() {
    let mut talk = hearing(true);
    for _ in 0..limits::READS {
        says(&mut talk, &Event::Read("a".into())).unwrap();
        talk.answer(&Request::Text("x".repeat(1000))).unwrap();
    }
    assert_eq!(talk.readable(), limits::READ_BYTES - 200_000);
    assert!(says(&mut talk, &Event::Read("a".into())).is_err());
    let mut talk = hearing(true);
    says(&mut talk, &Event::Read("a".into())).unwrap();
    assert!(talk.answer(&Request::Text("x".repeat(limits::READ_BYTES + 1))).is_err());
    assert_eq!(talk.readable(), limits::READ_BYTES);
    assert!(talk.answer(&Request::Denied("too much".into())).is_ok());
}

#[test]
fn errors_are_of_the_skill_s_own_files() {
    let failure = |file: &str, message: usize| Event::Failed {
        failure: Failure {
            kind: Kind::Thrown,
            name: "Error".into(),
            message: "m".repeat(message),
            frames: vec![Frame { function: String::new(), file: file.into(), line: 1, column: 1 }],
        },
        log_cut: false,
    };
    assert!(says(&mut hearing(false), &failure("skill-name.ts", 1)).is_ok());
    assert!(says(&mut hearing(false), &failure("/etc/passwd", 1)).is_err());
    assert!(says(&mut hearing(false), &failure("skill-name.ts", 2_001)).is_err());
}

#[test]
fn an_inspection_of_other_files_or_lengths_is_not_believed() {
    let files = vec![SourceFile { path: "a.ts".into(), text: "let a: b".into() }];
    let found = |path: &str, text: Option<&str>| {
        Event::Inspected(vec![Inspected {
            path: path.into(),
            refused: None,
            imports: Vec::new(),
            exports: Vec::new(),
            text: text.map(str::to_owned),
        }])
    };
    let heard = |event: Event| {
        let request = Request::Inspect { files: files.clone(), texts: true };
        says(&mut Hearing::begin(&request).unwrap().1, &event).is_ok()
    };
    assert!(heard(found("a.ts", Some("let a   "))));
    assert!(!heard(found("b.ts", Some("let a   "))));
    assert!(!heard(found("a.ts", Some("let a"))));
    assert!(!heard(found("a.ts", None)));
    assert!(!heard(Event::Inspected(Vec::new())));
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_are_heard_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        pieces in proptest::collection::vec(1_usize..100, 1..50),
    ) {
        let mut hearing = hearing(true);
        let mut rest = &bytes[..];
        for piece in pieces {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            rest = later;
            if hearing.hear(now).is_err() {
                break;
            }
        }
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut(
        lines in proptest::collection::vec("[a-z{}\"é]{0,40}", 0..20),
        piece in 1_usize..30,
    ) {
        let all: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
        let mut cut = Lines::new(200);
        let mut found = Vec::new();
        for piece in all.chunks(piece) {
            cut.push(piece).unwrap();
            while let Some(line) = cut.take().unwrap() {
                found.push(String::from_utf8(line).unwrap());
            }
        }
        prop_assert_eq!(found, lines);
    }

    #[test]
    fn what_is_encoded_is_decoded_the_same(text in "\\PC{0,50}", path in "[a-z]{1,8}", reads in any::<bool>(), depth in 0_usize..60) {
        let mut run = one(&text, (0..depth).fold(json!({ "__proto__": text }), |inner, _| json!([inner])));
        run.skill = path;
        run.grants.reads = reads;
        let request = Request::Run(Box::new(run));
        let line = request.encode().unwrap();
        prop_assert!(!line[..line.len() - 1].contains(&b'\n'));
        prop_assert_eq!(Request::decode(&line[..line.len() - 1]), Ok(request));
    }
}
