//! How much smaller sessions became.
//!
//! `(original - compressed) / original × 100` of each session in the project's `.agent-artifacts/`, the newest first, or of one;
//! with `aggregate` their mean, sum, best and worst. From the session's metrics, else its finalization pack, else its raw files counted
//! against its summary: `computedFrom` says which.

use contract::text::counted;
use contract::{Code, Fault, Toolset, Truncated};
use kit::markdown::{code, text};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::SessionId;
use library::session::{Aggregate, Compression, ComputedFrom, Files, aggregate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::artifacts::measure::Measure;
use crate::artifacts::{Bad, FOLDER, MOST_SESSIONS, TOLD, kept, project_at};
use crate::project;

/// Most sessions that are shown one by one.
const MOST: usize = 100;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The project's folder: `.` for the root.
    #[schemars(length(min = 1, max = 4096))]
    project_path: String,
    /// One session, by its id.
    #[serde(default)]
    session_id: Option<SessionId>,
    /// All sessions together instead of each.
    #[serde(default)]
    aggregate: bool,
}

/// What a ratio was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The session's metrics: `tokens { original, compressed }`.
    Metrics,
    /// Its finalization pack: `compression { ratio, tokensBeforeFinalization }`.
    Pack,
    /// Its raw files, counted against its summary.
    Files,
}

impl From<ComputedFrom> for Basis {
    fn from(from: ComputedFrom) -> Self {
        match from {
            ComputedFrom::Metrics => Self::Metrics,
            ComputedFrom::Pack => Self::Pack,
            ComputedFrom::Files => Self::Files,
        }
    }
}

/// A session's compression.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ratio {
    /// Its id.
    session_id: String,
    /// Whose it is.
    project: String,
    /// The day that its id begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// Tokens before; none where only a ratio is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    original_tokens: Option<u64>,
    /// Tokens after.
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed_tokens: Option<u64>,
    /// In percent, below zero where it grew.
    #[serde(rename = "compressionRatio")]
    percent: f64,
    /// Tokens that were saved, below zero where it grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    savings: Option<i64>,
    /// From what.
    computed_from: Basis,
}

/// One of several.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Extreme {
    /// Its id.
    session_id: String,
    /// In percent.
    compression_ratio: f64,
}

/// Sessions together.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Together {
    /// Those that have a ratio.
    total_sessions: u64,
    /// The mean of their ratios, in percent; 0 of none.
    avg_compression_ratio: f64,
    /// The sum of what was saved, where tokens are known.
    total_tokens_saved: i64,
    /// The highest ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Extreme>,
    /// The lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<Extreme>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Data {
    /// Each session, the newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<Vec<Ratio>>,
    /// All together.
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate: Option<Together>,
}

/// A session without a ratio.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmeasured {
    /// Its id.
    session_id: String,
    /// Why.
    why: String,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Sessions, or all together.
    data: Data,
    /// Sessions without a ratio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmeasured: Vec<Unmeasured>,
    /// Files that were passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Bad>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetCompressionRatio;

impl Define for GetCompressionRatio {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_compression_ratio";
    const TOOLSET: Toolset = crate::METRICS;
    const DOC: kit::Doc = doc!("get_compression_ratio.rs");
    const ALIASES: &'static [&'static str] = &["getCompressionRatio"];
    const PROJECT: Option<&'static str> = Some("projectPath");
    const BUDGET: Option<u64> = Some(9_000);

    fn examples() -> Vec<Value> {
        vec![
            json!({ "projectPath": "." }),
            json!({ "projectPath": "services/api", "sessionId": "2025-11-05-rls-policies" }),
            json!({ "projectPath": ".", "aggregate": true }),
        ]
    }
}

impl Read for GetCompressionRatio {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let folder = project::folder(&input.project_path)?;
        let id = input.session_id;
        if id.is_some() && input.aggregate {
            return Err(Fault::new(
                Code::InvalidArgument,
                "`aggregate` is of all sessions, `sessionId` names one",
            )
            .suggest("Leave one of the two out."));
        }
        desk.blocking(move |desk| {
            project::check(desk, folder.as_ref())?;
            let kept = kept(desk, folder.as_ref())?;
            let named = project_at(desk, folder.as_ref());
            let mut measure = Measure::new(desk, &kept);
            let mut all = All::default();
            match &id {
                // What is wrong with the one that is asked for is a fault.
                Some(id) => {
                    let files = kept.get(id)?;
                    all.add(files, measure.of(files)?.map_err(|why| why.to_string()), &named);
                }
                None => {
                    for files in kept.found.iter().take(MOST_SESSIONS) {
                        let found = match measure.of(files) {
                            Ok(found) => found.map_err(|why| why.to_string()),
                            Err(fault) if fault.code == Code::Cancelled => return Err(fault),
                            Err(fault) => Err(fault.message),
                        };
                        all.add(files, found, &named);
                    }
                }
            }
            let mut problems = measure.problems;
            if id.is_none() {
                problems.extend(kept.problems.iter().cloned());
            }
            problems.truncate(TOLD);
            let left_out = kept.found.len().saturating_sub(MOST_SESSIONS);
            Ok(all.answer(input.aggregate, id.is_some(), left_out, problems))
        })
        .await
    }
}

/// What was measured.
#[derive(Default)]
struct All {
    shown: Vec<Ratio>,
    ratios: Vec<Compression>,
    unmeasured: Vec<Unmeasured>,
}

impl All {
    fn add(&mut self, files: &Files, found: Result<Compression, String>, project: &str) {
        let session_id = files.id.as_str().to_owned();
        match found {
            Ok(found) => {
                self.ratios.push(found);
                self.shown.push(Ratio {
                    session_id,
                    project: project.to_owned(),
                    date: files.id.date().map(|date| date.to_string()),
                    original_tokens: found.original_tokens,
                    compressed_tokens: found.compressed_tokens,
                    percent: rounded(found.compression_ratio),
                    savings: found.savings,
                    computed_from: found.computed_from.into(),
                });
            }
            Err(why) => self.unmeasured.push(Unmeasured { session_id, why }),
        }
    }

    fn answer(self, together: bool, is_one: bool, left_out: usize, problems: Vec<Bad>) -> Answer<Output> {
        let Self { mut shown, ratios, mut unmeasured } = self;
        let sum = together.then(|| sum(&aggregate(&ratios), &shown));
        let mut message = match &sum {
            Some(sum) => told(sum),
            None if is_one => String::new(),
            None => format!("{} with a ratio.\n", counted(shown.len(), "session")),
        };
        if shown.is_empty() && unmeasured.is_empty() {
            message.push_str(&format!("There is no session in {}.\n", code(FOLDER)));
        }
        let total = shown.len();
        let truncated = (sum.is_none() && total > MOST).then(|| Truncated {
            shown: MOST as u64,
            total: total as u64,
            next: "`sessionId`, or `aggregate`".to_owned(),
        });
        shown.truncate(MOST);
        if sum.is_none() {
            for ratio in &shown {
                message.push_str(&line(ratio));
            }
        }
        if left_out > 0 {
            message.push_str(&format!("{left_out} older were not looked at.\n"));
        }
        let without = unmeasured.len();
        unmeasured.truncate(TOLD);
        if without > unmeasured.len() {
            message.push_str(&format!("{without} have no ratio, of which {TOLD} are told.\n"));
        }
        for one in &unmeasured {
            message.push_str(&format!("\n{} has no ratio: {}.\n", code(&one.session_id), text(&one.why)));
        }
        for problem in &problems {
            message.push_str(&format!("\n{}: {}.\n", code(&problem.file), text(&problem.why)));
        }
        let sessions = sum.is_none().then_some(shown);
        let data = Data { sessions, aggregate: sum };
        let mut answer = Answer::new(message, Output { data, unmeasured, problems });
        answer.results = Some(total as u64);
        answer.truncated = truncated;
        answer
    }
}

/// To two digits.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

fn sum(found: &Aggregate, shown: &[Ratio]) -> Together {
    let extreme = |at: Option<usize>| {
        let ratio = shown.get(at?)?;
        Some(Extreme { session_id: ratio.session_id.clone(), compression_ratio: ratio.percent })
    };
    Together {
        total_sessions: found.total_sessions as u64,
        avg_compression_ratio: rounded(found.avg_compression_ratio),
        total_tokens_saved: found.total_tokens_saved,
        best: extreme(found.best),
        worst: extreme(found.worst),
    }
}

fn told(sum: &Together) -> String {
    let mut message = format!(
        "{} with a ratio, {:.2} % smaller in the mean, {} tokens saved.\n",
        counted(sum.total_sessions, "session"),
        sum.avg_compression_ratio,
        sum.total_tokens_saved
    );
    for (which, one) in [("Best", &sum.best), ("Worst", &sum.worst)] {
        if let Some(one) = one {
            message.push_str(&format!(
                "{which}: {} {:.2} %.\n",
                code(&one.session_id),
                one.compression_ratio
            ));
        }
    }
    message
}

fn line(ratio: &Ratio) -> String {
    let tokens = match (ratio.original_tokens, ratio.compressed_tokens) {
        (Some(before), Some(after)) => format!(", {before} to {after} tokens"),
        _ => String::new(),
    };
    let from = match ratio.computed_from {
        Basis::Metrics => "its metrics",
        Basis::Pack => "its pack",
        Basis::Files => "its files, counted",
    };
    format!("- {} {:.2} % smaller{tokens}, from {from}\n", code(&ratio.session_id), ratio.percent)
}
