//! Launchers that wait for their run: the next one is theirs, unless what they stand on has changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use gatewright_exec::run::waiting::Begun;
use gatewright_exec::run::{Launcher, Level};
use launcher::{Bound, Ground, Isolation, Layer, Limits, Network, Report, SCRATCH_BYTES, Spec};
use tempfile::TempDir;

use crate::house::launcher;
use crate::skip;

struct Place {
    scratch: TempDir,
    launcher: Launcher,
    spec: Spec,
}

impl Place {
    fn possible() -> Option<Self> {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().canonicalize().unwrap();
        for name in ["root", "stage", "toolchain"] {
            fs::create_dir(real.join(name)).unwrap();
        }
        fs::write(real.join("toolchain/version"), "1\n").unwrap();
        let launcher = launcher().at_least(Level::Full);
        let offer = launcher.offer(&real.join("stage"));
        if offer.level < Level::Full {
            skip(&format!("launchers that wait ({})", offer.missing.join("; ")));
            return None;
        }
        let spec = Spec {
            ground: Ground {
                isolation: Isolation::Full,
                is_online: false,
                stage: real.join("stage"),
                readable: vec!["/usr".into(), real.join("toolchain")],
                scratch_bytes: SCRATCH_BYTES,
            },
            program: "/bin/sh".into(),
            called: None,
            args: Vec::new(),
            env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            dir: real.join("root"),
            readable: Vec::new(),
            shown: Vec::new(),
            writable: vec![Bound::here(real.join("root"))],
            overlay: None,
            hidden: Vec::new(),
            network: Network::None,
            channel: None,
            observes: false,
            limits: Limits::default(),
            strict: true,
        };
        Some(Self { scratch, launcher, spec })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(name)
    }

    /// Which process was the launcher, what held, and what was said.
    fn run(&self, script: &str) -> (u32, Vec<Layer>, String) {
        let spec = Spec { args: vec!["-c".to_owned(), script.to_owned()], ..self.spec.clone() };
        let Begun { mut child, mut said } = self.launcher.begin(&spec).unwrap();
        let (pid, mut out, mut held) = (child.id(), String::new(), Vec::new());
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        while let Some(report) = said.report().unwrap() {
            match report {
                Report::Ready { layers } => held = layers,
                Report::Exited { code } => {
                    assert_eq!(code, 0, "{out}");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        self.launcher.ended(child, &spec.ground);
        (pid, held, out)
    }

    /// The launcher that waits, once one does.
    fn waiting(&self) -> u32 {
        let began = Instant::now();
        loop {
            if let Some(pid) = self.launcher.waiting() {
                return pid;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "no launcher waits");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn is_gone(pid: u32) -> bool {
    let began = Instant::now();
    while fs::exists(format!("/proc/{pid}")).unwrap() {
        if began.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

#[test]
fn a_run_is_begun_by_the_launcher_that_waits_and_finds_the_same_as_the_first() {
    let Some(place) = Place::possible() else { return };
    let seen = format!(
        "id; ls -a / /dev /etc /tmp /run; cat {}; env; cut -d' ' -f4- /proc/self/mountinfo; cat /proc/sys/kernel/pid_max; \
         ulimit -a; grep -E 'Cap|NoNew|Secc' /proc/self/status; echo x > /tmp/x; pwd",
        place.path("toolchain/version").display()
    );
    let (first, held, said) = place.run(&seen);
    assert!(held.contains(&Layer::Landlock) && said.contains("uid="), "{said}");
    let waiting = place.waiting();
    assert_ne!(first, waiting);
    let (second, held_again, said_again) = place.run(&seen);
    assert_eq!(second, waiting);
    assert_eq!((held_again, said_again), (held, said));
    assert!(is_gone(second), "a launcher runs one program");
}

#[test]
fn a_launcher_whose_ground_has_changed_is_let_go() {
    let Some(mut place) = Place::possible() else { return };
    let version = format!("cat {}", place.path("toolchain/version").display());
    assert_eq!(place.run(&version).2, "1\n");
    // A folder that another one has taken the place of.
    let waited = place.waiting();
    fs::rename(place.path("toolchain"), place.path("old")).unwrap();
    fs::create_dir(place.path("toolchain")).unwrap();
    fs::write(place.path("toolchain/version"), "2\n").unwrap();
    let (pid, _, said) = place.run(&version);
    assert_ne!(pid, waited);
    assert_eq!(said, "2\n");
    assert!(is_gone(waited));
    // A run that may read something else.
    let waited = place.waiting();
    place.spec.ground.readable.push(place.path("old"));
    let (pid, _, said) = place.run(&format!("cat {}", place.path("old/version").display()));
    assert_ne!(pid, waited);
    assert_eq!(said, "1\n");
    // One that was killed.
    let waited = place.waiting();
    assert!(Command::new("kill").args(["-9", &waited.to_string()]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(50));
    let (pid, _, said) = place.run(&version);
    assert_ne!(pid, waited);
    assert_eq!(said, "2\n");
}

#[test]
fn a_launcher_that_waits_does_not_miss_what_is_mounted_meanwhile() {
    let Some(place) = Place::possible() else { return };
    place.run("true");
    let waited = place.waiting();
    let root = place.path("root");
    let mount = |program: &str, args: &[&str]| {
        let out = Command::new(program).args(args).arg(&root).output();
        out.is_ok_and(|out| out.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "tmpfs"]) {
        skip("a launcher that waits while something is mounted (this user may not mount)");
        return;
    }
    let wrote = fs::write(root.join("within"), "mounted\n");
    let ran = wrote.map(|()| place.run("cat within"));
    assert!(mount("umount", &["-l"]));
    let (pid, _, said) = ran.unwrap();
    assert_ne!(pid, waited);
    assert_eq!(said, "mounted\n");
}

#[test]
fn no_launcher_waits_for_nobody() {
    let Some(place) = Place::possible() else { return };
    place.run("true");
    let waited = place.waiting();
    drop(place.launcher);
    assert!(is_gone(waited));
}
