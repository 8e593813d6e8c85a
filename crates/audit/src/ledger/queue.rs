//! Group append. Records that are to be synced soon wait in a queue; whoever gets hold of the ledger writes all of them:
//! one lock, one head, one write.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::{Anchor, CHECKPOINT_EVERY, Durability, Head, Held, Ledger, LedgerError, State, next_line};
use crate::record::Body;

/// Most records that are written at once.
const GROUP: usize = 64;

/// What a record of a call that looked usually takes, in bytes.
const USUAL: usize = 2_048;

/// What becomes of a record: those that fail together share the reason.
pub type Written = Result<Anchor, Arc<LedgerError>>;

struct Waiting {
    body: Body,
    answer: Box<dyn FnOnce(Written) + Send>,
}

/// The records that wait, oldest first.
#[derive(Default)]
pub(super) struct Queue(Mutex<VecDeque<Waiting>>);

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({} waiting)", self.waiting().len())
    }
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        let count = waiting.len().min(GROUP);
        waiting.drain(..count).collect()
    }
}

impl Ledger {
    /// Leaves a record that is to be synced soon for the next flush, which calls `answer`. The caller sees to it that
    /// there is one.
    pub fn enqueue(&self, body: Body, answer: impl FnOnce(Written) + Send + 'static) {
        self.queue.waiting().push_back(Waiting { body, answer: Box::new(answer) });
    }

    /// Writes what waits, unless that would make the caller wait: for another process that holds the ledger, or for the
    /// disk, when there is something to settle or a segment to begin. Then it is `false`, and [`Ledger::flush`] must be
    /// called where waiting is allowed.
    #[must_use]
    pub fn try_flush(&self) -> bool {
        while !self.queue.is_empty() {
            // Whoever holds it looks into the queue again after letting it go: what waits is theirs.
            let Some(mut state) = self.state_if_free() else { return true };
            let Ok(Some(lock)) = Held::exclusive_if_free(&self.lock) else { return false };
            let Ok(mut head) = state.head_file.read() else { return false };
            let is_full = head.segment_len >= self.segment_bytes;
            if is_full || !self.is_settled(&state, &head).unwrap_or(false) {
                return false;
            }
            let group = self.queue.take();
            let written = self.write_group(&mut state, &mut head, &group);
            drop((lock, state));
            answer(group, written);
        }
        true
    }

    /// Writes what waits, however long that takes.
    pub fn flush(&self) {
        while !self.queue.is_empty() {
            let group = self.queue.take();
            let written = self.exclusively(|ledger, state, head| {
                ledger.prepare(state, head)?;
                ledger.write_group(state, head, &group)
            });
            answer(group, written);
        }
    }

    fn state_if_free(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Writes the records one after another. One that cannot be sealed is left out and has its own error.
    fn write_group(
        &self,
        state: &mut State,
        head: &mut Head,
        group: &[Waiting],
    ) -> Result<Vec<Result<Anchor, LedgerError>>, LedgerError> {
        let mut lines = Vec::with_capacity(group.len() * USUAL);
        let (mut next, mut checkpoints) = (head.clone(), Vec::new());
        let mut outcomes = Vec::with_capacity(group.len());
        for waiting in group {
            let line = next_line(&mut next, &waiting.body, Durability::Soon, &mut lines);
            if line.is_ok() && next.size.is_multiple_of(CHECKPOINT_EVERY) {
                checkpoints.push(next.checkpoint());
            }
            outcomes.push(line.map(|()| next.anchor()));
        }
        if !lines.is_empty() {
            self.put(state, head, next, &lines)?;
        }
        checkpoints.iter().try_for_each(|checkpoint| self.sign(checkpoint))?;
        Ok(outcomes)
    }
}

/// What was left in the queue is written all the same: whoever left it may have been cut off.
impl Drop for Ledger {
    fn drop(&mut self) {
        self.flush();
    }
}

fn answer(group: Vec<Waiting>, written: Result<Vec<Result<Anchor, LedgerError>>, LedgerError>) {
    match written {
        Ok(outcomes) => {
            for (waiting, outcome) in group.into_iter().zip(outcomes) {
                (waiting.answer)(outcome.map_err(Arc::new));
            }
        }
        Err(error) => {
            let error = Arc::new(error);
            for waiting in group {
                (waiting.answer)(Err(Arc::clone(&error)));
            }
        }
    }
}
