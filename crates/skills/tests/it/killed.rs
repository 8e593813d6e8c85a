//! What the engine cannot end, its parent does: the worker is a process.

use std::process::Command;
use std::time::{Duration, Instant};

use gatewright_skills::{Event, Kind, Limits, Request, TalkError};
use serde_json::{Value, json};

use crate::support::{End, Talk, one};

fn request(text: &str) -> Request {
    Request::Run(Box::new(one(text, Value::Null)))
}

fn answered(text: &str) -> Event {
    let mut talk = Talk::ours(&request(text));
    let (mut events, end) = talk.listen(Duration::from_secs(20), |_| None);
    assert!(matches!(end, End::Answered), "{end:?}");
    assert_eq!(talk.ended(), Some(0));
    events.pop().unwrap()
}

#[test]
fn a_worker_answers_and_ends() {
    let done = answered("export default () => ({ a: 1 });");
    assert_eq!(done, Event::Done { result: json!({ "a": 1 }), log_cut: false });
    let Event::Failed { failure, .. } = answered("export default () => { throw new Error('no'); };") else {
        panic!("it failed")
    };
    assert_eq!(failure.kind, Kind::Thrown);
}

#[test]
fn native_loops_are_ended_by_the_parent() {
    for text in [
        "export default () => Array.prototype.sort.call({ length: 2 ** 53 - 1 });",
        "export default () => Array.prototype.join.call({ length: 2 ** 53 - 1 }, '');",
        "export default () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 });",
    ] {
        let mut run = one(text, Value::Null);
        run.limits = Limits { milliseconds: 100, ..Limits::default() };
        let mut talk = Talk::ours(&Request::Run(Box::new(run)));
        let start = Instant::now();
        let (events, end) = talk.listen(Duration::from_millis(1_500), |_| None);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(6), "{text}: {took:?}");
        // Should the engine learn to look at its clock there, that is well: then it answers by itself.
        match end {
            End::Killed => assert_eq!(events, []),
            End::Answered => {
                let last = events.last();
                assert!(
                    matches!(last, Some(Event::Failed { failure, .. }) if failure.kind == Kind::Timeout),
                    "{last:?}"
                );
            }
            End::Distrusted(wrong) => panic!("{text}: {wrong}"),
        }
    }
}

#[test]
fn what_was_said_before_a_kill_is_heard() {
    let text = "export default () => { console.log('so far'); Array.prototype.reverse.call({ length: 2 ** 53 - 1 }); };";
    let (events, end) = Talk::ours(&request(text)).listen(Duration::from_millis(1_500), |_| None);
    assert!(matches!(end, End::Killed), "{end:?}");
    assert!(matches!(&events[..], [Event::Log { text, .. }] if text == "so far"), "{events:?}");
}

#[test]
fn a_worker_that_is_deep_in_the_parser_takes_nobody_with_it() {
    // Meant to get past the look at how deep a source nests.
    let text = format!("x = a++ /'/ + {}1", "(".repeat(200_000));
    let (events, end) = Talk::ours(&request(&text)).listen(Duration::from_secs(20), |_| None);
    match end {
        End::Answered => {
            assert!(
                matches!(&events[..], [Event::Failed { failure, .. }] if failure.kind == Kind::Source),
                "{events:?}"
            );
        }
        End::Distrusted(TalkError::Wrong(_)) => assert_eq!(events, []),
        other => panic!("{other:?}"),
    }
}

#[test]
fn questions_are_answered_by_the_parent() {
    let text = "export default async () => { const [a] = gatewright.glob('*.sql'); return [await gatewright.read(a), (() => { try { gatewright.read('.env'); } catch (e) { return e.message; } })()]; };";
    let mut run = one(text, Value::Null);
    run.grants.reads = true;
    let mut talk = Talk::ours(&Request::Run(Box::new(run)));
    let (events, end) = talk.listen(Duration::from_secs(20), |event| match event {
        Event::Glob(_) => Some(Request::Paths(vec!["a.sql".to_owned()])),
        Event::Read(path) if path == "a.sql" => Some(Request::Text("select 1;\n".to_owned())),
        Event::Read(_) => Some(Request::Denied("not granted".to_owned())),
        _ => None,
    });
    assert!(matches!(end, End::Answered), "{end:?}");
    let expected = Event::Done { result: json!(["select 1;\n", "not granted"]), log_cut: false };
    assert_eq!(events.last(), Some(&expected));
    assert_eq!(events.len(), 4);
}

#[test]
fn paths_that_lead_elsewhere_are_not_even_asked_for() {
    let text = "export default () => ['../a', '/etc/passwd', 'a/../b', '', 'a\\u0000', 'a//b', '..\\\\a'].map((p) => { try { gatewright.read(p); return 'read'; } catch { return 'no'; } });";
    let mut run = one(text, Value::Null);
    run.grants.reads = true;
    let (events, end) = Talk::ours(&Request::Run(Box::new(run))).listen(Duration::from_secs(20), |_| None);
    assert!(matches!(end, End::Answered), "{end:?}");
    assert_eq!(events, [Event::Done { result: json!(vec!["no"; 7]), log_cut: false }]);
}

#[test]
fn a_skill_that_asks_too_often_is_told_and_not_killed() {
    let text = "export default () => { let read = 0; for (;;) { try { gatewright.read('a'); read += 1; } catch (e) { return [read, (e as Error).message]; } } };";
    let mut run = one(text, Value::Null);
    run.grants.reads = true;
    let mut talk = Talk::ours(&Request::Run(Box::new(run)));
    let (events, end) = talk.listen(Duration::from_secs(20), |event| {
        matches!(event, Event::Read(_)).then(|| Request::Text("x".to_owned()))
    });
    assert!(matches!(end, End::Answered), "{end:?}");
    let expected = json!([200, "a run reads at most 200 files"]);
    assert_eq!(events.last(), Some(&Event::Done { result: expected, log_cut: false }));
}

fn forged(script: &str, patience: u64) -> (Vec<Event>, End) {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script);
    let request = request("export default () => 1;");
    Talk::start(command, &request).listen(Duration::from_millis(patience), |_| None)
}

#[test]
fn a_worker_that_stays_silent_is_killed_and_one_that_ends_without_an_answer_is_told() {
    let (events, end) = forged("sleep 60", 300);
    assert!(events.is_empty() && matches!(end, End::Killed), "{end:?}");
    let (_, end) = forged("exit 0", 5_000);
    assert!(matches!(end, End::Distrusted(TalkError::Wrong(_))), "{end:?}");
}

#[test]
fn a_worker_that_floods_is_ended_at_the_first_line_too_long() {
    let (events, end) = forged("exec yes xxxxxxxxxxxxxxxx | tr -d '\\n'", 60_000);
    assert!(events.is_empty() && matches!(end, End::Distrusted(TalkError::Long(_))), "{end:?}");
    let (_, end) = forged("exec yes '{\"log\":{\"level\":\"info\",\"text\":\"x\"}}'", 60_000);
    assert!(matches!(end, End::Distrusted(TalkError::Wrong(_))), "{end:?}");
}

#[test]
fn a_worker_that_forges_is_ended() {
    for line in [
        "{\"read\":\"a\"}",
        "{\"inspected\":[]}",
        "{\"done\":{\"result\":1}}",
        "{\"done\":{\"result\":1,\"log_cut\":false,\"more\":1}}",
        "nonsense",
        "",
    ] {
        let (events, end) = forged(&format!("echo '{line}'; sleep 60"), 20_000);
        assert!(events.is_empty() && matches!(end, End::Distrusted(_)), "{line}: {end:?}");
    }
}

#[test]
fn a_program_that_was_not_asked_to_be_a_worker_is_none() {
    let output = Command::new(env!("CARGO_BIN_EXE_gatewright-skill-worker")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}
