//! What the commits of a change say.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use contract::Fault;
use exec::history::{Limits, LogQuery};
use kit::ReadDesk;
use kit::desk::unread;
use kits::{Note, Notes, Section};
use packaging::commits::{self, Part};

/// Most commits that are read.
pub(crate) const MAX_COMMITS: usize = 500;

/// The heading of what breaks.
const BREAKING: &str = "Breaking changes";

/// The notes from `base` to HEAD, `None` where nothing was committed; and whether there are more commits than were read.
pub(crate) fn of(desk: &ReadDesk, base: &str) -> Result<(Option<Notes>, bool), Fault> {
    let mut query = LogQuery::new(&format!("{base}..HEAD"));
    query.limit = MAX_COMMITS;
    query.merges = Some(false);
    let log = desk.repository()?.log(&query, &Limits::default(), &AtomicBool::new(false)).map_err(unread)?;
    let is_cut = log.truncated;
    let mut breaking = Vec::new();
    let mut parts: BTreeMap<Part, Vec<Note>> = BTreeMap::new();
    for commit in log.commits {
        let said = commits::read(&format!("{}\n\n{}", commit.summary, commit.body));
        let note = |text: String| Note {
            scope: said.scope.as_ref().map(|scope| desk.cleaned(scope)),
            text: desk.cleaned(&text),
            commit: commit.short.clone(),
            breaking: said.breaking,
        };
        if said.breaking {
            breaking.push(note(said.what_breaks.clone().unwrap_or_else(|| said.text.clone())));
        }
        parts.entry(said.part).or_default().push(note(said.text.clone()));
    }
    let mut sections = Vec::new();
    if !breaking.is_empty() {
        sections.push(Section { title: BREAKING.to_owned(), entries: breaking });
    }
    sections
        .extend(parts.into_iter().map(|(part, entries)| Section { title: part.title().to_owned(), entries }));
    Ok(((!sections.is_empty()).then_some(Notes { sections }), is_cut))
}
