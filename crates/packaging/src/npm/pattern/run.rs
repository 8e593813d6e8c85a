//! Running a part over a name: which positions can be reached, for all ways at once.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::class::Class;
use super::meter::{Meter, PatternError};

/// A piece of what a part says.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// This unit or code point, folded where cases are the same.
    Unit(u32),
    /// Any one.
    Any,
    /// Any number of any.
    Many,
    /// At least one of any.
    Some,
    /// One of a class.
    Class(Class),
    /// Nothing that there is.
    Never,
    /// The name's end.
    End,
    /// What `\|` makes, unescaped as minimatch leaves it: everything before is an alternative to everything behind.
    Bar,
    /// One of several, perhaps not at all, perhaps again and again.
    Group { alternatives: Vec<Vec<Piece>>, optional: bool, repeated: bool },
    /// None of several begins here. The number tells it from others of its part.
    NotAhead { alternatives: Vec<Vec<Piece>>, number: usize },
}

/// A name as it is run over.
pub(super) struct Name {
    /// As it is.
    pub(super) plain: Vec<u32>,
    /// As it is compared.
    pub(super) folded: Vec<u32>,
}

/// Positions in a name, from before the first to behind the last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Positions(Vec<bool>);

impl Positions {
    fn none(length: usize) -> Self {
        Self(vec![false; length + 1])
    }

    fn only(length: usize, at: usize) -> Self {
        let mut positions = Self::none(length);
        positions.add(at);
        positions
    }

    fn add(&mut self, at: usize) {
        if let Some(slot) = self.0.get_mut(at) {
            *slot = true;
        }
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at).copied().unwrap_or(false)
    }

    fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= *theirs;
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, there)| **there).map(|(at, _)| at)
    }

    /// Every position from the first on, or from the one behind it.
    fn onward(&self, skip: usize) -> Self {
        let first = self.iter().next().map_or(usize::MAX, |first| first.saturating_add(skip));
        Self((0..self.0.len()).map(|at| at >= first).collect())
    }

    /// The positions behind those that something is true of.
    fn advanced(&self, fits: impl Fn(usize) -> bool) -> Self {
        let mut next = vec![false; self.0.len()];
        for at in self.iter().filter(|at| fits(*at)) {
            if let Some(slot) = next.get_mut(at + 1) {
                *slot = true;
            }
        }
        Self(next)
    }
}

/// Whether the whole name is what the pieces say.
pub(super) fn whole(pieces: &[Piece], name: &Name, meter: &Meter) -> Result<bool, PatternError> {
    let length = name.plain.len();
    let run = Run { name, meter, absent: RefCell::default() };
    Ok(run.sequence(pieces, Positions::only(length, 0))?.has(length))
}

struct Run<'a> {
    name: &'a Name,
    meter: &'a Meter,
    /// Whether a negation holds at a position: it depends on nothing else.
    absent: RefCell<BTreeMap<(usize, usize), bool>>,
}

impl Run<'_> {
    fn sequence(&self, pieces: &[Piece], mut at: Positions) -> Result<Positions, PatternError> {
        for piece in pieces {
            if at.is_empty() {
                break;
            }
            at = self.piece(piece, &at)?;
        }
        Ok(at)
    }

    fn piece(&self, piece: &Piece, at: &Positions) -> Result<Positions, PatternError> {
        self.meter.spend(1 + at.0.len() as u64 / 8)?;
        let length = self.name.plain.len();
        Ok(match piece {
            Piece::Unit(unit) => at.advanced(|index| self.name.folded.get(index) == Some(unit)),
            Piece::Any => at.advanced(|_| true),
            Piece::Class(class) => {
                at.advanced(|index| self.name.plain.get(index).is_some_and(|value| class.has(*value)))
            }
            Piece::Many => at.onward(0),
            Piece::Some => at.onward(1),
            Piece::Never | Piece::Bar => Positions::none(length),
            Piece::End if at.has(length) => Positions::only(length, length),
            Piece::End => Positions::none(length),
            Piece::Group { alternatives, optional, repeated } => {
                let mut reached = if *optional { at.clone() } else { Positions::none(length) };
                let mut from = at.clone();
                loop {
                    let once = self.any(alternatives, &from)?;
                    let before = reached.clone();
                    reached.join(&once);
                    // Once nothing new is reached, going round again reaches nothing new either.
                    if !repeated || reached == before {
                        break;
                    }
                    from = once;
                }
                reached
            }
            Piece::NotAhead { alternatives, number } => {
                let mut kept = Positions::none(length);
                for position in at.iter() {
                    if self.is_absent(alternatives, *number, position)? {
                        kept.add(position);
                    }
                }
                kept
            }
        })
    }

    fn any(&self, alternatives: &[Vec<Piece>], at: &Positions) -> Result<Positions, PatternError> {
        let mut reached = Positions::none(self.name.plain.len());
        for alternative in alternatives {
            reached.join(&self.sequence(alternative, at.clone())?);
        }
        Ok(reached)
    }

    fn is_absent(
        &self,
        alternatives: &[Vec<Piece>],
        number: usize,
        position: usize,
    ) -> Result<bool, PatternError> {
        if let Some(known) = self.absent.borrow().get(&(number, position)) {
            return Ok(*known);
        }
        let reached = self.any(alternatives, &Positions::only(self.name.plain.len(), position))?;
        let absent = reached.is_empty();
        self.absent.borrow_mut().insert((number, position), absent);
        Ok(absent)
    }
}
