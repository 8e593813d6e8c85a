//! `[devtools]` of the configuration: what the tools of this crate do where a call does not say. A project may say all of it:
//! none of it lets a tool do more than a call could ask for.

use std::collections::BTreeMap;

use contract::Fault;
use kit::settings::Section;
use projects::{BuildSystem, ProjectType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the tools do where a call does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DevtoolsSection {
    /// The project's own commands.
    pub commands: CommandsSection,
    /// The linters that `lint_all` runs; without, the command `lint`, or those that are found.
    pub linters: Vec<String>,
    /// The runner that `run_tests` uses; without, the command `test`, or the one that is found.
    pub test_runner: Option<TestRunner>,
    /// Milliseconds that a run may take where a call does not say.
    #[schemars(range(min = 1_000, max = 600_000))]
    pub timeout: Option<u64>,
    /// What the make tools' own targets are called here, such as `test = "check"`. It goes before `commands`.
    pub make_targets: BTreeMap<String, String>,
    /// Globs of paths that are not looked at to find out what the project is.
    pub exclude_paths: Vec<String>,
    /// Variables of every run. Those that decide where programs, libraries, homes and connections are cannot be set.
    pub environment: BTreeMap<String, String>,
    /// How many jobs make has where a call does not say.
    #[schemars(range(min = 1, max = 16))]
    pub parallel: Option<u32>,
    /// What `go_test` does where a call does not say.
    pub golang: GolangSection,
    /// What kind of project it is, where that is not to be found out.
    pub project_type: Option<ProjectType>,
    /// What builds it, where that is not to be found out.
    pub build_system: Option<BuildSystem>,
    /// What pytest does in `run_tests` and `python_test` where a call does not say.
    pub python: PythonSection,
    /// Which files `ensure_newline` looks at where a call does not say.
    pub file_validation: FileValidationSection,
}

/// `[devtools.python]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct PythonSection {
    /// Which tests run, as pytest's `-m` has it, such as `not slow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markers: Option<String>,
    /// Whether tests measure coverage.
    pub cover: bool,
}

/// `[devtools.file-validation]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FileValidationSection {
    /// Globs below the root that are left out of every call.
    pub exclude: Vec<String>,
    /// The endings of files that are looked at, where a call names none.
    pub file_types: Vec<String>,
    /// Files over so many megabytes are left out, where a call does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 60))]
    pub max_file_size_mb: Option<u32>,
}

/// `[devtools.commands]`: each is split without a shell, and held to its program's grammar.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct CommandsSection {
    /// What `make_build` runs where a call names no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// What `make_clean` runs where a call names no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clean: Option<String>,
    /// What `make_depend` runs where a call names no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depend: Option<String>,
    /// What `lint_all` runs, and `make_lint` where a call names no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lint: Option<String>,
    /// What `run_tests` runs, and `make_test` where a call names no target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

/// `[devtools.golang]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GolangSection {
    /// Build tags of every test run.
    pub tags: Vec<String>,
    /// Whether tests look for races.
    pub race: bool,
    /// Whether tests measure coverage.
    pub cover: bool,
}

/// A runner of tests, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum TestRunner {
    Make,
    Jest,
    Vitest,
    Mocha,
    Node,
    Npm,
    Pytest,
    Go,
    Cargo,
}

impl CommandsSection {
    /// Every command that the project has, by its key.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("build", &self.build),
            ("clean", &self.clean),
            ("depend", &self.depend),
            ("lint", &self.lint),
            ("test", &self.test),
        ];
        all.into_iter().filter_map(|(key, command)| Some((key, command.as_deref()?)))
    }

    /// The key and the command for `purpose`, where the project has one.
    pub(crate) fn of(&self, purpose: &str) -> Option<(&'static str, &str)> {
        self.all().find(|(key, _)| *key == purpose)
    }
}

impl Section for DevtoolsSection {
    const NAME: &'static str = "devtools";
}

/// Names that no configuration sets, besides those that choose a program or what it loads: where homes and caches are.
const RESERVED: &[&str] = &["XDG_", "STATICCHECK_CACHE", "GOLANGCI_LINT_CACHE"];

impl DevtoolsSection {
    /// The variables of every run, or a fault that names one that cannot be set.
    pub(crate) fn variables(&self) -> Result<&BTreeMap<String, String>, Fault> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && !name.as_bytes()[0].is_ascii_digit()
        };
        let is_reserved = |name: &str| {
            let upper = name.to_ascii_uppercase();
            grammar::variable_chooses(name) || RESERVED.iter().any(|begin| upper.starts_with(begin))
        };
        match self
            .environment
            .iter()
            .find(|(name, value)| !is_name(name) || is_reserved(name) || value.contains('\0'))
        {
            None => Ok(&self.environment),
            Some((name, _)) => {
                let message = format!("[devtools] environment: {name:?} cannot be set here");
                Err(Fault::invalid(message)
                    .about("gatewright.toml")
                    .suggest("Take it out of gatewright.toml."))
            }
        }
    }
}
