//! The laws that every family is held to, and the bench that they are tried on.
#![allow(clippy::missing_panics_doc, reason = "a law that does not hold panics: that is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]
#![allow(
    clippy::disallowed_methods,
    reason = "test support: builds fixtures and looks at the disk from outside"
)]

pub mod bench;
pub mod laws;
mod runs;

pub use bench::Bench;
pub use runs::{Held, runs};

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use exec::run::Launcher;

/// The launcher of the test suite: a program of its own, since a test's own `main` is not ours. It is built where it is
/// not there yet.
#[must_use]
pub fn launcher() -> Arc<Launcher> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let own = std::env::current_exe().unwrap();
        let program = own.ancestors().nth(2).unwrap().join("gatewright-launch");
        if !program.is_file() {
            let built = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--package", "gatewright-launcher"])
                .status();
            assert!(built.unwrap().success(), "the launcher could not be built");
        }
        program
    });
    Arc::new(Launcher::at(program.clone()))
}
