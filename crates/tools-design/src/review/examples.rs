//! Which pages show components.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Code, Fault, RelPath};
use kit::ReadDesk;
use serde::Deserialize;

use super::before::Before;
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
    /// How many stories have ids that are too long for an address.
    pub(crate) nameless: usize,
    /// Those that the base had and that are not there any more.
    pub(crate) gone: Vec<Example>,
}

/// The root's own files.
fn root(desk: &ReadDesk) -> Shelf {
    let desk = desk.clone();
    Arc::new(move |path| drive::read(desk.view(), path))
}

/// The examples that `globs` mean, or those in usual places; none is no error.
pub(crate) fn of_files(
    desk: &ReadDesk,
    globs: &[String],
    before: Option<&Before>,
) -> Result<Examples, Fault> {
    let usual: Vec<String> = USUAL.map(str::to_owned).into();
    let wanted = if globs.is_empty() { &usual } else { globs };
    let (mut found, mut earlier) = (Vec::new(), Vec::new());
    for glob in wanted {
        let here = desk.view().glob(glob)?;
        let then = before.map(|before| before.glob(glob)).transpose()?.unwrap_or_default();
        if here.is_empty() && then.is_empty() && !globs.is_empty() {
            return Err(Fault::new(Code::NotFound, format!("examples: {glob}: no such page"))
                .suggest("Name pages relative to the root, such as `examples/**/*.html`."));
        }
        found.extend(here);
        earlier.extend(then);
    }
    let mut gone = pages(earlier);
    let found = pages(found);
    gone.retain(|path| found.binary_search(path).is_err());
    gone.truncate(MAX_EXAMPLES);
    let more = found.len().saturating_sub(MAX_EXAMPLES);
    let example = |path: RelPath| {
        let (component, title) = named(&path);
        Example { component, title, place: Place::File(path) }
    };
    Ok(Examples {
        pages: found.into_iter().take(MAX_EXAMPLES).map(example).collect(),
        shelf: root(desk),
        storybook: None,
        more,
        nameless: 0,
        gone: gone.into_iter().map(example).collect(),
    })
}

/// The pages among paths, sorted: without other people's, and what a build made.
fn pages(mut paths: Vec<RelPath>) -> Vec<RelPath> {
    paths.retain(|path| !path.components().any(|part| matches!(part, "node_modules" | "artifacts")));
    paths.sort();
    paths.dedup();
    paths
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
    let all = pages.len();
    pages.retain(|page| !matches!(&page.place, Place::Story(_, query) if query.len() > kits::MAX_QUERY));
    let nameless = all - pages.len();
    let more = pages.len().saturating_sub(MAX_EXAMPLES);
    pages.truncate(MAX_EXAMPLES);
    let shared = Arc::new(files.clone());
    let shelf: Shelf = Arc::new(move |path| shared.get(path.as_str()).cloned());
    Ok(Examples { pages, shelf, storybook: Some(files), more, nameless, gone: Vec::new() })
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
        let long = index.replace("ui-button--primary", &"x".repeat(3_000));
        let examples = of_storybook(BTreeMap::from([("index.json".to_owned(), long.into_bytes())])).unwrap();
        assert_eq!((examples.pages.len(), examples.nameless), (0, 1), "it is left out, and said");
    }
}
