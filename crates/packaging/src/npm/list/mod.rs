//! Which files npm packs, in npm's order (`npm-packing.md` §1.1–1.8).
//!
//! Everything is asked of a [`Tree`]. Links are never followed and never packed, as with npm; where npm follows one to *read* it (an
//! ignore file, or a bundled package that is linked to), what it leads to must be known, or the listing says that it is not.

mod bundle;
mod glob;
mod manifest;
mod order;
mod rules;
mod snapshot;
mod walk;
mod workspaces;

use std::collections::BTreeMap;

pub use order::{Precision, compare};
pub use workspaces::workspaces;

use super::pattern::{Meter, PatternError};
use crate::tree::{Tree, TreeError};
use manifest::Manifest;
use snapshot::Snapshot;

/// Steps that one listing may take: about one for each character that is compared. A package of 10,000 files and a hundred rules
/// takes some 20 million.
pub const MAX_STEPS: u64 = 2_000_000_000;

/// Names that one listing may look at.
pub const MAX_NAMES: usize = 500_000;

/// Folders in one another.
pub const MAX_DEPTH: usize = 200;

/// Whose rules decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rules {
    /// npm-packlist 10.0.4, which npm up to 11 has.
    V10,
    /// npm-packlist 11.3.0, which npm has since 12.
    V11,
}

impl Rules {
    /// Those of an npm by its version, as `npm --version` prints it. What is no version is taken for the newest.
    pub fn of_npm(version: &str) -> Self {
        let major = version
            .trim()
            .trim_start_matches('v')
            .split('.')
            .next()
            .and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major < 12) { Self::V10 } else { Self::V11 }
    }
}

/// A file that is packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Below the package, `/` between components.
    pub path: String,
    /// Where it is in the tree: elsewhere when the package is not the tree's top, or when a bundled package is a link.
    pub source: String,
    /// Whether it may be executed where it is.
    pub executable: bool,
}

impl Listed {
    /// The path as npm prints it: with `./` before an `@`.
    pub fn printed(&self) -> String {
        if self.path.starts_with('@') { format!("./{}", self.path) } else { self.path.clone() }
    }
}

/// What is packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The files, in npm's order.
    pub files: Vec<Listed>,
    /// Whether the order is npm's for certain.
    pub order: Precision,
    /// Bundled packages that npm packs and that are missing here, because they are links and where they lead is not known, or leads
    /// out of the tree. By their paths below the package.
    pub unfollowed: Vec<String>,
    /// Whose rules decided.
    pub rules: Rules,
    /// The package's folder in the tree.
    pub folder: String,
    /// `name` of the manifest.
    pub name: Option<String>,
    /// `version` of the manifest.
    pub version: Option<String>,
    /// Targets of `bin`, as npm normalises them.
    pub commands: Vec<String>,
}

impl Listing {
    /// Whether a path is packed.
    pub fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }
}

/// Why a list cannot be made. npm fails as well, unless it is said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// No `package.json`, or none that is a file.
    #[error("{path}: there is no such file, so there is no package to pack")]
    NoManifest {
        /// Where it was looked for.
        path: String,
    },
    /// A `package.json` that is no JSON object.
    #[error("{path}: it is no manifest: {why}")]
    Manifest {
        /// Which.
        path: String,
        /// In words.
        why: String,
    },
    /// A `files` that npm cannot read.
    #[error("{path}: `files` must be a list of texts; npm stops here")]
    Files {
        /// The manifest.
        path: String,
    },
    /// A `workspaces` that npm cannot read.
    #[error("{path}: `workspaces` must be a list of texts; npm stops here")]
    Workspaces {
        /// The manifest.
        path: String,
    },
    /// Two workspaces of one name.
    #[error("{first} and {second} are both called {name}: npm refuses workspaces of one name")]
    SameName {
        /// The name.
        name: String,
        /// A folder.
        first: String,
        /// Another.
        second: String,
    },
    /// A folder called `.npmignore` or `.gitignore`.
    #[error("{path}: it is a folder where npm reads a file of rules, and stops; rename it")]
    RulesAreFolder {
        /// Which.
        path: String,
    },
    /// Rules behind a link. npm would follow it.
    #[error(
        "{path}: it is a link; npm follows it and reads rules there, which is not done here. Make it a file"
    )]
    RulesAreLink {
        /// Which.
        path: String,
    },
    /// A folder whose name npm misreads.
    #[error("{path}: npm takes the backslash in this folder's name for a slash, and stops; rename it")]
    Backslash {
        /// Which.
        path: String,
    },
    /// A pattern that cannot be read or takes too long. npm stops at the first two kinds of it.
    #[error("{path}: {why}")]
    Pattern {
        /// Where it stands.
        path: String,
        /// What is wrong.
        why: PatternError,
    },
    /// More than can be looked at; npm has no such limit.
    #[error(
        "there are more than {MAX_NAMES} names to look at, or more than {MAX_DEPTH} folders in one another"
    )]
    TooMany,
}

/// How npm is asked to pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whose rules decide.
    pub rules: Rules,
    /// The workspaces that npm was told to pack, as folders below the tree's top, which is then the workspaces' root: those of `-w`,
    /// all with `-ws`, and the one that npm is started in. Empty for `npm pack` elsewhere, and for `npm pack <folder>`.
    ///
    /// They change two things. A root that is packed leaves them out (and without them, packs them all). A workspace that is packed
    /// obeys the ignore files of the folders above it.
    pub selected: Vec<String>,
    /// What npm's `global-ignore-file` holds; npm has one since 12.
    pub global_ignore: Option<String>,
    /// Where links lead that bundled packages are reached by: both below the tree's top. Links of workspaces, and of dependencies with
    /// `file:`, need not be here.
    pub links: BTreeMap<String, String>,
}

impl Options {
    /// `npm pack` without anything.
    pub fn new(rules: Rules) -> Self {
        Self { rules, selected: Vec::new(), global_ignore: None, links: BTreeMap::new() }
    }
}

/// What `npm pack` packs of the package at a tree's top.
pub fn list(tree: &dyn Tree, rules: Rules) -> Result<Listing, ListError> {
    list_in(tree, "", &Options::new(rules))
}

/// What npm packs of a package in a folder of a tree. For a workspace, the tree is that of the workspaces' root.
pub fn list_in(tree: &dyn Tree, folder: &str, options: &Options) -> Result<Listing, ListError> {
    let meter = Meter::new(MAX_STEPS);
    let snapshot = Snapshot::new(tree, &meter);
    let folder = manifest::resolved(folder).join("/");
    let path = snapshot::join(&folder, "package.json");
    let bytes = snapshot.read(&path)?.ok_or_else(|| ListError::NoManifest { path: path.clone() })?;
    let manifest = Manifest::read(&bytes, &path)?;
    let workspaces = workspaces::of(&snapshot, &folder, &manifest)?;
    let common = walk::Common::new(&snapshot, options.rules)?;
    let mut found = BTreeMap::new();
    let mut package = walk::Package {
        path: String::new(),
        source: folder.clone(),
        manifest: &manifest,
        kind: walk::PackageKind::Root,
        has_workspaces: !workspaces.is_empty(),
        extra: workspaces::extra_rules(&snapshot, &folder, &options.selected)?,
        global: options.global_ignore.clone().filter(|_| options.rules == Rules::V11),
    };
    package.walk(&common, &mut found)?;
    package.extra.clear();
    let unfollowed = bundle::add(&common, &folder, &manifest, &workspaces, options, &mut found)?;
    let mut files: Vec<Listed> = found.into_values().collect();
    let order = order::sort(&mut files);
    let Manifest { name, version, bins: commands, .. } = manifest;
    Ok(Listing { files, order, unfollowed, rules: options.rules, folder, name, version, commands })
}
