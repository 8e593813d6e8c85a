//! Walking a tree by a pattern, as glob 13 does: the paths that fit, and nothing behind links.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::snapshot::{Snapshot, join};
use super::{ListError, MAX_DEPTH};
use crate::npm::pattern::{Part, Pattern, PatternError, Segment};
use crate::tree::{Entry, Kind};

/// The paths below a folder that a pattern fits, and what they are. The folder itself is the empty path. Where npm reaches the folder
/// through a link, a `**` that begins a pattern does not go into it.
pub(super) fn expand(
    snapshot: &Snapshot<'_>,
    top: &str,
    pattern: &Pattern,
    linked: bool,
) -> Result<BTreeMap<String, Kind>, ListError> {
    let mut walk = Walk { snapshot, top, found: BTreeMap::new(), open: Vec::new(), seen: BTreeSet::new() };
    for (number, parts) in pattern.alternatives().iter().enumerate() {
        // Absolute patterns lead out of the package.
        let absolute =
            parts.len() > 1 && parts.first().and_then(Part::name).is_some_and(|name| name.is_empty());
        let stopped = linked && parts.first().is_some_and(Part::is_globstar);
        if !absolute && !stopped {
            walk.enter(String::new(), parts, number, 0);
        }
    }
    while let Some(state) = walk.open.pop() {
        walk.step(&state).map_err(|error| match error {
            Stop::List(error) => error,
            Stop::Pattern(why) => ListError::Pattern { path: join(top, "package.json"), why },
        })?;
    }
    Ok(walk.found)
}

/// A folder in which a part of a pattern is looked for.
struct State<'a> {
    folder: String,
    parts: &'a [Part],
    number: usize,
    at: usize,
}

enum Stop {
    List(ListError),
    Pattern(PatternError),
}

impl From<ListError> for Stop {
    fn from(error: ListError) -> Self {
        Self::List(error)
    }
}

impl From<PatternError> for Stop {
    fn from(error: PatternError) -> Self {
        Self::Pattern(error)
    }
}

struct Walk<'a> {
    snapshot: &'a Snapshot<'a>,
    top: &'a str,
    found: BTreeMap<String, Kind>,
    open: Vec<State<'a>>,
    seen: BTreeSet<(String, usize, usize)>,
}

impl<'a> Walk<'a> {
    fn enter(&mut self, folder: String, parts: &'a [Part], number: usize, at: usize) {
        if self.seen.insert((folder.clone(), number, at)) {
            self.open.push(State { folder, parts, number, at });
        }
    }

    fn step(&mut self, state: &State<'a>) -> Result<(), Stop> {
        self.snapshot.meter.spend(1)?;
        let Some(part) = state.parts.get(state.at) else { return Ok(()) };
        let last = state.at + 1 == state.parts.len();
        if let Some(name) = part.name() {
            return self.named(state, &name, last);
        }
        if state.folder.matches('/').count() > MAX_DEPTH {
            return Err(ListError::TooMany.into());
        }
        let next = state.parts.get(state.at + 1);
        let next_name = next.and_then(Part::name);
        let next_last = state.at + 2 == state.parts.len();
        if part.is_globstar() {
            let here = matches!(next_name.as_deref(), Some("" | ".")) && next_last;
            if last || here {
                self.found.insert(state.folder.clone(), Kind::Folder);
            }
            if next_name.as_deref() == Some("..")
                && let Some((parent, _)) = state.folder.rsplit_once('/')
            {
                self.arrive(parent.to_owned(), state, state.at + 2);
            }
        }
        for entry in self.entries(&state.folder)?.iter() {
            let name = Segment::new(&entry.name);
            let path = join(&state.folder, &entry.name);
            if part.is_globstar() {
                if part.passes_over(&name) {
                    // What follows may still name it.
                } else if last {
                    self.found.insert(path.clone(), entry.kind);
                }
                if entry.kind == Kind::Folder && !part.passes_over(&name) {
                    self.enter(path.clone(), state.parts, state.number, state.at);
                }
                let dots = matches!(next_name.as_deref(), Some("" | "." | ".."));
                if let Some(next) = next.filter(|_| !dots)
                    && next.fits(&name, self.snapshot.meter)?
                {
                    self.reach(path, entry.kind, state, state.at + 1);
                }
            } else if part.fits(&name, self.snapshot.meter)? {
                self.reach(path, entry.kind, state, state.at);
            }
        }
        Ok(())
    }

    /// Something fits a part: it is found when that was the last, and walked into when it was not.
    fn reach(&mut self, path: String, kind: Kind, state: &State<'a>, at: usize) {
        if at + 1 == state.parts.len() {
            self.found.insert(path, kind);
        } else if kind == Kind::Folder {
            self.enter(path, state.parts, state.number, at + 1);
        }
    }

    /// Parts up to one were used in getting to a folder.
    fn arrive(&mut self, folder: String, state: &State<'a>, next: usize) {
        if next >= state.parts.len() {
            self.found.insert(folder, Kind::Folder);
        } else {
            self.enter(folder, state.parts, state.number, next);
        }
    }

    /// A part that is a name needs no looking around.
    fn named(&mut self, state: &State<'a>, name: &str, last: bool) -> Result<(), Stop> {
        match name {
            "" | "." => self.arrive(state.folder.clone(), state, state.at + 1),
            ".." => {
                // What is outside of the package is not packed.
                if !state.folder.is_empty() {
                    let parent = state.folder.rsplit_once('/').map_or("", |(parent, _)| parent);
                    self.arrive(parent.to_owned(), state, state.at + 1);
                }
            }
            name => {
                let path = join(&state.folder, name);
                let kind = self.snapshot.kind(&join(self.top, &path))?;
                let rest = state.parts.get(state.at + 1..).unwrap_or_default();
                if matches!((kind, rest), (Some(Kind::File { .. }), [any]) if any.is_globstar()) {
                    // `x/**` finds `x` itself, be it a file.
                    self.found.insert(path, Kind::File { executable: false });
                } else if let Some(kind) = kind.filter(|kind| last || *kind == Kind::Folder) {
                    self.reach(path, kind, state, state.at);
                }
            }
        }
        Ok(())
    }

    fn entries(&self, folder: &str) -> Result<Rc<[Entry]>, Stop> {
        let path = join(self.top, folder);
        match self.snapshot.kind(&path)? {
            Some(Kind::Folder) => Ok(self.snapshot.entries(&path)?),
            _ => Ok(Rc::new([])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npm::pattern::{Dialect, Meter};
    use crate::tree::MapTree;

    fn found(pattern: &str, dialect: Dialect) -> Vec<String> {
        let mut tree = MapTree::new()
            .with("a.js", "")
            .with(".h/x.js", "")
            .with("lib/x.js", "")
            .with("lib/sub/z.js", "")
            .with("lib/.hid", "");
        tree.put("ln", Kind::Link, Vec::new());
        let meter = Meter::new(1_000_000);
        let snapshot = Snapshot::new(&tree, &meter);
        let pattern = Pattern::new(pattern, dialect, &meter).unwrap();
        expand(&snapshot, "", &pattern, false).unwrap().into_keys().collect()
    }

    #[test]
    fn names_globs_and_any_depth() {
        for (pattern, paths) in [
            ("a.js", vec!["a.js"]),
            ("lib/*", vec!["lib/.hid", "lib/sub", "lib/x.js"]),
            ("*.js", vec!["a.js"]),
            ("**/*.js", vec![".h/x.js", "a.js", "lib/sub/z.js", "lib/x.js"]),
            ("lib/**", vec!["lib", "lib/.hid", "lib/sub", "lib/sub/z.js", "lib/x.js"]),
            ("lib/../a.js", vec!["a.js"]),
            ("{lib/sub/,a.js}", vec!["a.js", "lib/sub"]),
            ("LIB", vec![]),
            ("../a.js", vec![]),
            ("a.js/x", vec![]),
            ("a.js/**", vec!["a.js"]),
            ("*.js/**", vec![]),
            ("ln/*", vec![]),
            ("lib/sub/../x.js", vec!["lib/x.js"]),
        ] {
            assert_eq!(found(pattern, Dialect::FILES), paths, "{pattern}");
        }
    }

    #[test]
    fn without_dots_hidden_names_must_be_named() {
        assert_eq!(found("**/*.js", Dialect::PLAIN), ["a.js", "lib/sub/z.js", "lib/x.js"]);
        assert_eq!(found(".h/*", Dialect::PLAIN), [".h/x.js"]);
    }
}
