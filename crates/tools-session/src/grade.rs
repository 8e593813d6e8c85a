//! What became of what was handed over: a handoff is held against git as it is now, before anybody believes it.
//!
//! The rules are in `docs/guide/working-day.md` in words.

use schemars::JsonSchema;
use serde::Serialize;
use store_api::handoff::{Anchor, Change};

/// Most subjects of commits that are told.
const MAX_SUBJECTS: usize = 5;
/// Most files that are told.
const MAX_FILES: usize = 20;

/// How far a handoff still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The repository stands as it did.
    Fresh,
    /// Work went on from there.
    Moved,
    /// What it speaks of is no more.
    Contradicted,
}

impl Grade {
    /// As it is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Moved => "moved",
            Self::Contradicted => "contradicted",
        }
    }
}

/// What changed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// Commits since.
    pub commits: u64,
    /// The first lines of the newest of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// Files that it names and that have another content now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The branch that is checked out now, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Files whose uncommitted work is gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<String>,
}

/// A grade with its reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graded {
    /// None where nothing can be held against it.
    pub grade: Option<Grade>,
    /// Why, the gravest first.
    pub because: Vec<String>,
    /// What changed since.
    pub changed: Changed,
}

/// The repository as it is now.
pub trait Past {
    /// The commit that is checked out.
    fn head(&self) -> Option<&str>;
    /// The branch that is checked out.
    fn branch(&self) -> Option<&str>;
    /// Whether the object database has a commit.
    fn contains(&self, commit: &str) -> bool;
    /// Whether `one` is `other` or leads to it; `None` where history ends too early to know.
    fn is_ancestor(&self, one: &str, other: &str) -> Option<bool>;
    /// Where a branch is: one of this repository, or one that is followed.
    fn tip(&self, branch: &str) -> Option<String>;
    /// Where the default branch is.
    fn default_tip(&self) -> Option<String>;
    /// The digest of a file on disk.
    fn on_disk(&self, path: &str) -> Option<String>;
    /// The digest of a file in the commit that is checked out.
    fn at_head(&self, path: &str) -> Option<String>;
    /// The digest of what is not committed.
    fn dirty(&self) -> Option<&str>;
    /// How many commits `to` has and `from` has not, and the first lines of the newest.
    fn since(&self, from: &str, to: &str, most: usize) -> (u64, Vec<String>);
}

/// Holds an anchor against the repository as it is now.
#[must_use]
pub fn grade(anchor: &Anchor, past: &dyn Past) -> Graded {
    let mut graded = Graded::default();
    let (Some(then), Some(now)) = (anchor.head.as_deref(), past.head()) else {
        graded.because.push("one of the two states has no commit".to_owned());
        return graded;
    };
    let mut against = Vec::new();
    let mut moved = Vec::new();
    if past.contains(then) {
        lineage(anchor, then, now, past, &mut against, &mut moved, &mut graded.changed);
    } else {
        against.push(format!("its commit {} is not in this repository", short(then)));
    }
    if anchor.branch.as_deref() != past.branch() && against.is_empty() {
        let (was, is) = (called(anchor.branch.as_deref()), called(past.branch()));
        moved.push(format!("{is} is checked out, and was {was}"));
        graded.changed.branch = past.branch().map(str::to_owned);
    }
    files(anchor, then == now, past, &mut against, &mut moved, &mut graded.changed);
    let is_same_dirt = anchor.dirty.digest.as_deref() == past.dirty();
    if !is_same_dirt && graded.changed.discarded.is_empty() {
        let said = if past.dirty().is_none() {
            "what was not committed then is no longer"
        } else {
            "other work is not committed"
        };
        if then == now || past.dirty().is_some() {
            moved.push(said.to_owned());
        }
    }
    graded.grade = Some(match (against.is_empty(), moved.is_empty()) {
        (false, _) => Grade::Contradicted,
        (true, false) => Grade::Moved,
        (true, true) => Grade::Fresh,
    });
    graded.because = against.into_iter().chain(moved).collect();
    graded
}

/// Whether its commit still leads to what is there.
fn lineage(
    anchor: &Anchor,
    then: &str,
    now: &str,
    past: &dyn Past,
    against: &mut Vec<String>,
    moved: &mut Vec<String>,
    changed: &mut Changed,
) {
    if then == now {
        return;
    }
    match past.is_ancestor(then, now) {
        Some(true) => {
            (changed.commits, changed.subjects) = past.since(then, now, MAX_SUBJECTS);
            let s = if changed.commits == 1 { "" } else { "s" };
            moved.push(format!("{} commit{s} since", changed.commits));
            return;
        }
        None => {
            moved.push(format!("another commit is checked out; history ends early, so that nobody knows whether {} leads to it", short(then)));
            return;
        }
        Some(false) => {}
    }
    let of_branch = anchor.branch.as_deref().and_then(|branch| past.tip(branch));
    let of_upstream = anchor.upstream.as_ref().and_then(|upstream| past.tip(&upstream.name));
    let tips = [of_branch.clone(), of_upstream, past.default_tip()];
    let lives = tips.iter().flatten().any(|tip| past.is_ancestor(then, tip) != Some(false));
    if lives {
        moved.push(format!("another commit is checked out: {}", short(now)));
    } else if anchor.branch.is_some() && of_branch.is_none() {
        against.push(format!(
            "{} is gone, and {} is on no branch that is known",
            called(anchor.branch.as_deref()),
            short(then)
        ));
    } else {
        against.push(format!("{} was rewritten or dropped: no branch leads from it", short(then)));
    }
}

/// What became of the files that it speaks of.
fn files(
    anchor: &Anchor,
    is_same_commit: bool,
    past: &dyn Past,
    against: &mut Vec<String>,
    moved: &mut Vec<String>,
    changed: &mut Changed,
) {
    let (mut gone, mut unknown) = (Vec::new(), Vec::new());
    for file in anchor.files.iter().filter(|file| file.change != Change::Deleted) {
        let here = past.on_disk(&file.path);
        if here.is_none() && file.sha256.is_some() {
            gone.push(file.path.clone());
        } else if here != file.sha256 && file.sha256.is_some() {
            changed.files.push(file.path.clone());
        }
    }
    for file in &anchor.dirty.paths {
        let here = past.on_disk(&file.path);
        if here == file.sha256 {
            // A folder, or a file that is too large: nobody knows whether it is as it was.
            if here.is_none() && file.change != Change::Deleted {
                unknown.push(file.path.clone());
            }
            continue;
        }
        let is_as_committed = here == past.at_head(&file.path);
        if is_same_commit && is_as_committed || here.is_none() {
            changed.discarded.push(file.path.clone());
        } else if !changed.files.contains(&file.path) {
            changed.files.push(file.path.clone());
        }
    }
    match gone.as_slice() {
        [] => {}
        [one] => against.push(format!("{one} is no more")),
        many => against.push(format!("{} files are no more: {}", many.len(), list(many))),
    }
    if !unknown.is_empty() {
        moved.push(format!("cannot be compared: {}", list(&unknown)));
    }
    if !changed.discarded.is_empty() {
        against.push(format!("work that was not committed is gone: {}", list(&changed.discarded)));
    }
    if !changed.files.is_empty() {
        moved.push(format!("other contents: {}", list(&changed.files)));
    }
    changed.files.truncate(MAX_FILES);
    changed.discarded.truncate(MAX_FILES);
}

fn list(paths: &[String]) -> String {
    let shown = paths.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn called(branch: Option<&str>) -> String {
    branch.map_or_else(|| "no branch".to_owned(), |branch| format!("branch {branch}"))
}

fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use store_api::handoff::{Dirty, Touched};

    use super::*;

    /// A repository of a line of commits `c1`, `c2`, …, and whatever is said besides.
    #[derive(Default, Clone)]
    struct Line {
        head: &'static str,
        branch: Option<&'static str>,
        commits: Vec<&'static str>,
        lost: Vec<&'static str>,
        tips: BTreeMap<&'static str, &'static str>,
        disk: BTreeMap<&'static str, &'static str>,
        stored: BTreeMap<&'static str, &'static str>,
        dirty: Option<&'static str>,
        is_shallow: bool,
    }

    impl Past for Line {
        fn head(&self) -> Option<&str> {
            Some(self.head).filter(|head| !head.is_empty())
        }
        fn branch(&self) -> Option<&str> {
            self.branch
        }
        fn contains(&self, commit: &str) -> bool {
            self.commits.contains(&commit) || self.lost.contains(&commit)
        }
        fn is_ancestor(&self, one: &str, other: &str) -> Option<bool> {
            if self.is_shallow {
                return None;
            }
            let at = |commit: &str| self.commits.iter().position(|c| *c == commit);
            Some(at(one).is_some() && at(one) <= at(other))
        }
        fn tip(&self, branch: &str) -> Option<String> {
            self.tips.get(branch).map(|tip| (*tip).to_owned())
        }
        fn default_tip(&self) -> Option<String> {
            self.tip("main")
        }
        fn on_disk(&self, path: &str) -> Option<String> {
            self.disk.get(path).map(|d| (*d).to_owned())
        }
        fn at_head(&self, path: &str) -> Option<String> {
            self.stored.get(path).map(|d| (*d).to_owned())
        }
        fn dirty(&self) -> Option<&str> {
            self.dirty
        }
        fn since(&self, from: &str, to: &str, most: usize) -> (u64, Vec<String>) {
            let at = |commit: &str| self.commits.iter().position(|c| *c == commit).unwrap();
            let between: Vec<String> =
                self.commits[at(from) + 1..=at(to)].iter().rev().map(|c| format!("did {c}")).collect();
            (between.len() as u64, between.into_iter().take(most).collect())
        }
    }

    fn line() -> Line {
        Line {
            head: "c2",
            branch: Some("topic"),
            commits: vec!["c1", "c2", "c3"],
            tips: BTreeMap::from([("main", "c1"), ("topic", "c2")]),
            disk: BTreeMap::from([("a.rs", "A"), ("w.rs", "W")]),
            stored: BTreeMap::from([("a.rs", "A"), ("w.rs", "w0")]),
            dirty: Some("D"),
            ..Line::default()
        }
    }

    fn anchor() -> Anchor {
        let touched =
            |path: &str, change, sha: &str| Touched { path: path.into(), change, sha256: Some(sha.into()) };
        Anchor {
            head: Some("c2".into()),
            branch: Some("topic".into()),
            files: vec![touched("a.rs", Change::Added, "A")],
            dirty: Dirty {
                unstaged: 1,
                paths: vec![touched("w.rs", Change::Modified, "W")],
                digest: Some("D".into()),
                ..Dirty::default()
            },
            ..Anchor::default()
        }
    }

    fn said(line: &Line) -> (Option<Grade>, String) {
        let graded = grade(&anchor(), line);
        (graded.grade, graded.because.join("; "))
    }

    #[test]
    fn what_nobody_touched_is_fresh() {
        assert_eq!(said(&line()), (Some(Grade::Fresh), String::new()));
    }

    #[test]
    fn work_that_went_on_is_moved_and_says_how() {
        let on =
            Line { head: "c3", dirty: None, disk: BTreeMap::from([("a.rs", "B"), ("w.rs", "W")]), ..line() };
        let graded = grade(&anchor(), &on);
        assert_eq!(graded.grade, Some(Grade::Moved), "{:?}", graded.because);
        assert_eq!(
            (graded.changed.commits, graded.changed.subjects.as_slice()),
            (1, &["did c3".to_owned()][..])
        );
        assert_eq!(graded.changed.files, ["a.rs"]);
        let (grade, why) = said(&Line { branch: Some("main"), ..line() });
        assert_eq!(
            (grade, why.as_str()),
            (Some(Grade::Moved), "branch main is checked out, and was branch topic")
        );
        let (grade, why) = said(&Line { dirty: Some("E"), ..line() });
        assert_eq!((grade, why.as_str()), (Some(Grade::Moved), "other work is not committed"));
        let (grade, why) = said(&Line { head: "c1", branch: Some("main"), dirty: None, ..line() });
        assert_eq!(grade, Some(Grade::Moved), "{why}");
        let (grade, why) = said(&Line { head: "c3", is_shallow: true, ..line() });
        assert_eq!(grade, Some(Grade::Moved));
        assert!(why.contains("history ends early"), "{why}");
    }

    #[test]
    fn what_it_speaks_of_and_is_no_more_contradicts_it() {
        let (grade, why) = said(&Line { commits: vec!["c1", "c3"], head: "c3", ..line() });
        assert_eq!(
            (grade, why.contains("not in this repository")),
            (Some(Grade::Contradicted), true),
            "{why}"
        );
        let rewritten = Line {
            commits: vec!["c1", "x2"],
            lost: vec!["c2"],
            head: "x2",
            tips: BTreeMap::from([("main", "c1"), ("topic", "x2")]),
            ..line()
        };
        let (grade, why) = said(&rewritten);
        assert_eq!((grade, why.contains("rewritten")), (Some(Grade::Contradicted), true), "{why}");
        let gone = Line { tips: BTreeMap::from([("main", "x2")]), branch: Some("main"), ..rewritten };
        let (grade, why) = said(&gone);
        assert_eq!((grade, why.contains("branch topic is gone")), (Some(Grade::Contradicted), true), "{why}");
        let (grade, why) =
            said(&Line { disk: BTreeMap::from([("a.rs", "A"), ("w.rs", "w0")]), dirty: None, ..line() });
        assert_eq!(
            (grade, why.as_str()),
            (Some(Grade::Contradicted), "work that was not committed is gone: w.rs")
        );
        let (grade, why) = said(&Line { disk: BTreeMap::from([("w.rs", "W")]), ..line() });
        assert_eq!((grade, why.as_str()), (Some(Grade::Contradicted), "a.rs is no more"));
    }

    #[test]
    fn what_was_committed_since_is_no_contradiction() {
        let committed = Line {
            head: "c3",
            dirty: None,
            stored: BTreeMap::from([("a.rs", "A"), ("w.rs", "W")]),
            ..line()
        };
        let graded = grade(&anchor(), &committed);
        assert_eq!(
            (graded.grade, graded.changed.discarded.len()),
            (Some(Grade::Moved), 0),
            "{:?}",
            graded.because
        );
        assert_eq!(graded.because, ["1 commit since"]);
    }

    #[test]
    fn without_a_commit_there_is_no_grade() {
        assert_eq!(grade(&Anchor::default(), &line()).grade, None);
        assert_eq!(grade(&anchor(), &Line::default()).grade, None);
    }
}
