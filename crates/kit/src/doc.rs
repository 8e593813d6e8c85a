//! A tool's module documentation is its title and description: there is no second copy.

/// The `//!` lines at the top of a tool's file: the first is the title, the rest the description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doc(pub &'static str);

impl Doc {
    /// The first line.
    #[must_use]
    pub fn title(&self) -> String {
        self.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
    }

    /// Everything after it, as one paragraph.
    #[must_use]
    pub fn description(&self) -> String {
        let lines: Vec<&str> = self.lines().skip(1).filter(|line| !line.is_empty()).collect();
        lines.join(" ")
    }

    fn lines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.lines().map(|line| line.trim_start_matches("//!").trim())
    }
}

/// How many bytes at the front of `source` are `//!` lines. At compile time, so that a binary carries no source text.
#[must_use]
pub const fn front(source: &[u8]) -> usize {
    let mut at = 0;
    while at + 2 < source.len() && source[at] == b'/' && source[at + 1] == b'/' && source[at + 2] == b'!' {
        while at < source.len() && source[at] != b'\n' {
            at += 1;
        }
        if at < source.len() {
            at += 1;
        }
    }
    at
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

/// The module documentation of the file named, as a [`Doc`]: `doc!("tokens_build.rs")`.
#[macro_export]
macro_rules! doc {
    ($file:literal) => {{
        const SOURCE: &[u8] = include_bytes!($file);
        const FRONT: [u8; $crate::doc::front(SOURCE)] = $crate::doc::take(SOURCE);
        const TEXT: &str = match ::core::str::from_utf8(&FRONT) {
            Ok(text) => text,
            Err(_) => panic!("the module documentation is not UTF-8"),
        };
        $crate::Doc(TEXT)
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_documentation_is_the_title_and_description() {
        const DOC: Doc = crate::doc!("doc.rs");
        assert_eq!(
            DOC.title(),
            "A tool's module documentation is its title and description: there is no second copy"
        );
        assert_eq!(DOC.description(), "");
        let doc = Doc("//! Title.\n//!\n//! One\n//! two.\n");
        assert_eq!((doc.title().as_str(), doc.description().as_str()), ("Title", "One two."));
    }
}
