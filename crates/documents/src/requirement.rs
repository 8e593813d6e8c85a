//! Which documents a repository must have: what everybody needs, and what `[documents]` says.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ground::Ground;

/// After how many days a document is said to be old.
pub const MAX_AGE_DAYS: u32 = 90;

/// Most documents that are required.
pub const MAX_REQUIREMENTS: usize = 200;

/// The section `[documents]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Documents {
    /// After how many days a document is said to be old, where its own requirement does not say (90; 0: never).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_days: Option<u32>,
    /// Documents by name: more than the default ones, or others in their place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requirements: BTreeMap<String, Wish>,
}

/// A requirement as it is configured. What is not said is as in the default of that name, where there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Wish {
    /// What it is called; its name where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether it must be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Only where the project has this capability (`api`, `database`, or one that the venture declares); `always` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Where it may be, the first is where it is made. None: it is kept in the context store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<String>>,
    /// Globs of the files that it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// After how many days it is said to be old (0: never).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_days: Option<u32>,
    /// What makes it, where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<Generator>,
}

/// Whether a document must be there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It must.
    #[default]
    Required,
    /// It should.
    Recommended,
    /// Nobody asks for it.
    Off,
}

/// What makes a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// What somebody who works here must know, from manifests, Makefile, README and CI.
    Instructions,
    /// Operations and types, from `OpenAPI` descriptions.
    Api,
    /// Tables, from migrations, schema.sql or schema.prisma.
    Schema,
}

/// A document that a repository must or should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Unique among them: `[A-Za-z0-9][A-Za-z0-9._-]{0,119}`.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// Whether it must be there.
    pub level: Level,
    /// The capability without which it is not asked for.
    pub when: Option<String>,
    /// Where it may be in the repository; empty: it is kept in the context store.
    pub paths: Vec<String>,
    /// Globs of the files that it tells of.
    pub sources: Vec<String>,
    /// After how many days it is said to be old; 0: never.
    pub max_age_days: u32,
    /// What makes it.
    pub generate: Option<Generator>,
}

/// Why a section cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// A name is none.
    #[error(
        "the document {0:?} in [documents] needs another name: letters, digits, `.`, `_` and `-`, at most 120, a letter or digit first"
    )]
    Name(String),
    /// A path leads out of the repository.
    #[error(
        "the path {path:?} of the document {name:?} in [documents] must be relative, without `..`, and end in .md"
    )]
    Path {
        /// The document.
        name: String,
        /// As written.
        path: String,
    },
    /// A pattern is no glob.
    #[error("the source {glob:?} of the document {name:?} in [documents] is no glob")]
    Glob {
        /// The document.
        name: String,
        /// As written.
        glob: String,
    },
    /// There are too many.
    #[error("[documents] asks for more than {MAX_REQUIREMENTS} documents; take some out")]
    TooMany,
}

/// `OpenAPI` descriptions by their usual names.
const OPENAPI: [&str; 6] = [
    "**/openapi.json",
    "**/openapi.yaml",
    "**/openapi.yml",
    "**/swagger.json",
    "**/swagger.yaml",
    "**/swagger.yml",
];

/// Where schemas of databases are.
const SCHEMAS: [&str; 5] =
    ["**/migrations/**/*.sql", "**/schema.sql", "**/schema.prisma", "db/migrate/*.sql", "**/migration/*.sql"];

/// What instructions are made from.
const MANIFESTS: [&str; 12] = [
    "README.md",
    "Makefile",
    "GNUmakefile",
    "justfile",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pyproject.toml",
    "pom.xml",
    "build.gradle",
    ".github/workflows/*.yml",
    ".github/workflows/*.yaml",
];

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// What everybody needs (catalogue, part C).
#[must_use]
pub fn defaults() -> Vec<Requirement> {
    let row = |name: &str, title: &str, when: Option<&str>, paths: &[&str], sources: &[&str], generate| {
        Requirement {
            name: name.to_owned(),
            title: title.to_owned(),
            level: Level::Required,
            when: when.map(str::to_owned),
            paths: owned(paths),
            sources: owned(sources),
            max_age_days: MAX_AGE_DAYS,
            generate: Some(generate),
        }
    };
    vec![
        row(
            "project-instructions",
            "Project instructions",
            None,
            &["AGENTS.md", "CLAUDE.md"],
            &MANIFESTS,
            Generator::Instructions,
        ),
        row("api", "API", Some("api"), &["docs/api.md"], &OPENAPI, Generator::Api),
        row("schema", "Database schema", Some("database"), &["docs/schema.md"], &SCHEMAS, Generator::Schema),
    ]
}

/// The defaults and what the section says, by name.
pub fn requirements(section: &Documents) -> Result<Vec<Requirement>, RequirementError> {
    let mut all: BTreeMap<String, Requirement> =
        defaults().into_iter().map(|r| (r.name.clone(), r)).collect();
    if let Some(days) = section.max_age_days {
        for requirement in all.values_mut() {
            requirement.max_age_days = days;
        }
    }
    for (name, wish) in &section.requirements {
        let is_name = name.len() <= 120
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !is_name {
            return Err(RequirementError::Name(name.clone()));
        }
        let row = all.entry(name.clone()).or_insert_with(|| Requirement {
            name: name.clone(),
            title: name.clone(),
            level: Level::Required,
            when: None,
            paths: Vec::new(),
            sources: Vec::new(),
            max_age_days: section.max_age_days.unwrap_or(MAX_AGE_DAYS),
            generate: None,
        });
        wish.apply(row)?;
    }
    if all.len() > MAX_REQUIREMENTS {
        return Err(RequirementError::TooMany);
    }
    Ok(all.into_values().filter(|r| r.level != Level::Off).collect())
}

impl Wish {
    fn apply(&self, row: &mut Requirement) -> Result<(), RequirementError> {
        if let Some(title) = &self.title {
            row.title.clone_from(title);
        }
        row.level = self.level.unwrap_or(row.level);
        if let Some(when) = &self.when {
            row.when = (when != "always").then(|| when.clone());
        }
        if let Some(paths) = &self.path {
            for path in paths {
                let is_inside = crate::ground::tree::resolve("", path).is_some_and(|p| p == *path);
                if path.is_empty() || !is_inside || !path.to_lowercase().ends_with(".md") {
                    return Err(RequirementError::Path { name: row.name.clone(), path: path.clone() });
                }
            }
            row.paths.clone_from(paths);
        }
        if let Some(sources) = &self.sources {
            if let Some(glob) = sources.iter().find(|glob| globset::Glob::new(glob).is_err()) {
                return Err(RequirementError::Glob { name: row.name.clone(), glob: glob.clone() });
            }
            row.sources.clone_from(sources);
        }
        row.max_age_days = self.max_age_days.unwrap_or(row.max_age_days);
        row.generate = self.generate.or(row.generate);
        Ok(())
    }
}

/// What a repository shows that it has, beside what its venture declares: `api` by an `OpenAPI` description, `database` by
/// migrations or a schema.
#[must_use]
pub fn capabilities(ground: &Ground<'_>) -> BTreeSet<String> {
    let has = |globs: &[&str]| !ground.matching(&owned(globs)).is_empty();
    let mut found = BTreeSet::new();
    if has(&OPENAPI) {
        found.insert("api".to_owned());
    }
    if has(&SCHEMAS) {
        found.insert("database".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Files;

    fn read(text: &str) -> Result<Vec<Requirement>, RequirementError> {
        requirements(&toml::from_str(text).unwrap())
    }

    #[test]
    fn defaults_are_changed_and_added_to() {
        let rows = read(
            "max-age-days = 30\n[requirements.api]\nlevel = 'off'\n[requirements.schema]\npath = ['db/README.md']\nwhen = 'always'\n\
             [requirements.runbook]\nlevel = 'recommended'\npath = ['docs/runbook.md']\nsources = ['deploy/**']\nmax-age-days = 0\n",
        )
        .unwrap();
        let names: Vec<_> = rows.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["project-instructions", "runbook", "schema"]);
        assert_eq!(rows[0].max_age_days, 30);
        assert_eq!(
            (rows[1].level, rows[1].max_age_days, rows[1].title.as_str()),
            (Level::Recommended, 0, "runbook")
        );
        assert_eq!((rows[2].when.as_ref(), rows[2].generate), (None, Some(Generator::Schema)));
        assert_eq!(rows[2].paths, ["db/README.md"]);
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        for (text, words) in [
            ("[requirements.'a b']\n", "needs another name"),
            ("[requirements.x]\npath = ['../x.md']\n", "must be relative"),
            ("[requirements.x]\npath = ['/etc/x.md']\n", "must be relative"),
            ("[requirements.x]\npath = ['src/main.rs']\n", "end in .md"),
            ("[requirements.x]\nsources = ['[']\n", "no glob"),
        ] {
            assert!(read(text).unwrap_err().to_string().contains(words), "{text}");
        }
        assert!(toml::from_str::<Documents>("paths = []\n").is_err());
    }

    #[test]
    fn a_repository_shows_what_it_has() {
        let of = |files: &[(&str, &str)]| {
            let files = Files::new(files);
            capabilities(&Ground::survey(&files).unwrap()).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[("spec/openapi.yaml", ""), ("db/migrations/0001_x.sql", "")]), ["api", "database"]);
        assert_eq!(of(&[("prisma/schema.prisma", "")]), ["database"]);
        assert!(of(&[("migrations/README.md", ""), ("node_modules/x/openapi.json", "")]).is_empty());
    }
}
