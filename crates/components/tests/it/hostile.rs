//! Components that want more than they may have.

use std::time::{Duration, Instant};

use gatewright_components as components;

use components::{Event, Grants, Kind, Limits, limits};

use crate::support::{Guest, Parent, failure};

const LOOP: &str = "(loop $l (br $l)) (i32.const 64)";

fn fails(guest: &Guest, limits: Limits) -> components::Failure {
    let loaded = guest.load(Grants::default(), limits).unwrap();
    let name = guest.tools[0][0].clone();
    failure(&Parent::default().call(&loaded, &name, "{}").0).clone()
}

#[test]
fn a_loop_without_end_uses_its_steps_up() {
    let failure = fails(&Guest::of("loops").body(LOOP), Limits { fuel: 1_000_000, ..Limits::default() });
    assert_eq!(failure.kind, Kind::Fuel);
    assert!(failure.message.contains("1000000 steps"), "{failure}");
}

#[test]
fn a_loop_with_steps_without_end_is_stopped_by_time() {
    let since = Instant::now();
    let limits = Limits { fuel: u64::MAX, milliseconds: 200, ..Limits::default() };
    let failure = fails(&Guest::of("loops").body(LOOP), limits);
    assert_eq!(failure.kind, Kind::Timeout);
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

#[test]
fn memory_that_grows_without_end_is_stopped() {
    let grows = "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    let failure = fails(&Guest::of("grows").body(grows), Limits { memory: 8 << 20, ..Limits::default() });
    assert_eq!(failure.kind, Kind::Memory);
    assert!(failure.message.contains("8 MiB"), "{failure}");
}

#[test]
fn a_component_that_is_refused_memory_may_go_on_without() {
    let tries = "(drop (memory.grow (i32.const 60000))) (i32.store (i32.const 68) (local.get 2)) (i32.store (i32.const 72) (local.get 3)) (i32.const 64)";
    let loaded = Guest::of("tries").body(tries).load(Grants::default(), Limits::default()).unwrap();
    let (event, _) = Parent::default().call(&loaded, "tries", "7");
    assert!(matches!(&event, Event::Done { result: Ok(seven), .. } if seven == "7"), "{event:?}");
}

#[test]
fn a_table_that_grows_is_stopped() {
    let grows = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 15000)) (i32.const -1)) (then unreachable)) (i32.const 64)";
    assert_eq!(fails(&Guest::of("grows").body(grows), Limits::default()).kind, Kind::Memory);
}

#[test]
fn a_recursion_without_end_traps() {
    let failure = fails(&Guest::of("deep").body("(call $deep) (i32.const 64)"), Limits::default());
    assert_eq!(failure.kind, Kind::Trap);
    assert!(failure.message.contains("stack"), "{failure}");
}

#[test]
fn a_flood_of_host_calls_is_stopped_and_what_was_logged_is_bounded() {
    let flood = Guest::of("floods")
        .with_log("0123456789")
        .body("(loop $l (call $log (i32.const 0) (i32.const 1024) (i32.const 6)) (br $l)) (i32.const 64)");
    let loaded = flood.load(Grants::default(), Limits::default()).unwrap();
    let (event, parent) = Parent::default().call(&loaded, "floods", "{}");
    assert_eq!(failure(&event).kind, Kind::HostCalls);
    assert_eq!(parent.logs.len(), limits::LOG_PIECES);
}

#[test]
fn a_pointer_outside_its_memory_is_its_own_trap() {
    let outside =
        "(i32.store (i32.const 68) (i32.const -16)) (i32.store (i32.const 72) (i32.const 64)) (i32.const 64)";
    let failure = fails(&Guest::of("outside").body(outside), Limits::default());
    assert_eq!(failure.kind, Kind::Trap, "{failure}");
}

#[test]
fn a_start_that_loops_is_stopped_while_it_describes_itself() {
    let guest = Guest::echo().describing("(loop $l (br $l))");
    let failure = guest.load(Grants::default(), Limits { fuel: 1_000_000, ..Limits::default() }).unwrap_err();
    assert_eq!(failure.kind, Kind::Fuel, "{failure}");
}

#[test]
fn nothing_is_called_while_it_describes_itself() {
    let guest =
        Guest::echo().with_log("x").describing("(call $log (i32.const 1) (i32.const 1024) (i32.const 1))");
    let failure = guest.load(Grants::default(), Limits::default()).unwrap_err();
    assert_eq!(failure.kind, Kind::World);
    assert!(failure.message.contains("`log`"), "{failure}");
}

#[test]
fn what_is_no_component_is_refused_with_words() {
    let module = wat::parse_str("(module)").unwrap();
    let failure = components::Loaded::new(&module, Grants::default(), Limits::default()).unwrap_err();
    assert!(failure.message.contains("core module"), "{failure}");
    let failure = components::Loaded::new(b"#!/bin/sh\n", Grants::default(), Limits::default()).unwrap_err();
    assert_eq!(failure.kind, Kind::Component);
    let mut cut = Guest::echo().bytes();
    cut.truncate(cut.len() / 2);
    let failure = components::Loaded::new(&cut, Grants::default(), Limits::default()).unwrap_err();
    assert_eq!(failure.kind, Kind::Component);
}
