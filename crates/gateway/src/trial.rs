//! Tries at an upstream: what came of each is counted, and one that failed again and again is left alone.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Fault};

use crate::error::SessionError;
use crate::life::Breaker;
use crate::link::Link;

/// A try at an upstream: one that comes to nothing was none.
pub(crate) struct Trial<'a> {
    link: &'a Link,
    is_over: bool,
}

impl Trial<'_> {
    /// What came of it.
    pub(crate) fn over(mut self, error: Option<&SessionError>) {
        self.is_over = true;
        match error {
            None => self.link.breaker().reached(),
            Some(error) => self.link.failed(error),
        }
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.link.breaker().untried();
        }
    }
}

impl Link {
    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it failed, where that says something of it: an error that it answers with does not.
    pub(crate) fn failed(&self, error: &SessionError) {
        if matches!(error, SessionError::Answered { .. }) {
            self.breaker().reached();
        } else if self.breaker().failed(Instant::now()) {
            tracing::warn!(upstream = %self.name(), "it failed again and again, and is left alone for a while");
        }
    }

    /// Notes that a call of it was answered.
    pub(crate) fn worked(&self) {
        self.breaker().worked();
    }

    /// A try at it, unless it is left alone.
    pub(crate) fn trial(&self) -> Result<Trial<'_>, Fault> {
        match self.breaker().admit(Instant::now()) {
            Ok(()) => Ok(Trial { link: self, is_over: false }),
            Err(left) => Err(self.left_alone(left)),
        }
    }

    pub(crate) fn left_alone(&self, left: Duration) -> Fault {
        let seconds = left.as_secs().max(1);
        let message = format!("{}: the upstream server failed again and again", self.name());
        Fault::new(Code::ToolExecutionFailed, message).suggest(format!(
            "It is tried again in {seconds} s. A person runs `gatewright upstreams list`, which says what is wrong."
        ))
    }
}
