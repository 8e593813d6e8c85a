//! From token paths to names.

use crate::options::{Naming, Options};

/// Calls `each` with the words of one part of a path, in lower case: split at everything that is not a letter or digit,
/// before a capital that follows a small letter or digit, and before the last capital of several (`XSmall`, `HTMLBody`).
pub(crate) fn words(segment: &str, mut each: impl FnMut(&str)) {
    // Most names are one word as they stand.
    if !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        return each(segment);
    }
    let mut any = false;
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut chars = segment.chars().peekable();
    while let Some(c) = chars.next() {
        let small_next = chars.peek().is_some_and(|next| next.is_lowercase());
        let splits = c.is_uppercase()
            && before
                .is_some_and(|b| b.is_lowercase() || b.is_ascii_digit() || (b.is_uppercase() && small_next));
        if (splits || !c.is_alphanumeric()) && !word.is_empty() {
            each(&word);
            any = true;
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    if !word.is_empty() {
        each(&word);
    } else if !any {
        // A name of nothing but signs would vanish: it keeps its spelling.
        each(segment);
    }
}

/// The name of the token at `path`, without any escaping of the target language.
pub(crate) fn name(path: &[String], options: &Options) -> String {
    let front = (!options.prefix.is_empty()).then_some(&options.prefix);
    let parts = front.into_iter().chain(path.iter().filter(|s| *s != "$root")).map(String::as_str);
    let mut out = String::with_capacity(path.iter().map(|p| p.len() + 2).sum());
    let joined = |out: &mut String, separator: char, word: &str| {
        if !out.is_empty() {
            out.push(separator);
        }
        out.push_str(word);
    };
    match options.naming {
        Naming::Preserve => parts.for_each(|part| joined(&mut out, '-', part)),
        Naming::Kebab => parts.for_each(|part| words(part, |word| joined(&mut out, '-', word))),
        Naming::Snake => parts.for_each(|part| words(part, |word| joined(&mut out, '_', word))),
        Naming::Camel => parts.for_each(|part| words(part, |word| camel(&mut out, word))),
    }
    out
}

fn camel(out: &mut String, word: &str) {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) if !out.is_empty() => {
            out.extend(first.to_uppercase());
            out.push_str(chars.as_str());
        }
        _ => out.push_str(word),
    }
}

/// Escapes an identifier for CSS (CSSOM, "serialize an identifier"); after `--` or `$` a digit may come first.
pub(crate) fn css_identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => out.push(c),
            c if c >= '\u{80}' && !c.is_control() => out.push(c),
            c if c.is_control() => out.push_str(&format!("\\{:x} ", u32::from(c))),
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn names_follow_the_option() {
        let named =
            |naming, text| name(&path(text), &Options { naming, prefix: "ds".into(), ..Options::default() });
        assert_eq!(named(Naming::Kebab, "color.brandBlue.500"), "ds-color-brand-blue-500");
        assert_eq!(named(Naming::Camel, "color.brand blue.$root"), "dsColorBrandBlue");
        assert_eq!(named(Naming::Snake, "space.2xl"), "ds_space_2xl");
        assert_eq!(named(Naming::Preserve, "color.brandBlue.🎨"), "ds-color-brandBlue-🎨");
        assert_eq!(named(Naming::Kebab, "a.+"), "ds-a-+");
        assert_eq!(named(Naming::Kebab, "XSmall.2XLarge.HTMLBody.RGB"), "ds-x-small-2-x-large-html-body-rgb");
    }

    #[test]
    fn identifiers_are_escaped() {
        assert_eq!(css_identifier("a/b+c ü\n"), "a\\/b\\+c\\ ü\\a ");
    }
}
