//! Documents that a team keeps.

use std::borrow::Cow;

use contract::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::text::{MAX_TITLE, at_most, named};
use crate::time::Timestamp;

/// Most bytes of a document: 1 MiB.
pub const MAX_DOCUMENT: usize = 1_048_576;
/// The scope of documents that belong to no venture.
pub const GLOBAL: &str = "global";
/// Most files that a document was generated from.
pub const MAX_SOURCES: usize = 1_000;
/// Most bytes of a source's path.
const MAX_PATH: usize = 4_096;
/// Most bytes of a scope or a name.
const MAX_NAME: usize = 120;

/// Where a document's text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Somebody wrote it: it is never overwritten by what is generated.
    Written,
    /// It was generated from its sources.
    Generated,
}

impl Origin {
    /// As it is stored and shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Generated => "generated",
        }
    }

    /// What `word` stands for.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Written, Self::Generated].into_iter().find(|origin| origin.word() == word)
    }
}

/// A file that a document was generated from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// From the root.
    pub path: String,
    /// The digest of its content then.
    pub sha256: Cow<'static, str>,
}

/// A document that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// `global`, or a venture's code.
    pub scope: String,
    /// Its name: letters, digits, `.`, `_` and `-`, at most 120.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub content: String,
    /// Where the text is from.
    pub origin: Origin,
    /// What it was generated from.
    pub sources: Vec<Source>,
    /// The version that was changed, 0 for none; another one is [`StoreError::Stale`].
    pub expected: Option<i64>,
}

impl NewDocument {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        placed(&self.scope, &self.name)?;
        at_most("title", &self.title, MAX_TITLE)?;
        at_most("content", &self.content, MAX_DOCUMENT)?;
        if self.sources.len() > MAX_SOURCES {
            let got = self.sources.len();
            return Err(StoreError::TooLarge { what: "sources of a document", got, most: MAX_SOURCES });
        }
        self.sources.iter().try_for_each(|source| {
            named("path of a source", &source.path, MAX_PATH)?;
            named("digest of a source", &source.sha256, MAX_NAME)
        })
    }

    /// The digest of its text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.content.as_bytes())
    }
}

/// Whether something can be called so.
pub fn placed(scope: &str, name: &str) -> Result<(), StoreError> {
    for (what, text) in [("scope", scope), ("name of a document", name)] {
        named(what, text, MAX_NAME)?;
        let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if !text.chars().all(is_of_it) || !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            let why = "it has other characters than letters, digits, `.`, `_` and `-`, or begins with none of the first two";
            return Err(StoreError::Invalid { what, why });
        }
    }
    Ok(())
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// What all lists show of it.
    #[serde(flatten)]
    pub row: DocumentRow,
    /// Its text.
    pub content: String,
    /// What it was generated from.
    #[serde(default)]
    pub sources: Vec<Source>,
}

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentRow {
    /// `global`, or a venture's code.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How often it was changed, from 1.
    pub version: i64,
    /// Where the text is from.
    pub origin: Origin,
    /// The digest of its text, in hexadecimal.
    pub sha256: String,
    /// When it was changed last.
    pub updated: Timestamp,
}

/// The documents of some scopes, by scope and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// The first of them.
    pub rows: Vec<DocumentRow>,
    /// How many there are.
    pub total: u64,
}
