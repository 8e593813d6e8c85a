//! Differences between two states of the tracked files: what `git diff` says.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::index::State;
use gix::index::entry::Stage;
use gix::objs::tree::EntryKind;
use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::{Budget, Limits};
use crate::content::Reader;
use crate::error::{Done, HistoryError};
use crate::paths::{Selection, show};
use crate::status::{self, Kind, NotCompared};
use crate::tree::{Comparison, Delta};
use crate::unstaged::{Found, Walk};
use crate::{index, patch, rename, rev};

/// Which two states are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sides {
    /// Two revisions; with `merge_base`, the common ancestor of both against `to` (`git diff from...to`).
    Revisions {
        /// The older side.
        from: String,
        /// The newer side.
        to: String,
        /// Compare from the common ancestor.
        merge_base: bool,
    },
    /// A revision, HEAD unless named, against the index (`git diff --cached`).
    Staged {
        /// The older side; HEAD if absent.
        from: Option<String>,
    },
    /// The index, or a revision, against the tracked files of the work tree (`git diff`, `git diff <from>`).
    WorkTree {
        /// The older side; the index if absent.
        from: Option<String>,
    },
}

impl Sides {
    /// `a..b`, `a...b`, or one revision against the work tree.
    pub fn parse(text: &str) -> Self {
        match rev::range(text) {
            Some((from, to, merge_base)) => {
                Self::Revisions { from: from.to_owned(), to: to.to_owned(), merge_base }
            }
            None => Self::WorkTree { from: Some(text.to_owned()) },
        }
    }
}

/// What is compared and how it is shown.
#[derive(Debug, Clone)]
pub struct DiffQuery {
    /// The two states.
    pub sides: Sides,
    /// Files and folders from the repository's top, taken literally; empty for all.
    pub paths: Vec<String>,
    /// Unchanged lines around each change.
    pub context: u32,
    /// Most bytes of hunks in all; whole hunks beyond are left out.
    pub max_bytes: usize,
    /// Most files; those beyond are left out, and counted.
    pub max_files: usize,
    /// Join deletions and additions that are renames.
    pub renames: bool,
    /// Lines that differ in white space alone are the same.
    pub ignore_whitespace: bool,
}

impl DiffQuery {
    /// Three lines of context, renames found, 256 KiB of hunks, 3000 files.
    pub fn new(sides: Sides) -> Self {
        Self {
            sides,
            paths: Vec::new(),
            context: 3,
            max_bytes: 256 << 10,
            max_files: 3000,
            renames: true,
            ignore_whitespace: false,
        }
    }
}

/// Differences between two states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Commit of the older side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Commit of the newer side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Changed files, by path.
    pub files: Vec<DiffFile>,
    /// Sums over all files, shown or not.
    pub stats: DiffStats,
    /// Paths with an unfinished merge, not compared.
    pub conflicted: Vec<String>,
    /// Tracked paths whose content was not compared.
    pub not_compared: Vec<NotCompared>,
    /// Files or hunks were left out.
    pub truncated: bool,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffFile {
    /// Where the file is now, or was.
    pub path: String,
    /// Where it was before a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened to it.
    pub kind: Kind,
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
    /// Not text, or too large to compare.
    pub binary: bool,
    /// Mode before, when it changed, such as 100644.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    /// Mode after, when it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    /// The hunks in unified form.
    pub hunks: String,
    /// Some hunks were left out.
    pub truncated: bool,
}

/// Sums over files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffStats {
    /// Changed files.
    pub files: u64,
    /// Lines added.
    pub additions: u64,
    /// Lines deleted.
    pub deletions: u64,
}

impl crate::Repo {
    /// What `git diff` says, without any program that attributes or configuration name: files that a filter would convert
    /// are listed as not compared.
    pub fn diff(
        &self,
        query: &DiffQuery,
        limits: &Limits,
        cancel: &AtomicBool,
    ) -> Result<Diff, HistoryError> {
        let budget = Budget::new(limits, cancel);
        budget.check()?;
        let selection = Selection::new(&query.paths)?;
        let tree = self.tree(&budget);
        let state = index::read(&tree)?;
        let reader = Reader::new(&tree, &state)?;
        let mut comparison = Comparison::new(&self.git, &budget, &selection);
        let mut ends = (None, None);
        let mut found = Found::default();
        let mut conflicted = Vec::new();
        let deltas = match &query.sides {
            Sides::Revisions { from, to, merge_base } => {
                let (mut old, new) = (self.commit_id(from)?, self.commit_id(to)?);
                if *merge_base {
                    old = self.base_of(old, new, &budget)?;
                }
                ends = (Some(old), Some(new));
                comparison.trees(BString::default(), Some(self.tree_of(old)?), Some(self.tree_of(new)?))?;
                comparison.finish()
            }
            Sides::Staged { from } => {
                ends.0 = self.base_or_head(from.as_deref())?;
                comparison.tree_with_index(ends.0.map(|id| self.tree_of(id)).transpose()?, &state)?;
                conflicted = selected_conflicts(&state, &selection);
                comparison.finish()
            }
            Sides::WorkTree { from } => {
                found = Walk::new(&tree, &state, &selection, false)?.run()?;
                conflicted = selected_conflicts(&state, &selection);
                match from {
                    None => std::mem::take(&mut found.changes),
                    Some(from) => {
                        ends.0 = self.base_or_head(Some(from))?;
                        comparison.tree_with_index(ends.0.map(|id| self.tree_of(id)).transpose()?, &state)?;
                        compose(&state, comparison.finish(), std::mem::take(&mut found.changes))
                    }
                }
            }
        };
        let deltas = if query.renames { rename::detect(&reader, deltas)? } else { deltas };
        let mut out = Diff {
            from: ends.0.map(|id| id.to_string()),
            to: ends.1.map(|id| id.to_string()),
            files: Vec::new(),
            stats: DiffStats::default(),
            conflicted,
            not_compared: found.not_compared.iter().map(status::not_compared).collect(),
            truncated: false,
        };
        files(&reader, &deltas, query, &mut out)?;
        Ok(out)
    }

    fn base_or_head(&self, from: Option<&str>) -> Done<Option<ObjectId>> {
        match from {
            // Before the first commit, everything is new.
            None | Some("HEAD" | "@") => Ok(self.head()?.id),
            Some(text) => self.commit_id(text).map(Some),
        }
    }

    /// How many files and lines differ between two trees.
    pub(crate) fn stats_of(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Done<DiffStats> {
        let mut comparison = Comparison::new(&self.git, reader.tree.budget, selection);
        comparison.trees(BString::default(), old, Some(new))?;
        let deltas = rename::detect(reader, comparison.finish())?;
        let mut stats = DiffStats::default();
        for delta in &deltas {
            if let Some(file) = file(reader, delta, 0, false, false)? {
                stats.add(&file.0);
            }
        }
        Ok(stats)
    }
}

impl DiffStats {
    fn add(&mut self, file: &DiffFile) {
        self.files += 1;
        self.additions += file.additions;
        self.deletions += file.deletions;
    }
}

fn selected_conflicts(state: &State, selection: &Selection) -> Vec<String> {
    let all = status::conflicts(state).into_iter().map(|c| c.path);
    all.filter(|path| selection.has(path.as_bytes().as_bstr())).collect()
}

/// Changes from a tree to the index, and from there to the work tree, as changes from the tree to the work tree.
fn compose(state: &State, first: Vec<Delta>, then: Vec<Delta>) -> Vec<Delta> {
    let mut out: BTreeMap<BString, Delta> = first.into_iter().map(|d| (d.path.clone(), d)).collect();
    for mut delta in then {
        // What was only announced is nothing that the tree has.
        let entry = state.entry_by_path_and_stage(delta.path.as_bstr(), Stage::Unconflicted);
        if entry.is_some_and(index::announced) {
            delta.old = None;
        }
        match out.get_mut(&delta.path) {
            Some(known) => known.new = delta.new,
            None => {
                out.insert(delta.path.clone(), delta);
            }
        }
    }
    out.into_values().filter(|d| d.old.is_some() || d.new.is_some()).collect()
}

fn files(reader: &Reader<'_>, deltas: &[Delta], query: &DiffQuery, out: &mut Diff) -> Done<()> {
    let mut left = query.max_bytes;
    for delta in deltas {
        let room = left > 0 && out.files.len() < query.max_files;
        let Some((mut file, hunks)) = file(reader, delta, query.context, query.ignore_whitespace, room)?
        else {
            continue;
        };
        out.stats.add(&file);
        if out.files.len() >= query.max_files {
            out.truncated = true;
            continue;
        }
        file.truncated = !room && file.additions + file.deletions > 0;
        for hunk in hunks {
            if hunk.len() > left {
                file.truncated = true;
                left = 0;
                break;
            }
            left -= hunk.len();
            file.hunks.push_str(&hunk);
        }
        out.truncated |= file.truncated;
        out.files.push(file);
    }
    Ok(())
}

/// One file's difference and its hunks; `None` where there is none after all.
fn file(
    reader: &Reader<'_>,
    delta: &Delta,
    context: u32,
    ignore_whitespace: bool,
    text: bool,
) -> Done<Option<(DiffFile, Vec<String>)>> {
    reader.tree.budget.check()?;
    let from = delta.from.as_ref().unwrap_or(&delta.path);
    let read = |side: Option<crate::tree::Side>, path: &BString| match side {
        None => Ok(Some(Vec::new())),
        Some(side) => reader.read(path.as_bstr(), side),
    };
    let same_object = delta.old.map(|s| s.content) == delta.new.map(|s| s.content);
    let new = read(delta.new, &delta.path)?;
    let old = if same_object { new.clone() } else { read(delta.old, from)? };
    let modes = (delta.old.map(|s| s.kind), delta.new.map(|s| s.kind));
    let mode_changed = modes.0.is_some() && modes.1.is_some() && modes.0 != modes.1;
    let moved = delta.from.is_some() || delta.old.is_none() || delta.new.is_none() || mode_changed;
    if !moved && old.is_some() && old == new {
        return Ok(None);
    }
    let as_text = |path: &BString, side: Option<crate::tree::Side>, bytes: &[u8]| -> Done<bool> {
        // Attributes speak of files; a link's target is always shown.
        let file = side.is_some_and(|s| s.class() == EntryKind::Blob);
        let said = if file { reader.how(path.as_bstr())?.text } else { None };
        Ok(said.unwrap_or_else(|| !rename::is_binary(bytes)))
    };
    let mut file = DiffFile {
        path: show(&delta.path),
        from: delta.from.as_ref().map(|from| show(from)),
        kind: status::kind(delta),
        additions: 0,
        deletions: 0,
        binary: true,
        old_mode: modes.0.filter(|_| mode_changed).map(|kind| status::mode(kind).to_owned()),
        new_mode: modes.1.filter(|_| mode_changed).map(|kind| status::mode(kind).to_owned()),
        hunks: String::new(),
        truncated: false,
    };
    let (Some(old), Some(new)) = (old, new) else { return Ok(Some((file, Vec::new()))) };
    if !as_text(from, delta.old, &old)? || !as_text(&delta.path, delta.new, &new)? {
        return Ok(Some((file, Vec::new())));
    }
    let patch = patch::compare(&old, &new, context, ignore_whitespace, text);
    file.binary = false;
    file.additions = patch.additions;
    file.deletions = patch.deletions;
    if !moved && patch.additions + patch.deletions == 0 {
        return Ok(None);
    }
    Ok(Some((file, patch.hunks)))
}
