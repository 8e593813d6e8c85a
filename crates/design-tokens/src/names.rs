//! From token paths to names.

use crate::options::{Naming, Options};

/// The words of one part of a path: split at everything that is not a letter or digit, and before capitals.
fn words(segment: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in segment.chars() {
        let splits = c.is_uppercase() && before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit());
        if (splits || !c.is_alphanumeric()) && !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// The name of the token at `path`, without any escaping of the target language.
pub(crate) fn name(path: &[String], options: &Options) -> String {
    let front = (!options.prefix.is_empty()).then_some(&options.prefix);
    let parts = front.into_iter().chain(path.iter().filter(|s| *s != "$root"));
    if options.naming == Naming::Preserve {
        return parts.map(String::as_str).collect::<Vec<_>>().join("-");
    }
    let all: Vec<String> = parts
        .flat_map(|part| {
            let words = words(part);
            // A name of nothing but signs would vanish: it keeps its spelling.
            if words.is_empty() { vec![part.clone()] } else { words }
        })
        .collect();
    match options.naming {
        Naming::Snake => all.join("_"),
        Naming::Camel => camel(&all),
        Naming::Kebab | Naming::Preserve => all.join("-"),
    }
}

fn camel(words: &[String]) -> String {
    let mut out = String::new();
    for (i, word) in words.iter().enumerate() {
        let mut chars = word.chars();
        match chars.next() {
            Some(first) if i > 0 => {
                out.extend(first.to_uppercase());
                out.push_str(chars.as_str());
            }
            _ => out.push_str(word),
        }
    }
    out
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
    }

    #[test]
    fn identifiers_are_escaped() {
        assert_eq!(css_identifier("a/b+c ü\n"), "a\\/b\\+c\\ ü\\a ");
    }
}
