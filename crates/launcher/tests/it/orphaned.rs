//! A launcher whose asker is gone before it has begun.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use super::{World, gone, processes};

const CHILD: &str = "GATEWRIGHT_ORPHANED_CHILD";

/// Not a test of its own: what is killed as soon as it has said what to start.
#[test]
fn orphaned_child() {
    let Some(spec) = std::env::var_os(CHILD) else { return };
    let mut world = World::new();
    world.spec = serde_json::from_slice(&fs::read(Path::new(&spec)).unwrap()).unwrap();
    let script = world.spec.args.pop().unwrap();
    let _started = world.start(&script);
    kill_process(getpid(), Signal::KILL).unwrap();
}

#[test]
fn s06_a_launcher_whose_asker_is_gone_before_it_begins_starts_nothing() {
    let Some(mut world) = World::possible() else { return };
    let mark = format!("{}.25", 5_000 + std::process::id());
    world.spec.args = vec![format!("sleep {mark}")];
    let spec = world.path("spec.json");
    fs::write(&spec, serde_json::to_vec(&world.spec).unwrap()).unwrap();
    for round in 0..20 {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "orphaned::orphaned_child", "--nocapture", "--test-threads", "1"])
            .env(CHILD, &spec)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(9), "round {round}");
    }
    // Long enough for a launcher to start something.
    std::thread::sleep(Duration::from_millis(500));
    let left = processes(&mark);
    assert_eq!(left, 0, "{left} of 20 were started for nobody");
    gone(&mark);
}
