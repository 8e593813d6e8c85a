//! A whole call of a tool that starts a program, through a server over standard input and output.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::bench::samples::{Samples, timed};
use crate::sh::Done;

/// Counted rounds; some more go before.
const ROUNDS: usize = 100;

pub(super) fn measure(ours: &Path, scratch: &Path) -> Done {
    let root = scratch.join("root");
    let io = |e: std::io::Error| format!("{}: {e}", root.display());
    fs::create_dir_all(&root).map_err(io)?;
    fs::write(root.join("Makefile"), ".PHONY: build\nbuild:\n\t@true\n").map_err(io)?;
    timed(&root, &["git", "init", "--quiet"])?;
    let mut session = super::place(ours, &root, scratch)?.serve()?;
    let (mut plain, mut called, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS + ROUNDS / 10 {
        let (alone, _) = timed(&root, &["make", "build"])?;
        let (took, given) = session.timed("make_build", &json!({}))?;
        if round >= ROUNDS / 10 {
            plain.push(alone);
            called.push(took);
            ran.push(std::time::Duration::from_millis(given["runs"][0]["duration"].as_u64().unwrap_or(0)));
        }
    }
    session.finish()?;
    let [plain, called, ran] = [plain, called, ran].map(|times| Samples::of(&times));
    println!("\na whole call: a recipe that is `true`, ms, median of {ROUNDS} interleaved rounds");
    println!("{:<44} {:>8} {:>8} {:>10} {:>10} {:>8}", "", "p50", "p95", "over p50", "over p95", "ratio");
    let rows = [
        ("make, as a process", &plain),
        ("make_build, by a server over stdio", &called),
        ("  of it the run, as the answer says", &ran),
    ];
    for (name, times) in rows {
        println!(
            "{name:<44} {:>8.2} {:>8.2} {:>10.2} {:>10.2} {:>7.1}x",
            times.median(),
            times.p95(),
            times.median() - plain.median(),
            times.p95() - plain.p95(),
            times.median() / plain.median()
        );
    }
    Ok(())
}
