//! Zip archives, as wheels are, read in memory.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};

use crate::packed::Packed;
pub use crate::targz::{ArchiveError, Limits};
use crate::targz::{is_plain, shown};

/// Most bytes that an archive may hold once it is unpacked: 512 MiB. Most files: 50,000.
pub const LIMITS: Limits = Limits { bytes: 512 << 20, files: 50_000 };

/// Bytes of the record that ends a zip, without its comment (APPNOTE 6.3.10, section 4.3.16).
const END: usize = 22;

/// How many entries the end of a zip says that there are. The table of a reader keeps one of a name; this counts all.
fn entries(bytes: &[u8]) -> Option<usize> {
    let from = bytes.len().saturating_sub(END + usize::from(u16::MAX));
    let tail = bytes.get(from..)?;
    let at = tail.windows(4).rposition(|w| w == b"PK\x05\x06")?;
    match tail.get(at + 10..at + 12)? {
        [low, high] => Some(usize::from(u16::from_le_bytes([*low, *high]))),
        _ => None,
    }
}

/// Reads a zip: its files. Refused are links, paths that lead elsewhere, a path that is there twice, and what is encrypted.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Packed, ArchiveError> {
    let failed = |e: &dyn std::fmt::Display| ArchiveError::Format(e.to_string());
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| failed(&e))?;
    if zip.len() > limits.files {
        return Err(ArchiveError::TooLarge(*limits));
    }
    // 65,535 stands for a number that is elsewhere (zip64), and is more than is read.
    if entries(bytes) != Some(zip.len()) {
        return Err(ArchiveError::Twice("an entry's name".to_owned()));
    }
    let (mut packed, mut total, mut folders) = (Packed::new(), 0_u64, BTreeSet::new());
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(|e| failed(&e))?;
        let Ok(name) = String::from_utf8(entry.name_raw().to_vec()) else {
            return Err(ArchiveError::Path(shown(&String::from_utf8_lossy(entry.name_raw()))));
        };
        let is_dir = name.ends_with('/');
        let path = if is_dir { name.trim_end_matches('/') } else { name.as_str() };
        if !is_plain(path) {
            return Err(ArchiveError::Path(shown(&name)));
        }
        let mode = entry.unix_mode();
        match mode.map(|mode| mode & 0o170_000) {
            _ if is_dir => {
                folders.insert(path.to_owned());
                continue;
            }
            None | Some(0 | 0o100_000) if !entry.is_symlink() => {}
            _ => return Err(ArchiveError::NoFile(shown(&name))),
        }
        let mut content = Vec::new();
        entry
            .take((limits.bytes - total).saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|e| failed(&e))?;
        total = total.saturating_add(content.len() as u64);
        if total > limits.bytes {
            return Err(ArchiveError::TooLarge(*limits));
        }
        if packed.has(path) {
            return Err(ArchiveError::Twice(shown(&name)));
        }
        packed.put(path, &content, mode.is_some_and(|mode| mode & 0o111 != 0));
    }
    if let Some(both) = folders.iter().find(|folder| packed.has(folder)) {
        return Err(ArchiveError::Twice(shown(both)));
    }
    Ok(packed)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;
    use zip::write::SimpleFileOptions;

    const SMALL: Limits = Limits { bytes: 1 << 20, files: 100 };

    pub(crate) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes) in files {
            writer.start_file(*path, SimpleFileOptions::default().unix_permissions(0o644)).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// Renames an entry of a zip, in its head and in the table, to a name of the same length.
    fn renamed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut out = bytes.to_vec();
        let places: Vec<usize> = bytes
            .windows(from.len())
            .enumerate()
            .filter(|(_, w)| *w == from.as_bytes())
            .map(|(i, _)| i)
            .collect();
        for place in places {
            out[place..place + to.len()].copy_from_slice(to.as_bytes());
        }
        out
    }

    #[test]
    fn files_are_read_and_what_leads_elsewhere_is_refused() {
        let packed = read(&zipped(&[("a/b.py", b"1"), ("c", b"2")]), &SMALL).unwrap();
        assert_eq!((packed.len(), packed.get("a/b.py")), (2, Some(&b"1"[..])));
        for path in ["../x", "/x/yy", "a//b", "a/../b"] {
            let whole = "z".repeat(path.len());
            let bytes = renamed(&zipped(&[(&whole, b"1")]), &whole, path);
            assert!(
                matches!(read(&bytes, &SMALL), Err(ArchiveError::Path(_))),
                "{path}: {:?}",
                read(&bytes, &SMALL)
            );
        }
        let twice = renamed(&zipped(&[("same", b"1"), ("othr", b"2")]), "othr", "same");
        assert!(matches!(read(&twice, &SMALL), Err(ArchiveError::Twice(_))));
        let mut link = zip::ZipWriter::new(Cursor::new(Vec::new()));
        link.add_symlink("l", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        assert!(matches!(read(&link.finish().unwrap().into_inner(), &SMALL), Err(ArchiveError::NoFile(_))));
    }

    #[test]
    fn bombs_are_refused() {
        let zeros = vec![0_u8; (1 << 20) + 1];
        assert!(matches!(read(&zipped(&[("a", &zeros)]), &SMALL), Err(ArchiveError::TooLarge(_))));
        let names: Vec<String> = (0..101).map(|i| i.to_string()).collect();
        let many: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), &b""[..])).collect();
        assert!(matches!(read(&zipped(&many), &SMALL), Err(ArchiveError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn nothing_panics(at in 0_usize..400, byte: u8, cut in 0_usize..400) {
            let mut bytes = zipped(&[("a/b.py", b"one two three"), ("c", b"2")]);
            if let Some(place) = bytes.get_mut(at) { *place = byte; }
            let _ = read(&bytes, &SMALL);
            let end = cut.min(bytes.len());
            let _ = read(&bytes[..end], &SMALL);
        }
    }
}
