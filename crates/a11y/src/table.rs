//! Tables as grids: which cell lies where, which of them head others.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::catalogue::RoleKind;
use crate::dom::NodeId;
use crate::role::{facts, is_none};
use crate::scan::Scan;
use crate::text::{is_blank, leading_int};

/// Widest and tallest spans of the HTML standard.
const MAX_COLUMNS: i64 = 1_000;
const MAX_ROWS: i64 = 65_534;

/// A table's rows, each with the cell in each of its columns.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    pub(crate) rows: Vec<Vec<Option<NodeId>>>,
    /// How many `tr` there are.
    pub(crate) row_count: usize,
    /// The cells, in the order of the rows.
    pub(crate) cells: Vec<NodeId>,
    /// Where each cell begins and ends: row and column of both corners.
    places: BTreeMap<NodeId, Place>,
    /// Whether a row, a column has nothing but `th`.
    heading_rows: Vec<bool>,
    heading_columns: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Row,
    Column,
}

/// The headers that were found from cells, while one question is asked of one table.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<(Side, NodeId), Rc<Vec<NodeId>>>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) top: usize,
    pub(crate) left: usize,
    bottom: usize,
    right: usize,
}

impl Grid {
    pub(crate) fn at(&self, row: usize, column: usize) -> Option<NodeId> {
        self.rows.get(row)?.get(column).copied().flatten()
    }

    pub(crate) fn place(&self, cell: NodeId) -> Option<Place> {
        self.places.get(&cell).copied()
    }
}

/// What a cell heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    None,
    Column,
    Row,
    /// Both, as far as anybody can tell.
    Auto,
}

impl Scan<'_> {
    /// The table's grid.
    pub(crate) fn grid(&self, table: NodeId) -> Rc<Grid> {
        if let Some(known) = self.grids.borrow().get(&table) {
            return Rc::clone(known);
        }
        let grid = Rc::new(self.build_grid(table));
        self.grids.borrow_mut().insert(table, Rc::clone(&grid));
        grid
    }

    fn table_rows(&self, table: NodeId) -> Vec<NodeId> {
        let (mut head, mut body, mut foot) = (Vec::new(), Vec::new(), Vec::new());
        let rows = |of| self.document.child_elements(of).filter(|row| self.name(*row) == "tr");
        for child in self.document.child_elements(table) {
            match self.name(child) {
                "thead" => head.extend(rows(child)),
                "tbody" => body.extend(rows(child)),
                "tfoot" => foot.extend(rows(child)),
                "tr" => body.push(child),
                _ => {}
            }
        }
        head.append(&mut body);
        head.append(&mut foot);
        head
    }

    fn build_grid(&self, table: NodeId) -> Grid {
        let rows = self.table_rows(table);
        let mut grid = Grid { row_count: rows.len(), rows: vec![Vec::new(); rows.len()], ..Grid::default() };
        for (at, row) in rows.iter().enumerate() {
            let mut column = 0;
            for cell in self.document.child_elements(*row).filter(|c| self.is_one_of(*c, &["td", "th"])) {
                grid.cells.push(cell);
                let wide = self.span(cell, "colspan").unwrap_or(1).clamp(1, MAX_COLUMNS);
                let tall = match self.span(cell, "rowspan") {
                    // As many as there are, though fewer are left: axe-core counts so, and the rest is empty.
                    Some(0) => rows.len(),
                    Some(n) => usize::try_from(n.min(MAX_ROWS)).unwrap_or(1),
                    None => 1,
                };
                for _ in 0..wide {
                    if !self.put(&mut grid, cell, (at, tall), &mut column) {
                        return grid;
                    }
                }
                // What is said counts here, not what there was room for: axe-core looks from there.
                let width = usize::try_from(wide).unwrap_or(1).max(1);
                if let Some(place) = grid.places.get_mut(&cell) {
                    place.bottom = place.top + tall.max(1) - 1;
                    place.right = place.left + width - 1;
                }
            }
        }
        let is_th = |cell: &Option<NodeId>| cell.is_some_and(|cell| self.name(cell) == "th");
        grid.heading_rows = grid.rows.iter().map(|row| row.iter().all(is_th)).collect();
        let width = grid.rows.iter().map(Vec::len).max().unwrap_or(0);
        grid.heading_columns = vec![true; width];
        for row in &grid.rows {
            for (column, all) in grid.heading_columns.iter_mut().enumerate() {
                *all = *all && row.get(column).is_some_and(is_th);
            }
        }
        grid
    }

    /// Puts one column of a cell into the rows that it spans, at the first column that is free in each. Says whether there
    /// was work left to do it.
    fn put(&self, grid: &mut Grid, cell: NodeId, (top, tall): (usize, usize), column: &mut usize) -> bool {
        for at in top..top + tall {
            if !self.spend(1) {
                return false;
            }
            if grid.rows.len() <= at {
                grid.rows.resize(at + 1, Vec::new());
            }
            let Some(row) = grid.rows.get_mut(at) else { return false };
            while row.get(*column).copied().flatten().is_some() {
                *column += 1;
                if !self.spend(1) {
                    return false;
                }
            }
            if row.len() <= *column {
                if !self.spend(*column + 1 - row.len()) {
                    return false;
                }
                row.resize(*column + 1, None);
            }
            if let Some(slot) = row.get_mut(*column) {
                *slot = Some(cell);
            }
            let place = Place { top: at, left: *column, bottom: at, right: *column };
            let place = grid.places.entry(cell).or_insert(place);
            if at < place.top || (at == place.top && *column < place.left) {
                (place.top, place.left) = (at, *column);
            }
        }
        *column += 1;
        true
    }

    /// A span as it is written; nothing where that is no number.
    pub(crate) fn span(&self, cell: NodeId, attribute: &str) -> Option<i64> {
        self.attribute(cell, attribute).and_then(leading_int).filter(|n| *n >= 0)
    }

    /// What the cell heads.
    pub(crate) fn scope(&self, cell: NodeId) -> Scope {
        match self.explicit_role(cell) {
            Some("columnheader") => return Scope::Column,
            Some("rowheader") => return Scope::Row,
            _ => {}
        }
        match self.attribute(cell, "scope") {
            Some("col" | "colgroup") => return Scope::Column,
            Some("row" | "rowgroup") => return Scope::Row,
            _ if self.name(cell) != "th" => return Scope::None,
            _ => {}
        }
        let Some(table) = self.closest_named(cell, "table") else { return Scope::Auto };
        let grid = self.grid(table);
        let Some(place) = grid.place(cell) else { return Scope::Auto };
        if grid.heading_rows.get(place.top).copied().unwrap_or(false) {
            Scope::Column
        } else if grid.heading_columns.get(place.left).copied().unwrap_or(false) {
            Scope::Row
        } else {
            Scope::Auto
        }
    }

    pub(crate) fn is_column_header(&self, cell: NodeId) -> bool {
        matches!(self.scope(cell), Scope::Column | Scope::Auto)
    }

    pub(crate) fn is_row_header(&self, cell: NodeId) -> bool {
        matches!(self.scope(cell), Scope::Row | Scope::Auto)
    }

    /// The cells that head this one.
    pub(crate) fn headers(&self, grid: &Grid, known: &mut Known, cell: NodeId) -> Vec<NodeId> {
        let named = self.referenced(cell, "headers");
        if !named.is_empty() {
            return named;
        }
        let Some(place) = grid.place(cell) else { return Vec::new() };
        let mut found = self.scan_for_headers(grid, known, (place, Side::Row));
        found.extend(self.scan_for_headers(grid, known, (place, Side::Column)));
        found
    }

    /// The headers that lie before a cell, on one side. What was found from a cell on the way is taken over and ends the way,
    /// as in axe-core: where spans lie across each other, it decides what is found.
    fn scan_for_headers(&self, grid: &Grid, known: &mut Known, (place, side): (Place, Side)) -> Vec<NodeId> {
        let (first_row, first_column) = match side {
            Side::Row => (place.top, 0),
            Side::Column => (0, place.left),
        };
        let (mut found, mut scanned) = (Vec::new(), Vec::new());
        'rows: for row in (first_row..=place.bottom).rev() {
            for column in (first_column..=place.right).rev() {
                let Some(cell) = grid.at(row, column).filter(|_| self.spend(1)) else { continue };
                if let Some(list) = known.0.get(&(side, cell)) {
                    self.spend(list.len());
                    found.extend(list.iter().copied());
                    break 'rows;
                }
                scanned.push(cell);
                let is_header = match side {
                    Side::Row => self.is_row_header(cell),
                    Side::Column => self.is_column_header(cell),
                };
                if is_header {
                    found.push(cell);
                }
            }
        }
        let list = Rc::new(found.clone());
        for cell in scanned {
            known.0.insert((side, cell), Rc::clone(&list));
        }
        found
    }

    /// Whether the table holds data, as against lending its shape to a page; nothing where only its looks would tell.
    pub(crate) fn is_data_table(&self, table: NodeId) -> Option<bool> {
        let role = self.explicit_role(table);
        if role.is_some_and(is_none) && !self.is_focusable(table) {
            return Some(false);
        }
        let is_edited = self.closest(table, |at| self.is(at, "contenteditable", "true")).is_some();
        let is_landmark = facts(role).is_some_and(|facts| facts.kind == RoleKind::Landmark);
        if is_edited || is_landmark || matches!(role, Some("grid" | "treegrid" | "table")) {
            return Some(true);
        }
        if self.is(table, "datatable", "0") {
            return Some(false);
        }
        let parts = ["thead", "tfoot", "caption", "colgroup"];
        if self.attribute(table, "summary").is_some_and(|summary| !is_blank(summary))
            || self.document.child_elements(table).any(|child| self.is_one_of(child, &parts))
        {
            return Some(true);
        }
        let grid = self.grid(table);
        if grid.cells.iter().any(|cell| self.speaks_of_data(*cell)) {
            return Some(true);
        }
        let inside = self.document.descendants(table);
        if grid.row_count < 2 || inside.iter().any(|at| self.name(*at) == "table") {
            return Some(false);
        }
        let rows = self.table_rows(table);
        let middle = rows.get(grid.row_count.div_ceil(2)).copied();
        let cells: Vec<NodeId> = middle
            .map(|row| {
                self.document.child_elements(row).filter(|c| self.is_one_of(*c, &["td", "th"])).collect()
            })
            .unwrap_or_default();
        match cells.as_slice() {
            [only] if self.span(*only, "colspan").unwrap_or(1) <= 1 => Some(false),
            cells if cells.len() >= 5 || grid.row_count >= 20 => Some(true),
            _ => None,
        }
    }

    fn speaks_of_data(&self, cell: NodeId) -> bool {
        let is_said = |name| self.attribute(cell, name).is_some_and(|value| !value.is_empty());
        let mut children = self.document.child_elements(cell);
        let is_abbreviation = match (children.next(), children.next()) {
            (Some(only), None) => self.name(only) == "abbr",
            _ => false,
        };
        self.name(cell) == "th"
            || ["scope", "headers", "abbr"].into_iter().any(is_said)
            || matches!(self.attribute(cell, "role"), Some("columnheader" | "rowheader"))
            || is_abbreviation
    }
}
