//! Code spans and links.

use super::{ClaimKind, shell};

/// Words that stand for others.
const PLACEHOLDERS: [&str; 22] = [
    "path", "to", "foo", "bar", "baz", "qux", "your", "my", "some", "xxx", "yyy", "example", "name", "dir",
    "file", "folder", "user", "username", "owner", "repo", "org", "project",
];

/// What a code span says.
pub(super) fn read(span: &str) -> Vec<ClaimKind> {
    let span = span.trim();
    if span.contains(char::is_whitespace) {
        return shell::line(span);
    }
    if let Some(dependency) = dependency(span) {
        return vec![dependency];
    }
    path(span).map(ClaimKind::Path).into_iter().collect()
}

/// A path as people write one: relative, with a folder, of ordinary characters. Line numbers behind it are left out.
pub(super) fn path(span: &str) -> Option<String> {
    let span = span.strip_prefix("./").unwrap_or(span);
    let span = span.split_once('#').map_or(span, |(path, _)| path);
    let span = match span.split_once(':') {
        Some((path, line)) if line.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'-' | b',')) => {
            path
        }
        Some(_) => return None,
        None => span,
    };
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+');
    if span.len() > 200
        || span.starts_with(['/', '-', '@'])
        || !span.chars().all(is_usual)
        || span.contains("//")
    {
        return None;
    }
    let path = span.trim_end_matches('/');
    path.split_once('/')?;
    let is_word = |part: &str| part.chars().any(|c| c.is_ascii_alphabetic()) && !part.contains("..");
    if !path.split('/').all(|part| is_word(part) || part == "..") || is_placeholder(path) {
        return None;
    }
    Some(path.to_owned())
}

/// Whether a part of a path is a word that stands for another, or made of one: `your-app`, `test_foo.rs`, `myPlugin.js`.
pub(super) fn is_placeholder(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        let lower = stem.to_lowercase();
        let mut words = lower.split(['-', '_']);
        let is_shouted = part.len() > 2
            && part.contains(['_', '-'])
            && part.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '_' | '-'));
        let is_my =
            stem.strip_prefix("my").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        PLACEHOLDERS.contains(&lower.as_str())
            || words.any(|word| WORDS.contains(&word))
            || lower.starts_with("your")
            || is_my
            || is_shouted
    })
}

/// Words that make any name stand for another.
const WORDS: [&str; 9] = ["foo", "bar", "baz", "qux", "your", "my", "some", "xxx", "hello"];

/// `name@1.2.3`, with a scope or without.
fn dependency(span: &str) -> Option<ClaimKind> {
    let (name, version) = span.rsplit_once('@')?;
    let bare = name.strip_prefix('@').unwrap_or(name);
    let is_name = !bare.is_empty()
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && name.starts_with('@') == name.contains('/');
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    (is_name && is_version)
        .then(|| ClaimKind::Dependency { name: name.to_owned(), version: version.to_owned() })
}

/// Where a link leads, when that is a file beside the document.
pub(super) fn link(target: &str) -> Option<String> {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let target = target.strip_prefix("./").unwrap_or(target);
    if target.is_empty() || target.len() > 300 || target.starts_with(['/', '{', '<', '$', '~']) {
        return None;
    }
    // Addresses, templates, names of Rust and Windows.
    if target.contains([':', '{', '}', '<', '>', '*', '\\', '$', '|', '@', '!', '(']) || target.contains("//")
    {
        return None;
    }
    let target = decoded(target)?;
    let last = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    // `[Vec](Vec)` is a name in Rust's documentation; `[licence](LICENSE)` is a file.
    let is_file = target.contains('/')
        || last.contains('.')
        || last.chars().all(|c| c.is_ascii_uppercase() || c == '-' || c == '_');
    let is_local = !last.starts_with("www.") && !is_placeholder(&target);
    (is_file && is_local && !last.is_empty()).then_some(target)
}

/// `%20` and the like; `None` where it is no UTF-8 then.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit =
            || rest.next().and_then(|b| char::from(b).to_digit(16)).and_then(|d| u8::try_from(d).ok());
        bytes.push(digit()? * 16 + digit()?);
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_everything_else_with_a_slash() {
        for (span, expected) in [
            ("src/a.rs", Some("src/a.rs")),
            ("./src/a.rs:12:3", Some("src/a.rs")),
            ("docs/guide.md#top", Some("docs/guide.md")),
            (".github/workflows/ci.yml", Some(".github/workflows/ci.yml")),
            ("crates/words/", Some("crates/words")),
            ("../docs/x.md", Some("../docs/x.md")),
            ("src", None),
            ("src/", None),
            ("src/**/*.rs", None),
            ("https://x.org/a", None),
            ("/etc/passwd", None),
            ("@scope/name", None),
            ("name@1/x", None),
            ("a::b/c", None),
            ("<dir>/x", None),
            ("$HOME/x", None),
            ("~/x/y", None),
            ("path/to/file.rs", None),
            ("src/your_file.rs", None),
            ("src/MODULE_NAME/x.rs", None),
            ("1/2", None),
            ("a/.../b", None),
            ("GET /users/{id}", None),
        ] {
            assert_eq!(path(span).as_deref(), expected, "{span}");
        }
    }

    #[test]
    fn links_lead_to_files() {
        for (target, expected) in [
            ("docs/a.md#x", Some("docs/a.md")),
            ("a%20b.md", Some("a b.md")),
            ("LICENSE", Some("LICENSE")),
            ("../x", Some("../x")),
            ("Vec", None),
            ("std::vec::Vec", None),
            ("#top", None),
            ("//x.org/a", None),
            ("mailto:a@b.c", None),
            ("/docs/a", None),
            ("{{ url }}", None),
            ("www.example.org", None),
            ("%ff.md", None),
        ] {
            assert_eq!(link(target).as_deref(), expected, "{target}");
        }
    }

    #[test]
    fn dependencies_have_a_version() {
        let of = |span: &str| read(span);
        let made = |name: &str, version: &str| {
            vec![ClaimKind::Dependency { name: name.to_owned(), version: version.to_owned() }]
        };
        assert_eq!(of("react@18"), made("react", "18"));
        assert_eq!(of("@acme/ui@1.2.3-rc.1"), made("@acme/ui", "1.2.3-rc.1"));
        for none in ["me@example.org", "react@latest", "a/b@1", "@x"] {
            assert!(of(none).is_empty(), "{none}");
        }
    }
}
