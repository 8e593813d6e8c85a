//! One execution of a skill in an engine of its own.
//!
//! A new runtime for each run: nothing of one is there for the next. What the engine holds by itself: memory, its stack, time
//! wherever JavaScript runs. What it does not: native loops (`sort`, `join`, `reverse` of something that says it has 2⁵³
//! elements) look at no clock. Hence whoever waits ends the process, and this is never called in a server.
//!
//! Code is not made from text: `eval` is gone, and the four constructors of functions throw. It would have had no more
//! authority than the skill, but what a person approves is the text of the files.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::promise::PromiseState;
use rquickjs::{
    CaughtError, Context, Ctx, Exception, FromJs, Function, Module, Object, Promise, Runtime, Value,
};

use crate::failure;
use crate::imports::{self, Source};
use crate::limits::{self, Limits};
use crate::strip::{Dialect, Stripped, strip};
use crate::talk::{Failure, Kind, Level, Run};

/// Where a run's logs go, and who answers its questions.
pub trait Host {
    /// Something was said; at most [`limits::LOG_BYTES`] and [`limits::LOG_LINES`] come.
    fn log(&mut self, level: Level, text: String);
    /// A file below what is granted, or why not.
    fn read(&mut self, path: String) -> Result<String, String>;
    /// The paths that a pattern matches below what is granted, or why not.
    fn glob(&mut self, pattern: String) -> Result<Vec<String>, String>;
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The result as JSON; `null` also for `undefined`.
    pub result: Result<serde_json::Value, Failure>,
    /// Whether something of the console was left out.
    pub log_cut: bool,
}

/// The name of what runs before a skill. Frames of it are not shown.
const PRELUDE: &str = "gatewright:prelude";

/// Runs a skill. Must be called on a thread with [`limits::THREAD_STACK`] bytes of stack, in a process that can be killed.
pub fn run(run: &Run, host: Rc<RefCell<dyn Host>>) -> Outcome {
    let book = Rc::new(Book { host, bytes: Cell::new(0), lines: Cell::new(0), cut: Cell::new(false) });
    let result = files(run).and_then(|files| within(run, &Rc::new(files), &book));
    Outcome { result, log_cut: book.cut.get() }
}

/// All files without types. One that cannot be run is an error even if nothing imports it: it was sent to be run.
fn files(run: &Run) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    for file in &run.files {
        let Stripped { text, .. } =
            strip(&file.path, &file.text).map_err(|refusal| failure::refused(&file.path, &refusal))?;
        if text.contains('\0') {
            return Err(Failure::new(Kind::Source, "SyntaxError", format!("{} has a NUL in it", file.path)));
        }
        files.insert(file.path.clone(), text);
    }
    Ok(files)
}

fn within(
    run: &Run,
    files: &Rc<BTreeMap<String, String>>,
    book: &Rc<Book>,
) -> Result<serde_json::Value, Failure> {
    let broken = |_: rquickjs::Error| Failure::new(Kind::Engine, "Error", "the engine cannot be made");
    let runtime = Runtime::new().map_err(broken)?;
    runtime.set_memory_limit(run.limits.memory.max(1024 * 1024));
    runtime.set_max_stack_size(limits::ENGINE_STACK);
    let clock = Clock::start(run.limits);
    let watched = clock.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || watched.is_over())));
    runtime.set_loader(OwnFiles(Rc::clone(files)), OwnFiles(Rc::clone(files)));
    let context = if run.grants.clock {
        Context::builder().with::<Language>().with::<intrinsic::Date>().build(&runtime)
    } else {
        Context::builder().with::<Language>().build(&runtime)
    };
    let context = context.map_err(broken)?;
    let done = context.with(|ctx| Execution { ctx: ctx.clone(), run, files, clock: &clock }.result(book));
    // What the skill left may have finalizers to run, which take no time of the next: there is none.
    drop(context);
    done
}

/// The language, without what tells the time or the collector's.
type Language = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

#[derive(Clone)]
pub(crate) struct Clock {
    end: Instant,
    over: Rc<Cell<bool>>,
}

impl Clock {
    fn start(limits: Limits) -> Self {
        let time = Duration::from_millis(limits.milliseconds.min(24 * 3_600_000));
        Self { end: Instant::now() + time, over: Rc::default() }
    }

    /// Whether the time is over: from then on, always.
    pub(crate) fn is_over(&self) -> bool {
        let over = self.over.get() || Instant::now() >= self.end;
        self.over.set(over);
        over
    }
}

/// What the console is told, counted.
struct Book {
    host: Rc<RefCell<dyn Host>>,
    bytes: Cell<usize>,
    lines: Cell<usize>,
    cut: Cell<bool>,
}

impl Book {
    /// Says whether more is kept.
    fn log(&self, level: &str, text: &str) -> bool {
        let left = limits::LOG_BYTES.saturating_sub(self.bytes.get());
        let kept = limits::cut(text, left);
        if self.lines.get() >= limits::LOG_LINES || (kept.is_empty() && !text.is_empty()) {
            self.cut.set(true);
            return false;
        }
        if kept.len() < text.len() {
            self.cut.set(true);
        }
        self.bytes.set(self.bytes.get() + kept.len());
        self.lines.set(self.lines.get() + 1);
        let level = match level {
            "debug" => Level::Debug,
            "warn" => Level::Warn,
            "error" => Level::Error,
            _ => Level::Info,
        };
        self.host.borrow_mut().log(level, kept);
        !self.cut.get()
    }
}

struct Execution<'r, 'js> {
    ctx: Ctx<'js>,
    run: &'r Run,
    files: &'r BTreeMap<String, String>,
    clock: &'r Clock,
}

impl<'js> Execution<'_, 'js> {
    fn result(&self, book: &Rc<Book>) -> Result<serde_json::Value, Failure> {
        let call = self.caught(self.prelude(book))?;
        let (module, loaded) = self.caught(self.load()).map_err(failure::of_source)?;
        self.settled::<Value<'js>>(&loaded)?;
        let function = self.function(&module)?;
        let input = serde_json::to_string(&self.run.input)
            .map_err(|error| Failure::new(Kind::Engine, "Error", error.to_string()))?;
        let promise: Promise<'js> = self.caught(call.call((function, input)))?;
        let result = self.settled::<Value<'js>>(&promise)?;
        self.caught(failure::json_of(&result))?.map_or(Ok(serde_json::Value::Null), |text| read(&text))
    }

    fn caught<T>(&self, result: rquickjs::Result<T>) -> Result<T, Failure> {
        result.map_err(|error| {
            let error = CaughtError::from_error(&self.ctx, error);
            failure::of(&self.ctx, error, self.clock, self.files)
        })
    }

    fn prelude(&self, book: &Rc<Book>) -> rquickjs::Result<Function<'js>> {
        let ctx = &self.ctx;
        let mut options = EvalOptions::default();
        options.filename = Some(PRELUDE.to_owned());
        let prelude: Function<'js> = ctx.eval_with_options(include_str!("prelude.js"), options)?;
        let host = Object::new(ctx.clone())?;
        let logs = Rc::clone(book);
        let log = move |level: String, text: String| logs.log(&level, &text);
        host.set("log", Function::new(ctx.clone(), log)?)?;
        let reads = Rc::clone(book);
        let read = move |ctx: Ctx<'js>, path: String| -> rquickjs::Result<String> {
            let answer = reads.host.borrow_mut().read(path);
            answer.map_err(|why| Exception::throw_message(&ctx, &why))
        };
        host.set("read", Function::new(ctx.clone(), read)?)?;
        let globs = Rc::clone(book);
        let glob = move |ctx: Ctx<'js>, pattern: String| -> rquickjs::Result<Vec<String>> {
            let answer = globs.host.borrow_mut().glob(pattern);
            answer.map_err(|why| Exception::throw_message(&ctx, &why))
        };
        host.set("glob", Function::new(ctx.clone(), glob)?)?;
        let grants = Object::new(ctx.clone())?;
        grants.set("random", self.run.grants.random)?;
        grants.set("reads", self.run.grants.reads)?;
        grants.set("log", u32::try_from(limits::LOG_BYTES).unwrap_or(u32::MAX))?;
        prelude.call((host, grants))
    }

    fn load(&self) -> rquickjs::Result<(Module<'js, rquickjs::module::Evaluated>, Promise<'js>)> {
        let text = self.files.get(&self.run.entry).cloned().unwrap_or_default();
        Module::declare(self.ctx.clone(), self.run.entry.as_str(), text)?.eval()
    }

    /// Runs jobs until a promise is settled.
    fn settled<T: FromJs<'js>>(&self, promise: &Promise<'js>) -> Result<T, Failure> {
        while promise.state() == PromiseState::Pending {
            if self.clock.is_over() {
                return Err(failure::timeout());
            }
            if !self.ctx.execute_pending_job() {
                let message = "the skill waits for a promise that nothing is left to settle (there are no timers, no network)";
                return Err(Failure::new(Kind::Unsettled, "Error", message));
            }
        }
        let result = promise.result::<T>().unwrap_or(Err(rquickjs::Error::WouldBlock));
        self.caught(result)
    }

    /// The function that the skill is.
    fn function(&self, module: &Module<'js, rquickjs::module::Evaluated>) -> Result<Function<'js>, Failure> {
        let namespace = self.caught(module.namespace())?;
        let names = imports::functions(&self.run.skill);
        for name in &names {
            if !self.caught(namespace.contains_key(name.as_str()))? {
                continue;
            }
            let value: Value<'js> = self.caught(namespace.get(name.as_str()))?;
            if let Some(function) = value.as_function() {
                return Ok(function.clone());
            }
        }
        let message = format!(
            "{} exports none of the functions {}, {}, {}: export one of them",
            self.run.entry, names[0], names[1], names[2]
        );
        Err(Failure::new(Kind::Function, "Error", message))
    }
}

/// A result from the text that the engine made of it.
fn read(text: &str) -> Result<serde_json::Value, Failure> {
    if text.len() > limits::RESULT_BYTES {
        let message = format!(
            "the result has {} bytes as JSON, and may have {}: return less",
            text.len(),
            limits::RESULT_BYTES
        );
        return Err(Failure::new(Kind::Result, "RangeError", message));
    }
    if crate::talk::depth(text.as_bytes()) > limits::DEPTH {
        let message = format!("the result nests deeper than {}: return something flatter", limits::DEPTH);
        return Err(Failure::new(Kind::Result, "RangeError", message));
    }
    let value: serde_json::Value = serde_json::from_str(text).map_err(|_| {
        let message = "the result has text in it that is no Unicode (half of a surrogate pair)";
        Failure::new(Kind::Result, "TypeError", message)
    })?;
    // As it goes over the wire, which may take more letters.
    match serde_json::to_vec(&value) {
        Ok(bytes) if bytes.len() <= limits::RESULT_BYTES => Ok(value),
        _ => Err(Failure::new(
            Kind::Result,
            "RangeError",
            "the result is larger than 256 KiB as JSON: return less",
        )),
    }
}

/// Finds and loads the files of the run, and nothing else.
struct OwnFiles(Rc<BTreeMap<String, String>>);

impl Resolver for OwnFiles {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        imports::resolve(base, name, |path| self.0.contains_key(path) && Dialect::of(path).is_some())
            .ok_or_else(|| {
                let why = match Source::of(name) {
                    Source::Relative | Source::Computed => "the skill has no such file",
                    Source::Node => "what Node has is not there in an embedded skill",
                    Source::Bare => "packages are not there in an embedded skill",
                    Source::Other => "only files of the skill are imported, by relative paths",
                };
                rquickjs::Error::new_resolving_message(base, name, why)
            })
    }
}

impl Loader for OwnFiles {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        match self.0.get(name) {
            Some(text) => Module::declare(ctx.clone(), name, text.as_str()),
            None => Err(rquickjs::Error::new_loading(name)),
        }
    }
}
