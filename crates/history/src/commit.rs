//! One commit, decoded.

use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use jiff::Timestamp;
use jiff::tz::Offset;
use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::{Budget, Limits};
use crate::content::Reader;
use crate::diff::DiffStats;
use crate::error::{Done, HistoryError};
use crate::index;
use crate::paths::Selection;

/// One commit. Text that is not UTF-8 has replacement characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// The full id.
    pub id: String,
    /// The id, as short as is unambiguous.
    pub short: String,
    /// Ids of its parents.
    pub parents: Vec<String>,
    /// Who wrote the change.
    pub author: Person,
    /// Who made the commit.
    pub committer: Person,
    /// When it was committed, RFC 3339.
    pub time: String,
    /// First paragraph of the message, on one line.
    pub summary: String,
    /// The rest of the message.
    pub body: String,
    /// Lines like Signed-off-by at its end.
    pub trailers: Vec<Trailer>,
    /// Sums against the first parent, if asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<DiffStats>,
}

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// When, in RFC 3339.
    pub time: String,
}

/// A line at the end of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trailer {
    /// What stands before the colon.
    pub key: String,
    /// What stands behind it.
    pub value: String,
}

impl crate::Repo {
    /// The commit that a revision names, with sums against its first parent.
    pub fn commit(
        &self,
        revision: &str,
        limits: &Limits,
        cancel: &AtomicBool,
    ) -> Result<Commit, HistoryError> {
        let budget = Budget::new(limits, cancel);
        budget.check()?;
        let id = self.commit_id(revision)?;
        let mut commit = self.decode(id)?;
        let tree = self.tree(&budget);
        let state = index::read(&tree)?;
        let reader = Reader::new(&tree, &state)?;
        commit.stats = Some(self.commit_stats(&reader, &Selection::new(&[])?, id)?);
        Ok(commit)
    }

    /// The sums of one commit against its first parent; of the first commit, against nothing.
    pub(crate) fn commit_stats(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
        id: ObjectId,
    ) -> Done<DiffStats> {
        let links = crate::walk::Commits::new(&self.git, reader.tree.budget)?.links(id)?;
        let old = links.parents.first().map(|parent| self.tree_of(*parent)).transpose()?;
        self.stats_of(reader, selection, old, links.tree)
    }

    pub(crate) fn decode(&self, id: ObjectId) -> Done<Commit> {
        let failed = || HistoryError::git("a commit of the repository could not be read");
        let commit = self.git.find_commit(id).map_err(failed())?;
        let decoded = commit.decode().map_err(failed())?;
        let message = gix::objs::commit::MessageRef::from_bytes(decoded.message);
        let committer = person(decoded.committer);
        let trailers = message.body().map(|body| {
            body.trailers().map(|t| Trailer { key: text(t.token), value: text(t.value.as_bstr()) }).collect()
        });
        Ok(Commit {
            id: id.to_string(),
            short: commit.id().shorten_or_id().to_string(),
            parents: decoded.parents().map(|p| p.to_string()).collect(),
            author: person(decoded.author),
            time: committer.time.clone(),
            committer,
            summary: text(message.summary().as_bstr()),
            body: message.body.map(text).unwrap_or_default(),
            trailers: trailers.unwrap_or_default(),
            stats: None,
        })
    }
}

pub(crate) fn text(bytes: &BStr) -> String {
    bytes.to_str_lossy().into_owned()
}

/// A line of a commit's head: `name <address> seconds zone`. What cannot be read is left empty.
fn person(line: &BStr) -> Person {
    let Ok(parsed) = gix::actor::SignatureRef::from_bytes(line) else {
        return Person { name: text(line), email: String::new(), time: String::new() };
    };
    let parsed = parsed.trim();
    let time = parsed.time().map(|time| rfc3339(time.seconds, time.offset)).unwrap_or_default();
    Person { name: text(parsed.name), email: text(parsed.email), time }
}

/// A time with its zone; empty where no calendar reaches it.
fn rfc3339(seconds: i64, offset: i32) -> String {
    let Ok(at) = Timestamp::from_second(seconds) else { return String::new() };
    match Offset::from_seconds(offset) {
        Ok(offset) if offset != Offset::UTC => at.display_with_offset(offset).to_string(),
        _ => at.to_string(),
    }
}
