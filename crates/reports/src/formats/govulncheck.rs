//! `govulncheck -json`: a stream of messages, each with one field.
//!
//! Source: golang.org/x/vuln/internal/govulncheck, protocol 1.0.0. One vulnerability is reported for the module, the
//! package and each function that is reached; the deepest counts: reached is an error, imported a warning, required a
//! note.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
struct Message {
    config: Option<Value>,
    progress: Option<Value>,
    #[serde(rename = "SBOM")]
    sbom: Option<Value>,
    osv: Option<Osv>,
    finding: Option<Found>,
}

#[derive(Deserialize)]
struct Osv {
    id: Option<String>,
    summary: Option<String>,
    details: Option<String>,
}

#[derive(Deserialize)]
struct Found {
    osv: Option<String>,
    fixed_version: Option<String>,
    #[serde(default)]
    trace: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    module: Option<String>,
    version: Option<String>,
    package: Option<String>,
    function: Option<String>,
    receiver: Option<String>,
    position: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    filename: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut found: BTreeMap<(String, String), (usize, Level, Found)> = BTreeMap::new();
    json::stream::<Message>(input.stdout, draft, |draft, message| {
        if let Some(osv) = message.osv {
            let text = osv.summary.or(osv.details).unwrap_or_default();
            known.insert(osv.id.unwrap_or_default(), crate::text::clip(&text, crate::MAX_MESSAGE));
        } else if let Some(finding) = message.finding {
            let level = level(&finding);
            let module = finding.trace.first().and_then(|frame| frame.module.clone()).unwrap_or_default();
            let key = (finding.osv.clone().unwrap_or_default(), module);
            let next = found.len();
            let kept = found.get(&key).map(|(nth, level, _)| (*nth, *level));
            // Levels are in the order of their weight, the heaviest first.
            if kept.is_none_or(|(_, kept)| level < kept) {
                found.insert(key, (kept.map_or(next, |(nth, _)| nth), level, finding));
            }
        } else if message.config.is_none() && message.progress.is_none() && message.sbom.is_none() {
            draft.unread_lines(1);
        }
    });
    lines(input.stderr).for_each(|line| draft.unread(&line));
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, (nth, ..))| *nth);
    for ((osv, module), (_, level, finding)) in found {
        take(&osv, &module, level, &finding, known.get(&osv), draft);
    }
}

fn level(found: &Found) -> Level {
    match found.trace.first() {
        Some(frame) if frame.function.is_some() => Level::Error,
        Some(frame) if frame.package.is_some() => Level::Warning,
        _ => Level::Note,
    }
}

fn take(
    osv: &str,
    module: &str,
    level: Level,
    found: &Found,
    summary: Option<&String>,
    draft: &mut Draft<'_>,
) {
    let symbol = found.trace.first();
    let reached = match level {
        Level::Error => format!("{} is called", symbol.map(Frame::name).unwrap_or_default()),
        Level::Warning => "a package of it is imported, and nothing vulnerable of it is called".to_owned(),
        Level::Note => "it is required, and nothing of it is imported".to_owned(),
    };
    // The last frame is where the module's own code enters.
    let position = found.trace.iter().rev().find_map(|frame| frame.position.as_ref());
    let version = symbol.and_then(|frame| frame.version.as_deref()).unwrap_or_default();
    let help = match found.fixed_version.as_deref().filter(|fixed| !fixed.is_empty()) {
        Some(fixed) => format!("{module} {version} is affected; fixed in {fixed}"),
        None => format!("{module} {version} is affected; no version fixes it"),
    };
    draft.find(Finding {
        place: position.and_then(|at| at.filename.as_deref()).map(|file| draft.context.place(file)),
        line: position.and_then(|at| at.line),
        column: position.and_then(|at| at.column),
        level: Some(level),
        rule: Some(osv.to_owned()),
        message: format!("{}: {module}: {reached}", summary.map_or("vulnerability", String::as_str)),
        help,
        ..Finding::default()
    });
}

impl Frame {
    fn name(&self) -> String {
        let parts = [&self.package, &self.receiver, &self.function].into_iter().flatten();
        parts.map(String::as_str).collect::<Vec<_>>().join(".")
    }
}
