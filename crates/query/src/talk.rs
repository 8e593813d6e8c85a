//! The conversation between a parent and its worker: one line of JSON each way, bounded in length and depth.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits;

/// What a parent asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The jq filter.
    pub filter: String,
    /// What it is given. Keys of its objects come in order.
    pub input: Value,
    /// How the results are written as text, where that is wanted too.
    pub style: Option<Style>,
}

/// How results are written as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Style {
    /// Each value on one line, without blanks; else indented by two.
    pub compact: bool,
    /// Strings at the top as they are, without quotes and escapes.
    pub raw: bool,
    /// Keys of objects in order; else as the filter made them.
    pub sort_keys: bool,
}

/// Where in a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The filter is no jq, or names what there is none of.
    Filter,
    /// It was ended for the memory that it took.
    Memory,
    /// The engine failed within itself.
    Engine,
}

/// Why there is no result at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// What is wrong, at most [`limits::MESSAGE_BYTES`].
    pub message: String,
    /// Where in the filter, of the kind [`Kind::Filter`].
    pub place: Option<Place>,
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The filter ran.
    Done {
        /// What it gave, at most [`limits::VALUES`].
        results: Vec<Value>,
        /// The same as text, where a style was asked for: each value ends with a line's end.
        text: Option<String>,
        /// Whether it would have given more, which was left out.
        is_cut: bool,
        /// What the filter failed with after those results.
        error: Option<String>,
    },
    /// It did not.
    Failed(Failure),
}

/// Why a line is not said or not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TalkError {
    /// A line, or a part of it, is longer than any that is expected.
    #[error("{0} is larger than {1} bytes")]
    Long(&'static str, usize),
    /// It nests deeper than any that is expected.
    #[error("{0} nests deeper than {depth}", depth = limits::DEPTH)]
    Deep(&'static str),
    /// It is not what this side understands.
    #[error("a line is not understood: {0}")]
    Json(String),
    /// It is not what may be said.
    #[error("{0}")]
    Wrong(&'static str),
}

impl Question {
    /// The line that asks it, with its end. Refused where filter or input is larger or deeper than may be.
    pub fn encode(&self) -> Result<Vec<u8>, TalkError> {
        if self.filter.len() > limits::FILTER_BYTES {
            return Err(TalkError::Long("the filter", limits::FILTER_BYTES));
        }
        if is_deeper(&self.input, limits::DEPTH) {
            return Err(TalkError::Deep("the input"));
        }
        let input = serde_json::to_vec(&self.input).map_err(json)?;
        if input.len() > limits::INPUT_BYTES {
            return Err(TalkError::Long("the input", limits::INPUT_BYTES));
        }
        encode(self, limits::QUESTION_LINE)
    }

    /// What a line asks, without its end.
    pub fn decode(line: &[u8]) -> Result<Self, TalkError> {
        decode(line, limits::QUESTION_LINE)
    }
}

impl Answer {
    /// A failure as an answer.
    pub(crate) fn failed(kind: Kind, message: &str, place: Option<Place>) -> Self {
        Self::Failed(Failure { kind, message: limits::cut(message, limits::MESSAGE_BYTES), place })
    }

    /// The line that says it, with its end.
    pub fn encode(&self) -> Result<Vec<u8>, TalkError> {
        encode(self, limits::ANSWER_LINE)
    }

    /// What a line without its end answers to `question`; refused where no worker of ours would say it.
    pub fn decode(line: &[u8], question: &Question) -> Result<Self, TalkError> {
        let answer: Self = decode(line, limits::ANSWER_LINE)?;
        match &answer {
            Self::Done { results, text, error, .. } => {
                if results.len() > limits::VALUES {
                    return Err(TalkError::Wrong("the worker gives more values than it may"));
                }
                if text.is_some() != question.style.is_some() {
                    return Err(TalkError::Wrong("the worker gives another form than it was asked for"));
                }
                if results.iter().any(|result| is_deeper(result, limits::DEPTH)) {
                    return Err(TalkError::Deep("a result"));
                }
                bounded(error.as_deref().unwrap_or_default())?;
            }
            Self::Failed(failure) => bounded(&failure.message)?,
        }
        Ok(answer)
    }
}

fn bounded(message: &str) -> Result<(), TalkError> {
    if message.len() > limits::MESSAGE_BYTES {
        return Err(TalkError::Long("an error", limits::MESSAGE_BYTES));
    }
    Ok(())
}

fn json(error: serde_json::Error) -> TalkError {
    TalkError::Json(limits::cut(&error.to_string(), limits::MESSAGE_BYTES))
}

fn encode(message: &impl Serialize, most: usize) -> Result<Vec<u8>, TalkError> {
    let mut line = serde_json::to_vec(message).map_err(json)?;
    line.push(b'\n');
    if line.len() > most { Err(TalkError::Long("a line", most)) } else { Ok(line) }
}

fn decode<T: DeserializeOwned>(line: &[u8], most: usize) -> Result<T, TalkError> {
    if line.len() > most {
        return Err(TalkError::Long("a line", most));
    }
    if nesting(line) > limits::DEPTH + WRAPPED {
        return Err(TalkError::Deep("a line"));
    }
    serde_json::from_slice(line).map_err(json)
}

/// How many levels a message has around the values that it carries.
const WRAPPED: usize = 4;

/// How deep a JSON text nests, without parsing it.
fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut most, mut is_quoted, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
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

/// Whether a value nests deeper than `most`.
fn is_deeper(value: &Value, most: usize) -> bool {
    let within = |inner: &Value| most == 0 || is_deeper(inner, most - 1);
    match value {
        Value::Array(items) => most == 0 || items.iter().any(within),
        Value::Object(map) => most == 0 || map.values().any(within),
        _ => false,
    }
}
