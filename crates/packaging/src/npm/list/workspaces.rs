//! Workspaces: which there are, and what they change (`npm-packing.md` §1.8).

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::Manifest;
use super::snapshot::{Snapshot, join};
use super::{ListError, MAX_STEPS, glob};
use crate::npm::pattern::{Dialect, Meter, Pattern, PatternError, Subject, segments};
use crate::tree::{Kind, Tree};

/// The workspaces of the package at a tree's top: folders by name.
pub fn workspaces(tree: &dyn Tree) -> Result<BTreeMap<String, String>, ListError> {
    let meter = Meter::new(MAX_STEPS);
    let snapshot = Snapshot::new(tree, &meter);
    let path = "package.json".to_owned();
    let Some(bytes) = snapshot.read(&path)? else { return Err(ListError::NoManifest { path }) };
    of(&snapshot, "", &Manifest::read(&bytes, &path)?)
}

/// The workspaces of a package: folders in the tree, by name.
pub(super) fn of(
    snapshot: &Snapshot<'_>,
    folder: &str,
    manifest: &Manifest,
) -> Result<BTreeMap<String, String>, ListError> {
    let path = join(folder, "package.json");
    let entries = manifest.workspaces.as_ref().ok_or_else(|| ListError::Workspaces { path: path.clone() })?;
    let wrong = |why| ListError::Pattern { path: path.clone(), why };
    let (taken, left) = sorted(entries, snapshot.meter).map_err(wrong)?;
    let left: Vec<Pattern> = left
        .iter()
        .map(String::as_str)
        .chain(["**/node_modules/**"])
        .map(|text| Pattern::new(text, Dialect::FILES, snapshot.meter))
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let mut folders = BTreeSet::new();
    for text in taken {
        let text = text.replace('\\', "/");
        let slash = if text.ends_with('/') { "" } else { "/" };
        let pattern =
            Pattern::new(&format!("{text}{slash}"), Dialect::PLAIN, snapshot.meter).map_err(wrong)?;
        // npm compares what it found with the entry again, in which `.` is a name: `a/./b` finds nothing, `**` not the root.
        let again = Pattern::new(&text, Dialect::NAMES, snapshot.meter).map_err(wrong)?;
        for (path, kind) in glob::expand(snapshot, folder, &pattern, false)? {
            let names = segments(&path);
            let fits = if path.is_empty() {
                text == "."
            } else {
                again.begins(Subject::new(&names), snapshot.meter).map_err(wrong)?
            };
            if kind == Kind::Folder && fits {
                folders.insert(path);
            }
        }
    }
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for below in folders {
        if is_left(&below, &left, snapshot.meter).map_err(wrong)? {
            continue;
        }
        let workspace = join(folder, &below);
        let path = join(&workspace, "package.json");
        let Some(bytes) = snapshot.read(&path)? else { continue };
        let name = Manifest::read(&bytes, &path)?.name.unwrap_or_else(|| named_by_folder(&workspace));
        if let Some(first) = named.insert(name.clone(), workspace.clone())
            && first != workspace
        {
            return Err(ListError::SameName { name, first, second: workspace });
        }
    }
    Ok(named)
}

/// Entries that take folders and those that leave some out. An entry undoes the exclusions before it that it falls under; an exclusion
/// undoes the entries that fall under it.
fn sorted(entries: &[String], meter: &Meter) -> Result<(Vec<String>, Vec<String>), PatternError> {
    let covers = |pattern: &str, entry: &str| -> Result<bool, PatternError> {
        let names = segments(entry);
        let subject = Subject::new(&names).lead(entry.starts_with('/')).trail(entry.ends_with('/'));
        let pattern = Pattern::new(pattern, Dialect::NAMES, meter)?;
        Ok(pattern.matches(subject, meter)? != pattern.is_negated())
    };
    let (mut taken, mut left): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for entry in entries {
        let text = entry.trim_start_matches('!');
        let marks = entry.len() - text.len();
        let text = match text.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(text) {
            rooted if rooted.starts_with('/') => rooted.trim_start_matches('/'),
            text => text,
        };
        if marks % 2 == 1 {
            left.push(text.to_owned());
            continue;
        }
        let mut kept = Vec::new();
        for pattern in left {
            if !covers(&pattern, text)? {
                kept.push(pattern);
            }
        }
        left = kept;
        taken.push(text.to_owned());
    }
    for pattern in &left {
        let mut kept = Vec::new();
        for entry in taken {
            if !covers(pattern, &entry)? {
                kept.push(entry);
            }
        }
        taken = kept;
    }
    Ok((taken, left))
}

fn is_left(path: &str, left: &[Pattern], meter: &Meter) -> Result<bool, PatternError> {
    let names = segments(path);
    for pattern in left {
        let subject = Subject::new(&names);
        if pattern.matches(subject, meter)? || pattern.matches(subject.trail(true), meter)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What npm calls a package without a name.
fn named_by_folder(folder: &str) -> String {
    let mut names = folder.rsplit('/');
    let name = names.next().unwrap_or_default();
    match names.next() {
        Some(scope) if scope.starts_with('@') => format!("{scope}/{name}"),
        _ => name.to_owned(),
    }
}

/// Rules that are added to the usual ones because npm was told of workspaces: for the root, the workspaces that it was told of; for
/// one of them, the ignore files of the folders above it.
pub(super) fn extra_rules(
    snapshot: &Snapshot<'_>,
    folder: &str,
    selected: &[String],
) -> Result<Vec<String>, ListError> {
    let selected: Vec<String> =
        selected.iter().map(|path| super::manifest::resolved(path).join("/")).collect();
    if selected.is_empty() {
        return Ok(Vec::new());
    }
    if folder.is_empty() {
        return Ok(vec![selected.join("\n")]);
    }
    if !selected.iter().any(|path| path == folder) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    let mut above = String::new();
    for name in folder.split('/') {
        for ignores in [".npmignore", ".gitignore"] {
            let path = join(&above, ignores);
            match snapshot.kind(&path)? {
                None => continue,
                Some(Kind::Folder) => return Err(ListError::RulesAreFolder { path }),
                Some(Kind::Link | Kind::Other) => return Err(ListError::RulesAreLink { path }),
                Some(Kind::File { .. }) => {
                    let bytes = snapshot.read(&path)?.unwrap_or_default();
                    texts.push(String::from_utf8_lossy(&bytes).into_owned());
                }
            }
            break;
        }
        above = join(&above, name);
    }
    Ok(texts)
}
