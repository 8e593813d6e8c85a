//! Names of native elements: buttons, links, images, frames, headings.

use super::by::{By, COMMON, COMMON_OR_CONTENT, is_named, must_be_named, needs};
use super::{Rule, Verdict};
use crate::dom::NodeId;
use crate::scan::Scan;
use crate::text::is_blank;

pub(super) const RULES: &[Rule] = &[
    Rule::new("button-name", |s, id| s.name(id) == "button" && must_be_named(s, id), button),
    Rule::new("link-name", |s, id| s.name(id) == "a" && s.has(id, "href"), link),
    Rule::new("input-button-name", is_input_button, input_button),
    Rule::new(
        "input-image-alt",
        |s, id| s.name(id) == "input" && s.is(id, "type", "image") && must_be_named(s, id),
        input_image,
    ),
    Rule::new("image-alt", |s, id| s.name(id) == "img" && must_be_named(s, id), image),
    Rule::new("area-alt", is_linked_area, area),
    Rule::new(
        "object-alt",
        |s, id| s.name(id) == "object" && s.has(id, "data") && must_be_named(s, id),
        object,
    ),
    Rule::new("role-img-alt", is_role_image, role_image),
    Rule::new("svg-img-alt", is_svg_image, svg_image),
    Rule::new("frame-title", is_frame, frame),
    Rule::new("summary-name", |s, id| s.name(id) == "summary" && s.is_summary_of_details(id), summary),
    Rule::new("empty-heading", is_heading, heading),
    Rule::new("empty-table-header", is_table_header, table_header),
];

fn button(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] = &[
        By::Content,
        By::AriaLabel,
        By::Labelledby,
        By::Attribute("title"),
        By::LabelAround,
        By::LabelFor,
        By::NoRole,
    ];
    needs(
        scan,
        id,
        ways,
        "The button has no text that is read out, nor a name by aria-label, aria-labelledby, title or a label.",
    )
}

fn link(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let named = needs(
        scan,
        id,
        COMMON_OR_CONTENT,
        "The link has no text that is read out, nor a name by aria-label, aria-labelledby or title.",
    );
    if named == Verdict::Passes && scan.is_in_tab_order(id) && scan.accessible_name(id).is_empty() {
        return Verdict::breaks("The Tab key gets to the link, and it has no name.");
    }
    named
}

fn is_input_button(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.name(id) == "input"
        && matches!(scan.attribute(id, "type"), Some("button" | "submit" | "reset"))
        && must_be_named(scan, id)
}

fn input_button(scan: &Scan<'_>, id: NodeId) -> Verdict {
    // Browsers write a word of their own on these.
    if matches!(scan.attribute(id, "type"), Some("submit" | "reset")) && !scan.has(id, "value") {
        return Verdict::Passes;
    }
    let ways: &[By] = &[
        By::Attribute("value"),
        By::AriaLabel,
        By::Labelledby,
        By::Attribute("title"),
        By::LabelAround,
        By::LabelFor,
        By::NoRole,
    ];
    needs(
        scan,
        id,
        ways,
        "The button has no text in its value, nor a name by aria-label, aria-labelledby, title or a label.",
    )
}

fn input_image(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] = &[
        By::Attribute("alt"),
        By::AriaLabel,
        By::Labelledby,
        By::Attribute("title"),
        By::LabelAround,
        By::LabelFor,
    ];
    needs(
        scan,
        id,
        ways,
        "The image button has no text in its alt, nor a name by aria-label, aria-labelledby, title or a label.",
    )
}

fn image(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let alt = scan.attribute(id, "alt");
    if alt.is_some_and(|alt| !alt.is_empty() && is_blank(alt)) && !scan.is_presentational(id) {
        return Verdict::breaks(
            "The image's alt holds nothing but white space: say what it shows, or leave it empty.",
        );
    }
    let ways: &[By] = &[By::AriaLabel, By::Labelledby, By::Attribute("title"), By::NoRole];
    Verdict::passes_if(
        alt.is_some() || is_named(scan, id, ways),
        "The image has no alt attribute, nor a name by aria-label, aria-labelledby or title.",
    )
}

fn is_linked_area(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.name(id) == "area"
        && scan.has(id, "href")
        && scan.document.ancestors(id).any(|at| scan.name(at) == "map")
}

fn area(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] = &[By::Attribute("alt"), By::AriaLabel, By::Labelledby, By::Attribute("title")];
    needs(
        scan,
        id,
        ways,
        "The area of the image map is a link without text in its alt, nor a name by aria-label, aria-labelledby or title.",
    )
}

fn object(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] = &[By::AriaLabel, By::Labelledby, By::Attribute("title"), By::NoRole];
    if is_named(scan, id, ways) {
        return Verdict::Passes;
    }
    // What it holds is shown, and read, where the object itself cannot be: only a browser knows.
    if scan.document.child_elements(id).any(|child| scan.name(child) != "param")
        || scan.document.has_own_text(id)
    {
        return Verdict::unsure(
            "The object has no name by aria-label, aria-labelledby or title where it is shown.",
        );
    }
    Verdict::breaks("The object has no name by aria-label, aria-labelledby or title.")
}

fn is_role_image(scan: &Scan<'_>, id: NodeId) -> bool {
    matches!(scan.attribute(id, "role"), Some("img" | "image"))
        && !scan.is_one_of(id, &["img", "area", "input", "object"])
        && !is_in_svg(scan, id)
}

fn is_in_svg(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.closest_named(id, "svg").is_some()
}

fn role_image(scan: &Scan<'_>, id: NodeId) -> Verdict {
    needs(
        scan,
        id,
        COMMON,
        "The element with the role of an image has no name by aria-label, aria-labelledby or title.",
    )
}

fn is_svg_image(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_image = match scan.attribute(id, "role") {
        Some("img" | "image" | "graphics-symbol") => true,
        Some("graphics-document") => scan.name(id) == "svg",
        _ => false,
    };
    is_image && is_in_svg(scan, id)
}

fn svg_image(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let title = scan.document.child_elements(id).find(|child| scan.name(*child) == "title");
    let has_text = title.is_some_and(|title| {
        scan.document.has_own_text(title)
            || scan.document.descendants(title).into_iter().any(|at| scan.document.has_own_text(at))
    });
    Verdict::passes_if(
        has_text || is_named(scan, id, COMMON),
        "The SVG image has no title element directly in it, nor a name by aria-label, aria-labelledby or title.",
    )
}

fn is_frame(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.is_one_of(id, &["frame", "iframe"]) && scan.tabindex(id).is_none_or(|n| n >= 0)
}

fn frame(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] = &[By::Attribute("title"), By::AriaLabel, By::Labelledby, By::NoRole];
    needs(scan, id, ways, "The frame has no name by title, aria-label or aria-labelledby.")
}

fn summary(scan: &Scan<'_>, id: NodeId) -> Verdict {
    needs(
        scan,
        id,
        COMMON_OR_CONTENT,
        "The summary has no text that is read out, nor a name by aria-label, aria-labelledby or title.",
    )
}

fn is_heading(scan: &Scan<'_>, id: NodeId) -> bool {
    let may_be = scan.is_one_of(id, &["h1", "h2", "h3", "h4", "h5", "h6"]) || scan.is(id, "role", "heading");
    may_be && scan.role(id) == Some("heading")
}

fn heading(scan: &Scan<'_>, id: NodeId) -> Verdict {
    needs(scan, id, COMMON_OR_CONTENT, "The heading has no text that is read out.")
}

fn is_table_header(scan: &Scan<'_>, id: NodeId) -> bool {
    match scan.attribute(id, "role") {
        None => scan.name(id) == "th",
        Some(role) => matches!(role, "rowheader" | "columnheader"),
    }
}

fn table_header(scan: &Scan<'_>, id: NodeId) -> Verdict {
    needs(
        scan,
        id,
        &[By::Content, By::NoRole],
        "The header cell has no text that is read out: write what it heads, or make it a td.",
    )
}
