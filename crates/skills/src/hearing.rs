//! The parent's end of the conversation: what a worker says, held against what it was asked.

use crate::imports;
use crate::limits::{self, Grants};
use crate::talk::{Event, Failure, Inspected, Kind, Lines, Request, TalkError};

/// Most bytes of a line from a worker that runs a skill: its result, or a line of the console, with every character escaped.
const RUN_LINE: usize = limits::RESULT_BYTES + limits::LOG_BYTES * 6 + 64 * 1024;

/// What a worker was asked, and how far it is.
///
/// No I/O: [`Self::hear`] is given what came, [`Self::answer`] gives what is to be written, [`Self::closed`] says what it means
/// that nothing comes any more. After the first error the worker is to be ended: nothing that it says counts.
#[derive(Debug)]
pub struct Hearing {
    lines: Lines,
    asked: Asked,
    state: State,
    log_bytes: usize,
    log_lines: usize,
    reads: usize,
    read_bytes: usize,
    globs: usize,
}

#[derive(Debug)]
enum Asked {
    Inspect { paths: Vec<String>, texts: Vec<usize>, wants_texts: bool },
    Run { grants: Grants, files: Vec<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    WaitsForText,
    WaitsForPaths,
    Ended,
}

impl Hearing {
    /// Begins with a request: what is to be written to the worker, and who hears what it says.
    pub fn begin(request: &Request) -> Result<(Vec<u8>, Self), TalkError> {
        let (asked, most) = match request {
            Request::Inspect { files, texts } => (
                Asked::Inspect {
                    paths: files.iter().map(|file| file.path.clone()).collect(),
                    texts: files.iter().map(|file| file.text.len()).collect(),
                    wants_texts: *texts,
                },
                limits::EVENT_LINE,
            ),
            Request::Run(run) => {
                let files = run.files.iter().map(|file| file.path.clone()).collect();
                (Asked::Run { grants: run.grants, files }, RUN_LINE)
            }
            Request::Text(_) | Request::Paths(_) | Request::Denied(_) => {
                return Err(TalkError::Wrong("an answer is no beginning"));
            }
        };
        let hearing = Self {
            lines: Lines::new(most),
            asked,
            state: State::Working,
            log_bytes: 0,
            log_lines: 0,
            reads: 0,
            read_bytes: 0,
            globs: 0,
        };
        Ok((request.encode()?, hearing))
    }

    /// What a worker says with these bytes. `read` and `glob` want an [`Self::answer`]; `inspected`, `done` and `failed` are
    /// the end.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TalkError> {
        self.lines.push(bytes)?;
        let mut events = Vec::new();
        while let Some(line) = self.lines.take()? {
            let event = Event::decode(&line)?;
            self.admit(&event)?;
            events.push(event);
        }
        Ok(events)
    }

    /// The line that answers the worker's question. After an error the question is still open: [`Request::Denied`] always can be
    /// said.
    pub fn answer(&mut self, answer: &Request) -> Result<Vec<u8>, TalkError> {
        let given = match (self.state, answer) {
            (State::WaitsForText, Request::Text(text)) if text.len() <= self.readable() => text.len(),
            (State::WaitsForText, Request::Text(_)) => {
                return Err(TalkError::Wrong("a run reads at most 16 MiB: deny the file"));
            }
            (State::WaitsForPaths, Request::Paths(_)) => 0,
            (State::WaitsForText | State::WaitsForPaths, Request::Denied(_)) => 0,
            _ => return Err(TalkError::Wrong("this answers no question of the worker")),
        };
        let line = answer.encode()?;
        self.read_bytes += given;
        self.state = State::Working;
        Ok(line)
    }

    /// How many more bytes a run may be given to read.
    pub fn readable(&self) -> usize {
        limits::READ_BYTES.saturating_sub(self.read_bytes)
    }

    /// Whether the answer to the request was heard.
    pub fn is_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Nothing comes any more: an error, unless the answer was heard.
    pub fn closed(&self) -> Result<(), TalkError> {
        if self.is_ended() { Ok(()) } else { Err(TalkError::Wrong("the worker ended without an answer")) }
    }

    fn admit(&mut self, event: &Event) -> Result<(), TalkError> {
        if self.state == State::Ended {
            return Err(TalkError::Wrong("the worker goes on after its answer"));
        }
        if self.state != State::Working {
            return Err(TalkError::Wrong("the worker does not wait for its answer"));
        }
        match (&self.asked, event) {
            (Asked::Inspect { paths, texts, wants_texts }, Event::Inspected(files)) => {
                check_inspected(paths, texts, *wants_texts, files)?;
                self.state = State::Ended;
            }
            (Asked::Run { .. }, Event::Log { text, .. }) => {
                self.log_bytes = self.log_bytes.saturating_add(text.len());
                self.log_lines += 1;
                if self.log_bytes > limits::LOG_BYTES || self.log_lines > limits::LOG_LINES {
                    return Err(TalkError::Wrong("the worker says more than it may"));
                }
            }
            (Asked::Run { grants, .. }, Event::Read(path)) if grants.reads => {
                self.reads += 1;
                if self.reads > limits::READS || !imports::is_path(path) {
                    return Err(TalkError::Wrong("the worker asks for files that it may not ask for"));
                }
                self.state = State::WaitsForText;
            }
            (Asked::Run { grants, .. }, Event::Glob(pattern)) if grants.reads => {
                self.globs += 1;
                if self.globs > limits::GLOBS || !imports::is_path(pattern) {
                    return Err(TalkError::Wrong("the worker asks for patterns that it may not ask for"));
                }
                self.state = State::WaitsForPaths;
            }
            (Asked::Run { .. }, Event::Done { result, .. }) => {
                let text = serde_json::to_vec(result).map_err(|error| TalkError::Json(error.to_string()))?;
                if text.len() > limits::RESULT_BYTES {
                    return Err(TalkError::Long(limits::RESULT_BYTES));
                }
                if crate::talk::depth(&text) > limits::DEPTH {
                    return Err(TalkError::Deep);
                }
                self.state = State::Ended;
            }
            (Asked::Run { files, .. }, Event::Failed { failure, .. }) => {
                check_failure(files, failure)?;
                self.state = State::Ended;
            }
            _ => return Err(TalkError::Wrong("the worker says what it was not asked")),
        }
        Ok(())
    }
}

fn check_inspected(
    paths: &[String],
    lengths: &[usize],
    wants_texts: bool,
    files: &[Inspected],
) -> Result<(), TalkError> {
    let same = paths.len() == files.len() && paths.iter().zip(files).all(|(path, file)| *path == file.path);
    if !same {
        return Err(TalkError::Wrong("the worker inspected other files"));
    }
    for (length, file) in lengths.iter().zip(files) {
        let text = file.text.as_ref().map(String::len);
        let wanted = (wants_texts && file.refused.is_none()).then_some(*length);
        if text != wanted {
            return Err(TalkError::Wrong("the worker's text of a file is not of the file's length"));
        }
    }
    Ok(())
}

fn check_failure(files: &[String], failure: &Failure) -> Result<(), TalkError> {
    let bounded = failure.name.len() <= limits::NAME_BYTES
        && failure.message.len() <= limits::MESSAGE_BYTES
        && failure.frames.len() <= limits::FRAMES
        && failure.frames.iter().all(|frame| frame.function.len() <= limits::NAME_BYTES);
    let own = failure.frames.iter().all(|frame| files.contains(&frame.file));
    if bounded && own { Ok(()) } else { Err(TalkError::Wrong("the worker's error is none of the skill's")) }
}

impl Failure {
    /// A failure without a place.
    pub(crate) fn new(kind: Kind, name: &str, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            name: limits::cut(name, limits::NAME_BYTES),
            message: limits::cut(message.as_ref(), limits::MESSAGE_BYTES),
            frames: Vec::new(),
        }
    }
}
