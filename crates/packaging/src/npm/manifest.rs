//! What `package.json` says of a release, apart from where its entry points lead (that is the business of `lint` and `types`).
//! Fields follow [npm's documentation](https://docs.npmjs.com/cli/v11/configuring-npm/package-json).

use semver::Version;
use serde_json::{Map, Value};

use crate::check::{Check, Severity};
use crate::packed::Packed;

/// The longest name that npm takes.
const MAX_NAME: usize = 214;

/// A manifest that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    top: Map<String, Value>,
}

/// Why a manifest could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// There is none.
    #[error("there is no package.json")]
    Missing,
    /// It is no JSON.
    #[error("package.json: {0}")]
    Syntax(String),
    /// It is something else than an object.
    #[error("package.json: not an object")]
    NoObject,
}

impl Manifest {
    /// Reads the bytes of a package.json; a byte order mark is allowed, as npm allows it.
    pub fn read(bytes: &[u8]) -> Result<Self, ManifestError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(top)) => Ok(Self { top }),
            Ok(_) => Err(ManifestError::NoObject),
            Err(error) => Err(ManifestError::Syntax(error.to_string())),
        }
    }

    /// A field.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.top.get(field)
    }

    /// A field that is text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.top.get(field).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }

    /// The name; empty when there is none.
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    /// The version; empty when there is none.
    pub fn version(&self) -> &str {
        self.text("version").unwrap_or_default()
    }

    /// Whether it says that it must not be published.
    pub fn is_private(&self) -> bool {
        self.top.get("private").is_some_and(|p| p == &Value::Bool(true) || p == "true")
    }

    /// Its licence in one expression: the field, or the older list.
    pub fn license(&self) -> Option<String> {
        let one = |value: &Value| {
            value.as_str().or_else(|| value.get("type").and_then(Value::as_str)).map(|s| s.trim().to_owned())
        };
        if let Some(license) = self.top.get("license").and_then(one).filter(|l| !l.is_empty()) {
            return Some(license);
        }
        let all: Vec<String> =
            self.top.get("licenses")?.as_array()?.iter().filter_map(one).filter(|l| !l.is_empty()).collect();
        match all.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            _ => Some(format!("({})", all.join(" OR "))),
        }
    }

    /// The repository's address as it is written.
    pub fn repository(&self) -> Option<&str> {
        let value = self.top.get("repository")?;
        value.as_str().or_else(|| value.get("url").and_then(Value::as_str)).filter(|url| !url.is_empty())
    }

    /// Names and ranges of a field of dependencies.
    pub fn dependencies(&self, field: &str) -> impl Iterator<Item = (&str, &str)> {
        self.top
            .get(field)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(name, range)| Some((name.as_str(), range.as_str()?)))
    }

    /// A script.
    pub fn script(&self, name: &str) -> Option<&str> {
        self.top
            .get("scripts")
            .and_then(|s| s.get(name))
            .and_then(Value::as_str)
            .filter(|s| !s.trim().is_empty())
    }
}

/// Checks the manifest of what was packed, to be released as `version`.
pub fn check(manifest: &Manifest, packed: &Packed, version: &Version) -> Vec<Check> {
    let mut checks =
        vec![name(manifest), versioned(manifest, version), private(manifest), license(manifest, packed)];
    checks.push(described(manifest, packed));
    checks.push(install_scripts(manifest, packed));
    checks.push(pack_scripts(manifest));
    checks.push(ranges(manifest));
    checks.push(twice(manifest));
    checks
}

const FILE: &str = "package.json";

fn failed(id: &str, severity: Severity, detail: impl Into<String>, fix: impl Into<String>) -> Check {
    Check::failed(id, severity, detail).fix(fix).about(FILE)
}

/// Names that npm keeps: its own folders.
const KEPT: [&str; 2] = ["node_modules", "favicon.ico"];

fn name(manifest: &Manifest) -> Check {
    const ID: &str = "npm.manifest.name";
    let name = manifest.name();
    let why = if name.is_empty() {
        Some("there is no name")
    } else if name.len() > MAX_NAME {
        Some("it is longer than 214 characters")
    } else if name != name.to_lowercase() {
        Some("it has capital letters")
    } else if name.starts_with(['.', '_', '-']) {
        Some("it begins with a dot, a dash or an underscore")
    } else if KEPT.contains(&name) {
        Some("npm keeps that name for itself")
    } else {
        let parts: Vec<&str> = name.split('/').collect();
        let plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'))
        };
        let fits = match parts.as_slice() {
            [one] => plain(one),
            [scope, one] => {
                scope.strip_prefix('@').is_some_and(plain) && plain(one) && !one.starts_with(['.', '_'])
            }
            _ => false,
        };
        (!fits).then_some("it has characters that a URL would have to escape")
    };
    match why {
        None => Check::passed(ID, format!("npm takes the name {name}")),
        Some(why) => failed(
            ID,
            Severity::Error,
            format!("npm does not take the name {:?}: {why}", name.chars().take(80).collect::<String>()),
            "Name it in lower-case letters, digits and dashes, with `@scope/` in front where it belongs to one.",
        ),
    }
}

fn versioned(manifest: &Manifest, version: &Version) -> Check {
    const ID: &str = "npm.version.manifest";
    let said = manifest.version();
    if said == version.to_string() {
        return Check::passed(ID, format!("package.json says {version}"));
    }
    let detail = if said.is_empty() {
        format!("package.json has no version; the release is {version}")
    } else {
        format!("package.json says {said:?}; the release is {version}")
    };
    failed(
        ID,
        Severity::Error,
        detail,
        format!("Set `version` to {version}: npm version {version} --no-git-tag-version"),
    )
}

fn private(manifest: &Manifest) -> Check {
    const ID: &str = "npm.manifest.private";
    if manifest.is_private() {
        return failed(
            ID,
            Severity::Error,
            "the package is private: npm refuses to publish it",
            "Remove `private`, or verify the package of the workspace that is released.",
        );
    }
    Check::passed(ID, "the package may be published")
}

fn license(manifest: &Manifest, packed: &Packed) -> Check {
    const ID: &str = "npm.manifest.license";
    let Some(license) = manifest.license() else {
        return failed(
            ID,
            Severity::Warning,
            "there is no licence: nobody may use the package",
            "Say it in `license` as an SPDX expression, such as MIT.",
        );
    };
    if let Some(file) = license.strip_prefix("SEE LICENSE IN ") {
        let file = file.trim().trim_start_matches("./");
        if packed.has(file) {
            return Check::passed(ID, format!("the licence is in {file}"));
        }
        return failed(
            ID,
            Severity::Warning,
            format!("the licence is to be in {file}, which is not packed"),
            "Pack that file, or name the licence by its SPDX expression.",
        );
    }
    if license != "UNLICENSED"
        && let Err(why) = crate::spdx::check(&license)
    {
        return failed(
            ID,
            Severity::Warning,
            format!("the licence {license:?} is no SPDX expression: {why}"),
            "Write it as one, such as `MIT` or `(MIT OR Apache-2.0)`.",
        );
    }
    let has_text = packed.iter().any(|(path, _)| {
        let low = path.to_ascii_lowercase();
        !low.contains('/') && ["license", "licence", "copying"].iter().any(|n| low.starts_with(n))
    });
    if has_text || license == "UNLICENSED" {
        return Check::passed(ID, format!("the licence is {license}"));
    }
    failed(
        ID,
        Severity::Note,
        format!("the text of the licence ({license}) is not packed"),
        "Add a LICENSE file.",
    )
}

fn described(manifest: &Manifest, packed: &Packed) -> Check {
    const ID: &str = "npm.manifest.described";
    let mut missing = Vec::new();
    if manifest.text("description").is_none() {
        missing.push("`description`");
    }
    if manifest.repository().is_none() {
        missing.push("`repository`");
    }
    let has_readme = packed.iter().any(|(path, _)| {
        let low = path.to_ascii_lowercase();
        low == "readme" || low.starts_with("readme.")
    });
    if !has_readme {
        missing.push("a README");
    }
    if missing.is_empty() {
        return Check::passed(ID, "people can see what it is and where it comes from");
    }
    failed(
        ID,
        Severity::Note,
        format!("the package's page will lack {}", missing.join(", ")),
        "Add what is missing: people decide by it, and provenance needs the repository.",
    )
}

fn install_scripts(manifest: &Manifest, packed: &Packed) -> Check {
    const ID: &str = "npm.scripts.install";
    let mut found: Vec<String> = ["preinstall", "install", "postinstall"]
        .iter()
        .filter_map(|name| manifest.script(name).map(|script| format!("`{name}` ({script})")))
        .collect();
    if manifest.script("install").is_none()
        && manifest.script("preinstall").is_none()
        && packed.has("binding.gyp")
    {
        found.push("`install` (node-gyp rebuild, because of binding.gyp)".to_owned());
    }
    if found.is_empty() {
        return Check::passed(ID, "nothing runs when it is installed");
    }
    failed(
        ID,
        Severity::Warning,
        format!("it runs programs where it is installed: {}", found.join(", ")),
        "Do without: many install with scripts switched off, and reviewers distrust them.",
    )
}

/// Scripts that npm would run before it packs. They are not run here: what lies there is what is packed.
fn pack_scripts(manifest: &Manifest) -> Check {
    const ID: &str = "npm.scripts.pack";
    let found: Vec<&str> = ["prepublish", "prepare", "prepublishOnly", "prepack", "postpack"]
        .into_iter()
        .filter(|name| manifest.script(name).is_some())
        .collect();
    if found.is_empty() {
        return Check::passed(ID, "npm runs nothing before it packs");
    }
    failed(
        ID,
        Severity::Note,
        format!("npm runs {} around packing; here nothing was run", found.join(", ")),
        "Build before you verify, so that what is looked at is what will be published.",
    )
}

const KINDS: [&str; 3] = ["dependencies", "optionalDependencies", "peerDependencies"];

fn ranges(manifest: &Manifest) -> Check {
    const ID: &str = "npm.dependencies.ranges";
    let (mut broken, mut loose) = (Vec::new(), Vec::new());
    for kind in KINDS {
        for (name, range) in manifest.dependencies(kind) {
            let range = range.trim();
            let scheme = range.split_once(':').map(|(scheme, _)| scheme);
            match scheme {
                Some("workspace" | "catalog" | "file" | "link" | "portal" | "patch") => {
                    broken.push(format!("{name} ({range})"));
                }
                Some("npm") => {}
                Some(_) => loose.push(format!("{name} ({range})")),
                None if range.starts_with(['.', '/', '~']) && range.contains('/') => {
                    broken.push(format!("{name} ({range})"));
                }
                None if range.contains('/') => loose.push(format!("{name} ({range})")),
                None if kind != "peerDependencies" && matches!(range, "" | "*" | "x" | "latest") => {
                    loose.push(format!("{name} ({range})"));
                }
                None => {}
            }
        }
    }
    if !broken.is_empty() {
        return failed(
            ID,
            Severity::Error,
            format!("these can only be installed here: {}", broken.join(", ")),
            "Name versions. pnpm, yarn and bun replace `workspace:` when they publish; npm does not.",
        );
    }
    if !loose.is_empty() {
        return failed(
            ID,
            Severity::Warning,
            format!("these are whatever they are on the day: {}", loose.join(", ")),
            "Name a range of versions from the registry.",
        );
    }
    Check::passed(ID, "every dependency can be installed from the registry")
}

fn twice(manifest: &Manifest) -> Check {
    const ID: &str = "npm.dependencies.twice";
    let found: Vec<&str> = manifest
        .dependencies("dependencies")
        .map(|(name, _)| name)
        .filter(|name| {
            *name == manifest.name()
                || manifest.dependencies("devDependencies").any(|(other, _)| other == *name)
                || manifest.dependencies("peerDependencies").any(|(other, _)| other == *name)
        })
        .collect();
    if found.is_empty() {
        return Check::passed(ID, "no dependency is named twice");
    }
    failed(
        ID,
        Severity::Warning,
        format!("named as a dependency and once more: {}", found.join(", ")),
        "Name each once: a peer dependency that is a dependency too gives users two copies.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good() -> Value {
        json!({
            "name": "@acme/ui", "version": "1.2.3", "license": "MIT", "description": "d",
            "repository": { "url": "git+https://example.com/acme/ui.git" },
            "dependencies": { "a": "^1.0.0", "b": "npm:c@1" }, "peerDependencies": { "react": "*" },
        })
    }

    fn failures(value: &Value, files: &[&str]) -> Vec<(String, Severity)> {
        let manifest = Manifest::read(value.to_string().as_bytes()).unwrap();
        let packed = files.iter().fold(Packed::new(), |packed, file| packed.with(file, ""));
        check(&manifest, &packed, &Version::new(1, 2, 3))
            .into_iter()
            .filter(|c| !c.passed)
            .map(|c| (c.id, c.severity))
            .collect()
    }

    #[test]
    fn a_good_manifest_has_nothing_wrong() {
        assert_eq!(failures(&good(), &["LICENSE", "README.md"]), []);
        assert_eq!(
            failures(&good(), &[]),
            [
                ("npm.manifest.license".to_owned(), Severity::Note),
                ("npm.manifest.described".to_owned(), Severity::Note)
            ]
        );
    }

    #[test]
    fn each_field_that_hurts_users_is_found() {
        let cases = [
            ("name", json!("Acme UI"), "npm.manifest.name", Severity::Error),
            ("name", json!("@acme/_x"), "npm.manifest.name", Severity::Error),
            ("name", json!(7), "npm.manifest.name", Severity::Error),
            ("version", json!("1.2.4"), "npm.version.manifest", Severity::Error),
            ("private", json!(true), "npm.manifest.private", Severity::Error),
            ("license", json!("my own"), "npm.manifest.license", Severity::Warning),
            ("license", json!("SEE LICENSE IN x.txt"), "npm.manifest.license", Severity::Warning),
            ("license", json!(null), "npm.manifest.license", Severity::Warning),
            ("scripts", json!({ "postinstall": "node x" }), "npm.scripts.install", Severity::Warning),
            ("scripts", json!({ "prepack": "tsc" }), "npm.scripts.pack", Severity::Note),
            ("dependencies", json!({ "a": "workspace:*" }), "npm.dependencies.ranges", Severity::Error),
            ("dependencies", json!({ "a": "../a" }), "npm.dependencies.ranges", Severity::Error),
            ("dependencies", json!({ "a": "acme/a" }), "npm.dependencies.ranges", Severity::Warning),
            ("dependencies", json!({ "a": "*" }), "npm.dependencies.ranges", Severity::Warning),
            ("dependencies", json!({ "react": "^19.0.0" }), "npm.dependencies.twice", Severity::Warning),
        ];
        for (field, value, id, severity) in cases {
            let mut manifest = good();
            manifest[field] = value.clone();
            let found = failures(&manifest, &["LICENSE", "README.md"]);
            assert_eq!(found, [(id.to_owned(), severity)], "{field}: {value}");
        }
        let mut named = good();
        named["license"] = json!("SEE LICENSE IN ./LICENSE");
        assert_eq!(failures(&named, &["LICENSE", "README.md"]), []);
        assert_eq!(
            failures(&good(), &["LICENSE", "README.md", "binding.gyp"]),
            [("npm.scripts.install".to_owned(), Severity::Warning)]
        );
    }

    #[test]
    fn what_is_no_manifest_is_said() {
        assert_eq!(Manifest::read(b"[]"), Err(ManifestError::NoObject));
        assert!(matches!(Manifest::read(b"{"), Err(ManifestError::Syntax(_))));
        assert_eq!(Manifest::read(b"\xef\xbb\xbf{\"name\":\"x\"}").unwrap().name(), "x");
    }

    #[test]
    fn older_ways_to_name_a_licence_are_read() {
        let read = |value: Value| Manifest::read(value.to_string().as_bytes()).unwrap().license();
        assert_eq!(
            read(json!({ "licenses": [{ "type": "MIT" }, { "type": "ISC" }] })),
            Some("(MIT OR ISC)".into())
        );
        assert_eq!(read(json!({ "license": { "type": "MIT" } })), Some("MIT".into()));
        assert_eq!(read(json!({ "license": "" })), None);
    }
}
