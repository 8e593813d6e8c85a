//! Calls over HTTP: the reference server directly, through a proxy that only passes requests on, and through gatewright, all in
//! the sessions of the older era that it speaks.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Bench, CONCURRENCY, Row};
use crate::sh::Done;

/// How long a server may take to be there.
const BEGIN: Duration = Duration::from_secs(20);

fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// A message of HTTP/1.1: its head's lines and its body.
struct Message {
    head: Vec<String>,
    body: Vec<u8>,
}

impl Message {
    /// The next one; `None` where the connection ended before it.
    fn read(from: &mut BufReader<TcpStream>) -> Done<Option<Self>> {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).map_err(io)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end().to_owned();
            if line.is_empty() {
                break;
            }
            head.push(line);
        }
        let mut it = Self { head, body: Vec::new() };
        if it.header("transfer-encoding").is_some_and(|how| how.contains("chunked")) {
            loop {
                let mut size = String::new();
                from.read_line(&mut size).map_err(io)?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(|e| e.to_string())?;
                let mut chunk = vec![0; size + 2];
                from.read_exact(&mut chunk).map_err(io)?;
                it.body.extend(chunk.iter().take(size));
                if size == 0 {
                    break;
                }
            }
        } else if let Some(length) = it.header("content-length").and_then(|n| n.parse().ok()) {
            it.body = vec![0; length];
            from.read_exact(&mut it.body).map_err(io)?;
        }
        Ok(Some(it))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The answer in it: alone, or the last event of a stream.
    fn answer(&self) -> Done<Value> {
        let text = String::from_utf8_lossy(&self.body);
        let mut data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = data.rfind(|data| !data.trim().is_empty()).unwrap_or(&text);
        serde_json::from_str(last).map_err(|e| format!("{e}: {:?} {text}", self.head.first()))
    }
}

/// A connection to an endpoint, in a session.
struct Client {
    stream: BufReader<TcpStream>,
    port: u16,
    session: Option<String>,
}

impl Client {
    fn new(port: u16, session: Option<String>) -> Done<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(io)?;
        stream.set_nodelay(true).map_err(io)?;
        Ok(Self { stream: BufReader::new(stream), port, session })
    }

    fn post(&mut self, message: &Value) -> Done<Message> {
        let body = message.to_string();
        let session = self.session.iter().map(|id| format!("mcp-session-id: {id}\r\n"));
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n{}content-length: {}\r\n\r\n{body}",
            self.port,
            session.collect::<String>(),
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).map_err(io)?;
        Message::read(&mut self.stream)?.ok_or_else(|| "the connection ended".to_owned())
    }

    /// Begins a session.
    fn begin(&mut self) -> Done<String> {
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        let begun =
            self.post(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }))?;
        let id = begun.header("mcp-session-id").ok_or("it begins no session")?.to_owned();
        self.session = Some(id.clone());
        self.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(id)
    }

    fn call(&mut self, id: usize, tool: &str) -> Done<Duration> {
        let params = json!({ "name": tool, "arguments": { "message": "hello" } });
        let began = Instant::now();
        let answered =
            self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))?;
        let (time, answer) = (began.elapsed(), answered.answer()?);
        let is_well =
            answer.pointer("/result/isError") != Some(&json!(true)) && answer.get("result").is_some();
        if is_well { Ok(time) } else { Err(format!("{tool}: {answer}")) }
    }
}

/// Calls of a spell, by so many connections at a time.
fn spell(
    port: u16,
    session: &str,
    tool: &str,
    (calls, at_once): (usize, usize),
) -> Done<(Vec<Duration>, Duration)> {
    let start = Instant::now();
    let each = calls / at_once;
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once)
            .map(|worker| {
                scope.spawn(move || {
                    let mut client = Client::new(port, Some(session.to_owned()))?;
                    (0..each)
                        .map(|n| client.call(1 + worker * each + n, tool))
                        .collect::<Done<Vec<Duration>>>()
                })
            })
            .collect();
        for worker in workers {
            times.extend(worker.join().map_err(|_| "a connection was lost".to_owned())??);
        }
        Done::Ok(())
    })?;
    times.sort();
    Ok((times, start.elapsed()))
}

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> Done<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(io)?;
    Ok(listener.local_addr().map_err(io)?.port())
}

fn until_there(port: u16) -> Done {
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if began.elapsed() > BEGIN {
            return Err(format!("nobody listens on port {port}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn started(command: &mut Command) -> Done<Running> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().map(Running).map_err(|e| format!("{command:?}: {e}"))
}

/// `cargo xtask gateway-http-proxy LISTEN PORT`: passes requests and answers on, each body read and written as JSON where it is
/// some.
pub(crate) fn proxy(listen: &str, to: &str) -> Done {
    let number = |text: &str| text.parse::<u16>().map_err(|e| e.to_string());
    let (listen, to) = (number(listen)?, number(to)?);
    let listener = TcpListener::bind(("127.0.0.1", listen)).map_err(io)?;
    for stream in listener.incoming().map_while(Result::ok) {
        std::thread::spawn(move || passed(stream, to));
    }
    Ok(())
}

fn passed(stream: TcpStream, to: u16) -> Done {
    stream.set_nodelay(true).map_err(io)?;
    let there = TcpStream::connect(("127.0.0.1", to)).map_err(io)?;
    there.set_nodelay(true).map_err(io)?;
    let (mut here, mut there) = (BufReader::new(stream), BufReader::new(there));
    while let Some(request) = Message::read(&mut here)? {
        send(there.get_mut(), request)?;
        let Some(answer) = Message::read(&mut there)? else { return Ok(()) };
        send(here.get_mut(), answer)?;
    }
    Ok(())
}

fn send(to: &mut TcpStream, message: Message) -> Done {
    let Message { head, body } = message;
    let body =
        serde_json::from_slice::<Value>(&body).map(|body| body.to_string().into_bytes()).unwrap_or(body);
    let mut out = String::new();
    for line in head {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if name != "content-length" && name != "transfer-encoding" {
            out.push_str(&line);
            out.push_str("\r\n");
        }
    }
    out.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let whole = [out.into_bytes(), body].concat();
    to.write_all(&whole).map_err(io)
}

impl Bench {
    /// Calls of the server over HTTP.
    pub(super) fn http(&self, script: &Path) -> Done {
        let (port, passing) = (free_port()?, free_port()?);
        let mut server = Command::new("node");
        server.arg(script).arg("streamableHttp").env("PORT", port.to_string());
        let _server = started(&mut server)?;
        until_there(port)?;
        let mut proxy = Command::new(std::env::current_exe().map_err(io)?);
        proxy.args(["gateway-http-proxy", &passing.to_string(), &port.to_string()]);
        let _proxy = started(&mut proxy)?;
        until_there(passing)?;
        self.place("http", &format!("[upstreams.every]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"))?;
        self.said("http", &["approvals", "diff"])?;
        self.said("http", &["approvals", "accept", "every__echo"])?;
        let ours = free_port()?;
        let mut gatewright = self.command("http");
        gatewright.args(["serve", "--http", &format!("127.0.0.1:{ours}"), "--insecure-loopback"]);
        let _ours = started(&mut gatewright)?;
        until_there(ours)?;
        self.heading("calls of `echo` of server-everything over HTTP, a connection for each in flight");
        let mut first = BTreeMap::new();
        for (name, tool, port) in
            [("direct", "echo", port), ("proxy", "echo", passing), ("gatewright", "every__echo", ours)]
        {
            let mut client = Client::new(port, None)?;
            let session = client.begin()?;
            client.call(1, tool)?;
            for at_once in CONCURRENCY {
                let mut row = Row::default();
                for _ in 0..self.size.rounds {
                    let (took, whole) = spell(port, &session, tool, (self.size.calls, at_once))?;
                    row.add(&took, whole);
                }
                row.say(name, at_once, &mut first);
            }
        }
        Ok(())
    }
}
