//! What keeps a store from growing: for the server and the command line, never for tools.

use serde::{Deserialize, Serialize};

use crate::context::Answer;
use crate::history::Forgotten;

pub use crate::day::DAY;

/// How long failures are remembered after they were last seen, in milliseconds: 90 days.
pub const FAILURES_KEPT: i64 = 90 * DAY;

/// What was let go of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// Answers to writes that can no longer be sent again.
    pub answers: u64,
    /// Sessions that fell silent and count as abandoned from now on. They are still there.
    pub abandoned: u64,
    /// What was last seen failing, or run at all, too long ago.
    pub failures: Forgotten,
    /// Sessions that ended too long ago.
    pub sessions: u64,
    /// Their handoffs.
    pub handoffs: u64,
    /// Their checkpoints.
    pub checkpoints: u64,
    /// Notes that were put away too long ago.
    pub notes: u64,
    /// Requests in the log of a server.
    pub requests: u64,
}

impl Swept {
    /// Whether nothing was there to be let go of.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Upkeep.
pub trait Upkeep: Send + Sync {
    /// Lets go of what is over:
    ///
    /// - answers to writes whose time has come ([`crate::once::KEPT`]);
    /// - sessions that were silent for [`crate::session::SILENCE`] or more are abandoned as of their last sign of life;
    /// - failures, tests and runs that were last seen more than [`FAILURES_KEPT`] ago;
    /// - requests that were logged longer ago than [`crate::server::LOGGED`], and counts of minutes that are over;
    /// - with `keep_days`, and never without it or with 0: sessions that ended more than so many days ago with their handoffs and
    ///   checkpoints, and notes that were put away so long ago. Active sessions and other notes stay, however old.
    ///
    /// It goes in small steps, so that nobody waits for it; one that is cut off has done some of them. Several may sweep at once.
    fn sweep(&self, keep_days: Option<u32>) -> Answer<Swept>;
}
