//! What of the libraries is configured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[library]`: the user's alone. Where patterns and skills are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LibrarySection {
    /// The user's own library; without, `~/.shared-patterns`.
    pub user: Option<String>,
    /// Libraries of teams, by name: they go before the user's own.
    pub team: BTreeMap<String, TeamLibrary>,
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
}
