//! This program on other machines: a real sshd, the real ssh, and whatever may go wrong between.

mod checkout;
mod sshd;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::sshd::{Far, far};
use super::{Place, cluster, exists};

const OWN: &str = env!("CARGO_BIN_EXE_gatewright");

/// A program that says it is gatewright and has an opinion on itself.
fn stand_in(far: &Far, version: &str, selftest: &str) -> PathBuf {
    let path = far.place.scratch.path().join(format!("stand-in-{version}"));
    let script = format!(
        "#!/bin/sh\ncase $1 in\n--version) echo 'gatewright {version}' ;;\nselftest) {selftest} ;;\nesac\nexit\n"
    );
    program(&path, script.as_bytes());
    path
}

fn program(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A test that is passed.
fn fine(version: &str) -> String {
    format!("echo '{}'", json!({ "passed": true, "version": version, "build": "x", "checks": [] }))
}

/// Of every host its state, in the answer's order.
fn states(answer: &Value) -> Vec<(&str, &str)> {
    let rows = answer["hosts"].as_array().unwrap();
    rows.iter().map(|row| (row["host"].as_str().unwrap(), row["state"].as_str().unwrap())).collect()
}

#[test]
fn a_rehearsal_changes_nothing_and_an_apply_puts_a_program_there_that_passes_its_own_test() {
    let Some(far) = far() else { return };
    far.hosts(&[far.host("tower", "")]);
    let (code, rehearsed) = far.fleet(&["deploy"]);
    assert_eq!((code, states(&rehearsed)), (0, vec![("tower", "would_deploy")]), "{rehearsed:#}");
    assert_eq!((&rehearsed["applied"], &rehearsed["hosts"][0]["from"]), (&json!(false), &Value::Null));
    assert!(!exists(&far.at(".local")), "a rehearsal left something");
    assert_eq!(far.list("state"), Vec::<String>::new());

    let (code, applied) = far.fleet(&["deploy", "--apply"]);
    assert_eq!((code, states(&applied)), (0, vec![("tower", "deployed")]), "{applied:#}");
    assert_eq!(applied["hosts"][0]["to"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(far.list(".local/bin"), ["gatewright"], "nothing else stays");
    let there = far.at(".local/bin/gatewright");
    assert_eq!(std::fs::read(&there).unwrap(), std::fs::read(OWN).unwrap());
    let out = Command::new(&there).arg("--version").output().unwrap();
    assert_eq!(
        String::from_utf8(out.stdout).unwrap().trim(),
        concat!("gatewright ", env!("CARGO_PKG_VERSION"))
    );
    assert!(far.list("state/gatewright").contains(&"machine".to_owned()), "its selftest ran over there");

    let (code, again) = far.fleet(&["deploy", "--apply"]);
    assert_eq!((code, states(&again)), (0, vec![("tower", "unchanged")]), "{again:#}");
    let (code, status) = far.fleet(&["status"]);
    assert_eq!((code, states(&status)), (0, vec![("tower", "same")]), "{status:#}");
    let id = std::fs::read_to_string(far.at("state/gatewright/machine")).unwrap();
    assert_eq!(
        (&status["hosts"][0]["machine"], &status["hosts"][0]["seen"]),
        (&json!(id.trim()), &Value::Null)
    );

    let file = far.place.scratch.path().join("fleet.toml");
    let text = far.place.ok(&["fleet", "deploy", "--hosts", file.to_str().unwrap()]);
    assert!(text.contains("Nothing to do: 1 host with this program."), "{text}");
}

#[test]
fn what_was_there_is_kept_beside_and_a_program_that_fails_its_own_test_is_taken_back() {
    let Some(far) = far() else { return };
    far.hosts(&[far.host("tower", "path = 'opt/gw'")]);
    let bad_report = json!({
        "passed": false, "version": "3.0.0", "build": "x", "more": 1,
        "checks": [{ "name": "store", "status": "fail", "message": "no\u{1b}[31m answer", "fix": "start it", "millis": 3 }],
    });
    let (one, two, bad) = (
        stand_in(&far, "1.0.0", &fine("1.0.0")),
        stand_in(&far, "2.0.0", &fine("2.0.0")),
        stand_in(&far, "3.0.0", &format!("cat <<'X'\n{bad_report}\nX\nexit 1")),
    );
    let deploy = |binary: &Path| far.fleet(&["deploy", "--apply", "--binary", binary.to_str().unwrap()]);
    let (code, first) = deploy(&bad);
    assert_eq!((code, states(&first)), (1, vec![("tower", "rolled_back")]), "{first:#}");
    let row = &first["hosts"][0];
    let why = row["why"].as_str().unwrap();
    assert!(why.contains("store: no<U+001B>[31m answer") && why.contains("it was removed"), "{row:#}");
    assert_eq!(row["advice"], "start it");
    assert_eq!(far.list("opt"), Vec::<String>::new(), "there was none before");

    assert_eq!(states(&deploy(&one).1), [("tower", "deployed")]);
    let (_, second) = deploy(&two);
    assert_eq!(states(&second), [("tower", "deployed")]);
    assert_eq!(
        (&second["hosts"][0]["from"]["version"], &second["hosts"][0]["to"]["version"]),
        (&json!("1.0.0"), &json!("2.0.0"))
    );
    assert_eq!(far.list("opt"), ["gw", "gw.old"]);
    assert_eq!(std::fs::read(far.at("opt/gw.old")).unwrap(), std::fs::read(&one).unwrap());

    let (code, third) = deploy(&bad);
    assert_eq!((code, states(&third)), (1, vec![("tower", "rolled_back")]), "{third:#}");
    assert_eq!(std::fs::read(far.at("opt/gw")).unwrap(), std::fs::read(&two).unwrap(), "it is there again");
    assert_eq!(far.list("opt"), ["gw"]);
    let file = far.place.scratch.path().join("fleet.toml");
    let out = far
        .place
        .command()
        .args([
            "fleet",
            "deploy",
            "--apply",
            "--binary",
            bad.to_str().unwrap(),
            "--hosts",
            file.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains("rolled back to 2.0.0") && text.contains("→ start it") && !text.contains('\u{1b}'),
        "{text}"
    );

    // One that dies without a word.
    let mute = stand_in(&far, "4.0.0", "kill -9 $$");
    let (code, died) = deploy(&mute);
    assert_eq!((code, states(&died)), (1, vec![("tower", "rolled_back")]), "{died:#}");
    assert_eq!(std::fs::read(far.at("opt/gw")).unwrap(), std::fs::read(&two).unwrap());
}

#[test]
fn hosts_that_cannot_be_dealt_with_say_why_and_keep_no_other_from_it() {
    let Some(far) = far() else { return };
    std::fs::write(far.at("file"), "").unwrap();
    std::fs::create_dir(far.at("folder")).unwrap();
    // Nobody listens there, and as long as it is held nobody else will.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let closed = held.local_addr().unwrap().port();
    far.hosts(&[
        far.host("a-fine", "path = 'a/gw'"),
        far.host("b-strange", "path = 'b/gw'\nconfig = 'strange.config'"),
        far.host("c-closed", &format!("path = 'c/gw'\nport = {closed}")),
        far.host("d-blocked", "path = 'file/gw'"),
        far.host("e-folder", "path = 'folder'"),
        far.host("f-refused", "path = '/proc/gw'"),
        far.host("g-nobody", "path = 'g/gw'").replace("@127.0.0.1", "-is-nobody@127.0.0.1"),
        far.host("h-nowhere", "path = 'h/gw'").replace("@127.0.0.1", "@nowhere.invalid"),
    ]);
    let binary = stand_in(&far, "1.0.0", &fine("1.0.0"));
    let binary = binary.to_str().unwrap();
    let (code, answer) = far.fleet(&["deploy", "--apply", "--binary", binary]);
    assert_eq!(code, 1);
    let expected = [
        ("a-fine", "deployed", ""),
        ("b-strange", "failed", "host key is not known here"),
        ("c-closed", "failed", "refuses connections"),
        ("d-blocked", "failed", "may not be written to"),
        ("e-folder", "failed", "a folder is at folder"),
        ("f-refused", "failed", "could not be written there"),
        ("g-nobody", "failed", "does not let you in"),
        ("h-nowhere", "failed", "name is not known"),
    ];
    for ((host, state, why), row) in expected.into_iter().zip(answer["hosts"].as_array().unwrap()) {
        assert_eq!((row["host"].as_str(), row["state"].as_str()), (Some(host), Some(state)), "{row:#}");
        if !why.is_empty() {
            assert!(row["why"].as_str().unwrap().contains(why) && row["advice"].is_string(), "{row:#}");
        }
    }
    assert_eq!(far.list("a"), ["gw"]);
    assert_eq!(far.list("."), ["a", "bin", "config", "file", "folder", "state"], "nothing was left anywhere");

    let (code, status) = far.fleet(&["status", "--binary", binary, "--only", "a-fine", "--only", "c-closed"]);
    assert_eq!((code, states(&status)), (0, vec![("a-fine", "same"), ("c-closed", "failed")]), "{status:#}");
    let (code, other) = far.fleet(&["status", "--only", "a-fine", "--only", "e-folder"]);
    assert_eq!((code, states(&other)), (0, vec![("a-fine", "other"), ("e-folder", "missing")]), "{other:#}");

    let file = far.place.scratch.path().join("fleet.toml");
    let args =
        ["fleet", "deploy", "--only", "c-closed", "--only", "d-blocked", "--binary", binary, "--hosts"];
    let out = far.place.command().args(args).arg(&file).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("2 of 2 hosts failed.") && text.contains("→ is its ssh server running"), "{text}");
    drop(held);
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn two_hosts_one_of_them_down_the_other_is_deployed_and_the_exit_code_is_one() {
    let Some(far) = far() else { return };
    far.hosts(&[far.host("down", "port = 1"), far.host("up", "")]);
    let (code, answer) = far.fleet(&["deploy", "--apply", "--jobs", "1"]);
    assert_eq!((code, states(&answer)), (1, vec![("down", "failed"), ("up", "deployed")]), "{answer:#}");
    assert!(exists(&far.at(".local/bin/gatewright")));
}

#[test]
fn a_program_that_the_host_cannot_run_is_not_put_in_its_place() {
    let Some(far) = far() else { return };
    far.hosts(&[far.host("tower", "path = 'gw'")]);
    let one = stand_in(&far, "1.0.0", &fine("1.0.0"));
    assert_eq!(far.fleet(&["deploy", "--apply", "--binary", one.to_str().unwrap()]).0, 0);
    // It runs here, and not where ssh comes from.
    let picky = far.place.scratch.path().join("picky");
    let script = "#!/bin/sh\n[ -z \"$SSH_CONNECTION\" ] || { echo 'GLIBC_9.9 not found' >&2; exit 1; }\necho gatewright 2.0.0\n";
    program(&picky, script.as_bytes());
    let (code, answer) = far.fleet(&["deploy", "--apply", "--binary", picky.to_str().unwrap()]);
    assert_eq!((code, states(&answer)), (1, vec![("tower", "failed")]), "{answer:#}");
    let why = answer["hosts"][0]["why"].as_str().unwrap();
    assert!(why.contains("does not start there") && why.contains("GLIBC_9.9"), "{why}");
    assert_eq!(std::fs::read(far.at("gw")).unwrap(), std::fs::read(&one).unwrap());
    assert!(far.list(".").iter().all(|name| !name.contains(".new") && !name.contains(".old")));

    program(&far.at("bin/uname"), b"#!/bin/sh\necho Linux pdp11\n");
    let (code, answer) = far.fleet(&["deploy"]);
    assert_eq!((code, states(&answer)), (1, vec![("tower", "failed")]), "{answer:#}");
    assert!(answer["hosts"][0]["why"].as_str().unwrap().contains("it is Linux pdp11"), "{answer:#}");
}

#[test]
fn a_copy_that_is_interrupted_leaves_nothing_there() {
    let Some(far) = far() else { return };
    far.hosts(&[far.host("tower", "path = 'gw'")]);
    let large = stand_in(&far, "1.0.0", &fine("1.0.0"));
    std::fs::File::options().write(true).open(&large).unwrap().set_len(700 << 20).unwrap();
    let mut command = far.place.command();
    command.args(["fleet", "deploy", "--apply", "--output", "json", "--binary"]).arg(&large).arg("--hosts");
    let child = command
        .arg(far.place.scratch.path().join("fleet.toml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    let copying = || far.list(".").iter().any(|name| name.starts_with("gw.new."));
    while !copying() {
        assert!(Instant::now() < until, "the copy did not begin");
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let out = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), states(&answer)), (Some(1), vec![("tower", "failed")]), "{answer:#}");
    assert!(answer["hosts"][0]["why"].as_str().unwrap().contains("stopped"), "{answer:#}");
    // The other side finds out by itself.
    while copying() {
        assert!(Instant::now() < until, "{:?}", far.list("."));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!exists(&far.at("gw")), "half a program is no program");
}

#[test]
fn a_machine_that_is_deployed_registers_itself_where_a_team_sees_it() {
    let (Some(far), Some(database)) = (far(), cluster::database()) else { return };
    let config = format!("[store]\nurl = '{database}'\n");
    std::fs::write(far.at("config/gatewright/config.toml"), &config).unwrap();
    far.place.configure(&config);
    far.hosts(&[far.host("tower", "")]);
    let (code, applied) = far.fleet(&["deploy", "--apply"]);
    assert_eq!((code, states(&applied)), (0, vec![("tower", "deployed")]), "{applied:#}");
    let (code, status) = far.fleet(&["status"]);
    let row = &status["hosts"][0];
    assert_eq!((code, &row["state"]), (0, &json!("same")), "{status:#}");
    assert!(row["seen"].is_string() && row["build"].as_str().unwrap().ends_with("-linux"), "{row:#}");
    far.place.configure("[store]\nurl = 'postgres://gw@127.0.0.1:1/none'\n");
    let (code, status) = far.fleet(&["status"]);
    assert_eq!(
        (code, &status["hosts"][0]["state"]),
        (0, &json!("same")),
        "a store is no reason to fail: {status:#}"
    );
    assert!(status["store"].is_string(), "{status:#}");
}

#[test]
fn hosts_and_programs_that_are_none_are_refused_before_anybody_is_asked() {
    let place = Place::new();
    let file = place.scratch.path().join("hosts.toml");
    let canary = place.scratch.path().join("canary");
    let fleet = |more: &[&str]| {
        let args = [&["fleet", "deploy", "--apply", "--hosts", file.to_str().unwrap()], more].concat();
        place.fails(&args)
    };
    let (code, error) = fleet(&[]);
    assert!(code == 2 && error.contains("hosts.toml") && error.contains("[hosts.tower]"), "{error}");
    let (code, error) = place.fails(&["fleet", "status"]);
    assert!(code == 2 && error.contains("config/gatewright/fleet.toml"), "{error}");
    let run = format!("touch {}", canary.display());
    for (text, part) in [
        (format!("[hosts.a]\nssh = '-oProxyCommand={run}'\n"), "line 2"),
        (format!("[hosts.a]\nssh = 'x'\npath = 'gw; {run}'\n"), "line 3"),
        (format!("[hosts.a]\nssh = 'x'\npath = '$({run})'\n"), "line 3"),
        ("[hosts.a]\nssh = 'x'\npaht = 'y'\n".to_owned(), "did you mean `path`?"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (code, error) = fleet(&[]);
        assert!(code == 2 && error.contains("hosts.toml") && error.contains(part), "{error}");
    }
    std::fs::write(&file, "[hosts.tower]\nssh = 'ana@127.0.0.1'\nport = 1\n").unwrap();
    let (code, error) = fleet(&["--only", "towr"]);
    assert!(code == 2 && error.contains("did you mean `tower`?"), "{error}");
    let other = place.scratch.path().join("other");
    for (bytes, part) in [
        (&b"#!/bin/sh\necho busybox 1.2\n"[..], "asked for its version"),
        (b"#!/bin/sh\necho gatewright 1.0.0\nexit 1\n", "asked for its version"),
        (b"\x7fELF nonsense", "cannot be run"),
    ] {
        program(&other, bytes);
        let (code, error) = fleet(&["--binary", other.to_str().unwrap()]);
        assert!(code == 2 && error.contains(part), "{error}");
    }
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(fleet(&["--binary", other.to_str().unwrap()]).1.contains("no file that can be run"));
    assert!(!exists(&canary), "nothing of it was run");
}
