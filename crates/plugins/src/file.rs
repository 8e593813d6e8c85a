//! What a plugin's file says. Unknown keys are refused.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A plugin's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// The schema's version: 1.
    pub schema: u32,
    /// What the plugin is.
    pub plugin: About,
    /// What its tools have in common that work in a clone of the repository.
    #[serde(default)]
    pub git: GitOfAll,
    /// What the user may set in `[plugins.NAME]`.
    #[serde(default)]
    pub config: BTreeMap<String, Input>,
    /// Its tools.
    pub tool: Vec<ToolFile>,
}

/// `[plugin]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct About {
    /// Its name, such as `git-spice`: tools are called `git_spice_NAME`.
    pub name: String,
    /// Its version (SemVer).
    pub version: String,
    /// What it is for.
    pub description: String,
    /// Who wrote it: told, never acted upon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Where it comes from (https): told, never fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Its licence: told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Words to find it by: told.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The versions of gatewright that it works with, such as `>=0.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_server_version: Option<String>,
    /// The programs that it runs, by their plain names. Only a component has none.
    #[serde(default)]
    pub required_commands: Vec<String>,
    /// Whether it is enabled where the configuration says nothing.
    #[serde(default = "yes")]
    pub default_enabled: bool,
    /// How it is known that the program is the one that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
}

const fn yes() -> bool {
    true
}

/// A run that shows whether the program is the right one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Health {
    /// One of the required commands.
    pub program: String,
    /// Its arguments, as they are.
    pub args: Vec<String>,
    /// A regular expression that its standard output must match.
    pub matches: String,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the guide has a table of them")]
pub enum Type {
    Text,
    Line,
    Word,
    Identifier,
    Ref,
    Path,
    Glob,
    Url,
    Version,
    Date,
    Enum,
    Integer,
    Number,
    Boolean,
}

/// An input of a tool, or a key of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Input {
    /// What it is.
    #[serde(rename = "type")]
    pub of: Type,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// What it is where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What it is for.
    pub description: String,
    /// Most characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// Least of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// Most of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// Of `enum`: the values.
    #[serde(default)]
    pub values: Vec<String>,
    /// A regular expression for the whole value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Whether it is a list of them.
    #[serde(default)]
    pub list: bool,
    /// Most of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
}

/// Whether a tool only looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// What its program writes is thrown away.
    Read,
    /// What its program writes is its proposal.
    Run,
}

/// `[[tool]]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToolFile {
    /// Its name, below the plugin's.
    pub name: String,
    /// For people.
    pub title: String,
    /// For models.
    pub description: String,
    /// Whether it only looks.
    pub kind: Kind,
    /// One of the required commands.
    pub program: String,
    /// Seconds that a run may take.
    #[serde(default = "a_minute")]
    pub timeout: u64,
    /// Whether callers may name a folder below the root (`directory`).
    #[serde(default)]
    pub directory: bool,
    /// Whether running again after an apply proposes nothing.
    #[serde(default)]
    pub idempotent: bool,
    /// The argument list.
    pub args: Vec<Word>,
    /// Variables of its runs.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What callers give.
    #[serde(default)]
    pub input: BTreeMap<String, Input>,
    /// How what it says is read.
    #[serde(default)]
    pub output: Output,
    /// What it may write.
    #[serde(default)]
    pub writes: Writes,
    /// What it would reach.
    #[serde(default)]
    pub network: Network,
    /// Where its program changes the repository's record: how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// Inputs, and the argument lists that they make: at least one.
    pub example: Vec<Example>,
    /// Inputs that must be refused.
    #[serde(default)]
    pub refuses: Vec<Refusal>,
}

const fn a_minute() -> u64 {
    60
}

/// A word of an argument list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Word {
    /// Itself; with `{name}` in it, that input's value stands there. It is left out where the input is not given.
    Literal(String),
    /// Words that depend on an input.
    When(When),
    /// A word for each item of a list; `{}` is the item.
    Each(Each),
    /// Words that depend on the user's configuration; `{}` is the value.
    Config(OfConfig),
}

/// `{ when = INPUT, is = VALUE, then = […], else = […] }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The input.
    pub when: String,
    /// Its value; without, any but `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<Value>,
    /// The words where it is so.
    pub then: Vec<String>,
    /// The words where it is not.
    #[serde(default, rename = "else")]
    pub otherwise: Vec<String>,
}

/// `{ each = LIST, as = […] }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Each {
    /// The input that is a list.
    pub each: String,
    /// The words for an item.
    #[serde(rename = "as")]
    pub words: Vec<String>,
}

/// `{ config = KEY, then = […] }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfConfig {
    /// The key.
    pub config: String,
    /// The words where it is set.
    pub then: Vec<String>,
}

/// `output`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Output {
    /// `text`, `lines`, `json`, `json-lines`, or a format of reports.
    #[serde(default = "text")]
    pub parser: String,
    /// Exit codes that mean findings, and not that it failed.
    #[serde(default)]
    pub findings_exit: Vec<i32>,
}

fn text() -> String {
    "text".to_owned()
}

impl Default for Output {
    fn default() -> Self {
        Self { parser: text(), findings_exit: Vec::new() }
    }
}

/// How what a program says is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parser {
    /// As text.
    Text,
    /// As a list of lines.
    Lines,
    /// As one JSON value.
    Json,
    /// As a JSON value on each line.
    JsonLines,
    /// As a report.
    Report(reports::Format),
}

/// `writes`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Writes {
    /// Globs of what a proposal may change.
    pub paths: Vec<String>,
    /// Globs of caches that persist where the project ignores them.
    pub persists: Vec<String>,
}

/// `[git]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GitOfAll {
    /// Sections of git's configuration that its program reads: the clone has the user's and the repository's.
    pub sections: Vec<String>,
    /// Keys in those sections that the clone has whatever the user's configuration says.
    pub settings: BTreeMap<String, String>,
    /// What is run first in a repository that the program does not know yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin: Option<Begin>,
}

/// `git.begin`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The ref by which it is seen that the program knows the repository.
    pub unless: String,
    /// The argument list, of words that need no input.
    pub args: Vec<Word>,
}

/// `git` of a tool
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Git {
    /// Whether it works in a throw-away clone: there is no other way yet, and it is to be said.
    pub clone: bool,
    /// The refs that it may move: whole names, or such that end in `/*`.
    #[serde(default)]
    pub refs: Vec<String>,
    /// What becomes of what it pushes.
    #[serde(default)]
    pub push: Pushes,
    /// Whether what the remote has is fetched first, through the user's own git.
    #[serde(default)]
    pub fetch: bool,
    /// Pull requests that are opened for what stands at the remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulls: Option<Pulls>,
}

/// `git.pulls` of a tool
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pulls {
    /// The input that asks for them: a boolean.
    pub when: String,
    /// The input that says whether they are drafts: a boolean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// The argument list that has the program name the branches of the stack, a JSON value on each line.
    pub stack: Vec<String>,
    /// Where such a value has the branch: a JSON pointer (RFC 6901).
    pub branch: String,
    /// Where it has the branch below; what has none is the trunk.
    pub base: String,
}

/// What becomes of what a program pushes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pushes {
    /// It cannot be applied.
    #[default]
    Refuse,
    /// It is the plan's one request.
    Request,
}

/// `network`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// Hosts: a wish, shown at approval, that the user's `network = true` grants.
    pub hosts: Vec<String>,
}

/// An input and its argument list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The input.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The arguments that it makes.
    pub argv: Vec<String>,
}

/// An input that must be refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The input.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// A part of the reason.
    pub why: String,
}
