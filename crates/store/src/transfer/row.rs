//! A row as a line of an export: `{"t":"sessions","r":{"number":1,…}}`, its columns in the table's order, each there.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::tables::{Holds, Table};
use crate::error::damaged;
use crate::sql::Fields;
use store_api::StoreError;

/// What a row has in a column. They are ordered as both databases order them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    Nothing,
    Int(i64),
    Text(String),
}

/// A row that was read from a file.
pub(super) struct Row<'r> {
    pub(super) table: &'static Table,
    /// As many as the table has columns; those that came later than the file's schema are [`Cell::Nothing`].
    pub(super) cells: &'r [Cell],
}

impl Row<'_> {
    fn cell(&self, name: &str) -> Result<&Cell, String> {
        let at = self.table.columns.iter().position(|column| column.name == name);
        at.and_then(|at| self.cells.get(at)).ok_or_else(|| format!("{name} is missing"))
    }

    pub(super) fn maybe_int(&self, name: &str) -> Result<Option<i64>, String> {
        match self.cell(name)? {
            Cell::Nothing => Ok(None),
            Cell::Int(number) => Ok(Some(*number)),
            Cell::Text(_) => Err(format!("{name} is no number")),
        }
    }

    pub(super) fn int(&self, name: &str) -> Result<i64, String> {
        self.maybe_int(name)?.ok_or_else(|| format!("{name} is missing"))
    }

    pub(super) fn maybe_text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.cell(name)? {
            Cell::Nothing => Ok(None),
            Cell::Text(text) => Ok(Some(text)),
            Cell::Int(_) => Err(format!("{name} is no text")),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<&str, String> {
        self.maybe_text(name)?.ok_or_else(|| format!("{name} is missing"))
    }
}

/// Writes the line of a row of a database, with the columns that a schema has, and its end.
pub(super) fn write(
    into: &mut Vec<u8>,
    table: &Table,
    schema: i64,
    fields: &mut Fields<'_>,
) -> Result<(), StoreError> {
    let mut cells = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        cells.push(match column.holds {
            Holds::Int => fields.maybe_int()?.map_or(Cell::Nothing, Cell::Int),
            Holds::Text => fields.maybe_text()?.map_or(Cell::Nothing, Cell::Text),
        });
    }
    spell(into, table, schema, &cells).map_err(damaged)
}

/// Spells a row. There is one spelling of each.
pub(super) fn spell(
    into: &mut Vec<u8>,
    table: &Table,
    schema: i64,
    cells: &[Cell],
) -> Result<(), serde_json::Error> {
    into.extend_from_slice(b"{\"t\":\"");
    into.extend_from_slice(table.name.as_bytes());
    into.extend_from_slice(b"\",\"r\":");
    spell_cells(into, table, schema, cells)?;
    into.extend_from_slice(b"}\n");
    Ok(())
}

/// Spells a row's columns, as the statements that take them in read them.
pub(super) fn spell_cells(
    into: &mut Vec<u8>,
    table: &Table,
    schema: i64,
    cells: &[Cell],
) -> Result<(), serde_json::Error> {
    let mut before = b'{';
    for (at, column) in table.columns_of(schema) {
        into.push(before);
        before = b',';
        into.push(b'"');
        into.extend_from_slice(column.name.as_bytes());
        into.extend_from_slice(b"\":");
        match cells.get(at) {
            None | Some(Cell::Nothing) => into.extend_from_slice(b"null"),
            Some(Cell::Int(number)) => serde_json::to_writer(&mut *into, number)?,
            Some(Cell::Text(text)) => serde_json::to_writer(&mut *into, text)?,
        }
    }
    into.push(b'}');
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer<'l> {
    t: &'l str,
    #[serde(borrow)]
    r: &'l RawValue,
}

/// A row as it was read: which table of all, and what is in it.
pub(super) struct Read {
    pub(super) at: usize,
    pub(super) table: &'static Table,
    pub(super) cells: Vec<Cell>,
}

/// Reads a line, which is a row of that schema in the one spelling that there is.
pub(super) fn read(line: &[u8], schema: i64) -> Result<Read, String> {
    let outer: Outer<'_> = serde_json::from_slice(line).map_err(|error| format!("it is no row: {error}"))?;
    let Some((at, table)) = Table::of(outer.t, schema) else {
        return Err(format!("there is no table {:?}", outer.t));
    };
    let mut cells = serde_json::Deserializer::from_str(outer.r.get());
    let cells = Columns { table, schema }.deserialize(&mut cells);
    let cells = cells.map_err(|error| format!("{}: {error}", table.name))?;
    let mut spelled = Vec::with_capacity(line.len());
    spell(&mut spelled, table, schema, &cells).map_err(|error| error.to_string())?;
    if spelled != line {
        return Err("it is not spelled as an export spells it".to_owned());
    }
    (table.check)(&Row { table, cells: &cells }).map_err(|why| format!("{}: {why}", table.name))?;
    Ok(Read { at, table, cells })
}

/// Reads a row's columns, which are all there and in order.
struct Columns {
    table: &'static Table,
    schema: i64,
}

impl<'de> DeserializeSeed<'de> for Columns {
    type Value = Vec<Cell>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Columns {
    type Value = Vec<Cell>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the columns of {}", self.table.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut cells = vec![Cell::Nothing; self.table.columns.len()];
        for (at, column) in self.table.columns_of(self.schema) {
            let name = column.name;
            match map.next_key::<String>()? {
                Some(found) if found == name => {}
                Some(found) => return Err(A::Error::custom(format!("{found:?} stands where {name} should"))),
                None => return Err(A::Error::custom(format!("{name} is missing"))),
            }
            let cell = match column.holds {
                Holds::Int => map.next_value::<Option<i64>>()?.map(Cell::Int),
                Holds::Text => map.next_value::<Option<String>>()?.map(Cell::Text),
            };
            match &cell {
                None if !column.maybe => return Err(A::Error::custom(format!("{name} is null"))),
                Some(Cell::Text(text)) if text.contains('\0') => {
                    return Err(A::Error::custom(format!("{name} has a NUL character")));
                }
                _ => {}
            }
            if let (Some(place), Some(cell)) = (cells.get_mut(at), cell) {
                *place = cell;
            }
        }
        match map.next_key::<String>()? {
            Some(more) => Err(A::Error::custom(format!("there is no column {more:?}"))),
            None => Ok(cells),
        }
    }
}
