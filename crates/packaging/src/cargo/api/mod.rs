//! The public API of a library, read from its source as far as syntax decides, and how it differs between two releases by
//! [Cargo's rules](https://doc.rust-lang.org/cargo/reference/semver.html).
//!
//! Read are the modules that `mod` leads to, imports and globs within the crate, inherent and trait implementations, derives, and
//! exported macros. Types are compared by what their names mean, not by how they are imported. What procedural macros, other macros
//! and `include!` make is not known; where what they are given changed, that is said. Whether private fields change auto traits
//! (`Send`, `Sync`) takes a compiler.

mod attrs;
mod collect;
mod compare;
mod features;
mod modules;
mod rules;
mod scope;
mod shape;
mod signature;
mod source;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Tree, TreeError};

pub use self::compare::{ApiChange, Difference, What, bump, compare};
pub use self::features::features;
pub use self::source::Unreadable;

/// Most files of a library, most items, and most public names.
const MAX_FILES: usize = 20_000;
const MAX_ITEMS: usize = 400_000;
const MAX_NAMES: usize = 200_000;

/// Why the API of a library is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// There is no such file.
    #[error("the library's file {0} is not there")]
    NoLibrary(String),
    /// A file cannot be read: a list without its names would be taken for a release without them.
    #[error("{file} cannot be read: {why}")]
    Unread {
        /// In the tree.
        file: String,
        /// Why.
        why: Unreadable,
    },
    /// There is more than is read.
    #[error(
        "the library has more than {MAX_FILES} files, {MAX_ITEMS} items or {MAX_NAMES} public names, or modules that nest too deep"
    )]
    TooMany,
}

/// A path, and whether it is a value's: a function and a type may have the same one.
type Key = (String, bool);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    shape: shape::Shape,
    /// The conditions under which it is there.
    gate: Option<String>,
}

/// What an implementation asks and says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Implemented {
    bounds: BTreeSet<signature::Signature>,
    types: BTreeMap<String, signature::Signature>,
    is_blanket: bool,
    derived: bool,
}

/// An item that signatures name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// Where it is defined.
    place: String,
    /// Its public paths, the shortest first.
    public: Vec<String>,
}

/// The public API of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Api {
    entries: BTreeMap<Key, Vec<Entry>>,
    implemented: BTreeMap<signature::Signature, Implemented>,
    items: Vec<Named>,
    /// Macros that were invoked where items stand: where, and with what.
    invoked: BTreeSet<(String, String)>,
    /// Attributes of other crates on public items.
    attributes: BTreeMap<String, BTreeSet<String>>,
    no_std: bool,
    /// What is not known, whatever this is compared with.
    undecided: Vec<String>,
}

impl Api {
    /// The public paths, sorted; macros end in `!`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|(path, _)| path.as_str())
    }

    /// What could not be told, in sentences.
    pub fn undecided(&self) -> &[String] {
        &self.undecided
    }
}

/// Reads the API of a library. `library` is its file in the tree (`src/lib.rs`), `edition` what its manifest says.
pub fn exported(tree: &dyn Tree, library: &str, edition: &str) -> Result<Api, Error> {
    let modules = modules::Modules::load(tree, library)?;
    collect::collect(&modules, edition == "2015")
}
