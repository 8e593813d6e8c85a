//! The store's commands: what a day left goes into another database, whole.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bench::Bench;
use super::{Place, cluster, exists};

const URL: &str = "GATEWRIGHT_STORE_URL";

/// A repository with a day in the store: a session, a handoff, notes.
fn worked() -> Bench {
    let bench = Bench::new(&[("src/lib.rs", "pub fn one() {}\n"), ("README.md", "# App\n")]);
    bench.git(&["remote", "add", "origin", "git@github.com:acme/app.git"]);
    let mut session = bench.serve();
    session.ok("sod", json!({}));
    session.ok(
        "note",
        json!({ "action": "create", "title": "Staging needs a VPN", "content": "Ask ops for `useAuthToken`.", "tags": ["staging"] }),
    );
    session.ok(
        "handoff",
        json!({ "summary": "Login works; \u{1f600} is \"quoted\".", "status": "in_progress" }),
    );
    bench
}

/// A command that must succeed: what it says on standard output and on standard error.
fn ok(bench: &Bench, args: &[&str]) -> (String, String) {
    let out = bench.command().args(args).output().unwrap();
    let (said, told) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(out.status.success(), "{args:?}: {told}");
    (said, told)
}

/// A command that must fail with 1: what it says.
fn fails(bench: &Bench, args: &[&str]) -> String {
    let out = bench.command().args(args).output().unwrap();
    let told = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{args:?}: {told}");
    told
}

fn file(bench: &Bench, name: &str) -> String {
    bench.place.scratch.path().join(name).to_str().unwrap().to_owned()
}

fn status(bench: &Bench) -> Value {
    serde_json::from_str(&ok(bench, &["store", "status", "--output", "json"]).0).unwrap()
}

/// All but the first line.
fn body(export: &str) -> &str {
    export.split_once('\n').unwrap().1
}

/// What else is in the folder of a file.
fn left_over(bench: &Bench) -> Vec<String> {
    let all = std::fs::read_dir(bench.place.scratch.path()).unwrap();
    all.map(|found| found.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".gatewright"))
        .collect()
}

fn mode(path: &str) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_day_that_was_exported_goes_on_over_postgresql() {
    let Some(url) = cluster::database() else { return };
    let bench = worked();
    let export = file(&bench, "day.jsonl");
    let (said, told) = ok(&bench, &["store", "export", &export]);
    assert!(said.is_empty() && told.contains("Exported") && told.contains("SHA-256"), "{said}{told}");
    assert_eq!(mode(&export), 0o600);
    let text = std::fs::read_to_string(&export).unwrap();
    assert!(text.starts_with("{\"gatewright\":\"store\",\"format\":1,") && text.contains("useAuthToken"));
    let before = status(&bench);
    assert_eq!((&before["kind"], &before["rows"]["handoffs"]), (&json!("sqlite"), &json!(1)), "{before:#}");

    let bench = bench.telling(URL, url.clone().into());
    let (_, told) = ok(&bench, &["store", "import", &export]);
    assert!(told.contains("Imported") && !told.contains(&url), "{told}");
    let after = status(&bench);
    assert_eq!((&after["kind"], &after["rows"]), (&json!("postgresql"), &before["rows"]), "{after:#}");
    let (there, _) = ok(&bench, &["store", "export"]);
    assert_eq!(body(&there), body(&text));

    let mut session = bench.serve();
    let day = session.ok("sod", json!({}));
    assert_eq!(session.ok("context", json!({}))["using"], "postgres");
    let told = &day["handoffs"][0];
    assert_eq!(
        (&told["summary"], &told["grade"]),
        (&json!("Login works; \u{1f600} is \"quoted\"."), &json!("fresh")),
        "{day:#}"
    );
    assert_eq!(day["notes"]["total"], 1, "{day:#}");
    let found = session.ok("notes", json!({ "q": "token", "tag": "staging" }));
    assert_eq!(found["notes"][0]["title"], "Staging needs a VPN", "{found:#}");
    session.ok("note", json!({ "action": "create", "title": "Another", "content": "one" }));
    session.ok("handoff", json!({ "summary": "Done.", "status": "done" }));

    // Into a store that has something in it: nothing.
    let told = fails(&bench, &["store", "import", &export]);
    assert!(told.contains("not empty") && told.contains(URL), "{told}");
    let told = fails(&bench, &["store", "backup", &file(&bench, "copy.db")]);
    assert!(told.contains("pg_dump") && told.contains("store export"), "{told}");
    assert!(!exists(Path::new(&file(&bench, "copy.db"))));
    assert_eq!(status(&bench)["rows"]["handoffs"], 2);
    let (swept, _) = ok(&bench, &["store", "sweep"]);
    assert!(swept.contains("keep-days"), "{swept}");
}

#[test]
fn what_stands_in_the_way_of_an_export_or_an_import_is_said_and_nothing_is_touched() {
    let bench = worked();
    let (export, other) = (file(&bench, "day.jsonl"), file(&bench, "other.jsonl"));
    ok(&bench, &["store", "export", &export]);
    let text = std::fs::read_to_string(&export).unwrap();

    std::fs::write(&other, "mine").unwrap();
    for command in ["export", "backup"] {
        let told = fails(&bench, &["store", command, &other]);
        assert!(told.contains("there already") && told.contains("--force"), "{told}");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
        let told = fails(&bench, &["store", command, &file(&bench, "no/such/folder")]);
        assert!(told.contains("cannot be written"), "{told}");
    }
    ok(&bench, &["store", "export", "--force", &other]);
    assert_eq!((body(&std::fs::read_to_string(&other).unwrap()), mode(&other)), (body(&text), 0o600));
    assert_eq!(left_over(&bench), [""; 0]);

    let told = fails(&bench, &["store", "import", &export]);
    assert!(told.contains("not empty") && told.contains("store backup"), "{told}");
    let fresh = Place::new();
    let import = |file: &str| fresh.fails(&["store", "import", file]);
    let (code, told) = import(&file(&bench, "nothing.jsonl"));
    assert!(code == 1 && told.contains("gatewright store export"), "{told}");
    let (code, told) = import(bench.place.scratch.path().to_str().unwrap());
    assert!(code == 1 && told.contains("regular file"), "{told}");
    for (changed, say) in [
        (text.replacen("Staging", "Stagimg", 1), "SHA-256"),
        (text[..text.len() - 20].to_owned(), "cut off"),
        (text.replacen("\"format\":1", "\"format\":7", 1), "update this one"),
        ("nothing of the kind\n".to_owned(), "no export"),
    ] {
        std::fs::write(&other, changed).unwrap();
        let (code, told) = import(&other);
        assert!(code == 1 && told.contains(say), "{say}: {told}");
    }
    let rows = fresh.json(&["store", "status", "--output", "json"])["rows"].clone();
    assert!(rows.as_object().unwrap().values().all(|rows| *rows == 0), "{rows:#}");
    assert!(fresh.run(&["store", "import", &export]).status.success());
    assert_eq!(body(&fresh.ok(&["store", "export", "-"])), body(&text));
    assert!(fresh.ok(&["store", "status"]).contains("1 handoffs"));
}

#[test]
fn a_backup_is_a_store_to_go_on_with() {
    let bench = worked();
    let copy = file(&bench, "copy.db");
    let (_, told) = ok(&bench, &["store", "backup", &copy]);
    assert!(told.contains("Copied"), "{told}");
    assert_eq!((mode(&copy), left_over(&bench).len()), (0o600, 0));
    ok(&bench, &["store", "backup", "--force", &copy]);
    let (text, _) = ok(&bench, &["store", "export"]);
    let fresh = Place::new();
    let store = fresh.scratch.path().join("state/gatewright/store/store.db");
    std::fs::create_dir_all(store.parent().unwrap()).unwrap();
    std::fs::copy(&copy, &store).unwrap();
    assert_eq!(body(&fresh.ok(&["store", "export"])), body(&text));
}

/// An export in which a session has been silent since 2020, and another ended then.
fn of_2020(bench: &Bench) -> String {
    let (text, _) = ok(bench, &["store", "export"]);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    let at = lines.iter().position(|line| line.starts_with("{\"t\":\"sessions\"")).unwrap();
    let ended: Value = serde_json::from_str(&lines[at]).unwrap();
    let mut line = lines[at].clone();
    for name in ["started", "heartbeat", "ended"] {
        line =
            line.replace(&format!("\"{name}\":{}", ended["r"][name]), &format!("\"{name}\":1577836800000"));
    }
    let id = ended["r"]["id"].as_str().unwrap();
    let another = format!("{}{}", &id[..id.len() - 1], if id.ends_with('0') { '1' } else { '0' });
    let silent = line
        .replace("\"number\":1,", "\"number\":2,")
        .replace(id, &another)
        .replace("\"status\":\"ended\"", "\"status\":\"active\"")
        .replace("\"ended\":1577836800000", "\"ended\":null");
    lines[at] = line;
    lines.insert(at + 1, silent);
    let rows: String = lines[1..].iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let end = text.lines().last().unwrap().replace("\"sessions\":1", "\"sessions\":2");
    let sha256 = contract::Digest::of(rows.as_bytes()).to_string();
    let place = end.find("\"sha256\":\"").unwrap() + 10;
    format!("{}\n{rows}{}{sha256}{}\n", lines[0], &end[..place], &end[place + 64..])
}

#[test]
fn what_is_over_is_swept_by_hand_and_once_a_day_by_a_server() {
    let bench = worked();
    let export = file(&bench, "2020.jsonl");
    std::fs::write(&export, of_2020(&bench)).unwrap();
    let rows = |place: &Place| place.json(&["store", "status", "--output", "json"])["rows"].clone();

    // By hand: for ever by default, as many days as the user says otherwise.
    let hand = Place::new();
    hand.ok(&["store", "import", &export]);
    let swept = hand.json(&["store", "sweep", "--output", "json"]);
    assert_eq!((&swept["abandoned"], &swept["sessions"]), (&json!(1), &json!(0)), "{swept:#}");
    assert!(hand.ok(&["store", "sweep"]).contains("Nothing"));
    hand.configure("[store]\nkeep-days = 365\n");
    let swept = hand.ok(&["store", "sweep"]);
    assert!(swept.contains("2 sessions that ended") && swept.contains("1 handoffs"), "{swept}");
    assert_eq!((&rows(&hand)["sessions"], &rows(&hand)["notes"]), (&json!(0), &json!(1)));
    assert_eq!(hand.json(&["config", "show"])["store"]["keep-days"], 365);

    // By a server, a few seconds after it began; another one on the same day does not.
    let server = Place::new();
    server.ok(&["store", "import", &export]);
    server.configure("[store]\nkeep-days = 365\n");
    let is_swept = || {
        let found = std::fs::read_dir(server.scratch.path().join("state/gatewright/store")).unwrap();
        found.map(|file| file.unwrap().file_name()).any(|name| name.to_str().unwrap().starts_with("swept-"))
    };
    let serving = super::bench::Session::over(&mut server.command());
    let began = Instant::now();
    while !is_swept() {
        assert!(began.elapsed() < Duration::from_mins(1), "no server swept");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(serving);
    assert_eq!(rows(&server)["sessions"], 0);
    let store = server.scratch.path().join("state/gatewright/store/store.db");
    std::fs::remove_file(store).unwrap();
    server.ok(&["store", "import", &export]);
    let serving = super::bench::Session::over(&mut server.command());
    std::thread::sleep(Duration::from_secs(8));
    drop(serving);
    assert_eq!(rows(&server)["sessions"], 2, "once a day");

    // Where nobody has a store yet, none is made.
    let nobody = Place::new();
    let serving = super::bench::Session::over(&mut nobody.command());
    std::thread::sleep(Duration::from_secs(8));
    drop(serving);
    assert!(!exists(&nobody.scratch.path().join("state/gatewright/store")));
}

#[test]
fn state_that_is_over_goes_with_a_command_and_while_a_server_runs() {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    let place = &bench.place;
    place.ok(&["call", "git_status"]);
    let base = place.scratch.path().join("state/gatewright");
    let roots: Vec<_> = std::fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().path()).collect();
    let state = roots.iter().find(|path| path.join("plans").is_dir()).unwrap();
    let (plan, bytes, young) =
        (state.join("plans/left.json"), state.join("blobs/00/left"), state.join("plans/young.json"));
    let leave = || {
        std::fs::create_dir_all(bytes.parent().unwrap()).unwrap();
        for (file, days) in [(&plan, 2), (&bytes, 400), (&young, 0)] {
            std::fs::write(file, "{}").unwrap();
            let then = std::time::SystemTime::now() - Duration::from_hours(24 * days);
            std::fs::File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
        }
    };
    let left = || [&plan, &bytes, &young].map(|file| exists(file));

    leave();
    place.ok(&["call", "git_status"]);
    assert_eq!(left(), [false, false, true]);

    // A server answers first.
    leave();
    let began = Instant::now();
    let mut serving = super::bench::Session::over(&mut place.command());
    serving.ok("git_status", json!({}));
    let still = left();
    assert!(still == [true; 3] || began.elapsed() > Duration::from_secs(5), "{still:?}");
    while left() != [false, false, true] {
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", left());
        std::thread::sleep(Duration::from_millis(100));
    }
    serving.ok("git_status", json!({}));
}
