//! Components in the text format, the engine that runs them, and the conversation with the process that it is in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests start the worker")]
#![allow(clippy::too_many_lines, clippy::format_collect, reason = "a component's text is one text")]

mod conversation;
mod described;
mod hostile;
mod imports;
mod support;

use components::{Effect, Event, Grants, Kind, Level, Limits, Question};
use gatewright_components as components;
use support::{Guest, Parent, failure};

#[test]
fn a_component_describes_its_tools_and_answers() {
    let loaded = Guest::echo().load(Grants::default(), Limits::default()).unwrap();
    let tool = &loaded.tools()[0];
    assert_eq!((tool.name.as_str(), tool.kind.as_str()), ("echo", "read"));
    let (event, _) = Parent::default().call(&loaded, "echo", "{\"a\": [1, \"ä\"]}");
    let Event::Done { result, log_cut, fuel } = event else { panic!("{event:?}") };
    assert_eq!(result, Ok("{\"a\": [1, \"ä\"]}".to_owned()));
    assert!(!log_cut);
    assert!(fuel > 0 && fuel < 10_000, "{fuel}");
}

#[test]
fn the_same_call_takes_the_same_steps() {
    let loaded = Guest::echo().load(Grants::default(), Limits::default()).unwrap();
    let steps = || match Parent::default().call(&loaded, "echo", "[]").0 {
        Event::Done { fuel, .. } => fuel,
        other => panic!("{other:?}"),
    };
    assert_eq!(steps(), steps());
}

#[test]
fn nothing_of_a_call_is_there_at_the_next() {
    // The answer is how often this memory was called: one digit, written over "0".
    let guest = Guest::of("counts").body(
        "(i32.store8 (i32.const 400) (i32.add (i32.load8_u (i32.const 400)) (i32.const 1)))
         (i32.store8 (i32.const 401) (i32.add (i32.load8_u (i32.const 400)) (i32.const 48)))
         (i32.store (i32.const 68) (i32.const 401)) (i32.store (i32.const 72) (i32.const 1)) (i32.const 64)",
    );
    let loaded = guest.load(Grants::default(), Limits::default()).unwrap();
    for _ in 0..3 {
        let (event, _) = Parent::default().call(&loaded, "counts", "{}");
        assert!(matches!(&event, Event::Done { result: Ok(one), .. } if one == "1"), "{event:?}");
    }
}

#[test]
fn what_is_logged_and_asked_reaches_the_parent() {
    let guest = Guest::echo().with_log("hello").kind("run").importing("plan", "(effect)");
    let loaded = guest.load(Grants { writes: true, ..Grants::default() }, Limits::default()).unwrap();
    let (event, parent) = Parent::default().call(&loaded, "echo", "\"x\"");
    assert!(matches!(event, Event::Done { result: Ok(_), .. }), "{event:?}");
    assert_eq!(parent.logs, [(Level::Info, "hello".to_owned())]);
    let wanted = Question::Plan(Effect::Remove { path: "hello".to_owned() });
    assert_eq!(parent.questions, [wanted]);
}

#[test]
fn a_tool_that_reads_plans_nothing() {
    let guest = Guest::echo().with_log("hello").importing("plan", "(effect)");
    let loaded = guest.load(Grants { writes: true, ..Grants::default() }, Limits::default()).unwrap();
    let (_, parent) = Parent::default().call(&loaded, "echo", "\"x\"");
    assert!(parent.questions.is_empty(), "{:?}", parent.questions);
}

#[test]
fn an_error_of_the_component_is_an_answer() {
    let guest = Guest::echo().answering_errors();
    let loaded = guest.load(Grants::default(), Limits::default()).unwrap();
    let (event, _) = Parent::default().call(&loaded, "echo", "\"why not\"");
    assert!(matches!(&event, Event::Done { result: Err(why), .. } if why == "\"why not\""), "{event:?}");
}

#[test]
fn a_result_that_is_no_json_is_a_failure() {
    let guest = Guest::of("odd").body(
        "(i32.store (i32.const 68) (i32.const 1024)) (i32.store (i32.const 72) (i32.const 3)) (i32.const 64)",
    );
    let loaded = guest.load(Grants::default(), Limits::default()).unwrap();
    let (event, _) = Parent::default().call(&loaded, "odd", "{}");
    assert_eq!(failure(&event).kind, Kind::Result);
}
