//! What was packed: the files of an archive, in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A packed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What is in it.
    pub bytes: Arc<[u8]>,
    /// Whether it may be executed once it is unpacked.
    pub executable: bool,
}

/// Files by path as they are in the package (without `package/` or `name-version/`), `/` between components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    files: BTreeMap<String, File>,
}

impl Packed {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a file.
    #[must_use]
    pub fn with(mut self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.put(path, bytes.as_ref(), false);
        self
    }

    /// Adds or replaces a file.
    pub fn put(&mut self, path: &str, bytes: &[u8], executable: bool) {
        self.files.insert(path.to_owned(), File { bytes: bytes.into(), executable });
    }

    /// A file's bytes.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|file| &*file.bytes)
    }

    /// A file as text; `None` too when it is not UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there is a file below such a folder.
    pub fn has_folder(&self, folder: &str) -> bool {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        self.files.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// The files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// A file and what may be done with it.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// The files whose paths begin with `prefix`, sorted by path.
    pub fn below<'p>(&'p self, prefix: &'p str) -> impl Iterator<Item = (&'p str, &'p File)> {
        let from =
            self.files.range::<str, _>((std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded));
        from.map(|(path, file)| (path.as_str(), file)).take_while(move |(path, _)| path.starts_with(prefix))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of all together.
    pub fn size(&self) -> u64 {
        self.files.values().map(|file| file.bytes.len() as u64).sum()
    }
}
