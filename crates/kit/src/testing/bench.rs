//! A real engine over a real directory, with nothing mocked.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use audit::verify::{With, verify};
use audit::{Body, Ledger, Redactor, Transcript};
use contract::{CallId, Fault, Kind, Principal, Reply};
use exec::run::Launcher;
use exec::{Rights, Root, StateDir};
use policy::Policy;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::approvals::{Approvals, Approver};
use crate::call::{Call, Done};
use crate::catalog::Catalog;
use crate::consent::Consent;
use crate::cost::Session;
use crate::desk::Services;
use crate::engine::{Engine, Parts};
use crate::erased::Tool;
use crate::family::Family;
use crate::kinds::Foreign;
use crate::limits::Limiter;
use crate::lock::Lock;
use crate::registry::Registry;
use crate::settings::Settings;
use crate::shape;

/// An engine over a fresh directory.
pub struct Bench {
    /// The engine.
    pub engine: Arc<Engine>,
    /// The conversation that its calls are of.
    pub session: Session,
    scratch: TempDir,
}

/// How a bench differs from the usual.
#[derive(Default)]
pub struct Setup {
    /// The rules.
    pub policy: Policy,
    /// What recording tools need.
    pub services: Services,
    /// What sends requests.
    pub sender: Option<Arc<dyn exec::request::Sender>>,
    /// Tools of others.
    pub foreign: Vec<Arc<dyn Foreign>>,
    /// Whether nobody has approved them.
    pub unapproved: bool,
    /// Who says what is approved, instead.
    pub approver: Option<Arc<dyn Approver>>,
    /// How programs are started, instead of as far confined as this machine has it.
    pub launcher: Option<Arc<Launcher>>,
    /// How long calls are attended to that may go on as jobs.
    pub detach_after: Option<Duration>,
    /// Whether calls are counted and queued.
    pub limited: bool,
}

impl Bench {
    /// A bench with `files` in its root.
    pub fn new(families: &[&Family], files: &[(&str, &str)]) -> Self {
        Self::with(families, files, Setup::default())
    }

    /// A bench that differs from the usual.
    pub fn with(families: &[&Family], files: &[(&str, &str)], setup: Setup) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root_path = scratch.path().join("root");
        std::fs::create_dir(&root_path).unwrap();
        for (name, text) in files {
            let path = root_path.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Arc::new(Root::open(&root_path, "root", Rights::ReadWrite).unwrap());
        let state = StateDir::at(scratch.path().join("state")).unwrap();
        let ledger = Ledger::open(&state.ledger()).unwrap();
        let redactor = Redactor::new(&[], ledger.tag_key());
        let mut registry = Registry::new(families, |_| true).unwrap();
        for tool in setup.foreign {
            registry.add(Arc::new(Tool::foreign(tool))).unwrap();
        }
        let mut own = Lock::default();
        for tool in registry.iter().filter(|t| t.head().kind == Kind::Foreign && !setup.unapproved) {
            own.accept(tool).unwrap();
        }
        let usual = Arc::new(Approvals { own, teams: Vec::new() });
        let engine = Engine::new(Parts {
            catalog: Arc::new(Catalog::fixed(registry)),
            policy: setup.policy,
            approvals: setup.approver.unwrap_or(usual),
            limiter: Arc::new(Limiter::new(setup.limited)),
            redactor: Arc::new(redactor),
            ledger,
            root: Some(root),
            other_roots: Vec::new(),
            state,
            settings: Settings::default(),
            services: setup.services,
            sender: setup.sender,
            launcher: setup.launcher.unwrap_or_else(super::launcher),
            jobs: Arc::default(),
            analyzer: Arc::new(failures::Analyzer::new(&[]).unwrap()),
            cache: Arc::new(cache::Cache::new(cache::Settings::default())),
            detach_after: setup.detach_after.unwrap_or(crate::jobs::DETACH_AFTER),
            budget: shape::BUDGET,
            check_outputs: true,
            uid: 0,
        });
        Self { engine, session: Session::random().unwrap(), scratch }
    }

    /// The root's place.
    pub fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    /// A call as the local user.
    pub fn request(&self, tool: &str, arguments: Value) -> Call {
        Call {
            id: CallId("test".into()),
            tool: tool.to_owned(),
            arguments,
            consent: Consent::default(),
            principal: Principal::Local { uid: 0 },
            bearer: None,
            client: None,
            from: None,
            inquiries: None,
            session: Some(self.session.clone()),
            detach: false,
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
        }
    }

    /// Makes a call and waits for it.
    pub fn call(&self, tool: &str, arguments: Value) -> Done {
        self.make(self.request(tool, arguments))
    }

    /// Makes a call that was put together elsewhere.
    pub fn make(&self, call: Call) -> Done {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(self.engine.call(call))
    }

    /// The reply of a call that must succeed.
    pub fn reply(&self, tool: &str, arguments: Value) -> Reply {
        self.call(tool, arguments).result.unwrap_or_else(|fault| panic!("{tool}: {fault:?}"))
    }

    /// The fault of a call that must fail.
    pub fn fault(&self, tool: &str, arguments: Value) -> Fault {
        match self.call(tool, arguments).result {
            Err(fault) => fault,
            Ok(reply) => panic!("{tool} succeeded: {:?}", reply.to_value()),
        }
    }

    /// Every transcript, from a ledger that must be intact.
    pub fn transcripts(&self) -> Vec<Transcript> {
        let mut all = Vec::new();
        let with = With { initial_key: self.engine.ledger().initial_key(), ..With::default() };
        let report = verify(self.engine.ledger().dir(), &with, |entry| {
            if let Body::Transcript(transcript) = &entry.body {
                all.push((**transcript).clone());
            }
        })
        .unwrap();
        assert!(report.intact, "{:?}", report.findings);
        all
    }

    /// Every file and link below the root, with its bytes; a file's begin with its mode.
    pub fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.root(), &self.root(), &mut files);
        files
    }
}

fn collect(root: &Path, dir: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            files.insert(format!("{name}/"), Vec::new());
            collect(root, &path, files);
        } else if metadata.is_symlink() {
            files
                .insert(name, std::fs::read_link(&path).unwrap().to_string_lossy().into_owned().into_bytes());
        } else {
            let mut content = format!("{:04o}\n", metadata.permissions().mode() & 0o7777).into_bytes();
            content.extend(std::fs::read(&path).unwrap());
            files.insert(name, content);
        }
    }
}
