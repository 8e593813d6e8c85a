//! What the cache saved.
//!
//! Says how often answers were given again rather than computed, by namespace, and how much memory they take. Use it to see whether
//! the cache is of use here.

use cache::Metrics;

use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::RUNS;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {}

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The cache's figures since the server began.
    pub cache: Metrics,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetPerformanceMetrics;

impl Define for GetPerformanceMetrics {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_performance_metrics";
    const TOOLSET: Toolset = RUNS;
    const DOC: Doc = doc!("get_performance_metrics.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for GetPerformanceMetrics {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let Input {} = input;
        let metrics = desk.cache().metrics();
        let percent = (metrics.hit_rate * 100.0).round();
        let message = format!(
            "{} answers are kept; {percent} % of {} were given again.",
            metrics.entries,
            metrics.hits + metrics.misses
        );
        Ok(Answer::new(message, Output { cache: metrics }))
    }
}
