//! The files of a pattern, looked at where they are and put where they are to be.

use contract::{Code, Digest, Fault, FileMode, RelPath, State};
use exec::View;
use kit::ChangeDesk;
use library::pattern::{MAX_FILES, is_entered};

use super::{Target, stands};

/// Folders of a skill, one below another, that are looked into.
const DEPTH: usize = 8;
/// Places of credentials that are named.
const NAMED: usize = 5;
/// What the files of a pattern end in.
pub(super) const ENDS: [&str; 4] = [".md", ".ts", ".js", "-SKILL.md"];

/// A file that is to stand in a library.
#[derive(Debug)]
pub(super) struct File {
    /// In the library.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) mode: FileMode,
}

fn link(path: &RelPath) -> Fault {
    Fault::new(
        Code::PathNotAllowed,
        format!("{path}: it is a link or no regular file: only files are taken into a library"),
    )
    .about(path.as_str())
    .suggest("Put the file itself there.")
}

/// A file that is no link; that there is none is remembered, too.
pub(super) fn read(view: &View, path: &RelPath) -> Result<Option<(Vec<u8>, FileMode)>, Fault> {
    match view.state(path)? {
        State::Absent => Ok(None),
        State::File { mode, .. } => {
            let mode = if mode.is_executable() { FileMode::Executable } else { FileMode::Regular };
            Ok(Some((view.read(path)?, mode)))
        }
        State::Symlink { .. } | State::Directory { .. } => Err(link(path)),
    }
}

/// All files below a folder, sorted, as a library's are looked through: without hidden ones. None where there is no folder.
pub(super) fn below(view: &View, folder: &RelPath) -> Result<Vec<RelPath>, Fault> {
    let mut found = Vec::new();
    let mut open = vec![(folder.clone(), DEPTH)];
    while let Some((folder, deep)) = open.pop() {
        let entries = match view.list(Some(&folder)) {
            Err(fault) if fault.code == Code::NotFound => continue,
            entries => entries?,
        };
        for entry in entries.into_iter().filter(|entry| is_entered(&entry.name)) {
            let path = folder
                .join(&entry.name)
                .map_err(|why| Fault::new(Code::PathNotAllowed, format!("{folder}/{}: {why}", entry.name)))?;
            if entry.is_dir {
                if deep == 0 {
                    return Err(Fault::new(
                        Code::TooLarge,
                        format!("{path}: it is more than {DEPTH} folders deep"),
                    )
                    .about(path.as_str()));
                }
                open.push((path, deep - 1));
            } else if entry.is_file {
                found.push(path);
            } else {
                return Err(link(&path));
            }
        }
        if found.len() > MAX_FILES {
            return Err(Fault::new(
                Code::TooLarge,
                format!("{folder}: a skill has at most {MAX_FILES} files"),
            )
            .about(folder.as_str()));
        }
    }
    found.sort();
    Ok(found)
}

/// Refuses what looks like a credential: what is in a library is read elsewhere.
pub(super) fn check_secrets(desk: &ChangeDesk, files: &[File]) -> Result<(), Fault> {
    let mut places = Vec::new();
    for file in files {
        for secret in desk.redactor().secrets(&file.bytes).into_iter().filter(|secret| secret.is_certain) {
            let before = file.bytes.get(..secret.range.start).unwrap_or_default();
            places.push(format!("{}:{}", file.name, before.split(|byte| *byte == b'\n').count()));
            if places.len() == NAMED {
                break;
            }
        }
    }
    places.dedup();
    if places.is_empty() {
        return Ok(());
    }
    let message = format!("what looks like a credential is not taken into a library: {}", places.join(", "));
    Err(Fault::new(Code::Forbidden, message)
        .suggest("Take it out, and put in its place what nobody takes for one."))
}

/// Drafts `files`; they and `others`, which must not be there, are those of one pattern. What stands already stays; `invalid_argument`
/// where something else does.
pub(super) fn put(
    desk: &ChangeDesk,
    target: &Target,
    files: Vec<File>,
    others: &[RelPath],
) -> Result<Vec<RelPath>, Fault> {
    let (mut in_the_way, mut new, mut placed) = (Vec::new(), Vec::new(), Vec::new());
    for path in others {
        if desk.view().state(path)? != State::Absent {
            in_the_way.push(path.clone());
        }
    }
    for file in files {
        let path = target.place(&file.name)?;
        match desk.view().state(&path)? {
            State::Absent => new.push((path.clone(), file)),
            State::File { digest, .. } if digest == Digest::of(&file.bytes) => {}
            State::File { .. } => in_the_way.push(path.clone()),
            State::Symlink { .. } | State::Directory { .. } => return Err(link(&path)),
        }
        placed.push(path);
    }
    if !in_the_way.is_empty() {
        return Err(stands(target, &in_the_way));
    }
    for (path, file) in new {
        desk.put(&path, file.bytes, file.mode)?;
    }
    Ok(placed)
}
