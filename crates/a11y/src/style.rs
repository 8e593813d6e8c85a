//! What an element's own `style` attribute declares.

use crate::text::trim;

/// The declarations of a style: property and value in lower case, and whether it is important.
pub(crate) fn declarations(style: &str) -> Vec<(String, String, bool)> {
    pieces(style).iter().filter_map(|piece| declaration(piece)).collect()
}

/// The value of a property that counts: the last one that is valid, important ones first.
pub(crate) fn value(style: &str, property: &str, is_valid: fn(&str) -> bool) -> Option<String> {
    let mut found: Option<(String, bool)> = None;
    for (name, value, important) in declarations(style) {
        if name == property && is_valid(&value) && (important || !found.as_ref().is_some_and(|(_, i)| *i)) {
            found = Some((value, important));
        }
    }
    found.map(|(value, _)| value)
}

fn declaration(piece: &str) -> Option<(String, String, bool)> {
    let (name, value) = piece.split_once(':')?;
    let value = trim(value).to_ascii_lowercase();
    let bare = value.strip_suffix("important").map(str::trim_end).and_then(|v| v.strip_suffix('!'));
    let important = bare.is_some();
    let value = trim(bare.unwrap_or(&value)).to_owned();
    (!value.is_empty()).then(|| (trim(name).to_ascii_lowercase(), value, important))
}

/// Split at semicolons that are in no quotes and no brackets; without comments.
fn pieces(style: &str) -> Vec<String> {
    let (mut out, mut piece) = (Vec::new(), String::new());
    let (mut quote, mut depth) = (None, 0_usize);
    let mut chars = style.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ';') if depth == 0 => {
                out.push(std::mem::take(&mut piece));
                continue;
            }
            (None, '/') if chars.peek() == Some(&'*') => {
                chars.next();
                let mut star = false;
                for c in chars.by_ref() {
                    if star && c == '/' {
                        break;
                    }
                    star = c == '*';
                }
                continue;
            }
            (None, _) => {}
        }
        piece.push(c);
    }
    out.push(piece);
    out
}

/// Whether it is a value of `display`.
pub(crate) fn is_display(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "none",
        "block",
        "inline",
        "inline-block",
        "flex",
        "inline-flex",
        "grid",
        "inline-grid",
        "contents",
        "flow-root",
        "list-item",
        "table",
        "inline-table",
        "table-row",
        "table-cell",
        "table-row-group",
        "table-header-group",
        "table-footer-group",
        "table-column",
        "table-column-group",
        "table-caption",
        "run-in",
        "ruby",
        "ruby-base",
        "ruby-text",
        "math",
        "flow",
        "initial",
        "inherit",
        "unset",
        "revert",
        "revert-layer",
        "-webkit-box",
        "-webkit-flex",
        "-webkit-inline-box",
    ];
    !value.is_empty() && value.split_ascii_whitespace().all(|word| WORDS.contains(&word))
}

/// Whether it is a value of `visibility`.
pub(crate) fn is_visibility(value: &str) -> bool {
    matches!(
        value,
        "visible" | "hidden" | "collapse" | "initial" | "inherit" | "unset" | "revert" | "revert-layer"
    )
}

/// Whether it is a value of `content-visibility`.
pub(crate) fn is_content_visibility(value: &str) -> bool {
    matches!(
        value,
        "visible" | "hidden" | "auto" | "initial" | "inherit" | "unset" | "revert" | "revert-layer"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_valid_declaration_counts_and_important_ones_first() {
        let display = |style| value(style, "display", is_display);
        assert_eq!(display("DISPLAY: None").as_deref(), Some("none"));
        assert_eq!(display("display:none; display:blok").as_deref(), Some("none"));
        assert_eq!(display("display:none ! important;display:block").as_deref(), Some("none"));
        assert_eq!(display("background:url(a;display:none);content:';display:none'/*;display:none*/"), None);
        assert_eq!(display("/* x */display:block;;:;display:"), Some("block".to_owned()));
    }
}
