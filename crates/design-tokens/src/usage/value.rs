//! What of a declaration's value stands there itself, where a token could.

use std::ops::Range;

use super::index::Literal;
use super::pieces::{Kind, Piece};
use super::role::{Role, Sort, taken};
use super::sheet::{Syntax, bounds};
use crate::value::parse_curve;
use crate::value::{Color, Dimension, Shadow, Slot};

/// A literal, and what is around it.
#[derive(Debug)]
pub(super) struct Stands {
    pub(super) literal: Literal,
    pub(super) range: Range<usize>,
    pub(super) wanted: &'static [Role],
    /// Whether Sass or Less would compute with it.
    pub(super) in_mathematics: bool,
}

/// Functions in which a length may be a custom property.
const OF_LENGTHS: [&str; 4] = ["calc", "min", "max", "clamp"];

/// Functions in which a colour may be a custom property. Not `light-dark()`: what it has for the dark is no default.
const OF_COLORS: [&str; 9] = [
    "linear-gradient",
    "radial-gradient",
    "conic-gradient",
    "repeating-linear-gradient",
    "repeating-radial-gradient",
    "repeating-conic-gradient",
    "-webkit-linear-gradient",
    "color-mix",
    "drop-shadow",
];

/// Colour functions whose text is a colour.
const COLORS: [&str; 11] =
    ["rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "device-cmyk"];

/// Generic families.
const GENERIC: [&str; 6] = ["serif", "sans-serif", "monospace", "cursive", "fantasy", "system-ui"];

/// Units of lengths that tokens may have.
const UNITS: [&str; 4] = ["px", "rem", "em", "pt"];

/// The literals of a value.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The one that the whole value is, where the property takes such.
    pub(super) whole: Option<Stands>,
    /// Those in it, in the order in which they stand.
    pub(super) parts: Vec<Stands>,
}

/// The literals of a value of `property`.
pub(super) fn literals(property: &str, value: &[Piece], text: &str, syntax: Syntax) -> Standing {
    let value = trimmed(value);
    let taken = taken(property);
    // What is put together from parts is not understood.
    if taken.is_empty() || has_parts(value, syntax) {
        return Standing::default();
    }
    let reading = Reading { taken, text, syntax };
    let mut parts = Vec::new();
    reading.list(value, Place::Value, &mut parts);
    Standing { whole: reading.whole(value), parts }
}

/// A value without the space around it and without `!important` or `!default`.
fn trimmed(value: &[Piece]) -> &[Piece] {
    let end = value.iter().position(|piece| piece.is_delim('!')).unwrap_or(value.len());
    let mut value = value.get(..end).unwrap_or_default();
    while let Some((_, rest)) = value.split_first().filter(|(first, _)| first.is_space()) {
        value = rest;
    }
    while let Some((_, rest)) = value.split_last().filter(|(last, _)| last.is_space()) {
        value = rest;
    }
    value
}

/// Whether a value has interpolations, or names glued to one another.
fn has_parts(value: &[Piece], syntax: Syntax) -> bool {
    syntax != Syntax::Css
        && value.iter().any(|piece| piece.is_delim('#') || piece.is_delim('~') || piece.is_delim('@'))
}

/// Where in a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    Lengths,
    Colors,
}

struct Reading<'r> {
    taken: &'static [(Sort, &'static [Role])],
    text: &'r str,
    syntax: Syntax,
}

impl Reading<'_> {
    fn wanted(&self, sort: Sort) -> Option<&'static [Role]> {
        self.taken.iter().find(|(taken, _)| *taken == sort).map(|(_, wanted)| *wanted)
    }

    fn written(&self, piece: &Piece) -> &str {
        self.text.get(piece.range.clone()).unwrap_or_default()
    }

    /// The literal that the whole value is, where the property takes such.
    fn whole(&self, value: &[Piece]) -> Option<Stands> {
        let literal = if self.wanted(Sort::Family).is_some() {
            Literal::Family(Self::family(value)?)
        } else {
            self.wanted(Sort::Shadow)?;
            Literal::Shadow(self.shadows(value)?)
        };
        let wanted = self.wanted(literal.sort())?;
        Some(Stands { literal, range: bounds(value)?, wanted, in_mathematics: false })
    }

    fn list(&self, pieces: &[Piece], place: Place, found: &mut Vec<Stands>) {
        let computes = self.syntax != Syntax::Css
            && pieces.iter().any(|piece| ['+', '-', '*', '/', '%'].iter().any(|sign| piece.is_delim(*sign)));
        for (number, piece) in pieces.iter().enumerate() {
            match &piece.kind {
                Kind::Function(name, inside) => {
                    let is_color = COLORS.contains(&name.as_str());
                    if OF_LENGTHS.contains(&name.as_str()) && self.syntax == Syntax::Css {
                        self.list(inside, Place::Lengths, found);
                    } else if OF_COLORS.contains(&name.as_str()) {
                        self.list(inside, Place::Colors, found);
                    } else if is_color || name == "cubic-bezier" {
                        self.one(piece, place, computes, found);
                    }
                }
                Kind::Parens(inside) if place == Place::Lengths => self.list(inside, place, found),
                // `$name`, `@name`, `.name`: no colours.
                Kind::Ident(_) if number > 0 && is_sign(pieces.get(number - 1)) => {}
                _ => self.one(piece, place, computes, found),
            }
        }
    }

    fn one(&self, piece: &Piece, place: Place, in_mathematics: bool, found: &mut Vec<Stands>) {
        let Some(literal) = self.literal(piece) else { return };
        let fits = match place {
            Place::Value => true,
            Place::Lengths => literal.sort() == Sort::Length,
            Place::Colors => literal.sort() == Sort::Color,
        };
        if let (true, Some(wanted)) = (fits, self.wanted(literal.sort())) {
            found.push(Stands { literal, range: piece.range.clone(), wanted, in_mathematics });
        }
    }

    fn literal(&self, piece: &Piece) -> Option<Literal> {
        let written = self.written(piece);
        match &piece.kind {
            Kind::Hash => self.color(piece),
            Kind::Ident(name) if self.wanted(Sort::Weight).is_some() => {
                match name.to_ascii_lowercase().as_str() {
                    "bold" => Some(Literal::Weight(700.0)),
                    "normal" => Some(Literal::Weight(400.0)),
                    _ => None,
                }
            }
            Kind::Ident(_) => self.color(piece),
            Kind::Function(name, _) if name == "cubic-bezier" => parse_curve(written).map(Literal::Curve),
            Kind::Function(..) => self.color(piece),
            Kind::Number => {
                let n: f64 = written.parse().ok().filter(|n: &f64| n.is_finite())?;
                if self.wanted(Sort::Weight).is_some() {
                    Some(Literal::Weight(n))
                } else {
                    Some(Literal::Number(n)).filter(|_| n != 0.0)
                }
            }
            Kind::Dimension => {
                let (n, unit) = quantity(written)?;
                match unit.as_str() {
                    "ms" => Some(Literal::Time(n)),
                    "s" => Some(Literal::Time(n * 1_000.0)),
                    unit if UNITS.contains(&unit) => Some(Literal::Length(n, unit.to_owned())),
                    _ => None,
                }
                .filter(|_| n != 0.0)
            }
            _ => None,
        }
    }

    fn color(&self, piece: &Piece) -> Option<Literal> {
        self.wanted(Sort::Color).or_else(|| self.wanted(Sort::Shadow))?;
        let written = self.written(piece);
        let is_word = |word: &str| written.eq_ignore_ascii_case(word);
        if is_word("transparent") || is_word("currentcolor") {
            return None;
        }
        Color::from_css(&written.to_ascii_lowercase()).map(Literal::Color)
    }

    /// A list of font names.
    fn family(value: &[Piece]) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for one in value.split(|piece| piece.kind == Kind::Comma) {
            let mut words = Vec::new();
            for piece in trimmed(one) {
                match &piece.kind {
                    Kind::Space => {}
                    Kind::Ident(word) => words.push(word.clone()),
                    // In quotes, a generic name is that of a font.
                    Kind::Text(name) if words.is_empty() && !GENERIC.contains(&name.as_str()) => {
                        words.push(name.clone());
                    }
                    _ => return None,
                }
            }
            let name = words.join(" ");
            let is_word =
                ["inherit", "initial", "unset", "revert"].iter().any(|w| name.eq_ignore_ascii_case(w));
            if name.is_empty() || is_word {
                return None;
            }
            names.push(name);
        }
        Some(names)
    }

    /// The layers of a shadow (CSS Backgrounds 3, `box-shadow`).
    fn shadows(&self, value: &[Piece]) -> Option<Vec<Shadow>> {
        value.split(|piece| piece.kind == Kind::Comma).map(|layer| self.shadow(trimmed(layer))).collect()
    }

    fn shadow(&self, layer: &[Piece]) -> Option<Shadow> {
        let (mut lengths, mut color, mut inset) = (Vec::new(), None, false);
        for piece in layer.iter().filter(|piece| !piece.is_space()) {
            let written = self.written(piece);
            match &piece.kind {
                Kind::Ident(word) if word.eq_ignore_ascii_case("inset") && !inset => inset = true,
                Kind::Number if written.parse() == Ok(0.0) => {
                    lengths.push(Dimension { value: 0.0, unit: "px" });
                }
                Kind::Dimension => {
                    let (value, unit) = quantity(written)?;
                    let unit = UNITS.iter().find(|known| **known == unit)?;
                    lengths.push(Dimension { value, unit });
                }
                _ => match self.color(piece) {
                    Some(Literal::Color(found)) if color.is_none() => color = Some(found),
                    _ => return None,
                },
            }
        }
        let nothing = Dimension { value: 0.0, unit: "px" };
        let [x, y, rest @ ..] = lengths.as_slice() else { return None };
        let part = |number: usize| Slot::own(rest.get(number).copied().unwrap_or(nothing));
        (rest.len() <= 2).then_some(())?;
        let (color, x, y) = (Slot::own(color?), Slot::own(*x), Slot::own(*y));
        Some(Shadow { color, x, y, blur: part(0), spread: part(1), inset })
    }
}

/// Whether the next piece is part of a name of Sass or Less.
fn is_sign(before: Option<&Piece>) -> bool {
    before.is_some_and(|before| ['$', '.', '@', '&', '%'].iter().any(|sign| before.is_delim(*sign)))
}

/// A number and its unit in lower case.
fn quantity(written: &str) -> Option<(f64, String)> {
    let unit = written.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let number = written.strip_suffix(unit)?;
    Some((number.parse().ok().filter(|n: &f64| n.is_finite())?, unit.to_ascii_lowercase()))
}

/// How variables of Sass are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Module {
    /// `$name`.
    Alone,
    /// `module.$name`.
    Named(String),
}

/// How a name of a token stands in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// `var(--name)`.
    Property,
    /// As a variable of Sass.
    Variable(Module),
}

/// Calls `each` with every name in a value that could be a token's.
pub(super) fn names(pieces: &[Piece], each: &mut dyn FnMut(&str, Written)) {
    let before = |number: usize, steps: usize| number.checked_sub(steps).and_then(|at| pieces.get(at));
    for (number, piece) in pieces.iter().enumerate() {
        match &piece.kind {
            Kind::Function(name, inside) => {
                if name == "var"
                    && let Some(name) = inside.iter().find(|piece| !piece.is_space()).and_then(Piece::ident)
                    && let Some(name) = name.strip_prefix("--")
                {
                    each(name, Written::Property);
                }
                names(inside, each);
            }
            Kind::Parens(inside) => names(inside, each),
            Kind::Ident(name) if before(number, 1).is_some_and(|p| p.is_delim('$')) => {
                let is_member = before(number, 2).is_some_and(|p| p.is_delim('.'));
                let module = before(number, 3).and_then(Piece::ident).filter(|_| is_member);
                let module = module.map_or(Module::Alone, |module| Module::Named(module.to_owned()));
                each(name, Written::Variable(module));
            }
            _ => {}
        }
    }
}
