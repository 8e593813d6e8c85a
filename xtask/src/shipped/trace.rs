//! Which functions a program comes to: callgrind's list, of servers that are started, asked what there is, and called a few times.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sh::Done;

/// Longest wait for one server.
const PATIENCE: Duration = Duration::from_mins(2);

/// Calls that every session begins with, or soon comes to.
const CALLS: [(&str, &str); 3] = [
    ("tools_search", r#"{"query":"zebra"}"#),
    ("git_status", "{}"),
    ("find_patterns", r#"{"query":"retry"}"#),
];

fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// The functions that `program` comes to, by the linker's names, those of a start first. `place` is for what is made on the way.
pub(super) fn functions(program: &Path, place: &Path) -> Done<Vec<String>> {
    let scratch = place.join("traced");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("root")).map_err(io)?;
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(scratch.join("root")).status();
    git.map_err(io)?;
    for (name, messages) in [("old", handshake()), ("new", stateless()), ("start", begun())] {
        talk(&mut start(program, &scratch, &scratch.join(name), &[])?, &messages)?;
    }
    over_http(program, &scratch, &scratch.join("http"))?;
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    // What only starts, where others have been before, and is asked what there is, comes first: a server that waits for work has
    // nothing else in memory.
    for name in ["start", "old", "new", "http"] {
        let traced = scratch.join(name);
        let text = fs::read_to_string(&traced).map_err(|e| format!("{}: {e}", traced.display()))?;
        all.extend(named(&text).filter(|name| seen.insert((*name).to_owned())).map(str::to_owned));
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(all)
}

fn start(program: &Path, scratch: &Path, traced: &Path, more: &[&str]) -> Done<Child> {
    Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no", "--quiet"])
        .arg(format!("--callgrind-out-file={}", traced.display()))
        .arg(program)
        .arg("--root")
        .arg(scratch.join("root"))
        .arg("serve")
        .args(more)
        .env("XDG_STATE_HOME", scratch.join("state"))
        .env("XDG_CONFIG_HOME", scratch.join("config"))
        .env_remove("LOG_LEVEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("valgrind: {e}"))
}

/// Says all of `messages`, waits for the answer of the last one, and lets the server end.
fn talk(server: &mut Child, messages: &[Value]) -> Done {
    use std::io::{BufRead as _, BufReader};
    let mut input = server.stdin.take().ok_or("the server takes no input")?;
    for message in messages {
        writeln!(input, "{message}").map_err(io)?;
    }
    let last = messages.iter().rev().find_map(|message| message.get("id")).cloned().unwrap_or_default();
    let lines = BufReader::new(server.stdout.take().ok_or("the server gives no output")?).lines();
    let mut answers =
        lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let is_last = |answer: &Value| answer["id"] == last;
    if !answers.any(|answer| is_last(&answer)) {
        let _ = server.kill();
        return Err("the server ended before it had answered".to_owned());
    }
    drop(input);
    ended(server)
}

fn ended(server: &mut Child) -> Done {
    let patience = Instant::now() + PATIENCE;
    while Instant::now() < patience {
        match server.try_wait().map_err(io)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("the server ended with {status}")),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    let _ = server.kill();
    Err("the server did not end".to_owned())
}

fn over_http(program: &Path, scratch: &Path, traced: &Path) -> Done {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(io)?.port();
    let address = format!("127.0.0.1:{port}");
    let mut server = start(program, scratch, traced, &["--http", &address, "--insecure-loopback"])?;
    let asked = ask_over_http(&address);
    let pid = server.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().map_err(io)?;
    ended(&mut server).and(asked)
}

fn ask_over_http(address: &str) -> Done {
    let patience = Instant::now() + PATIENCE;
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > patience => return Err(io(error)),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    stream.set_read_timeout(Some(PATIENCE)).map_err(io)?;
    for message in stateless() {
        let (body, method) = (message.to_string(), message["method"].as_str().unwrap_or_default());
        let name = message["params"]["name"].as_str().map(|name| format!("mcp-name: {name}\r\n"));
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{}content-length: {}\r\n\r\n{body}",
            name.unwrap_or_default(),
            body.len()
        );
        stream.write_all(request.as_bytes()).map_err(io)?;
        // What it says is not looked at: a first piece of it says that the call was made.
        let mut piece = vec![0; 1 << 16];
        if stream.read(&mut piece).map_err(io)? == 0 {
            return Err("the server ended the connection".to_owned());
        }
    }
    Ok(())
}

/// The beginning of a session of the protocol's older era.
fn begun() -> Vec<Value> {
    let client = json!({ "name": "xtask", "version": "0" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    vec![
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ]
}

/// The whole of one.
fn handshake() -> Vec<Value> {
    let mut all = begun();
    all.pop();
    all.extend(requests(&json!({})));
    all
}

/// The same questions in the newer one: each says everything itself.
fn stateless() -> Vec<Value> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "xtask", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    requests(&meta)
}

fn requests(meta: &Value) -> Vec<Value> {
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": meta } });
    let calls = CALLS.iter().zip(3..).map(|((name, arguments), id)| {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    });
    std::iter::once(list).chain(calls).collect()
}

/// The functions that callgrind names, in its order.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="))?;
        // `(number) name` where it is named first, and `'n` behind it where it calls itself.
        let (_, name) = rest.split_once(") ")?;
        let name = name.rsplit_once('\'').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(name, |(n, _)| n);
        (!name.starts_with("0x") && !name.contains([' ', '('])).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn functions_are_named_once_without_what_callgrind_adds() {
        let text = "events: Ir\nfn=(1) _ZN3abc17h0123456789abcdefE\n16 3\ncfn=(2) main'2\ncalls=1 0\n\
                    fn=(1)\nfn=(3) 0x000000000001ab70\nfn=(4) (below main)\ncob=(1) /lib/ld.so\n";
        assert_eq!(named(text).collect::<Vec<_>>(), ["_ZN3abc17h0123456789abcdefE", "main"]);
    }
}
