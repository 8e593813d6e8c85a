//! What reading and comparing may cost.

use std::cell::Cell;

/// Why a pattern was not read, or not compared to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// npm refuses it as well.
    #[error("a pattern is longer than 65,536 characters; npm stops at such a pattern: shorten it")]
    TooLong,
    /// npm would go on for 100,000.
    #[error("a pattern's braces make more than 10,000 alternatives: write fewer")]
    TooManyAlternatives,
    /// Nested or repeated past what is sensible.
    #[error("a pattern's braces or groups are nested or repeated too often: simplify it")]
    TooComplex,
    /// npm makes a regular expression of it that JavaScript refuses, and stops.
    #[error(
        "npm cannot read a pattern: it makes an invalid regular expression of it. Escape or remove the special characters"
    )]
    Unreadable,
    /// The allowance is used up.
    #[error(
        "comparing files with patterns took too many steps: the tree is too large or the patterns are too many"
    )]
    OutOfSteps,
}

/// An allowance of steps: about one for each unit of a pattern that is read and each that is compared.
#[derive(Debug)]
pub struct Meter {
    allowed: u64,
    spent: Cell<u64>,
}

impl Meter {
    /// With so many steps.
    pub fn new(allowed: u64) -> Self {
        Self { allowed, spent: Cell::new(0) }
    }

    /// How many steps were taken.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Takes steps.
    pub fn spend(&self, steps: u64) -> Result<(), PatternError> {
        let spent = self.spent.get().saturating_add(steps);
        self.spent.set(spent);
        if spent > self.allowed { Err(PatternError::OutOfSteps) } else { Ok(()) }
    }
}
