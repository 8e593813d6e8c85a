//! The ledger as one HTML page that a person would rather look at than read: a timeline, filters, plans with their
//! diffs, and the state of verification. No script from elsewhere, no request.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::record::{Body, Entry, ExecutionMode, Transcript};
use crate::verify::{Gravity, Report};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The page over `entries`, with the verdict of `report`.
#[must_use]
pub fn page(entries: &[Entry], report: &Report, made: &str) -> String {
    let calls: Vec<(&Entry, &Transcript)> = entries
        .iter()
        .filter_map(|e| if let Body::Transcript(t) = &e.body { Some((e, &**t)) } else { None })
        .collect();
    let mut tools: Vec<&str> = calls.iter().map(|(_, t)| t.tool_name.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    let applied = calls.iter().filter(|(_, t)| applied(t)).count();
    let failed = calls.iter().filter(|(_, t)| t.error.is_some()).count();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                title { "Gatewright ledger " (report.ledger.get(..8).unwrap_or_default()) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "Ledger " code { (report.ledger.get(..8).unwrap_or_default()) } }
                    p.verdict.(report.verdict()) { (report.verdict()) }
                    p.lead { (verdict_in_words(report)) }
                    dl.figures {
                        (figure("calls", calls.len()))
                        (figure("applied", applied))
                        (figure("failed", failed))
                        (figure("records", usize::try_from(report.records).unwrap_or(usize::MAX)))
                        (figure("checkpoints", usize::try_from(report.checkpoints).unwrap_or(usize::MAX)))
                        (figure("anchors", usize::try_from(report.anchors).unwrap_or(usize::MAX)))
                    }
                    p.root { "Merkle root " code { (report.root) } " · made " (made) }
                }
                @if !report.findings.is_empty() { (findings(report)) }
                div.filters {
                    input type="search" id="search" placeholder="Filter by text, path or id" aria-label="Filter by text";
                    select id="tool" aria-label="Tool" {
                        option value="" { "all tools" }
                        @for tool in &tools { option value=(tool) { (tool) } }
                    }
                    select id="outcome" aria-label="Outcome" {
                        option value="" { "all outcomes" }
                        @for outcome in ["applied", "rehearsed", "read", "failed"] { option value=(outcome) { (outcome) } }
                    }
                    span id="count" {}
                }
                ol.timeline { @for (entry, call) in calls.iter().rev() { (one(entry, call)) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn applied(call: &Transcript) -> bool {
    call.execution_mode == ExecutionMode::Apply && call.error.is_none()
}

fn outcome(call: &Transcript) -> &'static str {
    match call {
        _ if call.error.is_some() => "failed",
        _ if applied(call) => "applied",
        _ if call.plan_id.is_some() => "rehearsed",
        _ => "read",
    }
}

fn figure(name: &str, n: usize) -> Markup {
    html! { div { dt { (name) } dd { (n) } } }
}

fn verdict_in_words(report: &Report) -> String {
    let macs = if report.macs_checked {
        "every MAC was checked"
    } else {
        "MACs were not checked: the first key was not in hand"
    };
    match report.verdict() {
        "verified" => format!(
            "Every record is intact, in its place, and under {} outside anchors; {macs}.",
            report.anchors
        ),
        "unanchored" => format!(
            "Every record is intact and in its place; {macs}. No anchor kept outside was given, so someone with this account could have rewritten all of it."
        ),
        _ => "What is here is not what was written. The findings say where.".to_owned(),
    }
}

fn findings(report: &Report) -> Markup {
    html! {
        section.findings {
            h2 { "Findings" }
            ul {
                @for finding in &report.findings {
                    @let class = match finding.gravity { Gravity::Note => "note", Gravity::Warning => "warning", Gravity::Broken => "broken" };
                    li.(class) {
                        code { (finding.code) }
                        @if let Some(seq) = finding.seq { " at record " (seq) }
                        ": " (finding.message)
                    }
                }
            }
        }
    }
}

fn one(entry: &Entry, call: &Transcript) -> Markup {
    let outcome = outcome(call);
    html! {
        li.call data-tool=(call.tool_name) data-outcome=(outcome) {
            details {
                summary {
                    time datetime=(call.timestamp_start) { (call.timestamp_start.get(..19).unwrap_or_default().replace('T', " ")) }
                    span.badge.(outcome) { (outcome) }
                    code.tool { (call.tool_name) }
                    span.gist { (gist(call)) }
                }
                dl.facts {
                    dt { "record" } dd { (entry.seq) " · " code { (call.id) } }
                    dt { "called by" } dd { (call.principal) " as " code { (call.tool_call_id.0) } }
                    dt { "decision" } dd { (call.decision) }
                    @if let Some(plan) = &call.plan_id { dt { "plan" } dd { code { (plan) } } }
                    @if !call.redactions.is_empty() { dt { "redacted" } dd { (call.redactions.join(", ")) } }
                    dt { "hash" } dd { code { (entry.integrity_hash) } }
                }
                @if let Some(error) = &call.error { p.error { code { (error.code.as_str()) } " " (error.message) } }
                @if !call.stdout.is_empty() { pre { (call.stdout) } }
                h3 { "Arguments" }
                pre { (serde_json::to_string_pretty(&call.tool_args).unwrap_or_default()) }
                @if !call.effects.is_empty() {
                    h3 { "Effects" }
                    ul.effects { @for effect in &call.effects { li { (effect) } } }
                }
                @if !call.diff.is_empty() { h3 { "Diff" } (diff(&call.diff)) }
            }
        }
    }
}

fn gist(call: &Transcript) -> String {
    let text = call.error.as_ref().map_or_else(
        || call.effects.first().cloned().unwrap_or_else(|| call.stdout.clone()),
        |error| error.message.clone(),
    );
    let line = text.lines().next().unwrap_or_default();
    let more = call.effects.len().saturating_sub(1);
    let shown: String = line.chars().take(120).collect();
    if more > 0 && call.error.is_none() { format!("{shown} and {more} more") } else { shown }
}

fn diff(text: &str) -> Markup {
    html! {
        pre.diff {
            @for line in text.lines() {
                @let class = match line.as_bytes().first() {
                    _ if line.starts_with("+++") || line.starts_with("---") => "file",
                    Some(b'+') => "added",
                    Some(b'-') => "removed",
                    Some(b'@') => "hunk",
                    _ => "same",
                };
                span.(class) { (line) "\n" }
            }
        }
    }
}
