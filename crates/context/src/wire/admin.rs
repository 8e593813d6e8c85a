//! What administrators keep: requirements of documents, and scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store_api::server::Text;

use super::{Auth, DoneOrNot, endpoint};

/// Whether a document must be there or should.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It must.
    #[default]
    Required,
    /// It should.
    Recommended,
}

/// A document that ventures need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// The document's name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Whether it must be there or should.
    #[serde(default)]
    pub level: Level,
    /// The capability of the ventures that need it; all where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Days after which it counts as stale; 90 where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 36500))]
    pub max_age_days: Option<u32>,
}

/// A requirement, and which version it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptRequirement {
    /// It.
    pub requirement: Requirement,
    /// How often it was changed, from 1.
    pub version: i64,
}

/// The requirements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirements {}

/// The requirements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllRequirements {
    /// By name.
    pub requirements: Vec<KeptRequirement>,
}

endpoint!(Requirements: Get "/admin/doc-requirements" (AUTH: Auth = Auth::Admin), "The documents that ventures need" => AllRequirements);

/// Keeps a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PutRequirement {
    /// It.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// The version that was changed, 0 for none; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

endpoint!(PutRequirement: Put "/admin/doc-requirements/{name}" (AUTH: Auth = Auth::Admin), "Keeps a requirement" => KeptRequirement);

/// Removes a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoveRequirement {
    /// Its name.
    pub name: String,
}

endpoint!(RemoveRequirement: Delete "/admin/doc-requirements/{name}" (AUTH: Auth = Auth::Admin), "Removes a requirement" => DoneOrNot);

/// The scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scripts {}

/// The scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllScripts {
    /// By name.
    pub scripts: Vec<Text>,
}

endpoint!(Scripts: Get "/admin/scripts" (AUTH: Auth = Auth::Admin), "The scripts that administrators keep; the server runs none" => AllScripts);

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Script {
    /// Its name.
    pub name: String,
}

/// A script, where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaybeScript {
    /// It.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Text>,
}

endpoint!(Script: Get "/admin/scripts/{name}" (AUTH: Auth = Auth::Admin), "A script" => MaybeScript);

/// Keeps a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PutScript {
    /// Its name.
    pub name: String,
    /// Its text.
    pub content: String,
    /// The version that was changed, 0 for none; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

/// A script that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneScript {
    /// It.
    pub script: Text,
}

endpoint!(PutScript: Put "/admin/scripts/{name}" (AUTH: Auth = Auth::Admin, LARGE: bool = true), "Keeps a script" => OneScript);

/// Removes a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoveScript {
    /// Its name.
    pub name: String,
}

endpoint!(RemoveScript: Delete "/admin/scripts/{name}" (AUTH: Auth = Auth::Admin), "Removes a script" => DoneOrNot);
