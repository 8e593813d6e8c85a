//! The worker: a process that is told what to do on its standard input, answers on its standard output, and is killed when it
//! does not.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::{Host, Loaded};
use crate::limits;
use crate::lines::{Lines, decode, encode};
use crate::talk::{Answer, Event, Failure, Kind, Level, Question, Request, TalkError};

/// The first argument of a process that is to be the worker.
pub const MARK: &str = "--gatewright-component-worker";

/// Becomes the worker, and never returns, where this process was started to be it. Called first in `main`.
pub fn main_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|first| first == MARK) {
        let ended = serve(std::io::stdin(), std::io::stdout());
        std::process::exit(i32::from(ended.is_err()));
    }
}

/// Why a worker ends before its time: what it hears is nothing, or nobody hears it.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The channel failed, or ended within a line.
    #[error("the parent is gone: {0}")]
    Io(#[from] std::io::Error),
    /// What the parent says is not understood.
    #[error(transparent)]
    Talk(#[from] TalkError),
    /// No thread could be had, or it ended in a panic.
    #[error("the engine's thread failed")]
    Thread,
}

/// Does what is asked over a channel, until that is closed or something failed.
pub fn serve(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Result<(), WorkerError> {
    let wire = Wire { from: Box::new(from), to: Box::new(to), lines: Lines::new(limits::REQUEST_LINE) };
    // Compiling and guests want a stack that no caller need have.
    let thread = std::thread::Builder::new().stack_size(limits::THREAD_STACK);
    let work = move || catch_unwind(AssertUnwindSafe(|| converse(wire))).unwrap_or(Err(WorkerError::Thread));
    thread.spawn(work)?.join().unwrap_or(Err(WorkerError::Thread))
}

fn converse(mut wire: Wire) -> Result<(), WorkerError> {
    let Some(request) = wire.hear()? else { return Ok(()) };
    let Request::Load { component, grants, limits } = request else {
        return Err(TalkError::Wrong("a component is loaded first").into());
    };
    let loaded = match Loaded::new(&component.0, grants, limits) {
        Ok(loaded) => loaded,
        Err(failure) => return wire.say(&Event::Failed(failure)),
    };
    drop(component);
    wire.say(&Event::Described(loaded.tools().to_vec()))?;
    let mut wire = Box::new(wire);
    while let Some(request) = wire.hear()? {
        let Request::Call(call) = request else {
            return Err(TalkError::Wrong("a tool is called next").into());
        };
        // The wire is lent to the guest's host functions; it comes back with the event.
        let (lent, back) = std::sync::mpsc::sync_channel(1);
        let (event, host) = loaded.call(&call, Box::new(Lent { wire: Some(wire), back: lent }));
        drop(host);
        wire = back.recv().map_err(|_| WorkerError::Thread)?;
        wire.say(&event)?;
        if matches!(event, Event::Failed(Failure { kind, .. }) if kind != Kind::Result) {
            // What trapped may have left anything behind: nothing more runs here.
            return Ok(());
        }
    }
    Ok(())
}

/// The channel to the parent.
struct Wire {
    from: Box<dyn Read + Send>,
    to: Box<dyn Write + Send>,
    lines: Lines,
}

impl Wire {
    fn say(&mut self, event: &Event) -> Result<(), WorkerError> {
        self.to.write_all(&encode(event, limits::EVENT_LINE)?)?;
        self.to.flush()?;
        Ok(())
    }

    /// The next request; nothing, where the parent has closed the channel between two.
    fn hear(&mut self) -> Result<Option<Request>, WorkerError> {
        let mut piece = vec![0; 64 << 10];
        loop {
            if let Some(line) = self.lines.next()? {
                return Ok(Some(decode(&line, limits::REQUEST_LINE)?));
            }
            match self.from.read(&mut piece) {
                Ok(0) if self.lines.is_within() => {
                    return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
                }
                Ok(0) => return Ok(None),
                Ok(read) => self.lines.push(piece.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The channel while a guest runs; given back when that is over.
struct Lent {
    wire: Option<Box<Wire>>,
    back: std::sync::mpsc::SyncSender<Box<Wire>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(wire) = self.wire.take() {
            // Whoever lent it waits for it.
            let _ = self.back.send(wire);
        }
    }
}

impl Host for Lent {
    fn log(&mut self, level: Level, text: String) {
        if let Some(wire) = &mut self.wire {
            // Where nobody hears it, the next question or the result says so.
            let _ = wire.say(&Event::Log { level, text });
        }
    }

    fn ask(&mut self, question: Question) -> Option<Answer> {
        let wire = self.wire.as_mut()?;
        wire.say(&Event::Ask(question)).ok()?;
        match wire.hear().ok()?? {
            Request::Answer(answer) => Some(answer),
            _ => None,
        }
    }
}
