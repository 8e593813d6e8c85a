//! Patterns of `exports`, where a `*` is any text, slashes included.

use std::borrow::Cow;

/// A target or key with stars.
pub(super) struct Glob<'a> {
    /// What stands before, between and after the stars: one more than there are stars.
    literals: Vec<Cow<'a, str>>,
}

impl<'a> Glob<'a> {
    /// Backslashes are taken for slashes when it is a path.
    pub(super) fn path(pattern: &'a str) -> Self {
        Self { literals: pattern.split('*').map(slashed).collect() }
    }

    pub(super) fn key(pattern: &'a str) -> Self {
        Self { literals: pattern.split('*').map(Cow::Borrowed).collect() }
    }

    /// What everything that fits begins with.
    pub(super) fn prefix(&self) -> &str {
        self.literals.first().map_or("", |literal| literal)
    }

    /// What the stars stand for, the last one first. Where there are several ways, the first star takes as much as it can,
    /// then the second, as in a greedy expression. Linear in the length of the text.
    pub(super) fn stars<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let [first, between @ .., last] = self.literals.as_slice() else {
            return (self.prefix() == text).then(Vec::new);
        };
        let mut rest = text.strip_prefix(&**first)?.strip_suffix(&**last)?;
        let mut stars = Vec::new();
        // Placing each literal as far to the right as it goes leaves the most to every star before it.
        for literal in between.iter().rev() {
            // The star behind it stands for one character at least.
            let (end, _) = rest.char_indices().next_back()?;
            let at = rest.get(..end)?.rfind(&**literal)?;
            stars.push(rest.get(at + literal.len()..)?);
            rest = rest.get(..at)?;
        }
        stars.push(rest);
        stars
            .iter()
            .all(|star| !star.is_empty() && !star.contains(['\n', '\r', '\u{2028}', '\u{2029}']))
            .then_some(stars)
    }
}

/// With slashes for backslashes.
pub(super) fn slashed(path: &str) -> Cow<'_, str> {
    if path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_star_takes_the_most() {
        for (pattern, text, expected) in [
            ("a", "a", Some(vec![])),
            ("a", "b", None),
            ("x/*.js", "x/d/e.js", Some(vec!["d/e"])),
            ("x/*.js", "x/.js", None),
            ("x/*x", "x/x", None),
            ("*/*.js", "a/b/c.js", Some(vec!["c", "a/b"])),
            ("x/*/*.js", "x/a/b/a/b.js", Some(vec!["b", "a/b/a"])),
            ("**", "abc", Some(vec!["c", "ab"])),
            ("**", "a", None),
            ("*a*", "aaa", Some(vec!["a", "a"])),
            ("*é*", "xéé", Some(vec!["é", "x"])),
            ("a*b", "a\nb", None),
        ] {
            assert_eq!(Glob::key(pattern).stars(text), expected, "{pattern} {text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn it_is_the_greedy_expression(pattern in "[ab/*]{0,8}", text in "[ab/]{0,12}") {
            let parts: Vec<String> = pattern.split('*').map(regex::escape).collect();
            let expression = regex::Regex::new(&format!("^{}$", parts.join("(.+)"))).unwrap();
            let mut expected: Option<Vec<&str>> = expression
                .captures(&text)
                .map(|all| all.iter().skip(1).flatten().map(|star| star.as_str()).collect());
            if let Some(stars) = expected.as_mut() {
                stars.reverse();
            }
            proptest::prop_assert_eq!(Glob::key(&pattern).stars(&text), expected);
        }
    }
}
