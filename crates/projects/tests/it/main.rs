//! What must hold of whole projects: small ones written here, this repository itself, and any text at all. Where the
//! real programs are there (make, go), their word is what ours is compared with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write the folders that are looked at, and ask real programs"
)]
#![allow(clippy::indexing_slicing, reason = "tests may panic")]
#![allow(unreachable_pub, reason = "shared with the example")]

mod bounds;
mod detection;
mod disk;
mod go;
mod make;
mod properties;

use gatewright_projects::{Project, detect};
use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> (TempDir, disk::Disk) {
    let scratch = tempfile::tempdir().unwrap();
    disk::write(scratch.path(), files);
    let look = disk::Disk(scratch.path().to_owned());
    (scratch, look)
}

/// What a folder with these files is.
fn detected(files: &[(&str, &str)]) -> Project {
    let (_scratch, look) = folder(files);
    detect(&look, &[]).unwrap()
}
