//! What a parent and its worker say to one another.
//!
//! The parent says `load` once, and is answered `described`; then `call`, as often as it likes, which is answered by `log` and
//! `ask` until `done`. Instead of either there may be `failed`. A question waits for its answer. The parent trusts nothing of
//! a worker, which runs what nobody vouches for: [`Hearing`](crate::Hearing) holds every line against what was asked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{Grants, Limits};

/// Bytes: base64 in the conversation.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'d> Deserialize<'d> for Bytes {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'d, str>>::deserialize(from)?;
        STANDARD.decode(text.as_bytes()).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A call of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its name, as the component describes it.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
    /// The user's configuration of the plugin, as JSON.
    pub config: String,
}

/// What a parent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Compile a component, and ask it what it offers.
    Load {
        /// The component.
        component: Bytes,
        /// What it declares.
        grants: Grants,
        /// What each call may take.
        limits: Limits,
    },
    /// Call one of its tools.
    Call(Call),
    /// The answer to a question.
    Answer(Answer),
}

/// The answer to a question of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// To `read`.
    File(File),
    /// To `glob`: in order.
    Paths(Vec<String>),
    /// To `run`.
    Ran {
        /// The code that it ended with.
        code: i32,
        /// What it said.
        stdout: Bytes,
        /// What it complained of.
        stderr: Bytes,
    },
    /// To `get`.
    Value(Option<Bytes>),
    /// To `plan` and `set`.
    Done,
    /// To any: no, and why. The component gets it as an error.
    Denied(String),
}

impl Answer {
    /// How much it gives to read, in bytes: a call is given at most [`limits::READ_BYTES`](crate::limits::READ_BYTES).
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::File(File::Bytes(bytes)) | Self::Value(Some(bytes)) => bytes.0.len(),
            Self::Paths(paths) => paths.iter().map(|path| path.len() + 16).sum(),
            Self::Ran { stdout, stderr, .. } => stdout.0.len() + stderr.0.len(),
            _ => 0,
        }
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum File {
    /// Nothing.
    Absent,
    /// A file.
    Bytes(Bytes),
    /// A symbolic link, and where it leads.
    Link(String),
}

/// A change that is planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// A file with this content.
    Put {
        /// Where.
        path: String,
        /// What.
        bytes: Bytes,
    },
    /// No file.
    Remove {
        /// Where.
        path: String,
    },
    /// One more line.
    Append {
        /// Where.
        path: String,
        /// What.
        line: String,
    },
}

impl Effect {
    /// The path that it changes.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Put { path, .. } | Self::Remove { path } | Self::Append { path, .. } => path,
        }
    }
}

/// What a component asks its parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// What is at a path.
    Read(String),
    /// The files that a pattern matches.
    Glob(String),
    /// To plan a change.
    Plan(Effect),
    /// To run a program.
    Run {
        /// Its plain name.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// What was kept under a key.
    Get(String),
    /// To keep something under a key.
    Set {
        /// The key.
        key: String,
        /// The value; empty for nothing.
        value: Bytes,
    },
}

/// How loud something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// For whoever looks for a fault.
    Debug,
    /// For everybody.
    Info,
    /// Something is amiss.
    Warn,
}

/// A tool, as a component describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name within the plugin.
    pub name: String,
    /// For people.
    pub title: String,
    /// For models.
    pub description: String,
    /// JSON Schema of its arguments, as text.
    pub input_schema: String,
    /// `read`: it proposes nothing; `run`: it may.
    pub kind: String,
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is no component, or none that can be compiled here.
    Component,
    /// It wants what is not there, or was not declared.
    Import,
    /// It does not offer what a plugin offers, or describes it wrongly.
    World,
    /// It trapped.
    Trap,
    /// Its steps were used up.
    Fuel,
    /// Its time was over. The parent's own clock may tell the same first.
    Timeout,
    /// It wanted more memory than it may have, and failed.
    Memory,
    /// It called host functions more often than it may.
    HostCalls,
    /// What it answered is no JSON within the limits.
    Result,
    /// What the parent asked makes no sense, or the engine failed within itself.
    Engine,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// What is wrong, bounded by [`limits::MESSAGE_BYTES`](crate::limits::MESSAGE_BYTES).
    pub message: String,
}

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The component was compiled, and offers this.
    Described(Vec<Tool>),
    /// It says something.
    Log {
        /// How loud.
        level: Level,
        /// What.
        text: String,
    },
    /// It asks something, and waits.
    Ask(Question),
    /// The call came to an end of its own.
    Done {
        /// The answer as JSON, or the component's error for the caller.
        result: Result<String, String>,
        /// Whether something of the log was left out.
        log_cut: bool,
        /// Steps that it took.
        fuel: u64,
    },
    /// There is no answer.
    Failed(Failure),
}

/// Why a line is not said or not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TalkError {
    /// A line is longer than any that is expected.
    #[error("a line is longer than {0} bytes")]
    Long(usize),
    /// It is not what this side understands.
    #[error("a line is not understood: {0}")]
    Json(String),
    /// It is not what may be said now.
    #[error("{0}")]
    Wrong(&'static str),
    /// A tool is described as none may be.
    #[error("the component describes its tools wrongly: {0}")]
    Described(String),
}
