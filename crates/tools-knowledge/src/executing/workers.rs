//! The processes that skills run in: this program started again, in a world of its own without files and network. One runs one skill, and
//! is gone then. Nothing of what they say is believed that was not checked; time is told by the clock here.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Fault};
use exec::StateDir;
use exec::run::{Channel, Launcher, Needs, Resident};
use skills::talk::Inspected;
use skills::{AHEAD, Event, Hearing, MARK, Request, SourceFile, TalkError};
use tokio_util::sync::CancellationToken;

use super::looks::{Looks, Seen};
use crate::settings::SkillsSection;

/// Most bytes of memory of a process, its engine's besides.
const OWN_MEMORY: u64 = 256 << 20;
/// How often it is looked whether the call is still wanted.
const TICK: Duration = Duration::from_millis(20);
/// How long a process may take over what is only looked at.
const LOOKING: Duration = Duration::from_secs(5);
/// When a call that ran a skill is answered, usually: what is left of that process, and the next one, each keep a core busy.
const AFTERWARDS: Duration = Duration::from_millis(4);
/// How long one that is coming is waited for: another is started then.
const COMING: Duration = Duration::from_millis(100);
/// How long a process that was started ahead is kept.
const SPARE: Duration = Duration::from_mins(5);

/// Starts the processes: a service of the binary's.
pub struct Workers {
    launcher: Arc<Launcher>,
    state: StateDir,
    program: PathBuf,
    settings: SkillsSection,
    /// Whether one is started before it is needed.
    ahead: bool,
    waiting: Arc<Waiting>,
    looks: Looks,
}

/// Where one waits.
#[derive(Default)]
struct Waiting {
    spare: Mutex<Spare>,
    /// Told when it comes, goes, or will not come.
    changed: Condvar,
}

impl Waiting {
    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has what there is to do of the last call go first, unless the next one is there.
    fn rest(&self) {
        let spare = self.spare();
        let goes_on = |spare: &mut Spare| !spare.is_wanted && !spare.is_over;
        drop(self.changed.wait_timeout_while(spare, AFTERWARDS, goes_on));
    }

    /// The one that waits, or that is coming, where nobody else waits for it already.
    fn taken(&self) -> Option<Worker> {
        let mut spare = self.spare();
        if spare.is_coming && spare.worker.is_none() && !spare.is_wanted {
            spare.is_wanted = true;
            self.changed.notify_all();
            let comes = |spare: &mut Spare| spare.is_coming && spare.worker.is_none();
            let waited = self.changed.wait_timeout_while(spare, COMING, comes);
            (spare, _) = waited.unwrap_or_else(PoisonError::into_inner);
            spare.is_wanted = false;
        }
        let worker = spare.worker.take();
        self.changed.notify_all();
        worker
    }

    /// Puts what was started where it is found; its number.
    fn put(&self, started: Option<Worker>) -> u64 {
        let mut spare = self.spare();
        spare.worker = started.filter(|_| !spare.is_over);
        spare.number += 1;
        self.changed.notify_all();
        spare.number
    }

    /// Lets go of the one of that number when nobody has come for it for a while.
    fn keep(&self, number: u64) {
        let is_there = |spare: &mut Spare| spare.number == number && spare.worker.is_some();
        let waited = self.changed.wait_timeout_while(self.spare(), SPARE, is_there);
        let (mut spare, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let idle = if is_there(&mut spare) { spare.worker.take() } else { None };
        drop(spare);
        drop(idle);
    }
}

/// One that waits, so that the next skill need not.
#[derive(Default)]
struct Spare {
    worker: Option<Worker>,
    /// Whether one is being started: whoever needs one waits for it instead of starting another beside it.
    is_coming: bool,
    /// Whether somebody waits for it.
    is_wanted: bool,
    /// Whether nobody will come any more.
    is_over: bool,
    /// Which one it is: one that was taken is not let go of by the clock of an earlier one.
    number: u64,
}

/// One that is being started. However that ends, nobody waits for it afterwards.
struct Coming(Arc<Waiting>);

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.spare().is_coming = false;
        self.0.changed.notify_all();
    }
}

/// A process, and the channel to it.
pub(crate) struct Worker {
    /// There until it is let go of.
    resident: Option<Resident>,
    channel: UnixStream,
    /// Whether it has done what it was asked, and ends by itself.
    is_done: bool,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Waiting for the system to take its world apart is nobody's part of a call.
        let (resident, is_done) = (self.resident.take(), self.is_done);
        let thread = std::thread::Builder::new().name("skill ends".to_owned());
        // Where no thread can be had it is waited for.
        let _ = thread.spawn(move || {
            // What may still run does not run a moment longer.
            if is_done {
                std::thread::sleep(AFTERWARDS);
            }
            drop(resident);
        });
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let waiting = {
            let mut spare = self.waiting.spare();
            spare.is_over = true;
            spare.worker.take()
        };
        self.waiting.changed.notify_all();
        drop(waiting);
    }
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
        Self {
            launcher,
            state,
            program,
            settings,
            ahead: false,
            waiting: Arc::default(),
            looks: Looks::default(),
        }
    }

    /// The same, in a process that runs many skills: after the first one, one waits.
    #[must_use]
    pub fn started_ahead(mut self) -> Self {
        self.ahead = true;
        self
    }

    /// What the user grants.
    #[must_use]
    pub fn settings(&self) -> &SkillsSection {
        &self.settings
    }

    fn start(&self, how: &[&str]) -> Result<Worker, Fault> {
        let needs = Needs {
            program: self.program.clone(),
            args: std::iter::once(&MARK).chain(how).map(|word| (*word).to_owned()).collect(),
            env: std::iter::empty().collect(),
            memory: OWN_MEMORY.saturating_add(self.settings.most_mebibytes.saturating_mul(1 << 20)),
            web: None,
            channel: Channel::Streams,
            works: None,
        };
        let (resident, channel) = Resident::start(&self.launcher, &self.state, None, needs)?;
        Ok(Worker { resident: Some(resident), channel, is_done: false })
    }

    /// A process that has run nothing of anybody. Blocking: about ten milliseconds where none waits.
    pub(crate) fn take(&self) -> Result<Worker, Fault> {
        let waiting = self.waiting.taken().filter(|worker| worker.ended().is_none());
        waiting.map_or_else(|| self.start(&[]), Ok)
    }

    /// What is in files, by a process that runs nothing of them: the one that is there, or one that is there afterwards. Blocking.
    pub(super) fn look(
        &self,
        files: &[SourceFile],
        (seen, worker): (&mut Seen, &mut Option<Worker>),
        cancel: &CancellationToken,
    ) -> Result<Arc<Vec<Inspected>>, Fault> {
        self.looks.at(seen, files, || {
            let worker = match worker {
                Some(worker) => worker,
                None => worker.insert(self.take()?),
            };
            let said = worker.inspect(&Request::Inspect { files: files.to_vec(), texts: true }, cancel)?;
            match said.into_iter().next() {
                Some(Event::Inspected(looked)) => Ok(looked),
                _ => Err(Fault::internal("a skill's files were not looked at")),
            }
        })
    }

    /// Has one wait for the next call, for a while. Where that cannot be done the next call says why.
    fn refill(self: &Arc<Self>) {
        {
            let mut spare = self.waiting.spare();
            if !self.ahead || spare.is_coming || spare.worker.is_some() {
                return;
            }
            spare.is_coming = true;
        }
        let (workers, coming) = (Arc::clone(self), Coming(Arc::clone(&self.waiting)));
        let thread = std::thread::Builder::new().name("skill waits".to_owned());
        // Where none can be had, none comes.
        let _ = thread.spawn(move || {
            coming.0.rest();
            let started = workers.start(&[AHEAD]).ok();
            // Whoever ends the server need not wait for this one.
            drop(workers);
            let waiting = Arc::clone(&coming.0);
            let number = waiting.put(started);
            drop(coming);
            waiting.keep(number);
        });
    }
}

/// Has the next process wait, however this call ends.
pub(crate) struct Next<'w>(pub(crate) &'w Arc<Workers>);

impl Drop for Next<'_> {
    fn drop(&mut self) {
        self.0.refill();
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
    fn ended(&self) -> Option<String> {
        self.resident.as_ref().and_then(Resident::ended)
    }

    /// Has files looked at; nothing of them runs.
    fn inspect(&mut self, request: &Request, cancel: &CancellationToken) -> Result<Vec<Event>, Fault> {
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
        self.is_done = matches!(request, Request::Run(_));
        Ok(all)
    }

    /// It ended before it answered.
    fn over(&self) -> Fault {
        // Why is known a moment later.
        let since = Instant::now();
        while self.ended().is_none() && since.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let why = self.ended().unwrap_or_else(|| "it ended".to_owned());
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
