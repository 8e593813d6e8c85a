//! What the analysis of a failed run costs, for as much output as it reads. A figure is one line of JSON;
//! `cargo xtask bench runs` makes a table of them.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench prints and may fail loudly"
)]

use std::path::Path;
use std::time::Instant;

use gatewright_failures::{ANALYSED_BYTES, Analyzer, FailedRun};
use serde_json::json;

const ROUNDS: usize = 9;

fn main() {
    let log = "2026-11-22T12:00:00.000Z INFO  building module 17 of 203, nothing unusual happened here\n";
    let missing = "main.go:6:2: no required module provides package github.com/google/uuid; to add it:\n";
    let fill = |text: &str| {
        let mut all = text.repeat(ANALYSED_BYTES / text.len());
        all.truncate(ANALYSED_BYTES - missing.len());
        all.truncate(all.rfind('\n').map_or(0, |end| end + 1));
        all
    };
    let inputs = [
        ("a log, and one failure at its end", fill(log) + missing),
        ("every captured failure, again and again", fill(&captured())),
    ];
    for (name, text) in &inputs {
        let run = FailedRun { program: "go", exit_code: Some(1), stderr: text, ..FailedRun::default() };
        // Expressions are compiled when they are first needed: that is what a first call pays.
        let began = Instant::now();
        let analyzer = Analyzer::new(&[]).unwrap();
        let findings = analyzer.analyze(&run).findings.len();
        let first = began.elapsed().as_secs_f64() * 1e3;
        assert!(findings > 0, "{name}: nothing was found");
        let mut millis: Vec<f64> = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            std::hint::black_box(analyzer.analyze(&run));
            millis.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let line = json!({
            "part": "failures", "work": name, "way": "warm", "millis": millis, "first": first,
            "bytes": text.len(), "found": findings,
        });
        println!("{line}");
    }
}

/// What all captured runs said.
fn captured() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .flat_map(|pattern| std::fs::read_dir(pattern.path()).into_iter().flatten().flatten())
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    files.sort();
    let said = |path: &Path| {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        text.split_once("--- stdout\n").map(|(_, said)| said.replace("--- stderr\n", "")).unwrap_or_default()
    };
    files.iter().map(|path| said(path)).collect()
}
