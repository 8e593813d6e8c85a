//! What of the libraries is configured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[library]`: the user's alone. Where patterns and skills are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LibrarySection {
    /// The user's own library; without, `~/.shared-patterns`.
    pub user: Option<String>,
    /// Whether tools may change it.
    pub user_write: bool,
    /// Libraries of teams, by name: they go before the user's own.
    pub team: BTreeMap<String, TeamLibrary>,
}

impl Default for LibrarySection {
    fn default() -> Self {
        Self { user: None, user_write: true, team: BTreeMap::new() }
    }
}

/// The library of a team: a folder that somebody keeps up to date, such as a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TeamLibrary {
    /// The folder. `~` at its front is the home.
    pub path: String,
    /// Whether everyone who may call over HTTP finds what is in it; otherwise only whoever started the server does.
    #[serde(default)]
    pub shared: bool,
    /// Whether tools may change it. Otherwise it is only read.
    #[serde(default)]
    pub write: bool,
}

/// `[skills]`: the user's alone. What code of skills may be granted, where it asks for it and was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the user's")]
pub struct SkillsSection {
    /// Files of the project.
    pub reads: bool,
    /// What time it is.
    pub clock: bool,
    /// Randomness.
    pub random: bool,
    /// To run in Node, with the project's packages, where they import any: over the project as its own tools do.
    pub process: bool,
    /// Hosts that they may connect to by TLS, where they run in Node; `*.example.com` is those below one, `:8443` behind one its port.
    pub network: Vec<String>,
    /// Most seconds that one execution may take.
    #[schemars(range(min = 1, max = 600))]
    pub most_seconds: u64,
    /// Most MiB of memory that the engine may take.
    #[schemars(range(min = 8, max = 4096))]
    pub most_mebibytes: u64,
}

impl Default for SkillsSection {
    fn default() -> Self {
        Self {
            reads: true,
            clock: true,
            random: true,
            process: true,
            network: Vec::new(),
            most_seconds: 30,
            most_mebibytes: 256,
        }
    }
}
