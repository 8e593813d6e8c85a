//! The worker: a process that is asked one thing on its standard input, answers on its standard output, and is killed when it
//! does not. It ends itself where it takes more memory than it may: nobody outside looks often enough.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::engine;
use crate::limits;
use crate::talk::{Answer, Kind, Question, TalkError};

/// The first argument of a process that is to be the worker.
pub const MARK: &str = "--gatewright-query-worker";

/// How often a worker looks at its own memory.
const LOOK: Duration = Duration::from_millis(2);

/// Becomes the worker, and never returns, where this process was started to be it. Called first in `main`.
pub fn main_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|first| first == MARK) {
        let ended = serve(std::io::stdin().lock(), std::io::stdout().lock());
        std::process::exit(i32::from(ended.is_err()));
    }
}

/// Why a worker gives no answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The channel failed, or ended within a line.
    #[error("the parent is gone: {0}")]
    Io(#[from] std::io::Error),
    /// What the parent says is not understood, or the answer cannot be said.
    #[error(transparent)]
    Talk(#[from] TalkError),
    /// The memory that it takes cannot be bounded here.
    #[error("the worker cannot bound its own memory")]
    Unbounded,
}

/// Answers one question. Whatever runs on may still go on when this returns: the caller ends the process.
pub fn serve(from: impl Read, mut to: impl Write) -> Result<(), WorkerError> {
    let Some(line) = heard(from)? else { return Ok(()) };
    let question = Question::decode(&line)?;
    drop(line);
    let before = Held::now().ok_or(WorkerError::Unbounded)?;
    // A single piece that is larger than all that is allowed is not even begun.
    let most = before.reserved + 2 * limits::MEMORY + limits::STACK as u64;
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(|_| WorkerError::Unbounded)?;
    let (done, answers) = channel();
    let run = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| engine::run(&question)));
        let failed = |_| Answer::failed(Kind::Engine, "the engine failed within itself", None);
        // Nobody listens where the memory was used up.
        let _ = done.send(ended.unwrap_or_else(failed));
    };
    std::thread::Builder::new().stack_size(limits::STACK).spawn(run)?;
    let answer = loop {
        match answers.recv_timeout(LOOK) {
            Ok(answer) => break answer,
            Err(RecvTimeoutError::Disconnected) => {
                break Answer::failed(Kind::Engine, "the engine ended", None);
            }
            Err(RecvTimeoutError::Timeout) => {
                let now = Held::now().ok_or(WorkerError::Unbounded)?;
                if now.resident.saturating_sub(before.resident) > limits::MEMORY {
                    let message = format!("it took more than {} MiB of memory", limits::MEMORY >> 20);
                    break Answer::failed(Kind::Memory, &message, None);
                }
            }
        }
    };
    to.write_all(&answer.encode()?)?;
    to.flush()?;
    Ok(())
}

/// The one line that is asked, without its end; nothing, where the channel ends before it begins.
fn heard(mut from: impl Read) -> Result<Option<Vec<u8>>, WorkerError> {
    let (mut line, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let come = piece.get(..read).unwrap_or_default();
        if read == 0 {
            return if line.is_empty() {
                Ok(None)
            } else {
                Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into())
            };
        }
        if let Some(end) = come.iter().position(|byte| *byte == b'\n') {
            line.extend_from_slice(come.get(..end).unwrap_or_default());
            return Ok(Some(line));
        }
        line.extend_from_slice(come);
        if line.len() > limits::QUESTION_LINE {
            return Err(TalkError::Long("a line", limits::QUESTION_LINE).into());
        }
    }
}

/// What this process holds, in bytes.
struct Held {
    /// Of addresses.
    reserved: u64,
    /// Of memory.
    resident: u64,
}

impl Held {
    #[allow(
        clippy::disallowed_methods,
        reason = "the kernel's account of this very process, in the worker alone"
    )]
    fn now() -> Option<Self> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(kibibytes * 1024)
        };
        Some(Self { reserved: of("VmSize:")?, resident: of("VmRSS:")? })
    }
}
