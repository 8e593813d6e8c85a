//! Documents over the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store_api::document::{Document, DocumentRow, Index, NewDocument, Origin, Source};

use super::session::DocAudit;
use super::{Auth, DoneOrNot, endpoint};

/// The documents of some scopes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Docs {
    /// `global` and ventures' codes, with commas between them.
    pub scope: String,
    /// Most entries, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

/// Documents without their texts, by scope and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocList {
    /// The first of them.
    pub rows: Vec<DocumentRow>,
    /// How many there are.
    pub total: u64,
}

impl From<Index> for DocList {
    fn from(index: Index) -> Self {
        Self { rows: index.rows, total: index.total }
    }
}

impl From<DocList> for Index {
    fn from(list: DocList) -> Self {
        Self { rows: list.rows, total: list.total }
    }
}

endpoint!(Docs: Get "/docs", "Documents without their texts" => DocList);

/// The documents that there must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The venture's code.
    pub venture: String,
}

endpoint!(Audit: Get "/docs/audit", "Which of the documents that there must be are there" => DocAudit);

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doc {
    /// `global`, or a venture's code.
    pub scope: String,
    /// Its name.
    pub name: String,
}

/// A document, where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaybeDocument {
    /// It.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
}

endpoint!(Doc: Get "/docs/{scope}/{name}", "A document" => MaybeDocument);

/// What every document that is put has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocIn {
    /// `global`, or a venture's code.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub content: String,
    /// What it was generated from.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// The version that was changed, 0 for none; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

impl DocIn {
    pub(crate) fn of(new: NewDocument) -> Self {
        let NewDocument { scope, name, title, content, origin: _, sources, expected } = new;
        Self { scope, name, title, content, sources, expected_version: expected }
    }

    pub(crate) fn kept(self, origin: Origin) -> NewDocument {
        let Self { scope, name, title, content, sources, expected_version } = self;
        NewDocument { scope, name, title, content, origin, sources, expected: expected_version }
    }
}

/// Keeps a document that was generated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Generated {
    /// The document.
    #[serde(flatten)]
    pub doc: DocIn,
}

/// A document that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneDocument {
    /// It.
    pub document: Document,
}

endpoint!(Generated: Put "/docs/{scope}/{name}" (LARGE: bool = true), "Keeps a document that was generated; one that somebody wrote is never replaced by it" => OneDocument);

/// Keeps a document that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// The document.
    #[serde(flatten)]
    pub doc: DocIn,
}

endpoint!(Written: Put "/admin/docs/{scope}/{name}" (AUTH: Auth = Auth::Admin, LARGE: bool = true), "Keeps a document that somebody wrote" => OneDocument);

/// Removes a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoveDoc {
    /// `global`, or a venture's code.
    pub scope: String,
    /// Its name.
    pub name: String,
}

endpoint!(RemoveDoc: Delete "/admin/docs/{scope}/{name}" (AUTH: Auth = Auth::Admin), "Removes a document" => DoneOrNot);
