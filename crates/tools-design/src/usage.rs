//! The project's files, looked through for values that tokens have, and for the tokens' names.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use contract::{Code, Fault, RelPath};
use design_tokens::Compiled;
use design_tokens::usage::{self, Coverage, Index, Scan, Usage, reached, settle};
use exec::view::{self, Pattern};
use kit::ReadDesk;

use crate::consumers::{ENDINGS, MAX_BYTES, MAX_FILE, Searched, files, goes_on};

/// One file with what was found in it.
pub(crate) struct Looked {
    pub(crate) path: RelPath,
    /// What is in it, where something was found.
    pub(crate) text: String,
    pub(crate) usages: Vec<Usage>,
}

/// What was found in the project.
pub(crate) struct Found {
    /// Files in which something was found, by path.
    pub(crate) files: Vec<Looked>,
    pub(crate) coverage: Coverage,
    /// Tokens that nothing uses, in their order.
    pub(crate) unused: Vec<String>,
    /// The files in which values were looked for.
    pub(crate) searched: Searched,
}

/// Which files are wanted.
struct Wanted(Vec<Which>);

enum Which {
    /// A file, or all in a folder.
    Below(RelPath),
    Pattern(Pattern),
}

impl Wanted {
    fn new(paths: &[String]) -> Result<Self, Fault> {
        let one = |path: &String| {
            if path.split('/').any(view::is_pattern) {
                Pattern::new(path).map(Which::Pattern)
            } else {
                view::path_argument(path).map(Which::Below)
            }
        };
        paths.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    fn has(&self, path: &str) -> bool {
        let is_below = |folder: &RelPath| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.is_empty()
            || self.0.iter().any(|which| match which {
                Which::Below(folder) => is_below(folder),
                Which::Pattern(pattern) => pattern.finds(path),
            })
    }
}

/// Looks through the project's own files, without those of the tokens.
pub(crate) fn look(
    compiled: &Compiled,
    index: &Index,
    sources: &[String],
    paths: &[String],
    tolerance: f64,
    desk: &ReadDesk,
) -> Result<Found, Fault> {
    let wanted = Wanted::new(paths)?;
    let names = Names::new(compiled)?;
    let (all, skipped) = files(desk, ENDINGS)?;
    let mut searched = Searched { files: 0, skipped };
    let mut scans: Vec<(RelPath, Scan, String)> = Vec::new();
    let (mut used, mut bytes) = (BTreeSet::new(), 0);
    for path in all.into_iter().filter(|path| !sources.iter().any(|source| source == path.as_str())) {
        desk.check()?;
        let Some(text) = desk.view().read_optional(&path)? else { continue };
        if text.len() > MAX_FILE || bytes + text.len() > MAX_BYTES {
            searched.skipped += 1;
            continue;
        }
        bytes += text.len();
        // What is no text has no tokens.
        let Ok(text) = String::from_utf8(text) else { continue };
        if usage::is_built(&text) {
            continue;
        }
        names.find(&text, &mut used);
        if !wanted.has(path.as_str()) {
            continue;
        }
        if let Some(scan) = index.scan(path.as_str(), &text, tolerance) {
            searched.files += 1;
            let text = if scan.is_empty() { String::new() } else { text };
            scans.push((path, scan, text));
        }
    }
    if searched.files == 0 && !paths.is_empty() {
        let message = format!("{}: no style sheet, page or script of the project", paths.join(", "));
        return Err(Fault::new(Code::NotFound, message).suggest(
            "Name files, folders or globs relative to the root; what git ignores is not looked at.",
        ));
    }
    let mut coverage = Coverage::default();
    for (_, scan, _) in &scans {
        coverage.tokens += scan.coverage.tokens;
        coverage.hardcoded += scan.coverage.hardcoded;
        coverage.unknown += scan.coverage.unknown;
    }
    let settled = settle(index, &scans.iter().map(|(_, scan, _)| scan).collect::<Vec<_>>());
    let looked = scans.into_iter().zip(settled).filter(|(_, usages)| !usages.is_empty());
    let files = looked.map(|((path, _, text), usages)| Looked { path, text, usages }).collect();
    let used = reached(compiled, &used);
    let unused = compiled.tokens.keys().filter(|id| !used.contains(*id)).cloned().collect();
    Ok(Found { files, coverage, unused, searched })
}

/// Names by which tokens are used.
struct Names {
    automaton: AhoCorasick,
    /// Whose each is, and whether it ends where a word does.
    owners: Vec<(String, bool)>,
}

impl Names {
    fn new(compiled: &Compiled) -> Result<Self, Fault> {
        let (mut patterns, mut owners) = (Vec::new(), Vec::new());
        let mut add = |pattern: String, id: &String, ends: bool| {
            patterns.push(pattern);
            owners.push((id.clone(), ends));
        };
        for (id, token) in &compiled.tokens {
            for spelling in usage::spellings(token) {
                add(spelling, id, true);
            }
            add(format!("{{{id}}}"), id, false);
            for quote in ['"', '\'', '`'] {
                add(format!("{quote}{id}{quote}"), id, false);
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns)
            .map_err(|error| Fault::internal(error.to_string()))?;
        Ok(Self { automaton, owners })
    }

    /// Notes the tokens that a text uses. What stands in front of a colon is given a value, and not used.
    fn find(&self, text: &str, used: &mut BTreeSet<String>) {
        let bytes = text.as_bytes();
        for found in self.automaton.find_iter(text) {
            let Some((id, ends)) = self.owners.get(found.pattern().as_usize()) else { continue };
            let after = bytes.get(found.end()).copied();
            let before = found.start().checked_sub(1).and_then(|at| bytes.get(at).copied());
            if *ends && (after.is_some_and(goes_on) || before.is_some_and(goes_on)) {
                continue;
            }
            let rest = bytes.get(found.end()..).unwrap_or_default().trim_ascii_start();
            let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
            if rest.trim_ascii_start().first() != Some(&b':') {
                used.insert(id.clone());
            }
        }
    }
}
