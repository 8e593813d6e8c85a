//! Jobs over HTTP: they belong to who began them, not to a connection.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Bench;
use super::runs::processes;
use crate::oauth::{Issuer, call, serve};
use crate::remote::{Answer, Remote};

/// A root with a target that takes `seconds`, in which a process is called by `mark`.
fn bench(mark: &str) -> Bench {
    Bench::new(&[("Makefile", &format!("test:\n\t@echo begun; sleep {mark}; echo ended\n"))])
}

/// How long a process sleeps that can be told from all others: some seconds, and this test's own fraction of one.
fn mark(seconds: u32, test: u32) -> String {
    format!("{seconds}.{}{test}", std::process::id())
}

fn fields(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.message()["result"]["structuredContent"].clone()
}

/// Waits until what is asked is so.
fn until(what: &str, longest: Duration, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < longest, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_job_outlives_its_connection_and_exists_for_its_principal_alone() {
    let Some(issuer) = Issuer::start("ES256") else { return };
    let bench = bench(&mark(4, 1));
    let bob = "[[oauth.access]]\nsubjects = [\"bob\"]\nroots = [\"root\"]\n[limits]\ndetach-after = 1\n";
    let remote = serve(&bench.place, &format!("{}{bob}", issuer.config("")));
    let bearer = |subject| format!("Bearer {}", issuer.mint("good", subject, &["gatewright:apply"]));
    let (alice, bob) = (bearer("alice"), bearer("bob"));
    // Each request is a connection of its own, which is closed behind it.
    let by =
        |who: &str, tool: &str, arguments: Value| call(&remote, &[("authorization", who)], tool, &arguments);
    let left = fields(&by(&alice, "make_test", json!({})));
    assert_eq!(left["status"], "detached", "{left}");
    let job = &left["job"];
    let own = fields(&by(&alice, "job_status", json!({ "job": job })));
    assert_eq!(own["jobs"][0]["state"], "running", "{own}");
    for arguments in [json!({ "job": job }), json!({ "job": job, "wait": 1 })] {
        let foreign = by(&bob, "job_status", arguments).message();
        assert_eq!(foreign["result"]["isError"], true, "{foreign}");
        assert!(foreign.to_string().contains("not_found") && !foreign.to_string().contains("make_test"));
    }
    assert_eq!(fields(&by(&bob, "job_status", json!({})))["jobs"], json!([]));
    let ended = by(&bob, "job_cancel", json!({ "job": job })).message();
    assert_eq!(ended["result"]["isError"], true, "nobody else ends it: {ended}");
    // The same principal with another token, later.
    let alice = bearer("alice");
    let ended = fields(&by(&alice, "job_status", json!({ "job": job, "wait": 20 })));
    let view = &ended["jobs"][0];
    assert_eq!(
        (view["state"].as_str(), view["result"]["success"].as_bool()),
        (Some("completed"), Some(true)),
        "{ended}"
    );
    let run = &view["result"]["runs"][0]["run"];
    let shown = fields(&by(&alice, "run_output", json!({ "run": run })));
    assert_eq!(
        (shown["lines"][0]["text"].as_str(), shown["lines"][1]["text"].as_str()),
        (Some("begun"), Some("ended"))
    );
    let foreign = by(&bob, "run_output", json!({ "run": run })).message();
    assert_eq!(foreign["result"]["isError"], true, "what it said is its owner's, too: {foreign}");
    remote.finish();
}

/// A call that is sent and not waited for.
fn sent(remote: &Remote, headers: &[(&str, &str)], message: &Value) -> TcpStream {
    let body = message.to_string();
    let mut text = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n",
        remote.address
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    let mut stream = TcpStream::connect(&remote.address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn test_call(meta: Option<&Value>) -> Value {
    let mut params = json!({ "name": "make_test", "arguments": {} });
    if let Some(meta) = meta {
        params["_meta"] = meta.clone();
    }
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
}

#[test]
fn d02_who_hangs_up_before_the_handle_was_sent_ends_the_call_with_every_program_of_it() {
    let mark = mark(61, 2);
    let bench = bench(&mark);
    let remote = Remote::start(&bench.place);
    let modern =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "make_test")];
    let plain = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // Answered beside the protocol library, and by it.
    let mut told = plain.clone();
    told["progressToken"] = json!("p");
    for meta in [plain, told] {
        let stream = sent(&remote, &modern, &test_call(Some(&meta)));
        until("it did not start", Duration::from_secs(20), || processes(&mark) > 0);
        drop(stream);
        until("it survived", Duration::from_secs(5), || processes(&mark) == 0);
    }
    remote.finish();
    let records = bench.place.json(&["audit", "tail", "--output", "json"]);
    let records = records.as_array().unwrap();
    assert_eq!(records.len(), 2, "{records:?}");
    assert!(records.iter().all(|record| record.to_string().contains("cancelled")), "{records:?}");
}

/// What the older era says with every message of a session.
struct Session(String);

impl Session {
    fn headers(&self) -> [(&str, &str); 2] {
        [("mcp-session-id", &self.0), ("mcp-protocol-version", "2025-11-25")]
    }

    fn jobs(&self, remote: &Remote, arguments: &Value) -> Value {
        let params = json!({ "name": "job_status", "arguments": arguments });
        let asked = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        fields(&remote.post(&self.headers(), &asked))["jobs"].clone()
    }
}

#[test]
fn a_session_of_the_older_era_finds_the_jobs_of_others_that_are_gone() {
    let mark = mark(6, 3);
    let bench = bench(&mark);
    bench.place.configure("[limits]\ndetach-after = 2\n");
    let remote = Remote::start(&bench.place);
    // Of one the handle came; of the other the line dropped before, which in that era is no wish to end it.
    let first = Session(remote.session());
    let mut stream = sent(&remote, &first.headers(), &test_call(None));
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("detached") {
        let mut some = [0; 512];
        let length = stream.read(&mut some).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&some[..length]);
    }
    drop(stream);
    assert!(processes(&mark) > 0, "it is at work");
    let stream = sent(&remote, &first.headers(), &test_call(None));
    let one = processes(&mark);
    until("the second did not start", Duration::from_secs(20), || processes(&mark) > one);
    drop(stream);
    let second = Session(remote.session());
    until("both are jobs", Duration::from_secs(10), || {
        second.jobs(&remote, &json!({})).as_array().is_some_and(|jobs| jobs.len() == 2)
    });
    assert_eq!(remote.request("DELETE", "/mcp", &first.headers(), "").status, 204);
    for job in second.jobs(&remote, &json!({})).as_array().unwrap() {
        let ended = second.jobs(&remote, &json!({ "job": job["job"], "wait": 20 }));
        assert_eq!(ended[0]["state"], "completed", "{ended}");
    }
    remote.finish();
}
