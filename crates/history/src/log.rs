//! Commits of a history, newest first: what `git log` lists.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::{Budget, Limits};
use crate::commit::{Commit, text};
use crate::content::Reader;
use crate::error::{Done, HistoryError};
use crate::paths::Selection;
use crate::walk::{Commits, Links, Queue, paint};
use crate::{index, rev};

/// What is looked for in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grep {
    /// The text as it stands.
    Text(String),
    /// A regular expression, matched in linear time, `^` and `$` at lines.
    Regex(String),
}

/// Which commits are listed.
#[derive(Debug, Clone)]
pub struct LogQuery {
    /// A revision, or a range `a..b` or `a...b`.
    pub revision: String,
    /// Files and folders from the repository's top, taken literally; empty for all commits. History is simplified as git
    /// does by default.
    pub paths: Vec<String>,
    /// Most commits.
    pub limit: usize,
    /// How many are passed over before.
    pub skip: usize,
    /// Not committed before: a date or a time of RFC 3339.
    pub since: Option<String>,
    /// Not committed after: a date, with its whole day, or a time.
    pub until: Option<String>,
    /// Part of `name <address>` of the author.
    pub author: Option<String>,
    /// What the message has in it.
    pub grep: Option<Grep>,
    /// Only the first parents of merges are followed.
    pub first_parent: bool,
    /// Only merges, or none.
    pub merges: Option<bool>,
    /// Sums of files and lines for each.
    pub stats: bool,
}

impl LogQuery {
    /// The fifty newest of a revision.
    pub fn new(revision: &str) -> Self {
        Self {
            revision: revision.to_owned(),
            paths: Vec::new(),
            limit: 50,
            skip: 0,
            since: None,
            until: None,
            author: None,
            grep: None,
            first_parent: false,
            merges: None,
            stats: false,
        }
    }
}

/// Commits of a history, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    /// The commits.
    pub commits: Vec<Commit>,
    /// There are more.
    pub truncated: bool,
    /// History ends early: a shallow clone.
    pub shallow: bool,
}

/// What commits must be, ready to ask.
struct Filter {
    since: Option<i64>,
    until: Option<i64>,
    author: Option<String>,
    grep: Option<regex::Regex>,
    merges: Option<bool>,
}

/// Where a walk begins and which commits belong to it.
struct Reach {
    tips: Vec<ObjectId>,
    /// `None` where all do.
    within: Option<BTreeSet<ObjectId>>,
    /// The commits that a range begins after.
    bottoms: Vec<ObjectId>,
}

impl Reach {
    fn has(&self, id: &ObjectId) -> bool {
        self.within.as_ref().is_none_or(|within| within.contains(id))
    }
}

/// Commits and trees that were read: each is needed as a parent first, and then for itself.
struct Memory<'a> {
    commits: Commits<'a>,
    links: BTreeMap<ObjectId, Links>,
    entries: BTreeMap<ObjectId, Vec<Option<(EntryKind, ObjectId)>>>,
}

/// How many trees are remembered.
const REMEMBERED: usize = 10_000;

impl Memory<'_> {
    fn links(&mut self, id: ObjectId) -> Done<Links> {
        if let Some(known) = self.links.get(&id) {
            return Ok(known.clone());
        }
        let links = self.commits.links(id)?;
        self.links.insert(id, links.clone());
        Ok(links)
    }
}

impl crate::Repo {
    /// What `git log` lists, in its default order.
    pub fn log(&self, query: &LogQuery, limits: &Limits, cancel: &AtomicBool) -> Result<Log, HistoryError> {
        let budget = Budget::new(limits, cancel);
        budget.check()?;
        let selection = Selection::new(&query.paths)?;
        let filter = Filter::new(query)?;
        let reach = self.reach(query, &budget)?;
        let commits = Commits::new(&self.git, &budget)?;
        let mut memory = Memory { commits, links: BTreeMap::new(), entries: BTreeMap::new() };
        let tree = self.tree(&budget);
        let state = index::read(&tree)?;
        let reader = if query.stats { Some(Reader::new(&tree, &state)?) } else { None };
        let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
        let mut queue = Queue::default();
        for tip in &reach.tips {
            if reach.has(tip) && seen.insert(*tip) {
                queue.push(memory.links(*tip)?.time, *tip);
            }
        }
        let mut out = Log { commits: Vec::new(), truncated: false, shallow: self.is_shallow() };
        let mut skip = query.skip;
        while let Some(id) = queue.pop() {
            budget.check()?;
            let links = memory.links(id)?;
            // Nobody else asks for it: its children came before.
            memory.links.remove(&id);
            if filter.since.is_some_and(|since| links.time < since) {
                continue;
            }
            let (follow, touched) =
                self.simplify(&mut memory, &reach, &selection, &links, query.first_parent)?;
            for parent in follow {
                if reach.has(&parent) && seen.insert(parent) {
                    queue.push(memory.links(parent)?.time, parent);
                }
            }
            if !touched || !self.matches(&filter, id, &links)? {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if out.commits.len() >= query.limit {
                out.truncated = true;
                break;
            }
            let mut commit = self.decode(id)?;
            if let Some(reader) = &reader {
                commit.stats = Some(self.commit_stats(reader, &selection, id)?);
            }
            out.commits.push(commit);
        }
        Ok(out)
    }

    fn reach(&self, query: &LogQuery, budget: &Budget<'_>) -> Done<Reach> {
        let Some((from, to, three)) = rev::range(&query.revision) else {
            return Ok(Reach {
                tips: vec![self.commit_id(&query.revision)?],
                within: None,
                bottoms: Vec::new(),
            });
        };
        let (from, to) = (self.commit_id(from)?, self.commit_id(to)?);
        let painted = paint(&self.git, budget, &[to], &[from])?;
        if three {
            let within = painted.left().union(&painted.right()).copied().collect();
            return Ok(Reach { tips: vec![from, to], within: Some(within), bottoms: painted.bases() });
        }
        Ok(Reach { tips: vec![to], within: Some(painted.left()), bottoms: vec![from] })
    }

    /// Which parents are followed, and whether the commit changed what is selected: a merge that is the same as one of
    /// its parents is not shown, and only that parent is followed (git-log(1), default mode).
    fn simplify(
        &self,
        memory: &mut Memory<'_>,
        reach: &Reach,
        selection: &Selection,
        links: &Links,
        first_parent: bool,
    ) -> Done<(Vec<ObjectId>, bool)> {
        let mut parents = links.parents.clone();
        if first_parent {
            parents.truncate(1);
        }
        if selection.is_all() {
            return Ok((parents, true));
        }
        let here = self.entries(memory, links.tree, selection)?;
        if parents.is_empty() {
            return Ok((parents, here.iter().any(Option::is_some)));
        }
        let mut changed = (false, false);
        let mut any_relevant = false;
        for parent in &parents {
            let relevant = reach.has(parent) || reach.bottoms.contains(parent);
            any_relevant |= relevant;
            let tree = memory.links(*parent)?.tree;
            if self.entries(memory, tree, selection)? == here {
                if relevant {
                    return Ok((vec![*parent], false));
                }
            } else if relevant {
                changed.0 = true;
            } else {
                changed.1 = true;
            }
        }
        Ok((parents, if any_relevant { changed.0 } else { changed.1 }))
    }

    /// What a tree has at each selected path.
    fn entries(
        &self,
        memory: &mut Memory<'_>,
        tree: ObjectId,
        selection: &Selection,
    ) -> Done<Vec<Option<(EntryKind, ObjectId)>>> {
        if let Some(known) = memory.entries.get(&tree) {
            return Ok(known.clone());
        }
        let failed = || HistoryError::git("a tree of the repository could not be read");
        let look = |path: &gix::bstr::BString| {
            let tree = self.git.find_tree(tree).map_err(failed())?;
            let found = tree.lookup_entry(path.split_str("/")).map_err(failed())?;
            Ok(found.map(|entry| (entry.mode().kind(), entry.object_id())))
        };
        let found: Vec<_> = selection.paths().iter().map(look).collect::<Done<_>>()?;
        if memory.entries.len() >= REMEMBERED {
            memory.entries.clear();
        }
        memory.entries.insert(tree, found.clone());
        Ok(found)
    }

    fn matches(&self, filter: &Filter, id: ObjectId, links: &Links) -> Done<bool> {
        if filter.until.is_some_and(|until| links.time > until) {
            return Ok(false);
        }
        if filter.merges.is_some_and(|merges| merges != (links.parents.len() > 1)) {
            return Ok(false);
        }
        if filter.author.is_none() && filter.grep.is_none() {
            return Ok(true);
        }
        let failed = || HistoryError::git("a commit of the repository could not be read");
        let commit = self.git.find_commit(id).map_err(failed())?;
        let decoded = commit.decode().map_err(failed())?;
        if let Some(author) = &filter.author {
            // Without the time behind the address.
            let line = text(decoded.author);
            let line = line.rsplit_once('>').map_or(line.as_str(), |(line, _)| line);
            if !format!("{line}>").contains(author.as_str()) {
                return Ok(false);
            }
        }
        Ok(filter.grep.as_ref().is_none_or(|grep| grep.is_match(&text(decoded.message))))
    }
}

impl Filter {
    fn new(query: &LogQuery) -> Done<Self> {
        let grep = match &query.grep {
            None => None,
            Some(Grep::Text(text)) => Some(regex::escape(text)),
            Some(Grep::Regex(pattern)) => Some(pattern.clone()),
        };
        let grep = grep
            .map(|pattern| {
                regex::RegexBuilder::new(&pattern)
                    .multi_line(true)
                    .size_limit(1 << 20)
                    .dfa_size_limit(1 << 20)
                    .build()
            })
            .transpose()?;
        Ok(Self {
            since: query.since.as_deref().map(|text| time(text, false)).transpose()?,
            until: query.until.as_deref().map(|text| time(text, true)).transpose()?,
            author: query.author.clone(),
            grep,
            merges: query.merges,
        })
    }
}

/// Seconds since 1970 of an RFC 3339 time, or of a date's first or last second in UTC.
fn time(text: &str, end: bool) -> Done<i64> {
    let bad = || HistoryError::BadTime(text.chars().take(64).collect());
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_second());
    }
    let date: jiff::civil::Date = text.parse().map_err(|_| bad())?;
    let first = date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| bad())?.timestamp().as_second();
    Ok(if end { first + 86_399 } else { first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_rfc_3339() {
        assert_eq!(time("1970-01-02", false).unwrap(), 86_400);
        assert_eq!(time("1970-01-01", true).unwrap(), 86_399);
        assert_eq!(time("1970-01-01T01:00:00+01:00", false).unwrap(), 0);
        for bad in ["yesterday", "2 weeks ago", "", "2020-13-01", "--since=x"] {
            assert!(time(bad, false).is_err(), "{bad}");
        }
    }
}
