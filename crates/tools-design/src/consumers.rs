//! Who in the project uses a token: places in its files where a token's name stands.
//!
//! A search by name, not by meaning: a custom property that something else defines under the same name is found too.

use aho_corasick::{AhoCorasick, MatchKind};
use contract::{Code, Fault, RelPath};
use design_tokens::Token;
use exec::history::{HistoryError, Ignores, Limits};
use kit::ReadDesk;
use kit::desk::unread;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// Files in which tokens are used.
pub(crate) const ENDINGS: &[&str] = &[
    ".css", ".scss", ".sass", ".less", ".pcss", ".styl", ".html", ".htm", ".vue", ".svelte", ".astro", ".js",
    ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".json", ".json5", ".jsonc", ".tokens", ".md",
    ".mdx", ".php", ".erb", ".njk", ".twig", ".hbs", ".liquid", ".swift", ".kt", ".xml",
];

/// Folders that hold other people's work, or what a build made of ours.
const OTHERS: &[&str] = &["node_modules", "bower_components", "vendor", "target"];

/// Most files that are searched.
const MAX_FILES: usize = 20_000;

/// Most bytes of one file; a longer one is a bundle.
pub(crate) const MAX_FILE: usize = 1024 * 1024;

/// Most bytes in all.
pub(crate) const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Most places that are kept of one token.
const MAX_PLACES: usize = 10;

/// Where a token is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Place {
    /// Relative to the root.
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: u64,
}

/// Who uses one token.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses {
    /// The first places.
    pub(crate) places: Vec<Place>,
    /// How many there are.
    pub(crate) count: u64,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub(crate) struct Searched {
    /// Files that were read.
    pub(crate) files: u64,
    /// Files that were left out because they are too large, or too many.
    pub(crate) skipped: u64,
}

/// The project's own files whose names end in one of `endings`: without what git ignores, `artifacts/` and other people's
/// folders; sorted. Says how many were too many.
pub(crate) fn files(desk: &ReadDesk, endings: &[&str]) -> Result<(Vec<RelPath>, u64), Fault> {
    let rules = ignores(desk)?;
    let ignored = |path: &RelPath, is_dir: bool| {
        rules.as_ref().map_or(Ok(false), |rules| rules.is_ignored(path.as_str(), is_dir).map_err(unread))
    };
    let (mut found, mut skipped) = (Vec::new(), 0);
    let mut open = vec![None];
    while let Some(dir) = open.pop() {
        let entries = match desk.view().list(dir.as_ref()) {
            Ok(entries) => entries,
            // Gone by now, or not to be looked into: nothing that could be said about it.
            Err(fault) if dir.is_some() && matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => {
                continue;
            }
            Err(fault) => return Err(fault),
        };
        for entry in entries {
            let path = match &dir {
                None => RelPath::new(&entry.name),
                Some(dir) => dir.join(&entry.name),
            };
            let Ok(path) = path else { continue };
            let entered = entry.is_dir
                && !OTHERS.contains(&entry.name.as_str())
                && !entry.name.starts_with('.')
                && path.as_str() != "artifacts";
            let wanted = entry.is_file && endings.iter().any(|end| entry.name.ends_with(end));
            if !(entered || wanted) || ignored(&path, entry.is_dir)? {
                continue;
            }
            if entry.is_dir {
                open.push(Some(path));
            } else if found.len() < MAX_FILES {
                found.push(path);
            } else {
                skipped += 1;
            }
        }
    }
    found.sort();
    Ok((found, skipped))
}

/// What the repository ignores; nothing, where there is none that may be read.
pub(crate) fn ignores(desk: &ReadDesk) -> Result<Option<Ignores>, Fault> {
    let repository = match desk.repository() {
        Ok(repository) => repository,
        Err(fault) if matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    match repository.ignores(&Limits::default(), &AtomicBool::new(false)) {
        Ok(ignores) => Ok(Some(ignores)),
        Err(HistoryError::NotARepository | HistoryError::Refused(_)) => Ok(None),
        Err(error) => Err(unread(error)),
    }
}

/// How a token is written where it is used, and what of it must not go on.
fn spellings(token: &Token) -> Vec<(String, bool)> {
    let id = token.path.join(".");
    let mut all: Vec<(String, bool)> = token
        .names()
        .iter()
        .flat_map(|name| [(format!("--{name}"), true), (format!("${name}"), true)])
        .collect();
    all.push((format!("{{{id}}}"), false));
    for quote in ['"', '\'', '`'] {
        all.push((format!("{quote}{id}{quote}"), false));
    }
    all
}

/// Looks for each of `tokens` in the project's files, in their order.
pub(crate) fn search(tokens: &[&Token], desk: &ReadDesk) -> Result<(Vec<Uses>, Searched), Fault> {
    let mut uses = vec![Uses::default(); tokens.len()];
    let mut searched = Searched::default();
    if tokens.is_empty() {
        return Ok((uses, searched));
    }
    let (mut patterns, mut owners) = (Vec::new(), Vec::new());
    for (owner, token) in tokens.iter().enumerate() {
        for (spelling, ends) in spellings(token) {
            patterns.push(spelling);
            owners.push((owner, ends));
        }
    }
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(&patterns)
        .map_err(|error| Fault::internal(error.to_string()))?;
    let (files, skipped) = files(desk, ENDINGS)?;
    searched.skipped = skipped;
    let mut bytes = 0;
    for path in files {
        desk.check()?;
        let Some(text) = desk.view().read_optional(&path)? else { continue };
        if text.len() > MAX_FILE || bytes + text.len() > MAX_BYTES {
            searched.skipped += 1;
            continue;
        }
        bytes += text.len();
        searched.files += 1;
        let (mut line, mut counted) = (1, 0);
        // The same token twice on a line is one place.
        let mut last = None;
        for found in automaton.find_iter(&text) {
            let Some((owner, ends)) = owners.get(found.pattern().as_usize()).copied() else { continue };
            let before = found.start().checked_sub(1).and_then(|at| text.get(at).copied());
            if ends && (text.get(found.end()).copied().is_some_and(goes_on) || before.is_some_and(goes_on)) {
                continue;
            }
            let between = text.get(counted..found.start()).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count() as u64;
            counted = found.start();
            if last.replace((owner, line)) == Some((owner, line)) {
                continue;
            }
            let Some(uses) = uses.get_mut(owner) else { continue };
            uses.count += 1;
            if uses.places.len() < MAX_PLACES {
                uses.places.push(Place { path: path.to_string(), line });
            }
        }
    }
    Ok((uses, searched))
}

/// Which of `ids`, paths of tokens, stand somewhere in the project's files other than `sources`: as words of their own, whatever is
/// around them.
pub(crate) fn standing(
    ids: &BTreeSet<String>,
    sources: &[String],
    desk: &ReadDesk,
) -> Result<BTreeSet<String>, Fault> {
    let mut standing = BTreeSet::new();
    if ids.is_empty() {
        return Ok(standing);
    }
    let all: Vec<&String> = ids.iter().collect();
    let automaton = AhoCorasick::new(&all).map_err(|error| Fault::internal(error.to_string()))?;
    let mut bytes = 0;
    for path in files(desk, ENDINGS)?.0 {
        desk.check()?;
        if sources.iter().any(|source| source == path.as_str()) {
            continue;
        }
        let Some(text) = desk.view().read_optional(&path)? else { continue };
        bytes += text.len();
        if bytes > MAX_BYTES {
            // What nobody looked at may hold any of them.
            return Ok(ids.clone());
        }
        for found in automaton.find_overlapping_iter(&text) {
            let before = found.start().checked_sub(1).and_then(|at| text.get(at).copied());
            if !before.is_some_and(goes_on)
                && !text.get(found.end()).copied().is_some_and(goes_on)
                && let Some(id) = all.get(found.pattern().as_usize())
            {
                standing.insert((*id).clone());
            }
        }
    }
    Ok(standing)
}

/// Whether a name goes on with this byte.
pub(crate) const fn goes_on(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte >= 0x80
}
