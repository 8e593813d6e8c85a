//! `cargo xtask bench design`: the design operations beside what people use for the same today. Times are medians of interleaved
//! rounds in one run; what both sides find is compared in full, and every difference is printed.

mod agreement;
mod corpus;
mod findings;
mod kits;
mod known;
mod packs;
mod peers;
pub(crate) mod projects;
mod scans;
mod site;

pub(crate) use scans::with_axe;

use std::path::{Path, PathBuf};

use crate::session::Place;
use crate::sh::{Done, target};

/// What can be asked for by itself, in this order.
const PARTS: [&str; 4] = ["scan", "agreement", "kit", "pack"];

/// What was asked for.
struct Asked {
    /// Most pages of the corpus.
    pages: usize,
    /// Most packages.
    packages: usize,
    /// Counted rounds.
    rounds: usize,
    /// Whether little is to be done.
    quick: bool,
    /// Parts; all where none is named.
    only: Vec<String>,
    /// A gatewright that is built already.
    program: Option<PathBuf>,
}

impl Asked {
    fn read(words: &[&str]) -> Done<Self> {
        let quick = words.contains(&"--quick");
        let (pages, packages, rounds) = if quick { (24, 3, 1) } else { (usize::MAX, usize::MAX, 5) };
        let mut asked = Self { pages, packages, rounds, quick, only: Vec::new(), program: None };
        let mut words = words.iter().filter(|word| **word != "--quick");
        while let Some(word) = words.next() {
            let value = *words.next().ok_or_else(|| format!("{word} needs a value"))?;
            let count = || value.parse::<usize>().map_err(|e| format!("{word} {value}: {e}"));
            match *word {
                "--pages" => asked.pages = count()?,
                "--packages" => asked.packages = count()?,
                "--only" => asked.only = value.split(',').map(str::to_owned).collect(),
                "--program" => {
                    let path = std::fs::canonicalize(value).map_err(|e| format!("--program {value}: {e}"))?;
                    asked.program = Some(path);
                }
                _ => {
                    let takes = "--pages N, --packages N, --only PARTS, --program PATH, --quick";
                    return Err(format!("{word}: bench design takes {takes}"));
                }
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
    let ours = match &asked.program {
        Some(program) => program.clone(),
        None => crate::shipped::build()?,
    };
    println!("program: {}", ours.display());
    let scratch = Scratch::new()?;
    let mut unexplained = 0;
    if asked.has("scan") || asked.has("agreement") {
        let browser = peers::Browser::find()?;
        let site = site::Site::open(&scratch.folder("site")?)?;
        let pages = corpus::write(&site, asked.pages)?;
        if asked.has("scan") {
            scans::measure(&ours, &browser, &site, asked.rounds, &scratch)?;
        }
        if asked.has("agreement") {
            unexplained += agreement::measure(&ours, &browser, &site, &pages, &scratch)?;
        }
    }
    if asked.has("kit") {
        kits::measure(&ours, &asked, &scratch)?;
    }
    if asked.has("pack") {
        unexplained += packs::measure(&ours, &asked, &scratch)?;
    }
    match unexplained {
        0 => Ok(()),
        count => {
            Err(format!("✗ {count} differences have no explanation in xtask/npm/bench-design/known.txt"))
        }
    }
}

/// Where servers keep what is theirs; gone afterwards.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Done<Self> {
        let scratch = Self(target().join(format!("bench-design-{}", std::process::id())));
        scratch.folder("")?;
        Ok(scratch)
    }

    pub(crate) fn folder(&self, name: &str) -> Done<PathBuf> {
        let folder = self.0.join(name);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        std::fs::canonicalize(&folder).map_err(|e| e.to_string())
    }

    /// A place for a server over `root` that computes every answer anew.
    pub(crate) fn place(&self, ours: &Path, root: &Path, name: &str) -> Done<Place> {
        let own = self.folder(&format!("{name}-server"))?;
        Place::new(ours, root, &own, &own.join("state"))?.without_cache()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
