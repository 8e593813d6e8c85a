//! The refs effect: refs made, moved and deleted together, all or none. HEAD, the index and the work tree are not touched; what is
//! checked out is never moved. Objects come with the plan ([`pack`]) and are verified before any is the repository's.
//!
//! Refs move by compare-and-swap under git's own locks, so that git and we never overwrite each other.

pub(crate) mod pack;
pub(crate) mod told;

use std::collections::BTreeSet;
use std::path::Path;

use contract::{Code, Fault, RefMove, Refs, SeenRef};
use gix::ObjectId;
use gix::lock::acquire::Fail;
use gix::objs::Kind;
use gix::refs::transaction::{Change as RefChange, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

pub use pack::MAX_PACK;

use crate::branch::{failed, open, parse_id, refused, sync_objects};
use crate::root::Root;
use crate::state::{StateDir, broken};

/// Longest name of a ref, in bytes.
const MAX_NAME: usize = 300;

/// Longest part of one: it is a file's name, and git puts `.lock` behind it.
const MAX_PART: usize = 250;

/// Most refs of one effect.
const MAX_MOVES: usize = 2_000;

/// What is below `refs/` and means something to git or to others: only branches and, where a plugin says so, what a remote was seen
/// to have are moved.
const OTHERS: [&str; 10] = [
    "tags",
    "notes",
    "replace",
    "stash",
    "bisect",
    "original",
    "worktree",
    "rewritten",
    "pull",
    "merge-requests",
];

/// Checks a whole name, such as `refs/heads/topic`, against git's rules and ours.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let no = |why: &str| {
        let shown = contract::text::visible(name);
        Fault::new(Code::PathNotAllowed, format!("the ref {shown:?} is refused: {why}"))
            .suggest("Refs that plans move are branches, and what a plugin declares.")
    };
    let parts: Vec<&str> = name.split('/').collect();
    let ["refs", space, rest @ ..] = parts.as_slice() else { return Err(no("it is not below refs/")) };
    if rest.is_empty() || OTHERS.contains(space) {
        return Err(no("it is none that a plan may move"));
    }
    if name.len() > MAX_NAME || parts.iter().any(|part| part.len() > MAX_PART) {
        return Err(no("it is too long"));
    }
    if name != contract::text::visible(name) || name.contains(['\n', '\t']) {
        return Err(no("it has characters that cannot be seen"));
    }
    if parts.iter().any(|part| part.starts_with('-')) || rest == ["HEAD"] {
        return Err(no("it reads like something else"));
    }
    full_name(name).map(drop)
}

fn full_name(name: &str) -> Result<FullName, Fault> {
    name.try_into().map_err(|e: gix::validate::reference::name::Error| refused(&format!("{name:?}: {e}")))
}

/// What an effect says, against the grammar.
fn check_words(refs: &Refs) -> Result<(), Fault> {
    if refs.moves.is_empty() || refs.moves.len() > MAX_MOVES {
        return Err(Fault::new(Code::TooLarge, format!("a plan moves 1 to {MAX_MOVES} refs at once")));
    }
    let mut names = BTreeSet::new();
    for one in &refs.moves {
        check_name(&one.name)?;
        if one.before == one.after || !names.insert(&one.name) {
            return Err(Fault::internal(format!("{}: it goes nowhere, or twice", one.name)));
        }
        for id in one.before.iter().chain(&one.after) {
            parse_id(id)?;
        }
    }
    Ok(())
}

/// The branches of a root that are checked out, here or in a linked worktree, or are being rebased: their whole names.
pub(crate) fn checked_out(root: &Root) -> Result<Vec<String>, Fault> {
    Ok(checked_out_of(open(root)?.git_dir()))
}

fn checked_out_of(git: &Path) -> Vec<String> {
    let mut dirs = vec![git.to_owned()];
    let linked = std::fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten();
    dirs.extend(linked.map(|entry| entry.path()));
    let read = |file: &Path| {
        let small = std::fs::symlink_metadata(file).is_ok_and(|there| there.is_file() && there.len() <= 4096);
        small.then(|| std::fs::read_to_string(file).ok()).flatten()
    };
    let mut names = Vec::new();
    for dir in dirs {
        let head = read(&dir.join("HEAD"));
        names.extend(head.and_then(|text| Some(text.strip_prefix("ref:")?.trim().to_owned())));
        for busy in ["rebase-merge/head-name", "rebase-apply/head-name"] {
            names.extend(read(&dir.join(busy)).map(|text| text.trim().to_owned()));
        }
    }
    names
}

/// The fault of a plan that would move what is checked out.
fn is_checked_out(name: &str) -> Fault {
    let short = name.strip_prefix("refs/heads/").unwrap_or(name);
    Fault::new(
        Code::Conflict,
        format!("{short} is checked out, and a plan moves no branch under a work tree; nothing was changed"),
    )
    .about(name)
    .suggest("`git switch` to another branch (or `git switch --detach`), and call the tool again.")
}

fn at(repo: &gix::Repository, name: &str) -> Result<Option<String>, Fault> {
    let full = full_name(name)?;
    let found = repo
        .try_find_reference(&full)
        .map_err(|e| failed(&format!("{name} could not be read"), &e))?
        .filter(|found| found.name().as_bstr() == full.as_bstr());
    match found {
        None => Ok(None),
        Some(found) => match found.try_id() {
            Some(id) => Ok(Some(id.detach().to_string())),
            None => Err(refused(&format!("{name} leads to another ref"))),
        },
    }
}

/// Where a ref is now.
pub(crate) fn where_is(root: &Root, name: &str) -> Result<Option<String>, Fault> {
    at(&open(root)?, name)
}

/// Fails unless refs are where they were seen.
pub(crate) fn check_seen(root: &Root, seen: &[SeenRef]) -> Result<(), Fault> {
    if seen.is_empty() {
        return Ok(());
    }
    let repo = open(root)?;
    for one in seen {
        if at(&repo, &one.name)?.as_ref() != Some(&one.id) {
            let message =
                format!("{} is not where the request that is planned saw it; nothing was changed", one.name);
            return Err(Fault::new(Code::Conflict, message)
                .about(one.name.as_str())
                .suggest("Rehearse again: call the tool without `plan`."));
        }
    }
    Ok(())
}

/// Whether every ref is where the effect moves it already.
pub(crate) fn stand(root: &Root, refs: &Refs) -> Result<bool, Fault> {
    let repo = open(root)?;
    for one in &refs.moves {
        if at(&repo, &one.name)? != one.after {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fails unless every ref may be moved and is where the effect expects it.
pub(crate) fn check(root: &Root, refs: &Refs) -> Result<(), Fault> {
    check_words(refs)?;
    let repo = open(root)?;
    let busy = checked_out_of(repo.git_dir());
    for one in &refs.moves {
        if busy.contains(&one.name) {
            return Err(is_checked_out(&one.name));
        }
        let now = at(&repo, &one.name)?;
        if now != one.before {
            let is = |id: &Option<String>| {
                id.as_ref().map_or_else(|| "nowhere".to_owned(), |id| id[..12].to_owned())
            };
            let message = format!(
                "{} is at {}, and the plan expects it at {}; nothing was changed",
                one.name,
                is(&now),
                is(&one.before)
            );
            return Err(Fault::new(Code::Conflict, message).about(one.name.as_str()).suggest(
                "Rehearse again: call the tool without `plan`. Of an undo: it is later work, which stays.",
            ));
        }
    }
    Ok(())
}

/// Verifies the objects of the effect and writes those that are not there, synced. No ref moves; repeating it changes nothing.
pub(crate) fn write_objects(root: &Root, state: &StateDir, refs: &Refs) -> Result<(), Fault> {
    let repo = open(root)?;
    let kind = |id: &ObjectId| repo.find_header(*id).ok().map(|header| header.kind());
    let objects = match &refs.pack {
        Some(digest) => pack::read(&state.blob(digest)?)?,
        None => Vec::new(),
    };
    pack::check(&objects, kind)?;
    for one in &refs.moves {
        let Some(after) = &one.after else { continue };
        let id = parse_id(after)?;
        let of =
            objects.iter().find(|object| object.id == id).map(|object| object.kind).or_else(|| kind(&id));
        match of {
            Some(Kind::Commit) => {}
            Some(other) => return Err(refused(&format!("{} would lead to a {other}", one.name))),
            None => {
                return Err(Fault::new(
                    Code::Conflict,
                    format!(
                        "{}: the commit {} is not in the repository; nothing was changed",
                        one.name,
                        &after[..12]
                    ),
                )
                .suggest("git has let go of it: `git fsck --lost-found` lists what it still has."));
            }
        }
    }
    let mut written = Vec::new();
    for object in &objects {
        if repo.has_object(object.id) {
            continue;
        }
        let id = gix::objs::Write::write_buf(&repo.objects, object.kind, &object.bytes).map_err(|e| {
            Fault::new(Code::FilesystemError, format!("a git object could not be written: {e}"))
        })?;
        written.push(id);
    }
    sync_objects(&repo, &written).map_err(|e| broken("git objects", &e))?;
    for id in written {
        repo.find_object(id).map_err(|e| failed("an object does not read back", &e))?;
    }
    Ok(())
}

fn edit(one: &RefMove) -> Result<RefEdit, Fault> {
    let before = one.before.as_deref().map(parse_id).transpose()?;
    let after = one.after.as_deref().map(parse_id).transpose()?;
    let expected =
        before.map_or(PreviousValue::MustNotExist, |id| PreviousValue::MustExistAndMatch(Target::Object(id)));
    let change = match after {
        Some(id) => RefChange::Update {
            log: LogChange { mode: RefLog::AndReference, force_create_reflog: false, message: "".into() },
            expected,
            new: Target::Object(id),
        },
        None => RefChange::Delete { expected, log: RefLog::AndReference },
    };
    Ok(RefEdit { change, name: full_name(&one.name)?, deref: false })
}

/// Moves the refs, each from where it is expected: all of them, or none as far as git's files can.
pub(crate) fn make(root: &Root, moves: &[RefMove]) -> Result<(), Fault> {
    let repo = open(root)?;
    let edits = moves.iter().map(edit).collect::<Result<Vec<_>, Fault>>()?;
    repo.refs
        .transaction()
        .prepare(edits, Fail::Immediately, Fail::Immediately)
        .and_then(|transaction| transaction.commit(Option::<gix::actor::SignatureRef<'_>>::None))
        .map_err(|e| failed("the refs could not be moved", &e))?;
    for one in moves {
        let file = repo.git_dir().join(&one.name);
        if let Ok(there) = std::fs::File::open(&file) {
            there.sync_all().map_err(|e| broken("git refs", &e))?;
        }
        // A folder that went with its last ref needs no syncing.
        if let Some(Ok(folder)) = file.parent().map(std::fs::File::open) {
            folder.sync_all().map_err(|e| broken("git refs", &e))?;
        }
    }
    Ok(())
}

/// Takes moves back one by one, as far as each ref is where they left it: names the others, and why.
pub(crate) fn take_back(root: &Root, moves: &[RefMove]) -> Vec<(String, String)> {
    let mut blocked = Vec::new();
    for one in moves {
        let taken = || -> Result<Option<String>, Fault> {
            let now = at(&open(root)?, &one.name)?;
            if now == one.before {
                return Ok(None);
            }
            if now != one.after {
                return Ok(Some("someone moved it after the plan had".to_owned()));
            }
            make(root, &[one.reversed()]).map(|()| None)
        };
        match taken() {
            Ok(None) => {}
            Ok(Some(why)) => blocked.push((one.name.clone(), why)),
            Err(fault) => blocked.push((one.name.clone(), fault.message)),
        }
    }
    blocked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_branches_and_what_is_nobody_elses_has_a_name_that_moves() {
        let long = format!("refs/heads/{}", "n".repeat(251));
        let longest = format!("refs/heads/{}/{}", "n".repeat(4), "n".repeat(250));
        for good in [
            "refs/heads/main",
            "refs/heads/a/b",
            "refs/spice/data",
            "refs/heads/ä",
            "refs/remotes/origin/main",
            &longest,
        ] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "HEAD",
            "main",
            "refs/heads",
            "refs/heads/",
            "refs/tags/v1",
            "refs/stash/x",
            "refs/replace/a",
            "refs/heads/HEAD",
            "refs/heads/-x",
            "refs/heads/a..b",
            "refs/heads/a b",
            "refs/heads/a.lock",
            "refs/heads/.a",
            "refs/heads/a@{1}",
            "refs/heads/../x",
            "refs/heads/a\n",
            "refs/heads/\u{202e}a",
            "refs//a",
            "../x",
            "refs/heads/a~1",
            "refs/heads/a:b",
            "refs/heads/a\\b",
            &long,
        ] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
