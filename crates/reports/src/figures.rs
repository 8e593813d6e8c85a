//! Files of figures that programs leave beside what they say: coverage and benchmarks.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Context;
use crate::report::{Benchmark, Coverage, Covered, MAX_FIGURES, MAX_NAME};
use crate::text::clip;

/// `coverage json` (coverage.py 7, "JSON reporting"): per cent of all and of each file.
pub fn coverage_py(bytes: &[u8], context: &Context<'_>) -> Option<Coverage> {
    #[derive(Deserialize)]
    struct Said {
        totals: Summary,
        files: BTreeMap<String, File>,
    }
    #[derive(Deserialize)]
    struct File {
        summary: Summary,
    }
    #[derive(Deserialize)]
    struct Summary {
        percent_covered: f64,
    }
    let said: Said = serde_json::from_slice(bytes).ok()?;
    let rounded = |percent: f64| (percent * 100.0).round() / 100.0;
    let parts = said.files.into_iter().take(MAX_FIGURES).map(|(name, file)| Covered {
        name: clip(&context.place(&name).file, MAX_NAME),
        percent: rounded(file.summary.percent_covered),
    });
    Some(Coverage { percent: Some(rounded(said.totals.percent_covered)), parts: parts.collect() })
}

/// `pytest --benchmark-json` (pytest-benchmark 5): one row for each benchmark, times in nanoseconds.
pub fn pytest_benchmark(bytes: &[u8]) -> Option<Vec<Benchmark>> {
    #[derive(Deserialize)]
    struct Said {
        benchmarks: Vec<Row>,
    }
    #[derive(Deserialize)]
    struct Row {
        name: String,
        fullname: Option<String>,
        stats: Stats,
    }
    #[derive(Deserialize)]
    struct Stats {
        mean: f64,
        min: Option<f64>,
        max: Option<f64>,
        median: Option<f64>,
        stddev: Option<f64>,
        ops: Option<f64>,
        rounds: u64,
        iterations: u64,
    }
    let said: Said = serde_json::from_slice(bytes).ok()?;
    let nanoseconds = |seconds: f64| (seconds * 1e12).round() / 1e3;
    let rows = said.benchmarks.into_iter().take(MAX_FIGURES).map(|row| {
        let stats = row.stats;
        let extra = [
            ("min ns", stats.min.map(nanoseconds)),
            ("max ns", stats.max.map(nanoseconds)),
            ("median ns", stats.median.map(nanoseconds)),
            ("stddev ns", stats.stddev.map(nanoseconds)),
            ("ops/s", stats.ops),
            ("rounds", Some(approximate(stats.rounds))),
        ];
        let file = row.fullname.and_then(|full| full.split_once("::").map(|(file, _)| file.to_owned()));
        Benchmark {
            name: clip(&row.name, MAX_NAME),
            suite: file.map(|file| clip(&file, MAX_NAME)),
            processors: None,
            iterations: stats.rounds.saturating_mul(stats.iterations),
            ns_per_op: Some(nanoseconds(stats.mean)),
            bytes_per_op: None,
            allocs_per_op: None,
            extra: extra
                .into_iter()
                .filter_map(|(unit, value)| Some((unit.to_owned(), value.filter(|v| v.is_finite())?)))
                .collect(),
        }
    });
    Some(rows.collect())
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn approximate(count: u64) -> f64 {
    count as f64
}
