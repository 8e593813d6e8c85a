//! Query JSON with jq.
//!
//! Runs a jq filter over `input` and returns every value that it gives. No files, environment or clock: data in, data out. Use it
//! to pick, reshape and count in results that are too long to read.

use std::time::Duration;

use contract::text::counted;
use contract::{Code, Fault, Toolset, Truncated};
use exec::run::Level;
use kit::schema::AnyJson;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use query::limits::{INPUT_BYTES, OUTPUT_BYTES};
use query::{Kind, Question, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::FILES;
use crate::querying::{Queries, exhausted};

/// Most characters of the text, so that the values have room beside it.
const MAX_TEXT: usize = 6_000;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Any JSON value. A string is data: `fromjson` reads JSON out of it.
    pub input: AnyJson<INPUT_BYTES>,
    /// The jq filter.
    #[schemars(length(min = 1, max = 16_384))]
    pub filter: String,
    /// Also as text: each value on one line.
    #[serde(default)]
    pub compact: bool,
    /// Also as text: strings without quotes.
    #[serde(default)]
    pub raw_output: bool,
    /// Also as text: keys in order rather than as the filter made them.
    #[serde(default)]
    pub sort_keys: bool,
    /// Milliseconds.
    #[serde(default = "patience")]
    #[schemars(range(min = 100, max = 10_000))]
    pub timeout: u64,
}

const fn patience() -> u64 {
    2_000
}

/// What the filter gave.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The values, in order.
    results: Vec<AnyJson<OUTPUT_BYTES>>,
    /// How many there are; `isCut` says whether there would have been more.
    count: u64,
    /// As jq prints them, where `compact`, `raw_output` or `sort_keys` asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Whether the filter would have given more than 10,000 values or 2 MB.
    #[serde(rename = "isCut")]
    is_cut: bool,
    /// What the filter failed with, after these values.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct JqQuery;

impl Define for JqQuery {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "jq_query";
    const TOOLSET: Toolset = FILES;
    const DOC: Doc = doc!("jq_query.rs");
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("results");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "input": { "items": [{ "id": 1, "ok": true }, { "id": 2, "ok": false }] }, "filter": ".items[] | select(.ok) | .id" }),
            json!({ "input": ["b", "a"], "filter": "sort | .[]", "raw_output": true }),
        ]
    }
}

impl Read for JqQuery {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let queries = desk
            .service::<Queries>()
            .ok_or_else(|| Fault::internal("nothing was provided that filters run in"))?;
        let style = Style { compact: input.compact, raw: input.raw_output, sort_keys: input.sort_keys };
        let style = (style != Style::default()).then_some(style);
        let question = Question { filter: input.filter, input: input.input.0, style };
        let patience = Duration::from_millis(input.timeout);
        desk.note_level(Level::Full);
        let said = desk.blocking(move |desk| queries.ask(&question, patience, desk.cancelled())).await?;
        match said {
            query::Answer::Done { results, text, is_cut, error } => {
                Ok(answered(results, text, is_cut, error))
            }
            query::Answer::Failed(failure) => Err(failed(failure)),
        }
    }
}

fn answered(
    results: Vec<Value>,
    text: Option<String>,
    is_cut: bool,
    error: Option<String>,
) -> Answer<Output> {
    let count = results.len() as u64;
    let mut message = format!("{}.", counted(count, "value"));
    if let Some(error) = &error {
        message = format!("The filter failed after {}: {error}", counted(count, "value"));
    } else if is_cut {
        message = format!("The first {}: the filter would give more.", counted(count, "value"));
    }
    let whole = text.as_ref().map_or(0, |text| text.lines().count() as u64);
    let text = text.map(shortened);
    let shown = text.as_ref().map_or(0, |text| text.lines().count() as u64);
    let mut answer = Answer::new(
        message,
        Output { results: results.into_iter().map(AnyJson).collect(), count, text, is_cut, error },
    );
    answer.success = answer.output.error.is_none();
    if shown < whole {
        let next = "jq_query with a filter that gives less; `results` are paged with `cursor`".to_owned();
        answer.truncated = Some(Truncated { shown, total: whole, next });
    }
    answer
}

/// At most [`MAX_TEXT`] characters of whole lines, or of the first one.
fn shortened(text: String) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_TEXT) else { return text };
    let within = text.get(..end).unwrap_or_default();
    let end = within.rfind('\n').map_or(within.len(), |at| at + 1);
    within.get(..end).unwrap_or_default().to_owned()
}

fn failed(failure: query::Failure) -> Fault {
    match failure.kind {
        Kind::Filter => {
            let place = failure.place.map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
            Fault::new(Code::InvalidArgument, format!("filter: {place}{}", failure.message)).suggest(
                "Files, modules, `input`, `env`, `now` and `debug` are not there: pass all data as `input`.",
            )
        }
        Kind::Memory => exhausted("memory"),
        Kind::Engine => Fault::new(Code::ToolExecutionFailed, format!("the filter: {}", failure.message)),
    }
}
