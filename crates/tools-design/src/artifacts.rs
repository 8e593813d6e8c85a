//! The dated folder that design tools write to: `artifacts/current-state/YYYY-MM-DD/`, the day in UTC.

use contract::{Fault, RelPath};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The folder above all days.
pub(crate) fn base() -> Result<RelPath, Fault> {
    RelPath::new("artifacts/current-state").map_err(|e| Fault::internal(e.to_string()))
}

/// Today's folder. The day is fixed when the plan is made.
pub(crate) fn today() -> Result<RelPath, Fault> {
    let date = Timestamp::now().to_zoned(TimeZone::UTC).date();
    base()?.join(&date.to_string()).map_err(|e| Fault::internal(e.to_string()))
}
