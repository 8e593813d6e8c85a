//! A tree that is read once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::{ListError, MAX_NAMES};
use crate::npm::pattern::{Dialect, Meter, Pattern, PatternError};
use crate::tree::{Entry, Kind, Tree};

/// A tree, its folders kept once they were read, and what may be spent on it.
pub(super) struct Snapshot<'a> {
    tree: &'a dyn Tree,
    pub(super) meter: &'a Meter,
    folders: RefCell<BTreeMap<String, Rc<[Entry]>>>,
    names: Cell<usize>,
}

/// A path below another.
pub(super) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

impl<'a> Snapshot<'a> {
    pub(super) fn new(tree: &'a dyn Tree, meter: &'a Meter) -> Self {
        Self { tree, meter, folders: RefCell::default(), names: Cell::new(0) }
    }

    /// The names in a folder, sorted. What can be no name is left out.
    pub(super) fn entries(&self, folder: &str) -> Result<Rc<[Entry]>, ListError> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Ok(Rc::clone(known));
        }
        let mut entries = self.tree.entries(folder)?;
        entries.retain(|entry| {
            !matches!(entry.name.as_str(), "" | "." | "..") && !entry.name.contains(['/', '\0'])
        });
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries.dedup_by(|a, b| a.name == b.name);
        self.names.set(self.names.get() + entries.len() + 1);
        if self.names.get() > MAX_NAMES {
            return Err(ListError::TooMany);
        }
        let entries: Rc<[Entry]> = entries.into();
        self.folders.borrow_mut().insert(folder.to_owned(), Rc::clone(&entries));
        Ok(entries)
    }

    /// What a path is; nothing where a component before the last is no folder.
    pub(super) fn kind(&self, path: &str) -> Result<Option<Kind>, ListError> {
        let mut folder = String::new();
        let mut kind = Some(Kind::Folder);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if kind != Some(Kind::Folder) {
                return Ok(None);
            }
            let entries = self.entries(&folder)?;
            let found = entries.binary_search_by(|entry| entry.name.as_str().cmp(name));
            kind = found.ok().and_then(|at| entries.get(at)).map(|entry| entry.kind);
            folder = join(&folder, name);
        }
        Ok(kind)
    }

    /// A regular file's bytes.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ListError> {
        match self.kind(path)? {
            Some(Kind::File { .. }) => Ok(self.tree.read(path)?),
            _ => Ok(None),
        }
    }

    /// Rules from a text: a line each, trimmed, without comments. `path` is said in errors.
    pub(super) fn rules(&self, text: &str, path: &str) -> Result<Rc<[Pattern]>, ListError> {
        let wrong = |why: PatternError| ListError::Pattern { path: path.to_owned(), why };
        let lines = text.split('\n').map(trimmed).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rules = lines.map(|line| Pattern::new(line, Dialect::RULE, self.meter).map_err(wrong));
        rules.collect::<Result<Vec<_>, _>>().map(Into::into)
    }
}

/// Trimmed as JavaScript does: of marks of byte order too.
fn trimmed(line: &str) -> &str {
    line.trim_matches(|letter: char| (letter.is_whitespace() && letter != '\u{85}') || letter == '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    #[test]
    fn what_is_below_a_link_is_not_there() {
        let mut tree = MapTree::new().with("d/a.js", "");
        tree.put("l", Kind::Link, Vec::new());
        tree.put("l/a.js", Kind::File { executable: false }, Vec::new());
        let meter = Meter::new(1000);
        let snapshot = Snapshot::new(&tree, &meter);
        assert_eq!(snapshot.kind("d/a.js").unwrap(), Some(Kind::File { executable: false }));
        assert_eq!(snapshot.kind("l").unwrap(), Some(Kind::Link));
        assert_eq!(snapshot.kind("l/a.js").unwrap(), None);
        assert_eq!(snapshot.kind("d/b.js").unwrap(), None);
    }

    #[test]
    fn lines_are_trimmed_as_javascript_trims() {
        assert_eq!(trimmed("\u{feff} a\u{a0}\r"), "a");
        assert_eq!(trimmed("a\u{85}"), "a\u{85}");
    }
}
