//! What the binary knows of this machine, its user and the context that is in use.

use contract::{Digest, Fault};
use schemars::JsonSchema;
use serde::Serialize;
use store_api::Timestamp;
use store_api::id::SessionId;
use store_api::machine::NewMachine;

use crate::settings::{GithubSection, SessionSection, VenturesSection};

/// What is written to and read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreKind {
    /// A file on this machine.
    Sqlite,
    /// A server that a team shares.
    Postgres,
}

/// The program that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// What it was built from and for.
    pub build: String,
    /// Whether its file was replaced since it started: exit and relaunch the client to use the new one.
    pub replaced: bool,
}

/// A repository that is checked out on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checkout {
    /// The repository, as `host/owner/name`.
    pub repository: String,
    /// Where, with `~` for the home.
    pub place: String,
}

/// The folders that were looked through, and what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkouts {
    /// What was found, by repository and place.
    pub found: Vec<Checkout>,
    /// The folders, with `~` for the home.
    pub looked_in: Vec<String>,
}

/// What the binary knows of this machine and its user. Sessions are those of its process.
pub trait Workplace: Send + Sync {
    /// `[session]`.
    fn settings(&self) -> &SessionSection;

    /// `[ventures]`.
    fn ventures(&self) -> &VenturesSection;

    /// `[github]`.
    fn github(&self) -> &GithubSection;

    /// The token for GitHub's API, where the environment has one.
    fn github_token(&self) -> Option<String>;

    /// The machine, with an id that it keeps.
    fn machine(&self) -> Result<NewMachine, Fault>;

    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Randomness for an id.
    fn random(&self) -> Result<u128, Fault>;

    /// Gives signs of life for a session from now on, which is the one of whoever works in `root`.
    fn begun(&self, who: &Digest, root: &str, session: &SessionId);

    /// Gives no more of them.
    fn ended(&self, session: &SessionId);

    /// The session that was begun here.
    fn session(&self, who: &Digest, root: &str) -> Option<SessionId>;

    /// What is written to and read from.
    fn using(&self) -> StoreKind;

    /// Repositories that are checked out. Blocking.
    fn checkouts(&self) -> Checkouts;

    /// The program that answers.
    fn build(&self) -> Build;
}
