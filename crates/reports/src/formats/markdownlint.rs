//! markdownlint-cli and markdownlint-cli2: their lines, or the JSON of `markdownlint --json` (on standard error) and
//! markdownlint-cli2-formatter-json.
//!
//! Source: captured from markdownlint-cli 0.48 and markdownlint-cli2 0.22.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::json;
use crate::text::lines;

static LINE: Pattern = LazyLock::new(|| {
    regex::Regex::new(concat!(
        r"^(?P<file>[^\s:][^:]*):(?P<line>\d+)(?::(?P<column>\d+))? (?:(?P<level>error|warning) )?",
        r"(?P<rule>[A-Za-z]+[\w-]*)(?:/\S+)? (?P<message>.+)$"
    ))
    .ok()
});
static SUMMARY: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^Summary: (?P<count>\d+) (?:error|issue)").ok());

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issue {
    file_name: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line_number: Option<u32>,
    rule_names: Option<Vec<String>>,
    rule_description: Option<String>,
    error_detail: Option<String>,
    error_context: Option<String>,
    error_range: Option<(u32, u32)>,
    fix_info: Option<serde_json::Value>,
    severity: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let (mut said, mut found) = (None, 0_u64);
    for input in input.both() {
        if input.stdout.trim_ascii_start().starts_with(b"[") {
            match json::document::<Vec<Issue>>(input.stdout, draft) {
                Some(issues) => issues.into_iter().for_each(|issue| take(issue, draft)),
                None => lines(input.stdout).for_each(|line| draft.unread(&line)),
            }
            continue;
        }
        for line in lines(input.stdout) {
            if let Some(groups) = matched(&LINE, &line) {
                found += 1;
                draft.find(Finding {
                    place: Some(draft.context.place(part(&groups, "file"))),
                    line: number(&groups, "line"),
                    column: number(&groups, "column"),
                    level: Some(level(part(&groups, "level"))),
                    rule: Some(part(&groups, "rule").to_owned()),
                    message: part(&groups, "message").to_owned(),
                    ..Finding::default()
                });
            } else if let Some(groups) = matched(&SUMMARY, &line) {
                draft.recognised();
                said = number::<u64>(&groups, "count");
            } else if !["markdownlint-cli2 v", "Finding: ", "Linting: "]
                .iter()
                .any(|start| line.starts_with(start))
            {
                draft.unread(&line);
            }
        }
    }
    if let Some(said) = said {
        draft.claim("errors", said, found);
    }
}

fn level(word: &str) -> Level {
    if word == "warning" { Level::Warning } else { Level::Error }
}

fn take(issue: Issue, draft: &mut Draft<'_>) {
    let (Some(file), Some(description)) = (issue.file_name, issue.rule_description) else {
        draft.unread_lines(1);
        return;
    };
    // The same words as in the lines, so that both forms give a finding one identity.
    let detail = issue.error_detail.map(|detail| format!(" [{detail}]")).unwrap_or_default();
    let context = issue.error_context.map(|context| format!(" [Context: \"{context}\"]")).unwrap_or_default();
    draft.find(Finding {
        place: Some(draft.context.place(&file)),
        line: issue.line_number,
        column: issue.error_range.map(|(column, _)| column),
        end_column: issue.error_range.and_then(|(column, length)| column.checked_add(length)),
        level: Some(level(issue.severity.as_deref().unwrap_or_default())),
        rule: issue.rule_names.and_then(|names| names.into_iter().next()),
        message: format!("{description}{detail}{context}"),
        fix: issue.fix_info.is_some_and(|fix| !fix.is_null()),
        ..Finding::default()
    });
}
