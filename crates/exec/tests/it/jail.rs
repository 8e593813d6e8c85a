//! The P-cases: paths that must not lead out.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use contract::{Code, FileMode, State};
use gatewright_exec::{Draft, Rights, Root, View};

use super::{Place, path, put};

#[test]
fn p04_p06_links_that_leave_are_refused_for_every_verb() {
    let place = Place::new(&[("a/in.txt", "inside")]);
    fs::write(place.outside().join("secret"), "canary").unwrap();
    symlink("../secret", place.path("file")).unwrap();
    symlink("..", place.path("updir")).unwrap();
    symlink(place.outside(), place.path("absolute")).unwrap();
    let view = place.view();
    for name in ["file", "updir/secret", "absolute/secret"] {
        let fault = view.read(&path(name)).unwrap_err();
        assert_eq!(fault.code, Code::PathNotAllowed, "{name}: {fault:?}");
    }
    assert!(view.list(Some(&path("updir"))).is_err());
    for name in ["updir/new", "absolute/new", "updir/secret", "absolute/secret"] {
        let planned = place.plan(|draft, view| put(draft, view, name, "x"));
        assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed, "write {name}");
        let planned = place.plan(|draft, view| draft.remove(view, &path(name)));
        assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed, "remove {name}");
    }
    // A link may itself be replaced; what it leads to stays.
    let plan = place.plan(|draft, view| put(draft, view, "file", "mine")).unwrap();
    place.apply(&plan).unwrap();
    assert_eq!(place.read("file").as_deref(), Some("mine"));
    assert_eq!(fs::read_to_string(place.outside().join("secret")).unwrap(), "canary");
}

#[test]
fn links_that_stay_inside_are_read_but_not_written_through() {
    let place = Place::new(&[("real/in.txt", "inside")]);
    symlink("real", place.path("link")).unwrap();
    assert_eq!(place.view().read(&path("link/in.txt")).unwrap(), b"inside");
    let planned = place.plan(|draft, view| put(draft, view, "link/in.txt", "x"));
    assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed);
}

#[test]
fn the_git_directory_is_not_reached_through_a_link_that_stays_inside() {
    let place = Place::new(&[(".git/config", "canary")]);
    symlink(".git", place.path("innocent")).unwrap();
    symlink(".git/config", place.path("file")).unwrap();
    for name in ["innocent/config", "file"] {
        assert_eq!(place.view().read(&path(name)).unwrap_err().code, Code::PathNotAllowed, "{name}");
    }
    assert!(place.plan(|draft, view| put(draft, view, "innocent/hooks", "x")).is_err());
    assert!(place.view().list(None).unwrap().iter().all(|e| e.name != ".git"));
}

#[test]
fn p08_a_rename_race_never_leads_out_while_the_naive_check_does() {
    let place = Place::new(&[("in/canary", "inside")]);
    fs::write(place.outside().join("canary"), "OUTSIDE").unwrap();
    symlink("..", place.path("link")).unwrap();
    let (stop, dir) = (AtomicBool::new(false), place.path(""));
    let (mut opens, mut escapes, mut naive) = (0_u64, 0_u64, 0_u64);
    std::thread::scope(|scope| {
        let (stop, dir) = (&stop, &dir);
        scope.spawn(move || {
            // `d` is now the directory, now the link that leads out.
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::rename(dir.join("in"), dir.join("d"));
                let _ = fs::rename(dir.join("d"), dir.join("in"));
                let _ = fs::rename(dir.join("link"), dir.join("d"));
                let _ = fs::rename(dir.join("d"), dir.join("link"));
            }
        });
        let until = Instant::now() + Duration::from_secs(3);
        let view = place.view();
        while Instant::now() < until {
            opens += 1;
            if view.read(&path("d/canary")).is_ok_and(|bytes| bytes == b"OUTSIDE") {
                escapes += 1;
            }
            // The control: resolve, compare prefixes, open. It must escape, or the race was none.
            let target = dir.join("d/canary");
            if fs::canonicalize(&target).is_ok_and(|real| real.starts_with(dir.canonicalize().unwrap()))
                && fs::read(&target).is_ok_and(|bytes| bytes == b"OUTSIDE")
            {
                naive += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("{opens} opens raced: {escapes} escapes; the naive check escaped {naive} times");
    assert_eq!(escapes, 0, "of {opens}");
    assert!(opens > 1_000, "{opens}");
}

#[test]
fn p10_a_hard_link_to_the_outside_is_not_written_through() {
    let place = Place::new(&[]);
    let outside = place.outside().join("shared");
    fs::write(&outside, "theirs").unwrap();
    fs::hard_link(&outside, place.path("link")).unwrap();
    let plan = place.plan(|draft, view| put(draft, view, "link", "mine")).unwrap();
    assert_eq!(place.apply(&plan).unwrap_err().code, Code::PathNotAllowed);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
    place.assert_tidy();
}

#[test]
fn p12_magic_links_are_refused() {
    let place = Place::new(&[]);
    symlink("/proc/self/root", place.path("magic")).unwrap();
    assert!(place.view().read(&path("magic/etc/passwd")).is_err());
    assert!(place.view().read(&path("proc/self/root/etc/passwd")).is_err());
}

#[test]
fn p14_fifos_devices_and_directories_are_refused_at_once() {
    let place = Place::new(&[("dir/x", "")]);
    let made = std::process::Command::new("mkfifo").arg(place.path("in.json")).status().unwrap();
    assert!(made.success());
    symlink("/dev/zero", place.path("zero")).unwrap();
    let began = Instant::now();
    for name in ["in.json", "dir", "zero"] {
        assert_eq!(place.view().read(&path(name)).unwrap_err().code, Code::PathNotAllowed, "{name}");
    }
    assert!(place.plan(|draft, view| put(draft, view, "in.json", "x")).is_err());
    assert!(began.elapsed() < Duration::from_secs(2), "nothing blocks");
}

#[test]
fn p16_p20_odd_names_are_literal_or_refused() {
    let place = Place::new(&[]);
    for name in ["．．／x", "caf\u{e9}", "cafe\u{301}", "~", "$HOME", "%2e%2e%2fetc", "-rf", "a b"] {
        let plan = place.plan(|draft, view| put(draft, view, name, "literal")).unwrap();
        place.apply(&plan).unwrap();
        assert_eq!(place.read(name).as_deref(), Some("literal"), "{name}");
    }
    let names = fs::read_dir(place.path("")).unwrap().count();
    assert_eq!(names, 8, "NFC and NFD are two files, and nothing landed elsewhere");
}

#[test]
fn gatewrights_own_files_are_read_and_never_written() {
    let place = Place::new(&[("gatewright.toml", "# mine")]);
    assert_eq!(place.view().read(&path("gatewright.toml")).unwrap(), b"# mine");
    for name in ["gatewright.toml", "Gatewright.TOML", "gatewright.lock", ".gatewright/x"] {
        let planned = place.plan(|draft, view| put(draft, view, name, "x"));
        assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed, "{name}");
    }
}

#[test]
fn a_plan_that_a_person_applies_holds_the_configuration_and_no_other_own_file() {
    let place = Place::new(&[]);
    for name in ["Gatewright.TOML", "gatewright.lock", ".gatewright/x", "sub/../gatewright.toml"] {
        let Ok(path) = contract::RelPath::new(name) else { continue };
        let put = |draft: &mut Draft, view: &View| draft.put(view, &path, b"x".to_vec(), FileMode::Regular);
        let planned = place.plan_in(Draft::by_person(), put);
        assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed, "{name}");
    }
    let plan =
        place.plan_in(Draft::by_person(), |draft, view| put(draft, view, "gatewright.toml", "x")).unwrap();
    assert!(plan.by_person);
    // The same effects in a plan that anybody applies are refused when they are applied.
    let forged = contract::Plan { by_person: false, ..plan.clone() };
    assert_eq!(place.apply(&forged).unwrap_err().code, Code::PathNotAllowed);
    assert!(place.read("gatewright.toml").is_none());
    let applied = place.apply(&plan).unwrap();
    assert_eq!(place.read("gatewright.toml").as_deref(), Some("x"));
    place.undo(&applied).unwrap();
    assert!(place.read("gatewright.toml").is_none());
}

#[test]
fn of_a_root_of_some_names_nothing_else_is_read_listed_or_written() {
    let whole = Place::new(&[("mine.json", "{}"), ("auth.json", "secret"), ("sub/mine.json", "{}")]);
    let only = Root::open(&whole.path(""), "only", Rights::ReadWrite).unwrap().only(vec![path("mine.json")]);
    let place = Place { root: Arc::new(only), ..whole };
    let view = place.view();
    assert_eq!(view.read(&path("mine.json")).unwrap(), b"{}");
    for name in ["auth.json", "sub/mine.json", "none.json", "gatewright.toml"] {
        assert_eq!(view.read(&path(name)).unwrap_err().code, Code::PathNotAllowed, "{name}");
        assert_eq!(view.state(&path(name)).unwrap_err().code, Code::PathNotAllowed, "{name}");
        assert_eq!((view.size(&path(name)), view.modified(&path(name))), (None, None), "{name}");
        let planned = place.plan_in(Draft::by_person(), |draft, view| put(draft, view, name, "x"));
        assert_eq!(planned.unwrap_err().code, Code::PathNotAllowed, "{name}");
    }
    assert_eq!(view.list(None).unwrap_err().code, Code::PathNotAllowed);
    assert_eq!(view.glob("*.json").unwrap_err().code, Code::PathNotAllowed);
    let plan = place.plan(|draft, view| put(draft, view, "mine.json", "{ }")).unwrap();
    place.apply(&plan).unwrap();
    assert_eq!(place.read("mine.json").as_deref(), Some("{ }"));
}

#[test]
fn d04_deep_and_circular_folders_are_walked_once_and_links_are_not_followed() {
    let deep: String = (0..120).map(|_| "d/").collect::<String>() + "t.json";
    let place = Place::new(&[(&deep, "{}"), ("x/t.json", "{}")]);
    symlink("..", place.path("x/loop")).unwrap();
    let found = place.view().glob("**/*.json").unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    // A sparse file of a terabyte is refused by its size, not read.
    fs::File::create(place.path("huge")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(place.view().read(&path("huge")).unwrap_err().code, Code::TooLarge);
}

#[test]
fn a_pattern_without_a_wildcard_is_the_file_of_that_name() {
    let place =
        Place::new(&[("packages/ui/package.json", "{}"), ("index.html", ""), ("node_modules/x/a.js", "")]);
    symlink("index.html", place.path("link.html")).unwrap();
    for (pattern, count) in [
        ("packages/ui/package.json", 1),
        ("index.html", 1),
        ("node_modules/x/a.js", 1),
        ("packages/ui", 0),
        ("link.html", 0),
        ("packages/none.json", 0),
    ] {
        assert_eq!(place.view().glob(pattern).unwrap().len(), count, "{pattern}");
        let finds = gatewright_exec::view::Pattern::new(pattern).unwrap().finds(pattern);
        assert!(finds || pattern.starts_with("node_modules"), "{pattern}");
    }
    for bad in ["../x.json", "/etc/passwd", "a/../b"] {
        assert_eq!(place.view().glob(bad).unwrap_err().code, Code::PathNotAllowed, "{bad}");
    }
}

#[test]
fn modes_are_kept_across_a_change() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(&[("run.sh", "old")]);
    fs::set_permissions(place.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let plan = place
        .plan(|draft, view| draft.put(view, &path("run.sh"), b"new".to_vec(), FileMode::Executable))
        .unwrap();
    assert!(matches!(
        plan.effects[0].change().unwrap().before,
        State::File { mode, .. } if mode.bits() == 0o750
    ));
    place.apply(&plan).unwrap();
    let mode = || fs::metadata(place.path("run.sh")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o750);
    fs::set_permissions(place.path("run.sh"), fs::Permissions::from_mode(0o600)).unwrap();
    let plan =
        place.plan(|draft, view| draft.put(view, &path("run.sh"), b"new".to_vec(), FileMode::Executable));
    let done = place.apply(&plan.unwrap()).unwrap();
    assert_eq!(mode(), 0o700, "a private file stays private");
    place.undo(&done).unwrap();
    assert_eq!(mode(), 0o600, "undo restores the exact bits");
    let plan = place.plan(|draft, view| draft.remove(view, &path("run.sh"))).unwrap();
    let done = place.apply(&plan).unwrap();
    place.undo(&done).unwrap();
    assert_eq!(mode(), 0o600, "also of a file that was removed");
}

#[test]
fn a_stamp_of_a_folder_tells_of_changes_below_it_and_of_no_others() {
    let place = Place::new(&[("a/one", "1"), ("a/deep/two", "2"), ("b/three", "3"), ("a/left/four", "4")]);
    let of = |from: Option<&str>, most: usize| place.view().stamp(from.map(path).as_ref(), &["left"], most);
    let (whole, below) = (of(None, 10).unwrap(), of(Some("a"), 10).unwrap());
    assert_eq!((whole.1, below.1), (3, 2), "how many there are");
    assert_eq!(of(None, 2).unwrap_err().code, Code::TooLarge);
    assert!(of(Some("a"), 2).is_ok(), "a folder with fewer can be watched");
    fs::write(place.path("b/three"), "changed").unwrap();
    fs::write(place.path("a/left/four"), "changed").unwrap();
    assert_eq!(of(Some("a"), 10).unwrap(), below);
    assert_ne!(of(None, 10).unwrap(), whole);
    fs::write(place.path("a/deep/two"), "changed").unwrap();
    assert_ne!(of(Some("a"), 10).unwrap(), below);
}
