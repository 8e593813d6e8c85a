//! A folder as a package manager sees it.

use std::collections::{BTreeMap, BTreeSet};

use crate::packed::Packed;

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file, and whether it may be executed.
    File {
        /// Whether any execute bit is set.
        executable: bool,
    },
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A socket, a device, a pipe.
    Other,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// One path component.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// Why a tree could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct TreeError {
    /// Relative to the tree's top, `/` between components.
    pub path: String,
    /// In words.
    pub why: String,
}

/// A folder and what is below it. Paths are relative to its top, `/` between components; the top is the empty path.
pub trait Tree {
    /// The names in a folder, in any order; empty when there is no such folder.
    fn entries(&self, folder: &str) -> Result<Vec<Entry>, TreeError>;

    /// A regular file's bytes; `None` when there is no such file.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TreeError>;

    /// What a path is, links not followed; `None` when there is nothing.
    fn kind(&self, path: &str) -> Result<Option<Kind>, TreeError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok(self.entries(folder)?.into_iter().find(|entry| entry.name == name).map(|entry| entry.kind))
    }
}

/// A tree in memory: files by path.
#[derive(Debug, Clone, Default)]
pub struct MapTree {
    files: BTreeMap<String, (Kind, Vec<u8>)>,
}

impl MapTree {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a file.
    #[must_use]
    pub fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.put(path, Kind::File { executable: false }, bytes.into());
        self
    }

    /// Puts something at a path; folders above it are there by that.
    pub fn put(&mut self, path: &str, kind: Kind, bytes: Vec<u8>) {
        self.files.insert(path.to_owned(), (kind, bytes));
    }
}

impl Tree for MapTree {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>, TreeError> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut folders = BTreeSet::new();
        let mut entries = Vec::new();
        for (path, (kind, _)) in self.files.range(prefix.clone()..) {
            let Some(rest) = path.strip_prefix(&prefix) else { break };
            match rest.split_once('/') {
                Some((name, _)) => {
                    folders.insert(name.to_owned());
                }
                None => entries.push(Entry { name: rest.to_owned(), kind: *kind }),
            }
        }
        entries.extend(folders.into_iter().map(|name| Entry { name, kind: Kind::Folder }));
        Ok(entries)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TreeError> {
        Ok(self
            .files
            .get(path)
            .filter(|(kind, _)| matches!(kind, Kind::File { .. }))
            .map(|(_, bytes)| bytes.clone()))
    }
}

impl Tree for Packed {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>, TreeError> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut folders = BTreeSet::new();
        let mut entries = Vec::new();
        for (path, file) in self.below(&prefix) {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            match rest.split_once('/') {
                Some((name, _)) => {
                    folders.insert(name.to_owned());
                }
                None => {
                    let kind = Kind::File { executable: file.executable };
                    entries.push(Entry { name: rest.to_owned(), kind });
                }
            }
        }
        entries.extend(folders.into_iter().map(|name| Entry { name, kind: Kind::Folder }));
        Ok(entries)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TreeError> {
        Ok(self.get(path).map(<[u8]>::to_vec))
    }

    fn kind(&self, path: &str) -> Result<Option<Kind>, TreeError> {
        Ok(match self.file(path) {
            Some(file) => Some(Kind::File { executable: file.executable }),
            None if path.is_empty() || self.has_folder(path) => Some(Kind::Folder),
            None => None,
        })
    }
}
