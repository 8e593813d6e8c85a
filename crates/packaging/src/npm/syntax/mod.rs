//! Reading JavaScript and TypeScript.
//!
//! The parser (oxc) is recursive and unbounded; [`nesting`] keeps from it what would run out of stack, and [`with_stack`]
//! gives it a stack that is large enough for the rest.

mod nesting;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

/// Bytes of the longest source that is read: TypeScript itself is 9 MiB.
const MAX_SOURCE_BYTES: usize = 12 << 20;

/// Bytes of stack that reading takes at most: what nests as deep as [`nesting`] allows took less than a fifth of it in a
/// build without optimisation. Memory that is not touched is not used.
const STACK_BYTES: usize = 256 << 20;

/// Why a source is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Unreadable {
    /// It is longer than 12 MiB.
    #[error("it is longer than 12 MiB")]
    Long,
    /// It nests deeper than any source that people or their tools write.
    #[error("it nests too deep")]
    Deep,
    /// Its brackets, strings and regular expressions cannot be told apart without doubt.
    #[error("its brackets, strings and regular expressions cannot be told apart")]
    Unclear,
    /// It is neither JavaScript nor TypeScript; JSX is not read.
    #[error("it is not JavaScript or TypeScript that can be parsed")]
    Syntax,
}

/// How a source is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A script or a module, whichever it turns out to be.
    JavaScript,
    TypeScript,
    /// TypeScript's declarations.
    Declarations,
}

impl Dialect {
    /// By a file's name.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        if ends(&[".d.ts", ".d.mts", ".d.cts"])
            || (ends(&[".ts"]) && path.rsplit('/').next()?.contains(".d."))
        {
            Some(Self::Declarations)
        } else if ends(&[".ts", ".tsx", ".mts", ".cts"]) {
            Some(Self::TypeScript)
        } else if ends(&[".js", ".jsx", ".mjs", ".cjs"]) {
            Some(Self::JavaScript)
        } else {
            None
        }
    }

    fn attempts(self) -> &'static [fn() -> SourceType] {
        match self {
            Self::JavaScript => &[SourceType::unambiguous, SourceType::cjs],
            Self::TypeScript => &[SourceType::ts],
            Self::Declarations => &[SourceType::d_ts],
        }
    }
}

/// Runs something on a stack that reading can have; `None` when the system gives no thread, or when it panicked.
pub(crate) fn with_stack<T: Send>(run: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run).ok()?;
        thread.join().ok()
    })
}

/// The text of a file as TypeScript takes it: without a byte order mark, what is no UTF-8 replaced.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

/// Parses a source and hands over what it is. Must run within [`with_stack`]. Parentheses are not kept.
pub(crate) fn read<T>(
    text: &str,
    dialect: Dialect,
    mut use_program: impl FnMut(&Program<'_>) -> T,
) -> Result<T, Unreadable> {
    if text.len() > MAX_SOURCE_BYTES {
        return Err(Unreadable::Long);
    }
    nesting::check(text, dialect != Dialect::JavaScript)?;
    let options = ParseOptions {
        allow_return_outside_function: true,
        preserve_parens: false,
        ..ParseOptions::default()
    };
    for source_type in dialect.attempts() {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, text, source_type()).with_options(options).parse();
        if !parsed.panicked {
            return Ok(use_program(&parsed.program));
        }
    }
    Err(Unreadable::Syntax)
}
