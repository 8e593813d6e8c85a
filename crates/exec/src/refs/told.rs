//! What moves of refs are, for people: each ref, the commits that come with them, and the paths that those change.

use std::collections::BTreeMap;

use contract::{Digest, RefMove, Refs};
use gix::ObjectId;
use gix::objs::{CommitRef, Kind, TreeRef};

use super::pack::{self, Object};
use crate::branch::open;
use crate::root::Root;

/// Most commits that are told.
const MOST_COMMITS: usize = 50;

/// Most paths that are told of one.
const MOST_PATHS: usize = 200;

/// Deepest folder that is looked into.
const MAX_DEPTH: usize = 64;

/// One ref's line.
pub(crate) fn line(one: &RefMove) -> String {
    let id = |id: &str| id.get(..12).unwrap_or(id).to_owned();
    let name = contract::text::visible(one.short());
    match (&one.before, &one.after) {
        (None, Some(after)) => format!("+ {name} at {}\n", id(after)),
        (Some(before), None) => format!("- {name}, which was at {}\n", id(before)),
        (Some(before), Some(after)) => format!("  {name} from {} to {}\n", id(before), id(after)),
        (None, None) => String::new(),
    }
}

/// All of it. What cannot be read is left out: whether it can be applied is told elsewhere.
pub(crate) fn told(root: &Root, refs: &Refs, blobs: &BTreeMap<Digest, Vec<u8>>) -> String {
    let mut text = String::from("refs\n");
    refs.moves.iter().for_each(|one| text.push_str(&line(one)));
    let Some(objects) = refs.pack.and_then(|digest| pack::read(blobs.get(&digest)?).ok()) else {
        return text;
    };
    let by_id: BTreeMap<ObjectId, &Object> = objects.iter().map(|object| (object.id, object)).collect();
    let reader = Reader { new: by_id, repo: open(root).ok() };
    // What a branch's name leads to; commits of a plugin's own record say nothing to people.
    let mut open: Vec<ObjectId> = refs
        .moves
        .iter()
        .rev()
        .filter_map(|one| {
            let after = one.name.starts_with("refs/heads/").then_some(one.after.as_ref()?)?;
            ObjectId::from_hex(after.as_bytes()).ok()
        })
        .collect();
    let mut seen = Vec::new();
    while let Some(id) = open.pop() {
        let Some(object) =
            reader.new.get(&id).filter(|object| object.kind == Kind::Commit && !seen.contains(&id))
        else {
            continue;
        };
        seen.push(id);
        if seen.len() > MOST_COMMITS {
            text.push_str("… and more commits\n");
            break;
        }
        let Ok(commit) = CommitRef::from_bytes(&object.bytes, gix::hash::Kind::Sha1) else { continue };
        let subject = contract::text::visible(&commit.message().title.to_string());
        text.push_str(&format!("commit {} {}\n", &id.to_string()[..12], subject.trim()));
        let parent = commit.parents().next().and_then(|parent| reader.tree_of(parent));
        let mut paths = Vec::new();
        reader.differ("", parent, Some(commit.tree()), 0, &mut paths);
        let more = paths.len().saturating_sub(MOST_PATHS);
        paths.iter().take(MOST_PATHS).for_each(|line| text.push_str(line));
        if more > 0 {
            text.push_str(&format!("… and {more} more paths\n"));
        }
        open.extend(commit.parents());
    }
    text
}

/// Reads objects that come with a plan, or are there.
struct Reader<'a> {
    new: BTreeMap<ObjectId, &'a Object>,
    repo: Option<gix::Repository>,
}

impl Reader<'_> {
    fn bytes(&self, id: ObjectId) -> Option<Vec<u8>> {
        match self.new.get(&id) {
            Some(object) => Some(object.bytes.clone()),
            None => Some(self.repo.as_ref()?.find_object(id).ok()?.data.clone()),
        }
    }

    fn tree_of(&self, commit: ObjectId) -> Option<ObjectId> {
        let bytes = self.bytes(commit)?;
        Some(CommitRef::from_bytes(&bytes, gix::hash::Kind::Sha1).ok()?.tree())
    }

    /// Names, whether each is a folder, and what it is.
    fn entries(&self, tree: Option<ObjectId>) -> BTreeMap<String, (bool, u16, ObjectId)> {
        let bytes = tree.and_then(|tree| self.bytes(tree)).unwrap_or_default();
        let Ok(tree) = TreeRef::from_bytes(&bytes, gix::hash::Kind::Sha1) else { return BTreeMap::new() };
        let of = |entry: &gix::objs::tree::EntryRef<'_>| {
            (entry.filename.to_string(), (entry.mode.is_tree(), entry.mode.value(), entry.oid.to_owned()))
        };
        tree.entries.iter().map(of).collect()
    }

    fn differ(
        &self,
        above: &str,
        before: Option<ObjectId>,
        after: Option<ObjectId>,
        depth: usize,
        lines: &mut Vec<String>,
    ) {
        if before == after || depth > MAX_DEPTH || lines.len() > MOST_PATHS * 10 {
            return;
        }
        let (old, new) = (self.entries(before), self.entries(after));
        let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (was, is) = (old.get(name), new.get(name));
            if was == is {
                continue;
            }
            let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
            let folder = |side: Option<&(bool, u16, ObjectId)>| side.filter(|side| side.0).map(|side| side.2);
            let file = |side: Option<&(bool, u16, ObjectId)>| side.is_some_and(|side| !side.0);
            let sign = match (file(was), file(is)) {
                (false, true) => Some('+'),
                (true, false) => Some('-'),
                (true, true) => Some(' '),
                (false, false) => None,
            };
            let shown = contract::text::visible(&path);
            lines.extend(sign.map(|sign| format!("{sign} {shown}\n")));
            self.differ(&path, folder(was), folder(is), depth + 1, lines);
        }
    }
}
