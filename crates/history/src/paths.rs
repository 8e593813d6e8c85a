//! Paths inside a repository, as they come in and as they are shown.

use gix::bstr::{BStr, BString, ByteSlice};

use crate::error::{Done, HistoryError};

/// A path for reading: UTF-8 as it is, any other byte as `\xNN`. Paths with such bytes cannot be given back.
pub(crate) fn show(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// Checks a path that a caller gives: relative, of plain parts, a trailing slash allowed. `.` is the top.
pub(crate) fn given(path: &str) -> Done<BString> {
    let bad = || HistoryError::BadPath(path.to_owned());
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    if trimmed == "." {
        return Ok(BString::default());
    }
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    if trimmed.is_empty() || !trimmed.split('/').all(plain) {
        return Err(bad());
    }
    Ok(BString::from(trimmed))
}

/// Which paths are meant: all, or those that are or lie below one of a list. Nothing in them is a pattern.
pub(crate) struct Selection(Vec<BString>);

impl Selection {
    pub(crate) fn new(paths: &[String]) -> Done<Self> {
        let paths: Vec<BString> = paths.iter().map(|p| given(p)).collect::<Done<_>>()?;
        // The top itself is everything.
        Ok(Self(if paths.iter().any(|p| p.is_empty()) { Vec::new() } else { paths }))
    }

    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn paths(&self) -> &[BString] {
        &self.0
    }

    /// Whether the path is selected.
    pub(crate) fn has(&self, path: &BStr) -> bool {
        self.is_all() || self.0.iter().any(|p| path == p || below(path, p.as_bstr()))
    }

    /// Whether a directory is selected or has a selected path below it.
    pub(crate) fn reaches(&self, dir: &BStr) -> bool {
        self.has(dir) || self.0.iter().any(|p| dir.is_empty() || below(p.as_bstr(), dir))
    }
}

/// Whether `path` lies below the directory `dir`.
pub(crate) fn below(path: &BStr, dir: &BStr) -> bool {
    path.strip_prefix(dir.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// `dir/name`, or `name` at the top.
pub(crate) fn join(dir: &BStr, name: &[u8]) -> BString {
    let mut out = BString::from(Vec::with_capacity(dir.len() + 1 + name.len()));
    if !dir.is_empty() {
        out.extend_from_slice(dir);
        out.push(b'/');
    }
    out.extend_from_slice(name);
    out
}

/// The last part of a path.
pub(crate) fn base(path: &BStr) -> &BStr {
    path.rfind_byte(b'/').and_then(|at| path.get(at + 1..)).map_or(path, |b| b.as_bstr())
}

/// The directory that a path is in; empty at the top.
pub(crate) fn parent(path: &BStr) -> &BStr {
    path.rfind_byte(b'/').and_then(|at| path.get(..at)).unwrap_or_default().as_bstr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_are_refused() {
        for good in ["a", "a/b", "a/b/", ".", "ä", "-a", ":(glob)a", "a b"] {
            assert!(given(good).is_ok(), "{good}");
        }
        for bad in ["", "/", "/a", "../a", "a/../b", "a//b", "./a", "a/.", "a\0b"] {
            assert!(given(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_selection_reaches_down_and_up() {
        let some = Selection::new(&["a/b".to_owned(), "c/".to_owned()]).unwrap();
        for inside in ["a/b", "a/b/x", "c", "c/d/e"] {
            assert!(some.has(inside.into()), "{inside}");
        }
        for outside in ["a", "a/bc", "cd", "d"] {
            assert!(!some.has(outside.into()), "{outside}");
        }
        assert!(some.reaches("a".into()) && some.reaches("".into()) && !some.reaches("d".into()));
        assert!(Selection::new(&[".".to_owned()]).unwrap().has("x".into()));
    }

    #[test]
    fn bytes_that_are_not_text_are_shown() {
        assert_eq!(show(b"a\xff/\xc3\xa4"), "a\\xff/ä");
    }
}
