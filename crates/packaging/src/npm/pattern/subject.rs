//! What a pattern is compared with.

use std::rc::Rc;

use super::fold;

/// A name: one component of a path.
#[derive(Debug, PartialEq, Eq)]
pub struct Segment {
    /// As it is, in UTF-16.
    pub(crate) units: Vec<u16>,
    /// For comparing without regard to case, unit by unit.
    pub(crate) folded: Vec<u16>,
    /// In lower case as a text, which is not the same: its length may differ.
    pub(crate) lower: Vec<u16>,
}

impl Segment {
    /// Of a name.
    pub fn new(name: &str) -> Self {
        let units: Vec<u16> = name.encode_utf16().collect();
        let folded = units.iter().map(|unit| fold::unit(*unit)).collect();
        Self { units, folded, lower: name.to_lowercase().encode_utf16().collect() }
    }
}

/// What stands before a leading and after a trailing slash.
static NOTHING: Segment = Segment { units: Vec::new(), folded: Vec::new(), lower: Vec::new() };

/// The names of a path; a slash at either end is not among them.
pub fn segments(path: &str) -> Vec<Rc<Segment>> {
    path.split('/').filter(|name| !name.is_empty()).map(|name| Rc::new(Segment::new(name))).collect()
}

/// A path that is compared: names, and whether a slash stands before or after them.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    names: &'a [Rc<Segment>],
    lead: bool,
    trail: bool,
}

impl<'a> Subject<'a> {
    /// Names without slashes at the ends.
    pub fn new(names: &'a [Rc<Segment>]) -> Self {
        Self { names, lead: false, trail: false }
    }

    /// With a slash before it or not.
    #[must_use]
    pub fn lead(self, lead: bool) -> Self {
        Self { lead, ..self }
    }

    /// With a slash after it or not.
    #[must_use]
    pub fn trail(self, trail: bool) -> Self {
        Self { trail, ..self }
    }

    /// The last name alone.
    pub(super) fn base(self) -> Self {
        let last = self.names.len().saturating_sub(1);
        Self::new(self.names.get(last..).unwrap_or_default())
    }

    /// Names, counting the empty ones that slashes at the ends make.
    pub(super) fn len(self) -> usize {
        self.names.len() + usize::from(self.lead) + usize::from(self.trail)
    }

    /// The name at a place; an empty one past the end.
    pub(super) fn at(self, index: usize) -> &'a Segment {
        let index = if self.lead { index.checked_sub(1) } else { Some(index) };
        index.and_then(|index| self.names.get(index)).map_or(&NOTHING, |name| &**name)
    }
}
