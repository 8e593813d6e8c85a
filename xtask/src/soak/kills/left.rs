//! Who is left of a server that was killed. Three ways of looking, because whoever gets away from one is found by another:
//! who descended from it before, who runs its very program, and who has the round's mark on its command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::sh::Done;

/// A process, told apart from a later one with the same number by when it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Process {
    pid: u32,
    started: u64,
}

/// What `/proc` says of one that lives.
struct Seen {
    process: Process,
    parent: u32,
}

fn seen(pid: u32) -> Option<Seen> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have anything in it, brackets too.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let (parent, started) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
    Some(Seen { process: Process { pid, started }, parent })
}

fn all() -> Vec<Seen> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).filter_map(seen).collect()
}

fn line(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ").trim_end().to_owned()
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What the command line of everything that the run starts has in it.
    pub(crate) mark: String,
    /// Device and inode of the server's program, which nobody else runs.
    program: (u64, u64),
}

impl Wanted {
    pub(crate) fn new(mark: String, program: &Path) -> Done<Self> {
        let there = fs::metadata(program).map_err(|e| format!("{}: {e}", program.display()))?;
        Ok(Self { mark, program: (there.dev(), there.ino()) })
    }

    /// How many of the run's last children are up.
    pub(crate) fn sleepers(&self) -> usize {
        all()
            .iter()
            .map(|seen| line(seen.process.pid))
            .filter(|line| line.starts_with("sleep ") && line.contains(&self.mark))
            .count()
    }

    /// Those of `known` that live, and whoever else is of this server: process and command line.
    pub(crate) fn left(&self, known: &BTreeSet<Process>) -> BTreeMap<Process, String> {
        let mut left = BTreeMap::new();
        for Seen { process, .. } in all() {
            // Through the link, so that it does not matter in which world the process lives.
            let program = fs::metadata(format!("/proc/{}/exe", process.pid));
            let runs_it = program.is_ok_and(|there| (there.dev(), there.ino()) == self.program);
            let line = line(process.pid);
            if runs_it || known.contains(&process) || line.contains(&self.mark) {
                left.insert(process, line);
            }
        }
        left
    }
}

/// Everything that has come from `server`, itself included.
pub(crate) fn descendants(server: u32) -> BTreeSet<Process> {
    let all = all();
    let mut found: BTreeSet<Process> =
        all.iter().filter(|s| s.process.pid == server).map(|s| s.process).collect();
    loop {
        let pids: BTreeSet<u32> = found.iter().map(|process| process.pid).collect();
        let before = found.len();
        found.extend(all.iter().filter(|s| pids.contains(&s.parent)).map(|s| s.process));
        if found.len() == before {
            return found;
        }
    }
}

/// Ends a survivor, so that it does not stay on the machine that found it.
pub(crate) fn end(process: Process) {
    let pid = process.pid.to_string();
    let _ = std::process::Command::new("kill").args(["-KILL", &pid]).status();
}
