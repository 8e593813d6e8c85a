//! Status of jobs.
//!
//! Says how far the calls are that go on as jobs, with the last lines that their programs said, and gives the result of
//! those that have ended. Without `job` it lists yours; with `wait` it waits for the end.

use std::sync::Arc;
use std::time::Duration;

use contract::{Fault, Toolset};
use kit::jobs::Job;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::families::RUNS;

/// Bytes of each stream that a tail is cut from.
const TAIL_BYTES: usize = 16 * 1024;

/// Which job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The job; all of yours without.
    #[serde(default)]
    pub job: Option<String>,
    /// Last lines to show of each.
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = 200))]
    pub tail: u32,
    /// Seconds to wait for its end.
    #[serde(default)]
    #[schemars(range(min = 0, max = 40))]
    pub wait: u32,
}

const fn ten() -> u32 {
    10
}

/// The jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The latest first.
    pub jobs: Vec<JobView>,
}

/// How a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is at work.
    Running,
    /// It is to end, and has not yet.
    Ending,
    /// It has ended, and its result is here.
    Completed,
    /// It has ended with an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// One job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// Its handle.
    pub job: String,
    /// The tool that was called.
    pub tool: String,
    /// How it is.
    pub state: State,
    /// Milliseconds since the call.
    pub age: u64,
    /// The transcript that records it.
    pub transcript: String,
    /// How far it said it had come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// The last lines that its program said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
    /// Its result, or its error, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Map<String, Value>>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct JobStatus;

impl Define for JobStatus {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "job_status";
    const TOOLSET: Toolset = RUNS;
    const DOC: Doc = doc!("job_status.rs");
    const LIMITS: Limits = Limits::FREE;
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("jobs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "job": "job_00000000000000000000000000000000", "tail": 40, "wait": 30 })]
    }
}

impl Read for JobStatus {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let jobs = match &input.job {
            Some(handle) => vec![desk.job(handle)?],
            None => desk.jobs(),
        };
        if input.wait > 0
            && let [job] = jobs.as_slice()
        {
            tokio_select(job, Duration::from_secs(input.wait.into()), &desk).await?;
        }
        let one = input.job.is_some();
        let views: Vec<JobView> = jobs.iter().map(|job| view(job, &desk, input.tail as usize, one)).collect();
        let message = match views.as_slice() {
            [] => "There are no jobs.".to_owned(),
            [job] => said(job),
            all => {
                let running =
                    all.iter().filter(|job| matches!(job.state, State::Running | State::Ending)).count();
                format!("{} jobs, {running} of them at work.", all.len())
            }
        };
        let mut answer = Answer::new(message, Output { jobs: views });
        answer.success = !answer.output.jobs.iter().any(|job| one && job.state == State::Failed);
        Ok(answer)
    }
}

/// Waits for the job's end, or for that of this call.
async fn tokio_select(job: &Arc<Job>, longest: Duration, desk: &ReadDesk) -> Result<(), Fault> {
    let cancelled = desk.cancelled().run_until_cancelled(job.ended(longest)).await.is_none();
    if cancelled { desk.check() } else { Ok(()) }
}

pub(crate) fn state(job: &Job) -> State {
    match job.done() {
        None if job.is_cancelled() => State::Ending,
        None => State::Running,
        Some(done) => match &done.result {
            Ok(_) => State::Completed,
            Err(fault) if fault.code == contract::Code::Cancelled => State::Cancelled,
            Err(_) => State::Failed,
        },
    }
}

pub(crate) fn view(job: &Job, desk: &ReadDesk, tail: usize, whole: bool) -> JobView {
    let state = state(job);
    let progress = job.step().map(|step| match step.total {
        Some(total) => format!("{} of {total}: {}", step.done, step.message),
        None => step.message,
    });
    let is_at_work = matches!(state, State::Running | State::Ending);
    let said = if is_at_work && tail > 0 { desk.tail(job, TAIL_BYTES) } else { String::new() };
    let lines: Vec<&str> = said.lines().collect();
    let tail = lines.iter().skip(lines.len().saturating_sub(tail)).map(|line| (*line).to_owned()).collect();
    let result = job.done().filter(|_| whole).and_then(|done| match done.to_value() {
        Value::Object(object) => Some(object),
        _ => None,
    });
    JobView {
        job: job.handle().to_owned(),
        tool: job.tool().to_owned(),
        state,
        age: u64::try_from(job.age().as_millis()).unwrap_or(u64::MAX),
        transcript: job.transcript().to_string(),
        progress,
        tail,
        result,
    }
}

/// One job in words.
pub(crate) fn said(job: &JobView) -> String {
    let seconds = job.age / 1_000;
    match job.state {
        State::Running => format!("`{}` has been at work for {seconds} s.", job.tool),
        State::Ending => format!("`{}` was told to end and has not yet.", job.tool),
        State::Completed => format!("`{}` has ended; its result is in `result`.", job.tool),
        State::Failed => format!("`{}` has ended with an error; it is in `result`.", job.tool),
        State::Cancelled => format!("`{}` was cancelled.", job.tool),
    }
}
