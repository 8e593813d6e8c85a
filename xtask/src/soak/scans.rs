//! `cargo xtask soak scans`: one server that looks at pages again and again. Its processes, descriptors and scratch may not grow,
//! and nobody may be left when it ends.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::node;
use crate::session::Place;
use crate::sh::{Done, target};

/// How often it is counted what there is.
const EVERY: u64 = 100;

/// Pages, among them one with frames of another site and one that goes on for ever.
const PAGES: [(&str, &str); 3] = [
    (
        "plain.html",
        "<!doctype html><html lang=en><title>p</title><main><h1>p</h1><img src=x.png><p style='color:#bbb'>faint</p></main>",
    ),
    (
        "frames.html",
        "<!doctype html><html lang=en><title>f</title><main><h1>f</h1><iframe title=a src=https://other.invalid/></iframe>\
         <iframe title=b src=plain.html></iframe></main>",
    ),
    (
        "busy.html",
        "<!doctype html><html lang=en><title>b</title><main><h1>b</h1></main><script>setInterval(() => fetch('plain.html'), 5);\
         new Worker(URL.createObjectURL(new Blob(['setInterval(() => 1, 1)'])))</script>",
    ),
];

/// What a server has at one moment.
#[derive(Debug, Clone, Copy)]
struct Held {
    processes: usize,
    descriptors: usize,
    threads: usize,
    mebibytes: u64,
}

/// Why no page can be looked at on this machine, where that is so.
pub(crate) fn possible() -> Option<&'static str> {
    let shell = Path::new("/usr/lib/chromium/chromium-headless-shell");
    (!shell.is_file()).then_some("chromium-headless-shell is not installed")
}

/// Looks at pages `scans` times with `program`; prints what was held on the way, and fails where it grows or is left.
pub(crate) fn run(program: &Path, scans: u64) -> Done {
    println!("\n▶ {scans} scans");
    let axe = node::DESIGN.install()?.join("node_modules/axe-core/axe.min.js");
    let scratch = target().join(format!("soak-scans-{}", std::process::id()));
    let done = scanned(program, scans, &axe, &scratch);
    let _ = fs::remove_dir_all(&scratch);
    done
}

fn scanned(program: &Path, scans: u64, axe: &Path, scratch: &Path) -> Done {
    let io = |e: std::io::Error| format!("{}: {e}", scratch.display());
    let root = scratch.join("root");
    fs::create_dir_all(root.join("node_modules/axe-core")).map_err(io)?;
    fs::copy(axe, root.join("node_modules/axe-core/axe.min.js")).map_err(io)?;
    for (name, text) in PAGES {
        fs::write(root.join(name), text).map_err(io)?;
    }
    let place = Place::new(program, &root, scratch, &scratch.join("state"))?;
    let mut session = place.serve()?;
    let server = session.pid();
    let (began, mut took, mut failed) = (Instant::now(), Vec::new(), 0);
    let (mut first, mut last) = (None, None);
    for number in 0..scans {
        let (page, _) = PAGES[usize::try_from(number).unwrap_or(0) % PAGES.len()];
        let one = Instant::now();
        let arguments = json!({ "url": format!("root:{page}") });
        let answer = session.call("a11y_scan", arguments)?;
        took.push(one.elapsed());
        if answer["mode"] != "browser" {
            failed += 1;
            println!("  scan {number}: {}", answer.to_string().chars().take(300).collect::<String>());
        }
        if number + 1 == scans || (number + 1) % EVERY == 0 || number == 2 {
            // What a page had is let go by the browser a moment after the answer.
            std::thread::sleep(Duration::from_millis(500));
            let held = held(server);
            println!(
                "  after {:>6}: {} processes, {} descriptors, {} threads, {} MiB",
                number + 1,
                held.processes,
                held.descriptors,
                held.threads,
                held.mebibytes
            );
            first.get_or_insert(held);
            last = Some(held);
        }
    }
    let everybody = descendants(server);
    session.finish()?;
    let ended = Instant::now();
    let mut alive = everybody.iter().filter(|pid| is_alive(**pid)).count();
    while alive > 0 && ended.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(50));
        alive = everybody.iter().filter(|pid| is_alive(**pid)).count();
    }
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).copied().unwrap_or_default().as_millis();
    println!(
        "  {scans} scans in {:.0} s: median {} ms, p95 {} ms, slowest {} ms; {failed} not in the browser; {alive} of {} processes alive after the end",
        began.elapsed().as_secs_f64(),
        at(50),
        at(95),
        took.last().copied().unwrap_or_default().as_millis(),
        everybody.len(),
    );
    let (Some(first), Some(last)) = (first, last) else { return Err("nothing was counted".to_owned()) };
    // A browser that was let go and its successor may both be there for a moment.
    let grows = last.processes > first.processes * 2 + 2 || last.descriptors > first.descriptors + 16;
    match (failed, alive, grows) {
        (0, 0, false) => Ok(()),
        _ => Err(format!("{failed} scans failed, {alive} processes are left, from {first:?} to {last:?}")),
    }
}

/// Whether a process runs. One that has ended and that nobody has asked about yet does not.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}

fn held(server: u32) -> Held {
    let below = descendants(server);
    let count = |what: &str| fs::read_dir(format!("/proc/{server}/{what}")).map_or(0, Iterator::count);
    let status = fs::read_to_string(format!("/proc/{server}/status")).unwrap_or_default();
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Held {
        processes: below.len(),
        descriptors: count("fd"),
        threads: count("task"),
        mebibytes: kibibytes.unwrap_or(0) / 1024,
    }
}

/// The processes that `first` started, and those that they did.
fn descendants(first: u32) -> Vec<u32> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        all.extend(parent.map(|parent| (pid, parent)));
    }
    let (mut found, mut open) = (Vec::new(), vec![first]);
    while let Some(at) = open.pop() {
        for (pid, _) in all.iter().filter(|(_, parent)| *parent == at) {
            found.push(*pid);
            open.push(*pid);
        }
    }
    found
}
