//! Starting a program through the launcher, watching it, and ending it with everything that it started.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use contract::{Code, Fault, RelPath};
use launcher::{
    Bound, Ground, Isolation, Layer, Limits, Network, Overlay, Report, SCRATCH_BYTES, Said, Spec,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio_util::sync::CancellationToken;

use super::capture::capture;
use super::door::Doorkeeper;
use super::door::hosts::Hosts;
use super::sight::{self, Surroundings};
use super::waiting::Begun;
use super::watch::Watch;
use super::{
    Captured, Command, Exit, Launcher, Level, MAX_ARG_BYTES, MAX_ARGS, MAX_TIMEOUT, Outside, Ran, find,
    interpreter,
};

/// How often a running program's cancellation is looked at, at least.
pub(crate) const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What a run works over, and what it finds there.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) launcher: &'a Launcher,
    pub(crate) level: Level,
    pub(crate) around: Surroundings<'a>,
    /// Where programs are looked for.
    pub(crate) path: &'a [PathBuf],
    /// Where the program finds the root.
    pub(crate) root: PathBuf,
    /// The root, where changes to it go elsewhere.
    pub(crate) overlay: Option<Overlay>,
    /// Folders that it may write: the copy of the root where there is no overlay, its home, its caches.
    pub(crate) writable: Vec<Bound>,
    /// What it may read besides.
    pub(crate) readable: Vec<PathBuf>,
    /// What it reads in the place of something else.
    pub(crate) shown: Vec<Bound>,
    /// What is hidden from it besides.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    /// An empty folder for the launcher, the same for every run.
    pub(crate) stage: PathBuf,
    /// Where its streams stand while it runs; the name of both files but for their endings.
    pub(crate) streams: PathBuf,
    /// Where what it writes lands: how much is looked at while it runs.
    pub(crate) lands: PathBuf,
}

/// Runs `command`, and waits. It blocks; the thread that calls it is the one that the program's life hangs on.
///
/// A program that cannot be started, outlives its time or is cancelled is a fault, and nothing of it is left then; one
/// that ends with findings is not.
pub(crate) fn run(command: &Command, setup: Setup<'_>, cancel: &CancellationToken) -> Result<Ran, Fault> {
    let bytes: usize = command.args.iter().map(String::len).sum();
    if command.args.len() > MAX_ARGS || bytes > MAX_ARG_BYTES || command.args.iter().any(|a| a.contains('\0'))
    {
        let message = format!(
            "{}: {} arguments of {bytes} bytes; at most {MAX_ARGS} of {MAX_ARG_BYTES} bytes can be passed, without NUL",
            command.program,
            command.args.len()
        );
        return Err(Fault::invalid(message).suggest("Name fewer files, or a folder that holds them."));
    }
    if setup.level < Level::Full && !command.hosts.is_empty() {
        let message =
            format!("{} needs the network, which is given through a world of its own", command.program);
        return Err(Fault::new(Code::ConfinementUnavailable, message)
            .suggest("`gatewright doctor` says why this machine makes no namespaces."));
    }
    if setup.level < Level::Full && command.observes {
        let message = format!(
            "{} reads the memory of what it measures, which only programs in a world of their own may",
            command.program
        );
        return Err(Fault::new(Code::ConfinementUnavailable, message)
            .suggest("`gatewright doctor` says why this machine makes no namespaces."));
    }
    let program = match &command.interpreter {
        Some(link) => interpreter::real(link, &setup.around, setup.path)?,
        None => find(&command.program, setup.path, setup.around.root)?,
    };
    let called = command.interpreter.as_ref().map(|link| setup.root.join(link.as_str()));
    let sight = sight::of(&setup.around, setup.path, &program);
    let mut env = environment(command, &setup)?;
    env.extend(sight.env);
    env.extend(setup.env.clone());
    env.extend(command.env.clone());
    let dir = command.dir.as_ref().map_or_else(|| setup.root.clone(), |dir| setup.root.join(dir.as_str()));
    let mut readable = sight.readable;
    readable.extend(setup.readable);
    if !command.hosts.is_empty() {
        readable.extend(setup.launcher.outside().shown().map(Path::to_owned));
    }
    let mut hidden = sight.hidden;
    hidden.extend(setup.hidden);
    let spec = Spec {
        program,
        called,
        args: command.args.clone(),
        env,
        dir,
        ground: Ground {
            isolation: if setup.level == Level::Full { Isolation::Full } else { Isolation::Filters },
            is_online: false,
            stage: setup.stage,
            readable: sight.ground,
            scratch_bytes: SCRATCH_BYTES,
        },
        readable,
        shown: setup.shown,
        writable: setup.writable,
        overlay: setup.overlay,
        hidden,
        network: if command.hosts.is_empty() { Network::None } else { Network::Door },
        channel: None,
        observes: command.observes,
        limits: Limits {
            cpu_seconds: command.timeout.min(MAX_TIMEOUT).as_secs().saturating_mul(16).max(1),
            ..Limits::default()
        },
        strict: false,
    };
    let began = Instant::now();
    let mut watch = Watch::new(command, cancel, began, setup.lands, setup.launcher.most());
    let streams = [setup.streams.with_extension("out"), setup.streams.with_extension("err")];
    let ended = if setup.level == Level::None {
        plain(&spec, &mut watch, &streams)?
    } else {
        confined(setup.launcher, &spec, &mut watch, &streams)?
    };
    let first = command.interpreter.as_ref().map_or(&*command.program, RelPath::as_str).to_owned();
    let line = std::iter::once(first).chain(command.args.iter().cloned()).collect();
    Ok(Ran {
        line,
        exit: ended.exit,
        stdout: ended.out,
        stderr: ended.err,
        took: began.elapsed(),
        level: ended.level,
        reached: ended.reached,
        refused: ended.refused,
        handle: None,
    })
}

/// The variables that every run has.
fn environment(command: &Command, setup: &Setup<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let path = std::env::join_paths(setup.path).map_err(|e| Fault::internal(e.to_string()))?;
    let above = setup.root.parent().unwrap_or(&setup.root).display().to_string();
    let mut env: BTreeMap<String, String> = [
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        // A git command must neither find a repository above the root, nor refresh the index by looking, nor ask.
        ("GIT_CEILING_DIRECTORIES", above.as_str()),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    env.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
    if !command.hosts.is_empty() {
        env.extend(setup.launcher.outside().variables());
    }
    Ok(env)
}

struct Ended {
    exit: Exit,
    out: Captured,
    err: Captured,
    level: Level,
    reached: Vec<String>,
    refused: Vec<String>,
}

/// Starts the launcher, and waits for what it says.
fn confined(
    launcher: &Launcher,
    spec: &Spec,
    watch: &mut Watch<'_>,
    files: &[PathBuf; 2],
) -> Result<Ended, Fault> {
    let failed = |error: std::io::Error| watch.failed("it could not be started", &error.kind().to_string());
    let Begun { mut child, mut said } = launcher.begin(spec).map_err(failed)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let out = scope.spawn(|| out.map(|s| capture(s, &over, &files[0])).unwrap_or_default());
        let err = scope.spawn(|| err.map(|s| capture(s, &over, &files[1])).unwrap_or_default());
        let mut door = None;
        let ended = heard(&child, &mut said, (spec, launcher.outside()), watch, &mut door);
        // What said its end has nobody left in it, and the launcher goes by itself.
        if ended.is_ok() {
            launcher.ended(child, &spec.ground);
        } else {
            end(&mut child, &said, spec.ground.isolation);
            let _ = child.wait();
        }
        over.store(true, Ordering::Relaxed);
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        let (exit, layers) = ended?;
        let full = [Layer::Root, Layer::Capabilities, Layer::Landlock, Layer::Seccomp];
        let level =
            if full.iter().all(|layer| layers.contains(layer)) { Level::Full } else { Level::Filters };
        let (reached, refused) = door.map(|door| door.manner().asked_for()).unwrap_or_default();
        Ok(Ended { exit, out, err, level, reached, refused })
    })
}

/// Everything that the launcher says, until the program has ended.
fn heard(
    child: &Child,
    said: &mut Said,
    (spec, outside): (&Spec, &Arc<Outside>),
    watch: &mut Watch<'_>,
    door: &mut Option<Doorkeeper<Hosts>>,
) -> Result<(Exit, Vec<Layer>), Fault> {
    let mut held = Vec::new();
    loop {
        let ready = match poll(&mut [PollFd::new(said, PollFlags::IN)], Some(&TICK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => false,
            Ok(_) => true,
            Err(error) => return Err(Fault::internal(format!("{}: {error}", watch.command.program))),
        };
        watch.check(child.id())?;
        if !ready {
            continue;
        }
        match said.report().map_err(|e| watch.failed("its launcher is not understood", &e.to_string()))? {
            Some(Report::Door) => {
                let listener = said.take_given().map(TcpListener::from);
                let hosts = Hosts::new(&watch.command.hosts, Arc::clone(outside));
                *door = listener.map(|listener| Doorkeeper::stand(listener, hosts));
            }
            // None was asked for.
            Some(Report::Channel) => {}
            Some(Report::Ready { layers }) => held = layers,
            Some(Report::Exited { code }) => return Ok((Exit::Code(code), held)),
            Some(Report::Killed { signal }) => return Ok((Exit::Signal(signal), held)),
            Some(Report::Failed { doing, why }) => return Err(watch.failed(&doing, &why)),
            None => {
                let why = format!("its world ended before it did ({})", spec.program.display());
                return Err(watch.failed("it was lost", &why));
            }
        }
    }
}

/// Ends a run and everything in it.
fn end(child: &mut Child, said: &Said, isolation: Isolation) {
    match isolation {
        // With the launcher goes its world.
        Isolation::Full => drop(child.kill()),
        // Here the launcher is the one that ends the others, when it is hung up on.
        Isolation::Filters => {
            said.hang_up();
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(6) {
                if !matches!(child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            drop(child.kill());
        }
    }
}

/// Runs a program with the rights of whoever runs gatewright, where policy asks for nothing else.
fn plain(spec: &Spec, watch: &mut Watch<'_>, files: &[PathBuf; 2]) -> Result<Ended, Fault> {
    let mut child = std::process::Command::new(&spec.program)
        .arg0(spec.called.as_ref().unwrap_or(&spec.program))
        .args(&spec.args)
        .current_dir(&spec.dir)
        .env_clear()
        .envs(&spec.env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| watch.failed("it could not be started", &e.kind().to_string()))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let out = scope.spawn(|| out.map(|s| capture(s, &over, &files[0])).unwrap_or_default());
        let err = scope.spawn(|| err.map(|s| capture(s, &over, &files[1])).unwrap_or_default());
        let ended = ended(&child, watch);
        // Whoever it left behind in its group goes too. One that left the group may hold the pipes open for ever:
        // what it says from now on is not waited for.
        if let Ok(pid) = pid(&child) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        over.store(true, Ordering::Relaxed);
        let status =
            child.wait().map_err(|e| watch.failed("it could not be waited for", &e.kind().to_string()))?;
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        ended?;
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        };
        Ok(Ended { exit, out, err, level: Level::None, reached: Vec::new(), refused: Vec::new() })
    })
}

/// Waits until the program has ended. It is not reaped here.
fn ended(child: &Child, watch: &mut Watch<'_>) -> Result<(), Fault> {
    let io = |e: rustix::io::Errno| Fault::internal(format!("a program cannot be watched: {e}"));
    let handle = pidfd_open(pid(child)?, PidfdFlags::empty()).map_err(io)?;
    loop {
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&TICK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => watch.check(child.id())?,
            Ok(_) => return Ok(()),
            Err(error) => return Err(io(error)),
        }
    }
}

fn pid(child: &Child) -> Result<Pid, Fault> {
    let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| Fault::internal("a program without a process id"))
}
