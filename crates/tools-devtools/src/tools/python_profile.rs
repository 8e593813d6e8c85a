//! Find where a Python program spends its time.
//!
//! Runs a file of the project, a module, or its tests under cProfile. Returns the functions that took longest with file, line, calls and
//! seconds; with pyspy, which samples, the same without calls, and a flame graph; with memray, the lines that allocated most, and one of
//! those. `outputFile` proposes the profile itself as a file. Started without a shell, confined, without network.

use contract::{Code, Fault, RelPath, Toolset};
use exec::run::{Cache, INPUT};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::python::memray::{self, Memory};
use crate::python::spy::{self, Sampled};
use crate::python::{self, driver};
use crate::running::{self, Asked, WHATEVER_IS_IGNORED};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// `python app.py ARGS`, `python -m pytest ARGS`, or `app.py`.
    #[schemars(length(min = 1, max = 4_000))]
    pub command: String,
    /// What measures.
    #[serde(default)]
    pub profiler: Profiler,
    /// Most functions to name.
    #[serde(default = "twenty", rename = "topN")]
    #[schemars(range(min = 1, max = 200))]
    pub top_n: u32,
    /// Where to propose the profile.
    #[serde(default)]
    pub output_file: Option<String>,
    /// How the message shows it.
    #[serde(default)]
    pub format: Shown,
}

const fn twenty() -> u32 {
    20
}

/// What measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Profiler {
    #[default]
    Cprofile,
    Pyspy,
    Memray,
}

/// How the message shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Shown {
    #[default]
    Text,
    Json,
    Flamegraph,
}

/// What it says.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Seconds in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Calls in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Functions, the one that took longest itself first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<Function>,
    /// Functions that were called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<u64>,
    /// How the program ended, where it did by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What py-spy saw.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// What memray measured.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Handle of the report with the flame graph (`report://`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// A function.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// Its name.
    pub function: String,
    /// Its file: from the root where it lies there; none of what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How often it was called.
    pub calls: u64,
    /// Seconds in itself.
    pub self_seconds: f64,
    /// Seconds in it and what it called.
    pub total_seconds: f64,
}

/// Reads a profile by Python's own module, and says it as JSON.
const READER: &str = r#"import json, pstats, sys
stats = pstats.Stats(sys.argv[1])
rows = []
for (file, line, name), (_, calls, own, total, _) in stats.stats.items():
    known = line > 0 and not file.startswith("<")
    rows.append({"function": name, "file": file if known else None, "line": line if known else None,
                 "calls": calls, "selfSeconds": round(own, 6), "totalSeconds": round(total, 6)})
rows.sort(key=lambda row: (-row["selfSeconds"], -row["totalSeconds"], row["function"], row["file"] or ""))
print(json.dumps({"seconds": round(stats.total_tt, 6), "calls": stats.total_calls,
                  "top": rows[: int(sys.argv[2])], "functions": len(rows)}))
"#;

/// What is left of a profile, and what reads it.
const PROFILE: &str = "profile.pstats";
const SCRIPT: &str = "read.py";

/// The tool.
#[derive(Debug, Default)]
pub struct PythonProfile;

impl Define for PythonProfile {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_profile";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_profile.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["python3", "python", "memray", "py-spy"];
    const CACHES: &'static [Cache] = python::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "command": "python -m pytest -q" }),
            json!({ "command": "python app.py", "profiler": "memray", "format": "flamegraph" }),
            json!({ "command": "python app.py", "profiler": "pyspy", "format": "flamegraph" }),
            json!({ "command": "python app.py --rounds 3", "topN": 5, "format": "json", "outputFile": "app.pstats" }),
        ]
    }
}

impl Run for PythonProfile {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        possible(&input)?;
        let asked = Asked::of(&desk);
        let dir = running::directory(asked.directory)?;
        let own = desk.asked().args.clone();
        let at = dir.clone();
        let line = input.command.clone();
        let program = desk.blocking(move |desk| profiled(desk, at.as_ref(), &line, &own)).await?;
        let kept = input
            .output_file
            .as_deref()
            .map(|file| exec::view::path_argument(&asked.below(file)))
            .transpose()?;
        match input.profiler {
            Profiler::Memray => return remembered(&input, &desk, dir, program, kept.as_ref()).await,
            Profiler::Pyspy => return sampled(&input, &desk, dir, program, kept.as_ref()).await,
            Profiler::Cprofile => {}
        }
        let mut measure = python::interpreter(&desk, dir.clone(), Vec::new())?;
        measure.inputs.insert(driver::NAME.to_owned(), driver::profiled());
        measure.inputs.insert(PROFILE.to_owned(), Vec::new());
        measure.args = vec![format!("{INPUT}{}", driver::NAME), format!("{INPUT}{PROFILE}")];
        measure.args.extend(program);
        let measure = running::configured(&desk, measure).await?;
        let ran = desk.run(measure).await?;
        let Some(profile) = python::left(&desk, PROFILE).await? else { return Ok(nothing(&ran)) };
        if let Some(path) = &kept {
            place(&desk, dir.clone(), path, &profile).await?;
        }
        let mut read = python::interpreter(&desk, dir, Vec::new())?;
        // Nothing of the project is loaded to read a file.
        read.args = vec![
            "-I".to_owned(),
            format!("{INPUT}{SCRIPT}"),
            format!("{INPUT}{PROFILE}"),
            input.top_n.to_string(),
        ];
        read.inputs.insert(SCRIPT.to_owned(), READER.as_bytes().to_vec());
        read.inputs.insert(PROFILE.to_owned(), profile);
        let figures = desk.run(read).await?;
        let mut output: Output = serde_json::from_slice(&figures.stdout.bytes).map_err(|_| {
            let said = python::said(&figures.stderr.text());
            Fault::new(Code::ToolExecutionFailed, format!("the profile cannot be read: {said}")).suggest(
                "The program may have ended before its profile was whole; `run_output` has what it said.",
            )
        })?;
        for function in &mut output.top {
            function.file = function.file.as_deref().map(|file| from_root(&desk, file));
        }
        output.exit_code = ran.code();
        Ok(answered(output, input.format, ran.is_success()))
    }
}

/// What cannot be had is said before anything runs.
fn possible(input: &Input) -> Result<(), Fault> {
    match (input.profiler, input.format) {
        (Profiler::Cprofile, Shown::Flamegraph) => {
            Err(Fault::invalid("format: cProfile keeps no stacks, of which a flame graph would be made")
                .suggest("Take `pyspy` for one of time or `memray` for one of memory, or give `outputFile` to a viewer of profiles."))
        }
        _ => Ok(()),
    }
}

/// How a file is called from the root.
fn from_root(desk: &RunDesk, file: &str) -> String {
    let root = format!("{}/", desk.view().root().path().display());
    if file.starts_with('/') {
        return file.strip_prefix(&root).unwrap_or(file).to_owned();
    }
    // What is started by its name is known by that.
    Asked::of(desk).below(file)
}

/// The answer, in words too.
fn answered(output: Output, format: Shown, success: bool) -> Answer<Output> {
    let message = message(&output, format, success);
    Answer { success, ..Answer::new(message, output) }
}

/// What there is to say where no profile was left.
fn nothing(ran: &exec::run::Ran) -> Answer<Output> {
    let said = python::said(&ran.stderr.text());
    let message = format!("Nothing was measured: the program left no profile. {said}");
    let output = Output { exit_code: ran.code(), ..Output::default() };
    Answer { success: false, ..Answer::new(message, output) }
}

/// Measures memory.
async fn remembered(
    input: &Input,
    desk: &RunDesk,
    dir: Option<RelPath>,
    program: Vec<String>,
    kept: Option<&RelPath>,
) -> Result<Answer<Output>, Fault> {
    let command = memray::tracking(desk, dir.clone(), program).await?;
    let ran = desk.run(running::configured(desk, command).await?).await?;
    let Some(tracked) = python::left(desk, memray::TRACKED).await? else { return Ok(nothing(&ran)) };
    let named = |file: &str| from_root(desk, file);
    let memory = memray::figures(desk, dir.clone(), &tracked, input.top_n, named).await?;
    let (mut proposed, mut report) = (tracked, None);
    if input.format == Shown::Flamegraph {
        let (page, handle) = memray::graph(desk, dir.clone(), &proposed).await?;
        (proposed, report) = (page, Some(handle));
    }
    if let Some(path) = kept {
        place(desk, dir, path, &proposed).await?;
    }
    let output = Output { exit_code: ran.code(), memory: Some(memory), report, ..Output::default() };
    Ok(answered(output, input.format, ran.is_success()))
}

/// Samples.
async fn sampled(
    input: &Input,
    desk: &RunDesk,
    dir: Option<RelPath>,
    program: Vec<String>,
    kept: Option<&RelPath>,
) -> Result<Answer<Output>, Fault> {
    let command = spy::sampling(desk, dir.clone(), program).await?;
    let ran = desk.run(running::configured(desk, command).await?).await?;
    // A program that only waits is in no sample, and ends all the same.
    let (written, ended) = (python::left(desk, spy::STACKS).await?, python::left(desk, spy::ENDED).await?);
    if written.is_none() && ended.is_none() {
        let mut answer = nothing(&ran);
        // That one is py-spy's own.
        answer.output.exit_code = None;
        return Ok(answer);
    }
    let written = written.unwrap_or_default();
    let stacks = spy::stacks(&String::from_utf8_lossy(&written), |file| from_root(desk, file));
    let sampled = spy::figures(&stacks, &ran, input.top_n);
    let (mut proposed, mut report) = (written, None);
    if input.format == Shown::Flamegraph {
        let (page, handle) = spy::graph(desk, &stacks, &input.command).await?;
        (proposed, report) = (page, Some(handle));
    }
    if let Some(path) = kept {
        place(desk, dir, path, &proposed).await?;
    }
    let exit_code = ended.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse().ok());
    let output = Output { exit_code, sampled: Some(sampled), report, ..Output::default() };
    Ok(answered(output, input.format, exit_code == Some(0)))
}

/// What is run under the profiler: `-m MODULE …` by the grammar of Python, or a file of the project with its arguments.
fn profiled(
    desk: &kit::ReadDesk,
    dir: Option<&RelPath>,
    command: &str,
    more: &[String],
) -> Result<Vec<String>, Fault> {
    let mut words = grammar::split(command).map_err(|error| Fault::invalid(format!("command: {error}")))?;
    if words.first().is_some_and(|first| ["python", "python3"].contains(&first.as_str())) {
        words.remove(0);
    }
    if words.first().is_some_and(|first| first == "pytest") {
        words.insert(0, "-m".to_owned());
    }
    words.extend(more.iter().cloned());
    let Some(first) = words.first() else {
        return Err(
            Fault::invalid("command: it names neither a file nor a module").suggest("Write `python app.py`.")
        );
    };
    if first == "-m" {
        running::held("python", &words, dir)?;
        return Ok(words);
    }
    if first.starts_with('-') || !python::is_source(first) {
        return Err(Fault::invalid(format!(
            "command: {first:?} is neither a file of the project that ends in .py nor `-m`"
        ))
        .suggest("Write `python app.py`, or `python -m pytest`; text is never run as a program."));
    }
    let below = dir.map_or_else(|| first.clone(), |dir| format!("{dir}/{first}"));
    let path = exec::view::path_argument(&below)?;
    if !matches!(desk.view().state(&path)?, contract::State::File { .. }) {
        return Err(Fault::new(Code::NotFound, format!("{path}: there is no such file"))
            .about(path.as_str())
            .suggest("Name a file below the root, from `directory` where that is given."));
    }
    Ok(words)
}

/// Has the profile written where it is proposed: by the interpreter, over the copy that the programs work over.
async fn place(desk: &RunDesk, dir: Option<RelPath>, path: &RelPath, profile: &[u8]) -> Result<(), Fault> {
    let up = "../".repeat(dir.as_ref().map_or(0, |dir| dir.as_str().split('/').count()));
    let mut copy = python::interpreter(desk, dir, Vec::new())?;
    copy.args =
        vec!["-I".to_owned(), format!("{INPUT}copy.py"), format!("{INPUT}{PROFILE}"), format!("{up}{path}")];
    let script = "import os, shutil, sys\nos.makedirs(os.path.dirname(sys.argv[2]) or '.', exist_ok=True)\nshutil.copyfile(sys.argv[1], sys.argv[2])\n";
    copy.inputs.insert("copy.py".to_owned(), script.as_bytes().to_vec());
    copy.inputs.insert(PROFILE.to_owned(), profile.to_vec());
    let ran = desk.run(copy).await?;
    if ran.is_success() {
        return Ok(());
    }
    let said = python::said(&ran.stderr.text());
    Err(Fault::new(Code::ToolExecutionFailed, format!("outputFile: {path} cannot be written: {said}"))
        .suggest("Name a file in a folder of the project."))
}

fn message(output: &Output, format: Shown, success: bool) -> String {
    if format == Shown::Json {
        return serde_json::to_string_pretty(output).unwrap_or_default();
    }
    let ended = match output.exit_code {
        _ if success => String::new(),
        Some(code) => format!(" The program ended with exit code {code}."),
        None if output.sampled.is_some() => " How the program ended is not known.".to_owned(),
        None => " The program was ended by a signal.".to_owned(),
    };
    let place = |file: &Option<String>, line: Option<u32>| match (file, line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        _ => String::new(),
    };
    if let Some(sampled) = &output.sampled {
        let errors = match sampled.errors {
            0 => String::new(),
            errors => format!("; {errors} could not be read"),
        };
        let mut text = format!("{} samples, {} a second{errors}.{ended}\n", sampled.samples, sampled.rate);
        if let Some(report) = &output.report {
            text.push_str(&format!("\nThe flame graph: `report://{report}`.\n"));
        }
        for row in &sampled.top {
            text.push_str(&format!(
                "\n- {} s self, {} s total: `{}`{}",
                row.self_seconds,
                row.total_seconds,
                row.function,
                place(&row.file, row.line)
            ));
        }
        return text;
    }
    if let Some(memory) = &output.memory {
        let mut text = format!(
            "{} bytes at most, {} in {} allocations.{ended}\n",
            memory.peak_bytes, memory.total_bytes, memory.allocations
        );
        if let Some(report) = &output.report {
            text.push_str(&format!("\nThe flame graph of the peak: `report://{report}`.\n"));
        }
        for row in &memory.top {
            text.push_str(&format!(
                "\n- {} bytes: `{}`{}",
                row.bytes,
                row.function,
                place(&row.file, row.line)
            ));
        }
        return text;
    }
    let mut text = format!(
        "{} s in {} calls of {} functions.{ended}\n",
        output.seconds.unwrap_or_default(),
        output.calls.unwrap_or_default(),
        output.functions.unwrap_or_default()
    );
    for row in &output.top {
        text.push_str(&format!(
            "\n- {} s self, {} s total, {} calls: `{}`{}",
            row.self_seconds,
            row.total_seconds,
            row.calls,
            row.function,
            place(&row.file, row.line)
        ));
    }
    text
}
