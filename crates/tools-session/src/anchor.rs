//! Where a repository stands when work is handed over.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use contract::{Digest, RelPath};
use exec::View;
use exec::history::{DiffQuery, HistoryError, Kind, Limits, Repo, Sides, Status};
use store_api::handoff::{Anchor, Change, Dirty, MAX_DIRTY, MAX_FILES, Touched, Upstream};

/// Where it stands now; `start` is the commit at which the work began.
pub(crate) fn now(
    repo: &Repo,
    view: &View,
    start: Option<&str>,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Anchor, HistoryError> {
    let status = repo.status(limits, cancel)?;
    let mut anchor = Anchor {
        head: status.head.clone(),
        branch: status.branch.clone(),
        detached: status.detached,
        upstream: status.upstream.as_ref().map(|upstream| Upstream {
            name: upstream.name.clone(),
            ahead: upstream.ahead,
            behind: upstream.behind,
        }),
        dirty: dirty(&status, view),
        ..Anchor::default()
    };
    let Some(head) = &status.head else { return Ok(anchor) };
    let start = match start {
        Some(start) if repo.resolve(start).is_ok() => Some(start.to_owned()),
        _ => match repo.default_branch()? {
            Some(branch) => repo.merge_base(&branch, head, limits, cancel).ok(),
            None => None,
        },
    };
    if let Some(start) = start {
        let sides = Sides::Revisions { from: start.clone(), to: head.clone(), merge_base: false };
        let query = DiffQuery { max_files: MAX_FILES, max_bytes: 0, renames: false, ..DiffQuery::new(sides) };
        let diff = repo.diff(&query, limits, cancel)?;
        anchor.more = diff.stats.files.saturating_sub(diff.files.len() as u64);
        let snapshot = repo.snapshot(head, limits, cancel)?;
        for file in &diff.files {
            let bytes = repo.stored(&snapshot, &file.path, limits, cancel).ok().flatten();
            anchor.files.push(Touched {
                path: file.path.clone(),
                change: change(file.kind),
                sha256: bytes.map(|bytes| Digest::of(&bytes).to_string()),
            });
        }
        anchor.start = Some(start);
    }
    Ok(anchor)
}

/// What is not committed, with a digest that changes when any of it does.
pub(crate) fn dirty(status: &Status, view: &View) -> Dirty {
    let mut touched: Vec<Touched> = Vec::new();
    let mut known = BTreeSet::new();
    let mut add = |path: &str, change: Change| {
        if known.insert(path.to_owned()) {
            touched.push(Touched { path: path.to_owned(), change, sha256: content(view, path) });
        }
    };
    for changed in status.staged.iter().chain(&status.unstaged) {
        add(&changed.path, change(changed.kind));
    }
    for path in &status.untracked {
        add(path, Change::Added);
    }
    for conflict in &status.conflicted {
        add(&conflict.path, Change::Modified);
    }
    touched.sort_by(|a, b| a.path.cmp(&b.path));
    let digest = (!touched.is_empty()).then(|| digest(&touched));
    touched.truncate(MAX_DIRTY);
    Dirty {
        staged: status.staged.len() as u64,
        unstaged: status.unstaged.len() as u64,
        untracked: status.untracked.len() as u64,
        conflicted: status.conflicted.len() as u64,
        paths: touched,
        digest,
    }
}

/// The digest of what a file has now; none of a folder, or of what cannot be read.
pub(crate) fn content(view: &View, path: &str) -> Option<String> {
    let path = RelPath::new(path).ok()?;
    let bytes = view.read_optional(&path).ok().flatten()?;
    Some(Digest::of(&bytes).to_string())
}

fn digest(touched: &[Touched]) -> String {
    let mut all = String::new();
    for file in touched {
        let word = match file.change {
            Change::Added => 'A',
            Change::Modified => 'M',
            Change::Deleted => 'D',
        };
        // No path has a NUL, so that two lists are never written alike.
        all.push_str(&format!("{word}{}\0{}\0", file.path, file.sha256.as_deref().unwrap_or_default()));
    }
    Digest::of(all.as_bytes()).to_string()
}

const fn change(kind: Kind) -> Change {
    match kind {
        Kind::Added => Change::Added,
        Kind::Deleted => Change::Deleted,
        Kind::Modified | Kind::Renamed | Kind::TypeChanged => Change::Modified,
    }
}
