//! `package.json` as npm hands it to its packer (`npm-packing.md` §1.1).

use std::collections::BTreeSet;

use super::ListError;
use crate::npm::json::Json;

/// What decides what is packed, and how the archive is called.
#[derive(Debug, Clone, Default)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    /// Entries of `files`, where there is such a field.
    pub(super) files: Option<Vec<String>>,
    /// `browser` and `main`, as they are in a text.
    pub(super) required: Vec<String>,
    /// Targets of `bin`.
    pub(super) bins: Vec<String>,
    /// `directories.bin`, where it takes the place of `bin`.
    pub(super) bin_folder: Option<String>,
    /// Values of `patchedDependencies`.
    pub(super) patches: Vec<String>,
    /// Names that are bundled.
    pub(super) bundled: Vec<String>,
    pub(super) dependencies: Dependencies,
    /// Entries of `workspaces`; nothing when it is something that npm cannot read.
    pub(super) workspaces: Option<Vec<String>>,
}

/// Names of what a package depends on, and where `file:` says that they are.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependencies {
    pub(super) production: BTreeSet<String>,
    pub(super) optional: BTreeSet<String>,
    pub(super) development: BTreeSet<String>,
    /// Folders relative to the package, by name.
    pub(super) folders: Vec<(String, String)>,
}

impl Manifest {
    /// Reads a manifest. `path` is said in errors.
    pub(super) fn read(bytes: &[u8], path: &str) -> Result<Self, ListError> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let manifest = |why: String| ListError::Manifest { path: path.to_owned(), why };
        let json: Json = serde_json::from_str(text).map_err(|error| manifest(error.to_string()))?;
        let Json::Object(mut entries) = json else { return Err(manifest("it is no object".to_owned())) };
        entries.retain(|(key, _)| !key.starts_with('_'));
        let json = Json::Object(entries);
        let text = |key: &str| json.get(key).and_then(Json::text).filter(|text| !text.is_empty());
        let truthy = |key: &str| json.get(key).filter(|value| value.is_truthy());
        let (bins, has_bins) = bins(&json);
        let bin_folder = json.get("directories").and_then(|folders| folders.get("bin")).and_then(Json::text);
        Ok(Self {
            name: text("name").map(str::to_owned),
            version: text("version").map(str::to_owned),
            files: files(json.get("files"), path)?,
            required: ["browser", "main"].iter().filter_map(|key| truthy(key)).map(Json::shown).collect(),
            bins,
            bin_folder: bin_folder.filter(|folder| !has_bins && !folder.is_empty()).map(secured),
            patches: patches(&json),
            bundled: bundled(&json),
            dependencies: Dependencies::read(&json),
            workspaces: workspaces(&json),
        })
    }
}

impl Dependencies {
    fn read(json: &Json) -> Self {
        let entries = |key: &str| json.get(key).map_or(&[][..], Json::entries);
        let names = |key: &str| entries(key).iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
        let optional = names("optionalDependencies");
        let mut production = names("dependencies");
        production.retain(|name| !optional.contains(name));
        let all = [entries("dependencies"), entries("optionalDependencies")].concat();
        let folders = all.iter().filter_map(|(name, range)| {
            let range = range.text()?;
            let folder = range.strip_prefix("file:").or_else(|| range.strip_prefix("link:"))?;
            Some((name.clone(), folder.to_owned()))
        });
        Self { production, optional, development: names("devDependencies"), folders: folders.collect() }
    }

    /// Whether something is bundled when its name is asked for. What is needed for development, too, is not.
    pub(super) fn bundles(&self, name: &str, at_top: bool) -> bool {
        (self.production.contains(name) || self.optional.contains(name))
            && !(at_top && self.development.contains(name))
    }
}

/// `files`: a list of texts, or a text whose characters are taken for one.
fn files(value: Option<&Json>, path: &str) -> Result<Option<Vec<String>>, ListError> {
    let wrong = || ListError::Files { path: path.to_owned() };
    match value.filter(|value| value.is_truthy()) {
        None => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text.chars().map(String::from).collect())),
        Some(Json::List(entries)) => {
            let texts = entries.iter().map(|entry| entry.text().map(str::to_owned).ok_or_else(wrong));
            texts.collect::<Result<_, _>>().map(Some)
        }
        Some(_) => Err(wrong()),
    }
}

/// The targets of `bin`, and whether the field is there at all.
fn bins(json: &Json) -> (Vec<String>, bool) {
    let Some(bin) = json.get("bin").filter(|bin| bin.is_truthy()) else { return (Vec::new(), false) };
    let named: Vec<(String, Json)> = match bin {
        Json::Text(_) => match json.get("name").filter(|name| name.is_truthy()) {
            Some(name) => vec![(name.shown(), bin.clone())],
            None => Vec::new(),
        },
        Json::List(items) => {
            items.iter().map(|item| (base(&item.shown()).to_owned(), item.clone())).collect()
        }
        other => other.entries().to_vec(),
    };
    // Commands are called by the last component of their keys; of those that come to have one name, one is left.
    let mut bins: Vec<(String, Json)> = Vec::new();
    for (key, value) in named {
        put(&mut bins, key, value);
    }
    let keys: Vec<String> = bins.iter().map(|(key, _)| key.clone()).collect();
    for key in keys {
        let Some(at) = bins.iter().position(|(name, _)| *name == key) else { continue };
        let (_, value) = bins.remove(at);
        let name = secured(&key);
        let target = value.text().map(secured).unwrap_or_default();
        if !base(&name).is_empty() && !target.is_empty() {
            put(&mut bins, base(&name).to_owned(), Json::Text(target));
        }
    }
    (bins.iter().filter_map(|(_, target)| target.text()).map(str::to_owned).collect(), true)
}

fn put(entries: &mut Vec<(String, Json)>, key: String, value: Json) {
    match entries.iter_mut().find(|(name, _)| *name == key) {
        Some(entry) => entry.1 = value,
        None => entries.push((key, value)),
    }
}

/// A path that stays below the package: `\` and `:` are slashes, `.` and `..` resolved.
pub(super) fn secured(path: &str) -> String {
    let path = path.replace(['\\', ':'], "/");
    let mut joined = resolved(&path).join("/");
    if path.ends_with('/') && !joined.is_empty() {
        joined.push('/');
    }
    joined
}

/// The components of a path when it is taken from the top, beyond which `..` does not lead.
pub(super) fn resolved(path: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            name => out.push(name),
        }
    }
    out
}

/// The last component of a path.
pub(super) fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

/// Patch files that are below the package.
fn patches(json: &Json) -> Vec<String> {
    let values = match json.get("patchedDependencies") {
        Some(Json::Object(entries)) => entries.iter().map(|(_, value)| value).collect(),
        Some(Json::List(items)) => items.iter().collect(),
        _ => Vec::new(),
    };
    let mut out = Vec::new();
    for value in values {
        let Some(path) = value.text() else { continue };
        let path = path.replace('\\', "/");
        let path = path.strip_prefix("./").or_else(|| path.strip_prefix('/')).unwrap_or(&path);
        let path = path.trim_end_matches('/');
        let outside =
            path.starts_with('/') || path == ".." || path.starts_with("../") || path.contains("/../");
        if !path.is_empty() && !outside {
            out.push(path.to_owned());
        }
    }
    out
}

fn bundled(json: &Json) -> Vec<String> {
    match json.get("bundleDependencies").or_else(|| json.get("bundledDependencies")) {
        Some(Json::Bool(true)) => {
            let entries = json.get("dependencies").map_or(&[][..], Json::entries);
            entries.iter().map(|(name, _)| name.clone()).collect()
        }
        Some(Json::List(names)) => names.iter().filter_map(Json::text).map(str::to_owned).collect(),
        Some(Json::Object(entries)) => entries.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

fn workspaces(json: &Json) -> Option<Vec<String>> {
    let list = match json.get("workspaces") {
        None => return Some(Vec::new()),
        Some(value) => match value.get("packages") {
            Some(packages @ Json::List(_)) => packages,
            _ => value,
        },
    };
    let Json::List(entries) = list else { return None };
    entries.iter().map(|entry| entry.text().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Manifest {
        Manifest::read(text.as_bytes(), "package.json").unwrap()
    }

    #[test]
    fn targets_of_commands_stay_below_the_package() {
        for target in ["./b/c.js", "/b/c.js", "../../b/c.js", r".\\b\\c.js", "b//c.js"] {
            let manifest = read(&format!(r#"{{"name":"t","bin":"{target}"}}"#));
            assert_eq!(manifest.bins, ["b/c.js"], "{target}");
        }
        assert!(read(r#"{"bin":"x"}"#).bins.is_empty());
        assert!(read(r#"{"name":"t","bin":{"x":1,"y":"/"}}"#).bins.is_empty());
    }

    #[test]
    fn commands_of_one_name_are_one() {
        assert_eq!(read(r#"{"bin":{"a/x":"1","x":"2"}}"#).bins, ["1"]);
        assert_eq!(read(r#"{"bin":{"x":"2","a/x":"1"}}"#).bins, ["1"]);
        assert_eq!(read(r#"{"bin":["b/x.js","c/x.js","y.js"]}"#).bins, ["c/x.js", "y.js"]);
    }

    #[test]
    fn files_are_a_list_or_characters() {
        assert_eq!(read(r#"{"files":"ab"}"#).files.unwrap(), ["a", "b"]);
        for absent in ["null", "\"\"", "0", "false"] {
            assert_eq!(read(&format!(r#"{{"files":{absent}}}"#)).files, None, "{absent}");
        }
        for wrong in ["true", "{}", "[1]"] {
            let error = Manifest::read(format!(r#"{{"files":{wrong}}}"#).as_bytes(), "p").err();
            assert!(matches!(error, Some(ListError::Files { .. })), "{wrong}");
        }
    }

    #[test]
    fn what_is_bundled_must_be_needed() {
        let manifest = read(
            r#"{"bundledDependencies":["a","b","c","d"],"dependencies":{"a":"1","c":"file:../c"},
            "optionalDependencies":{"b":"1"},"devDependencies":{"c":"1"}}"#,
        );
        let taken =
            |top| manifest.bundled.iter().filter(|name| manifest.dependencies.bundles(name, top)).count();
        assert_eq!((taken(true), taken(false)), (2, 3));
        assert_eq!(manifest.dependencies.folders, [("c".to_owned(), "../c".to_owned())]);
    }
}
