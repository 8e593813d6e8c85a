//! What may end a run before its own end: its caller, its time, and what it takes of the disk and of memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use contract::{Code, Fault};
use tokio_util::sync::CancellationToken;

use super::{Command, MAX_TIMEOUT, memory};

/// How often it is looked at how much a run has written.
const LOOK: Duration = Duration::from_millis(250);

/// What a run must leave free on the disk that it writes to: the record is on one, too.
const RESERVE: u64 = 256 << 20;

/// What a run may take, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    /// Of the disk, below its root.
    pub(super) disk: u64,
    /// Of memory, all its programs together.
    pub(super) memory: u64,
}

/// A run that is watched.
pub(super) struct Watch<'a> {
    pub(super) command: &'a Command,
    cancel: &'a CancellationToken,
    deadline: Instant,
    lands: PathBuf,
    free: Option<u64>,
    available: Option<u64>,
    looked: Instant,
    most: Most,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        command: &'a Command,
        cancel: &'a CancellationToken,
        began: Instant,
        lands: PathBuf,
        most: Most,
    ) -> Self {
        let (free, available) = (free(&lands), memory::available());
        let deadline = began + command.timeout.min(MAX_TIMEOUT);
        Self { command, cancel, deadline, lands, free, available, looked: began, most }
    }

    pub(super) fn failed(&self, doing: &str, why: &str) -> Fault {
        Fault::new(Code::ToolExecutionFailed, format!("{}: {doing}: {why}", self.command.program))
    }

    /// Fails where the run is to be ended: that of the process `first` and of what it started.
    pub(super) fn check(&mut self, first: u32) -> Result<(), Fault> {
        let program = &self.command.program;
        if self.cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
        }
        let now = Instant::now();
        if now >= self.deadline {
            let seconds = self.command.timeout.min(MAX_TIMEOUT).as_secs_f64();
            return Err(Fault::new(
                Code::Timeout,
                format!("{program} took longer than {seconds} s and was ended"),
            )
            .suggest("Ask for less, or pass a larger `timeout`."));
        }
        let looks = now.duration_since(self.looked) >= LOOK;
        if looks {
            self.looked = now;
            self.disk()?;
        }
        // Memory fills faster than a disk.
        self.memory(first, looks)
    }

    /// Whether it holds more memory than a run may, or is what leaves the machine without.
    fn memory(&self, first: u32, looks: bool) -> Result<(), Fault> {
        let (Some(then), Some(now)) = (self.available, memory::available()) else { return Ok(()) };
        let is_short = now < memory::RESERVE;
        // Looking at every process is for when the machine has lost much since, and for now and then.
        if !looks && !is_short && then.saturating_sub(now) <= self.most.memory {
            return Ok(());
        }
        let most = if is_short { memory::RESERVE.min(self.most.memory) } else { self.most.memory };
        let Some(held) = memory::held_beyond(first, most) else { return Ok(()) };
        let message = format!(
            "{} took {} MiB of memory and was ended: a run may take {} MiB and must leave {} MiB",
            self.command.program,
            held >> 20,
            self.most.memory >> 20,
            memory::RESERVE >> 20
        );
        Err(Fault::new(Code::ResourceExhausted, message)
            .suggest("Have it do less at once: fewer jobs in parallel, or a part of the project."))
    }

    /// Whether it has written more than a run may. What others write to the disk meanwhile is told apart by counting.
    fn disk(&self) -> Result<(), Fault> {
        let (Some(then), Some(now)) = (self.free, free(&self.lands)) else { return Ok(()) };
        let most = self.most.disk;
        let short = now < RESERVE && now < then;
        if !short && then.saturating_sub(now) <= most {
            return Ok(());
        }
        let written = size(&self.lands);
        // What was unlinked while it is open is on the disk and in no folder: where space goes and nothing is seen, this run
        // is the likeliest, and the record comes first.
        if short || then.saturating_sub(now) > most.saturating_mul(2) || written > most {
            let message = format!(
                "{} wrote {} MiB and was ended: a run may write {} MiB and must leave {} MiB free",
                self.command.program,
                written >> 20,
                most >> 20,
                RESERVE >> 20
            );
            return Err(Fault::new(Code::ResourceExhausted, message).suggest("Have the program write less."));
        }
        Ok(())
    }
}

fn free(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes on the disk below `top`, as far as they can be counted.
fn size(top: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let (mut bytes, mut open) = (0, vec![top.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(there) = entry.metadata() else { continue };
            bytes += there.blocks() * 512;
            if there.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}
