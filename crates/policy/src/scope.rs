//! Scopes: what an access token lets its bearer do, per toolset and per right. A higher right holds the lower ones, and
//! `gatewright` stands for every toolset.

use std::fmt;
use std::str::FromStr;

use contract::Kind;

/// The name that stands for every toolset.
pub const EVERY: &str = "gatewright";

/// The toolset of the tools that only find and call others: whoever may call anything may call them.
pub const FRONT: &str = "front";

/// What may be done, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// Look, and rehearse what is planned without starting the project's own programs.
    Read,
    /// Also start the project's own programs, confined, and see what they would change.
    Run,
    /// Also change things.
    Apply,
}

impl Right {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Run, Self::Apply];

    /// What a call needs: of a tool of `kind`, performing or only rehearsing.
    #[must_use]
    pub const fn needed(kind: Kind, performs: bool) -> Self {
        match kind {
            Kind::Read => Self::Read,
            Kind::Change if !performs => Self::Read,
            Kind::Run if !performs => Self::Run,
            // A store is written at once, and what a tool of others does nobody here can rehearse.
            Kind::Change | Kind::Run | Kind::Record | Kind::Foreign => Self::Apply,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Apply => "apply",
        }
    }
}

/// One scope: `design:apply`, `gatewright:read`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope {
    toolset: String,
    right: Right,
}

impl Scope {
    /// The scope of `right` on `toolset`.
    #[must_use]
    pub fn new(toolset: &str, right: Right) -> Self {
        Self { toolset: toolset.to_owned(), right }
    }

    /// Whether whoever has this may do what needs `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let toolset = self.toolset == EVERY || self.toolset == other.toolset || other.toolset == FRONT;
        toolset && self.right >= other.right
    }

    /// Whether the scopes that a token `granted` cover this one. Words that are no scopes of ours grant nothing.
    #[must_use]
    pub fn is_granted(&self, granted: &[String]) -> bool {
        granted.iter().filter_map(|text| text.parse::<Self>().ok()).any(|scope| scope.covers(self))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.toolset, self.right.word())
    }
}

/// The text is not a scope of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a scope is a toolset or `gatewright`, a colon, and `read`, `run` or `apply`")]
pub struct NotAScope;

impl FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        let (toolset, word) = text.split_once(':').ok_or(NotAScope)?;
        let right = Right::ALL.into_iter().find(|right| right.word() == word).ok_or(NotAScope)?;
        if toolset.is_empty() { Err(NotAScope) } else { Ok(Self::new(toolset, right)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(scopes: &[&str], needed: &str) -> bool {
        let scopes: Vec<String> = scopes.iter().map(|s| (*s).to_owned()).collect();
        needed.parse::<Scope>().unwrap().is_granted(&scopes)
    }

    #[test]
    fn a_higher_right_holds_the_lower_ones_and_the_product_every_toolset() {
        assert!(granted(&["design:apply"], "design:read") && granted(&["design:apply"], "design:run"));
        assert!(!granted(&["design:run"], "design:apply") && !granted(&["design:read"], "design:run"));
        assert!(granted(&["gatewright:run"], "git:read") && !granted(&["gatewright:run"], "git:apply"));
        assert!(!granted(&["git:apply"], "design:read"));
        assert!(granted(&["git:read"], "front:read"), "the front door is open to whoever may do anything");
        for odd in ["", "design", "design:", ":read", "design:write", "design:read:x", "openid"] {
            assert!(!granted(&[odd], "design:read") && !granted(&[odd], "front:read"), "{odd}");
        }
    }

    #[test]
    fn a_rehearsal_needs_less_than_what_it_rehearses() {
        assert_eq!(Right::needed(Kind::Change, false), Right::Read);
        assert_eq!(Right::needed(Kind::Run, false), Right::Run);
        for kind in [Kind::Change, Kind::Run, Kind::Record, Kind::Foreign] {
            assert_eq!(Right::needed(kind, true), Right::Apply);
        }
        assert_eq!(Right::needed(Kind::Foreign, false), Right::Apply);
    }
}
