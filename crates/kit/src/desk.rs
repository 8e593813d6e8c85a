//! What a call works at. The kind of the tool decides which desk it gets; none of them gives the machine.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cache::Cache;
use contract::{Code, Fault, FileMode, Principal, RelPath};
use exec::history::{HistoryError, Repo};
use exec::kept::{Clean, KeptRun, KeptStream};
use exec::run::{Command, Exit, Launcher, Ran};
use exec::workshop::Terms;
use exec::workshop::persist::{Declared as Declaration, SideWrites};
use exec::{Draft, Rights, Root, StateDir, View, Workshop};
use failures::{Analyzer, FailedRun};
use tokio_util::sync::CancellationToken;

use crate::call::{Bearer, Progress, Step};
use crate::course::Course;
use crate::erased::{Declared, Drafted};
use crate::jobs::{Job, Jobs};
use crate::paging::Page;
use crate::registry::Registry;
use crate::settings::{Section, Settings};

/// How much more of a stream is cleaned than is shown of its end, in bytes.
const MARGIN: usize = 16 * 1024;

/// A service that the binary provides: `Arc<dyn Trait>`, found by its type.
type Service<S> = Arc<S>;

/// What the engine hands to a tool's adapter.
#[derive(Clone)]
pub struct Setting {
    pub(crate) root: Option<Arc<Root>>,
    pub(crate) state: StateDir,
    pub(crate) registry: Arc<Registry>,
    pub(crate) declared: Declared,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) clean: Clean,
    pub(crate) course: Course,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) cache: Arc<Cache>,
    pub(crate) page: Page,
    pub(crate) settings: Settings,
    pub(crate) services: Services,
    pub(crate) principal: Principal,
    pub(crate) bearer: Option<Bearer>,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Progress,
}

/// What the binary provides to tools that record: one service per type.
#[derive(Clone, Default)]
pub struct Services(BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>);

impl Services {
    /// Provides `service` to every tool whose store it is.
    #[must_use]
    pub fn with<S: ?Sized + Send + Sync + 'static>(mut self, service: Arc<S>) -> Self {
        self.0.insert(std::any::type_name::<S>(), Arc::new(service));
        self
    }

    pub(crate) fn get<S: ?Sized + Send + Sync + 'static>(&self) -> Option<Service<S>> {
        self.0.get(std::any::type_name::<S>())?.downcast_ref::<Service<S>>().cloned()
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The desk of a tool that looks.
#[derive(Clone)]
pub struct ReadDesk {
    view: Arc<View>,
    setting: Setting,
}

impl ReadDesk {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        Self::of(setting, true)
    }

    /// The desk of a tool that may do without a root: it then looks at nothing.
    pub(crate) fn of(setting: Setting, needs_root: bool) -> Result<Self, Fault> {
        let root = match (&setting.root, needs_root) {
            (Some(root), _) => Arc::clone(root),
            (None, true) => return Err(no_root()),
            (None, false) => Arc::new(Root::open(&setting.state.nowhere()?, "none", Rights::Read)?),
        };
        let view = Arc::new(View::new(root, setting.cancel.clone()));
        Ok(Self { view, setting })
    }

    /// The window on the root.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Who calls.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.setting.principal
    }

    /// A section of the configuration: the project's `gatewright.toml`, read through the view, over the user's.
    pub fn settings<S: Section>(&self) -> Result<S, Fault> {
        let path = RelPath::new("gatewright.toml").map_err(|e| Fault::internal(e.to_string()))?;
        let project = match self.view.read_optional(&path)? {
            None => Settings::default(),
            Some(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let table: toml::Table = toml::from_str(&text).map_err(|e| {
                    Fault::invalid(format!("gatewright.toml: {}", e.message())).about("gatewright.toml")
                })?;
                match serde_json::to_value(table) {
                    Ok(serde_json::Value::Object(map)) => Settings::new(map),
                    _ => Settings::default(),
                }
            }
        };
        self.setting.settings.overlaid(&project).section()
    }

    /// The page that was asked for, of a tool whose answer is a list. A tool need not look: an answer that has it all
    /// is cut to the page.
    #[must_use]
    pub const fn page(&self) -> Page {
        self.setting.page
    }

    /// Everything that is offered here.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.setting.registry
    }

    /// A private copy of the root, where the programs that the tool declares may run. What they write stays there.
    pub async fn workshop(&self) -> Result<Arc<Workshop>, Fault> {
        self.blocking(|desk| {
            let setting = &desk.setting;
            let terms = Terms {
                programs: setting.declared.programs,
                caches: setting.declared.caches,
                launcher: Arc::clone(&setting.launcher),
                environment: BTreeMap::new(),
                owner: setting.principal.clone(),
                clean: Arc::clone(&setting.clean),
            };
            Workshop::open(&desk.view, &setting.state, terms, &setting.cancel).map(Arc::new)
        })
        .await
    }

    /// Runs a program that the tool declares, over `workshop`.
    pub async fn run_in(&self, workshop: &Arc<Workshop>, command: Command) -> Result<Ran, Fault> {
        let at_work = Arc::clone(workshop);
        self.setting.course.at_work(workshop);
        self.blocking(move |desk| {
            let ran = match at_work.run(&command) {
                Ok(ran) => ran,
                Err(fault) => return Err(desk.explained(&command, fault)),
            };
            desk.setting.course.note(&ran);
            if !ran.is_success() {
                desk.explain(&ran);
            }
            Ok(ran)
        })
        .await
    }

    /// Has the failure analysis look at a program that failed: every one, before it is answered.
    fn explain(&self, ran: &Ran) {
        let (out, err) = (ran.stdout.text(), ran.stderr.text());
        let root = self.view.root().path().display().to_string();
        let handle = ran.handle.as_ref().map(ToString::to_string);
        let signal = match ran.exit {
            Exit::Signal(signal) => Some(signal),
            Exit::Code(_) => None,
        };
        let analysis = self.setting.analyzer.analyze(&FailedRun {
            program: ran.line.first().map_or("", String::as_str),
            args: ran.line.get(1..).unwrap_or_default(),
            exit_code: ran.code(),
            signal,
            stdout: &out,
            stderr: &err,
            duration_ms: u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
            run: handle.as_deref(),
            root: Some(&root),
            ..FailedRun::default()
        });
        self.setting.course.explain(analysis);
    }

    /// The fault of a program that came to no end of its own, with what is to be done about it.
    fn explained(&self, command: &Command, fault: Fault) -> Fault {
        if !matches!(fault.code, Code::Timeout | Code::ResourceExhausted) {
            return fault;
        }
        let analysis = self.setting.analyzer.analyze(&FailedRun {
            program: command.program,
            args: &command.args,
            timed_out: fault.code == Code::Timeout,
            duration_ms: u64::try_from(command.timeout.as_millis()).unwrap_or(u64::MAX),
            ..FailedRun::default()
        });
        analysis.suggestions.iter().fold(fault, |fault, suggestion| fault.suggest(suggestion.text.clone()))
    }

    /// The failure analysis.
    #[must_use]
    pub fn analyzer(&self) -> &Analyzer {
        &self.setting.analyzer
    }

    /// A service that the binary provides, where it does.
    #[must_use]
    pub fn service<S: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<S>> {
        self.setting.services.get::<S>()
    }

    /// `text` without secrets: for what is remembered.
    #[must_use]
    pub fn cleaned(&self, text: &str) -> String {
        String::from_utf8_lossy(&(self.setting.clean)(text.as_bytes())).into_owned()
    }

    /// The answers that are kept for a while.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.setting.cache
    }

    /// The project's git repository, to be read; nothing of it is run or followed.
    pub fn repository(&self) -> Result<Repo, Fault> {
        Repo::open(self.view.root().path()).map_err(unread)
    }

    /// Says how far the call has come.
    pub fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        (self.setting.progress)(Step { done, total, message: message.into() });
    }

    /// The jobs of whoever calls.
    #[must_use]
    pub fn jobs(&self) -> Vec<Arc<Job>> {
        self.setting.jobs.of(&self.setting.principal)
    }

    /// A job of whoever calls.
    pub fn job(&self, handle: &str) -> Result<Arc<Job>, Fault> {
        self.setting.jobs.find(handle, &self.setting.principal)
    }

    /// The last bytes that a job's program has said, without secrets, `most` of each stream at most.
    #[must_use]
    pub fn tail(&self, job: &Job, most: usize) -> String {
        // A secret that begins before the cut would not be known for one: more is cleaned than is shown, and no part of
        // a line.
        let streams = job.tail(most + MARGIN).into_iter().map(|tail| {
            let clean = String::from_utf8_lossy(&(self.setting.clean)(&tail.bytes)).into_owned();
            if !tail.is_cut {
                return clean;
            }
            let from = clean.len().saturating_sub(most);
            let from = clean.char_indices().map(|(at, _)| at).find(|at| *at >= from).unwrap_or(clean.len());
            clean[from..].split_once('\n').map(|(_, whole)| whole.to_owned()).unwrap_or_default()
        });
        let said = streams.map(|said| said.trim_end_matches('\n').to_owned()).filter(|said| !said.is_empty());
        said.collect::<Vec<_>>().join("\n")
    }

    /// A run of whoever calls, as it is kept.
    pub fn kept_run(&self, handle: &str) -> Result<KeptRun, Fault> {
        self.setting.state.run(handle, &self.setting.principal)
    }

    /// What a stream of a kept run said.
    pub fn output(&self, stream: &KeptStream) -> Result<Box<dyn BufRead + Send>, Fault> {
        self.setting.state.output(stream)
    }

    /// Says that this call is one that goes on: whoever made it need not wait. It becomes a job at once.
    pub fn go_on_alone(&self) {
        self.setting.course.leave();
    }

    /// Cancelled when the call is.
    #[must_use]
    pub const fn cancelled(&self) -> &CancellationToken {
        &self.setting.cancel
    }

    /// Waits for as long, or until the call is cancelled; says whether it was.
    pub async fn pause(&self, time: Duration) -> bool {
        self.setting.cancel.run_until_cancelled(tokio::time::sleep(time)).await.is_none()
    }

    /// Fails when the call was cancelled.
    pub fn check(&self) -> Result<(), Fault> {
        if self.setting.cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// Runs file work, hashing and other blocking work off the protocol's thread.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let desk = self.clone();
        join(tokio::task::spawn_blocking(move || work(&desk)).await)
    }
}

/// The desk of a tool that changes something: looks like a reader's, and has a draft.
#[derive(Clone)]
pub struct ChangeDesk {
    read: ReadDesk,
    draft: Arc<Mutex<Draft>>,
}

impl ChangeDesk {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        Ok(Self { read: ReadDesk::new(setting)?, draft: Arc::default() })
    }

    /// Puts a file.
    pub fn put(&self, path: &RelPath, bytes: Vec<u8>, mode: FileMode) -> Result<(), Fault> {
        self.with(|draft, view| draft.put(view, path, bytes, mode))
    }

    /// Removes a file or link.
    pub fn remove(&self, path: &RelPath) -> Result<(), Fault> {
        self.with(|draft, view| draft.remove(view, path))
    }

    /// Makes a symbolic link whose target lies inside the root.
    pub fn symlink(&self, path: &RelPath, target: &str) -> Result<(), Fault> {
        self.with(|draft, view| draft.symlink(view, path, target))
    }

    /// Appends a line.
    pub fn append(&self, path: &RelPath, line: &str) -> Result<(), Fault> {
        self.with(|draft, view| draft.append(view, path, line))
    }

    /// Writes files as a commit on a new branch.
    pub fn branch(
        &self,
        name: &str,
        message: &str,
        files: Vec<exec::draft::BranchFile>,
    ) -> Result<(), Fault> {
        self.with(|draft, view| draft.branch(view, name, message, files))
    }

    /// Sends one request after everything else.
    pub fn request(
        &self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<(), Fault> {
        self.with(|draft, _| draft.request(method, url, headers, body))
    }

    /// As [`ReadDesk::blocking`], with the draft at hand.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let desk = self.clone();
        join(tokio::task::spawn_blocking(move || work(&desk)).await)
    }

    fn with(&self, work: impl FnOnce(&mut Draft, &View) -> Result<(), Fault>) -> Result<(), Fault> {
        work(&mut self.draft.lock().unwrap_or_else(PoisonError::into_inner), self.read.view())
    }

    /// What was drafted, and the view that it was made with.
    pub(crate) fn into_parts(self) -> (Draft, Arc<View>) {
        let draft = std::mem::take(&mut *self.draft.lock().unwrap_or_else(PoisonError::into_inner));
        (draft, self.read.view)
    }
}

impl std::ops::Deref for ChangeDesk {
    type Target = ReadDesk;

    fn deref(&self) -> &ReadDesk {
        &self.read
    }
}

/// The desk of a tool that starts programs: looks like a reader's, and what its programs write is its proposal.
#[derive(Clone)]
pub struct RunDesk {
    read: ReadDesk,
    workshop: Arc<tokio::sync::OnceCell<Arc<Workshop>>>,
}

impl RunDesk {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        Ok(Self { read: ReadDesk::new(setting)?, workshop: Arc::default() })
    }

    /// Runs a program that the tool declares, over the call's copy of the root.
    pub async fn run(&self, command: Command) -> Result<Ran, Fault> {
        let workshop = Arc::clone(self.workshop.get_or_try_init(|| self.read.workshop()).await?);
        self.read.run_in(&workshop, command).await
    }

    /// The same desk over the root as it is now: for a tool that runs again and again. What its programs write is nobody's
    /// proposal.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self { read: self.read.clone(), workshop: Arc::default() }
    }

    /// Where the programs worked, once one has.
    #[must_use]
    pub fn workshop(&self) -> Option<&Arc<Workshop>> {
        self.workshop.get()
    }

    /// What the programs left: what persists is moved into the root, everything else becomes a draft.
    pub(crate) async fn into_drafted(self) -> Result<Drafted, Fault> {
        let view = Arc::clone(&self.read.view);
        let Some(workshop) = self.workshop.get().cloned() else {
            let (draft, side, blocked) = (Draft::default(), SideWrites::default(), Vec::new());
            return Ok(Drafted { draft, view, side, blocked });
        };
        self.read
            .blocking(move |desk| {
                let declared = Declaration::new(desk.setting.declared.persists)?;
                let persists = |path: &RelPath| declared.has(path) && workshop.ignores(path);
                let (draft, blocked) = workshop.changes(&desk.view, &persists)?;
                let side = workshop.persist(&persists)?;
                Ok(Drafted { draft, view: Arc::clone(&desk.view), side, blocked })
            })
            .await
    }
}

impl std::ops::Deref for RunDesk {
    type Target = ReadDesk;

    fn deref(&self) -> &ReadDesk {
        &self.read
    }
}

/// The desk of a foreign tool: who calls, and whether the call goes on. What it reaches is its own upstream.
#[derive(Clone)]
pub struct ForeignDesk {
    setting: Setting,
}

impl ForeignDesk {
    pub(crate) const fn new(setting: Setting) -> Self {
        Self { setting }
    }

    /// Who calls.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.setting.principal
    }

    /// The token that the caller came with. It is for whoever issued it, in exchange for another (RFC 8693), and goes
    /// nowhere else.
    #[must_use]
    pub const fn bearer(&self) -> Option<&Bearer> {
        self.setting.bearer.as_ref()
    }

    /// Cancelled when the call is.
    #[must_use]
    pub const fn cancelled(&self) -> &CancellationToken {
        &self.setting.cancel
    }

    /// Says how far the call has come.
    pub fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        (self.setting.progress)(Step { done, total, message: message.into() });
    }
}

/// The desk of a tool that records.
pub struct RecordDesk<S: ?Sized> {
    store: Arc<S>,
    setting: Setting,
}

impl<S: ?Sized + Send + Sync + 'static> RecordDesk<S> {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        let store = setting.services.get::<S>().ok_or_else(|| {
            Fault::internal(format!("no store of type {} was provided", std::any::type_name::<S>()))
        })?;
        Ok(Self { store, setting })
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Who calls.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.setting.principal
    }

    /// A window on the root, for what a record is about.
    pub fn read(&self) -> Result<ReadDesk, Fault> {
        ReadDesk::new(self.setting.clone())
    }
}

/// What a reading of the repository that failed means to the caller.
#[must_use]
pub fn unread(error: HistoryError) -> Fault {
    let code = match &error {
        HistoryError::NotARepository | HistoryError::UnknownRevision(_) | HistoryError::Unborn => {
            Code::NotFound
        }
        HistoryError::NoMergeBase => Code::NotFound,
        HistoryError::BadRevision { .. } | HistoryError::Ambiguous(_) | HistoryError::WrongKind { .. } => {
            Code::InvalidArgument
        }
        HistoryError::Refused(_) => Code::PathNotAllowed,
        HistoryError::Cancelled => Code::Cancelled,
        HistoryError::TimedOut(_) => Code::Timeout,
        HistoryError::TooLarge { .. } => Code::TooLarge,
        _ => Code::FilesystemError,
    };
    Fault::new(code, error.to_string())
}

fn no_root() -> Fault {
    Fault::new(Code::NoRoot, "there is no root to work in")
        .suggest("Start the server in a git repository, or name a directory with `--root PATH`.")
}

fn join<T>(joined: Result<Result<T, Fault>, tokio::task::JoinError>) -> Result<T, Fault> {
    match joined {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            // The pipeline catches it and writes the transcript.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Fault::new(Code::Cancelled, "the call was cancelled")),
        },
    }
}
