//! The branch effect: a commit and a new branch, written as objects and a ref. HEAD, the index and the work tree are
//! not touched, no hook, filter or program of the repository runs, and no configuration but the repository's format is
//! followed.
//!
//! gix is path-based and follows more than we want: what is opened at all is decided in `history`, for reading and
//! writing alike.

use std::collections::BTreeSet;
use std::path::Path;

use contract::effect::Branch;
use contract::{Code, Digest, Fault, State};
use gix::ObjectId;
use gix::lock::acquire::Fail;
use gix::objs::tree::EntryKind;
use gix::refs::transaction::{Change as RefChange, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};
use history::HistoryError;

use crate::root::Root;
use crate::state::{StateDir, broken};

/// Longest branch name, without the prefix.
const MAX_NAME: usize = 80;

/// Where branches that tools make live.
pub const PREFIX: &str = "sbx/";

/// Checks a branch name against `^sbx/[a-z0-9][a-z0-9._-]{0,79}$`, and git's own rules on top.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let refused = |why: &str| {
        Fault::new(Code::PathNotAllowed, format!("the branch name {:?} is refused: {why}", contract::text::visible(name)))
            .suggest("Branches made by tools are called `sbx/` and lower-case letters, digits, dots, dashes, underscores.")
    };
    let rest = name.strip_prefix(PREFIX).ok_or_else(|| refused("it does not begin with sbx/"))?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let fits = rest.len() <= MAX_NAME
        && rest.bytes().next().is_some_and(plain)
        && rest.bytes().all(|b| plain(b) || matches!(b, b'.' | b'_' | b'-'));
    if !fits {
        return Err(refused("it does not fit the grammar"));
    }
    let lock = Path::new(rest).extension().is_some_and(|e| e == "lock");
    if rest.contains("..") || rest.ends_with('.') || lock {
        return Err(refused("git does not take it"));
    }
    Ok(())
}

pub(crate) fn refused(why: &str) -> Fault {
    Fault::new(Code::PathNotAllowed, format!("the git repository is not used: {why}")).suggest(
        "Branches are written only into an ordinary repository whose `.git` directory is at the root's top.",
    )
}

pub(crate) fn failed(what: &str, error: &gix::Error) -> Fault {
    if error.is_retryable() {
        return Fault::new(Code::Conflict, format!("{what}: git holds a lock ({error})"))
            .suggest("Try again; if no git command is running, remove the `.lock` file that git left.");
    }
    if error.is_conflict() {
        return Fault::new(Code::Conflict, format!("{what}: {error}"));
    }
    Fault::new(Code::FilesystemError, format!("{what}: {error}"))
}

/// The repository at the root's top, opened by the rules that reading it has too.
pub(crate) fn open(root: &Root) -> Result<gix::Repository, Fault> {
    history::open_repository(root.path()).map_err(|error| match error {
        HistoryError::NotARepository => {
            Fault::new(Code::NotFound, "there is no git repository at the root's top")
                .suggest("Run `git init` there, or name the repository's top with --root.")
        }
        HistoryError::Refused(why) => refused(&why.to_string()),
        other => refused(&other.to_string()),
    })
}

/// Whether branches can be made here; the fault says why not.
pub fn check_possible(root: &Root) -> Result<(), Fault> {
    open(root).map(drop)
}

/// The commit that HEAD points at, in hexadecimal; `None` when it is unborn.
pub fn head(root: &Root) -> Result<Option<String>, Fault> {
    let repo = open(root)?;
    let mut head = repo.head().map_err(|e| failed("HEAD could not be read", &e))?;
    let id = head.try_peel_to_id().map_err(|e| failed("HEAD could not be read", &e))?;
    Ok(id.map(|id| id.detach().to_string()))
}

/// Writes the objects of `branch`, synced, and returns the commit's id. No ref is made; repeating it changes nothing.
pub(crate) fn write_commit(
    root: &Root,
    state: &StateDir,
    branch: &Branch,
    trailer: String,
) -> Result<String, Fault> {
    check_name(&branch.name)?;
    let repo = open(root)?;
    let base = branch.base.as_deref().map(parse_id).transpose()?;
    let now_at = head(root)?;
    if now_at != branch.base {
        return Err(Fault::new(Code::Conflict, "HEAD has moved since the rehearsal; nothing was changed")
            .suggest("Rehearse again: call the tool without `plan`."));
    }
    let when = match base {
        // The same plan gives the same commit: its time is the base's.
        Some(id) => {
            repo.find_commit(id)
                .and_then(|c| c.time())
                .map_err(|e| failed("the base commit could not be read", &e))?
                .seconds
        }
        None => 0,
    };
    let base_tree = match base {
        Some(id) => tree_of(&repo, id)?,
        None => repo.empty_tree(),
    };
    let mut written = Vec::new();
    let mut editor = base_tree.edit().map_err(|e| failed("the base tree could not be read", &e))?;
    lay(&mut editor, branch, |digest| {
        let bytes = state.blob(digest)?;
        let id = repo.write_blob(&bytes).map_err(|e| failed("an object could not be written", &e))?.detach();
        written.push(id);
        Ok(id)
    })?;
    let mut plain = editor.detach();
    let tree = plain
        .write(|tree: &gix::objs::Tree| -> gix::Result<ObjectId> {
            let id = repo.write_object(tree)?.detach();
            written.push(id);
            Ok(id)
        })
        .map_err(|e| failed("the tree could not be written", &e))?;
    let signature = || gix::actor::Signature {
        name: "gatewright".into(),
        email: "gatewright@localhost".into(),
        time: gix::date::Time::new(when, 0),
    };
    let commit = gix::objs::Commit {
        tree,
        parents: base.into_iter().collect(),
        author: signature(),
        committer: signature(),
        encoding: None,
        message: format!("{}\n\n{trailer}\n", branch.message.trim_end()).into(),
        extra_headers: Vec::new(),
    };
    let id = repo.write_object(&commit).map_err(|e| failed("the commit could not be written", &e))?.detach();
    written.push(id);
    sync_objects(&repo, &written).map_err(|e| broken("git objects", &e))?;
    for object in &written {
        // gix takes an object for written when a file of its name exists, even an empty one: read it back.
        repo.find_object(*object).map_err(|e| failed("an object does not read back", &e))?;
    }
    Ok(id.to_string())
}

fn tree_of(repo: &gix::Repository, commit: ObjectId) -> Result<gix::Tree<'_>, Fault> {
    repo.find_commit(commit)
        .and_then(|c| c.tree())
        .map_err(|e| failed("the base commit could not be read", &e))
}

/// Puts the changes of `branch` into its base's tree; `blob` says which object a content is.
fn lay(
    editor: &mut gix::object::tree::Editor<'_>,
    branch: &Branch,
    mut blob: impl FnMut(&Digest) -> Result<ObjectId, Fault>,
) -> Result<(), Fault> {
    for change in &branch.changes {
        for component in change.path.components() {
            gix::validate::path::component(
                component.into(),
                None,
                gix::validate::path::component::Options::default(),
            )
            .map_err(|e| refused(&format!("{}: {e}", change.path)))?;
        }
        match &change.after {
            State::File { digest, mode, .. } => {
                let id = blob(digest)?;
                let kind = if mode.is_executable() { EntryKind::BlobExecutable } else { EntryKind::Blob };
                editor
                    .upsert(change.path.as_str(), kind, id)
                    .map_err(|e| failed("the tree could not be made", &e))?;
            }
            _ => {
                editor
                    .remove_leaf(change.path.as_str())
                    .map_err(|e| failed("the tree could not be made", &e))?;
            }
        }
    }
    Ok(())
}

/// Refuses a branch whose folders stand where its base has files: git would put the folder in the file's place.
pub(crate) fn check_fits(root: &Root, branch: &Branch) -> Result<(), Fault> {
    let Some(base) = branch.base.as_deref().map(parse_id).transpose()? else { return Ok(()) };
    let repo = open(root)?;
    let tree = tree_of(&repo, base)?;
    let goes =
        |path: &str| branch.changes.iter().any(|c| c.path.as_str() == path && c.after == State::Absent);
    let mut looked = BTreeSet::new();
    for change in branch.changes.iter().filter(|change| change.after != State::Absent) {
        let mut above = change.path.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            above = folder;
            if !looked.insert(folder) {
                break;
            }
            let there = tree
                .lookup_entry_by_path(folder)
                .map_err(|e| failed("the base commit could not be read", &e))?;
            if there.is_some_and(|entry| !entry.mode().is_tree()) && !goes(folder) {
                return Err(Fault::new(
                    Code::Conflict,
                    format!(
                        "the branch needs a folder `{folder}`, and the last commit has a file of that name"
                    ),
                )
                .about(folder.to_owned())
                .suggest("Give that file another name and commit it."));
            }
        }
    }
    Ok(())
}

/// Whether the branch is there already and is what `branch` would make of it: one commit on its base, with exactly its tree.
/// Nothing is written to find out.
pub(crate) fn is_there<'b>(
    root: &Root,
    branch: &Branch,
    content: impl Fn(&Digest) -> Option<&'b [u8]>,
) -> Result<bool, Fault> {
    let repo = open(root)?;
    let Some(tip) = points_at(&repo, &full_name(&branch.name)?)? else { return Ok(false) };
    let base = branch.base.as_deref().map(parse_id).transpose()?;
    let unread = |e: gix::Error| failed("the branch could not be read", &e);
    let commit = repo.find_commit(tip).map_err(unread)?;
    if !commit.parent_ids().map(gix::Id::detach).eq(base) {
        return Ok(false);
    }
    let there = commit.tree_id().map_err(unread)?.detach();
    let base_tree = match base {
        Some(id) => tree_of(&repo, id)?,
        None => repo.empty_tree(),
    };
    let hash = repo.object_hash();
    let mut editor = base_tree.edit().map_err(|e| failed("the base tree could not be read", &e))?;
    lay(&mut editor, branch, |digest| {
        let bytes = content(digest).ok_or_else(|| Fault::internal("a branch's content is not at hand"))?;
        gix::objs::compute_hash(hash, gix::objs::Kind::Blob, bytes)
            .map_err(|e| Fault::internal(e.to_string()))
    })?;
    let mut bytes = Vec::new();
    let tree = editor
        .detach()
        .write(|tree: &gix::objs::Tree| -> gix::Result<ObjectId> {
            bytes.clear();
            // Writing to memory does not fail; what an unsorted tree would give is no tree that is there.
            if gix::objs::WriteTo::write_to(tree, &mut bytes).is_err() {
                return Ok(ObjectId::null(hash));
            }
            gix::objs::compute_hash(hash, gix::objs::Kind::Tree, &bytes)
        })
        .map_err(|e| failed("the tree could not be made", &e))?;
    Ok(tree == there)
}

/// gix syncs nothing: objects, then their folders, before any ref names them.
pub(crate) fn sync_objects(repo: &gix::Repository, ids: &[ObjectId]) -> std::io::Result<()> {
    let objects = repo.objects.store_ref().path().to_owned();
    for id in ids {
        let hex = id.to_string();
        let folder = objects.join(&hex[..2]);
        match std::fs::File::open(folder.join(&hex[2..])) {
            Ok(file) => file.sync_all()?,
            // In a pack already.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        }
        std::fs::File::open(&folder)?.sync_all()?;
    }
    std::fs::File::open(&objects)?.sync_all()
}

pub(crate) fn parse_id(hex: &str) -> Result<ObjectId, Fault> {
    ObjectId::from_hex(hex.as_bytes()).map_err(|e| Fault::internal(e.to_string()))
}

fn full_name(name: &str) -> Result<FullName, Fault> {
    check_name(name)?;
    format!("refs/heads/{name}")
        .try_into()
        .map_err(|e: gix::validate::reference::name::Error| refused(&e.to_string()))
}

fn edit(repo: &gix::Repository, what: &str, edit: RefEdit) -> Result<(), Fault> {
    repo.refs
        .transaction()
        .prepare(Some(edit), Fail::Immediately, Fail::Immediately)
        .and_then(|transaction| transaction.commit(Option::<gix::actor::SignatureRef<'_>>::None))
        .map(|_| ())
        .map_err(|e| failed(what, &e))
}

/// Creates the branch at `commit`. It must not exist, or point there already.
pub(crate) fn create(root: &Root, name: &str, commit: &str) -> Result<(), Fault> {
    let repo = open(root)?;
    let full = full_name(name)?;
    let id = parse_id(commit)?;
    if points_at(&repo, &full)?.is_some_and(|there| there != id) {
        return Err(Fault::new(
            Code::Conflict,
            format!("the branch {name} exists already; nothing was changed"),
        )
        .suggest("Choose another name, or delete the branch."));
    }
    let update = RefEdit {
        change: RefChange::Update {
            log: LogChange { mode: RefLog::AndReference, force_create_reflog: false, message: "".into() },
            expected: PreviousValue::MustNotExist,
            new: Target::Object(id),
        },
        name: full,
        deref: false,
    };
    edit(&repo, "the branch could not be created", update)?;
    let refs = repo.git_dir().join("refs/heads/sbx");
    std::fs::File::open(&refs).and_then(|d| d.sync_all()).map_err(|e| broken("git refs", &e))
}

fn points_at(repo: &gix::Repository, full: &FullName) -> Result<Option<ObjectId>, Fault> {
    let found = repo.try_find_reference(full).map_err(|e| failed("the branch could not be read", &e))?;
    Ok(found.filter(|r| r.name().as_bstr() == full.as_bstr()).and_then(|r| r.try_id().map(gix::Id::detach)))
}

/// Checks that the branch is where we left it, so that undo may delete it.
pub(crate) fn check_points_at(root: &Root, name: &str, commit: &str) -> Result<(), Fault> {
    let repo = open(root)?;
    match points_at(&repo, &full_name(name)?)? {
        Some(id) if id == commit => Ok(()),
        Some(_) => Err(Fault::new(
            Code::Conflict,
            format!("the branch {name} has later commits; nothing was changed"),
        )
        .suggest("Keep it, or delete it yourself with git.")),
        None => Ok(()),
    }
}

/// Deletes the branch if it still points at `commit`; a branch that is gone or moved is left as it is.
pub(crate) fn delete(root: &Root, name: &str, commit: &str) -> Result<(), Fault> {
    let repo = open(root)?;
    let full = full_name(name)?;
    let id = parse_id(commit)?;
    if points_at(&repo, &full)? != Some(id) {
        return Ok(());
    }
    let delete = RefEdit {
        change: RefChange::Delete {
            expected: PreviousValue::MustExistAndMatch(Target::Object(id)),
            log: RefLog::AndReference,
        },
        name: full,
        deref: false,
    };
    edit(&repo, "the branch could not be deleted", delete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g16_only_plain_names_below_sbx_are_branches() {
        for good in ["sbx/tokens-1a2b", "sbx/a", "sbx/release-1.2.3"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        let long = format!("sbx/{}", "x".repeat(300));
        for bad in [
            "-evil",
            "--output=x",
            "HEAD",
            "sbx/HEAD",
            "main",
            "sbx/a..b",
            "sbx/x.lock",
            "sbx/@{",
            "refs/../x",
            "sbx/../x",
            "sbx/",
            "sbx/-evil",
            "sbx/.a",
            "sbx/a.",
            "sbx/a/b",
            "sbx/a b",
            "sbx/a\n",
            "sbx/\u{202e}a",
            "sbx/ä",
            &long,
        ] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
