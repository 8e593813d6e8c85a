//! Roots beside those that calls name: libraries, which only tools work in that say so
//! ([`Define::LIBRARY`](crate::kinds::Define::LIBRARY)). Each has an engine of its own, so that plans, jail, undo and ledger hold for it as
//! for any other root.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use contract::{Fault, Principal};

use crate::engine::Engine;

type Open = Box<dyn Fn() -> Result<Arc<Engine>, Fault> + Send + Sync>;

/// A library that may be changed.
pub struct Annex {
    name: String,
    is_shared: bool,
    /// Where it is configured to be.
    place: PathBuf,
    open: Open,
    opened: Mutex<Option<Arc<Engine>>>,
}

impl Annex {
    /// The library of this name; `is_shared` where others than the local user may reach it. `open` makes its engine when it is needed
    /// first: most processes change no library. `place` is where it is configured to be; a link there may come to lead elsewhere.
    pub fn new(
        name: impl Into<String>,
        is_shared: bool,
        place: PathBuf,
        open: impl Fn() -> Result<Arc<Engine>, Fault> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), is_shared, place, open: Box::new(open), opened: Mutex::default() }
    }

    /// What calls name it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether `principal` may reach it.
    #[must_use]
    pub const fn is_open_to(&self, principal: &Principal) -> bool {
        self.is_shared || matches!(principal, Principal::Local { .. })
    }

    /// Its engine, made where there is none, or where another folder has taken the place of the one that it is over. Blocking.
    pub fn engine(&self) -> Result<Arc<Engine>, Fault> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let is_in_place = |engine: &&Arc<Engine>| {
            engine.root().is_some_and(|root| root.is_in_place() && root.is_at(&self.place))
        };
        if let Some(engine) = opened.as_ref().filter(is_in_place) {
            return Ok(Arc::clone(engine));
        }
        let engine = (self.open)()?;
        *opened = Some(Arc::clone(&engine));
        Ok(engine)
    }

    /// Its engine, where it was made already: where nothing was ever changed there is nothing to be found.
    #[must_use]
    pub fn opened(&self) -> Option<Arc<Engine>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Annex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Annex")
            .field("name", &self.name)
            .field("is_shared", &self.is_shared)
            .finish_non_exhaustive()
    }
}
