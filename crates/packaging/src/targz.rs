//! Gzipped tar archives with all in one folder, as Cargo and Python's source distributions have it.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use crate::packed::Packed;

/// Longest path in an archive, in bytes.
const MAX_PATH: usize = 4_096;

/// What an archive may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes once it is inflated, headers included.
    pub bytes: u64,
    /// Most files.
    pub files: usize,
}

/// Why an archive is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It is damaged, or something else.
    #[error("the archive cannot be read: {0}")]
    Format(String),
    /// It is larger than is read.
    #[error("the archive holds more than {} MiB or {} files", .0.bytes >> 20, .0.files)]
    TooLarge(Limits),
    /// A path in it leads elsewhere.
    #[error("the archive has a path that leads elsewhere: {0:?}")]
    Path(String),
    /// It has something that is neither a file nor a folder.
    #[error("the archive has something that is no file: {0:?}")]
    NoFile(String),
    /// A path is there twice: which of the two counts depends on who unpacks it.
    #[error("the archive has this twice: {0:?}")]
    Twice(String),
    /// Something lies outside of the folder that all should be in.
    #[error("the archive has something outside of its folder {folder:?}: {path:?}")]
    Outside {
        /// The folder.
        folder: String,
        /// What lies outside.
        path: String,
    },
}

/// A path as it is said in errors.
pub(crate) fn shown(path: &str) -> String {
    path.chars().take(200).collect()
}

/// Whether a path stays where it is unpacked.
pub(crate) fn is_plain(path: &str) -> bool {
    path.len() <= MAX_PATH
        && !path.contains(['\\', '\0'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The folder that everything is in, and the files without it. `folder` is what it must be called, where that is known.
pub(crate) fn read(
    bytes: &[u8],
    folder: Option<&str>,
    limits: &Limits,
) -> Result<(String, Packed), ArchiveError> {
    let failed = |e: std::io::Error| ArchiveError::Format(e.to_string());
    let too_large = || ArchiveError::TooLarge(*limits);
    // The limit stands before the reader, for a name can be as long as a file.
    let mut archive = tar::Archive::new(MultiGzDecoder::new(bytes).take(limits.bytes + 1));
    let (mut packed, mut total, mut entries) = (Packed::new(), 0_u64, 0_usize);
    let mut folder = folder.map(str::to_owned);
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        entries += 1;
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            continue;
        }
        let Ok(path) = String::from_utf8(entry.path_bytes().into_owned()) else {
            return Err(ArchiveError::Path(shown(&String::from_utf8_lossy(&entry.path_bytes()))));
        };
        let tidy = path.strip_prefix("./").unwrap_or(&path);
        let tidy = if kind.is_dir() { tidy.trim_end_matches('/') } else { tidy };
        if kind.is_dir() && matches!(tidy, "" | ".") {
            continue;
        }
        if !is_plain(tidy) {
            return Err(ArchiveError::Path(shown(&path)));
        }
        if !kind.is_dir() && !kind.is_file() && !kind.is_contiguous() {
            return Err(ArchiveError::NoFile(shown(&path)));
        }
        let (top, within) = tidy.split_once('/').unwrap_or((tidy, ""));
        let expected = folder.get_or_insert_with(|| top.to_owned());
        if top != expected.as_str() || (within.is_empty() && !kind.is_dir()) {
            return Err(ArchiveError::Outside { folder: expected.clone(), path: shown(&path) });
        }
        let size = entry.header().size().map_err(failed)?;
        total = total.saturating_add(size);
        if total > limits.bytes || entries > limits.files {
            return Err(too_large());
        }
        if kind.is_dir() {
            continue;
        }
        if packed.has(within) {
            return Err(ArchiveError::Twice(shown(&path)));
        }
        let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(failed)?;
        if content.len() as u64 != entry.size() {
            return Err(ArchiveError::Format(format!("{} is cut short", shown(&path))));
        }
        packed.put(within, &content, executable);
    }
    match folder {
        Some(folder) if !packed.is_empty() => Ok((folder, packed)),
        _ => Err(ArchiveError::Format("there is nothing in it".to_owned())),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;

    const LIMITS: Limits = Limits { bytes: 1 << 20, files: 100 };

    pub(crate) fn zipped(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn entry(builder: &mut tar::Builder<Vec<u8>>, path: &str, kind: tar::EntryType, bytes: &[u8]) {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        if !kind.is_file() && !kind.is_dir() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        for (to, from) in header.as_gnu_mut().unwrap().name.iter_mut().zip(path.as_bytes()) {
            *to = *from;
        }
        header.set_cksum();
        builder.append(&header, bytes).unwrap();
    }

    pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, bytes) in files {
            entry(&mut builder, path, tar::EntryType::Regular, bytes);
        }
        zipped(&builder.into_inner().unwrap())
    }

    fn special(kind: tar::EntryType) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        entry(&mut builder, "a-1/x", kind, b"");
        zipped(&builder.into_inner().unwrap())
    }

    #[test]
    fn files_are_read_without_their_folder() {
        let (folder, packed) =
            read(&archive(&[("a-1/x", b"1"), ("./a-1/d/y", b"2")]), None, &LIMITS).unwrap();
        assert_eq!((folder.as_str(), packed.len(), packed.get("d/y")), ("a-1", 2, Some(&b"2"[..])));
    }

    #[test]
    fn what_leads_elsewhere_is_twice_or_no_file_is_refused() {
        for path in ["a-1/../../x", "/etc/x", "a-1//b", "a-1/./b", "a-1/b/", "a-1/a\\..\\b", "../x"] {
            let read = read(&archive(&[(path, b"x")]), Some("a-1"), &LIMITS);
            assert!(matches!(read, Err(ArchiveError::Path(_))), "{path}: {read:?}");
        }
        for path in ["b-1/x", "x", "a-1"] {
            let read = read(&archive(&[(path, b"x")]), Some("a-1"), &LIMITS);
            assert!(matches!(read, Err(ArchiveError::Outside { .. })), "{path}: {read:?}");
        }
        let two = read(&archive(&[("a-1/x", b"1"), ("b-1/x", b"1")]), None, &LIMITS);
        assert!(matches!(two, Err(ArchiveError::Outside { .. })));
        let twice = read(&archive(&[("a-1/x", b"1"), ("a-1/x", b"2")]), None, &LIMITS);
        assert_eq!(twice, Err(ArchiveError::Twice("a-1/x".into())));
        for kind in [
            tar::EntryType::Symlink,
            tar::EntryType::Link,
            tar::EntryType::Fifo,
            tar::EntryType::Char,
            tar::EntryType::Block,
        ] {
            assert!(matches!(read(&special(kind), None, &LIMITS), Err(ArchiveError::NoFile(_))), "{kind:?}");
        }
    }

    #[test]
    fn what_is_too_large_or_cut_is_refused() {
        let large = vec![0_u8; (1 << 20) + 1];
        let read_large = read(&archive(&[("a-1/x", &large)]), None, &LIMITS);
        assert!(matches!(read_large, Err(ArchiveError::TooLarge(_))), "{read_large:?}");
        let many: Vec<String> = (0..101).map(|i| format!("a-1/{i}")).collect();
        let many: Vec<(&str, &[u8])> = many.iter().map(|path| (path.as_str(), &b""[..])).collect();
        assert!(matches!(read(&archive(&many), None, &LIMITS), Err(ArchiveError::TooLarge(_))));
        let whole = archive(&[("a-1/x", b"some bytes")]);
        for end in 0..whole.len() - 8 {
            let _ = read(&whole[..end], None, &LIMITS);
        }
        assert!(read(&whole[..20], None, &LIMITS).is_err());
        assert!(read(&archive(&[]), None, &LIMITS).is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            let _ = read(&bytes, None, &LIMITS);
            let _ = read(&zipped(&bytes), None, &LIMITS);
        }
    }
}
