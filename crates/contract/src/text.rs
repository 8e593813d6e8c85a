//! Characters that deceive a reader: what is refused in names and stripped from what is returned.

/// Whether `c` draws nothing or reorders its neighbours: bidirectional controls (UAX #9), zero-width and
/// invisible format characters, variation selectors' tag block, interlinear and other `Cf` characters that
/// have no place in a file name.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// `text` without control characters (C0 apart from newline and tab, DEL, C1) and without
/// [deceptive](is_deceptive) characters other than the joiners that scripts and emoji need between visible neighbours.
#[must_use]
pub fn visible(text: &str) -> String {
    if text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joiner = matches!(c, '\u{200c}' | '\u{200d}');
        let keep = if joiner {
            // A joiner between two visible, non-ASCII characters shapes a ligature or an emoji.
            out.chars().next_back().is_some_and(|p| !p.is_ascii())
                && chars.peek().is_some_and(|n| !n.is_ascii() && !is_deceptive(*n))
        } else {
            (!c.is_control() || matches!(c, '\n' | '\t')) && !is_deceptive(c)
        };
        if keep {
            out.push(c);
        }
    }
    out
}

/// Whether [`visible`] would leave `text` as it is. Quick where it is ASCII.
#[must_use]
pub fn is_visible(text: &str) -> bool {
    text.bytes().all(is_plain) || visible(text) == text
}

/// Whether a byte by itself is a character that is shown.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// `text` with every character that [`visible`] would take away written out, such as `<U+202E>`, and carriage returns as
/// `␍`: for what a person reviews, where a hidden character must not hide a change.
#[must_use]
pub fn spelled_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push('␍'),
            c if c.is_control() || is_deceptive(c) => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// A name that somebody made up, as a list or an error shows it: all but printable ASCII is written out, so that none
/// passes for another.
#[must_use]
pub fn spelled_name(name: &str) -> String {
    name.chars().fold(String::with_capacity(name.len()), |mut out, c| {
        if c.is_ascii_graphic() {
            out.push(c);
        } else {
            out.push_str(&format!("<U+{:04X}>", u32::from(c)));
        }
        out
    })
}

/// `json`, a text that is JSON, with every hidden character in it escaped: the same value, safe to show.
#[must_use]
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && (c.is_control() || is_deceptive(c)) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// `2 records`, and `1 record`.
#[must_use]
pub fn counted(count: impl TryInto<u64>, one: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(count) => format!("{count} {one}s"),
        Err(_) => format!("many {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_bidi_go_while_text_stays() {
        assert_eq!(visible("a\u{1b}[31mb\u{9b}2Jc\u{202e}d\u{e0041}\n\te\r"), "a[31mb2Jcd\n\te");
    }

    #[test]
    fn what_is_hidden_is_written_out_for_a_reviewer() {
        assert_eq!(spelled_out("a\u{202e}b\r\n\tc\u{1b}"), "a<U+202E>b␍\n\tc<U+001B>");
    }

    #[test]
    fn m10_json_for_people_has_hidden_characters_escaped_and_is_the_same_value() {
        let value = serde_json::json!({ "a\u{9b}\u{202e}": ["\u{1b}]0;x\u{7}", "\u{e0041}\u{200b}\u{7f}", "é 漢 👍"] });
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let escaped = escaped_json(&text);
            assert!(escaped.chars().all(|c| c == '\n' || !c.is_control() && !is_deceptive(c)), "{escaped}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        }
    }

    #[test]
    fn m08_a_name_that_looks_like_another_is_shown_as_what_it_is() {
        assert_eq!(spelled_name("a\n\u{200b}\u{456}ld "), "a<U+000A><U+200B><U+0456>ld<U+0020>");
        assert_eq!(spelled_name("tokens_build"), "tokens_build");
    }

    #[test]
    fn joiners_stay_only_where_they_join() {
        assert_eq!(visible("👩\u{200d}💻 a\u{200d}b"), "👩\u{200d}💻 ab");
    }
}
