//! The objects of a plan: a git pack without deltas, so that each object stands in it whole, and no size is a surprise.
//!
//! They come from programs. Before one is the repository's, its bytes must be what an object of its kind is (names in trees by our
//! own rules), and everything that it names must be there or come with it: git's own programs would otherwise meet holes.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use contract::{Code, Fault};
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::objs::{CommitRef, Kind, TagRef, TreeRef};

/// Most bytes of a pack.
pub const MAX_PACK: u64 = 64 << 20;

/// Most objects of a pack.
const MAX_OBJECTS: usize = 50_000;

/// Most bytes of its objects, unpacked.
const MAX_UNPACKED: u64 = 256 << 20;

/// Most bytes that a header says the length of an entry with.
const MAX_VARINT: u32 = 35;

/// One object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

impl Object {
    /// An object with these bytes, called what they make it be called.
    pub(crate) fn of(kind: Kind, bytes: Vec<u8>) -> Result<Self, Fault> {
        let id = gix::objs::compute_hash(HASH, kind, &bytes).map_err(|e| Fault::internal(e.to_string()))?;
        Ok(Self { id, kind, bytes })
    }
}

const HASH: gix::hash::Kind = gix::hash::Kind::Sha1;

/// What a pack may hold, counted while it is put together or read.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    objects: usize,
    unpacked: u64,
}

impl Allowance {
    /// Counts an object of so many bytes.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.objects += 1;
        self.unpacked = self.unpacked.saturating_add(bytes);
        if self.objects > MAX_OBJECTS {
            return Err(too_large(&format!("more than {MAX_OBJECTS} git objects")));
        }
        if self.unpacked > MAX_UNPACKED {
            return Err(too_large(&format!("more than {} MiB of git objects", MAX_UNPACKED >> 20)));
        }
        Ok(())
    }
}

fn too_large(what: &str) -> Fault {
    Fault::new(Code::TooLarge, format!("it makes {what}, which is more than a plan takes"))
        .suggest("Do it with git itself, or in smaller steps.")
}

fn damaged(why: &str) -> Fault {
    Fault::new(Code::PathNotAllowed, format!("the plan's git objects are refused: {why}"))
        .suggest("Rehearse again: call the tool without `plan`.")
}

fn code_of(kind: Kind) -> u8 {
    match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    }
}

/// The bytes of a pack of `objects`.
pub(crate) fn write(objects: &[Object]) -> Result<Vec<u8>, Fault> {
    let mut allowance = Allowance::default();
    let count = u32::try_from(objects.len()).map_err(|_| too_large("too many git objects"))?;
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend(count.to_be_bytes());
    for object in objects {
        let mut left = object.bytes.len() as u64;
        allowance.take(left)?;
        let low = |bits: u64, most: u64| u8::try_from(bits & most).unwrap_or_default();
        let mut byte = code_of(object.kind) << 4 | low(left, 15);
        left >>= 4;
        while left > 0 {
            pack.push(byte | 0x80);
            byte = low(left, 127);
            left >>= 7;
        }
        pack.push(byte);
        let mut packed = ZlibEncoder::new(pack, Compression::default());
        packed.write_all(&object.bytes).map_err(|e| Fault::internal(e.to_string()))?;
        pack = packed.finish().map_err(|e| Fault::internal(e.to_string()))?;
        if pack.len() as u64 > MAX_PACK {
            return Err(too_large(&format!("a pack of more than {} MiB", MAX_PACK >> 20)));
        }
    }
    pack.extend(sum(&pack)?);
    Ok(pack)
}

fn sum(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut hasher = gix::hash::hasher(HASH);
    hasher.update(bytes);
    Ok(hasher.try_finalize().map_err(|e| Fault::internal(e.to_string()))?.as_slice().to_vec())
}

/// The objects of a pack. Deltas, other versions and bytes that belong to nothing are refused.
pub(crate) fn read(pack: &[u8]) -> Result<Vec<Object>, Fault> {
    if pack.len() as u64 > MAX_PACK {
        return Err(too_large(&format!("a pack of more than {} MiB", MAX_PACK >> 20)));
    }
    let (body, trailer) = pack.split_at_checked(pack.len().saturating_sub(20)).unwrap_or_default();
    if trailer.len() != 20 || sum(body)? != trailer {
        return Err(damaged("the pack is not whole"));
    }
    let Some(("PACK\0\0\0\x02", rest)) =
        body.split_at_checked(8).and_then(|(head, rest)| Some((std::str::from_utf8(head).ok()?, rest)))
    else {
        return Err(damaged("it is no pack of version 2"));
    };
    let Some((count, mut rest)) = rest.split_first_chunk::<4>() else {
        return Err(damaged("the pack says of nothing how much it is"));
    };
    let count = u32::from_be_bytes(*count) as usize;
    let (mut allowance, mut objects) = (Allowance::default(), Vec::new());
    for _ in 0..count {
        let (kind, length, behind) = header(rest)?;
        allowance.take(length)?;
        let mut unpacked = ZlibDecoder::new(behind);
        let mut bytes = Vec::new();
        unpacked
            .by_ref()
            .take(length.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|_| damaged("an object cannot be unpacked"))?;
        if bytes.len() as u64 != length {
            return Err(damaged("an object is not as long as the pack says"));
        }
        let used = usize::try_from(unpacked.total_in()).unwrap_or(usize::MAX);
        rest = behind.get(used..).ok_or_else(|| damaged("the pack ends within an object"))?;
        objects.push(Object::of(kind, bytes)?);
    }
    if rest.is_empty() { Ok(objects) } else { Err(damaged("there is more in the pack than it says")) }
}

fn header(bytes: &[u8]) -> Result<(Kind, u64, &[u8]), Fault> {
    let cut = || damaged("the pack ends where an object begins");
    let (first, mut rest) = bytes.split_first().ok_or_else(cut)?;
    let kind = match first >> 4 & 7 {
        1 => Kind::Commit,
        2 => Kind::Tree,
        3 => Kind::Blob,
        4 => Kind::Tag,
        _ => return Err(damaged("an object does not stand in it whole")),
    };
    let (mut length, mut shift, mut goes_on) = (u64::from(first & 15), 4, first & 0x80 != 0);
    while goes_on {
        let (next, behind) = rest.split_first().ok_or_else(cut)?;
        if shift > MAX_VARINT {
            return Err(damaged("an object is too long"));
        }
        length |= u64::from(next & 127) << shift;
        (shift, goes_on, rest) = (shift + 7, next & 0x80 != 0, behind);
    }
    Ok((kind, length, rest))
}

/// What an object names, and of which kind that must be. Fails where it is no object of its kind.
pub(crate) fn names(object: &Object) -> Result<Vec<(ObjectId, Kind)>, Fault> {
    let bad = |why: &str| damaged(&format!("{} {}: {why}", object.kind, object.id));
    Ok(match object.kind {
        Kind::Blob => Vec::new(),
        Kind::Commit => {
            let commit = CommitRef::from_bytes(&object.bytes, HASH).map_err(|e| bad(&e.to_string()))?;
            commit.author().and_then(|_| commit.committer()).map_err(|e| bad(&e.to_string()))?;
            let parents = commit.parents().map(|id| (id, Kind::Commit));
            std::iter::once((commit.tree(), Kind::Tree)).chain(parents).collect()
        }
        Kind::Tag => {
            let tag = TagRef::from_bytes(&object.bytes, HASH).map_err(|e| bad(&e.to_string()))?;
            vec![(tag.target(), tag.target_kind)]
        }
        Kind::Tree => {
            let tree = TreeRef::from_bytes(&object.bytes, HASH).map_err(|e| bad(&e.to_string()))?;
            let mut named = Vec::new();
            let mut last: Option<&gix::objs::tree::EntryRef<'_>> = None;
            for entry in &tree.entries {
                gix::validate::path::component(
                    entry.filename,
                    entry.mode.is_link().then_some(gix::validate::path::component::Mode::Symlink),
                    gix::validate::path::component::Options::default(),
                )
                .map_err(|e| bad(&e.to_string()))?;
                let in_order = last.is_none_or(|last| {
                    last.filename != entry.filename
                        && gix::objs::tree::name_order(
                            last.filename,
                            last.mode.is_tree(),
                            entry.filename,
                            entry.mode.is_tree(),
                        )
                        .is_lt()
                });
                if !in_order {
                    return Err(bad("its names are not in git's order"));
                }
                last = Some(entry);
                if entry.mode.is_tree() {
                    named.push((entry.oid.to_owned(), Kind::Tree));
                } else if !entry.mode.is_commit() {
                    // The commit of a submodule is in another repository.
                    named.push((entry.oid.to_owned(), Kind::Blob));
                }
            }
            named
        }
    })
}

/// Fails unless every object is one, and everything that it names is among them or, as `there` says, of that kind in the repository.
pub(crate) fn check(objects: &[Object], there: impl Fn(&ObjectId) -> Option<Kind>) -> Result<(), Fault> {
    let known: BTreeMap<ObjectId, Kind> = objects.iter().map(|object| (object.id, object.kind)).collect();
    for object in objects {
        for (id, kind) in names(object)? {
            match known.get(&id).copied().or_else(|| there(&id)) {
                Some(is) if is == kind => {}
                Some(is) => {
                    return Err(damaged(&format!(
                        "{} {} names {id} as a {kind}: it is a {is}",
                        object.kind, object.id
                    )));
                }
                None => {
                    return Err(damaged(&format!(
                        "{} {} names {id}, which is nowhere",
                        object.kind, object.id
                    )));
                }
            }
        }
    }
    Ok(())
}

/// Everything that `tips` lead to and the repository does not have: `there` says what it has, `find` reads what is new.
pub(crate) fn gather(
    tips: impl IntoIterator<Item = ObjectId>,
    there: impl Fn(&ObjectId) -> bool,
    mut find: impl FnMut(&ObjectId) -> Result<Object, Fault>,
) -> Result<Vec<Object>, Fault> {
    let mut open: Vec<ObjectId> = tips.into_iter().collect();
    let (mut found, mut allowance) = (BTreeMap::new(), Allowance::default());
    while let Some(id) = open.pop() {
        if found.contains_key(&id) || there(&id) {
            continue;
        }
        let object = find(&id)?;
        allowance.take(object.bytes.len() as u64)?;
        open.extend(names(&object)?.into_iter().map(|(id, _)| id));
        found.insert(id, object);
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn blob(bytes: &[u8]) -> Object {
        Object::of(Kind::Blob, bytes.to_vec()).unwrap()
    }

    fn tree(entries: &[(&str, &str, &Object)]) -> Object {
        let mut bytes = Vec::new();
        for (mode, name, object) in entries {
            bytes.extend(format!("{mode} {name}\0").bytes());
            bytes.extend(object.id.as_slice());
        }
        Object::of(Kind::Tree, bytes).unwrap()
    }

    #[test]
    fn what_is_no_object_of_its_kind_is_refused() {
        let a = blob(b"a");
        for (mode, name) in [
            ("100644", ".git"),
            ("40000", ".GIT"),
            ("100644", "git~1"),
            ("100644", ".gi\u{200c}t"),
            ("100644", ".."),
            ("100644", "a/b"),
            ("100644", ""),
        ] {
            assert!(names(&tree(&[(mode, name, &a)])).is_err(), "{name:?}");
        }
        assert!(names(&tree(&[("100644", "b", &a), ("100644", "a", &a)])).is_err(), "out of order");
        assert!(names(&tree(&[("100644", "a", &a), ("100755", "a", &a)])).is_err(), "one name twice");
        assert_eq!(names(&tree(&[("100644", "a", &a)])).unwrap(), [(a.id, Kind::Blob)]);
        let commit = Object::of(Kind::Commit, b"tree nothing\n\n".to_vec()).unwrap();
        assert!(names(&commit).is_err());
    }

    #[test]
    fn nothing_may_be_named_that_is_nowhere_or_of_another_kind() {
        let (a, b) = (blob(b"a"), blob(b"b"));
        let both = [tree(&[("100644", "a", &a)]), a.clone()];
        assert!(check(&both, |_| None).is_ok());
        assert!(check(&both[..1], |_| None).unwrap_err().message.contains("nowhere"));
        assert!(check(&both[..1], |id| (*id == a.id).then_some(Kind::Blob)).is_ok());
        let wrong = [tree(&[("40000", "b", &b)]), b];
        assert!(check(&wrong, |_| None).unwrap_err().message.contains("it is a blob"));
    }

    proptest! {
        #[test]
        fn a_pack_gives_back_what_was_put_in(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 0..12)) {
            let objects: Vec<Object> = texts.iter().map(|text| blob(text)).collect();
            let pack = write(&objects).unwrap();
            prop_assert_eq!(read(&pack).unwrap(), objects);
        }

        #[test]
        fn no_bytes_that_were_changed_are_a_pack(text in prop::collection::vec(any::<u8>(), 0..99), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
            let mut pack = write(&[blob(&text)]).unwrap();
            let at = at.index(pack.len());
            pack[at] ^= 1_u8 << bit;
            prop_assert!(read(&pack).is_err());
            prop_assert!(read(&pack[..at]).is_err());
        }

        #[test]
        fn bytes_with_a_right_sum_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200), front in any::<bool>()) {
            let mut pack = if front { b"PACK\0\0\0\x02\0\0\0\x01".to_vec() } else { Vec::new() };
            pack.extend(body);
            pack.extend(sum(&pack).unwrap());
            let _ = read(&pack);
        }
    }
}
