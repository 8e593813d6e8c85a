//! What is offered now. Tools of others come and go while a server runs; each call works from one state of the list.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::registry::Registry;

/// The registry in force, and word of every change.
pub struct Catalog {
    now: RwLock<Arc<Registry>>,
    changes: watch::Sender<u64>,
    changing: bool,
}

impl Catalog {
    /// A catalog that offers `registry` for as long as the process runs.
    #[must_use]
    pub fn fixed(registry: Registry) -> Self {
        Self { now: RwLock::new(Arc::new(registry)), changes: watch::Sender::new(0), changing: false }
    }

    /// A catalog that offers `registry` until it is replaced.
    #[must_use]
    pub fn changing(registry: Registry) -> Self {
        Self { changing: true, ..Self::fixed(registry) }
    }

    /// What is offered now.
    #[must_use]
    pub fn now(&self) -> Arc<Registry> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Offers `registry` from now on. Calls that were begun go on with what they began with.
    pub fn replace(&self, registry: Registry) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
        self.changes.send_modify(|version| *version += 1);
    }

    /// Hears of every change from now on; `None` where nothing ever changes.
    #[must_use]
    pub fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.changing.then(|| self.changes.subscribe())
    }
}
