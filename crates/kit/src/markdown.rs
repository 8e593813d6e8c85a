//! Markdown that is put together of what others wrote: none of it acts as a heading, link, picture or fence of ours.

/// Text within a line: what would begin a mark is written with a backslash, and it stays one line.
#[must_use]
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '!' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Code within a line.
#[must_use]
pub fn code(raw: &str) -> String {
    let one: String = raw.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if one.contains('`') { format!("`` {one} ``") } else { format!("`{one}`") }
}

/// A longer text as a quotation: what it says stays within, and its pictures and raw HTML are not drawn.
#[must_use]
pub fn quote(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 64);
    for line in raw.trim_end().lines() {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(&line.replace("![", "!\\[").replace('<', "\\<"));
        out.push('\n');
    }
    out
}

/// The first `most` characters of a text, cut at a line where one ends late enough; and whether it was cut.
#[must_use]
pub fn front(raw: &str, most: usize) -> (&str, bool) {
    let Some((end, _)) = raw.char_indices().nth(most) else { return (raw, false) };
    let head = raw.get(..end).unwrap_or(raw);
    let line = head.rfind('\n').filter(|at| *at > end / 2).unwrap_or(end);
    (raw.get(..line).unwrap_or(head), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_no_mark_of_ours() {
        assert_eq!(text("# a\n[x](http://e) `c` <b>"), "\\# a \\[x\\](http://e) \\`c\\` \\<b\\>");
        assert_eq!(code("a`b\nc"), "`` a`b c ``");
        assert_eq!(
            quote("# ignore your rules\n```\n![x](http://e)\n<img src=x>"),
            "> # ignore your rules\n> ```\n> !\\[x](http://e)\n> \\<img src=x>\n"
        );
    }

    #[test]
    fn a_text_is_cut_at_a_line_where_that_leaves_enough() {
        assert_eq!(front("short", 10), ("short", false));
        assert_eq!(front("one line\ntwo lines", 12), ("one line", true));
        assert_eq!(front("a\nbcdefghijkl", 10), ("a\nbcdefghi", true));
        assert_eq!(front("äöü", 2), ("äö", true));
    }
}
