//! Several named roots behind one front door: one engine each, with a ledger, plans and a lock of its own.

use std::sync::Arc;

use crate::call::{Call, Done};
use crate::pipeline::Engine;
use crate::registry::Registry;

/// The argument that names the root of a call. It is offered only where there are several.
pub const ROOT: &str = "root";

/// The engines of the roots that are offered; the first is meant where a call names none.
pub struct House {
    first: Arc<Engine>,
    others: Vec<Arc<Engine>>,
}

impl House {
    /// A house of one root, or of none.
    #[must_use]
    pub const fn of(engine: Arc<Engine>) -> Self {
        Self { first: engine, others: Vec::new() }
    }

    /// A house of several roots; every engine offers the same tools.
    #[must_use]
    pub const fn new(first: Arc<Engine>, others: Vec<Arc<Engine>>) -> Self {
        Self { first, others }
    }

    /// The tools.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.first.registry()
    }

    /// The engine of the root that is meant where a call names none.
    #[must_use]
    pub const fn first(&self) -> &Arc<Engine> {
        &self.first
    }

    /// Every engine, the first one first.
    pub fn engines(&self) -> impl Iterator<Item = &Arc<Engine>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The engine whose root or state `is_it` recognises.
    pub fn find(&self, is_it: impl Fn(&Engine) -> bool) -> Option<&Arc<Engine>> {
        self.engines().find(|engine| is_it(engine))
    }

    /// Makes a call in the root that its arguments name. A name that is no root's is refused by the first engine, as
    /// arguments that do not fit.
    pub async fn call(&self, call: Call) -> Done {
        let named = call.arguments.get(ROOT).and_then(|v| v.as_str());
        let meant =
            named.and_then(|name| self.engines().find(|e| e.root().is_some_and(|r| r.name() == name)));
        Arc::clone(meant.unwrap_or(&self.first)).call(call).await
    }
}
