//! A project as detection looks at it: through the call's own view of the root.

use contract::{Code, Fault, RelPath};
use kit::ReadDesk;

use crate::settings::DevtoolsSection;
use projects::{DetectError, Entry, EntryKind, Look, LookError, MAX_FILE, Project, Within, detect};

/// The root behind a desk.
pub(crate) struct Window<'a>(pub(crate) &'a ReadDesk);

fn refused(fault: Fault) -> LookError {
    match fault.code {
        Code::TooLarge => LookError::TooLarge { size: MAX_FILE + 1 },
        _ => LookError::Refused(fault.message),
    }
}

impl Look for Window<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        let Ok(path) = RelPath::new(path) else { return Ok(None) };
        match self.0.view().read_optional(&path) {
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
        let listed = match self.0.view().list(dir.as_ref()) {
            Ok(listed) => listed,
            Err(fault) if matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => {
                return Ok(Vec::new());
            }
            Err(fault) => return Err(refused(fault)),
        };
        let kind = |entry: &exec::jail::Entry| match (entry.is_dir, entry.is_file) {
            (true, _) => EntryKind::Folder,
            (_, true) => EntryKind::File,
            _ => EntryKind::Link,
        };
        Ok(listed.into_iter().map(|entry| Entry { kind: kind(&entry), name: entry.name }).collect())
    }
}

/// What the project below `directory` is.
pub(crate) fn detected(desk: &ReadDesk, directory: Option<&str>) -> Result<Project, Fault> {
    let dir = crate::running::directory(directory)?;
    let excludes = desk.settings::<DevtoolsSection>()?.exclude_paths;
    let window = Window(desk);
    let found = match &dir {
        None => detect(&window, &excludes),
        Some(dir) => detect(&Within::new(&window, dir.as_str()), &excludes),
    };
    found.map_err(|error| match &error {
        DetectError::Root(why) => {
            Fault::new(Code::FilesystemError, format!("the project cannot be looked at: {why}"))
        }
        DetectError::Exclude { .. } => Fault::invalid(error.to_string()),
    })
}

/// Whether a program that a project needs is there: on this machine, or among what npm installed in the root.
pub(crate) fn is_installed(desk: &ReadDesk, program: &str) -> bool {
    let root = desk.view().root().path();
    exec::run::find(program, &exec::run::trusted_path(root), root).is_ok()
        || crate::running::installed(desk, program, None).is_ok_and(|found| found.is_some())
}

/// What tells one state of the root from another: the newest change among its files, and how many there are. Folders of
/// dependencies and of git are left out.
pub(crate) fn stamp(desk: &ReadDesk) -> Result<(u64, u64), Fault> {
    desk.view().stamp(&["node_modules", "target", ".venv", "vendor", "__pycache__"], MAX_WATCHED)
}

/// Most files that are watched.
const MAX_WATCHED: usize = 50_000;
