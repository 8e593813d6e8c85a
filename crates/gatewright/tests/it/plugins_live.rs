//! Plugins that come, change and go while servers run, and what is kept of their programs between processes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::bench::Bench;
use super::components::{guest, manifest, put as put_component};
use super::plugins::{COUNT, accept, put};
use super::trust::{fails, names, ok, until};
use super::wire::{Wire, line, meta};

/// A client of the newer era that listens for changes of the list.
fn listener(bench: &Bench) -> Wire {
    let mut wire = Wire::with(bench.command().arg("serve"));
    let listen = json!({ "_meta": meta("2026-07-28"), "notifications": { "toolsListChanged": true } });
    wire.send(&line(&json!("sub"), "subscriptions/listen", &listen));
    let acknowledged = wire.receive();
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "toolsListChanged": true }),
        "{acknowledged}"
    );
    wire
}

fn told(wire: &mut Wire, what: &str) {
    let said = wire.receive();
    assert_eq!(said["method"], "notifications/tools/list_changed", "{what}: {said}");
}

fn offered(wire: &mut Wire) -> String {
    wire.request("tools/list", json!({ "_meta": meta("2026-07-28") }))["result"]["tools"].to_string()
}

#[test]
fn a_plugin_comes_into_running_servers_that_began_without_a_folder_and_clients_of_both_eras_hear_of_it() {
    let bench = Bench::new(&[("a.txt", "1\n2\n")]);
    let folders = [bench.place.scratch.path().join("config/gatewright/plugins"), bench.path(".gatewright")];
    assert!(folders.iter().all(|folder| !folder.exists()), "there is none yet");
    let mut session = bench.serve();
    assert!(session.0.list_changes, "it says at the start that its list may change");
    let mut newer = listener(&bench);
    put(&bench, "count.toml", COUNT);
    accept(&bench, "plugin:word-count");
    until("it is listed", || names(&mut session).contains(&"word_count_lines".to_owned()));
    let counted = session.ok("word_count_lines", json!({ "file": "a.txt" }));
    assert_eq!(counted["result"]["lines"], json!(["2 a.txt"]), "{counted}");
    told(&mut newer, "it came");
    until("it is listed in the newer era", || offered(&mut newer).contains("word_count_lines"));
    std::fs::remove_file(folders[0].join("count.toml")).unwrap();
    until("it is gone", || !names(&mut session).contains(&"word_count_lines".to_owned()));
    until("it is gone in the newer era", || !offered(&mut newer).contains("word_count_lines"));

    // A project's, in a folder that is made while they run.
    bench.put(".gatewright/plugins/word-count.toml", COUNT);
    ok(&bench, &["trust"]);
    ok(&bench, &["trust", "accept", "plugin:word-count"]);
    until("it is there, and wants an approval of its own", || {
        let call = json!({ "name": "word_count_lines", "arguments": { "file": "a.txt" } });
        session.0.request("tools/call", call).to_string().contains("approval_required")
    });
    accept(&bench, "plugin:word-count");
    until("the project's is listed", || names(&mut session).contains(&"word_count_lines".to_owned()));
}

#[test]
fn a_component_that_is_replaced_goes_from_a_running_server_and_comes_back_as_it_was_approved() {
    let says = |text: &str| {
        let length = text.len();
        let bytes: Vec<String> = text
            .bytes()
            .enumerate()
            .map(|(at, byte)| format!("(i32.store8 (i32.const {}) (i32.const {byte}))", 2_048 + at))
            .collect();
        let body = format!(
            "{} (i32.store (i32.const 68) (i32.const 2048)) (i32.store (i32.const 72) (i32.const {length})) (i32.const 64)",
            bytes.join(" ")
        );
        guest("answers", &body)
    };
    let bench = Bench::new(&[("a.md", "a\n")]);
    let mut session = bench.serve();
    for (text, value) in [("1", json!(1)), ("[2]", json!([2]))] {
        put_component(&bench, "other", &manifest("other", ""), &says(text));
        until("it is held back until it is approved", || {
            let call = json!({ "name": "other_answers", "arguments": {} });
            session.0.request("tools/call", call).to_string().contains("approval_required")
        });
        assert!(!names(&mut session).contains(&"other_answers".to_owned()));
        fails(&bench, &["approvals", "accept", "plugin:other"]);
        ok(&bench, &["approvals", "accept", "plugin:other"]);
        until("it is listed", || names(&mut session).contains(&"other_answers".to_owned()));
        assert_eq!(session.ok("other_answers", json!({}))["result"]["value"], value);
    }
    // Its code alone: the file that names its digest stays.
    let code = bench.place.scratch.path().join("config/gatewright/plugins/other.wasm");
    std::fs::write(code, says("3")).unwrap();
    until("what is not as its file says is gone", || {
        let call = json!({ "name": "other_answers", "arguments": {} });
        session.0.request("tools/call", call).to_string().contains("there is no tool")
    });
}

#[test]
fn m06_digests_of_programs_are_kept_between_processes_and_a_program_of_other_bytes_has_none() {
    let bench = Bench::new(&[("a.txt", "1\n")]);
    let folder = bench.place.scratch.path().join("programs");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("counter");
    let write = |word: &str| {
        std::fs::write(&program, format!("#!/bin/sh\necho {word}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("good");
    let written = std::fs::metadata(&program).unwrap().modified().unwrap();
    let bench = bench.with(folder);
    put(&bench, "count.toml", &COUNT.replace("\"wc\"", "\"counter\""));
    accept(&bench, "plugin:word-count");
    let kept: PathBuf = bench.place.scratch.path().join("state/gatewright/programs.json");
    let digests =
        || -> Value { serde_json::from_slice(&std::fs::read(&kept).unwrap_or_default()).unwrap_or_default() };
    let is_there = || digests().to_string().contains("/programs/counter");
    assert!(!is_there(), "what is younger than its own clock is not kept");
    std::thread::sleep(Duration::from_millis(3_100));
    let call = |bench: &Bench| bench.serve().call("word_count_lines", json!({ "file": "a.txt" })).to_string();
    assert!(call(&bench).contains("good"));
    assert!(is_there(), "{:?}", digests());
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);

    // Other bytes of the same length and, as far as anybody can set it, of the same time.
    write("evil");
    let file = std::fs::File::options().write(true).open(&program).unwrap();
    file.set_times(std::fs::FileTimes::new().set_modified(written).set_accessed(SystemTime::now())).unwrap();
    drop(file);
    assert_eq!(std::fs::metadata(&program).unwrap().modified().unwrap(), written);
    let said = call(&bench);
    assert!(said.contains("approval_required") && said.contains("programs.counter.sha256"), "{said}");
    write("good");
    assert!(call(&bench).contains("good"), "the bytes that were approved");

    // What is kept is used: were it another digest, it would be another program. What does not read is left.
    std::thread::sleep(Duration::from_millis(3_100));
    assert!(call(&bench).contains("good"));
    let now = std::fs::metadata(&program).unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&now);
    let mut all = digests();
    for row in all.as_array_mut().unwrap() {
        if row["seen"]["inode"] == json!(inode) {
            row["sha256"] = json!("0".repeat(64));
        }
    }
    std::fs::write(&kept, all.to_string()).unwrap();
    let said = call(&bench);
    assert!(said.contains("approval_required"), "{said} {all}");
    for broken in ["{", "[]", "[{\"seen\": 1}]"] {
        std::fs::write(&kept, broken).unwrap();
        assert!(call(&bench).contains("good"), "{broken}");
    }
    // Nor is one that others may write.
    std::fs::write(&kept, all.to_string()).unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(call(&bench).contains("good"));
}
