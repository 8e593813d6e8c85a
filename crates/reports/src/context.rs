//! Where a run was: what its file names mean.

use std::borrow::Cow;

/// Where a program ran. Paths use `/`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The root's absolute path. Files below it are named relative to it. Empty: none is.
    pub root: &'a str,
    /// The directory of the run, relative to the root; empty or `.` for the root itself.
    pub dir: &'a str,
    /// Go modules and the directory of each, relative to the root: `go test` names only the base of a file, and the
    /// package says the rest. Without it such files stay bare names.
    pub modules: &'a [(&'a str, &'a str)],
}

/// A file as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Relative to the root, or as the program says it.
    pub(crate) file: String,
    /// Whether it lies outside the root, and so is as the program says it.
    pub(crate) outside: bool,
}

impl Context<'_> {
    /// A file that a program names, seen from the run's directory.
    pub(crate) fn place(&self, said: &str) -> Place {
        self.place_from(self.dir, said)
    }

    /// A file that a program names, seen from `dir` (relative to the root).
    pub(crate) fn place_from(&self, dir: &str, said: &str) -> Place {
        let path = unescaped(said);
        let inside = if path.starts_with('/') {
            self.below(&path).and_then(resolved)
        } else {
            resolved(&format!("{dir}/{path}"))
        };
        match inside {
            Some(file) if !file.is_empty() => Place { file, outside: false },
            _ => Place { file: path.into_owned(), outside: true },
        }
    }

    /// The directory `said`, relative to the root; nothing when it is outside.
    pub(crate) fn directory(&self, said: &str) -> Option<String> {
        if said.starts_with('/') {
            resolved(self.below(said)?)
        } else {
            resolved(&format!("{}/{said}", self.dir))
        }
    }

    /// A file of a Go package by its base name.
    pub(crate) fn of_package(&self, package: &str, base: &str) -> Place {
        let named = Place { file: base.to_owned(), outside: false };
        if base.contains('/') {
            return self.place(base);
        }
        // A test package is named `path_test` or `path.test`; its files lie in the directory of `path`.
        let package =
            package.strip_suffix(".test").or_else(|| package.strip_suffix("_test")).unwrap_or(package);
        let found = self.modules.iter().filter_map(|(module, dir)| {
            let rest = package.strip_prefix(module)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| (module.len(), format!("{dir}/{rest}/{base}")))
        });
        let Some((_, path)) = found.max_by_key(|(length, _)| *length) else { return named };
        resolved(&path).map_or(named, |file| Place { file, outside: false })
    }

    /// `text` with the root's own path taken out of every file name in it.
    pub(crate) fn without_root<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let root = self.root.trim_end_matches('/');
        if root.len() < 2 || !text.contains(root) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace(&format!("file://{root}/"), "").replace(&format!("{root}/"), ""))
    }

    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let root = self.root.trim_end_matches('/');
        if self.root.is_empty() {
            return None;
        }
        let rest = path.strip_prefix(root)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}

/// `.` and `..` resolved; nothing when the path leaves where it began.
fn resolved(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A `file:` URI as a path, with its percent signs decoded; anything else as it is.
fn unescaped(said: &str) -> Cow<'_, str> {
    let Some(rest) = said.strip_prefix("file://") else { return Cow::Borrowed(said) };
    // An authority (`file://host/path`) is passed over.
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let Some((&first, rest)) = left.split_first() {
        let hex = rest.get(..2).filter(|_| first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            left = rest.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            left = rest;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context<'static> {
        Context {
            root: "/srv/shop",
            dir: "web",
            modules: &[("example.com/shop", "go"), ("example.com/shop/sub", "s")],
        }
    }

    #[test]
    fn files_are_relative_to_the_root() {
        let file = |said| context().place(said).file;
        assert_eq!(file("/srv/shop/go/a.go"), "go/a.go");
        assert_eq!(file("./src/a.js"), "web/src/a.js");
        assert_eq!(file("../go/a.go"), "go/a.go");
        assert_eq!(file("file:///srv/shop/web/a%20b.js"), "web/a b.js");
    }

    #[test]
    fn files_outside_the_root_stay_as_they_are_said() {
        for said in ["/srv/shop2/a.go", "../../etc/passwd", "/usr/include/stdio.h", "/srv/shop/../x"] {
            assert_eq!(context().place(said), Place { file: said.to_owned(), outside: true });
        }
    }

    #[test]
    fn files_of_a_package_lie_in_its_directory() {
        let file = |package, base| context().of_package(package, base).file;
        assert_eq!(file("example.com/shop/cart", "cart_test.go"), "go/cart/cart_test.go");
        assert_eq!(file("example.com/shop/sub/x_test", "x_test.go"), "s/x/x_test.go");
        assert_eq!(file("example.com/shopping/cart", "cart_test.go"), "cart_test.go");
    }

    #[test]
    fn the_root_leaves_texts() {
        assert_eq!(
            context().without_root("in /srv/shop/go/a.go of /srv/shop2/b"),
            "in go/a.go of /srv/shop2/b"
        );
    }
}
