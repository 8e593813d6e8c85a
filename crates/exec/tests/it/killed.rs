//! Applies killed at random moments, and files that others change at random moments.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use contract::Code;
use gatewright_exec::{Rights, Root, StateDir, Unfinished, recover, unfinished};

use super::{Place, path, put};

const CHILD: &str = "GATEWRIGHT_APPLY_CHILD";
const BEGUN: &str = "the child applies";
const FILES: usize = 12;

fn random_below(n: u64) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes) % n
}

fn name(i: usize) -> String {
    format!("d{}/f{i}", i % 3)
}

/// Not a test of its own: what the killed process runs. Generation after generation over the same files.
#[test]
fn killed_child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let dir = Path::new(&dir);
    let place = Place {
        root: Arc::new(Root::open(&dir.join("root"), "root", Rights::ReadWrite).unwrap()),
        state: StateDir::at(dir.join("state")).unwrap(),
        scratch: tempfile::tempdir().unwrap(),
    };
    recover(&place.root, &place.state).unwrap();
    println!("{BEGUN}");
    for generation in random_below(1 << 40).. {
        let text = format!("generation {generation}\n").repeat(200);
        let plan = place.plan(|draft, view| {
            for i in 0..FILES {
                put(draft, view, &name(i), &text)?;
            }
            // A file and a folder that come and go.
            if generation % 2 == 0 {
                put(draft, view, "odd/even/x", &text)
            } else {
                draft.remove(view, &path("odd/even/x"))
            }
        });
        place.apply(&plan.unwrap()).unwrap();
    }
}

fn rounds(default: u32) -> u32 {
    std::env::var("GATEWRIGHT_KILL_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(default)
}

#[test]
fn a_process_killed_while_applying_never_leaves_a_plan_half_done() {
    let place = Place::new(&[]);
    let mut interrupted = 0;
    let rounds = rounds(25);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::killed_child", "--nocapture", "--test-threads", "1"])
            .env(CHILD, place.outside())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // One in four while it starts and recovers, the others once it applies: how long a start takes is the
        // machine's affair.
        if round % 4 == 0 {
            std::thread::sleep(Duration::from_micros(random_below(60_000)));
        } else {
            assert!(said.any(|line| line.ends_with(BEGUN)), "round {round}: it ended by itself");
            std::thread::sleep(Duration::from_micros(random_below(120_000)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let left = unfinished(&place.state).unwrap();
        assert!(left.interrupted <= 1, "round {round}: {left:?}");
        interrupted += left.interrupted;
        let recovered = recover(&place.root, &place.state).unwrap();
        assert_eq!(recovered.blocked, [], "round {round}");
        assert_eq!(recovered.finished.len() + recovered.taken_back.len(), left.interrupted, "round {round}");
        assert_eq!(unfinished(&place.state).unwrap(), Unfinished::default(), "round {round}");
        place.assert_tidy();
        let contents: Vec<Option<String>> = (0..FILES).map(|i| place.read(&name(i))).collect();
        assert!(
            contents.iter().all(|c| *c == contents[0]),
            "round {round}: the files are of several generations"
        );
    }
    println!("{rounds} kills, {interrupted} in the middle of an apply; none left a plan half done");
    assert!(interrupted > 0, "no kill was in the middle of an apply");
}

#[test]
fn a_file_that_another_changes_meanwhile_is_never_lost() {
    let place = Place::new(&[("shared", "0"), ("a", "0"), ("z", "0")]);
    let (stop, target) = (AtomicBool::new(false), place.path("shared"));
    let (mut applied, mut conflicts) = (0, 0);
    std::thread::scope(|scope| {
        let (stop, target) = (&stop, &target);
        let writer = scope.spawn(move || {
            // An editor that saves by renaming, as most do; every save has a number of its own.
            let mut saved = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                saved += 1;
                let beside = target.with_extension("editor");
                fs::write(&beside, format!("editor {saved}")).unwrap();
                fs::rename(&beside, target).unwrap();
                // In bursts, with pauses that are long enough for a plan to get through.
                let pause = if saved.is_multiple_of(8) { 120_000 } else { random_below(4_000) };
                std::thread::sleep(Duration::from_micros(pause));
            }
            saved
        });
        for i in 0..120 {
            let plan = place.plan(|draft, view| {
                put(draft, view, "a", &format!("plan {i}"))?;
                put(draft, view, "shared", &format!("plan {i}"))?;
                put(draft, view, "z", &format!("plan {i}"))
            });
            let plan = match plan {
                Ok(plan) => plan,
                Err(fault) => panic!("{fault:?}"),
            };
            let before = (place.read("a"), place.read("z"));
            match place.apply(&plan) {
                Ok(_) => {
                    applied += 1;
                    assert_eq!(place.read("a"), place.read("z"));
                }
                Err(fault) => {
                    conflicts += 1;
                    assert_eq!(fault.code, Code::Conflict, "{fault:?}");
                    assert_eq!((place.read("a"), place.read("z")), before, "a conflict changes nothing");
                    // What recovery had to leave to the other writer is said, and accepted here.
                    gatewright_exec::apply::accept_blocked(&place.state).unwrap();
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
    });
    println!("{applied} applied, {conflicts} conflicts");
    assert!(
        applied > 0 && conflicts > 0 && place.read("shared").is_some(),
        "{applied} applied, {conflicts} conflicts"
    );
}
