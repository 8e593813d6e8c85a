//! The processes that jq filters run in: this program started again, in a world of its own without files and network. One answers one
//! question, and is gone then. Time is told by the clock here, and what they say is believed as far as it was checked.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Code, Fault};
use exec::StateDir;
use exec::run::{Channel, Launcher, Needs, Resident};
use query::{Answer, MARK, Question, limits};
use tokio_util::sync::CancellationToken;

/// Most bytes of memory of a process that did not end itself over what a filter may take.
const MEMORY: u64 = 4 * limits::MEMORY;
/// How often it is looked whether the call is still wanted.
const TICK: Duration = Duration::from_millis(20);

/// Starts the processes: a service of the binary's.
pub struct Queries {
    launcher: Arc<Launcher>,
    state: StateDir,
    program: PathBuf,
}

impl std::fmt::Debug for Queries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queries").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Queries {
    /// Processes of `program`, which calls [`query::main_if_asked`] first of all.
    #[must_use]
    pub fn new(launcher: Arc<Launcher>, state: StateDir, program: PathBuf) -> Self {
        Self { launcher, state, program }
    }

    /// Asks, and waits for as long as `patience`. Blocking.
    pub(crate) fn ask(
        &self,
        question: &Question,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault> {
        let line = question.encode().map_err(|error| {
            Fault::new(Code::TooLarge, format!("the filter cannot be asked: {error}"))
                .suggest("Give a smaller part of the data as `input`.")
        })?;
        let needs = Needs {
            program: self.program.clone(),
            args: vec![MARK.to_owned()],
            env: std::iter::empty().collect(),
            memory: MEMORY,
            web: None,
            channel: Channel::Streams,
            works: None,
        };
        let (resident, channel) = Resident::start(&self.launcher, &self.state, None, needs)?;
        let mut asked = Asked { resident, channel, since: Instant::now(), patience, cancel };
        let said = asked.talk(&line);
        let answer = said.and_then(|said| {
            Answer::decode(&said, question).map_err(|error| {
                Fault::new(
                    Code::ToolExecutionFailed,
                    format!("the process that the filter ran in broke the rules, and was ended: {error}"),
                )
            })
        });
        // Its world takes a moment to end, and nobody needs to wait for that.
        std::thread::spawn(move || drop(asked.resident));
        answer
    }
}

/// A process that was asked.
struct Asked<'c> {
    resident: Resident,
    channel: UnixStream,
    since: Instant,
    patience: Duration,
    cancel: &'c CancellationToken,
}

impl Asked<'_> {
    /// Says the line, and hears the one that answers it, without its end.
    fn talk(&mut self, line: &[u8]) -> Result<Vec<u8>, Fault> {
        let set = self.channel.set_read_timeout(Some(TICK));
        set.and_then(|()| self.channel.set_write_timeout(Some(self.patience))).map_err(|e| self.lost(&e))?;
        self.channel.write_all(line).map_err(|e| self.lost(&e))?;
        let (mut said, mut buffer) = (Vec::new(), vec![0_u8; 64 * 1024]);
        loop {
            if self.cancel.is_cancelled() {
                return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
            }
            if self.since.elapsed() >= self.patience {
                let mut fault = Fault::new(
                    Code::Timeout,
                    format!("the filter took longer than {} ms, and was ended", self.patience.as_millis()),
                )
                .suggest(
                    "Give it less to do: a smaller `input`, `limit(n; …)`, or a `timeout` of up to 10000.",
                );
                // It would take as long again.
                fault.retryable = false;
                return Err(fault);
            }
            let read = match self.channel.read(&mut buffer) {
                Ok(0) => return Err(self.over()),
                Ok(read) => buffer.get(..read).unwrap_or_default(),
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) =>
                {
                    continue;
                }
                Err(_) => return Err(self.over()),
            };
            if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                said.extend_from_slice(read.get(..end).unwrap_or_default());
                return Ok(said);
            }
            said.extend_from_slice(read);
            if said.len() > limits::ANSWER_LINE {
                let message = "the process that the filter ran in says more than it may, and was ended";
                return Err(Fault::new(Code::ToolExecutionFailed, message));
            }
        }
    }

    /// It ended before it answered.
    fn over(&self) -> Fault {
        // Why is known a moment later.
        let since = Instant::now();
        while self.resident.ended().is_none() && since.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let why = self.resident.ended().unwrap_or_else(|| "it ended".to_owned());
        let tail = self.resident.tail();
        if why.starts_with("executing ") {
            // Where the program lies is nobody's to know.
            let message = "the process for filters cannot be started: its world does not show this program";
            return Fault::new(Code::ConfinementUnavailable, message)
                .suggest("Install gatewright somewhere that is not below /tmp or another private folder.");
        }
        if why.contains("memory") || tail.contains("memory allocation") {
            return exhausted("memory");
        }
        if tail.contains("overflowed its stack") {
            return exhausted("stack");
        }
        Fault::new(Code::ToolExecutionFailed, format!("the process that the filter ran in: {why}"))
    }

    fn lost(&self, error: &std::io::Error) -> Fault {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => self.over(),
            _ => Fault::internal(format!("the process of a filter cannot be spoken with: {error}")),
        }
    }
}

/// The filter took more of something than it may.
pub(crate) fn exhausted(what: &str) -> Fault {
    let most = if what == "stack" { limits::STACK >> 20 } else { (limits::MEMORY >> 20) as usize };
    Fault::new(
        Code::ResourceExhausted,
        format!("the filter took more than {most} MiB of {what}, and was ended"),
    )
    .suggest("Filter before you gather: `.[] | select(…)`, `limit(n; …)`; recursion needs an end.")
}
