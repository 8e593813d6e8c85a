//! How old something is.

use store_api::Timestamp;
use store_api::day::DAY;

/// Whole days from `at`, in milliseconds since 1970, to `now`; negative where it is still to come.
pub(crate) fn days(at: i64, now: Timestamp) -> i64 {
    (now.as_millis() - at).div_euclid(DAY)
}

/// Whether something that was changed at `at` has not been looked at for `max` days; 0 is never.
pub(crate) fn is_old(at: Timestamp, now: Timestamp, max: i64) -> bool {
    max > 0 && days(at.as_millis(), now) >= max
}
