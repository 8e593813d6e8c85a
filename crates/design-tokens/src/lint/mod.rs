//! What is worth changing in token files, beyond what the format forbids: rules with stable codes and levels of their own, and
//! edits that bring about what some of them ask for.
//!
//! An edit is taken only when the files compile as well as before, every token has the value, type and names that it had, and
//! nothing new is found. Comments, order and formatting stay.

mod convert;
mod edit;
mod fix;
mod graph;
mod legacy;
mod level;
mod naming;
mod rename;
mod source;

use std::collections::BTreeSet;

use crate::Loader;
use crate::compile::{Outcome, on_a_deep_stack, outcome};
use crate::diagnostic::{At, Severity};
use crate::options::Options;

use edit::Repair;
pub use fix::{Fixed, fix};
pub use level::{Level, Levels, RULES, Rule, Style, UnknownRule};
use source::{Doc, Sites};

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Task<'t> {
    /// Names of files that `loader` knows, later ones laid over earlier ones.
    pub sources: &'t [String],
    /// Gives their texts.
    pub loader: &'t (dyn Loader + Sync),
    /// How they are compiled.
    pub options: &'t Options,
    /// What counts for how much.
    pub levels: &'t Levels,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule, or the compiler's code.
    pub code: &'static str,
    /// Never [`Level::Off`].
    pub level: Level,
    /// The file; empty where it is about the settings.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The path of the token that it is about.
    pub token: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub advice: String,
    /// Whether edits for it may be tried.
    pub is_fixable: bool,
    /// Whether it was fixed.
    pub is_fixed: bool,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The gravest first, then by file and place.
    pub findings: Vec<Finding>,
    /// The tokens whose paths edits would change. What refers to them outside of the sources is not known here.
    pub renames: BTreeSet<String>,
    /// The files that hold tokens.
    pub files: Vec<String>,
}

impl Report {
    /// How many findings of a level are left.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level && !finding.is_fixed).count()
    }

    /// How many were fixed.
    #[must_use]
    pub fn fixed(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_fixed).count()
    }
}

/// Looks at token files. What the format forbids is found too, and is always an error.
#[must_use]
pub fn lint(task: Task<'_>) -> Report {
    on_a_deep_stack(|| {
        let seen = examine(task.sources, task.loader, task.options);
        let mut report = Report {
            findings: seen.raws.iter().filter_map(|raw| finding(raw, &seen, task.levels)).collect(),
            renames: BTreeSet::new(),
            files: seen.docs.iter().map(|doc| doc.name.clone()).collect(),
        };
        let wanted = seen.raws.iter().filter(|raw| task.levels.of(raw.code) != Level::Off || raw.is_error);
        for repair in wanted.filter_map(|raw| seen.repairs.get(raw.repair?)) {
            report.renames.extend(repair.renames.iter().cloned());
        }
        sort(&mut report.findings);
        report
    })
}

fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (std::cmp::Reverse(f.level), f.is_fixed);
        (key(a), &a.file, a.line, a.column, a.code).cmp(&(key(b), &b.file, b.line, b.column, b.code))
    });
}

/// A finding before its level is known.
#[derive(Debug, Clone)]
struct Raw {
    code: &'static str,
    /// The number of the file; one that there is not, where it is about the settings.
    file: usize,
    byte: usize,
    token: Option<String>,
    message: String,
    advice: String,
    /// The number of what would mend it.
    repair: Option<usize>,
    /// Whether there is no output because of it.
    is_error: bool,
}

/// What rules look at.
struct View<'v> {
    outcome: &'v Outcome,
    docs: &'v [Doc],
    sites: &'v Sites<'v>,
    options: &'v Options,
}

impl View<'_> {
    /// A finding about the token whose name stands at `at`.
    fn about(
        &self,
        at: At,
        code: &'static str,
        id: &str,
        message: String,
        advice: impl Into<String>,
    ) -> Option<Raw> {
        let (file, byte) = self.outcome.diagnostics.byte(at)?;
        let (token, advice) = (Some(id.to_owned()), advice.into());
        Some(Raw { code, file, byte, token, message, advice, repair: None, is_error: false })
    }
}

/// Everything that was found in files, and what would mend it.
struct Seen {
    outcome: Outcome,
    docs: Vec<Doc>,
    raws: Vec<Raw>,
    repairs: Vec<Repair>,
}

/// Compiles and looks. Nothing is left out.
fn examine(sources: &[String], loader: &dyn Loader, options: &Options) -> Seen {
    let outcome = outcome(sources, loader, options);
    let docs: Vec<Doc> = outcome.diagnostics.files().map(|(name, text)| Doc::parse(name, text)).collect();
    let (mut raws, mut repairs) = (Vec::new(), Vec::new());
    {
        let sites = Sites::find(&docs, &outcome.diagnostics);
        let view = View { outcome: &outcome, docs: &docs, sites: &sites, options };
        told(&view, &mut raws);
        legacy::check(&view, &mut raws, &mut repairs);
        naming::check(&view, &mut raws, &mut repairs);
        // Of what was not resolved nothing can be said.
        if !outcome.diagnostics.has_errors() {
            graph::check(&view, &mut raws);
        }
    }
    Seen { outcome, docs, raws, repairs }
}

/// What the compiler says.
fn told(view: &View<'_>, raws: &mut Vec<Raw>) {
    for (at, said) in view.outcome.diagnostics.found() {
        let (file, byte) = view.outcome.diagnostics.byte(at).unwrap_or((usize::MAX, 0));
        raws.push(Raw {
            code: level::renamed(said.code),
            file,
            byte,
            token: view.sites.token_around(file, byte).map(source::Site::id),
            message: said.message,
            advice: said.fix,
            repair: None,
            is_error: said.severity == Severity::Error,
        });
    }
}

/// The finding, where its level lets it be one.
fn finding(raw: &Raw, seen: &Seen, levels: &Levels) -> Option<Finding> {
    let level = if raw.is_error { Level::Error } else { levels.of(raw.code) };
    let file = seen.docs.get(raw.file).map(|doc| doc.name.clone()).unwrap_or_default();
    let (line, column) = seen.outcome.diagnostics.place_of_byte(raw.file, raw.byte);
    (level != Level::Off).then(|| Finding {
        code: raw.code,
        level,
        file,
        line,
        column,
        token: raw.token.clone(),
        message: raw.message.clone(),
        advice: raw.advice.clone(),
        is_fixable: raw.repair.is_some(),
        is_fixed: false,
    })
}
