//! What is remembered between calls: the traits that tools see, the types that go through them, and the rules that
//! every driver applies. There is no driver, no runtime and no I/O here: the binary brings a driver along.
//!
//! - [`Failures`]: which failures are new, known, flaky or back ([`rules`] decides; `docs/design/failure-history.md`).
//! - [`context`]: what a team shares: sessions, handoffs, notes, documents, machines (`docs/design/working-day.md`).
//! - [`server`]: what a server of contexts keeps beside it; [`outbox`]: what a client keeps for one that it cannot reach.
//! - [`uses`]: which patterns were used; [`index`]: what they are found by.
//! - [`upkeep`]: what is let go of, and when.
//! - `testing`: the conformance suite that every driver is held to (feature `testing`).

pub mod context;
pub mod day;
pub mod document;
pub mod error;
pub mod handoff;
pub mod history;
pub mod id;
pub mod index;
pub mod machine;
pub mod note;
pub mod once;
pub mod outbox;
pub mod rules;
pub mod run;
pub mod server;
pub mod session;
pub mod text;
pub mod time;
pub mod upkeep;
pub mod uses;
pub mod verdict;

#[cfg(feature = "testing")]
pub mod testing;

use std::future::Future;
use std::pin::Pin;

pub use context::{Answer, Clock, Context, Documents, Machines, Notes, Sessions};
pub use error::StoreError;
pub use history::{Cursor, FailureHistory, Forgotten, HistoryQuery, LineHistory, LineState, Page};
pub use index::Indexes;
pub use outbox::Outbox;
pub use run::{FailureKind, FailureSeen, Outcome, RunOutcome, TestSeen};
pub use server::{Keys, Texts, Traffic};
pub use time::Timestamp;
pub use upkeep::{Swept, Upkeep};
pub use uses::Uses;
pub use verdict::{Flakiness, Judged, Mark, Passing, Recovery, Verdict, Verdicts};

/// A future that can be boxed and sent. It borrows nothing: a driver clones its handle into it.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What is remembered about failures, by root.
///
/// What was answered is on disk. Texts are stored as they come: whoever records redacts first.
pub trait Failures: Send + Sync {
    /// Remembers what a run saw and judges each of its failures.
    ///
    /// A run whose transcript was recorded before (for the same root, tool and scope) changes nothing and gives the
    /// answer of the first time, with [`Verdicts::repeated`]; of all but the last [`REPLAYS`] runs of a root that
    /// have a transcript, [`StoreError::AlreadyRecorded`].
    fn record(&self, run: RunOutcome) -> Boxed<Result<Verdicts, StoreError>>;

    /// What is remembered, what failed last first.
    fn history(&self, query: HistoryQuery) -> Boxed<Result<Page<FailureHistory>, StoreError>>;

    /// Forgets, in all roots, whatever was last seen before `before`: runs, failures by branch, tests.
    fn forget(&self, before: Timestamp) -> Boxed<Result<Forgotten, StoreError>>;
}

/// The answers that are kept for runs that are recorded again, by root.
pub const REPLAYS: u32 = 100;
