//! A grammar as it is checked against.

use std::collections::BTreeMap;

pub(crate) use crate::file::Style;
use crate::value::Kind;

/// What one program may be given. Made from its file by [`crate::Grammar::of`].
#[derive(Debug)]
pub struct Grammar {
    pub(crate) program: String,
    pub(crate) also: Vec<String>,
    pub(crate) follows: String,
    pub(crate) spelling: Spelling,
    pub(crate) global_anywhere: bool,
    pub(crate) top: Level,
    pub(crate) commands: Vec<Command>,
    pub(crate) refused_commands: BTreeMap<String, String>,
}

/// How flags are written.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a program")]
pub(crate) struct Spelling {
    pub(crate) style: Style,
    pub(crate) cluster: bool,
    /// A one-letter flag may have its value behind it without a blank.
    pub(crate) stuck: bool,
    pub(crate) response_files: bool,
    pub(crate) flags_first: bool,
    pub(crate) double_dash: bool,
}

#[derive(Debug)]
pub(crate) struct Command {
    /// The command's words, such as `mod tidy`, and its other spellings.
    pub(crate) names: Vec<Vec<String>>,
    pub(crate) level: Level,
    pub(crate) delegate: Option<String>,
}

impl Command {
    /// The words that it is listed under.
    pub(crate) fn name(&self) -> String {
        self.names.first().map(|words| words.join(" ")).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) flags: Vec<Flag>,
    /// Spelling to place in `flags`.
    pub(crate) names: BTreeMap<String, usize>,
    pub(crate) refused: BTreeMap<String, String>,
    /// `None`: nothing was said of positionals.
    pub(crate) positionals: Option<Vec<Slot>>,
    pub(crate) after: Option<Vec<Slot>>,
    pub(crate) rest: Option<Box<Level>>,
    pub(crate) conflicts: Vec<Vec<usize>>,
    pub(crate) one_of: Vec<usize>,
    /// Several one-letter flags may stand behind one `-`, whatever holds elsewhere.
    pub(crate) cluster: bool,
    /// Flags may follow positionals, whatever holds elsewhere.
    pub(crate) flags_anywhere: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Flag {
    pub(crate) names: Vec<String>,
    /// What follows it; `None` when nothing does.
    pub(crate) value: Option<Kind>,
    pub(crate) join: Join,
    pub(crate) many: bool,
    /// The program takes every argument up to the next flag for its values, too.
    pub(crate) greedy: bool,
    /// The value names what the program writes.
    pub(crate) writes: bool,
    /// As the file says it.
    pub(crate) said: String,
}

impl Flag {
    pub(crate) fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

/// How a flag's value is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// Joined or the next argument.
    Either,
    /// Only joined.
    Joined,
    /// Only the next argument.
    Separate,
    /// Joined, or left out.
    Optional,
    /// Joined or the next argument; left out only by the last argument (git's `PARSE_OPT_LASTARG_DEFAULT`).
    Last,
}

/// A run of positionals of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) kind: Kind,
    pub(crate) writes: bool,
    pub(crate) said: String,
}
