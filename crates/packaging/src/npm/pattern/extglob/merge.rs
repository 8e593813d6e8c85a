//! Merging groups, and giving negations what follows them.

use super::{Item, MAX_NESTING, Nodes, Sign};
use crate::npm::pattern::meter::PatternError;

/// How often one group is gone over.
const PASSES: usize = 10;

impl Sign {
    /// Whether a group that is all of a member may give its members to this one.
    fn takes_members(self, inner: Self) -> bool {
        match self {
            Self::Not | Self::One => inner == Self::One,
            Self::Maybe => matches!(inner, Self::Maybe | Self::One),
            Self::Any => inner != Self::Not,
            Self::Some => matches!(inner, Self::Some | Self::One),
        }
    }

    /// Whether it may when nothing is added as a further member.
    fn takes_members_and_nothing(self, inner: Self) -> bool {
        match self {
            Self::Not | Self::One => inner == Self::Maybe,
            Self::Some => matches!(inner, Self::Maybe | Self::Any),
            Self::Maybe | Self::Any => false,
        }
    }

    /// What the two are together when the inner one is everything that is in this one.
    fn replaced_by(self, inner: Self) -> Option<Self> {
        match (self, inner) {
            (Self::Not, Self::Not) => Some(Self::One),
            (Self::Maybe, Self::Any | Self::Some) => Some(Self::Any),
            (Self::Some, Self::Maybe | Self::Any) => Some(Self::Any),
            (Self::One, inner) => Some(inner),
            _ => None,
        }
    }

    /// Whether a group right inside this one is read however deep it is.
    pub(super) fn may_merge(self, inner: Self) -> bool {
        self.takes_members(inner) || self.takes_members_and_nothing(inner)
    }
}

impl Nodes<'_> {
    /// Merges groups into those around them.
    pub(super) fn flatten(&mut self, id: usize, depth: usize) -> Result<(), PatternError> {
        self.meter.spend(1)?;
        if depth > 2 * MAX_NESTING + 2 {
            return Err(PatternError::TooComplex);
        }
        for _ in 0..PASSES {
            let mut changed = false;
            let mut index = 0;
            while let Some(item) = self.items(id).get(index) {
                if let Item::Node(child) = *item {
                    self.flatten(child, depth + 1)?;
                    changed |= self.merge(id, child, index)?;
                }
                index += 1;
            }
            // A sequence merges nothing itself, so that once is enough.
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// Merges what is all of a member into a group, if that can be.
    fn merge(&mut self, id: usize, member: usize, index: usize) -> Result<bool, PatternError> {
        let (Some(outer), None, [Item::Node(inner)]) = (self.sign(id), self.sign(member), self.items(member))
        else {
            return Ok(false);
        };
        let inner = *inner;
        let Some(sign) = self.sign(inner) else { return Ok(false) };
        if outer.takes_members(sign) {
            self.take_members(id, inner, index);
        } else if outer.takes_members_and_nothing(sign) {
            let nothing = self.make(None, inner)?;
            if let Some(node) = self.all.get_mut(nothing) {
                node.items.push(Item::Text(Vec::new()));
            }
            self.adopt_child(inner, nothing);
            self.take_members(id, inner, index);
        } else if let Some(sign) = outer.replaced_by(sign).filter(|_| self.items(id).len() == 1) {
            let members = self.items(inner).to_vec();
            self.move_below(&members, id);
            if let Some(node) = self.all.get_mut(id) {
                node.items = members;
                node.sign = Some(sign);
                node.blank = false;
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn take_members(&mut self, id: usize, inner: usize, index: usize) {
        let members = self.items(inner).to_vec();
        self.move_below(&members, id);
        if let Some(node) = self.all.get_mut(id) {
            node.items.splice(index..=index, members);
        }
    }

    fn move_below(&mut self, members: &[Item], parent: usize) {
        for item in members {
            if let Item::Node(child) = item
                && let Some(node) = self.all.get_mut(*child)
            {
                node.parent = Some(parent);
            }
        }
    }

    /// Copies behind every member of every negation what stands behind the negation, the last negation first.
    pub(super) fn give_negations_what_follows(&mut self) -> Result<(), PatternError> {
        while let Some(negation) = self.negations.pop() {
            if self.sign(negation) != Some(Sign::Not) {
                continue;
            }
            let mut at = negation;
            while let Some(parent) = self.node(at).and_then(|node| node.parent) {
                let place = self.node(at).map_or(0, |node| node.place);
                if self.sign(parent).is_none() {
                    let following = self.items(parent).get(place + 1..).unwrap_or_default().to_vec();
                    let members = self.items(negation).to_vec();
                    for item in &following {
                        for member in &members {
                            if let Item::Node(member) = member {
                                self.copy_into(*member, item, 0)?;
                            }
                        }
                    }
                }
                at = parent;
            }
        }
        Ok(())
    }

    fn copy_into(&mut self, into: usize, item: &Item, depth: usize) -> Result<(), PatternError> {
        self.meter.spend(1)?;
        if depth > 2 * MAX_NESTING + 2 {
            return Err(PatternError::TooComplex);
        }
        match item {
            Item::Text(text) => {
                self.meter.spend(text.len() as u64)?;
                if !text.is_empty()
                    && let Some(node) = self.all.get_mut(into)
                {
                    node.items.push(Item::Text(text.clone()));
                }
            }
            Item::Node(original) => {
                let sign = self.sign(*original);
                let negations = self.negations.len();
                let copy = self.make(sign, into)?;
                // A copy is given nothing: it already has what follows.
                self.negations.truncate(negations);
                self.adopt_child(into, copy);
                for item in self.items(*original).to_vec() {
                    self.copy_into(copy, &item, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}
