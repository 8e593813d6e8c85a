//! What is wrong, where, and what to do about it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use serde::Serialize;

use crate::json;
use crate::tree::Dialect;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The output is right, but something is worth changing.
    Warning,
    /// There is no output.
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable name, such as `alias-cycle`.
    pub code: &'static str,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message, code, .. } = self;
        let word = if self.severity == Severity::Error { "error" } else { "warning" };
        write!(f, "{file}:{line}:{column}: {word}[{code}]: {message}")?;
        if self.fix.is_empty() { Ok(()) } else { write!(f, " ({})", self.fix) }
    }
}

/// Where something stands: a file's number and a byte offset, or in a [numbered](Diagnostics::number) file the number of
/// the node or key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct At {
    pub(crate) file: u32,
    pub(crate) offset: u32,
}

#[derive(Debug, Clone)]
struct File {
    name: String,
    text: String,
    places: Places,
    /// Where lines begin and, in a numbered file, where the nodes stand; found when something is first said.
    table: OnceLock<Table>,
}

/// What an [`At`] of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
    Unread,
    Offsets,
    Numbers,
}

#[derive(Debug, Clone)]
struct Table {
    lines: Vec<usize>,
    offsets: Vec<u32>,
}

/// All findings, and the texts that they point into.
#[derive(Debug, Default, Clone)]
pub struct Diagnostics {
    files: Vec<File>,
    found: Vec<(At, Diagnostic)>,
    /// The objects that were read as trees of tokens.
    roots: BTreeSet<(At, Dialect)>,
}

impl File {
    fn table(&self) -> &Table {
        self.table.get_or_init(|| Table {
            lines: std::iter::once(0).chain(self.text.match_indices('\n').map(|(i, _)| i + 1)).collect(),
            offsets: if self.places == Places::Numbers { json::offsets(&self.text) } else { Vec::new() },
        })
    }

    /// The byte where what an [`At`] of this file tells of begins.
    fn byte(&self, at: u32) -> usize {
        let offset = match self.places {
            Places::Numbers => self.table().offsets.get(at as usize).copied().unwrap_or(0),
            Places::Unread | Places::Offsets => at,
        };
        (offset as usize).min(self.text.len())
    }

    /// Line and column, from 1; columns are characters.
    fn place(&self, offset: usize) -> (u32, u32) {
        let table = self.table();
        let line = table.lines.partition_point(|start| *start <= offset);
        let start = table.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

impl Diagnostics {
    pub(crate) fn add_file(&mut self, name: &str, text: &str) -> u32 {
        if let Some(known) = self.files.iter().position(|f| f.name == name) {
            return u32::try_from(known).unwrap_or(u32::MAX);
        }
        let (name, text) = (name.to_owned(), text.to_owned());
        self.files.push(File { name, text, places: Places::Unread, table: OnceLock::new() });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    /// From now on, places in `file` are the numbers of its nodes and keys.
    pub(crate) fn number(&mut self, file: u32) {
        self.set(file, Places::Numbers);
    }

    /// From now on, places in `file` are byte offsets.
    pub(crate) fn keep_places(&mut self, file: u32) {
        self.set(file, Places::Offsets);
    }

    /// Whether places in `file` are known to be byte offsets.
    pub(crate) fn has_places(&self, file: u32) -> bool {
        self.files.get(file as usize).is_some_and(|f| f.places == Places::Offsets)
    }

    fn set(&mut self, file: u32, places: Places) {
        if let Some(file) = self.files.get_mut(file as usize) {
            file.places = places;
        }
    }

    pub(crate) fn error(
        &mut self,
        at: At,
        code: &'static str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(Severity::Error, at, code, message.into(), fix.into());
    }

    pub(crate) fn warn(
        &mut self,
        at: At,
        code: &'static str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(Severity::Warning, at, code, message.into(), fix.into());
    }

    fn add(&mut self, severity: Severity, at: At, code: &'static str, message: String, fix: String) {
        let (file, line, column) = self.place(at);
        let diagnostic = Diagnostic { severity, code, file, line, column, message, fix };
        self.found.push((at, diagnostic));
    }

    pub(crate) fn place(&self, at: At) -> (String, u32, u32) {
        let Some(file) = self.files.get(at.file as usize) else { return (String::new(), 1, 1) };
        let (line, column) = file.place(file.byte(at.offset));
        (file.name.clone(), line, column)
    }

    /// The number of the file and the byte that `at` tells of; `None` where it is no place in a file.
    pub(crate) fn byte(&self, at: At) -> Option<(usize, usize)> {
        let file = self.files.get(at.file as usize)?;
        Some((at.file as usize, file.byte(at.offset)))
    }

    /// Line and column of a byte of a file, from 1; columns are characters.
    pub(crate) fn place_of_byte(&self, file: usize, byte: usize) -> (u32, u32) {
        self.files.get(file).map_or((1, 1), |file| file.place(byte.min(file.text.len())))
    }

    /// Name and text of every file that was read, in the order in which they were.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|file| (file.name.as_str(), file.text.as_str()))
    }

    /// Notes that the object at `at` was read as a tree of tokens.
    pub(crate) fn add_root(&mut self, at: At, dialect: Dialect) {
        self.roots.insert((at, dialect));
    }

    /// The objects that were read as trees of tokens, each once.
    pub(crate) const fn roots(&self) -> &BTreeSet<(At, Dialect)> {
        &self.roots
    }

    /// The findings with their places, in the order of the files and places, each once.
    pub(crate) fn found(&self) -> Vec<(At, Diagnostic)> {
        let mut found = self.found.clone();
        found.sort_by(|a, b| (a.0, a.1.code, &a.1.message).cmp(&(b.0, b.1.code, &b.1.message)));
        found.dedup();
        found
    }

    /// Whether anything is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, d)| d.severity == Severity::Error)
    }

    /// The findings in the order of the files and places, each once.
    #[must_use]
    pub fn sorted(&self) -> Vec<Diagnostic> {
        self.found().into_iter().map(|(_, d)| d).collect()
    }
}
