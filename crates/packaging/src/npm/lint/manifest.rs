//! The manifest, and which of its fields count once it is published.

use super::LintError;
use super::json::Json;

/// A manifest longer than this, in bytes, is refused, and one below the package's top is passed over. The longest that are published
/// have a few hundred thousand; in memory a value takes up to forty times what it takes in a file.
pub const MAX_MANIFEST_BYTES: usize = 4 << 20;

/// A manifest below the top; `None` when it cannot be read, which everybody passes over.
pub(super) fn nested(bytes: &[u8]) -> Option<Json> {
    if bytes.len() > MAX_MANIFEST_BYTES { None } else { Json::parse(bytes).ok() }
}

/// A `package.json` that is an object.
pub(super) struct Manifest {
    root: Json,
}

/// A field, and where it stands. `null` counts as missing.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) value: Option<&'a Json>,
    pub(super) at: Vec<&'a str>,
}

impl<'a> Field<'a> {
    pub(super) fn is_missing(&self) -> bool {
        self.value.is_none()
    }

    /// The value when `if` takes it for true.
    pub(super) fn truthy(&self) -> Option<&'a Json> {
        self.value.filter(|value| value.truthy())
    }
}

impl Manifest {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, LintError> {
        if bytes.len() > MAX_MANIFEST_BYTES {
            return Err(LintError::ManifestTooLong { bytes: bytes.len(), limit: MAX_MANIFEST_BYTES });
        }
        let malformed = |fault: serde_json::Error| LintError::Malformed {
            line: fault.line(),
            column: fault.column(),
            why: fault.to_string(),
        };
        let root = Json::parse(bytes).map_err(malformed)?;
        if matches!(root, Json::Object(_)) { Ok(Self { root }) } else { Err(LintError::NotAnObject) }
    }

    /// A field of the manifest proper.
    pub(super) fn field<'a>(&'a self, name: &'a str) -> Field<'a> {
        Field { value: self.root.get(name).filter(|value| **value != Json::Null), at: vec![name] }
    }

    /// A field that `publishConfig` replaces when it has something there that is true for JavaScript.
    pub(super) fn published<'a>(&'a self, name: &'a str) -> Field<'a> {
        let replaced = self.root.get("publishConfig").and_then(|config| config.get(name));
        match replaced.filter(|value| value.truthy()) {
            Some(value) => Field { value: Some(value), at: vec!["publishConfig", name] },
            None => self.field(name),
        }
    }

    /// Whether there is something true at a path. A text gives its characters by number, as in JavaScript.
    pub(super) fn has_at(&self, path: &[String]) -> bool {
        let mut value = &self.root;
        for (depth, key) in path.iter().enumerate() {
            let next = match value {
                Json::Array(items) => key.parse::<usize>().ok().and_then(|at| items.get(at)),
                Json::String(text) => {
                    let at = key.parse::<usize>().ok();
                    return depth + 1 == path.len() && at.is_some_and(|at| at < text.encode_utf16().count());
                }
                other => other.get(key),
            };
            let Some(next) = next else { return false };
            value = next;
        }
        value.truthy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_field_stands_before_the_plain_one_unless_it_is_false() {
        let text =
            br#"{"main":"a","module":"m","bin":null,"publishConfig":{"main":"b","module":"","types":0}}"#;
        let manifest = Manifest::parse(text).unwrap();
        let at = |name| {
            let field = manifest.published(name);
            (field.value.and_then(Json::text).map(str::to_owned), field.at.join("."))
        };
        assert_eq!(at("main"), (Some("b".to_owned()), "publishConfig.main".to_owned()));
        assert_eq!(at("module"), (Some("m".to_owned()), "module".to_owned()));
        assert_eq!(at("bin"), (None, "bin".to_owned()));
        assert_eq!(at("types"), (None, "types".to_owned()));
    }

    #[test]
    fn what_is_no_object_is_no_manifest() {
        assert_eq!(Manifest::parse(b"[]").err(), Some(LintError::NotAnObject));
        assert!(matches!(Manifest::parse(b"{").err(), Some(LintError::Malformed { line: 1, .. })));
    }
}
