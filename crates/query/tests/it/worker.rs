//! The worker as a process: what it answers, and what becomes of filters that take too much.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gatewright_query::{Answer, Kind, MARK, Question};
use serde_json::{Value, json};

/// What a worker says, and what it says on its standard error, within a time.
fn told(line: &[u8], time: Duration) -> Option<(Vec<u8>, String)> {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_gatewright-query-worker"))
        .arg(MARK)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = worker.stdin.take().unwrap().write_all(line);
    let (mut out, mut error) = (worker.stdout.take().unwrap(), worker.stderr.take().unwrap());
    let said = std::thread::spawn(move || {
        let (mut said, mut complaint) = (Vec::new(), String::new());
        out.read_to_end(&mut said).unwrap();
        error.read_to_string(&mut complaint).unwrap();
        (said, complaint)
    });
    let since = Instant::now();
    let has_ended = |worker: &mut Child| worker.try_wait().unwrap().is_some();
    while !has_ended(&mut worker) {
        if since.elapsed() > time {
            worker.kill().unwrap();
            worker.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(said.join().unwrap())
}

fn answer(filter: &str, input: Value) -> Answer {
    let question = Question { filter: filter.to_owned(), input, style: None };
    let (said, complaint) = told(&question.encode().unwrap(), Duration::from_secs(20)).unwrap();
    assert_eq!(said.last(), Some(&b'\n'), "{filter}: {complaint}");
    Answer::decode(&said[..said.len() - 1], &question).unwrap()
}

#[test]
fn a_worker_answers_one_question_and_ends() {
    let Answer::Done { results, .. } = answer(".a + 1", json!({ "a": 41 })) else { panic!() };
    assert_eq!(results, [json!(42)]);
    let large = json!("x".repeat(4 << 20));
    let Answer::Done { results, .. } = answer("length", large) else { panic!() };
    assert_eq!(results, [json!(4 << 20)]);
    assert_eq!(told(b"", Duration::from_secs(5)).unwrap().0, b"", "nothing asked");
    assert_eq!(told(b"{\"filter\":1}\n", Duration::from_secs(5)).unwrap().0, b"", "nothing understood");
}

#[test]
fn a_filter_without_end_is_there_until_it_is_killed() {
    for filter in ["def f: f; f", "[range(1e12)] | length < 0", "last(repeat(1))", "until(false; .)"] {
        let question = Question { filter: filter.to_owned(), input: json!(null), style: None };
        let told = told(&question.encode().unwrap(), Duration::from_millis(300));
        // One that gathers is ended for its memory, where it is fast.
        assert!(told.is_none() || filter.starts_with('['), "{filter}");
    }
}

#[test]
fn a_filter_that_takes_memory_without_bound_is_ended_for_it() {
    for filter in [
        "[range(1e12)]",
        "\"x\" * 200000000 | . + . | length",
        "[1] | def f: . + . | f; f",
        "[limit(1e9; repeat(\"abc\"))]",
    ] {
        let since = Instant::now();
        let question = Question { filter: filter.to_owned(), input: json!(null), style: None };
        let (said, complaint) = told(&question.encode().unwrap(), Duration::from_secs(30)).unwrap();
        let is_aborted =
            complaint.contains("memory allocation") || complaint.contains("overflowed its stack");
        let is_told = said.last().is_some_and(|_| {
            matches!(Answer::decode(&said[..said.len() - 1], &question), Ok(Answer::Failed(failure)) if failure.kind == Kind::Memory)
        });
        assert!(is_aborted || is_told, "{filter}: {complaint} {}", String::from_utf8_lossy(&said));
        assert!(since.elapsed() < Duration::from_secs(20), "{filter}");
    }
    // A piece that is larger than all that is allowed.
    let question = Question { filter: "\"x\" * 4000000000".to_owned(), input: json!(null), style: None };
    let (said, complaint) = told(&question.encode().unwrap(), Duration::from_secs(10)).unwrap();
    assert!(said.is_empty() && complaint.contains("memory allocation"), "{complaint}");
}

#[test]
fn recursion_without_bound_ends_the_worker_and_nothing_else() {
    let question = Question { filter: "def f: 1 + f; f".to_owned(), input: json!(null), style: None };
    let (said, complaint) = told(&question.encode().unwrap(), Duration::from_secs(20)).unwrap();
    assert!(!said.windows(4).any(|part| part == b"done"), "{complaint}");
}
