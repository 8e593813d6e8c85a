//! The patterns of ignore files, of `files` and of `workspaces`, as minimatch 10 reads them (`npm-packing.md` §1.3).
//!
//! A pattern is split into braces' alternatives, each into parts at its slashes, each part into something that is compared with one
//! name. Names are compared as sequences of UTF-16 units, because that is what JavaScript compares: `?` is one unit.
//!
//! Nothing backtracks: a part is run as a set of positions ([`run`]), parts are placed from left to right, and everything is paid
//! for with a [`Meter`], so that a pattern from a stranger costs what it may cost and no more.

mod braces;
mod class;
mod extglob;
mod fold;
mod meter;
mod part;
mod paths;
mod run;
mod subject;

pub use meter::{Meter, PatternError};
pub use subject::{Segment, Subject, segments};

pub(crate) use part::Part;

/// Units of a pattern at most; minimatch refuses longer ones.
pub const MAX_PATTERN: usize = 64 * 1024;

/// Alternatives that braces may make; `glob` stops there too.
pub const MAX_ALTERNATIVES: usize = 10_000;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Whether letters' cases are the same.
    fold: bool,
    /// Whether `*` takes names that start with a dot.
    dot: bool,
    /// Whether leading `!` negate and a leading `#` makes a comment.
    marks: bool,
    /// Whether a pattern of one part is compared with the last name of a path.
    base: bool,
    /// Whether the pattern is for walking: `.` and `..` are resolved, surplus alternatives dropped.
    walk: bool,
}

impl Dialect {
    /// Of a line in an ignore file.
    pub const RULE: Self = Self { fold: true, dot: true, marks: true, base: true, walk: false };
    /// Of an entry of `files` since npm-packlist 11.
    pub const FILES: Self = Self { fold: false, dot: true, marks: false, base: false, walk: true };
    /// Of an entry of `workspaces`, and of globs that were given no options.
    pub const PLAIN: Self = Self { fold: false, dot: false, marks: false, base: false, walk: true };
    /// Of `workspaces` entries compared with one another.
    pub const NAMES: Self = Self { fold: false, dot: false, marks: true, base: false, walk: false };
}

/// A pattern that was read.
#[derive(Debug, Clone)]
pub struct Pattern {
    alternatives: Vec<Vec<Part>>,
    negated: bool,
    relative: bool,
    base: bool,
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str, dialect: Dialect, meter: &Meter) -> Result<Self, PatternError> {
        let units: Vec<u16> = text.encode_utf16().collect();
        if units.len() > MAX_PATTERN {
            return Err(PatternError::TooLong);
        }
        let mut pattern =
            Self { alternatives: Vec::new(), negated: false, relative: false, base: dialect.base };
        if dialect.marks && units.first() == Some(&u16::from(b'#')) {
            return Ok(pattern);
        }
        let marks =
            if dialect.marks { units.iter().take_while(|unit| **unit == u16::from(b'!')).count() } else { 0 };
        pattern.negated = marks % 2 == 1;
        let expanded = braces::expand(units.get(marks..).unwrap_or_default(), MAX_ALTERNATIVES, meter)?;
        if expanded.cut && !dialect.walk {
            return Err(PatternError::TooManyAlternatives);
        }
        for alternative in expanded.alternatives {
            meter.spend(alternative.len() as u64 + 1)?;
            let texts = paths::parts(&alternative, dialect.walk);
            let short = if texts.last().is_some_and(|last| !last.is_empty()) { 1 } else { 2 };
            pattern.relative |= texts.len() <= short;
            let parts = texts.iter().map(|text| Part::new(text, dialect, meter));
            pattern.alternatives.push(parts.collect::<Result<_, _>>()?);
        }
        Ok(pattern)
    }

    /// Whether an odd number of `!` stood before it.
    pub fn is_negated(&self) -> bool {
        self.negated
    }

    /// Whether some alternative is one name, with a slash behind it or not: such a rule is asked of names alone too.
    pub fn is_relative(&self) -> bool {
        self.relative
    }

    /// Whether a path fits, negation left aside.
    pub fn matches(&self, subject: Subject<'_>, meter: &Meter) -> Result<bool, PatternError> {
        self.any(subject, false, meter)
    }

    /// Whether a path fits the pattern's beginning: something below it may match.
    pub fn begins(&self, subject: Subject<'_>, meter: &Meter) -> Result<bool, PatternError> {
        self.any(subject, true, meter)
    }

    /// The parts of each alternative.
    pub(crate) fn alternatives(&self) -> &[Vec<Part>] {
        &self.alternatives
    }

    fn any(&self, subject: Subject<'_>, partial: bool, meter: &Meter) -> Result<bool, PatternError> {
        for parts in &self.alternatives {
            meter.spend(1)?;
            let subject = if self.base && parts.len() == 1 { subject.base() } else { subject };
            if paths::matches(subject, parts, partial, meter)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
