//! Effects: the typed changes that a plan consists of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::path::RelPath;
use crate::refs::{Push, Refs};

/// What a tool says about a file that it writes. Only what git can express, so that a plan travels; the exact bits
/// ([`Mode`]) follow from this, from what stands there, and from the user's mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileMode {
    /// Nobody may execute it.
    #[default]
    Regular,
    /// Who may read it may execute it.
    Executable,
}

/// The exact permission bits of a file, such as `0644`; written in octal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mode(u16);

impl Mode {
    /// The permission bits among `bits`; the file's kind, set-id and sticky bits are left out, so that no plan makes
    /// one.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        Self((bits & 0o777) as u16)
    }

    /// What a new file gets from a user whose mask is `umask`.
    #[must_use]
    pub const fn created(mode: FileMode, umask: u32) -> Self {
        match mode {
            FileMode::Regular => Self::new(0o666 & !umask),
            FileMode::Executable => Self::new(0o777 & !umask),
        }
    }

    /// What a file with these bits gets when it is replaced by a `mode` file: what its owner chose stays, apart from
    /// the bits that the mode is about.
    #[must_use]
    pub const fn replaced_by(self, mode: FileMode) -> Self {
        match mode {
            FileMode::Executable if self.is_executable() => self,
            FileMode::Executable => Self(self.0 | (self.0 & 0o444) >> 2),
            FileMode::Regular if self.is_executable() => Self(self.0 & !0o111),
            FileMode::Regular => self,
        }
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// Whether the owner may execute: what git calls executable.
    #[must_use]
    pub const fn is_executable(self) -> bool {
        self.0 & 0o100 != 0
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mode({self})")
    }
}

impl Serialize for Mode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match u32::from_str_radix(&text, 8) {
            Ok(bits) if bits <= 0o777 && text.len() == 4 => Ok(Self::new(bits)),
            _ => Err(serde::de::Error::custom(format_args!("{text:?} is not a mode such as 0644"))),
        }
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
        mode: Mode,
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
            Self::File { digest, bytes, mode } => {
                write!(f, "a file of {bytes} bytes ({}, mode {mode})", digest.short(12))
            }
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
    /// Makes, moves and deletes refs, all or none, touching neither HEAD nor the index nor the work tree.
    Refs(Refs),
    /// Sends one request; executed last, marked irreversible, never retried without its idempotency key.
    Request(Request),
    /// Pushes refs with leases through the user's own git: the plan's one request, where it has no other.
    Push(Push),
}

/// When an effect takes place. The order of the variants is the order of an apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Paths: all or none.
    Files,
    /// New branches and moves of refs, once every path stands.
    Branches,
    /// The one request, once the rest has happened.
    Requests,
}

/// What takes an effect back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reverse {
    /// This effect.
    Effect(Effect),
    /// Deleting the branch of this name, while it still points at our commit.
    DeleteBranch(String),
    /// Nothing does.
    Irreversible,
}

impl Effect {
    /// The file change, for the effects that are one.
    #[must_use]
    pub const fn change(&self) -> Option<&Change> {
        match self {
            Self::Put(c) | Self::Remove(c) | Self::Symlink(c) | Self::Append(c) => Some(c),
            Self::Branch(_) | Self::Refs(_) | Self::Request(_) | Self::Push(_) => None,
        }
    }

    /// Whether it reaches beyond this machine: a plan has at most one that does.
    #[must_use]
    pub const fn sends(&self) -> bool {
        matches!(self, Self::Request(_) | Self::Push(_))
    }

    /// When it takes place.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Put(_) | Self::Remove(_) | Self::Symlink(_) | Self::Append(_) => Phase::Files,
            Self::Branch(_) | Self::Refs(_) => Phase::Branches,
            Self::Request(_) | Self::Push(_) => Phase::Requests,
        }
    }

    /// The digests of the bytes that it needs to take place.
    #[must_use]
    pub fn blobs(&self) -> Vec<Digest> {
        let of = |state: &State| match state {
            State::File { digest, .. } => Some(*digest),
            State::Absent | State::Symlink { .. } | State::Directory { .. } => None,
        };
        match self {
            Self::Put(c) | Self::Remove(c) | Self::Symlink(c) | Self::Append(c) => {
                of(&c.after).into_iter().collect()
            }
            Self::Branch(b) => b.changes.iter().filter_map(|c| of(&c.after)).collect(),
            Self::Refs(r) => r.pack.into_iter().collect(),
            Self::Request(r) => vec![r.body],
            Self::Push(_) => Vec::new(),
        }
    }

    /// What takes it back.
    #[must_use]
    pub fn reverse(&self) -> Reverse {
        match self {
            Self::Put(c) | Self::Remove(c) | Self::Symlink(c) | Self::Append(c) => {
                let back = Change { path: c.path.clone(), before: c.after.clone(), after: c.before.clone() };
                Reverse::Effect(match back.after {
                    State::Absent => Self::Remove(back),
                    State::Symlink { .. } => Self::Symlink(back),
                    State::File { .. } | State::Directory { .. } => Self::Put(back),
                })
            }
            Self::Branch(b) => Reverse::DeleteBranch(b.name.clone()),
            Self::Refs(r) => Reverse::Effect(Self::Refs(r.reversed())),
            Self::Request(_) | Self::Push(_) => Reverse::Irreversible,
        }
    }

    /// One line for people: `create tokens.css (812 bytes)`.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Put(Change { path, before, after: State::File { bytes, .. } }) => {
                let verb = if *before == State::Absent { "create" } else { "replace" };
                let unit = if *bytes == 1 { "byte" } else { "bytes" };
                format!("{verb} {path} ({bytes} {unit})")
            }
            Self::Put(c) => format!("put {}", c.path),
            Self::Remove(c) => format!("remove {}", c.path),
            Self::Symlink(c) => format!("link {}", c.path),
            Self::Append(c) => format!("append to {}", c.path),
            Self::Branch(b) => {
                let unit = if b.changes.len() == 1 { "path" } else { "paths" };
                format!("create branch {} ({} {unit})", b.name, b.changes.len())
            }
            Self::Refs(r) => r.summary(),
            Self::Request(r) => format!("{} {}", r.method, r.url),
            Self::Push(p) => p.summary(),
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
    /// Refs of the root's repository that must still be where they were seen: what the request is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<crate::SeenRef>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_say_what_happens() {
        let after = State::File { digest: Digest::of(b"x"), bytes: 1, mode: Mode::new(0o644) };
        let path = RelPath::new("a/b.css").unwrap();
        let put = |before| Effect::Put(Change { path: path.clone(), before, after: after.clone() });
        assert_eq!(put(State::Absent).summary(), "create a/b.css (1 byte)");
        assert_eq!(put(after.clone()).summary(), "replace a/b.css (1 byte)");
    }

    #[test]
    fn what_the_owner_chose_stays_apart_from_who_may_execute() {
        let private = Mode::new(0o100_600);
        assert_eq!(private.replaced_by(FileMode::Regular), private);
        assert_eq!(private.replaced_by(FileMode::Executable).to_string(), "0700");
        assert_eq!(Mode::new(0o755).replaced_by(FileMode::Regular).to_string(), "0644");
        assert_eq!(Mode::created(FileMode::Executable, 0o027).to_string(), "0750");
        assert_eq!(Mode::new(0o104_755).bits(), 0o755, "set-id bits are never made");
        let text = serde_json::to_string(&private).unwrap();
        assert_eq!((text.as_str(), serde_json::from_str::<Mode>(&text).unwrap()), ("\"0600\"", private));
        assert!(serde_json::from_str::<Mode>("\"7777\"").is_err());
    }

    #[test]
    fn the_reverse_of_the_reverse_is_the_state_that_was() {
        let file = State::File { digest: Digest::of(b"x"), bytes: 1, mode: Mode::new(0o600) };
        let path = RelPath::new("a").unwrap();
        let remove = Effect::Remove(Change { path, before: file.clone(), after: State::Absent });
        let Reverse::Effect(back) = remove.reverse() else { panic!("it is a file's change") };
        assert_eq!(back.change().unwrap().after, file);
        assert_eq!(back.blobs(), [Digest::of(b"x")]);
        assert!(remove.blobs().is_empty());
        assert_eq!(back.reverse(), Reverse::Effect(remove));
    }
}
