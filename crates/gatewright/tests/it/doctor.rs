//! `gatewright doctor`: what is wrong here, with what to do.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::Place;
use super::bench::Bench;

const CHECKS: [&str; 16] = [
    "root",
    "configuration",
    "commands",
    "git",
    "state",
    "disk",
    "clock",
    "path",
    "confinement",
    "ledger",
    "unfinished",
    "store",
    "browser",
    "registries",
    "upstreams",
    "plugins",
];

fn told(bench: &Bench, words: &[&str]) -> Value {
    serde_json::from_slice(&bench.place.run(words).stdout).unwrap()
}

fn of<'r>(told: &'r Value, id: &str) -> &'r Value {
    let all = told["checks"].as_array().unwrap();
    all.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {told}"))
}

fn doctor(bench: &Bench) -> Value {
    told(bench, &["doctor", "--json"])
}

#[test]
fn every_check_is_told_to_programs_with_what_to_do() {
    let bench = Bench::new(&[("go.mod", "module shop\n\ngo 1.19\n")]);
    let told = doctor(&bench);
    let ids: Vec<&str> =
        told["checks"].as_array().unwrap().iter().filter_map(|check| check["id"].as_str()).collect();
    assert_eq!(ids.get(..CHECKS.len()).unwrap(), CHECKS, "{told}");
    for check in told["checks"].as_array().unwrap() {
        let state = check["state"].as_str().unwrap();
        assert!(["ok", "warn", "fail", "skipped"].contains(&state), "{check}");
        let is_wrong = matches!(state, "warn" | "fail");
        assert_eq!(check["fix"].as_str().is_some_and(|fix| !fix.is_empty()), is_wrong, "{check}");
    }
    let passed = told["checks"].as_array().unwrap().iter().all(|check| check["state"] != "fail");
    assert_eq!(told["passed"], json!(passed));
    assert_eq!(bench.place.run(&["doctor"]).status.success(), passed);
}

#[test]
fn what_is_gatewrights_own_is_put_right() {
    let bench = Bench::new(&[]);
    let state = bench.place.scratch.path().join("state/gatewright");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    let before = doctor(&bench);
    assert_eq!(
        (&of(&before, "state")["state"], &of(&before, "state")["fixable"]),
        (&json!("fail"), &json!(true)),
        "{before}"
    );
    assert!(of(&before, "state")["fix"].as_str().unwrap().contains("chmod 700"), "{before}");
    assert_eq!((&of(&before, "root")["state"], &before["passed"]), (&json!("ok"), &json!(false)));
    let after = told(&bench, &["doctor", "--json", "--fix"]);
    assert_eq!(of(&after, "state")["state"], "ok", "{after}");
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_projects_own_commands_are_looked_at_before_a_tool_runs_them() {
    let commands = |text: &str| format!("[devtools.commands]\ntest = \"{text}\"\n");
    for (text, state, said) in [
        ("make check", "ok", "test can be run"),
        ("make check && make clean", "fail", "test: "),
        ("nobody-has-this --fast", "fail", "nobody-has-this"),
        ("golangci-lint run", "warn", "golangci-lint"),
    ] {
        let bench = Bench::new(&[("gatewright.toml", &commands(text))]);
        let told = doctor(&bench);
        let check = of(&told, "commands");
        assert_eq!(check["state"], state, "{text}: {check}");
        assert!(check["said"].as_str().unwrap().contains(said), "{text}: {check}");
    }
    assert_eq!(of(&doctor(&Bench::new(&[])), "commands")["state"], "skipped");
}

#[test]
fn a_configuration_that_is_not_understood_is_told_with_where_the_users_own_is() {
    let bench = Bench::new(&[("gatewright.toml", "[devtool]\n")]);
    let told = doctor(&bench);
    let check = of(&told, "configuration");
    assert_eq!(check["state"], "fail", "{check}");
    assert!(check["said"].as_str().unwrap().contains("devtools"), "what was meant: {check}");
    assert!(check["fix"].as_str().unwrap().contains("gatewright/config.toml"), "{check}");
    assert_eq!(of(&told, "setup")["state"], "skipped");
    let bench = Bench::new(&[("gatewright.toml", "[limits]\nenabled = false\n")]);
    let told = doctor(&bench);
    assert!(of(&told, "configuration")["said"].as_str().unwrap().contains("[limits]"), "{told}");
}

#[test]
fn clients_and_programs_are_told_until_they_are_set_up() {
    let bench = Bench::new(&[("CLAUDE.md", "# Shop\n")]);
    let before = doctor(&bench);
    assert_eq!(of(&before, "setup/gatewright.toml")["state"], "warn", "{before}");
    assert!(
        of(&before, "setup/gatewright.toml")["fix"].as_str().unwrap().contains("gatewright init"),
        "{before}"
    );
    bench.place.ok(&["init", "--yes"]);
    let after = doctor(&bench);
    let left = after["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["id"].as_str().unwrap().starts_with("setup/"));
    assert_eq!(left.count(), 0, "{after}");
    assert_eq!(of(&after, "setup")["state"], "ok", "{after}");
}

/// The doctor of a machine whose environment is another.
fn with(place: &Place, set: impl FnOnce(&mut Command)) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright"));
    place.home(&mut command).args(["doctor", "--json"]).current_dir(place.root());
    set(&mut command);
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

#[test]
fn folders_that_everybody_may_write_to_give_no_programs() {
    let bench = Bench::new(&[]);
    let open = bench.place.scratch.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let told = with(&bench.place, |command| {
        command.env("PATH", format!("{}:{path}", open.display()));
    });
    assert_eq!(of(&told, "path")["state"], "warn", "{told}");
    assert!(of(&told, "path")["said"].as_str().unwrap().contains("open"), "{told}");
    let inside = bench.place.root().join("bin");
    std::fs::create_dir(&inside).unwrap();
    let told = with(&bench.place, |command| {
        command.env("PATH", format!("{}:{path}", inside.display()));
    });
    assert!(of(&told, "path")["said"].as_str().unwrap().contains("in the repository"), "{told}");
}

#[test]
fn a_store_that_does_not_answer_is_told() {
    let bench = Bench::new(&[]);
    assert_eq!(of(&doctor(&bench), "store")["state"], "ok");
    let told = with(&bench.place, |command| {
        command.env("GATEWRIGHT_STORE_URL", "postgres://nobody@127.0.0.1:1/none");
    });
    assert_eq!(of(&told, "store")["state"], "fail", "{told}");
    assert!(of(&told, "store")["said"].as_str().unwrap().starts_with("the team's database"), "{told}");
}

#[test]
fn a_clock_that_went_back_is_told() {
    let bench = Bench::new(&[]);
    bench.place.ok(&["call", "git_status"]);
    assert_eq!(of(&doctor(&bench), "clock")["state"], "ok");
    let state = bench.place.scratch.path().join("state/gatewright");
    let ledgers = std::fs::read_dir(&state).unwrap().flatten().map(|entry| entry.path().join("ledger"));
    let ahead = SystemTime::now() + Duration::from_hours(1);
    for entry in ledgers.filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten() {
        std::fs::File::open(entry.path()).unwrap().set_modified(ahead).unwrap();
    }
    let told = doctor(&bench);
    assert_eq!(of(&told, "clock")["state"], "warn", "{told}");
}

#[test]
fn plugins_that_are_left_out_are_told() {
    let bench = Bench::new(&[(".gatewright/plugins/words.toml", "schema = 1\n")]);
    let told = doctor(&bench);
    assert_eq!(of(&told, "plugins")["state"], "warn", "{told}");
    assert!(of(&told, "plugins")["said"].as_str().unwrap().contains("words"), "{told}");
}
