//! Documents made from a repository: the same repository gives the same bytes, on any day and machine.

mod api;
mod data;
mod instructions;
mod openapi;
mod prisma;
mod schema;
mod sql;

use crate::ground::Ground;
use crate::mark::{self, Source};
use crate::requirement::{Generator, Requirement};

/// Longest document that is made, in bytes; a store takes twice that.
pub const MAX_DOCUMENT: usize = 512 * 1024;

/// Most files that one document is made from.
pub const MAX_SOURCES: usize = 500;

/// A document that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The whole text, its mark first.
    pub text: String,
    /// What it was made from, sorted by path.
    pub sources: Vec<Source>,
    /// What could not be read or had no room, one line each. The document says so too.
    pub left_out: Vec<String>,
}

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// Nothing makes it.
    #[error("nothing makes the document {0:?}: write it, or set `generate` in [documents]")]
    NoGenerator(String),
    /// There is nothing to make it from.
    #[error("there is nothing to make the document {name:?} from: no file is named like {globs}")]
    NoSources {
        /// The document.
        name: String,
        /// What was looked for.
        globs: String,
    },
    /// What there is says nothing.
    #[error("the document {name:?} cannot be made: {why}")]
    Nothing {
        /// The document.
        name: String,
        /// Of each source, what is wrong.
        why: String,
    },
}

/// What a generator says, without its mark.
pub(crate) struct Body {
    pub(crate) text: String,
    pub(crate) left_out: Vec<String>,
    /// Whether anything was found to say.
    pub(crate) says: bool,
}

/// Makes the document that a requirement asks for.
pub fn generate(ground: &Ground<'_>, requirement: &Requirement) -> Result<Made, GenerateError> {
    let name = || requirement.name.clone();
    let Some(generator) = requirement.generate else { return Err(GenerateError::NoGenerator(name())) };
    let mut paths = ground.matching(&requirement.sources);
    // A document is no source of itself.
    paths.retain(|path| !requirement.paths.contains(path));
    let more = paths.split_off(paths.len().min(MAX_SOURCES));
    if paths.is_empty() && generator != Generator::Instructions {
        return Err(GenerateError::NoSources { name: name(), globs: requirement.sources.join(", ") });
    }
    let sources = ground.sources(&paths);
    let mut body = match generator {
        Generator::Instructions => instructions::body(ground),
        Generator::Api => api::body(&sources),
        Generator::Schema => schema::body(&sources),
    };
    let read: Vec<Source> = sources.into_iter().map(|(source, _)| source).collect();
    for path in paths.iter().filter(|path| !read.iter().any(|s| s.path == **path)) {
        body.left_out.push(format!("{path}: too large, or not UTF-8"));
    }
    if !more.is_empty() {
        body.left_out.push(format!("{} files more than the {MAX_SOURCES} that are read", more.len()));
    }
    if !body.says {
        let why = if body.left_out.is_empty() {
            "its sources are empty".to_owned()
        } else {
            body.left_out.join("; ")
        };
        return Err(GenerateError::Nothing { name: name(), why });
    }
    let text = mark::write(&requirement.name, &read, &finished(body.text, &mut body.left_out, &read));
    Ok(Made { text, sources: read, left_out: body.left_out })
}

/// With what was left out and where it is from, within [`MAX_DOCUMENT`].
fn finished(mut text: String, left_out: &mut Vec<String>, sources: &[Source]) -> String {
    if text.len() > MAX_DOCUMENT {
        let end = text.floor_char_boundary(MAX_DOCUMENT);
        let end = text.get(..end).and_then(|t| t.rfind("\n\n")).unwrap_or(end);
        text.truncate(end);
        text.push_str("\n\n");
        left_out.push(format!("what follows: the document would be longer than {} KiB", MAX_DOCUMENT / 1024));
    }
    if !left_out.is_empty() {
        text.push_str("## Left out\n\n");
        for line in left_out.iter().take(MAX_LEFT_OUT) {
            text.push_str(&format!("- {}\n", crate::md::text(line, 300)));
        }
        if let Some(more) = left_out.len().checked_sub(MAX_LEFT_OUT).filter(|more| *more > 0) {
            text.push_str(&format!("- and {more} more\n"));
        }
        text.push('\n');
    }
    let named: Vec<String> = sources.iter().take(MAX_NAMED).map(|s| crate::md::code(&s.path)).collect();
    let more = sources.len().saturating_sub(MAX_NAMED);
    let from = match (named.is_empty(), more) {
        (true, _) => "what is in the repository".to_owned(),
        (false, 0) => named.join(", "),
        (false, more) => format!("{} and {more} more", named.join(", ")),
    };
    text.push_str(&format!(
        "---\n\nMade by Gatewright from {from}. Once edited it is yours: it is checked from then on, never written again.\n"
    ));
    text
}

/// How many lines of what was left out, and sources, a document names.
const MAX_LEFT_OUT: usize = 50;
const MAX_NAMED: usize = 12;
