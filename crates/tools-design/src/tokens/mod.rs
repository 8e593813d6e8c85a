//! What the tools that read design tokens have in common: where tokens come from, and how they differ.

pub(crate) mod changes;
mod source;

pub(crate) use source::{Committed, Files, From, usual, usual_below};

use contract::text::counted;
use contract::{Code, Fault};
use design_tokens::{Compiled, Diagnostic, Options, Severity};
use kit::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use source::sources;

/// How many errors a fault spells out.
const ERRORS: usize = 20;

/// How many entries are listed of each kind.
pub(crate) const LISTED: usize = 40;

/// `[tokens]` in `gatewright.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct TokensSection(pub(crate) Options);

impl Section for TokensSection {
    const NAME: &'static str = "tokens";
}

/// The files that `source` means: a file, a folder, a glob or a resolver document. A mode's own file is laid over the default,
/// and is no part of it.
pub(crate) fn named(source: &str, files: &dyn Files, options: &Options) -> Result<Vec<String>, Fault> {
    let mut sources = sources(source, files)?;
    if sources.len() > 1 {
        sources.retain(|s| !options.modes.iter().any(|m| m.sources.contains(s)));
    }
    Ok(sources)
}

/// Reads what `source` means.
pub(crate) fn read(source: &str, files: &dyn Files, options: &Options) -> Result<Compiled, Fault> {
    let sources = named(source, files, options)?;
    design_tokens::compile(&sources, &From(files), options).map_err(|d| failed(&d))
}

/// Reads what `source` meant in a commit: the same place, else where tokens usually are, else nothing: then all of today's are
/// new.
pub(crate) fn earlier(source: &str, commit: &Committed<'_>, options: &Options) -> Result<Compiled, Fault> {
    let missing = match read(source, commit, options) {
        Err(fault) if fault.code == Code::NotFound => source::usual_then(commit)?,
        other => return other,
    };
    match missing {
        Some(usual) => read(&usual, commit, options),
        None => Ok(Compiled::default()),
    }
}

fn failed(diagnostics: &[Diagnostic]) -> Fault {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    let mut message = format!("{} in the token files; nothing was written", counted(errors.len(), "error"));
    for error in errors.iter().take(ERRORS) {
        message.push_str(&format!("\n{error}"));
    }
    if errors.len() > ERRORS {
        message.push_str(&format!("\n(showing {ERRORS} of {})", errors.len()));
    }
    let mut fault = Fault::new(Code::InvalidSource, message);
    for error in &errors {
        if !fault.affected_files.contains(&error.file) {
            fault = fault.about(&*error.file);
        }
    }
    match errors.first().filter(|e| !e.fix.is_empty()) {
        Some(first) => fault.suggest(format!("{}:{}: {}", first.file, first.line, first.fix)),
        None => fault,
    }
}
