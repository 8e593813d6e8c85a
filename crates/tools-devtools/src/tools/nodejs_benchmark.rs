//! Run a Node project's benchmarks.
//!
//! Runs the project's benchmarks with its own vitest. Returns nanoseconds for each operation, operations a second and the margin of error,
//! and what threw. With `iterations` everything runs that often, and the median counts; use it before and after a change.

use std::collections::BTreeMap;

use contract::text::counted;
use contract::{Code, Fault, Toolset};
use exec::run::{Cache, Command, MAX_TIMEOUT, Ran};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Benchmark, Context, Format, Report};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::families::NODE;
use crate::findings::{self, Findings};
use crate::running::{self, ALL_CACHES, Asked, WHATEVER_IS_IGNORED, configured, words};
use crate::window::is_installed;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Glob of files, or part of their names.
    #[serde(default = "usual")]
    #[schemars(length(max = 200))]
    pub pattern: String,
    /// How often all of them run.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 20))]
    pub iterations: u32,
}

/// Files of benchmarks where nobody says: of those vitest itself knows more.
const USUAL: &str = "**/*.bench.{ts,js}";

fn usual() -> String {
    USUAL.to_owned()
}

const fn once() -> u32 {
    1
}

/// Most files that a pattern may name.
const MAX_FILES: usize = 500;

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsBenchmark;

impl Define for NodejsBenchmark {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "nodejs_benchmark";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_benchmark.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["vitest", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "pattern": "bench/**/*.bench.ts", "iterations": 3 })]
    }
}

impl Run for NodejsBenchmark {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let dir = running::directory(asked.directory)?;
        let there = dir.clone();
        let has_vitest = desk
            .blocking(move |desk| {
                running::is_there(desk, there.as_ref())?;
                is_installed(desk, "vitest", there.as_ref())
            })
            .await?;
        if !has_vitest {
            return Err(Fault::new(Code::ToolExecutionFailed, "vitest is not installed here").suggest(
                "A file of benchmarks is code that only a runner runs: `npm install --save-dev vitest`.",
            ));
        }
        let files = files(&desk, &asked, &input.pattern).await?;
        let mut command = asked.node_command(&desk, "vitest", words(&["bench", "--run"]), files)?;
        // After what callers may say, since none of them may write there: it is the run's own output, and no file of the project's.
        command.args.push("--outputJson=/dev/stdout".to_owned());
        command.timeout = MAX_TIMEOUT;
        let mut rounds = Vec::new();
        let mut last: Option<(Ran, Report)> = None;
        for _ in 0..input.iterations.clamp(1, 20) {
            desk.check()?;
            let (ran, mut report) = measured(&desk, command.clone()).await?;
            rounds.push(std::mem::take(&mut report.benchmarks));
            let ended = !ran.is_success() || report.levels.errors > 0;
            last = Some((ran, report));
            if ended {
                break;
            }
        }
        let Some((ran, mut report)) = last else { return Err(Fault::internal("no round ran")) };
        let times = rounds.len() as u64;
        report.benchmarks = medians(rounds);
        let (many, threw) = (report.benchmarks.len() as u64, report.levels.errors);
        let mut answer = findings::answer("`vitest bench`", &ran, report, false);
        // It ends with 0 although some of them threw.
        answer.success &= threw == 0;
        let medians = if times > 1 { format!(", medians of {times} rounds") } else { String::new() };
        answer.message.push_str(&format!("\n\n{}{medians}.", counted(many, "result")));
        for one in &answer.output.benchmarks {
            if let Some(each) = one.ns_per_op {
                answer.message.push_str(&format!("\n- `{}`: {each:.1} ns each", one.name));
            }
        }
        Ok(answer)
    }
}

/// What vitest is given: the files that a glob finds, else the words that it looks for in their paths.
async fn files(desk: &RunDesk, asked: &Asked<'_>, pattern: &str) -> Result<Vec<String>, Fault> {
    if pattern == USUAL || pattern.is_empty() {
        return Ok(Vec::new());
    }
    if !exec::view::is_pattern(pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    let (whole, named) = (asked.below(pattern), pattern.to_owned());
    let from = whole.len() - pattern.strip_prefix("./").unwrap_or(pattern).len();
    desk.blocking(move |desk| {
        let found = desk.view().glob(&whole)?;
        if found.is_empty() {
            return Err(Fault::new(Code::NotFound, format!("pattern: no file is {named:?}"))
                .suggest("Name files of benchmarks, such as `**/*.bench.ts`."));
        }
        if found.len() > MAX_FILES {
            return Err(Fault::new(Code::TooLarge, format!("pattern: {} files are too many", found.len()))
                .suggest("Name a folder with `directory`."));
        }
        Ok(found.iter().filter_map(|path| path.as_str().get(from..)).map(str::to_owned).collect())
    })
    .await
}

/// Runs them once. What vitest says to people stands around what it says to programs.
async fn measured(desk: &RunDesk, command: Command) -> Result<(Ran, Report), Fault> {
    let command = configured(desk, command).await?;
    let dir = command.dir.clone();
    let ran = desk.run(command).await?;
    let root = desk.view().root().path().display().to_string();
    let dir = dir.as_ref().map_or("", contract::RelPath::as_str);
    let context = Context { root: &root, dir, modules: &[] };
    let told = document(&ran.stdout.bytes);
    let stderr: &[u8] = if told.is_some() { b"" } else { &ran.stderr.bytes };
    let report =
        reports::read(Format::VitestBench, told.unwrap_or(&ran.stdout.bytes), stderr, ran.code(), &context);
    Ok((ran, report))
}

/// The document in what vitest wrote: it begins and ends a line of its own.
fn document(said: &[u8]) -> Option<&[u8]> {
    const BEGIN: &[u8] = b"{\n  \"files\": [";
    let start = said.windows(BEGIN.len()).position(|window| window == BEGIN)?;
    let rest = said.get(start..)?;
    let end = rest.windows(3).position(|window| window == b"\n}\n" || window == b"\n}B")? + 2;
    rest.get(..end)
}

/// Of each benchmark the round that took neither the most nor the least.
fn medians(rounds: Vec<Vec<Benchmark>>) -> Vec<Benchmark> {
    let mut order = Vec::new();
    let mut by: BTreeMap<(Option<String>, String), Vec<Benchmark>> = BTreeMap::new();
    for one in rounds.into_iter().flatten() {
        let key = (one.suite.clone(), one.name.clone());
        if !order.contains(&key) {
            order.push(key.clone());
        }
        by.entry(key).or_default().push(one);
    }
    let middle = |key| {
        let mut all: Vec<Benchmark> = by.remove(&key)?;
        all.sort_by(|a, b| a.ns_per_op.unwrap_or_default().total_cmp(&b.ns_per_op.unwrap_or_default()));
        let at = (all.len() - 1) / 2;
        Some(all.swap_remove(at))
    };
    order.into_iter().filter_map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_found_among_what_people_are_told() {
        let said =
            b"\n RUN  v4\n{\n  \"files\": [\n    {\n    }\n  ]\n}Benchmark report written to /dev/stdout\n";
        assert_eq!(document(said), Some(&b"{\n  \"files\": [\n    {\n    }\n  ]\n}"[..]));
        assert_eq!(document(b"{}"), None);
        assert_eq!(document(b"{\n  \"files\": ["), None);
    }

    #[test]
    fn of_several_rounds_the_middle_counts() {
        let one = |name: &str, ns: f64| Benchmark {
            name: name.to_owned(),
            suite: None,
            processors: None,
            iterations: 1,
            ns_per_op: Some(ns),
            bytes_per_op: None,
            allocs_per_op: None,
            extra: BTreeMap::new(),
        };
        let rounds = vec![vec![one("b", 9.0), one("a", 1.0)], vec![one("b", 1.0)], vec![one("b", 5.0)]];
        let told: Vec<_> = medians(rounds).into_iter().map(|one| (one.name, one.ns_per_op)).collect();
        assert_eq!(told, [("b".to_owned(), Some(5.0)), ("a".to_owned(), Some(1.0))]);
    }
}
