//! Sections of the configuration, owned by the families that read them.

use contract::{Fault, RelPath};
use exec::View;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::schema;

/// One section of `gatewright.toml`, such as `[tokens]`.
pub trait Section: DeserializeOwned + JsonSchema + Default {
    /// The section's name.
    const NAME: &'static str;
}

/// A section as a family registers it.
#[derive(Debug, Clone, Copy)]
pub struct SectionEntry {
    /// The section's name.
    pub name: &'static str,
    /// Its JSON Schema.
    pub schema: fn() -> Value,
    /// Whether a value fits it.
    pub check: fn(&Value) -> Result<(), String>,
}

impl SectionEntry {
    /// The entry of `S`.
    #[must_use]
    pub const fn of<S: Section>() -> Self {
        Self { name: S::NAME, schema: schema::plain::<S>, check: check::<S> }
    }
}

fn check<S: Section>(value: &Value) -> Result<(), String> {
    S::deserialize(value).map(|_| ()).map_err(|e| e.to_string())
}

/// The values of all sections: the project's over the user's, key by key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings(Map<String, Value>);

impl Settings {
    /// Takes sections as they were read.
    #[must_use]
    pub fn new(sections: Map<String, Value>) -> Self {
        Self(sections)
    }

    /// These settings with `over` on top: tables are merged, everything else is replaced.
    #[must_use]
    pub fn overlaid(&self, over: &Self) -> Self {
        fn merge(below: &mut Map<String, Value>, above: &Map<String, Value>) {
            for (key, value) in above {
                match (below.get_mut(key), value) {
                    (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
                    _ => {
                        below.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        let mut merged = self.clone();
        merge(&mut merged.0, &over.0);
        merged
    }

    /// The section `S`; its defaults where nothing is said.
    pub fn section<S: Section>(&self) -> Result<S, Fault> {
        self.0.get(S::NAME).map_or_else(
            || Ok(S::default()),
            |value| {
                S::deserialize(value).map_err(|e| {
                    Fault::invalid(format!("[{}] in gatewright.toml: {e}", S::NAME))
                        .about("gatewright.toml")
                        .suggest("`gatewright config schema` prints what the section takes.")
                })
            },
        )
    }

    /// All sections.
    #[must_use]
    pub const fn sections(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// What the project's own `gatewright.toml` says; nothing where there is none.
pub(crate) fn of_project(view: &View) -> Result<Settings, Fault> {
    let path = RelPath::new("gatewright.toml").map_err(|e| Fault::internal(e.to_string()))?;
    let Some(bytes) = view.read_optional(&path)? else { return Ok(Settings::default()) };
    let text = String::from_utf8_lossy(&bytes);
    let table: toml::Table = toml::from_str(&text)
        .map_err(|e| Fault::invalid(format!("gatewright.toml: {}", e.message())).about("gatewright.toml"))?;
    match serde_json::to_value(table) {
        Ok(Value::Object(map)) => Ok(Settings::new(map)),
        _ => Ok(Settings::default()),
    }
}
