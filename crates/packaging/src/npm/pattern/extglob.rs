//! Groups: `@(a|b)`, `?(a)`, `*(a)`, `+(a)`, `!(a)`, nested as deep as minimatch lets them.
//!
//! A part becomes a tree of sequences and groups in one list of nodes. minimatch then merges groups that stand alone within others,
//! and gives every negation a copy of what follows it, since `!(a)b` means "not `ab` from here on". Both are done here as well,
//! because their side effects decide what some patterns match.

use super::class::{self, Meaning};
use super::fold;
use super::meter::{Meter, PatternError};
use super::run::Piece;

mod merge;
mod parse;

/// Nodes of one part at most; copies behind negations count.
const MAX_NODES: usize = 4_000;

/// How deep groups may nest in one another; minimatch stops at three where they cannot be merged.
const MAX_NESTING: usize = 12;

/// A part that was read.
pub(super) struct Read {
    /// What it says.
    pub(super) pieces: Vec<Piece>,
    /// Whether it is more than a name.
    pub(super) magic: bool,
    /// Whether code points are compared instead of units.
    pub(super) unicode: bool,
}

/// Reads a part.
pub(super) fn read(text: &[u16], fold: bool, meter: &Meter) -> Result<Read, PatternError> {
    let mut nodes = Nodes { all: vec![Node::new(None, None, 0)], negations: Vec::new(), meter };
    nodes.parse(text)?;
    nodes.flatten(ROOT, 0)?;
    nodes.give_negations_what_follows()?;
    let mut writer =
        Writer { nodes: &nodes, fold, magic: false, unicode: false, awkward: false, negations: 0 };
    let pieces = writer.sequence(ROOT)?;
    if writer.unicode && writer.awkward {
        // These are escaped with backslashes, which a regular expression with Unicode's rules does not allow.
        return Err(PatternError::Unreadable);
    }
    let (magic, unicode) = (writer.magic, writer.unicode);
    Ok(Read { pieces: folded(pieces, fold, unicode), magic, unicode })
}

/// Pieces whose units are as they are compared: folded, and code points where these are compared.
fn folded(pieces: Vec<Piece>, fold: bool, unicode: bool) -> Vec<Piece> {
    let inner = |alternatives: Vec<Vec<Piece>>| -> Vec<Vec<Piece>> {
        alternatives.into_iter().map(|pieces| folded(pieces, fold, unicode)).collect()
    };
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let piece = match piece {
            Piece::Group { alternatives, optional, repeated } => {
                Piece::Group { alternatives: inner(alternatives), optional, repeated }
            }
            Piece::NotAhead { alternatives, number } => {
                Piece::NotAhead { alternatives: inner(alternatives), number }
            }
            piece => piece,
        };
        match (out.last_mut(), &piece) {
            // Halves of one code point.
            (Some(Piece::Unit(high @ 0xd800..0xdc00)), Piece::Unit(low @ 0xdc00..0xe000)) if unicode => {
                *high = 0x1_0000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
            }
            _ => out.push(piece),
        }
    }
    for piece in &mut out {
        match piece {
            Piece::Unit(value) if fold && unicode => *value = fold::point(*value),
            Piece::Unit(value) if fold => {
                *value = u16::try_from(*value).map_or(*value, |unit| fold::unit(unit).into());
            }
            _ => {}
        }
    }
    out
}

/// Splits pieces at their bars.
pub(super) fn alternatives(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut all = vec![Vec::new()];
    for piece in pieces {
        match piece {
            Piece::Bar => all.push(Vec::new()),
            piece => {
                if let Some(last) = all.last_mut() {
                    last.push(piece);
                }
            }
        }
    }
    all
}

const ROOT: usize = 0;

/// What a group's sign says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Not,
    Maybe,
    Some,
    Any,
    One,
}

impl Sign {
    fn of(unit: u16) -> Option<Self> {
        Some(match unit {
            0x21 => Self::Not,
            0x3f => Self::Maybe,
            0x2b => Self::Some,
            0x2a => Self::Any,
            0x40 => Self::One,
            _ => return None,
        })
    }

    fn unit(self) -> u16 {
        match self {
            Self::Not => 0x21,
            Self::Maybe => 0x3f,
            Self::Some => 0x2b,
            Self::Any => 0x2a,
            Self::One => 0x40,
        }
    }

    /// What it makes of alternatives, where it does not negate them.
    fn group(self, alternatives: Vec<Vec<Piece>>) -> Piece {
        let optional = matches!(self, Self::Maybe | Self::Any);
        Piece::Group { alternatives, optional, repeated: matches!(self, Self::Some | Self::Any) }
    }
}

#[derive(Debug, Clone)]
enum Item {
    Text(Vec<u16>),
    Node(usize),
}

/// A group, whose items are sequences, or a sequence, whose items are texts and groups.
#[derive(Debug, Clone)]
struct Node {
    sign: Option<Sign>,
    items: Vec<Item>,
    parent: Option<usize>,
    /// How many items the parent had when this was made.
    place: usize,
    /// Whether nothing stands before the closing parenthesis.
    blank: bool,
}

impl Node {
    fn new(sign: Option<Sign>, parent: Option<usize>, place: usize) -> Self {
        Self { sign, items: Vec::new(), parent, place, blank: false }
    }
}

struct Nodes<'a> {
    all: Vec<Node>,
    /// In the order in which they were met.
    negations: Vec<usize>,
    meter: &'a Meter,
}

impl Nodes<'_> {
    fn node(&self, id: usize) -> Option<&Node> {
        self.all.get(id)
    }

    fn sign(&self, id: usize) -> Option<Sign> {
        self.node(id).and_then(|node| node.sign)
    }

    fn items(&self, id: usize) -> &[Item] {
        self.node(id).map_or(&[], |node| &node.items)
    }

    /// Whether nothing but negations stands before a node, in the whole part.
    fn is_start(&self, id: usize) -> bool {
        let mut id = id;
        loop {
            let Some(node) = self.node(id) else { return false };
            let Some(parent) = node.parent else { return id == ROOT };
            let before = self.items(parent).get(..node.place);
            let negations = before.is_some_and(|items| {
                items.iter().all(|item| matches!(item, Item::Node(id) if self.sign(*id) == Some(Sign::Not)))
            });
            if node.place > 0 && !negations {
                return false;
            }
            id = parent;
        }
    }

    /// Whether nothing stands behind a node, in the whole part or up to the negation that it is in.
    fn is_end(&self, id: usize) -> bool {
        let mut id = id;
        loop {
            let Some(node) = self.node(id) else { return false };
            let Some(parent) = node.parent else { return id == ROOT };
            if self.sign(parent) == Some(Sign::Not) {
                return true;
            }
            if node.sign.is_some() && node.place + 1 != self.items(parent).len() {
                return false;
            }
            id = parent;
        }
    }

    /// The pattern that a node stands for.
    fn write(&self, id: usize, out: &mut Vec<u16>) {
        let Some(node) = self.node(id) else { return };
        if let Some(sign) = node.sign {
            out.extend([sign.unit(), 0x28]);
        }
        for (index, item) in node.items.iter().enumerate() {
            if node.sign.is_some() && index > 0 {
                out.push(0x7c);
            }
            match item {
                Item::Text(text) => out.extend(text),
                Item::Node(id) => self.write(*id, out),
            }
        }
        if node.sign.is_some() {
            out.push(0x29);
        }
    }
}

/// Makes pieces of nodes.
struct Writer<'a> {
    nodes: &'a Nodes<'a>,
    fold: bool,
    magic: bool,
    unicode: bool,
    /// Whether something stands for itself that Unicode's rules do not let be escaped.
    awkward: bool,
    negations: usize,
}

impl Writer<'_> {
    fn sequence(&mut self, id: usize) -> Result<Vec<Piece>, PatternError> {
        let items = self.nodes.items(id);
        let whole = items.iter().all(|item| matches!(item, Item::Text(_)))
            && self.nodes.is_start(id)
            && self.nodes.is_end(id);
        let mut pieces = Vec::new();
        for item in items {
            match item {
                Item::Text(text) => self.text(text, whole, &mut pieces)?,
                Item::Node(child) if self.nodes.sign(*child).is_none() => {
                    pieces.extend(self.sequence(*child)?);
                }
                Item::Node(child) => self.group(*child, &mut pieces)?,
            }
        }
        let parent = self.nodes.node(id).and_then(|node| node.parent);
        if parent.is_some_and(|parent| self.nodes.sign(parent) == Some(Sign::Not)) {
            pieces.push(Piece::End);
        }
        Ok(pieces)
    }

    fn group(&mut self, id: usize, pieces: &mut Vec<Piece>) -> Result<(), PatternError> {
        let Some(sign) = self.nodes.sign(id) else { return Ok(()) };
        let whole = self.nodes.is_start(id) && self.nodes.is_end(id);
        let mut members = Vec::new();
        for item in self.nodes.items(id) {
            let Item::Node(child) = item else { continue };
            let member = self.sequence(*child)?;
            if !(whole && member.is_empty()) {
                members.extend(alternatives(member));
            }
        }
        if whole && members.is_empty() && sign != Sign::Not {
            return self.nothing(id, sign, pieces);
        }
        self.magic = true;
        let blank = self.nodes.node(id).is_some_and(|node| node.blank);
        match sign {
            // `!()`, and `!(a|@(b))` as well.
            Sign::Not if blank => pieces.push(Piece::Some),
            Sign::Not => {
                self.negations += 1;
                pieces.push(Piece::NotAhead { alternatives: members, number: self.negations });
                pieces.push(Piece::Many);
            }
            sign => pieces.push(sign.group(members)),
        }
        Ok(())
    }

    /// A group that is everything, or everything behind negations, and says nothing. Alone it is a name. Elsewhere minimatch puts
    /// it into its regular expression as it is, where `@()` is an at sign and `*()` repeats what stands before it.
    fn nothing(&mut self, id: usize, sign: Sign, pieces: &mut Vec<Piece>) -> Result<(), PatternError> {
        let parent = self.nodes.node(id).and_then(|node| node.parent);
        if pieces.is_empty() && parent == Some(ROOT) {
            let mut text = Vec::new();
            self.nodes.write(id, &mut text);
            pieces.extend(text.into_iter().map(|unit| Piece::Unit(unit.into())));
            return Ok(());
        }
        if sign == Sign::One {
            pieces.push(Piece::Unit(sign.unit().into()));
            return Ok(());
        }
        let repeats = matches!(pieces.as_slice(), [.., Piece::NotAhead { .. }, Piece::Many]);
        if !repeats {
            return Err(PatternError::Unreadable);
        }
        let negation = pieces.split_off(pieces.len() - 2);
        pieces.push(sign.group(vec![negation]));
        Ok(())
    }

    /// A text between groups. Where it is the whole part, `*` needs something to stand for.
    fn text(&mut self, text: &[u16], whole: bool, pieces: &mut Vec<Piece>) -> Result<(), PatternError> {
        self.nodes.meter.spend(text.len() as u64)?;
        let stars = whole && text.iter().all(|unit| *unit == 0x2a);
        let mut at = 0;
        let mut starred = false;
        while let Some(&unit) = text.get(at) {
            at += 1;
            if unit != 0x2a {
                starred = false;
            }
            match unit {
                0x2a => {
                    if !starred {
                        pieces.push(if stars { Piece::Some } else { Piece::Many });
                    }
                    starred = true;
                    self.magic = true;
                }
                0x3f => {
                    pieces.push(Piece::Any);
                    self.magic = true;
                }
                0x5c => match text.get(at) {
                    // minimatch escapes what is special to regular expressions, and forgets the bar.
                    Some(0x7c) => {
                        pieces.push(Piece::Bar);
                        at += 1;
                    }
                    Some(next) => {
                        self.awkward |= *next == 0x21;
                        pieces.push(Piece::Unit((*next).into()));
                        at += 1;
                    }
                    None => pieces.push(Piece::Unit(unit.into())),
                },
                0x5b => match class::read(text, at - 1, self.fold, self.nodes.meter)? {
                    Some(bracket) => {
                        self.unicode |= bracket.unicode;
                        at = bracket.end;
                        self.bracket(bracket.what, pieces);
                    }
                    None => pieces.push(self.plain(unit)),
                },
                _ => pieces.push(self.plain(unit)),
            }
        }
        Ok(())
    }

    fn bracket(&mut self, what: Meaning, pieces: &mut Vec<Piece>) {
        match what {
            Meaning::Unit(unit) => pieces.push(self.plain(unit)),
            Meaning::Never => {
                self.magic = true;
                pieces.push(Piece::Never);
            }
            Meaning::Class(class) => {
                self.magic = true;
                pieces.push(Piece::Class(class));
            }
        }
    }

    /// A unit that stands for itself without having been escaped.
    fn plain(&mut self, unit: u16) -> Piece {
        self.awkward |= matches!(unit, 0x2d | 0x2c | 0x23) || is_space(unit);
        Piece::Unit(unit.into())
    }
}

/// What JavaScript's `\s` takes.
fn is_space(unit: u16) -> bool {
    matches!(unit, 0x09..=0x0d | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff)
}
