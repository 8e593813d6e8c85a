//! Whether `exports` leads TypeScript to types, and to those of the right format. Only the package itself is looked at, not its
//! subpaths.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Lint;
use super::code::Code;
use super::json::Json;
use super::message::{Args, Format};
use super::world::{extension, join};
use crate::check::Severity;

/// What conditions lead to.
struct Resolved<'a> {
    written: &'a str,
    at: Vec<Cow<'a, str>>,
}

/// A way to ask for the package.
struct Question<'a> {
    condition: &'static str,
    /// The format that asks.
    format: Format,
    /// Whether `import` and `require` lead to two files.
    is_dual: bool,
    /// The code that is got.
    code: Option<&'a Resolved<'a>>,
}

impl<'a> Lint<'a> {
    pub(super) fn types_of_root(&mut self, exports: &'a Json, at: &[&'a str]) {
        let mut at: Vec<Cow<'a, str>> = at.iter().map(|key| Cow::Borrowed(*key)).collect();
        let root = match exports {
            Json::Object(members) if members.first().is_some_and(|(key, _)| key.starts_with('.')) => {
                at.push(Cow::Borrowed("."));
                members.get(".")
            }
            other => Some(other),
        };
        let (Some(root), Some(types)) = (root, self.types()) else { return };
        let mut seen = BTreeSet::new();
        for environment in ["", "node", "browser", "worker"] {
            let by = |conditions: &[&str]| resolve(root, conditions, &mut at.clone());
            let code = ["import", "require"].map(|condition| by(&[condition, environment]));
            let is_dual = matches!(&code, [Some(import), Some(require)] if import.written != require.written);
            for ((condition, format), code) in
                [("import", Format::Esm), ("require", Format::Cjs)].into_iter().zip(&code)
            {
                let Some(resolved) = by(&["types", condition, environment]) else { continue };
                let key = format!("{}{}", resolved.at.join("."), if is_dual { condition } else { "" });
                if seen.insert(key) && self.world.exists(&join(resolved.written)) {
                    let question = Question { condition, format, is_dual, code: code.as_ref() };
                    self.types_for(&question, &resolved, types);
                }
            }
        }
    }

    /// The types that there are, as the manifest says; empty where it says so with something that is no text.
    fn types(&self) -> Option<&'a str> {
        let named = ["types", "typings"].into_iter().find_map(|name| self.published(name).truthy());
        let by_default = || {
            let file = self.world.file("index.d.ts")?;
            (!self.is_blank(file)).then_some("./index.d.ts")
        };
        named.map(|types| types.text().unwrap_or_default()).or_else(by_default)
    }

    fn is_blank(&self, file: &str) -> bool {
        super::source::without_mark(self.world.bytes(file)).is_empty()
    }

    fn types_for(&mut self, question: &Question<'_>, resolved: &Resolved<'_>, types: &str) {
        let at: Vec<&str> = resolved.at.iter().map(|key| &**key).collect();
        let path = join(resolved.written);
        if !is_declaration(resolved.written) {
            if types.is_empty() || self.world.exists(&join(&declaration_of(resolved.written))) {
                return;
            }
            let fits = self.world.expected_types(&join(types)) == question.format;
            let args = Args::Types {
                types_file_path: types.to_owned(),
                actual_extension: (!fits).then(|| extension(types)),
                expect_extension: (!fits).then(|| question.format.types_extension().to_owned()),
            };
            return self.say(Code::TypesNotExported, Severity::Warning, &at, &[&path], args);
        }
        let actual = self.world.expected_types(&path);
        // With one file for both, types are to be of its format, whoever asks.
        let code = question.code.filter(|_| !question.is_dual).map(|code| join(code.written));
        let expected = code
            .filter(|path| self.world.exists(path))
            .map_or(question.format, |path| self.world.expected(&path));
        if actual == expected {
            return;
        }
        let mut expect_path: Vec<String> = at.iter().map(|key| (*key).to_owned()).collect();
        if !at.contains(&question.condition) {
            // The condition goes before a last `types`, and after one that has more below it.
            let last = at.len().saturating_sub(1);
            let place = if at.iter().position(|key| *key == "types") == Some(last) { last } else { at.len() };
            expect_path.insert(place, question.condition.to_owned());
        }
        let args = Args::TypesFormat {
            condition: question.condition,
            actual_format: actual,
            expect_format: expected,
            actual_extension: extension(resolved.written),
            expect_extension: expected.types_extension().to_owned(),
            expect_path,
        };
        self.say(Code::ExportsTypesInvalidFormat, Severity::Warning, &at, &[&path], args);
    }
}

/// What the first fitting condition leads to; of an array, the first element. Nothing after a `default` is tried. Recursion is
/// bounded by how deep JSON may nest: 128.
fn resolve<'a>(value: &'a Json, conditions: &[&str], at: &mut Vec<Cow<'a, str>>) -> Option<Resolved<'a>> {
    match value {
        Json::String(written) => Some(Resolved { written, at: at.clone() }),
        Json::Array(items) => {
            at.push(Cow::Borrowed("0"));
            let found = items.first().and_then(|item| resolve(item, conditions, at));
            at.pop();
            found
        }
        Json::Object(members) => {
            for (key, item) in members.iter() {
                let is_default = key == "default";
                if is_default || (!key.is_empty() && conditions.contains(&key.as_str())) {
                    at.push(Cow::Borrowed(key));
                    let found = resolve(item, conditions, at);
                    at.pop();
                    if found.is_some() || is_default {
                        return found;
                    }
                }
            }
            None
        }
        _ => None,
    }
}

fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end))
}

/// Where TypeScript looks for the types of a script. What is none stands for itself.
fn declaration_of(path: &str) -> String {
    let stem = path.strip_suffix('x').unwrap_or(path);
    [(".js", ".d.ts"), (".mjs", ".d.mts"), (".cjs", ".d.cts")]
        .iter()
        .find_map(|(end, types)| Some(format!("{}{types}", stem.strip_suffix(end)?)))
        .unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scripts_types_stand_beside_it() {
        for (path, expected) in [
            ("a.js", "a.d.ts"),
            ("a.jsx", "a.d.ts"),
            ("a.mjs", "a.d.mts"),
            ("a.cjs", "a.d.cts"),
            ("a.json", "a.json"),
            ("a.ts", "a.ts"),
            ("ax", "ax"),
        ] {
            assert_eq!(declaration_of(path), expected);
        }
    }

    #[test]
    fn nothing_after_default_is_tried() {
        let value =
            Json::parse(br#"{"node":{"x":"./a"},"default":{"import":"./b"},"require":"./c"}"#).unwrap();
        let by = |conditions: &[&str]| {
            resolve(&value, conditions, &mut Vec::new()).map(|found| found.at.join("."))
        };
        assert_eq!(by(&["node", "import"]).as_deref(), Some("default.import"));
        assert_eq!(by(&["node", "require"]), None);
    }
}
