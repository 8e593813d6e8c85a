//! Programs over a root: what they see, what they change, what they say, and that nothing is left of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Code, Effect, Fault, Principal, RelPath};
use gatewright_exec::kept::Clean;
use gatewright_exec::run::{Cache, Command, Exit, Launcher, Level, Ran};
use gatewright_exec::workshop::persist::Declared;
use gatewright_exec::workshop::{Terms, Unplannable};
use gatewright_exec::{Draft, Rights, Root, StateDir, View, Workshop};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const ME: Principal = Principal::Local { uid: 1 };

/// A root, a state, and how programs are started.
struct House {
    scratch: TempDir,
    root: Arc<Root>,
    state: StateDir,
    launcher: Arc<Launcher>,
}

fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_gatewright-exec-launch").into())
}

impl House {
    fn at_most(level: Level) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().canonicalize().unwrap();
        fs::create_dir(place.join("root")).unwrap();
        let root = Arc::new(Root::open(&place.join("root"), "root", Rights::ReadWrite).unwrap());
        let state = StateDir::at(place.join("state")).unwrap();
        let launcher = Arc::new(launcher().at_most(level).at_least(Level::None));
        Self { scratch, root, state, launcher }
    }

    /// A house where programs get a world of their own; else it is said loudly that this machine gives none.
    fn full() -> Option<Self> {
        let house = Self::at_most(Level::Full);
        let offer = house.launcher.offer(&house.stage()).clone();
        if offer.level == Level::Full {
            return Some(house);
        }
        crate::skip(&format!("programs in a world of their own ({})", offer.missing.join("; ")));
        None
    }

    fn stage(&self) -> PathBuf {
        let stage = self.path("stage");
        let _ = fs::create_dir(&stage);
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path("root").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn view(&self) -> View {
        View::new(Arc::clone(&self.root), CancellationToken::new())
    }

    fn terms(&self) -> Terms {
        Terms {
            programs: &["sh", "git", "python3"],
            caches: &[Cache { name: "things", variable: "THINGS" }],
            launcher: Arc::clone(&self.launcher),
            environment: [("COLOUR".to_owned(), "blue".to_owned())].into(),
            owner: ME,
            clean: clean(),
        }
    }

    fn open(&self) -> Workshop {
        Workshop::open(&self.view(), &self.state, self.terms(), &CancellationToken::new()).unwrap()
    }

    fn run(&self, script: &str) -> (Workshop, Ran) {
        let workshop = self.open();
        let ran = workshop.run(&sh(script)).unwrap();
        (workshop, ran)
    }

    fn is_empty_of_scratch(&self) -> bool {
        fs::read_dir(self.state.path().join("scratch")).unwrap().next().is_none()
            && !fs::read_dir(self.path(""))
                .unwrap()
                .flatten()
                .any(|e| e.file_name().to_string_lossy().starts_with(".gatewright"))
    }
}

/// A cleaner that knows one secret.
fn clean() -> Clean {
    Arc::new(|bytes: &[u8]| String::from_utf8_lossy(bytes).replace("hunter2", "[redacted]").into_bytes())
}

fn sh(script: &str) -> Command {
    Command::new("sh", &["-c", script])
}

fn nothing(_: &RelPath) -> bool {
    false
}

fn proposed(house: &House, workshop: &Workshop) -> (Vec<String>, Vec<Unplannable>) {
    let (draft, blocked) = workshop.changes(&house.view(), &nothing).unwrap();
    (effects(draft, house), blocked)
}

fn effects(draft: Draft, house: &House) -> Vec<String> {
    let tool = contract::ToolName::new("t").unwrap();
    let proposal = draft.into_proposal(&house.view(), tool, contract::Digest::ZERO, &ME);
    proposal.plan.effects.iter().map(Effect::summary).collect()
}

/// What holds at every level of confinement.
fn over_each_floor(work: impl Fn(&mut House)) {
    for level in [Level::Full, Level::Filters, Level::None] {
        let mut house = House::at_most(level);
        let offer = house.launcher.offer(&house.stage()).clone();
        if offer.level < level {
            crate::skip(&format!("runs at the level {:?} ({})", level.word(), offer.missing.join("; ")));
            continue;
        }
        work(&mut house);
        assert!(house.is_empty_of_scratch(), "{level:?}: nothing is left behind");
    }
}

#[test]
fn s28_what_a_program_writes_is_proposed_and_the_root_stays_as_it_was() {
    over_each_floor(|house| {
        for name in ["kept", "changed", "removed", "moved/one", "moved/two", "replaced/inner", "private"] {
            house.put(name, "one\n");
        }
        fs::set_permissions(house.path("root/private"), fs::Permissions::from_mode(0o640)).unwrap();
        let (workshop, ran) = house.run(
            "cat kept; echo two >> changed; rm removed; mv moved elsewhere; rm -r replaced; echo x > replaced; \
             mkdir -p new/deep; echo made > new/deep/file; chmod 750 new/deep/file; ln -s ../kept new/link; \
             touch untouched-mode; chmod 600 private; echo same > same; rm same; exit 3",
        );
        assert_eq!((ran.exit, ran.stdout.text().as_str()), (Exit::Code(3), "one\n"), "{}", ran.stderr.text());
        let (effects, blocked) = proposed(house, &workshop);
        let shown = effects.join("; ");
        assert_eq!(
            effects.iter().map(|e| e.split(" (").next().unwrap()).collect::<Vec<_>>(),
            [
                "replace changed",
                "create elsewhere/one",
                "create elsewhere/two",
                "remove moved/one",
                "remove moved/two",
                "create new/deep/file",
                "link new/link",
                "replace private",
                "remove removed",
                "remove replaced/inner",
                "create untouched-mode"
            ],
            "{shown}"
        );
        assert_eq!(blocked.len(), 1, "{blocked:?}");
        assert_eq!(blocked[0].path, "replaced", "no plan replaces a directory");
        assert_eq!(fs::read_to_string(house.path("root/changed")).unwrap(), "one\n");
        assert_eq!(workshop.read(&RelPath::new("changed").unwrap()).unwrap(), b"one\ntwo\n");
        assert_eq!(workshop.read(&RelPath::new("kept").unwrap()).unwrap(), b"one\n");
        assert_eq!(workshop.read(&RelPath::new("removed").unwrap()).unwrap_err().code, Code::NotFound);
        assert_eq!(workshop.read(&RelPath::new("moved/one").unwrap()).unwrap_err().code, Code::NotFound);
    });
}

#[test]
fn what_no_plan_can_have_is_named_one_by_one() {
    over_each_floor(|house| {
        house.put("gatewright.toml", "");
        let (workshop, ran) = house.run(
            "mkfifo pipe; echo x > gatewright.toml; echo fine > fine; \
             python3 -c 'import os; open(\"marked\", \"w\"); os.setxattr(\"marked\", \"user.x\", b\"1\")'; true",
        );
        assert!(ran.is_success(), "{}", ran.stderr.text());
        let (effects, blocked) = proposed(house, &workshop);
        let named: Vec<&str> = blocked.iter().map(|b| b.path.as_str()).collect();
        assert!(effects.iter().any(|e| e.starts_with("create fine")), "{effects:?}");
        assert!(named.contains(&"pipe") && named.contains(&"gatewright.toml"), "{blocked:?}");
        if workshop.is_layered() {
            assert!(named.contains(&"marked"), "{blocked:?}");
        }
    });
}

#[test]
fn what_the_owner_edits_meanwhile_is_a_conflict_and_is_never_lost() {
    over_each_floor(|house| {
        for name in ["edited", "taken", "other", "folder/file"] {
            house.put(name, "one\n");
        }
        let workshop = house.open();
        let (edited, gone) = (house.path("root/edited"), house.path("root/taken"));
        // While the program runs.
        let meanwhile = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            fs::write(edited, "theirs\n").unwrap();
            fs::remove_file(gone).unwrap();
        });
        let ran = workshop.run(&sh("sleep 0.6; echo two > other; echo two > edited")).unwrap();
        meanwhile.join().unwrap();
        assert!(ran.is_success());
        let moved = |workshop: &Workshop| -> Vec<String> {
            let (_, blocked) = workshop.changes(&house.view(), &nothing).unwrap();
            assert!(blocked.iter().all(|blocked| blocked.moved), "{blocked:?}");
            blocked.into_iter().map(|blocked| blocked.path).collect()
        };
        assert_eq!(moved(&workshop), ["edited"]);
        assert_eq!(fs::read_to_string(house.path("root/edited")).unwrap(), "theirs\n");
        // What was written as it stands now is no change, and what others removed is not brought back unasked.
        let workshop = house.open();
        workshop.run(&sh("echo theirs > edited; echo two > other")).unwrap();
        assert_eq!(proposed(house, &workshop).0, ["replace other (4 bytes)"]);
        let workshop = house.open();
        workshop.run(&sh("echo two > other")).unwrap();
        fs::write(house.path("root/other"), "late\n").unwrap();
        assert_eq!(moved(&workshop), ["other"], "after it, too");
        let workshop = house.open();
        workshop.run(&sh("echo two > folder/file")).unwrap();
        fs::remove_file(house.path("root/folder/file")).unwrap();
        assert_eq!(moved(&workshop), ["folder/file"], "removed is changed");
    });
}

#[test]
fn a_file_written_just_before_a_run_is_no_conflict() {
    over_each_floor(|house| {
        for n in 0..20 {
            house.put("file", &format!("{n}\n"));
            let (workshop, _) = house.run("echo more >> file");
            let (draft, _) = workshop.changes(&house.view(), &nothing).unwrap();
            assert_eq!(effects(draft, house).len(), 1, "round {n}");
        }
    });
}

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
fn what_is_declared_and_chosen_persists_and_everything_else_is_proposed() {
    over_each_floor(|house| {
        house.put("target/old", "old\n");
        let (workshop, ran) = house.run(
            "mkdir -p target/deep; echo built > target/deep/out; rm target/old; echo secret > target/.env.local; \
             ln -s deep/out target/link; chmod 4755 target/deep/out; echo source > source",
        );
        assert!(ran.is_success(), "{}", ran.stderr.text());
        let declared = Declared::new(&["target"]).unwrap();
        let persists = |path: &RelPath| declared.has(path);
        let (draft, _) = workshop.changes(&house.view(), &persists).unwrap();
        let told = workshop.persist(&persists).unwrap();
        let effects = effects(draft, house);
        assert_eq!(
            effects,
            ["create source (7 bytes)", "create target/.env.local (7 bytes)"],
            "a secret is no cache"
        );
        assert_eq!((told.paths.as_slice(), told.files, told.bytes), (&["target/".to_owned()][..], 3, 6));
        assert_eq!(fs::read_to_string(house.path("root/target/deep/out")).unwrap(), "built\n");
        let mode = fs::metadata(house.path("root/target/deep/out")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "no rights come with it");
        assert!(!house.path("root/target/old").exists() && house.path("root/target/link").is_symlink());
        assert!(!house.path("root/source").exists());
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
fn the_layer_lies_on_the_roots_own_file_system_where_the_state_is_on_another() {
    let Some(mut house) = House::full() else { return };
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        crate::skip("a state on another file system (no /dev/shm)");
        return;
    };
    house.state = StateDir::at(elsewhere.path().join("state")).unwrap();
    let workshop = house.open();
    assert!(workshop.is_layered());
    let beside = || {
        fs::read_dir(house.path(""))
            .unwrap()
            .flatten()
            .any(|e| e.file_name().to_string_lossy().starts_with(".gatewright"))
    };
    assert!(beside());
    let ran = workshop.run(&sh("ls -A ..; mkdir cache; echo x > cache/made")).unwrap();
    assert_eq!(ran.stdout.text(), "root\n", "the layer itself is not seen");
    workshop.persist(&|_: &RelPath| true).unwrap();
    assert_eq!(fs::read_to_string(house.path("root/cache/made")).unwrap(), "x\n");
    drop(workshop);
    assert!(!beside());
}

#[test]
fn s26_a_protected_place_that_is_missing_a_link_or_of_another_kind_stays_protected() {
    over_each_floor(|house| {
        let git = house.path("root/.git");
        let attack = "mkdir -p .git/hooks 2>/dev/null; echo x > .git/hooks/post-checkout; echo x > .git/config; \
                      mkdir -p sub/.git; echo x > sub/.git/config; echo x > gatewright.toml; echo x > .gatewright; true";
        // Missing, a folder, a file, a link that leads away.
        for round in 0..4 {
            match round {
                0 => {}
                1 => fs::create_dir(&git).unwrap(),
                2 => {
                    fs::remove_dir(&git).unwrap();
                    fs::write(&git, "gitdir: /nowhere\n").unwrap();
                }
                _ => {
                    fs::remove_file(&git).unwrap();
                    fs::create_dir(house.path("outside")).unwrap();
                    std::os::unix::fs::symlink(house.path("outside"), &git).unwrap();
                }
            }
            let (workshop, ran) = house.run(attack);
            assert!(ran.is_success(), "{round}: {}", ran.stderr.text());
            let (effects, _) = proposed(house, &workshop);
            assert!(effects.is_empty(), "{round}: {effects:?}");
            assert!(!house.path("outside/hooks").exists() && !git.join("hooks").exists(), "{round}");
        }
    });
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
fn what_the_owner_saves_meanwhile_is_not_replaced_by_what_persists() {
    over_each_floor(|house| {
        house.put("target/mine", "one");
        let workshop = house.open();
        workshop.run(&sh("echo theirs > target/mine; echo built > target/out")).unwrap();
        house.put("target/mine", "saved");
        let told = workshop.persist(&|path: &RelPath| path.as_str().starts_with("target/")).unwrap();
        assert_eq!(told.files, 1);
        assert_eq!(fs::read_to_string(house.path("root/target/mine")).unwrap(), "saved");
    });
}

#[test]
fn where_everything_ignored_may_persist_settings_of_other_programs_do_not() {
    let declared = Declared::new(&["**"]).unwrap();
    let has = |path: &str| declared.has(&RelPath::new(path).unwrap());
    assert!(has("target/out") && has(".pytest_cache/v/x") && has("web/.next/server.js"));
    for path in [
        ".claude/settings.local.json",
        ".vscode/tasks.json",
        ".venv/bin/python",
        ".husky/_/pre-commit",
        "a/.mise.toml",
        ".env",
    ] {
        assert!(!has(path), "{path}");
    }
    assert!(Declared::new(&[".eslintcache"]).unwrap().has(&RelPath::new(".eslintcache").unwrap()));
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
    }
    assert_eq!(house.state.expire(&house.root, jiff::SignedDuration::from_hours(24)).unwrap(), 2);
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
            "for i in 1 2 3 4 5 6 7 8; do (x=$(head -c 30000000 /dev/zero | tr '\\0' a); sleep 20) & done; wait",
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
