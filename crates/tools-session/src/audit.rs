//! The documents that a repository must have, held against it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use contract::{Fault, RelPath};
use documents::mark::Source as Mark;
use documents::{Audited, Ground, Held, Made, Requirement};
use exec::history::{Limits, LogQuery};
use kit::ReadDesk;
use kit::desk::look::Window;
use projects::{Entry, Look, LookError};
use store_api::document::{Document, NewDocument, Origin, Source};
use store_api::{Context, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::age;
use crate::here::{Here, Venture};
use crate::settings::DocumentsSection;

/// One document, and what would heal it.
pub(crate) struct Found {
    pub(crate) requirement: Requirement,
    pub(crate) said: Audited,
    pub(crate) heals: Option<(Option<String>, Made)>,
}

/// What is there of documents that are kept in the store, by name.
pub(crate) type Kept = BTreeMap<String, Document>;

/// The documents of this repository that are kept in the store.
pub(crate) async fn kept(
    store: &dyn Context,
    venture: &Venture,
    requirements: &[Requirement],
) -> Result<Kept, Fault> {
    let mut kept = Kept::new();
    for requirement in requirements.iter().filter(|requirement| requirement.paths.is_empty()) {
        let found = store.document(venture.code.clone(), requirement.name.clone()).await?;
        if let Some(document) = found {
            kept.insert(requirement.name.clone(), document);
        }
    }
    Ok(kept)
}

/// What is required here.
pub(crate) fn requirements(desk: &ReadDesk) -> Result<Vec<Requirement>, Fault> {
    let section = desk.settings::<DocumentsSection>()?.documents();
    documents::requirements(&section).map_err(|e| Fault::invalid(e.to_string()).about("gatewright.toml"))
}

/// Holds everything that is required against the repository; `leave` ends it early. Blocking.
pub(crate) fn look(
    desk: &ReadDesk,
    here: &Here,
    requirements: &[Requirement],
    kept: &Kept,
    leave: &CancellationToken,
) -> Result<Vec<Found>, Fault> {
    let now = here.workplace.now();
    let window = Until { window: Window(desk.view()), leave };
    let ground = Ground::survey(&window).map_err(|e| {
        Fault::new(contract::Code::FilesystemError, format!("the repository cannot be looked at: {e}"))
    })?;
    let mut capabilities = documents::capabilities(&ground);
    if let Some(venture) = &here.venture
        && let Some(entry) = here.workplace.ventures().get(&venture.code)
    {
        capabilities.extend(entry.capabilities.iter().cloned());
    }
    let ages = ages(desk, requirements, now);
    let age = |path: &str| ages.get(path).copied();
    let mut said = documents::audit(&ground, requirements, &capabilities, &age);
    let elsewhere = requirements.iter().filter(|r| r.paths.is_empty() && r.is_asked(&capabilities));
    for requirement in elsewhere {
        said.push(judged(&ground, requirement, kept.get(&requirement.name), now));
    }
    if leave.is_cancelled() {
        return Err(Fault::new(contract::Code::Timeout, "the documents took too long to look at"));
    }
    let found = said.into_iter().filter_map(|said| {
        let requirement = requirements.iter().find(|requirement| requirement.name == said.name)?.clone();
        let heals = documents::heal(&ground, &requirement, &said);
        Some(Found { requirement, said, heals })
    });
    Ok(found.collect())
}

fn judged(
    ground: &Ground<'_>,
    requirement: &Requirement,
    kept: Option<&Document>,
    now: Timestamp,
) -> Audited {
    let Some(document) = kept else { return documents::judge(ground, requirement, None) };
    let sources: Vec<Mark> = document
        .sources
        .iter()
        .map(|source| Mark { path: source.path.clone(), digest: source.sha256.to_string() })
        .collect();
    let held = Held {
        path: None,
        text: &document.content,
        age_days: days(document.row.updated.as_millis(), now),
        sources: &sources,
    };
    documents::judge(ground, requirement, Some(&held))
}

fn days(at: i64, now: Timestamp) -> Option<u32> {
    u32::try_from(age::days(at, now)).ok()
}

/// Days since the files that may be documents were changed: by their last commit, else by their own time.
fn ages(desk: &ReadDesk, requirements: &[Requirement], now: Timestamp) -> BTreeMap<String, u32> {
    let never = AtomicBool::new(false);
    let repository = desk.repository().ok();
    let paths: BTreeSet<&String> = requirements.iter().flat_map(|requirement| &requirement.paths).collect();
    let age = |path: &&String| {
        let file = RelPath::new(path).ok()?;
        let modified = desk.view().modified(&file)?;
        let query = LogQuery { limit: 1, paths: vec![(*path).clone()], ..LogQuery::new("HEAD") };
        let log = repository.as_ref().and_then(|repo| repo.log(&query, &Limits::default(), &never).ok());
        let committed: Option<jiff::Timestamp> =
            log.and_then(|log| log.commits.first().and_then(|commit| commit.time.parse().ok()));
        days(committed.map_or(modified, jiff::Timestamp::as_millisecond), now)
    };
    paths.iter().filter_map(|path| Some(((*path).clone(), age(path)?))).collect()
}

/// What the store keeps of a document that was made.
pub(crate) fn kept_of(venture: &Venture, found: &Found, made: &Made) -> NewDocument {
    let source = |mark: &Mark| Source { path: mark.path.clone(), sha256: mark.digest.clone().into() };
    NewDocument {
        scope: venture.code.clone(),
        name: found.requirement.name.clone(),
        title: found.requirement.title.clone(),
        content: made.text.clone(),
        origin: Origin::Generated,
        sources: made.sources.iter().map(source).collect(),
        expected: None,
    }
}

/// A window that closes.
struct Until<'a> {
    window: Window<'a>,
    leave: &'a CancellationToken,
}

impl Until<'_> {
    fn check(&self) -> Result<(), LookError> {
        if self.leave.is_cancelled() {
            Err(LookError::Refused("nobody waits any more".to_owned()))
        } else {
            Ok(())
        }
    }
}

impl Look for Until<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        self.check()?;
        self.window.read(path)
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        self.check()?;
        self.window.list(dir)
    }
}
