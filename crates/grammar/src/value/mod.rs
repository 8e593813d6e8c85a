//! Kinds of values: what a flag takes and what a positional is.

mod git;
mod go;
mod make;
mod package;
mod path;
mod word;

use std::ops::RangeInclusive;

use contract::RelPath;

use crate::place::Place;
pub use make::variable_chooses;

/// Why a value is not of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Nothing there.
    #[error("it is empty")]
    Empty,
    /// Longer than its kind may be, in bytes.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// Not a number, or not in its range.
    #[error("it is not a number from {0} to {1}")]
    Number(i64, i64),
    /// None of the listed ones.
    #[error("it is none of {0}")]
    NotOneOf(String),
    /// A character that the kind does not have.
    #[error("it has {0:?}")]
    Character(char),
    /// A control, invisible or bidirectional character.
    #[error("it has the control, invisible or bidirectional character U+{0:04X}")]
    Hidden(u32),
    /// An absolute path, a drive or a URL.
    #[error("it is absolute or a URL; name it relative to the directory of the run")]
    Absolute,
    /// `..` out of the root.
    #[error("it leaves the root")]
    Leaves,
    /// The git directory.
    #[error("it lies in git's own directory")]
    GitDirectory,
    /// A place where nothing is written.
    #[error("nothing is written there: {0}")]
    NotWritable(String),
    /// A form that the kind does not have.
    #[error("it {0}")]
    Form(&'static str),
    /// A word inside that is refused.
    #[error("`{word}` {reason}")]
    Word {
        /// The word.
        word: String,
        /// What it would do.
        reason: &'static str,
    },
    /// An item of a list.
    #[error("item {0}: {1}")]
    Item(usize, Box<Unfit>),
    /// None of several kinds.
    #[error("{0}")]
    None(String),
}

type Fits = Result<(), Unfit>;

/// A kind of value, as a grammar's file names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `int`, `int MIN..MAX`: a decimal integer.
    Int(RangeInclusive<i64>),
    /// `number`: a decimal fraction, not negative.
    Number,
    /// `duration`: Go's (`1m30s`), or a number with an optional unit.
    Duration,
    /// `enum A B C`.
    Enum(Vec<String>),
    /// `text`: anything but NUL.
    Text,
    /// `line`: text without control or deceptive characters.
    Line,
    /// `regex`: a pattern of the program's own dialect, at most [`word::MAX_REGEX`] bytes, on one line.
    Regex,
    /// `identifier`: letters, digits and `_.:-`, not beginning with `-`.
    Identifier,
    /// `word`: an identifier that may also have `/`, `@`, `+`, `*` and `,`; not a path that leaves.
    Word,
    /// `selector`: an identifier that may have `-`, `+`, `!` or `^` before it and wildcards in it.
    Selector,
    /// `percent`: `50%`.
    Percent,
    /// `fraction`: `1/3`.
    Fraction,
    /// `empty`: the empty text.
    Empty,
    /// `yamllint-data`: configuration as text that extends only what is built in.
    YamllintData,
    /// `version`: `1.2.3`, `py311`, `>=18`.
    Version,
    /// `path`: below the root.
    Path,
    /// `file`: a path of plain characters, where the program would take others for configuration as text.
    File,
    /// `setting`: `name=value`, both identifiers.
    Setting,
    /// `filter`: a regular expression over paths that is no path that leaves.
    Filter,
    /// `output`: a path below the root that may be written, or `/dev/null`.
    Output,
    /// `glob`: a path with wildcards.
    Glob,
    /// `test-id`: a path, then `::` or `:` and what a test runner calls a place in it.
    TestId,
    /// `pathspec`: git's.
    Pathspec,
    /// `ref`: a name that git would let a branch have.
    Ref,
    /// `revision`: one commit or object, `HEAD~2`, `main:src/a.rs`.
    Revision,
    /// `range`: `a..b`, `a...b`.
    Range,
    /// `pretty`: a format of git's output that runs nothing.
    Pretty,
    /// `lines`: git's `-L`.
    Lines,
    /// `go-package`.
    GoPackage,
    /// `go-ldflags`.
    GoLdflags,
    /// `go-gcflags`.
    GoGcflags,
    /// `go-benchtime`: a duration or `100x`.
    GoBenchtime,
    /// `npm-package`.
    NpmPackage,
    /// `python-package`.
    PythonPackage,
    /// `cargo-package`.
    CargoPackage,
    /// `assignment`: a variable for make.
    Assignment,
    /// `target`: of make.
    Target,
    /// `list KIND`: separated by commas.
    List(Box<Kind>),
    /// `safe KIND`: without anything that a shell acts on, for what a package manager hands to one.
    Safe(Box<Kind>),
    /// `after PREFIX KIND`.
    After(String, Box<Kind>),
    /// `KIND or KIND`.
    Any(Vec<Kind>),
}

/// A kind of value by its name, for whoever holds words to one outside a grammar's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueKind(Kind);

impl ValueKind {
    /// The kind that a grammar's file would call so; `None` when there is none.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Kind::parse(name).map(Self)
    }

    /// Whether `value` is of this kind, where a program runs in `place`.
    pub fn check(&self, value: &str, place: &Place) -> Result<(), Unfit> {
        if value.contains('\0') {
            return Err(Unfit::Character('\0'));
        }
        self.0.check(value, At { place })
    }
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) place: &'a Place,
}

impl Kind {
    /// Reads a kind as a file writes it; `None` when there is no such kind.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.contains(" or ") {
            return text.split(" or ").map(Self::parse).collect::<Option<Vec<_>>>().map(Self::Any);
        }
        let (name, rest) = text.split_once(' ').map_or((text, ""), |(name, rest)| (name, rest.trim()));
        let kind = match (name, rest) {
            ("int", "") => Self::Int(0..=i64::from(i32::MAX)),
            ("int", range) => {
                let (min, max) = range.split_once("..")?;
                Self::Int(min.parse().ok()?..=max.parse().ok()?)
            }
            ("enum", values) if !values.is_empty() => {
                Self::Enum(values.split_whitespace().map(str::to_owned).collect())
            }
            ("list", inner) => Self::List(Box::new(Self::parse(inner)?)),
            ("safe", inner) => Self::Safe(Box::new(Self::parse(inner)?)),
            ("after", inner) => {
                let (prefix, inner) = inner.split_once(' ')?;
                Self::After(prefix.to_owned(), Box::new(Self::parse(inner)?))
            }
            ("number", "") => Self::Number,
            ("duration", "") => Self::Duration,
            ("text", "") => Self::Text,
            ("line", "") => Self::Line,
            ("regex", "") => Self::Regex,
            ("identifier", "") => Self::Identifier,
            ("word", "") => Self::Word,
            ("selector", "") => Self::Selector,
            ("percent", "") => Self::Percent,
            ("fraction", "") => Self::Fraction,
            ("empty", "") => Self::Empty,
            ("yamllint-data", "") => Self::YamllintData,
            ("version", "") => Self::Version,
            ("path", "") => Self::Path,
            ("file", "") => Self::File,
            ("setting", "") => Self::Setting,
            ("filter", "") => Self::Filter,
            ("output", "") => Self::Output,
            ("glob", "") => Self::Glob,
            ("test-id", "") => Self::TestId,
            ("pathspec", "") => Self::Pathspec,
            ("ref", "") => Self::Ref,
            ("revision", "") => Self::Revision,
            ("range", "") => Self::Range,
            ("pretty", "") => Self::Pretty,
            ("lines", "") => Self::Lines,
            ("go-package", "") => Self::GoPackage,
            ("go-ldflags", "") => Self::GoLdflags,
            ("go-gcflags", "") => Self::GoGcflags,
            ("go-benchtime", "") => Self::GoBenchtime,
            ("npm-package", "") => Self::NpmPackage,
            ("python-package", "") => Self::PythonPackage,
            ("cargo-package", "") => Self::CargoPackage,
            ("assignment", "") => Self::Assignment,
            ("target", "") => Self::Target,
            _ => return None,
        };
        Some(kind)
    }

    /// Whether `value` is of this kind.
    pub(crate) fn check(&self, value: &str, at: At<'_>) -> Fits {
        match self {
            Self::Int(range) => word::int(value, range),
            Self::Number => word::number(value),
            Self::Duration => word::duration(value),
            Self::Enum(values) => {
                if values.iter().any(|v| v == value) {
                    Ok(())
                } else {
                    Err(Unfit::NotOneOf(values.join(", ")))
                }
            }
            Self::Text => Ok(()),
            Self::Line => word::line(value),
            Self::Regex => word::regex(value),
            Self::Identifier => word::identifier(value),
            Self::Word => word::word(value),
            Self::Selector => word::selector(value),
            Self::Percent => word::percent(value),
            Self::Fraction => word::fraction(value),
            Self::Empty => {
                if value.is_empty() {
                    Ok(())
                } else {
                    Err(Unfit::Form("is not empty"))
                }
            }
            Self::YamllintData => word::yamllint_data(value),
            Self::Version => word::version(value),
            Self::Path => path::path(value, at.place).map(|_| ()),
            Self::Filter => path::filter(value, at.place),
            Self::File => path::file(value, at.place),
            Self::Setting => word::setting(value),
            Self::Output => path::output(value, at.place).map(|_| ()),
            Self::Glob => path::glob(value, at.place),
            Self::TestId => path::test_id(value, at.place),
            Self::Pathspec => git::pathspec(value, at.place),
            Self::Ref => git::reference(value),
            Self::Revision => git::revision(value),
            Self::Range => git::range(value),
            Self::Pretty => git::pretty(value),
            Self::Lines => git::lines(value, at.place),
            Self::GoPackage => go::package(value, at.place),
            Self::GoLdflags => go::ldflags(value),
            Self::GoGcflags => go::gcflags(value),
            Self::GoBenchtime => go::benchtime(value),
            Self::NpmPackage => package::npm(value),
            Self::PythonPackage => package::python(value),
            Self::CargoPackage => package::cargo(value),
            Self::Assignment => make::assignment(value, at.place),
            Self::Target => make::target(value, at.place),
            Self::List(inner) => value
                .split(',')
                .enumerate()
                .try_for_each(|(i, item)| inner.check(item, at).map_err(|e| Unfit::Item(i + 1, Box::new(e)))),
            Self::Safe(inner) => word::shell_safe(value).and_then(|()| inner.check(value, at)),
            Self::After(prefix, inner) => match value.strip_prefix(prefix.as_str()) {
                Some(rest) => inner.check(rest, at),
                None => Err(Unfit::NotOneOf(format!("{prefix}…"))),
            },
            Self::Any(kinds) => Self::any(kinds, value, at),
        }
    }

    /// What `value`, which was accepted, lets the program write.
    pub(crate) fn written(&self, value: &str, at: At<'_>) -> Vec<RelPath> {
        match self {
            Self::Output => path::output(value, at.place).ok().flatten().into_iter().collect(),
            Self::Path => {
                path::path(value, at.place).ok().and_then(|p| RelPath::new(&p).ok()).into_iter().collect()
            }
            Self::List(inner) => value.split(',').flat_map(|item| inner.written(item, at)).collect(),
            Self::After(prefix, inner) => {
                value.strip_prefix(prefix.as_str()).map(|rest| inner.written(rest, at)).unwrap_or_default()
            }
            Self::Any(kinds) => Self::judges(kinds, value)
                .find(|kind| kind.check(value, at).is_ok())
                .map(|kind| kind.written(value, at))
                .unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Whether a positional of this kind may begin with `-` behind `--`: names of files may.
    pub(crate) fn may_begin_with_dash(&self) -> bool {
        match self {
            Self::Path | Self::File | Self::Glob | Self::Pathspec | Self::Output => true,
            Self::Safe(inner) => inner.may_begin_with_dash(),
            Self::Any(kinds) => kinds.iter().any(Self::may_begin_with_dash),
            _ => false,
        }
    }

    /// Whether its values are flags for another program, which begin with `-` by nature.
    pub(crate) fn is_of_flags(&self) -> bool {
        match self {
            Self::GoLdflags | Self::GoGcflags => true,
            Self::List(inner) => **inner == Self::Selector,
            _ => false,
        }
    }

    /// The kinds that may judge `value`: where one has a prefix that it begins with, the program reads it that way, and
    /// no other kind may let it pass.
    fn judges<'a>(kinds: &'a [Self], value: &'a str) -> impl Iterator<Item = &'a Self> {
        let prefixed =
            |kind: &Self| matches!(kind, Self::After(prefix, _) if value.starts_with(prefix.as_str()));
        let decided = kinds.iter().any(prefixed);
        kinds.iter().filter(move |kind| !decided || prefixed(kind) || matches!(kind, Self::Enum(_)))
    }

    fn any(kinds: &[Self], value: &str, at: At<'_>) -> Fits {
        let mut reasons: Vec<String> = Vec::new();
        for kind in Self::judges(kinds, value) {
            match kind.check(value, at) {
                Ok(()) => return Ok(()),
                Err(unfit) => {
                    let reason = unfit.to_string();
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
        Err(Unfit::None(reasons.join("; or ")))
    }
}
