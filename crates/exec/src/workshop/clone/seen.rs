//! Refs as they are seen: those of the real repository, and those of folders that programs wrote.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use contract::{Code, Fault, RefMove};
use gix::ObjectId;
use rustix::fs::{Mode, OFlags};

use crate::branch::failed;
use crate::state::broken;

/// Most refs, before or after.
const MAX_REFS: usize = 20_000;

/// Deepest folder below `refs`.
const MAX_DEPTH: usize = 32;

/// Refs, by their whole names.
pub(super) type Refs = BTreeMap<String, String>;

/// A plain small file's bytes, read without following a link at its end.
pub(super) fn plain(file: &Path, most: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    if !file.metadata().is_ok_and(|there| there.is_file() && there.len() <= most) {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The branch that a HEAD says.
pub(super) fn branch_of(head: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(head).ok()?;
    Some(text.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?.to_owned())
}

pub(super) fn packed(refs: &Refs) -> String {
    let lines = refs.iter().map(|(name, id)| format!("{id} {name}\n"));
    std::iter::once("# pack-refs with: sorted \n".to_owned()).chain(lines).collect()
}

/// What differs between refs then and now.
pub(super) fn moved(before: &Refs, after: &Refs) -> Vec<RefMove> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let all = names.into_iter().map(|name| RefMove {
        name: name.clone(),
        before: before.get(name).cloned(),
        after: after.get(name).cloned(),
    });
    all.filter(|one| one.before != one.after).collect()
}

/// The refs of the real repository that lead to objects, and those that lead to others.
pub(super) fn known(repo: &gix::Repository) -> Result<(Refs, BTreeMap<String, String>), Fault> {
    let (mut direct, mut symbolic) = (Refs::new(), BTreeMap::new());
    let unread = |e: &gix::Error| failed("the refs could not be read", e);
    let platform = repo.references().map_err(|e| unread(&e))?;
    for reference in platform.all().map_err(|e| unread(&e))? {
        let reference = reference
            .map_err(|e| Fault::new(Code::FilesystemError, format!("the refs could not be read: {e}")))?;
        let name = reference.name().as_bstr().to_string();
        if !name.starts_with("refs/") {
            continue;
        }
        match (reference.try_id(), reference.target()) {
            (Some(id), _) => drop(direct.insert(name, id.detach().to_string())),
            (None, gix::refs::TargetRef::Symbolic(to)) => {
                drop(symbolic.insert(name, to.as_bstr().to_string()));
            }
            _ => {}
        }
        if direct.len() > MAX_REFS {
            return Err(Fault::new(Code::TooLarge, format!("the repository has more than {MAX_REFS} refs"))
                .suggest("Delete branches that are merged: `git branch --merged` lists them."));
        }
    }
    Ok((direct, symbolic))
}

/// The refs of a git folder that programs wrote, that lead to objects.
pub(super) fn read_refs(git: &Path) -> Result<Refs, Fault> {
    let odd = |what: &str| {
        Fault::new(
            Code::PathNotAllowed,
            format!("what the program left of the clone's refs is not read: {what}"),
        )
        .suggest("Call the tool without `apply` for what it says.")
    };
    let mut all = Refs::new();
    let text = plain(&git.join("packed-refs"), 64 << 20).unwrap_or_default();
    for line in String::from_utf8(text).map_err(|_| odd("a name is not UTF-8"))?.lines() {
        if let Some((id, name)) = line.split_once(' ').filter(|_| !line.starts_with(['#', '^'])) {
            all.insert(name.to_owned(), id.to_owned());
        }
    }
    let mut open = vec![("refs".to_owned(), 0)];
    while let Some((dir, depth)) = open.pop() {
        let is_folder = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir());
        if !is_folder(&git.join(&dir)) {
            continue;
        }
        for entry in std::fs::read_dir(git.join(&dir)).map_err(|e| broken("clone", &e))?.flatten() {
            let name = entry.file_name().into_string().map_err(|_| odd("a name is not UTF-8"))?;
            let path = format!("{dir}/{name}");
            let kind = entry.file_type().map_err(|e| broken("clone", &e))?;
            if kind.is_dir() && depth < MAX_DEPTH {
                open.push((path, depth + 1));
            } else if kind.is_file() {
                let Some(text) = plain(&entry.path(), 4096) else { return Err(odd(&path)) };
                let text = String::from_utf8_lossy(&text).trim().to_owned();
                if text.starts_with("ref:") {
                    all.remove(&path);
                } else if Path::new(&name).extension().is_none_or(|end| end != "lock") {
                    all.insert(path, text);
                }
            } else {
                return Err(odd(&path));
            }
            if all.len() > MAX_REFS || open.len() > MAX_REFS {
                return Err(odd("there are too many"));
            }
        }
    }
    match all.iter().find(|(_, id)| ObjectId::from_hex(id.as_bytes()).is_err()) {
        Some((name, _)) => Err(odd(name)),
        None => Ok(all),
    }
}
