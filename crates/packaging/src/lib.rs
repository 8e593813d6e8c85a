//! What a release packs, and whether it will work for those who install it.
//!
//! A package is looked at twice: as a folder ([`tree::Tree`]), where it is decided which files are packed, and as what was packed
//! ([`packed::Packed`]), where everything else is. Nothing here reads a disk, runs a program or asks a network.

#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "paths in packages are what they are: `a.JS` is no script to Node, and no test of ours may say so"
)]
#![allow(
    clippy::similar_names,
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    reason = "names and switches are those of the formats and programs that are read here"
)]

pub mod cargo;
pub mod changelog;
pub mod check;
pub mod commits;
pub mod difference;
pub mod npm;
pub mod packed;
pub mod paths;
pub mod provenance;
pub mod python;
pub mod sbom;
mod spdx;
mod targz;
pub mod tree;
pub mod version;

pub use check::{Check, Severity};
pub use packed::{File, Packed};
pub use tree::{Entry, Kind, MapTree, Tree, TreeError};

/// Bytes in lower-case hexadecimal, as digests are written.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    hex(&sha2::Sha256::digest(bytes))
}

/// SHA-512 in lower-case hexadecimal.
pub fn sha512(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    hex(&sha2::Sha512::digest(bytes))
}
