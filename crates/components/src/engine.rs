//! The engine: a component compiled, and called with nothing at hand but what was declared.

use std::time::Duration;

use wasmtime::component::{Component, Linker, TypedFunc};
use wasmtime::{Config, Engine, ResourceLimiter, Store, StoreContextMut, Trap};

use crate::described;
use crate::hearing::{is_argument, is_key, is_word, weight};
use crate::imports;
use crate::limits::{self, Grants, Limits};
use crate::talk::{Answer, Bytes, Call, Effect, Event, Failure, File, Kind, Level, Question, Tool};

#[allow(
    missing_docs,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = "made from the world's text"
)]
mod world {
    wasmtime::component::bindgen!({ path: "wit", world: "plugin" });
}

use world::gatewright::plugin::host as wit;

/// Who answers a component's questions, and takes what it logs.
pub trait Host: Send + 'static {
    /// Takes a piece of the log.
    fn log(&mut self, level: Level, text: String);
    /// Answers. Nothing, where whoever would answer is gone: the call is over then.
    fn ask(&mut self, question: Question) -> Option<Answer>;
}

/// Why a call is ended from within a host function.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("it called host functions more than {} times", limits::HOST_CALLS)]
    HostCalls,
    #[error("the parent is gone")]
    Parent,
    #[error("`{0}` is not there while the component describes itself")]
    Early(&'static str),
}

/// What a store holds: one call.
struct Guest {
    /// Nobody, while the component describes itself.
    host: Option<Box<dyn Host>>,
    calls: u32,
    log_bytes: usize,
    log_pieces: usize,
    log_cut: bool,
    planned: usize,
    effects: usize,
    runs: usize,
    questions: usize,
    may_plan: bool,
    memory: usize,
    wanted_more: bool,
}

impl Guest {
    fn new(host: Option<Box<dyn Host>>, memory: usize, may_plan: bool) -> Self {
        Self {
            host,
            calls: 0,
            log_bytes: 0,
            log_pieces: 0,
            log_cut: false,
            planned: 0,
            effects: 0,
            runs: 0,
            questions: 0,
            may_plan,
            memory,
            wanted_more: false,
        }
    }

    fn count(&mut self) -> wasmtime::Result<()> {
        self.calls += 1;
        if self.calls > limits::HOST_CALLS { Err(wasmtime::Error::new(Ended::HostCalls)) } else { Ok(()) }
    }

    fn log(&mut self, level: Level, text: &str) -> wasmtime::Result<()> {
        self.count()?;
        let room = limits::LOG_BYTES.saturating_sub(self.log_bytes);
        let text = limits::cut(text, room).replace('\0', "\u{fffd}");
        let text = limits::cut(&text, room);
        if room == 0 || self.log_pieces == limits::LOG_PIECES {
            self.log_cut = true;
            return Ok(());
        }
        self.log_bytes += text.len();
        self.log_pieces += 1;
        let Some(host) = &mut self.host else { return Err(wasmtime::Error::new(Ended::Early("log"))) };
        host.log(level, text);
        Ok(())
    }

    /// Asks, where `fits` says nothing against it: what the parent would end the process for is refused here, with words.
    fn ask(
        &mut self,
        function: &'static str,
        question: Question,
        unfit: Option<&str>,
    ) -> wasmtime::Result<Result<Answer, String>> {
        self.count()?;
        if self.host.is_none() {
            return Err(wasmtime::Error::new(Ended::Early(function)));
        }
        if let Some(why) = unfit {
            return Ok(Err(why.to_owned()));
        }
        self.questions += 1;
        if self.questions > limits::QUESTIONS {
            return Err(wasmtime::Error::new(Ended::HostCalls));
        }
        let answer = self.host.as_mut().and_then(|host| host.ask(question));
        match answer {
            Some(Answer::Denied(why)) => Ok(Err(why)),
            Some(answer) => Ok(Ok(answer)),
            None => Err(wasmtime::Error::new(Ended::Parent)),
        }
    }

    fn plan(&mut self, effect: Effect) -> wasmtime::Result<Result<(), String>> {
        let weight = weight(&effect);
        let unfit = if !self.may_plan {
            Some("a tool of the kind `read` plans nothing: describe it as `run`")
        } else if !is_word(effect.path()) {
            Some("this is no path")
        } else if weight > limits::FILE_BYTES {
            Some("a planned file has at most 8 MiB")
        } else if self.planned + weight > limits::PLAN_BYTES || self.effects >= limits::EFFECTS {
            Some("a call plans at most 2,000 changes, of 32 MiB together")
        } else {
            None
        };
        if unfit.is_none() {
            self.planned += weight;
            self.effects += 1;
        }
        Ok(self.ask("plan", Question::Plan(effect), unfit)?.and_then(done))
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, _: usize, desired: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= self.memory && most.is_none_or(|most| desired <= most);
        self.wanted_more |= desired > self.memory;
        Ok(fits)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= limits::TABLES.1;
        self.wanted_more |= !fits;
        Ok(fits)
    }

    fn instances(&self) -> usize {
        limits::INSTANCES
    }

    fn tables(&self) -> usize {
        limits::TABLES.0
    }

    // What one may take is then what all take.
    fn memories(&self) -> usize {
        1
    }
}

/// An answer of another kind than the question: the parent's fault, and not the component's.
fn odd<T>() -> Result<T, String> {
    Err("the answer is of another kind than the question".to_owned())
}

fn done(answer: Answer) -> Result<(), String> {
    if answer == Answer::Done { Ok(()) } else { odd() }
}

/// A component, ready to be called.
pub struct Loaded {
    engine: Engine,
    component: Component,
    linker: Linker<Guest>,
    limits: Limits,
    tools: Vec<Tool>,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Loaded {
    /// Compiles a component, links what was declared, and asks it what it offers.
    pub fn new(bytes: &[u8], grants: Grants, limits: Limits) -> Result<Self, Failure> {
        let engine = engine(limits).map_err(|error| failed(Kind::Engine, &format!("{error:#}")))?;
        if bytes.starts_with(b"\0asm\x01\0\0\0") {
            let message = "this is a core module and no component: make one of it with `wit-component`, as the guide says";
            return Err(failed(Kind::Component, message));
        }
        let component = Component::from_binary(&engine, bytes)
            .map_err(|error| failed(Kind::Component, &format!("it cannot be compiled: {error:#}")))?;
        imports::check(&engine, &component, grants).map_err(|(kind, message)| failed(kind, &message))?;
        let mut linker = Linker::new(&engine);
        link(&mut linker, grants).map_err(|error| failed(Kind::Engine, &format!("{error:#}")))?;
        tick(&engine)?;
        let mut loaded = Self { engine, component, linker, limits, tools: Vec::new() };
        loaded.tools = loaded.describe()?;
        Ok(loaded)
    }

    /// What it offers.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Calls a tool, in a store of its own: nothing of an earlier call is there. What comes of it is an
    /// [`Event::Done`] or an [`Event::Failed`].
    pub fn call(&self, call: &Call, host: Box<dyn Host>) -> (Event, Option<Box<dyn Host>>) {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.tool) else {
            return (Event::Failed(failed(Kind::Engine, "there is no such tool")), Some(host));
        };
        let mut store = self.store(Some(host), tool.kind == "run");
        let event = match self.called(&mut store, call) {
            Ok(result) => Event::Done {
                result,
                log_cut: store.data().log_cut,
                fuel: self.limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0)),
            },
            Err(error) => Event::Failed(self.why(&store, &error)),
        };
        (event, store.into_data().host)
    }

    fn called(&self, store: &mut Store<Guest>, call: &Call) -> wasmtime::Result<Result<String, String>> {
        let instance = self.linker.instantiate(&mut *store, &self.component)?;
        let configure: TypedFunc<(String,), (Result<(), String>,)> =
            instance.get_typed_func(&mut *store, "configure")?;
        let (configured,) = configure.call(&mut *store, (call.config.clone(),))?;
        if let Err(why) = configured {
            return Ok(Err(limits::cut(&format!("its configuration: {why}"), limits::MESSAGE_BYTES)));
        }
        let function: TypedFunc<(String, String), (Result<String, String>,)> =
            instance.get_typed_func(&mut *store, "call")?;
        let (result,) = function.call(&mut *store, (call.tool.clone(), call.arguments.clone()))?;
        match result {
            Ok(json) if !described::is_json(&json, limits::RESULT_BYTES) => Err(wasmtime::Error::new(Odd)),
            Ok(json) => Ok(Ok(json)),
            Err(why) => Ok(Err(limits::cut(&why, limits::MESSAGE_BYTES))),
        }
    }

    fn describe(&self) -> Result<Vec<Tool>, Failure> {
        let mut store = self.store(None, false);
        let described = (|| {
            let instance = self.linker.instantiate(&mut store, &self.component)?;
            // All three are asked for now: what is missing is said before anything is offered.
            let missing = |name: &'static str| move |error: wasmtime::Error| error.context(Unoffered(name));
            let _: TypedFunc<(String,), (Result<(), String>,)> =
                instance.get_typed_func(&mut store, "configure").map_err(missing("configure"))?;
            let _: TypedFunc<(String, String), (Result<String, String>,)> =
                instance.get_typed_func(&mut store, "call").map_err(missing("call"))?;
            let describe: TypedFunc<(), (Vec<world::Tool>,)> =
                instance.get_typed_func(&mut store, "describe").map_err(missing("describe"))?;
            let (tools,) = describe.call(&mut store, ())?;
            Ok(tools)
        })();
        let tools = described.map_err(|error: wasmtime::Error| self.why(&store, &error))?;
        let tools: Vec<Tool> = tools
            .into_iter()
            .map(|tool| Tool {
                name: tool.name,
                title: tool.title,
                description: tool.description,
                input_schema: tool.input_schema,
                kind: tool.kind,
            })
            .collect();
        described::check(&tools).map_err(|error| failed(Kind::World, &error.to_string()))?;
        Ok(tools)
    }

    fn store(&self, host: Option<Box<dyn Host>>, may_plan: bool) -> Store<Guest> {
        let mut store = Store::new(&self.engine, Guest::new(host, self.limits.memory, may_plan));
        store.limiter(|guest| guest);
        // It fails where the engine counts none, and ours does.
        let _ = store.set_fuel(self.limits.fuel);
        store.set_epoch_deadline((self.limits.milliseconds / limits::TICK).max(1));
        store
    }

    fn why(&self, store: &Store<Guest>, error: &wasmtime::Error) -> Failure {
        if let Some(ended) = error.downcast_ref::<Ended>() {
            let kind = match ended {
                Ended::HostCalls => Kind::HostCalls,
                Ended::Parent => Kind::Engine,
                Ended::Early(_) => Kind::World,
            };
            return failed(kind, &ended.to_string());
        }
        if error.downcast_ref::<Odd>().is_some() {
            let most = limits::RESULT_BYTES >> 20;
            let message = format!("its result is no JSON of at most {most} MiB and {} levels", limits::DEPTH);
            return failed(Kind::Result, &message);
        }
        if let Some(Unoffered(name)) = error.downcast_ref::<Unoffered>() {
            let message = format!(
                "the component does not offer `{name}` as gatewright:plugin@{} asks of a plugin: {}",
                crate::WORLD,
                error.root_cause()
            );
            return failed(Kind::World, &message);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => {
                failed(Kind::Fuel, &format!("it took more than {} steps (`fuel`)", self.limits.fuel))
            }
            Some(Trap::Interrupt) => {
                let most = self.limits.milliseconds;
                failed(Kind::Timeout, &format!("it took longer than {most} ms (`timeout`)"))
            }
            _ if store.data().wanted_more => {
                let most = self.limits.memory >> 20;
                failed(
                    Kind::Memory,
                    &format!("it wanted more than {most} MiB of memory (`memory-mb`), and failed"),
                )
            }
            Some(trap) => failed(Kind::Trap, &format!("it trapped: {trap}")),
            None => failed(Kind::Trap, &format!("it failed: {}", error.root_cause())),
        }
    }
}

/// The result is none that can be carried.
#[derive(Debug, thiserror::Error)]
#[error("the result is no JSON within the limits")]
struct Odd;

/// A function that a plugin has is not there, or has another type.
#[derive(Debug, thiserror::Error)]
#[error("{0} is missing")]
struct Unoffered(&'static str);

fn failed(kind: Kind, message: &str) -> Failure {
    Failure { kind, message: limits::cut(message, limits::MESSAGE_BYTES) }
}

fn engine(limits: Limits) -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(limits::GUEST_STACK)
        // Addresses are taken for what it may have, and no four gibibytes.
        .memory_reservation(limits.memory as u64)
        .memory_reservation_for_growth(0)
        .memory_guard_size(64 << 10)
        // The same call gives the same bits on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        // What no plugin needs is no surface.
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(false);
    Engine::new(&config)
}

/// The second brake: what counts no steps is stopped by time.
fn tick(engine: &Engine) -> Result<(), Failure> {
    let weak = engine.weak();
    let beat = move || {
        while let Some(engine) = weak.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(Duration::from_millis(limits::TICK));
        }
    };
    std::thread::Builder::new()
        .name("epoch".to_owned())
        .spawn(beat)
        .map(drop)
        .map_err(|error| failed(Kind::Engine, &format!("no thread for the engine's clock: {error}")))
}

type Said<T> = wasmtime::Result<(Result<T, String>,)>;

/// Links the functions that were declared, and no other.
fn link(linker: &mut Linker<Guest>, grants: Grants) -> wasmtime::Result<()> {
    let mut host = linker.instance(&imports::host())?;
    host.func_wrap("log", |mut store: StoreContextMut<'_, Guest>, (level, text): (wit::Level, String)| {
        let level = match level {
            wit::Level::Debug => Level::Debug,
            wit::Level::Info => Level::Info,
            wit::Level::Warn => Level::Warn,
        };
        store.data_mut().log(level, &text)
    })?;
    if grants.reads {
        host.func_wrap(
            "read",
            |mut store: StoreContextMut<'_, Guest>, (path,): (String,)| -> Said<wit::File> {
                let unfit = (!is_word(&path)).then_some("this is no path");
                let answer = store.data_mut().ask("read", Question::Read(path), unfit)?;
                Ok((answer.and_then(|answer| match answer {
                    Answer::File(File::Absent) => Ok(wit::File::Absent),
                    Answer::File(File::Bytes(bytes)) => Ok(wit::File::Bytes(bytes.0)),
                    Answer::File(File::Link(to)) => Ok(wit::File::Link(to)),
                    _ => odd(),
                }),))
            },
        )?;
        host.func_wrap(
            "glob",
            |mut store: StoreContextMut<'_, Guest>, (pattern,): (String,)| -> Said<Vec<String>> {
                let unfit = (!is_word(&pattern)).then_some("this is no pattern");
                let answer = store.data_mut().ask("glob", Question::Glob(pattern), unfit)?;
                Ok((answer.and_then(|answer| match answer {
                    Answer::Paths(paths) => Ok(paths),
                    _ => odd(),
                }),))
            },
        )?;
    }
    if grants.writes {
        host.func_wrap(
            "plan",
            |mut store: StoreContextMut<'_, Guest>, (effect,): (wit::Effect,)| -> Said<()> {
                let effect = match effect {
                    wit::Effect::Put((path, bytes)) => Effect::Put { path, bytes: Bytes(bytes) },
                    wit::Effect::Remove(path) => Effect::Remove { path },
                    wit::Effect::Append((path, line)) => Effect::Append { path, line },
                };
                Ok((store.data_mut().plan(effect)?,))
            },
        )?;
    }
    if grants.programs {
        host.func_wrap("run", run)?;
    }
    if grants.state {
        host.func_wrap("get", |mut store: StoreContextMut<'_, Guest>, (key,): (String,)| {
            let unfit = (!is_key(&key)).then_some("this is no key");
            let answer = store.data_mut().ask("get", Question::Get(key), unfit)?;
            let value = match answer {
                Ok(Answer::Value(value)) => value.map(|bytes| bytes.0),
                _ => None,
            };
            Ok((value,))
        })?;
        host.func_wrap(
            "set",
            |mut store: StoreContextMut<'_, Guest>, (key, value): (String, Vec<u8>)| -> Said<()> {
                let unfit = if !is_key(&key) {
                    Some("a key is 1 to 200 bytes without control characters")
                } else if value.len() > limits::VALUE_BYTES {
                    Some("a value has at most 64 KiB")
                } else {
                    None
                };
                let answer =
                    store.data_mut().ask("set", Question::Set { key, value: Bytes(value) }, unfit)?;
                Ok((answer.and_then(done),))
            },
        )?;
    }
    Ok(())
}

fn run(mut store: StoreContextMut<'_, Guest>, (program, args): (String, Vec<String>)) -> Said<wit::Ran> {
    let guest = store.data_mut();
    let unfit = if guest.runs >= limits::RUNS {
        Some("a call runs at most 20 programs")
    } else if !is_word(&program) || args.len() > limits::WORDS || !args.iter().all(|arg| is_argument(arg)) {
        Some("a program has a name, and at most 200 arguments of at most 4,096 bytes")
    } else {
        None
    };
    guest.runs += usize::from(unfit.is_none());
    let answer = guest.ask("run", Question::Run { program, args }, unfit)?;
    Ok((answer.and_then(|answer| match answer {
        Answer::Ran { code, stdout, stderr } => Ok(wit::Ran { code, stdout: stdout.0, stderr: stderr.0 }),
        _ => odd(),
    }),))
}
