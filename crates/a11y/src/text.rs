//! Texts as browsers' scripts compare them.

/// Whether JavaScript takes the character for white space.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// Without white space at its ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Trimmed, and what was several spaces is one. A single line break stays one.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\u{a0}', " ");
    let mut out = String::with_capacity(text.len());
    let mut open: Option<(char, bool)> = None;
    for c in trim(&text).chars() {
        if is_space(c) {
            open = Some(open.map_or((c, false), |(first, _)| (first, true)));
            continue;
        }
        if let Some((first, is_many)) = open.take() {
            out.push(if is_many { ' ' } else { first });
        }
        out.push(c);
    }
    out
}

/// The parts of a list of tokens: they are split at spaces alone, so that a single tab or line break separates nothing.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let text = clean(text);
    text.split(' ').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The whole number that a text starts with, as `parseInt` reads it; nothing where there is none.
pub(crate) fn leading_int(text: &str) -> Option<i64> {
    let text = trim(text);
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or("")),
        Some(b'+') => (false, text.get(1..).unwrap_or("")),
        _ => (false, text),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let digits = digits.get(..end).filter(|digits| !digits.is_empty())?;
    // What is too long for a number is large, whatever it is.
    let value = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some(if negative { -value } else { value })
}

/// The number that a text starts with, as `parseFloat` reads it.
pub(crate) fn leading_float(text: &str) -> Option<f64> {
    let text = trim(text);
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    text.get(..end)?.trim_start_matches('+').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_and_split_as_scripts_do_it() {
        assert_eq!(clean(" a\r\nb \u{a0} c\t"), "a\nb c");
        assert_eq!(tokens(" a  b\tc \n d "), ["a", "b\tc", "d"]);
        assert_eq!(
            ["2px", " +3", "-1", "1.5", "abc", ""].map(leading_int),
            [Some(2), Some(3), Some(-1), Some(1), None, None]
        );
        assert_eq!(
            ["3.50x", ".5", "-2e1", "1e", ".", "yes"].map(leading_float),
            [Some(3.5), Some(0.5), Some(-20.0), Some(1.0), None, None]
        );
    }
}
