//! `cargo build|check|clippy --message-format=json`: one message of cargo on each line, rustc's diagnostics in them.
//!
//! Source: the reference of cargo (External tools) and rustc (JSON output).

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::rustc::{Rustc, summary};
use crate::json;

#[derive(Deserialize)]
struct Message {
    reason: String,
    message: Option<Said>,
    success: Option<bool>,
}

#[derive(Deserialize)]
struct Said {
    message: String,
    level: String,
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Said>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    line_end: u32,
    column_start: u32,
    column_end: u32,
    #[serde(default)]
    is_primary: bool,
    label: Option<String>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut finished = None;
    json::each_line::<Message>(
        input.stdout,
        draft,
        |draft, message| {
            if message.reason == "build-finished" {
                finished = message.success;
            }
            if let Some(said) = message.message {
                take(said, draft);
            }
        },
        json::leave,
    );
    // What cargo itself says (a manifest that does not parse, a missing crate) is on standard error.
    let mut rustc = Rustc::default();
    for line in crate::text::lines(input.stderr) {
        if !rustc.line(draft, &line) {
            draft.unread(&line);
        }
    }
    rustc.end(draft);
    draft.cut |= draft.has_read() && finished.is_none() && !input.stdout.is_empty();
}

fn take(said: Said, draft: &mut Draft<'_>) {
    let level = match said.level.as_str() {
        "error" | "error: internal compiler error" => Level::Error,
        "warning" => Level::Warning,
        "failure-note" => return,
        _ => Level::Note,
    };
    if said.spans.is_empty() && summary(&said.message) {
        return;
    }
    let fix = said
        .children
        .iter()
        .flat_map(|child| &child.spans)
        .any(|span| span.suggestion_applicability.as_deref() == Some("MachineApplicable"));
    let primary = said.spans.iter().find(|span| span.is_primary).or(said.spans.first());
    let label =
        primary.and_then(|span| span.label.as_deref()).map(|label| format!(": {label}")).unwrap_or_default();
    draft.find(Finding {
        place: primary.map(|span| draft.context.place(&span.file_name)),
        line: primary.map(|span| span.line_start),
        column: primary.map(|span| span.column_start),
        end_line: primary.map(|span| span.line_end),
        end_column: primary.map(|span| span.column_end),
        level: Some(level),
        rule: said.code.map(|code| code.code),
        message: format!("{}{label}", said.message),
        help: help(&said.children),
        fix,
        source: Some("rustc".to_owned()),
    });
}

fn help(children: &[Said]) -> String {
    let lines = children.iter().map(|child| {
        let with = child.spans.iter().find_map(|span| span.suggested_replacement.as_deref());
        let with = with.map(|with| format!(": `{with}`")).unwrap_or_default();
        format!("{}: {}{with}", child.level, child.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}
