//! What a project says of itself: `pyproject.toml` (PEP 621, and Poetry's own table before that), else `setup.cfg`, both as they
//! stand ([pyproject.toml specification](https://packaging.python.org/en/latest/specifications/pyproject-toml/)). `setup.py` is a
//! program, and is never run here.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::uv::Uv;
use crate::tree::{Tree, TreeError};

/// Most bytes of a manifest that are read: 4 MiB.
const MAX_BYTES: usize = 4 << 20;

/// A licence, as it is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum License {
    /// An SPDX expression (PEP 639).
    Expression(String),
    /// Words, of the older tables and of `setup.cfg`.
    Words(String),
    /// A file.
    File(String),
}

/// Where it is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    /// `[project]` of pyproject.toml.
    #[default]
    Project,
    /// `[tool.poetry]` of pyproject.toml.
    Poetry,
    /// `setup.cfg`.
    SetupCfg,
    /// `setup.py` alone: nothing is known.
    SetupPy,
}

impl Source {
    /// The file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Project | Self::Poetry => "pyproject.toml",
            Self::SetupCfg => "setup.cfg",
            Self::SetupPy => "setup.py",
        }
    }
}

/// A project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// Where it was said.
    pub source: Source,
    /// The name; empty when there is none.
    pub name: String,
    /// The version, where it is written.
    pub version: Option<String>,
    /// Fields that the backend finds out when it builds.
    pub dynamic: Vec<String>,
    /// What it is, in a sentence.
    pub description: Option<String>,
    /// The file of its long description, or that there is a text.
    pub readme: Option<String>,
    /// Its licence.
    pub license: Option<License>,
    /// Patterns of files with licences (PEP 639); `None` when it says none.
    pub license_files: Option<Vec<String>>,
    /// Its classifiers.
    pub classifiers: Vec<String>,
    /// Which Pythons it takes, as it is written.
    pub requires_python: Option<String>,
    /// What it needs, and for which extra.
    pub dependencies: Vec<(String, Option<String>)>,
    /// Programs that are installed: name and `module:attribute`.
    pub scripts: BTreeMap<String, String>,
    /// Addresses by label.
    pub urls: BTreeMap<String, String>,
    /// `[build-system] build-backend`.
    pub backend: Option<String>,
    /// `[build-system] requires`; `None` when there is no such table.
    pub requires: Option<Vec<String>>,
    /// What uv is told of it.
    pub uv: Uv,
    /// What could not be told, in sentences.
    pub undecided: Vec<String>,
}

/// Why a project could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// There is neither pyproject.toml nor setup.cfg nor setup.py.
    #[error("there is no pyproject.toml, setup.cfg or setup.py")]
    Missing,
    /// It is no TOML, or too large.
    #[error("pyproject.toml: {0}")]
    Syntax(String),
}

/// Reads the project of a folder.
pub fn read(tree: &dyn Tree) -> Result<Project, ProjectError> {
    let toml = tree.read("pyproject.toml")?;
    let top: Table = match &toml {
        Some(bytes) => parsed(bytes)?,
        None => Table::new(),
    };
    let mut project = Project { uv: Uv::read(&top), ..Project::default() };
    if let Some(table) = top.get("project").and_then(Value::as_table) {
        pep621(table, &mut project);
    } else if let Some(table) = top.get("tool").and_then(|t| t.get("poetry")).and_then(Value::as_table) {
        poetry(table, &mut project);
    } else if let Some(bytes) = tree.read("setup.cfg")? {
        setup_cfg(&bytes, &mut project);
        if tree.read("setup.py")?.is_some() {
            project
                .undecided
                .push("setup.py is a program: what it says beside setup.cfg is not known".to_owned());
            // What is not said here may be said there.
            for (field, said) in [
                ("name", !project.name.is_empty()),
                ("version", project.version.is_some()),
                ("license", project.license.is_some()),
                ("description", project.description.is_some()),
            ] {
                if !said && !project.is_dynamic(field) {
                    project.dynamic.push(field.to_owned());
                }
            }
            if project.name.is_empty() {
                project.source = Source::SetupPy;
            }
        }
    } else if tree.read("setup.py")?.is_some() {
        project.source = Source::SetupPy;
        project.dynamic =
            ["name", "version", "dependencies", "license", "description"].map(str::to_owned).into();
        project
            .undecided
            .push("setup.py is a program: what it says is known only of what it builds".to_owned());
    } else if toml.is_none() {
        return Err(ProjectError::Missing);
    }
    if let Some(system) = top.get("build-system") {
        project.backend = system.get("build-backend").and_then(Value::as_str).map(str::to_owned);
        project.requires = Some(texts(system.get("requires")));
    }
    Ok(project)
}

fn parsed(bytes: &[u8]) -> Result<Table, ProjectError> {
    if bytes.len() > MAX_BYTES {
        return Err(ProjectError::Syntax(format!("more than {} MiB", MAX_BYTES >> 20)));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| ProjectError::Syntax(e.to_string()))?;
    text.strip_prefix('\u{feff}')
        .unwrap_or(text)
        .parse()
        .map_err(|e: toml::de::Error| ProjectError::Syntax(e.message().to_owned()))
}

pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn map(value: Option<&Value>) -> impl Iterator<Item = (String, String)> {
    let table = value.and_then(Value::as_table).into_iter().flatten();
    table.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Value::as_str).map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned)
}

fn pep621(table: &Table, project: &mut Project) {
    project.name = text(table, "name").unwrap_or_default();
    project.version = text(table, "version");
    project.dynamic = texts(table.get("dynamic"));
    project.description = text(table, "description");
    project.readme = text(table, "readme").or_else(|| {
        let readme = table.get("readme")?;
        let file = readme.get("file").and_then(Value::as_str).map(str::to_owned);
        file.or_else(|| readme.get("text").map(|_| String::new()))
    });
    project.license = table.get("license").and_then(|license| {
        let of = |key: &str| license.get(key).and_then(Value::as_str).map(str::to_owned);
        license
            .as_str()
            .map(|text| License::Expression(text.to_owned()))
            .or_else(|| of("file").map(License::File))
            .or_else(|| of("text").map(License::Words))
    });
    project.license_files = table.get("license-files").map(|files| {
        // Drafts of PEP 639 had tables of `paths` or `globs`.
        let older = files.get("paths").or_else(|| files.get("globs"));
        texts(Some(older.unwrap_or(files)))
    });
    project.classifiers = texts(table.get("classifiers"));
    project.requires_python = text(table, "requires-python");
    project.dependencies = texts(table.get("dependencies")).into_iter().map(|d| (d, None)).collect();
    for (extra, list) in table.get("optional-dependencies").and_then(Value::as_table).into_iter().flatten() {
        project.dependencies.extend(texts(Some(list)).into_iter().map(|d| (d, Some(extra.clone()))));
    }
    project.scripts = map(table.get("scripts")).chain(map(table.get("gui-scripts"))).collect();
    project.urls = map(table.get("urls")).collect();
}

/// Poetry's own table, of its version 1: names and constraints in its own grammar.
fn poetry(table: &Table, project: &mut Project) {
    project.source = Source::Poetry;
    project.name = text(table, "name").unwrap_or_default();
    project.version = text(table, "version");
    project.description = text(table, "description");
    project.readme = text(table, "readme").or_else(|| texts(table.get("readme")).into_iter().next());
    project.license = text(table, "license").map(License::Words);
    project.classifiers = texts(table.get("classifiers"));
    project.scripts = map(table.get("scripts")).collect();
    project.urls = map(table.get("urls")).collect();
    for key in ["homepage", "repository", "documentation"] {
        project.urls.extend(text(table, key).map(|url| (key.to_owned(), url)));
    }
    for (name, value) in table.get("dependencies").and_then(Value::as_table).into_iter().flatten() {
        if name == "python" {
            continue;
        }
        let address = ["git", "url", "path"].iter().find_map(|key| value.get(*key).and_then(Value::as_str));
        let said = address.map_or_else(|| name.clone(), |address| format!("{name} @ {address}"));
        project.dependencies.push((said, None));
    }
    project.undecided.push(
        "Poetry's own table has versions in its own grammar: ranges are looked at in what it builds"
            .to_owned(),
    );
}

/// The sections of an INI file, as `configparser` reads them: `key = value`, what is indented goes on.
fn sections(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let (mut section, mut key) = (String::new(), None::<String>);
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with(['#', ';']) {
            continue;
        }
        let is_indented = line.starts_with([' ', '\t']);
        if let (true, Some(key)) = (is_indented && !trimmed.is_empty(), &key) {
            let value = found.entry(section.clone()).or_default().entry(key.clone()).or_default();
            value.push('\n');
            value.push_str(trimmed);
        } else if let Some(name) = trimmed.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            (section, key) = (name.trim().to_owned(), None);
        } else if let Some((name, value)) = trimmed.split_once(['=', ':']) {
            let name = name.trim().to_lowercase().replace('-', "_");
            found.entry(section.clone()).or_default().insert(name.clone(), value.trim().to_owned());
            key = Some(name);
        }
    }
    found
}

fn setup_cfg(bytes: &[u8], project: &mut Project) {
    project.source = Source::SetupCfg;
    let whole = String::from_utf8_lossy(bytes.get(..MAX_BYTES.min(bytes.len())).unwrap_or_default());
    let sections = sections(&whole);
    let get = |section: &str, key: &str| {
        let value = sections.get(section).and_then(|s| s.get(key)).map(String::as_str).unwrap_or_default();
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let lines = |text: Option<String>| -> Vec<String> {
        let text = text.unwrap_or_default();
        text.lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    let mut plain = |key: &str| match get("metadata", key) {
        // What is read from files and modules is found out when it is built.
        Some(value) if value.starts_with("attr:") || value.starts_with("file:") => {
            project.dynamic.push(key.to_owned());
            None
        }
        value => value,
    };
    project.name = plain("name").unwrap_or_default();
    project.version = plain("version");
    project.description = plain("description");
    project.license = plain("license").map(License::Words);
    let readme = get("metadata", "long_description");
    project.readme = readme.map(|text| text.strip_prefix("file:").unwrap_or_default().trim().to_owned());
    let listed = get("metadata", "license_files").or_else(|| get("metadata", "license_file"));
    project.license_files = listed.map(|files| lines(Some(files.replace(',', "\n"))));
    project.classifiers = lines(get("metadata", "classifiers").or_else(|| get("metadata", "classifier")));
    project.requires_python = get("options", "python_requires");
    project.dependencies = lines(get("options", "install_requires").map(|t| t.replace(';', "\u{0};")))
        .into_iter()
        .map(|d| (d.replace('\u{0}', ""), None))
        .collect();
    for (extra, list) in sections.get("options.extras_require").into_iter().flatten() {
        project.dependencies.extend(lines(Some(list.clone())).into_iter().map(|d| (d, Some(extra.clone()))));
    }
    let entries = sections.get("options.entry_points");
    for group in ["console_scripts", "gui_scripts"] {
        for line in lines(entries.and_then(|e| e.get(group)).cloned()) {
            if let Some((name, target)) = line.split_once('=') {
                project.scripts.insert(name.trim().to_owned(), target.trim().to_owned());
            }
        }
    }
    project.urls.extend(get("metadata", "url").map(|url| ("Homepage".to_owned(), url)));
    for line in lines(get("metadata", "project_urls")) {
        if let Some((label, url)) = line.split_once('=') {
            project.urls.insert(label.trim().to_owned(), url.trim().to_owned());
        }
    }
}

impl Project {
    /// Whether a field is found out when it is built.
    pub fn is_dynamic(&self, field: &str) -> bool {
        self.dynamic.iter().any(|name| name == field)
    }

    /// Whether it is built and published: what has no `[build-system]` is run where it lies, unless uv is told otherwise.
    pub fn is_built(&self) -> bool {
        let has_backend = self.source != Source::Project || self.requires.is_some();
        self.uv.package.unwrap_or(has_backend)
    }

    /// The repository's address, where an address is labelled so.
    pub fn repository(&self) -> Option<&str> {
        let wanted = ["repository", "source", "sourcecode", "github", "code", "homepage"];
        let plain = |label: &str| label.to_lowercase().replace([' ', '-', '_'], "");
        wanted.iter().find_map(|word| {
            self.urls.iter().find(|(label, _)| plain(label) == *word).map(|(_, url)| url.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;
    use proptest::prelude::*;

    fn toml(text: &str) -> Project {
        read(&MapTree::new().with("pyproject.toml", text)).unwrap()
    }

    #[test]
    fn a_project_table_is_read() {
        let project = toml(
            "[build-system]\nrequires=['hatchling']\nbuild-backend='hatchling.build'\n[project]\nname='Acme.UI'\ndynamic=['version']\nlicense='MIT'\n\
             license-files=['LICEN[CS]E*']\nreadme={file='README.md'}\nrequires-python='>=3.9'\ndependencies=['a>=1']\nclassifiers=['X :: Y']\n\
             [project.optional-dependencies]\ndev=['b @ https://x']\n[project.scripts]\nacme='acme.cli:main'\n[project.urls]\n'Source Code'='https://example.com'\n",
        );
        assert_eq!(
            (project.name.as_str(), project.version.as_deref(), project.is_dynamic("version")),
            ("Acme.UI", None, true)
        );
        assert_eq!(project.license, Some(License::Expression("MIT".into())));
        assert_eq!(
            project.dependencies,
            [("a>=1".into(), None), ("b @ https://x".into(), Some("dev".into()))]
        );
        assert_eq!(
            (project.scripts["acme"].as_str(), project.repository()),
            ("acme.cli:main", Some("https://example.com"))
        );
        assert_eq!(
            (project.backend.as_deref(), project.readme.as_deref()),
            (Some("hatchling.build"), Some("README.md"))
        );
        assert_eq!(
            toml("[project]\nname='a'\nlicense={text='BSD'}").license,
            Some(License::Words("BSD".into()))
        );
        assert_eq!(toml("[project]\nname='a'\nlicense={file='L'}").license, Some(License::File("L".into())));
    }

    #[test]
    fn older_ways_are_read_as_far_as_they_are_data() {
        let poetry = toml(
            "[tool.poetry]\nname='a'\nversion='1'\nlicense='MIT'\n[tool.poetry.dependencies]\npython='^3.9'\nb='^1'\nc={git='https://x'}",
        );
        assert_eq!((poetry.source, poetry.dependencies.len()), (Source::Poetry, 2));
        assert_eq!(poetry.dependencies[1].0, "c @ https://x");
        let cfg = MapTree::new().with("setup.py", "").with(
            "setup.cfg",
            "[metadata]\nname = acme-ui\nversion = attr: acme.__version__\nlicense = MIT\nclassifiers =\n    A :: B\n    # no\n    C :: D\nlong_description = file: README.rst\n\
             [options]\npython_requires = >=3.8\ninstall_requires =\n    a>=1; python_version < '3.9'\n    b\n[options.extras_require]\nx = c\n[options.entry_points]\nconsole_scripts =\n    acme = acme.cli:main\n",
        );
        let project = read(&cfg).unwrap();
        assert_eq!(
            (project.name.as_str(), project.version.as_deref(), project.is_dynamic("version")),
            ("acme-ui", None, true)
        );
        assert_eq!(project.classifiers, ["A :: B", "C :: D"]);
        assert_eq!(project.dependencies[0].0, "a>=1; python_version < '3.9'");
        assert_eq!(
            (project.readme.as_deref(), project.scripts["acme"].as_str(), project.undecided.len()),
            (Some("README.rst"), "acme.cli:main", 1)
        );
        let alone = read(&MapTree::new().with("setup.py", "")).unwrap();
        assert_eq!((alone.source, alone.undecided.len()), (Source::SetupPy, 1));
        let little =
            read(&MapTree::new().with("setup.py", "").with("setup.cfg", "[egg_info]\ntag_build =\n"))
                .unwrap();
        assert_eq!(
            (little.source, little.is_dynamic("version"), little.is_dynamic("license")),
            (Source::SetupPy, true, true)
        );
        assert_eq!(read(&MapTree::new()), Err(ProjectError::Missing));
        assert!(matches!(read(&MapTree::new().with("pyproject.toml", "[")), Err(ProjectError::Syntax(_))));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(\\[|\\]|metadata|=|:|\n| |name|#|\\PC){0,200}") {
            let _ = read(&MapTree::new().with("setup.cfg", text.as_str()));
            let _ = read(&MapTree::new().with("pyproject.toml", text));
        }
    }
}
