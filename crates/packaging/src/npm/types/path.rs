//! Paths and the extensions that TypeScript knows. Paths are absolute, with `/` between components.

/// Joins a path to a folder and makes `.` and `..` disappear. A path that is absolute stays; a trailing `/` too.
pub(super) fn join(folder: &str, path: &str) -> String {
    let path = path.replace('\\', "/");
    if absolute(&path) { normal(&path) } else { normal(&format!("{folder}/{path}")) }
}

/// Whether a path starts at a root: of a disk, or of an address.
pub(super) fn absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/')
        || (bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':'))
        || path.contains("://")
}

/// Whether a specifier is a path beside the file that has it.
pub(super) fn relative(specifier: &str) -> bool {
    specifier == "." || specifier == ".." || specifier.starts_with("./") || specifier.starts_with("../")
}

/// Makes `.`, `..` and doubled slashes disappear.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let mut out = format!("/{}", parts.join("/"));
    if path.ends_with('/') && out.len() > 1 {
        out.push('/');
    }
    out
}

/// The folder that a path is in; the root's is the root.
pub(super) fn folder(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

/// The last component.
pub(super) fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

/// A path and the folders above it, the root last.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(path);
    std::iter::from_fn(move || {
        let here = next?;
        next = (here != "/").then(|| folder(here));
        Some(here)
    })
}

/// Whether a path is this folder or below it.
pub(super) fn within(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The extensions that are taken off, in the order in which they are looked for.
const KNOWN: [&str; 12] =
    [".d.ts", ".d.mts", ".d.cts", ".mjs", ".mts", ".cjs", ".cts", ".ts", ".js", ".tsx", ".jsx", ".json"];

/// The known extension of a path. Like TypeScript's, it needs something before it.
pub(super) fn extension(path: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| path.len() > known.len() && path.ends_with(known))
}

/// A path and its extension, known or not; the extension is empty when the name has no dot.
pub(super) fn split_extension(path: &str) -> (&str, &str) {
    let length = match extension(path) {
        Some(known) => known.len(),
        None => path.rfind('.').map_or(0, |dot| path.len() - dot),
    };
    path.split_at(path.len() - length)
}

/// Whether the name is one of TypeScript's: sources and declarations.
pub(super) fn is_typescript(path: &str) -> bool {
    [".ts", ".tsx", ".cts", ".mts"].iter().any(|end| path.len() > end.len() && path.ends_with(end))
}

/// Whether the name is one of JavaScript's.
pub(super) fn is_javascript(path: &str) -> bool {
    [".js", ".jsx", ".mjs", ".cjs"].iter().any(|end| path.len() > end.len() && path.ends_with(end))
}

/// Whether the name is one of a declaration file, `x.d.css.ts` included.
pub(super) fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end))
        || (path.ends_with(".ts") && base(path).contains(".d."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_paths_have_no_dots() {
        assert_eq!(join("/a/b", "./c/../d.js"), "/a/b/d.js");
        assert_eq!(join("/a/b", "lib/"), "/a/b/lib/");
        assert_eq!(join("/a/b", "../../../.."), "/");
        assert_eq!(join("/a/b", "/c"), "/c");
        assert_eq!(join("/a", r".\c\d.js"), "/a/c/d.js");
    }

    #[test]
    fn ancestors_end_at_the_root() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
    }

    #[test]
    fn the_longest_known_extension_is_split_off() {
        assert_eq!(split_extension("/a.b/c.d.mts"), ("/a.b/c", ".d.mts"));
        assert_eq!(split_extension("/c.css"), ("/c", ".css"));
        assert_eq!(split_extension("/c.d.ts"), ("/c", ".d.ts"));
    }

    #[test]
    fn a_folder_is_within_itself_but_not_within_its_namesake() {
        assert!(within("/a/b", "/a/b"));
        assert!(within("/a/b", "/a/b/c"));
        assert!(!within("/a/b", "/a/bc"));
    }
}
