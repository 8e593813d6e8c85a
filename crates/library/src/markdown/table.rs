//! Tables.

use std::ops::Range;

use super::line::{cells, divides};
use super::scan::{Kind, Line};
use crate::text::number;

/// Most tables that are read of one part.
const MAX_TABLES: usize = 20;
/// Most columns of a row.
const MAX_COLUMNS: usize = 64;
/// Most rows of a table.
const MAX_ROWS: usize = 1_000;

/// A row: where its cells are in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// From 1.
    pub line: u32,
    /// At most 64.
    pub cells: Vec<Range<usize>>,
}

/// A table with a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The row above the divider.
    pub head: Row,
    /// Those below it, at most 1,000.
    pub rows: Vec<Row>,
}

fn row(text: &str, index: usize, line: &Line) -> Row {
    let found = cells(text.get(line.at.clone()).unwrap_or_default(), MAX_COLUMNS);
    let cells = found.into_iter().map(|at| line.at.start + at.start..line.at.start + at.end).collect();
    Row { line: number(index + 1), cells }
}

pub(crate) fn tables(text: &str, lines: &[Line], within: &Range<usize>) -> Vec<Table> {
    let mut found: Vec<Table> = Vec::new();
    let mut before: Option<(usize, &Line)> = None;
    let mut inside = false;
    for (index, line) in lines.iter().enumerate() {
        if line.at.start < within.start || line.at.start >= within.end {
            continue;
        }
        let is_row = line.kind == Kind::Text && text.get(line.at.clone()).is_some_and(|t| t.contains('|'));
        if !is_row {
            (before, inside) = (None, false);
            continue;
        }
        match found.last_mut() {
            Some(table) if inside => {
                if table.rows.len() < MAX_ROWS {
                    table.rows.push(row(text, index, line));
                }
            }
            _ => {
                if let Some((at, head)) = before
                    && divides(text.get(line.at.clone()).unwrap_or_default())
                {
                    if found.len() == MAX_TABLES {
                        return found;
                    }
                    found.push(Table { head: row(text, at, head), rows: Vec::new() });
                    inside = true;
                }
                before = Some((index, line));
            }
        }
    }
    found
}
