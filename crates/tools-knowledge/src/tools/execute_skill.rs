//! Run a skill's code.
//!
//! TypeScript and JavaScript run in an engine of their own, in a process without files and network; what imports packages runs in Node over the
//! project, and what it writes is a proposal. What a skill is granted stands in its metadata and is approved by a person, once for each change
//! of its code. `dryRun` says what it would be granted and runs nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::text::{counted, visible};
use contract::{Code, Fault, RelPath, State, Toolset};
use exec::reports::ReportFile;
use exec::run::Level;
use exec::view::Pattern;
use kit::limits::Limits;
use kit::markdown::{code, text};
use kit::schema::AnyJson;
use kit::{Answer, Define, ReadDesk, Run, RunDesk, doc};
use library::PatternId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skills::{Event, Failure, Kind, Request, limits};

use crate::executing::grants::Granted;
use crate::executing::node;
use crate::executing::prepare::{Prepared, found};
use crate::executing::workers::{Next, Talk, Workers};
use crate::libraries::used;

/// Largest result that stands in the answer, in bytes of JSON: a larger one is kept as a report.
const MOST: usize = 24_000;
/// Most lines of what the skill said that are shown.
const LINES: usize = 100;
/// Most places of a failure that are told.
const FRAMES: usize = 10;
/// Milliseconds that the parent waits longer than the engine is told to take.
const GRACE: u64 = 500;

/// The arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "it is called so where skills are")]
pub struct Input {
    /// The id: `category/name`, with a library in front (`user:`) where another one is meant.
    skill_id: PatternId,
    /// What its function is given: `load_skill` shows the schema.
    input: Map<String, Value>,
    /// Only say what it would be granted.
    #[serde(default)]
    dry_run: bool,
}

/// Where a skill's code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// In the engine that is built in.
    Embedded,
    /// In Node: it imports packages of the project.
    Process,
}

/// What would run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WouldRun {
    /// The function that is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    /// Whether its parameters are declared.
    has_schema: bool,
    /// Whether a person approved this code with these wishes.
    approved: bool,
    /// What it would be granted.
    granted: Granted,
    /// What does not fit of the input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misfits: Vec<String>,
    /// Packages that it imports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packages: Vec<String>,
    /// All that would run.
    files: Vec<String>,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// Its id.
    skill_id: String,
    /// The library that has it.
    library: String,
    /// Where it ran, or would run.
    mode: Mode,
    /// What its function returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<AnyJson<MOST>>,
    /// Where the result is read that is too large to stand here.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_report: Option<String>,
    /// What it said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logs: Vec<String>,
    /// What it was granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    granted: Vec<String>,
    /// What would run, of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_run: Option<WouldRun>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What came of it.
    data: Executed,
}

/// The tool.
#[derive(Debug, Default)]
pub struct ExecuteSkill;

impl Define for ExecuteSkill {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "execute_skill";
    const TOOLSET: Toolset = crate::PATTERNS;
    const DOC: kit::Doc = doc!("execute_skill.rs");
    const ALIASES: &'static [&'static str] = &["executeSkill"];
    const LIMITS: Limits = Limits { timeout: Duration::from_mins(1), ..Limits::DEFAULT };
    const PROGRAMS: &'static [&'static str] = &["node"];
    const ASKED: &'static [&'static str] = &["timeout"];
    const BUDGET: Option<u64> = Some(9_000);

    fn examples() -> Vec<Value> {
        vec![
            json!({ "skillId": "database/rls-policy", "input": { "table": "orders", "column": "tenant_id" } }),
            json!({ "skillId": "user:backend/retry-backoff", "input": {}, "dryRun": true }),
        ]
    }
}

impl Run for ExecuteSkill {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let workers = desk
            .service::<Workers>()
            .ok_or_else(|| Fault::internal("nothing was provided that skills run in"))?;
        let used = used(&desk).await?;
        let id = input.skill_id.clone();
        let (prepared, worker) = desk.blocking(move |desk| found(desk, &id, &used)).await?;
        let _next = Next(&workers);
        if worker.is_some() {
            desk.note_level(Level::Full);
        }
        let approved = desk.approved_skill(prepared.name(), prepared.identity()).await;
        let usual = prepared.needs_node().then_some(node::USUAL);
        let granted = Granted::of(&prepared.asks, workers.settings(), (desk.asked().timeout, usual));
        let given = input.input;
        if input.dry_run {
            // What nobody approved is not even validated with: a schema, too, is somebody else's program.
            let is_approved = approved.is_ok();
            let dry = move |_: &ReadDesk| {
                let misfits = if is_approved { prepared.misfits(&given)? } else { Vec::new() };
                Ok(would_run(&prepared, granted, is_approved, misfits))
            };
            return desk.blocking(dry).await;
        }
        approved?;
        if prepared.needs_node() {
            drop(worker);
            let (prepared, given) =
                desk.blocking(move |_| prepared.takes(&given).map(|()| (prepared, given))).await?;
            return in_node(&desk, &workers, &prepared, &granted, given).await;
        }
        desk.note_level(Level::Full);
        let workers = Arc::clone(&workers);
        desk.blocking(move |desk| {
            prepared.takes(&given)?;
            let mut worker = worker.map_or_else(|| workers.take(), Ok)?;
            execute(desk, &mut worker, prepared, &granted, given)
        })
        .await
    }
}

fn mode(prepared: &Prepared) -> Mode {
    if prepared.needs_node() { Mode::Process } else { Mode::Embedded }
}

/// Runs one that needs Node.
async fn in_node(
    desk: &RunDesk,
    workers: &Workers,
    prepared: &Prepared,
    granted: &Granted,
    input: Map<String, Value>,
) -> Result<Answer<Output>, Fault> {
    if !workers.settings().process {
        let message = format!("{} needs Node, which your configuration does not grant", prepared.id);
        return Err(Fault::new(Code::Forbidden, message).suggest("`[skills] process = true` grants it."));
    }
    let packages = prepared.packages.clone();
    let lacking = desk
        .blocking({
            let prepared = prepared.clone();
            move |desk| {
                let missing = node::missing(desk, &prepared);
                let fault = (!missing.is_empty()).then(|| node::not_installed(desk, &missing));
                Ok(fault)
            }
        })
        .await?;
    if let Some(fault) = lacking {
        return Err(fault);
    }
    let answered = node::run(desk, prepared, input, granted).await?;
    let mut said: Vec<String> = vec!["node".to_owned()];
    said.extend(packages.iter().map(|package| format!("package {package}")));
    said.extend(granted.network.iter().map(|host| format!("network {host}")));
    shown(desk, prepared, answered.result, answered.logs, said)
}

fn would_run(prepared: &Prepared, granted: Granted, approved: bool, misfits: Vec<String>) -> Answer<Output> {
    let mut message =
        format!("Would run {} of the library {}", code(prepared.id.short()), text(&prepared.library));
    if let Some(function) = &prepared.function {
        message.push_str(&format!(", its function {}", code(function)));
    }
    let said = granted.said();
    let grants = if said.is_empty() { "nothing but computing".to_owned() } else { said.join(", ") };
    message.push_str(&format!(", granted {}, within {} ms.", text(&grants), granted.milliseconds));
    if !granted.refused.is_empty() {
        message.push_str(&format!(
            " It also asks for what your configuration does not grant: {}.",
            granted.refused.join(", ")
        ));
    }
    if let Some(first) = misfits.first() {
        message.push_str(&format!(" Its input does not fit: {}.", text(first)));
    }
    if !approved {
        message.push_str(&format!(
            " Nobody approved that: `gatewright approvals accept skill:{}`.",
            prepared.name()
        ));
    }
    let would_run = WouldRun {
        function: prepared.function.clone(),
        has_schema: prepared.schema.is_some(),
        approved,
        granted,
        misfits,
        packages: prepared.packages.iter().cloned().collect(),
        files: prepared.files.iter().map(|file| file.path.clone()).collect(),
    };
    let data = Executed {
        skill_id: prepared.id.short().to_owned(),
        library: prepared.library.clone(),
        mode: mode(prepared),
        result: None,
        result_report: None,
        logs: Vec::new(),
        granted: Vec::new(),
        would_run: Some(would_run),
    };
    Answer::new(message, Output { data })
}

/// Runs it in a process that has run nothing, and looked at no other skill's files. Blocking.
fn execute(
    desk: &ReadDesk,
    worker: &mut crate::executing::workers::Worker,
    prepared: Prepared,
    granted: &Granted,
    input: Map<String, Value>,
) -> Result<Answer<Output>, Fault> {
    let patterns = granted.patterns()?;
    let request = Request::Run(Box::new(skills::Run {
        skill: prepared.id.name().to_owned(),
        entry: prepared.entry.clone(),
        files: prepared.files.clone(),
        input: Value::Object(input),
        grants: granted.grants(),
        limits: granted.limits(),
    }));
    let mut asked = |event: &Event, most: usize| answer(desk, &patterns, event, most);
    let deadline = Instant::now() + Duration::from_millis(granted.milliseconds + GRACE);
    let events = worker.converse(&request, Talk { deadline, cancel: desk.cancelled(), asked: &mut asked })?;
    let (mut logs, mut ended) = (Vec::new(), None);
    for event in events {
        match event {
            Event::Log { level, text } if logs.len() < LINES => logs.push(match level {
                skills::talk::Level::Warn => format!("warning: {text}"),
                skills::talk::Level::Error => format!("error: {text}"),
                _ => text,
            }),
            Event::Done { result, .. } => ended = Some(Ok(result)),
            Event::Failed { failure, .. } => ended = Some(Err(failure)),
            _ => {}
        }
    }
    let result = match ended {
        Some(Ok(result)) => result,
        Some(Err(failure)) => return Err(failed(&prepared, &failure)),
        None => return Err(Fault::internal("a skill neither returned nor failed")),
    };
    shown(desk, &prepared, result, logs, granted.said())
}

/// The answer of a skill that returned.
fn shown(
    desk: &ReadDesk,
    prepared: &Prepared,
    result: Value,
    logs: Vec<String>,
    granted: Vec<String>,
) -> Result<Answer<Output>, Fault> {
    let written = result.to_string();
    let (result, result_report) = if written.len() > MOST {
        let bytes = serde_json::to_vec_pretty(&result).map_err(|e| Fault::internal(e.to_string()))?;
        let file = ReportFile { name: "result.json".to_owned(), mime: "application/json", bytes };
        let handle = desk.keep_report(&format!("What {} returned", prepared.id), &[file])?;
        (None, Some(format!("report://{handle}")))
    } else {
        (Some(AnyJson(result)), None)
    };
    let mut message = format!("{} ran.", code(prepared.id.short()));
    if let Some(report) = &result_report {
        message.push_str(&format!(" Its result is large ({} bytes): {}.", written.len(), code(report)));
    }
    if !logs.is_empty() {
        message.push_str(&format!(" It said {}.", counted(logs.len(), "line")));
    }
    let data = Executed {
        skill_id: prepared.id.short().to_owned(),
        library: prepared.library.clone(),
        mode: mode(prepared),
        result,
        result_report,
        logs,
        granted,
        would_run: None,
    };
    Ok(Answer::new(message, Output { data }))
}

/// Gives a skill a file of the project, or the paths of some, where that was granted.
fn answer(desk: &ReadDesk, patterns: &[Pattern], event: &Event, most: usize) -> Request {
    let denied = |why: String| Request::Denied(why);
    match event {
        Event::Read(path) => {
            let granted = RelPath::new(path).ok().filter(|path| is_granted(patterns, path));
            let Some(path) = granted else {
                return denied(format!("{} was not granted to be read", visible(path)));
            };
            // A link that stays in the project may lead to what was not granted.
            if !matches!(desk.view().state(&path), Ok(State::File { .. })) {
                return denied(format!("{path} is no file, or a link is on the way to it"));
            }
            match desk.view().read_text(&path) {
                Ok(text) if text.len() <= most => Request::Text(text),
                Ok(_) => denied(format!("{path} is more than what is left to be read")),
                Err(fault) => denied(fault.message),
            }
        }
        Event::Glob(glob) => match desk.view().glob(glob) {
            Ok(paths) => {
                let granted = paths.into_iter().filter(|path| is_granted(patterns, path));
                Request::Paths(granted.take(limits::GLOB_PATHS).map(|path| path.to_string()).collect())
            }
            Err(fault) => denied(fault.message),
        },
        _ => denied("nothing was asked".to_owned()),
    }
}

/// Whether a path is one of those that were granted. Files of secrets are nobody's.
fn is_granted(patterns: &[Pattern], path: &RelPath) -> bool {
    let is_secret = path.components().any(|part| part.to_ascii_lowercase().starts_with(".env"));
    !is_secret && patterns.iter().any(|pattern| pattern.finds(path.as_str()))
}

/// What a skill's own failure means to the caller.
fn failed(prepared: &Prepared, failure: &Failure) -> Fault {
    let code = match failure.kind {
        Kind::Source => Code::InvalidSource,
        Kind::Timeout => Code::Timeout,
        Kind::Memory => Code::ResourceExhausted,
        _ => Code::SkillExecutionFailed,
    };
    let place =
        failure.frames.first().map(|frame| format!(" at {}:{}:{}", frame.file, frame.line, frame.column));
    let message = format!("{}: {}{}", failure.name, failure.message, place.unwrap_or_default());
    let mut fault = Fault::new(code, visible(&message)).about(prepared.entry.clone());
    fault.retryable = false;
    for frame in failure.frames.iter().take(FRAMES) {
        let function = if frame.function.is_empty() { "a function" } else { &frame.function };
        fault = fault
            .suggest(visible(&format!("in {function} at {}:{}:{}", frame.file, frame.line, frame.column)));
    }
    fault
}
