//! What the protocol costs: gatewright beside a bare loop, a minimal server on the same library and the TypeScript SDK, all
//! under the same load in the same run.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::node;
use crate::sh::{Done, output, step, target, top};

/// Spells of load for each peer, transport, era and concurrency; the median counts.
const ROUNDS: u64 = 5;

/// How long a spell is.
const MILLIS: u64 = 400;

/// How often each peer is started.
const STARTS: u64 = 15;

/// Calls in flight.
const CONCURRENCY: [u64; 3] = [1, 16, 64];

/// The eras of the protocol: the first is the one whose figures are those of the aims; the other's are said beside them.
const ERAS: [&str; 2] = ["2026-07-28", "2025-11-25"];

const BARE: &str = "bare";
const RMCP: &str = "rmcp-minimal";
const TYPESCRIPT: &str = "ts-sdk";
const OURS: &str = "gatewright";

/// The smallest tool that only looks, with a question that finds nothing: what is measured is all that surrounds it.
const TOOL: &str = "tools_search";

fn arguments() -> Value {
    json!({ "query": "zebra" })
}

/// Counting calls would refuse the sixty-first of a minute.
const CONFIG: &str = "# Written by `cargo xtask bench protocol`.\n[limits]\nenabled = false\n";

/// What was asked for.
struct Asked {
    rounds: u64,
    /// A gatewright that is built already; else what is shipped is built.
    program: Option<PathBuf>,
}

impl Asked {
    fn read(words: &[&str]) -> Done<Self> {
        let mut asked = Self { rounds: ROUNDS, program: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Ok(rounds) = word.parse::<u64>() {
                asked.rounds = rounds.max(1);
            } else if *word == "--program" {
                let value = *words.next().ok_or_else(|| format!("{word} needs a value"))?;
                let path = fs::canonicalize(value).map_err(|e| format!("--program {value}: {e}"))?;
                asked.program = Some(path);
            } else {
                return Err(format!("{word}: bench protocol takes ROUNDS, --program PATH"));
            }
        }
        Ok(asked)
    }
}

pub(crate) fn run(words: &[&str]) -> Done {
    let Asked { rounds, program } = Asked::read(words)?;
    let typescript = node::PROTOCOL.install()?.join("server.mjs").display().to_string();
    let ours = program.map_or_else(crate::shipped::build, Ok)?.display().to_string();
    println!("program: {ours}");
    let peers = peers()?;
    let scratch = target().join("bench-protocol");
    let _ = fs::remove_dir_all(&scratch);
    let io = |e: std::io::Error| e.to_string();
    fs::create_dir_all(scratch.join("root")).map_err(io)?;
    fs::create_dir_all(scratch.join("config/gatewright")).map_err(io)?;
    fs::write(scratch.join("config/gatewright/config.toml"), CONFIG).map_err(io)?;
    let root = scratch.join("root").display().to_string();
    let peer = |name: &str, program: &[&str], http: &[&str], sessions: &[&str]| {
        let (http, sessions) = ([program, http].concat(), [program, sessions].concat());
        json!({ "name": name, "stdio": program, "http": http, "sessions": sessions })
    };
    let (bare, rmcp) = (format!("{peers}/{BARE}"), format!("{peers}/{RMCP}"));
    let (http, sessions) = (["--http", "{address}"], ["--http", "{address}", "--sessions"]);
    let loopback = ["--http", "{address}", "--insecure-loopback"];
    let plan = json!({
        "peers": [
            peer(BARE, &[&bare], &http, &http),
            peer(RMCP, &[&rmcp], &http, &sessions),
            peer(TYPESCRIPT, &["node", &typescript], &http, &sessions),
            peer(OURS, &[&ours, "--root", &root, "serve"], &loopback, &loopback),
        ],
        "tool": TOOL,
        "arguments": arguments(),
        "concurrency": CONCURRENCY,
        "rounds": rounds,
        "millis": MILLIS,
        "starts": STARTS,
    });
    let given = under_load(&format!("{peers}/load"), &plan, &scratch.display().to_string())?;
    let _ = fs::remove_dir_all(&scratch);
    Figures(given).print(&plan);
    Ok(())
}

/// Builds the peers; where they are.
fn peers() -> Done<String> {
    let manifest = top().join("xtask/peers/Cargo.toml").display().to_string();
    let place = target().join("peers").display().to_string();
    let args =
        ["build", "--locked", "--profile", "dist", "--manifest-path", &manifest, "--target-dir", &place];
    step("cargo", Command::new("cargo").args(args).current_dir(top()), &args)?;
    Ok(format!("{place}/dist"))
}

/// Runs the load, before others where that is permitted.
fn under_load(load: &str, plan: &Value, scratch: &str) -> Done<Value> {
    let first = output("nice", &["-n", "-5", "true"]).is_ok();
    println!("\n▶ load{}", if first { " (nice -n -5)" } else { "" });
    let words: &[&str] = if first { &["nice", "-n", "-5", load] } else { &[load] };
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env("XDG_CONFIG_HOME", format!("{scratch}/config"))
        .env("XDG_STATE_HOME", format!("{scratch}/state"))
        .env_remove("LOG_LEVEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{load}: {e}"))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(plan.to_string().as_bytes()).map_err(|e| e.to_string())?;
    }
    let ended = child.wait_with_output().map_err(|e| e.to_string())?;
    if !ended.status.success() {
        return Err(format!("✗ load ({})", ended.status));
    }
    serde_json::from_slice(&ended.stdout).map_err(|e| e.to_string())
}

/// What the load gave.
struct Figures(Value);

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn median(values: &Value) -> f64 {
    let mut all: Vec<f64> = values.as_array().into_iter().flatten().map(number).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

const fn word(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

impl Figures {
    /// The entry of `list` whose fields have these values.
    fn find(&self, list: &str, wanted: &[(&str, Value)]) -> &Value {
        let fits = |entry: &&Value| wanted.iter().all(|(field, value)| &entry[field] == value);
        self.0[list].as_array().into_iter().flatten().find(fits).unwrap_or(&Value::Null)
    }

    fn spell(&self, peer: &str, transport: &str, era: &str, concurrency: u64) -> &Value {
        self.find(
            "runs",
            &[
                ("peer", peer.into()),
                ("transport", transport.into()),
                ("era", era.into()),
                ("concurrency", concurrency.into()),
            ],
        )
    }

    /// Calls per second.
    fn rate(&self, peer: &str, transport: &str, era: &str, concurrency: u64) -> f64 {
        median(&self.spell(peer, transport, era, concurrency)["per_second"])
    }

    fn start(&self, peer: &str) -> f64 {
        median(&self.find("starts", &[("peer", peer.into())])["millis"])
    }

    /// MiB at rest, after a first call, and at most.
    fn memory(&self, peer: &str, transport: &str, era: &str) -> [f64; 3] {
        let wanted = [("peer", peer.into()), ("transport", transport.into()), ("era", era.into())];
        let entry = self.find("memory", &wanted);
        ["idle", "called", "most"].map(|field| number(&entry[field]) / 1024.0)
    }

    fn print(&self, plan: &Value) {
        println!(
            "\n{OURS} runs its whole pipeline: arguments and results held to their schemas, authorisation, policy, \
             redaction, and a record of each call, synced in the background as always for calls that only look. Its \
             limits are off by its own configuration ([limits] enabled = false): they refuse more than 60 calls a minute. \
             {RMCP} and {BARE} do none of this.\nMedians of {} interleaved spells of {MILLIS} ms; {} {}; load, server and \
             whatever else runs share the same cores. At c=1 the figure is mostly where the scheduler puts the two \
             processes: processor time tells more.",
            plan["rounds"], plan["tool"], plan["arguments"]
        );
        for transport in ["stdio", "http"] {
            for era in ERAS {
                self.table(transport, era);
            }
        }
        println!(
            "\nmemory in MiB: idle / after a first call / most\n{:<13} {:>14} {:>22} {:>22}",
            "", "first list ms", "stdio", "http"
        );
        for peer in [BARE, RMCP, TYPESCRIPT, OURS] {
            let [stdio, http] = ["stdio", "http"].map(|transport| {
                let [idle, called, most] = self.memory(peer, transport, ERAS[0]);
                format!("{idle:.1} / {called:.1} / {most:.1}")
            });
            println!("{peer:<13} {:>14.1} {stdio:>22} {http:>22}", self.start(peer));
        }
        self.aims();
    }

    fn table(&self, transport: &str, era: &str) {
        let sessions =
            if era == ERAS[1] && transport == "http" { ", a session for each connection" } else { "" };
        let asked = &self.spell(OURS, transport, era, 1)["request"];
        let sizes: Vec<String> = [BARE, RMCP, TYPESCRIPT, OURS]
            .map(|peer| format!("{peer} {}", self.spell(peer, transport, era, 1)["answer"]))
            .to_vec();
        println!("\n{transport}, {era}{sessions}: {asked} bytes asked; answered: {}", sizes.join(", "));
        println!(
            "{:>3} {:<13} {:>9} {:>9} {:>9} {:>12} {:>9} {:>9} {:>9}",
            "c", "", "calls/s", "p50 µs", "p99 µs", "CPU µs/call", "of bare", "of rmcp", "of ts"
        );
        for concurrency in CONCURRENCY {
            for peer in [BARE, RMCP, TYPESCRIPT, OURS] {
                let spell = self.spell(peer, transport, era, concurrency);
                let rate = median(&spell["per_second"]);
                let of = |other: &str| rate / self.rate(other, transport, era, concurrency);
                println!(
                    "{concurrency:>3} {peer:<13} {rate:>9.0} {:>9.0} {:>9.0} {:>12.1} {:>8.2}x {:>8.2}x {:>8.2}x",
                    median(&spell["p50"]),
                    median(&spell["p99"]),
                    number(&spell["processor"]),
                    of(BARE),
                    of(RMCP),
                    of(TYPESCRIPT),
                );
            }
        }
    }

    fn aims(&self) {
        println!("\naims");
        let ratio = |other: &str, transport: &str, era: &str, concurrency: u64| {
            self.rate(OURS, transport, era, concurrency) / self.rate(other, transport, era, concurrency)
        };
        for era in ERAS {
            for (transport, least) in [("http", 1.0), ("stdio", 0.5)] {
                for concurrency in CONCURRENCY {
                    let there = ratio(RMCP, transport, era, concurrency);
                    println!(
                        "{:<7} {transport}, {era}, c={concurrency}: at least {least} x {RMCP}: {there:.2} x",
                        word(there >= least)
                    );
                }
            }
            let there = ratio(TYPESCRIPT, "http", era, 16);
            println!(
                "{:<7} http, {era}, c=16: at least 10 x {TYPESCRIPT}: {there:.1} x",
                word(there >= 10.0)
            );
        }
        let there = self.start(OURS) / self.start(RMCP);
        println!("{:<7} from start to first list: at most 1.5 x {RMCP}: {there:.2} x", word(there <= 1.5));
        for transport in ["stdio", "http"] {
            let [idle, ..] = self.memory(OURS, transport, ERAS[0]);
            println!("{:<7} {transport}: less than 15 MB idle: {idle:.1} MiB", word(idle * 1.048_576 < 15.0));
        }
    }
}
