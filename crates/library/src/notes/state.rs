//! Which notes still hold.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{Note, NoteId, ends_at};

/// Whether a note still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state", content = "by")]
pub enum State {
    /// It does.
    Active,
    /// Its time is over.
    Expired,
    /// Others replaced it: those, in the order of their lines. Whether they still hold themselves is nothing to it.
    Superseded(Vec<NoteId>),
}

/// The state of each note, in their order. What is superseded is that, expired or not. Where notes supersede each other in a
/// circle, the one that stands on the later line replaces the earlier ones and not the other way round. O(n log n) in notes and
/// references.
pub fn states(notes: &[Note], now: Timestamp) -> Vec<State> {
    let numbers: BTreeMap<NoteId, usize> = notes.iter().enumerate().map(|(at, note)| (note.id, at)).collect();
    let edges: Vec<Vec<usize>> = notes
        .iter()
        .enumerate()
        .map(|(at, note)| {
            note.supersedes.iter().filter_map(|id| numbers.get(id).copied()).filter(|to| *to != at).collect()
        })
        .collect();
    let circles = circles(&edges);
    let mut by: Vec<Vec<(u32, NoteId)>> = vec![Vec::new(); notes.len()];
    for (from, (note, targets)) in notes.iter().zip(&edges).enumerate() {
        for to in targets {
            let in_circle = circles.get(from) == circles.get(*to);
            let is_later = notes.get(*to).is_some_and(|other| note.line > other.line);
            if (!in_circle || is_later)
                && let Some(by) = by.get_mut(*to)
            {
                by.push((note.line, note.id));
            }
        }
    }
    notes
        .iter()
        .zip(by)
        .map(|(note, mut by)| {
            if !by.is_empty() {
                by.sort_unstable();
                by.dedup();
                return State::Superseded(by.into_iter().map(|(_, id)| id).collect());
            }
            let end = note.expires.as_deref().and_then(ends_at);
            if end.is_some_and(|end| end <= now) { State::Expired } else { State::Active }
        })
        .collect()
}

/// Strongly connected components: the number of its own, for each. Tarjan's, without recursion.
fn circles(edges: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = edges.len();
    let (mut order, mut low, mut own) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
    let (mut next, mut components) = (0, 0);
    let mut open: Vec<usize> = Vec::new();
    let at = |list: &[usize], index: usize| list.get(index).copied().unwrap_or(NONE);
    let lower = |list: &mut Vec<usize>, index: usize, to: usize| {
        if let Some(value) = list.get_mut(index) {
            *value = (*value).min(to);
        }
    };
    for root in 0..count {
        if at(&order, root) != NONE {
            continue;
        }
        // A node, and how many of its edges were followed.
        let mut path = vec![(root, 0)];
        while let Some((node, followed)) = path.pop() {
            if followed == 0 {
                lower(&mut order, node, next);
                lower(&mut low, node, next);
                next += 1;
                open.push(node);
            }
            match edges.get(node).and_then(|to| to.get(followed)).copied() {
                Some(to) => {
                    path.push((node, followed + 1));
                    if at(&order, to) == NONE {
                        path.push((to, 0));
                    } else if at(&own, to) == NONE {
                        lower(&mut low, node, at(&order, to));
                    }
                }
                None => {
                    if at(&low, node) == at(&order, node) {
                        while let Some(member) = open.pop() {
                            lower(&mut own, member, components);
                            if member == node {
                                break;
                            }
                        }
                        components += 1;
                    }
                    if let Some((parent, _)) = path.last().copied() {
                        let reached = at(&low, node);
                        lower(&mut low, parent, reached);
                    }
                }
            }
        }
    }
    own
}
