//! Walks over commits, newest first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use gix::ObjectId;

use crate::budget::Budget;
use crate::error::{Done, HistoryError};

/// What a walk needs of a commit.
#[derive(Debug, Clone)]
pub(crate) struct Links {
    pub(crate) parents: Vec<ObjectId>,
    pub(crate) tree: ObjectId,
    /// When it was committed, in seconds since 1970; 0 where that cannot be read, as git has it.
    pub(crate) time: i64,
}

/// Reads commits; those where a shallow clone ends have no parents.
pub(crate) struct Commits<'a> {
    repo: &'a gix::Repository,
    budget: &'a Budget<'a>,
    ends: BTreeSet<ObjectId>,
}

impl<'a> Commits<'a> {
    pub(crate) fn new(repo: &'a gix::Repository, budget: &'a Budget<'a>) -> Done<Self> {
        let shallow = repo
            .shallow_commits()
            .map_err(HistoryError::git("where the shallow clone ends could not be read"))?;
        let ends = shallow.map(|commits| commits.iter().copied().collect()).unwrap_or_default();
        Ok(Self { repo, budget, ends })
    }

    pub(crate) fn links(&self, id: ObjectId) -> Done<Links> {
        self.budget.commit()?;
        let failed = || HistoryError::git("a commit of the repository could not be read");
        let commit = self.repo.find_commit(id).map_err(failed())?;
        let decoded = commit.decode().map_err(failed())?;
        let parents = if self.ends.contains(&id) { Vec::new() } else { decoded.parents().collect() };
        let time = decoded.committer().ok().and_then(|c| c.time().ok()).map_or(0, |time| time.seconds);
        Ok(Links { parents, tree: decoded.tree(), time })
    }
}

/// Commits that wait, the newest first; among equals, the one that came first.
#[derive(Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<(i64, Reverse<u64>, ObjectId)>,
    count: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, time: i64, id: ObjectId) {
        self.heap.push((time, Reverse(self.count), id));
        self.count += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<ObjectId> {
        self.heap.pop().map(|(_, _, id)| id)
    }

    fn newest(&self) -> Option<i64> {
        self.heap.peek().map(|(time, _, _)| *time)
    }
}

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTH: u8 = LEFT | RIGHT;
/// An ancestor of a commit that both sides have.
const STALE: u8 = 4;

struct Node {
    flags: u8,
    queued: u32,
    links: Links,
}

/// Which commits are ancestors of which side.
pub(crate) struct Painted {
    nodes: BTreeMap<ObjectId, Node>,
}

/// Walks from both sides until every commit that waits belongs to both, and is older than all that belong to one: clocks
/// that went wrong are made up for as far as that.
pub(crate) fn paint(
    repo: &gix::Repository,
    budget: &Budget<'_>,
    left: &[ObjectId],
    right: &[ObjectId],
) -> Done<Painted> {
    let commits = Commits::new(repo, budget)?;
    let mut nodes: BTreeMap<ObjectId, Node> = BTreeMap::new();
    let mut queue = Queue::default();
    let mut single = 0_u64;
    let mut oldest = i64::MAX;
    let add =
        |nodes: &mut BTreeMap<ObjectId, Node>, queue: &mut Queue, single: &mut u64, id, flags| -> Done<()> {
            let node = match nodes.entry(id) {
                std::collections::btree_map::Entry::Occupied(at) => at.into_mut(),
                std::collections::btree_map::Entry::Vacant(at) => {
                    at.insert(Node { flags: 0, queued: 0, links: commits.links(id)? })
                }
            };
            let merged = node.flags | flags;
            if merged == node.flags {
                return Ok(());
            }
            let alone = |flags: u8| flags & BOTH != BOTH;
            if alone(node.flags) && !alone(merged) {
                *single -= u64::from(node.queued);
            }
            node.flags = merged;
            node.queued += 1;
            *single += u64::from(alone(merged));
            queue.push(node.links.time, id);
            Ok(())
        };
    for (ids, flag) in [(left, LEFT), (right, RIGHT)] {
        for id in ids {
            add(&mut nodes, &mut queue, &mut single, *id, flag)?;
        }
    }
    while single > 0 || queue.newest().is_some_and(|time| time >= oldest) {
        let Some(id) = queue.pop() else { break };
        budget.entry()?;
        let Some(node) = nodes.get_mut(&id) else { continue };
        node.queued = node.queued.saturating_sub(1);
        let alone = node.flags & BOTH != BOTH;
        if alone {
            single = single.saturating_sub(1);
        }
        // Bases must outlive the look at what is older than they are.
        if alone || node.flags & STALE == 0 {
            oldest = oldest.min(node.links.time);
        }
        let pass = if alone { node.flags } else { BOTH | STALE };
        for parent in node.links.parents.clone() {
            add(&mut nodes, &mut queue, &mut single, parent, pass)?;
        }
    }
    Ok(Painted { nodes })
}

impl Painted {
    /// Commits that only the left side has.
    pub(crate) fn left(&self) -> BTreeSet<ObjectId> {
        self.nodes.iter().filter(|(_, n)| n.flags & BOTH == LEFT).map(|(id, _)| *id).collect()
    }

    /// Commits that only the right side has.
    pub(crate) fn right(&self) -> BTreeSet<ObjectId> {
        self.nodes.iter().filter(|(_, n)| n.flags & BOTH == RIGHT).map(|(id, _)| *id).collect()
    }

    pub(crate) fn only_left(&self) -> u64 {
        self.nodes.values().filter(|n| n.flags & BOTH == LEFT).count() as u64
    }

    pub(crate) fn only_right(&self) -> u64 {
        self.nodes.values().filter(|n| n.flags & BOTH == RIGHT).count() as u64
    }

    /// Common ancestors that no other common ancestor has as an ancestor, the newest first.
    pub(crate) fn bases(&self) -> Vec<ObjectId> {
        let best = self.nodes.iter().filter(|(_, n)| n.flags & BOTH == BOTH && n.flags & STALE == 0);
        let mut out: Vec<(i64, ObjectId)> = best.map(|(id, n)| (n.links.time, *id)).collect();
        out.sort_by_key(|(time, id)| (Reverse(*time), *id));
        out.into_iter().map(|(_, id)| id).collect()
    }
}
