//! Folders, listed once each and in a bounded number, with what is excluded left out.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use crate::look::{Entry, EntryKind, Look, LookError};
use crate::paths;
use crate::project::{MAX_PROBLEMS, Problem};

/// Most folders that a detection lists.
pub const MAX_FOLDERS: usize = 1_000;

/// Most packages that a detection looks into.
pub const MAX_PACKAGES: usize = 300;

/// How many folders are listed only to see whether something is there.
const MAX_DISCOVERED: usize = 128;

/// How deep `**` of a workspace pattern is followed.
const MAX_DEPTH: usize = 5;

/// Folders that hold others' work, or what was made, or what is no part of the project.
const LEFT_OUT: [&str; 39] = [
    "node_modules",
    "bower_components",
    "vendor",
    "third_party",
    "thirdparty",
    "external",
    "target",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    "coverage",
    "venv",
    "env",
    "virtualenv",
    "site-packages",
    "__pycache__",
    "__fixtures__",
    "__tests__",
    "fixtures",
    "testdata",
    "test",
    "tests",
    "spec",
    "e2e",
    "examples",
    "example",
    "samples",
    "sample",
    "demo",
    "demos",
    "playground",
    "playgrounds",
    "template",
    "templates",
    "bench",
    "benches",
    "benchmarks",
];

/// Paths that are taken as not there.
#[derive(Debug)]
pub struct Excludes(GlobSet);

impl Excludes {
    /// Globs over paths from the root. One without `/` stands for a name at any depth.
    ///
    /// # Errors
    ///
    /// The pattern that is no glob, and why.
    pub fn new(patterns: &[String]) -> Result<Self, (String, globset::Error)> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let plain = pattern.trim_start_matches("./").trim_end_matches('/');
            let whole = if plain.contains('/') { plain.to_owned() } else { format!("**/{plain}") };
            let glob = GlobBuilder::new(&whole).literal_separator(true).build();
            set.add(glob.map_err(|e| (pattern.clone(), e))?);
        }
        set.build().map(Self).map_err(|e| (String::new(), e))
    }

    /// Whether the path, or a folder above it, is left out.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).any(|part| self.0.is_match(part))
    }
}

pub(crate) struct Survey<'a> {
    pub(crate) look: &'a dyn Look,
    excludes: Excludes,
    listed: BTreeMap<String, Rc<[Entry]>>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) truncated: bool,
}

impl<'a> Survey<'a> {
    /// Begins with the top, which must be there to be listed.
    pub(crate) fn new(look: &'a dyn Look, excludes: Excludes) -> Result<Self, LookError> {
        let mut survey =
            Self { look, excludes, listed: BTreeMap::new(), problems: Vec::new(), truncated: false };
        let top = look.list("")?;
        survey.keep("", top);
        Ok(survey)
    }

    pub(crate) fn problem(&mut self, file: &str, line: Option<usize>, message: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem::new(file, line, message));
        }
    }

    fn keep(&mut self, dir: &str, mut entries: Vec<Entry>) -> Rc<[Entry]> {
        entries.retain(|e| !self.excludes.has(&paths::join(dir, &e.name)));
        entries.sort();
        let entries: Rc<[Entry]> = entries.into();
        self.listed.insert(dir.to_owned(), Rc::clone(&entries));
        entries
    }

    /// What is in a folder, sorted, without what is excluded.
    pub(crate) fn list(&mut self, dir: &str) -> Rc<[Entry]> {
        if let Some(entries) = self.listed.get(dir) {
            return Rc::clone(entries);
        }
        if self.listed.len() >= MAX_FOLDERS {
            self.truncated = true;
            return Rc::new([]);
        }
        let entries = if self.excludes.has(dir) { Ok(Vec::new()) } else { self.look.list(dir) };
        let entries = entries.unwrap_or_else(|error| {
            self.problem(dir, None, error.to_string());
            Vec::new()
        });
        self.keep(dir, entries)
    }

    /// What is at the top.
    pub(crate) fn top(&self) -> &[Entry] {
        self.listed.get("").map_or(&[], |entries| entries)
    }

    /// The bytes of a file that was seen; a file that cannot be read is a problem.
    pub(crate) fn read(&mut self, path: &str) -> Option<Vec<u8>> {
        match self.look.read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.problem(path, None, error.to_string());
                None
            }
        }
    }

    /// Folders in `dir`.
    pub(crate) fn folders(&mut self, dir: &str) -> Vec<String> {
        let entries = self.list(dir);
        let folders = entries.iter().filter(|e| e.kind == EntryKind::Folder);
        folders.map(|e| paths::join(dir, &e.name)).collect()
    }

    /// Folders one and two below the top in which a package may be that nothing declares. Those that are known are
    /// neither counted nor looked into.
    pub(crate) fn discover(&mut self, known: &BTreeSet<String>) -> Vec<String> {
        let mut found = Vec::new();
        let mut level = vec![String::new()];
        for _ in 0..2 {
            let mut next = Vec::new();
            for dir in level {
                for folder in self.folders(&dir) {
                    let (_, name) = paths::split(&folder);
                    if name.starts_with('.') || LEFT_OUT.contains(&name) || known.contains(&folder) {
                        continue;
                    }
                    if found.len() == MAX_DISCOVERED {
                        // Workspaces say what is theirs; only the rest was cut.
                        self.truncated = true;
                        return found;
                    }
                    self.list(&folder);
                    found.push(folder.clone());
                    next.push(folder);
                }
            }
            level = next;
        }
        found
    }

    /// Folders that the workspace patterns of `file` name. A pattern that begins with `!` leaves out.
    pub(crate) fn members(&mut self, file: &str, patterns: &[String], without: &[String]) -> Vec<String> {
        let (dir, _) = paths::split(file);
        let dir = dir.to_owned();
        let negated = patterns.iter().filter_map(|p| p.strip_prefix('!'));
        let refused: Vec<String> =
            negated.chain(without.iter().map(String::as_str)).map(str::to_owned).collect();
        let refused: Vec<GlobMatcher> =
            refused.iter().filter_map(|p| self.glob(file, &paths::resolve(&dir, p)?)).collect();
        let mut found = Vec::new();
        for pattern in patterns.iter().filter(|p| !p.starts_with('!')).take(MAX_PACKAGES) {
            let Some(path) = paths::resolve(&dir, pattern) else {
                self.problem(file, None, format!("the workspace pattern {pattern} leads out of the root"));
                continue;
            };
            let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
            self.expand(file, "", &parts, 0, &mut found);
        }
        found.retain(|f| !refused.iter().any(|r| r.is_match(f)));
        found.sort();
        found.dedup();
        found
    }

    fn glob(&mut self, file: &str, pattern: &str) -> Option<GlobMatcher> {
        match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => Some(glob.compile_matcher()),
            Err(error) => {
                self.problem(file, None, error.to_string());
                None
            }
        }
    }

    fn expand(&mut self, file: &str, dir: &str, parts: &[&str], depth: usize, found: &mut Vec<String>) {
        if found.len() >= 4 * MAX_PACKAGES {
            self.truncated = true;
            return;
        }
        let Some((part, rest)) = parts.split_first() else {
            found.push(dir.to_owned());
            return;
        };
        if !part.contains(['*', '?', '[', '{']) {
            return self.expand(file, &paths::join(dir, part), rest, depth, found);
        }
        let recursive = *part == "**";
        if recursive {
            self.expand(file, dir, rest, depth, found);
            if depth == MAX_DEPTH {
                self.truncated = true;
                return;
            }
        }
        let Some(glob) = self.glob(file, part) else { return };
        for folder in self.folders(dir) {
            let (_, name) = paths::split(&folder);
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            if recursive {
                self.expand(file, &folder, parts, depth + 1, found);
            } else if glob.is_match(name) {
                self.expand(file, &folder, rest, depth, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_excluded_at_any_depth_and_a_path_where_it_is() {
        let excludes = Excludes::new(&["gen".into(), "a/b/".into(), "c/**".into(), "*.tmp".into()]).unwrap();
        for path in ["gen", "x/gen", "x/gen/y", "a/b", "a/b/c", "c/d", "x/y.tmp"] {
            assert!(excludes.has(path), "{path}");
        }
        for path in ["generated", "a", "x/a/b", "c"] {
            assert!(!excludes.has(path), "{path}");
        }
    }
}
