//! Why an argument is refused, in a sentence that says what to do instead.

use std::fmt;

use contract::text::is_deceptive;

use crate::value::Unfit;

/// At most this many characters of an argument are shown.
const SHOWN: usize = 80;

/// A refused argument vector. Its `Display` is a sentence for the one who wrote the arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// The program, and its sub-command as far as it was understood.
    pub program: String,
    /// Which argument, counted from 0 after the program's name; the number of arguments where one is missing.
    pub index: usize,
    /// The argument with everything but printable characters escaped, cut at 80 characters; empty where one is missing.
    pub argument: String,
    /// The reason.
    pub why: Box<Why>,
    /// What to write instead, where something is near.
    pub suggestion: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not run: ", self.program)?;
        if !self.argument.is_empty() {
            write!(f, "argument {} `{}`: ", self.index + 1, self.argument)?;
        }
        write!(f, "{}", self.why)?;
        match &self.suggestion {
            Some(instead) => write!(f, "; {instead}"),
            None => Ok(()),
        }
    }
}

/// The reasons.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// More than [`crate::MAX_ARGUMENTS`].
    #[error("{0} arguments are more than {limit}; name a directory or a pattern instead of every file", limit = crate::MAX_ARGUMENTS)]
    TooMany(usize),
    /// More bytes than [`crate::MAX_BYTES`].
    #[error("{0} bytes of arguments are more than {limit}; put long text into a file", limit = crate::MAX_BYTES)]
    TooLong(usize),
    /// A NUL, which ends a string for the system.
    #[error("it has a NUL character, where the system would cut it")]
    Nul,
    /// A flag that the grammar does not have.
    #[error("{0} has no such flag here")]
    UnknownFlag(String),
    /// A flag that the program has and that is not given.
    #[error("`{flag}` is refused: it {reason}")]
    RefusedFlag {
        /// As the grammar spells it.
        flag: String,
        /// What it would do.
        reason: String,
    },
    /// The beginning of a flag.
    #[error("flags are written out in full")]
    Abbreviated,
    /// Something that a reader takes for a flag and the program does not.
    #[error("it has a character that is invisible or looks like `-`")]
    LookAlike,
    /// Several one-letter flags in one, where they are not told apart with certainty.
    #[error("one-letter flags are written one by one")]
    Cluster,
    /// `-`, standard input.
    #[error("nothing is given to the program on its standard input")]
    StandardInput,
    /// A flag without the value that it needs.
    #[error("`{0}` needs a value")]
    ValueMissing(String),
    /// A value that begins with `-`.
    #[error("the value of `{0}` begins with `-` and could be taken for a flag")]
    ValueDash(String),
    /// A flag given a value that it does not take.
    #[error("`{0}` takes no value")]
    ValueUnwanted(String),
    /// A value given in the next argument or joined, where the program reads only the other.
    #[error("the value of `{0}` is not attached in the way that the program reads")]
    Attachment(String),
    /// A value that is not of its kind.
    #[error("{what} must be {expected}: {unfit}")]
    Value {
        /// The flag, or the positional's kind.
        what: String,
        /// The kind.
        expected: String,
        /// What is wrong.
        unfit: Unfit,
    },
    /// A flag given twice.
    #[error("`{0}` is given more than once")]
    Repeated(String),
    /// Two flags that exclude one another.
    #[error("`{0}` and `{1}` exclude one another")]
    Conflict(String, String),
    /// A sub-command that is not in the enumeration. Aliases that the repository defines are none.
    #[error("{0} has no such sub-command here, and aliases are not followed")]
    UnknownCommand(String),
    /// A sub-command that the program has and that is not run.
    #[error("`{command}` is refused: it {reason}")]
    RefusedCommand {
        /// As the grammar spells it.
        command: String,
        /// What it would do.
        reason: String,
    },
    /// No sub-command.
    #[error("a sub-command is missing")]
    CommandMissing,
    /// More positionals than the grammar has.
    #[error("{0} takes no further argument here")]
    TooManyPositionals(String),
    /// Fewer positionals than the grammar needs.
    #[error("an argument is missing: {0}")]
    PositionalMissing(String),
    /// A flag behind a positional, where the program no longer looks for flags.
    #[error("flags come before other arguments here")]
    FlagsFirst,
    /// `--` where the program does not know it.
    #[error("`--` is not taken here")]
    DoubleDash,
    /// `@file`, which the program would replace by what is in the file.
    #[error("the program would read more arguments from the file behind `@`, where nobody has checked them")]
    ResponseFile,
    /// None of several flags of which one is needed.
    #[error("one of {0} is needed")]
    OneOf(String),
    /// Another program's grammar, which could not be had.
    #[error("there is no grammar for `{0}`")]
    NoGrammar(String),
}

/// `text` as it may be shown: printable, and short.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at >= SHOWN {
            out.push('…');
            break;
        }
        if c.is_control() || is_deceptive(c) || looks_like_dash(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters that are drawn like `-` and are not it (Unicode `Pd`, minus signs, box drawing).
pub(crate) fn looks_like_dash(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{2d7}' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2043}'
                | '\u{207b}'
                | '\u{208b}'
                | '\u{2212}'
                | '\u{2500}'
                | '\u{2796}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{30fc}'
                | '\u{fe31}'
                | '\u{fe32}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
                | '\u{10ead}'
                | '\u{ffda}'
    )
}
