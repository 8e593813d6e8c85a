//! What the gateway costs: the reference server `everything` of npm called directly, through a proxy that only passes lines on,
//! and through gatewright, over its streams and over HTTP; starts with upstreams that nobody calls; what a menu of three hundred
//! upstream tools costs; calls of plugins.

pub(crate) mod http;
mod plugins;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::node;
use crate::sh::{Done, target};

/// How much is measured.
struct Size {
    /// Calls of a spell.
    calls: usize,
    /// Spells of each; the median counts.
    rounds: usize,
    /// Starts of each.
    starts: usize,
}

/// What figures are of.
const WHOLE: Size = Size { calls: 400, rounds: 5, starts: 11 };

/// What shows that it runs.
const SHORT: Size = Size { calls: 32, rounds: 1, starts: 1 };

/// Calls in flight.
const CONCURRENCY: [usize; 2] = [1, 16];

/// Upstreams that nobody calls.
const UPSTREAMS: [usize; 3] = [0, 5, 20];

/// Tools of the upstream that has many.
const TOOLS: usize = 300;

/// An upstream with many tools.
const MANY: &str = r#"
import json, sys
tools = [{"name": f"tool_{n}", "description": f"Does the work number {n} on what it is given, and says what came of it.",
          "inputSchema": {"type": "object", "properties": {"what": {"type": "string", "description": "What it works on."},
                                                           "deep": {"type": "boolean"}}, "required": ["what"]}} for n in range(int(sys.argv[1]))]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        reply["result"] = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                           "serverInfo": {"name": "many", "version": "1"}}
    elif message["method"] == "tools/list": reply["result"] = {"tools": tools}
    else: reply["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(reply), flush=True)
"#;

pub(crate) fn run(rest: &[&str]) -> Done {
    let program = match rest {
        [] => crate::shipped::build()?,
        ["--program", path] | ["--short", "--program", path] => PathBuf::from(path),
        _ => return Err("cargo xtask bench gateway [[--short] --program PATH]".into()),
    };
    let size = if rest.first() == Some(&"--short") { SHORT } else { WHOLE };
    let servers = node::UPSTREAMS.install()?.join("node_modules/@modelcontextprotocol");
    let script = servers.join("server-everything/dist/index.js");
    let scratch = target().join("bench-gateway");
    let _ = fs::remove_dir_all(&scratch);
    let bench = Bench { program, scratch: scratch.clone(), size };
    bench.calls(&script)?;
    bench.http(&script)?;
    bench.starts(&script)?;
    bench.menu()?;
    bench.plugins()?;
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
}

/// `cargo xtask gateway-proxy PROGRAM ARGS…`: passes the lines of its streams on, each read and written as JSON.
pub(crate) fn proxy(command: &[&str]) -> Done {
    let io = |e: std::io::Error| e.to_string();
    let (program, args) = command.split_first().ok_or("gateway-proxy PROGRAM ARGS…")?;
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(io)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else { return Err("no streams".into()) };
    let back = std::thread::spawn(move || pass(BufReader::new(output), &mut std::io::stdout()));
    pass(std::io::stdin().lock(), &mut input);
    drop(input);
    let _ = back.join();
    child.wait().map(drop).map_err(io)
}

fn pass(from: impl std::io::BufRead, to: &mut impl std::io::Write) {
    for line in from.lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if writeln!(to, "{message}").and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

struct Bench {
    program: PathBuf,
    scratch: PathBuf,
    size: Size,
}

/// Figures of one way at one number in flight.
#[derive(Default)]
struct Row {
    p50: Vec<f64>,
    p99: Vec<f64>,
    rate: Vec<f64>,
}

impl Row {
    /// Adds a spell, whose times are sorted.
    fn add(&mut self, took: &[Duration], whole: Duration) {
        let of = |hundredths: usize| took.get(took.len() * hundredths / 100).copied().unwrap_or_default();
        self.p50.push(millis(of(50)));
        self.p99.push(millis(of(99)));
        let calls = u32::try_from(took.len()).unwrap_or(u32::MAX);
        self.rate.push(f64::from(calls) / whole.as_secs_f64());
    }

    /// Says it; what was added is beside the first way.
    fn say(self, name: &str, at_once: usize, first: &mut BTreeMap<usize, f64>) {
        let (p50, p99, rate) = (median(self.p50), median(self.p99), median(self.rate));
        let base = *first.entry(at_once).or_insert(p50);
        println!("{name:<12} {at_once:>9} {p50:>9.2} {p99:>9.2} {rate:>10.0} {:>10.2}", p50 - base);
    }
}

/// A server that is spoken to.
struct Spoken {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Spoken {
    fn start(command: &mut Command) -> Done<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{command:?}: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no streams".into());
        };
        let mut it = Self { child, input, output: BufReader::new(output), next: 1 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        it.ask("initialize", &hello)?;
        it.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(it)
    }

    fn say(&mut self, message: &Value) -> Done {
        writeln!(self.input, "{message}").and_then(|()| self.input.flush()).map_err(|e| e.to_string())
    }

    fn send(&mut self, method: &str, params: &Value) -> Done<u64> {
        let id = self.next;
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    /// The next answer.
    fn answer(&mut self) -> Done<Value> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err("it ended".into());
            }
            let message: Value = serde_json::from_str(&line).map_err(|e| e.to_string())?;
            if message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Done<Value> {
        self.send(method, params)?;
        self.answer()
    }

    /// Calls `tool` as often as a spell has calls, so many at a time; each call's time, and the whole.
    fn spell(&mut self, tool: &str, (calls, at_once): (usize, usize)) -> Done<(Vec<Duration>, Duration)> {
        let params = json!({ "name": tool, "arguments": { "message": "hello" } });
        let (mut since, mut times) = (BTreeMap::new(), Vec::new());
        let start = Instant::now();
        let mut sent = 0;
        while times.len() < calls {
            while sent < calls && since.len() < at_once {
                since.insert(self.send("tools/call", &params)?, Instant::now());
                sent += 1;
            }
            let answer = self.answer()?;
            let is_well =
                answer.pointer("/result/isError") != Some(&json!(true)) && answer.get("result").is_some();
            if !is_well {
                return Err(format!("{tool}: {answer}"));
            }
            let id = answer["id"].as_u64().unwrap_or_default();
            times.extend(since.remove(&id).map(|at| at.elapsed()));
        }
        times.sort();
        Ok((times, start.elapsed()))
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

impl Bench {
    fn command(&self, place: &str) -> Command {
        let place = self.scratch.join(place);
        let mut command = Command::new(&self.program);
        command
            .args(["--root", &place.join("root").display().to_string()])
            .env("XDG_CONFIG_HOME", place.join("config"))
            .env("XDG_STATE_HOME", place.join("state"))
            .env_remove("LOG_LEVEL");
        command
    }

    /// A place with this configuration.
    fn place(&self, place: &str, config: &str) -> Done {
        let own = self.scratch.join(place);
        let made = fs::create_dir_all(own.join("root"))
            .and_then(|()| fs::create_dir_all(own.join("config/gatewright")))
            .and_then(|()| {
                let config = format!("[limits]\nenabled = false\n{config}");
                fs::write(own.join("config/gatewright/config.toml"), config)
            });
        made.map_err(|e| e.to_string())
    }

    fn said(&self, place: &str, args: &[&str]) -> Done<String> {
        let out = self.command(place).args(args).output().map_err(|e| e.to_string())?;
        if !out.status.success() {
            return Err(format!("{args:?}: {}", String::from_utf8_lossy(&out.stderr)));
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn calls(&self, script: &Path) -> Done {
        let script = script.display().to_string();
        let table = format!("[upstreams.every]\ncommand = \"node\"\nargs = [{script:?}]\n");
        self.place("calls", &table)?;
        self.said("calls", &["approvals", "diff"])?;
        self.said("calls", &["approvals", "accept", "every__echo"])?;
        let itself = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut direct = Command::new("node");
        direct.arg(&script);
        let mut proxied = Command::new(itself);
        proxied.args(["gateway-proxy", "node"]).arg(&script);
        let mut ours = self.command("calls");
        ours.arg("serve");
        self.heading("calls of `echo` of server-everything over its streams");
        let mut first = BTreeMap::new();
        for (name, tool, command) in [
            ("direct", "echo", &mut direct),
            ("proxy", "echo", &mut proxied),
            ("gatewright", "every__echo", &mut ours),
        ] {
            let mut server = Spoken::start(command)?;
            // The first call starts what is behind it.
            server.ask("tools/call", &json!({ "name": tool, "arguments": { "message": "hello" } }))?;
            for at_once in CONCURRENCY {
                let mut row = Row::default();
                for _ in 0..self.size.rounds {
                    let (took, whole) = server.spell(tool, (self.size.calls, at_once))?;
                    row.add(&took, whole);
                }
                row.say(name, at_once, &mut first);
            }
        }
        Ok(())
    }

    fn heading(&self, what: &str) {
        let Size { calls, rounds, .. } = self.size;
        println!("\n{what}: {rounds} spells of {calls} calls, medians");
        println!(
            "{:<12} {:>9} {:>9} {:>9} {:>10} {:>10}",
            "", "in flight", "p50 ms", "p99 ms", "calls/s", "added p50"
        );
    }

    fn starts(&self, script: &Path) -> Done {
        let script = script.display().to_string();
        println!(
            "\nfrom the start to the answer to tools/list: medians of {} starts, upstreams that nobody calls",
            self.size.starts
        );
        for count in UPSTREAMS {
            let tables = (0..count).map(|n| {
                format!(
                    "[upstreams.every{}]\ncommand = \"node\"\nargs = [{script:?}]\n",
                    char::from(b'a' + u8::try_from(n).unwrap_or_default())
                )
            });
            let place = format!("starts-{count}");
            self.place(&place, &tables.collect::<String>())?;
            let mut took = Vec::new();
            for _ in 0..self.size.starts {
                let began = Instant::now();
                let mut server = Spoken::start(self.command(&place).arg("serve"))?;
                server.ask("tools/list", &json!({}))?;
                took.push(millis(began.elapsed()));
            }
            println!("{count:>3} upstreams {:>8.1} ms", median(took));
        }
        Ok(())
    }

    fn menu(&self) -> Done {
        let folder = self.scratch.join("server");
        let script = folder.join("many.py");
        fs::create_dir_all(&folder).and_then(|()| fs::write(&script, MANY)).map_err(|e| e.to_string())?;
        let (script, count) = (script.display().to_string(), TOOLS.to_string());
        let table =
            format!("[upstreams.many]\ncommand = \"/usr/bin/python3\"\nargs = [{script:?}, {count:?}]\n");
        self.place("menu", &table)?;
        self.place("none", "")?;
        self.said("menu", &["approvals", "diff"])?;
        let names: Vec<String> = (0..TOOLS).map(|n| format!("many__tool_{n}")).collect();
        let mut accept = vec!["approvals", "accept"];
        accept.extend(names.iter().map(String::as_str));
        self.said("menu", &accept)?;
        println!(
            "\nmenus with {TOOLS} approved tools of an upstream: a million characters are 275,000 tokens"
        );
        for (what, place, args) in [
            ("automatic, no upstream", "none", &["serve"][..]),
            ("automatic", "menu", &["serve"]),
            ("all of it", "menu", &["serve", "--toolsets", "all"]),
        ] {
            let mut server = Spoken::start(self.command(place).args(args))?;
            let mut tools = Vec::new();
            let mut params = json!({});
            loop {
                let listed = server.ask("tools/list", &params)?;
                tools.extend(listed["result"]["tools"].as_array().cloned().unwrap_or_default());
                match listed["result"].get("nextCursor") {
                    Some(cursor) if !cursor.is_null() => params = json!({ "cursor": cursor }),
                    _ => break,
                }
            }
            let of_upstream =
                tools.iter().filter(|t| t["name"].as_str().is_some_and(|n| n.starts_with("many__"))).count();
            let shown = tools.iter().map(|tool| {
                let head = json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] });
                head.to_string().chars().count()
            });
            let characters: usize = shown.sum();
            println!(
                "{what:<24} {:>4} tools, {of_upstream:>4} of the upstream {:>9} tokens",
                tools.len(),
                characters * 275 / 1_000
            );
        }
        Ok(())
    }
}
