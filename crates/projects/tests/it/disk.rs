//! A look at a real folder, for tests.

use std::fs;
use std::path::{Path, PathBuf};

use gatewright_projects::{Entry, EntryKind, Look, LookError, MAX_FILE};

/// A folder.
pub struct Disk(pub PathBuf);

impl Disk {
    fn at(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.0.clone() } else { self.0.join(path) }
    }
}

impl Look for Disk {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        let path = self.at(path);
        match fs::metadata(&path) {
            Ok(facts) if facts.is_file() && facts.len() > MAX_FILE => {
                Err(LookError::TooLarge { size: facts.len() })
            }
            Ok(facts) if facts.is_file() => Ok(Some(fs::read(&path)?)),
            Ok(_) => Ok(None),
            Err(error) => absent(error, None),
        }
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let entries = match fs::read_dir(self.at(dir)) {
            Ok(entries) => entries,
            Err(error) => return absent(error, Vec::new()),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_file() => EntryKind::File,
                kind if kind.is_dir() => EntryKind::Folder,
                kind if kind.is_symlink() => EntryKind::Link,
                _ => EntryKind::Other,
            };
            found.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
        }
        Ok(found)
    }
}

fn absent<T>(error: std::io::Error, nothing: T) -> Result<T, LookError> {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Ok(nothing),
        _ => Err(error.into()),
    }
}

/// Writes files below `dir`.
pub fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
