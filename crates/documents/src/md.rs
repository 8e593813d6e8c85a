//! Markdown that says what it is given and nothing else: text of a repository makes no heading, link, image or HTML here.

/// Text in a paragraph or a cell of a table, on one line, at most `most` characters.
pub(crate) fn text(given: &str, most: usize) -> String {
    let mut out = String::new();
    for c in line(given, most).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '!' | '#' | '~' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    // What begins a list or a rule does so only at the start.
    if out.starts_with(['-', '+', '='])
        || out.starts_with(|c: char| c.is_ascii_digit()) && numbers_a_list(&out)
    {
        out.insert(0, '\u{200b}');
    }
    out
}

fn numbers_a_list(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')'])
}

/// A code span; in a table with its `|` escaped.
pub(crate) fn code(given: &str) -> String {
    let given = line(given, 200);
    if given.is_empty() {
        return String::new();
    }
    let longest = given.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if given.starts_with('`') || given.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", given.replace('|', "\\|"))
}

/// One line of at most `most` characters, without control characters.
pub(crate) fn line(given: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in given.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()) {
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= most {
                out.push('…');
                return out;
            }
            out.push(c);
            count += 1;
        }
    }
    out
}

/// A table's row.
pub(crate) fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A table's head and the line below it.
pub(crate) fn head(names: &[&str]) -> String {
    format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_nothing() {
        assert_eq!(
            text("# a\n<b> *c* [d](e) | `f` ![g]", 100),
            "\\# a \\<b\\> \\*c\\* \\[d\\](e) \\| \\`f\\` \\!\\[g\\]"
        );
        assert_eq!(text("- a", 100), "\u{200b}- a");
        assert_eq!(text("1. a", 100), "\u{200b}1. a");
        assert_eq!(text("1 a", 100), "1 a");
        assert_eq!(text("abcdef", 3), "abc…");
        assert_eq!(code("a`b|c\nd"), "``a`b\\|c d``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(" "), "");
        assert_eq!(row(&["a".to_owned(), String::new()]), "| a |  |\n");
        assert_eq!(head(&["a", "b"]), "| a | b |\n|---|---|\n");
    }
}
