//! A program upstream that is careless or hostile: what it prints, how it ends, what it would like to see.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::scripts::nobody_left;
use super::super::wire::Wire;
use super::{Careless, approve, call, error, said, tools};

fn probe(wire: &mut Wire, what: &str) -> String {
    said(wire, "docs__probe", &json!({ "what": what }))
}

#[test]
fn a_program_sees_its_code_and_what_it_is_shown_reaches_nobody_and_has_a_home_of_its_own() {
    let Some(it) = Careless::new("env = { PLAIN = \"seen\" }\nenv-from = { KEY = \"TEST_KEY_OF_OURS\" }\n")
    else {
        return;
    };
    // A secret that is not there leaves it out; there, it goes to the program and out of no answer.
    it.place.configure("");
    it.configure("env = { PLAIN = \"seen\" }");
    approve(&it.place, &["docs__probe"]);
    let mut wire = Wire::initialized(&it.place);
    assert_eq!(probe(&mut wire, "os.environ['HOME'] + os.environ['PLAIN']"), "/tmpseen");
    assert!(probe(&mut wire, "open('/etc/shadow').read()").starts_with("FileNotFoundError"));
    let base = it.place.root().join("tokens/base.json");
    assert!(probe(&mut wire, &format!("open({base:?}).read()")).starts_with("FileNotFoundError"));
    let state = it.place.scratch.path().join("state");
    assert!(probe(&mut wire, &format!("os.listdir({state:?})")).starts_with("FileNotFoundError"));
    assert!(
        probe(&mut wire, &format!("write({:?})", it.script())).contains("OSError 30"),
        "its own code is not its to write"
    );
    assert_eq!(probe(&mut wire, "write('/tmp/mine')"), "7");
    assert!(probe(&mut wire, "get('http://127.0.0.1:1/')").starts_with("URLError"));
    assert!(probe(&mut wire, "get('http://192.0.2.1/')").starts_with("URLError"));
    wire.finish();
    nobody_left(&it.place);
}

#[test]
fn m24_where_all_that_is_approved_says_that_it_only_looks_nothing_is_written() {
    let Some(it) = Careless::new("root = \"write\"") else { return };
    approve(&it.place, &["docs__probe"]);
    let mut wire = Wire::initialized(&it.place);
    let write = format!("write({:?})", it.place.root().join("mark"));
    // EROFS, although the user lets it write the root.
    assert!(probe(&mut wire, &write).contains("OSError 30"));
    assert!(!it.place.root().join("mark").exists());
    wire.finish();
    // One that does not say so is approved: then it may.
    let mut all = tools();
    all.as_array_mut().unwrap().push(json!({ "name": "put", "inputSchema": { "type": "object" } }));
    it.set(&json!({ "tools": all }));
    approve(&it.place, &["docs__put"]);
    let mut wire = Wire::initialized(&it.place);
    assert_eq!(probe(&mut wire, &write), "7");
    wire.finish();
}

#[test]
fn m06_another_program_or_other_code_behind_the_same_tools_is_approved_anew() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__echo"]);
    let works = || {
        let mut wire = Wire::initialized(&it.place);
        let result = call(&mut wire, "docs__echo", &json!({ "text": "hi" }));
        wire.finish();
        result
    };
    assert_eq!(works()["structuredContent"]["message"], "hi");
    let text = std::fs::read_to_string(it.script()).unwrap();
    for (file, other) in [("server.py", format!("{text}\n")), ("beside.py", "evil = 1\n".to_owned())] {
        std::fs::write(it.script().with_file_name(file), other).unwrap();
        let refused = error(&works());
        assert_eq!(refused["code"], "approval_required", "{file}: {refused}");
        assert!(refused["message"].as_str().unwrap().contains("upstream.program"), "{refused}");
        std::fs::write(it.script(), &text).unwrap();
    }
    std::fs::remove_file(it.script().with_file_name("beside.py")).unwrap();
    assert_eq!(works()["structuredContent"]["message"], "hi", "as it was approved");
    // Other arguments, too.
    let config = it.place.scratch.path().join("config/gatewright/config.toml");
    let told = std::fs::read_to_string(&config).unwrap();
    it.place.configure(&told.replace("state.json\"]", "state.json\", \"--more\"]"));
    assert_eq!(error(&works())["code"], "approval_required");
}

#[test]
fn m18_m10_noise_on_its_output_is_dropped_and_counted_and_nothing_forged_is_heard() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__echo"]);
    let forged = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": "forged" }] } });
    let noise: Vec<String> =
        ["Starting…".to_owned(), "\u{1b}[2J{".to_owned(), "[1]".to_owned(), "null".to_owned()]
            .into_iter()
            .chain([json!([forged(1), forged(2)]).to_string(), forged(7_777).to_string()])
            .chain([json!({ "jsonrpc": "2.0", "id": null, "result": {} }).to_string()])
            .collect();
    it.set(&json!({ "noise": noise, "err": "\u{1b}]52;c;ZXZpbA==\u{7}said on stderr" }));
    let mut wire = Wire::initialized(&it.place);
    assert_eq!(said(&mut wire, "docs__echo", &json!({ "text": "mine" })), "mine");
    wire.finish();
    let out = it.place.run(&["upstreams", "list", "--output", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(told[0]["health"]["noise"].as_u64().unwrap() >= 7, "{told}");
    // What it said is for a person, when it fails, and has nothing hidden in it.
    it.set(&json!({ "die": "list", "err": "\u{1b}]52;c;ZXZpbA==\u{7}said on stderr" }));
    let out = it.place.run(&["upstreams", "list"]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("said on stderr") && !said.contains('\u{1b}'), "{said:?}");
    assert!(String::from_utf8(out.stdout).unwrap().contains("ended with code 3"));
    let mut wire = Wire::initialized(&it.place);
    let fault = error(&call(&mut wire, "docs__echo", &json!({ "text": "x" })));
    assert!(!fault.to_string().contains("said on stderr"), "{fault}");
    wire.finish();
}

#[test]
fn a_program_that_dies_at_every_call_is_started_again_and_then_left_alone() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__echo"]);
    it.set(&json!({ "die": "call" }));
    let mut wire = Wire::initialized(&it.place);
    let mut faults = Vec::new();
    for _ in 0..6 {
        let fault = error(&call(&mut wire, "docs__echo", &json!({ "text": "x" })));
        faults.push(fault["message"].as_str().unwrap().to_owned());
    }
    assert!(faults[0].contains("ended with code 3"), "{faults:?}");
    assert!(faults[5].contains("again and again"), "{faults:?}");
    // Left alone, it costs nobody any time.
    let began = Instant::now();
    call(&mut wire, "docs__echo", &json!({ "text": "x" }));
    assert!(began.elapsed() < Duration::from_secs(2));
    wire.finish();
    // A server of gatewright's that begins anew finds it well.
    it.set(&json!({}));
    let mut wire = Wire::initialized(&it.place);
    assert_eq!(said(&mut wire, "docs__echo", &json!({ "text": "back" })), "back");
    wire.finish();
}

#[test]
fn a_program_that_is_not_called_is_ended_and_started_again_when_it_is() {
    let Some(it) = Careless::new("idle-seconds = 1") else { return };
    approve(&it.place, &["docs__echo", "docs__probe"]);
    let mut wire = Wire::initialized(&it.place);
    let listed = wire.request("tools/list", json!({}));
    assert!(listed.to_string().contains("docs__echo"));
    nobody_left_of_it(&it);
    probe(&mut wire, "write('/tmp/mark')");
    assert_eq!(probe(&mut wire, "os.path.exists('/tmp/mark')"), "True");
    nobody_left_of_it(&it);
    assert_eq!(probe(&mut wire, "os.path.exists('/tmp/mark')"), "False", "it is another one");
    wire.finish();
}

/// Waits until the program is gone; what serves stays.
fn nobody_left_of_it(it: &Careless) {
    let began = Instant::now();
    let script = it.script().display().to_string();
    loop {
        let pids = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = pids.filter_map(|pid| std::fs::read(pid.path().join("cmdline")).ok());
        if !lines.map(|line| String::from_utf8_lossy(&line).into_owned()).any(|line| line.contains(&script)) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "it is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_call_that_takes_too_long_is_given_up_and_a_program_that_then_says_nothing_is_ended() {
    let Some(it) = Careless::new("timeout-seconds = 2") else { return };
    approve(&it.place, &["docs__echo", "docs__wait", "docs__probe"]);
    let mut wire = Wire::initialized(&it.place);
    probe(&mut wire, "write('/tmp/mark')");
    // One that answers others meanwhile stays.
    let late = error(&call(&mut wire, "docs__wait", &json!({ "seconds": 4 })));
    assert_eq!(late["code"], "timeout", "{late}");
    assert_eq!(probe(&mut wire, "os.path.exists('/tmp/mark')"), "True");
    it.set(&json!({ "deaf": true }));
    let late = error(&call(&mut wire, "docs__wait", &json!({ "seconds": 60 })));
    assert_eq!(late["code"], "timeout", "{late}");
    std::thread::sleep(Duration::from_secs(7));
    it.set(&json!({}));
    assert_eq!(probe(&mut wire, "os.path.exists('/tmp/mark')"), "False", "it is another one");
    wire.finish();
}

#[test]
fn a_line_without_end_ends_it_and_holds_nobody_up() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__echo"]);
    it.set(&json!({ "long": 6_000_000 }));
    let mut wire = Wire::initialized(&it.place);
    let fault = error(&call(&mut wire, "docs__echo", &json!({ "text": "x" })));
    assert!(fault["message"].as_str().unwrap().contains("more than 4194304 bytes"), "{fault}");
    wire.finish();
    nobody_left(&it.place);
}
