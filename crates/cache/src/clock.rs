//! Where the time comes from, so that tests need not wait for it.

use std::time::{Duration, Instant, SystemTime};

/// A clock.
pub trait Clock: Send + Sync {
    /// Time since some beginning; never goes back.
    fn now(&self) -> Duration;

    /// The time that file systems write down.
    fn wall(&self) -> SystemTime;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}
