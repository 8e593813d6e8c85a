//! The DevTools protocol over a pipe: JSON objects that each end with NUL; commands are numbered, answers carry the number,
//! events carry the session of the target that they are about.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{BrowserError, Done};

/// Largest message, in bytes: a picture of a long page has some.
const MAX_MESSAGE: usize = 128 << 20;

/// How often somebody who waits looks whether the call was cancelled.
const TICK: Duration = Duration::from_millis(50);

/// How long the browser may take to read what is said to it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Something happened in a target.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) method: String,
    /// The session of the target; empty for the browser itself.
    pub(crate) session: String,
    pub(crate) params: Value,
}

/// What the browser says of a command.
type Answer = Result<Value, String>;

/// A connection with a browser.
#[derive(Debug)]
pub(crate) struct Wire {
    writer: Mutex<UnixStream>,
    next: AtomicU64,
    waiting: Mutex<BTreeMap<u64, Sender<Answer>>>,
    /// Who hears of which session.
    sessions: Mutex<BTreeMap<String, Sender<Event>>>,
    /// Why it is over, once it is.
    over: Mutex<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Until when, and unless what.
#[derive(Debug, Clone)]
pub(crate) struct Until {
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Until {
    /// Fails where there is nothing more to wait for.
    pub(crate) fn check(&self, what: &'static str) -> Done<()> {
        if self.cancel.is_cancelled() {
            return Err(BrowserError::Cancelled);
        }
        if Instant::now() >= self.deadline {
            return Err(BrowserError::Timeout(what));
        }
        Ok(())
    }

    /// How long until the next look.
    pub(crate) fn tick(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).min(TICK)
    }

    /// The same, at most `time` from now.
    pub(crate) fn within(&self, time: Duration) -> Self {
        Self { deadline: self.deadline.min(Instant::now() + time), cancel: self.cancel.clone() }
    }
}

impl Wire {
    /// Speaks over `channel`.
    pub(crate) fn new(channel: UnixStream) -> std::io::Result<Arc<Self>> {
        channel.set_write_timeout(Some(PATIENCE))?;
        let reader = channel.try_clone()?;
        let wire = Arc::new(Self {
            writer: Mutex::new(channel),
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            sessions: Mutex::default(),
            over: Mutex::default(),
        });
        let heard = Arc::clone(&wire);
        std::thread::Builder::new().name("devtools".to_owned()).spawn(move || {
            let why = heard.listen(reader);
            heard.end(why);
        })?;
        Ok(wire)
    }

    /// Why it is over, where it is.
    pub(crate) fn over(&self) -> Option<String> {
        lock(&self.over).clone()
    }

    /// Hears of a session.
    pub(crate) fn attend(&self, session: &str, to: Sender<Event>) {
        lock(&self.sessions).insert(session.to_owned(), to);
    }

    /// Hears of a session no more.
    pub(crate) fn leave(&self, session: &str) {
        lock(&self.sessions).remove(session);
    }

    /// Says a command, and waits for what comes of it.
    pub(crate) fn call(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
        until: &Until,
    ) -> Done<Value> {
        let (sender, receiver) = channel();
        let id = self.say(session, method, params, Some(sender))?;
        let answer = wait(&receiver, method, until);
        if answer.is_err() {
            lock(&self.waiting).remove(&id);
        }
        match answer? {
            Ok(value) => Ok(value),
            Err(message) => Err(BrowserError::Command { method, message }),
        }
    }

    /// Says a command whose answer nobody waits for.
    pub(crate) fn tell(&self, session: &str, method: &'static str, params: Value) {
        // Where it cannot be said the browser has ended, which whoever waits is told.
        let _ = self.say(session, method, params, None);
    }

    fn say(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
        answer: Option<Sender<Answer>>,
    ) -> Done<u64> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if let Some(answer) = answer {
            lock(&self.waiting).insert(id, answer);
        }
        if let Some(why) = self.over() {
            lock(&self.waiting).remove(&id);
            return Err(BrowserError::Ended(why));
        }
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let (false, Some(object)) = (session.is_empty(), message.as_object_mut()) {
            object.insert("sessionId".to_owned(), session.into());
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let written = lock(&self.writer).write_all(&bytes);
        if let Err(error) = written {
            // A message of which a part was said would be read together with the next.
            self.end(error.to_string());
            return Err(BrowserError::Ended(error.to_string()));
        }
        Ok(id)
    }

    /// Hears everything until there is no more, and says why not.
    fn listen(&self, mut reader: UnixStream) -> String {
        let (mut message, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => return "it closed its channel".to_owned(),
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return error.to_string(),
            };
            let mut rest = buffer.get(..read).unwrap_or_default();
            while let Some(end) = rest.iter().position(|byte| *byte == 0) {
                message.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                match serde_json::from_slice(&message) {
                    Ok(value) => self.heard(value),
                    Err(error) => return format!("it said what is not understood: {error}"),
                }
                message.clear();
            }
            message.extend_from_slice(rest);
            if message.len() > MAX_MESSAGE {
                return format!("it said more than {} MiB at once", MAX_MESSAGE >> 20);
            }
        }
    }

    fn heard(&self, mut message: Value) {
        if let Some(id) = message["id"].as_u64() {
            let Some(waiting) = lock(&self.waiting).remove(&id) else { return };
            let answer = match message.get("error") {
                Some(error) => Err(error["message"].as_str().unwrap_or("it failed").to_owned()),
                None => Ok(message["result"].take()),
            };
            let _ = waiting.send(answer);
            return;
        }
        let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
        let Some(method) = message["method"].as_str().map(str::to_owned) else { return };
        let to = lock(&self.sessions).get(&session).cloned();
        if let Some(to) = to {
            let _ = to.send(Event { method, session, params: message["params"].take() });
        }
    }

    /// It is over: whoever waits, and whoever hears, is told by the end of what they listen to.
    fn end(&self, why: String) {
        lock(&self.over).get_or_insert(why);
        lock(&self.waiting).clear();
        lock(&self.sessions).clear();
    }
}

fn wait(receiver: &Receiver<Answer>, method: &'static str, until: &Until) -> Done<Answer> {
    loop {
        match receiver.recv_timeout(until.tick()) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => until.check(method)?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(BrowserError::Ended("it is gone".to_owned()));
            }
        }
    }
}
