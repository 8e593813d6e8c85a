//! What a call works at. The kind of the tool decides which desk it gets; none of them gives the machine.

mod answers;
mod change;
mod foreign;
pub mod git;
mod jobs;
pub mod look;
mod programs;
mod read;
mod record;
mod run;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use audit::Redactor;
use cache::Cache;
use contract::{Code, Fault, Principal};
use exec::history::HistoryError;
use exec::kept::Clean;
use exec::run::Launcher;
use exec::{Root, StateDir};
use failures::Analyzer;
use tokio_util::sync::CancellationToken;

pub use answers::Grounds;
pub use change::ChangeDesk;
pub use foreign::ForeignDesk;
pub use read::{Proposed, ReadDesk};
pub use record::RecordDesk;
pub use run::RunDesk;

use crate::approvals::Approver;
use crate::call::{Bearer, ClientInfo, Progress, Step};
use crate::course::Course;
use crate::erased::Declared;
use crate::inquiry::Inquiries;
use crate::jobs::Jobs;
use crate::paging::Page;
use crate::registry::Registry;
use crate::schema::Asked;
use crate::settings::Settings;

/// A service that the binary provides: `Arc<dyn Trait>`, found by its type.
type Service<S> = Arc<S>;

/// What the engine hands to a tool's adapter.
#[derive(Clone)]
pub struct Setting {
    /// That of the root that the call came from, where this is a library's.
    pub(crate) home: Option<Box<Setting>>,
    pub(crate) root: Option<Arc<Root>>,
    pub(crate) state: StateDir,
    pub(crate) registry: Arc<Registry>,
    pub(crate) declared: Declared,
    /// What a tool that runs programs was asked for besides its own inputs.
    pub(crate) asked: Asked,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) sender: Option<Arc<dyn exec::request::Sender>>,
    pub(crate) approvals: Arc<dyn Approver>,
    pub(crate) clean: Clean,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) course: Course,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) analyzer: Arc<Analyzer>,
    pub(crate) cache: Arc<Cache>,
    pub(crate) page: Page,
    pub(crate) settings: Settings,
    pub(crate) services: Services,
    pub(crate) principal: Principal,
    pub(crate) bearer: Option<Bearer>,
    pub(crate) client: Option<ClientInfo>,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Progress,
    pub(crate) inquiries: Option<Inquiries>,
}

impl Setting {
    /// Says how far the call has come; it leaves for whoever waits, so no secret is in it.
    fn step(&self, done: f64, total: Option<f64>, message: &str) {
        let message = String::from_utf8_lossy(&(self.clean)(message.as_bytes())).into_owned();
        (self.progress)(Step { done, total, message });
    }
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
