//! A server over standard input and output, spoken to on the raw wire.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Place;

/// A running server, spoken to line by line.
pub(crate) struct Wire {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    next: u64,
    pub(crate) list_changes: bool,
}

impl Wire {
    pub(crate) fn start(place: &Place) -> Self {
        Self::with(place.command().arg("serve"))
    }

    /// As `command` says.
    pub(crate) fn with(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let value =
                    serde_json::from_str(&line).expect("standard output is the protocol and nothing else");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, next: 0, list_changes: false }
    }

    /// A server after the handshake of the older era.
    pub(crate) fn initialized(place: &Place) -> Self {
        Self::initialized_by(place, &json!({}))
    }

    /// The same, by a client that can do this.
    pub(crate) fn initialized_by(place: &Place, capabilities: &Value) -> Self {
        Self::greeted(place.command().arg("serve"), capabilities)
    }

    /// The same, as `command` says.
    pub(crate) fn greeted(command: &mut Command, capabilities: &Value) -> Self {
        let mut wire = Self::with(command);
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "0" } });
        let result = wire.request("initialize", params);
        assert_eq!(result["result"]["protocolVersion"], "2025-11-25", "{result}");
        assert_eq!(result["result"]["serverInfo"]["name"], "gatewright");
        assert!(result["result"]["instructions"].as_str().unwrap().len() < 2_048);
        let mut said = result["result"]["capabilities"].clone();
        // Where upstreams are configured, or plugins may come, the list changes.
        wire.list_changes = said["tools"].as_object_mut().unwrap().remove("listChanged") == Some(json!(true));
        for beside in ["resources", "prompts"] {
            let told = said[beside].as_object_mut().unwrap().remove("listChanged") == Some(json!(true));
            assert_eq!(told, wire.list_changes, "{beside}");
        }
        let capabilities = json!({ "completions": {}, "prompts": {}, "resources": {}, "tools": {} });
        assert_eq!(said, capabilities, "only what is implemented");
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        wire
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.bytes(line.as_bytes());
        self.bytes(b"\n");
    }

    /// Sends bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    pub(crate) fn receive(&self) -> Value {
        self.lines.recv_timeout(Duration::from_mins(5)).expect("an answer")
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    pub(crate) fn call(&mut self, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": "tokens_build", "arguments": arguments }))["result"]
            .clone()
    }

    /// What else is said until the server ends.
    pub(crate) fn rest(&self) -> Vec<Value> {
        std::iter::from_fn(|| self.lines.recv_timeout(Duration::from_secs(20)).ok()).collect()
    }

    /// Closes the input and waits for a clean end.
    pub(crate) fn finish(mut self) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// What every request of the newer era carries.
pub(crate) fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A request as a line.
pub(crate) fn line(id: &Value, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}
