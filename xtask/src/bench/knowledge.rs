//! `cargo xtask bench knowledge`: how good answers about patterns are, beside FTS5 and ripgrep, and what libraries of 100 to 1,000,000
//! patterns cost a server: looking through, finding, loading, memory; and how far the rule for tokens is off.

pub(crate) mod compose;
mod quality;
mod retrieval;
mod ripgrep;
mod serve;
mod task;
mod tokens;

use std::path::{Path, PathBuf};

use super::samples::Aim;
use crate::sh::{Done, target};
use ripgrep::Ripgrep;

/// What can be asked for by itself, in this order.
const PARTS: [&str; 7] = ["quality", "build", "search", "load", "execute", "task", "tokens"];
/// Patterns of each library.
const SIZES: [usize; 2] = [100, 10_000];
/// Counted rounds of everything but questions.
const ROUNDS: usize = 5;
/// A library that is built and started anew no more than once.
const LARGE: usize = 100_000;

/// What was asked for.
struct Asked {
    sizes: Vec<usize>,
    rounds: usize,
    only: Vec<String>,
    /// A gatewright that is built already.
    program: Option<PathBuf>,
    /// Files of others' benchmarks, which the user has.
    longmemeval: Option<PathBuf>,
    locomo: Option<PathBuf>,
}

impl Asked {
    fn read(words: &[&str]) -> Done<Self> {
        let mut asked = Self {
            longmemeval: None,
            locomo: None,
            sizes: SIZES.to_vec(),
            rounds: ROUNDS,
            only: Vec::new(),
            program: None,
        };
        if words.contains(&"--quick") {
            (asked.sizes, asked.rounds) = (vec![100], 2);
        }
        let mut words = words.iter().filter(|word| **word != "--quick");
        while let Some(word) = words.next() {
            let value = *words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match *word {
                "--scale" => {
                    let most: usize = value.parse().map_err(|e| format!("--scale {value}: {e}"))?;
                    if most == 0 {
                        return Err("--scale 0: a library has at least one pattern".to_owned());
                    }
                    asked.sizes.retain(|size| *size < most);
                    asked.sizes.push(most);
                }
                "--rounds" => {
                    let rounds: usize = value.parse().map_err(|e| format!("--rounds {value}: {e}"))?;
                    asked.rounds = rounds.max(1);
                }
                "--only" => asked.only = value.split(',').map(str::to_owned).collect(),
                "--program" => {
                    let path = std::fs::canonicalize(value).map_err(|e| format!("--program {value}: {e}"))?;
                    asked.program = Some(path);
                }
                "--longmemeval" => asked.longmemeval = Some(value.into()),
                "--locomo" => asked.locomo = Some(value.into()),
                _ => {
                    let takes = "--only PARTS, --scale N, --rounds N, --program PATH, --longmemeval FILE, --locomo FILE, --quick";
                    return Err(format!("{word}: bench knowledge takes {takes}"));
                }
            }
        }
        match asked.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
            Some(part) => Err(format!("--only {part}: there are {}", PARTS.join(", "))),
            None => Ok(asked),
        }
    }

    fn program(&self) -> Done<PathBuf> {
        self.program.clone().map_or_else(crate::shipped::build, Ok)
    }

    fn has(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

pub(crate) fn run(words: &[&str]) -> Done {
    let asked = Asked::read(words)?;
    let ripgrep = Ripgrep::find();
    let mut aims: Vec<Aim> = Vec::new();
    if let Some(file) = &asked.longmemeval {
        retrieval::run(
            "LongMemEval",
            "session",
            &retrieval::of_file(file, retrieval::longmemeval)?,
            ripgrep,
        )?;
    }
    if let Some(file) = &asked.locomo {
        retrieval::run("LoCoMo", "turn", &retrieval::of_file(file, retrieval::locomo)?, ripgrep)?;
    }
    if asked.only.is_empty() && (asked.longmemeval.is_some() || asked.locomo.is_some()) {
        // Who brings a file asks for that.
        return Ok(());
    }
    if asked.has("quality") {
        aims.extend(quality::run(ripgrep)?);
    }
    // It writes what the repository keeps: only where it is named.
    if asked.only.iter().any(|only| only == "tokens") {
        tokens::run(&asked.program()?)?;
    }
    if ["build", "search", "load", "execute", "task"].iter().any(|part| asked.has(part)) {
        let program = asked.program()?;
        println!("\nprogram: {} ({})", program.display(), profile(&program));
        if ripgrep.is_none() {
            println!("SKIPPED: ripgrep is not installed (Debian: apt-get install ripgrep)");
        }
        aims.extend(libraries(&asked, &program, ripgrep)?);
    }
    if !aims.is_empty() {
        println!("\naims");
    }
    aims.iter().for_each(Aim::print);
    Ok(())
}

fn libraries(asked: &Asked, program: &Path, ripgrep: Option<Ripgrep>) -> Done<Vec<Aim>> {
    let sources = compose::Sources::find()?;
    println!("libraries are made of {}, seeded", sources.what);
    let (mut all, mut tasks) = (Vec::new(), Vec::new());
    for size in &asked.sizes {
        let scratch = Scratch::new(*size)?;
        let library = sources.library(&scratch.0.join("library"), *size)?;
        if ["build", "search", "load"].iter().any(|part| asked.has(part)) {
            let rounds = if *size >= LARGE { 1 } else { asked.rounds };
            all.push(serve::measured(program, &scratch.0, &library, serve::Rounds(rounds), ripgrep)?);
        }
        // Last: they add to the library.
        if asked.has("execute") {
            tasks.extend(task::execute(program, &scratch.0, &library)?);
        }
        if asked.has("task") {
            tasks.extend(task::run(program, &scratch.0, &library)?);
        }
    }
    let mut aims = serve::print(&all, |part| asked.has(part));
    aims.extend(tasks);
    Ok(aims)
}

/// How a program was built, by where cargo put it.
fn profile(program: &Path) -> String {
    let folder = program.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    match folder {
        Some("debug") => "a DEBUG build: times are many times those of what is shipped".to_owned(),
        Some("dist") => "as it is shipped".to_owned(),
        Some("release") => "a release build; what is shipped is built with `dist`".to_owned(),
        _ => "of an unknown profile".to_owned(),
    }
}

/// Where libraries are made; gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(size: usize) -> Done<Self> {
        let folder = target().join(format!("bench-knowledge-{}-{size}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        // A library's path has no links.
        std::fs::canonicalize(&folder).map(Self).map_err(|e| e.to_string())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
