//! Read a run's output.
//!
//! Shows lines of what a program said, by range, by a regular expression, or around its first failure. Returns numbered
//! lines and how many there are; use it when a result was cut or could not be parsed.

use std::io::BufRead as _;

use contract::{Fault, Toolset};
use exec::kept::KeptStream;
use kit::kinds::List;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::RUNS;

/// Longest line that is shown, in characters.
const MAX_LINE: usize = 2_000;

/// Lines shown before and after the first failure.
const AROUND: (u64, u64) = (10, 40);

/// Largest expression, in characters.
const MAX_EXPRESSION: usize = 1_000;

/// What says of a line that something failed there.
const FAILURE: &str = r"(?ix)
    ^\s*(---\ FAIL|FAIL\b|FAILED\b|not\ ok\b|panic:|fatal:|E\s{3})
    | \b(error|failed|failure|fatal|panicked|exception|traceback|undefined\ reference|segmentation\ fault|assert(ion)?\s?(error|failed))\b
    | [✗✘×]\s
    | ^make(\[\d+\])?:\ \*\*\*";

/// Which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Which lines of which run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The run: a result's `runs[].run`.
    pub run: String,
    /// Which stream; without, the one that has it.
    #[serde(default)]
    pub stream: Option<Stream>,
    /// Lines, such as `120-180` or `900-`.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[0-9]{1,9}-([0-9]{1,9})?$"))]
    pub range: Option<String>,
    /// Only lines that match this regular expression.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    pub grep: Option<String>,
    /// Only the lines around the first failure.
    #[serde(default)]
    pub around_failure: bool,
}

/// What it said.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The lines.
    pub lines: Vec<Line>,
    /// Which stream they are of.
    pub stream: Stream,
    /// The command line.
    pub command: String,
    /// How the program ended: an exit code or a signal.
    pub ended: String,
    /// Lines of the stream that are kept.
    pub total_lines: u64,
    /// Bytes that the program said and that are not kept.
    pub lost_bytes: u64,
    /// Lines of the other stream.
    pub other_lines: u64,
}

/// One line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// What it says.
    pub text: String,
}

/// The tool.
#[derive(Debug, Default)]
pub struct RunOutput;

impl Define for RunOutput {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "run_output";
    const TOOLSET: Toolset = RUNS;
    const DOC: Doc = doc!("run_output.rs");
    const LIMITS: Limits = Limits::FREE;
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("lines");

    fn examples() -> Vec<Value> {
        let run = "run_00000000000000000000000000000000";
        vec![
            json!({ "run": run, "aroundFailure": true }),
            json!({ "run": run, "stream": "stderr", "range": "10-40" }),
            json!({ "run": run, "grep": "^--- FAIL", "limit": 20 }),
        ]
    }
}

impl Read for RunOutput {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let wanted = Wanted::of(&input)?;
        desk.blocking(move |desk| {
            let kept = desk.kept_run(&input.run)?;
            let of = |stream: Stream| match stream {
                Stream::Stdout => (&kept.stdout, &kept.stderr),
                Stream::Stderr => (&kept.stderr, &kept.stdout),
            };
            let mut has = [Stream::Stdout, Stream::Stderr].into_iter();
            let chosen = match input.stream {
                Some(named) => named,
                None => loop {
                    let Some(stream) = has.next() else { break Stream::Stdout };
                    if wanted.is_in(desk, of(stream).0)? {
                        break stream;
                    }
                },
            };
            let (stream, other) = of(chosen);
            let (lines, total) = selected(desk, stream, &wanted)?;
            let shown = lines.len() as u64;
            let ended = match kept.exit {
                exec::run::Exit::Code(code) => format!("exit code {code}"),
                exec::run::Exit::Signal(signal) => format!("signal {signal}"),
            };
            let message = match (stream.lines, total) {
                (0, _) => format!(
                    "`{}` said nothing there ({ended}); the other stream has {} lines.",
                    kept.line.join(" "),
                    other.lines
                ),
                (all, 0) => format!("None of its {all} lines is asked for."),
                (all, total) => format!(
                    "{shown} of {total} lines that are asked for, of {all} in all; `{}` ended with {ended}.",
                    kept.line.join(" ")
                ),
            };
            let list = List { field: "lines".into(), total, offset: desk.page().offset };
            let output = Output {
                lines,
                stream: chosen,
                command: kept.line.join(" "),
                ended,
                total_lines: stream.lines,
                lost_bytes: stream.said.saturating_sub(stream.bytes),
                other_lines: other.lines,
            };
            Ok(Answer { list: Some(list), ..Answer::new(message, output) })
        })
        .await
    }
}

/// Which lines are wanted.
struct Wanted {
    from: u64,
    to: u64,
    matching: Option<Regex>,
    failure: Option<Regex>,
}

impl Wanted {
    fn of(input: &Input) -> Result<Self, Fault> {
        let (mut from, mut to) = (1, u64::MAX);
        if let Some((first, last)) = input.range.as_deref().and_then(|range| range.split_once('-')) {
            from = first.parse().unwrap_or(1).max(1);
            to = last.parse().unwrap_or(u64::MAX);
            if to < from {
                return Err(Fault::invalid(format!("range: {from}-{to} ends before it begins")));
            }
        }
        let expression = |text: &str| {
            RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| {
                let why = error.to_string().lines().last().unwrap_or_default().to_owned();
                Fault::invalid(format!("grep: {why}"))
                    .suggest("Escape what is meant literally with a backslash.")
            })
        };
        let matching = match &input.grep {
            Some(text) if text.chars().count() > MAX_EXPRESSION => {
                return Err(Fault::invalid(format!("grep: at most {MAX_EXPRESSION} characters")));
            }
            Some(text) => Some(expression(text)?),
            None => None,
        };
        let failure = input.around_failure.then(|| expression(FAILURE)).transpose()?;
        Ok(Self { from, to, matching, failure })
    }
}

impl Wanted {
    /// Whether any line of `stream` is what is looked for.
    fn is_in(&self, desk: &ReadDesk, stream: &KeptStream) -> Result<bool, Fault> {
        let expression = self.failure.as_ref().or(self.matching.as_ref());
        let mut found = false;
        each_line(desk, stream, |number, text| {
            let is_it = expression.is_none_or(|expression| expression.is_match(text));
            found = is_it && number >= self.from && number <= self.to;
            !found && number <= self.to
        })?;
        Ok(found)
    }
}

/// The wanted lines of the page that was asked for, and how many are wanted in all.
fn selected(desk: &ReadDesk, stream: &KeptStream, wanted: &Wanted) -> Result<(Vec<Line>, u64), Fault> {
    let (from, to) = match &wanted.failure {
        None => (wanted.from, wanted.to),
        Some(failure) => {
            let mut first = None;
            each_line(desk, stream, |number, text| {
                let is_it = number >= wanted.from && number <= wanted.to && failure.is_match(text);
                first = first.or(is_it.then_some(number));
                first.is_none()
            })?;
            match first {
                Some(first) => {
                    (first.saturating_sub(AROUND.0).max(wanted.from), (first + AROUND.1).min(wanted.to))
                }
                // Where nothing looks like a failure, the end is the best guess.
                None => (stream.lines.saturating_sub(AROUND.1).max(wanted.from), wanted.to),
            }
        }
    };
    let page = desk.page();
    let (mut lines, mut total) = (Vec::new(), 0);
    each_line(desk, stream, |number, text| {
        if number < from || wanted.matching.as_ref().is_some_and(|matching| !matching.is_match(text)) {
            return true;
        }
        if number > to {
            return false;
        }
        if total >= page.offset && (lines.len() as u64) < page.limit {
            lines.push(Line { number, text: shortened(text) });
        }
        total += 1;
        true
    })?;
    Ok((lines, total))
}

/// Shows each line to `look`, until it has seen enough.
fn each_line(
    desk: &ReadDesk,
    stream: &KeptStream,
    mut look: impl FnMut(u64, &str) -> bool,
) -> Result<(), Fault> {
    let mut reader = desk.output(stream)?;
    let (mut bytes, mut number) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes).map_err(|e| {
            Fault::new(
                contract::Code::FilesystemError,
                format!("the kept output cannot be read: {}", e.kind()),
            )
        })?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        if number % 10_000 == 0 {
            desk.check()?;
        }
        let text = String::from_utf8_lossy(&bytes);
        if !look(number, text.trim_end_matches(['\n', '\r'])) {
            return Ok(());
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}
