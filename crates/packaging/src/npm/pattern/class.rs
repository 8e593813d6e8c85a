//! Brackets: `[a-z]`, `[!a]`, `[[:alpha:]]`.

use regex::Regex;

use super::fold;
use super::meter::{Meter, PatternError};

/// What a regular expression of a Unicode class costs to make, in steps.
const UNICODE_COST: u64 = 20_000;

/// What an opening bracket turned out to begin.
pub(super) struct Bracket {
    /// What it stands for.
    pub(super) what: Meaning,
    /// Whether it makes the whole part compare code points instead of units.
    pub(super) unicode: bool,
    /// Where it ends.
    pub(super) end: usize,
}

/// What a bracket stands for.
pub(super) enum Meaning {
    /// One unit: `[x]` is an escaped `x`.
    Unit(u16),
    /// Something that is never there: `[z-a]`.
    Never,
    /// One of several.
    Class(Class),
}

/// What one position may be: one of any of its sets.
#[derive(Debug, Clone)]
pub(super) struct Class {
    sets: Vec<Set>,
}

#[derive(Debug, Clone)]
enum Set {
    /// Units, from and to.
    Units { negated: bool, fold: bool, ranges: Vec<(u32, u32)> },
    /// Code points, by Unicode's categories.
    Points(Regex),
    /// Whatever there is.
    All,
}

impl Class {
    /// Whether a unit or code point is in it.
    pub(super) fn has(&self, value: u32) -> bool {
        self.sets.iter().any(|set| match set {
            Set::All => true,
            Set::Points(regex) => {
                char::from_u32(value).is_some_and(|point| regex.is_match(point.encode_utf8(&mut [0; 4])))
            }
            Set::Units { negated, fold, ranges } => {
                let within = |value: u32| ranges.iter().any(|(from, to)| (*from..=*to).contains(&value));
                let same = match u16::try_from(value) {
                    Ok(unit) if *fold => fold::any_case(unit, |case| within(u32::from(case))),
                    _ => within(value),
                };
                same != *negated
            }
        })
    }
}

/// Categories by name: what they are in a regular expression, and whether it is what they are *not*.
const CATEGORIES: [(&str, &str, bool); 12] = [
    ("[:alnum:]", r"\p{L}\p{Nl}\p{Nd}", false),
    ("[:alpha:]", r"\p{L}\p{Nl}", false),
    ("[:blank:]", r"\p{Zs}\t", false),
    ("[:cntrl:]", r"\p{Cc}", false),
    ("[:digit:]", r"\p{Nd}", false),
    ("[:graph:]", r"\p{Z}\p{C}", true),
    ("[:lower:]", r"\p{Ll}", false),
    ("[:print:]", r"\p{C}", true),
    ("[:punct:]", r"\p{P}", false),
    ("[:space:]", r"\p{Z}\t\r\n\x0b\x0c", false),
    ("[:upper:]", r"\p{Lu}", false),
    ("[:word:]", r"\p{L}\p{Nl}\p{Nd}\p{Pc}", false),
];

/// Something between brackets.
enum Item {
    Unit(u16),
    /// A unit and the hyphen that ends the class.
    WithHyphen(u16),
    Range(u16, u16),
    /// Ranges that a name stands for.
    Named(&'static [(u32, u32)]),
    Category(&'static str),
}

/// Reads what begins at an opening bracket; `None` when nothing closes it.
pub(super) fn read(
    text: &[u16],
    at: usize,
    fold: bool,
    meter: &Meter,
) -> Result<Option<Bracket>, PatternError> {
    let Some(found) = Reader::new(text, at).read() else { return Ok(None) };
    meter.spend((found.end - at) as u64)?;
    let Contents { items, without, negated, unicode, end } = found;
    if items.is_empty() && without.is_empty() {
        return Ok(Some(Bracket { what: Meaning::Never, unicode: false, end: text.len() }));
    }
    if let ([Item::Unit(unit)], [], false) = (items.as_slice(), without.as_slice(), negated) {
        return Ok(Some(Bracket { what: Meaning::Unit(*unit), unicode: false, end }));
    }
    let mut sets = Vec::new();
    if !items.is_empty() {
        sets.push(set(items, negated, fold, unicode, meter)?);
    }
    if !without.is_empty() {
        // What is *not* in these categories; negated, what is.
        let mark = if negated { "" } else { "^" };
        sets.push(points(&format!("[{mark}{}]", without.concat()), fold, meter)?);
    }
    Ok(Some(Bracket { what: Meaning::Class(Class { sets }), unicode, end }))
}

/// What stands between brackets.
struct Contents {
    items: Vec<Item>,
    without: Vec<&'static str>,
    negated: bool,
    unicode: bool,
    end: usize,
}

struct Reader<'a> {
    text: &'a [u16],
    at: usize,
    contents: Contents,
    from: Option<u16>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u16], at: usize) -> Self {
        let negated = matches!(text.get(at + 1), Some(0x21 | 0x5e));
        let contents = Contents { items: Vec::new(), without: Vec::new(), negated, unicode: false, end: 0 };
        Self { text, at: at + 1 + usize::from(negated), contents, from: None }
    }

    fn read(mut self) -> Option<Contents> {
        let (mut first, mut escaped) = (true, false);
        loop {
            let unit = *self.text.get(self.at)?;
            if unit == 0x5d && !first && !escaped {
                self.contents.end = self.at + 1;
                return Some(self.contents);
            }
            first = false;
            if unit == 0x5c && !escaped {
                escaped = true;
                self.at += 1;
            } else if unit == 0x5b
                && !escaped
                && let Some(known) = self.category()
            {
                if !known {
                    // A range cannot end in a category: minimatch gives the whole rest up.
                    let end = self.text.len();
                    return Some(Contents { items: Vec::new(), without: Vec::new(), end, ..self.contents });
                }
            } else {
                escaped = false;
                self.plain(unit);
            }
        }
    }

    /// Takes a category where there is one; `Some(false)` where there may be none.
    fn category(&mut self) -> Option<bool> {
        const ASCII: &[(u32, u32)] = &[(0, 0x7f)];
        const HEX: &[(u32, u32)] = &[(0x41, 0x46), (0x61, 0x66), (0x30, 0x39)];
        let rest = self.text.get(self.at..)?;
        let starts = |name: &str| {
            rest.len() >= name.len() && name.bytes().zip(rest).all(|(byte, unit)| u16::from(byte) == *unit)
        };
        let length = if starts("[:ascii:]") {
            self.contents.items.push(Item::Named(ASCII));
            9
        } else if starts("[:xdigit:]") {
            self.contents.items.push(Item::Named(HEX));
            10
        } else {
            let (name, expression, absent) = CATEGORIES.iter().find(|(name, ..)| starts(name))?;
            if *absent {
                self.contents.without.push(expression);
            } else {
                self.contents.items.push(Item::Category(expression));
            }
            self.contents.unicode = true;
            name.len()
        };
        self.at += length;
        Some(self.from.is_none())
    }

    /// Takes a unit: alone, at either end of a range, or with the hyphen that stands last.
    fn plain(&mut self, unit: u16) {
        let items = &mut self.contents.items;
        if let Some(from) = self.from.take() {
            match unit.cmp(&from) {
                std::cmp::Ordering::Greater => items.push(Item::Range(from, unit)),
                std::cmp::Ordering::Equal => items.push(Item::Unit(unit)),
                std::cmp::Ordering::Less => {}
            }
            self.at += 1;
            return;
        }
        let next = (self.text.get(self.at + 1), self.text.get(self.at + 2));
        match next {
            (Some(0x2d), Some(0x5d)) => {
                items.push(Item::WithHyphen(unit));
                self.at += 2;
            }
            (Some(0x2d), _) => {
                self.from = Some(unit);
                self.at += 2;
            }
            _ => {
                items.push(Item::Unit(unit));
                self.at += 1;
            }
        }
    }
}

/// A set of what stands between brackets.
fn set(
    mut items: Vec<Item>,
    mut negated: bool,
    fold: bool,
    unicode: bool,
    meter: &Meter,
) -> Result<Set, PatternError> {
    const CARET: u16 = b'^' as u16;
    const HYPHEN: u16 = b'-' as u16;
    if !negated {
        // minimatch does not escape a caret that comes to stand first, so that it negates.
        let rest = match items.first() {
            Some(Item::Unit(CARET)) => Some(vec![]),
            Some(Item::WithHyphen(CARET)) => Some(vec![Item::Unit(HYPHEN)]),
            Some(Item::Range(CARET, to)) => Some(vec![Item::Unit(HYPHEN), Item::Unit(*to)]),
            _ => None,
        };
        if let Some(rest) = rest {
            negated = true;
            items.splice(..1, rest);
        }
    }
    if items.is_empty() {
        return Ok(Set::All);
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut categories = String::new();
    for item in items {
        match item {
            Item::Unit(unit) => match ranges.last_mut() {
                // Halves of one code point.
                Some((high, to)) if unicode && high == to && (0xd800..0xdc00).contains(high) => {
                    *high = 0x1_0000 + ((*high - 0xd800) << 10) + (u32::from(unit) & 0x3ff);
                    *to = *high;
                }
                _ => ranges.push((unit.into(), unit.into())),
            },
            Item::WithHyphen(unit) => {
                ranges.extend([(unit.into(), unit.into()), (HYPHEN.into(), HYPHEN.into())]);
            }
            Item::Range(from, to) => ranges.push((from.into(), to.into())),
            Item::Named(named) => ranges.extend_from_slice(named),
            Item::Category(category) => categories.push_str(category),
        }
    }
    if !unicode {
        return Ok(Set::Units { negated, fold, ranges });
    }
    let plain = ranges
        .iter()
        .filter(|(from, to)| char::from_u32(*from).is_some() && char::from_u32(*to).is_some())
        .map(|(from, to)| format!(r"\x{{{from:x}}}-\x{{{to:x}}}"));
    let mark = if negated { "^" } else { "" };
    points(&format!("[{mark}{categories}{}]", plain.collect::<String>()), fold, meter)
}

fn points(class: &str, fold: bool, meter: &Meter) -> Result<Set, PatternError> {
    meter.spend(UNICODE_COST)?;
    let flag = if fold { "i" } else { "-i" };
    Regex::new(&format!("^(?{flag}:{class})$")).map(Set::Points).map_err(|_| PatternError::Unreadable)
}
