//! A parent without a runtime: the worker as a process, spoken with over pipes.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use gatewright_skills::talk::Level;
use gatewright_skills::{
    Event, Grants, Hearing, Host, Limits, MARK, Outcome, Request, Run, SourceFile, TalkError,
};
use serde_json::Value;

/// A run of one file.
pub(crate) fn one(text: &str, input: Value) -> Run {
    many(&[("skill-name.ts", text)], input)
}

/// A run of several files; the first is the skill's.
pub(crate) fn many(files: &[(&str, &str)], input: Value) -> Run {
    Run {
        skill: "skill-name".to_owned(),
        entry: files[0].0.to_owned(),
        files: files
            .iter()
            .map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect(),
        input,
        grants: Grants::default(),
        // Machines that do much else have time, too.
        limits: Limits { milliseconds: 20_000, ..Limits::default() },
    }
}

/// A host that keeps what it is told, and answers from a list.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) logs: Vec<(Level, String)>,
    pub(crate) asked: Vec<String>,
    pub(crate) files: Vec<(&'static str, &'static str)>,
}

impl Host for Kept {
    fn log(&mut self, level: Level, text: String) {
        self.logs.push((level, text));
    }

    fn read(&mut self, path: String) -> Result<String, String> {
        self.asked.push(path.clone());
        let found = self.files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("{path} is not there"))
    }

    fn glob(&mut self, pattern: String) -> Result<Vec<String>, String> {
        self.asked.push(pattern);
        Ok(self.files.iter().map(|(name, _)| (*name).to_owned()).collect())
    }
}

/// Runs in this process, on a thread as the worker has one.
pub(crate) fn within(run: Run) -> (Outcome, Kept) {
    within_with(run, Vec::new())
}

/// As [`within`], with files that may be read.
pub(crate) fn within_with(run: Run, files: Vec<(&'static str, &'static str)>) -> (Outcome, Kept) {
    std::thread::Builder::new()
        .stack_size(gatewright_skills::limits::THREAD_STACK)
        .spawn(move || {
            let host = Rc::new(RefCell::new(Kept { files, ..Kept::default() }));
            let outcome = gatewright_skills::run(&run, Rc::<RefCell<Kept>>::clone(&host));
            let kept = host.take();
            (outcome, kept)
        })
        .unwrap()
        .join()
        .unwrap()
}

/// What a skill returns.
pub(crate) fn result(text: &str, input: Value) -> Value {
    within(one(text, input)).0.result.unwrap()
}

/// How it fails.
pub(crate) fn failure(text: &str) -> gatewright_skills::Failure {
    within(one(text, Value::Null)).0.result.unwrap_err()
}

/// A worker, and what is heard of it.
pub(crate) struct Talk {
    child: Child,
    heard: Receiver<Vec<u8>>,
    hearing: Hearing,
}

/// How a conversation ended.
#[derive(Debug)]
pub(crate) enum End {
    Answered,
    Distrusted(TalkError),
    Killed,
}

impl Talk {
    /// Starts a worker and asks it. `program` may be another than ours: one that behaves worse.
    pub(crate) fn start(mut command: Command, request: &Request) -> Self {
        let (line, hearing) = Hearing::begin(request).unwrap();
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (said, heard) = channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 64 * 1024];
            while let Ok(read) = stdout.read(&mut piece) {
                if read == 0 || said.send(piece[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut talk = Self { child, heard, hearing };
        talk.write(&line);
        talk
    }

    /// A worker of ours.
    pub(crate) fn ours(request: &Request) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright-skill-worker"));
        command.arg(MARK).env_clear();
        Self::start(command, request)
    }

    fn write(&mut self, line: &[u8]) {
        // A worker that is gone is seen by its silence.
        let _ = self.child.stdin.as_mut().unwrap().write_all(line);
    }

    /// Listens until the answer, the first wrong word, or the end of the patience: then kills.
    pub(crate) fn listen(
        &mut self,
        patience: Duration,
        mut answer: impl FnMut(&Event) -> Option<Request>,
    ) -> (Vec<Event>, End) {
        let end = Instant::now() + patience;
        let mut events = Vec::new();
        loop {
            let piece = match self.heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(piece) => piece,
                Err(RecvTimeoutError::Timeout) => return (events, self.kill(End::Killed)),
                Err(RecvTimeoutError::Disconnected) => {
                    let wrong = self.hearing.closed().unwrap_err();
                    return (events, self.kill(End::Distrusted(wrong)));
                }
            };
            let said = match self.hearing.hear(&piece) {
                Ok(said) => said,
                Err(wrong) => return (events, self.kill(End::Distrusted(wrong))),
            };
            for event in said {
                if let Some(answer) = answer(&event) {
                    let line = self.hearing.answer(&answer).unwrap();
                    self.write(&line);
                }
                events.push(event);
            }
            if self.hearing.is_ended() {
                return (events, End::Answered);
            }
        }
    }

    fn kill(&mut self, end: End) -> End {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert!(!status.success() || matches!(end, End::Distrusted(_)));
        end
    }

    /// Waits for the worker's own end.
    pub(crate) fn ended(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
