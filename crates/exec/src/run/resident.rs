//! A program that goes on: a browser, say, or another MCP server. It keeps nothing on the disk but in folders that its user
//! names, is spoken with over a channel, and ends with whoever started it.
//!
//! It gets the same world as a run, made by a launcher of its own on a thread of its own, since a launcher ends with the thread
//! that started it.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use contract::{Code, Fault};
use launcher::{Bound, Channel, Ground, Isolation, Limits, Network, Report, SCRATCH_BYTES, Said, Spec};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::door::Doorkeeper;
use super::door::web::Web;
use super::sight::{self, Surroundings};
use super::{Launcher, Level, memory};
use crate::address::Reach;
use crate::state::StateDir;

/// How often it is looked at how much memory it holds.
const LOOK: Duration = Duration::from_millis(500);

/// How often it is seen to, then.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// What it said last, in bytes.
const TAIL: usize = 64 * 1024;

/// Where it begins, and where its home is: private, in memory, gone with it.
const HOME: &str = "/tmp";

/// What is to be started.
#[derive(Debug)]
pub struct Needs {
    /// The program, absolute and without links.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables besides those that every run has.
    pub env: BTreeMap<String, String>,
    /// Most bytes of memory that it may hold, with all that it starts.
    pub memory: u64,
    /// Whom it may reach; nobody, where there is none.
    pub web: Option<Arc<Web>>,
    /// Where it finds the channel to it.
    pub channel: Channel,
    /// What it works over; only its own home, where there is nothing.
    pub works: Option<Works>,
}

/// What a program works over besides its own home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Works {
    /// Where it begins; in its home, where that is nowhere.
    pub dir: Option<PathBuf>,
    /// What it reads, each where it is.
    pub reads: Vec<PathBuf>,
    /// What it reads and writes, each where it is.
    pub writes: Vec<PathBuf>,
    /// What it never sees, should it lie in one of these.
    pub hidden: Vec<PathBuf>,
    /// The hosts that it may speak to, at private addresses, too.
    pub hosts: Vec<String>,
}

/// What in a folder that a program writes is not its to write: what says what is allowed here, and what others run.
const KEPT_FROM: &[&str] = &[
    "gatewright.toml",
    "gatewright.lock",
    ".gatewright",
    ".git/config",
    ".git/hooks",
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
];

/// A program that goes on until this is dropped.
#[derive(Debug)]
pub struct Resident {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// Readable once it is to end.
    stop: OwnedFd,
    ended: Mutex<Option<String>>,
    tail: Mutex<VecDeque<u8>>,
}

impl Resident {
    /// Starts it, and gives the channel to it.
    ///
    /// Only a world of its own will do: elsewhere this is `confinement_unavailable`.
    pub fn start(
        launcher: &Launcher,
        state: &StateDir,
        home: Option<&std::path::Path>,
        needs: Needs,
    ) -> Result<(Self, UnixStream), Fault> {
        let nowhere = state.nowhere()?;
        let name = needs.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if launcher.level(&nowhere)? < Level::Full {
            let message = format!("{name} is started in a world of its own or not at all");
            return Err(Fault::new(Code::ConfinementUnavailable, message)
                .suggest("`gatewright doctor` says why this machine makes no namespaces."));
        }
        // A worker of ours starts nothing else: what lies on the PATH need not be looked for. A browser may be a script.
        let is_ours = needs.works.is_none() && needs.web.is_none();
        let path = if is_ours { Vec::new() } else { launcher.path(&nowhere) };
        let around = Surroundings { root: &nowhere, state: state.path(), home };
        let mut sight = sight::of(&around, &path, &needs.program);
        let searched = needs.works.as_ref().map(|_| &path);
        let searched = searched.and_then(|path| std::env::join_paths(path).ok()?.into_string().ok());
        let works = needs.works.unwrap_or_default();
        let (reads, writes) = (seen(&works.reads, state)?, seen(&works.writes, state)?);
        for place in reads.iter().chain(&writes) {
            // Credentials that lie in what is shown are not.
            let within = Surroundings { root: place, state: state.path(), home };
            sight.hidden.extend(sight::of(&within, &[], &needs.program).hidden);
        }
        let lies_in = |place: &PathBuf| reads.iter().chain(&writes).any(|outer| place.starts_with(outer));
        sight.hidden.extend(works.hidden.into_iter().filter(lies_in));
        sight.hidden.sort();
        sight.hidden.dedup();
        let mut env: BTreeMap<String, String> =
            [("LANG", "C.UTF-8"), ("TZ", "UTC"), ("HOME", HOME), ("PATH", "/usr/bin:/bin")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        env.extend(searched.map(|path| ("PATH".to_owned(), path)));
        let mut web = needs.web;
        if !works.hosts.is_empty() {
            env.extend(launcher.outside().variables());
            sight.readable.extend(launcher.outside().shown().map(std::path::Path::to_owned));
            web = Some(Arc::new(Web::new(Reach::nothing().with_hosts(works.hosts))));
        }
        env.extend(needs.env);
        let kept = writes.iter().flat_map(|place| KEPT_FROM.iter().map(|name| place.join(name)));
        let kept = kept.filter(|place| is_itself(place)).map(Bound::here).collect();
        sight.readable.extend(reads);
        let spec = Spec {
            program: needs.program,
            called: None,
            args: needs.args,
            env,
            dir: works.dir.unwrap_or_else(|| HOME.into()),
            ground: Ground {
                isolation: Isolation::Full,
                is_online: false,
                stage: nowhere,
                readable: sight.ground,
                scratch_bytes: SCRATCH_BYTES,
            },
            readable: sight.readable,
            shown: kept,
            writable: writes.into_iter().map(Bound::here).collect(),
            overlay: None,
            hidden: sight.hidden,
            network: if web.is_some() { Network::Door } else { Network::None },
            channel: Some(needs.channel),
            observes: false,
            limits: Limits { cpu_seconds: 3_600, file_bytes: 1 << 30, ..Limits::default() },
            strict: true,
        };
        let stop = eventfd(0, EventfdFlags::CLOEXEC)
            .map_err(|e| Fault::internal(format!("{name}: nothing can tell it to end: {e}")))?;
        let shared = Arc::new(Shared { stop, ended: Mutex::default(), tail: Mutex::default() });
        let (told, tells) = channel();
        let looked_after = Looked {
            launcher: launcher.clone(),
            spec,
            shared: Arc::clone(&shared),
            memory: needs.memory,
            web,
        };
        let thread = std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || looked_after.run(&told))
            .map_err(|e| Fault::internal(format!("{name}: {e}")))?;
        let resident = Self { shared, thread: Some(thread) };
        match tells.recv_timeout(PATIENCE) {
            Ok(channel) => Ok((resident, UnixStream::from(channel))),
            // Dropping it ends what has begun.
            Err(_) => {
                let why = resident.ended().unwrap_or_else(|| "it took too long to start".to_owned());
                Err(Fault::new(Code::ToolExecutionFailed, format!("{name}: {why}")))
            }
        }
    }

    /// Why it is no more, once it is.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it said last, on its standard output and error.
    #[must_use]
    pub fn tail(&self) -> String {
        let tail = self.shared.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail.iter().copied().collect::<Vec<u8>>()).into_owned()
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether a place is there, and no link on the way to it leads elsewhere.
fn is_itself(place: &std::path::Path) -> bool {
    std::fs::canonicalize(place).is_ok_and(|real| real == place)
}

/// The folders that a program is shown, without links. Gatewright's own state is none of them, and neither is everything.
fn seen(places: &[PathBuf], state: &StateDir) -> Result<Vec<PathBuf>, Fault> {
    let seen = places.iter().map(|place| {
        let refused = |why: &str| {
            Fault::invalid(format!("{}: {why}", place.display()))
                .suggest("Name a folder by its whole path in `reads` or `writes`.")
        };
        let real = std::fs::canonicalize(place).map_err(|e| refused(&format!("it cannot be shown: {e}")))?;
        if !place.is_absolute() || real.parent().is_none() || real.starts_with(state.path()) {
            return Err(refused("it is no folder that can be shown"));
        }
        Ok(real)
    });
    seen.collect()
}

/// What the thread of a resident has to do.
struct Looked {
    launcher: Launcher,
    spec: Spec,
    shared: Arc<Shared>,
    memory: u64,
    web: Option<Arc<Web>>,
}

impl Looked {
    fn run(self, told: &Sender<OwnedFd>) {
        let why = match self.launcher.begin_alone(&self.spec) {
            Err(error) => format!("it could not be started: {}", error.kind()),
            Ok(mut begun) => {
                for stream in [
                    begun.child.stdout.take().map(|s| Box::new(s) as Box<dyn Read + Send>),
                    begun.child.stderr.take().map(|s| Box::new(s) as Box<dyn Read + Send>),
                ]
                .into_iter()
                .flatten()
                {
                    let shared = Arc::clone(&self.shared);
                    std::thread::spawn(move || overhear(stream, &shared));
                }
                let why = self.watched(&begun.child, &mut begun.said, told);
                // With the launcher goes its world.
                let _ = begun.child.kill();
                let _ = begun.child.wait();
                why
            }
        };
        *self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// Looks after it, and says why it ends.
    fn watched(&self, child: &Child, said: &mut Said, told: &Sender<OwnedFd>) -> String {
        let (mut channel, mut looked) = (None, Instant::now());
        // It stands for as long as this runs.
        let mut door = None;
        loop {
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if let Some(held) = memory::held_beyond(child.id(), self.memory) {
                    return format!(
                        "it took {} MiB of memory, of {} MiB that it may",
                        held >> 20,
                        self.memory >> 20
                    );
                }
            }
            let mut heard = [PollFd::new(said, PollFlags::IN), PollFd::new(&self.shared.stop, PollFlags::IN)];
            match poll(&mut heard, Some(&TICK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) if !heard[1].revents().is_empty() => return "it was let go".to_owned(),
                Ok(_) => {}
                Err(error) => return format!("it cannot be watched: {error}"),
            }
            match said.report() {
                Ok(Some(Report::Door)) => {
                    let listener = said.take_given().map(TcpListener::from);
                    let stands = |(listener, web)| Doorkeeper::stand(listener, Arc::clone(web));
                    door = listener.zip(self.web.as_ref()).map(stands);
                }
                Ok(Some(Report::Channel)) => channel = said.take_given(),
                Ok(Some(Report::Ready { .. })) => match channel.take() {
                    Some(channel) if door.is_some() || self.web.is_none() => drop(told.send(channel)),
                    _ => return "its launcher gave no channel or no door".to_owned(),
                },
                Ok(Some(Report::Exited { code })) => return format!("it ended with code {code}"),
                Ok(Some(Report::Killed { signal })) => return format!("signal {signal} ended it"),
                Ok(Some(Report::Failed { doing, why })) => return format!("{doing}: {why}"),
                Ok(None) => return "its world ended".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    }
}

/// Keeps the end of what it says.
fn overhear(mut stream: impl Read, shared: &Shared) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        let mut tail = shared.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(buffer.get(..read).unwrap_or_default());
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }
}
