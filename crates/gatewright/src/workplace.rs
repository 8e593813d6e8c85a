//! This machine, its user and the sessions that were begun in this process.

mod build;
mod checkouts;
pub mod machine;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use context::Offline;
use context::wire::machine::Venture;
use contract::{Digest, Fault};
use exec::StateDir;
use store_api::id::SessionId;
use store_api::machine::NewMachine;
use store_api::session::{HEARTBEAT, JITTER};
use store_api::{Boxed, Context, StoreError, Timestamp};
use tools_session::Workplace;
use tools_session::settings::{GithubSection, SessionSection, VentureEntry, VenturesSection};
use tools_session::workplace::{Build, Checkouts, Link, StoreKind};

pub use build::Own;
pub use machine::random;

/// Whose session, in which root.
type Place = (Digest, String);

/// What the user configured.
#[derive(Debug, Clone)]
pub struct Told {
    pub session: SessionSection,
    pub ventures: VenturesSection,
    pub github: GithubSection,
    pub using: StoreKind,
}

/// The token for GitHub's API, where the environment has one.
pub fn token(settings: &GithubSection) -> Option<String> {
    // A token is sent to the host that it is for, and to no other.
    let usual: &[&str] =
        match (&settings.token_env, settings.host.eq_ignore_ascii_case("github.com"), &settings.api) {
            (Some(_), _, _) | (None, true, Some(_)) => &[],
            (None, true, None) => &["GH_TOKEN", "GITHUB_TOKEN"],
            (None, false, _) => &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
        };
    let own = settings.token_env.as_deref();
    own.into_iter()
        .chain(usual.iter().copied())
        .find_map(|name| std::env::var(name).ok().filter(|token| !token.is_empty()))
}

/// What this process knows.
pub struct Here {
    settings: Told,
    /// Folders that are roots.
    roots: Vec<PathBuf>,
    own: Own,
    store: Arc<dyn Context>,
    /// The context, where it is somewhere else.
    offline: Option<Offline>,
    /// Its ventures, once it said them.
    theirs: Arc<Mutex<Option<Arc<VenturesSection>>>>,
    sessions: Arc<Mutex<BTreeMap<Place, SessionId>>>,
}

impl Here {
    pub fn new(
        settings: Told,
        roots: Vec<PathBuf>,
        store: Arc<dyn Context>,
        offline: Option<Offline>,
    ) -> Self {
        let (own, theirs, sessions) = (Own::now(), Arc::default(), Arc::default());
        Self { settings, roots, own, store, offline, theirs, sessions }
    }
}

impl Workplace for Here {
    fn settings(&self) -> &SessionSection {
        &self.settings.session
    }

    fn ventures(&self) -> Arc<VenturesSection> {
        let theirs = self.theirs.lock().unwrap_or_else(PoisonError::into_inner);
        theirs.clone().unwrap_or_else(|| Arc::new(self.settings.ventures.clone()))
    }

    fn has_own_ventures(&self) -> bool {
        !self.settings.ventures.is_empty()
    }

    fn settle(&self) -> Boxed<()> {
        let is_settled = self.theirs.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let offline = self.offline.clone().filter(|_| !is_settled && self.settings.ventures.is_empty());
        let theirs = Arc::clone(&self.theirs);
        Box::pin(async move {
            let Some(offline) = offline else { return };
            match offline.ventures().await {
                Ok(ventures) => {
                    let ventures = Arc::new(ventures.into_iter().map(entry).collect());
                    *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(ventures);
                }
                Err(error) => tracing::warn!(%error, "the context's ventures are not known"),
            }
        })
    }

    fn link(&self) -> Boxed<Option<Link>> {
        let offline = self.offline.clone();
        Box::pin(async move {
            let link = offline?.link().await.ok()?;
            Some(Link {
                online: link.offline_since.is_none(),
                since: link.offline_since,
                shown_from: link.shown_from,
                waiting: link.line.waiting,
                failed: link.line.failed,
            })
        })
    }

    fn has_key(&self) -> Boxed<Option<bool>> {
        let offline = self.offline.clone();
        Box::pin(async move { Some(offline?.context_itself().has_key().await) })
    }

    fn github(&self) -> &GithubSection {
        &self.settings.github
    }

    fn github_token(&self) -> Option<String> {
        token(&self.settings.github)
    }

    fn machine(&self) -> Result<NewMachine, Fault> {
        machine::here(&StateDir::base()?)
    }

    fn now(&self) -> Timestamp {
        jiff::Timestamp::now().into()
    }

    fn random(&self) -> Result<u128, Fault> {
        random()
    }

    fn begun(&self, who: &Digest, root: &str, session: &SessionId) {
        let place = (*who, root.to_owned());
        let before = self
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(place.clone(), session.clone());
        // A command that ends with its call gives no further sign.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if before.as_ref() == Some(session) {
            return;
        }
        let (store, sessions, session) =
            (Arc::clone(&self.store), Arc::downgrade(&self.sessions), session.clone());
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(pause()).await;
                // Nobody's any more: it was ended, another took its place, or the process is about to end.
                let Some(sessions) = sessions.upgrade() else { return };
                let is_ours = |sessions: &BTreeMap<Place, SessionId>| sessions.get(&place) == Some(&session);
                if !is_ours(&sessions.lock().unwrap_or_else(PoisonError::into_inner)) {
                    return;
                }
                match store.heartbeat(session.clone()).await {
                    Ok(_) => {}
                    Err(StoreError::Closed { .. } | StoreError::NotFound { .. }) => {
                        sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&place);
                        return;
                    }
                    Err(error) => tracing::warn!(%error, "a session gave no sign of life"),
                }
            }
        });
    }

    fn ended(&self, session: &SessionId) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, kept| kept != session);
    }

    fn session(&self, who: &Digest, root: &str) -> Option<SessionId> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&(*who, root.to_owned())).cloned()
    }

    fn using(&self) -> StoreKind {
        self.settings.using
    }

    fn checkouts(&self) -> Checkouts {
        checkouts::found(&self.roots, &self.settings.session.checkouts)
    }

    fn build(&self) -> Build {
        Build {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: machine::build(),
            replaced: self.own.is_replaced(),
        }
    }
}

/// A venture of a context as the configuration has one.
fn entry(venture: Venture) -> (String, VentureEntry) {
    let Venture { code, name, organisation, repositories, capabilities } = venture;
    (code, VentureEntry { name, organisation, repositories, capabilities })
}

/// Until the next sign of life: ten minutes, two more or less, so that a fleet does not give them at once.
fn pause() -> Duration {
    let span = u128::from(JITTER.unsigned_abs()) * 2 + 1;
    let more = random().map_or(JITTER, |random| i64::try_from(random % span).unwrap_or(JITTER));
    Duration::from_millis((HEARTBEAT - JITTER + more).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_life_are_scattered_around_ten_minutes() {
        let all: Vec<u64> = (0..200).map(|_| pause().as_secs()).collect();
        assert!(all.iter().all(|secs| (480..=720).contains(secs)), "{all:?}");
        assert!(all.iter().any(|secs| *secs < 590) && all.iter().any(|secs| *secs > 610), "{all:?}");
    }
}
