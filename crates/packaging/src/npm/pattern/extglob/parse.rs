//! Reading groups.

use super::{Item, MAX_NESTING, Node, Nodes, ROOT, Sign};
use crate::npm::pattern::meter::PatternError;

/// Depth at which a group is still read as one where it cannot be merged with the one around it.
const MAX_DEPTH: usize = 2;

/// What is between texts that are not looked into: escapes and brackets.
#[derive(Default)]
struct Scan {
    escaped: bool,
    /// Where the open bracket's contents begin, and whether they are negated.
    bracket: Option<(usize, bool)>,
}

impl Scan {
    /// Whether a unit belongs to an escape or to brackets. `next` is the place behind it.
    fn takes(&mut self, unit: u16, next: usize) -> bool {
        if self.escaped || unit == 0x5c {
            self.escaped = !self.escaped;
            return true;
        }
        match &mut self.bracket {
            Some((start, negated)) => {
                if next == *start + 1 {
                    *negated |= matches!(unit, 0x21 | 0x5e);
                } else if unit == 0x5d && !(next == *start + 2 && *negated) {
                    self.bracket = None;
                }
                true
            }
            None if unit == 0x5b => {
                self.bracket = Some((next, false));
                true
            }
            None => false,
        }
    }
}

impl Nodes<'_> {
    /// Reads a part into the first node.
    pub(super) fn parse(&mut self, text: &[u16]) -> Result<(), PatternError> {
        self.meter.spend(text.len() as u64)?;
        let mut scan = Scan::default();
        let (mut at, mut from) = (0, 0);
        while let Some(&unit) = text.get(at) {
            at += 1;
            if scan.takes(unit, at) {
                continue;
            }
            if let Some(sign) = Sign::of(unit).filter(|_| text.get(at) == Some(&0x28)) {
                self.push(ROOT, text.get(from..at - 1).unwrap_or_default());
                let group = self.make(Some(sign), ROOT)?;
                at = self.group(text, group, at, (1, 1))?;
                from = at;
                self.adopt_child(ROOT, group);
            }
        }
        self.push(ROOT, text.get(from..).unwrap_or_default());
        Ok(())
    }

    /// Reads a group whose parenthesis opens at a place; returns the place behind it. Depths: as minimatch counts them, which leaves
    /// out groups that can be merged, and as they are.
    fn group(
        &mut self,
        text: &[u16],
        group: usize,
        open: usize,
        (depth, nested): (usize, usize),
    ) -> Result<usize, PatternError> {
        if nested > MAX_NESTING {
            return Err(PatternError::TooComplex);
        }
        let mut scan = Scan::default();
        let mut members = Vec::new();
        let mut member = self.make(None, group)?;
        let (mut at, mut from) = (open + 1, open + 1);
        while let Some(&unit) = text.get(at) {
            at += 1;
            self.meter.spend(1)?;
            if scan.takes(unit, at) {
                continue;
            }
            if let Some(sign) = Sign::of(unit).filter(|_| text.get(at) == Some(&0x28)) {
                let merges = self.sign(group).is_some_and(|outer| outer.may_merge(sign));
                if depth <= MAX_DEPTH || merges {
                    self.push(member, text.get(from..at - 1).unwrap_or_default());
                    let inner = self.make(Some(sign), member)?;
                    self.adopt_child(member, inner);
                    at = self.group(text, inner, at, (depth + usize::from(!merges), nested + 1))?;
                    from = at;
                    continue;
                }
            }
            if unit == 0x7c || unit == 0x29 {
                let before = text.get(from..at - 1).unwrap_or_default();
                self.push(member, before);
                members.push(Item::Node(member));
                from = at;
                if unit == 0x29 {
                    if let Some(node) = self.all.get_mut(group) {
                        node.blank = before.is_empty();
                        node.items = members;
                    }
                    return Ok(at);
                }
                member = self.make(None, group)?;
            }
        }
        // It is never closed: what looked like a group is a text.
        if let Some(node) = self.all.get_mut(group) {
            node.sign = None;
            node.items = vec![Item::Text(text.get(open - 1..).unwrap_or_default().to_vec())];
        }
        Ok(at)
    }

    /// Makes a node below another, without adding it to that one's items.
    pub(super) fn make(&mut self, sign: Option<Sign>, parent: usize) -> Result<usize, PatternError> {
        if self.all.len() >= super::MAX_NODES {
            return Err(PatternError::TooComplex);
        }
        let id = self.all.len();
        let place = self.items(parent).len();
        self.all.push(Node::new(sign, Some(parent), place));
        if sign == Some(Sign::Not) {
            self.negations.push(id);
        }
        Ok(id)
    }

    pub(super) fn adopt_child(&mut self, parent: usize, child: usize) {
        if let Some(node) = self.all.get_mut(parent) {
            node.items.push(Item::Node(child));
        }
    }

    fn push(&mut self, parent: usize, text: &[u16]) {
        if !text.is_empty()
            && let Some(node) = self.all.get_mut(parent)
        {
            node.items.push(Item::Text(text.to_vec()));
        }
    }
}
