//! Verifying packages of npm: one call of ours beside what three programs say, and whether they say the same.

mod archives;
mod compare;
mod exact;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::known::Known;
use super::peers::{Packages, ran};
use super::{Asked, Scratch};
use crate::bench::samples::Samples;
use crate::node;
use crate::session::{Place, Session};
use crate::sh::{Done, output};
use archives::Package;
use compare::{Compared, Said};

/// Counted rounds of every package, at most.
const ROUNDS: usize = 3;

/// The tool.
const TOOL: &str = "release_pack_verify";

/// How long one package took each program.
#[derive(Debug, Default)]
struct Times {
    command: Vec<Duration>,
    call: Vec<Duration>,
    npm: Vec<Duration>,
    publint: Vec<Duration>,
    attw: Vec<Duration>,
}

impl Times {
    /// Medians in milliseconds: our command, our call, and each of theirs.
    fn medians(&self) -> [f64; 5] {
        [&self.command, &self.call, &self.npm, &self.publint, &self.attw]
            .map(|times| Samples::of(times).median())
    }
}

/// Prints times and agreement; gives the number of differences that nobody has explained.
pub(super) fn measure(ours: &Path, asked: &Asked, scratch: &Scratch) -> Done<usize> {
    let tools = Packages::install()?;
    let known = Known::read()?;
    node::DESIGN.install()?;
    let rounds = asked.rounds.min(ROUNDS);
    let packages = archives::fetch(asked.packages, &scratch.folder("packages")?)?;
    let npm = output("npm", &["--version"])?.trim().to_owned();
    println!("\n▶ {} packages, npm {npm}, {rounds} rounds", packages.len());
    let (mut all, mut measured) = (Vec::new(), Vec::new());
    for package in &packages {
        let (times, said) = both(ours, &tools, package, rounds, scratch)?;
        measured.push(times);
        all.push(said);
    }
    let exact = exact::asked(&tools, &packages, &npm)?;
    let mut compared: Vec<Compared> = Vec::new();
    for ((package, said), exact) in packages.iter().zip(&all).zip(&exact) {
        compared.push(Compared::of(package, said, exact, &known));
    }
    print(&packages, &compared, &measured, rounds);
    Ok(compare::print(&compared))
}

/// Everything that is said of one package, and how long it took, in interleaved rounds.
fn both(
    ours: &Path,
    tools: &Packages,
    package: &Package,
    rounds: usize,
    scratch: &Scratch,
) -> Done<(Times, Said)> {
    let place = scratch.place(ours, &package.folder, &package.stem)?;
    let arguments = json!({ "version": package.version });
    let mut session = place.serve()?;
    let (mut times, mut said) = (Times::default(), Said::default());
    for round in 0..=rounds {
        let command = commanded(&place, &arguments)?;
        let (call, answer) = called(&mut session, &arguments)?;
        let theirs = Theirs::of(tools, package)?;
        if round > 0 {
            times.command.push(command);
            times.call.push(call);
            times.npm.push(theirs.times[0]);
            times.publint.push(theirs.times[1]);
            times.attw.push(theirs.times[2]);
        }
        said = Said { ours: answer, listed: theirs.listed, attw: theirs.attw };
    }
    session.finish()?;
    Ok((times, said))
}

/// The tool on the command line, as a process from its start to its end.
fn commanded(place: &Place, arguments: &Value) -> Done<Duration> {
    let text = arguments.to_string();
    let mut command = place.command(&["call", TOOL, "--json", &text, "--output", "json"]);
    let began = Instant::now();
    let out = command.output().map_err(|e| format!("{}: {e}", place.program.display()))?;
    let took = began.elapsed();
    match out.status.code() {
        // A release with errors ends with 1.
        Some(0 | 1) => Ok(took),
        _ => Err(format!("{TOOL} {text} ({}): {}", out.status, String::from_utf8_lossy(&out.stderr))),
    }
}

/// The tool in a server that runs. What it refuses is an answer, too: it is held against the peers.
fn called(session: &mut Session, arguments: &Value) -> Done<(Duration, Result<Value, String>)> {
    let began = Instant::now();
    let answer = session.call(TOOL, arguments.clone());
    let took = began.elapsed();
    match answer {
        Err(why) if why.contains("no answer") => Err(why),
        answer => Ok((took, answer)),
    }
}

/// What the peers say of a package.
struct Theirs {
    /// npm, publint, attw.
    times: [Duration; 3],
    listed: Value,
    attw: Value,
}

impl Theirs {
    /// npm packs the folder, and the others read what it packed: no one packs twice.
    fn of(tools: &Packages, package: &Package) -> Done<Self> {
        let folder = package.folder.as_path();
        let place = package.archive.parent().map(|p| p.display().to_string()).unwrap_or_default();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let npm = words(&[
            "npm",
            "pack",
            "--json",
            "--ignore-scripts",
            "--loglevel=error",
            "--pack-destination",
            &place,
        ]);
        let npm = ran(&npm, folder, &[0])?;
        let archive = package.archive.display().to_string();
        let with = |name: &str, more: &[&str]| [tools.program(name), words(more)].concat();
        let publint = ran(&with("publint", &[&archive]), folder, &[0, 1])?;
        let attw = ran(&with("attw", &[&archive, "--format", "json"]), folder, &[0, 1])?;
        let read = |what: &str, text: &str| {
            serde_json::from_str::<Value>(text).map_err(|e| format!("{}: {what}: {e}", package.spec))
        };
        Ok(Self {
            times: [npm.took, publint.took, attw.took],
            listed: read("npm pack", &npm.printed)?,
            attw: read("attw", &attw.printed)?,
        })
    }
}

fn print(packages: &[Package], compared: &[Compared], measured: &[Times], rounds: usize) {
    println!(
        "\npack verification, milliseconds, medians of {rounds} interleaved rounds. ours: `gatewright call {TOOL}` as a process, and a \
         call of a server that runs; both ask npm for its list besides. theirs: `npm pack --json --ignore-scripts`, `publint` and `attw` \
         of the archive that it left."
    );
    println!(
        "{:<40} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6} {:>8} {:>8}",
        "", "command", "call", "npm", "publint", "attw", "ratio", "files", "publint", "attw"
    );
    let mut sums = [0.0; 5];
    let row = |name: &str, [command, call, npm, publint, attw]: [f64; 5], more: &str| {
        let ratio = (npm + publint + attw) / command;
        println!(
            "{name:<40} {command:>8.0} {call:>8.0} {npm:>8.0} {publint:>8.0} {attw:>8.0} {ratio:>6.1}x {more}"
        );
    };
    for ((package, compared), times) in packages.iter().zip(compared).zip(measured) {
        let medians = times.medians();
        sums.iter_mut().zip(medians).for_each(|(sum, more)| *sum += more);
        row(&package.spec, medians, &compared.marks());
    }
    row(&format!("all {} packages", packages.len()), sums, "");
}
