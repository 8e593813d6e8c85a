//! Effects: the typed changes that a plan consists of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::path::RelPath;

/// The permissions of a file that a plan writes. Only what git can express, so that a plan travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileMode {
    /// `0644`.
    #[default]
    Regular,
    /// `0755`.
    Executable,
}

impl FileMode {
    /// The permission bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Regular => 0o644,
            Self::Executable => 0o755,
        }
    }

    /// What `bits` mean: executable when the owner may execute.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        if bits & 0o100 == 0 { Self::Regular } else { Self::Executable }
    }
}

/// What is, or shall be, at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// The digest of its bytes.
        digest: Digest,
        /// Its length in bytes.
        bytes: u64,
        /// Its permissions.
        mode: FileMode,
    },
    /// A symbolic link with this target text.
    Symlink {
        /// What the link says, unresolved.
        target: String,
    },
    /// A directory with this listing (names and kinds, sorted).
    Directory {
        /// The digest of the listing.
        listing: Digest,
    },
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::File { digest, bytes, .. } => write!(f, "a file of {bytes} bytes ({})", digest.short(12)),
            Self::Symlink { target } => write!(f, "a link to {target:?}"),
            Self::Directory { .. } => f.write_str("a directory"),
        }
    }
}

/// One change to one path: from the state that the plan was computed against, to the state that it makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: RelPath,
    /// What must be there for the plan to apply.
    pub before: State,
    /// What is there afterwards. Never a directory: directories come and go with their files.
    pub after: State,
}

/// One typed change. Bytes are named by digest; the store behind `exec` holds them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Puts a file (bytes and mode) where nothing or a file was.
    Put(Change),
    /// Removes a file or a link.
    Remove(Change),
    /// Makes a symbolic link whose target lies inside the root.
    Symlink(Change),
    /// Appends one line (with its newline) to a file, or creates it with that line.
    Append(Change),
    /// Writes a commit and a new branch, touching neither HEAD nor the index nor the work tree.
    Branch(Branch),
    /// Sends one request; executed last, marked irreversible, never retried without its idempotency key.
    Request(Request),
}

impl Effect {
    /// The file change, for the effects that are one.
    #[must_use]
    pub fn change(&self) -> Option<&Change> {
        match self {
            Self::Put(c) | Self::Remove(c) | Self::Symlink(c) | Self::Append(c) => Some(c),
            Self::Branch(_) | Self::Request(_) => None,
        }
    }

    /// Whether `undo` can take it back.
    #[must_use]
    pub fn is_reversible(&self) -> bool {
        !matches!(self, Self::Request(_))
    }

    /// One line for people: `create tokens.css (812 bytes)`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Put(Change { path, before, after: State::File { bytes, .. } }) => {
                let verb = if *before == State::Absent { "create" } else { "replace" };
                format!("{verb} {path} ({bytes} bytes)")
            }
            Self::Put(c) => format!("put {}", c.path),
            Self::Remove(c) => format!("remove {}", c.path),
            Self::Symlink(c) => format!("link {}", c.path),
            Self::Append(c) => format!("append to {}", c.path),
            Self::Branch(b) => format!("create branch {} ({} paths)", b.name, b.changes.len()),
            Self::Request(r) => format!("{} {}", r.method, r.url),
        }
    }
}

/// A commit on a new branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The short branch name, such as `sbx/tokens-1a2b3c`; the grammar is `exec`'s.
    pub name: String,
    /// The commit that the branch starts from, in hexadecimal; `None` on an unborn HEAD.
    pub base: Option<String>,
    /// The commit message.
    pub message: String,
    /// The paths changed against the base: a digest puts a file, `None` removes it.
    pub changes: Vec<BranchChange>,
}

/// One path of a [`Branch`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchChange {
    /// Where in the tree.
    pub path: RelPath,
    /// What to put there; [`State::Absent`] removes.
    pub after: State,
}

/// One outbound request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// The absolute URL, http or https.
    pub url: String,
    /// Headers without credentials; those are added at the door from configuration.
    pub headers: Vec<(String, String)>,
    /// The digest of the body's bytes.
    pub body: Digest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_say_what_happens() {
        let after = State::File { digest: Digest::of(b"x"), bytes: 1, mode: FileMode::Regular };
        let path = RelPath::new("a/b.css").unwrap();
        let put = |before| Effect::Put(Change { path: path.clone(), before, after: after.clone() });
        assert_eq!(put(State::Absent).summary(), "create a/b.css (1 bytes)");
        assert_eq!(put(after.clone()).summary(), "replace a/b.css (1 bytes)");
    }

    #[test]
    fn modes_are_what_git_can_express() {
        assert_eq!(FileMode::from_bits(0o100_755), FileMode::Executable);
        assert_eq!(FileMode::from_bits(0o100_600), FileMode::Regular);
    }
}
