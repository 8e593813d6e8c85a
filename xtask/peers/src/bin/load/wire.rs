//! What goes over the wire, made once and sent many times: only the id changes, and it always has nine digits.

use std::fmt::Write as _;
use std::time::Duration;

use gatewright_peers::Error;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Which revision of the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Era {
    /// Each request says everything itself.
    #[serde(rename = "2026-07-28")]
    Stateless,
    /// A handshake first, and over HTTP a session.
    #[serde(rename = "2025-11-25")]
    Session,
}

impl Era {
    /// The revision.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Stateless => "2026-07-28",
            Self::Session => "2025-11-25",
        }
    }
}

/// The first id; nine digits hold more calls than are made.
const FIRST: u64 = 100_000_000;

/// A request with a hole for its id.
#[derive(Debug, Clone)]
pub struct Request {
    bytes: Vec<u8>,
    id: usize,
    next: u64,
}

impl Request {
    fn new(head: &str, body: Vec<u8>) -> Result<Self, Error> {
        let needle = FIRST.to_string();
        let at = memmem::find(&body, needle.as_bytes()).ok_or("a request without an id")?;
        let mut bytes = head.as_bytes().to_vec();
        let id = bytes.len() + at;
        bytes.extend(body);
        Ok(Self { bytes, id, next: FIRST })
    }

    /// The bytes with the next id, and the id.
    pub fn next(&mut self) -> (&[u8], u64) {
        let id = self.next;
        self.next += 1;
        let mut rest = id;
        for digit in self.bytes[self.id..self.id + 9].iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
        }
        (&self.bytes, id)
    }
}

/// What is asked, and in which era.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The era.
    pub era: Era,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

impl Talk {
    fn body(&self, method: &str, params: Value, request: bool) -> Vec<u8> {
        let mut params = params;
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.era.version(),
                "io.modelcontextprotocol/clientInfo": { "name": "load", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let id = if request { format!("\"id\":{FIRST},") } else { String::new() };
        format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#).into_bytes()
    }

    /// The call of the tool.
    pub fn call(&self) -> Vec<u8> {
        self.body("tools/call", json!({ "name": self.tool, "arguments": self.arguments }), true)
    }

    /// The list of the tools.
    pub fn list(&self) -> Vec<u8> {
        self.body("tools/list", json!({}), true)
    }

    /// The handshake's beginning.
    pub fn initialize(&self) -> Vec<u8> {
        let client = json!({ "name": "load", "version": "1" });
        let params =
            json!({ "protocolVersion": self.era.version(), "capabilities": {}, "clientInfo": client });
        self.body("initialize", params, true)
    }

    /// The handshake's end.
    pub fn initialized(&self) -> Vec<u8> {
        self.body("notifications/initialized", json!({}), false)
    }

    /// `body` as a line.
    pub fn line(mut body: Vec<u8>) -> Result<Request, Error> {
        body.push(b'\n');
        Request::new("", body)
    }

    /// `body` as an HTTP request, in `session` where there is one.
    pub fn head(&self, host: &str, session: Option<&str>, method: &str, length: usize) -> String {
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n"
        );
        if method != "initialize" {
            let _ = write!(head, "Mcp-Protocol-Version: {}\r\n", self.era.version());
        }
        if self.era == Era::Stateless {
            let _ = write!(head, "Mcp-Method: {method}\r\n");
            if method == "tools/call" {
                let _ = write!(head, "Mcp-Name: {}\r\n", self.tool);
            }
        }
        if let Some(session) = session {
            let _ = write!(head, "Mcp-Session-Id: {session}\r\n");
        }
        head.push_str("\r\n");
        head
    }

    /// The call of the tool as an HTTP request.
    pub fn post(&self, host: &str, session: Option<&str>) -> Result<Request, Error> {
        let body = self.call();
        Request::new(&self.head(host, session, "tools/call", body.len()), body)
    }
}

/// Refuses an answer that is none.
pub fn check(answer: &[u8]) -> Result<(), Error> {
    if memmem::find(answer, br#""result":"#).is_some() && memmem::find(answer, br#""isError":true"#).is_none()
    {
        return Ok(());
    }
    Err(format!("not a result: {}", String::from_utf8_lossy(&answer[..answer.len().min(600)])).into())
}

/// What one spell of load gave.
#[derive(Debug, Default)]
pub struct Spell {
    /// How long each answer took.
    pub took: Vec<Duration>,
    /// How long it all took.
    pub elapsed: Duration,
    /// How long the last answer was, in bytes.
    pub answer: usize,
}
