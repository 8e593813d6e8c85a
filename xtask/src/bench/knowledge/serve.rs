//! What a server does with a library of some size: looking it through, finding, loading, taking changes in, and what it takes of memory.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::compose::Library;
use super::ripgrep::Ripgrep;
use crate::bench::samples::{Aim, Samples};
use crate::session::{Place, Session};
use crate::sh::Done;

/// Different questions.
pub(super) const QUESTIONS: usize = 200;
/// What ripgrep may take altogether.
const MOST_RIPGREP: Duration = Duration::from_mins(1);
/// How long a new server may look through a library.
const SETTLES: Duration = Duration::from_mins(5);
/// Files that change at once.
const MANY: usize = 100;

/// What was measured over one library.
pub(super) struct Measured {
    patterns: usize,
    files: usize,
    bytes: usize,
    /// The first look of a fresh server, and reading all of it again.
    first: Duration,
    again: Samples,
    failed: u64,
    cold: Samples,
    fast: Samples,
    comprehensive: Samples,
    load: Samples,
    ripgrep: Samples,
    ripgrep_asked: usize,
    nothing: Samples,
    one: Samples,
    many: Option<Samples>,
    /// MiB at most: of a server before any call, of one that has answered all questions, of the same when it has taken changes in,
    /// of the one that made the index.
    memory: [f64; 4],
    /// MB of the index on disk.
    kept: f64,
}

/// How often things are done again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds(pub(super) usize);

/// Measures over one library.
pub(super) fn measured(
    program: &Path,
    scratch: &Path,
    library: &Library,
    Rounds(rounds): Rounds,
    ripgrep: Option<Ripgrep>,
) -> Done<Measured> {
    let patterns = library.documents.len();
    println!("▶ {patterns} patterns: {} files, {:.1} MB", library.files, mega(library.bytes));
    let root = scratch.join("root");
    std::fs::create_dir_all(&root).map_err(|e| e.to_string())?;
    let place = Place::new(program, &root, scratch, &scratch.join("state"))?;
    place.configured(&format!("[library]\nuser = {:?}\n", library.folder.display().to_string()))?;
    let questions = library.questions(QUESTIONS)?;
    // Without an index: everything is read, and an index is made.
    let mut session = place.serve_as_usual()?;
    let idle = memory(&session)?;
    let (first, given) = session.timed("index_pattern_library", &json!({}))?;
    let failed = given["data"]["failed"].as_u64().unwrap_or(0);
    counts(&given, patterns, patterns)?;
    let building = memory(&session)?;
    session.finish()?;
    let kept = kept(&place)?;
    println!("  the first look took {:.1} s", first.as_secs_f64());
    // New processes, one after another: all that one of them does before it has answered.
    let mut cold = Vec::new();
    for question in questions.iter().take(rounds) {
        let began = Instant::now();
        let mut session = place.serve_as_usual()?;
        session.call("find_patterns", json!({ "query": question }))?;
        cold.push(began.elapsed());
        session.finish()?;
    }
    println!("  {} new processes answered", cold.len());
    // What the bench itself has written, gigabytes of it, is not to be written while somebody is asked.
    std::process::Command::new("sync").status().map_err(|e| format!("sync: {e}"))?;
    let mut session = place.serve_as_usual()?;
    let asked = asked(&mut session, library, &questions, ripgrep)?;
    let answering = memory(&session)?;
    let nothing = times(rounds, |_| changed(&mut session, 0, patterns))?;
    let mut round = 0;
    let mut edited = |session: &mut Session, many: usize| {
        round += 1;
        library.edit(many, round)?;
        changed(session, many, patterns)
    };
    let one = times(rounds, |_| edited(&mut session, 1))?;
    let many = if patterns >= MANY { Some(times(rounds, |_| edited(&mut session, MANY))?) } else { None };
    let memory = [idle, answering, memory(&session)?, building];
    // Of a large one the first look says as much, and takes as long.
    let again = times(if patterns >= super::LARGE { 0 } else { rounds }, |_| {
        let (took, given) = session.timed("index_pattern_library", &json!({ "force": true }))?;
        counts(&given, patterns, patterns)?;
        Ok(took)
    });
    // A call that takes longer than calls may is a figure, too.
    let again = again.unwrap_or_else(|why| {
        println!("  FAILED: reading all again: {}", why.chars().take(600).collect::<String>());
        Samples::default()
    });
    session.finish()?;
    Ok(Measured {
        patterns,
        files: library.files,
        bytes: library.bytes,
        first,
        again,
        failed,
        cold: Samples::of(&cold),
        fast: Samples::of(&asked.fast),
        comprehensive: Samples::of(&asked.comprehensive),
        load: Samples::of(&asked.load),
        ripgrep_asked: asked.ripgrep.len(),
        ripgrep: Samples::of(&asked.ripgrep),
        nothing,
        one,
        many,
        memory,
        kept,
    })
}

#[derive(Default)]
struct Times {
    fast: Vec<Duration>,
    comprehensive: Vec<Duration>,
    load: Vec<Duration>,
    ripgrep: Vec<Duration>,
}

/// Asks once without counting, and waits until a new server has looked through the library: a figure of its own, and no part of
/// a question's.
fn settled(session: &mut Session) -> Done {
    let began = Instant::now();
    while session.call("find_patterns", json!({ "query": "anything" }))?["index"]["checking"] == true {
        if began.elapsed() > SETTLES {
            return Err(format!("the library is still looked through after {} s", SETTLES.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    println!(
        "  a new server had looked through it {:.1} s after its first question",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Asks everything of the server, one question after another, then ripgrep the same.
fn asked(
    session: &mut Session,
    library: &Library,
    questions: &[String],
    ripgrep: Option<Ripgrep>,
) -> Done<Times> {
    let mut times = Times::default();
    let mut spent = Duration::ZERO;
    let mut found = 0;
    settled(session)?;
    for question in questions {
        let (took, given) = session.timed("find_patterns", &json!({ "query": question }))?;
        times.fast.push(took);
        let comprehensive = json!({ "query": question, "mode": "comprehensive" });
        times.comprehensive.push(session.timed("find_patterns", &comprehensive)?.0);
        if let Some(id) = given["data"][0]["id"].as_str() {
            found += 1;
            times.load.push(session.timed("load_skill", &json!({ "skillId": id }))?.0);
        }
    }
    // Afterwards: between the others it would empty the processor's caches before each, which no client does.
    for question in questions {
        let Some(ripgrep) = ripgrep.filter(|_| spent < MOST_RIPGREP) else { break };
        let took = ripgrep.timed(&library.folder, question)?;
        spent += took;
        times.ripgrep.push(took);
    }
    if found * 2 < questions.len() {
        return Err(format!("{found} of {} questions found something", questions.len()));
    }
    Ok(times)
}

fn times(rounds: usize, mut once: impl FnMut(usize) -> Done<Duration>) -> Done<Samples> {
    let times: Done<Vec<Duration>> = (0..rounds).map(&mut once).collect();
    Ok(Samples::of(&times?))
}

/// Looks the library through, in which so many patterns have changed.
fn changed(session: &mut Session, many: usize, patterns: usize) -> Done<Duration> {
    let (took, given) = session.timed("index_pattern_library", &json!({}))?;
    counts(&given, many, patterns)?;
    Ok(took)
}

/// MB of the index on disk.
fn kept(place: &Place) -> Done<f64> {
    let folder = place.state.join("gatewright/store");
    let size = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len());
    let bytes = size("library.db") + size("library.db-wal");
    usize::try_from(bytes).map(mega).map_err(|e| e.to_string())
}

/// That so many were read, of so many.
fn counts(given: &Value, read: usize, all: usize) -> Done {
    let data = &given["data"];
    let of = |name: &str| data[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    // What cannot be read is tried again and again.
    let failed = of("failed");
    // The program's own skills are there, too: nothing that is composed is of their category.
    let own = data["categories"]["skills"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let is_whole = of("totalPatterns") == all + own;
    let fits = is_whole && (read.saturating_sub(failed)..=read + own).contains(&of("indexed"));
    if fits { Ok(()) } else { Err(format!("{read} of {all} were to be read: {data}")) }
}

/// MiB that a server has taken at most, as the system says.
fn memory(session: &Session) -> Done<f64> {
    let what = "VmHWM";
    let file = format!("/proc/{}/status", session.pid());
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let kib: Option<f64> = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kib.map(|kib| kib / 1024.0).ok_or_else(|| format!("{file} does not say {what}"))
}

fn mega(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes / 1000).unwrap_or(u32::MAX)) / 1000.0
}

/// Tables, and what is held against what was set out. The parts are those that were asked for.
pub(super) fn print(all: &[Measured], has: impl Fn(&str) -> bool) -> Vec<Aim> {
    let mut aims = Vec::new();
    if has("build") {
        println!(
            "\nlooking a library through, ms: without an index; all read again, nothing, 1 and {MANY} files changed (medians). Memory of a server at most: idle, when it has answered, when it has taken changes in, making the index"
        );
        println!(
            "{:>9} {:>9} {:>8} {:>7} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10}",
            "patterns",
            "files",
            "MB",
            "refused",
            "first",
            "all again",
            "nothing",
            "1",
            MANY,
            "idle MiB",
            "asked MiB",
            "took MiB",
            "made MiB",
            "on disk MB"
        );
        for one in all {
            let [idle, asked, took, made] = one.memory;
            println!(
                "{:>9} {:>9} {:>8.1} {:>7} {:>10.0} {:>10.0} {:>10.1} {:>9.1} {:>9} {idle:>9.1} {asked:>9.1} {took:>9.1} {made:>9.1} {:>10.1}",
                one.patterns,
                one.files,
                mega(one.bytes),
                one.failed,
                one.first.as_secs_f64() * 1e3,
                one.again.median(),
                one.nothing.median(),
                one.one.median(),
                one.many.as_ref().map_or("-".to_owned(), |many| format!("{:.1}", many.median())),
                one.kept,
            );
            let what = format!(
                "{} patterns: an answering server's memory at most 50 MB (the seed's figure)",
                one.patterns
            );
            aims.push(Aim {
                met: asked * 1.048_576 <= 50.0,
                what,
                there: format!(
                    "{asked:.1} MiB at most, {idle:.1} idle, {took:.1} when it has taken changes in"
                ),
            });
        }
    }
    if has("search") || has("load") {
        println!(
            "\nmilliseconds through MCP, p50 / p95 / p99 of {QUESTIONS} different questions; cold: a new process, until it has answered"
        );
        println!(
            "{:>9} {:>10} {:>24} {:>24} {:>24} {:>24}",
            "patterns", "cold", "fast", "comprehensive", "load_skill", "ripgrep (of)"
        );
        let three = |s: &Samples| format!("{:.2} / {:.2} / {:.2}", s.median(), s.p95(), s.p99());
        for one in all {
            let ripgrep = if one.ripgrep_asked == 0 {
                "-".to_owned()
            } else {
                format!("{:.1} / {:.1} ({})", one.ripgrep.median(), one.ripgrep.p95(), one.ripgrep_asked)
            };
            println!(
                "{:>9} {:>10.0} {:>24} {:>24} {:>24} {ripgrep:>24}",
                one.patterns,
                one.cold.median(),
                three(&one.fast),
                three(&one.comprehensive),
                three(&one.load)
            );
        }
    }
    for one in all {
        let mut aim = |what: &str, most: f64, samples: &Samples| {
            let what = format!("{} patterns: {what} at most {most} ms", one.patterns);
            aims.push(Aim {
                met: samples.p95() <= most,
                what,
                there: format!("p95 {:.2} ms", samples.p95()),
            });
        };
        if has("search") {
            for (mode, samples) in [("fast", &one.fast), ("comprehensive", &one.comprehensive)] {
                aim(&format!("a search, {mode} (the seed's figure)"), 50.0, samples);
                if one.patterns >= 10_000 {
                    let most = if one.patterns > 10_000 { 20.0 } else { 2.0 };
                    aim(&format!("a search, {mode}"), most, samples);
                }
            }
        }
        if has("load") {
            aim("load_skill (the seed's figure)", 80.0, &one.load);
            aim("load_skill", 1.0, &one.load);
        }
    }
    aims
}
