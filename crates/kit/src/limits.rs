//! How long, how often and how many at a time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Digest, Fault};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of one tool. Zero means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long one call may take.
    pub timeout: Duration,
    /// Calls a minute, per principal.
    pub per_minute: u32,
    /// How many calls of this tool may run at once.
    pub at_once: u32,
}

impl Limits {
    /// 120 s, 60 calls a minute, four readers at a time.
    pub const DEFAULT: Self = Self { timeout: Duration::from_mins(2), per_minute: 60, at_once: 4 };

    /// As the default, however often and however many at once: for what tells of other calls.
    pub const FREE: Self = Self { per_minute: 0, at_once: 0, ..Self::DEFAULT };

    /// For what runs programs: as long as any run may take, and a little for what comes before and after.
    pub const RUNS: Self = Self { timeout: Duration::from_mins(11), ..Self::DEFAULT };

    /// As the default, one writer at a time.
    pub const WRITER: Self = Self { at_once: 1, ..Self::DEFAULT };
}

/// Keeps count. Off for benches, which say so.
#[derive(Debug)]
pub struct Limiter {
    enabled: bool,
    buckets: Mutex<BTreeMap<(Digest, String), Bucket>>,
    gates: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    refilled: Instant,
    /// The minute for which a refusal has been recorded already.
    recorded: Option<Instant>,
}

/// Why a call is not admitted, and whether this refusal is the minute's first, which is the one that is recorded.
pub struct Refused {
    /// What the caller is told.
    pub fault: Fault,
    /// Whether to record it.
    pub record: bool,
}

impl Limiter {
    /// A limiter; `enabled` = false admits everything.
    #[must_use]
    pub fn new(enabled: bool) -> Self {
        Self { enabled, buckets: Mutex::default(), gates: Mutex::default() }
    }

    /// Counts a call of `tool` by `principal`, or refuses it.
    pub fn count(
        &self,
        principal: impl FnOnce() -> Digest,
        tool: &str,
        limits: Limits,
    ) -> Result<(), Refused> {
        if !self.enabled || limits.per_minute == 0 {
            return Ok(());
        }
        let (now, rate) = (Instant::now(), f64::from(limits.per_minute));
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        // Principals that have been away for longer than a minute have full buckets: they need no entry.
        if buckets.len() > 10_000 {
            buckets.retain(|_, b| now.duration_since(b.refilled) < Duration::from_mins(1));
        }
        let bucket = buckets.entry((principal(), tool.to_owned())).or_insert(Bucket {
            tokens: rate,
            refilled: now,
            recorded: None,
        });
        let gained = now.duration_since(bucket.refilled).as_secs_f64() * rate / 60.0;
        bucket.tokens = (bucket.tokens + gained).min(rate);
        bucket.refilled = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - bucket.tokens) * 60.0 / rate).ceil();
        let record = bucket.recorded.is_none_or(|at| now.duration_since(at) >= Duration::from_mins(1));
        if record {
            bucket.recorded = Some(now);
        }
        let message =
            format!("{tool}: more than {} calls a minute; try again in {wait} s", limits.per_minute);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a minute")]
        let fault = Fault::new(Code::RateLimited, message).retry_after(wait as u64);
        Err(Refused { fault, record })
    }

    /// Waits until fewer than the limit's number of calls of `tool` run.
    pub async fn enter(&self, tool: &str, limits: Limits) -> Option<OwnedSemaphorePermit> {
        if !self.enabled || limits.at_once == 0 {
            return None;
        }
        let gate = {
            let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
            let places = usize::try_from(limits.at_once).unwrap_or(usize::MAX);
            Arc::clone(gates.entry(tool.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(places))))
        };
        // Closed never: a gate lives as long as the limiter.
        gate.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixty_first_call_in_a_minute_is_refused_and_recorded_once() {
        let limiter = Limiter::new(true);
        let me = || Digest::of(b"me");
        for _ in 0..60 {
            assert!(limiter.count(me, "t", Limits::DEFAULT).is_ok());
        }
        let refused = limiter.count(me, "t", Limits::DEFAULT).err().unwrap();
        assert_eq!(refused.fault.code, Code::RateLimited);
        assert_eq!(refused.fault.retry_after, Some(1));
        assert!(refused.record && !limiter.count(me, "t", Limits::DEFAULT).err().unwrap().record);
        assert!(limiter.count(|| Digest::of(b"you"), "t", Limits::DEFAULT).is_ok());
        assert!(limiter.count(me, "u", Limits::DEFAULT).is_ok());
    }
}
