//! Times, what is said of them, and what they are held to.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sh::{Done, top};

/// Milliseconds, in order.
#[derive(Debug, Clone, Default)]
pub(in crate::bench) struct Samples(Vec<f64>);

impl Samples {
    pub(in crate::bench) fn of(times: &[Duration]) -> Self {
        Self::sorted(times.iter().map(|time| time.as_secs_f64() * 1e3).collect())
    }

    /// The list called `millis` in what a bench said.
    pub(in crate::bench) fn said(line: &Value) -> Self {
        Self::sorted(line["millis"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect())
    }

    fn sorted(mut millis: Vec<f64>) -> Self {
        millis.sort_by(f64::total_cmp);
        Self(millis)
    }

    /// The value that so many percent are not above.
    fn at(&self, percent: usize) -> f64 {
        let index = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(index).copied().unwrap_or(f64::NAN)
    }

    pub(in crate::bench) fn median(&self) -> f64 {
        self.at(50)
    }

    pub(in crate::bench) fn p99(&self) -> f64 {
        self.at(99)
    }

    pub(in crate::bench) fn p95(&self) -> f64 {
        self.at(95)
    }
}

/// Something that was set out to be reached.
pub(in crate::bench) struct Aim {
    pub(in crate::bench) met: bool,
    pub(in crate::bench) what: String,
    pub(in crate::bench) there: String,
}

impl Aim {
    pub(in crate::bench) fn print(&self) {
        println!("{:<7} {}: {}", if self.met { "met" } else { "missed" }, self.what, self.there);
    }
}

/// Runs a program to its end in `dir`, with nothing to read; what it printed, and how long it took.
pub(in crate::bench) fn timed(dir: &std::path::Path, words: &[&str]) -> Done<(Duration, String)> {
    let [program, args @ ..] = words else { return Err("no program".to_owned()) };
    let began = Instant::now();
    let out = Command::new(program)
        .args(args)
        .current_dir(dir)
        // Looking refreshes no index: the repository may be somebody's own.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("{program} could not be started: {e}"))?;
    let took = began.elapsed();
    if out.status.success() {
        return Ok((took, String::from_utf8_lossy(&out.stdout).into_owned()));
    }
    Err(format!("{} in {} ({})", words.join(" "), dir.display(), out.status))
}

/// Runs a bench of a crate, as it would be shipped; what it said, line by line.
pub(in crate::bench) fn bench(
    package: &str,
    name: &str,
    part: Option<&str>,
    launcher: Option<&std::path::Path>,
) -> Done<Vec<Value>> {
    let mut args = vec!["bench", "--quiet", "--profile", "dist", "-p", package, "--bench", name];
    args.extend(part.iter().flat_map(|part| ["--", part]));
    println!("\n▶ cargo {}", args.join(" "));
    let mut command = Command::new("cargo");
    command.args(&args).current_dir(top()).stdin(Stdio::null()).stderr(Stdio::inherit());
    if let Some(launcher) = launcher {
        command.env("GATEWRIGHT_BENCH_LAUNCHER", launcher);
    }
    let out = command.output().map_err(|e| format!("cargo could not be started: {e}"))?;
    if !out.status.success() {
        return Err(format!("✗ cargo {} ({})", args.join(" "), out.status));
    }
    let text = String::from_utf8_lossy(&out.stdout);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
