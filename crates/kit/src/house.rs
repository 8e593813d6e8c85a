//! Several named roots behind one front door: one engine each, with a ledger, plans and a lock of its own.

use std::sync::Arc;

use contract::Kind;
use serde_json::{Map, Value};

use crate::call::{Call, Done};
use crate::kinds::Wraps;
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

    /// The inner call of one that wraps it. What does not fit stays as it is: the wrapper then says what is wrong.
    fn unwrapped(&self, mut call: Call) -> Call {
        let wrapper = self.registry().resolve(&call.tool).and_then(|outer| outer.tool.wraps());
        let (Some(wraps), Value::Object(outer)) = (wrapper, &call.arguments) else { return call };
        let known = |key: &String| matches!(key.as_str(), "tool" | "arguments" | ROOT);
        let inner = outer.get("tool").and_then(Value::as_str).and_then(|name| self.registry().resolve(name));
        let (Some(inner), true) = (inner, outer.keys().all(known)) else { return call };
        let fits = match wraps {
            Wraps::Reading => inner.spec().kind == Kind::Read,
            Wraps::Any => true,
        };
        if !fits || inner.tool.wraps().is_some() {
            return call;
        }
        let mut arguments = match outer.get("arguments") {
            None => Map::new(),
            Some(Value::Object(own)) => own.clone(),
            Some(_) => return call,
        };
        if let Some(root) = outer.get(ROOT) {
            arguments.entry(ROOT).or_insert_with(|| root.clone());
        }
        inner.spec().name.as_str().clone_into(&mut call.tool);
        call.arguments = Value::Object(arguments);
        call
    }

    /// The engine whose root or state `is_it` recognises.
    pub fn find(&self, is_it: impl Fn(&Engine) -> bool) -> Option<&Arc<Engine>> {
        self.engines().find(|engine| is_it(engine))
    }

    /// Makes a call in the root that its arguments name. A name that is no root's is refused by the first engine, as
    /// arguments that do not fit.
    ///
    /// A call that only makes another tool's call is unwrapped first: it is that tool's call from then on, under that
    /// tool's schema, policy and record.
    pub async fn call(&self, call: Call) -> Done {
        let call = self.unwrapped(call);
        let named = call.arguments.get(ROOT).and_then(|v| v.as_str());
        let meant =
            named.and_then(|name| self.engines().find(|e| e.root().is_some_and(|r| r.name() == name)));
        Arc::clone(meant.unwrap_or(&self.first)).call(call).await
    }
}
