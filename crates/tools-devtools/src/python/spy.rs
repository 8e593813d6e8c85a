//! py-spy: where a program is, a hundred times a second. It reads the memory of what it has started, which only runs in a world of their
//! own may; the program is not stopped for it.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Code, Fault, RelPath};
use exec::reports::ReportFile;
use exec::run::{Command, INPUT, MAX_TIMEOUT, Ran, find};
use kit::RunDesk;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Venv, driver, quiet};
use crate::flames::{self, Stack};
use crate::running;

/// What it writes once the program has ended, a line for each stack.
pub(crate) const STACKS: &str = "stacks.txt";
/// How the program ended.
pub(crate) const ENDED: &str = "ended.txt";
const GRAPH: &str = "flamegraph.html";

/// Samples in a second.
const RATE: u32 = 100;

/// Where the time went.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sampled {
    /// Samples that were taken.
    pub samples: u64,
    /// Samples in a second.
    pub rate: u32,
    /// Samples that could not be read.
    pub errors: u64,
    /// Functions, the one that took longest itself first.
    pub top: Vec<Sampling>,
}

/// A function, by samples.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sampling {
    /// Its name.
    pub function: String,
    /// Its file: from the root where it lies there; none of what is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that was seen most often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Seconds in itself.
    pub self_seconds: f64,
    /// Seconds in it and what it called.
    pub total_seconds: f64,
}

/// What measures `program`: `-m MODULE …` or a file and its arguments.
pub(crate) async fn sampling(
    desk: &RunDesk,
    dir: Option<RelPath>,
    program: Vec<String>,
) -> Result<Command, Fault> {
    let at = dir.clone();
    let python = desk
        .blocking(move |desk| {
            find("py-spy", &desk.programs(), desk.view().root().path()).map_err(|_| {
                Fault::new(Code::ToolExecutionFailed, "py-spy is not on the PATH of whoever started gatewright")
                    .suggest("`uv tool install py-spy` or `pipx install py-spy`; or leave out `profiler`: cProfile measures every call.")
            })?;
            let up = "../".repeat(at.as_ref().map_or(0, |dir| dir.as_str().split('/').count()));
            let venv = Venv::near(desk, at.as_ref())?;
            if let Some(venv) = &venv {
                // One that the repository brings along is started by nobody.
                desk.interpreter(&venv.interpreter()?)?;
            }
            Ok(venv.map_or_else(|| "python3".to_owned(), |venv| format!("{up}{}/bin/python", venv.dir)))
        })
        .await?;
    let mut command = Command::new("py-spy", &[]);
    command.args =
        running::words(&["record", "--nonblocking", "--full-filenames", "--format", "raw", "--rate"]);
    command.args.extend([
        RATE.to_string(),
        "--output".to_owned(),
        format!("{INPUT}{STACKS}"),
        "--".to_owned(),
    ]);
    command.args.extend([python, format!("{INPUT}{}", driver::NAME), format!("{INPUT}{ENDED}")]);
    command.args.extend(program);
    command.inputs.insert(driver::NAME.to_owned(), driver::told());
    command.inputs.extend([STACKS, ENDED].map(|name| (name.to_owned(), Vec::new())));
    command.dir = dir;
    command.timeout = MAX_TIMEOUT;
    command.observes = true;
    Ok(quiet(command))
}

/// The stacks that it wrote, `FRAME;FRAME… COUNT` a line, without what is below the program itself; `named` says how a file is called.
pub(crate) fn stacks(text: &str, named: impl Fn(&str) -> String) -> Vec<Stack> {
    let mut all = Vec::new();
    for line in text.lines() {
        let Some((frames, count)) = line.rsplit_once(' ') else { continue };
        let Ok(samples) = count.parse() else { continue };
        let frames: Vec<(String, Option<String>, Option<u32>)> = frames.split(';').map(parted).collect();
        let is_below = |file: &Option<String>| {
            file.as_ref().is_some_and(|file| {
                file.ends_with(driver::NAME) || file.ends_with("runpy.py") || file.contains("frozen runpy")
            })
        };
        let own = frames.iter().position(|(_, file, _)| !is_below(file));
        let Some(own) = own else { continue };
        let frames = frames.into_iter().skip(own).map(|(function, file, line)| {
            let file = file.filter(|file| !file.starts_with('<')).map(|file| named(&file));
            flames::Frame { function, file, line }
        });
        all.push(Stack { frames: frames.collect(), samples });
    }
    all
}

/// `FUNCTION (FILE:LINE)`, or `FUNCTION (FILE)`.
fn parted(frame: &str) -> (String, Option<String>, Option<u32>) {
    let place = frame.strip_suffix(')').and_then(|frame| frame.rsplit_once(" ("));
    let Some((function, place)) = place else { return (frame.to_owned(), None, None) };
    match place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => (function.to_owned(), Some(file.to_owned()), Some(line)),
        None => (function.to_owned(), Some(place.to_owned()), None),
    }
}

/// The figures of stacks, with the `most` functions that took longest.
pub(crate) fn figures(stacks: &[Stack], ran: &Ran, most: u32) -> Sampled {
    #[derive(Default)]
    struct Sum {
        own: u64,
        total: u64,
        lines: BTreeMap<u32, u64>,
    }
    let mut sums: BTreeMap<(&str, Option<&str>), Sum> = BTreeMap::new();
    for stack in stacks {
        // A function that calls itself is in a stack once.
        let mut seen = BTreeSet::new();
        for (depth, frame) in stack.frames.iter().enumerate() {
            let key = (frame.function.as_str(), frame.file.as_deref());
            let sum = sums.entry(key).or_default();
            if seen.insert(key) {
                sum.total += stack.samples;
            }
            if let Some(line) = frame.line {
                *sum.lines.entry(line).or_default() += stack.samples;
            }
            if depth + 1 == stack.frames.len() {
                sum.own += stack.samples;
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a program that runs minutes")]
    let seconds = |samples: u64| samples as f64 / f64::from(RATE);
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|a, b| (b.1.own, b.1.total, a.0).cmp(&(a.1.own, a.1.total, b.0)));
    let top = rows.into_iter().take(most as usize).map(|((function, file), sum)| Sampling {
        function: function.to_owned(),
        file: file.map(str::to_owned),
        line: sum
            .lines
            .into_iter()
            .max_by_key(|(line, seen)| (*seen, std::cmp::Reverse(*line)))
            .map(|(line, _)| line),
        self_seconds: seconds(sum.own),
        total_seconds: seconds(sum.total),
    });
    let said = ran.stderr.text();
    let errors =
        said.rsplit_once("Errors: ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    Sampled {
        top: top.collect(),
        samples: stacks.iter().map(|stack| stack.samples).sum(),
        rate: RATE,
        errors: errors.unwrap_or(0),
    }
}

/// The flame graph, a page that asks for nothing from elsewhere, and the handle of the report that it is kept as.
pub(crate) async fn graph(desk: &RunDesk, stacks: &[Stack], title: &str) -> Result<(Vec<u8>, String), Fault> {
    let page = flames::page(title, stacks).into_bytes();
    let file = ReportFile { name: GRAPH.to_owned(), mime: "text/html", bytes: page.clone() };
    let kept = desk.blocking(move |desk| desk.keep_report("python_profile", &[file])).await?;
    Ok((page, kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_a_function_a_file_and_a_line() {
        assert_eq!(parted("f (a b.py:3)"), ("f".into(), Some("a b.py".into()), Some(3)));
        assert_eq!(parted("<module> (x.py)"), ("<module>".into(), Some("x.py".into()), None));
        assert_eq!(parted("process 7"), ("process 7".into(), None, None));
    }

    #[test]
    fn what_is_below_the_program_is_left_out_and_what_calls_itself_counts_once() {
        let text = "<module> (/h/measured_by_gatewright.py:20);run_module (<frozen runpy>:226);<module> (app.py:9);f (app.py:2);f (app.py:3) 30\n\
                    <module> (/h/measured_by_gatewright.py:20);<module> (app.py:9);f (app.py:3) 10\n\
                    <module> (/h/measured_by_gatewright.py:3) 2\nnothing\n";
        let stacks = stacks(text, str::to_owned);
        assert_eq!(stacks.iter().map(|stack| stack.frames.len()).collect::<Vec<_>>(), [3, 2]);
        let ran = Ran {
            line: Vec::new(),
            exit: exec::run::Exit::Code(0),
            stdout: exec::run::Captured::default(),
            stderr: exec::run::Captured::default(),
            took: std::time::Duration::ZERO,
            level: exec::run::Level::Full,
            reached: Vec::new(),
            refused: Vec::new(),
            handle: None,
        };
        let told = figures(&stacks, &ran, 1);
        assert_eq!((told.samples, told.top.len()), (40, 1));
        assert_eq!((told.top[0].function.as_str(), told.top[0].line), ("f", Some(3)));
        assert!(
            (told.top[0].self_seconds - 0.4).abs() < 1e-9 && (told.top[0].total_seconds - 0.4).abs() < 1e-9
        );
    }
}
