//! The conversation between a parent and its worker: lines of JSON, each bounded in length and depth.
//!
//! The parent says `inspect` (as often as it likes) or `run` (once, last); the worker answers `inspected`, or `log`, `read` and
//! `glob` until `done` or `failed`. A question waits for its answer: `text`, `paths` or `denied`.
//!
//! The parent trusts nothing of a worker, which has run what nobody vouches for: [`Hearing`] holds every line against what was
//! asked, counts, and is done with the worker at the first wrong one. What it does not know is time: who waits ends the
//! worker by their own clock.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::imports::{self, Export, Import};
use crate::limits::{self, Grants, Limits};
use crate::strip::Refusal;

/// A file as its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Its path below the folder that all files of the skill are below: what errors name.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// One execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The skill's name, such as `rls-policy`: its function is [`imports::functions`] of it.
    pub skill: String,
    /// Which of `files` is the skill's module.
    pub entry: String,
    /// All that may be imported. Nothing else is found.
    pub files: Vec<SourceFile>,
    /// The function's only argument. Keys such as `__proto__` are data.
    pub input: Value,
    /// What it may besides computing.
    pub grants: Grants,
    /// What it may take.
    pub limits: Limits,
}

/// What a parent says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Take the types out, and say what is imported and exported. Nothing of the files runs.
    Inspect {
        /// The files.
        files: Vec<SourceFile>,
        /// Whether their blanked texts are wanted too.
        texts: bool,
    },
    /// Run a skill. The last thing that a worker does.
    Run(Box<Run>),
    /// The answer to `read`: the file.
    Text(String),
    /// The answer to `glob`: paths below what was granted, in order.
    Paths(Vec<String>),
    /// The answer to either: no, and why. The skill gets it as an error that it can catch.
    Denied(String),
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inspected {
    /// The file.
    pub path: String,
    /// Why it cannot be run; the lists are empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// What it imports.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// What it exports.
    #[serde(default)]
    pub exports: Vec<Export>,
    /// Its text without types, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How a line of the console was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// `console.debug`, `console.trace`.
    Debug,
    /// `console.log`, `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`, `console.assert`.
    Error,
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A file is not run: its syntax, or TypeScript that is more than types.
    Source,
    /// An import of what is not there, or of what the embedded engine does not have.
    Import,
    /// No function to call.
    Function,
    /// The skill threw.
    Thrown,
    /// Its time was over. The parent's own clock may tell the same first.
    Timeout,
    /// Its memory was used up.
    Memory,
    /// It called itself too deep.
    Stack,
    /// It waits for a promise that nothing is left to settle.
    Unsettled,
    /// What it returned is no JSON within the limits.
    Result,
    /// What the parent asked makes no sense, or the engine could not be made.
    Engine,
}

/// A place in a skill's own file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The function, where it has a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The file, as the parent named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in UTF-16 units, from 1.
    pub column: u32,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{name}: {message}")]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// The error's name, such as `TypeError`.
    pub name: String,
    /// Its message, at most 2,000 bytes.
    pub message: String,
    /// Where, the innermost first, in the skill's own files alone.
    #[serde(default)]
    pub frames: Vec<Frame>,
}

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The answer to `inspect`: the same files in the same order.
    Inspected(Vec<Inspected>),
    /// The skill said something.
    Log {
        /// How.
        level: Level,
        /// What.
        text: String,
    },
    /// The skill asks for a file.
    Read(String),
    /// The skill asks for the paths that a pattern matches.
    Glob(String),
    /// The skill returned.
    Done {
        /// What; `null` also for `undefined`.
        result: Value,
        /// Whether something of the console was left out.
        log_cut: bool,
    },
    /// It did not.
    Failed {
        /// Why.
        failure: Failure,
        /// Whether something of the console was left out.
        log_cut: bool,
    },
}

/// Why a line is not said or not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TalkError {
    /// A line is longer than any that is expected.
    #[error("a line is longer than {0} bytes")]
    Long(usize),
    /// It nests deeper than any that is expected.
    #[error("a line nests deeper than {}", limits::DEPTH)]
    Deep,
    /// It is not what this side understands.
    #[error("a line is not understood: {0}")]
    Json(String),
    /// It is not what may be said now.
    #[error("{0}")]
    Wrong(&'static str),
}

/// How many levels a message has around the value that it carries.
const WRAPPED: usize = 4;

fn encode(message: &impl Serialize, most: usize) -> Result<Vec<u8>, TalkError> {
    let mut line = serde_json::to_vec(message).map_err(|error| TalkError::Json(error.to_string()))?;
    line.push(b'\n');
    if line.len() > most { Err(TalkError::Long(most)) } else { Ok(line) }
}

fn decode<'d, T: Deserialize<'d>>(line: &'d [u8], most: usize) -> Result<T, TalkError> {
    if line.len() > most {
        return Err(TalkError::Long(most));
    }
    if depth(line) > limits::DEPTH + WRAPPED {
        return Err(TalkError::Deep);
    }
    serde_json::from_slice(line)
        .map_err(|error| TalkError::Json(limits::cut(&error.to_string(), limits::MESSAGE_BYTES)))
}

/// How deep a JSON text nests, without parsing it.
pub(crate) fn depth(text: &[u8]) -> usize {
    let (mut depth, mut most, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

impl Request {
    /// The line that says it, with its end. Checks what it says first.
    pub fn encode(&self) -> Result<Vec<u8>, TalkError> {
        self.check()?;
        encode(self, limits::REQUEST_LINE)
    }

    /// What a line says, without its end.
    pub fn decode(line: &[u8]) -> Result<Self, TalkError> {
        let request: Self = decode(line, limits::REQUEST_LINE)?;
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), TalkError> {
        match self {
            Self::Inspect { files, .. } => check_files(files),
            Self::Run(run) => run.check(),
            Self::Text(text) if text.len() > limits::READ_BYTES => {
                Err(TalkError::Wrong("a file is too large"))
            }
            Self::Paths(paths) if paths.len() > limits::GLOB_PATHS => {
                Err(TalkError::Wrong("a pattern matches too many files"))
            }
            Self::Text(_) | Self::Paths(_) | Self::Denied(_) => Ok(()),
        }
    }
}

impl Run {
    fn check(&self) -> Result<(), TalkError> {
        check_files(&self.files)?;
        if !self.files.iter().any(|file| file.path == self.entry) {
            return Err(TalkError::Wrong("the skill's module is not among its files"));
        }
        if self.skill.is_empty() || self.skill.len() > limits::PATH_BYTES {
            return Err(TalkError::Wrong("a skill's name has 1 to 512 bytes"));
        }
        let input = serde_json::to_vec(&self.input).map_err(|error| TalkError::Json(error.to_string()))?;
        if input.len() > limits::INPUT_BYTES {
            return Err(TalkError::Wrong("the input is larger than 1 MiB"));
        }
        if depth(&input) > limits::DEPTH { Err(TalkError::Deep) } else { Ok(()) }
    }
}

fn check_files(files: &[SourceFile]) -> Result<(), TalkError> {
    if files.is_empty() || files.len() > limits::FILES {
        return Err(TalkError::Wrong("a skill has 1 to 64 files"));
    }
    if files.iter().map(|file| file.text.len()).sum::<usize>() > limits::FILES_BYTES {
        return Err(TalkError::Wrong("a skill's files have at most 512 KiB together"));
    }
    if !files.iter().all(|file| imports::is_path(&file.path)) {
        return Err(TalkError::Wrong("a file's path is relative, without `..`, `\\` and control characters"));
    }
    let mut paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.len() == files.len() { Ok(()) } else { Err(TalkError::Wrong("a file is there twice")) }
}

impl Event {
    /// The line that says it, with its end.
    pub fn encode(&self) -> Result<Vec<u8>, TalkError> {
        encode(self, limits::EVENT_LINE)
    }

    /// What a line says, without its end. Whether it may be said is for [`Hearing`].
    pub fn decode(line: &[u8]) -> Result<Self, TalkError> {
        decode(line, limits::EVENT_LINE)
    }
}

/// Bytes as they come, cut into lines.
#[derive(Debug)]
pub struct Lines {
    most: usize,
    buffer: Vec<u8>,
    /// Up to where it was looked for an end.
    seen: usize,
}

impl Lines {
    /// Lines of at most so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, buffer: Vec::new(), seen: 0 }
    }

    /// Takes what came. A line that is too long is an error as soon as that is known, and what is held never grows beyond
    /// that and one piece.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TalkError> {
        self.buffer.extend_from_slice(bytes);
        let unseen = self.buffer.get(self.seen..).unwrap_or_default();
        let ends = unseen.contains(&b'\n');
        if !ends {
            self.seen = self.buffer.len();
        }
        if !ends && self.buffer.len() > self.most { Err(TalkError::Long(self.most)) } else { Ok(()) }
    }

    /// The next whole line, without its end.
    pub fn take(&mut self) -> Result<Option<Vec<u8>>, TalkError> {
        let unseen = self.buffer.get(self.seen..).unwrap_or_default();
        let Some(end) = unseen.iter().position(|byte| *byte == b'\n').map(|end| self.seen + end) else {
            self.seen = self.buffer.len();
            return Ok(None);
        };
        let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
        line.pop();
        self.seen = 0;
        if line.len() > self.most { Err(TalkError::Long(self.most)) } else { Ok(Some(line)) }
    }
}
