//! Calls that go on after they were answered: jobs, with a handle, a state and an end.
//!
//! A call that may take long is attended to for [`Parts::detach_after`](crate::engine::Parts); then its caller gets a handle, and the call
//! goes on under it. It has one transcript, written at its end; that it goes on is put on record when its caller is told.
//! Jobs live as long as the process: whoever ends it cancels them, and their transcripts say so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::reply::Envelope;
use contract::{Code, Digest, Fault, Principal, Status, TranscriptId};
use exec::handle::Handle;
use exec::workshop::Tail;
use jiff::Timestamp;
use serde_json::Map;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, Done, Step};
use crate::course::Course;
use crate::engine::Engine;
use crate::inquiry::lapsed;
use crate::shape;

/// How long a call is attended to, where its front door does not say otherwise.
pub const DETACH_AFTER: Duration = Duration::from_secs(45);

/// How long an ended job is remembered.
pub const REMEMBERED: Duration = Duration::from_hours(24);

/// Most jobs of one principal that are remembered.
const MAX_JOBS: usize = 200;

/// Most jobs of one principal that run at once.
const MAX_RUNNING: usize = 32;

/// The handles' kind.
const KIND: &str = "job";

/// Every job of the process.
#[derive(Default)]
pub struct Jobs(Mutex<BTreeMap<String, Arc<Job>>>);

/// A call that goes on.
pub struct Job {
    handle: String,
    owner: Digest,
    tool: String,
    transcript: TranscriptId,
    began: Instant,
    since: Timestamp,
    cancel: CancellationToken,
    course: Course,
    step: Arc<Mutex<Option<Step>>>,
    done: watch::Receiver<Option<Ended>>,
}

/// The end of a call.
#[derive(Clone)]
struct Ended {
    at: (Instant, Timestamp),
    done: Arc<Done>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({} {})", self.handle, self.tool)
    }
}

impl Job {
    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// The tool that was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Under which its transcript is, or will be.
    #[must_use]
    pub const fn transcript(&self) -> &TranscriptId {
        &self.transcript
    }

    /// How long ago the call was made.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// When the call was made.
    #[must_use]
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// When it ended, once it has.
    #[must_use]
    pub fn until(&self) -> Option<Timestamp> {
        self.done.borrow().as_ref().map(|ended| ended.at.1)
    }

    /// How far it said it had come.
    #[must_use]
    pub fn step(&self) -> Option<Step> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last bytes that its program has said, `most` at most, secrets and all: it is for whoever cleans it.
    pub(crate) fn tail(&self, most: usize) -> Vec<Tail> {
        self.course.tail(most)
    }

    /// What came of it, once it has ended.
    #[must_use]
    pub fn done(&self) -> Option<Arc<Done>> {
        self.done.borrow().as_ref().map(|ended| Arc::clone(&ended.done))
    }

    /// Whether somebody asked for its end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Asks for its end.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits for its end, at most `longest`.
    pub async fn ended(&self, longest: Duration) -> Option<Arc<Done>> {
        let mut done = self.done.clone();
        let ended = tokio::time::timeout(longest, done.wait_for(Option::is_some)).await;
        ended.ok().and_then(Result::ok).and_then(|ended| Some(Arc::clone(&ended.as_ref()?.done)))
    }
}

impl Jobs {
    /// The jobs of `owner`, the latest first.
    pub fn of(&self, owner: &Principal) -> Vec<Arc<Job>> {
        let mut own: Vec<Arc<Job>> = self.all().into_iter().filter(|job| job.owner == owner.key()).collect();
        own.sort_by_key(|job| job.age());
        own
    }

    /// A job of `owner`. One that is unknown or somebody else's does not exist.
    pub fn find(&self, handle: &str, owner: &Principal) -> Result<Arc<Job>, Fault> {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(handle).cloned();
        job.filter(|job| job.owner == owner.key()).ok_or_else(|| {
            let message = format!("there is no job {handle:?}: it was forgotten, or never was");
            Fault::new(Code::NotFound, message)
                .suggest("Call job_status without `job`: it lists the jobs that there are.")
        })
    }

    /// Ends every job, and waits for their transcripts, at most `longest`. Says whether all have ended.
    pub async fn end(&self, longest: Duration) -> bool {
        let all = self.all();
        for job in &all {
            job.cancel();
        }
        let deadline = tokio::time::Instant::now() + longest;
        for job in all {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if job.ended(left).await.is_none() {
                return false;
            }
        }
        true
    }

    fn all(&self) -> Vec<Arc<Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn remove(&self, handle: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(handle);
    }

    fn add(&self, job: Job) -> Result<Arc<Job>, Fault> {
        let job = Arc::new(job);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |ended: &Option<Ended>| ended.as_ref().is_none_or(|e| e.at.0.elapsed() < REMEMBERED);
        all.retain(|_, job| is_fresh(&job.done.borrow()));
        let own = || all.values().filter(|other| other.owner == job.owner);
        let running = own().filter(|other| other.done.borrow().is_none()).count();
        let is_full = own().count() >= MAX_JOBS;
        if running >= MAX_RUNNING || is_full && !forget_the_oldest(&mut all, &job.owner) {
            let message = format!("{running} jobs are running already; at most {MAX_RUNNING} may");
            return Err(Fault::new(Code::RateLimited, message)
                .suggest("Wait for one with job_status, or end one with job_cancel."));
        }
        all.insert(job.handle.clone(), Arc::clone(&job));
        Ok(job)
    }
}

/// Forgets the job of `owner` that ended first. Nobody's results make room for another's.
fn forget_the_oldest(all: &mut BTreeMap<String, Arc<Job>>, owner: &Digest) -> bool {
    let over = all.values().filter(|job| job.owner == *owner && job.done.borrow().is_some());
    let oldest = over.min_by_key(|job| job.until());
    let oldest = oldest.map(|job| job.handle.clone());
    oldest.and_then(|handle| all.remove(&handle)).is_some()
}

impl Engine {
    /// Makes a call, and gives a job's handle where it takes longer than it is attended to. Whoever drops this before then
    /// cancels the call; its record is written nevertheless.
    pub(crate) async fn attended(self: Arc<Self>, call: Call) -> Done {
        let (began, since) = (Instant::now(), Timestamp::now());
        let Ok(id) = TranscriptId::random() else { return self.recorded(call).await };
        let (cancel, course, step) =
            (CancellationToken::new(), Course::default(), Arc::new(Mutex::new(None)));
        let (said, mut done) = watch::channel(None);
        let answered = Arc::new(AtomicBool::new(false));
        let told = {
            let (step, progress, answered) =
                (Arc::clone(&step), Arc::clone(&call.progress), Arc::clone(&answered));
            Arc::new(move |now: Step| {
                *step.lock().unwrap_or_else(PoisonError::into_inner) = Some(now.clone());
                // Nobody is told anything about a request that was answered.
                if !answered.load(Ordering::Relaxed) {
                    progress(now);
                }
            })
        };
        let own = Call { cancel: cancel.clone(), progress: told, ..call.clone() };
        let (engine, own_course, own_id) = (Arc::clone(&self), course.clone(), id.clone());
        tokio::spawn(async move {
            let done = engine.recorded_as(own, own_id, own_course).await;
            let at = (Instant::now(), Timestamp::now());
            said.send_replace(Some(Ended { at, done: Arc::new(done) }));
        });
        // Until it is a job, whoever waits is who it is for.
        let guard = cancel.clone().drop_guard();
        let is_over =
            |done: &watch::Receiver<Option<Ended>>| done.borrow().as_ref().map(|e| Done::clone(&e.done));
        let detaches = tokio::select! {
            _ = done.wait_for(Option::is_some) => false,
            () = call.cancel.cancelled() => false,
            () = course.left() => true,
            () = lapsed(self.parts.detach_after, call.inquiries.as_ref()) => true,
        };
        if detaches && let Ok(handle) = Handle::random(KIND) {
            let job = Job {
                handle: handle.to_string(),
                owner: call.principal.key(),
                tool: self
                    .registry()
                    .resolve(&call.tool)
                    .map_or_else(|| call.tool.clone(), |tool| tool.head().name.to_string()),
                transcript: id.clone(),
                began,
                since,
                cancel,
                course,
                step,
                done,
            };
            // There must be room for it before the record says that it goes on.
            let told = match self.parts.jobs.add(job) {
                Ok(job) => match self.goes_on(&call, &job).await {
                    Ok(()) => Ok(self.detached(&job)),
                    Err(fault) => {
                        self.parts.jobs.remove(&job.handle);
                        Err(fault)
                    }
                },
                Err(fault) => Err(fault),
            };
            return match told {
                Ok(done) => {
                    answered.store(true, Ordering::Relaxed);
                    guard.disarm();
                    done
                }
                // Nobody could come back to it: it ends here.
                Err(fault) => crate::pipeline::refused(fault),
            };
        }
        // It has ended, or is to end now, and comes to its record.
        drop(guard);
        let _ = done.wait_for(Option::is_some).await;
        is_over(&done).unwrap_or_else(|| crate::pipeline::refused(Fault::internal("the call was lost")))
    }

    fn detached(&self, job: &Job) -> Done {
        let message = format!(
            "`{}` is still at work and goes on as a job.\n\nNext: `job_status {{ \"job\": \"{1}\" }}` says how far it is and gives its \
             result; `job_cancel {{ \"job\": \"{1}\" }}` ends it.",
            job.tool, job.handle
        );
        let mut metadata = shape::metadata();
        metadata.transcript = Some(job.transcript.clone());
        metadata.duration = u64::try_from(job.age().as_millis()).unwrap_or(u64::MAX);
        let envelope = Envelope {
            job: Some(job.handle.clone()),
            ..Envelope::new(true, Status::Detached, message, metadata.clone())
        };
        match shape::reply(envelope, Map::new(), self.parts.budget) {
            Ok(shape::Shaped { mut reply, .. }) => {
                let tokens_used = reply.envelope.metadata.tokens_used;
                metadata.tokens_used = tokens_used;
                reply.envelope.metadata = metadata.clone();
                Done {
                    result: Ok(reply),
                    metadata,
                    anchor: None,
                    unknown_tool: false,
                    question: None,
                    choice: None,
                }
            }
            Err(fault) => crate::pipeline::refused(fault),
        }
    }
}
