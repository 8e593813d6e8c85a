//! Looks at a git folder before gix does: gix opens by path and follows what git follows.
//!
//! Everything that will be read must be an ordinary file or directory below the folder, of a bounded size. What changes
//! between this look and the reading is not seen: whoever can do that may write the repository as well.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::error::{Done, HistoryError, Refusal};

/// Most entries below `objects` and `refs`. More means a repository that was never packed, or a bomb.
const MAX_FILES: u64 = 500_000;

/// Deepest folder below `refs`.
const MAX_DEPTH: usize = 64;

/// Largest ref file, in bytes.
const MAX_REF: u64 = 4096;

/// Files at the top that are read, and the most bytes of each.
const READ: [(&str, u64); 8] = [
    ("HEAD", MAX_REF),
    ("config", 1 << 20),
    ("config.worktree", 1 << 20),
    ("packed-refs", 256 << 20),
    ("shallow", 64 << 20),
    ("index", 1 << 30),
    ("commondir", MAX_REF),
    ("gitdir", MAX_REF),
];

/// Where a repository's own files are.
pub(crate) struct Place {
    /// What gix is to open: `.git` below the root.
    pub(crate) dot_git: PathBuf,
    /// HEAD and the index are here, without links in its path.
    pub(crate) git_dir: PathBuf,
    /// Objects, refs and configuration are here; the same but for linked worktrees.
    pub(crate) common_dir: PathBuf,
}

/// The git folder of an ordinary repository: `.git`, a directory at the root's top.
pub(crate) fn ordinary(root: &Path) -> Done<Place> {
    let dot_git = root.join(".git");
    let meta = match std::fs::symlink_metadata(&dot_git) {
        Ok(meta) => meta,
        Err(_) if looks_bare(root) => return Err(Refusal::Bare.into()),
        Err(_) => return Err(HistoryError::NotARepository),
    };
    if meta.is_symlink() {
        return Err(Refusal::Link(".git".to_owned()).into());
    }
    if meta.is_file() {
        let linked = small(&dot_git).is_some_and(|text| text.contains("/worktrees/"));
        return Err(if linked { Refusal::LinkedWorktree } else { Refusal::GitFile }.into());
    }
    if !meta.is_dir() {
        return Err(Refusal::Special(".git".to_owned()).into());
    }
    if present(&dot_git.join("commondir")) {
        return Err(Refusal::LeadsElsewhere(".git/commondir".to_owned()).into());
    }
    shared(&dot_git)?;
    let real =
        std::fs::canonicalize(&dot_git).map_err(HistoryError::io("the git folder could not be found"))?;
    Ok(Place { dot_git, git_dir: real.clone(), common_dir: real })
}

/// The git folder of a linked worktree at `root`, whose repository is the one at the top of `main`. Both must name each
/// other, as git has it: the `.git` file here, and `.git/worktrees/<name>/gitdir` there.
pub(crate) fn linked(root: &Path, main: &Path) -> Done<Place> {
    let dot_git = root.join(".git");
    if !std::fs::symlink_metadata(&dot_git).is_ok_and(|m| m.is_file()) {
        return Err(HistoryError::NotARepository);
    }
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let main = ordinary(main)?;
    let own = small(&dot_git)
        .and_then(|text| Some(root.join(text.strip_prefix("gitdir: ")?.trim_end_matches(['\r', '\n']))))
        .and_then(|path| real(&path))
        .ok_or(Refusal::LinkedWorktree)?;
    let name = own.strip_prefix(main.git_dir.join("worktrees")).map_err(|_| Refusal::LinkedWorktree)?;
    if name.components().count() != 1 {
        return Err(Refusal::LinkedWorktree.into());
    }
    top(&own)?;
    let says = |file: &str| small(&own.join(file)).map(|text| own.join(text.trim_end_matches(['\r', '\n'])));
    let back = says("gitdir").and_then(|path| real(&path));
    let common = says("commondir").and_then(|path| real(&path));
    if back.is_none() || back != real(&dot_git) || common.as_ref() != Some(&main.git_dir) {
        return Err(Refusal::LinkedWorktree.into());
    }
    Files { left: MAX_FILES }.walk(&own.join("refs"), ".git/refs", Some(MAX_REF))?;
    Ok(Place { dot_git, git_dir: own, common_dir: main.git_dir })
}

/// Files that name other repositories to take objects from.
pub(crate) const ALTERNATES: [&str; 2] = ["objects/info/alternates", "objects/info/http-alternates"];

/// What an ordinary repository and the one behind linked worktrees must be.
fn shared(dir: &Path) -> Done<()> {
    for name in ALTERNATES {
        if present(&dir.join(name)) {
            return Err(Refusal::LeadsElsewhere(format!(".git/{name}")).into());
        }
    }
    top(dir)?;
    let incomplete = |name: &str| Refusal::Incomplete(format!(".git/{name}"));
    if !std::fs::symlink_metadata(dir.join("HEAD")).is_ok_and(|m| m.is_file()) {
        return Err(incomplete("HEAD").into());
    }
    let mut files = Files { left: MAX_FILES };
    for (name, limit) in [("objects", None), ("refs", Some(MAX_REF)), ("info", Some(1 << 20))] {
        let path = dir.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => files.walk(&path, &format!(".git/{name}"), limit)?,
            Ok(meta) if meta.is_symlink() => return Err(Refusal::Link(format!(".git/{name}")).into()),
            Err(_) if name == "info" => {}
            _ => return Err(incomplete(name).into()),
        }
    }
    Ok(())
}

/// Looks at the files of a git folder's top that are read.
fn top(dir: &Path) -> Done<()> {
    let entries = std::fs::read_dir(dir).map_err(HistoryError::io("the git folder could not be listed"))?;
    for entry in entries {
        let entry = entry.map_err(HistoryError::io("the git folder could not be listed"))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let limit = READ.iter().find(|(known, _)| *known == name).map(|(_, limit)| *limit);
        let head = name.ends_with("_HEAD") && name != "FETCH_HEAD";
        let limit = limit.or(head.then_some(MAX_REF)).or(name.starts_with("sharedindex.").then_some(1 << 30));
        if let Some(limit) = limit {
            let meta = entry
                .metadata()
                .map_err(HistoryError::io("a file of the git folder could not be looked at"))?;
            plain(&meta, &format!(".git/{name}"))?;
            if meta.len() > limit {
                return Err(HistoryError::TooLarge { what: "bytes of a file of the git folder", limit });
            }
        }
    }
    Ok(())
}

fn plain(meta: &Metadata, name: &str) -> Result<(), Refusal> {
    if meta.is_symlink() {
        return Err(Refusal::Link(name.to_owned()));
    }
    if meta.is_file() { Ok(()) } else { Err(Refusal::Special(name.to_owned())) }
}

/// A count of files that runs down.
struct Files {
    left: u64,
}

impl Files {
    /// Checks every file below `dir`; with `largest`, their sizes too. `shown` is the folder's name in refusals.
    fn walk(&mut self, dir: &Path, shown: &str, largest: Option<u64>) -> Done<()> {
        let mut left = vec![(dir.to_owned(), shown.to_owned(), 0_usize)];
        while let Some((dir, shown, depth)) = left.pop() {
            let Ok(entries) = std::fs::read_dir(&dir) else { continue };
            for entry in entries {
                let entry = entry.map_err(HistoryError::io("the git folder could not be listed"))?;
                self.left = self.left.checked_sub(1).ok_or(HistoryError::TooLarge {
                    what: "files of objects and refs (git gc packs them)",
                    limit: MAX_FILES,
                })?;
                let kind = entry
                    .file_type()
                    .map_err(HistoryError::io("a file of the git folder could not be looked at"))?;
                let name = || format!("{shown}/{}", entry.file_name().to_string_lossy());
                if kind.is_symlink() {
                    return Err(Refusal::Link(name()).into());
                }
                if kind.is_dir() {
                    if depth >= MAX_DEPTH {
                        return Err(HistoryError::TooLarge {
                            what: "folders within folders in the git folder",
                            limit: MAX_DEPTH as u64,
                        });
                    }
                    left.push((entry.path(), name(), depth + 1));
                    continue;
                }
                if !kind.is_file() {
                    return Err(Refusal::Special(name()).into());
                }
                if let Some(limit) = largest {
                    let size = entry.metadata().map_or(0, |m| m.len());
                    if size > limit {
                        return Err(HistoryError::TooLarge {
                            what: "bytes of a file of the git folder",
                            limit,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

fn present(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether a folder itself is a git folder.
fn looks_bare(dir: &Path) -> bool {
    let dir_at = |name: &str| std::fs::symlink_metadata(dir.join(name)).is_ok_and(|m| m.is_dir());
    dir_at("objects")
        && dir_at("refs")
        && std::fs::symlink_metadata(dir.join("HEAD")).is_ok_and(|m| m.is_file())
}

/// The text of a small ordinary file.
fn small(path: &Path) -> Option<String> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    (meta.is_file() && meta.len() <= MAX_REF).then(|| std::fs::read_to_string(path).ok()).flatten()
}
