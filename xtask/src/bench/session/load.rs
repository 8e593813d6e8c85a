//! The context API under load: requests a second and their latencies, with one server and with two over one database.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::samples::Samples;
use crate::sh::Done;

/// Connections in all.
const CLIENTS: usize = 16;
/// Interleaved spells of each.
const SPELLS: usize = 3;

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(command: &mut Command) -> Done<Self> {
        let words = ["context", "serve", "--listen", "127.0.0.1:0", "--per-minute", "100000000"];
        let mut child = command.args(words).stderr(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        let mut said = BufReader::new(child.stderr.take().ok_or("no output")?);
        let mut line = String::new();
        while !line.contains("serving the context on") {
            line.clear();
            if said.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err("a context server ended".to_owned());
            }
        }
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).ok_or(line)?;
        Ok(Self { child, port })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that stays.
struct Connection {
    stream: BufReader<TcpStream>,
    key: String,
}

impl Connection {
    fn new(port: u16, key: &str) -> Done<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        Ok(Self { stream: BufReader::new(stream), key: key.to_owned() })
    }

    /// Asks; the status and the body.
    fn ask(&mut self, method: &str, target: &str, body: Option<&Value>) -> Done<(u16, Value)> {
        let io = |e: std::io::Error| format!("{method} {target}: {e}");
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        let request = format!(
            "{method} {target} HTTP/1.1\r\nhost: localhost\r\nx-context-key: {}\r\n{kind}content-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).map_err(io)?;
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).map_err(io)? == 0 {
                return Err(format!("{method} {target}: the connection ended"));
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
            }
            if let Some(count) = line.strip_prefix("content-length:") {
                length = count.trim().parse().unwrap_or(0);
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).map_err(io)?;
        Ok((status, serde_json::from_slice(&answer).unwrap_or(Value::Null)))
    }
}

/// What a machine asks, over and over: signs of life, what others do, words, a note.
fn spell(port: u16, key: &str, client: usize, until: Instant) -> Done<(Vec<Duration>, usize)> {
    let mut connection = Connection::new(port, key)?;
    let version = ("schema_version", "1.0");
    let sod = json!({ version.0: version.1, "agent": format!("client {client}"), "venture": "acme", "repo": "github.com/acme/app", "only_session": true });
    let (status, day) = connection.ask("POST", "/sod", Some(&sod))?;
    if status != 200 {
        return Err(format!("/sod: {status} {day}"));
    }
    let beat = json!({ version.0: version.1, "session_id": day["session"]["id"] });
    let note = json!({ version.0: version.1, "title": "From the load", "content": "some words about the load", "venture": "acme" });
    let (mut times, mut wrong) = (Vec::new(), 0);
    for turn in 0.. {
        if Instant::now() >= until {
            break;
        }
        let (method, target, body) = match turn % 10 {
            0..=3 => ("POST", "/heartbeat", Some(&beat)),
            4..=5 => ("GET", "/active?venture=acme&limit=20", None),
            6..=7 => ("GET", "/notes?q=words&venture=acme&limit=20", None),
            8 => ("GET", "/handoffs?venture=acme&limit=10", None),
            _ => ("POST", "/notes", Some(&note)),
        };
        let began = Instant::now();
        let (status, _) = connection.ask(method, target, body)?;
        times.push(began.elapsed());
        wrong += usize::from(status != 200);
    }
    Ok((times, wrong))
}

pub(super) fn run(program: &Path, scratch: &Path, url: &str, seconds: u64) -> Done {
    let command = || {
        let mut command = Command::new(program);
        command
            .env("GATEWRIGHT_STORE_URL", url)
            .env("XDG_STATE_HOME", scratch.join("api/state"))
            .env("XDG_CONFIG_HOME", scratch.join("api/config"))
            .env("NO_COLOR", "1")
            .env_remove("LOG_LEVEL")
            .current_dir(scratch)
            .stdin(Stdio::null());
        command
    };
    let made = command().args(["context", "key", "add", "load"]).output().map_err(|e| e.to_string())?;
    let key = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let servers = [Server::start(&mut command())?, Server::start(&mut command())?];
    println!(
        "\nthe context API over PostgreSQL, {CLIENTS} connections, {SPELLS} interleaved spells of {seconds} s: 4 signs of life, 2 lists of sessions, 2 searches, 1 list of handoffs, 1 new note of 10"
    );
    let mut all: [(Vec<Duration>, usize, f64); 2] = Default::default();
    for _ in 0..SPELLS {
        for (of, (times, wrong, rate)) in all.iter_mut().enumerate() {
            let (began, until) = (Instant::now(), Instant::now() + Duration::from_secs(seconds));
            let done = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let (port, key, done) = (servers[client % (of + 1)].port, key.clone(), Arc::clone(&done));
                    std::thread::spawn(move || {
                        let gave = spell(port, &key, client, until);
                        done.fetch_add(gave.as_ref().map_or(0, |(times, _)| times.len()), Ordering::Relaxed);
                        gave
                    })
                })
                .collect();
            for thread in threads {
                let (more, failed) = thread.join().map_err(|_| "a client failed".to_owned())??;
                times.extend(more);
                *wrong += failed;
            }
            let count = u32::try_from(done.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
            *rate = rate.max(f64::from(count) / began.elapsed().as_secs_f64());
        }
    }
    println!(
        "{:<14} {:>14} {:>9} {:>9} {:>9} {:>8}",
        "", "requests/s", "p50 ms", "p95 ms", "p99 ms", "failed"
    );
    for (of, (times, wrong, rate)) in all.iter().enumerate() {
        let samples = Samples::of(times);
        let name = if of == 0 { "one server" } else { "two servers" };
        println!(
            "{name:<14} {rate:>14.0} {:>9.1} {:>9.1} {:>9.1} {wrong:>8}",
            samples.median(),
            samples.p95(),
            samples.p99()
        );
    }
    println!("(the best spell of each; clients, servers and database share this machine's processors)");
    Ok(())
}
