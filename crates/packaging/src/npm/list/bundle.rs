//! Bundled dependencies (`npm-packing.md` §1.7).

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::Manifest;
use super::snapshot::{Snapshot, join};
use super::walk::{Common, Found, Package, PackageKind};
use super::{ListError, Options};
use crate::tree::Kind;

/// A package that is installed.
struct Installed {
    /// Where its folder is in the tree.
    folder: String,
    manifest: Manifest,
    /// Whether it is no package's dependency by its place: the one that is packed, and what links lead to.
    top: bool,
}

/// Where a name led.
enum Target {
    /// To a folder below `node_modules`.
    Folder(String),
    /// Through a link below `node_modules` to a folder.
    Link { path: String, folder: String },
    /// To a link of which it is not known where it leads.
    Unknown(String),
}

/// Adds the files of bundled packages; returns those that could not be looked into.
pub(super) fn add(
    common: &Common<'_>,
    folder: &str,
    manifest: &Manifest,
    workspaces: &BTreeMap<String, String>,
    options: &Options,
    found: &mut Found,
) -> Result<Vec<String>, ListError> {
    let bundler = Bundler { snapshot: common.snapshot, root: folder, workspaces, options };
    let mut unfollowed = BTreeSet::new();
    // By the places that are packed, and by the folders whose dependencies were gone through.
    let mut packed = BTreeSet::new();
    let mut seen = BTreeSet::from([folder.to_owned()]);
    let root = Installed { folder: folder.to_owned(), manifest: manifest.clone(), top: true };
    let names = manifest.bundled.clone();
    let mut open = vec![(root, names)];
    while let Some((from, names)) = open.pop() {
        for name in names {
            let is_workspace = from.folder == folder && workspaces.contains_key(&name);
            if !is_workspace && !from.manifest.dependencies.bundles(&name, from.top) {
                continue;
            }
            let Some(target) = bundler.resolve(&from, &name)? else { continue };
            let (place, source, kind) = match target {
                Target::Folder(path) => (path.clone(), path, PackageKind::Bundled),
                Target::Link { path, folder } => (path, folder, PackageKind::Linked),
                Target::Unknown(path) => {
                    unfollowed.insert(bundler.below_root(&path).unwrap_or(path));
                    continue;
                }
            };
            // npm would write names with `..`, which nobody unpacks.
            let Some(path) = bundler.below_root(&place) else {
                unfollowed.insert(place);
                continue;
            };
            let top = kind == PackageKind::Linked;
            let manifest = bundler.manifest(&source)?;
            if packed.insert(path.clone()) {
                let package = Package {
                    path,
                    source: source.clone(),
                    manifest: &manifest,
                    kind,
                    has_workspaces: false,
                    extra: Vec::new(),
                    global: None,
                };
                package.walk(common, found)?;
            }
            if seen.insert(source.clone()) {
                let needed = manifest.dependencies.production.iter().chain(&manifest.dependencies.optional);
                let names = needed.cloned().collect();
                open.push((Installed { folder: source, manifest, top }, names));
            }
        }
    }
    Ok(unfollowed.into_iter().collect())
}

struct Bundler<'a> {
    snapshot: &'a Snapshot<'a>,
    root: &'a str,
    workspaces: &'a BTreeMap<String, String>,
    options: &'a Options,
}

impl Bundler<'_> {
    /// Where a dependency is installed: in the package's own `node_modules` or the nearest above, up to that of the package that is
    /// packed or, for what is outside of it, to the folder that both are in.
    fn resolve(&self, from: &Installed, name: &str) -> Result<Option<Target>, ListError> {
        let hidden = name.split('/').any(|part| part.starts_with('.') || part.is_empty());
        if hidden || name.split('/').count() > 2 {
            return Ok(None);
        }
        let limit = common_folder(self.root, &from.folder);
        let mut at = from.folder.as_str();
        loop {
            // What is in a `node_modules` folder has its neighbours there.
            if base_of(at) != "node_modules" {
                let path = join(&join(at, "node_modules"), name);
                match self.snapshot.kind(&path)? {
                    Some(Kind::Folder) => return Ok(Some(Target::Folder(path))),
                    Some(Kind::Link) => {
                        return Ok(Some(match self.target(from, name, &path)? {
                            Some(folder) => Target::Link { path, folder },
                            None => Target::Unknown(path),
                        }));
                    }
                    _ => {}
                }
            }
            if at == limit {
                return Ok(None);
            }
            at = at.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// Where a link leads, if that is known and there is a folder.
    fn target(&self, from: &Installed, name: &str, path: &str) -> Result<Option<String>, ListError> {
        let said = from.manifest.dependencies.folders.iter().find(|(key, _)| key == name);
        let candidates = [
            self.options.links.get(path).cloned(),
            self.workspaces.get(name).cloned(),
            said.and_then(|(_, folder)| relative(&from.folder, folder)),
        ];
        for candidate in candidates.into_iter().flatten() {
            let folder = super::manifest::resolved(&candidate).join("/");
            if self.snapshot.kind(&folder)? == Some(Kind::Folder) {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }

    /// A manifest, or an empty one where there is none that can be read: npm packs such a package nevertheless.
    fn manifest(&self, folder: &str) -> Result<Manifest, ListError> {
        let path = join(folder, "package.json");
        Ok(match self.snapshot.read(&path)? {
            Some(bytes) => match Manifest::read(&bytes, &path) {
                Err(ListError::Manifest { .. }) => Manifest::default(),
                manifest => manifest?,
            },
            None => Manifest::default(),
        })
    }

    /// A path of the tree as it is below the package.
    fn below_root(&self, path: &str) -> Option<String> {
        if self.root.is_empty() {
            return Some(path.to_owned());
        }
        path.strip_prefix(self.root).and_then(|path| path.strip_prefix('/')).map(str::to_owned)
    }
}

fn base_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

/// The deepest folder that both are in.
fn common_folder<'a>(one: &'a str, other: &str) -> &'a str {
    let mut end = 0;
    let mut other = other.split('/');
    for name in one.split('/') {
        if name.is_empty() || other.next() != Some(name) {
            break;
        }
        end += name.len() + usize::from(end > 0);
    }
    one.get(..end).unwrap_or_default()
}

/// A path as it is said in a folder; `None` when it leads out of the tree.
fn relative(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    if path.starts_with('/') {
        return None;
    }
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_that_both_are_in() {
        assert_eq!(common_folder("packages/a", "packages/b"), "packages");
        assert_eq!(common_folder("", "node_modules/x"), "");
        assert_eq!(common_folder("a", "a/node_modules/x"), "a");
        assert_eq!(common_folder("ab", "a"), "");
    }

    #[test]
    fn a_path_that_leads_out_is_none() {
        assert_eq!(relative("packages/a", "../b").as_deref(), Some("packages/b"));
        assert_eq!(relative("a", "../../b"), None);
        assert_eq!(relative("a", "/b"), None);
    }
}
