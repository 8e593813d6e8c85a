//! One part of a pattern: what a name is compared with.

use super::Dialect;
use super::extglob;
use super::fold;
use super::meter::{Meter, PatternError};
use super::run::{self, Name, Piece};
use super::subject::Segment;

/// A part.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    what: What,
    fold: bool,
    /// Whether names that start with a dot are passed over.
    visible: bool,
}

#[derive(Debug, Clone)]
enum What {
    /// `**`: any number of names.
    Globstar,
    /// This name; folded where cases are the same.
    Name(Vec<u16>),
    /// `*`: any name that is there.
    Any,
    /// `*x`: names that end so. minimatch compares these as texts, backslashes included.
    Suffix(Vec<u16>),
    /// `??x`: names of a length that end so; likewise.
    Length(usize, Vec<u16>),
    /// Anything else.
    Pieces { alternatives: Vec<Vec<Piece>>, unicode: bool },
}

impl Part {
    /// Reads a part.
    pub(super) fn new(text: &[u16], dialect: Dialect, meter: &Meter) -> Result<Self, PatternError> {
        let fold = dialect.fold;
        let dotted = matches!(text, [0x2e, ..] | [0x5c, 0x2e, ..]);
        let what = simple(text, fold).map_or_else(|| read(text, fold, meter), Ok)?;
        let visible = !dialect.dot && !dotted && !matches!(what, What::Name(_));
        Ok(Self { what, fold, visible })
    }

    /// Whether it is `**`.
    pub(crate) fn is_globstar(&self) -> bool {
        matches!(self.what, What::Globstar)
    }

    /// Whether a name is passed over for its dot.
    pub(crate) fn passes_over(&self, name: &Segment) -> bool {
        self.visible && name.units.first() == Some(&0x2e)
    }

    /// The name that it is, where it is one and cases count.
    pub(crate) fn name(&self) -> Option<String> {
        match &self.what {
            What::Name(units) if !self.fold => Some(String::from_utf16_lossy(units)),
            _ => None,
        }
    }

    /// Whether a name fits; `**` fits none.
    pub(crate) fn fits(&self, name: &Segment, meter: &Meter) -> Result<bool, PatternError> {
        meter.spend(1)?;
        if self.passes_over(name) {
            return Ok(false);
        }
        let ends = |suffix: &[u16]| {
            if self.fold { name.lower.ends_with(suffix) } else { name.units.ends_with(suffix) }
        };
        Ok(match &self.what {
            What::Globstar => false,
            What::Name(units) => *units == *if self.fold { &name.folded } else { &name.units },
            What::Any => !name.units.is_empty(),
            What::Suffix(suffix) => ends(suffix),
            What::Length(length, suffix) => name.units.len() == *length && ends(suffix),
            What::Pieces { alternatives, unicode } => {
                let name = self.prepared(name, *unicode);
                for alternative in alternatives {
                    if run::whole(alternative, &name, meter)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    fn prepared(&self, name: &Segment, unicode: bool) -> Name {
        let widen = |units: &[u16]| units.iter().map(|unit| u32::from(*unit)).collect::<Vec<u32>>();
        if !unicode {
            let folded = widen(if self.fold { &name.folded } else { &name.units });
            return Name { plain: widen(&name.units), folded };
        }
        let points = char::decode_utf16(name.units.iter().copied());
        let plain: Vec<u32> = points
            .map(|point| point.map_or_else(|half| u32::from(half.unpaired_surrogate()), u32::from))
            .collect();
        let folded = if self.fold { plain.iter().map(|p| fold::point(*p)).collect() } else { plain.clone() };
        Name { plain, folded }
    }
}

/// The forms that minimatch does not make a regular expression of.
fn simple(text: &[u16], fold: bool) -> Option<What> {
    const STAR: u16 = b'*' as u16;
    const MARK: u16 = b'?' as u16;
    if text == [STAR, STAR] {
        return Some(What::Globstar);
    }
    if text.is_empty() {
        return Some(What::Name(Vec::new()));
    }
    let first = *text.first()?;
    if first != STAR && first != MARK {
        return None;
    }
    let run = text.iter().take_while(|unit| **unit == first).count();
    let suffix = text.get(run..)?;
    let special = b"+@!?*[(".map(u16::from);
    if suffix.iter().any(|unit| special.contains(unit)) {
        return None;
    }
    let suffix = if fold {
        String::from_utf16_lossy(suffix).to_lowercase().encode_utf16().collect()
    } else {
        suffix.to_vec()
    };
    Some(match (first, suffix.is_empty()) {
        (STAR, true) => What::Any,
        (STAR, false) => What::Suffix(suffix),
        _ => What::Length(text.len(), suffix),
    })
}

/// Everything else.
fn read(text: &[u16], fold: bool, meter: &Meter) -> Result<What, PatternError> {
    let read = extglob::read(text, fold, meter)?;
    let cased = || {
        let text = String::from_utf16_lossy(text);
        text.to_uppercase() != text.to_lowercase()
    };
    let bars = read.pieces.iter().any(|piece| matches!(piece, Piece::Bar));
    let plain = read.pieces.iter().map(|piece| match piece {
        Piece::Unit(unit) => u16::try_from(*unit).ok(),
        Piece::Bar => Some(u16::from(b'|')),
        _ => None,
    });
    let is_plain = !read.magic && (!bars || !fold || !cased());
    if is_plain && let Some(units) = plain.collect::<Option<Vec<u16>>>() {
        let fold = |unit: &u16| if fold { fold::unit(*unit) } else { *unit };
        return Ok(What::Name(units.iter().map(fold).collect()));
    }
    Ok(What::Pieces { alternatives: floating(read.pieces), unicode: read.unicode })
}

/// What is between bars at the outermost level: only the first is held to the name's beginning, only the last to its end.
fn floating(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut alternatives = extglob::alternatives(pieces);
    let last = alternatives.len() - 1;
    for (index, alternative) in alternatives.iter_mut().enumerate() {
        if index > 0 {
            alternative.insert(0, Piece::Many);
        }
        if index < last {
            alternative.push(Piece::Many);
        }
    }
    alternatives
}
