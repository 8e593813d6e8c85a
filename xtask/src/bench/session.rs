//! `cargo xtask bench session`: the working day as data grows. What a day costs in time and tokens, searches, and what a context
//! serves, over SQLite and PostgreSQL, through the program's own doors.

mod calls;
mod cluster;
mod data;
mod load;

use std::path::{Path, PathBuf};

use crate::session::Place;
use crate::sh::{Done, output, target};

/// What can be asked for by itself, in this order.
const PARTS: [&str; 3] = ["day", "search", "api"];

/// What was asked for.
struct Asked {
    /// Notes of each step.
    sizes: Vec<usize>,
    /// Counted rounds.
    rounds: usize,
    /// Seconds of each spell of load.
    seconds: u64,
    /// Parts; all where none is named.
    only: Vec<String>,
    /// A gatewright that is built already.
    program: Option<PathBuf>,
}

impl Asked {
    fn read(words: &[&str]) -> Done<Self> {
        let quick = words.contains(&"--quick");
        let (sizes, rounds, seconds) =
            if quick { (vec![1_000, 10_000], 5, 1) } else { (vec![10_000, 100_000, 1_000_000], 20, 5) };
        let mut asked = Self { sizes, rounds, seconds, only: Vec::new(), program: None };
        let mut words = words.iter().filter(|word| **word != "--quick");
        while let Some(word) = words.next() {
            let value = *words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match *word {
                "--notes" => {
                    let sizes = value.split(',').map(|n| n.parse().map_err(|e| format!("{word} {n}: {e}")));
                    asked.sizes = sizes.collect::<Done<_>>()?;
                }
                "--only" => asked.only = value.split(',').map(str::to_owned).collect(),
                "--program" => {
                    let path = std::fs::canonicalize(value).map_err(|e| format!("--program {value}: {e}"))?;
                    asked.program = Some(path);
                }
                _ => {
                    let takes = "--notes N,N, --only PARTS, --program PATH, --quick";
                    return Err(format!("{word}: bench session takes {takes}"));
                }
            }
        }
        match asked.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
            Some(part) => Err(format!("--only {part}: there are {}", PARTS.join(", "))),
            None => Ok(asked),
        }
    }

    fn has(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

/// Where everything of one store is: a home, and the database where it is none of the home's own.
pub(super) struct Home {
    pub(super) place: Place,
    pub(super) url: Option<String>,
}

impl Home {
    fn new(program: &Path, scratch: &Path, name: &str, url: Option<String>) -> Done<Self> {
        let root = scratch.join("root");
        let folder = scratch.join(name);
        let place = Place::new(program, &root, &folder, &folder.join("state"))?;
        let more = "[ventures.acme]\nname = \"Acme\"\nrepositories = [\"github.com/acme/app\"]\n[github]\nhost = \"git.example\"\ngh = false\n";
        place.configured(more)?;
        Ok(Self {
            place: place.with_variables(url.iter().map(|url| ("GATEWRIGHT_STORE_URL", url.clone()))),
            url,
        })
    }

    fn kind(&self) -> &'static str {
        if self.url.is_some() { "PostgreSQL" } else { "SQLite" }
    }
}

pub(crate) fn run(words: &[&str]) -> Done {
    let asked = Asked::read(words)?;
    let program = match &asked.program {
        Some(program) => program.clone(),
        None => crate::shipped::build()?,
    };
    println!("program: {}", program.display());
    let scratch = target().join("bench-session");
    let _ = std::fs::remove_dir_all(&scratch);
    repository(&scratch.join("root"))?;
    let cluster = cluster::Cluster::start(&scratch.join("postgres"))?;
    let mut days = Vec::new();
    for (step, notes) in asked.sizes.iter().enumerate() {
        if !asked.has("day") && !asked.has("search") {
            break;
        }
        let data = data::write(&scratch.join(format!("{notes}.jsonl")), *notes)?;
        let database = cluster.as_ref().map(|cluster| cluster.database(step)).transpose()?;
        for url in [None, database] {
            if url.is_none() || cluster.is_some() {
                let name = format!("{}-{notes}", if url.is_some() { "pg" } else { "lite" });
                let home = Home::new(&program, &scratch, &name, url)?;
                days.push(calls::measured(&home, &data, *notes, asked.rounds)?);
            }
        }
        std::fs::remove_file(&data.file).map_err(|e| e.to_string())?;
    }
    calls::print(&days, asked.rounds);
    if asked.has("api") {
        match &cluster {
            Some(cluster) => load::run(&program, &scratch, &cluster.database(99)?, asked.seconds)?,
            None => println!("SKIPPED: the context API over PostgreSQL (no server is installed)"),
        }
    }
    drop(cluster);
    std::fs::remove_dir_all(&scratch).map_err(|e| e.to_string())
}

/// A repository with a remote and a commit.
fn repository(root: &Path) -> Done {
    std::fs::create_dir_all(root).map_err(|e| e.to_string())?;
    std::fs::write(root.join("README.md"), "# App\n").map_err(|e| e.to_string())?;
    let place = root.display().to_string();
    let git = |args: &[&str]| {
        let who = ["-C", &place, "-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
        output("git", &[&who, args].concat()).map(|_| ())
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["remote", "add", "origin", "git@github.com:acme/app.git"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "--message", "first"])
}
