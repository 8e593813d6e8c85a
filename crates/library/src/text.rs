//! Texts as they are shown: cut, in one line, nothing hidden in them.

/// Most characters of a description, the ellipsis included.
pub const MAX_DESCRIPTION: usize = 200;

/// Most characters that a message quotes of a file.
const MAX_SHOWN: usize = 80;

/// How much of a text is made plain, in characters.
const MAX_READ: usize = 2_000;

/// Whether a character is not to be seen where it stands: controls, what turns the direction of text, what has no width.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// A text of others as a message may quote it: hidden characters escaped, cut after 80 characters.
pub fn shown(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == MAX_SHOWN {
            out.push('…');
            break;
        }
        if is_hidden(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// In one line, white space collapsed, cut on a word so that it has at most `most` characters with its ellipsis. A single word
/// that is longer is cut inside.
pub fn cut_on_word(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut length = 0_usize;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        let gap = usize::from(length > 0);
        if length + gap + width <= most {
            if gap == 1 {
                out.push(' ');
            }
            out.push_str(word);
            length += gap + width;
            continue;
        }
        while length + 1 > most {
            // Room for the ellipsis: the last word goes.
            let end = out.rfind(' ').unwrap_or(0);
            out.truncate(end);
            length = out.chars().count();
            if end == 0 {
                break;
            }
        }
        if length == 0 {
            out.extend(word.chars().take(most.saturating_sub(1)));
        }
        out.push('…');
        return out;
    }
    out
}

/// A description from a paragraph of Markdown: marks of emphasis and targets of links taken out, at most
/// [`MAX_DESCRIPTION`] characters, cut on a word.
pub fn description(markdown: &str) -> String {
    cut_on_word(&plain(markdown), MAX_DESCRIPTION)
}

/// Inline Markdown as text: `**a** [b](c)` is `a b`. Marks inside backticks stay. Of the first [`MAX_READ`] characters: each bracket
/// is looked at for its end.
pub(crate) fn plain(markdown: &str) -> String {
    let mut out = String::new();
    let end = markdown.char_indices().nth(MAX_READ).map_or(markdown.len(), |(at, _)| at);
    let mut rest = markdown.get(..end).unwrap_or_default();
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '`' => {
                // To the end of the code span, as it stands.
                let end = after.find('`').map_or(0, |at| at + 1);
                out.push_str(rest.get(..=end).unwrap_or(rest));
                rest = after.get(end..).unwrap_or_default();
                before = '`';
                continue;
            }
            '!' if after.starts_with('[') => {}
            '[' => {
                if let Some((label, behind)) = link(after) {
                    out.push_str(label);
                    rest = behind;
                    before = 'x';
                    continue;
                }
                out.push(c);
            }
            '*' => {
                // Between spaces it is a star.
                if before.is_whitespace() && after.chars().next().is_none_or(char::is_whitespace) {
                    out.push(c);
                }
            }
            '_' => {
                let next = after.chars().next().unwrap_or(' ');
                if before.is_alphanumeric() && next.is_alphanumeric()
                    || before.is_whitespace() && next.is_whitespace()
                {
                    out.push(c);
                }
            }
            _ => out.push(c),
        }
        before = c;
        rest = after;
    }
    out
}

/// The label of `label](target)` or `label][reference]` and what is behind it.
fn link(text: &str) -> Option<(&str, &str)> {
    let close = text.find(['[', ']', '\n'])?;
    let label = text.get(..close)?;
    let behind = text.get(close..)?.strip_prefix(']')?;
    let (open, end) = if behind.starts_with('(') { ('(', ')') } else { ('[', ']') };
    let target = behind.strip_prefix(open)?;
    let at = target.find([end, '\n'])?;
    let behind = target.get(at..)?.strip_prefix(end)?;
    Some((label, behind))
}

/// A value without the marks of emphasis and code around it: `**8.5/10**`, `` `node` ``.
pub(crate) fn bare(text: &str) -> &str {
    text.trim().trim_matches(['*', '_', '`']).trim()
}

/// A cell or key as it is compared: case, emphasis, and what is neither letter nor digit are nothing.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with(' ') && !matches!(c, '*' | '`' | '\'' | '’') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// How many characters there are before `at`, plus one.
pub(crate) fn column(line: &str, at: usize) -> u32 {
    let before = line.get(..at).map_or(0, |text| text.chars().count());
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// A number of a line as it is told.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_description_is_one_line_of_plain_text_cut_on_a_word() {
        assert_eq!(
            description(
                "**Row** policies for [Postgres](https://x) with\n`a_b` and snake_case, 2 * 3. _Yes_."
            ),
            "Row policies for Postgres with `a_b` and snake_case, 2 * 3. Yes."
        );
        let long = description(&"word ".repeat(100));
        assert_eq!(long.chars().count(), 199 + 1);
        assert!(long.ends_with("word…"), "{long}");
        assert_eq!(description(&"x".repeat(300)).chars().count(), MAX_DESCRIPTION);
        assert_eq!(description("![logo](a.png) text [1] [2"), "logo text [1] [2");
    }

    #[test]
    fn what_is_exactly_long_enough_is_whole() {
        let text = format!("{} {}", "a".repeat(100), "b".repeat(99));
        assert_eq!(description(&text), text);
        assert_eq!(description(&format!("{text} c")), format!("{}…", "a".repeat(100)));
    }

    #[test]
    fn keys_are_compared_without_case_emphasis_and_marks() {
        assert_eq!(folded("**Test  Coverage:**"), "test coverage");
        assert_eq!(folded("1. `Next-Steps`"), "1 next steps");
    }

    proptest! {
        #[test]
        fn a_description_is_never_too_long(text in "\\PC{0,400}|[ \\*_`\\[\\]()!a-c\n]{0,300}") {
            prop_assert!(description(&text).chars().count() <= MAX_DESCRIPTION);
            prop_assert!(!description(&text).contains('\n'));
            prop_assert!(!shown(&text).chars().any(is_hidden));
        }
    }
}
