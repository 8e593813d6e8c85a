//! The tasks extension (SEP-2663) over the engine's jobs: a call that goes on is a task to clients of the newer era that declare
//! it. `job_status` and `job_cancel` follow the same jobs for everybody else.

use contract::{Fault, Principal};
use kit::jobs::{Job, REMEMBERED};
use kit::{Done, House};
use rmcp::RoleServer;
use rmcp::model::{CreateTaskResult, DetailedTask, ErrorData, JsonObject, Task, TaskPayload, TaskStatus};
use rmcp::service::RequestContext;

use crate::server::{is_current, result};

/// How often a client should ask, in milliseconds.
const POLL: u64 = 1_000;

/// Whether who asks takes tasks. In the older era they were another thing under the same name.
pub(crate) fn takes(context: &RequestContext<RoleServer>) -> bool {
    is_current(context) && context.client_capabilities().is_some_and(|can| can.supports_tasks())
}

/// The task that a call became, where it goes on.
pub(crate) fn begun(house: &House, done: &Done, caller: &Principal) -> Option<CreateTaskResult> {
    let handle = done.result.as_ref().ok()?.envelope.job.as_ref()?;
    let job = house.jobs().find(handle, caller).ok()?;
    Some(CreateTaskResult::new(task(&job, TaskStatus::Working)))
}

/// How a task is.
pub(crate) fn now(house: &House, handle: &str, caller: &Principal) -> Result<DetailedTask, ErrorData> {
    let job = found(house, handle, caller)?;
    let payload = match job.done() {
        None => TaskPayload::Working,
        Some(done) if is_cancelled(&done) => TaskPayload::Cancelled,
        Some(done) => TaskPayload::Completed { result: object(&done)? },
    };
    Ok(DetailedTask::new(task(&job, payload.status()), payload))
}

/// Asks for its end. One that has ended stays as it is.
pub(crate) fn cancel(house: &House, handle: &str, caller: &Principal) -> Result<(), ErrorData> {
    found(house, handle, caller).map(|job| job.cancel())
}

/// None of ours asks for anything on its way.
pub(crate) fn update(house: &House, handle: &str, caller: &Principal) -> Result<(), ErrorData> {
    found(house, handle, caller).map(|_| ())
}

/// A task of `caller`: another's does not exist, and neither does one for whom nothing may be read here any more.
fn found(house: &House, handle: &str, caller: &Principal) -> Result<std::sync::Arc<Job>, ErrorData> {
    let unknown = |fault: Fault| ErrorData::invalid_params(fault.message, None);
    if house.lacking_for_reading(caller).is_some() {
        return Err(ErrorData::invalid_params("no task is known to who asks", None));
    }
    house.jobs().find(handle, caller).map_err(unknown)
}

fn task(job: &Job, status: TaskStatus) -> Task {
    let lasts = u64::try_from(REMEMBERED.as_millis()).unwrap_or(u64::MAX);
    let began = job.since();
    let changed = job.until().unwrap_or(began);
    Task::new(job.handle(), status, format!("{began:.3}"), format!("{changed:.3}"))
        .with_status_message(format!("`{}`", job.tool()))
        .with_ttl_ms(lasts)
        .with_poll_interval_ms(POLL)
}

fn is_cancelled(done: &Done) -> bool {
    done.result.as_ref().is_err_and(|fault| fault.code == contract::Code::Cancelled)
}

fn object(done: &Done) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(result(done)) {
        Ok(serde_json::Value::Object(object)) => Ok(object),
        _ => Err(ErrorData::internal_error("the result could not be written", None)),
    }
}
