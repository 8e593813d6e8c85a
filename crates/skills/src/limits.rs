//! How much of what.

use serde::{Deserialize, Serialize};

/// Most files that one run is given: the skill's own and what it imports.
pub const FILES: usize = 64;
/// Most bytes of one file.
pub const FILE_BYTES: usize = 256 * 1024;
/// Most bytes of all files of one run.
pub const FILES_BYTES: usize = 512 * 1024;
/// Most bytes of a file's path.
pub const PATH_BYTES: usize = 512;
/// Most bytes of the input as JSON.
pub const INPUT_BYTES: usize = 1024 * 1024;
/// Most bytes of a result as JSON.
pub const RESULT_BYTES: usize = 256 * 1024;
/// How deep input and result may nest.
pub const DEPTH: usize = 64;
/// Most bytes of what `console` is told. What comes after is left out, and that is said.
pub const LOG_BYTES: usize = 64 * 1024;
/// Most lines of what `console` is told.
pub const LOG_LINES: usize = 1_000;
/// Most bytes of an error's message.
pub const MESSAGE_BYTES: usize = 2_000;
/// Most bytes of an error's or a function's name.
pub const NAME_BYTES: usize = 200;
/// Most imports of one file, and most names that it exports.
pub const IMPORTS: usize = 1_000;
/// Most frames of an error.
pub const FRAMES: usize = 20;
/// Most files that one run may read.
pub const READS: usize = 200;
/// Most bytes that one run may read.
pub const READ_BYTES: usize = 16 * 1024 * 1024;
/// Most patterns that one run may ask for.
pub const GLOBS: usize = 200;
/// Most paths that one pattern is answered with.
pub const GLOB_PATHS: usize = 10_000;
/// Most bytes of a line to the worker: one file that it reads, with every character escaped, or a run's files and input.
pub const REQUEST_LINE: usize = READ_BYTES * 2 + 64 * 1024;
/// Most bytes of a line from the worker: the blanked texts of an inspection.
pub const EVENT_LINE: usize = FILES_BYTES * 6 + 256 * 1024;
/// Stack of the engine: what it allows itself.
pub const ENGINE_STACK: usize = 512 * 1024;
/// Stack of the thread on which it runs, with all that is called from within.
pub const THREAD_STACK: usize = 8 * 1024 * 1024;

/// What one run may take. The parent's clock and the confined world's memory limit hold besides: the engine cannot be ended
/// from within while it is in native code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Milliseconds from the start to the result.
    pub milliseconds: u64,
    /// Bytes of the engine's memory.
    pub memory: usize,
}

impl Default for Limits {
    /// 2 s, 64 MiB.
    fn default() -> Self {
        Self { milliseconds: 2_000, memory: 64 * 1024 * 1024 }
    }
}

/// What was granted besides computing. Nothing by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grants {
    /// `gatewright.read` and `gatewright.glob` are there. Which files is the parent's to decide, question by question.
    pub reads: bool,
    /// `Date` is there.
    pub clock: bool,
    /// `Math.random` is there.
    pub random: bool,
}

/// A text of at most so many bytes, cut at a character.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}
