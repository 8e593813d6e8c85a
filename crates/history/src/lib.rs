//! Reads a git repository: status, diff, log, merge base, commits and ignore rules.
//!
//! Nothing that a repository defines is executed and nothing in it is followed out of the folder that was named. gix
//! reads objects, refs and the index, and matches attributes and ignore patterns; its configuration is reduced to a list
//! of harmless keys as soon as it is open, so that no filter, diff program, monitor or hook is known to it at all. The
//! work tree is read here, beneath a handle of its top and never through a link, because gix opens its files by path.
//!
//! Formats and behaviour follow git 2.39 and later (`git status --porcelain=v2`, `git diff`, `git log`,
//! `git check-ignore`); the tests compare field by field. `docs/design/history.md` says what is different.

#![allow(
    clippy::disallowed_methods,
    reason = "this crate stands behind the door with exec: it reads git folders by path, as gix does, and changes nothing"
)]

mod attributes;
mod basis;
mod budget;
mod commit;
mod config;
mod content;
mod diff;
mod error;
mod ignore;
mod index;
mod log;
mod open;
mod patch;
mod paths;
mod place;
mod remotes;
mod rename;
mod rev;
mod snapshot;
mod status;
mod tags;
mod tree;
mod unstaged;
mod upstream;
mod walk;
mod worktree;

pub use basis::basis;
pub use budget::Limits;
pub use commit::{Commit, Person, Trailer};
pub use config::{configuration_of_clone, harmless_configuration};
pub use diff::{Diff, DiffFile, DiffQuery, DiffStats, Sides};
pub use error::{HistoryError, Refusal};
pub use ignore::Ignores;
pub use log::{Grep, Log, LogQuery};
pub use open::{Repo, open_repository};
pub use remotes::Remote;
pub use snapshot::Snapshot;
pub use status::{Change, Conflict, Kind, NotCompared, Operation, Reason, Status, Upstream};
