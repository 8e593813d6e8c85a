//! The processes that skills run in: this program started again, in a world of its own without files and network. One runs one skill, and
//! is gone then. Nothing of what they say is believed that was not checked; time is told by the clock here.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Fault};
use exec::StateDir;
use exec::run::{Channel, Launcher, Needs, Resident};
use skills::{Event, Hearing, MARK, Request, TalkError};
use tokio_util::sync::CancellationToken;

use crate::settings::SkillsSection;

/// Most bytes of memory of a process, its engine's besides.
const OWN_MEMORY: u64 = 256 << 20;
/// How often it is looked whether the call is still wanted.
const TICK: Duration = Duration::from_millis(20);
/// How long a process may take over what is only looked at.
const LOOKING: Duration = Duration::from_secs(5);
/// How long a process that was started ahead is kept.
const SPARE: Duration = Duration::from_mins(5);

/// Starts the processes: a service of the binary's.
pub struct Workers {
    launcher: Arc<Launcher>,
    state: StateDir,
    program: PathBuf,
    settings: SkillsSection,
    spare: Mutex<Spare>,
}

/// One that waits, so that the next skill need not.
#[derive(Default)]
struct Spare {
    worker: Option<Worker>,
    /// Which one it is: one that was taken is not let go of by the clock of an earlier one.
    number: u64,
}

/// A process, and the channel to it.
pub(crate) struct Worker {
    resident: Resident,
    channel: UnixStream,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Workers {
    /// Processes of `program`, which calls [`skills::main_if_asked`] first of all.
    #[must_use]
    pub fn new(launcher: Arc<Launcher>, state: StateDir, program: PathBuf, settings: SkillsSection) -> Self {
        Self { launcher, state, program, settings, spare: Mutex::default() }
    }

    /// What the user grants.
    #[must_use]
    pub fn settings(&self) -> &SkillsSection {
        &self.settings
    }

    fn start(&self) -> Result<Worker, Fault> {
        let needs = Needs {
            program: self.program.clone(),
            args: vec![MARK.to_owned()],
            env: std::iter::empty().collect(),
            memory: OWN_MEMORY.saturating_add(self.settings.most_mebibytes.saturating_mul(1 << 20)),
            web: None,
            channel: Channel::Streams,
            works: None,
        };
        let (resident, channel) = Resident::start(&self.launcher, &self.state, None, needs)?;
        Ok(Worker { resident, channel })
    }

    /// A process that has run nothing. Blocking: about ten milliseconds where none waits.
    pub(crate) fn take(&self) -> Result<Worker, Fault> {
        let waiting = self.spare.lock().unwrap_or_else(PoisonError::into_inner).worker.take();
        waiting.filter(|worker| worker.resident.ended().is_none()).map_or_else(|| self.start(), Ok)
    }

    /// Has one wait for the next call, for a while. Where that cannot be done the next call says why.
    pub(crate) fn refill(self: &Arc<Self>) {
        let workers = Arc::clone(self);
        std::thread::spawn(move || {
            let Ok(worker) = workers.start() else { return };
            let mut spare = workers.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.worker.is_some() {
                return;
            }
            spare.number += 1;
            let number = spare.number;
            spare.worker = Some(worker);
            drop(spare);
            // Whoever ends the server need not wait for this one.
            let weak = Arc::downgrade(&workers);
            drop(workers);
            std::thread::sleep(SPARE);
            let Some(workers) = weak.upgrade() else { return };
            let mut spare = workers.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.number == number {
                spare.worker = None;
            }
        });
    }

    /// Lets go of the one that waits.
    pub fn end(&self) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).worker = None;
    }
}

/// What becomes of an execution besides its answer.
pub(crate) struct Talk<'t> {
    /// By when it is to be over.
    pub(crate) deadline: Instant,
    pub(crate) cancel: &'t CancellationToken,
    /// Answers what the skill asks for.
    pub(crate) asked: &'t mut dyn FnMut(&Event, usize) -> Request,
}

impl Worker {
    /// Has files looked at; nothing of them runs.
    pub(crate) fn inspect(
        &mut self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Vec<Event>, Fault> {
        let mut asked = |_: &Event, _: usize| Request::Denied("nothing is given here".to_owned());
        self.converse(request, Talk { deadline: Instant::now() + LOOKING, cancel, asked: &mut asked })
    }

    /// Says something, and hears the whole answer.
    pub(crate) fn converse(&mut self, request: &Request, talk: Talk<'_>) -> Result<Vec<Event>, Fault> {
        let (line, mut hearing) = Hearing::begin(request).map_err(unasked)?;
        self.channel.set_read_timeout(Some(TICK)).map_err(|e| self.lost(&e))?;
        self.channel.set_write_timeout(Some(LOOKING)).map_err(|e| self.lost(&e))?;
        self.channel.write_all(&line).map_err(|e| self.lost(&e))?;
        let (mut all, mut buffer) = (Vec::new(), vec![0_u8; 64 * 1024]);
        while !hearing.is_ended() {
            if talk.cancel.is_cancelled() {
                return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
            }
            if Instant::now() >= talk.deadline {
                let mut fault = Fault::new(Code::Timeout, "the skill took longer than it may, and was ended")
                    .suggest(
                        "Give `timeout`, up to what `[skills] most-seconds` allows, or a smaller input.",
                    );
                // It would take as long again.
                fault.retryable = false;
                return Err(fault);
            }
            let read = match self.channel.read(&mut buffer) {
                Ok(0) => return Err(self.over()),
                Ok(read) => read,
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
            for event in hearing.hear(buffer.get(..read).unwrap_or_default()).map_err(forged)? {
                if matches!(event, Event::Read(_) | Event::Glob(_)) {
                    let answer = (talk.asked)(&event, hearing.readable());
                    let line = hearing.answer(&answer).map_err(unasked)?;
                    self.channel.write_all(&line).map_err(|e| self.lost(&e))?;
                } else {
                    all.push(event);
                }
            }
        }
        Ok(all)
    }

    /// It ended before it answered.
    fn over(&self) -> Fault {
        // Why is known a moment later.
        let since = Instant::now();
        while self.resident.ended().is_none() && since.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let why = self.resident.ended().unwrap_or_else(|| "it ended".to_owned());
        if why.starts_with("executing ") {
            // Where the program lies is nobody's to know.
            let message =
                "the process that skills run in cannot be started: its world does not show this program";
            return Fault::new(Code::ConfinementUnavailable, message)
                .suggest("Install gatewright somewhere that is not below /tmp or another private folder.");
        }
        let code = if why.contains("memory") { Code::ResourceExhausted } else { Code::SkillExecutionFailed };
        Fault::new(code, format!("the process that the skill ran in: {why}"))
    }

    fn lost(&self, error: &std::io::Error) -> Fault {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => self.over(),
            _ => Fault::internal(format!("a skill's process cannot be spoken with: {error}")),
        }
    }
}

/// What was to be asked is more than can be.
fn unasked(error: TalkError) -> Fault {
    Fault::new(Code::TooLarge, format!("the skill cannot be asked: {error}"))
}

/// It says what no worker of ours says: whatever ran in it has taken it over.
fn forged(error: TalkError) -> Fault {
    Fault::new(
        Code::SkillExecutionFailed,
        format!("the process that the skill ran in broke the rules, and was ended: {error}"),
    )
    .suggest("Do not run this skill again before somebody has read its code.")
}
