//! `cargo xtask bench runs`: what running a project's tools costs, beside the same programs run plainly. Every figure is a
//! median of interleaved rounds in one run, on the program as it is shipped.

mod calls;
mod detection;
mod git;
mod programs;
mod repositories;
mod text;

use std::path::{Path, PathBuf};

use super::samples::Aim;
use crate::sh::{Done, target};
use crate::soak;

/// What can be asked for by itself, in this order.
const PARTS: [&str; 7] = ["overhead", "files", "detection", "git", "parsers", "failures", "kills"];

/// What was asked for.
struct Asked {
    /// A repository to read instead of a generated one.
    repo: Option<PathBuf>,
    /// Kill rounds.
    rounds: u64,
    /// Parts; all where none is named.
    only: Vec<String>,
}

impl Asked {
    fn read(words: &[&str]) -> Done<Self> {
        let mut asked = Self { repo: None, rounds: soak::ROUNDS, only: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = *words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match *word {
                "--repo" => {
                    let path = std::fs::canonicalize(value).map_err(|e| format!("--repo {value}: {e}"))?;
                    asked.repo = Some(path);
                }
                "--rounds" => asked.rounds = value.parse().map_err(|e| format!("--rounds {value}: {e}"))?,
                "--only" => asked.only = value.split(',').map(str::to_owned).collect(),
                _ => return Err(format!("{word}: bench runs takes --repo PATH, --rounds N, --only PARTS")),
            }
        }
        match asked.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
            None => Ok(asked),
            Some(part) => Err(format!("--only {part}: the parts are {}", PARTS.join(", "))),
        }
    }

    fn has(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

pub(crate) fn run(words: &[&str]) -> Done {
    let asked = Asked::read(words)?;
    let scratch = Scratch::new()?;
    let needs = ["overhead", "files", "detection", "git", "kills"];
    let ours =
        if needs.iter().any(|part| asked.has(part)) { crate::shipped::build()? } else { PathBuf::new() };
    let mut aims: Vec<Aim> = Vec::new();
    if asked.has("overhead") {
        aims.extend(programs::overhead(&ours)?);
        calls::measure(&ours, &scratch.folder("calls")?)?;
    }
    if asked.has("files") {
        programs::files(&ours)?;
    }
    if asked.has("detection") {
        detection::measure(&ours, &scratch.folder("detection")?)?;
        scratch.empty();
    }
    if asked.has("git") {
        git::measure(&ours, asked.repo.as_deref(), &scratch.folder("git")?)?;
        scratch.empty();
    }
    if asked.has("parsers") {
        text::parsers()?;
    }
    if asked.has("failures") {
        text::failures()?;
    }
    let mut killed = Ok(());
    if asked.has("kills") {
        killed = soak::kills::run(&ours, asked.rounds);
        let what = format!("{} kill rounds: nobody survives, nothing acknowledged is lost", asked.rounds);
        aims.push(Aim { met: killed.is_ok(), what, there: "see above".to_owned() });
    }
    if !aims.is_empty() {
        println!("\naims");
    }
    aims.iter().for_each(Aim::print);
    killed
}

/// Where repositories are made; gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Done<Self> {
        let scratch = Self(target().join(format!("bench-runs-{}", std::process::id())));
        scratch.folder("")?;
        Ok(scratch)
    }

    fn folder(&self, name: &str) -> Done<PathBuf> {
        let folder = self.0.join(name);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        std::fs::canonicalize(&folder).map_err(|e| e.to_string())
    }

    /// Takes away what is large before the next is made.
    fn empty(&self) {
        for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A place for a server over `root`, with all that is its own in `scratch`.
fn place(ours: &Path, root: &Path, scratch: &Path) -> Done<crate::session::Place> {
    crate::session::Place::new(ours, root, scratch, &scratch.join("state"))
}
