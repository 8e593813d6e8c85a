//! The process that a component runs in: this program started again, in a world of its own without files and network. It is
//! kept for the next call of the same component, and ended where it says what it may not or is silent for too long.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use components::{Call, Event, Failure, Grants, Hearing, Kind, Level, Limits, MARK, TalkError, limits};
use contract::text::visible;
use contract::{Code, Fault};
use exec::StateDir;
use exec::run::{Channel, Launcher, Needs, Resident};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;

/// Most bytes of memory of a process, the component's own besides: the compiler's.
const OWN_MEMORY: u64 = 512 << 20;
/// How long a process may take to compile a component and have it describe itself, besides the time of a call.
const COMPILING: Duration = Duration::from_secs(20);
/// How long it may be over its time before it is ended: its own clock says better what happened.
const GRACE: Duration = Duration::from_millis(500);
/// How often it is looked whether the call is still wanted.
const TICK: Duration = Duration::from_millis(20);
/// How long a process is kept for the next call.
const KEPT: Duration = Duration::from_mins(5);

/// Starts the processes of one component.
#[derive(Debug)]
pub struct Workers {
    launcher: Launcher,
    state: StateDir,
    program: PathBuf,
    bytes: Vec<u8>,
    grants: Grants,
    limits: Limits,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    worker: Option<Worker>,
    /// Which one it is: one that was taken is not ended by the clock of an earlier one.
    number: u64,
}

#[derive(Debug)]
struct Worker {
    resident: Resident,
    channel: UnixStream,
    hearing: Hearing,
}

/// How a call came to an end of its own.
pub struct Ended {
    pub result: Result<String, String>,
    pub log: Vec<(&'static str, String)>,
    pub log_cut: bool,
    pub fuel: u64,
}

impl Workers {
    pub fn new(
        state: StateDir,
        level: exec::run::Level,
        bytes: Vec<u8>,
        grants: Grants,
        limits: Limits,
    ) -> Self {
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
        let launcher = Launcher::own().at_least(level);
        Self { launcher, state, program, bytes, grants, limits, waiting: Arc::default() }
    }

    /// What the component offers: a process is started for it. Blocking.
    pub fn describe(&self) -> Result<Vec<components::Tool>, Fault> {
        let worker = self.start(&CancellationToken::new())?;
        let tools = worker.hearing.tools().unwrap_or_default().to_vec();
        self.keep(worker);
        Ok(tools)
    }

    /// Calls a tool. Blocking.
    pub fn call(&self, call: Call, desk: &Desk<'_>) -> Result<Ended, Fault> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).worker.take();
        let mut worker = match waiting.filter(|worker| worker.resident.ended().is_none()) {
            Some(worker) => worker,
            None => self.start(desk.cancelled())?,
        };
        let ended = worker.call(call, desk, self.limits)?;
        self.keep(worker);
        Ok(ended)
    }

    fn start(&self, cancel: &CancellationToken) -> Result<Worker, Fault> {
        let needs = Needs {
            works: None,
            program: self.program.clone(),
            args: vec![MARK.to_owned()],
            env: std::iter::empty().collect(),
            memory: OWN_MEMORY.saturating_add(self.limits.memory as u64),
            web: None,
            channel: Channel::Streams,
        };
        let (line, hearing) =
            Hearing::load(self.bytes.clone(), self.grants, self.limits).map_err(|e| unasked(&e))?;
        let (resident, channel) = Resident::start(&self.launcher, &self.state, None, needs)?;
        let mut worker = Worker { resident, channel, hearing };
        let until = Instant::now() + COMPILING + Duration::from_millis(self.limits.milliseconds);
        worker.channel.set_read_timeout(Some(TICK)).map_err(|e| worker.lost(&e))?;
        worker.channel.set_write_timeout(Some(COMPILING)).map_err(|e| worker.lost(&e))?;
        worker.channel.write_all(&line).map_err(|e| worker.lost(&e))?;
        while !worker.hearing.is_ready() {
            for event in worker.hear(until, cancel)? {
                if let Event::Failed(failure) = event {
                    return Err(failed(&failure));
                }
            }
        }
        Ok(worker)
    }

    /// Keeps a process for the next call, for a while.
    fn keep(&self, worker: Worker) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.worker.is_some() || !worker.hearing.is_ready() {
            return;
        }
        waiting.worker = Some(worker);
        waiting.number += 1;
        let (number, weak): (u64, Weak<Mutex<Waiting>>) = (waiting.number, Arc::downgrade(&self.waiting));
        drop(waiting);
        std::thread::spawn(move || {
            std::thread::sleep(KEPT);
            let Some(waiting) = weak.upgrade() else { return };
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.number == number {
                waiting.worker = None;
            }
        });
    }
}

impl Worker {
    fn call(&mut self, call: Call, desk: &Desk<'_>, limits: Limits) -> Result<Ended, Fault> {
        let until = Instant::now() + Duration::from_millis(limits.milliseconds);
        let line = self.hearing.call(call).map_err(|e| unasked(&e))?;
        self.channel.write_all(&line).map_err(|e| self.lost(&e))?;
        let mut log = Vec::new();
        let mut given = 0;
        loop {
            for event in self.hear(until + GRACE, desk.cancelled())? {
                match event {
                    Event::Log { level, text } => log.push((word(level), visible(&text))),
                    Event::Ask(question) => {
                        let answer = desk.answer(question, limits::READ_BYTES.saturating_sub(given), until);
                        given += answer.weight();
                        let line = self.hearing.answer(answer).map_err(|e| unasked(&e))?;
                        self.channel.write_all(&line).map_err(|e| self.lost(&e))?;
                    }
                    Event::Done { result, log_cut, fuel } => return Ok(Ended { result, log, log_cut, fuel }),
                    Event::Failed(failure) => return Err(failed(&failure)),
                    Event::Described(_) => {}
                }
            }
        }
    }

    /// What it says next; nothing, where it was silent for a moment.
    fn hear(&mut self, until: Instant, cancel: &CancellationToken) -> Result<Vec<Event>, Fault> {
        if cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
        }
        if Instant::now() >= until {
            return Err(over_time("it took longer than it may, and was ended"));
        }
        let mut piece = vec![0_u8; 64 << 10];
        match self.channel.read(&mut piece) {
            Ok(0) => Err(self.over()),
            Ok(read) => self.hearing.hear(piece.get(..read).unwrap_or_default()).map_err(|e| forged(&e)),
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Ok(Vec::new())
            }
            Err(_) => Err(self.over()),
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
        if why.starts_with("executing ") {
            let message =
                "the process of a component cannot be started: its world does not show this program";
            return Fault::new(Code::ConfinementUnavailable, message)
                .suggest("Install gatewright somewhere that is not below /tmp or another private folder.");
        }
        let code = if why.contains("memory") { Code::ResourceExhausted } else { Code::ToolExecutionFailed };
        Fault::new(code, format!("the process that the component ran in: {why}"))
    }

    fn lost(&self, error: &std::io::Error) -> Fault {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => self.over(),
            _ => Fault::internal(format!("a component's process cannot be spoken with: {error}")),
        }
    }
}

const fn word(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
    }
}

fn over_time(message: &str) -> Fault {
    let mut fault = Fault::new(Code::Timeout, message.to_owned())
        .suggest("Give it less to do; `timeout` in the plugin's file says how long a call may take.");
    // It would take as long again.
    fault.retryable = false;
    fault
}

/// The component did not answer.
fn failed(failure: &Failure) -> Fault {
    let message = visible(&failure.message);
    match failure.kind {
        Kind::Timeout => over_time(&message),
        Kind::Fuel | Kind::Memory | Kind::HostCalls => Fault::new(Code::ResourceExhausted, message)
            .suggest("Give it less to do; the plugin's file says how much a call may take."),
        Kind::Component | Kind::Import | Kind::World => Fault::new(Code::InvalidSource, message),
        _ => Fault::new(Code::ToolExecutionFailed, message),
    }
}

fn unasked(error: &TalkError) -> Fault {
    Fault::new(Code::TooLarge, format!("the component cannot be asked: {error}"))
}

/// It says what no worker of ours says: whatever ran in it has taken it over.
fn forged(error: &TalkError) -> Fault {
    let message = format!("the process that the component ran in broke the rules, and was ended: {error}");
    Fault::new(Code::ToolExecutionFailed, message)
        .suggest("Do not use this plugin again before somebody has looked at its code.")
}
