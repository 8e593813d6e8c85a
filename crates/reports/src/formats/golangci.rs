//! The JSON of golangci-lint, versions 1 and 2.
//!
//! Source: its `result.Issue` and `report.Data` types: `Replacement` in version 1 is `SuggestedFixes` in version 2.

use serde::Deserialize;
use serde_json::Value;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::documents;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Results {
    #[serde(default)]
    issues: Option<Vec<Issue>>,
    report: Option<Report>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Issue {
    from_linter: Option<String>,
    text: Option<String>,
    severity: Option<String>,
    pos: Option<Pos>,
    line_range: Option<Range>,
    replacement: Option<Value>,
    suggested_fixes: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Pos {
    filename: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Range {
    #[serde(default, deserialize_with = "json::position")]
    to: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    #[serde(default)]
    warnings: Option<Vec<Warning>>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Warning {
    tag: Option<String>,
    text: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut results: Option<Results> = None;
    for line in documents(input.stdout) {
        if results.is_none() && line.starts_with('{') {
            results = json::document(line.as_bytes(), draft);
        }
        if !line.starts_with('{') || results.is_none() {
            leave(&line, draft);
        }
    }
    documents(input.stderr).for_each(|line| leave(&line, draft));
    let Some(results) = results else { return };
    if let Some(error) = results.report.as_ref().and_then(|report| report.error.clone()) {
        draft.find(Finding { message: error, ..Finding::default() });
    }
    for issue in results.issues.unwrap_or_default() {
        take(issue, draft);
    }
    for warning in results.report.and_then(|report| report.warnings).unwrap_or_default() {
        draft.find(Finding {
            level: Some(Level::Note),
            rule: warning.tag,
            message: warning.text.unwrap_or_default(),
            ..Finding::default()
        });
    }
}

/// Version 2 sums up below its JSON, `N issues:` and one line for each linter; both log to standard error.
fn leave(line: &str, draft: &mut Draft<'_>) {
    let counted = line.trim_end().trim_end_matches(['.', ':']).ends_with(" issues") || line.starts_with("* ");
    if !counted && !line.starts_with("level=") {
        draft.unread(line);
    }
}

fn take(issue: Issue, draft: &mut Draft<'_>) {
    let (Some(text), Some(pos)) = (issue.text, issue.pos) else {
        draft.unread_lines(1);
        return;
    };
    let level = match issue.severity.as_deref().unwrap_or_default().to_ascii_lowercase().as_str() {
        "error" | "err" | "high" => Level::Error,
        "info" | "information" | "hint" | "low" => Level::Note,
        // Without a configured severity it has none; code that does not compile is an error in any case.
        _ if issue.from_linter.as_deref() == Some("typecheck") => Level::Error,
        _ => Level::Warning,
    };
    let present = |value: Option<Value>| {
        value.is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
    };
    draft.find(Finding {
        place: pos.filename.as_deref().map(|file| draft.context.place(file)),
        line: pos.line,
        column: pos.column,
        end_line: issue.line_range.and_then(|range| range.to),
        level: Some(level),
        rule: issue.from_linter,
        message: text,
        fix: present(issue.replacement) || present(issue.suggested_fixes),
        ..Finding::default()
    });
}
