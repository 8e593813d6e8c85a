//! One program, started by argv: absolute, from a trusted place, with an environment of its own, killed as a group.
//!
//! **What this does not do yet:** it does not confine. A program that a tool declares runs with the user's rights, over
//! a [copy](crate::workshop) of the root; the launcher that takes those rights away goes in front of [`run`] and does
//! not change what tools see. No tool that is shipped starts one.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use contract::{Code, Fault};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio_util::sync::CancellationToken;

/// Most bytes of each stream that are kept in memory; the rest is counted.
pub const MAX_KEPT: usize = 1024 * 1024;

/// How long a run may take unless its tool says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// How often a running program's cancellation is looked at, at least.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// A program and its arguments. No shell reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program's plain name, one that the tool declares.
    pub program: &'static str,
    /// Its arguments, each passed as it is.
    pub args: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

impl Command {
    /// `program` with `args`, for at most [`DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn new(program: &'static str, args: &[&str]) -> Self {
        let args = args.iter().map(|a| (*a).to_owned()).collect();
        Self { program, args, timeout: DEFAULT_TIMEOUT }
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// One stream's bytes: the beginning, and how many there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first [`MAX_KEPT`] bytes at most.
    pub bytes: Vec<u8>,
    /// How many were written.
    pub total: u64,
}

impl Captured {
    /// What was kept, as text; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Whether something was written that was not kept.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }
}

/// What a program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to its standard output.
    pub stdout: Captured,
    /// What it wrote to its standard error.
    pub stderr: Captured,
    /// How long it took.
    pub took: Duration,
}

impl Ran {
    /// Whether it ended by itself with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
    }
}

/// Where programs are looked for: the absolute folders of `PATH` that lie outside `root` and that only their owner or
/// a group may write.
#[must_use]
pub fn trusted_path(root: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .filter_map(|dir| std::fs::canonicalize(dir).ok())
        .filter(|dir| !dir.starts_with(root))
        .filter(|dir| std::fs::metadata(dir).is_ok_and(|m| m.is_dir() && m.permissions().mode() & 0o002 == 0))
        .fold(Vec::new(), |mut dirs, dir| {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
            dirs
        })
}

/// The absolute place of `program` in `path`. One that is really in `dir`'s tree is not taken: tools write there.
pub fn find(program: &str, path: &[PathBuf], dir: &Path) -> Result<PathBuf, Fault> {
    let executable = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    let outside = |file: &PathBuf| std::fs::canonicalize(file).is_ok_and(|real| !real.starts_with(dir));
    path.iter().map(|dir| dir.join(program)).find(|file| executable(file) && outside(file)).ok_or_else(|| {
        Fault::new(Code::ToolExecutionFailed, format!("the program {program:?} is not installed"))
            .suggest(format!("Install {program} so that it is on the PATH, then try again."))
    })
}

/// Runs `command` in `dir` with `home` for its own files, and waits. It blocks. `root` is where no program is taken from.
///
/// A program that cannot be started, outlives its time or is cancelled is a fault, and its process group is gone then;
/// one that ends with findings is not.
pub fn run(
    command: &Command,
    dir: &Path,
    home: &Path,
    root: &Path,
    path: &[PathBuf],
    cancel: &CancellationToken,
) -> Result<Ran, Fault> {
    let program = find(command.program, path, root)?;
    let failed = |what: &str, error: std::io::Error| {
        Fault::new(Code::ToolExecutionFailed, format!("{}: {what}: {}", command.program, error.kind()))
    };
    let joined = std::env::join_paths(path).map_err(|e| Fault::internal(e.to_string()))?;
    let began = Instant::now();
    let mut child = std::process::Command::new(program)
        .args(&command.args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", joined)
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        // A git command must neither find a repository above the copy nor refresh the index by looking.
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap_or(dir))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| failed("it could not be started", e))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let out = scope.spawn(|| out.map(|stream| capture(stream, &over)).unwrap_or_default());
        let err = scope.spawn(|| err.map(|stream| capture(stream, &over)).unwrap_or_default());
        let ended = wait(&mut child, command, cancel);
        // Whoever it left behind in its group goes too. One that left the group may hold the pipes open for ever:
        // what it says from now on is not waited for.
        kill(&child);
        over.store(true, Ordering::Relaxed);
        let status = child.wait().map_err(|e| failed("it could not be waited for", e))?;
        let (stdout, stderr) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        ended?;
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        };
        Ok(Ran { exit, stdout, stderr, took: began.elapsed() })
    })
}

/// Waits until the program has ended, its time is over, or the call is cancelled. It is not reaped here.
fn wait(child: &mut Child, command: &Command, cancel: &CancellationToken) -> Result<(), Fault> {
    let io = |e: rustix::io::Errno| Fault::internal(format!("{}: {e}", command.program));
    let handle = pidfd_open(pid(child)?, PidfdFlags::empty()).map_err(io)?;
    let deadline = Instant::now() + command.timeout;
    loop {
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&TICK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(io(error)),
        }
        if cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
        }
        if Instant::now() >= deadline {
            let message = format!("{} took longer than {} s", command.program, command.timeout.as_secs());
            return Err(
                Fault::new(Code::Timeout, message).suggest("Ask for less, or raise the tool's timeout.")
            );
        }
    }
}

fn pid(child: &Child) -> Result<Pid, Fault> {
    let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| Fault::internal("a program without a process id"))
}

/// Ends the program's whole group. The leader has not been reaped, so its number is still its own.
fn kill(child: &Child) {
    if let Ok(pid) = pid(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Reads a stream to its end, or until it is silent and the program is `over`, and keeps its beginning.
fn capture(mut stream: impl Read + AsFd, over: &AtomicBool) -> Captured {
    let mut captured = Captured::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let was_over = over.load(Ordering::Relaxed);
        match poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&TICK)) {
            Ok(0) if was_over => return captured,
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return captured,
        }
        match stream.read(&mut buffer) {
            Ok(0) => return captured,
            Ok(n) => {
                let room = MAX_KEPT.saturating_sub(captured.bytes.len());
                captured.bytes.extend_from_slice(&buffer[..n.min(room)]);
                captured.total += n as u64;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return captured,
        }
    }
}
