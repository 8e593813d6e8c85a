//! What files there are: one walk, in order, within bounds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use projects::{EntryKind, Look};

/// Most folders that are listed.
pub(crate) const MAX_FOLDERS: usize = 4_000;

/// Most files that are known.
pub(crate) const MAX_FILES: usize = 40_000;

/// Deepest folder that is listed.
const MAX_DEPTH: usize = 24;

/// Folders of what was fetched or made. Nothing is said of what is in them.
const LEFT_OUT: [&str; 24] = [
    ".git",
    ".hg",
    ".svn",
    "node_modules",
    "bower_components",
    "vendor",
    "target",
    "dist",
    "build",
    "out",
    "coverage",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".next",
    ".nuxt",
    ".gradle",
    ".terraform",
    ".cache",
    "site-packages",
];

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum There {
    Yes,
    No,
    /// It was not looked at: behind a link, in a folder of made things, beyond a bound.
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeSet<String>,
    /// Folders that were listed.
    folders: BTreeSet<String>,
    /// Folders, links and others that were not.
    closed: BTreeSet<String>,
    /// Paths in lower case, for what is only spelled otherwise.
    spelled: BTreeMap<String, String>,
    is_whole: bool,
}

impl Tree {
    /// Walks a root, the shallowest folders first.
    pub(crate) fn walk(look: &dyn Look) -> Self {
        let mut tree = Self { is_whole: true, ..Self::default() };
        let mut waiting = VecDeque::from([(String::new(), 0)]);
        while let Some((dir, depth)) = waiting.pop_front() {
            let Ok(mut entries) = look.list(&dir) else {
                tree.closed.insert(dir);
                continue;
            };
            entries.sort();
            if tree.folders.len() == MAX_FOLDERS || tree.files.len() + entries.len() > MAX_FILES {
                tree.is_whole = false;
                tree.closed.insert(dir);
                continue;
            }
            for entry in entries {
                let path = join(&dir, &entry.name);
                tree.spelled.insert(path.to_lowercase(), path.clone());
                match entry.kind {
                    EntryKind::File => {
                        tree.files.insert(path);
                    }
                    EntryKind::Folder if depth < MAX_DEPTH && !LEFT_OUT.contains(&entry.name.as_str()) => {
                        waiting.push_back((path, depth + 1));
                    }
                    EntryKind::Folder | EntryKind::Link | EntryKind::Other => {
                        tree.closed.insert(path);
                    }
                }
            }
            tree.folders.insert(dir);
        }
        tree
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Folders at the top that were listed.
    pub(crate) fn top(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str).filter(|path| !path.is_empty() && !path.contains('/'))
    }

    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Whether it is there, and was not looked into: a link, or a folder of made things.
    pub(crate) fn is_closed(&self, path: &str) -> bool {
        self.closed.contains(path)
    }

    /// Whether there is anything; `path` is normal.
    pub(crate) fn there(&self, path: &str) -> There {
        if self.files.contains(path) || self.folders.contains(path) || self.closed.contains(path) {
            return There::Yes;
        }
        // The nearest folder that was listed knows; below one that was not nobody does.
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if self.closed.contains(parent) {
                return There::Unknown;
            }
            if self.folders.contains(parent) {
                return There::No;
            }
            above = parent;
        }
        if self.folders.contains("") { There::No } else { There::Unknown }
    }

    /// Whether a folder was listed.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.folders.contains(path)
    }

    /// Whether some path ends so: documents leave out what their readers know.
    pub(crate) fn ends_with(&self, tail: &str) -> There {
        let ends = |path: &String| {
            path.strip_suffix(tail).is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        if self.files.iter().any(ends) || self.folders.iter().any(ends) || self.closed.iter().any(ends) {
            There::Yes
        } else if self.is_whole {
            There::No
        } else {
            There::Unknown
        }
    }

    /// The path that is this one but for capitals.
    pub(crate) fn spelled_otherwise(&self, path: &str) -> Option<&str> {
        self.spelled.get(&path.to_lowercase()).map(String::as_str).filter(|found| *found != path)
    }

    /// Files of this name, with or without its ending.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.files().filter(move |path| path.rsplit('/').next() == Some(name))
    }
}

/// A path in a folder.
pub(crate) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

/// The folder of a path.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// `path` seen from a folder, without `.` and `..`; `None` where it leaves the root.
pub(crate) fn resolve(dir: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> =
        if path.starts_with('/') { Vec::new() } else { dir.split('/').filter(|p| !p.is_empty()).collect() };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Files;

    #[test]
    fn what_was_not_looked_at_is_not_known() {
        let files =
            Files::new(&[("src/a.rs", ""), ("README.md", ""), ("target/x/y", ""), ("Docs/guide.md", "")]);
        let tree = Tree::walk(&files);
        for (path, there) in [
            ("src", There::Yes),
            ("src/a.rs", There::Yes),
            ("src/b.rs", There::No),
            ("src/b/c.rs", There::No),
            ("target", There::Yes),
            ("target/x", There::Unknown),
            ("target/x/y", There::Unknown),
            ("nothing", There::No),
            ("nothing/at/all", There::No),
        ] {
            assert_eq!(tree.there(path), there, "{path}");
        }
        assert_eq!(tree.ends_with("a.rs"), There::Yes);
        assert_eq!(tree.ends_with(".rs"), There::No);
        assert_eq!(tree.spelled_otherwise("docs/Guide.md"), Some("Docs/guide.md"));
        assert_eq!(tree.named("guide.md").collect::<Vec<_>>(), ["Docs/guide.md"]);
    }

    #[test]
    fn a_walk_ends() {
        let many: Vec<(String, String)> =
            (0..MAX_FOLDERS + 10).map(|n| (format!("d{n}/f"), String::new())).collect();
        let files = Files::owned(many);
        let tree = Tree::walk(&files);
        assert_eq!(tree.folders.len(), MAX_FOLDERS);
        assert_eq!(tree.ends_with("x.rs"), There::Unknown);
        assert_eq!(tree.there("d999/x"), There::Unknown, "the last one by name");
    }

    #[test]
    fn paths_are_resolved_within_the_root() {
        assert_eq!(resolve("docs", "../src/./a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(resolve("docs", "/src//a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(resolve("docs", "../../x"), None);
    }
}
