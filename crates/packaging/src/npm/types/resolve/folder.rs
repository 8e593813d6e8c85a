//! Folders and packages: `typings`, `types`, `main`, `typesVersions` (§3.4, rules 1, 2, 4 and 6).

use super::super::path::{extension, join, within};
use super::super::range;
use super::{Ask, Wanted};
use crate::npm::types::json::Json;

impl Ask<'_> {
    /// A path as a file or a folder.
    pub(super) fn relative(&self, wanted: Wanted, path: &str, read_manifest: bool) -> Option<String> {
        if !path.ends_with('/')
            && let Some(found) = self.file(wanted, path)
        {
            return Some(found);
        }
        if self.esm {
            return None;
        }
        let scope =
            if read_manifest { self.manifests.at(self.world, path.trim_end_matches('/')) } else { None };
        self.folder(wanted, path, scope.as_ref().map(|scope| &*scope.manifest))
    }

    /// A package below a folder `node_modules`.
    pub(super) fn package(&self, wanted: Wanted, specifier: &str, modules: &str) -> Option<String> {
        let candidate = join(modules, specifier);
        let (name, rest) = split_name(specifier);
        let package = format!("{modules}/{name}");
        let own = self.manifests.at(self.world, candidate.trim_end_matches('/'));
        let scope = if rest.is_empty() {
            own
        } else if let Some(own) = own {
            let root = if self.modern { self.manifests.at(self.world, &package) } else { None };
            if root.as_ref().is_none_or(|root| root.manifest.get("exports").is_none()) {
                return self
                    .file(wanted, &candidate)
                    .or_else(|| self.folder(wanted, &candidate, Some(&own.manifest)));
            }
            root
        } else {
            self.manifests.at(self.world, &package)
        };
        self.found_package.set(self.found_package.get() || scope.is_some());
        let manifest = scope.as_ref().map(|scope| &*scope.manifest);
        if let Some(scope) = &scope
            && self.modern
            && scope.manifest.get("exports").is_some_and(Json::truthy)
        {
            let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            return self.exports(wanted, scope, &subpath);
        }
        let load = |path: &str| {
            let file = if rest.is_empty() && self.esm { None } else { self.file(wanted, path) };
            file.or_else(|| self.folder(wanted, path, manifest)).or_else(|| {
                let open = manifest
                    .is_some_and(|manifest| matches!(manifest.get("exports"), None | Some(Json::Null)));
                if open && self.esm { self.file(wanted, &join(path, "index.js")) } else { None }
            })
        };
        if !rest.is_empty()
            && let Some(paths) = manifest.and_then(|manifest| self.version_paths(manifest))
            && let Some(found) = self.by_version(rest, &package, paths, &load)
        {
            return found;
        }
        load(&candidate)
    }

    /// A folder, with the fields of a package.json: not always the one that is in it.
    fn folder(&self, wanted: Wanted, folder: &str, manifest: Option<&Json>) -> Option<String> {
        let field = |name: &str| {
            let text = manifest?.get(name)?.text()?;
            if text.is_empty() { None } else { Some(join(folder, text)) }
        };
        let mut named = None;
        if wanted.has(Wanted::DECLARATIONS) {
            named = field("typings").or_else(|| field("types"));
        }
        if wanted != Wanted::JSON {
            named = named.or_else(|| field("main"));
        }
        let modules =
            manifest.and_then(|manifest| manifest.get("type")).and_then(Json::text) == Some("module");
        let load = |path: &str| {
            self.named_file(wanted, path).or_else(|| {
                let wider = if wanted == Wanted::DECLARATIONS { Wanted::TYPES } else { wanted };
                let lax = Ask { esm: self.esm && modules, ..self.clone() };
                lax.relative(wider, path, false)
            })
        };
        if let Some(paths) = manifest.and_then(|manifest| self.version_paths(manifest))
            && named.as_deref().is_none_or(|named| within(folder, named))
        {
            let index = join(folder, "index");
            let target = named.as_deref().unwrap_or(&index);
            let inner = target.strip_prefix(folder.trim_end_matches('/')).unwrap_or(target).trim_matches('/');
            if let Some(found) = self.by_version(inner, folder, paths, &load) {
                return found;
            }
        }
        if let Some(found) = named.and_then(|named| load(&named)) {
            return Some(found);
        }
        if self.esm { None } else { self.file(wanted, &join(folder, "index")) }
    }

    /// The entry of `typesVersions` that holds for this TypeScript.
    fn version_paths<'m>(&self, manifest: &'m Json) -> Option<&'m Json> {
        let Json::Object(versions) = manifest.get("typesVersions")? else { return None };
        self.world.step(versions.len() as u64);
        let (_, paths) = versions.iter().find(|(version, _)| range::holds(version) == Some(true))?;
        matches!(paths, Json::Object(_) | Json::List(_) | Json::Null).then_some(paths)
    }

    /// What the patterns of `typesVersions` make of a path: `None` when none fits. One that fits and leads nowhere is
    /// an answer as well.
    #[expect(
        clippy::option_option,
        reason = "that nothing fits and that what fits leads nowhere are two answers"
    )]
    fn by_version(
        &self,
        path: &str,
        folder: &str,
        paths: &Json,
        load: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Option<String>> {
        let Json::Object(patterns) = paths else { return None };
        self.world.step(patterns.len() as u64);
        let (pattern, star) = best_pattern(patterns.keys().map(String::as_str), path)?;
        let found =
            patterns.get(pattern).map(substitutions).unwrap_or_default().iter().find_map(|substitution| {
                let replaced =
                    if star.is_empty() { substitution.clone() } else { substitution.replacen('*', star, 1) };
                let candidate = join(folder, &replaced);
                if extension(substitution).is_some() && self.world.has_file(&candidate) {
                    return Some(candidate);
                }
                load(&candidate)
            });
        Some(found)
    }
}

/// The pattern that fits exactly, else the one with the longest part before its star, and what its star stands for.
fn best_pattern<'p, 's>(
    patterns: impl Iterator<Item = &'p str>,
    path: &'s str,
) -> Option<(&'p str, &'s str)> {
    let mut best: Option<(&str, &str, usize)> = None;
    for pattern in patterns {
        let Some((before, after)) = pattern.split_once('*') else {
            if pattern == path {
                return Some((pattern, ""));
            }
            continue;
        };
        if after.contains('*') || path.len() < before.len() + after.len() {
            continue;
        }
        let star = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(star) = star
            && best.is_none_or(|(_, _, length)| before.len() > length)
        {
            best = Some((pattern, star, before.len()));
        }
    }
    best.map(|(pattern, star, _)| (pattern, star))
}

/// The substitutions of a pattern. A text where a list belongs is read letter by letter, as TypeScript does.
fn substitutions(value: &Json) -> Vec<String> {
    match value {
        Json::List(list) => list.iter().filter_map(Json::text).map(str::to_owned).collect(),
        Json::Text(text) => text.chars().map(String::from).collect(),
        _ => Vec::new(),
    }
}

/// A package's name and what stands behind it.
fn split_name(specifier: &str) -> (&str, &str) {
    let from = if specifier.starts_with('@') { specifier.find('/').map_or(0, |slash| slash + 1) } else { 0 };
    match specifier.get(from..).and_then(|rest| rest.find('/')) {
        Some(slash) => (&specifier[..from + slash], &specifier[from + slash + 1..]),
        None => (specifier, ""),
    }
}
