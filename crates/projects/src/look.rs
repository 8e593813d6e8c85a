//! The window that a project is seen through, and two that stand before another: [`Within`] a folder, and [`Traced`].

/// Largest file that is read, in bytes: 4 MiB. Manifests of real projects stay far below.
pub const MAX_FILE: u64 = 4 * 1024 * 1024;

/// A read-only look at a root. Paths are relative, `/`-separated and without `.` or `..`; the root itself is `""`.
///
/// An implementation follows links only where they stay inside the root.
pub trait Look {
    /// The bytes of a file. `None`: there is nothing, or something that is not a file.
    ///
    /// Files over [`MAX_FILE`] should be refused with [`LookError::TooLarge`] before they are read.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError>;

    /// The first `limit` bytes of a file. Worth implementing where files are many and long.
    fn head(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, LookError> {
        Ok(self.read(path)?.map(|mut bytes| {
            bytes.truncate(limit);
            bytes
        }))
    }

    /// What is in a folder, in any order. Nothing where there is no such folder.
    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError>;
}

impl<L: Look + ?Sized> Look for &L {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        (**self).read(path)
    }

    fn head(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, LookError> {
        (**self).head(path, limit)
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        (**self).list(dir)
    }
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name, without the folder.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link: it may be read as a file, but no walk goes through it.
    Link,
    /// A device, pipe or socket: never opened.
    Other,
}

/// Why something could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The file is longer than what is read.
    #[error("the file has {size} bytes; at most {MAX_FILE} are read")]
    TooLarge {
        /// Its length in bytes.
        size: u64,
    },
    /// The path is not allowed, or leads out of the root.
    #[error("the path is not allowed: {0}")]
    Refused(String),
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The same, seen from a folder of it.
#[derive(Debug)]
pub struct Within<L> {
    look: L,
    dir: String,
}

impl<L: Look> Within<L> {
    /// `look` from `dir` down; `""` is `look` itself.
    #[must_use]
    pub fn new(look: L, dir: &str) -> Self {
        Self { look, dir: dir.trim_matches('/').to_owned() }
    }

    fn at(&self, path: &str) -> String {
        crate::paths::join(&self.dir, path)
    }
}

impl<L: Look> Look for Within<L> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        self.look.read(&self.at(path))
    }

    fn head(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, LookError> {
        self.look.head(&self.at(path), limit)
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        self.look.list(&self.at(dir))
    }
}

/// Who wants to know what was looked at: a cache, which asks later whether it is still so.
///
/// Each pair is told around one look: `before` it, so that a file's age and size can be noted while they cannot yet be
/// newer than what is read, and after it with what was seen.
pub trait Trace {
    /// `path` is about to be read or listed.
    fn before(&self, path: &str);
    /// A whole file was read; `None`: there is none, or it could not be read.
    fn read(&self, path: &str, bytes: Option<&[u8]>);
    /// The first `limit` bytes of a file were read.
    fn head(&self, path: &str, limit: usize, bytes: Option<&[u8]>);
    /// A folder was listed; `None`: it could not be.
    fn listed(&self, dir: &str, entries: Option<&[Entry]>);
}

/// A look that tells somebody what was looked at.
#[derive(Debug)]
pub struct Traced<L, T> {
    look: L,
    trace: T,
}

impl<L: Look, T: Trace> Traced<L, T> {
    /// `look`, told to `trace`.
    pub fn new(look: L, trace: T) -> Self {
        Self { look, trace }
    }

    /// Who was told.
    pub fn into_trace(self) -> T {
        self.trace
    }
}

impl<T: Trace + ?Sized> Trace for &T {
    fn before(&self, path: &str) {
        (**self).before(path);
    }

    fn read(&self, path: &str, bytes: Option<&[u8]>) {
        (**self).read(path, bytes);
    }

    fn head(&self, path: &str, limit: usize, bytes: Option<&[u8]>) {
        (**self).head(path, limit, bytes);
    }

    fn listed(&self, dir: &str, entries: Option<&[Entry]>) {
        (**self).listed(dir, entries);
    }
}

impl<L: Look, T: Trace> Look for Traced<L, T> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        self.trace.before(path);
        let read = self.look.read(path);
        self.trace.read(path, read.as_ref().ok().and_then(Option::as_deref));
        read
    }

    fn head(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, LookError> {
        self.trace.before(path);
        let read = self.look.head(path, limit);
        self.trace.head(path, limit, read.as_ref().ok().and_then(Option::as_deref));
        read
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        self.trace.before(dir);
        let listed = self.look.list(dir);
        self.trace.listed(dir, listed.as_deref().ok());
        listed
    }
}
