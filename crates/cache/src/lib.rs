//! Answers that may be given again: by namespace, for a time, and only while what they were computed from is unchanged.
//!
//! An answer is computed with a [`Depends`] at hand, which notes each file and folder *as it is looked at*: its age and
//! size before the look, and a digest of what was seen. A warm answer is given after asking [`Files`] whether that still
//! holds: age and size first, SHA-256 only where they differ or are too young to be trusted. There is no I/O here: the
//! caller brings [`Files`], and the time comes from a [`Clock`].
//!
//! Calls block, also while another computes the same key: asynchronous callers use a thread for blocking work.

mod clock;
mod depends;
mod fingerprint;
mod metrics;
mod namespace;
mod settings;
mod store;

pub use clock::{Clock, SystemClock};
pub use depends::Depends;
pub use fingerprint::{Facts, Files, Fingerprint, Kind, MAX_HASHED, Part, RACY, Sum};
pub use metrics::{Metrics, NamespaceMetrics};
pub use namespace::Namespace;
pub use settings::{MAX_SIZE, Settings};
pub use store::{Answer, Cache, Key};
