//! What a tool says about itself.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::canonical;
use crate::digest::Digest;
use crate::name::ToolName;

/// What a tool is, which decides what its context offers and what its annotations say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Looks.
    Read,
    /// Returns a plan.
    Change,
    /// Starts a program; its writes become the proposal.
    Run,
    /// Appends through the store, directly.
    Record,
    /// Belongs to a plugin or an upstream server; cannot be rehearsed or undone unless it says how.
    Foreign,
}

impl Kind {
    /// Whether a call of such a tool makes a plan, which is rehearsed first and applied on request.
    #[must_use]
    pub const fn is_rehearsed(self) -> bool {
        match self {
            Self::Change | Self::Run => true,
            Self::Read | Self::Record | Self::Foreign => false,
        }
    }

    /// Whether every call of such a tool performs: nothing rehearses it.
    #[must_use]
    pub const fn always_performs(self) -> bool {
        match self {
            Self::Record | Self::Foreign => true,
            Self::Read | Self::Change | Self::Run => false,
        }
    }
}

/// MCP's hints about a tool, derived from its kind: never written by hand (MCP 2025-11-25, `ToolAnnotations`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own four hints")]
pub struct Annotations {
    /// The tool changes nothing.
    pub read_only_hint: bool,
    /// The tool may take something away, rather than only add.
    pub destructive_hint: bool,
    /// Calling again with the same arguments has no further effect.
    pub idempotent_hint: bool,
    /// The tool reaches beyond this machine.
    pub open_world_hint: bool,
}

/// What a tool says about itself without its schemas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The wire name.
    pub name: ToolName,
    /// For people.
    pub title: Cow<'static, str>,
    /// For models: what it does, what it returns, when to use it.
    pub description: Cow<'static, str>,
    /// What it is.
    pub kind: Kind,
    /// The group that a user switches on or off.
    pub toolset: Cow<'static, str>,
    /// Other names that a call may use; never listed.
    pub aliases: &'static [&'static str],
    /// MCP's hints.
    pub annotations: Annotations,
}

/// The public contract of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// All but the schemas.
    #[serde(flatten)]
    pub head: Head,
    /// JSON Schema (2020-12) of the arguments.
    pub input_schema: Value,
    /// JSON Schema (2020-12) of the structured result; requires only what every reply has.
    pub output_schema: Value,
    /// Output fields that must be there when `status` is `completed`.
    pub required_when_completed: Vec<String>,
}

impl Spec {
    /// The hash that an approval is bound to: the whole definition as it goes over the wire. One with an integer that
    /// another would pass for has none.
    pub fn definition_hash(&self) -> Result<Digest, serde_json::Error> {
        for schema in [&self.input_schema, &self.output_schema] {
            canonical::admit(schema).map_err(serde::ser::Error::custom)?;
        }
        canonical::to_vec(self).map(|bytes| Digest::of(&bytes))
    }
}
