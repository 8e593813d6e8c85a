//! What installs a project's dependencies, and what builds it.

use std::collections::BTreeSet;

use crate::detect::Judge;
use crate::gather::Ecosystem;
use crate::project::{BuildSystem, PackageManager};

impl Judge<'_> {
    pub(crate) fn package_managers(&self, notes: &mut Vec<String>) -> Vec<PackageManager> {
        let mut found = Vec::new();
        let lock = |names: &'static [&'static str]| names.iter().copied().find(|n| self.top_has(n));
        if let Some(package) = &self.evidence.package {
            let locks = [
                ("pnpm", lock(&["pnpm-lock.yaml"])),
                ("yarn", lock(&["yarn.lock"])),
                ("bun", lock(&["bun.lock", "bun.lockb"])),
                ("npm", lock(&["package-lock.json", "npm-shrinkwrap.json"])),
            ];
            let there: Vec<_> = locks.iter().filter_map(|(n, l)| l.map(|l| (*n, l))).collect();
            if there.len() > 1 {
                let names: Vec<_> = there.iter().map(|(_, lock)| *lock).collect();
                notes
                    .push(format!("There are lock files of several package managers: {}.", names.join(", ")));
            }
            let pinned = package.manager.clone();
            let (name, version, from) = match (&pinned, there.first()) {
                (Some((name, version)), first) => {
                    if let Some((other, lock)) = first
                        && !there.iter().any(|(n, _)| n == name)
                    {
                        notes.push(format!("package.json pins {name}, but {lock} is of {other}."));
                    }
                    (name.clone(), version.clone(), "package.json")
                }
                (None, Some((name, lock))) => ((*name).to_owned(), None, *lock),
                (None, None) => ("npm".to_owned(), None, "package.json"),
            };
            let lock = there.iter().find(|(n, _)| *n == name).map(|(_, lock)| (*lock).to_owned());
            found.push(PackageManager { name, version, from: from.to_owned(), lock });
        }
        if self.top_is(Ecosystem::Python) {
            let tables =
                |name: &str| self.evidence.tables.iter().any(|(t, f)| t == name && f == "pyproject.toml");
            let backend = self.evidence.backend.as_deref().unwrap_or_default();
            let built_by = |start: &str| backend.starts_with(start);
            let (name, from, lock) = if self.top_has("uv.lock") {
                ("uv", "uv.lock", Some("uv.lock"))
            } else if self.top_has("poetry.lock") {
                ("poetry", "poetry.lock", Some("poetry.lock"))
            } else if self.top_has("Pipfile.lock") {
                ("pipenv", "Pipfile.lock", Some("Pipfile.lock"))
            } else if self.top_has("Pipfile") {
                ("pipenv", "Pipfile", None)
            } else if tables("uv") || built_by("uv_build") {
                ("uv", "pyproject.toml", None)
            } else if tables("poetry") || built_by("poetry.") {
                ("poetry", "pyproject.toml", None)
            } else {
                let manifests = ["requirements.txt", "pyproject.toml", "setup.py"];
                let from = manifests.into_iter().find(|n| self.top_has(n)).unwrap_or("setup.cfg");
                ("pip", from, None)
            };
            let lock = lock.map(str::to_owned);
            found.push(PackageManager { name: name.to_owned(), version: None, from: from.to_owned(), lock });
        }
        found
    }

    pub(crate) fn build_systems(&self, make: bool, managers: &[PackageManager]) -> Vec<BuildSystem> {
        let mut found = BTreeSet::new();
        if make {
            found.insert(BuildSystem::Make);
        }
        found.extend(managers.iter().map(|manager| match manager.name.as_str() {
            "pnpm" => BuildSystem::Pnpm,
            "yarn" => BuildSystem::Yarn,
            // Scripts of package.json are npm's, whoever installs.
            "npm" | "bun" => BuildSystem::Npm,
            "poetry" => BuildSystem::Poetry,
            "uv" => BuildSystem::Uv,
            _ => BuildSystem::Pip,
        }));
        for (ecosystem, system) in [
            (Ecosystem::Go, BuildSystem::Go),
            (Ecosystem::Rust, BuildSystem::Cargo),
            (Ecosystem::Dotnet, BuildSystem::Dotnet),
        ] {
            if self.top_is(ecosystem) {
                found.insert(system);
            }
        }
        found.extend(self.evidence.maven.then_some(BuildSystem::Maven));
        found.extend(self.evidence.gradle.then_some(BuildSystem::Gradle));
        found.into_iter().collect()
    }
}
