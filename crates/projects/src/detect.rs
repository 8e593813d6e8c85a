//! Says what the evidence means.

use std::collections::BTreeSet;

use crate::gather::{Ecosystem, Evidence, Part, gather};
use crate::look::{EntryKind, Look, LookError};
use crate::makefile::{Makefile, makefile};
use crate::markers::{self, Tool, Use, fits};
use crate::paths;
use crate::programs;
use crate::project::{Found, Framework, Language, Package, Project, ProjectType};
use crate::survey::{Excludes, MAX_PACKAGES, Survey};

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum DetectError {
    /// The top folder cannot be listed.
    #[error("the project's folder cannot be listed: {0}")]
    Root(#[source] LookError),
    /// A pattern to exclude is no glob.
    #[error("the excluded path {pattern:?} is no glob: {source}")]
    Exclude {
        /// The pattern, as given.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
}

/// Most test files that are looked into for `unittest`.
const MAX_TEST_FILES: usize = 8;

/// Most YAML files that are looked into for Kubernetes.
const MAX_KUBERNETES: usize = 20;

/// How much of such a file is looked at, in bytes.
const PEEK: usize = 8 * 1024;

/// Most files that are named as evidence of one thing.
const MAX_FROM: usize = 10;

/// Looks at a project from its top. `excludes` are globs of paths that are taken as not there; one without `/` stands
/// for a name at any depth.
///
/// At most [`MAX_FOLDERS`](crate::MAX_FOLDERS) folders are listed and [`MAX_PACKAGES`] packages read; `truncated` says
/// that there was more. The same look gives the same answer.
pub fn detect(look: &dyn Look, excludes: &[String]) -> Result<Project, DetectError> {
    let excludes =
        Excludes::new(excludes).map_err(|(pattern, source)| DetectError::Exclude { pattern, source })?;
    let mut survey = Survey::new(look, excludes).map_err(DetectError::Root)?;
    let evidence = gather(&mut survey);
    let makefile = makefile(look, &mut survey.problems);
    let mut judge = Judge { survey, evidence };
    let mut project = judge.judge(makefile);
    project.problems = judge.survey.problems;
    project.problems.truncate(crate::project::MAX_PROBLEMS);
    project.truncated = judge.survey.truncated;
    Ok(project)
}

pub(crate) struct Judge<'a> {
    survey: Survey<'a>,
    pub(crate) evidence: Evidence,
}

impl Judge<'_> {
    fn judge(&mut self, makefile: Option<Makefile>) -> Project {
        let mut project = Project::default();
        let top = self.survey.list("");
        let files = top.iter().filter(|e| matches!(e.kind, EntryKind::File | EntryKind::Link));
        project.indicators = files
            .filter(|e| Ecosystem::of(&e.name).is_some() && e.name != "setup.cfg")
            .map(|e| e.name.clone())
            .collect();
        project.kind = self.kind();
        project.name = self.evidence.parts.iter().filter(|p| p.dir.is_empty()).find_map(|p| p.name.clone());
        if self.evidence.dependencies.iter().any(|(e, d, _)| *e == Ecosystem::Node && d.name == "typescript")
        {
            self.evidence.languages.insert(Language::Typescript);
        }
        project.languages = self.evidence.languages.iter().copied().collect();
        project.frameworks = self.frameworks();
        project.package_managers = self.package_managers(&mut project.notes);
        project.build_systems = self.build_systems(makefile.is_some(), &project.package_managers);
        project.build_system = project.build_systems.first().copied();
        project.scripts = self.evidence.package.as_ref().map(|p| p.scripts.clone()).unwrap_or_default();
        project.ci = self.ci();
        project.linters = self.linters(&project.ci);
        project.test_frameworks = self.tests();
        project.docker = self.named(markers::DOCKER);
        project.kubernetes = self.kubernetes();
        project.git_hooks = self.git_hooks();
        let editors = top.iter().filter(|e| markers::EDITORS.iter().any(|m| fits(m, &e.name)));
        project.editors = editors.map(|e| e.name.clone()).collect();
        project.packages = self.packages();
        project.notes.extend(makefile.as_ref().map(makefile_note));
        project.makefile = makefile;
        project.programs = programs::needed(&project, &self.evidence);
        project
    }

    /// What the top is; where nothing there says, what the packages are.
    fn kind(&self) -> ProjectType {
        let of = |parts: &mut dyn Iterator<Item = &Part>| -> BTreeSet<Ecosystem> {
            parts.flat_map(|p| p.ecosystems.iter().copied()).collect()
        };
        let mut found = of(&mut self.evidence.parts.iter().filter(|p| p.dir.is_empty()));
        if found.is_empty() {
            found = of(&mut self.evidence.parts.iter());
        }
        match found.len() {
            0 => ProjectType::Unknown,
            1 => found.first().map_or(ProjectType::Unknown, |e| e.kind()),
            _ => ProjectType::Mixed,
        }
    }

    fn frameworks(&self) -> Vec<Framework> {
        let mut found: Vec<Framework> = Vec::new();
        for (ecosystem, table) in [
            (Ecosystem::Node, markers::NODE_FRAMEWORKS),
            (Ecosystem::Python, markers::PYTHON_FRAMEWORKS),
            (Ecosystem::Go, markers::GO_FRAMEWORKS),
            (Ecosystem::Rust, markers::RUST_FRAMEWORKS),
        ] {
            for Use { name, packages, dev } in table {
                let first = self.evidence.dependencies.iter().find(|(of, dependency, _)| {
                    *of == ecosystem
                        && (!dependency.dev || *dev)
                        && packages.contains(&without_major(*of, &dependency.name))
                });
                found.extend(first.map(|(_, dependency, from)| Framework {
                    name: (*name).to_owned(),
                    version: dependency.version.clone(),
                    from: from.clone(),
                }));
            }
        }
        found
    }

    /// Every tool of a table that is in the evidence.
    fn tools(&self, table: &'static [Tool]) -> Vec<Found> {
        let mut found = Vec::new();
        for tool in table {
            let mut from = BTreeSet::new();
            let evidence = &self.evidence;
            let file = |(name, _): &&(String, String)| tool.files.iter().any(|f| fits(f, name));
            from.extend(evidence.files.iter().filter(file).map(|(_, path)| path.clone()));
            from.extend(
                evidence
                    .dependencies
                    .iter()
                    .filter(|(ecosystem, dependency, _)| match ecosystem {
                        Ecosystem::Node => tool.node.contains(&dependency.name.as_str()),
                        Ecosystem::Python => tool.python.contains(&dependency.name.as_str()),
                        _ => false,
                    })
                    .map(|(_, _, file)| file.clone()),
            );
            for (wanted, given) in
                [(tool.tables, &evidence.tables), (tool.keys, &evidence.keys), (tool.hooks, &evidence.hooks)]
            {
                from.extend(
                    given.iter().filter(|(n, _)| wanted.contains(&n.as_str())).map(|(_, f)| f.clone()),
                );
            }
            if !from.is_empty() {
                found.push(Found {
                    name: tool.name.to_owned(),
                    from: from.into_iter().take(MAX_FROM).collect(),
                });
            }
        }
        found
    }

    fn linters(&self, ci: &[Found]) -> Vec<Found> {
        let mut found = self.tools(markers::LINTERS);
        // Both come with the toolchain: a Rust project has them.
        for name in ["clippy", "rustfmt"] {
            if self.top_is(Ecosystem::Rust) && !found.iter().any(|f| f.name == name) {
                found.push(Found { name: name.to_owned(), from: vec!["Cargo.toml".to_owned()] });
            }
        }
        if let Some(github) = ci.iter().find(|c| c.name == "github") {
            found.push(Found { name: "actionlint".to_owned(), from: github.from.clone() });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    fn tests(&mut self) -> Vec<Found> {
        let mut found = self.tools(markers::TESTS);
        let manifests = |name: &str| -> Vec<String> {
            let files = self.evidence.files.iter().filter(|(n, _)| n == name);
            files.map(|(_, path)| path.clone()).take(MAX_FROM).collect()
        };
        let node = self.evidence.package.as_ref().is_some_and(|package| {
            package.scripts.iter().any(|s| {
                let words: Vec<&str> = s.command.split_whitespace().collect();
                words.contains(&"--test") && words.contains(&"node")
            })
        });
        let tools: [(&str, Vec<String>); 4] = [
            ("node:test", if node { vec!["package.json".to_owned()] } else { Vec::new() }),
            ("go test", manifests("go.mod")),
            ("cargo test", manifests("Cargo.toml")),
            ("junit", self.depending(Ecosystem::Java, |name| name.contains("junit"))),
        ];
        for (name, from) in tools {
            if !from.is_empty() {
                found.push(Found { name: name.to_owned(), from });
            }
        }
        for (name, packages) in [
            ("xunit", &["xunit", "xunit.v3"][..]),
            ("nunit", &["nunit"]),
            ("mstest", &["mstest", "mstest.testframework"]),
        ] {
            let from = self.depending(Ecosystem::Dotnet, |n| packages.contains(&n));
            if !from.is_empty() {
                found.push(Found { name: name.to_owned(), from });
            }
        }
        for nextest in [".config/nextest.toml", "nextest.toml"] {
            let (dir, file) = paths::split(nextest);
            let there = self.top_has(dir) || dir.is_empty();
            if there && self.survey.list(dir).iter().any(|e| e.name == file) {
                found.push(Found { name: "cargo nextest".to_owned(), from: vec![nextest.to_owned()] });
            }
        }
        if self.top_is(Ecosystem::Python) && !found.iter().any(|f| f.name == "pytest") {
            let (pytest, unittest) = self.python_tests();
            for (name, from) in [("pytest", pytest), ("unittest", unittest)] {
                if !from.is_empty() {
                    found.push(Found { name: name.to_owned(), from });
                }
            }
        }
        found
    }

    /// Files of tests that import pytest, and those that import unittest, where no manifest says which.
    fn python_tests(&mut self) -> (Vec<String>, Vec<String>) {
        let (mut pytest, mut unittest) = (Vec::new(), Vec::new());
        let mut seen = 0;
        for dir in ["", "tests", "test"] {
            if !dir.is_empty() && !self.top_has(dir) {
                continue;
            }
            for entry in self.survey.list(dir).iter() {
                if entry.kind == EntryKind::File
                    && seen < MAX_TEST_FILES
                    && (fits("test*.py", &entry.name)
                        || fits("*_test.py", &entry.name)
                        || entry.name == "conftest.py")
                {
                    seen += 1;
                    let path = paths::join(dir, &entry.name);
                    let Ok(Some(head)) = self.survey.look.head(&path, PEEK) else { continue };
                    let head = String::from_utf8_lossy(&head);
                    let imports = |module: &str| {
                        head.lines().any(|line| {
                            let mut words = line.split([' ', '.', ',']);
                            matches!(words.next(), Some("import" | "from")) && words.next() == Some(module)
                        })
                    };
                    if imports("pytest") || entry.name == "conftest.py" {
                        pytest.push(path);
                    } else if imports("unittest") {
                        unittest.push(path);
                    }
                }
            }
        }
        (pytest, unittest)
    }

    fn depending(&self, ecosystem: Ecosystem, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let all = self.evidence.dependencies.iter();
        let files: BTreeSet<_> =
            all.filter(|(of, d, _)| *of == ecosystem && wanted(&d.name)).map(|(_, _, f)| f.clone()).collect();
        files.into_iter().take(MAX_FROM).collect()
    }

    fn ci(&mut self) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        for (name, dir, files) in markers::CI {
            let (above, _) = paths::split(dir);
            let there = dir.is_empty() || self.top_has(if above.is_empty() { dir } else { above });
            if !there {
                continue;
            }
            let entries = self.survey.list(dir);
            let from: Vec<String> = entries
                .iter()
                .filter(|e| e.kind != EntryKind::Folder && files.iter().any(|f| fits(f, &e.name)))
                .map(|e| paths::join(dir, &e.name))
                .take(MAX_FROM)
                .collect();
            match found.iter_mut().find(|f| f.name == *name) {
                Some(same) => same.from.extend(from),
                None if from.is_empty() => {}
                None => found.push(Found { name: (*name).to_owned(), from }),
            }
        }
        found
    }

    /// Files at the top, and in folders with manifests, that fit one of the names.
    fn named(&self, names: &[&str]) -> Vec<String> {
        let fit = |(name, _): &&(String, String)| names.iter().any(|n| fits(n, name));
        let found: BTreeSet<_> =
            self.evidence.files.iter().filter(fit).map(|(_, path)| path.clone()).collect();
        found.into_iter().take(MAX_PACKAGES).collect()
    }

    fn kubernetes(&mut self) -> Vec<String> {
        let mut found = self.named(markers::KUBERNETES);
        let mut seen = 0;
        for folder in markers::KUBERNETES_FOLDERS {
            if !self.top_has(folder) {
                continue;
            }
            let mut folders = vec![(*folder).to_owned()];
            folders.extend(self.survey.folders(folder).into_iter().take(MAX_KUBERNETES));
            for dir in folders {
                for entry in self.survey.list(&dir).iter() {
                    let path = paths::join(&dir, &entry.name);
                    if markers::KUBERNETES.contains(&entry.name.as_str()) {
                        found.push(path);
                    } else if (fits("*.yaml", &entry.name) || fits("*.yml", &entry.name))
                        && entry.kind == EntryKind::File
                        && seen < MAX_KUBERNETES
                    {
                        seen += 1;
                        if let Ok(Some(head)) = self.survey.look.head(&path, PEEK)
                            && is_kubernetes(&String::from_utf8_lossy(&head))
                        {
                            found.push(path);
                        }
                    }
                }
            }
        }
        found.sort();
        found.dedup();
        found.truncate(MAX_KUBERNETES);
        found
    }

    fn git_hooks(&mut self) -> Vec<Found> {
        let mut found = self.tools(markers::HOOKS);
        if self.top_has(".husky") {
            match found.iter_mut().find(|f| f.name == "husky") {
                Some(husky) => husky.from.insert(0, ".husky".to_owned()),
                None => found.insert(0, Found { name: "husky".to_owned(), from: vec![".husky".to_owned()] }),
            }
        }
        found
    }

    fn packages(&self) -> Vec<Package> {
        let mut found: Vec<Package> = self
            .evidence
            .parts
            .iter()
            .filter(|p| !p.dir.is_empty())
            .map(|p| Package {
                path: p.dir.clone(),
                name: p.name.clone(),
                kind: match p.ecosystems.len() {
                    1 => p.ecosystems.first().map_or(ProjectType::Unknown, |e| e.kind()),
                    _ => ProjectType::Mixed,
                },
                member: p.member,
            })
            .collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    pub(crate) fn top_is(&self, ecosystem: Ecosystem) -> bool {
        self.evidence.parts.iter().any(|p| p.dir.is_empty() && p.ecosystems.contains(&ecosystem))
    }

    pub(crate) fn top_has(&self, name: &str) -> bool {
        self.survey.top().iter().any(|e| e.name == name)
    }
}

/// A Go module path without `/v2` and the like; other names as they are.
fn without_major(ecosystem: Ecosystem, name: &str) -> &str {
    match name.rsplit_once("/v") {
        Some((path, major))
            if ecosystem == Ecosystem::Go
                && !major.is_empty()
                && major.bytes().all(|b| b.is_ascii_digit()) =>
        {
            path
        }
        _ => name,
    }
}

fn is_kubernetes(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    has("apiVersion:") && has("kind:")
}

fn makefile_note(makefile: &Makefile) -> String {
    let mut note = "Makefile: variables were not expanded".to_owned();
    if makefile.unexpanded > 0 {
        note.push_str(&format!("; {} targets named by variables are left out", makefile.unexpanded));
    }
    note.push('.');
    note
}
