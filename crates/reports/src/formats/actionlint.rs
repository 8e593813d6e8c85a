//! `actionlint -format '{{json .}}'`.
//!
//! Source: actionlint's usage document ("Format error messages"): `message`, `filepath`, `line`, `column`, `kind`,
//! `snippet`, `end_column`.

use serde::Deserialize;

use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
struct Said {
    message: Option<String>,
    filepath: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    end_column: Option<u32>,
    kind: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    // Without a workflow at fault the list is `[]`, and of older versions `null`.
    let list: Option<Vec<Said>> = if input.stdout.trim_ascii() == b"null" {
        draft.recognised();
        Some(Vec::new())
    } else {
        json::document(input.stdout, draft)
    };
    if list.is_none() {
        lines(input.stdout).for_each(|line| draft.unread(&line));
    }
    lines(input.stderr).for_each(|line| draft.unread(&line));
    for said in list.unwrap_or_default() {
        let Some(message) = said.message else {
            draft.unread_lines(1);
            continue;
        };
        draft.find(Finding {
            place: said.filepath.as_deref().map(|file| draft.context.place(file)),
            line: said.line,
            column: said.column,
            end_line: said.end_column.and(said.line),
            // The last column, where ours is the one after it.
            end_column: said.end_column.and_then(|column| column.checked_add(1)),
            rule: said.kind,
            message,
            ..Finding::default()
        });
    }
}
