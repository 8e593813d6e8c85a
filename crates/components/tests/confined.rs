//! A component compiles, answers and is killed in the world that plugins run in: without files and network, under the filter of
//! system calls. This program is the launcher and the worker itself.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "a test looks from outside")]

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use exec::StateDir;
use exec::run::{Channel, Launcher, Needs, Resident};
use gatewright_components::{Call, Event, Grants, Hearing, Limits, MARK};

/// Echoes for `echo`, loops for `loops`: one tool for each.
const GUEST: &str = include_str!("confined.wat");

fn main() {
    exec::run::main_if_asked();
    gatewright_components::main_if_asked();
    let scratch = tempfile::tempdir().unwrap();
    let state = StateDir::at(scratch.path().join("state")).unwrap();
    let launcher = Launcher::own();
    let needs = Needs {
        works: None,
        program: std::env::current_exe().unwrap(),
        args: vec![MARK.to_owned()],
        env: std::iter::empty().collect(),
        memory: 576 << 20,
        web: None,
        channel: Channel::Streams,
    };
    let since = Instant::now();
    let (resident, mut channel) = match Resident::start(&launcher, &state, None, needs) {
        Ok(started) => started,
        Err(fault) => {
            println!("SKIPPED: components in a world of their own: {}", fault.message);
            return;
        }
    };
    let limits = Limits { fuel: 1_000_000_000_000, milliseconds: 60_000, ..Limits::default() };
    let (line, mut hearing) =
        Hearing::load(wat::parse_str(GUEST).unwrap(), Grants::default(), limits).unwrap();
    channel.write_all(&line).unwrap();
    let hear = |hearing: &mut Hearing, channel: &mut std::os::unix::net::UnixStream| {
        let mut piece = vec![0; 1 << 16];
        loop {
            let read = channel.read(&mut piece).unwrap();
            assert!(read > 0, "it ended: {:?}", resident.ended());
            let events = hearing.hear(&piece[..read]).unwrap();
            if !events.is_empty() {
                return events;
            }
        }
    };
    let events = hear(&mut hearing, &mut channel);
    assert!(matches!(&events[..], [Event::Described(tools)] if tools.len() == 1), "{events:?}");
    println!("first: {:?}", since.elapsed());
    for round in 0..3 {
        let since = Instant::now();
        let call = Call { tool: "echo".into(), arguments: format!("[{round}]"), config: "{}".into() };
        let line = hearing.call(call).unwrap();
        channel.write_all(&line).unwrap();
        let events = hear(&mut hearing, &mut channel);
        let wanted = format!("[{round}]");
        assert!(
            matches!(&events[..], [Event::Done { result: Ok(json), .. }] if *json == wanted),
            "{events:?}"
        );
        println!("next: {:?}", since.elapsed());
    }
    // A number is no array: it loops then, and is killed by its parent.
    let call = Call { tool: "echo".into(), arguments: "7".into(), config: "{}".into() };
    let line = hearing.call(call).unwrap();
    channel.write_all(&line).unwrap();
    channel.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(channel.read(&mut [0; 16]).is_err(), "it loops");
    let since = Instant::now();
    drop(resident);
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    channel.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert!(matches!(channel.read(&mut [0; 16]), Ok(0) | Err(_)), "nobody is there any more");
    println!("ok: a component in the world that plugins run in");
}
