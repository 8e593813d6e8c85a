//! What a release changes for those who use the package, and how far it must go for that.

use contract::Fault;
use design_tokens::diff::{Bump as TokenBump, ChangeKind};
use kit::ReadDesk;
use packaging::npm::exports::{self, ApiChange};
use packaging::version::{Bump, declared};
use packaging::{Check, Packed, Severity};
use semver::Version;

use super::past::{self, Brought};
use super::tree::Stored;
use super::{Asked, Asks};
use crate::tokens::{self, Committed, TokensSection};

/// How many changes a check spells out.
const SHOWN: usize = 12;

/// Adds what asks for a bump.
pub(super) fn take(asks: &mut Asks, bump: Bump, why: String) {
    if bump > Bump::None {
        asks.because.push(why);
    }
    asks.required = asks.required.max(bump);
}

/// What the exports of two packed releases say.
pub(crate) fn api(before: &Packed, after: &Packed, asks: &mut Asks) -> Result<Check, String> {
    const ID: &str = "npm.api";
    let old = exports::exported(before).map_err(|e| format!("the exports of the last release: {e}"))?;
    let new = exports::exported(after).map_err(|e| format!("the exports: {e}"))?;
    let changes = exports::compare(&old, &new);
    let Some(worst) = changes.iter().map(ApiChange::bump).max() else {
        return Ok(Check::passed(ID, "what is exported is as it was"));
    };
    let words: Vec<String> = changes.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = changes.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let detail = format!("{}{more}: a {} release", words.join("; "), worst.word());
    take(asks, worst, format!("exports: {}{more}", words.join("; ")));
    Ok(Check::passed(ID, detail))
}

/// What the public APIs of two releases say, the gravest first.
pub(super) fn told(id: &str, all: &[packaging::difference::ApiChange], asks: &mut Asks) -> Check {
    let Some(worst) = packaging::difference::bump(all) else {
        return Check::passed(id, "what is public is as it was");
    };
    let mut graver: Vec<_> = all.iter().collect();
    graver.sort_by_key(|change| std::cmp::Reverse(change.bump()));
    let words: Vec<String> = graver.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = all.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let said = format!("{}{more}", words.join("; "));
    take(asks, worst, format!("API: {said}"));
    Check::passed(id, format!("{said}: a {} release", worst.word()))
}

/// What the tokens of two revisions say. `Ok(None)`: there are none.
pub(crate) fn of_tokens(
    desk: &ReadDesk,
    revision: &str,
    source: &str,
    asks: &mut Asks,
) -> Result<Check, String> {
    const ID: &str = "release.tokens";
    let words = |fault: Fault| fault.message;
    let TokensSection(options) = desk.settings().map_err(words)?;
    let after = tokens::read(source, desk.view(), &options).map_err(words)?;
    let snapshot = Stored::open(desk, revision, "").map_err(words)?.into_snapshot();
    let before = tokens::earlier(source, &Committed { snapshot, desk }, &options)
        .map_err(|fault| format!("the tokens at {revision}: {}", fault.message))?;
    let difference = design_tokens::diff::diff(&before, &after);
    let bump = match difference.bump() {
        TokenBump::None => Bump::None,
        TokenBump::Patch => Bump::Patch,
        TokenBump::Minor => Bump::Minor,
        TokenBump::Major => Bump::Major,
    };
    if difference.tokens.is_empty() {
        return Ok(Check::passed(ID, "the tokens are as they were"));
    }
    let named: Vec<String> = difference
        .tokens
        .iter()
        .take(SHOWN)
        .map(|change| match &change.was {
            Some(was) => format!("{was} is {}", change.id),
            None => format!("{} {}", change.id, word(change.kind)),
        })
        .collect();
    let more = difference.tokens.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    take(asks, bump, format!("tokens: {}{more}", named.join("; ")));
    Ok(Check::passed(ID, format!("{}{more}: a {} release", named.join("; "), bump.word())))
}

const fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Removed => "is gone",
        ChangeKind::Renamed => "has another name",
        ChangeKind::Changed => "is another",
        ChangeKind::Added => "is new",
    }
}

/// What the commits say.
pub(crate) fn of_commits(brought: &Brought, asks: &mut Asks) -> Check {
    const ID: &str = "release.commits";
    let Brought { commits, is_cut } = brought;
    let (bump, named) = past::asked_by(commits);
    let loose = commits.iter().filter(|b| !b.said.conventional).count();
    let mut said = if loose > 0 { format!("; {loose} follow no convention") } else { String::new() };
    if *is_cut {
        said.push_str("; older ones were not read");
    }
    if bump > Bump::None {
        take(asks, bump, format!("commits: {}", named.join("; ")));
    }
    Check::passed(ID, format!("{} commits ask for a {} release{said}", commits.len(), bump.word()))
}

/// Whether the version goes as far as it must. What exports and tokens ask for must be; commits are people's words.
pub(crate) fn bump(asks: &Asks, hard: Bump, version: &Version) -> Option<Check> {
    const ID: &str = "release.bump";
    let from = asks.from.as_ref()?;
    let goes = declared(from, version);
    let (must, should) = (hard.above(from), asks.required.above(from));
    if goes >= should {
        return Some(Check::passed(
            ID,
            format!("from {from} to {version} is a {} release; {} is asked for", goes.word(), should.word()),
        ));
    }
    let severity = if goes < must { Severity::Error } else { Severity::Warning };
    let needed = must.max(should);
    Some(
        Check::failed(
            ID,
            severity,
            format!(
                "from {from} to {version} is a {} release, and a {} release is asked for by {}",
                goes.word(),
                needed.word(),
                asks.because.join("; ")
            ),
        )
        .fix(format!("Release {}, or take back what breaks.", next(from, needed))),
    )
}

/// The version that a bump leads to.
fn next(from: &Version, bump: Bump) -> Version {
    match bump {
        Bump::Major => Version::new(from.major + 1, 0, 0),
        Bump::Minor => Version::new(from.major, from.minor + 1, 0),
        Bump::Patch | Bump::None => Version::new(from.major, from.minor, from.patch + 1),
    }
}

/// The tag or commit that a release is compared with.
pub(crate) fn base(asked: &Asked, last: Option<&packaging::version::Tagged>) -> Option<String> {
    asked.base.clone().or_else(|| last.map(|tagged| format!("refs/tags/{}", tagged.tag)))
}
