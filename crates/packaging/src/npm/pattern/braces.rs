//! Braces: `{a,b}`, `{1..9..2}`, `{a..e}`, nested, with Bash's peculiarities as brace-expansion 5 has them.

use super::meter::{Meter, PatternError};

/// Units that the alternatives of one pattern may have together.
const MAX_UNITS: usize = 1_000_000;

/// How deep braces may nest.
const MAX_NESTING: usize = 64;

/// Set on a unit that was escaped: it stands for itself.
const PLAIN: u32 = 1 << 16;

const OPEN: u32 = b'{' as u32;
const CLOSE: u32 = b'}' as u32;
const COMMA: u32 = b',' as u32;
const DOT: u32 = b'.' as u32;
const MINUS: u32 = b'-' as u32;
const ESCAPE: u16 = b'\\' as u16;

/// What braces make of a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    /// In order, each once.
    pub(super) alternatives: Vec<Vec<u16>>,
    /// Whether there would be more.
    pub(super) cut: bool,
}

/// Expands braces into at most so many alternatives.
pub(super) fn expand(text: &[u16], max: usize, meter: &Meter) -> Result<Expanded, PatternError> {
    meter.spend(text.len() as u64)?;
    if !worth_expanding(text) {
        return Ok(Expanded { alternatives: vec![text.to_vec()], cut: false });
    }
    let mut tokens = unescape(text);
    if let [OPEN, CLOSE, ..] = tokens.as_slice() {
        // Bash keeps a leading `{}` as it is.
        tokens.iter_mut().take(2).for_each(|token| *token |= PLAIN);
    }
    let mut run = Run { max, meter, cut: false };
    let results = run.expand(tokens, true, 0)?;
    let mut seen = std::collections::BTreeSet::new();
    let mut alternatives = Vec::new();
    for result in results {
        let units: Vec<u16> =
            result.iter().map(|token| u16::try_from(token & (PLAIN - 1)).unwrap_or_default()).collect();
        if seen.insert(units.clone()) {
            alternatives.push(units);
        }
    }
    Ok(Expanded { alternatives, cut: run.cut })
}

/// Whether there is a `{` with a `}` behind it on its line. Where there is not, backslashes stay as they are.
fn worth_expanding(text: &[u16]) -> bool {
    let mut open = false;
    for unit in text {
        match unit {
            0x7b => open = true,
            0x7d if open => return true,
            0x0a | 0x0d | 0x2028 | 0x2029 => open = false,
            _ => {}
        }
    }
    false
}

/// Takes off the backslashes that matter to braces, and marks what stood behind them.
fn unescape(text: &[u16]) -> Vec<u32> {
    let mut tokens = Vec::with_capacity(text.len());
    let mut units = text.iter().peekable();
    while let Some(unit) = units.next() {
        let escaped =
            units.peek().filter(|next| *unit == ESCAPE && [0x5c, 0x7b, 0x7d, 0x2c, 0x2e].contains(**next));
        match escaped {
            Some(next) => {
                tokens.push(u32::from(**next) | PLAIN);
                units.next();
            }
            None => tokens.push(u32::from(*unit)),
        }
    }
    tokens
}

type Text = Vec<u32>;

struct Run<'a> {
    max: usize,
    meter: &'a Meter,
    cut: bool,
}

impl Run<'_> {
    /// Expands a text: its outermost groups from left to right, each multiplying what came before.
    fn expand(&mut self, mut rest: Text, mut top: bool, depth: usize) -> Result<Vec<Text>, PatternError> {
        if depth > MAX_NESTING {
            return Err(PatternError::TooComplex);
        }
        let mut made = vec![Text::new()];
        let mut first = true;
        // At the top, results that are empty are dropped when the first group is a list.
        let mut drop_empty = false;
        loop {
            self.meter.spend(rest.len() as u64 + 16)?;
            let Some((open, close)) = group(&rest) else {
                return self.multiply(&made, &rest, &[Text::new()], drop_empty);
            };
            let before = rest.get(..open).unwrap_or_default().to_vec();
            let body = rest.get(open + 1..close).unwrap_or_default().to_vec();
            let after = rest.get(close + 1..).unwrap_or_default().to_vec();
            let last = after.is_empty();
            let values = if before.last() == Some(&u32::from(b'$')) {
                first = false;
                vec![wrapped(&body)]
            } else if let Some(sequence) = Sequence::of(&body) {
                first = false;
                self.count(&sequence)?
            } else if body.contains(&COMMA) {
                if first {
                    drop_empty = top;
                    first = false;
                }
                self.members(&body, depth)?
            } else if list_follows(&after) {
                // `{a},b}` is a list in Bash: the first `}` stands for itself.
                if let Some(token) = rest.get_mut(close) {
                    *token |= PLAIN;
                }
                top = true;
                continue;
            } else {
                return self.multiply(&made, &rest, &[Text::new()], drop_empty);
            };
            made = self.multiply(&made, &before, &values, drop_empty && last)?;
            if last {
                return Ok(made);
            }
            rest = after;
        }
    }

    /// The members of a list, each expanded.
    fn members(&mut self, body: &[u32], depth: usize) -> Result<Vec<Text>, PatternError> {
        let mut members = split(body);
        self.meter.spend(body.len() as u64)?;
        if let [only] = members.as_slice() {
            // `{{a,b}}`: the braces inside are expanded, those around them are kept.
            let inner = self.expand(only.clone(), false, depth + 1)?;
            members = inner.iter().map(|text| wrapped(text)).collect();
            if members.len() == 1 {
                return Ok(members);
            }
        }
        let mut values = Vec::new();
        for member in members {
            values.extend(self.expand(member, false, depth + 1)?);
            if values.len() > self.max {
                self.cut = true;
                values.truncate(self.max);
                break;
            }
        }
        Ok(values)
    }

    /// Each of the one, the same text, each of the other.
    fn multiply(
        &mut self,
        heads: &[Text],
        middle: &[u32],
        tails: &[Text],
        drop_empty: bool,
    ) -> Result<Vec<Text>, PatternError> {
        let mut out = Vec::new();
        let mut units = 0;
        for head in heads {
            for tail in tails {
                self.meter.spend(1)?;
                let text = [head.as_slice(), middle, tail.as_slice()].concat();
                if drop_empty && text.is_empty() {
                    continue;
                }
                if out.len() == self.max {
                    self.cut = true;
                    return Ok(out);
                }
                units += text.len();
                if units > MAX_UNITS {
                    return Err(PatternError::TooComplex);
                }
                self.meter.spend(text.len() as u64)?;
                out.push(text);
            }
        }
        Ok(out)
    }

    /// The values of a sequence.
    fn count(&mut self, sequence: &Sequence) -> Result<Vec<Text>, PatternError> {
        let mut values = Vec::new();
        let mut value = sequence.from;
        let step = if sequence.to < sequence.from { -sequence.step } else { sequence.step };
        while (step > 0 && value <= sequence.to) || (step < 0 && value >= sequence.to) {
            if values.len() == self.max {
                self.cut = true;
                break;
            }
            self.meter.spend(sequence.width as u64 + 1)?;
            values.push(sequence.write(value));
            value = value.checked_add(step).ok_or(PatternError::TooComplex)?;
        }
        Ok(values)
    }
}

/// Where the first group opens and closes; where an opening one is never closed, the leftmost that is.
fn group(text: &[u32]) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut leftmost: Option<(usize, usize)> = None;
    for (index, token) in text.iter().enumerate() {
        if *token == OPEN {
            open.push(index);
        } else if *token == CLOSE
            && let Some(start) = open.pop()
        {
            if open.is_empty() {
                return Some((start, index));
            }
            if leftmost.is_none_or(|(left, _)| start < left) {
                leftmost = Some((start, index));
            }
        }
    }
    leftmost
}

/// Splits a list at its commas, those of lists inside it left alone.
fn split(body: &[u32]) -> Vec<Text> {
    let mut members = vec![Text::new()];
    let mut rest = body;
    loop {
        let (outside, inside, after) = match group(rest) {
            Some((open, close)) => (
                rest.get(..open).unwrap_or_default(),
                rest.get(open..=close).unwrap_or_default(),
                rest.get(close + 1..).unwrap_or_default(),
            ),
            None => (rest, &[][..], &[][..]),
        };
        for (index, piece) in outside.split(|token| *token == COMMA).enumerate() {
            if index > 0 {
                members.push(Text::new());
            }
            if let Some(member) = members.last_mut() {
                member.extend_from_slice(piece);
            }
        }
        if let Some(member) = members.last_mut() {
            member.extend_from_slice(inside);
        }
        if after.is_empty() {
            return members;
        }
        rest = after;
    }
}

/// Whether a comma that no other follows has a `}` behind it on its line.
fn list_follows(text: &[u32]) -> bool {
    let mut close = false;
    for (index, token) in text.iter().enumerate().rev() {
        match *token {
            CLOSE => close = true,
            0x0a | 0x0d | 0x2028 | 0x2029 => close = false,
            COMMA if close && text.get(index + 1) != Some(&COMMA) => return true,
            _ => {}
        }
    }
    false
}

fn wrapped(text: &[u32]) -> Text {
    [&[OPEN], text, &[CLOSE]].concat()
}

/// `from..to` or `from..to..step`, of numbers or of letters.
struct Sequence {
    from: i64,
    to: i64,
    step: i64,
    /// Digits that numbers are filled up to, when one was written with a leading zero.
    width: usize,
    padded: bool,
    letters: bool,
}

impl Sequence {
    fn of(body: &[u32]) -> Option<Self> {
        let mut pieces: Vec<&[u32]> = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < body.len() {
            if body.get(at..at + 2) == Some(&[DOT, DOT]) {
                pieces.push(body.get(start..at)?);
                at += 2;
                start = at;
            } else {
                at += 1;
            }
        }
        pieces.push(body.get(start..)?);
        let (from, to, step) = match pieces.as_slice() {
            [from, to] => (*from, *to, None),
            [from, to, step] => (*from, *to, Some(number(step)?)),
            _ => return None,
        };
        let step = step.map_or(1, |step| step.saturating_abs().max(1));
        let letters = letter(from).zip(letter(to));
        let (first, last) = match letters {
            Some(ends) => ends,
            None => (number(from)?, number(to)?),
        };
        Some(Self {
            from: first,
            to: last,
            step,
            width: from.len().max(to.len()),
            padded: pieces.iter().any(|piece| is_padded(piece)),
            letters: letters.is_some(),
        })
    }

    fn write(&self, value: i64) -> Text {
        if self.letters {
            // A backslash among the letters makes nothing.
            let unit = u32::try_from(value).unwrap_or_default();
            return if unit == u32::from(ESCAPE) { Text::new() } else { vec![unit | PLAIN] };
        }
        let digits = value.to_string();
        let padding = if self.padded { self.width.saturating_sub(digits.len()) } else { 0 };
        let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
        let text = format!("{sign}{}{digits}", "0".repeat(padding));
        text.bytes().map(u32::from).collect()
    }
}

fn number(text: &[u32]) -> Option<i64> {
    let digits = text.strip_prefix(&[MINUS]).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(|token| (0x30..=0x39).contains(token)) {
        return None;
    }
    let text: String = text.iter().filter_map(|token| char::from_u32(*token)).collect();
    // Numbers past what JavaScript counts exactly are past every cap as well.
    Some(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 }))
}

fn letter(text: &[u32]) -> Option<i64> {
    match text {
        [letter @ (0x41..=0x5a | 0x61..=0x7a)] => Some(i64::from(*letter)),
        _ => None,
    }
}

fn is_padded(text: &[u32]) -> bool {
    let digits = text.strip_prefix(&[MINUS]).unwrap_or(text);
    matches!(digits, [0x30, 0x30..=0x39, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Vec<String> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let all = expand(&units, 100, &Meter::new(100_000)).unwrap().alternatives;
        all.iter().map(|units| String::from_utf16(units).unwrap()).collect()
    }

    #[test]
    fn lists_and_sequences_multiply() {
        assert_eq!(expanded("a{b,c}d"), ["abd", "acd"]);
        assert_eq!(expanded("{a,b}{1..3}"), ["a1", "a2", "a3", "b1", "b2", "b3"]);
        assert_eq!(expanded("{01..10..4}"), ["01", "05", "09"]);
        assert_eq!(expanded("{c..a}"), ["c", "b", "a"]);
        assert_eq!(expanded("a{b,c{d,e}f}g"), ["abg", "acdfg", "acefg"]);
    }

    #[test]
    fn what_is_no_group_stays() {
        for text in ["a{b}c", "{a", "a}", "{}", "a{2..}b", "{a,b", "${a,b}"] {
            assert_eq!(expanded(text), [text], "{text}");
        }
    }

    #[test]
    fn bash_is_followed_where_it_is_odd() {
        assert_eq!(expanded("{},a}b"), ["{},a}b"]);
        assert_eq!(expanded("a{},b}c"), ["a}c", "abc"]);
        assert_eq!(expanded("{{a,b}}"), ["{a}", "{b}"]);
        assert_eq!(expanded("{a,,b}"), ["a", "b"]);
        assert_eq!(expanded("x{a,}"), ["xa", "x"]);
        assert_eq!(expanded("{a,{b,c}"), ["{a,b", "{a,c"]);
    }

    #[test]
    fn backslashes_are_taken_off_only_where_braces_are() {
        assert_eq!(expanded(r"\{a,b\}"), [r"{a,b}"]);
        assert_eq!(expanded(r"\*.js"), [r"\*.js"]);
        assert_eq!(expanded(r"{a,b}\.js\*"), [r"a.js\*", r"b.js\*"]);
    }

    #[test]
    fn too_many_are_cut_or_refused() {
        let units: Vec<u16> = "{1..200}".encode_utf16().collect();
        let result = expand(&units, 100, &Meter::new(100_000)).unwrap();
        assert!(result.cut && result.alternatives.len() == 100);
        let nested: Vec<u16> = format!("{}a,b{}", "{".repeat(200), "}".repeat(200)).encode_utf16().collect();
        assert_eq!(expand(&nested, 100, &Meter::new(10_000_000)), Err(PatternError::TooComplex));
    }
}
