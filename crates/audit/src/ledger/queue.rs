//! Group append. Records that are to be synced soon wait in lots, one of each thread; whoever comes first writes all of its lot: one
//! lock, one head, one write.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;

use contract::canonical::{Refusal, Text};

use super::{
    Anchor, CHECKPOINT_EVERY, Durability, Head, Held, Ledger, LedgerError, State, next_line, unreadable,
};
use crate::record::{self, Body};

/// Most records that are written at once.
const GROUP: usize = 64;

/// What a record of a call that looked usually takes, in bytes.
const USUAL: usize = 2_048;

/// What becomes of a record: those that fail together share the reason.
pub type Written = Result<Anchor, Arc<LedgerError>>;

/// What a record says, written by whoever left it: that needs no hold of the ledger.
type Said = Result<Text, Refusal>;

type Answer = Box<dyn FnOnce(Written) + Send>;

struct Waiting {
    said: Said,
    answer: Answer,
}

/// The records that one thread has left. They are written by whoever of that thread comes first: waking another one costs more than
/// sharing a write with it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lot(ThreadId);

/// What came of trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// Nothing of the lot waits any more.
    Done,
    /// Another thread is writing, which takes some microseconds.
    Busy,
    /// It would have to wait: [`Ledger::flush`] must be called where that is allowed.
    Waits,
}

/// The records that wait, oldest first in each lot.
#[derive(Default)]
struct Lots {
    /// Those that whoever gets hold of the ledger takes along.
    left: VecDeque<Waiting>,
    /// Of few threads.
    own: Vec<(Lot, VecDeque<Waiting>)>,
}

impl Lots {
    fn of(&mut self, lot: Lot) -> &mut VecDeque<Waiting> {
        let at = self.own.iter().position(|(own, _)| *own == lot).unwrap_or_else(|| {
            self.own.retain(|(_, waiting)| !waiting.is_empty());
            self.own.push((lot, VecDeque::new()));
            self.own.len() - 1
        });
        &mut self.own[at].1
    }

    fn wait(&self, whose: Whose) -> bool {
        !self.left.is_empty() || self.own.iter().any(|(own, waiting)| whose.has(*own) && !waiting.is_empty())
    }
}

/// Whose records are meant, beside those that were left.
#[derive(Clone, Copy)]
enum Whose {
    Nobodys,
    Of(Lot),
    Everybodys,
}

impl Whose {
    fn has(self, lot: Lot) -> bool {
        match self {
            Self::Nobodys => false,
            Self::Of(own) => own == lot,
            Self::Everybodys => true,
        }
    }
}

#[derive(Default)]
pub(super) struct Queue(Mutex<Lots>);

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lots = self.lots();
        let own: usize = lots.own.iter().map(|(_, waiting)| waiting.len()).sum();
        write!(f, "Queue({} waiting)", lots.left.len() + own)
    }
}

impl Queue {
    fn lots(&self) -> MutexGuard<'_, Lots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something waits.
    fn has(&self, whose: Whose) -> bool {
        self.lots().wait(whose)
    }

    /// What waits, the oldest of each, and who wants to know what becomes of it.
    fn take(&self, whose: Whose) -> (Vec<Said>, Vec<Answer>) {
        let mut lots = self.lots();
        let Lots { left, own } = &mut *lots;
        let own = own.iter_mut().filter(|(own, _)| whose.has(*own)).map(|(_, waiting)| waiting);
        let (mut said, mut answers) = (Vec::new(), Vec::new());
        for waiting in std::iter::once(left).chain(own) {
            let count = waiting.len().min(GROUP - said.len());
            for one in waiting.drain(..count) {
                said.push(one.said);
                answers.push(one.answer);
            }
        }
        (said, answers)
    }
}

impl Ledger {
    /// Leaves a record that is to be synced soon for the next flush of this thread's lot, which calls `answer`. The caller sees to it
    /// that there is one.
    #[must_use]
    pub fn enqueue(&self, body: &Body, answer: impl FnOnce(Written) + Send + 'static) -> Lot {
        let lot = Lot(std::thread::current().id());
        let waiting = Waiting { said: record::text_of(body), answer: Box::new(answer) };
        self.queue.lots().of(lot).push_back(waiting);
        lot
    }

    /// Writes what waits of a lot, and what was left, unless that would make the caller wait: for another process that holds the
    /// ledger, or for the disk, when there is something to settle or a segment to begin.
    pub fn try_flush(&self, lot: Lot) -> Flushed {
        while self.queue.has(Whose::Of(lot)) {
            let Some(mut state) = self.state_if_free() else { return Flushed::Busy };
            let Ok(Some(lock)) = Held::exclusive_if_free(&self.lock) else { return Flushed::Waits };
            let Ok(mut head) = state.head_file.read() else { return Flushed::Waits };
            let is_full = head.segment_len >= self.segment_bytes;
            if is_full || !state.head_file.is_even() || !Self::is_settled(&mut state, &head).unwrap_or(false)
            {
                return Flushed::Waits;
            }
            let (said, answers) = self.queue.take(Whose::Of(lot));
            let written = self.write_group(&mut state, &mut head, said);
            drop((lock, state));
            answer(answers, written);
        }
        Flushed::Done
    }

    /// As [`Ledger::try_flush`], but where another thread is writing the lot is left to it: whoever has hold of the ledger looks for
    /// what was left again after letting it go.
    pub fn try_leave(&self, lot: Lot) -> Flushed {
        {
            let mut lots = self.queue.lots();
            let waiting = std::mem::take(lots.of(lot));
            lots.left.extend(waiting);
        }
        match self.try_flush(lot) {
            Flushed::Busy => Flushed::Done,
            tried => tried,
        }
    }

    /// Writes what waits, whoever's it is, however long that takes.
    pub fn flush(&self) {
        self.flush_all(Whose::Everybodys);
    }

    /// The same with what was left.
    pub(super) fn flush_left(&self) {
        self.flush_all(Whose::Nobodys);
    }

    fn flush_all(&self, whose: Whose) {
        while self.queue.has(whose) {
            let mut answers = Vec::new();
            let written = self.exclusively(|ledger, state, head| {
                ledger.prepare(state, head)?;
                // Not before: what another thread left first would come last.
                let (said, theirs) = ledger.queue.take(whose);
                answers = theirs;
                ledger.write_group(state, head, said)
            });
            if written.is_err() && answers.is_empty() {
                (_, answers) = self.queue.take(whose);
            }
            answer(answers, written);
        }
    }

    fn state_if_free(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Writes the records one after another. One that cannot be sealed is left out and has its own error. The others have the anchor
    /// of the last, which covers them all.
    fn write_group(
        &self,
        state: &mut State,
        head: &mut Head,
        group: Vec<Said>,
    ) -> Result<Vec<Result<Anchor, LedgerError>>, LedgerError> {
        let mut lines = Vec::with_capacity(group.len() * USUAL);
        let (mut next, mut checkpoints) = (head.clone(), Vec::new());
        let mut sealed = Vec::with_capacity(group.len());
        for said in group {
            let line = said
                .map_err(unreadable)
                .and_then(|text| next_line(&mut next, text, Durability::Soon, &mut lines));
            if line.is_ok() && next.size.is_multiple_of(CHECKPOINT_EVERY) {
                checkpoints.push(next.checkpoint());
            }
            sealed.push(line);
        }
        if !checkpoints.is_empty() {
            // They are put beside the segments by a name.
            self.is_in_place(state)?;
        }
        if !lines.is_empty() {
            self.put(state, head, next, &lines)?;
        }
        checkpoints.iter().try_for_each(|checkpoint| self.sign(checkpoint))?;
        let anchor = head.anchor();
        Ok(sealed.into_iter().map(|line| line.map(|()| anchor.clone())).collect())
    }
}

/// What was left in the queue is written all the same: whoever left it may have been cut off.
impl Drop for Ledger {
    fn drop(&mut self) {
        self.flush();
    }
}

fn answer(answers: Vec<Answer>, written: Result<Vec<Result<Anchor, LedgerError>>, LedgerError>) {
    match written {
        Ok(outcomes) => {
            for (answer, outcome) in answers.into_iter().zip(outcomes) {
                answer(outcome.map_err(Arc::new));
            }
        }
        Err(error) => {
            let error = Arc::new(error);
            for answer in answers {
                answer(Err(Arc::clone(&error)));
            }
        }
    }
}
