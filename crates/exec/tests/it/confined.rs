//! What programs see, what they say, what they may take, and that nothing is left of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Code, Fault, Principal, RelPath};
use gatewright_exec::Workshop;
use gatewright_exec::run::{Command, Exit, Launcher, Level};
use tokio_util::sync::CancellationToken;

use crate::house::{House, ME, launcher, over_each_floor, proposed, sh};

#[test]
fn a_run_sees_its_root_its_home_and_its_toolchains_and_no_secret_of_this_machine() {
    let Some(house) = House::full() else { return };
    house.put("file", "in the root\n");
    fs::write(house.path("secret"), "canary").unwrap();
    fs::write(house.state.path().join("secret"), "canary").unwrap();
    fs::create_dir(house.path("root/.git")).unwrap();
    fs::write(house.path("root/.git/config"), "[core]\n").unwrap();
    let script = format!(
        "cat file; echo $HOME $COLOUR $THINGS; cat .git/config; echo x > .git/config; rm -rf .git/config; \
         cat {0}/secret {1}/secret {1}/ledger/* /etc/shadow ~root/.ssh/* /root/.bashrc /proc/1/environ 2>/dev/null; \
         ls -a {0}; env | grep -i -E 'token|secret|key|ssh' ; echo end",
        house.path("").display(),
        house.state.path().display()
    );
    let (workshop, ran) = house.run(&script);
    let text = ran.stdout.text();
    assert_eq!(ran.level, Level::Full);
    assert!(text.starts_with("in the root\n/home/run blue /home/caches/things\n[core]\n"), "{text}");
    assert!(!text.contains("canary") && text.ends_with("end\n"), "{text}");
    let beside: Vec<&str> =
        text.lines().skip_while(|line| *line != "..").skip(1).take_while(|line| *line != "end").collect();
    assert_eq!(beside, ["root"], "not the state, nor what lies beside: {text}");
    assert_eq!(proposed(&house, &workshop), (Vec::new(), Vec::new()), "the project's record is not written");
    assert_eq!(fs::read_to_string(house.path("root/.git/config")).unwrap(), "[core]\n");
}

#[test]
fn a_cache_is_found_again_by_the_next_run_and_nothing_else_of_a_home_is() {
    over_each_floor(|house| {
        let (_, first) = house.run("echo kept > $THINGS/it; echo lost > $HOME/it; echo $?");
        assert_eq!(first.stdout.text(), "0\n", "{}", first.stderr.text());
        let (_, second) = house.run("cat $THINGS/it; cat $HOME/it 2>/dev/null; true");
        assert_eq!(second.stdout.text(), "kept\n");
    });
}

#[test]
fn everything_it_says_is_kept_without_secrets_and_read_back_by_its_owner() {
    over_each_floor(|house| {
        let (_, ran) = house.run("echo the password is hunter2; seq 1 200000; echo wrong >&2");
        let handle = ran.handle.as_ref().unwrap().to_string();
        let kept = house.state.run(&handle, &ME).unwrap();
        assert_eq!((kept.stdout.lines, kept.stderr.lines, kept.exit), (200_001, 1, Exit::Code(0)));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut house.state.output(&kept.stdout).unwrap(), &mut text).unwrap();
        assert!(text.starts_with("the password is [redacted]\n1\n2\n") && text.ends_with("200000\n"));
        assert!(ran.stdout.text().contains("hunter2"), "whoever reads results has the program's own words");
        assert!(!kept.line.join(" ").contains("hunter2"), "{:?}", kept.line);
        let other = house.state.run(&handle, &Principal::Local { uid: 2 }).unwrap_err();
        assert_eq!(other.code, Code::NotFound);
    });
}

#[test]
fn s06_s12_d02_a_cancelled_or_late_run_ends_with_everything_it_started() {
    over_each_floor(|house| {
        let mark =
            format!("{}.{}", 6_000 + std::process::id(), house.launcher.offer(&house.stage()).level as u8);
        let script =
            format!("(setsid sh -c 'trap \"\" TERM HUP; sleep {mark} & wait' &); trap '' TERM; sleep {mark}");
        let is_plain = house.launcher.offer(&house.stage()).level == Level::None;
        let late = Command { timeout: Duration::from_millis(400), ..sh(&script) };
        let began = Instant::now();
        let fault: Fault = house.open().run(&late).unwrap_err();
        assert_eq!(fault.code, Code::Timeout);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        let cancel = CancellationToken::new();
        let workshop = Workshop::open(&house.view(), &house.state, house.terms(), &cancel).unwrap();
        let other = cancel.clone();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            other.cancel();
        });
        assert_eq!(workshop.run(&sh(&script)).unwrap_err().code, Code::Cancelled);
        canceller.join().unwrap();
        if is_plain {
            // Without any confinement whoever leaves the group gets away: that is what the level says.
            let _ = std::process::Command::new("pkill").args(["-9", "-f", &mark]).status();
        } else {
            assert_eq!(survivors(&mark), 0);
        }
    });
}

/// The processes whose command line has `mark` in it, once those that were killed had a moment to end.
fn survivors(mark: &str) -> usize {
    let count = || {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let lines = pids.filter_map(|pid| fs::read(pid.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
    };
    let began = Instant::now();
    while count() > 0 && began.elapsed() < Duration::from_millis(500) {
        std::thread::sleep(Duration::from_millis(5));
    }
    count()
}

#[test]
fn policy_says_how_far_runs_are_confined_at_least() {
    let mut house = House::at_most(Level::Filters);
    house.launcher = Arc::new(launcher().at_most(Level::Filters).at_least(Level::Full));
    let refused = Workshop::open(&house.view(), &house.state, house.terms(), &CancellationToken::new());
    let Err(fault) = refused else { panic!("it was opened") };
    assert_eq!(fault.code, Code::ConfinementUnavailable);
    assert!(
        fault.message.contains("\"full\"") && fault.suggestions.iter().any(|s| s.contains("doctor")),
        "{fault:?}"
    );
    assert!(house.is_empty_of_scratch());
}

#[test]
fn x12_arguments_without_end_are_refused_before_anything_starts() {
    let house = House::at_most(Level::None);
    let many = Command { args: vec![String::from("x"); 100_000], ..sh("") };
    assert_eq!(house.open().run(&many).unwrap_err().code, Code::InvalidArgument);
    let long = Command { args: vec!["x".repeat(3 << 20)], ..sh("") };
    assert_eq!(house.open().run(&long).unwrap_err().code, Code::InvalidArgument);
    let undeclared = Command::new("env", &[]);
    assert_eq!(house.open().run(&undeclared).unwrap_err().code, Code::Internal);
}

#[test]
fn s24_x10_a_program_that_lies_in_the_root_is_never_the_one_that_runs() {
    let path = std::env::var("PATH").unwrap();
    let house = House::at_most(Level::None);
    house.put("bin/git", "#!/bin/sh\necho planted\n");
    fs::set_permissions(house.path("root/bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let ours = [house.path("root/bin"), PathBuf::from("."), PathBuf::from("bin")];
    let all: Vec<PathBuf> = ours.into_iter().chain(std::env::split_paths(&path)).collect();
    let found = gatewright_exec::run::find("git", &all, &house.path("root")).unwrap();
    assert!(!found.starts_with(house.path("root")), "{}", found.display());
    let open = house.path("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let offered = all.iter().cloned().chain([open.clone()]).collect();
    let trusted = Launcher::own().searching(offered).path(&house.path("root"));
    assert!(trusted.contains(&fs::canonicalize("/usr/bin").unwrap()));
    for dir in trusted {
        assert!(
            !dir.starts_with(house.path("root")) && dir.is_absolute() && dir != open,
            "{}",
            dir.display()
        );
    }
    for name in ["./git", "/tmp/git", "../git", "", "GIT"] {
        assert!(gatewright_exec::run::find(name, &all, Path::new("/nowhere")).is_err(), "{name}");
    }
}

#[test]
fn a_run_starts_where_it_is_told_and_has_the_variables_that_it_is_given() {
    over_each_floor(|house| {
        house.put("sub/here", "");
        let mut command = sh("ls; echo $LOUD; pwd | grep -c 'root/sub$'");
        command.dir = Some(RelPath::new("sub").unwrap());
        command.env.insert("LOUD".into(), "yes".into());
        let ran = house.open().run(&command).unwrap();
        assert_eq!(ran.stdout.text(), "here\nyes\n1\n", "{}", ran.stderr.text());
        assert_eq!(ran.line, ["sh", "-c", "ls; echo $LOUD; pwd | grep -c 'root/sub$'"]);
    });
}

#[test]
fn a_folder_whose_place_was_taken_by_a_link_does_not_lead_programs_out() {
    let Some(house) = House::full() else { return };
    fs::create_dir(house.path("outside")).unwrap();
    fs::write(house.path("outside/secret"), "canary").unwrap();
    std::os::unix::fs::symlink(house.path("outside"), house.path("root/out")).unwrap();
    let (workshop, ran) = house.run("cat out/secret; echo x > out/made; true");
    assert!(!ran.stdout.text().contains("canary"));
    assert!(!house.path("outside/made").exists());
    assert_eq!(proposed(&house, &workshop).0, Vec::<String>::new());
    assert_eq!(fs::metadata(house.path("outside/secret")).unwrap().len(), 6);
}

#[test]
fn s10_a_run_that_fills_the_disk_is_ended() {
    let Some(mut house) = House::full() else { return };
    house.launcher = Arc::new(launcher().with_disk(64 << 20));
    let began = Instant::now();
    let workshop = house.open();
    // Each file is small enough: it is all of them that are too much.
    let flood = "n=0; while :; do head -c 4000000 /dev/urandom > f$n || exit 9; n=$((n+1)); done";
    let fault = workshop.run(&sh(flood)).unwrap_err();
    assert_eq!(fault.code, Code::ResourceExhausted, "{fault:?}");
    assert!(began.elapsed() < Duration::from_secs(30));
    drop(workshop);
    assert!(house.is_empty_of_scratch());
}

#[test]
fn a_link_that_one_run_leaves_in_its_home_leads_the_next_nowhere() {
    over_each_floor(|house| {
        fs::create_dir(house.path("victim")).unwrap();
        let workshop = house.open();
        let victim = house.path("victim");
        let plant = format!(
            "rm -rf $HOME/.cache $HOME/input; ln -s {0} $HOME/.cache; ln -s {0}/made $HOME/input; true",
            victim.display()
        );
        workshop.run(&sh(&plant)).unwrap();
        let mut next = sh("cat \"$0\"; echo x > $THINGS/kept");
        next.args.push(format!("{}input", gatewright_exec::run::INPUT));
        next.inputs.insert("input".into(), b"given".to_vec());
        let ran = workshop.run(&next).unwrap();
        assert_eq!(ran.stdout.text(), "given", "{}", ran.stderr.text());
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
    });
}

#[test]
fn d04_a_folder_without_end_is_said_and_removed() {
    let Some(house) = House::full() else { return };
    let workshop = house.open();
    let dig = "import os\nfor n in range(3000):\n    os.mkdir('d'); os.chdir('d')\nopen('deep', 'w').close()";
    let ran = workshop.run(&Command::new("python3", &["-c", dig])).unwrap();
    assert!(ran.is_success(), "{}", ran.stderr.text());
    let (_, blocked) = proposed(&house, &workshop);
    assert!(blocked.iter().any(|b| b.why.contains("deep")), "{blocked:?}");
    drop(workshop);
    assert!(house.is_empty_of_scratch());
}

#[test]
fn what_a_killed_process_left_of_its_runs_is_swept_and_what_others_hold_is_not() {
    let Some(house) = House::full() else { return };
    let at_work = house.open();
    // As a process leaves it that is killed: nobody holds the lock.
    let left = [
        house.state.path().join("scratch/left"),
        house.path(&format!(".gatewright-{}/left", house.root.id())),
    ];
    for place in &left {
        fs::create_dir_all(place.join("upper/deep")).unwrap();
        fs::write(place.join("held"), "").unwrap();
        // As it is made: what others may look into may be somebody else's.
        fs::set_permissions(place.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert_eq!(house.state.expire(Some(&house.root), jiff::SignedDuration::from_hours(24)).unwrap(), 2);
    assert!(left.iter().all(|place| !place.exists()));
    assert!(at_work.run(&sh("echo on > and")).unwrap().is_success(), "what is at work is not touched");
    drop(at_work);
    assert!(house.is_empty_of_scratch());
}

#[test]
fn a_run_that_takes_the_memory_is_ended_however_many_programs_it_takes() {
    over_each_floor(|house| {
        house.launcher = Arc::new(house.launcher.as_ref().clone().with_memory(96 << 20));
        // Held in one program, and by several of which none holds much.
        for script in [
            "head -c 400m /dev/zero | tail -c 400m | sleep 20",
            // What follows `sleep` keeps a shell from becoming it, and from giving back what it holds.
            "for i in 1 2 3 4 5 6 7 8; do (x=$(head -c 30000000 /dev/zero | tr '\\0' a); sleep 20; :) & done; wait",
        ] {
            let began = Instant::now();
            let ended = house.open().run(&sh(script)).unwrap_err();
            assert_eq!(ended.code, Code::ResourceExhausted, "{ended:?}");
            assert!(ended.message.contains("memory"), "{}", ended.message);
            assert!(began.elapsed() < Duration::from_secs(15));
        }
        assert!(
            house.open().run(&sh("head -c 20m /dev/zero | tail -c 20m >/dev/null")).unwrap().is_success()
        );
    });
}

/// What a hostile repository has in it, for a git that is called in `place`.
fn hostile(place: &Path) {
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.hooksPath=/dev/null"]);
        let done = git.args(args).current_dir(place).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    for (name, text) in [("a.x", "one\n"), (".gitattributes", "*.x filter=evil diff=evil\n")] {
        fs::write(place.join(name), text).unwrap();
    }
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "first"]);
    crate::hostile::arm(place);
    git(&["config", "extensions.worktreeConfig", "true"]);
    let evil = format!("[core]\n\tfsmonitor = {:?}\n", crate::hostile::EVIL);
    fs::write(place.join(".git/config.worktree"), evil).unwrap();
    // Otherwise git would not look into it.
    fs::write(place.join("a.x"), "two\n").unwrap();
}

#[test]
fn g02_g04_g06_g08_a_program_that_calls_git_starts_nothing_of_the_repositorys() {
    over_each_floor(|house| {
        hostile(&house.path("root"));
        fs::create_dir_all(house.path("root/sub")).unwrap();
        hostile(&house.path("root/sub"));
        for dir in [None, Some("sub")] {
            let mut git =
                sh("git status --porcelain; git diff; git log -p; git show HEAD:a.x --textconv; git st; \
                              git stash list; test -e canary && echo EXECUTED; true");
            git.dir = dir.map(|dir| RelPath::new(dir).unwrap());
            let workshop = house.open();
            let ran = workshop.run(&git).unwrap();
            let said = ran.stdout.text();
            assert!(!said.contains("EXECUTED"), "{dir:?}: {said}{}", ran.stderr.text());
            let both = format!("{said}{}", ran.stderr.text());
            assert!(said.contains("M a.x") && said.contains("+two"), "git works at {:?}: {both}", ran.level);
            let (effects, _) = proposed(house, &workshop);
            assert!(effects.iter().all(|effect| !effect.contains("canary")), "{effects:?}");
        }
        assert!(!house.path("root/canary").exists() && !house.path("root/sub/canary").exists());
        // The control, which must escape.
        let mut git = std::process::Command::new("git");
        git.arg("status").current_dir(house.path("root/sub")).output().unwrap();
        assert!(house.path("root/sub/canary").exists(), "whoever asks git itself is had");
    });
}
