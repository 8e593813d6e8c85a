//! Calls in sessions over HTTP that are answered without the protocol library: but for the kind of the answer nobody can tell.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Place;
use super::oauth::{Issuer, serve};
use super::remote::{Answer, Remote};

const VERSION: (&str, &str) = ("mcp-protocol-version", "2025-11-25");

/// The arguments of a call that only looks, and ends after `milliseconds`.
fn long(milliseconds: u32) -> Value {
    json!({ "input": null, "filter": "last(range(1e15))", "timeout": milliseconds })
}

/// A session, and whoever speaks in it.
struct Within<'a> {
    remote: &'a Remote,
    id: String,
}

fn request(id: &Value, name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

impl<'a> Within<'a> {
    fn new(remote: &'a Remote) -> Self {
        Self { remote, id: remote.session() }
    }

    fn says(&self, more: &[(&str, &str)], message: &Value) -> Answer {
        let own = [("mcp-session-id", self.id.as_str()), VERSION];
        self.remote.post(&[&own[..], more].concat(), message)
    }

    fn calls(&self, id: &str, name: &str, arguments: &Value) -> Answer {
        self.says(&[], &request(&json!(id), name, arguments))
    }

    /// Makes a long call, while somebody tries its id.
    fn makes(&self, id: &str, milliseconds: u32) -> Answer {
        loop {
            let made = self.calls(id, "jq_query", &long(milliseconds));
            if made.status != 400 {
                return made;
            }
        }
    }

    /// Sends a call and waits for nothing; one whose body does not say how long it is comes in chunks.
    fn sends(&self, call: &Value, chunked: bool) -> TcpStream {
        let body = call.to_string();
        let length = body.len();
        let body = if chunked {
            format!("transfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n")
        } else {
            format!("content-length: {length}\r\n\r\n{body}")
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-session-id: {}\r\nmcp-protocol-version: 2025-11-25\r\n",
            self.remote.address, self.id
        );
        let mut stream = TcpStream::connect(&self.remote.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all((head + &body).as_bytes()).unwrap();
        stream
    }

    /// Waits until a call of that id is being made: it cannot be used again.
    fn until_made(&self, id: &str) {
        let began = Instant::now();
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let again = self.calls(id, "tools_search", &json!({ "query": "x" }));
            if again.status == 400 {
                let refused = again.message();
                let said = refused["error"]["message"].as_str().unwrap();
                assert!(said.contains(id) && said.contains("use another"), "{said}");
                assert_eq!((&refused["error"]["code"], refused.get("id")), (&json!(-32600), None));
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{}", again.body);
        }
    }
}

/// Whether the library answered: its streams can be resumed. Others are one message, or a stream where the machine is slow.
fn by_the_library(answer: &Answer) -> bool {
    answer.header("content-type") == Some("text/event-stream") && answer.body.contains("\nretry: ")
}

/// The records of the long calls.
fn recorded(place: &Place) -> Vec<String> {
    let records = place.json(&["audit", "tail", "-n", "1000", "--output", "json"]);
    let records = records.as_array().unwrap().iter().map(Value::to_string);
    records.filter(|record| record.contains("jq_query")).collect()
}

#[test]
fn a_plain_call_in_a_session_is_answered_as_the_library_would_answer_it() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let search = json!({ "query": "design tokens" });
    // Whoever could be asked, and what changes something, is answered by the library, as is whoever says more.
    let calls = [
        ("tools_search", search, true),
        ("getBlockers", json!({}), true),
        ("jq_query", json!({ "input": [1], "filter": "error(1)" }), true),
        ("tools_search", json!({ "query": 5 }), true),
        ("tools_search", json!({}), true),
        ("tool_read", json!({ "tool": "nothing" }), true),
        ("tokens_build", json!({ "source": "tokens", "platforms": ["css"] }), false),
        ("no_such_tool", json!({}), false),
    ];
    let ways: [(&[(&str, &str)], Value); 3] = [
        (&[], Value::Null),
        (&[("origin", "http://localhost:1")], Value::Null),
        (&[], json!({ "_meta": {} })),
    ];
    for (can, is_asked) in [
        (json!({}), false),
        (json!({ "sampling": {}, "roots": {} }), false),
        (json!({ "elicitation": {} }), true),
    ] {
        let within = Within { remote: &remote, id: remote.session_by(&can) };
        for (name, arguments, looks) in &calls {
            let mut answers = Vec::new();
            for (n, (more, besides)) in ways.iter().enumerate() {
                let mut call = request(&json!("é1"), name, arguments);
                if let Value::Object(besides) = besides {
                    call["params"].as_object_mut().unwrap().extend(besides.clone());
                }
                let answer = within.says(more, &call);
                let is_direct = n == 0 && *looks && !is_asked;
                assert_eq!(by_the_library(&answer), !is_direct, "{can} {call}: {}", answer.body);
                assert_eq!(answer.header("mcp-session-id"), None);
                let mut message = answer.message();
                // What is about this one call.
                if let Some(text) = message["result"]["content"][0]["text"].as_str() {
                    let mut said: Value = serde_json::from_str(text).unwrap();
                    assert!(said.as_object_mut().unwrap().remove("metadata").is_some());
                    message["result"]["content"][0]["text"] = said;
                }
                for (object, own) in [("_meta", "gatewright/anchor"), ("structuredContent", "metadata")] {
                    if let Some(object) = message["result"][object].as_object_mut() {
                        assert!(object.remove(own).is_some(), "{}", answer.body);
                    }
                }
                answers.push((answer.status, message));
            }
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{name} {arguments}: {answers:#?}");
        }
    }
    remote.finish();
}

#[test]
fn what_is_not_quite_a_plain_call_of_a_session_is_refused_as_before() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let within = Within::new(&remote);
    let search = request(&json!(1), "tools_search", &json!({ "query": "x" }));
    assert_eq!(within.says(&[], &search).status, 200);
    let own = ("mcp-session-id", within.id.as_str());
    let all: [(&[(&str, &str)], u16); 9] = [
        (&[own, VERSION, ("host", "evil.example")], 403),
        (&[own, VERSION, ("host", "127.0.0.1.")], 403),
        (&[own, VERSION, ("origin", "https://evil.example")], 403),
        (&[own, ("mcp-protocol-version", "2099-01-01")], 400),
        (&[own, ("mcp-protocol-version", "2026-07-28")], 400),
        (&[("mcp-session-id", "made-up"), VERSION], 404),
        (&[VERSION], 400),
        // What the older revisions leave open.
        (&[own], 200),
        (&[own, ("mcp-protocol-version", "2025-06-18"), ("mcp-name", "another")], 200),
    ];
    for (headers, status) in all {
        let answer = remote.post(headers, &search);
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.body);
    }
    // A session that its client has not said to be ready in is none yet.
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let begins = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let begun = remote.post(&[], &begins);
    let early = Within { remote: &remote, id: begun.header("mcp-session-id").unwrap().to_owned() };
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(early.says(&[("host", "evil.example")], &ready).status, 403);
    assert!(by_the_library(&early.says(&[], &json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }))));
    assert_eq!(early.says(&[], &ready).status, 202);
    let answered = early.says(&[], &search);
    assert!(!by_the_library(&answered), "{}", answered.body);
    // A client that begins again may be one whose user can be asked.
    let mut again = begins;
    again["params"]["capabilities"] = json!({ "elicitation": {} });
    early.says(&[], &again);
    early.says(&[], &ready);
    assert!(by_the_library(&early.says(&[], &search)));
    // One that was refused has not.
    again["params"]["capabilities"] = json!({});
    assert_eq!(early.says(&[("host", "evil.example")], &again).status, 403);
    assert_eq!(early.says(&[], &ready).status, 202);
    assert!(by_the_library(&early.says(&[], &search)));
    assert_eq!(remote.request("DELETE", "/mcp", &[("mcp-session-id", &early.id), VERSION], "").status, 204);
    assert_eq!(early.says(&[], &search).status, 404, "it has ended");
    remote.finish();
}

#[test]
fn a_call_of_a_session_is_cancelled_by_its_client_and_by_the_sessions_end() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let within = Within::new(&remote);
    let other = Within::new(&remote);
    let cancels = |who: &Within<'_>, id: &str| {
        let cancel = json!({ "requestId": id });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
        assert_eq!(who.says(&[], &cancel).status, 202);
    };
    for (id, later) in [("at_once", false), ("later", true), ("with_the_session", true)] {
        let began = Instant::now();
        std::thread::scope(|scope| {
            let call = scope.spawn(|| within.makes(id, 10_000));
            within.until_made(id);
            if later {
                // By now a stream answers it.
                std::thread::sleep(Duration::from_millis(2_500));
            }
            if id == "with_the_session" {
                let own = [("mcp-session-id", within.id.as_str()), VERSION];
                assert_eq!(remote.request("DELETE", "/mcp", &own, "").status, 204);
            } else {
                // Whoever is in another session cannot.
                cancels(&other, id);
                within.until_made(id);
                cancels(&within, id);
            }
            let unanswered = call.join().unwrap();
            assert_eq!((unanswered.status, unanswered.body.as_str()), (200, ""), "{id}");
            assert_eq!(unanswered.header("content-type"), Some("text/event-stream"));
        });
        assert!(
            began.elapsed() < Duration::from_secs(9),
            "it had not ended by itself: {:?}",
            began.elapsed()
        );
        if !later {
            let again = within.calls(id, "tools_search", &json!({ "query": "x" }));
            assert_eq!(again.status, 200, "an id that waits for nothing may come again: {}", again.body);
        }
    }
    remote.finish();
    let records = recorded(&place);
    assert_eq!(records.len(), 3, "{records:#?}");
    assert!(records.iter().all(|record| record.contains("cancelled")), "{records:#?}");
}

#[test]
fn whoever_loses_the_connection_in_a_session_has_not_cancelled_the_call() {
    let place = Place::new();
    let mut remote = Remote::start(&place);
    let id = remote.session();
    let within = Within { remote: &remote, id: id.clone() };
    for (n, hears) in [false, true].into_iter().enumerate() {
        let mut lost = within.sends(&request(&json!("lost"), "jq_query", &long(6_000)), false);
        std::thread::sleep(Duration::from_secs(1));
        within.until_made("lost");
        if hears {
            // After two seconds it hears that it is answered, and by what.
            let mut head = [0; 12];
            lost.read_exact(&mut head).unwrap();
            assert_eq!(&head, b"HTTP/1.1 200");
        }
        drop(lost);
        let began = Instant::now();
        while recorded(&place).len() == n {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    let records = recorded(&place);
    let went_on = records.iter().all(|record| record.contains("timeout") && !record.contains("cancelled"));
    assert!(went_on, "{records:#?}");
    // What takes longer is answered by a stream.
    let long = within.makes("long", 3_000);
    assert_eq!(long.header("content-type"), Some("text/event-stream"));
    let text = long.message()["result"]["content"][0]["text"].to_string();
    assert!(text.contains("timeout") && long.message()["id"] == "long", "{}", long.body);
    // What a signal cuts short is answered, in sessions, too.
    let cut = std::thread::scope(|scope| {
        let call = scope.spawn(|| within.makes("cut", 10_000));
        within.until_made("cut");
        let pid = remote.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        call.join().unwrap()
    });
    assert_eq!(cut.message()["result"]["isError"], true, "{} {}", cut.status, cut.body);
    assert!(remote.child.wait().unwrap().success());
    assert_eq!(recorded(&place).len(), 4);
}

#[test]
fn a_call_whose_caller_went_away_has_its_record_before_the_server_ends() {
    let place = Place::new();
    let mut remote = Remote::start(&place);
    let within = Within::new(&remote);
    let lost = within.sends(&request(&json!("lost"), "jq_query", &long(10_000)), false);
    std::thread::sleep(Duration::from_secs(1));
    within.until_made("lost");
    drop(lost);
    // A disk that is slow: the record cannot be written yet.
    let roots = std::fs::read_dir(place.scratch.path().join("state/gatewright")).unwrap();
    let locks: Vec<File> =
        roots.filter_map(|root| File::open(root.unwrap().path().join("ledger/lock")).ok()).collect();
    assert!(!locks.is_empty());
    for lock in &locks {
        lock.lock().unwrap();
    }
    let pid = remote.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(1_500));
    drop(locks);
    assert!(remote.child.wait().unwrap().success());
    let records = recorded(&place);
    assert!(records.len() == 1 && records[0].contains("cancelled"), "{records:#?}");
}

#[test]
fn h12_calls_that_are_being_made_leave_room_for_others_however_long_they_said_to_be() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let within = Within::new(&remote);
    let calls: Vec<TcpStream> = (0..4)
        .map(|n| within.sends(&request(&json!(format!("call_{n}")), "jq_query", &long(8_000)), true))
        .collect();
    std::thread::sleep(Duration::from_secs(1));
    within.until_made("call_3");
    let began = Instant::now();
    let pong = within.says(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(pong.status, 200, "{}", pong.body);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(calls);
    remote.finish();
}

#[test]
fn h14_a_call_of_a_session_needs_a_token_and_its_scopes_each_time() {
    let Some(issuer) = Issuer::start("ES256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let [reader, nobody, other] =
        [("alice", &["design:read"][..]), ("alice", &[]), ("bob", &["gatewright:apply"])].map(
            |(who, scopes)| {
                format!(
                    "Bearer {}",
                    issuer.mint(if scopes.is_empty() { "no_scope" } else { "good" }, who, scopes)
                )
            },
        );
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let begins = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let begun = remote.post(&[("authorization", &reader)], &begins);
    let within = Within { remote: &remote, id: begun.header("mcp-session-id").unwrap().to_owned() };
    let by = |bearer: &str, message: &Value| within.says(&[("authorization", bearer)], message);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(by(&reader, &ready).status, 202);
    let search = request(&json!(2), "tools_search", &json!({ "query": "tokens" }));
    let found = by(&reader, &search);
    assert!(found.status == 200 && !by_the_library(&found), "{}", found.body);
    assert_eq!(by(&other, &search).status, 404, "another's session");
    assert_eq!(within.says(&[], &search).status, 401);
    let refused = by(&nobody, &search);
    assert!(refused.status == 403 && !by_the_library(&refused), "{} {}", refused.status, refused.body);
    assert!(refused.header("www-authenticate").unwrap().contains("insufficient_scope"), "{}", refused.head);
    assert_eq!(refused.message()["result"]["isError"], true, "{}", refused.body);
    remote.finish();
}
