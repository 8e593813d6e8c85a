//! Archives as changes: what an archive holds is drafted like anything else, and so reaches the disk only through a
//! plan, the jail and the root's own rights.
//!
//! Everything but directories and regular files is refused, and with it the whole archive: links, devices and FIFOs
//! have no business in what is unpacked, and half an archive is worse than none. Of the mode only the owner's execute
//! bit counts; set-uid, set-gid, sticky, owners, times and extended attributes are dropped.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Read};

use contract::{Code, Fault, FileMode, RelPath};

use crate::draft::{Draft, MAX_EFFECTS};
use crate::view::View;

/// Most bytes that one archive may hold, headers included.
pub const MAX_UNPACKED: u64 = 256 * 1024 * 1024;

/// Most bytes that one byte of an archive may become.
pub const MAX_RATIO: u64 = 200;

/// What an archive may always hold, whatever its ratio.
const NO_BOMB: u64 = 1024 * 1024;

/// A regular file of an archive.
#[derive(Debug, PartialEq, Eq)]
pub struct Packed {
    /// Its name, checked.
    pub path: RelPath,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether its owner may execute it.
    pub mode: FileMode,
}

impl Draft {
    /// Puts every file of `archive` below `into` (`None`: the root's top).
    ///
    /// # Errors
    /// Those of [`files`] and of [`Draft::put`]; the draft is then of no use.
    pub fn unpack(&mut self, view: &View, archive: &[u8], into: Option<&RelPath>) -> Result<(), Fault> {
        for file in files(archive)? {
            let path = match into {
                None => file.path,
                Some(folder) => folder.join(file.path.as_str()).map_err(|why| named(&file.path, why))?,
            };
            self.put(view, &path, file.bytes, file.mode)?;
        }
        Ok(())
    }
}

/// The regular files of a zip, tar or gzipped tar archive, in its order.
///
/// # Errors
/// `invalid_source` when it is none of these, is damaged or is encrypted, or when two of its entries claim one place
/// (of the entries of one name a zip's own table keeps one);
/// `path_not_allowed` for a name that leaves or an entry that is neither file nor directory; `too_large` past
/// [`MAX_UNPACKED`], [`MAX_RATIO`] or [`MAX_EFFECTS`].
pub fn files(archive: &[u8]) -> Result<Vec<Packed>, Fault> {
    let packed = archive.len() as u64;
    let mut budget = Budget { left: MAX_UNPACKED.min(packed.saturating_mul(MAX_RATIO).max(NO_BOMB)) };
    match archive {
        [] => Err(damaged(&io::Error::from(io::ErrorKind::UnexpectedEof))),
        [b'P', b'K', 3 | 5 | 7, ..] => zipped(archive, &mut budget),
        [0x1f, 0x8b, ..] => tarred(flate2::read::MultiGzDecoder::new(archive), &mut budget),
        _ => tarred(archive, &mut budget),
    }
}

fn zipped(archive: &[u8], budget: &mut Budget) -> Result<Vec<Packed>, Fault> {
    let mut zip = zip::ZipArchive::new(Cursor::new(archive)).map_err(|e| damaged(&e))?;
    let mut found = Found::default();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(|e| damaged(&e))?;
        let name = String::from_utf8(entry.name_raw().to_vec()).map_err(|e| damaged(&e))?;
        let mode = entry.unix_mode();
        match mode.map(|mode| mode & 0o170_000) {
            _ if entry.is_dir() => {
                found.directory(&name)?;
                continue;
            }
            None | Some(0 | 0o100_000) if !entry.is_symlink() => {}
            _ => return Err(special(&name)),
        }
        let bytes = budget.of(&mut entry)?;
        found.file(&name, bytes, mode.unwrap_or(0))?;
    }
    Ok(found.files)
}

fn tarred(reader: impl Read, budget: &mut Budget) -> Result<Vec<Packed>, Fault> {
    // The budget stands before the reader, for a name can be as long as a file.
    let mut archive = tar::Archive::new(budget.before(reader));
    let mut found = Found::default();
    for entry in archive.entries().map_err(|e| broken(&e))? {
        let mut entry = entry.map_err(|e| broken(&e))?;
        let name = String::from_utf8(entry.path_bytes().into_owned()).map_err(|e| damaged(&e))?;
        match entry.header().entry_type() {
            tar::EntryType::XGlobalHeader => continue,
            tar::EntryType::Directory => {
                found.directory(&name)?;
                continue;
            }
            tar::EntryType::Regular | tar::EntryType::Continuous => {}
            _ => return Err(special(&name)),
        }
        let mode = entry.header().mode().map_err(|e| damaged(&e))?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|e| broken(&e))?;
        found.file(&name, bytes, mode)?;
    }
    Ok(found.files)
}

/// What was found so far.
#[derive(Default)]
struct Found {
    files: Vec<Packed>,
    entries: usize,
    taken: BTreeSet<RelPath>,
    folders: BTreeSet<RelPath>,
}

impl Found {
    fn file(&mut self, name: &str, bytes: Vec<u8>, mode: u32) -> Result<(), Fault> {
        let path = self.entry(name)?;
        let twice = self.folders.contains(&path) || !self.taken.insert(path.clone());
        self.beneath(path.parent())?;
        if twice {
            return Err(claimed(&path));
        }
        let mode = if mode & 0o100 == 0 { FileMode::Regular } else { FileMode::Executable };
        self.files.push(Packed { path, bytes, mode });
        Ok(())
    }

    fn directory(&mut self, name: &str) -> Result<(), Fault> {
        // Archives of a folder's content begin with the folder itself.
        if matches!(name, "." | "./") {
            return Ok(());
        }
        let path = self.entry(name.strip_suffix('/').unwrap_or(name))?;
        self.beneath(Some(path))
    }

    /// Remembers that `folder` and those above it are folders.
    fn beneath(&mut self, folder: Option<RelPath>) -> Result<(), Fault> {
        let mut next = folder;
        while let Some(folder) = next {
            if self.taken.contains(&folder) {
                return Err(claimed(&folder));
            }
            next = folder.parent();
            if !self.folders.insert(folder) {
                break;
            }
        }
        Ok(())
    }

    fn entry(&mut self, name: &str) -> Result<RelPath, Fault> {
        self.entries += 1;
        if self.entries > MAX_EFFECTS {
            let text = format!("the archive has more than {MAX_EFFECTS} entries");
            return Err(Fault::new(Code::TooLarge, text));
        }
        RelPath::new(name).map_err(|why| named(&contract::text::visible(name), why))
    }
}

/// How many bytes an archive may still become.
struct Budget {
    left: u64,
}

impl Budget {
    fn of(&mut self, reader: &mut impl Read) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.before(reader).read_to_end(&mut bytes).map_err(|e| broken(&e))?;
        Ok(bytes)
    }

    const fn before<R: Read>(&mut self, inner: R) -> Bounded<'_, R> {
        Bounded { inner, budget: self }
    }
}

/// A reader that fails where the budget ends.
struct Bounded<'a, R> {
    inner: R,
    budget: &'a mut Budget,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.budget.left = self.budget.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::FileTooLarge, "the archive becomes too much for its size")
        })?;
        Ok(read)
    }
}

fn broken(error: &io::Error) -> Fault {
    if error.kind() == io::ErrorKind::FileTooLarge {
        let text = format!(
            "the archive holds more than {} MiB, or more than {MAX_RATIO} times its own size; nothing was unpacked",
            MAX_UNPACKED >> 20
        );
        return Fault::new(Code::TooLarge, text);
    }
    damaged(error)
}

fn damaged(error: &dyn std::error::Error) -> Fault {
    Fault::new(Code::InvalidSource, format!("the archive cannot be read: {error}"))
        .suggest("Give a zip, a tar or a gzipped tar that is whole, not encrypted, and has names in UTF-8.")
}

fn claimed(path: &RelPath) -> Fault {
    Fault::new(Code::InvalidSource, format!("two entries of the archive claim {path}")).about(path.as_str())
}

fn special(name: &str) -> Fault {
    let name = contract::text::visible(name);
    Fault::new(
        Code::PathNotAllowed,
        format!("{name}: the entry is neither a file nor a directory; nothing was unpacked"),
    )
    .suggest("Pack files instead of links to them.")
}

fn named(name: &dyn std::fmt::Display, why: contract::PathRefusal) -> Fault {
    Fault::new(Code::PathNotAllowed, format!("the archive's entry {name}: {why}; nothing was unpacked"))
}
