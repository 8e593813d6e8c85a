//! When an upstream is left alone: after failures for a while, and a program that ends again and again for longer each
//! time. Pure: the time is given.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many failures within [`WITHIN`] are too many.
const MOST: usize = 5;

/// Within what time.
const WITHIN: Duration = Duration::from_mins(1);

/// For how long an upstream is then left alone.
const OPEN: Duration = Duration::from_secs(30);

/// How long a program that ended is left alone at first, and at most.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_mins(1);

/// Whether an upstream is asked at all.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: VecDeque<Instant>,
    open: Option<Instant>,
    is_tried: bool,
}

impl Breaker {
    /// Whether it is asked now; else for how long it is left alone. After that time one caller tries, and the others wait for
    /// what comes of it.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<(), Duration> {
        let Some(since) = self.open else { return Ok(()) };
        let left = OPEN.saturating_sub(now.saturating_duration_since(since));
        if !left.is_zero() {
            return Err(left);
        }
        if self.is_tried {
            return Err(FIRST);
        }
        self.is_tried = true;
        Ok(())
    }

    /// It answered when it was tried.
    pub(crate) fn reached(&mut self) {
        if self.is_tried {
            self.worked();
        }
    }

    /// It did what it was called for.
    pub(crate) fn worked(&mut self) {
        *self = Self::default();
    }

    /// It did not. Whether it is left alone from now on is given.
    pub(crate) fn failed(&mut self, now: Instant) -> bool {
        if self.is_tried {
            (self.open, self.is_tried) = (Some(now), false);
            return true;
        }
        self.failures.push_back(now);
        while self.failures.front().is_some_and(|at| now.saturating_duration_since(*at) > WITHIN) {
            self.failures.pop_front();
        }
        if self.failures.len() >= MOST && self.open.is_none() {
            self.open = Some(now);
            self.failures.clear();
            return true;
        }
        false
    }

    /// Nothing came of trying: whoever tried went away.
    pub(crate) fn untried(&mut self) {
        self.is_tried = false;
    }
}

/// How long a program that could not be started, or ended, `times` in a row is left alone: twice as long each time, and
/// up to a half more by `digits`, so that several do not come back at one moment.
pub(crate) fn backoff(times: u32, digits: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1_u32.checked_shl(times.saturating_sub(1)).unwrap_or(u32::MAX));
    let whole = doubled.min(LONGEST);
    whole + whole / 2 * (digits % 1_000) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_in_a_minute_leave_it_alone_for_half_a_minute_and_then_one_tries() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for second in 0..4 {
            assert!(!breaker.failed(at(second)));
        }
        assert!(breaker.admit(at(4)).is_ok());
        assert!(breaker.failed(at(4)));
        assert_eq!(breaker.admit(at(10)), Err(Duration::from_secs(24)));
        // One tries, nobody else; it fails, and the time begins again.
        assert!(breaker.admit(at(34)).is_ok());
        assert!(breaker.admit(at(34)).is_err());
        assert!(breaker.failed(at(35)));
        assert!(breaker.admit(at(40)).is_err());
        assert!(breaker.admit(at(65)).is_ok());
        breaker.untried();
        assert!(breaker.admit(at(65)).is_ok());
        breaker.worked();
        assert!(breaker.admit(at(66)).is_ok() && breaker.admit(at(66)).is_ok());
        // Failures that lie far apart are not added up.
        for second in [100, 200, 300, 400, 500, 600] {
            assert!(!breaker.failed(at(second)));
        }
    }

    #[test]
    fn a_program_that_ends_again_and_again_waits_longer_up_to_a_minute() {
        assert_eq!(backoff(1, 0), Duration::from_millis(500));
        assert_eq!(backoff(3, 0), Duration::from_secs(2));
        assert_eq!(backoff(40, 0), LONGEST);
        assert!(backoff(3, 999) < Duration::from_secs(3) && backoff(3, 999) > backoff(3, 1));
    }
}
