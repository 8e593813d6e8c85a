//! The sentences: what was found, and what to do about it.

mod detail;
mod fix;

pub(super) use detail::detail;
pub(super) use fix::fix;

use super::message::{Format, Message};

/// Characters of a name that a sentence shows; the whole stands in the message.
const SHOWN: usize = 120;

/// A name between backticks, cut where it is long, without what would break a line.
fn quoted(name: &str) -> String {
    let mut shown: String = name
        .chars()
        .take(SHOWN)
        .map(|symbol| if symbol.is_control() { '\u{FFFD}' } else { symbol })
        .collect();
    if name.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// A place in `package.json`, written as one would write it in JavaScript.
fn place<S: AsRef<str>>(at: &[S]) -> String {
    let mut out = String::new();
    for (depth, key) in at.iter().enumerate() {
        let key = key.as_ref();
        let is_name = !key.is_empty()
            && !key.starts_with(|symbol: char| symbol.is_ascii_digit())
            && key.chars().all(|symbol| symbol.is_ascii_alphanumeric() || matches!(symbol, '_' | '$'));
        match (depth, is_name) {
            (0, _) => out.push_str(key),
            (_, true) => {
                out.push('.');
                out.push_str(key);
            }
            (_, false) => {
                let written = serde_json::to_string(key).unwrap_or_default();
                out.push('[');
                out.push_str(&written);
                out.push(']');
            }
        }
    }
    quoted(&out)
}

/// The first file that a message is about.
fn file(message: &Message) -> String {
    quoted(message.files.first().map_or("package.json", |file| file))
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Esm => "an ES module",
        Format::Cjs => "CommonJS",
    }
}

/// Several names, the first few of them.
fn list<S: AsRef<str>>(names: &[S]) -> String {
    const FEW: usize = 5;
    let mut shown: Vec<String> = names.iter().take(FEW).map(|name| quoted(name.as_ref())).collect();
    if names.len() > FEW {
        shown.push(format!("{} more", names.len() - FEW));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_in_javascript() {
        assert_eq!(place(&["exports", ".", "import"]), "`exports[\".\"].import`");
        assert_eq!(place(&["bin", "a-b", "0", ""]), "`bin[\"a-b\"][\"0\"][\"\"]`");
    }

    #[test]
    fn a_name_is_cut_and_has_no_control_characters() {
        assert_eq!(quoted("a\nb"), "`a\u{FFFD}b`");
        assert_eq!(quoted(&"é".repeat(500)).chars().count(), SHOWN + 3);
    }

    #[test]
    fn a_long_list_is_counted() {
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a"; 8]), "`a`, `a`, `a`, `a`, `a`, 3 more");
    }
}
