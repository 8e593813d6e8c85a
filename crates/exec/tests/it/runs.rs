//! What programs change, and what becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use contract::{Code, RelPath};
use gatewright_exec::run::Exit;
use gatewright_exec::workshop::persist::Declared;
use gatewright_exec::{StateDir, Workshop};

use crate::house::{House, effects, nothing, over_each_floor, proposed, sh};

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
