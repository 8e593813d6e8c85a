//! What a team shares, through the traits alone.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::task::Poll;

use contract::Digest;

use super::{documents, handoffs, machines, notes, once, search, sessions};
use crate::once::Once;
use crate::session::{Begin, Begun, SessionKey, Speaker, Standing};
use crate::{Boxed, Clock, Context, StoreError, Timestamp};

/// Holds a driver to all of it. The driver goes by `watch`; `name` becomes a part of ventures, so that a database that others use too
/// can be tried. Nobody else may turn the watch.
pub async fn context(store: &dyn Context, watch: &Watch, name: &str) {
    sessions::all(store, watch, name).await;
    handoffs::all(store, watch, name).await;
    notes::all(store, watch, name).await;
    search::all(store, watch, name).await;
    documents::all(store, watch, name).await;
    machines::all(store, watch, name).await;
    once::all(store, watch, name).await;
}

/// A clock that stands still until it is turned.
#[derive(Debug, Clone)]
pub struct Watch(Arc<AtomicI64>);

impl Watch {
    /// One that shows so many milliseconds since 1970.
    #[must_use]
    pub fn at(millis: i64) -> Self {
        Self(Arc::new(AtomicI64::new(millis)))
    }

    /// What it shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    /// Turns it on, or back.
    pub fn turn(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets it.
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.as_millis(), Ordering::SeqCst);
    }

    /// As a driver takes it.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let watch = self.clone();
        Arc::new(move || watch.now())
    }
}

/// Milliseconds of a minute.
pub(super) const MINUTE: i64 = 60 * 1_000;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other call of this process gets: what makes an id one of its own.
#[must_use]
pub fn next() -> u128 {
    u128::from(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A key in a venture.
#[must_use]
pub fn key(venture: &str, agent: &str, track: &str) -> SessionKey {
    SessionKey {
        agent: agent.to_owned(),
        venture: venture.to_owned(),
        repo: format!("github.com/{venture}/app"),
        track: track.to_owned(),
    }
}

/// A session that is to begin, with an id of its own.
#[must_use]
pub fn begin(watch: &Watch, key: &SessionKey) -> Begin {
    Begin {
        id: crate::id::SessionId::new(watch.now(), next()),
        key: key.clone(),
        speaker: Speaker { client: Some("claude-code".to_owned()), ..Speaker::default() },
        standing: Standing::default(),
        by: "local".to_owned(),
    }
}

pub(super) async fn begun(store: &dyn Context, watch: &Watch, key: &SessionKey) -> Begun {
    store.begin(begin(watch, key), None).await.expect("a session begins").value
}

/// What makes a write the same write.
#[must_use]
pub fn once(owner: &str, key: &str, request: &str) -> Once {
    Once { owner: owner.to_owned(), key: key.to_owned(), request: Digest::of(request.as_bytes()) }
}

/// Waits for all of them at once.
pub async fn together<T>(mut futures: Vec<Boxed<T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_waiting = false;
        for (future, slot) in futures.iter_mut().zip(&mut done) {
            if slot.is_none() {
                match Pin::new(future).poll(context) {
                    Poll::Ready(value) => *slot = Some(value),
                    Poll::Pending => is_waiting = true,
                }
            }
        }
        if is_waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// That something is refused for what it is, and not for what the driver could not do.
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>, what: &str) {
    assert!(
        matches!(result, Err(StoreError::Invalid { .. } | StoreError::TooLarge { .. })),
        "{what}: {result:?}"
    );
}
