//! Several named roots behind one front door: one engine each, with a ledger, plans and a lock of its own.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use contract::{Kind, Principal};
use policy::{Right, Scope, scope};
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::annex::Annex;
use crate::authorise::{lacking, lacking_for_reading};
use crate::call::{Call, Done};
use crate::engine::Engine;
use crate::jobs::Jobs;
use crate::kinds::Wraps;
use crate::registry::Registry;
use crate::running::blocking;

/// The argument that names the root of a call. It is offered only where there are several.
pub const ROOT: &str = "root";

/// Which roots are whose.
pub trait Access: Send + Sync {
    /// Whether `principal` may work in the root of this name.
    fn allows(&self, principal: &Principal, root: &str) -> bool;
}

/// The engines of the roots that are offered; the first is meant where a call names none.
pub struct House {
    first: Arc<Engine>,
    others: Vec<Arc<Engine>>,
    guarded: Option<Guarded>,
    /// No call names them as its root.
    annexes: Vec<Arc<Annex>>,
}

/// Where not everyone may work everywhere.
struct Guarded {
    access: Arc<dyn Access>,
    /// Makes the calls of whoever has no root: it has none either.
    outside: Arc<Engine>,
}

impl House {
    /// A house of one root, or of none.
    #[must_use]
    pub const fn of(engine: Arc<Engine>) -> Self {
        Self { first: engine, others: Vec::new(), guarded: None, annexes: Vec::new() }
    }

    /// A house of several roots; every engine offers the same tools.
    #[must_use]
    pub const fn new(first: Arc<Engine>, others: Vec<Arc<Engine>>) -> Self {
        Self { first, others, guarded: None, annexes: Vec::new() }
    }

    /// The same house, where each principal works in the roots that `access` allows, and in none by default: its calls
    /// are then made by `outside`, an engine without a root.
    #[must_use]
    pub fn guarded(mut self, access: Arc<dyn Access>, outside: Arc<Engine>) -> Self {
        self.guarded = Some(Guarded { access, outside });
        self
    }

    /// The same, with libraries that tools may change.
    #[must_use]
    pub fn with_annexes(mut self, annexes: Vec<Annex>) -> Self {
        self.annexes = annexes.into_iter().map(Arc::new).collect();
        self
    }

    /// The tools.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.first.registry()
    }

    /// Hears of every change of the tools; `None` where they never change.
    #[must_use]
    pub fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.first.parts.catalog.changes()
    }

    /// The engine of the root that is meant where a call names none.
    #[must_use]
    pub const fn first(&self) -> &Arc<Engine> {
        &self.first
    }

    /// The calls that go on, of every root.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.first.parts.jobs
    }

    /// Every engine, the first one first.
    pub fn engines(&self) -> impl Iterator<Item = &Arc<Engine>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The same, and the one that serves whoever has no root.
    pub fn every_engine(&self) -> impl Iterator<Item = &Arc<Engine>> {
        self.engines().chain(self.guarded.iter().map(|guarded| &guarded.outside))
    }

    /// The inner call of one that wraps it. What does not fit stays as it is: the wrapper then says what is wrong.
    fn unwrapped(&self, mut call: Call) -> Call {
        let registry = self.registry();
        let wrapper = registry.resolve(&call.tool).and_then(|outer| outer.tool.wraps());
        let (Some(wraps), Value::Object(outer)) = (wrapper, &call.arguments) else { return call };
        let known = |key: &String| matches!(key.as_str(), "tool" | "arguments" | ROOT);
        let inner = outer.get("tool").and_then(Value::as_str).and_then(|name| registry.resolve(name));
        let (Some(inner), true) = (inner, outer.keys().all(known)) else { return call };
        let fits = match wraps {
            Wraps::Reading => inner.head().kind == Kind::Read,
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
        inner.head().name.as_str().clone_into(&mut call.tool);
        call.arguments = Value::Object(arguments);
        call
    }

    /// The engine whose root or state `is_it` recognises: a root's, else a library's in which something was done.
    pub fn find(&self, is_it: impl Fn(&Engine) -> bool) -> Option<Arc<Engine>> {
        let libraries = self.annexes.iter().filter_map(|annex| annex.opened());
        self.engines().cloned().chain(libraries).find(|engine| is_it(engine))
    }

    /// The engines of libraries that `principal` may reach and in which something was done.
    pub(crate) fn annexed(&self, principal: &Principal) -> impl Iterator<Item = Arc<Engine>> {
        let open = self.annexes.iter().filter(|annex| annex.is_open_to(principal));
        open.filter_map(|annex| annex.opened())
    }

    /// The engines in whose roots `principal` may work, the first one first.
    pub fn open_to(&self, principal: &Principal) -> impl Iterator<Item = &Arc<Engine>> {
        self.engines().filter(move |engine| match &self.guarded {
            None => true,
            Some(guarded) => engine.root().is_some_and(|root| guarded.access.allows(principal, root.name())),
        })
    }

    /// The engine that makes the calls of `principal` that name no root.
    pub(crate) fn usual(&self, principal: &Principal) -> &Arc<Engine> {
        let outside = self.guarded.as_ref().map_or(&self.first, |guarded| &guarded.outside);
        self.open_to(principal).next().unwrap_or(outside)
    }

    /// Every scope that a token may have here: of each toolset, and of all.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        let registry = self.registry();
        let own = registry.toolsets();
        let toolsets: BTreeSet<&str> =
            own.filter(|name| *name != scope::FRONT).chain([scope::EVERY]).collect();
        let all = toolsets.iter().flat_map(|name| Right::ALL.map(|right| Scope::new(name, right)));
        all.collect()
    }

    /// The scopes that `call` needs and its principal was not granted: what a challenge asks for. The call itself is
    /// refused by the pipeline, for the record.
    #[must_use]
    pub fn lacking(&self, call: &Call) -> Option<Scope> {
        let call = self.unwrapped(call.clone());
        let registry = self.registry();
        registry.resolve(&call.tool).and_then(|tool| lacking(tool, &call, &registry))
    }

    /// The scope that `owner` needs to look at what is its own, where it was granted nothing here.
    #[must_use]
    pub fn lacking_for_reading(&self, owner: &Principal) -> Option<Scope> {
        lacking_for_reading(owner, &self.registry())
    }

    /// The call with a project that it names by its absolute place named from the root that has it, which is then the call's. A place
    /// in none of the caller's roots stays as it is: the tool refuses it, whether there is something or not.
    fn at_home(&self, mut call: Call) -> Call {
        let registry = self.registry();
        let argument = registry.resolve(&call.tool).and_then(|resolved| resolved.tool.project());
        let (Some(argument), Value::Object(arguments)) = (argument, &mut call.arguments) else { return call };
        let Some(place) = arguments.get(argument).and_then(Value::as_str).map(Path::new) else { return call };
        if !place.is_absolute() {
            return call;
        }
        let usual = self.usual(&call.principal).root().map(|root| root.name().to_owned());
        let named = arguments.get(ROOT).and_then(Value::as_str);
        let found = self.open_to(&call.principal).filter_map(|engine| {
            let root = engine.root().filter(|root| named.is_none_or(|named| named == root.name()))?;
            let below = root.below(place)?;
            Some((root.name().to_owned(), below.to_str()?.to_owned()))
        });
        // Of roots one in another, the one that is nearest.
        if let Some((root, below)) = found.min_by_key(|(_, below)| below.len()) {
            let below = if below.is_empty() { ".".to_owned() } else { below };
            arguments.insert(argument.to_owned(), below.into());
            if usual.as_deref() != Some(root.as_str()) {
                arguments.insert(ROOT.to_owned(), root.into());
            }
        }
        call
    }

    /// The engine of the library that a call changes, with where it came from; else its own. Where whoever calls may not change that
    /// library, or it cannot be opened, the tool says so.
    async fn in_library(&self, engine: &Arc<Engine>, call: Call) -> (Arc<Engine>, Call) {
        let engine = Arc::clone(engine);
        let registry = engine.registry();
        let tool = registry.resolve(&call.tool);
        let named = tool.and_then(|resolved| resolved.tool.library(&call.arguments));
        let annex = self.annexes.iter().find(|annex| named == Some(annex.name()));
        let Some(annex) = annex.filter(|annex| annex.is_open_to(&call.principal)).cloned() else {
            return (engine, call);
        };
        let name = annex.name().to_owned();
        match blocking(move || annex.engine()).await {
            Ok(library) => (library, Call { from: Some(engine), ..call }),
            Err(fault) => {
                tracing::warn!("the library {name} cannot be opened: {}", fault.message);
                (engine, call)
            }
        }
    }

    /// Makes a call in the root that its arguments name. A name that is no root's is refused as arguments that do not
    /// fit; another's root is none.
    ///
    /// A call that only makes another tool's call is unwrapped first: it is that tool's call from then on, under that
    /// tool's schema, policy and record.
    ///
    /// Whoever might drop this before its end, and the record with it, gives it a task of its own.
    pub async fn call(&self, call: Call) -> Done {
        let call = self.at_home(self.unwrapped(call));
        let is_named = |name: &str, engine: &Engine| engine.root().is_some_and(|root| root.name() == name);
        let engine = match call.arguments.get(ROOT).and_then(Value::as_str) {
            None => self.usual(&call.principal),
            Some(name) => match self.open_to(&call.principal).find(|engine| is_named(name, engine)) {
                Some(engine) => engine,
                None => self.guarded.as_ref().map_or(&self.first, |guarded| &guarded.outside),
            },
        };
        let (engine, call) = self.in_library(engine, call).await;
        let registry = engine.registry();
        let may_take_long = registry.resolve(&call.tool).is_some_and(|tool| tool.tool.may_take_long());
        if call.detach && may_take_long {
            // In a box, as all is that few calls need: a call is as large as the largest way that it can take, and is moved.
            Box::pin(engine.attended(call)).await
        } else {
            engine.recorded(call).await
        }
    }
}
