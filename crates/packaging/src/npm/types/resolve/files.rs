//! Files: which names are tried for one (§3.4, rule 3).

use super::super::path::{base, is_declaration, split_extension};
use super::{Ask, Wanted};

impl Ask<'_> {
    /// A path as a file: with its extension replaced, then with one appended.
    pub(super) fn file(&self, wanted: Wanted, path: &str) -> Option<String> {
        self.replaced(wanted, path).or_else(|| if self.esm { None } else { self.tried(wanted, path, "") })
    }

    /// A path that a package.json names: declarations and sources as they are written, others with their extension
    /// replaced; nothing is appended.
    pub(super) fn named_file(&self, wanted: Wanted, path: &str) -> Option<String> {
        let source = [".ts", ".tsx", ".mts", ".cts"].iter().any(|end| path.ends_with(end));
        let declaration = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end));
        if (source && wanted.has(Wanted::SOURCES)) || (declaration && wanted.has(Wanted::DECLARATIONS)) {
            return self.world.has_file(path).then(|| path.to_owned());
        }
        self.replaced(wanted, path)
    }

    fn replaced(&self, wanted: Wanted, path: &str) -> Option<String> {
        if !base(path).contains('.') {
            return None;
        }
        let (stem, extension) = split_extension(path);
        self.tried(wanted, stem, extension)
    }

    /// The names that are tried for a stem whose extension was this one; empty when it had none.
    fn tried(&self, wanted: Wanted, stem: &str, extension: &str) -> Option<String> {
        let (sources, declaration, scripts): (&[&str], &str, &[&str]) = match extension {
            ".mjs" | ".mts" | ".d.mts" => (&[".mts"], ".d.mts", &[".mjs"]),
            ".cjs" | ".cts" | ".d.cts" => (&[".cts"], ".d.cts", &[".cjs"]),
            ".jsx" | ".tsx" => (&[".tsx", ".ts"], ".d.ts", &[".jsx", ".js"]),
            ".ts" | ".d.ts" | ".js" | "" => (&[".ts", ".tsx"], ".d.ts", &[".js", ".jsx"]),
            ".json" => {
                let declared =
                    wanted.has(Wanted::DECLARATIONS).then(|| self.existing(stem, ".d.json.ts")).flatten();
                return declared
                    .or_else(|| wanted.has(Wanted::JSON).then(|| self.existing(stem, ".json")).flatten());
            }
            other => {
                if !wanted.has(Wanted::DECLARATIONS) || is_declaration(&format!("{stem}{other}")) {
                    return None;
                }
                return self.existing(stem, &format!(".d{other}.ts"));
            }
        };
        let of = |set: Wanted, ends: &[&str]| {
            if wanted.has(set) { ends.iter().find_map(|end| self.existing(stem, end)) } else { None }
        };
        of(Wanted::SOURCES, sources)
            .or_else(|| of(Wanted::DECLARATIONS, &[declaration]))
            .or_else(|| of(Wanted::SCRIPTS, scripts))
    }

    fn existing(&self, stem: &str, extension: &str) -> Option<String> {
        let path = format!("{stem}{extension}");
        self.world.has_file(&path).then_some(path)
    }
}
