//! Moves of git's refs: in the repository of a root, and, pushed, in another one.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Most names that a summary has.
const MOST_NAMED: usize = 8;

/// One ref, from where it was seen to where it goes. Commits and the like are named in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefMove {
    /// The whole name, such as `refs/heads/topic`; the grammar is `exec`'s.
    pub name: String,
    /// Where it must be: `None`, that it must not be there.
    pub before: Option<String>,
    /// Where it goes: `None` deletes it.
    pub after: Option<String>,
}

impl RefMove {
    /// The name as people know it: of a branch without `refs/heads/`.
    #[must_use]
    pub fn short(&self) -> &str {
        self.name.strip_prefix("refs/heads/").unwrap_or(&self.name)
    }

    /// What happens to it, in a word.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "move",
        }
    }

    /// The move back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { name: self.name.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}

/// A ref, where it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenRef {
    /// Its whole name.
    pub name: String,
    /// The object that it was at, in hexadecimal.
    pub id: String,
}

/// Refs that move together, all or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refs {
    /// The bytes of a pack with every object that is new: verified before any of it is the repository's.
    pub pack: Option<Digest>,
    /// The moves, by name.
    pub moves: Vec<RefMove>,
}

impl Refs {
    /// The moves back. What the pack brought stays where it is: nothing leads there any more.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { pack: None, moves: self.moves.iter().map(RefMove::reversed).collect() }
    }

    pub(crate) fn summary(&self) -> String {
        format!("refs: {}", named(&self.moves))
    }
}

/// Refs of another repository that are pushed together, all or none, each only while it is where it was last seen there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Push {
    /// What the repository calls the other one, such as `origin`.
    pub remote: String,
    /// Where that is. Without credentials.
    pub url: String,
    /// The moves there, by name; `before` is the lease.
    pub refs: Vec<RefMove>,
}

impl Push {
    pub(crate) fn summary(&self) -> String {
        format!("push to {} ({}): {}", self.remote, self.url, named(&self.refs))
    }
}

fn named(moves: &[RefMove]) -> String {
    let all = moves.iter().take(MOST_NAMED).map(|one| format!("{} {}", one.verb(), one.short()));
    let mut text = all.collect::<Vec<_>>().join(", ");
    if moves.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", moves.len() - MOST_NAMED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Effect, Phase, Reverse};

    fn one(name: &str, before: Option<&str>, after: Option<&str>) -> RefMove {
        RefMove { name: name.into(), before: before.map(Into::into), after: after.map(Into::into) }
    }

    #[test]
    fn summaries_name_what_moves_and_the_way_back_is_the_way_back() {
        let moves = vec![
            one("refs/heads/a/b", None, Some("1")),
            one("refs/heads/old", Some("2"), None),
            one("refs/spice/data", Some("3"), Some("4")),
        ];
        let refs = Effect::Refs(Refs { pack: Some(Digest::of(b"x")), moves: moves.clone() });
        assert_eq!(refs.summary(), "refs: create a/b, delete old, move refs/spice/data");
        assert_eq!((refs.phase(), refs.blobs()), (Phase::Branches, vec![Digest::of(b"x")]));
        let Reverse::Effect(back) = refs.reverse() else { panic!("refs move back") };
        assert_eq!(back.summary(), "refs: delete a/b, create old, move refs/spice/data");
        assert!(back.blobs().is_empty());
        let push = Push { remote: "origin".into(), url: "https://git.example/x".into(), refs: moves };
        let push = Effect::Push(push);
        assert!(push.sends() && push.reverse() == Reverse::Irreversible && push.phase() == Phase::Requests);
        assert!(push.summary().starts_with("push to origin (https://git.example/x): create a/b, "));
        let many = Refs { pack: None, moves: vec![one("refs/heads/x", None, Some("1")); 11] };
        assert!(many.summary().ends_with(" and 3 more"), "{}", many.summary());
    }
}
