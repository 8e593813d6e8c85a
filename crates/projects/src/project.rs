//! What is said about a project. Models read these descriptions, so they are short.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::makefile::Makefile;

/// What a folder is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// What kind of project it is.
    #[serde(rename = "type")]
    pub kind: ProjectType,
    /// Its name, from the first manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Languages of all its manifests.
    pub languages: Vec<Language>,
    /// Files that gave the type away.
    pub indicators: Vec<String>,
    /// Frameworks that it depends on.
    pub frameworks: Vec<Framework>,
    /// What builds it, by precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_system: Option<BuildSystem>,
    /// Every build system found, by precedence.
    pub build_systems: Vec<BuildSystem>,
    /// What installs its dependencies, per ecosystem.
    pub package_managers: Vec<PackageManager>,
    /// Its Makefile and the targets there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makefile: Option<Makefile>,
    /// Scripts of package.json.
    pub scripts: Vec<Script>,
    /// Linters, formatters and type checkers.
    pub linters: Vec<Found>,
    /// Test frameworks and runners.
    pub test_frameworks: Vec<Found>,
    /// Continuous integration services.
    pub ci: Vec<Found>,
    /// Dockerfiles and compose files.
    pub docker: Vec<String>,
    /// Kubernetes, Helm and Kustomize files.
    pub kubernetes: Vec<String>,
    /// Managers of git hooks.
    pub git_hooks: Vec<Found>,
    /// Editor configuration.
    pub editors: Vec<String>,
    /// Packages below the root.
    pub packages: Vec<Package>,
    /// Programs that its commands need.
    pub programs: Vec<String>,
    /// Manifests that could not be understood.
    pub problems: Vec<Problem>,
    /// What to know when reading this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether a limit cut the search short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// What kind of project it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProjectType {
    /// JavaScript or TypeScript.
    Node,
    /// Python.
    Python,
    /// Go.
    Go,
    /// Rust.
    Rust,
    /// Java or Kotlin.
    Java,
    /// C#, F# or Visual Basic.
    Dotnet,
    /// More than one of them.
    Mixed,
    /// None of them.
    #[default]
    Unknown,
}

/// A programming language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Language {
    Javascript,
    Typescript,
    Python,
    Go,
    Rust,
    Java,
    Kotlin,
    Csharp,
    Fsharp,
    Visualbasic,
}

/// What builds a project, in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum BuildSystem {
    Make,
    Pnpm,
    Yarn,
    Npm,
    Poetry,
    Uv,
    Pip,
    Go,
    Cargo,
    Maven,
    Gradle,
    Dotnet,
}

/// A framework that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Framework {
    /// Its name.
    pub name: String,
    /// The version asked for, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The manifest that names it.
    pub from: String,
}

/// What installs dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackageManager {
    /// pnpm, yarn, bun, npm, uv, poetry, pipenv or pip.
    pub name: String,
    /// The version that the project pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The file that says so.
    pub from: String,
    /// Its lock file, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
}

/// A script of package.json.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Script {
    /// Its name.
    pub name: String,
    /// What it runs, as written.
    pub command: String,
}

/// Something found, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Its name.
    pub name: String,
    /// Files that show it.
    pub from: Vec<String>,
}

/// A package below the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// Its folder.
    pub path: String,
    /// Its name in the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What kind of package it is.
    #[serde(rename = "type")]
    pub kind: ProjectType,
    /// Whether a workspace declares it.
    pub member: bool,
}

/// A manifest, or a part of one, that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(file: impl Into<String>, line: Option<usize>, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        // A parser's message may quote the whole of a long line.
        if message.chars().count() > MAX_MESSAGE {
            message = message.chars().take(MAX_MESSAGE).chain(['…']).collect();
        }
        Self { file: file.into(), line: line.and_then(|l| u32::try_from(l).ok()), message }
    }
}

/// Longest message of a problem, in characters.
const MAX_MESSAGE: usize = 300;

/// Most problems that are reported.
pub(crate) const MAX_PROBLEMS: usize = 100;
