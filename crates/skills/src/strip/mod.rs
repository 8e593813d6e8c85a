//! Types out of TypeScript, by writing spaces over them.
//!
//! Nothing moves: lines and columns of what runs are the file's own, so that no source map is needed. What has a meaning at run
//! time besides its type is refused with its place, by the same rule that Node's type stripping has: `enum`, namespaces
//! with values, parameter properties, decorators, `import =`, `export =`; JSX as well.
//!
//! Where spaces alone would join two statements, or make a line end where the grammar allows none, a semicolon is written, or
//! a parenthesis is moved, within what was blanked. What comes out is parsed once more: it is JavaScript whose tree is that of
//! the source without types, or it is refused.

mod erase;
mod members;
mod nesting;
pub(crate) mod shape;
mod sheet;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{Parser, ParserReturn};
use oxc_span::SourceType;
use serde::{Deserialize, Serialize};

use crate::imports::{self, Export, Found, Import};
use crate::limits;

/// Bytes of stack of the thread that parses: it is recursive, and so is what walks over what it made. Memory that is not
/// touched is not used.
const STACK_BYTES: usize = 128 << 20;

/// What is said where spaces would make another program.
const CHANGED: &str = "without its types this would mean something else: put parentheses around what `as`, `satisfies` or `!` is said of";

/// What a file is written in, which its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `.js`, `.mjs`.
    JavaScript,
    /// `.ts`, `.mts`.
    TypeScript,
}

impl Dialect {
    /// By the file's name; `None` for what is not run: `.cjs`, `.cts`, JSX, declarations, other files.
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" if stem.rsplit_once('.').is_none_or(|(_, last)| last != "d") => {
                Some(Self::TypeScript)
            }
            _ => None,
        }
    }

    fn source_type(self) -> SourceType {
        match self {
            Self::JavaScript => SourceType::mjs(),
            Self::TypeScript => SourceType::ts().with_module(true),
        }
    }
}

/// Why a file is not run, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{line}:{column}: {message}")]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What is wrong, and what to write instead where there is something.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in UTF-16 units, from 1.
    pub column: u32,
}

impl Refusal {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = place(text, offset);
        Self { message: message.into(), line, column }
    }
}

/// A file that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// The text without types, as long as it was, with the same lines and columns.
    pub text: String,
    /// What it imports when it runs, in the order of the file.
    pub imports: Vec<Import>,
    /// What it exports when it runs, in the order of the file.
    pub exports: Vec<Export>,
}

/// Takes the types out of a file, and says what it imports and exports.
///
/// The text is read on a thread of its own, with a stack of 128 MiB. Texts above [`limits::FILE_BYTES`] are refused, as are those
/// that nest deeper than people write. Time is linear for what people write; the parser's own worst cases (types that
/// look like comparisons) are bounded by the length alone, which is why this runs in a process that can be killed.
pub fn strip(path: &str, text: &str) -> Result<Stripped, Refusal> {
    let Some(dialect) = Dialect::of(path) else {
        let message = "only .ts, .mts, .js and .mjs files are run (no JSX, no `.cjs`, no declarations)";
        return Err(Refusal::at(text, 0, message));
    };
    if text.len() > limits::FILE_BYTES {
        let message = format!("the file is longer than {} bytes", limits::FILE_BYTES);
        return Err(Refusal::at(text, 0, message));
    }
    nesting::check(text)?;
    let read = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, || read(text, dialect)).ok().and_then(|thread| thread.join().ok())
    });
    read.unwrap_or_else(|| Err(Refusal::at(text, 0, "the parser could not read this file")))
}

fn read(text: &str, dialect: Dialect) -> Result<Stripped, Refusal> {
    let blanked = match dialect {
        Dialect::JavaScript => None,
        Dialect::TypeScript => Some(parsed(text, dialect, |program| erase::types(text, program))??),
    };
    let made = blanked.as_ref().map_or(text, |(made, _)| made);
    let Found { imports, exports, shape: after, .. } =
        parsed(made, Dialect::JavaScript, |program| imports::of(made, program))?;
    if imports.len() > limits::IMPORTS || exports.len() > limits::IMPORTS {
        let message = format!("the file imports or exports more than {} names", limits::IMPORTS);
        return Err(Refusal::at(text, 0, message));
    }
    let text = match blanked {
        None => text.to_owned(),
        Some((made, before)) => match before.differs(&after) {
            None => made,
            Some(at) => return Err(Refusal::at(text, at, CHANGED)),
        },
    };
    Ok(Stripped { text, imports, exports })
}

/// Parses a text that must have no error at all.
fn parsed<T>(text: &str, dialect: Dialect, use_it: impl FnOnce(&Program<'_>) -> T) -> Result<T, Refusal> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, dialect.source_type()).parse();
    match first_error(text, &parsed) {
        Some(refusal) => Err(refusal),
        None => Ok(use_it(&parsed.program)),
    }
}

fn first_error(text: &str, parsed: &ParserReturn<'_>) -> Option<Refusal> {
    let Some(error) = parsed.diagnostics.first() else {
        return parsed.panicked.then(|| Refusal::at(text, 0, "this is no JavaScript or TypeScript"));
    };
    let offset = error.labels.first().map_or(0, |label| label.offset() as usize);
    let mut message = error.message.to_string();
    if let Some(help) = &error.help {
        message = format!("{message} ({help})");
    }
    Some(Refusal::at(text, offset, limits::cut(&message, limits::MESSAGE_BYTES)))
}

/// Line and column of a position, both from 1, the column in UTF-16 units.
pub(crate) fn place(text: &str, offset: usize) -> (u32, u32) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or_default();
    let mut line = 1_u32;
    let mut start = 0;
    let mut chars = before.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let ends = match char {
            '\n' | '\u{2028}' | '\u{2029}' => true,
            '\r' => chars.peek().is_none_or(|(_, next)| *next != '\n'),
            _ => false,
        };
        if ends {
            line = line.saturating_add(1);
            start = at + char.len_utf8();
        }
    }
    let column = before.get(start..).unwrap_or_default().encode_utf16().count() + 1;
    (line, u32::try_from(column).unwrap_or(u32::MAX))
}
