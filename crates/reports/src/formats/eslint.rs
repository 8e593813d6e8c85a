//! `eslint -f json`.
//!
//! Source: eslint 9's JSON formatter.

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    file_path: Option<String>,
    #[serde(default)]
    messages: Vec<Message>,
    error_count: Option<u64>,
    warning_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    rule_id: Option<String>,
    severity: Option<u8>,
    message: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    end_line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    end_column: Option<u32>,
    fix: Option<serde_json::Value>,
    #[serde(default)]
    suggestions: Vec<Suggestion>,
}

#[derive(Deserialize)]
struct Suggestion {
    desc: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let files: Option<Vec<File>> = json::document(input.stdout, draft);
    if files.is_none() {
        lines(input.stdout).for_each(|line| draft.unread(&line));
    }
    lines(input.stderr).for_each(|line| draft.unread(&line));
    for file in files.unwrap_or_default() {
        take(file, draft);
    }
}

fn take(file: File, draft: &mut Draft<'_>) {
    let (mut errors, mut warnings) = (0, 0);
    let path = file.file_path.unwrap_or_default();
    for message in file.messages {
        let (Some(severity), Some(text)) = (message.severity, message.message) else {
            draft.unread_lines(1);
            continue;
        };
        let level = if severity >= 2 { Level::Error } else { Level::Warning };
        if level == Level::Error {
            errors += 1;
        } else {
            warnings += 1;
        }
        let advice = message.suggestions.into_iter().filter_map(|suggestion| suggestion.desc);
        draft.find(Finding {
            place: (!path.is_empty()).then(|| draft.context.place(&path)),
            line: message.line,
            column: message.column,
            end_line: message.end_line,
            end_column: message.end_column,
            level: Some(level),
            rule: message.rule_id,
            message: text,
            help: advice.collect::<Vec<_>>().join("\n"),
            fix: message.fix.is_some_and(|fix| !fix.is_null()),
            source: None,
        });
    }
    if let Some(said) = file.error_count {
        draft.claim("errors in a file", said, errors);
    }
    if let Some(said) = file.warning_count {
        draft.claim("warnings in a file", said, warnings);
    }
}
