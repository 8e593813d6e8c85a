//! `vitest bench --outputJson`.
//!
//! Source: captured from vitest 4.1, whose benchmarks are experimental. A benchmark that threw has no figures, and the program ends
//! with 0 all the same.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Benchmark;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::report::MAX_NAME;
use crate::text::{clip, lines, plain};

#[derive(Deserialize)]
struct Told {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    filepath: String,
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    #[serde(default)]
    full_name: String,
    #[serde(default)]
    benchmarks: Vec<Measured>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    #[serde(default)]
    name: String,
    sample_count: Option<u64>,
    /// Milliseconds of one call.
    mean: Option<f64>,
    hz: Option<f64>,
    p99: Option<f64>,
    /// Margin of error, in per cent.
    rme: Option<f64>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let Some(told) = json::document::<Told>(input.stdout, draft) else {
        lines(input.stdout).for_each(|line| draft.unread(&line));
        return;
    };
    for file in told.files {
        let place = (!file.filepath.is_empty()).then(|| draft.context.place(&file.filepath));
        for group in file.groups {
            // It begins with the file, which is told apart.
            let path = group.full_name.split(" > ").skip(1).collect::<Vec<_>>().join(" > ");
            for measured in group.benchmarks {
                let name = if path.is_empty() {
                    measured.name.clone()
                } else {
                    format!("{path} > {}", measured.name)
                };
                let Some(mean) = measured.mean.filter(|mean| mean.is_finite()) else {
                    draft.find(Finding {
                        place: place.clone(),
                        rule: Some("benchmark".to_owned()),
                        message: format!("`{name}` has no result: it threw, or never ended"),
                        ..Finding::default()
                    });
                    continue;
                };
                let figures = [
                    ("ops/s", measured.hz),
                    ("p99-ns", measured.p99.map(|p99| p99 * 1e6)),
                    ("rme-%", measured.rme),
                ];
                let figures =
                    figures.into_iter().filter_map(|(unit, figure)| Some((unit.to_owned(), figure?)));
                draft.benchmark(Benchmark {
                    name: clip(&plain(&name), MAX_NAME),
                    suite: place.as_ref().map(|place| clip(&place.file, MAX_NAME)),
                    processors: None,
                    iterations: measured.sample_count.unwrap_or_default(),
                    ns_per_op: Some(mean * 1e6),
                    bytes_per_op: None,
                    allocs_per_op: None,
                    extra: figures.filter(|(_, figure)| figure.is_finite()).collect::<BTreeMap<_, _>>(),
                });
            }
        }
    }
}
