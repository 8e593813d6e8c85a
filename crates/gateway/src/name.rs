//! One wire-safe name for each tool of an upstream: `<upstream>__<tool>`. None of gatewright's own tools has two
//! underscores in a row, so that no upstream can take the name of one.

use contract::ToolName;

/// What stands between the upstream's name and the tool's.
const BETWEEN: &str = "__";

/// Longest name of an upstream.
pub(crate) const MAX_UPSTREAM: usize = 24;

/// Longest name that a tool may have at its upstream.
const MAX_THERE: usize = 128;

/// Whether `name` can be an upstream's.
pub(crate) fn is_upstream(name: &str) -> bool {
    ToolName::new(name).is_ok()
        && name.len() <= MAX_UPSTREAM
        && !name.contains(BETWEEN)
        && !name.ends_with('_')
}

/// Whose tool has this wire name.
pub(crate) fn upstream(wire: &str) -> Option<&str> {
    wire.split_once(BETWEEN).map(|(upstream, _)| upstream)
}

/// The wire name of `tool` of `upstream`: `camelCase` and punctuation become underscores. Names with other than
/// `A-Z a-z 0-9 _ - . /` are nobody's: one that looks like another is not it (M08).
pub(crate) fn wire(upstream: &str, tool: &str) -> Result<ToolName, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./".contains(&b);
    if tool.is_empty() || tool.len() > MAX_THERE || !tool.bytes().all(plain) {
        return Err(format!("a tool's name has 1 to {MAX_THERE} characters of A-Z a-z 0-9 _ - . /"));
    }
    let mut snake = String::new();
    let mut last = b'_';
    for byte in tool.bytes() {
        let starts_word = byte.is_ascii_uppercase() && (last.is_ascii_lowercase() || last.is_ascii_digit());
        let between = !byte.is_ascii_alphanumeric();
        if (starts_word || between) && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        if !between {
            snake.push(char::from(byte.to_ascii_lowercase()));
        }
        last = byte;
    }
    let snake = snake.trim_end_matches('_');
    if snake.is_empty() {
        return Err("a tool's name has a letter or a digit in it".to_owned());
    }
    ToolName::new(format!("{upstream}{BETWEEN}{snake}")).map_err(|e| e.to_string())
}

/// What a name looks like, rather than what it is: names that share it pass for each other (UTS #39, as far as the letters
/// of a wire name go).
pub(crate) fn skeleton(wire: &str) -> String {
    let same = wire.replace("rn", "m").replace("vv", "w");
    same.chars()
        .filter(|c| *c != '_')
        .map(|c| match c {
            '1' | 'i' => 'l',
            '0' => 'o',
            '5' => 's',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_every_convention_become_ours() {
        for (theirs, ours) in [
            ("search", "docs__search"),
            ("searchDocs", "docs__search_docs"),
            ("get-HTTPStatus", "docs__get_httpstatus"),
            ("v2.items/list", "docs__v2_items_list"),
            ("__init__", "docs__init"),
            ("2fa", "docs__2fa"),
        ] {
            assert_eq!(wire("docs", theirs).unwrap().as_str(), ours);
        }
    }

    #[test]
    fn m08_names_that_look_like_others_are_nobodys() {
        for bad in
            ["", "read_fil\u{435}", "read_file\u{200b}", "read file", "read\nfile", "_", "../..", "\u{1b}[2J"]
        {
            assert!(wire("docs", bad).is_err(), "{bad:?}");
        }
        assert!(wire("docs", &"x".repeat(65)).is_err(), "what does not fit is not cut");
        for bad in ["", "Docs", "a__b", "docs_", "1docs", "dócs", &"d".repeat(25)] {
            assert!(!is_upstream(bad), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_an_upstream_calls_its_tool_the_name_says_whose_it_is(tool in "\\PC{0,40}|[A-Za-z0-9_./-]{1,60}") {
            if let Ok(name) = wire("docs", &tool) {
                prop_assert_eq!(upstream(name.as_str()), Some("docs"));
                prop_assert_eq!(name.as_str().matches(BETWEEN).count(), 1);
            }
        }
    }
}
