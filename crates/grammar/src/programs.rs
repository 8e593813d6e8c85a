//! The programs that have a grammar, and which name means which.

use std::sync::OnceLock;

use crate::load::{LoadError, load};
use crate::model::Grammar;
use crate::refusal::shown;

/// A program's file, understood when it is first asked for.
struct Entry {
    name: &'static str,
    /// Other names, repeated from the file so that a look-up reads no file.
    also: &'static [&'static str],
    text: &'static str,
    grammar: OnceLock<Option<Grammar>>,
}

macro_rules! entries {
    ($($name:literal $(= $also:literal)*),* $(,)?) => {
        /// In the order of their names.
        static ENTRIES: [Entry; [$($name),*].len()] = [$(Entry {
            name: $name,
            also: &[$($also),*],
            text: include_str!(concat!("../programs/", $name, ".toml")),
            grammar: OnceLock::new(),
        }),*];

        /// Every name by which a program with a grammar can be called: for tools that run what others write as one command.
        pub const NAMES: &[&str] = &[$($name, $($also,)*)*];
    };
}

entries![
    "actionlint",
    "bandit",
    "black",
    "bun",
    "cargo",
    "commitlint",
    "coverage",
    "eslint",
    "git",
    "go",
    "gofmt",
    "golangci-lint",
    "govulncheck",
    "jest",
    "make" = "gmake",
    "markdownlint",
    "markdownlint-cli2",
    "mocha",
    "mypy",
    "node",
    "npm",
    "pip" = "pip3",
    "pip-audit",
    "pipenv",
    "pnpm",
    "poetry",
    "prettier",
    "pyright",
    "pytest",
    "python" = "python3",
    "ruff",
    "rustfmt",
    "shellcheck",
    "staticcheck",
    "tsc",
    "uv",
    "vermin",
    "vitest",
    "yamllint",
    "yarn",
];

/// Programs that are asked for and never run, and what to do instead.
const NEVER: [(&str, &str); 32] = [
    ("sh", "is a shell"),
    ("bash", "is a shell"),
    ("dash", "is a shell"),
    ("zsh", "is a shell"),
    ("fish", "is a shell"),
    ("ksh", "is a shell"),
    ("busybox", "is a shell and much else"),
    ("env", "starts other programs"),
    ("xargs", "starts other programs"),
    ("find", "starts other programs"),
    ("sudo", "raises rights"),
    ("su", "raises rights"),
    ("curl", "opens the network"),
    ("wget", "opens the network"),
    ("ssh", "opens the network"),
    ("nc", "opens the network"),
    ("npx", "runs any package; call the program by its own name"),
    ("pnpx", "runs any package; call the program by its own name"),
    ("bunx", "runs any package; call the program by its own name"),
    ("uvx", "runs any package; call the program by its own name"),
    ("pipx", "runs any package; call the program by its own name"),
    ("tsx", "runs any file; run the project's tests or scripts"),
    ("ts-node", "runs any file; run the project's tests or scripts"),
    ("deno", "runs any file"),
    ("perl", "is an interpreter"),
    ("ruby", "is an interpreter"),
    ("php", "is an interpreter"),
    ("awk", "is an interpreter"),
    ("sed", "is an interpreter"),
    ("py-spy", "looks into other processes; `python_profile` measures with it"),
    ("memray", "runs any file; `python_profile` measures with what can be confined"),
    ("docker", "starts other programs with other rights"),
];

/// A first word that names no program with a grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramRefusal {
    /// A path, where only a plain name is taken: the program is resolved once, from a trusted place.
    #[error("`{0}` is a path; programs are named plainly, as `git`, and found in a trusted place")]
    Path(String),
    /// A name that is nearly a program's: other letters, another case, an ending.
    #[error("`{0}` is not a program with a grammar; `{1}` is")]
    LooksLike(String, &'static str),
    /// A program that is never run.
    #[error("`{0}` is not run: it {1}")]
    Never(String, &'static str),
    /// Any other word.
    #[error("`{0}` has no grammar, so it is not run; there are {1}")]
    Unknown(String, String),
}

fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name || entry.also.contains(&name))
}

impl Grammar {
    /// The grammar of a program by its plain name, or `None`. Loaded once, when first asked for; a file whose own examples
    /// do not hold gives `None`, so that nothing is run by it.
    pub fn of(program: &str) -> Option<&'static Self> {
        let entry = entry(program)?;
        entry.grammar.get_or_init(|| load(entry.text).ok()).as_ref()
    }

    /// The program's name.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Other names of the same program.
    #[must_use]
    pub fn also(&self) -> &[String] {
        &self.also
    }

    /// The program and version whose options it follows.
    #[must_use]
    pub fn follows(&self) -> &str {
        &self.follows
    }
}

/// The names of the programs that have a grammar, sorted.
pub fn programs() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// Understands a program's file anew and tries its examples: what is wrong with it, for tests and authors.
pub fn verify(program: &str) -> Option<Result<(), LoadError>> {
    entry(program).map(|entry| load(entry.text).map(|_| ()))
}

/// The program that a command's first word names: a plain name that has a grammar, and nothing that only looks so.
pub fn program_of(word: &str) -> Result<&'static str, ProgramRefusal> {
    if let Some(entry) = entry(word) {
        return Ok(entry.also.iter().find(|also| **also == word).copied().unwrap_or(entry.name));
    }
    if word.contains(['/', '\\']) || (word.starts_with('.') && word.len() > 1) || word.starts_with('~') {
        return Err(ProgramRefusal::Path(shown(word)));
    }
    if let Some((name, why)) = NEVER.iter().find(|(name, _)| *name == word) {
        return Err(ProgramRefusal::Never((*name).to_owned(), why));
    }
    let lower = word.to_lowercase();
    let stem = [".exe", ".cmd", ".bat", ".ps1", ".com"]
        .iter()
        .find_map(|end| lower.strip_suffix(end))
        .unwrap_or(&lower);
    let folded: String = stem.chars().filter(char::is_ascii_graphic).collect();
    let near = |entry: &&Entry| {
        entry.name == folded
            || (folded.len() <= 40
                && strsim::damerau_levenshtein(entry.name, &folded) == 1
                && entry.name.len() > 2)
    };
    match ENTRIES.iter().find(near) {
        Some(entry) => Err(ProgramRefusal::LooksLike(shown(word), entry.name)),
        None => Err(ProgramRefusal::Unknown(shown(word), programs().collect::<Vec<_>>().join(", "))),
    }
}
