//! Lines put to the end of a file that others write to as well: what tools that record keep beside a project.
//!
//! A line is written whole or not at all, under a lock among ours; writers that know no lock stay whole as long as they, too, open the
//! file for appending and write a line at once. Nobody's torn line becomes the beginning of ours: one that is still being written is
//! waited for, since a file may be seen to grow in the middle of a write, and one that is not is ended.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, Instant};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions};
use contract::{Code, Fault, RelPath};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::jail;
use crate::root::{Rights, Root};

/// Largest file that a line is put to.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

/// How long the lock is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is tried.
const BETWEEN: Duration = Duration::from_millis(5);

/// How often a line that has no end yet is looked at again before it counts as torn, [`BETWEEN`] apart.
const ENDING: usize = 10;

/// How often a file that is replaced meanwhile is looked up anew.
const LOOKS: usize = 20;

/// The right to put lines to files of roots: a service of the binary's, for tools that record.
#[derive(Debug, Default)]
pub struct Lines(());

impl Lines {
    /// Puts a line to the end of the file at `path`, which is made, with its folder, where it is not there.
    ///
    /// `line` is told what the file holds, under the lock, and says what is put to it, without an end of line; nothing, where nothing
    /// is to be put. Blocking: up to five seconds for the lock, and 50 ms for the end of a line that another is writing; again for each
    /// file that is put in its place meanwhile.
    ///
    /// Links are refused, and so are files with a second name, files of more than [`MAX_FILE`] bytes, and roots that are only read.
    pub fn append(
        &self,
        root: &Root,
        path: &RelPath,
        line: impl FnOnce(&[u8]) -> Result<Option<String>, Fault>,
    ) -> Result<(), Fault> {
        if root.rights() == Rights::Read {
            let message = format!("{path}: nothing is written in {}, which is only read", root.name());
            return Err(Fault::new(Code::PathNotAllowed, message).about(path.as_str()));
        }
        jail::check_writable(path)?;
        let (parent, is_new) = folder(root.dir(), path)?;
        let (mut file, there) = locked(&parent, path)?;
        if there.len() as u64 > MAX_FILE {
            let message = format!("{path} is larger than {} MiB", MAX_FILE >> 20);
            return Err(Fault::new(Code::TooLarge, message)
                .about(path.as_str())
                .suggest("Move old lines to another file."));
        }
        let Some(line) = line(&there)? else { return Ok(()) };
        if line.contains(['\n', '\r']) {
            return Err(Fault::internal("a line has an end of line in it"));
        }
        // Another's torn line ends here.
        let before = if there.last().is_some_and(|last| *last != b'\n') { "\n" } else { "" };
        let whole = format!("{before}{line}\n");
        put(&mut file, path, there.len() as u64, whole.as_bytes())?;
        if is_new {
            jail::sync_dir(&parent).map_err(|e| jail::fault(path, &e))?;
        }
        Ok(())
    }
}

/// The folder of `path`, made where it is not there; and whether the file is not.
fn folder(root: &Dir, path: &RelPath) -> Result<(Dir, bool), Fault> {
    for above in path.ancestors() {
        if jail::open_parent(root, &above.join("x").map_err(|e| Fault::internal(e.to_string()))?)?.is_some() {
            continue;
        }
        let parent = jail::open_parent(root, &above)?.ok_or_else(|| gone(path))?;
        match parent.create_dir(above.file_name()) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(jail::fault(&above, &error));
            }
            _ => jail::sync_dir(&parent).map_err(|e| jail::fault(&above, &e))?,
        }
    }
    let parent = jail::open_parent(root, path)?.ok_or_else(|| gone(path))?;
    let is_new = parent.symlink_metadata(path.file_name()).is_err();
    Ok((parent, is_new))
}

fn gone(path: &RelPath) -> Fault {
    Fault::new(Code::Conflict, format!("{path}: its folder went away meanwhile")).about(path.as_str())
}

/// The file, locked, and what it holds; still the one of that name, and no shorter. An editor may have put another in its place while
/// the lock was waited for, or the end of a line.
fn locked(parent: &Dir, path: &RelPath) -> Result<(File, Vec<u8>), Fault> {
    for _ in 0..LOOKS {
        let file = open(parent, path)?;
        lock(&file, path)?;
        let mut holds = Vec::new();
        settled(&file, &mut holds, || std::thread::sleep(BETWEEN)).map_err(|e| jail::fault(path, &e))?;
        let (mine, there) = (file.metadata(), parent.symlink_metadata(path.file_name()));
        if let (Ok(mine), Ok(there)) = (mine, there)
            && (mine.ino(), mine.dev()) == (there.ino(), there.dev())
            && mine.len() >= holds.len() as u64
        {
            return Ok((file, holds));
        }
    }
    Err(Fault::new(Code::Conflict, format!("{path} is replaced again and again by another program"))
        .about(path.as_str()))
}

fn open(parent: &Dir, path: &RelPath) -> Result<File, Fault> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).nonblock(true).follow(FollowSymlinks::No);
    let file = parent.open_with(path.file_name(), &options).map_err(|e| jail::fault(path, &e))?;
    let there = file.metadata().map_err(|e| jail::fault(path, &e))?;
    let refused = |why: &str| {
        Fault::new(Code::PathNotAllowed, format!("{path}: {why}"))
            .about(path.as_str())
            .suggest("Move it away; a file of its own is made then.")
    };
    if !there.is_file() {
        return Err(refused("not a regular file"));
    }
    if there.nlink() > 1 {
        return Err(refused("the file has a second name elsewhere"));
    }
    Ok(file)
}

/// Takes the lock among ours. It is let go of when the file is closed.
fn lock(file: &File, path: &RelPath) -> Result<(), Fault> {
    let since = Instant::now();
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if since.elapsed() < PATIENCE => std::thread::sleep(BETWEEN),
            Err(Errno::WOULDBLOCK) => {
                let message =
                    format!("{path} is held by another program for more than {} s", PATIENCE.as_secs());
                return Err(Fault::new(Code::FilesystemError, message).about(path.as_str()));
            }
            Err(error) => return Err(jail::fault(path, &error.into())),
        }
    }
}

/// What the file holds, once nobody is in the middle of a line; a line that gets no end in [`ENDING`] looks is torn.
fn settled(file: &File, there: &mut Vec<u8>, mut wait: impl FnMut()) -> std::io::Result<()> {
    let mut looks = 0;
    loop {
        let room = (MAX_FILE + 1).saturating_sub(there.len() as u64);
        file.take(room).read_to_end(there)?;
        let is_ended = there.last().is_none_or(|last| *last == b'\n');
        if is_ended || there.len() as u64 > MAX_FILE || looks == ENDING {
            return Ok(());
        }
        looks += 1;
        wait();
    }
}

/// Writes at once; what was written of a line that could not be finished is taken back, unless somebody wrote behind it.
fn put(file: &mut File, path: &RelPath, end: u64, whole: &[u8]) -> Result<(), Fault> {
    let wrote = file.write(whole).map_err(|e| jail::fault(path, &e))?;
    if wrote == whole.len() {
        return file.sync_data().map_err(|e| jail::fault(path, &e));
    }
    let now = file.seek(SeekFrom::End(0)).map_err(|e| jail::fault(path, &e))?;
    if now == end + wrote as u64 {
        file.set_len(end).map_err(|e| jail::fault(path, &e))?;
    }
    Err(Fault::new(
        Code::FilesystemError,
        format!("{path}: the line could not be written whole; is the disk full?"),
    )
    .about(path.as_str()))
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    /// What is read of a file that holds `begun`, while another program writes `rest` between two looks, and how often was waited.
    fn read(begun: &str, rest: &[&str]) -> (String, usize) {
        let place = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(place.path(), ambient_authority()).unwrap();
        dir.write("notes", begun).unwrap();
        let (file, mut theirs) = (dir.open("notes").unwrap(), rest.iter());
        let mut other = dir.open_with("notes", OpenOptions::new().append(true)).unwrap();
        let (mut there, mut waits) = (Vec::new(), 0);
        settled(&file, &mut there, || {
            waits += 1;
            other.write_all(theirs.next().map_or(&[], |part| part.as_bytes())).unwrap();
        })
        .unwrap();
        (String::from_utf8(there).unwrap(), waits)
    }

    #[test]
    fn a_line_that_another_is_writing_is_waited_for_until_it_ends() {
        assert_eq!(read("", &["x"]), (String::new(), 0));
        assert_eq!(read("one\n", &["x"]), ("one\n".to_owned(), 0));
        assert_eq!(read("one\ntw", &["", "o", "\n"]), ("one\ntwo\n".to_owned(), 3));
        assert_eq!(read("one\ntw", &["o\nth", "ree\n"]), ("one\ntwo\nthree\n".to_owned(), 2));
    }

    #[test]
    fn a_line_that_nobody_ends_is_torn_after_so_many_looks() {
        assert_eq!(read("one\ntw", &[]), ("one\ntw".to_owned(), ENDING));
        assert_eq!(read("one\ntw", &["o"; 99]), (format!("one\ntw{}", "o".repeat(ENDING)), ENDING));
    }
}
