//! Streamable HTTP on the raw wire.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::remote::Remote;
use super::{Place, exists};

fn call(id: u64, arguments: &Value) -> Value {
    let params = json!({ "name": "tokens_build", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn recipe_007_both_eras_are_served_over_http() {
    let place = Place::new();
    let remote = Remote::start(&place);
    // The older era: a session, a rehearsal, its apply.
    let session = remote.session();
    let within = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let listed = remote.post(&within, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert_eq!(listed.message()["result"]["tools"][0]["name"], super::MENU[0], "{}", listed.body);
    let mut arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let rehearsed = remote.post(&within, &call(3, &arguments)).message();
    assert_eq!(rehearsed["result"]["structuredContent"]["status"], "proposed", "{rehearsed}");
    arguments["apply"] = json!(true);
    arguments["plan"] = rehearsed["result"]["structuredContent"]["plan"]["id"].clone();
    let applied = remote.post(&within, &call(4, &arguments)).message();
    assert_eq!(applied["result"]["structuredContent"]["status"], "completed", "{applied}");
    assert!(exists(&place.root().join("artifacts")));
    let ended = remote.request("DELETE", "/mcp", &within, "");
    assert_eq!(ended.status, 204);
    assert_eq!(remote.post(&within, &call(5, &arguments)).status, 404, "an ended session is gone");
    // The newer era: no session, no handshake, one JSON answer.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let modern = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    let discover =
        json!({ "jsonrpc": "2.0", "id": 6, "method": "server/discover", "params": { "_meta": meta } });
    let discovered = remote.post(&modern, &discover);
    assert!(discovered.message()["result"]["supportedVersions"].is_array(), "{}", discovered.body);
    let params = json!({ "_meta": meta, "name": "tokens_build", "arguments": { "source": "tokens", "platforms": ["js"] } });
    let modern =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "tokens_build")];
    let called =
        remote.post(&modern, &json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }));
    assert_eq!(called.header("content-type"), Some("application/json"), "{}", called.head);
    assert_eq!(called.message()["result"]["structuredContent"]["status"], "proposed", "{}", called.body);
    assert_eq!(called.header("mcp-session-id"), None);
    remote.finish();
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"));
}

#[test]
fn methods_that_the_newer_era_took_away_are_not_found_there() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
        let refused =
            remote.post(&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)], &request);
        assert_eq!(refused.status, 404, "{method}: {}", refused.body);
        assert_eq!(refused.message()["error"]["code"], -32601, "{method}: {}", refused.body);
    }
    remote.finish();
}

#[test]
fn h02_origins_and_hosts_that_are_not_ours_are_refused() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for origin in [
        "https://evil.example",
        "null",
        "file://",
        "http://localhost.evil.com",
        "http://127.0.0.1.evil.com:80",
    ] {
        assert_eq!(remote.post(&[("origin", origin)], &list).status, 403, "{origin}");
    }
    let twice = [("origin", "http://localhost:1"), ("origin", "https://evil.example")];
    assert_eq!(remote.post(&twice, &list).status, 403);
    assert_ne!(remote.post(&[("origin", "http://localhost:5173")], &list).status, 403);
    for host in ["evil.example", "localhost.evil.com"] {
        assert_eq!(remote.post(&[("host", host)], &list).status, 403, "{host}: rebinding");
    }
}

#[test]
fn h12_h14_h18_large_bodies_foreign_sessions_and_calls_without_a_handshake_are_refused() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let guessed = [("mcp-session-id", "00000000-0000-4000-8000-000000000000")];
    assert_eq!(remote.post(&guessed, &call(1, &json!({}))).status, 404);
    let bare = remote.post(
        &[("mcp-protocol-version", "2025-11-25")],
        &call(1, &json!({ "source": "tokens", "platforms": ["css"] })),
    );
    assert!((400..500).contains(&bare.status), "{} {}", bare.status, bare.body);
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    // A body that says how long it is is refused before it comes; this one never does.
    let mut long = TcpStream::connect(&remote.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        remote.address,
        17 * 1024 * 1024
    );
    long.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    std::io::Read::read_exact(&mut long, &mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    let zipped = [headers[0], headers[1], ("content-encoding", "gzip")];
    assert_eq!(remote.request("POST", "/mcp", &zipped, "{}").status, 415);
    assert_eq!(remote.request("POST", "http://evil.example/mcp", &headers, "{}").status, 400, "no proxy");
    // A request that never ends holds nobody else up.
    let mut slow: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&remote.address).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-le").unwrap();
    }
    assert_eq!(remote.request("GET", "/healthz", &[], "").status, 200);
    drop(slow);
    assert_eq!(remote.request("GET", "/readyz", &[], "").status, 200);
    assert!(!exists(&place.root().join("artifacts")));
    remote.finish();
}

#[test]
fn recipe_006_http_is_served_only_when_it_is_meant_and_only_on_loopback() {
    let place = Place::new();
    let (code, message) = place.fails(&["serve", "--http", "127.0.0.1:0"]);
    assert!(code == 2 && message.contains("--insecure-loopback"), "{message}");
    let (code, message) = place.fails(&["serve", "--http", "0.0.0.0:0", "--insecure-loopback"]);
    assert!(code == 2 && message.contains("loopback addresses only"), "{message}");
    // On standard input there is no listener and no such option.
    assert_eq!(place.fails(&["serve", "--insecure-loopback"]).0, 2);
    assert_eq!(place.fails(&["serve", "--allow-host", "x"]).0, 2);
}

#[test]
fn every_call_that_a_signal_cuts_short_is_answered_and_recorded() {
    let place = Place::new();
    let tokens: Vec<String> =
        (0..6_000).map(|n| format!(r#""t{n}":{{"$type":"number","$value":{n}}}"#)).collect();
    std::fs::write(place.root().join("tokens/many.json"), format!("{{{}}}", tokens.join(","))).unwrap();
    let mut remote = Remote::start(&place);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4_u64)
            .map(|id| {
                let (remote, meta) = (&remote, &meta);
                scope.spawn(move || {
                    let arguments = json!({ "source": "tokens", "platforms": ["css", "js", "scss"], "apply": id % 2 == 0 });
                    let params = json!({ "_meta": meta, "name": "tokens_build", "arguments": arguments });
                    let headers =
                        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "tokens_build")];
                    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
                    let answer = remote.post(&headers, &message);
                    assert!(answer.message()["result"].is_object(), "{}", answer.body);
                    answer.status
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(150));
        let pid = remote.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(answers, [200; 4]);
    assert!(remote.child.wait().unwrap().success());
    let records = place.json(&["audit", "tail", "--output", "json"]);
    assert_eq!(records.as_array().unwrap().len(), 4, "every call that was let in has its record");
}

#[test]
fn a_plain_call_is_answered_as_the_library_would_answer_it() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let plain = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")];
    // What is said besides leads through the library; it means nothing else.
    let besides: [&[(&str, &str)]; 4] =
        [&[("mcp-param-x", "1")], &[("origin", "http://localhost:1")], &[("accept-language", "en")], &[]];
    let good = json!({ "source": "tokens", "platforms": ["css"] });
    let calls = [
        ("tokens_build", good.clone()),
        ("tokens.build", good),
        ("tokens_build", json!({ "source": "tokens" })),
        ("tokens_build", json!({ "source": "../x", "platforms": ["css"] })),
        ("tool_call", json!({ "tool": "nothing", "arguments": {} })),
        ("no_such_tool", json!({})),
    ];
    let capabilities =
        [json!({}), json!({ "elicitation": {} }), json!({ "sampling": {}, "elicitation": { "url": {} } })];
    for ((name, arguments), can) in
        calls.iter().flat_map(|call| capabilities.iter().map(move |can| (call, can)))
    {
        let mut answers = Vec::new();
        for more in besides {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": can,
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
            });
            let params = json!({ "_meta": meta, "name": name, "arguments": arguments });
            let request = json!({ "jsonrpc": "2.0", "id": "é1", "method": "tools/call", "params": params });
            let answer = remote.post(&[&plain[..], &[("mcp-name", name)], more].concat(), &request);
            let mut message = answer.message();
            let kind = answer.header("content-type").unwrap_or_default().to_owned();
            // What is about this one call.
            if let Some(text) = message["result"]["content"][0]["text"].as_str() {
                let mut said: Value = serde_json::from_str(text).unwrap();
                assert!(said.as_object_mut().unwrap().remove("metadata").is_some());
                message["result"]["content"][0]["text"] = said;
            }
            for one in ["_meta", "structuredContent"] {
                if let Some(object) = message["result"][one].as_object_mut() {
                    let own = object.remove(if one == "_meta" { "gatewright/anchor" } else { "metadata" });
                    assert!(own.is_some(), "{one}: {}", answer.body);
                }
            }
            answers.push((answer.status, kind, message));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{name} {arguments}: {answers:#?}");
    }
    remote.finish();
}

#[test]
fn what_is_not_quite_a_plain_call_is_refused_as_before() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": "tools_search", "arguments": { "query": "x" } });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "tools_search")];
    assert_eq!(remote.post(&headers, &request).status, 200);
    let with = |name: &str, value: &'static str| {
        let mut headers: Vec<(&str, &str)> =
            headers.iter().copied().filter(|(known, _)| *known != name).collect();
        headers.push((name, value));
        remote.post(&headers.iter().map(|(n, v)| (*n, *v)).collect::<Vec<_>>(), &request).status
    };
    for (name, value, status) in [
        ("host", "evil.example", 403),
        ("host", "localhost.evil.example", 403),
        ("host", "127.0.0.1.", 403),
        ("origin", "https://evil.example", 403),
        ("mcp-name", "tool_call", 400),
        ("mcp-method", "tools/list", 400),
        ("mcp-protocol-version", "2025-11-25", 400),
        ("mcp-session-id", "made-up", 404),
    ] {
        assert_eq!(with(name, value), status, "{name}: {value}");
    }
    let mut without = request.clone();
    without["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(remote.post(&headers, &without).status, 400, "the newer era says what a client can do");
    remote.finish();
}
