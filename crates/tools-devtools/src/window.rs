//! A project as detection looks at it: through a window on the root, noting what it sees for the cache.

use std::path::Path;

use cache::{Kind, Namespace};
use contract::{Code, Fault, RelPath};
use exec::run::{candidates, find};
use kit::ReadDesk;
use kit::desk::Grounds;
use kit::desk::look::Window;
use projects::{DetectError, Entry, EntryKind, Look, Project, Trace, Traced, Within, detect};

use crate::settings::DevtoolsSection;

/// Tells what is looked at to the answer's dependencies.
struct Noting<'a>(Grounds<'a>);

impl Trace for Noting<'_> {
    fn before(&self, path: &str) {
        self.0.depends.before(Path::new(path));
    }

    fn read(&self, path: &str, bytes: Option<&[u8]>) {
        self.0.depends.read(Path::new(path), bytes);
    }

    fn head(&self, path: &str, limit: usize, bytes: Option<&[u8]>) {
        self.0.depends.head(Path::new(path), limit, bytes);
    }

    fn listed(&self, dir: &str, entries: Option<&[Entry]>) {
        let kind = |kind| match kind {
            EntryKind::Folder => Kind::Folder,
            EntryKind::File => Kind::File,
            EntryKind::Link => Kind::Link,
            EntryKind::Other => Kind::Other,
        };
        // No folder at all: `list` says that nothing is in it.
        let entries = entries.filter(|entries| !entries.is_empty() || self.0.disk.is_folder(dir));
        let entries = entries.map(|e| e.iter().map(|e| (e.name.as_str(), kind(e.kind))));
        self.0.depends.listed(Path::new(dir), entries);
    }
}

/// What `look` says of the root, or of the folder `dir` of it, given again while nothing that it looked at has changed.
pub(crate) fn looked<T: serde::Serialize + Send + Sync + 'static>(
    desk: &ReadDesk,
    namespace: Namespace,
    dir: Option<&RelPath>,
    options: &[String],
    look: impl FnOnce(&dyn Look) -> Result<T, Fault>,
) -> Result<std::sync::Arc<T>, Fault> {
    let dir = dir.map(RelPath::as_str);
    let options = format!("{options:?}");
    let question = [dir.unwrap_or_default().as_bytes(), options.as_bytes()];
    desk.again(namespace, &question, |grounds| {
        let traced = Traced::new(Window(grounds.view), Noting(grounds));
        match dir {
            None => look(&traced),
            Some(dir) => look(&Within::new(traced, dir)),
        }
    })
}

/// What the project below `directory` is.
pub(crate) fn detected(desk: &ReadDesk, directory: Option<&str>) -> Result<Project, Fault> {
    let dir = crate::running::directory(directory)?;
    let settings = desk.settings::<DevtoolsSection>()?;
    let excludes = settings.exclude_paths;
    let found = looked(desk, Namespace::ProjectDetection, dir.as_ref(), &excludes, |look| {
        detect(look, &excludes).map_err(|error| match &error {
            DetectError::Root(why) => {
                Fault::new(Code::FilesystemError, format!("the project cannot be looked at: {why}"))
            }
            DetectError::Exclude { .. } => Fault::invalid(error.to_string()),
        })
    })?;
    let mut project = (*found).clone();
    // What the project says of itself goes before what was found out.
    if let Some(kind) = settings.project_type {
        project.kind = kind;
    }
    if let Some(system) = settings.build_system {
        project.build_system = Some(system);
    }
    Ok(project)
}

/// Which of `programs` are there for a run in `dir`: on this machine, or among what npm installed for that folder.
pub(crate) fn installed(
    desk: &ReadDesk,
    programs: &[String],
    dir: Option<&RelPath>,
) -> Result<Vec<String>, Fault> {
    let root = desk.view().root().path();
    let path = desk.programs();
    let asked = format!("{programs:?} {path:?}");
    let found = desk.again(Namespace::CommandAvailability, &[asked.as_bytes()], |grounds| {
        let mut found = Vec::new();
        // A program comes with a change of its folder, and goes with one of its own: by name, mode or target.
        for dir in &path {
            grounds.depends.on_facts(dir);
        }
        for program in programs {
            for file in candidates(program, &path) {
                grounds.depends.on_facts(&file);
            }
            if find(program, &path, root).is_ok() {
                found.push(program.clone());
            }
        }
        Ok(found)
    })?;
    let here = |program: &&String| {
        found.contains(program)
            || crate::running::installed(desk, program, dir).is_ok_and(|found| found.is_some())
    };
    Ok(programs.iter().filter(here).cloned().collect())
}

/// Whether one program is there for a run in `dir`.
pub(crate) fn is_installed(desk: &ReadDesk, program: &str, dir: Option<&RelPath>) -> Result<bool, Fault> {
    Ok(!installed(desk, &[program.to_owned()], dir)?.is_empty())
}

/// What tells one state of `dir`, or of the root, from another: the newest change among its files, and how many there are.
/// Folders of dependencies and of git are left out.
pub(crate) fn stamp(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<(u64, u64), Fault> {
    desk.view().stamp(dir, &["node_modules", "target", ".venv", "vendor", "__pycache__"], MAX_WATCHED)
}

/// Most files that are watched.
const MAX_WATCHED: usize = 50_000;
