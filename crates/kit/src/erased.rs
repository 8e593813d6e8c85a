//! Tools without their types, as the registry holds them, and the adapters that take the types away.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use contract::{Annotations, Fault, Head, Kind, ToolName};
use exec::run::Cache;
use exec::workshop::Unplannable;
use exec::workshop::persist::{Declared as Declaration, Settled, SideWrites};
use exec::{Draft, View};
use serde_json::{Map, Value};

use crate::desk::{ChangeDesk, ForeignDesk, ReadDesk, RecordDesk, RunDesk, Setting};
use crate::kinds::{
    Answer, Change, Define, Definition, Foreign, ForeignCode, ForeignCodeOf, Guest, LibraryOf, Read, Record,
    Run, Wraps,
};
use crate::limits::Limits;
use crate::outputs::Outputs;
use crate::resources::outside::Offers;
use crate::schema::{self, Asked, Besides, Paged, Pages};
use crate::shape;

/// A future that can be boxed and sent.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a tool's code gave: its answer and, where it changes something, its draft.
pub(crate) struct Invoked {
    /// The answer, its output as JSON.
    pub(crate) answer: Answer<Map<String, Value>>,
    /// What was drafted.
    pub(crate) draft: Option<Drafted>,
}

/// What a tool proposes.
pub(crate) struct Drafted {
    pub(crate) draft: Draft,
    /// The view that it was made with.
    pub(crate) view: Arc<View>,
    /// The window on the root that the call came from, where that is another.
    pub(crate) home: Option<Arc<View>>,
    /// What persists without a plan.
    pub(crate) side: SideWrites,
    /// What no plan can have: nothing of it can be applied then.
    pub(crate) blocked: Vec<Unplannable>,
}

/// What a tool's programs may be and may leave.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    pub(crate) programs: Arc<[Arc<str>]>,
    pub(crate) caches: &'static [Cache],
    pub(crate) persists: Arc<[Arc<str>]>,
    pub(crate) settles: &'static [&'static str],
    pub(crate) cloning: Option<Arc<exec::workshop::Cloning>>,
}

/// What a tool did after its plan stood.
pub(crate) struct After {
    /// Its answer, its output as JSON.
    pub(crate) answer: Answer<Map<String, Value>>,
    /// What it left.
    pub(crate) settled: Settled,
}

/// What is derived when it is first asked for: a server of a hundred tools starts without the schemas of those that nobody sees.
type Lazily<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

fn lazily<T>(make: impl FnOnce() -> T + Send + 'static) -> Lazily<T> {
    LazyLock::new(Box::new(make))
}

/// Asks what a tool of others is now.
type Asking = Box<dyn Fn(ForeignDesk) -> Boxed<Result<Value, Fault>> + Send + Sync>;

type Invoking = Boxed<Result<Invoked, Fault>>;

type Settling = Box<dyn Fn(Value, Setting) -> Boxed<Result<Option<After>, Fault>> + Send + Sync>;

/// A tool without its types: what it says about itself, and its code.
pub struct Tool {
    head: Head,
    input: Lazily<schema::Input>,
    output: Outputs,
    limits: Limits,
    list: Option<&'static str>,
    page: u32,
    budget: Option<u64>,
    declared: Declared,
    wraps: Option<Wraps>,
    project: Option<&'static str>,
    library: Option<LibraryOf>,
    foreign_code: Option<ForeignCodeOf>,
    person_applies: bool,
    examples: fn() -> Vec<Value>,
    foreign: Option<(Value, Asking)>,
    /// Of a tool of others that says how it works: whether it proposes, rather than only looks.
    guest: Option<bool>,
    asks: bool,
    labels: Option<Vec<policy::Label>>,
    offers: Option<Offers>,
    code: Box<dyn Fn(Value, Setting) -> Invoking + Send + Sync>,
    /// Of one that installs.
    settling: Option<Settling>,
}

impl Tool {
    /// What it says about itself without its schemas.
    #[must_use]
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// JSON Schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        &self.input.schema
    }

    /// JSON Schema of its results, made anew.
    #[must_use]
    pub fn output_schema(&self) -> Value {
        self.output.schema()
    }

    /// Output fields that must be there when a call is completed.
    #[must_use]
    pub fn required_when_completed(&self) -> &[String] {
        &self.output.names().required
    }

    /// How long, how often and how many at a time.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// The output's field that is a list and is paged.
    #[must_use]
    pub const fn list(&self) -> Option<&'static str> {
        self.list
    }

    /// Entries on a page of it when the caller does not say.
    #[must_use]
    pub const fn page(&self) -> u32 {
        self.page
    }

    /// The argument that names a project.
    #[must_use]
    pub const fn project(&self) -> Option<&'static str> {
        self.project
    }

    /// The library that a call with these arguments changes, where it is not its own root.
    #[must_use]
    pub fn library<'a>(&self, arguments: &'a Value) -> Option<&'a str> {
        self.library.and_then(|of| of(arguments.as_object()?))
    }

    /// When a call with these arguments has code of packages run.
    #[must_use]
    pub fn foreign_code(&self, arguments: &Value) -> Option<ForeignCode> {
        self.foreign_code.and_then(|of| of(arguments.as_object()?))
    }

    /// Whether only a person applies its plans.
    #[must_use]
    pub const fn person_applies(&self) -> bool {
        self.person_applies
    }

    /// What a result may cost, in tokens, where any other may cost `usual`.
    #[must_use]
    pub fn budget(&self, usual: u64) -> u64 {
        self.budget.map_or(usual, |own| own.max(usual).min(shape::HARD_CAP))
    }

    /// What a result may cost beyond what any may, in tokens.
    #[must_use]
    pub const fn own_budget(&self) -> Option<u64> {
        self.budget
    }

    /// The programs that it may start.
    #[must_use]
    pub fn programs(&self) -> &[Arc<str>] {
        &self.declared.programs
    }

    /// Whether its calls may go on as jobs: those that start programs, or do more than look.
    pub(crate) fn may_take_long(&self) -> bool {
        self.wraps.is_none() && (!matches!(self.head.kind, Kind::Read) || !self.declared.programs.is_empty())
    }

    pub(crate) fn declared(&self) -> Declared {
        self.declared.clone()
    }

    /// Whose calls it makes, when it does nothing of its own.
    #[must_use]
    pub const fn wraps(&self) -> Option<Wraps> {
        self.wraps
    }

    /// Its examples.
    #[must_use]
    pub fn examples(&self) -> Vec<Value> {
        (self.examples)()
    }

    /// Names of the engine's that its types use, a defect: no call of it is taken.
    pub fn shadowed(&self) -> impl Iterator<Item = &str> {
        self.input.shadowed.iter().chain(&self.output.names().shadowed).map(String::as_str)
    }

    /// Whether a person is asked before each call.
    #[must_use]
    pub const fn asks(&self) -> bool {
        self.asks
    }

    /// What its calls bring into a session, or take out of it: of a tool of others what is said of it; of ours private data,
    /// and where it asks anybody outside, that one's words, for what it asked with.
    #[must_use]
    pub fn labels(&self) -> Vec<policy::Label> {
        use policy::Label::{Egress, Private, Untrusted};
        match &self.labels {
            Some(labels) => labels.clone(),
            // What it finds and calls has labels of its own.
            None if self.wraps.is_some() || self.head.toolset == crate::FRONT => Vec::new(),
            None if self.head.kind == Kind::Read && self.head.annotations.open_world_hint => {
                vec![Private, Untrusted, Egress]
            }
            None => vec![Private],
        }
    }

    /// What it gives by name besides, of a tool of others.
    #[must_use]
    pub const fn offers(&self) -> Option<&Offers> {
        self.offers.as_ref()
    }

    /// What an approval is bound to, of a tool of others.
    #[must_use]
    pub fn identity(&self) -> Option<&Value> {
        self.foreign.as_ref().map(|(identity, _)| identity)
    }

    /// The same as it is now; ours is what it was.
    pub(crate) fn current(&self, setting: Setting) -> Option<Boxed<Result<Value, Fault>>> {
        self.foreign.as_ref().map(|(_, asking)| asking(ForeignDesk::new(setting)))
    }

    /// Runs the tool's code on arguments that fit its schema, without what is [common](schema::Common) to all.
    pub(crate) fn invoke(&self, arguments: Value, setting: Setting) -> Invoking {
        (self.code)(arguments, setting)
    }

    /// Whether it installs something after its plan was applied.
    pub(crate) const fn settles(&self) -> bool {
        self.settling.is_some()
    }

    /// Has it do what follows once its plan stands.
    pub(crate) fn settle(&self, arguments: Value, setting: Setting) -> Boxed<Result<Option<After>, Fault>> {
        match &self.settling {
            Some(settling) => settling(arguments, setting),
            None => Box::pin(async { Ok(None) }),
        }
    }

    /// A tool whose definition arrives from elsewhere, with its own schemas.
    #[must_use]
    pub fn foreign(tool: Arc<dyn Foreign>) -> Self {
        let (definition, offers) = (tool.definition(), tool.offers());
        let input = schema::Input { schema: definition.input_schema, shadowed: Vec::new() };
        let output = definition.output_schema;
        let head = Head {
            name: definition.name,
            title: definition.title.into(),
            description: definition.description.into(),
            kind: Kind::Foreign,
            toolset: definition.toolset.into(),
            aliases: &[],
            // Whatever it says of itself, nothing here can hold it to that.
            annotations: hints(Kind::Foreign, true, false, true),
        };
        let asked = Arc::clone(&tool);
        let foreign: Option<(Value, Asking)> =
            Some((definition.identity, Box::new(move |desk| asked.current(desk))));
        let code = move |arguments, setting| -> Invoking {
            let tool = Arc::clone(&tool);
            Box::pin(async move {
                let answer = tool.call(arguments, ForeignDesk::new(setting)).await?;
                // Whatever it answers stands in `result`: none of it passes for the envelope's.
                let wrapped = |own| Ok(Map::from_iter([("result".to_owned(), Value::Object(own))]));
                let answer = Answer { truncated: None, list: None, ..answer.try_map(wrapped)? };
                Ok(Invoked { answer, draft: None })
            })
        };
        Self {
            head,
            input: lazily(|| input),
            output: Outputs::new(move || schema::foreign_output(output.clone())),
            limits: definition.limits,
            list: None,
            page: Paged::default().limit,
            budget: None,
            declared: Declared::default(),
            wraps: None,
            project: None,
            library: None,
            foreign_code: None,
            person_applies: false,
            examples: Vec::new,
            foreign,
            guest: None,
            asks: definition.asks,
            labels: Some(definition.labels),
            offers,
            code: Box::new(code),
            settling: None,
        }
    }
}

impl Tool {
    /// A tool of a plugin: its definition arrives from elsewhere, and its programs run at a desk of ours.
    #[must_use]
    pub fn guest(tool: Arc<dyn Guest>) -> Self {
        let (definition, means) = (tool.definition(), tool.means());
        let Definition {
            name,
            title,
            description,
            toolset,
            input_schema,
            output_schema,
            limits,
            identity,
            asks,
            labels,
        } = definition;
        let proposes = means.proposes.is_some();
        let input = move || {
            if proposes {
                schema::with_common(input_schema)
            } else {
                schema::Input { schema: input_schema, shadowed: Vec::new() }
            }
        };
        let head = Head {
            name,
            title: title.into(),
            description: description.into(),
            kind: Kind::Foreign,
            toolset: toolset.into(),
            aliases: &[],
            annotations: hints(Kind::Foreign, proposes, means.idempotent, means.open_world),
        };
        let asked = Arc::clone(&tool);
        let foreign: Option<(Value, Asking)> =
            (!tool.is_ours()).then(|| (identity, Box::new(move |desk| asked.current(desk)) as Asking));
        let declared = Declared {
            programs: named(&means.programs),
            caches: &[],
            persists: named(&means.persists),
            settles: &[],
            cloning: means.cloning.map(Arc::new),
        };
        let may = means.proposes.map(Arc::new);
        let code = move |arguments, setting| -> Invoking {
            let (tool, may) = (Arc::clone(&tool), may.clone());
            Box::pin(async move {
                let desk = RunDesk::new(setting)?;
                let answer = tool.run(arguments, desk.clone()).await?;
                let wrapped = |own| Ok(Map::from_iter([("result".to_owned(), Value::Object(own))]));
                let answer = Answer { list: None, ..answer.try_map(wrapped)? };
                let draft = match may {
                    Some(may) => desk.into_drafted().await?.map(|drafted| drafted.only(&may)).transpose()?,
                    None => None,
                };
                Ok(Invoked { answer, draft })
            })
        };
        Self {
            head,
            input: lazily(input),
            output: Outputs::new(move || schema::guest_output(output_schema.clone())),
            limits,
            list: None,
            page: Paged::default().limit,
            budget: None,
            declared,
            wraps: None,
            project: None,
            library: None,
            foreign_code: None,
            person_applies: false,
            examples: Vec::new,
            foreign,
            guest: Some(proposes),
            asks,
            labels: Some(labels),
            offers: None,
            code: Box::new(code),
            settling: None,
        }
    }

    /// Whether its calls are rehearsed, and what they rehearsed is applied.
    #[must_use]
    pub fn is_rehearsed(&self) -> bool {
        self.guest.unwrap_or_else(|| self.head.kind.is_rehearsed())
    }

    /// Whether every call of it does what it does at once.
    #[must_use]
    pub fn always_performs(&self) -> bool {
        self.guest.is_none() && self.head.kind.always_performs()
    }
}

impl Drafted {
    /// The same, with what lies outside these globs as what no plan can have.
    fn only(mut self, globs: &[String]) -> Result<Self, Fault> {
        let declared = Declaration::new(globs)?;
        let outside = self.draft.paths().filter(|path| !declared.may_write(path)).map(|path| Unplannable {
            path: path.to_string(),
            why: "the plugin does not declare that it writes this".to_owned(),
            moved: false,
        });
        let outside: Vec<Unplannable> = outside.collect();
        self.blocked.extend(outside);
        Ok(self)
    }
}

const fn hints(kind: Kind, destructive: bool, idempotent: bool, open_world: bool) -> Annotations {
    Annotations {
        read_only_hint: matches!(kind, Kind::Read),
        destructive_hint: destructive,
        idempotent_hint: idempotent,
        open_world_hint: open_world,
    }
}

/// Takes the types of `T` away: `work` gets the decoded input and gives the answer, with the draft where there is one.
fn erase<T, F>(head: Head, work: impl Fn(Arc<T>, T::Input, Setting) -> F + Send + Sync + 'static) -> Tool
where
    T: Define + Default,
    F: Future<Output = Result<(Answer<T::Output>, Option<Drafted>), Fault>> + Send + 'static,
{
    let kind = head.kind;
    let tool = Arc::new(T::default());
    let work = Arc::new(work);
    let code = move |mut arguments: Value, mut setting: Setting| -> Invoking {
        let (tool, work) = (Arc::clone(&tool), Arc::clone(&work));
        Box::pin(async move {
            let input = decoded::<T>(kind, &mut arguments, &mut setting)?;
            let (answer, draft) = work(tool, input, setting).await?;
            Ok(Invoked { answer: answer.try_map(object)?, draft })
        })
    };
    Tool {
        head,
        input: lazily(move || {
            schema::input::<T::Input>(Besides {
                kind,
                asked: T::ASKED,
                pages: T::LIST.map(|_| Pages { usual: T::PAGE, most: T::MOST }),
            })
        }),
        output: Outputs::new(move || {
            schema::output::<T::Output>(kind == Kind::Run || !T::PROGRAMS.is_empty())
        }),
        limits: T::LIMITS,
        list: T::LIST,
        page: T::PAGE,
        budget: T::BUDGET,
        declared: Declared {
            programs: named(T::PROGRAMS),
            caches: T::CACHES,
            persists: named(T::PERSISTS),
            settles: T::SETTLES,
            cloning: None,
        },
        wraps: T::WRAPS,
        project: T::PROJECT,
        library: T::LIBRARY,
        foreign_code: T::FOREIGN_CODE,
        person_applies: T::PERSON_APPLIES,
        examples: T::examples,
        foreign: None,
        guest: None,
        asks: false,
        labels: None,
        offers: None,
        code: Box::new(code),
        settling: None,
    }
}

/// The input of a call, and what was asked for besides.
fn decoded<T: Define>(kind: Kind, arguments: &mut Value, setting: &mut Setting) -> Result<T::Input, Fault> {
    let unfit = |e: serde_json::Error| Fault::invalid(format!("{}: {e}", T::NAME));
    if let (Kind::Run, Some(arguments)) = (kind, arguments.as_object_mut()) {
        setting.asked = Asked::take(arguments).map_err(unfit)?;
    }
    serde_json::from_value(arguments.take()).map_err(unfit)
}

fn object(output: impl serde::Serialize) -> Result<Map<String, Value>, Fault> {
    match serde_json::to_value(output) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Fault::internal("an output is not an object")),
        Err(error) => Err(Fault::internal(error.to_string())),
    }
}

fn named(names: &[impl AsRef<str>]) -> Arc<[Arc<str>]> {
    names.iter().map(|name| Arc::from(name.as_ref())).collect()
}

#[expect(clippy::expect_used, reason = "a constant that fits the grammar")]
fn bad_name() -> ToolName {
    ToolName::new("badly_named").expect("it fits")
}

/// What `T` says about itself without its schemas.
fn head<T: Define>(kind: Kind, annotations: Annotations) -> Head {
    Head {
        // A name that does not fit is found by the laws and by the registry; here it becomes one that never collides.
        name: ToolName::new(T::NAME).unwrap_or_else(|_| bad_name()),
        title: Cow::Borrowed(T::DOC.title),
        description: Cow::Borrowed(T::DOC.description),
        kind,
        toolset: Cow::Borrowed(T::TOOLSET.0),
        aliases: T::ALIASES,
        annotations,
    }
}

pub(crate) fn head_of_read<T: Read>() -> Head {
    head::<T>(Kind::Read, hints(Kind::Read, false, true, T::OPEN_WORLD))
}

pub(crate) fn read<T: Read + Default>() -> Arc<Tool> {
    Arc::new(erase(head_of_read::<T>(), |tool: Arc<T>, input, setting| async move {
        Ok((tool.read(input, ReadDesk::of(setting, T::NEEDS_ROOT)?).await?, None))
    }))
}

pub(crate) fn head_of_envoy<T: Read>() -> Head {
    let reads = matches!(T::WRAPS, Some(Wraps::Reading));
    let kind = if reads { Kind::Read } else { Kind::Record };
    head::<T>(kind, hints(kind, !reads, reads, true))
}

/// A tool that makes the calls of others: it may do whatever they do.
pub(crate) fn envoy<T: Read + Default>() -> Arc<Tool> {
    Arc::new(erase(head_of_envoy::<T>(), |tool: Arc<T>, input, setting| async move {
        Ok((tool.read(input, ReadDesk::of(setting, T::NEEDS_ROOT)?).await?, None))
    }))
}

pub(crate) fn head_of_change<T: Change>() -> Head {
    head::<T>(Kind::Change, hints(Kind::Change, T::DESTRUCTIVE, T::IDEMPOTENT, T::OPEN_WORLD))
}

pub(crate) fn change<T: Change + Default>() -> Arc<Tool> {
    Arc::new(erase(head_of_change::<T>(), |tool: Arc<T>, input, setting| async move {
        let desk = ChangeDesk::new(setting, T::PERSON_APPLIES)?;
        let answer = tool.plan(input, desk.clone()).await?;
        let home = desk.home_view();
        let (draft, view) = desk.into_parts();
        let (side, blocked) = (SideWrites::default(), Vec::new());
        Ok((answer, Some(Drafted { draft, view, home, side, blocked })))
    }))
}

pub(crate) fn head_of_run<T: Run>() -> Head {
    head::<T>(Kind::Run, hints(Kind::Run, T::DESTRUCTIVE, T::IDEMPOTENT, T::OPEN_WORLD))
}

pub(crate) fn run<T: Run + Default>() -> Arc<Tool> {
    let tool = erase(head_of_run::<T>(), |tool: Arc<T>, input, setting| async move {
        let desk = RunDesk::new(setting)?;
        let answer = tool.run(input, desk.clone()).await?;
        Ok((answer, desk.into_drafted().await?))
    });
    Arc::new(Tool { settling: (!T::SETTLES.is_empty()).then(settling::<T>), ..tool })
}

/// What a tool that installs does after its plan was applied.
fn settling<T: Run + Default>() -> Settling {
    let tool = Arc::new(T::default());
    Box::new(move |mut arguments, mut setting| {
        let tool = Arc::clone(&tool);
        Box::pin(async move {
            let input = decoded::<T>(Kind::Run, &mut arguments, &mut setting)?;
            let desk = RunDesk::new(setting)?;
            let Some(answer) = tool.settle(input, desk.clone()).await? else { return Ok(None) };
            let answer = answer.try_map(object)?;
            // Half of an installation is none.
            let settled = if answer.success { desk.into_settled().await? } else { Settled::default() };
            Ok(Some(After { answer, settled }))
        })
    })
}

pub(crate) fn head_of_record<T: Record>() -> Head {
    head::<T>(Kind::Record, hints(Kind::Record, false, false, T::OPEN_WORLD))
}

pub(crate) fn record<T: Record + Default>() -> Arc<Tool> {
    Arc::new(erase(head_of_record::<T>(), |tool: Arc<T>, input, setting| async move {
        Ok((tool.record(input, RecordDesk::<T::Store>::new(setting, T::NEEDS_ROOT)?).await?, None))
    }))
}
