//! Reads the manifests of the folders that matter, and keeps what they say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::golang::{gomod, gowork};
use crate::look::{Entry, EntryKind};
use crate::manifest::node::PackageJson;
use crate::manifest::{Dependency, cargo, dotnet, jvm, node, python, text, yaml};
use crate::markers::fits;
use crate::paths;
use crate::project::{Language, ProjectType};
use crate::survey::{MAX_PACKAGES, Survey};

/// A family of manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ecosystem {
    Node,
    Python,
    Go,
    Rust,
    Java,
    Dotnet,
}

impl Ecosystem {
    pub(crate) fn kind(self) -> ProjectType {
        match self {
            Self::Node => ProjectType::Node,
            Self::Python => ProjectType::Python,
            Self::Go => ProjectType::Go,
            Self::Rust => ProjectType::Rust,
            Self::Java => ProjectType::Java,
            Self::Dotnet => ProjectType::Dotnet,
        }
    }

    /// The ecosystem that a file's name gives away.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        match name {
            "package.json" => Some(Self::Node),
            "pyproject.toml" | "setup.py" | "setup.cfg" | "Pipfile" => Some(Self::Python),
            name if is_requirements(name) => Some(Self::Python),
            "go.mod" | "go.work" => Some(Self::Go),
            "Cargo.toml" => Some(Self::Rust),
            "pom.xml" | "build.gradle" | "build.gradle.kts" | "settings.gradle" | "settings.gradle.kts" => {
                Some(Self::Java)
            }
            _ if [".csproj", ".fsproj", ".vbproj", ".sln", ".slnx"].iter().any(|e| ends(e)) => {
                Some(Self::Dotnet)
            }
            _ => None,
        }
    }
}

fn is_requirements(name: &str) -> bool {
    fits("requirements*.txt", name)
}

/// What one folder is.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) dir: String,
    pub(crate) name: Option<String>,
    pub(crate) ecosystems: BTreeSet<Ecosystem>,
    pub(crate) member: bool,
}

/// What was found, and where.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The top first.
    pub(crate) parts: Vec<Part>,
    pub(crate) dependencies: Vec<(Ecosystem, Dependency, String)>,
    /// Files in folders with manifests: name and path.
    pub(crate) files: Vec<(String, String)>,
    /// Tables of pyproject.toml and sections of setup.cfg: name and file.
    pub(crate) tables: Vec<(String, String)>,
    /// Keys of package.json: name and file.
    pub(crate) keys: Vec<(String, String)>,
    /// Hooks of pre-commit: id and file.
    pub(crate) hooks: Vec<(String, String)>,
    pub(crate) languages: BTreeSet<Language>,
    /// The package.json at the top.
    pub(crate) package: Option<PackageJson>,
    /// `build-backend` at the top.
    pub(crate) backend: Option<String>,
    /// `[workspace.dependencies]` of the Cargo.toml at the top.
    pub(crate) shared: toml::Table,
    /// Whether Gradle or Maven at the top.
    pub(crate) gradle: bool,
    pub(crate) maven: bool,
}

/// Folders that a workspace declares, waiting to be read.
struct Members {
    file: String,
    patterns: Vec<String>,
    without: Vec<String>,
}

pub(crate) fn gather(survey: &mut Survey<'_>) -> Evidence {
    let mut gatherer = Gatherer { survey, found: Evidence::default(), members: VecDeque::new() };
    gatherer.folder("", false);
    let mut read: BTreeSet<String> = BTreeSet::from([String::new()]);
    while let Some(next) = gatherer.members.pop_front() {
        for dir in gatherer.survey.members(&next.file, &next.patterns, &next.without) {
            if !read.contains(&dir) && gatherer.found.parts.len() < MAX_PACKAGES {
                read.insert(dir.clone());
                gatherer.folder(&dir, true);
            } else if gatherer.found.parts.len() >= MAX_PACKAGES {
                gatherer.survey.truncated = true;
            }
        }
    }
    for dir in gatherer.survey.discover(&read) {
        if gatherer.found.parts.len() < MAX_PACKAGES && read.insert(dir.clone()) {
            gatherer.folder(&dir, false);
            // What a nested workspace declares is its own affair.
            gatherer.members.clear();
        }
    }
    gatherer.found
}

struct Gatherer<'s, 'l> {
    survey: &'s mut Survey<'l>,
    found: Evidence,
    members: VecDeque<Members>,
}

impl Gatherer<'_, '_> {
    fn folder(&mut self, dir: &str, member: bool) {
        let entries = self.survey.list(dir);
        let is_file = |e: &&Entry| matches!(e.kind, EntryKind::File | EntryKind::Link);
        let mut part = Part { dir: dir.to_owned(), name: None, ecosystems: BTreeSet::new(), member };
        for entry in entries.iter().filter(is_file) {
            if let Some(ecosystem) = Ecosystem::of(&entry.name) {
                // `setup.cfg` configures linters of other projects too.
                if entry.name != "setup.cfg" {
                    part.ecosystems.insert(ecosystem);
                }
                self.manifest(&mut part, &entry.name);
            }
        }
        if part.ecosystems.is_empty() && !dir.is_empty() {
            return;
        }
        for entry in entries.iter().filter(is_file) {
            let path = paths::join(dir, &entry.name);
            match entry.name.as_str() {
                "pnpm-workspace.yaml" => self.pnpm(&path),
                "lerna.json" => self.lerna(&path),
                ".pre-commit-config.yaml" | ".pre-commit-config.yml" => self.pre_commit(&path),
                "tox.ini" => self.sections(&path),
                _ => {}
            }
            self.found.files.push((entry.name.clone(), path));
        }
        self.languages(&part, &entries);
        self.found.parts.push(part);
    }

    fn languages(&mut self, part: &Part, entries: &[Entry]) {
        let typescript = entries.iter().any(|e| fits("tsconfig*.json", &e.name));
        let has = |ending: &str| entries.iter().any(|e| e.name.ends_with(ending));
        for ecosystem in &part.ecosystems {
            let language = match ecosystem {
                Ecosystem::Node if typescript => Language::Typescript,
                Ecosystem::Node => Language::Javascript,
                Ecosystem::Python => Language::Python,
                Ecosystem::Go => Language::Go,
                Ecosystem::Rust => Language::Rust,
                Ecosystem::Java => Language::Java,
                Ecosystem::Dotnet => {
                    for (ending, language) in [
                        (".csproj", Language::Csharp),
                        (".fsproj", Language::Fsharp),
                        (".vbproj", Language::Visualbasic),
                    ] {
                        if has(ending) {
                            self.found.languages.insert(language);
                        }
                    }
                    continue;
                }
            };
            self.found.languages.insert(language);
        }
    }

    /// Reads one manifest of a folder. What is wrong with it is a problem.
    fn manifest(&mut self, part: &mut Part, name: &str) {
        let file = paths::join(&part.dir, name);
        let top = part.dir.is_empty();
        let Some(bytes) = self.survey.read(&file) else { return };
        let mut named = None;
        let done = match name {
            "package.json" => node::parse(&bytes).map(|found| {
                named.clone_from(&found.name);
                self.depends(Ecosystem::Node, found.dependencies.clone(), &file);
                self.found.keys.extend(found.keys.iter().map(|k| (k.clone(), file.clone())));
                self.workspace(&file, found.workspaces.clone(), Vec::new());
                if top {
                    self.found.package = Some(found);
                }
            }),
            "pyproject.toml" => python::parse(&bytes).map(|found| {
                named.clone_from(&found.name);
                self.depends(Ecosystem::Python, found.dependencies, &file);
                self.found.tables.extend(found.tools.into_iter().map(|t| (t, file.clone())));
                self.workspace(&file, found.members, found.excluded);
                if top {
                    self.found.backend = found.backend;
                }
            }),
            "Pipfile" => python::pipfile(&bytes).map(|found| self.depends(Ecosystem::Python, found, &file)),
            "Cargo.toml" => cargo::parse(&bytes, &self.found.shared).map(|found| {
                if top {
                    self.found.shared = found.shared;
                }
                named.clone_from(&found.name);
                self.depends(Ecosystem::Rust, found.dependencies, &file);
                self.workspace(&file, found.members, found.excluded);
            }),
            "pom.xml" => jvm::pom(&bytes).map(|found| {
                self.found.maven |= top;
                named.clone_from(&found.name);
                self.jvm(&file, found);
            }),
            _ => self.plain(part, name, &file, &bytes, &mut named),
        };
        if let Err((line, message)) = done {
            self.survey.problem(&file, line, message);
        }
        part.name = part.name.take().or(named);
    }

    /// Manifests that are plain text, and those of .NET.
    fn plain(
        &mut self,
        part: &Part,
        name: &str,
        file: &str,
        bytes: &[u8],
        named: &mut Option<String>,
    ) -> Result<(), (Option<usize>, String)> {
        if name == "setup.py" {
            // A program: its being there is all that is known.
            return Ok(());
        }
        if [".csproj", ".fsproj", ".vbproj"].iter().any(|e| name.ends_with(e)) {
            let found = dotnet::project(bytes)?;
            self.depends(Ecosystem::Dotnet, found, file);
            *named = name.rsplit_once('.').map(|(stem, _)| stem.to_owned());
            return Ok(());
        }
        let text = text(bytes)?;
        match name {
            "setup.cfg" => {
                self.found.tables.extend(python::sections(text).into_iter().map(|s| (s, file.to_owned())));
            }
            "go.mod" => {
                let found = gomod::parse(file, text, &mut self.survey.problems);
                *named = found.module;
                let direct = found.requires.into_iter().filter(|r| !r.indirect);
                let direct = direct.map(|r| Dependency::new(r.path, Some(&r.version), false)).collect();
                self.depends(Ecosystem::Go, direct, file);
            }
            "go.work" => {
                let found = gowork::parse(file, text, &mut self.survey.problems);
                self.workspace(file, found.uses, Vec::new());
            }
            "build.gradle" | "build.gradle.kts" => {
                self.found.gradle |= part.dir.is_empty();
                self.jvm(file, jvm::gradle(text));
            }
            "settings.gradle" | "settings.gradle.kts" => {
                self.found.gradle |= part.dir.is_empty();
                let found = jvm::settings(text);
                named.clone_from(&found.name);
                self.jvm(file, found);
            }
            name if is_requirements(name) => {
                // `requirements-dev.txt`, `requirements_test.txt`
                let dev = name != "requirements.txt";
                self.depends(Ecosystem::Python, python::requirements(text, dev), file);
            }
            _ => {
                let folders = dotnet::solution(text);
                let folders = folders.iter().map(|p| paths::split(p).0.to_owned()).filter(|d| !d.is_empty());
                self.workspace(file, folders.collect(), Vec::new());
            }
        }
        Ok(())
    }

    fn jvm(&mut self, file: &str, found: jvm::Build) {
        if found.kotlin {
            self.found.languages.insert(Language::Kotlin);
        }
        self.depends(Ecosystem::Java, found.dependencies, file);
        self.workspace(file, found.modules, Vec::new());
    }

    fn depends(&mut self, ecosystem: Ecosystem, dependencies: Vec<Dependency>, file: &str) {
        self.found.dependencies.extend(dependencies.into_iter().map(|d| (ecosystem, d, file.to_owned())));
    }

    fn workspace(&mut self, file: &str, patterns: Vec<String>, without: Vec<String>) {
        if !patterns.is_empty() {
            self.members.push_back(Members { file: file.to_owned(), patterns, without });
        }
    }

    fn yaml(&mut self, file: &str) -> Option<yaml::Yaml> {
        let bytes = self.survey.read(file)?;
        match yaml::parse(&bytes) {
            Ok(found) => Some(found),
            Err((line, message)) => {
                self.survey.problem(file, line, message);
                None
            }
        }
    }

    fn pnpm(&mut self, file: &str) {
        let Some(found) = self.yaml(file) else { return };
        let packages = found.get("packages").map(yaml::Yaml::list).unwrap_or_default();
        self.workspace(
            file,
            packages.iter().filter_map(yaml::Yaml::text).map(str::to_owned).collect(),
            Vec::new(),
        );
    }

    fn lerna(&mut self, file: &str) {
        let Some(bytes) = self.survey.read(file) else { return };
        match serde_json::from_slice::<BTreeMap<String, serde_json::Value>>(&bytes) {
            Ok(found) => {
                let packages = found.get("packages").and_then(|p| p.as_array()).cloned().unwrap_or_default();
                self.workspace(
                    file,
                    packages.iter().filter_map(|p| p.as_str()).map(str::to_owned).collect(),
                    Vec::new(),
                );
            }
            Err(error) => self.survey.problem(file, Some(error.line()), error.to_string()),
        }
    }

    fn pre_commit(&mut self, file: &str) {
        let Some(found) = self.yaml(file) else { return };
        for repository in found.get("repos").map(yaml::Yaml::list).unwrap_or_default() {
            for hook in repository.get("hooks").map(yaml::Yaml::list).unwrap_or_default() {
                if let Some(id) = hook.get("id").and_then(yaml::Yaml::text) {
                    self.found.hooks.push((id.to_owned(), file.to_owned()));
                }
            }
        }
    }

    fn sections(&mut self, file: &str) {
        let Some(bytes) = self.survey.read(file) else { return };
        let sections = python::sections(&String::from_utf8_lossy(&bytes));
        self.found.tables.extend(sections.into_iter().map(|s| (s, file.to_owned())));
    }
}
