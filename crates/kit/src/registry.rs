//! Everything that a server offers, by name, in one deterministic order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, OnceLock};

use contract::{Code, Digest, Fault, Head, Kind, Spec, canonical};
use serde_json::{Value, json};

use crate::erased::Tool;
use crate::family::Family;
use crate::house::ROOT;
use crate::resources::Shelf;
use crate::resources::outside::Offers;
use crate::schema::Compiled;

type Make = Box<dyn FnOnce() -> Arc<Tool> + Send>;

/// A registered tool, with what is computed from it once.
pub struct Registered {
    head: Head,
    /// The tool, made when it is first asked for more than its head.
    pub tool: LazyLock<Arc<Tool>, Make>,
    /// When it was added: families name their tools in the order in which a menu takes them.
    place: usize,
    /// What its calls say about their root, where they name one.
    root: Option<Value>,
    with_root: OnceLock<Value>,
    input: OnceLock<Box<Result<Compiled, String>>>,
    output: OnceLock<Box<Result<Compiled, String>>>,
    hash: OnceLock<Result<Digest, String>>,
    cost: OnceLock<u64>,
}

impl Registered {
    fn new(tool: Arc<Tool>, place: usize, root: Option<Value>) -> Arc<Self> {
        Self::made_by(tool.head().clone(), Box::new(move || tool), place, root)
    }

    fn made_by(head: Head, make: Make, place: usize, root: Option<Value>) -> Arc<Self> {
        Arc::new(Self {
            head,
            tool: LazyLock::new(make),
            place,
            root,
            with_root: OnceLock::new(),
            input: OnceLock::new(),
            output: OnceLock::new(),
            hash: OnceLock::new(),
            cost: OnceLock::new(),
        })
    }

    /// When it was added, counted from the first.
    pub(crate) const fn place(&self) -> usize {
        self.place
    }

    /// What it says about itself without its schemas.
    #[must_use]
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// JSON Schema of its arguments, as they are taken here.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        let Some(root) = &self.root else { return self.tool.input_schema() };
        self.with_root.get_or_init(|| {
            let mut schema = self.tool.input_schema().clone();
            if let Some(object) = schema.as_object_mut()
                && let Value::Object(properties) = object.entry("properties").or_insert_with(|| json!({}))
            {
                properties.insert(ROOT.to_owned(), root.clone());
            }
            schema
        })
    }

    /// Its public contract, as it is offered here.
    #[must_use]
    pub fn spec(&self) -> Spec {
        Spec {
            head: self.head().clone(),
            input_schema: self.input_schema().clone(),
            output_schema: self.tool.output_schema(),
            required_when_completed: self.tool.required_when_completed().to_vec(),
        }
    }

    /// What it costs on a menu, counted once.
    pub(crate) fn cost(&self, count: impl FnOnce() -> u64) -> u64 {
        *self.cost.get_or_init(count)
    }

    /// What it gives by name besides, of a tool of others.
    pub(crate) fn offers(&self) -> Option<&Offers> {
        // Ours give nothing, and need not be made to say so.
        (self.head.kind == Kind::Foreign).then(|| self.tool.offers()).flatten()
    }

    /// Whether its calls name their root.
    pub(crate) const fn names_root(&self) -> bool {
        self.root.is_some()
    }

    /// What stands in a lock file for it, and what its hash is of: the identity of a tool of others, the contract of ours.
    pub fn definition(&self) -> Result<Value, serde_json::Error> {
        match self.tool.identity() {
            Some(identity) => Ok(identity.clone()),
            None => serde_json::to_value(self.spec()),
        }
    }

    /// The hash of its definition: what an approval is bound to. A definition without a canonical form has none, and nothing
    /// is called by it.
    pub fn hash(&self) -> Result<Digest, Fault> {
        let hashed = || match self.tool.identity() {
            None => self.spec().definition_hash().map_err(|e| e.to_string()),
            Some(identity) => canonical::admit(identity)
                .map(|()| Digest::of(&canonical::of(identity)))
                .map_err(|e| e.to_string()),
        };
        let hash = self.hash.get_or_init(hashed);
        hash.clone().map_err(|why| {
            Fault::internal(format!("the definition of {} cannot be hashed: {why}", self.head().name))
        })
    }

    /// Names of the engine's that its arguments or results use.
    pub fn shadowed(&self) -> impl Iterator<Item = &str> {
        let has_root = self.tool.input_schema().get("properties").and_then(|own| own.get(ROOT)).is_some();
        self.tool.shadowed().chain((self.names_root() && has_root).then_some(ROOT))
    }

    /// What of `arguments` does not fit the input schema, at most `most` findings. It is compiled at the first call:
    /// a server of a hundred tools starts without compiling any.
    pub fn misfits(&self, arguments: &Value, most: usize) -> Result<Vec<String>, Fault> {
        let compiled = || match self.shadowed().collect::<Vec<_>>() {
            names if names.is_empty() => Compiled::new(self.input_schema()),
            names => Err(format!("it uses names that are the engine's: {}", names.join(", "))),
        };
        match &**self.input.get_or_init(|| Box::new(compiled())) {
            Ok(compiled) => Ok(compiled.errors(arguments, most)),
            Err(why) => Err(Fault::internal(format!("{}: the input schema: {why}", self.head().name))),
        }
    }

    /// For each argument that the tool does not have, the one of its own that was probably meant.
    pub(crate) fn meant<'a>(&'a self, arguments: &'a Value) -> impl Iterator<Item = (&'a str, &'a str)> {
        let own = self.input_schema().get("properties").and_then(Value::as_object);
        own.into_iter().flat_map(move |own| {
            let unknown = arguments.as_object().into_iter().flat_map(|all| all.keys());
            unknown.filter(|key| !own.contains_key(*key)).filter_map(|key| {
                let free = own.keys().filter(|known| arguments.get(known).is_none());
                Some((key.as_str(), nearest(key, free.map(String::as_str))?))
            })
        })
    }

    /// Fails when a result is not what the tool says that its results are (recipe-005).
    pub(crate) fn check_output(&self, value: &Value, completed: bool) -> Result<(), Fault> {
        let name = &self.head().name;
        let mut wrong =
            match &**self.output.get_or_init(|| Box::new(Compiled::new(&self.tool.output_schema()))) {
                Ok(compiled) => compiled.errors(value, 4),
                Err(why) => vec![format!("the schema does not compile: {why}")],
            };
        let missing = self.tool.required_when_completed().iter().filter(|f| value.get(f).is_none());
        wrong.extend(missing.filter(|_| completed).map(|field| format!("{field} is missing")));
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Fault::internal(format!("{name}: its output does not fit its schema: {}", wrong.join("; "))))
    }
}

/// What of `names` is closest to `name`, for a caller who mistyped.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|known| (strsim::jaro_winkler(name, known), known));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Why families cannot be registered together: a defect of ours.
#[derive(Debug, thiserror::Error)]
pub enum BadRegistry {
    /// Two tools answer to one name.
    #[error("two tools answer to {0:?}")]
    Twice(String),
    /// A tool of others has a definition that cannot be held to.
    #[error("the definition of {tool} is refused: {why}")]
    Foreign {
        /// The tool.
        tool: String,
        /// What is wrong.
        why: String,
    },
}

/// Most bytes of a definition that arrives from elsewhere.
const MAX_FOREIGN: usize = 64 * 1024;

/// Whether a definition that arrives from elsewhere can be held to: its schemas are objects' and compile, and it is
/// not so long that a menu drowns in it.
fn check_foreign(tool: &Registered) -> Result<(), BadRegistry> {
    let refused = |why: String| BadRegistry::Foreign { tool: tool.head().name.to_string(), why };
    let (input, output) = (tool.tool.input_schema(), &tool.tool.output_schema());
    let size = input.to_string().len() + output.to_string().len() + tool.head().description.len();
    if size > MAX_FOREIGN {
        return Err(refused(format!("it has {size} bytes, at most {MAX_FOREIGN} are taken")));
    }
    if input.get("type").and_then(Value::as_str) != Some("object") {
        return Err(refused("its input schema is not that of an object".into()));
    }
    for schema in [input, output] {
        Compiled::new(schema).map_err(&refused)?;
    }
    let names: Vec<&str> = tool.shadowed().collect();
    if !names.is_empty() {
        return Err(refused(format!("it uses names that are ours: {}", names.join(", "))));
    }
    tool.hash().map(drop).map_err(|fault| refused(fault.message))
}

/// Which roots a call may name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    /// None: there is one at most.
    #[default]
    One,
    /// One of these; the first is meant where none is named.
    Named(Vec<String>),
    /// Whichever the caller was given: not everyone sees the same, so the schema names none.
    Given,
}

impl Roots {
    /// Of `names`, which everyone may use.
    #[must_use]
    pub fn of(names: &[&str]) -> Self {
        if names.len() > 1 { Self::Named(names.iter().map(|n| (*n).to_owned()).collect()) } else { Self::One }
    }

    /// What a call says about its root.
    fn schema(&self) -> Option<Value> {
        let description = "Which root to work in.";
        match self {
            Self::One => None,
            Self::Named(names) => Some(json!({
                "type": "string",
                "description": description,
                "enum": names,
                "default": names.first(),
            })),
            Self::Given => Some(json!({ "type": "string", "description": description })),
        }
    }
}

type ByName = BTreeMap<String, Arc<Registered>>;

/// Tools that are on no list, of a toolset that has no others: they are made when somebody asks for one of them, or for all.
struct Late {
    toolset: String,
    tools: LazyLock<ByName, Box<dyn FnOnce() -> ByName + Send>>,
}

impl Late {
    /// The tool of this name, whose front is the toolset's.
    fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        let is_of_it = name.strip_prefix(&self.toolset).is_some_and(|rest| rest.starts_with('_'));
        is_of_it.then(|| self.tools.get(name)).flatten()
    }
}

/// Everything that a server offers.
#[derive(Clone, Default)]
pub struct Registry {
    roots: Roots,
    guides: Vec<&'static str>,
    shelves: Vec<&'static dyn Shelf>,
    tools: ByName,
    late: Vec<Arc<Late>>,
    held_back: BTreeSet<String>,
    aliases: BTreeMap<String, String>,
}

impl Registry {
    /// The tools of `families` that `wanted` says yes to.
    pub fn new(families: &[&Family], wanted: impl Fn(&Head) -> bool) -> Result<Self, BadRegistry> {
        Self::over(families, wanted, Roots::One)
    }

    /// As [`Registry::new`], over several roots: every tool takes one of their names.
    pub fn over(
        families: &[&Family],
        wanted: impl Fn(&Head) -> bool,
        roots: Roots,
    ) -> Result<Self, BadRegistry> {
        let mut registry = Self { roots, ..Self::default() };
        for family in families {
            let before = registry.tools.len();
            for entry in family.tools {
                let head = entry.head();
                if wanted(&head) {
                    let (place, root) = (registry.tools.len(), registry.roots.schema());
                    registry.put(Registered::made_by(head, Box::new(|| entry.make()), place, root))?;
                }
            }
            if registry.tools.len() > before {
                registry.guides.push(family.guide);
            }
            // Whoever is not offered the tool is not offered what it would read either.
            let offered = family.shelves.iter().filter(|shelf| registry.resolve(shelf.tool()).is_some());
            let offered: Vec<_> = offered.copied().collect();
            registry.shelves.extend(offered);
        }
        Ok(registry)
    }

    /// What is read by URI, besides what every root has.
    pub(crate) fn shelves(&self) -> &[&'static dyn Shelf] {
        &self.shelves
    }

    /// Adds a tool that is in no family: one that arrived from elsewhere.
    pub fn add(&mut self, tool: Arc<Tool>) -> Result<(), BadRegistry> {
        let registered = self.registered(tool);
        if registered.head().kind == Kind::Foreign {
            check_foreign(&registered)?;
        }
        self.put(registered)
    }

    /// The same of one that is a part of the program: what every start would find out again, a test has found out.
    pub fn add_built_in(&mut self, tool: Arc<Tool>) -> Result<(), BadRegistry> {
        let registered = self.registered(tool);
        self.put(registered)
    }

    /// Adds the tools that `make` makes, of a toolset that has no others and whose name is the front of theirs: a part of the program
    /// that cannot be used here. They are on no list, and who calls one is told why it cannot be called.
    pub fn add_late(&mut self, toolset: String, make: impl FnOnce() -> Vec<Arc<Tool>> + Send + 'static) {
        let (place, root) = (self.tools.len(), self.roots.schema());
        let tools = move || {
            let all = make().into_iter();
            all.map(|tool| (tool.head().name.to_string(), Registered::new(tool, place, root.clone())))
                .collect()
        };
        self.late.push(Arc::new(Late { toolset, tools: LazyLock::new(Box::new(tools)) }));
    }

    fn registered(&self, tool: Arc<Tool>) -> Arc<Registered> {
        Registered::new(tool, self.tools.len(), self.roots.schema())
    }

    fn put(&mut self, registered: Arc<Registered>) -> Result<(), BadRegistry> {
        let head = registered.head();
        let name = head.name.to_string();
        for alias in head.aliases {
            let twice = || BadRegistry::Twice((*alias).to_owned());
            if self.resolve(alias).is_some()
                || self.aliases.insert((*alias).to_owned(), name.clone()).is_some()
            {
                return Err(twice());
            }
        }
        if self.aliases.contains_key(&name) {
            return Err(BadRegistry::Twice(name));
        }
        match self.tools.insert(name.clone(), registered) {
            Some(_) => Err(BadRegistry::Twice(name)),
            None => Ok(()),
        }
    }

    /// The same, with the tools of these names on no list: who calls one is told why it cannot be called.
    #[must_use]
    pub fn holding_back(mut self, names: BTreeSet<String>) -> Self {
        self.held_back = names;
        self
    }

    /// What is listed and found: every tool that is not held back, by name.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.iter().filter(|(name, _)| !self.held_back.contains(*name)).map(|(_, tool)| tool)
    }

    /// The same without the tools of others.
    #[must_use]
    pub fn ours(&self) -> Self {
        let mut ours = self.clone();
        ours.tools.retain(|_, tool| tool.head().kind != Kind::Foreign);
        ours.late.clear();
        ours
    }

    /// The tool that answers to `name`, listed or alias.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&Arc<Registered>> {
        let own = self.tools.get(name).or_else(|| self.tools.get(self.aliases.get(name)?));
        own.or_else(|| self.late.iter().find_map(|late| late.get(name)))
    }

    /// What a caller of a tool that is not there is told.
    #[must_use]
    pub fn unknown(&self, name: &str) -> Fault {
        let fault = Fault::new(Code::NotFound, format!("there is no tool {name:?}"));
        match self.closest(name) {
            Some(close) => fault.suggest(format!("Did you mean `{close}`?")),
            None => fault
                .suggest("`tools_search` finds tools by what they do; `gatewright tools` names them all."),
        }
    }

    /// The name closest to `name`, for a caller who mistyped.
    #[must_use]
    pub fn closest(&self, name: &str) -> Option<&str> {
        let late = self.late.iter().flat_map(|late| late.tools.keys());
        nearest(name, self.tools.keys().chain(late).map(String::as_str))
    }

    /// Whether any tool is in the toolset.
    #[must_use]
    pub fn has_toolset(&self, name: &str) -> bool {
        self.toolsets().any(|toolset| toolset == name)
    }

    /// One line per family whose tools are offered: when to reach for them.
    #[must_use]
    pub fn guides(&self) -> &[&'static str] {
        &self.guides
    }

    /// Every tool, by name. Those that are late are made for it.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        let late = self.late.iter().flat_map(|late| late.tools.iter());
        let all: BTreeMap<&String, &Arc<Registered>> = late.chain(&self.tools).collect();
        all.into_values()
    }

    /// The same without those that are late, which can do nothing here.
    pub(crate) fn ready(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.values()
    }

    /// The toolsets that tools are in, some of them more than once.
    pub(crate) fn toolsets(&self) -> impl Iterator<Item = &str> {
        let late = self.late.iter().map(|late| late.toolset.as_str());
        self.ready().map(|tool| &*tool.head().toolset).chain(late)
    }

    /// How many tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.len() == 0
    }
}
