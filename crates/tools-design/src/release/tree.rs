//! The folders that packages are made of, as they are now and as a release had them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use contract::{Code, Fault, RelPath, State};
use exec::View;
use exec::history::{Limits, Snapshot};
use kit::ReadDesk;
use packaging::{Entry, Kind, Tree, TreeError};

/// A folder of the root.
pub(crate) struct Folder<'v> {
    view: &'v View,
    /// Empty for the root's top.
    at: String,
}

impl<'v> Folder<'v> {
    pub(crate) fn new(view: &'v View, at: &str) -> Self {
        Self { view, at: at.to_owned() }
    }

    /// A path of the folder as the root has it.
    pub(crate) fn path(&self, path: &str) -> Result<RelPath, Fault> {
        RelPath::new(&below(&self.at, path)).map_err(|e| Fault::invalid(format!("{path}: {e}")))
    }

    /// A file's bytes, and whether it may be executed.
    pub(crate) fn file(&self, path: &str) -> Result<(Vec<u8>, bool), Fault> {
        let path = self.path(path)?;
        let executable = matches!(self.view.state(&path)?, State::File { mode, .. } if mode.is_executable());
        Ok((self.view.read(&path)?, executable))
    }
}

fn below(folder: &str, path: &str) -> String {
    match (folder.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{path}"),
    }
}

fn unread(path: &str) -> impl FnOnce(Fault) -> TreeError {
    move |fault| TreeError { path: path.to_owned(), why: fault.message }
}

impl Tree for Folder<'_> {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>, TreeError> {
        let at = below(&self.at, folder);
        let path = if at.is_empty() { None } else { Some(self.path(folder).map_err(unread(folder))?) };
        let listed = match self.view.list(path.as_ref()) {
            Ok(listed) => listed,
            Err(fault) if matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => {
                return Ok(Vec::new());
            }
            Err(fault) => return Err(unread(folder)(fault)),
        };
        let kind = |entry: &exec::jail::Entry| match (entry.is_dir, entry.is_file) {
            (true, _) => Kind::Folder,
            // What a file may is asked when it is packed: a folder's listing does not say it.
            (_, true) => Kind::File { executable: false },
            _ => Kind::Link,
        };
        Ok(listed.into_iter().map(|entry| Entry { kind: kind(&entry), name: entry.name }).collect())
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TreeError> {
        let Ok(at) = self.path(path) else { return Ok(None) };
        match self.view.read_optional(&at) {
            Ok(bytes) => Ok(bytes),
            Err(fault) if fault.code == Code::PathNotAllowed => Ok(None),
            Err(fault) => Err(unread(path)(fault)),
        }
    }
}

/// A folder of a commit: its ordinary files.
pub(crate) struct Stored<'d> {
    desk: &'d ReadDesk,
    snapshot: Snapshot,
    at: String,
    /// What each folder holds.
    folders: BTreeMap<String, BTreeSet<(String, bool)>>,
}

impl<'d> Stored<'d> {
    /// The folder `at` (empty for the top) of the commit that `revision` names.
    pub(crate) fn open(desk: &'d ReadDesk, revision: &str, at: &str) -> Result<Self, Fault> {
        let never = AtomicBool::new(false);
        let snapshot =
            desk.repository()?.snapshot(revision, &Limits::default(), &never).map_err(kit::desk::unread)?;
        let mut folders: BTreeMap<String, BTreeSet<(String, bool)>> = BTreeMap::new();
        let prefix = if at.is_empty() { String::new() } else { format!("{at}/") };
        for path in snapshot.paths().filter_map(|path| path.strip_prefix(&prefix)) {
            let (mut rest, mut is_folder) = (path, false);
            loop {
                let (above, name) = rest.rsplit_once('/').unwrap_or(("", rest));
                folders.entry(above.to_owned()).or_default().insert((name.to_owned(), is_folder));
                if above.is_empty() {
                    break;
                }
                (rest, is_folder) = (above, true);
            }
        }
        Ok(Self { desk, snapshot, at: at.to_owned(), folders })
    }

    /// The snapshot itself.
    pub(crate) fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }
}

impl Tree for Stored<'_> {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>, TreeError> {
        let entries = self.folders.get(folder).into_iter().flatten().map(|(name, is_folder)| Entry {
            name: name.clone(),
            kind: if *is_folder { Kind::Folder } else { Kind::File { executable: false } },
        });
        Ok(entries.collect())
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TreeError> {
        let never = AtomicBool::new(false);
        let failed = |fault: Fault| unread(path)(fault);
        let repository = self.desk.repository().map_err(failed)?;
        repository
            .stored(&self.snapshot, &below(&self.at, path), &Limits::default(), &never)
            .map_err(|error| unread(path)(kit::desk::unread(error)))
    }
}
