//! A tool's module documentation is its title and description: there is no second copy.

/// What the `//!` lines at the top of a tool's file say. It is put together at compile time: a server of a hundred tools starts
/// without doing that for any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doc {
    /// The first line, without its full stop.
    pub title: &'static str,
    /// Everything after it, as one paragraph.
    pub description: &'static str,
}

/// How many bytes at the front of `source` are `//!` lines. At compile time, so that a binary carries no source text.
#[must_use]
pub const fn front(source: &[u8]) -> usize {
    let mut at = 0;
    while at + 2 < source.len() && source[at] == b'/' && source[at + 1] == b'/' && source[at + 2] == b'!' {
        at = end_of_line(source, at);
        if at < source.len() {
            at += 1;
        }
    }
    at
}

/// Where the line that has the byte `at` ends: at its newline, or where the source does.
const fn end_of_line(source: &[u8], mut at: usize) -> usize {
    while at < source.len() && source[at] != b'\n' {
        at += 1;
    }
    at
}

/// What the `//!` lines in the first `N` bytes of a source say, and of it the length of the title and of all: the description follows the
/// title at once.
#[must_use]
pub const fn said<const N: usize>(source: &[u8]) -> ([u8; N], usize, usize) {
    let mut out = [0; N];
    let (mut title, mut len, mut at) = (0, 0, 0);
    while at < N {
        let mut end = end_of_line(source, at);
        let next = end + 1;
        let is_first = at == 0;
        // The marker is of three bytes.
        at += 3;
        while at < end && source[at].is_ascii_whitespace() {
            at += 1;
        }
        while end > at && source[end - 1].is_ascii_whitespace() {
            end -= 1;
        }
        while is_first && end > at && source[end - 1] == b'.' {
            end -= 1;
        }
        if at < end && !is_first && len > title {
            out[len] = b' ';
            len += 1;
        }
        while at < end {
            out[len] = source[at];
            (len, at) = (len + 1, at + 1);
        }
        if is_first {
            title = len;
        }
        at = next;
    }
    (out, title, len)
}

/// The first `N` bytes of `source`.
#[must_use]
pub const fn take<const N: usize>(source: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let mut at = 0;
    while at < N {
        out[at] = source[at];
        at += 1;
    }
    out
}

/// The text in `bytes` from `start` to `end`.
///
/// # Panics
///
/// At compile time, where it is not UTF-8.
#[must_use]
#[expect(clippy::panic, reason = "at compile time: the file is to be mended")]
pub const fn text(bytes: &'static [u8], start: usize, end: usize) -> &'static str {
    match core::str::from_utf8(bytes.split_at(end).0.split_at(start).1) {
        Ok(text) => text,
        Err(_) => panic!("the module documentation is not UTF-8"),
    }
}

/// The module documentation of the file named, as a [`Doc`]: `doc!("tokens_build.rs")`.
#[macro_export]
macro_rules! doc {
    ($file:literal) => {{
        const SOURCE: &[u8] = include_bytes!($file);
        const SAID: ([u8; $crate::doc::front(SOURCE)], usize, usize) = $crate::doc::said(SOURCE);
        const TEXT: [u8; SAID.2] = $crate::doc::take(&SAID.0);
        $crate::Doc {
            title: $crate::doc::text(&TEXT, 0, SAID.1),
            description: $crate::doc::text(&TEXT, SAID.1, SAID.2),
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `source` says: its title and its description.
    fn of<const N: usize>(source: &str) -> (String, String) {
        assert_eq!(front(source.as_bytes()), N);
        let (out, title, len) = said::<N>(source.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&out[..title]), text(&out[title..len]))
    }

    #[test]
    fn the_module_documentation_is_the_title_and_description() {
        const DOC: Doc = crate::doc!("doc.rs");
        assert_eq!(
            DOC.title,
            "A tool's module documentation is its title and description: there is no second copy"
        );
        assert_eq!(DOC.description, "");
        assert_eq!(
            of::<32>("//! Title.\n//!\n//! One\n//! two.\n\ncode"),
            ("Title".into(), "One two.".into())
        );
        assert_eq!(of::<24>("//! Title…\n//! One  \r\n//"), ("Title…".into(), "One".into()));
        assert_eq!(of::<11>("//!  Title."), ("Title".into(), String::new()));
        assert_eq!(of::<0>("code"), (String::new(), String::new()));
    }
}
