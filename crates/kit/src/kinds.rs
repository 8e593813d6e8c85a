//! The kinds of tool. What a tool *is* is the trait that it implements: it decides what the call's desk offers, and
//! the protocol's hints follow from it.

use std::future::Future;

use contract::{Fault, Media, ToolName, Toolset, Truncated};
use exec::run::Cache;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::choice::Choice;
use crate::desk::{ChangeDesk, ForeignDesk, ReadDesk, RecordDesk, RunDesk};
use crate::doc::Doc;
use crate::erased::Boxed;
use crate::limits::Limits;
use crate::resources::outside::Offers;
use crate::schema::Asked;

/// What every tool says about itself, whatever its kind.
pub trait Define: Send + Sync + 'static {
    /// The arguments. Unknown fields are refused (`#[serde(deny_unknown_fields)]`, a law).
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The tool's own fields of the result.
    type Output: Serialize + JsonSchema + Send;

    /// The wire name.
    const NAME: &'static str;
    /// The group that a user switches on or off.
    const TOOLSET: Toolset;
    /// Title and description: `doc!("this_file.rs")`.
    const DOC: Doc;
    /// Other names that a call may use; never listed.
    const ALIASES: &'static [&'static str] = &[];
    /// Whether it reaches beyond this machine.
    const OPEN_WORLD: bool = false;
    /// How long, how often and how many at a time.
    const LIMITS: Limits = Limits::DEFAULT;
    /// Whether it works in a root; where there is none, the call of a tool that does answers `no_root`.
    const NEEDS_ROOT: bool = true;
    /// The argument that names a project: a folder below the call's root, `.` for the root itself, or a folder's absolute place in whichever
    /// of the caller's roots it lies. The tool gets it relative.
    const PROJECT: Option<&'static str> = None;
    /// Of a tool of the kind [`Change`]: the library that a call with these arguments changes, by its name; nothing for the call's own root.
    /// The call is then made over that library, and sees its own root by [`ChangeDesk::home`]. Where whoever calls may not change that
    /// library, or there is none, the call stays where it is, and the tool refuses it.
    const LIBRARY: Option<LibraryOf> = None;
    /// When a call with these arguments has code of packages run, which nobody here has read: policy wants consent for that, unless the
    /// user's rules say otherwise.
    const FOREIGN_CODE: Option<ForeignCodeOf> = None;
    /// Whether only a person applies its plans: by `gatewright init`, or by an answer to the question that the client asks. What it plans
    /// may hold gatewright's own configuration (invariant 7).
    const PERSON_APPLIES: bool = false;
    /// Whose calls it makes, when it does nothing of its own: its arguments are `tool` and `arguments`.
    const WRAPS: Option<Wraps> = None;
    /// The programs that it may start, by their plain names: no other runs.
    const PROGRAMS: &'static [&'static str] = &[];
    /// Folders outside the root that its programs fill and find again.
    const CACHES: &'static [Cache] = &[];
    /// Globs of paths that persist without a plan, where the project ignores them: caches and build folders. A tool whose
    /// very purpose is to change ignored paths declares none.
    const PERSISTS: &'static [&'static str] = &[];
    /// Of a tool of the kind [`Run`] that installs: globs of paths that [`Run::settle`] leaves, where the project ignores them. Nothing else
    /// of what it writes stays, and none of it is part of a plan.
    const SETTLES: &'static [&'static str] = &[];
    /// The output's field that is a list, when the tool answers with one: it is paged with `limit` and `cursor`, and
    /// gives way to the budget.
    const LIST: Option<&'static str> = None;
    /// Entries on a page of that list when the caller does not say.
    const PAGE: u32 = 50;
    /// Most entries on a page of that list.
    const MOST: u32 = 500;
    /// Of a tool of the kind [`Run`]: what callers may ask for besides its own inputs.
    const ASKED: &'static [&'static str] = Asked::NAMES;
    /// What a result may cost, in tokens, where that is more than what any may: [`shape::HARD_CAP`](crate::shape::HARD_CAP) at most.
    const BUDGET: Option<u64> = None;

    /// Arguments that are good examples; each must decode (a law).
    fn examples() -> Vec<Value>;
}

/// The library that arguments mean.
pub type LibraryOf = fn(&Map<String, Value>) -> Option<&str>;

/// When arguments have code of packages run.
pub type ForeignCodeOf = fn(&Map<String, Value>) -> Option<ForeignCode>;

/// When code of packages runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignCode {
    /// In the rehearsal already: consent is wanted for the call.
    Always,
    /// Once the plan is applied: consent is wanted for that.
    Applied,
}

/// Whose calls a tool makes that does nothing of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wraps {
    /// Those of tools that only look.
    Reading,
    /// Everybody's.
    Any,
}

/// A tool that looks.
pub trait Read: Define {
    /// Looks, and answers.
    fn read(
        &self,
        input: Self::Input,
        desk: ReadDesk,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

/// A tool that changes something: it says what it would change, and never does it.
pub trait Change: Define {
    /// Whether planning again after an apply gives an empty plan.
    const IDEMPOTENT: bool;
    /// Whether its plans may remove or replace, rather than only add.
    const DESTRUCTIVE: bool;

    /// Says what would change, through the desk's draft, and answers.
    fn plan(
        &self,
        input: Self::Input,
        desk: ChangeDesk,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

/// A tool that starts programs: what they write is what it proposes.
pub trait Run: Define {
    /// Whether running again after an apply proposes nothing.
    const IDEMPOTENT: bool;
    /// Whether what it proposes may remove or replace, rather than only add.
    const DESTRUCTIVE: bool;

    /// Runs its programs over a copy of the root, and answers; what they wrote becomes the plan.
    fn run(
        &self,
        input: Self::Input,
        desk: RunDesk,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;

    /// Of a tool that [installs](Define::SETTLES): what follows once its plan stands, over the root as it then is. Called when `apply` was
    /// asked for, also where the plan is empty or was reviewed before, and never after a rehearsal without success. Fields that its
    /// answer's output has replace those of the rehearsal; its message is added. Where it fails, nothing of it stays and the plan does.
    fn settle(
        &self,
        input: Self::Input,
        desk: RunDesk,
    ) -> impl Future<Output = Result<Option<Answer<Self::Output>>, Fault>> + Send {
        let _ = (input, desk);
        async { Ok(None) }
    }
}

/// A tool of a plugin or an upstream server. It arrives with its schemas; nothing here can rehearse it or undo it.
pub trait Foreign: Send + Sync + 'static {
    /// What it is offered as: the definition that was approved, where one was.
    fn definition(&self) -> Definition;

    /// What it gives by name, where that is offered as the protocol's own resources and prompts, too.
    fn offers(&self) -> Option<Offers> {
        None
    }

    /// Its [identity](Definition::identity) as it is now, asked of whoever serves it before every call. What is served
    /// no longer is a fault that says so.
    fn current(&self, desk: ForeignDesk) -> Boxed<Result<Value, Fault>>;

    /// Calls it.
    fn call(&self, arguments: Value, desk: ForeignDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>>;
}

/// A tool of a plugin: it arrives with its schemas and is approved as any tool of others, but it says how it works, so it
/// gets the desk of a tool that starts programs, and what it proposes is rehearsed.
pub trait Guest: Send + Sync + 'static {
    /// What it is offered as.
    fn definition(&self) -> Definition;

    /// What its programs may be and may leave.
    fn means(&self) -> Means;

    /// Whether it is a part of this program: then nobody has to approve it, since it cannot change under anybody's feet.
    fn is_ours(&self) -> bool {
        false
    }

    /// Its [identity](Definition::identity) as it is now: asked before every call.
    fn current(&self, desk: ForeignDesk) -> Boxed<Result<Value, Fault>>;

    /// Runs its programs over a copy of the root, and answers; what they wrote becomes the plan, where it proposes.
    fn run(&self, arguments: Value, desk: RunDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>>;
}

/// What the programs of a [`Guest`] may be and may leave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Means {
    /// The programs that it may start, by their plain names: no other runs.
    pub programs: Vec<String>,
    /// Globs of what it may propose to change. `None`: it only looks, and what its programs write is thrown away.
    pub proposes: Option<Vec<String>>,
    /// Globs of paths that persist without a plan, where the project ignores them.
    pub persists: Vec<String>,
    /// Where its programs change the project's record: how. They get a clone, and what they do to its refs is proposed.
    pub cloning: Option<exec::workshop::Cloning>,
    /// Whether running again after an apply proposes nothing.
    pub idempotent: bool,
    /// Whether it reaches beyond this machine.
    pub open_world: bool,
}

/// What a foreign tool says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The wire name, namespaced by whoever brings the tool.
    pub name: ToolName,
    /// For people.
    pub title: String,
    /// For models.
    pub description: String,
    /// The group that a user switches on or off.
    pub toolset: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of its own output, when it has one.
    pub output_schema: Option<Value>,
    /// How long, how often and how many at a time.
    pub limits: Limits,
    /// What an approval is bound to: who serves it, and the whole of what that one says of it, keys that are not
    /// understood included. Null where nobody has to approve it.
    pub identity: Value,
    /// Whether a person is asked before each call: what it is called for may destroy.
    pub asks: bool,
    /// What its calls bring into a session, or take out of it.
    pub labels: Vec<policy::Label>,
}

/// A tool that appends to what is remembered, directly, through a store that the binary provides.
pub trait Record: Define {
    /// The store that it needs: a trait object of `store-api`.
    type Store: ?Sized + Send + Sync + 'static;

    /// Appends, and answers.
    fn record(
        &self,
        input: Self::Input,
        desk: RecordDesk<Self::Store>,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

/// What a tool answers. Beside a plan it is kept in this form, so a field that is added has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer<T> {
    /// False when something that ran reported findings; the call itself succeeded.
    pub success: bool,
    /// Markdown, deterministic, written to be read and quoted.
    pub message: String,
    /// The tool's own fields.
    pub output: T,
    /// How many results a list holds.
    #[serde(default)]
    pub results: Option<u64>,
    /// What the tool itself left out.
    #[serde(default)]
    pub truncated: Option<Truncated>,
    /// The list that gives way when the result is over its budget.
    #[serde(default)]
    pub list: Option<List>,
    /// What the caller's user may be asked, where the front door can ask: the same call is then made with what was chosen.
    #[serde(default)]
    pub choice: Option<Choice>,
    /// Pictures and sounds that go beside the output, which says of each what it is. None is kept beside a plan.
    #[serde(skip)]
    pub media: Vec<Media>,
}

/// A list in an output: what is shown is a part of what there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The output's field: an array.
    pub field: String,
    /// How many there are, those before and after the shown part included.
    pub total: u64,
    /// How many come before the first that is shown.
    pub offset: u64,
}

impl<T> Answer<T> {
    /// A successful answer.
    #[must_use]
    pub const fn new(message: String, output: T) -> Self {
        Self {
            success: true,
            message,
            output,
            results: None,
            truncated: None,
            list: None,
            choice: None,
            media: Vec::new(),
        }
    }

    /// The answer, in whose place an empty one is left.
    pub(crate) fn take(&mut self) -> Self
    where
        T: Default,
    {
        std::mem::replace(self, Self::new(String::new(), T::default()))
    }

    /// The answer with the same words about it and another output.
    #[must_use]
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Answer<U> {
        let Self { success, message, output, results, truncated, list, choice, media } = self;
        Answer { success, message, output: map(output), results, truncated, list, choice, media }
    }

    /// As [`Answer::map`], of an output that may not be had.
    pub(crate) fn try_map<U, E>(self, map: impl FnOnce(T) -> Result<U, E>) -> Result<Answer<U>, E> {
        let Self { success, message, output, results, truncated, list, choice, media } = self;
        Ok(Answer { success, message, output: map(output)?, results, truncated, list, choice, media })
    }
}
