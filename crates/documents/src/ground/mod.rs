//! What a repository says of itself where machines read it: files, manifests, targets, scripts, pinned versions. Documents are
//! held to this, and generated from it.

pub(crate) mod cargo;
pub(crate) mod node;
pub(crate) mod others;
pub(crate) mod tree;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use projects::{DetectError, Look, Makefile, Project, Within};

use crate::mark::Source;
use tree::Tree;

/// Most manifests of one kind that are read.
pub(crate) const MAX_MANIFESTS: usize = 300;

/// A language or runtime whose version documents name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runtime {
    /// Node.js.
    Node,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Python.
    Python,
}

impl Runtime {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "Node.js",
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Python => "Python",
        }
    }
}

/// The least version that a manifest asks for, or the one that those who work here use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Least {
    /// Whether it is the one that is used: others may do.
    pub(crate) is_pin: bool,
    pub(crate) runtime: Runtime,
    /// Numbers, as many as are written.
    pub(crate) version: Vec<u64>,
    pub(crate) from: String,
}

/// A repository, surveyed once.
pub struct Ground<'l> {
    look: &'l dyn Look,
    pub(crate) tree: Tree,
    pub(crate) project: Project,
    pub(crate) crates: Vec<cargo::Crate>,
    pub(crate) aliases: BTreeSet<String>,
    pub(crate) locked: BTreeSet<String>,
    pub(crate) packages: Vec<node::Package>,
    pub(crate) recipes: Option<others::Recipes>,
    pub(crate) least: Vec<Least>,
    ignored: GlobSet,
    makefiles: RefCell<BTreeMap<String, Option<Rc<Makefile>>>>,
}

impl std::fmt::Debug for Ground<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground").field("project", &self.project).finish_non_exhaustive()
    }
}

impl<'l> Ground<'l> {
    /// Looks at a repository: at most 4,000 folders are listed, 40,000 files known and 300 manifests of a kind read.
    pub fn survey(look: &'l dyn Look) -> Result<Self, DetectError> {
        let project = projects::detect(look, &[])?;
        let tree = Tree::walk(look);
        let read = |path: &str| read(look, path);
        let manifests = |name: &str| -> Vec<(String, String)> {
            let paths = tree.named(name).take(MAX_MANIFESTS);
            paths.filter_map(|path| Some((path.to_owned(), read(path)?))).collect()
        };
        let mut least = Vec::new();
        let crates = cargo::crates(&manifests("Cargo.toml"), &tree, &mut least);
        let packages = node::packages(&manifests("package.json"), &mut least);
        others::least(&read, &mut least);
        Ok(Self {
            aliases: cargo::aliases(&read),
            locked: cargo::locked(&read),
            recipes: others::recipes(&read),
            ignored: ignored(&tree, &read),
            look,
            project,
            crates,
            packages,
            least,
            tree,
            makefiles: RefCell::default(),
        })
    }

    /// What the project is.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The text of a file, where there is one that is short enough and is UTF-8.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        read(self.look, path)
    }

    /// Files as sources, with what is in them, sorted; those that cannot be read left out.
    pub(crate) fn sources(&self, paths: &[String]) -> Vec<(Source, String)> {
        paths
            .iter()
            .filter_map(|path| self.text(path).map(|text| (Source::new(path, text.as_bytes()), text)))
            .collect()
    }

    /// Files that one of some globs names, sorted. `*` does not go over `/`; a pattern that is no glob names nothing.
    pub(crate) fn matching(&self, globs: &[String]) -> Vec<String> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            if let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() {
                set.add(glob);
            }
        }
        let Ok(set) = set.build() else { return Vec::new() };
        self.tree.files().filter(|path| set.is_match(path)).map(str::to_owned).collect()
    }

    /// Whether the repository says that this is made, not kept: a path, or what it lies in, that a `.gitignore` names.
    pub(crate) fn is_ignored(&self, path: &str) -> bool {
        let mut above = path;
        loop {
            if self.ignored.is_match(above) {
                return true;
            }
            match above.rsplit_once('/') {
                Some((parent, _)) => above = parent,
                None => return false,
            }
        }
    }

    /// The Makefile of a folder.
    pub(crate) fn makefile(&self, dir: &str) -> Option<Rc<Makefile>> {
        if let Some(known) = self.makefiles.borrow().get(dir) {
            return known.clone();
        }
        let found = projects::makefile(&Within::new(self.look, dir), &mut Vec::new()).map(Rc::new);
        self.makefiles.borrow_mut().insert(dir.to_owned(), found.clone());
        found
    }
}

fn read(look: &dyn Look, path: &str) -> Option<String> {
    String::from_utf8(look.read(path).ok()??).ok()
}

/// Most `.gitignore` files that are read, and lines of all of them.
const MAX_IGNORES: (usize, usize) = (64, 2_000);

/// Patterns of the `.gitignore` files (gitignore(5)) without the exceptions from them: what is ignored and then not again
/// is left undecided.
fn ignored(tree: &Tree, read: &dyn Fn(&str) -> Option<String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    let mut left = MAX_IGNORES.1;
    for path in tree.named(".gitignore").take(MAX_IGNORES.0) {
        let dir = tree::parent(path);
        for line in read(path).unwrap_or_default().lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', '!']) || left == 0 {
                continue;
            }
            left -= 1;
            let pattern = line.trim_end_matches('/');
            let inner = pattern.trim_start_matches('/');
            let is_here = pattern.starts_with('/') || inner.trim_start_matches("**/").contains('/');
            let pattern = match (dir, is_here) {
                ("", true) => inner.to_owned(),
                ("", false) => format!("**/{inner}"),
                (dir, true) => format!("{}/{inner}", globset::escape(dir)),
                (dir, false) => format!("{}/**/{inner}", globset::escape(dir)),
            };
            if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                set.add(glob);
            }
        }
    }
    set.build().unwrap_or_default()
}

/// The first numbers of a version: `>=18.12.0` is 18.12.0, `v1.22` is 1.22. `None` where there is none, or a choice of
/// several (`^16 || ^18`: the first counts).
pub(crate) fn numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.trim().trim_start_matches(['>', '=', '^', '~', 'v', ' ']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default().trim_end_matches('.');
    let numbers: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
    numbers.filter(|n| !n.is_empty() && n.len() <= 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Files;

    #[test]
    fn versions_are_read_as_far_as_they_are_numbers() {
        assert_eq!(numbers(">=18.12.0"), Some(vec![18, 12, 0]));
        assert_eq!(numbers("^16 || ^18"), Some(vec![16]));
        assert_eq!(numbers("v20.x"), Some(vec![20]));
        assert_eq!(numbers("lts/*"), None);
        assert_eq!(numbers("*"), None);
    }

    #[test]
    fn what_is_ignored_is_known_with_all_below_it() {
        let files = Files::new(&[
            (".gitignore", "# made\n/dist2\n*.log\ngen/\n!keep.log\na/b\n"),
            ("web/.gitignore", "/cache\nlocal.json\n"),
        ]);
        let ground = Ground::survey(&files).unwrap();
        for path in [
            "dist2/x",
            "x.log",
            "web/x.log",
            "gen",
            "web/gen/a/b",
            "a/b/c",
            "web/cache/x",
            "web/deep/local.json",
        ] {
            assert!(ground.is_ignored(path), "{path}");
        }
        for path in ["web/dist2", "c/a/b", "cache", "local.json", "src"] {
            assert!(!ground.is_ignored(path), "{path}");
        }
    }

    #[test]
    fn globs_name_files() {
        let files = Files::new(&[("db/1.sql", ""), ("db/old/2.sql", ""), ("x.sql", "")]);
        let ground = Ground::survey(&files).unwrap();
        assert_eq!(ground.matching(&["db/*.sql".to_owned(), "[".to_owned()]), ["db/1.sql"]);
        assert_eq!(ground.matching(&["**/*.sql".to_owned()]).len(), 3);
    }
}
