//! Tables: headers, scopes, captions.

use super::{Rule, Verdict};
use crate::catalogue;
use crate::dom::NodeId;
use crate::role::is_none;
use crate::scan::Scan;
use crate::table::{Grid, Known};
use crate::text::{is_blank, tokens};

pub(super) const RULES: &[Rule] = &[
    Rule::new("scope-attr-valid", |s, id| s.is_one_of(id, &["td", "th"]) && s.has(id, "scope"), scope),
    Rule::new("table-duplicate-name", |s, id| s.name(id) == "table", duplicate_name),
    Rule::new("td-headers-attr", is_told_table, headers_attribute),
    Rule::new("td-has-header", is_large, cells_have_headers),
    Rule::new(
        "th-has-data-cells",
        |s, id| s.name(id) == "table" && s.is_data_table(id) == Some(true),
        data_cells,
    ),
    Rule::new(
        "table-fake-caption",
        |s, id| s.name(id) == "table" && s.is_data_table(id) != Some(false),
        caption,
    ),
];

fn scope(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let mut verdict = Verdict::Passes;
    if scan.name(id) == "td" && scan.document.is_plain_html() {
        verdict =
            Verdict::breaks("HTML has scope on th elements only: make the cell a th, or take scope away.");
    }
    let value = scan.attribute(id, "scope").unwrap_or("");
    if !matches!(value.to_lowercase().as_str(), "row" | "col" | "rowgroup" | "colgroup") {
        let why = format!("scope=\"{value}\" is none of row, col, rowgroup and colgroup.");
        verdict = verdict.and(Verdict::breaks(why));
    }
    verdict
}

fn duplicate_name(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let summary = crate::text::clean(scan.attribute(id, "summary").unwrap_or("")).to_lowercase();
    let caption = scan.document.child_elements(id).find(|child| scan.name(*child) == "caption");
    let is_same = !summary.is_empty()
        && caption.is_some_and(|caption| scan.any_text_inside(caption).to_lowercase() == summary);
    Verdict::passes_if(!is_same, "The table's summary says the same as its caption.")
}

fn is_told_table(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.name(id) == "table" && scan.has_role(id, &["table", "grid", "treegrid"])
}

fn headers_attribute(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let grid = scan.grid(id);
    let (mut strange, mut no_header, mut own, mut empty) = (false, false, false, false);
    for cell in grid.cells.iter().copied().filter(|cell| scan.is_read(*cell)) {
        let Some(value) = scan.attribute(cell, "headers") else { continue };
        if is_blank(value) {
            empty = true;
            continue;
        }
        for token in tokens(value) {
            let target = scan.by_id(&token);
            match target {
                _ if scan.is(cell, "id", &token) => own = true,
                Some(target) if grid.place(target).is_some() => {
                    let is_header = scan.has_role(target, &["columnheader", "rowheader"]);
                    no_header = no_header || !is_header;
                }
                _ => strange = true,
            }
        }
    }
    let mut why = Vec::new();
    for (is_so, sentence) in [
        (strange, "A cell's headers attribute names what is no cell of this table."),
        (no_header, "A cell's headers attribute names a cell that is no header."),
        (own, "A cell's headers attribute names the cell itself."),
    ] {
        if is_so {
            why.push(sentence.to_owned());
        }
    }
    match (why.is_empty(), empty) {
        (false, _) => Verdict::Breaks(why),
        (true, true) => Verdict::unsure("A cell's headers attribute is empty."),
        (true, false) => Verdict::Passes,
    }
}

fn data_cells(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let grid = scan.grid(id);
    let mut named = std::collections::BTreeSet::new();
    for cell in &grid.cells {
        named.extend(scan.named_ids(*cell, "headers"));
        named.extend(scan.named_ids(*cell, "aria-labelledby"));
    }
    let mut known = Known::default();
    let idle = grid.cells.iter().copied().find(|cell| {
        let is_header = scan.name(*cell) == "th"
            || matches!(scan.attribute(*cell, "role"), Some("columnheader" | "rowheader"));
        let has_text = || {
            let inside = scan.document.descendants(*cell);
            scan.document.has_own_text(*cell) || inside.into_iter().any(|at| scan.document.has_own_text(at))
        };
        let is_named = || scan.attribute(*cell, "id").is_some_and(|own| named.contains(own));
        is_header && has_text() && !is_named() && !heads_something(scan, &grid, &mut known, *cell)
    });
    if idle.is_none() {
        return Verdict::Passes;
    }
    Verdict::unsure("A header cell of the table heads no other cell.")
}

fn heads_something(scan: &Scan<'_>, grid: &Grid, known: &mut Known, header: NodeId) -> bool {
    let Some(place) = grid.place(header) else { return false };
    let mut lists_it = |cell: NodeId| scan.spend(1) && scan.headers(grid, known, cell).contains(&header);
    let mut below = (place.top + 1..grid.rows.len()).filter_map(|row| grid.at(row, place.left));
    if scan.is_column_header(header) && below.any(|cell| !scan.is_column_header(cell) && lists_it(cell)) {
        return true;
    }
    let width = grid.rows.get(place.top).map_or(0, Vec::len);
    let mut beside = (place.left + 1..width).filter_map(|column| grid.at(place.top, column));
    scan.is_row_header(header) && beside.any(|cell| !scan.is_row_header(cell) && lists_it(cell))
}

fn is_large(scan: &Scan<'_>, id: NodeId) -> bool {
    if scan.name(id) != "table" || scan.is_data_table(id) == Some(false) {
        return false;
    }
    let grid = scan.grid(id);
    (0..3).all(|row| grid.rows.get(row).is_some_and(|row| row.len() >= 3))
}

/// What is said of a table that may lend its shape to a page instead.
fn of_data_table(scan: &Scan<'_>, id: NodeId, why: &str) -> Verdict {
    if scan.is_data_table(id) == Some(true) { Verdict::breaks(why) } else { Verdict::unsure(why) }
}

fn cells_have_headers(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let grid = scan.grid(id);
    let is_data = |cell: NodeId| {
        let role = scan.attribute(cell, "role").and_then(catalogue::role).map(|(role, _)| role);
        role.map_or(scan.name(cell) == "td", |role| matches!(role, "cell" | "gridcell"))
    };
    let mut known = Known::default();
    let lacks = grid.cells.iter().copied().any(|cell| {
        is_data(cell)
            && scan.has_content(cell, true)
            && scan.aria_text(cell).is_none()
            && !scan.headers(&grid, &mut known, cell).into_iter().any(|header| scan.has_content(header, true))
    });
    if lacks { of_data_table(scan, id, "A cell of the table has no header.") } else { Verdict::Passes }
}

fn caption(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let grid = scan.grid(id);
    let first = grid.rows.first().map_or(&[][..], Vec::as_slice);
    let is_one = match first {
        [Some(one), others @ ..] => !others.is_empty() && others.iter().all(|cell| *cell == Some(*one)),
        _ => false,
    };
    if grid.rows.len() > 1 && is_one && !scan.explicit_role(id).is_some_and(is_none) {
        return of_data_table(
            scan,
            id,
            "A cell over the table's whole width stands for a caption: use a caption element.",
        );
    }
    Verdict::Passes
}
