//! What is wrong, where, and what to do about it.

use std::fmt;

use serde::Serialize;

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

/// Where something stands: a file's number and a byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct At {
    pub(crate) file: u32,
    pub(crate) offset: u32,
}

/// All findings, and the texts that they point into.
#[derive(Debug, Default, Clone)]
pub struct Diagnostics {
    files: Vec<(String, String)>,
    found: Vec<(At, Diagnostic)>,
}

impl Diagnostics {
    pub(crate) fn add_file(&mut self, name: &str, text: &str) -> u32 {
        if let Some(known) = self.files.iter().position(|(n, _)| n == name) {
            return u32::try_from(known).unwrap_or(u32::MAX);
        }
        self.files.push((name.to_owned(), text.to_owned()));
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
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
        let Some((name, text)) = self.files.get(at.file as usize) else { return (String::new(), 1, 1) };
        let offset = (at.offset as usize).min(text.len());
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (name.clone(), u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// Whether anything is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, d)| d.severity == Severity::Error)
    }

    /// The findings in the order of the files and places, each once.
    #[must_use]
    pub fn sorted(&self) -> Vec<Diagnostic> {
        let mut found = self.found.clone();
        found.sort_by(|a, b| (a.0, a.1.code, &a.1.message).cmp(&(b.0, b.1.code, &b.1.message)));
        found.dedup();
        found.into_iter().map(|(_, d)| d).collect()
    }
}
