//! The seven categories.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{IdError, Why};

/// What a pattern is about. Folders of other names are read too; they are told as problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Category {
    /// Schemas, queries, policies, migrations.
    Database,
    /// Who may do what, secrets, input of strangers.
    Security,
    /// What people see and use.
    Ui,
    /// Services, jobs, APIs.
    Backend,
    /// How it is proved that something works.
    Testing,
    /// How parts are cut and joined.
    Architecture,
    /// Servers and clients of the Model Context Protocol.
    McpIntegration,
}

impl Category {
    /// All of them, in the order of the format's own list.
    pub const ALL: [Self; 7] = [
        Self::Database,
        Self::Security,
        Self::Ui,
        Self::Backend,
        Self::Testing,
        Self::Architecture,
        Self::McpIntegration,
    ];

    /// Where an Agent Skill is that has no category: no member of [`Category::ALL`], so no filter names it.
    pub const NONE: &'static str = "skills";

    /// The folder's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Security => "security",
            Self::Ui => "ui",
            Self::Backend => "backend",
            Self::Testing => "testing",
            Self::Architecture => "architecture",
            Self::McpIntegration => "mcp-integration",
        }
    }

    /// All names, as a message lists them.
    pub fn list() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Category {
    type Err = IdError;

    /// Only as the folder is spelled: in lower case.
    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::ALL
            .into_iter()
            .find(|category| category.as_str() == text)
            .ok_or_else(|| IdError::of("category", text, Why::NotListed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_written_as_its_folder_and_read_back() {
        for category in Category::ALL {
            assert_eq!(serde_json::to_value(category).unwrap(), category.as_str());
            assert_eq!(category.as_str().parse::<Category>().unwrap(), category);
        }
        let said = "Databases".parse::<Category>().unwrap_err().to_string();
        assert!(
            said.contains("database, security, ui, backend, testing, architecture, mcp-integration"),
            "{said}"
        );
    }
}
