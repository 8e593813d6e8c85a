//! Values of tokens, read back from their CSS. What does not read is shown as text alone.

use super::color::{CssColor, number};

/// Longest value that is drawn, in bytes.
const MAX_VALUE: usize = 2_000;
/// Most layers of a shadow and stops of a gradient that are drawn.
const MAX_PARTS: usize = 16;
/// What `rem` and `em` are taken for, in pixels: what browsers begin with.
const REM: f64 = 16.0;

/// The parts of a value between separators that stand outside of parentheses and quotes. `None` where these do not close, or
/// there are more than [`MAX_PARTS`].
fn parts(text: &str, is_separator: fn(char) -> bool) -> Option<Vec<&str>> {
    if text.len() > MAX_VALUE {
        return None;
    }
    let (mut out, mut from, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.checked_sub(1)?,
            (None, c) if depth == 0 && is_separator(c) => {
                out.push(text.get(from..at)?.trim());
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if quote.is_some() || depth > 0 {
        return None;
    }
    out.push(text.get(from..)?.trim());
    (out.len() <= MAX_PARTS * 8).then_some(out)
}

fn words(text: &str) -> Option<Vec<&str>> {
    let mut words = parts(text, char::is_whitespace)?;
    words.retain(|w| !w.is_empty());
    Some(words)
}

fn list(text: &str) -> Option<Vec<&str>> {
    parts(text, |c| c == ',').filter(|parts| parts.len() <= MAX_PARTS)
}

/// A length in pixels, between −10,000 and 10,000.
pub(crate) fn length(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, factor) = if let Some(n) = text.strip_suffix("px") {
        (n, 1.0)
    } else if let Some(n) = text.strip_suffix("rem").or_else(|| text.strip_suffix("em")) {
        (n, REM)
    } else if let Some(n) = text.strip_suffix("pt") {
        (n, 4.0 / 3.0)
    } else {
        (if text == "0" { text } else { "" }, 1.0)
    };
    number(digits).map(|n| n * factor).filter(|n| n.abs() <= 10_000.0)
}

/// A time in milliseconds, from 0 to a minute.
pub(crate) fn milliseconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let time = match text.strip_suffix("ms") {
        Some(n) => number(n),
        None => text.strip_suffix('s').and_then(number).map(|n| n * 1_000.0),
    };
    time.filter(|n| (0.0..=60_000.0).contains(n))
}

/// The two control points of `cubic-bezier()`: x from 0 to 1, y from −3 to 4 (further out is not drawn).
pub(crate) fn bezier(text: &str) -> Option<[f64; 4]> {
    let inner = text.trim().strip_prefix("cubic-bezier(")?.strip_suffix(')')?;
    let mut out = [0.0; 4];
    let numbers = list(inner)?;
    if numbers.len() != 4 {
        return None;
    }
    for (i, (slot, text)) in out.iter_mut().zip(numbers).enumerate() {
        let range = if i % 2 == 0 { 0.0..=1.0 } else { -3.0..=4.0 };
        *slot = number(text).filter(|n| range.contains(n))?;
    }
    Some(out)
}

/// A transition: how long, and its curve.
pub(crate) fn transition(text: &str) -> Option<(f64, [f64; 4])> {
    let words = words(text)?;
    Some((milliseconds(words.first()?)?, bezier(words.get(1)?)?))
}

/// One layer of a shadow; lengths in pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shadow {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) blur: f64,
    pub(crate) spread: f64,
    pub(crate) inset: bool,
    pub(crate) color: CssColor,
}

/// The layers of a shadow, the first on top.
pub(crate) fn shadows(text: &str) -> Option<Vec<Shadow>> {
    list(text)?
        .into_iter()
        .map(|layer| {
            let (mut lengths, mut inset, mut color) = (Vec::new(), false, None);
            for word in words(layer)? {
                if word == "inset" {
                    inset = true;
                } else if let Some(length) = length(word) {
                    lengths.push(length);
                } else {
                    color = Some(CssColor::parse(word)?);
                }
            }
            let [x, y, more @ ..] = lengths.as_slice() else { return None };
            let at = |i: usize| more.get(i).copied().unwrap_or(0.0);
            Some(Shadow { x: *x, y: *y, blur: at(0).max(0.0), spread: at(1), inset, color: color? })
        })
        .collect()
}

/// The stops of a gradient: colours and their places from 0 to 1.
pub(crate) type Stops = Vec<(CssColor, f64)>;

/// Reads the stops of a gradient.
pub(crate) fn gradient(text: &str) -> Option<Stops> {
    let stops: Stops = list(text)?
        .into_iter()
        .map(|stop| match words(stop)?.as_slice() {
            [color, place] => {
                let place = number(place.strip_suffix('%')?)? / 100.0;
                Some((CssColor::parse(color)?, place.clamp(0.0, 1.0)))
            }
            _ => None,
        })
        .collect::<Option<_>>()?;
    (stops.len() > 1).then_some(stops)
}

/// The styles that a line may have.
const STROKES: [&str; 8] = ["solid", "dashed", "dotted", "double", "groove", "ridge", "outset", "inset"];

/// A style of lines.
pub(crate) fn stroke(text: &str) -> Option<&'static str> {
    STROKES.into_iter().find(|s| *s == text.trim())
}

/// A border: its width in pixels, its style and colour.
pub(crate) fn border(text: &str) -> Option<(f64, &'static str, CssColor)> {
    match words(text)?.as_slice() {
        [width, style, color] => {
            Some((length(width).filter(|w| *w >= 0.0)?, stroke(style)?, CssColor::parse(color)?))
        }
        _ => None,
    }
}

/// A weight from 1 to 1,000.
pub(crate) fn weight(text: &str) -> Option<f64> {
    match text.trim() {
        "normal" => Some(400.0),
        "bold" => Some(700.0),
        text => number(text).filter(|n| (1.0..=1_000.0).contains(n)),
    }
}

/// Families as an attribute takes them: each in quotes but the generic ones, of letters, digits, blanks, dots and dashes.
pub(crate) fn family(text: &str) -> Option<String> {
    const GENERIC: [&str; 8] = [
        "serif",
        "sans-serif",
        "monospace",
        "cursive",
        "fantasy",
        "system-ui",
        "ui-monospace",
        "ui-sans-serif",
    ];
    let names: Vec<String> = list(text)?
        .into_iter()
        .map(|name| {
            let name = name.trim_matches(['"', '\'']);
            let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
            let fits = !name.is_empty() && name.len() <= 100 && name.chars().all(is_plain);
            fits.then(|| if GENERIC.contains(&name) { name.to_owned() } else { format!("'{name}'") })
        })
        .collect::<Option<_>>()?;
    Some(names.join(", "))
}

/// What a typographic token draws with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Type {
    pub(crate) weight: f64,
    /// In pixels.
    pub(crate) size: f64,
    pub(crate) family: String,
}

/// The `font` shorthand: weight, size with an optional line height, families.
pub(crate) fn typography(text: &str) -> Option<Type> {
    let words = words(text)?;
    let (weight, rest) = match words.first().and_then(|w| weight(w)) {
        Some(weight) => (weight, words.get(1..)?),
        None => (400.0, words.as_slice()),
    };
    let (size, families) = rest.split_first()?;
    let size = length(size.split('/').next()?).filter(|s| *s > 0.0)?;
    Some(Type { weight, size, family: family(&families.join(" "))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(text: &str) -> CssColor {
        CssColor::parse(text).unwrap()
    }

    #[test]
    fn values_read_as_they_are_written() {
        assert_eq!(length("1.5rem"), Some(24.0));
        assert_eq!(length("-4px"), Some(-4.0));
        assert_eq!(length("0"), Some(0.0));
        assert_eq!((milliseconds("0.2s"), milliseconds("150ms")), (Some(200.0), Some(150.0)));
        assert_eq!(bezier("cubic-bezier(0.4, 0, 0.2, 1)"), Some([0.4, 0.0, 0.2, 1.0]));
        assert_eq!(transition("200ms cubic-bezier(0, 0, 1, 1) 0ms"), Some((200.0, [0.0, 0.0, 1.0, 1.0])));
        assert_eq!(border("1px solid #fff"), Some((1.0, "solid", color("#fff"))));
        assert_eq!(
            gradient("#000 0%, rgb(1 2 3) 100%"),
            Some(vec![(color("#000"), 0.0), (color("rgb(1 2 3)"), 1.0)])
        );
        assert_eq!(
            typography("600 1.25rem/1.4 \"Inter\", sans-serif"),
            Some(Type { weight: 600.0, size: 20.0, family: "'Inter', sans-serif".into() })
        );
        assert_eq!(typography("16px Iowan Old Style").unwrap().family, "'Iowan Old Style'");
        let layers = shadows("inset 0 1px 2px #0003, 0 4px 8px -2px rgb(0 0 0 / 0.2)").unwrap();
        assert_eq!(layers.len(), 2);
        assert_eq!(
            layers.last(),
            Some(&Shadow {
                x: 0.0,
                y: 4.0,
                blur: 8.0,
                spread: -2.0,
                inset: false,
                color: color("rgb(0 0 0 / 0.2)")
            })
        );
    }

    #[test]
    fn what_does_not_read_is_not_drawn() {
        assert_eq!(length("1e9px"), None);
        assert_eq!(length("calc(1px)"), None);
        assert_eq!(length("5"), None);
        assert_eq!(milliseconds("-1s"), None);
        assert_eq!(bezier("cubic-bezier(2, 0, 0, 1)"), None);
        assert_eq!(bezier("cubic-bezier(0, 0, 1)"), None);
        assert_eq!(shadows("0 1px url(x)"), None);
        assert_eq!(shadows("0 1px"), None);
        assert_eq!(gradient("#000 0%"), None);
        assert_eq!(border("1px solid red;x"), None);
        assert_eq!(family("a'); x"), None);
        assert_eq!(family("'unclosed"), None);
        assert_eq!(typography("600 \"Inter\""), None);
        assert_eq!(stroke("solid;"), None);
        assert_eq!(parts(")(", char::is_whitespace), None);
        assert_eq!(shadows(&"0 0 #000, ".repeat(1_000)), None);
    }
}
