//! What the binary knows of this machine, its user and the context that is in use.

use std::sync::Arc;

use contract::{Digest, Fault};
use schemars::JsonSchema;
use serde::Serialize;
use store_api::id::SessionId;
use store_api::machine::NewMachine;
use store_api::{Boxed, Timestamp};

use crate::settings::{GithubSection, SessionSection, VenturesSection};

/// What is written to and read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreKind {
    /// A file on this machine.
    Sqlite,
    /// A database that a team shares.
    Postgres,
    /// A context that a team shares, over HTTP.
    Remote,
}

/// How a context stands that is somewhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link {
    /// Whether it answered when it was asked last.
    pub online: bool,
    /// Since when it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// From when the oldest answer is that is shown in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_from: Option<Timestamp>,
    /// Writes that wait for it.
    pub waiting: u64,
    /// Writes that it refused: `gatewright context outbox` says why.
    pub failed: u64,
}

impl Link {
    /// What somebody who reads the page of a day should know of it.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut said = Vec::new();
        if let (false, Some(since)) = (self.online, self.since) {
            said.push(format!("the context does not answer since {since}: what is written waits here"));
        }
        if let Some(from) = self.shown_from {
            said.push(format!("what it would say is shown as it was at {from}"));
        }
        if self.waiting > 0 {
            said.push(format!("{} writes wait for the context", self.waiting));
        }
        if self.failed > 0 {
            said.push(format!(
                "the context refused {} writes: `gatewright context outbox list` says why",
                self.failed
            ));
        }
        said
    }
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

    /// `[ventures]`, or those of the context once [`Workplace::settle`] asked for them.
    fn ventures(&self) -> Arc<VenturesSection>;

    /// Whether the user configured ventures: they go before a context's.
    fn has_own_ventures(&self) -> bool;

    /// Finds out what only a context elsewhere knows, once in a process.
    fn settle(&self) -> Boxed<()>;

    /// How the context stands, where it is somewhere else.
    fn link(&self) -> Boxed<Option<Link>>;

    /// Whether there is a key for the context; none where none is needed.
    fn has_key(&self) -> Boxed<Option<bool>>;

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
