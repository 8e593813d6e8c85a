//! HTTP on the raw wire: headers that contradict the body or themselves (H10), bodies that are no messages, methods and
//! paths that are not served, and floods (H12).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::remote::{Answer, Remote, raw};
use super::wire::meta;
use super::{Place, exists};

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const METHOD: (&str, &str) = ("mcp-method", "tools/call");
const NAME: (&str, &str) = ("mcp-name", "tokens_build");

fn call(version: &str, apply: bool) -> Value {
    let arguments = json!({ "source": "tokens", "platforms": ["css"], "apply": apply });
    let params = json!({ "_meta": meta(version), "name": "tokens_build", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// A call that would apply, with these headers, byte by byte.
fn bytes(remote: &Remote, headers: &[(&str, &[u8])], body: &[u8]) -> Answer {
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
        remote.address,
        body.len()
    )
    .into_bytes();
    for (name, value) in headers {
        request.extend_from_slice(name.as_bytes());
        request.extend_from_slice(b": ");
        request.extend_from_slice(value);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(body);
    raw(&remote.address, &request)
}

#[test]
fn h10_headers_that_contradict_the_body_are_refused() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let apply = call("2026-07-28", true);
    for headers in [
        &[][..],
        &[VERSION, METHOD],
        &[VERSION, NAME],
        &[METHOD, NAME],
        &[VERSION, METHOD, ("mcp-name", "tool_read")],
        &[VERSION, METHOD, ("mcp-name", "Tokens_Build")],
        &[VERSION, METHOD, ("mcp-name", "tokens.build")],
        &[VERSION, METHOD, ("mcp-name", "")],
        &[VERSION, METHOD, NAME, ("mcp-name", "tool_read")],
        &[VERSION, METHOD, NAME, NAME],
        &[VERSION, METHOD, ("mcp-name", "tokens_build, tool_read")],
        // The sentinel of values that are no header text: decoded, and compared.
        &[VERSION, METHOD, ("mcp-name", "=?base64?dG9vbF9yZWFk?=")],
        &[VERSION, METHOD, ("mcp-name", "=?BASE64?dG9rZW5zX2J1aWxk?=")],
        &[VERSION, METHOD, ("mcp-name", "=?base64?!!!?=")],
        &[VERSION, ("mcp-method", "tools/list"), NAME],
        &[VERSION, ("mcp-method", "Tools/Call"), NAME],
        &[VERSION, METHOD, ("mcp-method", "tools/list"), NAME],
        &[("mcp-protocol-version", "2025-11-25"), METHOD, NAME],
        &[("mcp-protocol-version", "2024-11-05"), METHOD, NAME],
        &[("mcp-protocol-version", "2099-01-01"), METHOD, NAME],
    ] {
        let refused = remote.post(headers, &apply);
        assert_eq!(refused.status, 400, "{headers:?}: {}", refused.body);
        assert_eq!(refused.message()["error"]["code"], -32020, "{headers:?}: {}", refused.body);
    }
    // Two revisions, in whichever order, and two sessions.
    for twice in [
        [VERSION, ("mcp-protocol-version", "2025-11-25"), METHOD, NAME],
        [("mcp-protocol-version", "2025-11-25"), VERSION, METHOD, NAME],
        [VERSION, VERSION, METHOD, NAME],
    ] {
        assert_eq!(remote.post(&twice, &apply).status, 400, "{twice:?}");
    }
    let session = remote.session();
    let other = remote.session();
    for second in [&session, &other] {
        let twice = [("mcp-session-id", session.as_str()), ("mcp-session-id", second)];
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        assert_eq!(remote.post(&twice, &list).status, 400, "two sessions");
    }
    assert!(!exists(&place.root().join("artifacts")), "nothing of it was done");
    let encoded = [VERSION, METHOD, ("mcp-name", "=?base64?dG9rZW5zX2J1aWxk?=")];
    assert_eq!(remote.post(&encoded, &call("2026-07-28", false)).status, 200, "what agrees is answered");
    remote.finish();
}

#[test]
fn h10_header_values_that_are_no_text_are_refused_before_they_mean_anything() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let body = call("2026-07-28", true).to_string();
    let rest = [("mcp-protocol-version", &b"2026-07-28"[..]), ("mcp-method", b"tools/call")];
    for name in [
        &b"tokens_build\rx"[..],
        b"tokens_build\r\n x",
        b"tokens_build\0",
        b"tokens_build\x1b[2J",
        "tokens_b\u{443}ild".as_bytes(),
        b"tokens_build\xe9",
        // A lone line feed ends a header as CR LF does: what follows is a header of its own, and the second of its name.
        b"tokens_build\nmcp-name: tool_read",
        b"tool_read\nmcp-name: tokens_build",
    ] {
        let refused = bytes(&remote, &[&rest[..], &[("mcp-name", name)]].concat(), body.as_bytes());
        assert_eq!(refused.status, 400, "{:?}: {}", String::from_utf8_lossy(name), refused.body);
    }
    for version in
        [&b"2026-07-28\xff"[..], b"2026-07-28\x01", b"2026-07-28\nmcp-protocol-version: 2025-11-25"]
    {
        let headers = [("mcp-protocol-version", version), rest[1], ("mcp-name", b"tokens_build")];
        assert_eq!(bytes(&remote, &headers, body.as_bytes()).status, 400);
    }
    assert!(!exists(&place.root().join("artifacts")));
    remote.finish();
}

#[test]
fn h18_a_call_without_a_session_names_no_older_revision() {
    let place = Place::new();
    let remote = Remote::start(&place);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let named = [("mcp-protocol-version", version), METHOD, NAME];
        let refused = remote.post(&named, &call(version, true));
        assert_eq!(refused.status, 400, "{version}: {}", refused.body);
        assert_eq!(refused.message()["error"]["code"], -32022, "{version}: {}", refused.body);
        // And without a word of it in the body.
        let mut bare = call(version, true);
        bare["params"].as_object_mut().unwrap().remove("_meta");
        assert_eq!(remote.post(&named, &bare).status, 400, "{version}");
        assert_eq!(remote.post(&[], &bare).status, 400, "{version}");
    }
    for draft in ["DRAFT-2026-v1", "2099-01-01", "2026-07-28-rc"] {
        let refused = remote.post(&[("mcp-protocol-version", draft), METHOD, NAME], &call(draft, true));
        assert_eq!(refused.status, 400, "{draft}: {}", refused.body);
        assert_eq!(refused.message()["error"]["code"], -32022, "{draft}: {}", refused.body);
    }
    // A session of the oldest revision is one: it was begun.
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let begun =
        remote.post(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    assert_eq!(begun.message()["result"]["protocolVersion"], "2024-11-05", "{}", begun.body);
    assert!(!exists(&place.root().join("artifacts")));
    remote.finish();
}

#[test]
fn m16_m18_bodies_that_are_no_message_are_answered_by_a_json_rpc_error() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let good = [
        ("mcp-protocol-version", &b"2026-07-28"[..]),
        ("mcp-method", b"tools/call"),
        ("mcp-name", b"tokens_build"),
    ];
    let apply = call("2026-07-28", true).to_string();
    let twice = apply.replace(r#""apply":true"#, r#""apply":false,"apply":true"#);
    assert_ne!(twice, apply);
    let deep = apply.replace("\"tokens\"", &format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)));
    for (body, code) in [
        (&b"{ not json"[..], -32700),
        (b"\"\xff\"", -32700),
        (b"\0", -32700),
        (twice.as_bytes(), -32700),
        (deep.as_bytes(), -32700),
        (format!("{apply}\n{apply}").as_bytes(), -32700),
        (&apply.as_bytes()[..apply.len() - 1], -32700),
        (b"", -32600),
        (b" \r\n", -32600),
        (format!("[{apply}]").as_bytes(), -32600),
        (b"[]", -32600),
        (b"{}", -32600),
        (apply.replace(r#""id":1"#, r#""id":null"#).as_bytes(), -32600),
        (apply.replace(r#""jsonrpc":"2.0""#, r#""jsonrpc":"1.0""#).as_bytes(), -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":"x"}}"#, -32602),
    ] {
        let refused = bytes(&remote, &good, body);
        let shown = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
        assert_eq!(refused.status, 400, "{shown}: {}", refused.body);
        assert_eq!(refused.header("content-type"), Some("application/json"), "{shown}");
        assert_eq!(refused.message()["error"]["code"], code, "{shown}: {}", refused.body);
    }
    // A call without an id is a notification, and no call.
    let notification = apply.replace(r#""id":1,"#, "");
    assert_eq!(bytes(&remote, &good, notification.as_bytes()).status, 202);
    remote.finish();
    assert!(!exists(&place.root().join("artifacts")), "nothing of it was done");
}

#[test]
fn only_json_is_taken_and_only_from_those_who_take_both_answers() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let body = call("2026-07-28", true).to_string();
    let both = ("accept", "application/json, text/event-stream");
    let json = ("content-type", "application/json");
    let post = |headers: &[(&str, &str)]| {
        let all = [&[VERSION, METHOD, NAME], headers].concat();
        remote.request("POST", "/mcp", &all, &body).status
    };
    // What a form or a script of another site may send without asking.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/jsonx",
    ] {
        assert_eq!(post(&[both, ("content-type", kind)]), 415, "{kind:?}");
    }
    assert_eq!(post(&[both]), 415);
    for accept in ["application/json", "text/event-stream", "text/html", ""] {
        assert_eq!(post(&[json, ("accept", accept)]), 406, "{accept:?}");
    }
    assert_eq!(post(&[json]), 406);
    assert!(!exists(&place.root().join("artifacts")));
    assert_eq!(post(&[both, ("content-type", "Application/JSON; charset=utf-8")]), 200);
    remote.finish();
}

#[test]
fn methods_and_paths_that_are_not_served_are_refused() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let streams = ("accept", "text/event-stream");
    for method in ["PUT", "OPTIONS", "PATCH", "HEAD", "TRACE", "mcp", "Post"] {
        for headers in [&[streams][..], &[streams, VERSION]] {
            let refused = remote.request(method, "/mcp", headers, "");
            assert_eq!(refused.status, 405, "{method}");
            assert!(refused.header("access-control-allow-origin").is_none(), "{method}: no site is let in");
        }
    }
    // The newer era has neither streams nor sessions; the older has them by name.
    for method in ["GET", "DELETE"] {
        assert_eq!(remote.request(method, "/mcp", &[streams, VERSION], "").status, 405, "{method}");
        assert_eq!(remote.request(method, "/mcp", &[streams], "").status, 400, "{method}");
        let guessed = [streams, ("mcp-session-id", "00000000-0000-4000-8000-000000000000")];
        assert_eq!(remote.request(method, "/mcp", &guessed, "").status, 404, "{method}");
    }
    let body = call("2026-07-28", true).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        VERSION,
        METHOD,
        NAME,
    ];
    for path in
        ["/", "/mcp/", "/mcp/x", "/MCP", "//mcp", "/x/../mcp", "/%6dcp", "/sse", "/messages", "/healthz/mcp"]
    {
        assert_eq!(remote.request("POST", path, &headers, &body).status, 404, "{path}");
    }
    assert_eq!(remote.request("GET", "/sse", &[streams], "").status, 404, "the older transport is not there");
    assert_eq!(remote.request("POST", "/healthz", &[], "").status, 405);
    assert!(!exists(&place.root().join("artifacts")));
    remote.finish();
}

#[test]
fn requests_whose_length_is_in_doubt_are_refused() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let front = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", remote.address);
    for rest in [
        "content-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        "content-length: +5\r\n\r\nhello",
        "content-length: -1\r\n\r\n",
        "content-length: 5, 6\r\n\r\nhello",
        "transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        "transfer-encoding: gzip\r\n\r\nhello",
        "transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    ] {
        let refused = raw(&remote.address, format!("{front}{rest}").as_bytes());
        assert!(matches!(refused.status, 400 | 501), "{rest:?}: {} {}", refused.status, refused.body);
    }
    assert_eq!(raw(&remote.address, b"GET /healthz HTTP/1.1\r\n\r\n").status, 200, "nobody's secret");
    let nameless = raw(&remote.address, b"POST /mcp HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}");
    assert!((400..500).contains(&nameless.status), "a request without a host: {}", nameless.status);
    remote.finish();
}

#[test]
fn h12_floods_of_headers_are_refused_and_large_ones_bounded() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let get = |headers: &str| {
        let text = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n");
        raw(&remote.address, text.as_bytes()).status
    };
    let many = |count: usize| (0..count).map(|n| format!("x-{n}: y\r\n")).collect::<Vec<_>>().concat();
    assert_eq!(get(&many(50)), 200);
    assert_eq!(get(&many(5_000)), 431);
    assert_eq!(get(&format!("x-large: {}\r\n", "y".repeat(64 * 1024))), 200, "a token may be long");
    // The head of a request that is larger than is read.
    let refused = get(&format!("x-large: {}\r\n", "y".repeat(2 * 1024 * 1024)));
    assert!(matches!(refused, 431 | 0), "{refused}");
    // One without end takes no more than that either: the connection is closed while it is being sent.
    let mut endless = TcpStream::connect(&remote.address).unwrap();
    endless.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
    endless.write_all(b"GET /healthz HTTP/1.1\r\nx-endless: ").unwrap();
    let block = vec![b'y'; 1024 * 1024];
    let broke = (0..64).any(|_| endless.write_all(&block).is_err());
    assert!(broke, "64 MiB of one header were taken");
    assert_eq!(get(""), 200, "and others are served");
    remote.finish();
}

#[test]
fn h12_idle_connections_and_bodies_that_do_not_come_hold_nobody_up() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let mut idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&remote.address).unwrap()).collect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: 100000\r\n\r\n{{",
        remote.address
    );
    for stream in idle.iter_mut().step_by(3) {
        stream.write_all(head.as_bytes()).unwrap();
    }
    for stream in idle.iter_mut().skip(1).step_by(3) {
        stream.write_all(b"POST /mc").unwrap();
    }
    let began = Instant::now();
    for _ in 0..10 {
        let answered = remote.post(&[VERSION, METHOD, NAME], &call("2026-07-28", false));
        assert!(matches!(answered.status, 200), "{} {}", answered.status, answered.body);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // They cannot keep the server from ending either.
    remote.finish();
    for mut stream in idle {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut rest = Vec::new();
        // Closed, with or without a last word.
        let closed = stream.read_to_end(&mut rest);
        assert!(closed.is_ok() || closed.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset));
    }
}

#[test]
fn h12_a_caller_who_begins_session_after_session_loses_his_oldest() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let sessions: Vec<String> = (0..101).map(|_| remote.session()).collect();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let within = |session: &str| {
        remote.post(&[("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")], &list).status
    };
    assert_eq!(within(&sessions[0]), 404);
    assert_eq!((within(&sessions[1]), within(&sessions[100])), (200, 200));
    remote.finish();
}

#[test]
fn h12_whoever_takes_too_long_to_say_what_he_wants_is_let_go() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let head = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: 9\r\n", remote.address);
    // A body that does not come, a head that does not end, one whose every byte takes a second, and an idle connection.
    let (body, unended) = (format!("{head}\r\n{{"), head.clone());
    let served = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", remote.address);
    let ends: Vec<(String, Duration)> = std::thread::scope(|scope| {
        let open = |first: String, drips: bool| {
            let remote = &remote;
            scope.spawn(move || {
                let mut stream = TcpStream::connect(&remote.address).unwrap();
                stream.write_all(first.as_bytes()).unwrap();
                let began = Instant::now();
                let mut said = Vec::new();
                stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
                while began.elapsed() < Duration::from_secs(50) {
                    let mut some = [0; 4096];
                    match stream.read(&mut some) {
                        Ok(0) => break,
                        Ok(n) => said.extend_from_slice(&some[..n]),
                        Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                            if drips && stream.write_all(b"x").is_err() {
                                break;
                            }
                        }
                        Err(_) => break,
                    }
                }
                (String::from_utf8(said).unwrap(), began.elapsed())
            })
        };
        let all = [
            open(body, false),
            open(unended.clone(), false),
            open(unended + "x-slow: ", true),
            open(served, false),
        ];
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (said, took) in &ends {
        assert!((25..45).contains(&took.as_secs()), "{took:?}: {said}");
    }
    assert!(ends[0].0.starts_with("HTTP/1.1 408"), "{}", ends[0].0);
    assert!(ends[1].0.is_empty() || ends[1].0.starts_with("HTTP/1.1 408"), "{}", ends[1].0);
    assert!(ends[3].0.starts_with("HTTP/1.1 200"), "{}", ends[3].0);
    assert_eq!(ends[3].0.matches("HTTP/1.1").count(), 1, "an idle connection just ends");
    remote.finish();
}
