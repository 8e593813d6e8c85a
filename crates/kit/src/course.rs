//! The course of one call, as others may see it while it lasts: the programs that it ran, the one that runs, and whether it
//! wants to be left alone.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use audit::record::Cost;
use contract::RunView;
use exec::Workshop;
use exec::run::{Captured, Exit, Level, Ran};
use exec::workshop::Tail;
use failures::{Analysis, Merged};
use tokio::sync::Notify;

use crate::cost;

/// The course of a call. Cheap to share.
#[derive(Clone, Default)]
pub(crate) struct Course(Arc<Inner>);

#[derive(Default)]
struct Inner {
    ended: Mutex<Vec<Ended>>,
    at_work: Mutex<Weak<Workshop>>,
    failed: Mutex<Vec<Analysis>>,
    leave: Notify,
    /// How far something was confined that is no run.
    level: Mutex<Option<Level>>,
}

/// One program's end.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    line: Vec<String>,
    exit: Exit,
    millis: u64,
    pub(crate) level: Level,
    handle: String,
    pub(crate) reached: Vec<String>,
    pub(crate) refused: Vec<String>,
    /// Characters that it said, as far as they count.
    said: u64,
}

impl Ended {
    /// Its code, when it ended by itself.
    pub(crate) const fn code(&self) -> Option<i32> {
        match self.exit {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        }
    }

    /// As results show it.
    pub(crate) fn view(&self) -> RunView {
        let signal = match self.exit {
            Exit::Signal(signal) => Some(signal),
            Exit::Code(_) => None,
        };
        RunView {
            run: self.handle.clone(),
            command: self.line.join(" "),
            exit_code: self.code(),
            signal,
            duration: self.millis,
            confinement: self.level.word().to_owned(),
            reached: self.reached.clone(),
            refused: self.refused.clone(),
        }
    }
}

impl Course {
    pub(crate) fn at_work(&self, workshop: &Arc<Workshop>) {
        *self.0.at_work.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(workshop);
    }

    pub(crate) fn note(&self, ran: &Ran) {
        let ended = Ended {
            line: ran.line.clone(),
            exit: ran.exit,
            millis: u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
            level: ran.level,
            handle: ran.handle.as_ref().map(ToString::to_string).unwrap_or_default(),
            reached: ran.reached.clone(),
            refused: ran.refused.clone(),
            said: said(&ran.stdout).saturating_add(said(&ran.stderr)),
        };
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
    }

    /// Notes that something worked for the call that is no run, and how far it was confined.
    pub(crate) fn note_level(&self, level: Level) {
        let mut noted = self.0.level.lock().unwrap_or_else(PoisonError::into_inner);
        *noted = Some(noted.map_or(level, |noted| noted.min(level)));
    }

    /// The least that anything which worked for the call was confined.
    pub(crate) fn level(&self) -> Option<Level> {
        let noted = *self.0.level.lock().unwrap_or_else(PoisonError::into_inner);
        self.ended().iter().map(|run| run.level).chain(noted).min()
    }

    /// Notes what is to be said of a program that failed.
    pub(crate) fn explain(&self, analysis: Analysis) {
        self.0.failed.lock().unwrap_or_else(PoisonError::into_inner).push(analysis);
    }

    /// What is to be said of the programs that failed, all together; nothing where none has.
    pub(crate) fn explained(&self) -> Option<Merged> {
        let failed = self.0.failed.lock().unwrap_or_else(PoisonError::into_inner);
        (!failed.is_empty()).then(|| failures::merge(&failed))
    }

    /// The programs that have ended, in order.
    pub(crate) fn ended(&self) -> Vec<Ended> {
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Characters that its programs said, on both streams; none where none ran.
    pub(crate) fn said(&self) -> Option<u64> {
        let ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner);
        (!ended.is_empty()).then(|| ended.iter().fold(0, |sum: u64, run| sum.saturating_add(run.said)))
    }

    /// How what its programs said is found again: the beginnings of their handles.
    pub(crate) fn runs(&self) -> Vec<String> {
        let ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let digits = ended.iter().filter_map(|run| run.handle.split_once('_'));
        digits.map(|(_, digits)| digits.chars().take(Cost::RUN).collect()).collect()
    }

    /// The last bytes that the program which runs has said, `most` at most.
    pub(crate) fn tail(&self, most: usize) -> Vec<Tail> {
        let at_work = self.0.at_work.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        at_work.map(|workshop| workshop.tail(most)).unwrap_or_default()
    }

    pub(crate) fn leave(&self) {
        self.0.leave.notify_one();
    }

    /// Comes back when the call wants to be left alone.
    pub(crate) async fn left(&self) {
        self.0.leave.notified().await;
    }
}

/// Characters of a stream, as far as they count: a character has at most four bytes.
fn said(stream: &Captured) -> u64 {
    let most = usize::try_from(cost::MOST_CHARACTERS * 4).unwrap_or(usize::MAX);
    cost::characters_of(stream.bytes.get(..most).unwrap_or(&stream.bytes))
}
