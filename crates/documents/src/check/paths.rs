//! Paths.

use crate::claims::Folder;
use crate::ground::Ground;
use crate::ground::tree::{There, join, parent, resolve};

/// Files that documents speak of as their reader's.
const THEIRS: [&str; 8] = ["main", "lib", "index", "app", "mod", "build", "page", "layout"];

/// Folders of tools that a document's readers have too.
const READERS: [&str; 10] = [
    ".github",
    ".gitlab",
    ".circleci",
    ".vscode",
    ".idea",
    ".husky",
    ".config",
    ".cargo",
    ".claude",
    ".cursor",
];

/// Endings of files that are run by their names.
const SCRIPTS: [&str; 7] = [".sh", ".py", ".rb", ".js", ".mjs", ".ts", ".pl"];

/// A path in a code span: seen from the top or from the document's folder, or the end of one. It is not there only where its first
/// folder is.
pub(super) fn span(ground: &Ground<'_>, dir: &str, path: &str) -> Option<String> {
    let seen = from(dir, path);
    if !is_missing(ground, &seen) || ground.tree.ends_with(path.trim_start_matches("../")) != There::No {
        return None;
    }
    let (first, rest) = path.split_once('/')?;
    let is_begun = first != ".." && from(dir, first).iter().any(|begun| ground.tree.is_folder(begun));
    let has_ending =
        path.rsplit('/').next().is_some_and(|name| name.get(1..).is_some_and(|n| n.contains('.')));
    // `serde/derive` is a feature, `lodash/fp` an import.
    let is_a_part = !has_ending && (!rest.contains('/') || is_package(ground, first));
    let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    if READERS.contains(&first) || !is_begun || is_a_part || THEIRS.contains(&stem.to_lowercase().as_str()) {
        return None;
    }
    Some(why(ground, path))
}

/// A link: seen from the document's folder alone. What a site makes of it counts as there.
pub(super) fn link(ground: &Ground<'_>, document: &str, path: &str) -> Option<String> {
    let seen = resolve(parent(document), path)?;
    // Pages that a generator writes.
    if matches!(seen.rsplit_once('.'), Some((_, "html" | "htm"))) {
        return None;
    }
    // A name without an ending may be a page's, or a label's: it is a path where it begins in a folder that is there.
    let name = seen.rsplit('/').next().unwrap_or_default();
    let is_bare =
        !name.contains('.') && !name.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '-' | '_'));
    let first = path.split('/').find(|part| !matches!(*part, "" | "." | ".."));
    let up =
        path.split('/').take_while(|part| matches!(*part, "" | "." | "..")).collect::<Vec<_>>().join("/");
    let begun =
        first.and_then(|first| resolve(parent(document), format!("{up}/{first}").trim_start_matches('/')));
    if is_bare && begun.is_none_or(|begun| begun == seen || !ground.tree.is_folder(&begun)) {
        return None;
    }
    let others = [".md", ".mdx", ".markdown", ".rst", "/index.md", "/README.md"];
    let all: Vec<String> =
        std::iter::once(seen.clone()).chain(others.iter().map(|end| format!("{seen}{end}"))).collect();
    // A site may make a folder of each page, and links then lead from there.
    let page = document.rsplit_once('.').map_or(document, |(page, _)| page);
    let from_page = resolve(page, path).into_iter();
    let from_page = from_page.flat_map(|seen| others.iter().map(move |end| format!("{seen}{end}")));
    let all: Vec<String> = all.into_iter().chain(from_page).collect();
    is_missing(ground, &all).then(|| why(ground, &seen))
}

/// A file that is run.
pub(super) fn run(ground: &Ground<'_>, dir: &str, path: &str, folder: &Folder) -> Option<String> {
    let folder = match folder {
        Folder::Top => "",
        Folder::In(folder) => folder,
        Folder::Unknown => return None,
    };
    let bases: Vec<String> =
        from(dir, folder).into_iter().filter(|base| ground.tree.is_folder(base)).collect();
    if bases.is_empty() {
        return None;
    }
    let seen: Vec<String> = bases.iter().filter_map(|base| resolve(base, path)).collect();
    if !is_missing(ground, &seen) || ground.tree.ends_with(path.trim_start_matches("../")) != There::No {
        return None;
    }
    let is_begun = match path.split_once('/') {
        Some((first, _)) => bases.iter().any(|base| ground.tree.is_folder(&join(base, first))),
        None => {
            SCRIPTS.iter().any(|ending| path.ends_with(ending))
                && !THEIRS.iter().any(|stem| path.starts_with(stem))
        }
    };
    is_begun.then(|| why(ground, path))
}

/// A path from the top and from a folder.
fn from(dir: &str, path: &str) -> Vec<String> {
    let mut seen: Vec<String> = ["", dir].iter().filter_map(|base| resolve(base, path)).collect();
    seen.dedup();
    seen
}

/// Whether nothing is at any of these places, and nothing will be made there. Nowhere is not missing.
fn is_missing(ground: &Ground<'_>, paths: &[String]) -> bool {
    !paths.is_empty()
        && paths.iter().all(|path| ground.tree.there(path) == There::No && !ground.is_ignored(path))
}

/// Whether a name is that of a package here, or of one that is used.
fn is_package(ground: &Ground<'_>, name: &str) -> bool {
    ground.crates.iter().any(|c| c.name == name)
        || ground.locked.contains(name)
        || ground
            .packages
            .iter()
            .any(|p| p.name.as_deref() == Some(name) || p.dependencies.contains_key(name))
}

fn why(ground: &Ground<'_>, path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut same = ground.tree.named(name);
    let other = ground.tree.spelled_otherwise(path).or_else(|| same.next().filter(|_| same.next().is_none()));
    match other {
        Some(other) => format!("there is no {path}; there is {other}"),
        None => format!("there is no {path}"),
    }
}
