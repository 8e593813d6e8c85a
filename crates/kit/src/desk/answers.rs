//! Answers that may be given again, and what they are computed from.

use std::sync::Arc;

use cache::{Cache, Depends, Key, Namespace};
use contract::{Fault, Kind, RelPath};
use exec::run::{Exit, Ran};
use exec::{OnDisk, View};
use failures::{Analysis, Analyzer, FailedRun};
use serde::Serialize;

use super::ReadDesk;

/// What an answer that may be given again is computed from. All that it looks at must be told to `depends`, before the look and
/// after it: what is not told is not watched.
#[derive(Debug, Clone, Copy)]
pub struct Grounds<'a> {
    /// A window on the root, not the call's own: a warm answer looks at nothing, so no plan is held to what a cold one saw.
    pub view: &'a View,
    /// Notes what is looked at. Relative paths are the root's, absolute ones the machine's.
    pub depends: &'a Depends<'a>,
    /// The disk as it is asked later.
    pub disk: OnDisk<'a>,
}

impl ReadDesk {
    /// The answer to `question`, which says everything that is not in a file: one that was given before, while it is young enough
    /// and all that it was computed from is as it was; else what `compute` says. It blocks.
    pub fn again<T: Serialize + Send + Sync + 'static>(
        &self,
        namespace: Namespace,
        question: &[&[u8]],
        compute: impl FnOnce(Grounds<'_>) -> Result<T, Fault>,
    ) -> Result<Arc<T>, Fault> {
        let root = self.view.root();
        let place = root.path().as_os_str().as_encoded_bytes();
        let parts: Vec<&[u8]> = std::iter::once(place).chain(question.iter().copied()).collect();
        let disk = OnDisk::new(root);
        let answer = self.setting.cache.get_or(namespace, &Key::of(&parts), &disk, |depends| {
            let view = View::new(Arc::clone(root), self.setting.cancel.clone());
            compute(Grounds { view: &view, depends, disk })
        })?;
        Ok(answer.value)
    }

    /// Why a run failed, by what it said. It blocks.
    pub fn analyzed(&self, run: &FailedRun<'_>) -> Result<Arc<Analysis>, Fault> {
        let placed = self.placed();
        let run = FailedRun { placed: &placed, ..*run };
        let asked = format!("{:?}", FailedRun { stdout: "", stderr: "", ..run });
        let question = [asked.as_bytes(), run.stdout.as_bytes(), run.stderr.as_bytes()];
        self.again(Namespace::FailureAnalysis, &question, |_| Ok(self.setting.analyzer.analyze(&run)))
    }

    /// Why `ran` failed in `dir`, by what it said and what else is known of it. It blocks.
    #[must_use]
    pub fn analysis_of(
        &self,
        ran: &Ran,
        dir: Option<&RelPath>,
        timed_out: bool,
        files: &[String],
    ) -> Analysis {
        let (out, err) = (ran.stdout.text(), ran.stderr.text());
        let root = self.view.root().path().display().to_string();
        let handle = ran.handle.as_ref().map(ToString::to_string);
        let signal = match ran.exit {
            Exit::Signal(signal) => Some(signal),
            Exit::Code(_) => None,
        };
        self.setting.analyzer.analyze(&FailedRun {
            program: ran.line.first().map_or("", String::as_str),
            args: ran.line.get(1..).unwrap_or_default(),
            exit_code: ran.code(),
            signal,
            timed_out,
            stdout: &out,
            stderr: &err,
            duration_ms: u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
            run: handle.as_deref(),
            root: Some(&root),
            dir: dir.map(RelPath::as_str),
            placed: &self.placed(),
            files,
        })
    }

    /// The tools that are offered here and work in a folder that a call names.
    fn placed(&self) -> Vec<String> {
        let ours = self.setting.registry.ready().filter(|tool| tool.head().kind != Kind::Foreign);
        let placed = ours.filter(|tool| tool.input_schema().pointer("/properties/directory").is_some());
        placed.map(|tool| tool.head().name.to_string()).collect()
    }

    /// The failure analysis, for what it knows.
    #[must_use]
    pub fn analyzer(&self) -> &Analyzer {
        &self.setting.analyzer
    }

    /// What is kept of answers, for what it did.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.setting.cache
    }
}
