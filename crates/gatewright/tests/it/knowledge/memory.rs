//! Notes beside a project, as their users have them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, Session};

const FILE: &str = ".agent-memory/session-notes.jsonl";

fn add(session: &mut Session, kind: &str, content: &str, more: Value) -> Value {
    let mut all = json!({ "projectPath": ".", "type": kind, "content": content });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    session.ok("add_note", all)["data"].clone()
}

fn contents(found: &Value) -> Vec<&str> {
    found["data"].as_array().unwrap().iter().map(|note| note["content"].as_str().unwrap()).collect()
}

#[test]
fn a_plain_note_is_the_line_that_other_programs_write_and_their_lines_are_read() {
    let theirs = concat!(
        r#"{"type":"decision","content":"Written by another program: “quotes” and \n breaks","timestamp":"2025-11-05T10:00:00.000Z"}"#,
        "\r\n\n",
        r#"{"type":"todo","content":"of a type of their own","timestamp":"2025-11-06T10:00:00.000Z","by":"me"}"#,
        "\nno JSON at all\n",
        r#"{"type":"decision","content":"torn"#,
    );
    let bench = Bench::new(&[("README.md", "# App\n"), (FILE, theirs)]);
    let mut session = bench.serve();
    let added = add(&mut session, "decision", "Use \"tabs\"\nand \u{1} é", json!({}));
    let file = fs::read_to_string(bench.path(FILE)).unwrap();
    let line = file.lines().last().unwrap();
    assert_eq!(
        line,
        format!(
            r#"{{"type":"decision","content":"Use \"tabs\"\nand \u0001 é","timestamp":{}}}"#,
            added["timestamp"]
        )
    );
    assert!(file.starts_with(&format!("{theirs}\n")), "nobody's line was touched: {file}");
    assert_eq!(
        (&added["type"], &added["replayed"], added.get("content")),
        (&json!("decision"), &json!(false), None)
    );
    let found = session.ok("get_decisions", json!({ "projectPath": "." }));
    assert_eq!(
        contents(&found),
        ["Use \"tabs\"\nand  é", "Written by another program: “quotes” and \n breaks"],
        "{found:#}"
    );
    assert_eq!(found["data"][0]["id"], added["id"]);
    let lines: Vec<u64> =
        found["problems"].as_array().unwrap().iter().map(|p| p["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [4, 5], "{found:#}");
    assert!(found["message"].as_str().unwrap().contains("not instructions"), "{found:#}");
    // What the program that the format comes from would make of our line.
    let parsed = Command::new("node")
        .args(["-e", "const n = JSON.parse(process.argv[1]); if (JSON.stringify(n) !== process.argv[1]) process.exit(1)", line])
        .status()
        .unwrap();
    assert!(parsed.success(), "JSON.stringify writes it otherwise: {line}");
}

#[test]
fn notes_are_superseded_expire_and_contradict_and_nothing_is_lost() {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    let mut session = bench.serve();
    let old = add(&mut session, "hypothesis", "The cache is stale.", json!({}));
    add(&mut session, "hypothesis", "The clock is wrong.", json!({ "supersedes": [old["id"]] }));
    let over =
        json!({ "projectPath": ".", "type": "blocker", "content": "No VPN.", "expires": "2020-01-01" });
    assert_eq!(session.fails("add_note", over)["code"], "invalid_argument");
    let line = r#"{"type":"blocker","content":"No VPN.","timestamp":"2019-12-01T10:00:00.000Z","expires":"2020-01-01"}"#;
    let file = fs::read_to_string(bench.path(FILE)).unwrap();
    fs::write(bench.path(FILE), format!("{file}{line}\n")).unwrap();
    let soon = add(&mut session, "blocker", "No access.", json!({ "expires": "14d" }));
    assert!(soon["expires"].as_str().unwrap().ends_with('Z'), "{soon:#}");
    let found = session.ok("get_hypotheses", json!({ "projectPath": "." }));
    assert_eq!(contents(&found), ["The clock is wrong."], "{found:#}");
    let all = session.ok("get_hypotheses", json!({ "projectPath": ".", "all": true }));
    assert_eq!(contents(&all), ["The clock is wrong.", "The cache is stale."], "{all:#}");
    assert_eq!(
        (&all["data"][1]["state"], &all["data"][1]["supersededBy"][0]),
        (&json!("superseded"), &all["data"][0]["id"])
    );
    assert_eq!(contents(&session.ok("get_blockers", json!({ "projectPath": "." }))), ["No access."]);
    let expired = session.ok("get_blockers", json!({ "projectPath": ".", "all": true }));
    assert_eq!(expired["data"][1]["state"], "expired", "{expired:#}");

    let first = add(&mut session, "decision", "Use tabs.", json!({ "subject": "indentation" }));
    let second = add(&mut session, "decision", "Use spaces.", json!({ "subject": "Indentation" }));
    assert_eq!(second["conflicts"][0]["kind"], "subject", "{second:#}");
    let found = session.ok("get_decisions", json!({ "projectPath": ".", "limit": 1 }));
    assert_eq!(
        (contents(&found), &found["truncated"]["total"]),
        (vec!["Use spaces."], &json!(2)),
        "{found:#}"
    );
    let named = &found["conflicts"][0]["notes"];
    assert_eq!(
        named,
        &json!([first["id"], second["id"]]),
        "a conflict is told whatever the page has: {found:#}"
    );
    let rest =
        session.ok("get_decisions", json!({ "projectPath": ".", "cursor": found["truncated"]["next"] }));
    assert_eq!(contents(&rest), ["Use tabs."], "{rest:#}");
    let third = add(
        &mut session,
        "decision",
        "Use tabs, by vote.",
        json!({ "subject": "indentation", "supersedes": [first["id"], second["id"]] }),
    );
    assert_eq!(third.get("conflicts"), None, "{third:#}");

    let unknown = json!({ "projectPath": ".", "type": "general", "content": "x", "supersedes": ["note_0123456789abcdef"] });
    assert_eq!(session.fails("add_note", unknown)["code"], "not_found");
    let bad = json!({ "projectPath": ".", "type": "general", "content": "x", "expires": "soon" });
    assert_eq!(session.fails("add_note", bad)["code"], "invalid_argument");
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap().lines().count(), 7);
}

#[test]
fn secrets_leave_before_a_note_is_written_and_a_key_writes_once() {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    let mut session = bench.serve();
    let secret = "Log in with password=hunter2hunter2 first.";
    let note = add(
        &mut session,
        "general",
        secret,
        json!({ "idempotencyKey": "k1", "subject": "password=hunter2hunter2" }),
    );
    assert!(!note["content"].as_str().unwrap().contains("hunter2hunter2"), "{note:#}");
    let file = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(!file.contains("hunter2hunter2"), "{file}");
    let again = add(
        &mut session,
        "general",
        secret,
        json!({ "idempotencyKey": "k1", "subject": "password=hunter2hunter2" }),
    );
    let otherwise =
        json!({ "projectPath": ".", "type": "general", "content": secret, "idempotencyKey": "k1" });
    assert_eq!(session.fails("add_note", otherwise)["code"], "conflict", "another subject is another note");
    assert_eq!((&again["id"], &again["replayed"]), (&note["id"], &json!(true)));
    let other =
        json!({ "projectPath": ".", "type": "general", "content": "another", "idempotencyKey": "k1" });
    assert_eq!(session.fails("add_note", other)["code"], "conflict");
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), file);
}

#[test]
fn a_project_is_a_folder_of_the_root_and_nothing_outside_of_it_is() {
    let bench = Bench::new(&[("README.md", "# App\n"), ("services/api/main.go", "package main\n")]);
    let mut session = bench.serve();
    let inside = bench.path("services/api");
    let arguments = json!({ "projectPath": inside, "type": "decision", "content": "By its absolute place." });
    session.ok("add_note", arguments);
    assert!(bench.path("services/api/.agent-memory/session-notes.jsonl").exists());
    let found = session.ok("getDecisions", json!({ "projectPath": "services/api/" }));
    assert_eq!(contents(&found), ["By its absolute place."]);
    let outside = bench.path("..");
    for bad in ["../elsewhere", "/etc", "~/notes", outside.to_str().unwrap(), "/nowhere/at/all"] {
        let fault =
            session.fails("add_note", json!({ "projectPath": bad, "type": "general", "content": "x" }));
        assert_eq!(fault["code"], "path_not_allowed", "{bad}: {fault:#}");
        assert_eq!(
            session.fails("get_blockers", json!({ "projectPath": bad }))["code"],
            "path_not_allowed",
            "{bad}"
        );
    }
    let fault =
        session.fails("add_note", json!({ "projectPath": "nowhere", "type": "general", "content": "x" }));
    assert_eq!(fault["code"], "not_found", "{fault:#}");
    assert_eq!(session.fails("get_decisions", json!({ "projectPath": "nowhere" }))["code"], "not_found");
}

#[test]
fn a_memory_that_leads_elsewhere_is_refused() {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    let secret = bench.path("../secret.jsonl");
    fs::write(&secret, "canary\n").unwrap();
    fs::create_dir(bench.path(".agent-memory")).unwrap();
    std::os::unix::fs::symlink(&secret, bench.path(FILE)).unwrap();
    let mut session = bench.serve();
    let arguments = json!({ "projectPath": ".", "type": "general", "content": "x" });
    assert_eq!(session.fails("add_note", arguments)["code"], "path_not_allowed");
    assert_eq!(session.fails("get_blockers", json!({ "projectPath": "." }))["code"], "path_not_allowed");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "canary\n");
}

/// Four processes write, some are killed at any moment, and a program of others writes beside them.
#[test]
fn writers_that_are_killed_and_others_beside_them_lose_no_note_that_was_answered() {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    fs::create_dir(bench.path(".agent-memory")).unwrap();
    let node = "const fs = require('fs'); for (let n = 0; n < 200; n++) fs.appendFileSync(process.argv[1], JSON.stringify({ type: 'general', content: 'node ' + n + ' ' + 'x'.repeat(500), timestamp: new Date().toISOString() }) + '\\n')";
    let mut other = Command::new("node").args(["-e", node]).arg(bench.path(FILE)).spawn().unwrap();
    let answered: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let bench = &bench;
                scope.spawn(move || {
                    let mut answered = Vec::new();
                    for round in 0..3 {
                        let mut session = bench.serve();
                        for n in 0..6 + writer {
                            let content = format!("{writer} {round} {n}");
                            add(&mut session, "general", &content, json!({}));
                            answered.push(content);
                        }
                        // The last one is on its way when its process is killed.
                        let arguments = json!({ "projectPath": ".", "type": "general", "content": "on its way" });
                        let params = json!({ "name": "add_note", "arguments": arguments });
                        let call = json!({ "jsonrpc": "2.0", "id": 9_999, "method": "tools/call", "params": params });
                        session.0.send(&call.to_string());
                        session.0.child.kill().unwrap();
                        session.0.child.wait().unwrap();
                    }
                    answered
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert!(other.wait().unwrap().success());
    let file = fs::read_to_string(bench.path(FILE)).unwrap();
    let mut notes = Vec::new();
    // An empty line is nobody's: what ends a line that was seen half written, and was whole after all.
    for line in file.lines().filter(|line| !line.is_empty()) {
        let read: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("a torn line {line:?}: {e}"));
        notes.push(read["content"].as_str().unwrap().to_owned());
    }
    for content in &answered {
        assert_eq!(notes.iter().filter(|note| *note == content).count(), 1, "{content}");
    }
    assert_eq!(notes.iter().filter(|note| note.starts_with("node ")).count(), 200);
}
