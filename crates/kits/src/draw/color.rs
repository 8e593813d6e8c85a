//! Colours that may be written into a page. The facts are a project's text: only what the grammar of CSS Color 4 allows gets
//! into an attribute that a browser reads as a colour.

/// Longest colour, in bytes: `color(prophoto-rgb …)` with three long numbers and an alpha has 90.
const MAX_COLOR: usize = 160;
/// Longest number, in bytes.
const MAX_NUMBER: usize = 32;

/// Predefined spaces of `color()` (CSS Color 4, 10.1).
const SPACES: [&str; 9] =
    ["srgb", "srgb-linear", "display-p3", "a98-rgb", "prophoto-rgb", "rec2020", "xyz", "xyz-d50", "xyz-d65"];

/// A colour as CSS: lower case, and nothing but a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CssColor(String);

impl CssColor {
    /// Reads `#rgb`, `#rrggbb`, both with alpha, or one of the functions. Names are none that a token compiler writes, but
    /// `transparent`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t', '\n']);
        if text.len() > MAX_COLOR || !text.is_ascii() {
            return None;
        }
        let text = text.to_ascii_lowercase();
        let is_one = match text.strip_prefix('#') {
            Some(digits) => {
                matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit())
            }
            None => text == "transparent" || is_function(&text),
        };
        is_one.then_some(Self(text))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_function(text: &str) -> bool {
    let Some((name, arguments)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) else {
        return false;
    };
    let hue = match name {
        "rgb" | "rgba" | "lab" | "oklab" | "color" => None,
        "hsl" | "hsla" | "hwb" => Some(0),
        "lch" | "oklch" => Some(2),
        _ => return false,
    };
    let has_legacy = matches!(name, "rgb" | "rgba" | "hsl" | "hsla");
    if has_legacy && arguments.contains(',') {
        let parts: Vec<&str> = arguments.split(',').map(blank_trimmed).collect();
        return matches!(parts.len(), 3 | 4)
            && parts.iter().enumerate().all(|(i, p)| *p != "none" && is_part(p, hue == Some(i)));
    }
    let (parts, alpha) = match arguments.split_once('/') {
        Some((parts, alpha)) => (parts, Some(blank_trimmed(alpha))),
        None => (arguments, None),
    };
    let mut parts: Vec<&str> = parts.split([' ', '\t', '\n']).filter(|p| !p.is_empty()).collect();
    if name == "color" {
        if parts.first().is_none_or(|space| !SPACES.contains(space)) {
            return false;
        }
        parts.remove(0);
    }
    parts.len() == 3
        && parts.iter().enumerate().all(|(i, p)| is_part(p, hue == Some(i)))
        && alpha.is_none_or(|alpha| is_part(alpha, false))
}

fn blank_trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n'])
}

/// A number, a percentage, an angle where there is a hue, or `none`.
fn is_part(text: &str, is_hue: bool) -> bool {
    let angle = || ["deg", "grad", "rad", "turn"].iter().find_map(|unit| text.strip_suffix(unit));
    text == "none"
        || number(text.strip_suffix('%').unwrap_or(text)).is_some()
        || is_hue && angle().is_some_and(|n| number(n).is_some())
}

/// A number as CSS writes it (CSS Syntax 3, 4.3.12).
pub(crate) fn number(text: &str) -> Option<f64> {
    let is_plain = text.len() <= MAX_NUMBER
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'))
        && text.ends_with(|c: char| c.is_ascii_digit());
    if is_plain { text.parse().ok().filter(|n: &f64| n.is_finite()) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_token_compiler_writes_is_read() {
        for color in [
            "#fff",
            "#ABCD",
            "#4f46e5",
            "#4f46e580",
            "rgb(79 70 229 / 0.5)",
            "rgba(79, 70, 229, .5)",
            "hsl(243.4 75% 59%)",
            "hsl(0.5turn, 75%, 59%)",
            "hwb(12deg 20% none / 50%)",
            "lab(29.2345% 39.3825 20.0664)",
            "oklch(54.3% 0.227252 260.5 / 0.25)",
            "oklab(1e-1 -0.02 +0.3)",
            "color(display-p3 1 0.5 0)",
            "color(xyz-d65 0.1 0.2 0.3 / 1)",
            " transparent ",
        ] {
            assert!(CssColor::parse(color).is_some(), "{color}");
        }
    }

    #[test]
    fn nothing_else_is_a_colour() {
        let long = format!("rgb(0 0 0.{})", "0".repeat(200));
        for text in [
            "",
            "#",
            "#12345",
            "#ggg",
            "red;}",
            "url(#a)",
            "url(http://x.example/)",
            "var(--x)",
            "rgb(1 2 3",
            "rgb(1 2)",
            "rgb(1 2 3 4)",
            "rgb(1 2 3 / 1 / 1)",
            "rgb(1 2 3))",
            "rgb(1,2,3,4,5)",
            "lab(1,2,3)",
            "rgb(inf nan 3)",
            "rgb(1 2 3); background: url(x)",
            "rgb(1 2 /**/ 3)",
            "color(evil 1 2 3)",
            "color(srgb 1 2 3 4)",
            "oklch(1deg 2 3)",
            "rgb(1deg 2 3)",
            "rgb(calc(1) 2 3)",
            "expression(alert(1))",
            "#fff\u{0}",
            "ｒgb(1 2 3)",
            &long,
        ] {
            assert_eq!(CssColor::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_colour_ends_an_attribute_or_a_declaration(text in "[a-z#0-9(),/ .%;:<>\"'{}\\\\-]{0,24}") {
            if let Some(color) = CssColor::parse(&text) {
                let allowed = |b: u8| b.is_ascii_alphanumeric() || b"#(),./% +-\t\n".contains(&b);
                prop_assert!(color.as_str().bytes().all(allowed), "{:?}", color);
                prop_assert!(color.as_str().matches('(').count() <= 1);
            }
        }
    }
}
