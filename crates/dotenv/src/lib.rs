//! Files of environment variables, read as npm's `dotenv` reads them.
//!
//! `NAME=value`, `export` before it or not; values without quotes up to `#` or the line's end, or in one of three kinds of
//! quotes, over several lines where they are closed; `\n` and `\r` are line ends within `"` alone. Nothing is substituted, set
//! or run: `${X}` stays as it is written and is named in [`Variable::references`]. Lines that assign nothing are skipped, as
//! dotenv skips them, and told, which it does not.

mod scan;

pub use scan::parse;

/// A file as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Every assignment, in the file's order: of a name that is there twice the last one counts.
    pub variables: Vec<Variable>,
    /// What assigns nothing, or hardly what was meant.
    pub problems: Vec<Problem>,
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name: letters, digits, `_`, `.` and `-`.
    pub name: String,
    /// The value, without its quotes.
    pub value: String,
    /// Where it begins, from 1.
    pub line: usize,
    /// Names that the value refers to as `$NAME` or `${NAME}`, in order, each once, at most 100. None of a value in `'`.
    pub references: Vec<String>,
}

/// Something that is hardly meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, from 1.
    pub line: usize,
    /// What.
    pub what: Trouble,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It is no assignment and no comment: nothing is read from it.
    NoAssignment,
    /// The value begins with a quote that is not closed: the quote is a part of the value, which ends with the line.
    Unclosed,
    /// Something other than a comment comes after the closing quote: all of the line is the value.
    AfterQuote,
    /// The name was assigned before: that value is lost.
    Twice,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoAssignment => "no assignment: nothing is read from this line",
            Self::Unclosed => "the quote is not closed: it is a part of the value",
            Self::AfterQuote => "something comes after the closing quote: the whole line is the value",
            Self::Twice => "assigned before: the earlier value is lost",
        })
    }
}
