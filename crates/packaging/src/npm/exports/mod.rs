//! What a package exports: the names of each entry point, and what each is declared to be, to compare releases by.

mod collect;
mod compare;
mod resolve;
mod text;

use std::collections::BTreeMap;

pub use self::compare::{ApiChange, What, bump, compare};
use super::syntax::Unreadable;
use super::types::{Error as TypesError, lookup};
use crate::Packed;

/// Names over all entry points, and how many may stand behind one dotted name.
const MAX_NAMES: usize = 200_000;
/// Namespaces within namespaces whose names are listed.
const MAX_NAMESPACES: usize = 8;

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportKind {
    /// A function.
    Function,
    /// A class.
    Class,
    /// An enumeration.
    Enum,
    /// A variable, or a name in a script, whatever it is.
    Value,
    /// A namespace: its own names are listed with its name and a dot in front.
    Namespace,
    /// An interface or a type alias.
    Type,
    /// Something from another package, or that could not be found.
    Elsewhere,
    /// Not exported by a name, but part of what an exported name is declared as.
    Hidden,
}

/// A name and what it is declared to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// What it is. Of several declarations (a function and a namespace, a class and an interface) the first in the order
    /// of [`ExportKind`].
    pub kind: ExportKind,
    /// The text of its declarations without `export`, `declare`, white space and comments. Empty for a script.
    pub signature: String,
}

/// The names of each entry point. `default` is the default export, `export=` what `export =` or `module.exports =` give.
pub type Exports = BTreeMap<String, BTreeMap<String, Exported>>;

/// Why it cannot be told what a package exports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The package cannot be looked into.
    #[error(transparent)]
    Package(#[from] TypesError),
    /// A file that declares exports cannot be read: a list without its names would be taken for a release without them.
    #[error("{file} cannot be read: {why}")]
    Unread {
        /// As it is packed.
        file: String,
        /// Why.
        why: Unreadable,
    },
    /// There are more names than 200,000.
    #[error("the package exports more than 200,000 names")]
    TooMany,
}

/// What a package exports, by entry point (without those that have a `*`).
///
/// Read from the declaration files, or from scripts where there are none: then names only, and only those that are
/// assigned where they can be seen. `export … from`, `export *`, `export =` and imports that are exported again are
/// followed within the package.
pub fn exported(packed: &Packed) -> Result<Exports, Error> {
    lookup(packed, resolve::exports)?
}
