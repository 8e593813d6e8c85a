//! The worker: a process that is told what to do on its standard input, answers on its standard output, and is killed when it
//! does not.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::engine::{self, Host, Outcome};
use crate::limits;
use crate::strip::strip;
use crate::talk::{Event, Failure, Inspected, Kind, Level, Lines, Request, Run, SourceFile};

/// The first argument of a process that is to be the worker.
pub const MARK: &str = "--gatewright-skill-worker";

/// The second argument of one that is started before anybody needs it.
pub const AHEAD: &str = "ahead";

/// Becomes the worker, and never returns, where this process was started to be it. Called first in `main`.
pub fn main_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|first| first == MARK) {
        if std::env::args_os().nth(2).is_some_and(|second| second == AHEAD) {
            warm();
        }
        let ended = serve(std::io::stdin(), std::io::stdout());
        std::process::exit(i32::from(ended.is_err()));
    }
}

/// Looks at a skill of no use and runs it, before anybody asks: what that takes for the first time is mostly the program's own pages.
/// It is our own, and its engine is gone afterwards: the next run has another.
fn warm() {
    let text = "export function warm(input: { n: number }): { n: number } { return { n: input.n }; }";
    let file = SourceFile { path: "warm.ts".to_owned(), text: text.to_owned() };
    let run = Run {
        skill: "warm".to_owned(),
        entry: file.path.clone(),
        files: vec![file.clone()],
        input: serde_json::json!({ "n": 1 }),
        grants: limits::Grants::default(),
        limits: limits::Limits::default(),
    };
    let asked = [Request::Inspect { files: vec![file], texts: true }, Request::Run(Box::new(run))];
    let lines: Result<Vec<Vec<u8>>, _> = asked.iter().map(Request::encode).collect();
    if let Ok(lines) = lines {
        // Where it fails, so will what comes, and that is answered.
        let _ = serve(std::io::Cursor::new(lines.concat()), std::io::sink());
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
    Talk(#[from] crate::talk::TalkError),
    /// No thread could be had, or it ended in a panic.
    #[error("the engine's thread failed")]
    Thread,
}

/// Does what is asked over a channel, until it is closed or a skill was run.
pub fn serve(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Result<(), WorkerError> {
    let mut wire = Wire {
        from: Box::new(from),
        to: Box::new(to),
        lines: Lines::new(limits::REQUEST_LINE),
        reads: 0,
        globs: 0,
    };
    loop {
        match wire.hear()? {
            None => return Ok(()),
            Some(Request::Inspect { files, texts }) => {
                let found = files.iter().map(|file| inspect(file, texts)).collect();
                wire.say(&Event::Inspected(found))?;
            }
            Some(Request::Run(run)) => {
                // What ran may have broken anything: this process does nothing after it, but for what `warm` ran.
                let thread = std::thread::Builder::new().stack_size(limits::THREAD_STACK);
                let thread = thread.spawn(move || execute(&run, wire)).map_err(|_| WorkerError::Thread)?;
                return thread.join().map_err(|_| WorkerError::Thread)?;
            }
            Some(Request::Text(_) | Request::Paths(_) | Request::Denied(_)) => {
                return Err(crate::talk::TalkError::Wrong("nothing was asked").into());
            }
        }
    }
}

fn inspect(file: &SourceFile, texts: bool) -> Inspected {
    let path = file.path.clone();
    match strip(&file.path, &file.text) {
        Ok(stripped) => Inspected {
            path,
            refused: None,
            imports: stripped.imports,
            exports: stripped.exports,
            text: texts.then_some(stripped.text),
        },
        Err(refusal) => {
            Inspected { path, refused: Some(refusal), imports: Vec::new(), exports: Vec::new(), text: None }
        }
    }
}

fn execute(run: &Run, wire: Wire) -> Result<(), WorkerError> {
    let wire = Rc::new(RefCell::new(wire));
    let host: Rc<RefCell<dyn Host>> = Rc::<RefCell<Wire>>::clone(&wire);
    let ended = catch_unwind(AssertUnwindSafe(|| engine::run(run, host)));
    let Outcome { result, log_cut } = ended.unwrap_or_else(|_| Outcome {
        result: Err(Failure::new(Kind::Engine, "Error", "the engine failed within itself")),
        log_cut: false,
    });
    let event = match result {
        Ok(result) => Event::Done { result, log_cut },
        Err(failure) => Event::Failed { failure, log_cut },
    };
    wire.borrow_mut().say(&event)
}

/// The channel to the parent.
struct Wire {
    from: Box<dyn Read + Send>,
    to: Box<dyn Write + Send>,
    lines: Lines,
    /// Questions asked so far: the parent counts too, and ends a worker that asks more.
    reads: usize,
    globs: usize,
}

impl Wire {
    fn say(&mut self, event: &Event) -> Result<(), WorkerError> {
        let line = event.encode()?;
        self.to.write_all(&line)?;
        self.to.flush()?;
        Ok(())
    }

    /// What is said next; `None` when nothing will be.
    fn hear(&mut self) -> Result<Option<Request>, WorkerError> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            if let Some(line) = self.lines.take()? {
                return Ok(Some(Request::decode(&line)?));
            }
            match self.from.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(read) => self.lines.push(piece.get(..read).unwrap_or_default())?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Asks, and waits. Whoever does not answer as one does is gone, and so is what runs here.
    fn ask(&mut self, event: &Event) -> Request {
        let answered = self.say(event).and_then(|()| self.hear());
        match answered {
            Ok(Some(answer)) => answer,
            _ => std::process::exit(1),
        }
    }
}

impl Host for Wire {
    fn log(&mut self, level: Level, text: String) {
        if self.say(&Event::Log { level, text }).is_err() {
            std::process::exit(1);
        }
    }

    fn read(&mut self, path: String) -> Result<String, String> {
        if !crate::imports::is_path(&path) {
            return Err(format!("{} is no path below what may be read", limits::cut(&path, 200)));
        }
        self.reads += 1;
        if self.reads > limits::READS {
            return Err(format!("a run reads at most {} files", limits::READS));
        }
        match self.ask(&Event::Read(path)) {
            Request::Text(text) => Ok(text),
            Request::Denied(why) => Err(why),
            _ => std::process::exit(1),
        }
    }

    fn glob(&mut self, pattern: String) -> Result<Vec<String>, String> {
        if !crate::imports::is_path(&pattern) {
            return Err(format!("{} is no pattern of paths", limits::cut(&pattern, 200)));
        }
        self.globs += 1;
        if self.globs > limits::GLOBS {
            return Err(format!("a run asks for at most {} patterns", limits::GLOBS));
        }
        match self.ask(&Event::Glob(pattern)) {
            Request::Paths(paths) => Ok(paths),
            Request::Denied(why) => Err(why),
            _ => std::process::exit(1),
        }
    }
}
