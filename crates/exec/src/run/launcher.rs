//! How programs are started, and how far confined this machine lets them be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use contract::{Code, Fault};
use launcher::{Ground, Isolation, Layer, Limits, Network, Overlay, Report, SCRATCH_BYTES, Spec};

use super::Level;
use super::Outside;
use super::find::trusted;
use super::memory;
use super::waiting::{self, Begun, Keeper};
use super::watch::Most;
use crate::root::Root;

/// Most bytes that one run may write below its root.
const MAX_WRITTEN: u64 = 8 << 30;

/// How programs are started: this program, started again.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    least: Level,
    most: Level,
    disk: u64,
    /// Three quarters of what the machine has, unless it is said.
    memory: Option<u64>,
    /// The folders of `PATH`, trusted or not.
    search: Vec<PathBuf>,
    offer: Arc<OnceLock<Offer>>,
    keeper: Arc<Keeper>,
    outside: Arc<Outside>,
    /// Whether a layer can be laid over a root: by the file systems of both.
    layered: Arc<Mutex<Vec<(Devices, bool)>>>,
}

/// The file systems of a root and of the layer over it.
type Devices = (u64, u64);

/// Why nothing could be run to see what a world can have.
#[derive(Debug, thiserror::Error)]
enum Untried {
    /// The launcher did not get as far as saying anything: it may next time.
    #[error("{0}")]
    Unasked(String),
    /// What it says the machine does not do.
    #[error("{0}")]
    Refused(String),
}

/// What this machine lets a run have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// How far runs are confined.
    pub level: Level,
    /// The layers that hold.
    pub layers: Vec<Layer>,
    /// What is missing, and what the system said.
    pub missing: Vec<String>,
}

impl Launcher {
    /// This very program, which must call `launcher::main_if_asked` before anything else.
    #[must_use]
    pub fn own() -> Self {
        Self::at("/proc/self/exe".into())
    }

    /// Another program that does so.
    #[must_use]
    pub fn at(program: PathBuf) -> Self {
        Self {
            program,
            least: Level::Filters,
            most: Level::Full,
            disk: MAX_WRITTEN,
            memory: None,
            search: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
            offer: Arc::default(),
            keeper: Arc::default(),
            outside: Arc::default(),
            layered: Arc::default(),
        }
    }

    /// The same, refusing runs that would be confined less than `least`.
    #[must_use]
    pub fn at_least(mut self, least: Level) -> Self {
        self.least = least;
        self
    }

    /// The same, as if the machine had no more than `most`.
    #[must_use]
    pub fn at_most(self, most: Level) -> Self {
        Self { most, offer: Arc::default(), ..self }
    }

    /// The same, ending runs that write more than `bytes` below their root.
    #[must_use]
    pub fn with_disk(mut self, bytes: u64) -> Self {
        self.disk = bytes;
        self
    }

    /// The same, ending runs whose programs hold more than `bytes` of memory together. Without, it is three quarters of what the
    /// machine has.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The same, with that outside of it.
    #[must_use]
    pub fn with_outside(mut self, outside: Outside) -> Self {
        self.outside = Arc::new(outside);
        self
    }

    pub(super) const fn outside(&self) -> &Arc<Outside> {
        &self.outside
    }

    pub(super) fn most(&self) -> Most {
        let usual = || memory::total().map_or(u64::MAX, |all| all.saturating_sub(all / 4));
        Most { disk: self.disk, memory: self.memory.unwrap_or_else(usual) }
    }

    /// The same, with programs from these folders instead of those of `PATH`.
    #[must_use]
    pub fn searching(mut self, folders: Vec<PathBuf>) -> Self {
        self.search = folders;
        self
    }

    /// Where programs that run over `root` come from.
    #[must_use]
    pub fn path(&self, root: &Path) -> Vec<PathBuf> {
        trusted(&self.search, root)
    }

    /// What policy asks for, at least.
    #[must_use]
    pub const fn least(&self) -> Level {
        self.least
    }

    /// What this machine offers: tried once, with a program that does nothing. `scratch` is an empty folder.
    pub fn offer(&self, scratch: &Path) -> &Offer {
        self.offer.get_or_init(|| self.tried(scratch))
    }

    /// What runs get: what is offered, or a fault where that is less than policy asks for.
    pub(crate) fn level(&self, scratch: &Path) -> Result<Level, Fault> {
        let offer = self.offer(scratch);
        if offer.level >= self.least {
            return Ok(offer.level);
        }
        let message = format!(
            "policy asks that runs are confined to the level {:?}, and this machine offers {:?} ({})",
            self.least.word(),
            offer.level.word(),
            offer.missing.join("; ")
        );
        Err(Fault::new(Code::ConfinementUnavailable, message)
            .suggest("`gatewright doctor` says what is missing and how a machine comes by it.")
            .suggest(
                "A person may set `confinement` in the section `[security]` of their own configuration.",
            ))
    }

    fn tried(&self, scratch: &Path) -> Offer {
        let mut missing = Vec::new();
        let tries = [(Level::Full, Isolation::Full), (Level::Filters, Isolation::Filters)];
        for (level, isolation) in tries.into_iter().filter(|(level, _)| *level <= self.most) {
            match self.tried_once(&nothing(scratch, isolation)) {
                Ok(layers) if layers.contains(&Layer::Landlock) => {
                    if level == Level::Full && !layers.contains(&Layer::Proc) {
                        missing.push("a /proc of its own".to_owned());
                    }
                    if !layers.contains(&Layer::Processes) && rustix::process::geteuid().is_root() {
                        missing.push("a limit on processes that holds for root (Linux 6.14)".to_owned());
                    }
                    return Offer { level, layers, missing };
                }
                Ok(_) => missing.push("Landlock".to_owned()),
                Err(why) => missing
                    .push(format!("{}: {why}", if level == Level::Full { "namespaces" } else { "filters" })),
            }
        }
        if self.most < Level::Full {
            missing.push(format!("it was asked for no more than {:?}", self.most.word()));
        }
        Offer { level: Level::None, layers: Vec::new(), missing }
    }

    fn tried_once(&self, spec: &Spec) -> Result<Vec<Layer>, Untried> {
        let Begun { mut child, mut said } =
            waiting::begun(&self.program, spec, Stdio::null).map_err(|e| Untried::Unasked(e.to_string()))?;
        let mut held = Err(Untried::Unasked("it said nothing".to_owned()));
        while let Ok(Some(report)) = said.report() {
            match report {
                Report::Ready { layers } => held = Ok(layers),
                Report::Failed { doing, why } => held = Err(Untried::Refused(format!("{doing}: {why}"))),
                _ => {}
            }
        }
        let _ = child.wait();
        held
    }

    /// Starts a program: by the launcher that waits, where there is one and what it stands on is still so.
    pub fn begin(&self, spec: &Spec) -> std::io::Result<Begun> {
        match self.keeper.taken(&spec.ground) {
            Some(waiting) => waiting.told(spec),
            None => waiting::begun(&self.program, spec, Stdio::piped),
        }
    }

    /// Starts a program by a launcher that has not waited: the one that waits is for runs.
    pub(super) fn begin_alone(&self, spec: &Spec) -> std::io::Result<Begun> {
        waiting::begun(&self.program, spec, Stdio::piped)
    }

    /// The process of the launcher that waits for the next run, where one does.
    #[must_use]
    pub fn waiting(&self) -> Option<u32> {
        self.keeper.waiting()
    }

    /// Gives back what has said the end of its program. The next launcher is made to wait when this one is gone.
    pub fn ended(&self, child: Child, ground: &Ground) {
        self.keeper.ended(&self.program, child, ground);
    }

    /// Whether this machine lays `overlay` over `root`: tried once for each pair of file systems.
    pub(crate) fn layers(&self, root: &Root, overlay: &Overlay, stage: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let device = |path: &Path| std::fs::metadata(path).map(|there| there.dev()).unwrap_or_default();
        let pair = (device(root.path()), device(&overlay.upper));
        let known =
            |layered: &Vec<(Devices, bool)>| layered.iter().find(|(p, _)| *p == pair).map(|(_, is)| *is);
        if let Some(is) = known(&self.layered.lock().unwrap_or_else(PoisonError::into_inner)) {
            return is;
        }
        let spec = Spec { overlay: Some(overlay.clone()), ..nothing(stage, Isolation::Full) };
        let is = match self.tried_once(&spec) {
            Ok(_) => true,
            Err(Untried::Refused(_)) => false,
            // That it could not be asked says nothing of what the machine does.
            Err(Untried::Unasked(_)) => return false,
        };
        self.layered.lock().unwrap_or_else(PoisonError::into_inner).push((pair, is));
        is
    }
}

/// A program that does nothing, to see what a world can have.
fn nothing(stage: &Path, isolation: Isolation) -> Spec {
    Spec {
        program: "/usr/bin/true".into(),
        called: None,
        args: Vec::new(),
        env: BTreeMap::new(),
        dir: "/usr".into(),
        ground: Ground {
            isolation,
            is_online: false,
            stage: stage.to_owned(),
            readable: vec!["/usr".into()],
            scratch_bytes: SCRATCH_BYTES,
        },
        readable: Vec::new(),
        shown: Vec::new(),
        writable: Vec::new(),
        overlay: None,
        hidden: Vec::new(),
        network: Network::None,
        channel: None,
        observes: false,
        limits: Limits::default(),
        strict: false,
    }
}
