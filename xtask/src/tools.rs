//! Programs of crates.io that checks use: pinned here, built once into the user's cache.

use std::path::PathBuf;
use std::process::Command;

use crate::sh::{Done, step, target};

/// A program and the version that is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pinned {
    name: &'static str,
    version: &'static str,
    /// What cargo is told besides.
    more: &'static [&'static str],
}

/// Licences, sources and bans of the dependencies.
pub(crate) const DENY: Pinned = Pinned { name: "cargo-deny", version: "0.20.2", more: &[] };

/// Fuzzing guided by coverage.
pub(crate) const FUZZ: Pinned = Pinned { name: "cargo-fuzz", version: "0.13.2", more: &[] };

/// The book.
pub(crate) const MDBOOK: Pinned = Pinned { name: "mdbook", version: "0.5.4", more: &[] };

/// Known vulnerabilities of crates, which a tool asks. Of binaries nothing is asked.
pub(crate) const AUDIT: Pinned =
    Pinned { name: "cargo-audit", version: "0.22.2", more: &["--no-default-features"] };

impl Pinned {
    fn home() -> PathBuf {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .map_or_else(|| target().join("tools"), |cache| cache.join("gatewright/tools"))
    }

    /// The program, installed if it is not there in this version.
    pub(crate) fn program(self) -> Done<PathBuf> {
        let Self { name, version, more } = self;
        // One folder per version: two checkouts that pin different ones do not fight.
        let place = Self::home().join(format!("{name}-{version}"));
        let program = place.join("bin").join(name);
        if program.is_file() {
            return Ok(program);
        }
        let root = place.display().to_string();
        let args = ["install", name, "--version", version, "--locked", "--quiet", "--root", &root];
        let args: Vec<&str> = args.iter().chain(more).copied().collect();
        step("cargo", Command::new("cargo").args(&args).env_remove("CARGO_TARGET_DIR"), &args)?;
        Ok(program)
    }

    /// The program where tests look for it: alone in `target/tools/NAME`.
    pub(crate) fn at_hand(self) -> Done {
        let (program, folder) = (self.program()?, target().join("tools").join(self.name));
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let (new, place) = (folder.join(".new"), folder.join(self.name));
        std::fs::copy(&program, &new).map_err(failed)?;
        std::fs::rename(&new, &place).map_err(failed)
    }
}
