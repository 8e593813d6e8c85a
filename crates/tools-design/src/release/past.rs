//! What the repository says of a release: what it follows, what was committed since, and whether the tree is as a commit has it.

use std::sync::atomic::AtomicBool;

use contract::{Fault, RelPath};
use exec::history::{HistoryError, Limits, LogQuery, Repo, Status};
use kit::ReadDesk;
use kit::desk::unread;
use packaging::changelog;
use packaging::commits::{self, Said};
use packaging::version::{Bump, Scheme, Tagged, before, is_same, releases};
use packaging::{Check, Severity};
use semver::Version;

/// How many commits since the last release are read.
const MAX_COMMITS: usize = 2_000;

/// How many files and commits a check names.
const NAMED: usize = 10;

/// A package, as its repository knows it.
#[derive(Debug, Clone)]
pub(crate) struct Whose<'a> {
    pub(crate) package: &'a str,
    /// Empty for the root's top.
    pub(crate) folder: &'a str,
    pub(crate) scheme: Scheme,
    /// Files that it takes something from and that lie elsewhere: its workspace's manifest and lock file.
    pub(crate) shared: Vec<String>,
}

impl<'a> Whose<'a> {
    /// As changelogs know it.
    pub(crate) const fn told(&self) -> changelog::Whose<'a> {
        changelog::Whose { package: self.package, scheme: self.scheme }
    }
}

/// The files of a workspace's top, for a member of it.
pub(crate) fn shared(top: &str, folder: &str, names: &[&str]) -> Vec<String> {
    if top == folder {
        return Vec::new();
    }
    let at = |name: &&str| if top.is_empty() { (*name).to_owned() } else { format!("{top}/{name}") };
    names.iter().map(at).collect()
}

/// A repository, as far as releases go.
pub(crate) struct Past {
    status: Status,
    tags: Vec<String>,
    /// The last release's archive, when it lies in the root: it is nobody's change.
    aside: Option<String>,
}

/// What commits a release brings.
pub(crate) struct Brought {
    /// The newest first.
    pub(crate) commits: Vec<Commit>,
    /// There are more, which were not read.
    pub(crate) is_cut: bool,
}

/// A commit that a release brings.
pub(crate) struct Commit {
    pub(crate) short: String,
    pub(crate) said: Said,
}

impl Past {
    /// Where there is no repository, or none that is read: why.
    pub(crate) fn of(desk: &ReadDesk, previous: Option<&RelPath>) -> Result<Result<Self, String>, Fault> {
        let repository = match Repo::open(desk.view().root().path()) {
            Ok(repository) => repository,
            Err(HistoryError::NotARepository) => {
                return Ok(Err("there is no git repository at the root's top".to_owned()));
            }
            Err(HistoryError::Refused(why)) => {
                return Ok(Err(format!("the git repository is not read: {why}")));
            }
            Err(error) => return Err(unread(error)),
        };
        let status = repository.status(&Limits::default(), &AtomicBool::new(false)).map_err(unread)?;
        let aside = previous.map(ToString::to_string);
        Ok(Ok(Self { status, tags: repository.tags().map_err(unread)?, aside }))
    }

    /// The commit that is checked out, when the package's tree is as it has it.
    pub(crate) fn commit(&self, whose: &Whose<'_>) -> Option<&str> {
        if self.changed(whose).is_empty() { self.status.head.as_deref() } else { None }
    }

    /// The commit that is checked out.
    pub(crate) fn head(&self) -> Option<&str> {
        self.status.head.as_deref()
    }

    fn releases(&self, whose: &Whose<'_>) -> Vec<Tagged> {
        releases(self.tags.iter().map(String::as_str), whose.package, whose.scheme)
    }

    /// The release that `version` of a package follows.
    pub(crate) fn last(&self, whose: &Whose<'_>, version: &Version) -> Option<Tagged> {
        before(&self.releases(whose), &whose.scheme.plain(version)).cloned()
    }

    /// What below the package's folder, or of what it takes from elsewhere, is not as the commit has it.
    fn changed(&self, whose: &Whose<'_>) -> Vec<&str> {
        let (status, folder) = (&self.status, whose.folder);
        let changed = status.staged.iter().chain(&status.unstaged).map(|change| change.path.as_str());
        let others = status.untracked.iter().map(String::as_str);
        let conflicts = status.conflicted.iter().map(|conflict| conflict.path.as_str());
        let is_below = |path: &&str| {
            folder.is_empty() || *path == folder || path.strip_prefix(folder).is_some_and(|p| p.starts_with('/'))
                // An untracked folder is named once, however much is in it.
                || folder.strip_prefix(path.trim_end_matches('/')).is_some_and(|p| p.is_empty() || p.starts_with('/'))
                || whose.shared.iter().any(|shared| shared == path)
        };
        let is_work = |path: &&str| self.aside.as_deref() != Some(*path);
        let mut found: Vec<&str> =
            changed.chain(others).chain(conflicts).filter(is_below).filter(is_work).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The checks that the repository decides.
    pub(crate) fn checks(&self, whose: &Whose<'_>, version: &Version) -> Vec<Check> {
        vec![self.clean(whose), self.free(whose, version), self.newer(whose, version)]
    }

    fn clean(&self, whose: &Whose<'_>) -> Check {
        const ID: &str = "release.clean-tree";
        let changed = self.changed(whose);
        let Some(head) = self.head() else {
            return Check::failed(ID, Severity::Error, "nothing was committed yet")
                .fix("Commit what is released, so that it can be found again.");
        };
        if changed.is_empty() {
            let short = head.get(..7).unwrap_or(head);
            return Check::passed(ID, format!("the tree is as {short} has it"));
        }
        let detail = match changed.as_slice() {
            [one] => format!("{one} is not as the last commit has it"),
            _ => format!("{} files are not as the last commit has them", changed.len()),
        };
        let mut check = Check::failed(ID, Severity::Error, detail)
            .fix("Commit or stash them: what is published should be what anybody can check out.");
        check.files = changed.iter().take(NAMED).map(ToString::to_string).collect();
        check
    }

    fn free(&self, whose: &Whose<'_>, version: &Version) -> Check {
        const ID: &str = "release.version.free";
        let (known, plain) = (self.releases(whose), whose.scheme.plain(version));
        match known.iter().find(|r| is_same(&r.version, &plain)) {
            Some(taken) => {
                Check::failed(ID, Severity::Error, format!("the tag {} exists already", taken.tag))
                    .fix("Release another version: published versions are never replaced.")
            }
            None => Check::passed(ID, format!("no tag says {version}")),
        }
    }

    fn newer(&self, whose: &Whose<'_>, version: &Version) -> Check {
        const ID: &str = "release.version.newer";
        let (known, plain) = (self.releases(whose), whose.scheme.plain(version));
        match known.iter().find(|r| r.version.pre.is_empty()) {
            Some(newest) if newest.version.cmp_precedence(&plain).is_gt() => Check::failed(
                ID,
                Severity::Warning,
                format!("{version} is older than {}, the newest release", newest.tag),
            )
            .fix("Go on only for a line that is kept up: then publish under a tag other than `latest`."),
            Some(newest) => Check::passed(ID, format!("it follows {}", newest.tag)),
            None => Check::passed(ID, "it is the first release"),
        }
    }

    /// What was committed below `folder` since `base` (from the beginning without one).
    pub(crate) fn brought(desk: &ReadDesk, base: Option<&str>, folder: &str) -> Result<Brought, Fault> {
        let range = base.map_or_else(|| "HEAD".to_owned(), |base| format!("{base}..HEAD"));
        let mut query = LogQuery::new(&range);
        query.limit = MAX_COMMITS;
        query.merges = Some(false);
        if !folder.is_empty() {
            query.paths = vec![folder.to_owned()];
        }
        let log =
            desk.repository()?.log(&query, &Limits::default(), &AtomicBool::new(false)).map_err(unread)?;
        let commits = log.commits.into_iter().map(|commit| Commit {
            said: commits::read(&format!("{}\n\n{}", commit.summary, commit.body)),
            short: commit.short,
        });
        Ok(Brought { commits: commits.collect(), is_cut: log.truncated })
    }
}

/// The bump that commits ask for, and which do.
pub(crate) fn asked_by(brought: &[Commit]) -> (Bump, Vec<String>) {
    let bump = brought.iter().map(|b| b.said.bump()).max().unwrap_or_default();
    let of: Vec<String> = brought
        .iter()
        .filter(|b| b.said.bump() == bump && bump > Bump::None)
        .take(NAMED)
        .map(|b| format!("{} {}", b.short, b.said.text))
        .collect();
    (bump, of)
}
