//! Programs that act with the user's own credentials, such as GitHub's `gh`, git, OpenSSH's `ssh` and libsecret's `secret-tool`: started by argv, outside every root, with
//! a few variables, for a short time.
//!
//! They are **not confined**: reading the user's credentials and reaching their server is what they are for. Nothing of a repository
//! reaches them (they run in an empty folder), and nothing of a caller but what the few callers of this module put together.

pub mod ssh;

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use contract::Fault;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio_util::sync::CancellationToken;

use crate::run::{find, trusted};

/// Most bytes that a helper may say.
const MAX_OUTPUT: u64 = 4 << 20;
/// Most bytes of what it says is wrong.
const MAX_COMPLAINT: u64 = 64 << 10;
/// Most bytes that a helper is given to read.
pub const MAX_INPUT: u64 = 1 << 30;
/// How long pipes are waited for once everybody of the group has ended.
const LINGERS: Duration = Duration::from_secs(1);
/// How often is looked whether it has ended.
const TICK: Duration = Duration::from_millis(5);

/// The helpers that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// GitHub's own program.
    Gh,
    /// The user's git: [`push`](crate::push) puts its arguments together, and no repository's configuration is read.
    Git,
    /// OpenSSH's client: [`ssh`] puts its arguments together.
    Ssh,
    /// libsecret's client of the desktop's keyring.
    SecretTool,
}

impl Program {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gh => "gh",
            Self::Git => "git",
            Self::Ssh => "ssh",
            Self::SecretTool => "secret-tool",
        }
    }

    /// Whether it gets a variable.
    fn takes(self, name: &str) -> bool {
        let common = [
            "HOME",
            "PATH",
            "LANG",
            "LC_ALL",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "NO_PROXY",
            "http_proxy",
            "https_proxy",
            "no_proxy",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "DBUS_SESSION_BUS_ADDRESS",
        ];
        let own = match self {
            Self::Gh => name.starts_with("GH_") || name.starts_with("GITHUB_"),
            // What the user's own configuration of git, its credential helpers and ssh may ask for.
            Self::Git => matches!(
                name,
                "SSH_AUTH_SOCK"
                    | "USER"
                    | "LOGNAME"
                    | "KRB5CCNAME"
                    | "GIT_SSH"
                    | "GIT_SSH_COMMAND"
                    | "GIT_ASKPASS"
                    | "GIT_CONFIG_GLOBAL"
                    | "GIT_SSL_CAINFO"
                    | "GIT_SSL_CAPATH"
            ),
            // The agent has the keys; the others are what a person's configuration of ssh may ask for.
            Self::Ssh => matches!(name, "SSH_AUTH_SOCK" | "USER" | "LOGNAME" | "KRB5CCNAME"),
            // A keyring that is locked asks the person at the display.
            Self::SecretTool => matches!(name, "DISPLAY" | "WAYLAND_DISPLAY" | "XAUTHORITY"),
        };
        own || name.starts_with("XDG_") || common.contains(&name)
    }

    /// What it is told besides.
    const fn manners(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Gh => &[
                ("GH_PROMPT_DISABLED", "1"),
                ("GH_NO_UPDATE_NOTIFIER", "1"),
                ("NO_COLOR", "1"),
                ("GH_PAGER", "cat"),
            ],
            // Neither a program that a URL names, nor a question that nobody answers.
            Self::Git => &[
                ("GIT_ALLOW_PROTOCOL", "file:https:ssh"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_PROTOCOL_FROM_USER", "0"),
                ("LC_ALL", "C"),
            ],
            // What it says is read; where a server takes the variable, too.
            Self::Ssh => &[("LC_ALL", "C")],
            Self::SecretTool => &[],
        }
    }
}

/// Why a helper gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// It is not installed.
    #[error("{}", .0.message)]
    Missing(Fault),
    /// It could not be started or read.
    #[error("{program} could not be run: {source}")]
    Io {
        /// The helper.
        program: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// It took too long.
    #[error("{program} did not end within {} ms", .after.as_millis())]
    Late {
        /// The helper.
        program: &'static str,
        /// How long it had.
        after: Duration,
    },
    /// Nobody waits for it any more.
    #[error("the call was cancelled")]
    Cancelled,
    /// What it was to read is no file, or too large.
    #[error("{program} is given a regular file of at most {} MiB to read", MAX_INPUT >> 20)]
    Input {
        /// The helper.
        program: &'static str,
    },
    /// It said too much.
    #[error("{program} said more than {} MiB", MAX_OUTPUT >> 20)]
    TooLarge {
        /// The helper.
        program: &'static str,
    },
}

/// What a helper said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, its first 64 KiB.
    pub stderr: String,
}

/// What a helper reads from its standard input.
#[derive(Debug, Default)]
pub enum Input {
    /// Nothing.
    #[default]
    Nothing,
    /// An open file, from where it stands to its end: a regular one of at most [`MAX_INPUT`] bytes. The helper reads it itself, so that
    /// nothing of it is held here.
    File(File),
}

impl Input {
    fn into_stdio(self, program: Program) -> Result<Stdio, HelperError> {
        let Self::File(file) = self else { return Ok(Stdio::null()) };
        let about = file.metadata().map_err(|source| HelperError::Io { program: program.name(), source })?;
        if !about.is_file() || about.len() > MAX_INPUT {
            return Err(HelperError::Input { program: program.name() });
        }
        Ok(file.into())
    }
}

/// Where a helper is, looked for on the `PATH` of whoever started gatewright and never below `root`.
pub fn place(program: Program, root: &Path) -> Result<PathBuf, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    find(program.name(), &trusted(&folders, root), root)
}

/// Runs a helper in the empty folder `nowhere` and waits for its end, for `after` at most. Blocking. Its whole group is killed when its time
/// is over or the call is cancelled.
pub fn run(
    program: Program,
    places: (&Path, &Path),
    args: &[&str],
    after: Duration,
    cancel: &CancellationToken,
) -> Result<Said, HelperError> {
    fed(program, places, args, Input::Nothing, after, cancel)
}

/// As [`run`], for a helper that reads something.
pub fn fed(
    program: Program,
    (root, nowhere): (&Path, &Path),
    args: &[&str],
    input: Input,
    after: Duration,
    cancel: &CancellationToken,
) -> Result<Said, HelperError> {
    let file = place(program, root).map_err(HelperError::Missing)?;
    let name = program.name();
    let failed = |source| HelperError::Io { program: name, source };
    let kept: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(key, _)| key.to_str().is_some_and(|key| program.takes(key))).collect();
    let mut child = Command::new(file)
        .args(args)
        .env_clear()
        .envs(kept)
        .envs(program.manners().iter().copied())
        .current_dir(nowhere)
        .stdin(input.into_stdio(program)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let stdout = child.stdout.take().map(|pipe| drain(pipe, MAX_OUTPUT + 1));
    let stderr = child.stderr.take().map(|pipe| drain(pipe, MAX_COMPLAINT));
    let ended = wait(&mut child, name, after, cancel);
    // Whatever it started besides goes with it: then nobody holds the pipes any more.
    end(&child);
    let status = child.wait();
    let (stdout, stderr) = (gathered(stdout), gathered(stderr));
    ended?;
    let status = status.map_err(failed)?;
    if stdout.len() as u64 > MAX_OUTPUT {
        return Err(HelperError::TooLarge { program: name });
    }
    Ok(Said { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

/// What was read of a pipe. A child that left the group may hold it open: nobody waits for that.
fn gathered(reading: Option<mpsc::Receiver<Vec<u8>>>) -> Vec<u8> {
    reading.and_then(|reading| reading.recv_timeout(LINGERS).ok()).unwrap_or_default()
}

/// Reads the front of a pipe, and passes over the rest, so that nobody waits for room in it.
fn drain(mut pipe: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let _ = pipe.by_ref().take(most).read_to_end(&mut kept);
        let _ = sender.send(kept);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    });
    receiver
}

fn wait(
    child: &mut Child,
    program: &'static str,
    after: Duration,
    cancel: &CancellationToken,
) -> Result<(), HelperError> {
    let until = Instant::now() + after;
    loop {
        // It is left as it is until its group was ended, so that no other takes its number.
        let options = rustix::process::WaitIdOptions::EXITED
            | rustix::process::WaitIdOptions::NOWAIT
            | rustix::process::WaitIdOptions::NOHANG;
        let ended = pid(child).map(|pid| rustix::process::waitid(rustix::process::WaitId::Pid(pid), options));
        match ended {
            Some(Ok(None)) => {}
            Some(Ok(Some(_))) | None => return Ok(()),
            Some(Err(source)) => return Err(HelperError::Io { program, source: source.into() }),
        }
        if cancel.is_cancelled() {
            return Err(HelperError::Cancelled);
        }
        if Instant::now() >= until {
            return Err(HelperError::Late { program, after });
        }
        std::thread::sleep(TICK);
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn end(child: &Child) {
    if let Some(pid) = pid(child) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}
