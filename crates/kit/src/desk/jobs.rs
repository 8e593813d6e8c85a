//! What a desk shows of jobs, and of runs that are over.

use std::io::BufRead;
use std::sync::Arc;

use contract::Fault;
use exec::kept::{KeptRun, KeptStream};

use super::ReadDesk;
use crate::jobs::Job;

/// How much more of a stream is cleaned than is shown of its end, in bytes.
const MARGIN: usize = 16 * 1024;

impl ReadDesk {
    /// The jobs of whoever calls.
    #[must_use]
    pub fn jobs(&self) -> Vec<Arc<Job>> {
        self.setting.jobs.of(&self.setting.principal)
    }

    /// A job of whoever calls.
    pub fn job(&self, handle: &str) -> Result<Arc<Job>, Fault> {
        self.setting.jobs.find(handle, &self.setting.principal)
    }

    /// The last bytes that a job's program has said, without secrets, `most` of each stream at most.
    #[must_use]
    pub fn tail(&self, job: &Job, most: usize) -> String {
        // A secret that begins before the cut would not be known for one: more is cleaned than is shown, and no part of
        // a line.
        let streams = job.tail(most + MARGIN).into_iter().map(|tail| {
            let clean = String::from_utf8_lossy(&(self.setting.clean)(&tail.bytes)).into_owned();
            if !tail.is_cut {
                return clean;
            }
            let from = clean.len().saturating_sub(most);
            let from = clean.char_indices().map(|(at, _)| at).find(|at| *at >= from).unwrap_or(clean.len());
            clean[from..].split_once('\n').map(|(_, whole)| whole.to_owned()).unwrap_or_default()
        });
        let said = streams.map(|said| said.trim_end_matches('\n').to_owned()).filter(|said| !said.is_empty());
        said.collect::<Vec<_>>().join("\n")
    }

    /// A run of whoever calls, as it is kept.
    pub fn kept_run(&self, handle: &str) -> Result<KeptRun, Fault> {
        self.setting.state.run(handle, &self.setting.principal)
    }

    /// What a stream of a kept run said.
    pub fn output(&self, stream: &KeptStream) -> Result<Box<dyn BufRead + Send>, Fault> {
        self.setting.state.output(stream)
    }
}
