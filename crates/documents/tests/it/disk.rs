//! A look at a real folder.

use std::fs;
use std::path::PathBuf;

use gatewright_documents::{Entry, EntryKind, Look, LookError};

/// A folder.
pub struct Disk(pub PathBuf);

impl Disk {
    fn at(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.0.clone() } else { self.0.join(path) }
    }
}

impl Look for Disk {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        match fs::metadata(self.at(path)) {
            Ok(facts) if facts.is_file() && facts.len() > 4 * 1024 * 1024 => {
                Err(LookError::TooLarge { size: facts.len() })
            }
            Ok(facts) if facts.is_file() => Ok(Some(fs::read(self.at(path))?)),
            _ => Ok(None),
        }
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let Ok(entries) = fs::read_dir(self.at(dir)) else { return Ok(Vec::new()) };
        let kind = |entry: &fs::DirEntry| match entry.file_type() {
            Ok(kind) if kind.is_file() => EntryKind::File,
            Ok(kind) if kind.is_dir() => EntryKind::Folder,
            Ok(kind) if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let found = entries.flatten().map(|entry| Entry {
            kind: kind(&entry),
            name: entry.file_name().to_string_lossy().into_owned(),
        });
        Ok(found.collect())
    }
}
