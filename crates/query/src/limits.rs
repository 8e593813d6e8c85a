//! How much of what.

/// Most bytes of a filter.
pub const FILTER_BYTES: usize = 16 * 1024;
/// Most bytes of the input as JSON.
pub const INPUT_BYTES: usize = 8 * 1024 * 1024;
/// Most bytes of all results as JSON, and most of their text. What comes after is left out, and that is said.
pub const OUTPUT_BYTES: usize = 2 * 1024 * 1024;
/// Most values that a filter is asked for. What comes after is left out, and that is said.
pub const VALUES: usize = 10_000;
/// How deep input and results may nest. What reads JSON here, and what clients commonly read it with, ends at 128 with all that is
/// around a value.
pub const DEPTH: usize = 100;
/// Most bytes of an error's message.
pub const MESSAGE_BYTES: usize = 2_000;
/// Most bytes of memory of a process besides what it has before it is asked.
pub const MEMORY: u64 = 256 * 1024 * 1024;
/// Stack of the thread on which a filter runs: recursion that is no tail call takes it up.
pub const STACK: usize = 64 * 1024 * 1024;
/// Most bytes of a question's line.
pub const QUESTION_LINE: usize = INPUT_BYTES + 6 * FILTER_BYTES + 1024;
/// Most bytes of an answer's line: the results, and their text with every character escaped.
pub const ANSWER_LINE: usize = OUTPUT_BYTES * 7 + 16 * 1024;

/// A text of at most so many bytes, cut at a character.
pub(crate) fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}
