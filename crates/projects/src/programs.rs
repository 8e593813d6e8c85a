//! Which programs the project's own commands need.

use std::collections::BTreeSet;

use crate::gather::{Ecosystem, Evidence};
use crate::markers::{HOOKS, LINTERS, TESTS};
use crate::project::{BuildSystem, Project};

/// Names of programs, sorted. A tool that the project's package.json depends on is run by its package manager and is
/// no program of the machine; wrappers that the project brings (`mvnw`, `gradlew`) need no program either.
pub(crate) fn needed(project: &Project, evidence: &Evidence) -> Vec<String> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let top = |name: &str| evidence.files.iter().any(|(_, path)| path == name);
    for system in &project.build_systems {
        found.extend::<&[&str]>(match system {
            BuildSystem::Make => &["make"],
            BuildSystem::Pnpm => &["node", "pnpm"],
            BuildSystem::Yarn => &["node", "yarn"],
            BuildSystem::Npm => &["node", "npm"],
            BuildSystem::Poetry => &["poetry", "python3"],
            BuildSystem::Uv => &["uv"],
            BuildSystem::Pip => &["pip", "python3"],
            BuildSystem::Go => &["go"],
            BuildSystem::Cargo => &["cargo"],
            BuildSystem::Maven if top("mvnw") => &["java"],
            BuildSystem::Maven => &["java", "mvn"],
            BuildSystem::Gradle if top("gradlew") => &["java"],
            BuildSystem::Gradle => &["gradle", "java"],
            BuildSystem::Dotnet => &["dotnet"],
        });
    }
    found.extend(project.package_managers.iter().map(|m| m.name.as_str()));
    let installed = |names: &[&str]| {
        evidence
            .dependencies
            .iter()
            .any(|(e, d, _)| *e == Ecosystem::Node && names.contains(&d.name.as_str()))
    };
    let tools = [(&project.linters, LINTERS), (&project.test_frameworks, TESTS), (&project.git_hooks, HOOKS)];
    for (list, table) in tools {
        for tool in list.iter().filter_map(|f| table.iter().find(|t| t.name == f.name)) {
            if !installed(tool.node) {
                found.insert(tool.program);
            }
        }
    }
    if project.linters.iter().any(|l| l.name == "actionlint") {
        found.insert("actionlint");
    }
    if project.test_frameworks.iter().any(|t| t.name == "cargo nextest") {
        found.insert("cargo-nextest");
    }
    if !project.docker.is_empty() {
        found.insert("docker");
    }
    for file in &project.kubernetes {
        match file.rsplit('/').next() {
            Some("Chart.yaml") => found.insert("helm"),
            Some("helmfile.yaml") => found.insert("helmfile"),
            Some("skaffold.yaml") => found.insert("skaffold"),
            _ => found.insert("kubectl"),
        };
    }
    found.into_iter().map(str::to_owned).collect()
}
