//! Profiles of V8: `.cpuprofile` (how long) and `.heapprofile` (how much was allocated), by function.
//!
//! Source: captured from Node 20 and 22; the form is the DevTools protocol's (`Profiler.Profile`, `HeapProfiler.SamplingHeapProfile`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Context;
use crate::report::{MAX_FIGURES, MAX_NAME};
use crate::text::{clip, looked_at, plain};

/// What one function used itself, without what it called.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// The function's name; `(anonymous)` where it has none.
    pub function: String,
    /// Its file, relative to the root; as the program says it where it lies elsewhere.
    pub file: Option<String>,
    /// The line where it begins, from 1.
    pub line: Option<u32>,
    /// Milliseconds, or bytes.
    pub own: f64,
}

/// A profile: milliseconds, or bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// Of all functions together.
    pub total: f64,
    /// By function, the most first.
    pub spots: Vec<Spot>,
}

impl Profile {
    /// This one and that of another process of the same run.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut by = ByFunction::default();
        for spot in self.spots.into_iter().chain(other.spots) {
            by.add((spot.function, spot.file, spot.line), spot.own);
        }
        Self { total: self.total + other.total, ..by.finish() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cpu {
    nodes: Vec<Node>,
    #[serde(default)]
    samples: Vec<u64>,
    /// Microseconds from the sample before.
    #[serde(default)]
    time_deltas: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: u64,
    call_frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    #[serde(default)]
    function_name: String,
    #[serde(default)]
    url: String,
    /// From 0; less where there is none.
    #[serde(default)]
    line_number: i64,
}

/// Function, file, line.
type Key = (String, Option<String>, Option<u32>);

#[derive(Default)]
struct ByFunction {
    all: BTreeMap<Key, f64>,
}

impl ByFunction {
    fn add(&mut self, key: Key, own: f64) {
        *self.all.entry(key).or_default() += own;
    }

    fn finish(self) -> Profile {
        let total = self.all.values().sum();
        let spots = self.all.into_iter().filter(|(_, own)| *own > 0.0);
        let mut spots: Vec<Spot> =
            spots.map(|((function, file, line), own)| Spot { function, file, line, own }).collect();
        spots.sort_by(|a, b| b.own.total_cmp(&a.own));
        spots.truncate(MAX_FIGURES);
        Profile { total, spots }
    }
}

impl Frame {
    fn key(&self, context: &Context<'_>) -> Key {
        let name = if self.function_name.is_empty() { "(anonymous)" } else { &self.function_name };
        let url = self.url.strip_prefix("file://").unwrap_or(&self.url);
        let file = match url {
            "" => None,
            // A module of Node's own is no file.
            url if url.starts_with("node:") || url.contains("://") => Some(clip(&plain(url), MAX_NAME)),
            url => Some(clip(&plain(&context.place(url).file), MAX_NAME)),
        };
        let line = file.as_ref().and(u32::try_from(self.line_number.saturating_add(1)).ok());
        (clip(&plain(name), MAX_NAME), file, line.filter(|line| *line > 0))
    }
}

/// Reads a `.cpuprofile`: milliseconds by function. Time in which nothing ran is left out. Nothing where it is none.
pub fn cpu_profile(bytes: &[u8], context: &Context<'_>) -> Option<Profile> {
    looked_at(bytes.len());
    let told: Cpu = serde_json::from_slice(bytes).ok()?;
    let mut own: BTreeMap<u64, f64> = BTreeMap::new();
    // A sample holds until the next one is taken.
    for (sample, until) in told.samples.iter().zip(told.time_deltas.iter().skip(1)) {
        *own.entry(*sample).or_default() += until.max(0.0);
    }
    let mut by = ByFunction::default();
    for node in told.nodes {
        let is_idle = matches!(node.call_frame.function_name.as_str(), "(idle)" | "(root)");
        if let Some(micros) = own.get(&node.id).filter(|_| !is_idle) {
            by.add(node.call_frame.key(context), micros / 1e3);
        }
    }
    Some(by.finish())
}

/// Before each frame of a heap profile, and before what it allocated.
const FRAME: &str = "\"callFrame\":";
const SIZE: &str = "\"selfSize\":";

/// Reads a `.heapprofile`: bytes by function. Nothing where it is none.
///
/// Its frames lie in each other as deep as the stack was, deeper than a parser of JSON follows: they are read one by one. A quote
/// within a string is escaped, so that nothing in a function's name is taken for a frame.
pub fn heap_profile(bytes: &[u8], context: &Context<'_>) -> Option<Profile> {
    looked_at(bytes.len());
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.trim_start().starts_with("{\"head\":") {
        return None;
    }
    let mut by = ByFunction::default();
    let mut rest = text;
    while let Some(at) = rest.find(FRAME) {
        rest = rest.get(at + FRAME.len()..)?;
        let mut frames = serde_json::Deserializer::from_str(rest).into_iter::<Frame>();
        let Some(Ok(frame)) = frames.next() else { return None };
        rest = rest.get(frames.byte_offset()..)?;
        let size = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']).strip_prefix(SIZE)?.trim_start();
        let digits = size.find(|sign: char| !(sign.is_ascii_digit() || ".eE+-".contains(sign)))?;
        by.add(frame.key(context), size.get(..digits)?.parse::<f64>().ok().filter(|size| size.is_finite())?);
    }
    Some(by.finish())
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "sums of small whole numbers")]
mod tests {
    use super::*;

    fn context() -> Context<'static> {
        Context { root: "/srv/shop", ..Context::default() }
    }

    fn frame(name: &str, url: &str, line: i64) -> String {
        serde_json::json!({ "functionName": name, "scriptId": "1", "url": url, "lineNumber": line, "columnNumber": 0 })
            .to_string()
    }

    #[test]
    fn time_is_the_functions_that_was_sampled_until_the_next_sample() {
        let hot = frame("hot", "file:///srv/shop/src/a.js", 4);
        let text = format!(
            "{{\"nodes\":[{{\"id\":1,\"callFrame\":{}}},{{\"id\":2,\"callFrame\":{hot}}},{{\"id\":3,\"callFrame\":{}}},{{\"id\":4,\"callFrame\":{hot}}},{{\"id\":5,\"callFrame\":{}}}],\"startTime\":0,\"endTime\":10000,\"samples\":[1,2,3,2,4,5],\"timeDeltas\":[100,200,1000,3000,4000,500]}}",
            frame("(root)", "", -1),
            frame("", "node:internal/fs", 0),
            frame("(idle)", "", -1),
        );
        let told = cpu_profile(text.as_bytes(), &context()).unwrap();
        let spots: Vec<_> =
            told.spots.iter().map(|s| (s.function.as_str(), s.file.as_deref(), s.line, s.own)).collect();
        assert_eq!(
            spots,
            [
                ("hot", Some("src/a.js"), Some(5), 5.5),
                ("(anonymous)", Some("node:internal/fs"), Some(1), 3.0)
            ]
        );
        assert_eq!(told.total, 8.5);
        let twice = told.clone().and(told.clone());
        assert_eq!((twice.total, twice.spots[0].own, twice.spots.len()), (17.0, 11.0, 2));
    }

    #[test]
    fn what_was_allocated_is_read_from_stacks_of_any_depth() {
        let deep = 5_000;
        let mut text = String::from("{\"head\":");
        for nth in 0..deep {
            let name = if nth == 7 { "x\"callFrame\":{}" } else { "f" };
            text.push_str(&format!(
                "{{\"callFrame\":{},\"selfSize\":{},\"id\":{nth},\"children\":[",
                frame(name, "/srv/shop/a.js", 1),
                if nth == 7 { 1 } else { 2 }
            ));
        }
        text.push_str(&"]}".repeat(deep));
        text.push_str(",\"samples\":[]}");
        let told = heap_profile(text.as_bytes(), &context()).unwrap();
        let spots: Vec<_> = told.spots.iter().map(|s| (s.function.as_str(), s.own)).collect();
        assert_eq!(spots, [("f", 9_998.0), ("x\"callFrame\":{}", 1.0)]);
    }

    #[test]
    fn what_is_no_profile_tells_nothing() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"head\":{\"callFrame\":",
            "{\"head\":{\"callFrame\":{},\"x\":1}}",
            "{\"nodes\":1}",
            "\u{0}",
        ] {
            assert_eq!(cpu_profile(text.as_bytes(), &context()), None, "{text}");
            assert_eq!(heap_profile(text.as_bytes(), &context()), None, "{text}");
        }
    }
}
