//! What a component asks, answered: each question held to what its file declares. Whatever is refused is told to the component,
//! which may go on.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use components::talk::Bytes;
use components::{Answer, Effect, File, Question, limits};
use contract::text::visible;
use contract::{Fault, RelPath, State as There};
use exec::run::Command;
use exec::view::{Pattern, path_argument};
use kit::RunDesk;
use plugins::Manifest;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::kept::{self, Kept, State};

/// Most bytes of what a program said that a component is given, of each stream.
const SAID: usize = 1 << 20;

/// A call's desk, as its component sees it.
#[expect(clippy::struct_field_names, reason = "it is the desk that this one is made of")]
pub struct Desk<'c> {
    manifest: &'c Manifest,
    desk: RunDesk,
    runtime: Handle,
    reads: Vec<Pattern>,
    writes: Vec<Pattern>,
    kept: &'c Kept,
    before: State,
    fresh: RefCell<State>,
}

impl<'c> Desk<'c> {
    /// Over `desk`. Blocking.
    pub fn new(
        manifest: &'c Manifest,
        desk: RunDesk,
        runtime: Handle,
        kept: &'c Kept,
    ) -> Result<Self, Fault> {
        let section = &manifest.file.component;
        let patterns =
            |globs: &[String]| globs.iter().map(|glob| Pattern::new(glob)).collect::<Result<_, _>>();
        let before = if section.state { kept.load() } else { State::new() };
        Ok(Self {
            reads: patterns(&section.reads)?,
            writes: patterns(&section.writes)?,
            before,
            fresh: RefCell::default(),
            manifest,
            desk,
            runtime,
            kept,
        })
    }

    /// Cancelled when the call is.
    pub fn cancelled(&self) -> &CancellationToken {
        self.desk.cancelled()
    }

    /// Keeps what the component set: once its call has come to a good end.
    pub fn keep(&self) -> Result<(), Fault> {
        let fresh = self.fresh.borrow();
        if fresh.is_empty() { Ok(()) } else { self.kept.keep(&fresh) }
    }

    /// The answer to a question; `room` is how much more the call may be given, `until` when it is over.
    pub fn answer(&self, question: Question, room: usize, until: Instant) -> Answer {
        let answer = match question {
            Question::Read(path) => self.read(&path),
            Question::Glob(pattern) => self.glob(&pattern),
            Question::Plan(effect) => self.plan(effect),
            Question::Run { program, args } => self.run(&program, args, until),
            Question::Get(key) => Ok(Answer::Value(self.get(&key))),
            Question::Set { key, value } => self.set(key, value),
        };
        let answer = answer.unwrap_or_else(Answer::Denied);
        let answer = match answer.weight() {
            weight if weight > room => Answer::Denied("a call is given at most 32 MiB to read".to_owned()),
            _ => answer,
        };
        match answer {
            Answer::Denied(why) => {
                let end = why.floor_char_boundary(limits::MESSAGE_BYTES);
                Answer::Denied(why[..end].to_owned())
            }
            other => other,
        }
    }

    fn read(&self, path: &str) -> Result<Answer, String> {
        let path = path_argument(path).map_err(said)?;
        if !may(&self.reads, &path) {
            return Err(format!("{path} is not declared in component.reads"));
        }
        let view = self.desk.view();
        let file = match view.state(&path).map_err(said)? {
            There::Absent => File::Absent,
            There::Symlink { target } => File::Link(target),
            There::Directory { .. } => return Err(format!("{path} is a folder")),
            There::File { bytes, .. } if bytes > limits::FILE_BYTES as u64 => {
                return Err(format!("{path} has {bytes} bytes, at most 8 MiB are read"));
            }
            There::File { .. } => File::Bytes(Bytes(view.read(&path).map_err(said)?)),
        };
        Ok(Answer::File(file))
    }

    fn glob(&self, pattern: &str) -> Result<Answer, String> {
        let found = self.desk.view().glob(pattern).map_err(said)?;
        let may_read = found.into_iter().filter(|path| may(&self.reads, path));
        Ok(Answer::Paths(may_read.map(|path| path.to_string()).collect()))
    }

    fn plan(&self, effect: Effect) -> Result<Answer, String> {
        let path = path_argument(effect.path()).map_err(said)?;
        if !may(&self.writes, &path) {
            return Err(format!("{path} is not declared in component.writes"));
        }
        match effect {
            Effect::Put { bytes, .. } => self.desk.put(&path, bytes.0),
            Effect::Remove { .. } => self.desk.remove(&path),
            Effect::Append { line, .. } if line.contains(['\n', '\0']) => {
                return Err("an appended line is one line".to_owned());
            }
            Effect::Append { line, .. } => self.desk.append(&path, &line),
        }
        .map_err(said)?;
        Ok(Answer::Done)
    }

    fn run(&self, program: &str, args: Vec<String>, until: Instant) -> Result<Answer, String> {
        self.manifest.may_run(program, &args)?;
        let left = until.saturating_duration_since(Instant::now());
        if left < Duration::from_millis(10) {
            return Err("the call's time is over".to_owned());
        }
        let mut command = Command::new(program, &[]);
        command.args = args;
        command.timeout = left;
        // A copy of the root for each: what it writes is nobody's proposal.
        let ran = self.runtime.block_on(self.desk.afresh().run(command)).map_err(said)?;
        let first = |bytes: &[u8]| Bytes(bytes.get(..SAID).unwrap_or(bytes).to_vec());
        Ok(Answer::Ran {
            code: ran.code().unwrap_or(-1),
            stdout: first(&ran.stdout.bytes),
            stderr: first(&ran.stderr.bytes),
        })
    }

    fn get(&self, key: &str) -> Option<Bytes> {
        let fresh = self.fresh.borrow();
        let value = fresh.get(key).or_else(|| self.before.get(key))?;
        (!value.0.is_empty()).then(|| value.clone())
    }

    fn set(&self, key: String, value: Bytes) -> Result<Answer, String> {
        let mut fresh = self.fresh.borrow_mut();
        let was = fresh.insert(key.clone(), value);
        let mut all = self.before.clone();
        kept::put(&mut all, &fresh);
        if kept::size(&all) > limits::STATE_BYTES {
            match was {
                Some(was) => fresh.insert(key, was),
                None => fresh.remove(&key),
            };
            return Err("a plugin keeps at most 1 MB".to_owned());
        }
        Ok(Answer::Done)
    }
}

/// Whether one of these patterns finds a path. Environment files and git's own are nobody's, as runs do not see them either.
fn may(patterns: &[Pattern], path: &RelPath) -> bool {
    let is_hidden = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with(".env") || name == ".git"
    };
    !path.components().any(is_hidden) && patterns.iter().any(|pattern| pattern.finds(path.as_str()))
}

fn said(fault: Fault) -> String {
    visible(&fault.message)
}
