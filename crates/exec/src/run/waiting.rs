//! Launchers that are started before it is known what they run: most of a run's start is a process, namespaces and a root,
//! which are the same for every run of a server.
//!
//! One waits at a time, from the end of one run to the beginning of the next. It holds nothing of any run: its root is made of
//! what every program may see. It hangs on the keeper's thread, as a launcher hangs on whoever starts it, and so on this
//! process; it is let go when nobody has asked for [`IDLE`], and when what it stands on has changed meanwhile.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use launcher::{Ground, Isolation, Said, Spec, say_ground, say_spec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long a launcher waits for a run.
const IDLE: Duration = Duration::from_mins(5);

/// How long a launcher that has said the end of its program may take to be gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that is being started.
#[derive(Debug)]
pub struct Begun {
    /// The launcher, whose standard output and error are the program's.
    pub child: Child,
    /// What it says.
    pub said: Said,
}

/// Starts `program` as a launcher, with a socket to it.
fn launcher(program: &Path, stream: impl Fn() -> Stdio) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = std::process::Command::new(program);
    command
        .args(launcher::arguments())
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .stdout(stream())
        .stderr(stream())
        .process_group(0);
    // The child's end is the child's alone when this returns: when it is gone, reading ends.
    Ok((command.spawn()?, ours))
}

/// Ends a launcher, and with it its world.
fn let_go(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Starts what `spec` says by a launcher of its own.
pub(super) fn begun(program: &Path, spec: &Spec, stream: impl Fn() -> Stdio) -> io::Result<Begun> {
    let (child, mut ours) = launcher(program, stream)?;
    let said = say_ground(&mut ours, &spec.ground).and_then(|()| say_spec(&mut ours, spec));
    match said {
        Ok(()) => Ok(Begun { child, said: Said::new(ours) }),
        Err(error) => {
            let_go(child);
            Err(io::Error::other(error))
        }
    }
}

/// A launcher that waits, and what it stands on.
#[derive(Debug)]
pub(super) struct Waiting {
    child: Child,
    socket: UnixStream,
    ground: Ground,
    files: Vec<Stamp>,
    mounts: Option<File>,
    since: Instant,
}

/// What tells whether a place is still what it was; of a folder, whose content is not copied, only which one it is.
type Stamp = Option<(u64, u64, Option<(u64, i64, i64)>)>;

fn stamp(path: &Path) -> Stamp {
    let there = std::fs::symlink_metadata(path).ok()?;
    let content = there.is_file().then(|| (there.size(), there.ctime(), there.ctime_nsec()));
    Some((there.dev(), there.ino(), content))
}

fn stamps(ground: &Ground) -> Vec<Stamp> {
    ground.readable.iter().chain([&ground.stage]).map(|path| stamp(path)).collect()
}

/// This process's mounts; becomes ready when they change (proc(5), `/proc/pid/mounts`).
fn mounts() -> Option<File> {
    let mounts = File::open("/proc/self/mountinfo").ok()?;
    // Opened, it has a change to tell of where there was one just before.
    is_touched(&mounts);
    Some(mounts)
}

fn is_touched(mounts: &File) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(mounts, PollFlags::PRI)], Some(&now)) != Ok(0)
}

impl Waiting {
    fn new(program: &Path, ground: &Ground) -> io::Result<Self> {
        // What changes from here on is seen by a comparison later, also where the launcher has it already.
        let (files, mounts) = (stamps(ground), mounts());
        let (child, mut socket) = launcher(program, Stdio::piped)?;
        if let Err(error) = say_ground(&mut socket, ground) {
            let_go(child);
            return Err(io::Error::other(error));
        }
        Ok(Self { child, socket, ground: ground.clone(), files, mounts, since: Instant::now() })
    }

    /// Whether a run on `ground` finds everything as if it were made now.
    fn is_fresh(&mut self, ground: &Ground) -> bool {
        self.ground == *ground
            && self.mounts.as_ref().is_some_and(|mounts| !is_touched(mounts))
            && self.files == stamps(ground)
            && matches!(self.child.try_wait(), Ok(None))
    }

    /// Starts what `spec` says.
    pub(super) fn told(self, spec: &Spec) -> io::Result<Begun> {
        let Self { child, mut socket, .. } = self;
        match say_spec(&mut socket, spec) {
            Ok(()) => Ok(Begun { child, said: Said::new(socket) }),
            Err(error) => {
                let_go(child);
                Err(io::Error::other(error))
            }
        }
    }
}

/// What the keeper's thread is told: a launcher that goes, and what the next one is to stand on.
#[derive(Debug)]
struct Ended {
    program: PathBuf,
    child: Child,
    ground: Ground,
}

/// Whoever has a launcher wait.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    slot: Arc<Mutex<Option<Waiting>>>,
    thread: Mutex<Option<Sender<Ended>>>,
}

impl Keeper {
    /// The launcher that waits, where a run on `ground` may be its. What cannot be used any more is let go.
    pub(super) fn taken(&self, ground: &Ground) -> Option<Waiting> {
        let mut waiting = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        if waiting.is_fresh(ground) {
            return Some(waiting);
        }
        let_go(waiting.child);
        None
    }

    pub(super) fn waiting(&self) -> Option<u32> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|waiting| waiting.child.id())
    }

    /// Takes a launcher that goes by itself, and has the next one wait.
    pub(super) fn ended(&self, program: &Path, child: Child, ground: &Ground) {
        let ended = Ended { program: program.to_owned(), child, ground: ground.clone() };
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let told = match thread.as_ref() {
            Some(thread) => thread.send(ended).map_err(|unsent| unsent.0),
            None => Err(ended),
        };
        let Err(mut ended) = told else { return };
        let (sender, receiver) = channel();
        let slot = Arc::clone(&self.slot);
        let keeper = std::thread::Builder::new().name("launcher".to_owned());
        match keeper.spawn(move || keep(&receiver, &slot)) {
            Ok(_) => {
                // The thread that was just started listens.
                let _ = sender.send(ended);
                *thread = Some(sender);
            }
            // Without a thread every run starts a launcher of its own.
            Err(_) => gone(&mut ended.child),
        }
    }
}

/// Waits for a launcher that goes by itself.
fn gone(child: &mut Child) {
    let began = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The keeper's thread, on which the launcher hangs that waits. It ends when nobody can ask any more.
fn keep(ended: &Receiver<Ended>, slot: &Mutex<Option<Waiting>>) {
    let held = || slot.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match ended.recv_timeout(IDLE) {
            Ok(mut last) => {
                gone(&mut last.child);
                if last.ground.isolation != Isolation::Full || held().is_some() {
                    continue;
                }
                if let Ok(next) = Waiting::new(&last.program, &last.ground) {
                    *held() = Some(next);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let idle = held().take_if(|waiting| waiting.since.elapsed() >= IDLE);
                if let Some(idle) = idle {
                    let_go(idle.child);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(last) = held().take() {
                    let_go(last.child);
                }
                return;
            }
        }
    }
}
