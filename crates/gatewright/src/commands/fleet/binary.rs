//! The program that hosts are to have: a file of this machine that runs here.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use contract::digest::Hasher;
use contract::text::{counted, spelled_out};
use exec::helper::{Input, MAX_INPUT};
use exec::history::{HistoryError, Limits, Repo};

use super::super::{CommandError, runtime};
use super::remote;

/// How long it may take to say its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program.
#[derive(Debug)]
pub struct Binary {
    /// Where it is.
    pub path: PathBuf,
    /// What it says its version is.
    pub version: String,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// What it runs on, as `uname -sm` says it.
    pub system: String,
    /// When it was built, in seconds since 1970: when its file was last written.
    pub built: i64,
    file: File,
}

fn refused(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::Usage(format!("{} is not what hosts could be given: {why}", path.display()))
}

impl Binary {
    /// The file that is named, else this program's own. It is run once, for its version.
    pub fn of(named: Option<&Path>) -> Result<Self, CommandError> {
        let path = match named {
            Some(path) => std::path::absolute(path)?,
            None => std::env::current_exe()?,
        };
        let wrong = |why: &str| refused(&path, why);
        let mut file = File::open(&path).map_err(|error| match named {
            // What was started is gone from its place.
            None => refused(
                &path,
                format!("{error}; it was replaced while it ran: run the one that is there now"),
            ),
            Some(_) => refused(&path, error),
        })?;
        let about = file.metadata()?;
        if !about.is_file() || about.mode() & 0o111 == 0 {
            return Err(wrong("it is no file that can be run"));
        }
        if about.len() > MAX_INPUT {
            return Err(wrong(&format!("it is larger than {} MiB", MAX_INPUT >> 20)));
        }
        let version = runtime()?.block_on(version(&path)).map_err(|why| wrong(&why))?;
        let (mut head, mut hasher, mut block) = (Vec::new(), Hasher::default(), vec![0; 1 << 16]);
        loop {
            let got = file.read(&mut block)?;
            let Some(read) = block.get(..got).filter(|read| !read.is_empty()) else { break };
            if head.is_empty() {
                head.extend_from_slice(read.get(..20).unwrap_or(read));
            }
            hasher.update(read);
        }
        let here = || {
            let system = rustix::system::uname();
            format!("{} {}", system.sysname().to_string_lossy(), system.machine().to_string_lossy())
        };
        // What is no ELF file, or for a machine that is not known here, runs where it runs: here, at least.
        let system = machine(&head).map_or_else(here, |machine| format!("Linux {machine}"));
        let sha256 = hasher.finish().to_string();
        Ok(Self { path, version, sha256, system, built: about.mtime(), file })
    }

    /// It, to be read from its beginning: the file that was looked at, whatever is at its place by now.
    pub fn input(&self) -> std::io::Result<Input> {
        // An opened file has one position; hosts are given it at once.
        File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd())).map(Input::File)
    }
}

async fn version(path: &Path) -> Result<String, String> {
    let mut command = tokio::process::Command::new(path);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let said = tokio::time::timeout(PATIENCE, command.output()).await;
    let said = said.map_err(|_| format!("it did not say its version within {} s", PATIENCE.as_secs()))?;
    let said = said.map_err(|error| format!("it cannot be run: {error}"))?;
    let line = String::from_utf8_lossy(&said.stdout).lines().next().unwrap_or_default().to_owned();
    remote::version(&line).filter(|_| said.status.success()).ok_or_else(|| {
        let shown: String = spelled_out(&line).chars().take(80).collect();
        format!("asked for its version it says {shown:?}, where gatewright says `gatewright 1.2.3`")
    })
}

/// The machine that an ELF file is for, as `uname -m` calls it; nothing where the file is none, or for another.
fn machine(head: &[u8]) -> Option<&'static str> {
    let [0x7f, b'E', b'L', b'F', _, order, ..] = head else { return None };
    let [one, other] = [*head.get(18)?, *head.get(19)?];
    let number =
        if *order == 2 { u16::from_be_bytes([one, other]) } else { u16::from_le_bytes([one, other]) };
    match number {
        62 => Some("x86_64"),
        183 => Some("aarch64"),
        243 => Some("riscv64"),
        258 => Some("loongarch64"),
        22 => Some("s390x"),
        21 if *order == 1 => Some("ppc64le"),
        _ => None,
    }
}

/// Whether `dir` is what its origin has on the default branch, as last fetched, with nothing changed, and older than `binary`.
pub fn is_released(dir: &Path, binary: &Binary) -> Result<(), CommandError> {
    let wrong = |why: String| CommandError::Usage(format!("{}: {why}", dir.display()));
    let unread = |error: HistoryError| wrong(error.to_string());
    let (limits, cancel) = (Limits::default(), AtomicBool::new(false));
    let repo = Repo::open(dir).map_err(unread)?;
    let status = repo.status(&limits, &cancel).map_err(unread)?;
    if !status.clean {
        let changes =
            status.staged.len() + status.unstaged.len() + status.untracked.len() + status.conflicted.len();
        return Err(wrong(format!(
            "{} not committed: commit them, or set them aside",
            counted(changes, "change")
        )));
    }
    let head = status.head.ok_or_else(|| wrong("there is no commit yet".to_owned()))?;
    let default = repo.default_branch().map_err(unread)?.unwrap_or_default();
    let ahead = status.upstream.as_ref().and_then(|upstream| upstream.ahead);
    if let Some(ahead) = ahead.filter(|ahead| *ahead > 0) {
        return Err(wrong(format!("{} not pushed: push, and try again", counted(ahead, "commit"))));
    }
    let is_default = if default.starts_with("refs/remotes/") {
        repo.resolve(&default).map_err(unread)? == head
    } else {
        // Who never cloned has no name for the other side's default branch: what follows something there under its usual name will do.
        ahead.is_some() && status.branch.is_some_and(|branch| default == format!("refs/heads/{branch}"))
    };
    if !is_default {
        return Err(wrong(
            "it is not what its origin has on the default branch: switch to that, pull, build and try again"
                .to_owned(),
        ));
    }
    let commit = repo.commit(&head, &limits, &cancel).map_err(unread)?;
    let committed: jiff::Timestamp =
        commit.time.parse().map_err(|e| wrong(format!("its last commit has no time: {e}")))?;
    if binary.built < committed.as_second() {
        return Err(wrong(format!(
            "its last commit is later than {}: build it again",
            binary.path.display()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_that_a_program_is_for_stands_in_its_head() {
        let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0".to_vec();
        assert_eq!(machine(&head), Some("x86_64"));
        head[18] = 183;
        assert_eq!(machine(&head), Some("aarch64"));
        (head[5], head[18], head[19]) = (2, 0, 22);
        assert_eq!(machine(&head), Some("s390x"), "most significant byte first");
        assert_eq!(machine(b"#!/bin/sh\necho a script\n"), None);
        assert_eq!(machine(&head[..12]), None);
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(machine(&own), Some(std::env::consts::ARCH));
    }
}
