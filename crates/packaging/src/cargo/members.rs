//! Which folders are packages of a workspace
//! ([`members` and `exclude`](https://doc.rust-lang.org/cargo/reference/workspaces.html#the-members-and-exclude-fields)).

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobMatcher};
use toml::Value;

use super::dependency::{Dependency, Purpose};
use super::manifest::{Manifest, ManifestError, Shared, tidy};
use crate::tree::{Kind, Tree, TreeError};

/// Most members, most patterns, and most folders that patterns are held against.
pub const MAX_MEMBERS: usize = 2_000;
const MAX_PATTERNS: usize = 1_000;
const MAX_FOLDERS: usize = 50_000;

/// Most folders within each other below a `**`.
const MAX_DEPTH: usize = 32;

/// A workspace: its packages by folder (empty for the top), as Cargo takes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Members {
    /// What could be read.
    pub packages: BTreeMap<String, Manifest>,
    /// Folders that are named and have no manifest that can be read, and why.
    pub broken: BTreeMap<String, String>,
    /// The folders of `default-members`; all members where there are none.
    pub default: Vec<String>,
}

/// Why a workspace could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MembersError {
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The top's manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// There is no Cargo.toml at the top.
    #[error("there is no Cargo.toml")]
    Missing,
    /// There are more members or folders than are looked at.
    #[error(
        "the workspace has more than {MAX_MEMBERS} members or {MAX_FOLDERS} folders: name the package's folder"
    )]
    TooMany,
    /// A pattern is none.
    #[error("`{pattern}` of `members` is no pattern: {why}")]
    Pattern {
        /// As it is written.
        pattern: String,
        /// What is wrong.
        why: String,
    },
}

impl Members {
    /// The folders of members that what is published of the one in `folder` needs by path, and what those need in turn, without
    /// itself. What only its tests need, without a version, is not published.
    pub fn needed(&self, folder: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> =
            self.packages.get_key_value(folder).map(|(key, _)| key.as_str()).into_iter().collect();
        while let Some(at) = open.pop() {
            let manifest = self.packages.get(at);
            for dependency in manifest.into_iter().flat_map(Manifest::dependencies) {
                if dependency.purpose == Purpose::Develop && dependency.version.is_none() {
                    continue;
                }
                let leads = place(at, dependency).and_then(|place| self.packages.get_key_value(&place));
                if let Some((key, _)) = leads
                    && key != folder
                    && found.insert(key.as_str())
                {
                    open.push(key);
                }
            }
        }
        found
    }
}

/// The folder below the top that a dependency's path leads to.
fn place(folder: &str, dependency: &Dependency) -> Option<String> {
    let path = dependency.path.as_deref()?;
    let joined = if dependency.is_path_of_workspace { path.to_owned() } else { format!("{folder}/{path}") };
    let is_absolute = path.starts_with(['/', '\\']) || path.contains(':');
    let joined = tidy(&joined);
    (!is_absolute && joined != ".." && !joined.starts_with("../")).then_some(joined)
}

/// The folders below the top that a member depends on by path.
fn paths(folder: &str, manifest: &Manifest) -> Vec<String> {
    manifest.dependencies().iter().filter_map(|dependency| place(folder, dependency)).collect()
}

struct Reader<'t> {
    tree: &'t dyn Tree,
    shared: Option<Shared>,
    /// Folders of `exclude`, and of `members` as they are written.
    excluded: Vec<String>,
    named: Vec<String>,
    found: Members,
    folders: usize,
}

/// The packages of the workspace or package at the tree's top: what `members` names, and what its members depend on by path
/// below the top, unless it is excluded.
pub fn members(tree: &dyn Tree) -> Result<Members, MembersError> {
    let bytes = tree.read("Cargo.toml")?.ok_or(MembersError::Missing)?;
    let top = Manifest::read(&bytes, None)?;
    let list = |key: &str| -> Vec<String> {
        let workspace = top.section("workspace");
        let texts = workspace.and_then(|w| w.get(key)).and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(Value::as_str).take(MAX_PATTERNS).map(tidy).collect()
    };
    let is_workspace = top.is_workspace();
    let shared = if is_workspace { Some(Shared::read(&bytes)?) } else { None };
    let mut reader = Reader {
        tree,
        shared,
        excluded: list("exclude"),
        named: list("members"),
        found: Members::default(),
        folders: 0,
    };
    let mut open = Vec::new();
    if top.is_package() {
        if is_workspace {
            open.extend(paths("", &top));
        }
        reader.found.packages.insert(String::new(), top.clone());
    }
    for pattern in reader.named.clone() {
        for (folder, is_named) in reader.expand(&pattern)? {
            reader.take(&folder, is_named, &mut open)?;
        }
    }
    while let Some(folder) = open.pop() {
        reader.take(&folder, false, &mut open)?;
    }
    let mut found = reader.found.clone();
    for pattern in list("default-members") {
        let folders = reader.expand(&pattern)?.into_iter().map(|(folder, _)| folder);
        found.default.extend(folders.filter(|folder| found.packages.contains_key(folder)));
    }
    if found.default.is_empty() {
        // Without a list, the top's own package where it is one, else all.
        found.default =
            if top.is_package() { vec![String::new()] } else { found.packages.keys().cloned().collect() };
    }
    Ok(found)
}

impl Reader<'_> {
    fn is_excluded(&self, folder: &str) -> bool {
        let below = |of: &String| {
            folder == of
                || of.is_empty()
                || folder.strip_prefix(of.as_str()).is_some_and(|r| r.starts_with('/'))
        };
        // What is named outright stays, as Cargo has it.
        self.excluded.iter().any(below) && !self.named.iter().any(below)
    }

    fn take(&mut self, folder: &str, is_named: bool, open: &mut Vec<String>) -> Result<(), MembersError> {
        let found = &self.found;
        if found.packages.contains_key(folder)
            || found.broken.contains_key(folder)
            || self.is_excluded(folder)
        {
            return Ok(());
        }
        if found.packages.len() + found.broken.len() >= MAX_MEMBERS {
            return Err(MembersError::TooMany);
        }
        let path = if folder.is_empty() { "Cargo.toml".to_owned() } else { format!("{folder}/Cargo.toml") };
        match self.tree.read(&path)? {
            Some(bytes) => match Manifest::read(&bytes, self.shared.as_ref()) {
                Ok(manifest) => {
                    open.extend(paths(folder, &manifest));
                    self.found.packages.insert(folder.to_owned(), manifest);
                }
                Err(error) => {
                    self.found.broken.insert(folder.to_owned(), error.to_string());
                }
            },
            None if is_named => {
                self.found.broken.insert(folder.to_owned(), "there is no Cargo.toml".to_owned());
            }
            None => {}
        }
        Ok(())
    }

    /// The folders that a pattern means, and whether it names one outright.
    fn expand(&mut self, pattern: &str) -> Result<Vec<(String, bool)>, MembersError> {
        if !pattern.contains(['*', '?', '[']) {
            return Ok(vec![(pattern.to_owned(), true)]);
        }
        let mut folders = vec![String::new()];
        for part in pattern.split('/') {
            let mut next = Vec::new();
            if part == "**" {
                for folder in folders {
                    self.below(&folder, &mut next)?;
                }
            } else if part.contains(['*', '?', '[']) {
                let matcher = matcher(pattern, part)?;
                for folder in folders {
                    for name in self.folders(&folder)? {
                        if matcher.is_match(&name) {
                            next.push(join(&folder, &name));
                        }
                    }
                }
            } else {
                next.extend(folders.iter().map(|folder| join(folder, part)));
            }
            next.sort();
            next.dedup();
            folders = next;
        }
        Ok(folders.into_iter().map(|folder| (folder, false)).collect())
    }

    /// A folder and all below it.
    fn below(&mut self, folder: &str, into: &mut Vec<String>) -> Result<(), MembersError> {
        let mut open = vec![(folder.to_owned(), 0_usize)];
        while let Some((folder, depth)) = open.pop() {
            if depth < MAX_DEPTH {
                for name in self.folders(&folder)? {
                    open.push((join(&folder, &name), depth + 1));
                }
            }
            into.push(folder);
        }
        Ok(())
    }

    fn folders(&mut self, folder: &str) -> Result<Vec<String>, MembersError> {
        self.folders += 1;
        if self.folders > MAX_FOLDERS {
            return Err(MembersError::TooMany);
        }
        let mut names: Vec<String> = self
            .tree
            .entries(folder)?
            .into_iter()
            .filter(|entry| entry.kind == Kind::Folder)
            .map(|entry| entry.name)
            .collect();
        names.sort();
        Ok(names)
    }
}

/// Cargo's patterns know `*`, `?` and classes, and no braces.
fn matcher(pattern: &str, part: &str) -> Result<GlobMatcher, MembersError> {
    let escaped = part.replace('{', "[{]").replace('}', "[}]");
    GlobBuilder::new(&escaped)
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|e| MembersError::Pattern { pattern: pattern.to_owned(), why: e.kind().to_string() })
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    fn package(name: &str, more: &str) -> String {
        format!("[package]\nname='{name}'\nversion='1.0.0'\n{more}")
    }

    fn tree(top: &str) -> MapTree {
        let mut tree = MapTree::new().with("Cargo.toml", top);
        for (folder, more) in [
            (
                "crates/a",
                "[dependencies]\nc={path='../../sub/c'}\nout={path='../../../out'}\nex={path='../ex'}",
            ),
            ("crates/b", ""),
            ("crates/.h", ""),
            ("crates/ex", ""),
            ("sub/c", "[dev-dependencies]\nd={path='d'}"),
            ("sub/c/d", ""),
            ("alone", ""),
        ] {
            tree = tree.with(&format!("{folder}/Cargo.toml"), package("p", more));
        }
        tree.with("crates/none/README.md", "")
    }

    fn folders(top: &str) -> Vec<String> {
        members(&tree(top)).unwrap().packages.into_keys().collect()
    }

    #[test]
    fn members_are_those_that_cargo_takes() {
        assert_eq!(
            folders("[workspace]\nmembers=['crates/*']\nexclude=['crates/ex']"),
            ["crates/.h", "crates/a", "crates/b", "sub/c", "sub/c/d"]
        );
        assert_eq!(
            folders("[workspace]\nmembers=['crates/?']"),
            ["crates/a", "crates/b", "crates/ex", "sub/c", "sub/c/d"]
        );
        assert_eq!(
            folders("[workspace]\nmembers=['crates/ex','./alone/']\nexclude=['crates']"),
            ["alone", "crates/ex"],
            "what is named outright is not excluded"
        );
        assert_eq!(folders("[workspace]\nmembers=['sub/**']"), ["sub/c", "sub/c/d"]);
        assert_eq!(
            folders("[workspace]\nmembers=['crates/[ab]']\nexclude=['crates/ex','sub']"),
            ["crates/a", "crates/b"]
        );
        assert_eq!(folders(&package("top", "[workspace]\n[dependencies]\nx={path='alone'}")), ["", "alone"]);
        assert_eq!(
            folders(&package("top", "[dependencies]\nx={path='alone'}")),
            [""],
            "without [workspace] it is alone"
        );
    }

    #[test]
    fn what_is_named_and_missing_is_said() {
        let found =
            members(&tree("[workspace]\nmembers=['gone','alone','crates/none']\ndefault-members=['alone']"))
                .unwrap();
        assert_eq!(found.broken.keys().collect::<Vec<_>>(), ["crates/none", "gone"]);
        assert_eq!(found.default, ["alone"]);
        assert!(matches!(members(&MapTree::new()), Err(MembersError::Missing)));
        assert!(matches!(members(&tree("[workspace]\nmembers=['a[']")), Err(MembersError::Pattern { .. })));
    }

    #[test]
    fn what_a_member_needs_beside_it_is_told() {
        let tree = MapTree::new()
            .with("Cargo.toml", "[workspace]\nmembers=['*']\n[workspace.dependencies]\nb={path='b',version='1'}")
            .with("a/Cargo.toml", package("a", "[dependencies]\nb.workspace=true\nout={path='../../out',version='1'}"))
            .with(
                "b/Cargo.toml",
                package("b", "[build-dependencies]\nc={path='../c'}\n[dev-dependencies]\na={path='../a'}\nd={path='../d',version='1'}"),
            )
            .with("c/Cargo.toml", package("c", "[dependencies]\nb={path='../b',version='1'}"))
            .with("d/Cargo.toml", package("d", ""));
        let found = members(&tree).unwrap();
        let of = |folder| found.needed(folder).into_iter().collect::<Vec<_>>();
        assert_eq!(of("a"), ["b", "c", "d"], "what tests need without a version is not published");
        assert_eq!(of("b"), ["c", "d"]);
        assert_eq!((of("d"), of("nowhere")), (vec![], vec![]));
    }

    #[test]
    fn fields_come_from_the_top() {
        let tree = MapTree::new()
            .with("Cargo.toml", "[workspace]\nmembers=['a','b']\n[workspace.package]\nversion='3.0.0'")
            .with("a/Cargo.toml", "[package]\nname='a'\nversion.workspace=true")
            .with("b/Cargo.toml", "[package]\nname='b'\nlicense.workspace=true");
        let found = members(&tree).unwrap();
        assert_eq!(found.packages["a"].version(), "3.0.0");
        assert!(found.broken["b"].contains("package.license"), "{found:?}");
    }
}
