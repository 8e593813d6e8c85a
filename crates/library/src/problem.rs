//! What is wrong in a file, and where.

use serde::{Deserialize, Serialize};

use crate::text::shown;

/// Most problems that are kept of one file; [`Problems::more`] counts the others.
pub const MAX_PROBLEMS: usize = 100;

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A file's or folder's name fits no id.
    NameInvalid,
    /// A category that is none of the seven. The pattern is there all the same.
    CategoryInvalid,
    /// Code or metadata without the `.md` that makes it a pattern.
    DocumentMissing,
    /// Two files claim the same place; the message says which is taken.
    Ambiguous,
    /// More than is read of such a file.
    TooLarge,
    /// Front matter that is no plain YAML mapping.
    FrontMatterInvalid,
    /// A field that is missing, or is not what it must be.
    FieldInvalid,
    /// A score that cannot be read.
    QualityInvalid,
    /// A stated score that its own criteria contradict.
    QualityMismatch,
    /// Declared parameters that are no schema.
    SchemaInvalid,
    /// Something that a skill asks for, and that cannot be read.
    GrantInvalid,
    /// A stated id that is not the file's own.
    IdMismatch,
    /// A line of notes that is none, or refers to what is not there.
    NoteInvalid,
    /// A session's file that cannot be read as one.
    SessionInvalid,
    /// A skill that can be found and loaded, but is not served to clients that take skills whole.
    NotServed,
}

impl Code {
    /// Whether the file is of use all the same: what is wrong is told, and nothing is left out for it.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::CategoryInvalid
                | Self::DocumentMissing
                | Self::Ambiguous
                | Self::QualityMismatch
                | Self::IdMismatch
                | Self::NotServed
        )
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NameInvalid => "name_invalid",
            Self::CategoryInvalid => "category_invalid",
            Self::DocumentMissing => "document_missing",
            Self::Ambiguous => "ambiguous",
            Self::TooLarge => "too_large",
            Self::FrontMatterInvalid => "front_matter_invalid",
            Self::FieldInvalid => "field_invalid",
            Self::QualityInvalid => "quality_invalid",
            Self::QualityMismatch => "quality_mismatch",
            Self::SchemaInvalid => "schema_invalid",
            Self::GrantInvalid => "grant_invalid",
            Self::IdMismatch => "id_mismatch",
            Self::NoteInvalid => "note_invalid",
            Self::SessionInvalid => "session_invalid",
            Self::NotServed => "not_served",
        }
    }
}

/// One problem of one file. It is never fatal: the file is left out, or that part of it, and the others go on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// Path as it was given, control and bidirectional characters escaped.
    pub file: String,
    /// From 1; absent where the file's name or place is what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In characters from 1, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What kind it is.
    pub code: Code,
    /// What is wrong and what to do about it; what is quoted from the file is cut and made visible.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {} ({})", self.message, self.code.as_str())
    }
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: u32,
    /// In characters from 1.
    pub column: Option<u32>,
}

impl Place {
    /// A line as a whole.
    pub fn line(line: u32) -> Self {
        Self { line, column: None }
    }
}

/// The problems of one file as they are found, at most [`MAX_PROBLEMS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    file: String,
    found: Vec<Problem>,
    more: usize,
}

impl Problems {
    /// None yet, of this file.
    pub fn of(file: &str) -> Self {
        Self { file: shown(file), found: Vec::new(), more: 0 }
    }

    /// Something is wrong at a place of the text.
    pub fn at(&mut self, place: Place, code: Code, message: impl Into<String>) {
        self.push(Some(place.line), place.column, code, message.into());
    }

    /// Something is wrong with the file itself.
    pub fn whole(&mut self, code: Code, message: impl Into<String>) {
        self.push(None, None, code, message.into());
    }

    fn push(&mut self, line: Option<u32>, column: Option<u32>, code: Code, message: String) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push(Problem { file: self.file.clone(), line, column, code, message });
        } else {
            self.more += 1;
        }
    }

    /// Those that were kept, in the order in which they were found.
    pub fn found(&self) -> &[Problem] {
        &self.found
    }

    /// How many were found beyond [`MAX_PROBLEMS`].
    pub fn more(&self) -> usize {
        self.more
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Those that were kept.
    pub fn into_found(self) -> Vec<Problem> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_written_as_it_says() {
        for code in [
            Code::NameInvalid,
            Code::TooLarge,
            Code::SessionInvalid,
            Code::FrontMatterInvalid,
            Code::NotServed,
        ] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn problems_of_one_file_are_bounded_and_counted() {
        let mut problems = Problems::of("a\u{202e}b\0.md");
        for line in 1..=150 {
            problems.at(Place::line(line), Code::FieldInvalid, "x");
        }
        assert_eq!((problems.found().len(), problems.more()), (MAX_PROBLEMS, 50));
        assert_eq!(problems.found()[0].file, "a\\u{202e}b\\u{0}.md");
        assert_eq!(problems.found()[4].to_string(), "a\\u{202e}b\\u{0}.md:5: x (field_invalid)");
    }
}
