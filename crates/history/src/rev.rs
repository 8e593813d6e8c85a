//! Revisions as text: `main`, `v1.0^{commit}`, `HEAD~2`, `abc123`, `refs/heads/x`.
//!
//! Of gitrevisions(7), names, ids, abbreviated ids, `git describe` names, `~`, `^` and `^{type}` are taken. What reads the
//! reflog (`@{…}`), searches (`:/`, `^{/…}`) or names files (`rev:path`) is refused, and so is what looks like an option.

use gix::ObjectId;
use gix::objs::Kind;

use crate::error::{Done, HistoryError};

/// Longest text, in bytes.
const MAX_TEXT: usize = 300;

/// Refs outside `refs/` that may be named.
pub(crate) const HEADS: [&str; 8] = [
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_HEAD",
    "AUTO_MERGE",
];

/// One step from an object to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// `^N`: the commit itself for 0.
    Parent(u32),
    /// `~N`: along first parents.
    Ancestor(u32),
    /// `^{type}`; `None` for `^{}`: whatever a tag names.
    Peel(Option<Kind>),
}

/// A revision, taken apart.
#[derive(Debug, PartialEq, Eq)]
struct Parsed<'t> {
    base: &'t str,
    steps: Vec<Step>,
}

/// Checks a revision against the grammar.
fn parse(text: &str) -> Done<Parsed<'_>> {
    let bad = |why: &'static str| HistoryError::BadRevision { text: clip(text), why };
    if text.is_empty() || text.len() > MAX_TEXT {
        return Err(bad("it is empty or too long"));
    }
    if text.starts_with('-') {
        return Err(bad("it looks like an option"));
    }
    if text.contains("@{") {
        return Err(bad("forms that read the reflog are not supported"));
    }
    if text.contains("..") {
        return Err(bad("it is a range where one revision is meant"));
    }
    if text.contains(':') {
        return Err(bad("forms with a colon are not supported"));
    }
    if text.chars().any(hidden) {
        return Err(bad("it has characters that are not shown"));
    }
    let (base, rest) = text.split_at(text.find(['^', '~']).unwrap_or(text.len()));
    let steps = steps(rest).ok_or_else(|| bad("what follows ^ or ~ is not a number or {type}"))?;
    let base = if base == "@" { "HEAD" } else { base };
    if gix::validate::reference::name_partial(base.into()).is_err() {
        return Err(bad("it is not a name that git allows"));
    }
    Ok(Parsed { base, steps })
}

/// Control characters, and those that change the direction or have no width.
fn hidden(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn steps(mut rest: &str) -> Option<Vec<Step>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let (sign, after) = rest.split_at(1);
        if let Some(braced) = after.strip_prefix('{').filter(|_| sign == "^") {
            let (word, after) = braced.split_once('}')?;
            out.push(Step::Peel(match word {
                "" => None,
                "commit" => Some(Kind::Commit),
                "tree" => Some(Kind::Tree),
                "blob" => Some(Kind::Blob),
                "tag" => Some(Kind::Tag),
                _ => return None,
            }));
            rest = after;
            continue;
        }
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = after.split_at(digits);
        let number = if number.is_empty() { 1 } else { number.parse().ok()? };
        out.push(if sign == "^" { Step::Parent(number) } else { Step::Ancestor(number) });
        if !after.is_empty() && !after.starts_with(['^', '~']) {
            return None;
        }
        rest = after;
    }
    Some(out)
}

/// A given text, short enough to be repeated.
fn clip(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// The two sides of `a..b` or `a...b`, an empty side being HEAD; `None` for a single revision.
pub(crate) fn range(text: &str) -> Option<(&str, &str, bool)> {
    let (left, right) = text.split_once("..")?;
    let (right, three) = right.strip_prefix('.').map_or((right, false), |right| (right, true));
    Some((if left.is_empty() { "HEAD" } else { left }, if right.is_empty() { "HEAD" } else { right }, three))
}

impl crate::Repo {
    /// The full id of the object that a revision names, as `git rev-parse --verify` gives it: a tag's own id for an
    /// annotated tag.
    pub fn resolve(&self, revision: &str) -> Result<String, HistoryError> {
        Ok(self.object(revision)?.to_string())
    }

    /// The branch and the commit that are checked out: no branch where HEAD names a commit, no commit before the first.
    pub fn checked_out(&self) -> Result<(Option<String>, Option<String>), HistoryError> {
        let head = self.head()?;
        Ok((head.branch, head.id.map(|id| id.to_string())))
    }

    /// The best common ancestor of two revisions, as `git merge-base` gives it.
    pub fn merge_base(
        &self,
        one: &str,
        other: &str,
        limits: &crate::Limits,
        cancel: &std::sync::atomic::AtomicBool,
    ) -> Result<String, HistoryError> {
        let budget = crate::budget::Budget::new(limits, cancel);
        let base = self.base_of(self.commit_id(one)?, self.commit_id(other)?, &budget)?;
        Ok(base.to_string())
    }

    pub(crate) fn base_of(
        &self,
        one: ObjectId,
        other: ObjectId,
        budget: &crate::budget::Budget<'_>,
    ) -> Done<ObjectId> {
        let painted = crate::walk::paint(&self.git, budget, &[one], &[other])?;
        painted.bases().first().copied().ok_or(HistoryError::NoMergeBase)
    }

    /// The commit that a revision names, over tags.
    pub(crate) fn commit_id(&self, text: &str) -> Done<ObjectId> {
        let id = self.object(text)?;
        self.peel(id, Some(Kind::Commit), text)
    }

    /// The commit behind an object, over tags; `None` where there is none.
    pub(crate) fn commit_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.peel(id, Some(Kind::Commit), "").ok()
    }

    /// The tree of a commit.
    pub(crate) fn tree_of(&self, commit: ObjectId) -> Done<ObjectId> {
        self.peel(commit, Some(Kind::Tree), "HEAD")
    }

    fn object(&self, text: &str) -> Done<ObjectId> {
        let parsed = parse(text)?;
        let mut id = self.base(parsed.base, text)?;
        for step in parsed.steps {
            id = match step {
                Step::Peel(kind) => self.peel(id, kind, text)?,
                Step::Parent(0) => self.peel(id, Some(Kind::Commit), text)?,
                Step::Parent(n) => self.parent(id, n, text)?,
                Step::Ancestor(n) => {
                    let mut at = self.peel(id, Some(Kind::Commit), text)?;
                    for _ in 0..n {
                        at = self.parent(at, 1, text)?;
                    }
                    at
                }
            };
        }
        Ok(id)
    }

    /// A name or id without steps, in git's order: whole ids, refs, `git describe` names, abbreviated ids.
    fn base(&self, base: &str, text: &str) -> Done<ObjectId> {
        let unknown = || HistoryError::UnknownRevision(clip(text));
        if base.len() == 40 && base.bytes().all(|b| b.is_ascii_hexdigit()) {
            let id = ObjectId::from_hex(base.to_ascii_lowercase().as_bytes()).map_err(|_| unknown())?;
            return if self.git.has_object(id) { Ok(id) } else { Err(unknown()) };
        }
        let own = HEADS.contains(&base) || base.starts_with("refs/");
        let places = [
            own.then(|| base.to_owned()),
            Some(format!("refs/{base}")),
            Some(format!("refs/tags/{base}")),
            Some(format!("refs/heads/{base}")),
            Some(format!("refs/remotes/{base}")),
            Some(format!("refs/remotes/{base}/HEAD")),
        ];
        for full in places.into_iter().flatten() {
            // HEAD in a linked worktree is found by gix; a branch without a commit is not.
            if let Some(id) = self.reference(&full)? {
                return Ok(id);
            }
        }
        if base == "HEAD" {
            return Err(HistoryError::Unborn);
        }
        let described = base.rsplit_once("-g").map(|(_, hex)| hex).filter(|hex| abbreviated(hex));
        let Some(hex) = described.or(abbreviated(base).then_some(base)) else { return Err(unknown()) };
        let prefix = gix::hash::Prefix::from_hex(&hex.to_ascii_lowercase()).map_err(|_| unknown())?;
        match self
            .git
            .objects
            .lookup_prefix(prefix, None)
            .map_err(HistoryError::git("an abbreviated id could not be looked up"))?
        {
            Some(Ok(id)) => Ok(id),
            Some(Err(())) => Err(HistoryError::Ambiguous(clip(text))),
            None => Err(unknown()),
        }
    }

    /// Follows tags, and for trees the commit, to an object of the kind.
    fn peel(&self, mut id: ObjectId, wanted: Option<Kind>, text: &str) -> Done<ObjectId> {
        let failed = || HistoryError::git("an object of the repository could not be read");
        // Tags of tags are rare; a long chain of them is not honest.
        for _ in 0..64 {
            let kind = self.git.find_header(id).map_err(failed())?.kind();
            if wanted == Some(kind) || (wanted.is_none() && kind != Kind::Tag) {
                return Ok(id);
            }
            id = match kind {
                Kind::Tag => self
                    .git
                    .find_tag(id)
                    .and_then(|tag| tag.target_id().map(gix::Id::detach))
                    .map_err(failed())?,
                Kind::Commit if wanted == Some(Kind::Tree) => self
                    .git
                    .find_commit(id)
                    .and_then(|commit| commit.tree_id().map(gix::Id::detach))
                    .map_err(failed())?,
                other => {
                    let wanted = match wanted {
                        Some(Kind::Commit) => "commit",
                        Some(Kind::Tree) => "tree",
                        Some(Kind::Blob) => "blob",
                        _ => "tag",
                    };
                    return Err(HistoryError::WrongKind {
                        text: clip(text),
                        found: other.to_string(),
                        wanted,
                    });
                }
            };
        }
        Err(HistoryError::TooLarge { what: "tags of tags", limit: 64 })
    }

    fn parent(&self, id: ObjectId, number: u32, text: &str) -> Done<ObjectId> {
        let id = self.peel(id, Some(Kind::Commit), text)?;
        let commit = self
            .git
            .find_commit(id)
            .map_err(HistoryError::git("a commit of the repository could not be read"))?;
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        commit
            .parent_ids()
            .nth(at)
            .map(gix::Id::detach)
            .filter(|parent| self.git.has_object(parent))
            .ok_or_else(|| HistoryError::UnknownRevision(clip(text)))
    }
}

fn abbreviated(hex: &str) -> bool {
    (4..40).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_forms_are_taken_apart() {
        for (text, base, expected) in [
            ("HEAD~2", "HEAD", vec![Step::Ancestor(2)]),
            ("@", "HEAD", vec![]),
            ("v1.0^", "v1.0", vec![Step::Parent(1)]),
            ("a/b^2~3^{tree}", "a/b", vec![Step::Parent(2), Step::Ancestor(3), Step::Peel(Some(Kind::Tree))]),
            ("v1^{}^0", "v1", vec![Step::Peel(None), Step::Parent(0)]),
            ("größe", "größe", vec![]),
        ] {
            assert_eq!(parse(text).unwrap(), Parsed { base, steps: expected }, "{text}");
        }
    }

    #[test]
    fn g10_what_looks_like_an_option_or_searches_is_refused() {
        let long = "x".repeat(400);
        for text in [
            "",
            "-evil",
            "--output=/x",
            "-O",
            "HEAD@{1}",
            "@{u}",
            "@{-1}",
            "main@{yesterday}",
            "a..b",
            "a...b",
            ":/fix",
            "HEAD:path",
            ":0:file",
            "HEAD^{/fix}",
            "HEAD^{weird}",
            "HEAD^x",
            "HEAD~x",
            "HEAD~99999999999",
            "a b",
            "a\nb",
            "a\0b",
            "\u{202e}a",
            "^HEAD",
            "~1",
            "refs/../x",
            "x.lock",
            "a*",
            "a?",
            "a[",
            "a\\b",
            "/a",
            "a/",
            &long,
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn ranges_have_two_sides() {
        assert_eq!(range("a..b"), Some(("a", "b", false)));
        assert_eq!(range("a...b"), Some(("a", "b", true)));
        assert_eq!(range("a.."), Some(("a", "HEAD", false)));
        assert_eq!(range("...b"), Some(("HEAD", "b", true)));
        assert_eq!(range("v1.0"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_judged(text in "\\PC{0,40}") {
            let _ = parse(&text);
            let _ = range(&text);
        }
    }
}
