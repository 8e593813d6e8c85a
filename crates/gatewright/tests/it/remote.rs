//! A server over HTTP, spoken to on the raw wire.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Place;

/// A running server on a port of its own.
pub(crate) struct Remote {
    pub(crate) child: Child,
    pub(crate) address: String,
}

/// An answer: status, headers in lower case, body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let front = format!("{name}: ");
        self.head.lines().find_map(|l| l.strip_prefix(front.as_str()))
    }

    /// The JSON-RPC message, alone or as the last event of a stream.
    pub(crate) fn message(&self) -> Value {
        let mut data =
            self.body.lines().filter_map(|l| l.strip_prefix("data: ").or_else(|| l.strip_prefix("data:")));
        let text = data.rfind(|d| !d.trim().is_empty()).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {} {}", self.status, self.body))
    }
}

impl Remote {
    /// Over `place`, to everyone on this machine.
    pub(crate) fn start(place: &Place) -> Self {
        Self::with(place.command().args(["serve", "--http", "127.0.0.1:0", "--insecure-loopback"]))
    }

    /// As `command` says.
    pub(crate) fn with(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it says where it serves");
            if let Some((_, rest)) = line.split_once("serving on http").and_then(|(_, r)| r.split_once("://"))
            {
                break rest.trim().trim_end_matches("/mcp").to_owned();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address }
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        request(&self.address, method, path, headers, body)
    }

    pub(crate) fn post(&self, more: &[(&str, &str)], message: &Value) -> Answer {
        let mut headers =
            vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        headers.extend_from_slice(more);
        self.request("POST", "/mcp", &headers, &message.to_string())
    }

    /// Begins a session of the older era.
    pub(crate) fn session(&self) -> String {
        self.session_by(&json!({}))
    }

    /// The same, of a client with these capabilities.
    pub(crate) fn session_by(&self, can: &Value) -> String {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": { "name": "t", "version": "0" } });
        let begun =
            self.post(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        assert_eq!(begun.message()["result"]["protocolVersion"], "2025-11-25", "{}", begun.body);
        let session = begun.header("mcp-session-id").unwrap().to_owned();
        let noted = self.post(
            &[("mcp-session-id", &session), ("mcp-protocol-version", "2025-11-25")],
            &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        );
        assert_eq!(noted.status, 202, "{}", noted.body);
        session
    }

    /// Ends the server by a signal and checks that it ended cleanly.
    pub(crate) fn finish(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unchunked(body: &str) -> String {
    let (mut out, mut rest) = (String::new(), body);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        if size == 0 || after.len() < size {
            break;
        }
        out.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    out
}

/// Sends bytes to `address` and reads until the other side has said all.
pub(crate) fn raw(address: &str, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A server that refuses early may hang up before it has read all.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, head: head.to_lowercase(), body }
}

/// One request on a connection of its own.
pub(crate) fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        text.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    raw(address, text.as_bytes())
}
