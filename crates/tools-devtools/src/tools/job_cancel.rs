//! Cancel a job.
//!
//! Ends a call that goes on as a job, with every program that it started, and waits a moment for its record. Returns how
//! the job is then; nothing that was not applied yet is.

use std::time::Duration;

use contract::{Fault, Toolset};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::job_status::{JobView, said, view};
use crate::families::RUNS;

/// How long its end is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The job.
    pub job: String,
}

/// How it is then.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The job.
    pub job: JobView,
}

/// The tool.
#[derive(Debug, Default)]
pub struct JobCancel;

impl Define for JobCancel {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "job_cancel";
    const TOOLSET: Toolset = RUNS;
    const DOC: Doc = doc!("job_cancel.rs");
    const LIMITS: Limits = Limits::FREE;
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({ "job": "job_00000000000000000000000000000000" })]
    }
}

impl Read for JobCancel {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let job = desk.job(&input.job)?;
        let was_over = job.done().is_some();
        job.cancel();
        job.ended(PATIENCE).await;
        let view = view(&job, &desk, 0, false);
        let message = if was_over { format!("It had ended before. {}", said(&view)) } else { said(&view) };
        Ok(Answer::new(message, Output { job: view }))
    }
}
