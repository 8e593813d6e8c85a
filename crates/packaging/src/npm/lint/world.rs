//! The package's files, looked up as publint looks them up in an archive.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::glob::{Glob, slashed};
use super::message::Format;
use super::scope::Scopes;
use super::source::{self, Source};
use crate::packed::Packed;

/// What patterns may cost, all of a package together: bytes of the paths that they are compared with, and 64 for each.
/// A hundred patterns that are each compared with ten thousand files of sixty bytes take nearly all of it.
pub const MAX_GLOB_BYTES: usize = 1 << 27;

/// What a comparison costs beside the path's length, in bytes.
const COMPARISON: usize = 64;

pub(super) struct World<'a> {
    packed: &'a Packed,
    files: BTreeMap<&'a str, &'a [u8]>,
    /// With slashes for backslashes, and as they are; sorted.
    by_slashed: Vec<(Cow<'a, str>, &'a str)>,
    scopes: Scopes<'a>,
    sources: BTreeMap<&'a str, Source>,
    globbed: usize,
}

impl<'a> World<'a> {
    pub(super) fn new(packed: &'a Packed) -> Self {
        let files = packed.iter().map(|(path, file)| (path, &*file.bytes)).collect::<BTreeMap<_, _>>();
        let mut by_slashed: Vec<_> = files.keys().map(|path| (slashed(path), *path)).collect();
        by_slashed.sort();
        Self { packed, files, by_slashed, scopes: Scopes::new(packed), sources: BTreeMap::new(), globbed: 0 }
    }

    /// The files' paths, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.packed.iter().map(|(path, _)| path)
    }

    pub(super) fn bytes(&self, file: &str) -> &'a [u8] {
        self.files.get(file).copied().unwrap_or_default()
    }

    pub(super) fn file(&self, path: &str) -> Option<&'a str> {
        self.files.get_key_value(path).map(|(path, _)| *path)
    }

    /// A file at a path, or at the path with `.js` after it, or in the folder of that name the `index.js`.
    pub(super) fn file_or_index(&self, path: &str) -> Option<&'a str> {
        let slash = if path.is_empty() || path.ends_with('/') { "" } else { "/" };
        self.file(path)
            .or_else(|| self.file(&format!("{path}.js")))
            .or_else(|| self.file(&format!("{path}{slash}index.js")))
    }

    /// Whether there is a file or a folder.
    pub(super) fn exists(&self, path: &str) -> bool {
        path.is_empty() || self.packed.has(path) || self.packed.has_folder(path)
    }

    pub(super) fn source(&mut self, file: &'a str) -> Source {
        let bytes = self.bytes(file);
        *self.sources.entry(file).or_insert_with(|| Source::read(bytes))
    }

    pub(super) fn starts_by_env(&self, file: &str) -> bool {
        source::starts_by_env(self.bytes(file))
    }

    /// What Node.js takes a file for.
    pub(super) fn expected(&self, path: &str) -> Format {
        // Files for React Native: the extension before it says the format.
        let path = path.strip_suffix(".native.js").unwrap_or(path);
        self.by_extension(path, [".mjs", ".cjs"])
    }

    /// What TypeScript takes a declaration for.
    pub(super) fn expected_types(&self, path: &str) -> Format {
        self.by_extension(path, [".d.mts", ".d.cts"])
    }

    fn by_extension(&self, path: &str, [esm, cjs]: [&str; 2]) -> Format {
        if path.ends_with(esm) {
            Format::Esm
        } else if path.ends_with(cjs) {
            Format::Cjs
        } else {
            self.scopes.format(path.rsplit_once('/').map_or("", |(folder, _)| folder))
        }
    }

    /// The format of a file when it is clear and not the expected one, and the expected one. `path` is the file as it was asked
    /// for, which is what the expectation goes by.
    pub(super) fn misread(&mut self, file: &'a str, path: &str) -> Option<(Format, Format)> {
        let expected = self.expected(path);
        self.source(file).format.filter(|actual| *actual != expected).map(|actual| (actual, expected))
    }

    /// The files that a pattern fits, without those whose key fits one that is `null`. `key` is the key in which the first star
    /// stands for what the pattern's first star does.
    pub(super) fn fitting(&mut self, pattern: &str, key: Option<&str>, without: &[Glob<'_>]) -> Vec<&'a str> {
        let glob = Glob::path(pattern);
        let prefix = glob.prefix();
        let mut found = Vec::new();
        let from = self.by_slashed.partition_point(|(path, _)| &**path < prefix);
        for (path, file) in self.by_slashed.iter().skip(from) {
            if !path.starts_with(prefix) || self.globbed > MAX_GLOB_BYTES {
                break;
            }
            self.globbed += path.len() + COMPARISON;
            let Some(stars) = glob.stars(path) else { continue };
            let Some((first, others)) = stars.split_last() else { continue };
            // A key has one star, so all stars of its target stand for the same.
            if others.iter().any(|star| star != first) {
                continue;
            }
            if let (Some(key), false) = (key, without.is_empty()) {
                let key = key.replacen('*', first, 1);
                self.globbed += (key.len() + COMPARISON) * without.len();
                if without.iter().any(|glob| glob.stars(&key).is_some()) {
                    continue;
                }
            }
            found.push(*file);
        }
        found
    }

    /// Whether the patterns asked for more than [`MAX_GLOB_BYTES`].
    pub(super) fn is_exhausted(&self) -> bool {
        self.globbed > MAX_GLOB_BYTES
    }
}

/// A path of the manifest as one below the package's top: `./` and doubled slashes are taken out; `..` stays, as does a `.` at
/// the end, and so they lead nowhere.
pub(super) fn join(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    loop {
        while let Some(after) = rest.strip_prefix("./").or_else(|| rest.strip_prefix('/')) {
            rest = after;
        }
        let Some((name, after)) = rest.split_once('/') else { break };
        out.push_str(name);
        out.push('/');
        rest = after;
    }
    out.push_str(rest);
    out
}

/// From the last dot of a path, the path being whole when it has none.
pub(super) fn extension(path: &str) -> String {
    path.rsplit_once('.').map_or_else(|| path.to_owned(), |(_, name)| format!(".{name}"))
}

/// Whether publint looks at the code of files that are called so.
pub(super) fn is_script(path: &str) -> bool {
    [".js", ".mjs", ".cjs"].iter().any(|end| path.ends_with(end))
}

/// The extension before `jsx` or `tsx` that means nothing.
pub(super) fn meaningless_extension(path: &str) -> Option<&'static str> {
    [".mjsx", ".cjsx", ".mtsx", ".ctsx"].into_iter().find(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_manifest_are_joined_without_resolving_dots() {
        for (path, expected) in [
            ("a.js", "a.js"),
            ("./a.js", "a.js"),
            ("/a.js", "a.js"),
            (".//./a//./b/", "a/b/"),
            ("", ""),
            ("./", ""),
            (".", "."),
            ("a/.", "a/."),
            ("../a", "../a"),
            ("a/../b", "a/../b"),
            ("a./b", "a./b"),
        ] {
            assert_eq!(join(path), expected, "{path}");
        }
    }

    #[test]
    fn what_a_field_names_is_looked_for_in_three_places() {
        let packed = Packed::new().with("a.js", "").with("b/index.js", "").with("index.js", "").with("c", "");
        let world = World::new(&packed);
        for (path, expected) in [
            ("c", Some("c")),
            ("a", Some("a.js")),
            ("b", Some("b/index.js")),
            ("b/", Some("b/index.js")),
            ("", Some("index.js")),
            ("d", None),
            (".", None),
        ] {
            assert_eq!(world.file_or_index(path), expected, "{path}");
        }
        assert!(world.exists("b") && world.exists("b/") && world.exists("") && !world.exists("bb"));
    }

    #[test]
    fn a_path_without_a_dot_is_its_own_extension() {
        assert_eq!(extension("lib/a.d.mts"), ".mts");
        assert_eq!(extension("./types/a"), "./types/a");
        assert_eq!(extension("types"), "types");
    }
}
