//! Lock files of package managers, read into one vocabulary, and what differs between two of them.
//!
//! [`read`] takes a [`Format`] and the bytes of a file and gives a [`Lock`]. [`Difference::between`] tells what a change
//! of a lock adds, removes and moves, and what it replaces under the same version. How far a version moves is computed
//! here by each ecosystem's own rules ([`step`]): a manager's word for it is not taken.
//!
//! [`audit`] reads what auditors say of known vulnerabilities, and how much of it is known; [`outdated`] what managers say of newer
//! versions.
//!
//! There is no I/O. Inputs are bounded by [`MAX_BYTES`] and [`MAX_PACKAGES`]; names and versions are only ever text:
//! nothing here opens what they say.
//!
//! ```
//! use gatewright_deps::{Format, Source, read};
//!
//! let lock = read(Format::Cargo, b"version = 4\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n")?;
//! assert_eq!((lock.packages[0].name.as_str(), lock.packages[0].source), ("shop", Source::Local));
//! # Ok::<(), gatewright_deps::Unread>(())
//! ```

mod advisory;
mod difference;
mod lock;
mod outdated;
mod version;

pub use advisory::{Advisory, Audit, Auditor, Fix, MAX_PATHS, Remark, Severity, State, audit};
pub use difference::{Change, Difference, Pin};
pub use lock::{Format, Lock, MAX_BYTES, MAX_PACKAGES, Package, Source, Unread, read};
pub use outdated::{Lister, Outdated, outdated};
pub use version::{Ecosystem, Step, python_admits, python_fits, python_follows, step};
