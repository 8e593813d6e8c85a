//! The root as detection and documents look at it.

use cache::Kind;
use contract::{Code, Fault, RelPath};
use exec::View;
use projects::{Entry, EntryKind, Look, LookError, MAX_FILE};

/// The root behind a view.
#[derive(Clone, Copy)]
pub struct Window<'a>(pub &'a View);

fn refused(fault: Fault) -> LookError {
    match fault.code {
        Code::TooLarge => LookError::TooLarge { size: MAX_FILE + 1 },
        _ => LookError::Refused(fault.message),
    }
}

impl Look for Window<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        let Ok(path) = RelPath::new(path) else { return Ok(None) };
        match self.0.read_optional(&path) {
            Ok(Some(bytes)) if bytes.len() as u64 > MAX_FILE => {
                Err(LookError::TooLarge { size: bytes.len() as u64 })
            }
            Ok(bytes) => Ok(bytes),
            Err(fault) => Err(refused(fault)),
        }
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let dir = if dir.is_empty() {
            None
        } else {
            Some(RelPath::new(dir).map_err(|e| LookError::Refused(e.to_string()))?)
        };
        let listed = match self.0.list(dir.as_ref()) {
            Ok(listed) => listed,
            Err(fault) if matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => {
                return Ok(Vec::new());
            }
            Err(fault) => return Err(refused(fault)),
        };
        let kind = |entry: &exec::jail::Entry| match exec::ondisk::kind(entry) {
            Kind::Folder => EntryKind::Folder,
            Kind::File => EntryKind::File,
            Kind::Link => EntryKind::Link,
            Kind::Other => EntryKind::Other,
        };
        Ok(listed.into_iter().map(|entry| Entry { kind: kind(&entry), name: entry.name }).collect())
    }
}
