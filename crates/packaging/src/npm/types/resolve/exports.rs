//! `exports` and `imports` (§3.4, rules 5 and 7).

use std::cmp::Reverse;

use indexmap::IndexMap;

use super::super::path::{absolute, join};
use super::super::range;
use super::super::world::Scope;
use super::{Ask, Event, MAX_REDIRECTS, Wanted};
use crate::npm::types::json::Json;

/// A target that is looked at: what its stars or its end stand for.
#[derive(Clone, Copy)]
struct Fit<'t> {
    scope: &'t Scope,
    wanted: Wanted,
    /// What the star, or the part behind a slash, stands for.
    rest: &'t str,
    /// Whether the key had a star.
    pattern: bool,
    /// In `imports`: how often one has led to another.
    imports: Option<u8>,
}

impl Ask<'_> {
    /// A subpath of a package: `.` or `./…`.
    pub(super) fn exports(&self, wanted: Wanted, scope: &Scope, subpath: &str) -> Option<String> {
        let exports = scope.manifest.get("exports").filter(|exports| exports.truthy())?;
        if subpath != "." {
            let Json::Object(keys) = exports else { return None };
            if !keys.keys().all(|key| key.starts_with('.')) {
                return None;
            }
            return self.keyed(wanted, scope, keys, subpath, None);
        }
        let target = match exports {
            Json::Text(_) | Json::List(_) => exports,
            Json::Object(keys) if !keys.keys().any(|key| key.starts_with('.')) => exports,
            Json::Object(keys) => keys.get(".")?,
            _ => return None,
        };
        target.truthy().then_some(())?;
        self.target(target, Fit { scope, wanted, rest: "", pattern: false, imports: None })
    }

    /// A name that starts with `#`.
    pub(super) fn imports(&self, wanted: Wanted, name: &str, folder: &str, redirects: u8) -> Option<String> {
        if name == "#" || name.starts_with("#/") {
            return None;
        }
        let scope = self.manifests.nearest(self.world, folder)?;
        let Json::Object(keys) = scope.manifest.get("imports")? else { return None };
        self.keyed(wanted, &scope, keys, name, Some(redirects))
    }

    fn keyed(
        &self,
        wanted: Wanted,
        scope: &Scope,
        keys: &IndexMap<String, Json>,
        name: &str,
        imports: Option<u8>,
    ) -> Option<String> {
        if !name.ends_with('/')
            && !name.contains('*')
            && let Some(target) = keys.get(name)
        {
            return self.target(target, Fit { scope, wanted, rest: "", pattern: false, imports });
        }
        self.world.step(keys.len() as u64);
        let mut open: Vec<&str> = keys
            .keys()
            .map(String::as_str)
            .filter(|key| key.ends_with('/') || key.bytes().filter(|byte| *byte == b'*').count() == 1)
            .collect();
        open.sort_by_key(|key| {
            let star = key.find('*');
            (Reverse(star.map_or(key.len(), |star| star + 1)), star.is_none(), Reverse(key.len()))
        });
        let (key, rest, pattern) = open.into_iter().find_map(|key| {
            let (rest, pattern) = fits(key, name)?;
            Some((key, rest, pattern))
        })?;
        self.target(keys.get(key)?, Fit { scope, wanted, rest, pattern, imports })
    }

    fn target(&self, target: &Json, fit: Fit<'_>) -> Option<String> {
        self.world.step(1);
        match target {
            Json::Text(text) => self.path(text, fit),
            Json::List(list) => list.iter().find_map(|target| self.target(target, fit)),
            Json::Object(conditions) => {
                self.mark(Event::Enter);
                let found = conditions.iter().filter(|(condition, _)| self.applies(condition)).find_map(
                    |(_, target)| {
                        let found = self.target(target, fit);
                        self.mark(if found.is_some() { Event::Resolved } else { Event::Failed });
                        found
                    },
                );
                self.mark(Event::Exit);
                found
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => None,
        }
    }

    fn applies(&self, condition: &str) -> bool {
        condition == "default"
            || self.conditions.contains(&condition)
            || (self.conditions.contains(&"types")
                && condition.strip_prefix("types@").is_some_and(|range| range::holds(range) == Some(true)))
    }

    fn path(&self, target: &str, fit: Fit<'_>) -> Option<String> {
        if !fit.pattern && !fit.rest.is_empty() && !target.ends_with('/') {
            return None;
        }
        let written =
            if fit.pattern { target.replace('*', fit.rest) } else { format!("{target}{}", fit.rest) };
        let Some(inner) = target.strip_prefix("./") else {
            let redirects = fit.imports.filter(|count| *count < MAX_REDIRECTS)?;
            if target.starts_with("../") || absolute(target) {
                return None;
            }
            return self.specifier(fit.wanted, &written, &fit.scope.folder, redirects + 1);
        };
        let barred = |path: &str| path.split('/').any(|part| matches!(part, ".." | "." | "node_modules"));
        if barred(inner) || barred(fit.rest) {
            return None;
        }
        self.named_file(fit.wanted, &join(&fit.scope.folder, &written))
    }
}

/// What a key with a star, or one that ends with a slash, leaves of a name; `None` when it does not fit.
fn fits<'n>(key: &str, name: &'n str) -> Option<(&'n str, bool)> {
    let Some((before, after)) = key.split_once('*') else {
        return name.strip_prefix(key).map(|rest| (rest, false));
    };
    if after.is_empty() {
        return name.strip_prefix(before).map(|rest| (rest, true));
    }
    if !name.starts_with(before) || !name.ends_with(after) {
        return None;
    }
    // Where both parts overlap, the two ends change places, as in JavaScript's `substring`.
    let (start, end) = (before.len(), name.len() - after.len());
    name.get(start.min(end)..start.max(end)).map(|rest| (rest, true))
}
