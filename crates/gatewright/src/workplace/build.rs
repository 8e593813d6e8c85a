//! The program's own file: whether it is still the one that was started.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// What tells one file from another at the same place.
type Facts = (u64, u64, u64, i64, i64);

/// The file that this process was started from.
#[derive(Debug, Clone)]
pub struct Own {
    path: Option<PathBuf>,
    facts: Option<Facts>,
}

impl Own {
    /// As it is now: to be taken when the process starts.
    #[must_use]
    pub fn now() -> Self {
        let path = std::env::current_exe().ok();
        let facts = path.as_ref().and_then(facts);
        Self { path, facts }
    }

    /// Whether something else is at its place now, or nothing.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        match (&self.path, self.facts) {
            (Some(path), Some(then)) => facts(path) != Some(then),
            // Nobody knows what was started.
            _ => false,
        }
    }
}

fn facts(path: &PathBuf) -> Option<Facts> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.dev(), about.ino(), about.size(), about.mtime(), about.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_replaced_or_removed_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        std::fs::write(&path, "one").unwrap();
        let own = Own { facts: facts(&path), path: Some(path.clone()) };
        assert!(!own.is_replaced());
        std::fs::write(dir.path().join("new"), "two").unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        assert!(own.is_replaced());
        std::fs::remove_file(&path).unwrap();
        assert!(own.is_replaced());
        assert!(!Own { path: None, facts: None }.is_replaced());
    }
}
