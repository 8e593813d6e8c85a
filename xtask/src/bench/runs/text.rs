//! What is read of programs' output: reports, and why a run failed.

use serde_json::Value;

use crate::bench::samples::{Samples, bench};
use crate::sh::Done;

/// Megabytes per second.
fn rate(line: &Value) -> f64 {
    line["bytes"].as_f64().unwrap_or(f64::NAN) / 1e6 / (Samples::said(line).median() / 1e3)
}

pub(super) fn parsers() -> Done {
    let lines = bench("gatewright-reports", "parsers", None, None)?;
    println!(
        "\nreports: captured output again and again, each copy with paths of its own; median of 7 readings"
    );
    println!("{:<18} {:<32} {:>6} {:>9} {:>9}", "format", "captured as", "MB", "found", "MB/s");
    for line in &lines {
        let (format, file) = (line["work"].as_str().unwrap_or("?"), line["way"].as_str().unwrap_or("?"));
        let megabytes = line["bytes"].as_f64().unwrap_or(f64::NAN) / 1e6;
        let found = line["found"].as_u64().unwrap_or_default();
        println!("{format:<18} {file:<32} {megabytes:>6.1} {found:>9} {:>9.0}", rate(line));
    }
    Ok(())
}

pub(super) fn failures() -> Done {
    let lines = bench("gatewright-failures", "analysis", None, None)?;
    println!("\nfailure analysis of 1 MiB, ms; first: with the patterns compiled, once in a process");
    println!("{:<42} {:>8} {:>8} {:>8} {:>9}", "", "p50", "p95", "first", "MB/s");
    for line in &lines {
        let times = Samples::said(line);
        println!(
            "{:<42} {:>8.1} {:>8.1} {:>8.1} {:>9.0}",
            line["work"].as_str().unwrap_or("?"),
            times.median(),
            times.p95(),
            line["first"].as_f64().unwrap_or(f64::NAN),
            rate(line)
        );
    }
    Ok(())
}
