//! One string into words, as a POSIX shell would split it, without anything that a shell would do beyond splitting.

/// Why a command given as one string is not split. Positions are bytes from the start of the string.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// Something that only a shell acts on.
    #[error("{operator} at byte {position} would {meaning}; there is no shell here: {instead}")]
    Operator {
        /// As it is written.
        operator: String,
        /// Where.
        position: usize,
        /// What a shell would do with it.
        meaning: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A quote without its end, or a backslash at the end.
    #[error("the {what} at byte {position} is not closed")]
    Unclosed {
        /// Which.
        what: &'static str,
        /// Where it begins.
        position: usize,
    },
    /// No word at all.
    #[error("the command is empty")]
    Empty,
    /// A NUL.
    #[error("there is a NUL character at byte {0}")]
    Nul(usize),
    /// More than [`crate::MAX_BYTES`].
    #[error("the command has more than {limit} bytes", limit = crate::MAX_BYTES)]
    TooLong,
}

const ONE: &str = "give one command per call";
const FILES: &str = "output is kept, and read with `run_output`";
const LITERAL: &str = "put it in single quotes if it is meant literally";
const GIVEN: &str = "write the value out, or put it in single quotes if it is meant literally";

/// The words of `command`: quotes and backslashes as POSIX says, and nothing is expanded. Wildcards stay as they are
/// written. Whatever a shell would act on outside quotes is refused by name and position, so that nobody believes that
/// it happened.
///
/// # Examples
///
/// ```
/// let words = gatewright_grammar::split("git log --grep 'a && b'").unwrap();
/// assert_eq!(words, ["git", "log", "--grep", "a && b"]);
/// assert!(gatewright_grammar::split("make test && rm -r .").is_err());
/// ```
pub fn split(command: &str) -> Result<Vec<String>, SplitError> {
    if command.len() > crate::MAX_BYTES {
        return Err(SplitError::TooLong);
    }
    if let Some(at) = command.find('\0') {
        return Err(SplitError::Nul(at));
    }
    let command = command.trim_end_matches(['\n', '\r']);
    scan(command)?;
    // `scan` has seen every quote closed; the crate's only failure is one that is not.
    let words = shlex::split(command).ok_or(SplitError::Unclosed { what: "quote", position: 0 })?;
    if words.is_empty() { Err(SplitError::Empty) } else { Ok(words) }
}

/// `words` as one string that [`split`] gives back, where the first is a program's plain name. `None` when a word has a
/// NUL.
pub fn join(words: &[String]) -> Option<String> {
    shlex::try_join(words.iter().map(String::as_str)).ok()
}

/// Looks for what a shell would act on.
fn scan(command: &str) -> Result<(), SplitError> {
    let mut chars = command.char_indices().peekable();
    // Whether the next character begins a word, and whether only assignments have been seen so far.
    let (mut begins, mut first) = (true, true);
    while let Some((at, c)) = chars.next() {
        let refuse = |operator: String, meaning, instead| {
            Err(SplitError::Operator { operator, position: at, meaning, instead })
        };
        if begins && first && assigns(command.get(at..).unwrap_or_default()) {
            return refuse(
                "`NAME=value`".to_owned(),
                "set a variable of the environment",
                "begin with the program",
            );
        }
        match c {
            ' ' | '\t' => {
                if !begins {
                    first = false;
                }
                begins = true;
                continue;
            }
            '\'' => quoted(at, &mut chars)?,
            '"' => double(at, &mut chars)?,
            '\\' => match chars.next() {
                None => return Err(SplitError::Unclosed { what: "backslash", position: at }),
                Some((_, '\n')) => {
                    return refuse(
                        "a newline".to_owned(),
                        "go on with the next line",
                        "write it on one line",
                    );
                }
                Some(_) => {}
            },
            '$' => dollar(at, chars.peek().map(|(_, c)| *c))?,
            '~' if begins => {
                return refuse("`~`".to_owned(), "become a home directory", "name a path below the root");
            }
            '#' if begins => return refuse("`#`".to_owned(), "begin a comment", LITERAL),
            '\n' | '\r' => return refuse("a newline".to_owned(), "end the command", ONE),
            _ => {
                if let Some((operator, meaning, instead)) = operator(c, chars.peek().map(|(_, c)| *c)) {
                    return refuse(operator, meaning, instead);
                }
            }
        }
        begins = false;
    }
    Ok(())
}

/// To the closing single quote.
fn quoted(at: usize, chars: &mut impl Iterator<Item = (usize, char)>) -> Result<(), SplitError> {
    if chars.any(|(_, c)| c == '\'') {
        Ok(())
    } else {
        Err(SplitError::Unclosed { what: "quote", position: at })
    }
}

/// To the closing double quote; a shell still expands inside.
fn double(at: usize, chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> Result<(), SplitError> {
    while let Some((inner, c)) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => {
                chars.next();
            }
            '`' => {
                let (meaning, instead) = ("run another command", GIVEN);
                return Err(SplitError::Operator {
                    operator: "a backtick".to_owned(),
                    position: inner,
                    meaning,
                    instead,
                });
            }
            '$' => dollar(inner, chars.peek().map(|(_, c)| *c).filter(|c| !matches!(c, '"' | '\'')))?,
            _ => {}
        }
    }
    Err(SplitError::Unclosed { what: "quote", position: at })
}

/// A `$` is itself only where nothing follows that a shell would expand.
fn dollar(position: usize, next: Option<char>) -> Result<(), SplitError> {
    let (operator, meaning) = match next {
        Some('(') => ("`$(`", "run another command"),
        Some('{') => ("`${`", "become the value of a variable"),
        Some('\'' | '"') => ("`$` before a quote", "quote in a way of its own"),
        Some(c) if c.is_ascii_alphanumeric() || "_@*#?$!-".contains(c) => {
            ("`$`", "become the value of a variable")
        }
        _ => return Ok(()),
    };
    Err(SplitError::Operator { operator: operator.to_owned(), position, meaning, instead: GIVEN })
}

/// Operators by their first character.
fn operator(c: char, next: Option<char>) -> Option<(String, &'static str, &'static str)> {
    let twice = next == Some(c);
    let (meaning, instead) = match c {
        ';' => ("begin another command", ONE),
        '&' if twice => ("run another command when this one succeeds", ONE),
        '&' => ("run the command in the background", "ask for a detached run"),
        '|' if twice => ("run another command when this one fails", ONE),
        '|' => ("give the output to another command", FILES),
        '>' => ("write the output to a file", FILES),
        '<' => ("read a file as input", "name the file as an argument"),
        '`' => ("run another command", GIVEN),
        '(' | ')' => ("run commands in a shell of their own", LITERAL),
        _ => return None,
    };
    let operator = match c {
        '`' => "a backtick".to_owned(),
        _ if twice && matches!(c, ';' | '&' | '|' | '>' | '<') => format!("`{c}{c}`"),
        _ => format!("`{c}`"),
    };
    Some((operator, meaning, instead))
}

/// `NAME=` at the start of a word.
fn assigns(word: &str) -> bool {
    let name = word.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    name > 0
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && word.get(name..).is_some_and(|rest| rest.starts_with('=') || rest.starts_with("+="))
}
