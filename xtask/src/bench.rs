//! Benchmarks: ratios against named peers in one run, medians of interleaved rounds.

pub(crate) mod design;
pub(crate) mod gateway;
pub(crate) mod knowledge;
pub(crate) mod protocol;
pub(crate) mod runs;
mod samples;
pub(crate) mod session;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::sh::{Done, output, step, target, top};
use crate::{node, shipped};

/// Longest that one run may take.
const LONGEST: Duration = Duration::from_mins(2);

/// Counted rounds per program and input.
const ROUNDS: usize = 5;

/// One program over one input: median wall seconds and largest peak memory in MiB; `None` when it failed.
type Figure = Option<(f64, f64)>;

/// Builds gatewright, and the library alone as a program.
fn build() -> Done<PathBuf> {
    let exe = shipped::build()?;
    let args = ["build", "--profile", "dist", "-p", "design-tokens", "--example", "build"];
    step("cargo", Command::new("cargo").args(args).current_dir(top()), &args)?;
    Ok(exe)
}

pub(crate) fn tokens() -> Done {
    node::TOKENS.install()?;
    let exe = build()?;
    if !Path::new("/usr/bin/time").exists() {
        return Err("/usr/bin/time is missing (Debian: apt-get install time)".into());
    }
    let scratch = target().join("bench");
    for dir in [scratch.clone(), target().join("bench-state")] {
        let _ = std::fs::remove_dir_all(dir);
    }
    println!(
        "\nwhole process, seconds / MiB, median of {ROUNDS} interleaved rounds; CSS, SCSS and JS. gatewright: a call that \
         applies, with its journal and record synced; compiler: the library alone, as the peers are. Ratios: against the \
         faster peer."
    );
    println!(
        "{:<18} {:>6} {:>15} {:>15} {:>18} {:>15} {:>7} {:>9}",
        "input", "tokens", "gatewright", "compiler", "style-dictionary", "terrazzo", "ratio", "compiler"
    );
    let mut growth = Vec::new();
    for (name, count, source) in inputs(&scratch)? {
        let place = scratch.join(&name);
        let compiler = target().join("dist/examples/build").display().to_string();
        let paths = [place.join(&source), place.join("out")].map(|p| p.display().to_string());
        let programs: [(&str, Vec<String>); 4] = [
            ("gatewright", ours(&exe, &place, &source)),
            ("compiler", std::iter::once(compiler).chain(paths).collect()),
            ("style-dictionary", peer("style-dictionary.mjs", &place, &source)),
            ("terrazzo", peer("terrazzo.mjs", &place, &source)),
        ];
        let figures = interleaved(&programs, &place, count)?;
        let shown = |f: &Figure| f.map_or("failed".to_owned(), |(s, m)| format!("{s:.3} / {m:.0}"));
        let fastest = figures[2..].iter().flatten().map(|f| f.0).fold(f64::INFINITY, f64::min);
        let ratio = |figure: &Figure| figure.map_or(f64::NAN, |f| fastest / f.0);
        println!(
            "{name:<18} {count:>6} {:>15} {:>15} {:>18} {:>15} {:>6.1}x {:>8.1}x",
            shown(&figures[0]),
            shown(&figures[1]),
            shown(&figures[2]),
            shown(&figures[3]),
            ratio(&figures[0]),
            ratio(&figures[1]),
        );
        if let (true, Some((seconds, _))) = (name.starts_with("generated"), figures[0]) {
            growth.push((f64::from(u32::try_from(count).unwrap_or(u32::MAX)), seconds));
        }
    }
    if let [(n1, t1), .., (n2, t2)] = growth.as_slice() {
        println!("growth exponent over the generated sets: {:.2}", (t2 / t1).ln() / (n2 / n1).ln());
    }
    Ok(())
}

fn ours(exe: &Path, place: &Path, source: &str) -> Vec<String> {
    let mut words = vec![exe.display().to_string(), "--root".into(), place.display().to_string()];
    let rest = [
        "call",
        "tokens_build",
        "--source",
        source,
        "--platforms",
        "css,scss,js",
        "--apply",
        "--output",
        "json",
    ];
    words.extend(rest.iter().map(|w| (*w).to_owned()));
    words
}

fn peer(script: &str, place: &Path, source: &str) -> Vec<String> {
    let script = node::TOKENS.dir().join(script);
    vec![
        "node".into(),
        script.display().to_string(),
        place.join(source).display().to_string(),
        place.join("out").display().to_string(),
    ]
}

/// Real sets from npm, each whole in its default contexts (Primer repaired, as the comparison says), and generated ones.
fn inputs(scratch: &Path) -> Done<Vec<(String, usize, String)>> {
    let mut all = Vec::new();
    let io = |e: std::io::Error| e.to_string();
    let merged = scratch.join("merged");
    let script = node::TOKENS.dir().join("compare.mjs").display().to_string();
    let sets = node::TOKENS.dir().join("node_modules/dtcg-examples").display().to_string();
    output("node", &[&script, &sets, "--merge", &merged.display().to_string()])?;
    for name in ["shopify-polaris", "figma-sds", "ibm-carbon", "github-primer", "adobe-spectrum"] {
        let place = scratch.join(name);
        std::fs::create_dir_all(&place).map_err(io)?;
        let text = std::fs::read_to_string(merged.join(format!("{name}.json"))).map_err(io)?;
        std::fs::write(place.join("tokens.json"), &text).map_err(io)?;
        all.push((name.to_owned(), text.matches("\"$value\"").count(), "tokens.json".into()));
    }
    for count in [10_000, 50_000] {
        let name = format!("generated-{count}");
        let place = scratch.join(&name);
        std::fs::create_dir_all(&place).map_err(io)?;
        std::fs::write(place.join("tokens.json"), generated(count)).map_err(io)?;
        all.push((name, count, "tokens.json".into()));
    }
    Ok(all)
}

/// A set of `count` tokens: three quarters values, one quarter aliases, in groups of fifty.
pub(crate) fn generated(count: usize) -> String {
    let mut text = String::from("{");
    for group in 0..count.div_ceil(50) {
        let comma = if group > 0 { "," } else { "" };
        text.push_str(&format!("{comma}\n  \"g{group}\": {{ \"$type\": \"color\""));
        for i in 0..50.min(count - group * 50) {
            let n = group * 50 + i;
            let value = if n % 4 == 3 {
                format!("\"{{g{}.t{}}}\"", (n - 1) / 50, (n - 1) % 50)
            } else {
                let [r, g, b] = [n % 256, n / 256 % 256, n / 65_536 % 256]
                    .map(|c| f64::from(u8::try_from(c).unwrap_or(0)) / 255.0);
                format!("{{ \"colorSpace\": \"srgb\", \"components\": [{r}, {g}, {b}] }}")
            };
            text.push_str(&format!(",\n    \"t{i}\": {{ \"$value\": {value} }}"));
        }
        text.push_str("\n  }");
    }
    text.push_str("\n}\n");
    text
}

fn interleaved(programs: &[(&str, Vec<String>)], place: &Path, count: usize) -> Done<Vec<Figure>> {
    let mut times: Vec<Vec<(f64, f64)>> = vec![Vec::new(); programs.len()];
    let mut failed = vec![false; programs.len()];
    let mut peaks = vec![0.0; programs.len()];
    // One round uncounted, so that files and code are in memory; it tells the peaks of memory. The peers need minutes for the largest set.
    let rounds = if count >= 10_000 { 3 } else { ROUNDS };
    for round in 0..=rounds {
        for (index, (_, words)) in programs.iter().enumerate() {
            if failed[index] {
                continue;
            }
            clean(place);
            match once(words, place, round == 0)? {
                Some((seconds, _)) if round > 0 => times[index].push((seconds, peaks[index])),
                Some((_, peak)) => peaks[index] = peak,
                None => failed[index] = true,
            }
        }
    }
    Ok(times
        .into_iter()
        .zip(failed)
        .map(|(mut runs, failed)| {
            runs.sort_by(|a, b| a.0.total_cmp(&b.0));
            let peak = runs.iter().map(|r| r.1).fold(0.0, f64::max);
            (!failed).then(|| runs.get(runs.len() / 2).map(|r| (r.0, peak))).flatten()
        })
        .collect())
}

/// Every round builds into an empty place. The ledger stays, as a user's does.
fn clean(place: &Path) {
    for name in ["artifacts", "out"] {
        let _ = std::fs::remove_dir_all(place.join(name));
    }
}

/// One run: seconds, and with `memory` also its peak in MiB, by `time`, whose own start is then counted.
fn once(words: &[String], place: &Path, memory: bool) -> Done<Figure> {
    let file = place.join("memory");
    let wrapped =
        ["/usr/bin/time".to_owned(), "-f".into(), "%M".into(), "-o".into(), file.display().to_string()];
    let words: Vec<String> =
        if memory { wrapped.into_iter().chain(words.iter().cloned()).collect() } else { words.to_vec() };
    let began = Instant::now();
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .env("XDG_STATE_HOME", target().join("bench-state"))
        .env("XDG_CONFIG_HOME", target().join("bench-state"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("{}: {e}", words[0]))?;
    // Whoever takes longer has failed; the watch asks for nobody's time before that.
    let (ended, watched) = mpsc::channel::<()>();
    let id = child.id().to_string();
    let watch = std::thread::spawn(move || {
        if watched.recv_timeout(LONGEST) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("pkill").args(["-KILL", "-P", &id]).status();
            let _ = Command::new("kill").args(["-KILL", &id]).status();
        }
    });
    let status = child.wait().map_err(|e| e.to_string())?;
    let seconds = began.elapsed().as_secs_f64();
    drop(ended);
    let _ = watch.join();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let kib: f64 = text.lines().last().and_then(|l| l.trim().parse().ok()).unwrap_or(0.0);
    Ok(status.success().then_some((seconds, kib / 1024.0)))
}

pub(crate) fn pipeline() -> Done {
    let args = ["bench", "--profile", "dist", "-p", "gatewright-kit", "--bench", "pipeline"];
    step("cargo", Command::new("cargo").args(args).current_dir(top()), &args)
}
