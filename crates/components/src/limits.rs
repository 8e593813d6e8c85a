//! How much of what.

use serde::{Deserialize, Serialize};

/// Most bytes of a component.
pub const COMPONENT_BYTES: usize = 8 << 20;
/// Most bytes of a call's arguments, and of the configuration, as JSON.
pub const INPUT_BYTES: usize = 1 << 20;
/// Most bytes of a result as JSON.
pub const RESULT_BYTES: usize = 2 << 20;
/// How deep arguments, configuration, schemas and results may nest.
pub const DEPTH: usize = 64;
/// Most bytes that one call may log. What comes after is left out, and that is said.
pub const LOG_BYTES: usize = 64 << 10;
/// Most pieces that one call may log.
pub const LOG_PIECES: usize = 1_000;
/// Most bytes of an error's message.
pub const MESSAGE_BYTES: usize = 2_000;
/// Most bytes of a path, a pattern, a key, or one argument of a program.
pub const WORD_BYTES: usize = 4_096;
/// Most arguments of a program.
pub const WORDS: usize = 200;
/// Most bytes that one call is given to read: files, paths, what programs said, and state.
pub const READ_BYTES: usize = 32 << 20;
/// Most bytes of one file, planned or read.
pub const FILE_BYTES: usize = 8 << 20;
/// Most bytes that one call plans.
pub const PLAN_BYTES: usize = 32 << 20;
/// Most effects that one call plans.
pub const EFFECTS: usize = 2_000;
/// Most programs that one call runs.
pub const RUNS: usize = 20;
/// Most questions that one call asks of its parent; a log is none.
pub const QUESTIONS: usize = 20_000;
/// Most calls of host functions in one call, logs included.
pub const HOST_CALLS: u32 = 100_000;
/// Most bytes of a value that is kept.
pub const VALUE_BYTES: usize = 64 << 10;
/// Most bytes of a key.
pub const KEY_BYTES: usize = 200;
/// Most bytes of all that a plugin keeps.
pub const STATE_BYTES: usize = 1 << 20;
/// Most tools of one component.
pub const TOOLS: usize = 50;
/// Most bytes of a tool's title.
pub const TITLE_BYTES: usize = 100;
/// Most bytes of a tool's description.
pub const DESCRIPTION_BYTES: usize = 600;
/// Most bytes of a tool's schema.
pub const SCHEMA_BYTES: usize = 64 << 10;
/// Most bytes of a line to the worker: a component or a file in base64, with room around it.
pub const REQUEST_LINE: usize = COMPONENT_BYTES / 3 * 4 + (64 << 10) + 6 * 2 * INPUT_BYTES;
/// Most bytes of a line from the worker: a result with every character escaped, or a planned file in base64.
pub const EVENT_LINE: usize = RESULT_BYTES * 6 + (64 << 10);
/// Tables of one call, and how many elements each of them holds.
pub const TABLES: (usize, usize) = (8, 10_000);
/// Core instances of one call: what a component is put together from.
pub const INSTANCES: usize = 32;
/// How long a tick of the engine's clock is, in milliseconds.
pub const TICK: u64 = 10;
/// The guest's stack.
pub const GUEST_STACK: usize = 512 << 10;
/// Stack of the thread on which it runs, with the host functions that are called from within.
pub const THREAD_STACK: usize = 8 << 20;

/// What one call may take. The parent's clock and the memory limit of the confined world hold besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Steps, roughly instructions: the same call takes the same number on every machine.
    pub fuel: u64,
    /// Bytes of linear memory.
    pub memory: usize,
    /// Milliseconds from the start to the result, what the parent takes to answer included.
    pub milliseconds: u64,
}

impl Default for Limits {
    /// A thousand million steps, 64 MiB, 10 s.
    fn default() -> Self {
        Self { fuel: 1_000_000_000, memory: 64 << 20, milliseconds: 10_000 }
    }
}

/// Which host functions are there, besides `log`. Nothing by default. Of what is there, each question is the parent's to decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a declaration of its own in the manifest")]
pub struct Grants {
    /// `read` and `glob`.
    pub reads: bool,
    /// `plan`.
    pub writes: bool,
    /// `run`.
    pub programs: bool,
    /// `get` and `set`.
    pub state: bool,
}

impl Grants {
    /// Whether a host function is there; nothing, where no world of ours has it. With what a manifest grants it by.
    pub(crate) fn of(self, function: &str) -> Option<(bool, &'static str)> {
        Some(match function {
            "log" => (true, ""),
            "read" | "glob" => (self.reads, "reads"),
            "plan" => (self.writes, "writes"),
            "run" => (self.programs, "programs"),
            "get" | "set" => (self.state, "state"),
            _ => return None,
        })
    }
}

/// A text of at most so many bytes, cut at a character.
pub(crate) fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}
