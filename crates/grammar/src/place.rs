//! Where a program runs.

use contract::RelPath;

/// The directory of a run, from which relative paths among its arguments are understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Relative to the root; `None` is the root itself.
    pub dir: Option<RelPath>,
}

impl Place {
    /// The root.
    #[must_use]
    pub const fn root() -> Self {
        Self { dir: None }
    }

    /// A directory below the root.
    #[must_use]
    pub const fn at(dir: RelPath) -> Self {
        Self { dir: Some(dir) }
    }

    /// The components of the directory, outermost first.
    pub(crate) fn components(&self) -> Vec<&str> {
        self.dir.iter().flat_map(RelPath::components).collect()
    }
}
