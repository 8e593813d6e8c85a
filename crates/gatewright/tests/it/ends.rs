//! How a server on standard input ends: with its input, by a signal, with its parent, and with a client that does not
//! read. Nothing stays behind, and every call that was let in has one record.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{Wire, line, meta};
use super::{Place, exists, many_tokens};

fn call(id: u64, apply: bool) -> String {
    let arguments = json!({ "source": "tokens", "platforms": ["css", "js", "scss"], "apply": apply });
    line(&json!(id), "tools/call", &json!({ "name": "tokens_build", "arguments": arguments }))
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

fn records(place: &Place) -> Vec<Value> {
    place.json(&["audit", "tail", "-n", "1000", "--output", "json"]).as_array().unwrap().clone()
}

/// Waits for what must come soon.
fn comes(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ended(child: &mut Child) -> std::process::ExitStatus {
    let mut status = None;
    comes("the server ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

#[test]
fn the_end_of_the_input_in_the_middle_of_a_line_is_an_end_and_no_call() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let whole = call(1, true);
    wire.bytes(&whole.as_bytes()[..whole.len() - 1]);
    drop(wire.stdin.take());
    let said = wire.rest();
    assert_eq!((said.len(), &said[0]["error"]["code"]), (1, &json!(-32700)), "{said:?}");
    assert!(ended(&mut wire.child).success());
    assert!(!exists(&place.root().join("artifacts")));
    assert!(records(&place).is_empty());
}

#[test]
fn a_whole_last_line_counts_without_its_end() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    wire.bytes(call(1, true).as_bytes());
    drop(wire.stdin.take());
    wire.rest();
    assert!(ended(&mut wire.child).success());
    assert_eq!(records(&place).len(), 1);
}

#[test]
fn a_signal_leaves_no_process_and_one_record_per_call() {
    for name in ["-TERM", "-INT"] {
        let place = Place::new();
        many_tokens(&place, 3_000);
        let mut wire = Wire::initialized(&place);
        for id in 100..106 {
            wire.send(&call(id, id % 2 == 0));
        }
        // The lines were read by when this is answered.
        wire.send(&line(&json!("now"), "ping", &json!({})));
        let mut answered = Vec::new();
        loop {
            let said = wire.receive();
            if said["id"] == "now" {
                break;
            }
            answered.push(said);
        }
        signal(name, wire.child.id());
        answered.extend(wire.rest());
        assert!(ended(&mut wire.child).success(), "{name}");
        let records = records(&place);
        assert_eq!(records.len(), 6, "{name}: every call that was let in has its record");
        assert!(answered.len() <= 6, "{answered:?}");
        assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"));
        let journal = place.ledger().parent().unwrap().join("journal");
        assert_eq!(std::fs::read_dir(journal).unwrap().count(), 0, "{name}: nothing is left half done");
    }
}

#[test]
fn a_client_that_never_reads_does_not_keep_the_server() {
    let place = Place::new();
    let mut child = place
        .command()
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let list = line(&json!("first"), "tools/list", &json!({ "_meta": meta("2026-07-28") })) + "\n";
    stdin.write_all(list.as_bytes()).unwrap();
    let mut first = String::new();
    std::io::BufRead::read_line(&mut stdout, &mut first).unwrap();
    assert!(first.contains("\"first\""), "it serves: {first}");
    let (sent, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for id in 0..1_000 {
            let text = list.replace("\"first\"", &id.to_string());
            if stdin.write_all(text.as_bytes()).is_err() || sent.send(id).is_err() {
                return;
            }
        }
    });
    // Until all is sent, or the server takes no more.
    let taken = std::iter::from_fn(|| done.recv_timeout(Duration::from_secs(2)).ok()).count();
    assert!(taken > 100, "far more answers than a pipe holds: {taken}");
    signal("-TERM", child.id());
    assert!(ended(&mut child).success());
}

/// The process's parent, or nothing when it is gone or a zombie.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    if fields.next()? == "Z" {
        return None;
    }
    fields.next()?.parse().ok()
}

#[test]
fn a_server_whose_parent_is_killed_ends_though_its_input_stays_open() {
    let place = Place::new();
    many_tokens(&place, 3_000);
    let ours = place.command();
    // The shell is the client; this test holds the input open, as a sibling that inherited it would.
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 3<&0; \"$@\" <&3 & echo $! >&2; wait", "sh"]);
    shell.arg(ours.get_program()).args(ours.get_args()).arg("serve");
    for (name, value) in ours.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let mut shell = shell
        .current_dir(ours.get_current_dir().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = std::io::BufReader::new(shell.stderr.take().unwrap());
    let mut text = String::new();
    std::io::BufRead::read_line(&mut log, &mut text).unwrap();
    let server: u32 = text.trim().parse().unwrap();
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    let mut stdin = shell.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(shell.stdout.take().unwrap());
    let discover = line(&json!(0), "server/discover", &json!({ "_meta": meta("2026-07-28") })) + "\n";
    stdin.write_all(discover.as_bytes()).unwrap();
    text.clear();
    std::io::BufRead::read_line(&mut stdout, &mut text).unwrap();
    assert!(text.contains("supportedVersions"), "{text}");
    assert_eq!(parent(server), Some(shell.id()));
    // It looks for its parent every second: with it, it stays.
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(parent(server), Some(shell.id()));

    let arguments = json!({ "source": "tokens", "platforms": ["css", "js", "scss"], "apply": true });
    let params = json!({ "_meta": meta("2026-07-28"), "name": "tokens_build", "arguments": arguments });
    for id in 1..4 {
        stdin.write_all((line(&json!(id), "tools/call", &params) + "\n").as_bytes()).unwrap();
    }
    stdin.write_all(discover.as_bytes()).unwrap();
    shell.kill().unwrap();
    shell.wait().unwrap();
    comes("the server ends with its parent", || parent(server).is_none());
    // Its output is whole lines to the end.
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    assert!(said.lines().all(|l| serde_json::from_str::<Value>(l).is_ok()), "{said}");
    drop(stdin);
    let answered = said.lines().filter(|l| l.contains("\"result\":{\"resultType\"")).count();
    let records = records(&place);
    assert!(records.len() <= 3 && answered <= records.len() + 1, "{answered} {records:?}");
    let mut ids: Vec<String> = records.iter().map(|r| r["id"].to_string()).collect();
    ids.dedup();
    assert_eq!(ids.len(), records.len(), "no call has two");
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"));
}
