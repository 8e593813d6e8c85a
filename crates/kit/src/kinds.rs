//! The kinds of tool. What a tool *is* is the trait that it implements: it decides what the call's desk offers, and
//! the protocol's hints follow from it.

use std::future::Future;

use contract::{Fault, Toolset, Truncated};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::desk::{ChangeDesk, ReadDesk, RecordDesk};
use crate::doc::Doc;
use crate::limits::Limits;

/// What every tool says about itself, whatever its kind.
pub trait Define: Send + Sync + 'static {
    /// The arguments. Unknown fields are refused (`#[serde(deny_unknown_fields)]`, a law).
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The tool's own fields of the result.
    type Output: Serialize + JsonSchema + Send;

    /// The wire name.
    const NAME: &'static str;
    /// The group that a user switches on or off.
    const TOOLSET: Toolset;
    /// Title and description: `doc!("this_file.rs")`.
    const DOC: Doc;
    /// Other names that a call may use; never listed.
    const ALIASES: &'static [&'static str] = &[];
    /// Whether it reaches beyond this machine.
    const OPEN_WORLD: bool = false;
    /// How long, how often and how many at a time.
    const LIMITS: Limits = Limits::DEFAULT;

    /// Arguments that are good examples; each must decode (a law).
    fn examples() -> Vec<Value>;
}

/// A tool that looks.
pub trait Read: Define {
    /// Looks, and answers.
    fn read(
        &self,
        input: Self::Input,
        desk: ReadDesk,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

/// A tool that changes something: it says what it would change, and never does it.
pub trait Change: Define {
    /// Whether planning again after an apply gives an empty plan.
    const IDEMPOTENT: bool;
    /// Whether its plans may remove or replace, rather than only add.
    const DESTRUCTIVE: bool;

    /// Says what would change, through the desk's draft, and answers.
    fn plan(
        &self,
        input: Self::Input,
        desk: ChangeDesk,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

/// A tool that appends to what is remembered, directly, through a store that the binary provides.
pub trait Record: Define {
    /// The store that it needs: a trait object of `store-api`.
    type Store: ?Sized + Send + Sync + 'static;

    /// Appends, and answers.
    fn record(
        &self,
        input: Self::Input,
        desk: RecordDesk<Self::Store>,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// False when something that ran reported findings; the call itself succeeded.
    pub success: bool,
    /// Markdown, deterministic, written to be read and quoted.
    pub message: String,
    /// The tool's own fields.
    pub output: T,
    /// How many results a list holds.
    pub results: Option<u64>,
    /// What was cut.
    pub truncated: Option<Truncated>,
}

impl<T> Answer<T> {
    /// A successful answer.
    #[must_use]
    pub const fn new(message: String, output: T) -> Self {
        Self { success: true, message, output, results: None, truncated: None }
    }
}
