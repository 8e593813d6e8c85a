//! What a call costs, with the ledger and without its sync; the ledger and the jail alone. Medians of interleaved rounds.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench prints and may fail loudly"
)]

use std::sync::Arc;
use std::time::Instant;

use audit::gain::book::CAP;
use audit::gain::{Errors, Rules, of_ledger};
use audit::verify::{With, verify};
use audit::{Body, Durability, Intent, Ledger};
use contract::{Digest, FileMode, PlanId, RelPath, Toolset, TranscriptId};
use exec::View;
use gatewright_kit as kit;
use kit::testing::Bench;
use kit::{Answer, Change, ChangeDesk, Define, Doc, Entry, Family, Read, ReadDesk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 7;
const CALLS: usize = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A text.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The same text.
    text: String,
}

#[derive(Default)]
struct Echo;

impl Define for Echo {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "echo";
    const TOOLSET: Toolset = Toolset("bench");
    const DOC: Doc = Doc { title: "Echo", description: "Answers what it was given." };

    fn examples() -> Vec<Value> {
        vec![json!({ "text": "x" })]
    }
}

impl Read for Echo {
    async fn read(&self, input: Input, _desk: ReadDesk) -> Result<Answer<Output>, contract::Fault> {
        Ok(Answer::new("ok".into(), Output { text: input.text }))
    }
}

#[derive(Default)]
struct Write;

impl Define for Write {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "write";
    const TOOLSET: Toolset = Toolset("bench");
    const DOC: Doc = Doc { title: "Write", description: "Puts a small file." };

    fn examples() -> Vec<Value> {
        vec![json!({ "text": "x" })]
    }
}

impl Change for Write {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, contract::Fault> {
        let path = RelPath::new("written").map_err(|e| contract::Fault::invalid(e.to_string()))?;
        desk.put(&path, input.text.clone().into_bytes(), FileMode::Regular)?;
        Ok(Answer::new("ok".into(), Output { text: input.text }))
    }
}

static FAMILY: Family = Family {
    name: "bench",
    guide: "Benches.",
    shelves: &[],
    markers: &[],
    toolsets: &[Toolset("bench")],
    tools: &[Entry::read::<Echo>(), Entry::change::<Write>()],
    sections: &[],
};

fn intent() -> Body {
    Body::Intent(Intent {
        id: TranscriptId::random().unwrap(),
        tool_name: "bench".into(),
        plan_id: Some(PlanId::from_digest(Digest::ZERO)),
        principal: "local:0".into(),
        timestamp: "2026-01-01T00:00:00.000Z".into(),
    })
}

/// Microseconds per operation.
fn time(count: usize, mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..count {
        work();
    }
    began.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(count).unwrap())
}

fn main() {
    let bench = Bench::new(&[&FAMILY], &[("dir/file", "content")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let view = View::new(Arc::clone(bench.engine.root().unwrap()), CancellationToken::new());
    let path = RelPath::new("dir/file").unwrap();
    let arguments = json!({ "text": "x".repeat(100) });
    let mut rows: Vec<(&str, Vec<f64>)> = [
        "a call of an echo tool, whole pipeline, limits off (100 bytes in and out)",
        "a rehearsal of one small file",
        "an apply of one small file: rehearsed, journalled, recorded, all of it synced",
        "a ledger append, synced within 100 ms",
        "a ledger append, on disk before it returns (fdatasync, checkpoint)",
        "a jail open and read of a small file",
    ]
    .map(|name| (name, Vec::new()))
    .to_vec();
    for _ in 0..ROUNDS {
        let call = || {
            runtime.block_on(bench.engine.call(bench.request("echo", arguments.clone()))).result.unwrap();
        };
        rows[0].1.push(time(CALLS, call));
        let mut number = 0;
        let mut write = |apply: bool| {
            number += 1;
            let arguments = json!({ "text": format!("{number}-{}", rows.len()), "apply": apply });
            runtime.block_on(bench.engine.call(bench.request("write", arguments))).result.unwrap();
        };
        let (rehearsed, applied) = (time(CALLS, || write(false)), time(CALLS / 8, || write(true)));
        rows[1].1.push(rehearsed);
        rows[2].1.push(applied);
        rows[3].1.push(time(CALLS * 5, || drop(ledger.append(&intent(), Durability::Soon).unwrap())));
        rows[4].1.push(time(CALLS / 4, || drop(ledger.append(&intent(), Durability::Now).unwrap())));
        rows[5].1.push(time(CALLS * 20, || drop(view.read(&path).unwrap())));
    }
    for (name, times) in &mut rows {
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        println!("{median:>9.1} µs {:>10.0}/s  {name}", 1e6 / median);
    }
    let with = With { initial_key: ledger.initial_key(), ..With::default() };
    let began = Instant::now();
    let report = verify(dir.path(), &with, |_| {}).unwrap();
    let seconds = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a figure to print")]
    let rate = report.records as f64 / seconds;
    println!(
        "{:>9.1} ms {rate:>10.0}/s  verification of {} records, every MAC checked",
        seconds * 1e3,
        report.records
    );
    assert!(report.intact);
    gain(&bench);
    redaction();
}

/// What `gatewright gain` reads and adds up: records of real calls, in an order that leaves nothing to be forgotten.
fn gain(bench: &Bench) {
    const RECORDS: usize = 100_000;
    let transcripts = bench.transcripts();
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    for transcript in transcripts.iter().cycle().take(RECORDS) {
        ledger.append(&Body::Transcript(Box::new(transcript.clone())), Durability::Soon).unwrap();
    }
    drop(ledger);
    let segments = std::fs::read_dir(dir.path().join("segments")).unwrap();
    let bytes: u64 = segments.map(|segment| segment.unwrap().metadata().unwrap().len()).sum();
    let mut seconds: Vec<f64> = (0..5)
        .map(|_| {
            let began = Instant::now();
            let rules = Rules { cap: CAP, since: None, errors: Errors::measured().unwrap() };
            let gain = of_ledger(dir.path(), rules).unwrap();
            assert_eq!((gain.records.measured, gain.records.damaged), (RECORDS as u64, 0));
            began.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a figure to print")]
    let rate = RECORDS as f64 / seconds[2];
    println!(
        "{:>9.1} ms {rate:>10.0}/s  gain, read from {RECORDS} records of {} bytes each, the ledger in memory",
        seconds[2] * 1e3,
        bytes / RECORDS as u64
    );
}

/// R06: 50 MB of a program's output, plain and with a secret in every hundredth line.
fn redaction() {
    let redactor = audit::Redactor::new(&["correct horse battery staple".to_owned()], [1; 32]);
    let line = "2026-11-21T12:00:00.000Z INFO  compiling crates/example/src/lib.rs (17 of 203), 0 warnings\n";
    let secret = "export API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 # correct horse battery staple\n";
    let plain = line.repeat(50_000_000 / line.len());
    let block = line.repeat(99) + secret;
    let mixed = block.repeat(50_000_000 / block.len());
    for (name, text) in [("plain", &plain), ("one line in a hundred has secrets", &mixed)] {
        let mut rates: Vec<f64> = (0..5)
            .map(|_| {
                let began = Instant::now();
                let clean = redactor.text(text);
                assert!(!clean.contains("ghp_0123"));
                #[expect(clippy::cast_precision_loss, reason = "a figure to print")]
                let bytes = text.len() as f64;
                bytes / 1e6 / began.elapsed().as_secs_f64()
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        println!("{:>9.1} MB/s           redaction of 50 MB of a program's output: {name}", rates[2]);
    }
}
