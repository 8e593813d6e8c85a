//! Names of tools and toolsets.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest tool name, in bytes. Clients refuse longer ones, and one bad name hides a whole server.
pub const MAX_NAME: usize = 64;

/// The name of a tool as listed on the wire: `^[a-z][a-z0-9_]{0,63}$`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

/// The text does not match `^[a-z][a-z0-9_]{0,63}$`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tool name: lower-case letters, digits and underscores, a letter first, 64 at most")]
pub struct BadName(pub String);

impl ToolName {
    /// Checks `name` against the grammar.
    pub fn new(name: impl Into<String>) -> Result<Self, BadName> {
        let name = name.into();
        let bytes = name.as_bytes();
        let fits = (1..=MAX_NAME).contains(&bytes.len())
            && bytes[0].is_ascii_lowercase()
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_');
        if fits { Ok(Self(name)) } else { Err(BadName(name)) }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ToolName {
    type Error = BadName;

    fn try_from(name: String) -> Result<Self, BadName> {
        Self::new(name)
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A named group of tools that a user switches on or off.
///
/// Toolsets are named by the families that own them; there is no central list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Toolset(pub &'static str);

impl fmt::Display for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_what_real_clients_accept() {
        for good in ["a", "tokens_build", "a11y_scan", &"x".repeat(64)] {
            assert!(ToolName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "1a", "tokens.build", "read_fil\u{435}", "a\u{200b}b", "a-b", &"x".repeat(65)] {
            assert!(ToolName::new(bad).is_err(), "{bad}");
        }
    }
}
