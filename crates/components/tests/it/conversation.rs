//! A parent and its worker, a process of its own.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gatewright_components as components;

use components::talk::Bytes;
use components::{Answer, Call, Effect, Event, Grants, Hearing, Kind, Limits, MARK, Question, TalkError};

use crate::support::Guest;

struct Worker(Child);

impl Worker {
    #[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the worker, for its own test")]
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright-component-worker"));
        Self(command.arg(MARK).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn say(&mut self, line: &[u8]) {
        self.0.stdin.as_mut().unwrap().write_all(line).unwrap();
    }

    fn hear(&mut self, hearing: &mut Hearing) -> Vec<Event> {
        let mut piece = vec![0; 1 << 16];
        loop {
            let read = self.0.stdout.as_mut().unwrap().read(&mut piece).unwrap();
            assert!(read > 0, "it ended");
            let events = hearing.hear(&piece[..read]).unwrap();
            if !events.is_empty() {
                return events;
            }
        }
    }

    fn loaded(guest: &Guest, grants: Grants, limits: Limits) -> (Self, Hearing) {
        let mut worker = Self::start();
        let (line, mut hearing) = Hearing::load(guest.bytes(), grants, limits).unwrap();
        worker.say(&line);
        let events = worker.hear(&mut hearing);
        assert!(matches!(&events[..], [Event::Described(_)]), "{events:?}");
        (worker, hearing)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn call(tool: &str, arguments: &str) -> Call {
    Call { tool: tool.into(), arguments: arguments.into(), config: "{}".into() }
}

#[test]
fn a_worker_answers_call_after_call() {
    let (mut worker, mut hearing) = Worker::loaded(&Guest::echo(), Grants::default(), Limits::default());
    for arguments in ["1", "{\"a\": \"\\u0000\\n\"}"] {
        let line = hearing.call(call("echo", arguments)).unwrap();
        worker.say(&line);
        let events = worker.hear(&mut hearing);
        assert!(
            matches!(&events[..], [Event::Done { result: Ok(same), .. }] if same == arguments),
            "{events:?}"
        );
        assert!(hearing.is_ready());
    }
}

#[test]
fn a_worker_asks_and_waits_for_its_answer() {
    let guest = Guest::echo().with_log("a.txt").kind("run").importing("plan", "");
    let grants = Grants { writes: true, ..Grants::default() };
    let (mut worker, mut hearing) = Worker::loaded(&guest, grants, Limits::default());
    let line = hearing.call(call("echo", "true")).unwrap();
    worker.say(&line);
    let mut events = worker.hear(&mut hearing);
    if events.len() < 2 {
        events.extend(worker.hear(&mut hearing));
    }
    let wanted = Question::Plan(Effect::Remove { path: "a.txt".into() });
    assert!(matches!(&events[1], Event::Ask(asked) if *asked == wanted), "{events:?}");
    assert!(hearing.answer(Answer::Paths(Vec::new())).is_err(), "another answer");
    let line = hearing.answer(Answer::Done).unwrap();
    worker.say(&line);
    assert!(matches!(&worker.hear(&mut hearing)[..], [Event::Done { result: Ok(_), .. }]));
}

#[test]
fn a_worker_that_loops_is_killed_by_its_parents_clock() {
    let guest = Guest::of("loops").body("(loop $l (br $l)) (i32.const 64)");
    let limits = Limits { fuel: u64::MAX, milliseconds: 3_600_000, ..Limits::default() };
    let (mut worker, mut hearing) = Worker::loaded(&guest, Grants::default(), limits);
    let line = hearing.call(call("loops", "{}")).unwrap();
    worker.say(&line);
    std::thread::sleep(Duration::from_millis(50));
    let since = Instant::now();
    assert!(worker.0.try_wait().unwrap().is_none(), "it works");
    worker.0.kill().unwrap();
    worker.0.wait().unwrap();
    assert!(since.elapsed() < Duration::from_secs(5));
    assert!(hearing.closed().is_err());
}

#[test]
fn a_worker_runs_nothing_more_after_a_failure() {
    let guest = Guest::of("fails").body("unreachable");
    let (mut worker, mut hearing) = Worker::loaded(&guest, Grants::default(), Limits::default());
    let line = hearing.call(call("fails", "{}")).unwrap();
    worker.say(&line);
    let events = worker.hear(&mut hearing);
    assert!(matches!(&events[..], [Event::Failed(failure)] if failure.kind == Kind::Trap), "{events:?}");
    assert!(hearing.is_ended());
    assert!(hearing.call(call("fails", "{}")).is_err());
    assert!(worker.0.wait().unwrap().success());
}

/// A parent that has heard what a component offers, and called it.
fn called(kind: &str, grants: Grants) -> Hearing {
    let (_, mut hearing) = Hearing::load(b"any".to_vec(), grants, Limits::default()).unwrap();
    let described = format!(
        "{{\"described\": [{{\"name\": \"a\", \"title\": \"A\", \"description\": \"A.\", \"input_schema\": \"{{\\\"type\\\": \\\"object\\\"}}\", \"kind\": {kind:?}}}]}}\n"
    );
    hearing.hear(described.as_bytes()).unwrap();
    hearing.call(call("a", "{}")).unwrap();
    hearing
}

#[test]
fn a_parent_believes_no_worker() {
    let all = Grants { reads: true, writes: true, programs: true, state: true };
    let wrong = |mut hearing: Hearing, line: &str| {
        let heard = hearing.hear(format!("{line}\n").as_bytes());
        assert!(
            matches!(heard, Err(TalkError::Wrong(_) | TalkError::Json(_) | TalkError::Described(_))),
            "{line}: {heard:?}"
        );
    };
    let (_, fresh) = Hearing::load(Vec::new(), all, Limits::default()).unwrap();
    wrong(fresh, "{\"done\": {\"result\": {\"Ok\": \"1\"}, \"log_cut\": false, \"fuel\": 1}}");
    let (_, fresh) = Hearing::load(Vec::new(), all, Limits::default()).unwrap();
    wrong(fresh, "{\"described\": []}");
    wrong(called("run", all), "{\"described\": []}");
    wrong(called("run", all), "no JSON");
    wrong(
        called("run", all),
        "{\"done\": {\"result\": {\"Ok\": \"no JSON\"}, \"log_cut\": false, \"fuel\": 1}}",
    );
    wrong(called("run", all), "{\"ask\": {\"read\": \"\"}}");
    wrong(called("run", all), "{\"ask\": {\"get\": \"a\\u0000b\"}}");
    wrong(called("run", all), &format!("{{\"ask\": {{\"glob\": {:?}}}}}", "a".repeat(5_000)));
    wrong(called("read", all), "{\"ask\": {\"plan\": {\"remove\": {\"path\": \"a\"}}}}");
    for question in [
        "{\"read\": \"a\"}",
        "{\"glob\": \"a\"}",
        "{\"plan\": {\"remove\": {\"path\": \"a\"}}}",
        "{\"run\": {\"program\": \"a\", \"args\": []}}",
        "{\"get\": \"a\"}",
        "{\"set\": {\"key\": \"a\", \"value\": \"\"}}",
    ] {
        wrong(called("run", Grants::default()), &format!("{{\"ask\": {question}}}"));
    }
}

#[test]
fn a_parent_counts_what_a_worker_says() {
    let mut hearing = called("run", Grants::default());
    let line = format!("{{\"log\": {{\"level\": \"info\", \"text\": {:?}}}}}\n", "x".repeat(30_000));
    hearing.hear(line.as_bytes()).unwrap();
    hearing.hear(line.as_bytes()).unwrap();
    assert!(hearing.hear(line.as_bytes()).is_err());
    let mut hearing = called("run", Grants { programs: true, ..Grants::default() });
    for round in 0.. {
        match hearing.hear(b"{\"ask\": {\"run\": {\"program\": \"true\", \"args\": []}}}\n") {
            Ok(_) => {}
            Err(_) if round == 20 => break,
            other => panic!("{round}: {other:?}"),
        }
        let ran = Answer::Ran { code: 0, stdout: Bytes::default(), stderr: Bytes::default() };
        hearing.answer(ran).unwrap();
    }
    let mut hearing = called("run", Grants::default());
    let mut heard = Ok(Vec::new());
    for _ in 0..20 {
        heard = hearing.hear(&vec![b'x'; 1 << 20]);
        if heard.is_err() {
            break;
        }
    }
    assert!(matches!(heard, Err(TalkError::Long(_))), "a line without an end");
}

#[test]
fn a_worker_that_goes_on_without_its_answer_is_not_believed() {
    let mut hearing = called("run", Grants { reads: true, ..Grants::default() });
    hearing.hear(b"{\"ask\": {\"read\": \"a\"}}\n").unwrap();
    let done = b"{\"done\": {\"result\": {\"Ok\": \"1\"}, \"log_cut\": false, \"fuel\": 1}}\n";
    assert!(hearing.hear(done).is_err());
    assert!(hearing.answer(Answer::Done).is_err());
}
