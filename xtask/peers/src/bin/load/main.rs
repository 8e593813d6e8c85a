//! Puts servers under load, in turn, and prints what came of it as JSON. The plan comes on standard input.
#![allow(clippy::disallowed_methods, reason = "it starts servers, and reads what the system knows of them")]
#![allow(unreachable_pub, reason = "a binary has no public surface")]

mod http;
mod process;
mod stdio;
mod wire;

use std::time::{Duration, Instant};

use gatewright_peers::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use http::Web;
use process::Process;
use stdio::Line;
use wire::{Era, Spell, Talk};

/// Time uncounted before each spell: connections open, code is in memory.
const WARM: Duration = Duration::from_millis(100);

/// Time that a server has to come to rest before its idle memory is read.
const REST: Duration = Duration::from_millis(400);

/// What is to be done.
#[derive(Debug, Deserialize)]
struct Plan {
    peers: Vec<Peer>,
    tool: String,
    arguments: Value,
    /// Calls in flight.
    concurrency: Vec<usize>,
    /// Spells for each.
    rounds: usize,
    /// How long a spell is.
    millis: u64,
    /// How often each is started, to see how long that takes.
    starts: usize,
}

/// A server, and how it is started.
#[derive(Debug, Deserialize)]
struct Peer {
    name: String,
    stdio: Vec<String>,
    /// `{address}` is replaced.
    http: Vec<String>,
    /// As `http`, for the era with sessions.
    sessions: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct Given {
    starts: Vec<Start>,
    runs: Vec<Run>,
    memory: Vec<Memory>,
}

/// Milliseconds from the start to the first list of tools.
#[derive(Debug, Serialize)]
struct Start {
    peer: String,
    millis: Vec<f64>,
}

/// One peer under one load; a figure for each round.
#[derive(Debug, Serialize)]
struct Run {
    peer: String,
    transport: &'static str,
    era: Era,
    concurrency: usize,
    per_second: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    /// Processor time of the server, in microseconds a call, over all rounds.
    processor: f64,
    /// Bytes of an answer's body.
    answer: usize,
    /// Bytes of a request's body.
    request: usize,
}

/// In KiB.
#[derive(Debug, Serialize)]
struct Memory {
    peer: String,
    transport: &'static str,
    era: Era,
    /// At rest, its tools listed.
    idle: u64,
    /// At rest after a first call.
    called: u64,
    /// The most that there was.
    most: u64,
}

enum Server {
    Line(Line),
    Web(Web),
}

impl Server {
    fn process(&self) -> &Process {
        match self {
            Self::Line(line) => &line.process,
            Self::Web(web) => &web.process,
        }
    }

    fn load(&mut self, awaited: usize, spell: Duration) -> Result<Spell, Error> {
        match self {
            Self::Line(line) => line.load(awaited, spell),
            Self::Web(web) => web.load(awaited, spell),
        }
    }
}

fn starts(plan: &Plan, talk: &Talk) -> Result<Vec<Start>, Error> {
    let mut all: Vec<Start> =
        plan.peers.iter().map(|p| Start { peer: p.name.clone(), millis: Vec::new() }).collect();
    // The first start of each is uncounted: it brings files into memory, and begins what is kept on disk.
    for round in 0..=plan.starts {
        for (peer, start) in plan.peers.iter().zip(&mut all) {
            let (_, took) = Line::start(&peer.stdio, talk).map_err(|e| format!("{}: {e}", peer.name))?;
            if round > 0 {
                start.millis.push(took.as_secs_f64() * 1e3);
            }
        }
    }
    Ok(all)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn runs(plan: &Plan, transport: &'static str, talk: &Talk, given: &mut Given) -> Result<(), Error> {
    let era = talk.era;
    let mut servers = Vec::new();
    for peer in &plan.peers {
        let server = match (transport, era) {
            ("stdio", _) => Line::start(&peer.stdio, talk).map(|(line, _)| Server::Line(line)),
            (_, Era::Stateless) => Web::start(&peer.http, talk).map(Server::Web),
            (_, Era::Session) => Web::start(&peer.sessions, talk).map(Server::Web),
        };
        servers.push(server.map_err(|e| format!("{} over {transport}, {}: {e}", peer.name, era.version()))?);
    }
    std::thread::sleep(REST);
    let memory = |servers: &[Server]| -> Result<Vec<u64>, Error> {
        servers.iter().map(|server| server.process().memory()).collect()
    };
    let idle = memory(&servers)?;
    for server in &mut servers {
        server.load(1, Duration::ZERO)?;
    }
    std::thread::sleep(REST);
    let called = memory(&servers)?;
    let spell = Duration::from_millis(plan.millis);
    for &concurrency in &plan.concurrency {
        let mut all: Vec<Run> = plan
            .peers
            .iter()
            .map(|peer| Run {
                peer: peer.name.clone(),
                transport,
                era,
                concurrency,
                per_second: Vec::new(),
                p50: Vec::new(),
                p99: Vec::new(),
                processor: 0.0,
                answer: 0,
                request: talk.call().len(),
            })
            .collect();
        let mut calls = vec![0; servers.len()];
        for _ in 0..plan.rounds {
            for ((server, run), calls) in servers.iter_mut().zip(&mut all).zip(&mut calls) {
                let named = |e| format!("{} over {transport}, {}: {e}", run.peer, era.version());
                server.load(concurrency, WARM).map_err(named)?;
                let before = server.process().ticks()?;
                let mut one = server.load(concurrency, spell).map_err(named)?;
                run.processor += (server.process().ticks()? - before) as f64 * 1e4;
                one.took.sort_unstable();
                let at = |hundredth: usize| {
                    one.took.get(one.took.len() * hundredth / 100).map_or(0.0, |t| t.as_secs_f64() * 1e6)
                };
                run.p50.push(at(50));
                run.p99.push(at(99));
                run.per_second.push(one.took.len() as f64 / one.elapsed.as_secs_f64());
                run.answer = one.answer;
                *calls += one.took.len();
            }
        }
        for (run, calls) in all.iter_mut().zip(calls) {
            run.processor /= calls as f64;
        }
        given.runs.extend(all);
    }
    for (((peer, server), idle), called) in plan.peers.iter().zip(&servers).zip(idle).zip(called) {
        let most = server.process().peak()?;
        given.memory.push(Memory { peer: peer.name.clone(), transport, era, idle, called, most });
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let plan: Plan = serde_json::from_reader(std::io::stdin().lock())?;
    let talk = |era| Talk { era, tool: plan.tool.clone(), arguments: plan.arguments.clone() };
    let began = Instant::now();
    let mut given = Given { starts: starts(&plan, &talk(Era::Stateless))?, ..Given::default() };
    for transport in ["stdio", "http"] {
        for era in [Era::Stateless, Era::Session] {
            runs(&plan, transport, &talk(era), &mut given)?;
        }
    }
    eprintln!("{:.0} s", began.elapsed().as_secs_f64());
    serde_json::to_writer(std::io::stdout().lock(), &given)?;
    Ok(())
}
