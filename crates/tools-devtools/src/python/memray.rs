//! memray: what a program allocated, and the flame graph of its peak.

use contract::{Code, Fault, RelPath};
use exec::reports::ReportFile;
use exec::run::{Command, INPUT, MAX_TIMEOUT};
use kit::RunDesk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{From, missing, placed, quiet, said};
use crate::running;

/// What it writes while the program runs.
pub(crate) const TRACKED: &str = "memory.bin";
const FIGURES: &str = "memory.json";
const GRAPH: &str = "flamegraph.html";

/// What was allocated.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Most that was held at once, in bytes.
    pub peak_bytes: u64,
    /// What was allocated in all, in bytes.
    pub total_bytes: u64,
    /// How often.
    pub allocations: u64,
    /// Lines that allocated, the one with most bytes first.
    pub top: Vec<Allocating>,
}

/// A line that allocates.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allocating {
    /// Its function.
    pub function: String,
    /// Its file: from the root where it lies there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it allocated in all.
    pub bytes: u64,
}

/// `memray stats --json`, as far as it is needed.
#[derive(Deserialize)]
struct Stats {
    total_num_allocations: u64,
    total_bytes_allocated: u64,
    top_allocations_by_size: Vec<Place>,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Place {
    location: String,
    size: u64,
}

#[derive(Deserialize)]
struct Metadata {
    peak_memory: u64,
}

/// A command of memray: by the environment's interpreter where it is installed there, else the machine's.
pub(crate) async fn command(
    desk: &RunDesk,
    dir: Option<RelPath>,
    args: Vec<String>,
) -> Result<Command, Fault> {
    let at = dir.clone();
    let place = desk.blocking(move |desk| placed(desk, "memray", at.as_ref())).await?;
    let mut command = Command::new("memray", &[]);
    match place.ok_or_else(|| missing("memray"))? {
        From::Venv(venv) => {
            command.program = "python".into();
            command.interpreter = Some(venv.interpreter()?);
            command.args = vec!["-m".to_owned(), "memray".to_owned()];
        }
        From::Path => {}
    }
    command.args.extend(args);
    command.dir = dir;
    command.timeout = MAX_TIMEOUT;
    Ok(quiet(command))
}

/// What makes the record: `program` is `-m MODULE …` or a file and its arguments.
pub(crate) async fn tracking(
    desk: &RunDesk,
    dir: Option<RelPath>,
    program: Vec<String>,
) -> Result<Command, Fault> {
    let mut args = running::words(&["run", "--quiet", "--force", "-o"]);
    args.push(format!("{INPUT}{TRACKED}"));
    args.extend(program);
    let mut command = command(desk, dir, args).await?;
    command.inputs.insert(TRACKED.to_owned(), Vec::new());
    Ok(command)
}

/// Has memray make one file of a record.
async fn made(
    desk: &RunDesk,
    dir: Option<RelPath>,
    flags: &[&str],
    file: &'static str,
    tracked: &[u8],
) -> Result<Vec<u8>, Fault> {
    let mut args = running::words(flags);
    args.extend(["-o".to_owned(), format!("{INPUT}{file}"), format!("{INPUT}{TRACKED}")]);
    let mut command = command(desk, dir, args).await?;
    command.inputs.insert(TRACKED.to_owned(), tracked.to_vec());
    command.inputs.insert(file.to_owned(), Vec::new());
    let ran = desk.run(running::configured(desk, command).await?).await?;
    super::left(desk, file).await?.filter(|_| ran.is_success()).ok_or_else(|| {
        let why = said(&ran.stderr.text());
        Fault::new(Code::ToolExecutionFailed, format!("what memray recorded cannot be read: {why}"))
            .suggest("The program may have ended before its record was whole; `run_output` has what it said.")
    })
}

/// The figures of a record, with the `top` lines; `named` says how a file is called from the root.
pub(crate) async fn figures(
    desk: &RunDesk,
    dir: Option<RelPath>,
    tracked: &[u8],
    top: u32,
    named: impl Fn(&str) -> String,
) -> Result<Memory, Fault> {
    let many = top.to_string();
    let bytes = made(desk, dir, &["stats", "--json", "--force", "-n", &many], FIGURES, tracked).await?;
    let stats: Stats = serde_json::from_slice(&bytes).map_err(|_| {
        Fault::new(Code::ToolExecutionFailed, "this memray says its figures in another form than 1.20's")
            .suggest("Update memray, or leave out `profiler`.")
    })?;
    let lines = stats.top_allocations_by_size.into_iter().map(|place| {
        let (function, file, line) = parted(&place.location);
        Allocating { function, file: file.map(|file| named(&file)), line, bytes: place.size }
    });
    Ok(Memory {
        peak_bytes: stats.metadata.peak_memory,
        total_bytes: stats.total_bytes_allocated,
        allocations: stats.total_num_allocations,
        top: lines.collect(),
    })
}

/// `FUNCTION:FILE:LINE`; what is built in has a file between angle brackets.
fn parted(location: &str) -> (String, Option<String>, Option<u32>) {
    let parts = location.rsplit_once(':').and_then(|(front, line)| Some((front, line.parse().ok()?)));
    let Some((front, line)) = parts else { return (location.to_owned(), None, None) };
    match front.split_once(':') {
        Some((function, file)) if !file.starts_with('<') => {
            (function.to_owned(), Some(file.to_owned()), Some(line))
        }
        Some((function, _)) => (function.to_owned(), None, None),
        None => (front.to_owned(), None, None),
    }
}

/// The flame graph of the peak, a page that asks for nothing from elsewhere, and the handle of the report that it is kept as.
pub(crate) async fn graph(
    desk: &RunDesk,
    dir: Option<RelPath>,
    tracked: &[u8],
) -> Result<(Vec<u8>, String), Fault> {
    let page = made(desk, dir, &["flamegraph", "--no-web", "--force"], GRAPH, tracked).await?;
    let file = ReportFile { name: GRAPH.to_owned(), mime: "text/html", bytes: page.clone() };
    let kept = desk.blocking(move |desk| desk.keep_report("python_profile", &[file])).await?;
    Ok((page, kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_function_a_file_and_a_line() {
        assert_eq!(parted("<listcomp>:app.py:3"), ("<listcomp>".into(), Some("app.py".into()), Some(3)));
        assert_eq!(parted("get:<frozen importlib>:12"), ("get".into(), None, None));
        assert_eq!(parted("<root>"), ("<root>".into(), None, None));
    }
}
