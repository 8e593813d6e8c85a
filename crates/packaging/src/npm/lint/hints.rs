//! What the manifest does not say and should, and what is packed and should not be.

use super::Lint;
use super::code::Code;
use super::json::Json;
use super::manifest::nested;
use super::message::{Args, Format};
use super::world::join;
use crate::check::Severity;

/// What serves only those who work on a package, at its top. Names that end in `/` are folders.
const INTERNAL: [&str; 32] = [
    "test/",
    "tests/",
    "__tests__/",
    "e2e/",
    ".circleci/",
    ".github/",
    ".husky/",
    ".vscode/",
    ".prettierrc",
    ".prettierignore",
    "prettier.config.js",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintignore",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    ".travis.yml",
    "azure-pipelines.yml",
    "appveyor.yml",
    ".gitattributes",
    ".gitignore",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "CODEOWNERS",
    "Dockerfile",
    "tsconfig.tsbuildinfo",
];

impl Lint<'_> {
    fn hint(&mut self, code: Code, files: &[&str], args: Args) {
        self.say(code, Severity::Note, &["name"], files, args);
    }

    pub(super) fn type_field(&mut self) {
        if self.field("type").is_missing() {
            self.hint(Code::UseType, &[], Args::None {});
        }
    }

    /// Tests and settings of tools, where `files` does not keep them out.
    pub(super) fn files_field(&mut self) {
        if !self.field("files").is_missing() {
            return;
        }
        let mut found: Vec<&str> = INTERNAL.into_iter().filter(|name| self.world.exists(name)).collect();
        let folders: Vec<&str> = found.iter().copied().filter(|name| name.ends_with('/')).collect();
        let below = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
        found.extend(self.world.paths().filter(|path| is_test(path) && !is_installed(path) && !below(path)));
        if !found.is_empty() {
            let internal_file_paths = found.iter().map(|path| format!("/{path}")).collect();
            self.hint(Code::UseFiles, &found, Args::InternalFiles { internal_file_paths });
        }
    }

    /// publint takes the first licence in the archive's order. npm sorts an archive by extension, then by name.
    pub(super) fn licence(&mut self) {
        if !self.field("license").is_missing() {
            return;
        }
        let order = |path: &&str| {
            let name = path.to_lowercase();
            (name.rsplit_once('.').map_or("", |(_, end)| end).to_owned(), name)
        };
        let licence = self.world.paths().filter(|path| is_licence(path)).min_by_key(order);
        if let Some(file) = licence {
            self.hint(Code::UseLicense, &[file], Args::License { license_file_path: format!("/{file}") });
        }
    }

    pub(super) fn local_dependencies(&mut self) {
        let Some(value) = self.field("dependencies").value else { return };
        for (name, version) in value.members() {
            let is_local = |text: &str| text.starts_with("file:") || text.starts_with("link:");
            if version.text().is_some_and(is_local) {
                let at = ["dependencies", &name];
                self.say(Code::LocalDependency, Severity::Error, &at, &[], Args::None {});
            }
        }
    }

    /// Packages for Node.js should say for which versions they are.
    pub(super) fn engines(&mut self) {
        let field = self.published("engines");
        if field.value.and_then(|engines| engines.get("node")).is_some_and(|node| *node != Json::Null) {
            return;
        }
        let exports = self.published("exports").value;
        let main = self.published("main").value.and_then(Json::text);
        let by_condition =
            exports.is_some_and(|value| value.has_key_inside("node") || value.has_key_inside("require"));
        let file = main.and_then(|written| self.world.file_or_index(&join(written)));
        let mut by_code = || file.is_some_and(|file| self.world.source(file).format == Some(Format::Cjs));
        if by_condition || by_code() {
            let at = if field.is_missing() { vec!["name"] } else { field.at };
            self.say(Code::UseEnginesNode, Severity::Note, &at, &[], Args::None {});
        }
    }

    /// Packages for bundlers should say whether their modules do something when they are loaded.
    pub(super) fn side_effects(&mut self) {
        if !self.field("sideEffects").is_missing() {
            return;
        }
        let conditional = ["exports", "imports"].into_iter().any(|name| {
            let value = self.published(name).value;
            value.is_some_and(|value| value.has_key_inside("browser") || value.has_key_inside("module"))
        });
        if conditional || ["module", "browser"].into_iter().any(|name| !self.published(name).is_missing()) {
            self.hint(Code::UseSideEffects, &[], Args::None {});
        }
    }

    pub(super) fn nested_manifests(&mut self) {
        for path in self.world.paths() {
            if !path.ends_with("/package.json") || is_installed(path) {
                continue;
            }
            let Some(manifest) = nested(self.world.bytes(path)) else { continue };
            for field in ["exports", "imports"] {
                if manifest.get(field).is_some_and(|value| *value != Json::Null) {
                    let args = Args::Nested { field, file_path: format!("./{path}") };
                    let code = Code::NestedPackageJsonFieldIgnored;
                    self.say(code, Severity::Warning, &["name"], &[path], args);
                }
            }
        }
    }
}

/// Whether a file lies in a `node_modules`.
fn is_installed(path: &str) -> bool {
    path.split('/').any(|name| name == "node_modules")
}

/// `*.test.*` and `*.spec.*` of JavaScript and TypeScript.
fn is_test(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    let end = end.strip_suffix('x').unwrap_or(end);
    let end = end.strip_prefix(['c', 'm']).unwrap_or(end);
    matches!(end, "js" | "ts") && (stem.ends_with(".test") || stem.ends_with(".spec"))
}

/// Whether a file at the top is a licence by its name.
fn is_licence(path: &str) -> bool {
    let begins = |word: &str| path.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    !path.contains('/') && (begins("copying") || begins("licence") || begins("license"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_names() {
        for name in ["a.test.js", "x/a.spec.mtsx", "a.b.test.cjs", ".test.ts"] {
            assert!(is_test(name), "{name}");
        }
        for name in ["a.test.json", "test.js", "a.tests.js", "a.test.mcjs", "a.test.jsxx", "a.test/b.js"] {
            assert!(!is_test(name), "{name}");
        }
    }

    #[test]
    fn licences_are_told_by_their_beginnings() {
        for (name, expected) in [
            ("LICENSE-MIT", true),
            ("Copying", true),
            ("licence.md", true),
            ("a/LICENSE", false),
            ("UNLICENSE", false),
        ] {
            assert_eq!(is_licence(name), expected, "{name}");
        }
    }
}
