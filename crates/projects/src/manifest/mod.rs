//! Manifests, one file each. What they say of use is brought to the few shapes here.

pub(crate) mod cargo;
pub(crate) mod dotnet;
pub(crate) mod jvm;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod yaml;

/// Something that a manifest depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// Its name, in the spelling that its ecosystem compares.
    pub(crate) name: String,
    /// The version asked for, as written.
    pub(crate) version: Option<String>,
    /// Whether only developing the project needs it.
    pub(crate) dev: bool,
}

impl Dependency {
    pub(crate) fn new(name: impl Into<String>, version: Option<&str>, dev: bool) -> Self {
        let version = version.map(str::trim).filter(|v| !v.is_empty());
        Self { name: name.into(), version: version.map(|v| v.chars().take(MAX_VERSION).collect()), dev }
    }
}

/// Longest version that is repeated, in characters.
const MAX_VERSION: usize = 100;

/// The text of a manifest: UTF-8, without a byte order mark.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, (Option<usize>, String)> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Err((Some(line_of(before)), "the file is not UTF-8 text".to_owned()))
        }
    }
}

/// The line, from 1, that comes after `before`.
pub(crate) fn line_of(before: &[u8]) -> usize {
    before.split(|b| *b == b'\n').count()
}

/// A table of TOML text; else the line and what is wrong.
pub(crate) fn toml(bytes: &[u8]) -> Result<toml::Table, (Option<usize>, String)> {
    let text = text(bytes)?;
    text.parse::<toml::Table>().map_err(|error| {
        let line = error.span().map(|span| line_of(text.as_bytes().get(..span.start).unwrap_or_default()));
        (line, error.message().to_owned())
    })
}

/// The texts of a TOML array.
pub(crate) fn texts(value: Option<&toml::Value>) -> Vec<String> {
    let items = value.and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect()
}
