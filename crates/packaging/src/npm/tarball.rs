//! npm's archives: written as npm writes them, and read whoever wrote them.
//!
//! The inflated stream is npm's own byte by byte (`docs/design/npm-packing.md`, 1.9). The compressed bytes are not: Node's zlib is
//! another, and compresses to other bytes of the same meaning.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha512};

use super::list::Listing;
use crate::packed::Packed;

/// Most bytes that an archive may hold once it is inflated: 256 MiB.
pub const MAX_BYTES: u64 = 256 << 20;

/// Most files of an archive.
pub const MAX_FILES: usize = 50_000;

/// Longest path in an archive, in bytes.
const MAX_PATH: usize = 4_096;

/// 26 October 1985, 08:15 UTC: when all files of npm's archives were changed.
const TIME: u64 = 499_162_500;

/// The folder that everything is in.
const TOP: &str = "package/";

/// Bytes of one block of a tar stream.
const BLOCK: usize = 512;

/// An archive that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tarball {
    /// The compressed bytes.
    pub bytes: Vec<u8>,
    /// What npm calls it: `acme-ui-1.2.3.tgz`.
    pub file_name: String,
    /// `sha512-` and the digest of the bytes in base64, as registries write it.
    pub integrity: String,
    /// SHA-256 of the inflated stream in hexadecimal: the same as of npm's archive.
    pub stream: String,
}

/// Why an archive could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TarballError {
    /// There is no name or no version.
    #[error("package.json has no {0}: npm packs nothing without")]
    Unnamed(&'static str),
    /// It is no gzip, or no tar.
    #[error("the archive cannot be read: {0}")]
    Format(String),
    /// It is larger than is read.
    #[error("the archive holds more than {} MiB or {MAX_FILES} files", MAX_BYTES >> 20)]
    TooLarge,
    /// A path in it leads elsewhere.
    #[error("the archive has a path that leads elsewhere: {0:?}")]
    Path(String),
    /// It has something that is neither a file nor a folder.
    #[error("the archive has something that is no file: {0:?}")]
    NoFile(String),
}

/// What npm calls the archive of a package.
pub fn file_name(name: &str, version: &str) -> String {
    format!("{}-{version}.tgz", name.trim_start_matches('@').replace('/', "-"))
}

/// Writes the archive of what is listed; `content` says what is in a file, and whether it may be executed, by its place in the tree.
pub fn write<E>(
    listing: &Listing,
    mut content: impl FnMut(&str) -> Result<(Vec<u8>, bool), E>,
) -> Result<Result<Tarball, TarballError>, E> {
    let (Some(name), Some(version)) = (&listing.name, &listing.version) else {
        let what = if listing.name.is_none() { "name" } else { "version" };
        return Ok(Err(TarballError::Unnamed(what)));
    };
    let mut stream = Vec::new();
    for file in &listing.files {
        let (bytes, may_run) = content(&file.source)?;
        let executable = may_run || is_taken_for_a_command(&file.path, &listing.commands);
        entry(&mut stream, &file.path, &bytes, executable);
        if stream.len() as u64 > MAX_BYTES {
            return Ok(Err(TarballError::TooLarge));
        }
    }
    stream.resize(stream.len() + 2 * BLOCK, 0);
    Ok(compressed(&stream).map(|bytes| Tarball {
        integrity: format!("sha512-{}", BASE64_STANDARD.encode(Sha512::digest(&bytes))),
        file_name: file_name(name, version),
        stream: crate::sha256(&stream),
        bytes,
    }))
}

/// npm compares a command's target with the path without its first folder, so this is what may be executed in its archives;
/// installing sets it right.
fn is_taken_for_a_command(path: &str, commands: &[String]) -> bool {
    let seen = path.split_once('/').map_or(path, |(_, rest)| rest);
    commands.iter().any(|command| command == seen)
}

fn compressed(stream: &[u8]) -> Result<Vec<u8>, TarballError> {
    let failed = |e: std::io::Error| TarballError::Format(e.to_string());
    // As npm: no time, and "unknown" for the system, whatever it is.
    let mut out = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    out.write_all(stream).map_err(failed)?;
    out.finish().map_err(failed)
}

/// One file of the stream: where its path does not fit, or is not ASCII, a header of its own before it (POSIX.1-2001, pax).
fn entry(stream: &mut Vec<u8>, path: &str, bytes: &[u8], executable: bool) {
    let full = format!("{TOP}{path}");
    let split = split(&full);
    if split.is_none() || !full.is_ascii() {
        let mut records = record("path", &full);
        records.push_str(&record("mtime", &TIME.to_string()));
        records.push_str(&record("size", &bytes.len().to_string()));
        let base = full.rsplit('/').next().unwrap_or(&full);
        let name = cut(&format!("PaxHeader/{base}"), 99);
        header(stream, (name.as_bytes(), b""), records.len(), 0o644, b'x');
        padded(stream, records.as_bytes());
    }
    let (name, prefix) = match split {
        Some((name, prefix)) => (name.as_bytes().to_vec(), prefix.as_bytes().to_vec()),
        None => (cut(&full, 100).into_bytes(), Vec::new()),
    };
    header(stream, (&name, &prefix), bytes.len(), if executable { 0o755 } else { 0o644 }, b'0');
    padded(stream, bytes);
}

/// The longest beginning of a text that has at most so many bytes.
fn cut(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// A path as name and prefix: the prefix as long as it may be.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() < 100 {
        return Some((path, ""));
    }
    path.rmatch_indices('/').map(|(at, _)| at).find(|at| *at <= 155).and_then(|at| {
        let (prefix, name) = (path.get(..at)?, path.get(at + 1..)?);
        (name.len() <= 100 && !name.is_empty()).then_some((name, prefix))
    })
}

/// A record of a pax header: its own length in front, which counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n")
}

fn header(stream: &mut Vec<u8>, (name, prefix): (&[u8], &[u8]), size: usize, mode: u32, kind: u8) {
    let mut block = [0_u8; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in block.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    };
    put(0, name);
    put(100, format!("{mode:06o} \0").as_bytes());
    put(124, format!("{size:010o} \0").as_bytes().get(..12).unwrap_or_default());
    put(136, format!("{TIME:010o} \0").as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(329, b"000000 \0");
    put(337, b"000000 \0");
    put(345, prefix);
    let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
    for (to, from) in block.iter_mut().skip(148).zip(format!("{sum:06o} \0").as_bytes()) {
        *to = *from;
    }
    stream.extend_from_slice(&block);
}

fn padded(stream: &mut Vec<u8>, bytes: &[u8]) {
    stream.extend_from_slice(bytes);
    stream.resize(stream.len().next_multiple_of(BLOCK), 0);
}

/// Reads an archive: its files without their first folder, whatever that is called.
pub fn read(bytes: &[u8]) -> Result<Packed, TarballError> {
    let failed = |e: std::io::Error| TarballError::Format(e.to_string());
    let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(MAX_BYTES + 1));
    let (mut packed, mut total) = (Packed::new(), 0_u64);
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let shown = || path.chars().take(200).collect::<String>();
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        if !kind.is_file() && !kind.is_contiguous() {
            return Err(TarballError::NoFile(shown()));
        }
        // A package is unpacked without the first part of its paths.
        let within =
            path.trim_start_matches("./").split_once('/').map(|(_, within)| within).unwrap_or_default();
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
        if path.starts_with('/')
            || path.len() > MAX_PATH
            || path.split('/').any(|p| p == "..")
            || !within.split('/').all(is_plain)
        {
            return Err(TarballError::Path(shown()));
        }
        let size = entry.header().size().map_err(failed)?;
        total = total.saturating_add(size);
        if total > MAX_BYTES || packed.len() >= MAX_FILES {
            return Err(TarballError::TooLarge);
        }
        let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(failed)?;
        packed.put(within, &content, executable);
    }
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npm::list::{Rules, list};
    use crate::tree::MapTree;
    use proptest::prelude::*;

    fn packed(tree: &MapTree) -> Tarball {
        use crate::tree::Tree as _;
        let listing = list(tree, Rules::V11).unwrap();
        write(&listing, |path| Ok::<_, ()>((tree.read(path).unwrap().unwrap(), false))).unwrap().unwrap()
    }

    fn manifest(more: &str) -> String {
        format!(r#"{{"name":"@acme/ui","version":"1.2.3"{more}}}"#)
    }

    #[test]
    fn what_is_written_reads_back() {
        let long = format!("{}/{}.js", "folder".repeat(20), "name".repeat(30));
        let tree = MapTree::new()
            .with("package.json", manifest(r#","bin":{"b":"./b.js"}"#))
            .with("b.js", "#!/usr/bin/env node\n")
            .with("ä.txt", "ä")
            .with(&long, vec![7; 1000]);
        let tarball = packed(&tree);
        assert_eq!(tarball.file_name, "acme-ui-1.2.3.tgz");
        let packed = read(&tarball.bytes).unwrap();
        let paths: Vec<&str> = packed.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["b.js", long.as_str(), "package.json", "ä.txt"]);
        assert_eq!(packed.get(&long), Some([7; 1000].as_slice()));
        assert!(packed.iter().find(|(path, _)| *path == "b.js").unwrap().1.executable);
        assert!(read(&tarball.bytes[..40]).is_err(), "half an archive is none");
    }

    #[test]
    fn a_package_without_a_name_is_not_written() {
        let listing = list(&MapTree::new().with("package.json", "{}"), Rules::V11).unwrap();
        let written = write(&listing, |_| Ok::<_, ()>((Vec::new(), false))).unwrap();
        assert_eq!(written, Err(TarballError::Unnamed("name")));
    }

    fn archive(path: &str, kind: tar::EntryType) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(1);
        if kind.is_symlink() {
            header.set_link_name("/etc/passwd").unwrap();
            header.set_size(0);
        }
        for (to, from) in header.as_gnu_mut().unwrap().name.iter_mut().zip(path.as_bytes()) {
            *to = *from;
        }
        header.set_cksum();
        let mut builder = tar::Builder::new(Vec::new());
        builder.append(&header, if kind.is_symlink() { &b""[..] } else { &b"x"[..] }).unwrap();
        compressed(&builder.into_inner().unwrap()).unwrap()
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for path in ["package/../../x", "/etc/x", "package/", "package/a//b", "package"] {
            let read = read(&archive(path, tar::EntryType::Regular));
            assert!(
                matches!(read, Err(TarballError::Path(_))) || read == Ok(Packed::new()),
                "{path}: {read:?}"
            );
        }
        assert!(matches!(read(&archive("package/l", tar::EntryType::Symlink)), Err(TarballError::NoFile(_))));
        assert_eq!(
            read(&archive("anything/a/b", tar::EntryType::Regular)).unwrap().get("a/b"),
            Some(&b"x"[..])
        );
    }

    proptest! {
        #[test]
        fn what_is_no_archive_is_refused_and_nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let _ = read(&bytes);
            let _ = read(&compressed(&bytes).unwrap());
        }

        #[test]
        fn any_files_come_back_as_they_were(
            files in prop::collection::btree_map("[a-z]{1,40}(/[a-zA-Z0-9äß ._-]{1,60}[a-z]){0,4}", prop::collection::vec(any::<u8>(), 0..600), 1..8)
        ) {
            let mut tree = MapTree::new().with("package.json", manifest(""));
            for (path, bytes) in &files {
                tree = tree.with(path, bytes.clone());
            }
            let listing = list(&tree, Rules::V11).unwrap();
            let tarball = packed(&tree);
            prop_assert_eq!(&packed(&tree).bytes, &tarball.bytes);
            let packed = read(&tarball.bytes).unwrap();
            prop_assert_eq!(packed.len(), listing.files.len());
            for file in &listing.files {
                use crate::tree::Tree as _;
                let there = tree.read(&file.source).unwrap();
                prop_assert_eq!(packed.get(&file.path), there.as_deref());
            }
        }
    }
}
