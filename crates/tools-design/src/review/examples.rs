//! Which pages show components.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Code, Fault, RelPath};
use kit::ReadDesk;
use serde::Deserialize;

use crate::scan::drive;
use crate::scan::place::Place;

/// Most examples of a kit: each is looked at several times.
pub(crate) const MAX_EXAMPLES: usize = 40;

/// Where projects keep pages that show components.
const USUAL: [&str; 6] = [
    "examples/**/*.html",
    "components/**/*.html",
    "src/components/**/*.html",
    "packages/*/examples/**/*.html",
    "demo/**/*.html",
    "docs/components/**/*.html",
];

/// Reads what pages are made of.
pub(crate) type Shelf = Arc<dyn Fn(&RelPath) -> Option<Vec<u8>> + Send + Sync>;

/// A page that shows a component.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    pub(crate) component: String,
    pub(crate) title: String,
    pub(crate) place: Place,
}

/// Pages that show components, and what they are made of.
pub(crate) struct Examples {
    pub(crate) pages: Vec<Example>,
    pub(crate) shelf: Shelf,
    /// The whole of a Storybook's files, when that is what shows them.
    pub(crate) storybook: Option<BTreeMap<String, Vec<u8>>>,
    /// How many more there are than are shown.
    pub(crate) more: usize,
}

/// The root's own files.
fn root(desk: &ReadDesk) -> Shelf {
    let desk = desk.clone();
    Arc::new(move |path| drive::read(desk.view(), path))
}

/// The examples that `globs` mean, or those in usual places; none is no error.
pub(crate) fn of_files(desk: &ReadDesk, globs: &[String]) -> Result<Examples, Fault> {
    let mut found: Vec<RelPath> = Vec::new();
    if globs.is_empty() {
        for glob in USUAL {
            found.extend(desk.view().glob(glob)?);
        }
    } else {
        for glob in globs {
            let here = desk.view().glob(glob)?;
            if here.is_empty() {
                return Err(Fault::new(Code::NotFound, format!("examples: {glob}: no such page"))
                    .suggest("Name pages relative to the root, such as `examples/**/*.html`."));
            }
            found.extend(here);
        }
    }
    found.retain(|path| !path.components().any(|part| matches!(part, "node_modules" | "artifacts")));
    found.sort();
    found.dedup();
    let more = found.len().saturating_sub(MAX_EXAMPLES);
    found.truncate(MAX_EXAMPLES);
    let pages = found
        .into_iter()
        .map(|path| {
            let (component, title) = named(&path);
            Example { component, title, place: Place::File(path) }
        })
        .collect();
    Ok(Examples { pages, shelf: root(desk), storybook: None, more })
}

/// What people call an example, by its path: `button/primary.html` is `primary` of `button`, and so is `button.html` of itself.
fn named(path: &RelPath) -> (String, String) {
    let parts: Vec<&str> = path.components().collect();
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let file = stem(parts.last().copied().unwrap_or_default());
    let folder = parts.len().checked_sub(2).and_then(|i| parts.get(i)).copied().unwrap_or_default();
    let is_general = |name: &str| {
        matches!(name, "" | "examples" | "components" | "demo" | "src" | "docs" | "html" | "pages")
    };
    match (is_general(folder), file.as_str()) {
        (true, _) => (file.clone(), file),
        (false, "index" | "example" | "demo") => (folder.to_owned(), folder.to_owned()),
        (false, _) => (folder.to_owned(), file),
    }
}

#[derive(Deserialize)]
struct Index {
    #[serde(alias = "stories")]
    entries: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    name: String,
}

/// The stories of a Storybook, by its files relative to its folder.
pub(crate) fn of_storybook(files: BTreeMap<String, Vec<u8>>) -> Result<Examples, Fault> {
    let index = files.get("index.json").or_else(|| files.get("stories.json"));
    let index: Index = serde_json::from_slice(index.map(Vec::as_slice).unwrap_or_default()).map_err(|e| {
        Fault::new(Code::InvalidSource, format!("the Storybook's index.json cannot be read: {e}")).suggest(
            "Build it again (`storybook build`), or take the built-in gallery with `gallery: builtin`.",
        )
    })?;
    let frame = RelPath::new("iframe.html").map_err(|e| Fault::internal(e.to_string()))?;
    let mut pages: Vec<Example> = index
        .entries
        .into_iter()
        .filter(|(_, entry)| entry.kind.as_deref().is_none_or(|kind| kind == "story"))
        .map(|(id, entry)| Example {
            component: entry
                .title
                .rsplit('/')
                .next()
                .map(str::trim)
                .filter(|t| !t.is_empty())
                .unwrap_or(&id)
                .to_owned(),
            title: if entry.name.is_empty() { id.clone() } else { entry.name },
            place: Place::Story(
                frame.clone(),
                format!("id={}&viewMode=story", crate::scan::place::encoded(&id)),
            ),
        })
        .collect();
    let more = pages.len().saturating_sub(MAX_EXAMPLES);
    pages.truncate(MAX_EXAMPLES);
    let shared = Arc::new(files.clone());
    let shelf: Shelf = Arc::new(move |path| shared.get(path.as_str()).cloned());
    Ok(Examples { pages, shelf, storybook: Some(files), more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_called_what_people_call_them() {
        let named = |path: &str| named(&RelPath::new(path).unwrap());
        let both = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(named("examples/button/primary.html"), both("button", "primary"));
        assert_eq!(named("examples/button.html"), both("button", "button"));
        assert_eq!(named("components/card/index.html"), both("card", "card"));
        assert_eq!(named("card.html"), both("card", "card"));
    }

    #[test]
    fn stories_are_examples_of_their_components() {
        let index = r#"{"v":5,"entries":{"ui-button--primary":{"type":"story","title":"UI/Button","name":"Primary"},
            "ui-button--docs":{"type":"docs","title":"UI/Button","name":"Docs"}}}"#;
        let files = BTreeMap::from([("index.json".to_owned(), index.as_bytes().to_vec())]);
        let examples = of_storybook(files).unwrap();
        assert_eq!(examples.pages.len(), 1);
        assert_eq!(
            (examples.pages[0].component.as_str(), examples.pages[0].title.as_str()),
            ("Button", "Primary")
        );
        assert!(of_storybook(BTreeMap::new()).is_err());
    }
}
