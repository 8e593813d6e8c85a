//! What one line of Markdown is.

use std::ops::Range;

/// How far a line is indented, in columns (a tab goes to the next multiple of four), and where its text begins.
pub(crate) fn indent(line: &str) -> (usize, usize) {
    let (mut columns, mut at) = (0, 0);
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => break,
        }
        at += 1;
    }
    (columns, at)
}

/// The level and the title's place in an ATX heading (`CommonMark` 0.31, 4.2), of a line without its indent.
pub(crate) fn atx(text: &str) -> Option<(u8, Range<usize>)> {
    let level = text.bytes().take_while(|b| *b == b'#').count();
    if !(1..=6).contains(&level) {
        return None;
    }
    let rest = text.get(level..)?;
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let begin = level + (rest.len() - rest.trim_start().len());
    let mut title = rest.trim();
    let closed = title.trim_end_matches('#');
    if closed.is_empty() || closed.ends_with([' ', '\t']) {
        title = closed.trim_end();
    }
    Some((u8::try_from(level).ok()?, begin..begin + title.len()))
}

/// The character and the length of a fence that opens here, and the place of its info string.
pub(crate) fn fence(text: &str) -> Option<(u8, usize, Range<usize>)> {
    let mark = text.bytes().next().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = text.bytes().take_while(|b| *b == mark).count();
    let info = text.get(length..)?;
    if length < 3 || mark == b'`' && info.contains('`') {
        return None;
    }
    let begin = length + (info.len() - info.trim_start().len());
    Some((mark, length, begin..begin + info.trim().len()))
}

/// Whether a line without its indent closes a fence of this kind.
pub(crate) fn closes(text: &str, mark: u8, length: usize) -> bool {
    let run = text.bytes().take_while(|b| *b == mark).count();
    run >= length && text.get(run..).is_some_and(|rest| rest.trim().is_empty())
}

/// A thematic break: three or more of `-`, `*` or `_`, spaces between them.
pub(crate) fn rule(text: &str) -> bool {
    let Some(mark) = text.bytes().next().filter(|b| matches!(b, b'-' | b'*' | b'_')) else { return false };
    let plain = text.bytes().all(|b| b == mark || b == b' ' || b == b'\t');
    plain && text.bytes().filter(|b| *b == mark).count() >= 3
}

/// The level of a setext heading that is underlined here.
pub(crate) fn underline(text: &str) -> Option<u8> {
    let text = text.trim_end();
    if text.is_empty() {
        None
    } else if text.bytes().all(|b| b == b'=') {
        Some(1)
    } else if text.bytes().all(|b| b == b'-') {
        Some(2)
    } else {
        None
    }
}

/// How wide the marker of a list item is with the spaces behind it, in bytes, of a line without its indent.
pub(crate) fn marker(text: &str) -> Option<usize> {
    let mark = match text.bytes().next()? {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let dot = text.as_bytes().get(digits)?;
            if digits > 9 || !matches!(dot, b'.' | b')') {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    let rest = text.get(mark..)?;
    if rest.is_empty() {
        return Some(mark);
    }
    let spaces = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
    match spaces {
        0 => None,
        // More is an indented block inside the item.
        1..=4 => Some(mark + spaces),
        _ => Some(mark + 1),
    }
}

/// A line `**Key:** value`: where key and value are in it, both without emphasis around them. The colon stands in the
/// emphasis or behind it; `*`, `_` and their runs do; a list's marker may stand before.
pub(crate) fn key(line: &str) -> Option<(Range<usize>, Range<usize>)> {
    let (_, mut at) = indent(line);
    let mut rest = line.get(at..)?;
    if let Some(width) = marker(rest) {
        at += width;
        rest = rest.get(width..)?;
    }
    let mark = rest.chars().next().filter(|c| matches!(c, '*' | '_'))?;
    let open = rest.len() - rest.trim_start_matches(mark).len();
    let inner = rest.get(open..)?;
    let close = inner.find(mark)?;
    let name = inner.get(..close)?;
    let behind = inner.get(close..)?;
    let run = behind.len() - behind.trim_start_matches(mark).len();
    if open > 3 || run != open {
        return None;
    }
    let after = behind.get(run..)?;
    let (name, after_at) = match name.trim_end().strip_suffix(':') {
        Some(name) => (name, 0),
        None => (name, after.len() - after.trim_start().strip_prefix(':')?.len()),
    };
    let (begin, end) = trimmed(name);
    if begin == end || name.len() > 60 {
        return None;
    }
    let key = at + open + begin..at + open + end;
    let value_at = at + open + close + run + after_at;
    let value = line.get(value_at..)?;
    let (begin, end) = trimmed(value);
    Some((key, value_at + begin..value_at + end))
}

/// Where a text begins and ends without the white space around it.
pub(crate) fn trimmed(text: &str) -> (usize, usize) {
    let begin = text.len() - text.trim_start().len();
    (begin, begin + text.trim().len())
}

/// The cells of a row of a table (GFM 0.29, 4.10): where each is in the line, white space around them left out.
pub(crate) fn cells(line: &str, most: usize) -> Vec<Range<usize>> {
    let (begin, end) = trimmed(line);
    let mut cells = Vec::new();
    let mut from = begin + usize::from(line.get(begin..).is_some_and(|t| t.starts_with('|')));
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate().take(end).skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'|' => {
                push(line, from..at, &mut cells);
                from = at + 1;
            }
            _ => {}
        }
        if cells.len() == most {
            return cells;
        }
    }
    if from < end {
        push(line, from..end, &mut cells);
    }
    cells
}

fn push(line: &str, at: Range<usize>, cells: &mut Vec<Range<usize>>) {
    if let Some(text) = line.get(at.clone()) {
        let (begin, end) = trimmed(text);
        cells.push(at.start + begin..at.start + end);
    }
}

/// Whether a line divides a table's head from its rows.
pub(crate) fn divides(line: &str) -> bool {
    let text = line.trim();
    text.contains('-')
        && text.contains('|')
        && text.bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(line: &str) -> Option<(&str, &str)> {
        key(line).map(|(key, value)| (&line[key], &line[value]))
    }

    #[test]
    fn a_key_is_found_in_every_way_of_emphasis() {
        for line in [
            "**Category:** database",
            "**Category**: database",
            "__Category:__ database  ",
            "*Category:* database",
            "_Category_ : database",
            "- **Category:** database",
            "* **Category:** database",
            "  ***Category:*** database",
            "1. **Category** : database",
            "** Category : ** database",
        ] {
            assert_eq!(pair(line), Some(("Category", "database")), "{line}");
        }
        assert_eq!(pair("**Quality:** **8.5/10**"), Some(("Quality", "**8.5/10**")));
        assert_eq!(pair("**Dependencies:**"), Some(("Dependencies", "")));
        for line in [
            "Category: database",
            "**Category** database",
            "**bold** text: x",
            "**:** x",
            "****",
            "***a**: b",
            "* * *",
        ] {
            assert_eq!(pair(line), None, "{line}");
        }
    }

    #[test]
    fn headings_end_before_their_closing_marks() {
        let title = |line: &'static str| atx(line).map(|(level, at)| (level, &line[at]));
        assert_eq!(title("## Over view ##  "), Some((2, "Over view")));
        assert_eq!(title("# C#"), Some((1, "C#")));
        assert_eq!(title("#\tx"), Some((1, "x")));
        assert_eq!(title("### ###"), Some((3, "")));
        assert_eq!(title("##"), Some((2, "")));
        assert_eq!(title("#x"), None);
        assert_eq!(title("####### x"), None);
    }

    #[test]
    fn fences_and_rules_are_told_apart_from_text() {
        assert_eq!(fence("```` ts a.ts "), Some((b'`', 4, 5..12)));
        assert_eq!(fence("```a`b"), None);
        assert!(fence("~~~a`b").is_some());
        assert!(closes("`````  ", b'`', 4) && !closes("``` x", b'`', 3) && !closes("```", b'`', 4));
        assert!(rule("- - -") && rule("***") && !rule("--") && !rule("-*-"));
        assert_eq!(marker("10) x"), Some(4));
        assert_eq!((marker("-x"), marker("-"), marker("- ")), (None, Some(1), Some(2)));
    }

    #[test]
    fn cells_may_hold_escaped_bars() {
        let line = " | a \\| b || `c` | ";
        let found: Vec<&str> = cells(line, 9).into_iter().map(|at| &line[at]).collect();
        assert_eq!(found, ["a \\| b", "", "`c`"]);
        assert_eq!(cells(line, 2).len(), 2);
        assert!(divides("|:--|--:|") && !divides("---") && !divides("| a |"));
    }
}
