//! Packages of which there are newer versions, as package managers tell of them, in one vocabulary.

use serde::Serialize;
use serde_json::Value;

use crate::version::{Ecosystem, Step, step};

/// Most rows.
const MAX_ROWS: usize = 20_000;

/// A package of which there is a newer version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outdated {
    /// Its name.
    pub name: String,
    /// What the project needs it for, as the manager calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The version that is there; none where the manager does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// The newest that the project's range admits; none where the manager does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The newest.
    pub latest: String,
    /// How far the newest lies from what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Step>,
    /// Whether the newest is one that nobody should use any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// Whose list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lister {
    /// `npm outdated --json`.
    Npm,
    /// `pnpm outdated --format json`.
    Pnpm,
    /// `yarn outdated --json` of yarn 1: lines of JSON, one of them a table.
    Yarn,
    /// `pip list --outdated --format json`.
    Pip,
}

/// The rows of a list, by name; none where it is no list.
pub fn outdated(lister: Lister, bytes: &[u8]) -> Option<Vec<Outdated>> {
    let text = std::str::from_utf8(bytes).ok()?;
    // npm and yarn say nothing where everything is new.
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let mut rows = match lister {
        Lister::Npm | Lister::Pnpm => of_npm(&serde_json::from_str(text).ok()?)?,
        Lister::Yarn => of_yarn(text)?,
        Lister::Pip => of_pip(&serde_json::from_str(text).ok()?)?,
    };
    rows.truncate(MAX_ROWS);
    let ecosystem = if lister == Lister::Pip { Ecosystem::Python } else { Ecosystem::Npm };
    for row in &mut rows {
        row.measure(ecosystem);
    }
    rows.sort_by(|a, b| (&a.name, &a.current).cmp(&(&b.name, &b.current)));
    Some(rows)
}

impl Outdated {
    /// Computes how far the newest lies from what is there.
    pub fn measure(&mut self, ecosystem: Ecosystem) {
        self.kind = self.current.as_deref().and_then(|current| step(ecosystem, current, &self.latest));
    }
}

fn text(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn of_npm(list: &Value) -> Option<Vec<Outdated>> {
    let packages = list.as_object()?;
    if packages.contains_key("error") {
        return None;
    }
    let mut rows = Vec::new();
    for (name, said) in packages {
        // npm has a list where members of a workspace differ.
        let each: Vec<&Value> = said.as_array().map_or_else(|| vec![said], |all| all.iter().collect());
        for said in each {
            let Some(latest) = text(said, "latest") else { continue };
            let row = Outdated {
                name: name.clone(),
                group: text(said, "type").or_else(|| text(said, "dependencyType")),
                current: text(said, "current"),
                wanted: text(said, "wanted"),
                latest,
                deprecated: said.get("isDeprecated").and_then(Value::as_bool).unwrap_or(false),
                ..Outdated::default()
            };
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    Some(rows)
}

fn of_yarn(text: &str) -> Option<Vec<Outdated>> {
    let mut rows = Vec::new();
    for said in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match said.get("type").and_then(Value::as_str) {
            Some("error") => return None,
            Some("table") => {}
            _ => continue,
        }
        let data = said.get("data")?;
        let head: Vec<&str> = data.get("head")?.as_array()?.iter().filter_map(Value::as_str).collect();
        for row in data.get("body")?.as_array()? {
            let cell = |name: &str| {
                let at = head.iter().position(|head| *head == name)?;
                row.get(at)?.as_str().map(str::to_owned)
            };
            let (Some(name), Some(latest)) = (cell("Package"), cell("Latest")) else { continue };
            let (group, current, wanted) = (cell("Package Type"), cell("Current"), cell("Wanted"));
            rows.push(Outdated { name, group, current, wanted, latest, ..Outdated::default() });
        }
    }
    Some(rows)
}

fn of_pip(list: &Value) -> Option<Vec<Outdated>> {
    let row = |said: &Value| {
        let (name, latest) = (text(said, "name")?, text(said, "latest_version")?);
        Some(Outdated { name, current: text(said, "version"), latest, ..Outdated::default() })
    };
    Some(list.as_array()?.iter().filter_map(row).collect())
}
