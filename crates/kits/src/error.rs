//! Why a kit is not built.

/// Why a kit is not built. Paths are shown escaped: they are somebody else's text.
#[derive(Debug, thiserror::Error)]
pub enum KitError {
    /// A file's path cannot be a place below the kit's folder.
    #[error(
        "the file {path:?} cannot be part of a kit: {why}; hand it over by a path below the kit's folder"
    )]
    Path {
        /// As it was handed over.
        path: String,
        /// What is wrong with it.
        why: PathFault,
    },
    /// A file stands where a generated page or its folder stands.
    #[error(
        "the file {0:?} stands where the kit has a page of its own; put it below a folder such as `examples/`"
    )]
    Taken(String),
    /// A file is also a folder of another.
    #[error("{0:?} is handed over as a file and as a folder; rename one of them")]
    FileAndFolder(String),
    /// The facts name a file that was not handed over.
    #[error(
        "the facts name {path:?} as {what}, but no such file was handed over; hand it over or leave it out of the facts"
    )]
    Missing {
        /// As the facts name it.
        path: String,
        /// What it is for.
        what: &'static str,
    },
    /// The facts name a picture that is no PNG.
    #[error("{0:?} is named as a picture and is no PNG with a name in `.png`")]
    NotPng(String),
    /// The address of an example has a query with characters that none needs.
    #[error("the query of {0:?} has characters other than letters, digits and `-._~=&:;,+%`, or is too long")]
    Query(String),
    /// More components than a kit has pages for.
    #[error("{0} components are more than the {most} that a kit shows; choose some", most = crate::MAX_COMPONENTS)]
    TooMany(usize),
    /// The facts could not be written.
    #[error("the facts could not be written: {0}")]
    Facts(#[from] serde_json::Error),
}

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It is longer than 1,024 bytes, or a component is longer than 255.
    #[error("it is longer than file systems take")]
    TooLong,
    /// It begins at a root or a drive.
    #[error("it is absolute")]
    Absolute,
    /// A component is `..` or `.`.
    #[error("a component is `.` or `..`")]
    Dots,
    /// Two slashes follow each other, or it ends in one.
    #[error("a component is empty")]
    EmptyComponent,
    /// It has a control character.
    #[error("it has a control character")]
    Control,
    /// It has a backslash, which some systems take for `/`.
    #[error("it has a backslash")]
    Backslash,
}
