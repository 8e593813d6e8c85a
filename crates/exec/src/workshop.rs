//! A private copy of a root, for programs to work over: what they write there is looked at, never in the root itself.
//!
//! This is the fallback of the design for machines without overlays: it reads every file of the root once. What it
//! shows is the same as what an overlay shows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, MetadataExt as _, OpenOptions, Permissions, PermissionsExt as _};
use contract::{Code, Digest, Fault, FileMode, RelPath, State};
use tokio_util::sync::CancellationToken;

use crate::draft::Draft;
use crate::jail;
use crate::root::Root;
use crate::run::{self, Command, Ran};
use crate::state::StateDir;
use crate::view::View;

/// Most files that are copied.
const MAX_FILES: usize = 200_000;

/// A private copy of a root.
#[derive(Debug)]
pub struct Workshop {
    root: Arc<Root>,
    place: PathBuf,
    copy: Dir,
    /// What was copied, by path: enough to see that it was touched.
    copied: BTreeMap<String, Copied>,
    programs: &'static [&'static str],
    path: Vec<PathBuf>,
    cancel: CancellationToken,
}

#[derive(Debug, PartialEq, Eq)]
enum Copied {
    File { digest: Digest, mode: u32 },
    Link(String),
}

/// What a run left that no plan can express.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unplannable {
    /// Where, as the copy has it.
    pub path: String,
    /// Why no plan can have it.
    pub why: String,
}

impl Workshop {
    /// Copies what `view` is a window on. `programs` are the only ones that will run here.
    pub fn open(
        view: &View,
        state: &StateDir,
        programs: &'static [&'static str],
        cancel: &CancellationToken,
    ) -> Result<Self, Fault> {
        let root = Arc::clone(view.root());
        let place = state.scratch()?;
        let io = |e: std::io::Error| crate::state::broken("scratch folder", &e);
        let made = (|| {
            for part in ["root", "home"] {
                std::fs::create_dir(place.join(part))?;
            }
            Dir::open_ambient_dir(place.join("root"), ambient_authority())
        })();
        let copy = made.map_err(io)?;
        let path = run::trusted_path(root.path());
        let mut workshop =
            Self { root, place, copy, copied: BTreeMap::new(), programs, path, cancel: cancel.clone() };
        workshop.fill()?;
        Ok(workshop)
    }

    fn fill(&mut self) -> Result<(), Fault> {
        let from = self.root.dir().try_clone().map_err(|e| crate::state::broken("root", &e))?;
        let to = self.copy.try_clone().map_err(|e| crate::state::broken("scratch folder", &e))?;
        let mut open = vec![(from, to, String::new())];
        while let Some((from, to, prefix)) = open.pop() {
            let at = |e: std::io::Error| {
                Fault::new(Code::FilesystemError, format!("{prefix}: it could not be copied: {}", e.kind()))
            };
            for entry in from.entries().map_err(at)? {
                if self.cancel.is_cancelled() {
                    return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
                }
                let entry = entry.map_err(at)?;
                let name = entry.file_name();
                let Some(text) = name.to_str().filter(|n| !n.starts_with(jail::TEMPORARY)) else { continue };
                let path = if prefix.is_empty() { text.to_owned() } else { format!("{prefix}/{text}") };
                let kind = entry.file_type().map_err(at)?;
                if kind.is_dir() {
                    to.create_dir_with(&name, &DirBuilder::new()).map_err(at)?;
                    let sub = from.open_dir_nofollow(&name).map_err(at)?;
                    open.push((sub, to.open_dir_nofollow(&name).map_err(at)?, path));
                } else if kind.is_symlink() {
                    let target = from.read_link_contents(&name).map_err(at)?;
                    to.symlink_contents(&target, &name).map_err(at)?;
                    self.copied.insert(path, Copied::Link(target.to_string_lossy().into_owned()));
                } else if kind.is_file() {
                    let copied = copy_file(&from, &to, text, &path)?;
                    self.copied.insert(path, copied);
                }
                if self.copied.len() > MAX_FILES {
                    return Err(Fault::new(
                        Code::TooLarge,
                        format!(
                            "the root has more than {MAX_FILES} files: programs cannot be rehearsed over a copy of it"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Runs a program that the tool declares, at the copy's top. It blocks.
    pub fn run(&self, command: &Command) -> Result<Ran, Fault> {
        if !self.programs.contains(&command.program) {
            return Err(Fault::internal(format!(
                "the tool does not declare the program {}",
                command.program
            )));
        }
        run::run(command, &self.place.join("root"), &self.place.join("home"), &self.path, &self.cancel)
    }

    /// Reads a file of the copy, by the rules for reading the root.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, Fault> {
        jail::read(&self.copy, path).map(|(bytes, _)| bytes)
    }

    /// What the programs changed, as a draft against `view`, and what of it no plan can express.
    ///
    /// A path that a program changed and that somebody else has changed in the root meanwhile is a conflict.
    pub fn changes(&self, view: &View) -> Result<(Draft, Vec<Unplannable>), Fault> {
        let mut draft = Draft::default();
        let mut unplannable = Vec::new();
        let mut there = BTreeMap::new();
        walk(&self.copy, &mut there, &mut unplannable)?;
        let gone = self.copied.keys().filter(|path| !there.contains_key(*path)).map(|path| (path, None));
        let left = there.iter().filter(|(path, left)| self.copied.get(*path) != Some(left));
        for (path, left) in left.map(|(path, left)| (path, Some(left))).chain(gone) {
            match self.propose(&mut draft, view, path, left) {
                Ok(()) => {}
                Err(fault) if fault.code == Code::PathNotAllowed => {
                    unplannable.push(Unplannable { path: path.clone(), why: fault.message });
                }
                Err(fault) => return Err(fault),
            }
        }
        unplannable.sort();
        Ok((draft, unplannable))
    }

    fn propose(
        &self,
        draft: &mut Draft,
        view: &View,
        path: &str,
        left: Option<&Copied>,
    ) -> Result<(), Fault> {
        let copied = self.copied.get(path);
        let path = RelPath::new(path).map_err(|e| Fault::new(Code::PathNotAllowed, e.to_string()))?;
        let same = match (copied, view.state(&path)?) {
            (None, State::Absent) => true,
            (Some(Copied::File { digest, .. }), State::File { digest: now, .. }) => *digest == now,
            (Some(Copied::Link(target)), State::Symlink { target: now }) => *target == now,
            _ => false,
        };
        if !same {
            let message = format!("{path}: it changed while the program ran; nothing was changed");
            return Err(Fault::new(Code::Conflict, message)
                .about(path.as_str())
                .suggest("Call the tool again."));
        }
        match left {
            None => draft.remove(view, &path),
            Some(Copied::Link(target)) => draft.symlink(view, &path, target),
            Some(Copied::File { mode, .. }) => {
                let mode = if mode & 0o100 == 0 { FileMode::Regular } else { FileMode::Executable };
                draft.put(view, &path, self.read(&path)?, mode)
            }
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // A tool's program may have taken its own rights away: what cannot be removed is swept with the scratch folder.
        if let Err(error) = std::fs::remove_dir_all(&self.place) {
            tracing::warn!(%error, "a scratch folder could not be removed");
        }
    }
}

fn copy_file(from: &Dir, to: &Dir, name: &str, path: &str) -> Result<Copied, Fault> {
    let named = RelPath::new("copied").map_err(|e| Fault::internal(e.to_string()))?;
    let (bytes, metadata) = jail::read_in(from, name, &named)?;
    let at = |e: std::io::Error| Fault::new(Code::FilesystemError, format!("{path}: {}", e.kind()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = to.open_with(name, &options).map_err(at)?;
    std::io::Write::write_all(&mut file, &bytes).map_err(at)?;
    let mode = metadata.mode() & 0o777;
    file.set_permissions(Permissions::from_mode(mode)).map_err(at)?;
    // Build programs compare times: the copy's are the root's.
    let modified =
        metadata.modified().map_or_else(|_| SystemTime::now(), cap_std::time::SystemTime::into_std);
    file.into_std().set_modified(modified).map_err(at)?;
    Ok(Copied::File { digest: Digest::of(&bytes), mode })
}

/// Everything below `top`, by path.
fn walk(
    top: &Dir,
    found: &mut BTreeMap<String, Copied>,
    unplannable: &mut Vec<Unplannable>,
) -> Result<(), Fault> {
    let named = RelPath::new("copied").map_err(|e| Fault::internal(e.to_string()))?;
    let mut open =
        vec![(top.try_clone().map_err(|e| crate::state::broken("scratch folder", &e))?, String::new())];
    while let Some((dir, prefix)) = open.pop() {
        let at = |e: std::io::Error| Fault::new(Code::FilesystemError, format!("{prefix}: {}", e.kind()));
        for entry in dir.entries().map_err(at)? {
            let entry = entry.map_err(at)?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let path = if prefix.is_empty() { shown.into_owned() } else { format!("{prefix}/{shown}") };
            let mut refuse =
                |why: &str| unplannable.push(Unplannable { path: path.clone(), why: why.into() });
            let Some(name) = name.to_str() else {
                refuse("its name is not UTF-8");
                continue;
            };
            let kind = entry.file_type().map_err(at)?;
            if kind.is_dir() {
                open.push((dir.open_dir_nofollow(name).map_err(at)?, path));
            } else if kind.is_symlink() {
                let target = dir.read_link_contents(name).map_err(at)?;
                found.insert(path, Copied::Link(target.to_string_lossy().into_owned()));
            } else if kind.is_file() {
                let (bytes, metadata) = jail::read_in(&dir, name, &named)?;
                let (digest, mode) = (Digest::of(&bytes), metadata.mode() & 0o777);
                found.insert(path, Copied::File { digest, mode });
            } else {
                refuse("it is neither a file nor a link");
            }
        }
    }
    Ok(())
}
