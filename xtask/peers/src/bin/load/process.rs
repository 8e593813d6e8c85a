//! A server's process: what it costs, and an end to it.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use gatewright_peers::Error;
use rustix::process::{Pid, Signal, kill_process};

/// A server that ends with its owner.
#[derive(Debug)]
pub struct Process(pub Child);

impl Process {
    /// Starts `words`.
    pub fn start(words: &[String], piped: bool) -> Result<Self, Error> {
        let (program, args) = words.split_first().ok_or("no program")?;
        let pipe = || if piped { Stdio::piped() } else { Stdio::null() };
        let child =
            Command::new(program).args(args).stdin(pipe()).stdout(pipe()).stderr(Stdio::null()).spawn();
        Ok(Self(child.map_err(|e| format!("{program}: {e}"))?))
    }

    fn status(&self, field: &str) -> Result<u64, Error> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(field)).ok_or("no such field")?;
        Ok(line.trim_matches([':', '\t', ' ', 'k', 'B']).parse()?)
    }

    /// Memory in use now, in KiB.
    pub fn memory(&self) -> Result<u64, Error> {
        self.status("VmRSS")
    }

    /// The most memory that was in use, in KiB.
    pub fn peak(&self) -> Result<u64, Error> {
        self.status("VmHWM")
    }

    /// Processor time so far, in hundredths of a second.
    pub fn ticks(&self) -> Result<u64, Error> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        // The name may hold anything; the fields begin after its closing bracket.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |n: usize| fields.get(n).and_then(|f| f.parse::<u64>().ok()).ok_or("no processor time");
        Ok(field(11)? + field(12)?)
    }

    /// Ends the process when what is returned is not dropped within `longest`: whoever reads from it then goes on.
    pub fn watched(&self, longest: Duration) -> Sender<()> {
        let (done, wait) = mpsc::channel();
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        thread::spawn(move || {
            if let (Err(RecvTimeoutError::Timeout), Some(pid)) = (wait.recv_timeout(longest), pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        done
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
