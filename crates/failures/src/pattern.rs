//! What a pattern is: how a failure is recognised, what it is called and what to do about it. The built-in patterns
//! and those of a project's configuration have this one form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$each])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word as it is written everywhere.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// What kind of trouble it is.
    Category {
        /// Something that an attacker can use.
        Security = "security",
        /// Something that is slow.
        Performance = "performance",
        /// Something that is hard to change.
        Maintainability = "maintainability",
        /// Code that does not compile, link or run.
        Build = "build",
        /// Tests that fail.
        Test = "test",
        /// What a linter found.
        Lint = "lint",
        /// Packages that are missing or do not fit.
        Dependencies = "dependencies",
        /// Settings and environment.
        Configuration = "configuration",
        /// None of these, or not known.
        General = "general",
    }
}

words! {
    /// How bad it is, in the words of the contract's faults.
    Severity {
        /// Worth knowing.
        Low = "low",
        /// What was asked was not done.
        Medium = "medium",
        /// Nothing goes on before this is repaired.
        High = "high",
    }
}

words! {
    /// How soon a suggestion should be followed.
    Priority {
        /// First.
        High = "high",
        /// Next.
        Medium = "medium",
        /// If nothing else helps.
        Low = "low",
    }
}

words! {
    /// What a pattern or a source is written for.
    Language {
        /// Go.
        Go = "go",
        /// JavaScript.
        Javascript = "javascript",
        /// TypeScript.
        Typescript = "typescript",
        /// Python.
        Python = "python",
        /// Rust.
        Rust = "rust",
        /// Java.
        Java = "java",
        /// C and C++.
        Cpp = "cpp",
    }
}

impl Language {
    /// The language of a file by the end of its name.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let (_, end) = path.rsplit_once('.')?;
        Some(match end.to_ascii_lowercase().as_str() {
            "go" => Self::Go,
            "js" | "mjs" | "cjs" | "jsx" => Self::Javascript,
            "ts" | "mts" | "cts" | "tsx" => Self::Typescript,
            "py" | "pyi" => Self::Python,
            "rs" => Self::Rust,
            "java" => Self::Java,
            "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx" => Self::Cpp,
            _ => return None,
        })
    }
}

/// One pattern. A run matches it when any expression finds something in its output, or any outcome holds.
///
/// ```
/// let spec: gatewright_failures::PatternSpec = toml::from_str(r#"
///     id = "shop-database-down"
///     category = "configuration"
///     severity = "high"
///     title = "The database is not running"
///     expressions = [{ find = 'dial tcp (?<address>\S+:5432): connect: connection refused' }]
///     suggestions = [{ text = "Start the database that listens on {address}.",
///                      tool = { name = "make_build", arguments = { target = "db" } } }]
/// "#).unwrap();
/// assert!(gatewright_failures::Analyzer::new(&[spec]).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternSpec {
    /// Its name: lower-case letters, digits and hyphens, at most 64.
    pub id: String,
    /// What kind of trouble it is.
    pub category: Category,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, in a few words.
    pub title: String,
    /// Why it happens, in a sentence or two.
    #[serde(default)]
    pub explanation: String,
    /// The languages that it is about; none means any.
    #[serde(default)]
    pub languages: Vec<Language>,
    /// What to look for in the output; at most 20.
    #[serde(default)]
    pub expressions: Vec<ExpressionSpec>,
    /// How the run must have ended, where that alone says enough; at most 20.
    #[serde(default)]
    pub outcomes: Vec<OutcomeSpec>,
    /// What to do about it; at most 5.
    #[serde(default)]
    pub suggestions: Vec<SuggestionSpec>,
}

/// Something to find in one line of output.
///
/// Named groups become the match's captures. `file` (a path as the program says it), `line` and `column` have that
/// meaning; every name can be used as `{name}` in suggestions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpressionSpec {
    /// A regular expression in the syntax of Rust's `regex` crate, tried on each line without its colours; at most
    /// 1,000 characters. It may not match an empty line.
    pub find: String,
    /// Texts of which a line must hold one before the expression is tried: with them a long output costs next to
    /// nothing. Case counts.
    #[serde(default)]
    pub literals: Vec<String>,
    /// What the lines around a match say more; at most 4.
    #[serde(default)]
    pub context: Vec<ContextSpec>,
    /// Only for runs whose command line (the program's name and its arguments, joined by spaces) this expression
    /// finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Something to find in the lines around a match. The lines after it are tried first, then those before it, the
/// nearest first; the first line that matches adds its named groups to the captures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextSpec {
    /// A regular expression, as in the match.
    pub find: String,
    /// How many lines after the match; at most 20.
    #[serde(default)]
    pub after: u8,
    /// How many lines before the match; at most 20.
    #[serde(default)]
    pub before: u8,
    /// Without it there is no match.
    #[serde(default)]
    pub required: bool,
}

/// How a run ended. Everything that is given must hold; at least one of the first three must be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeSpec {
    /// The exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether it was stopped because its time was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<bool>,
    /// Only for runs whose command line this expression finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Something to do about a failure.
///
/// `{name}` stands for a capture, `{name|other words}` says what to put where there is none. Known everywhere:
/// `{run}` (the handle of the run's whole output), `{program}`, `{command}` and `{seconds}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionSpec {
    /// What to do, useful without the tool. A text with a capture that is missing is not said.
    pub text: String,
    /// How soon.
    #[serde(default = "medium")]
    pub priority: Priority,
    /// How often this helps, from 0 to 1; 0.8 where it is not said. The analysis' own confidence is multiplied in.
    #[serde(default = "usual")]
    pub confidence: f64,
    /// The call to make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
}

const fn medium() -> Priority {
    Priority::Medium
}

const fn usual() -> f64 {
    0.8
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's wire name.
    pub name: String,
    /// Its arguments. In a pattern they may hold `{name}`: an argument whose capture is missing, or begins with a
    /// hyphen, is left out; an element of a list that is nothing but `{name}` becomes one element for each place.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

/// What is wrong with a pattern of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// An expression that cannot be used.
    #[error("pattern `{id}`: the expression `{expression}` cannot be used: {reason}")]
    Expression {
        /// The pattern.
        id: String,
        /// The expression, at most 200 characters of it.
        expression: String,
        /// Why, as the expression's reader says it.
        reason: String,
    },
    /// A built-in pattern has this id.
    #[error("pattern `{id}`: a built-in pattern has this id; give yours another")]
    BuiltIn {
        /// The id.
        id: String,
    },
    /// Two patterns have this id.
    #[error("pattern `{id}`: two patterns have this id")]
    Twice {
        /// The id.
        id: String,
    },
    /// A suggestion names a capture that no expression of the pattern has.
    #[error("pattern `{id}`: `{{{capture}}}` is in a suggestion, but no expression has a group of that name")]
    Capture {
        /// The pattern.
        id: String,
        /// The name.
        capture: String,
    },
    /// Something else is not as it must be.
    #[error("pattern `{id}`: {reason}")]
    Shape {
        /// The pattern.
        id: String,
        /// What must be otherwise.
        reason: String,
    },
    /// More patterns than are taken.
    #[error("there are {given} patterns; at most {limit} are taken")]
    TooMany {
        /// How many there are.
        given: usize,
        /// How many there may be.
        limit: usize,
    },
}
