//! The document as a whole: its title, its language, what its `meta` elements do.

use super::{Rule, Verdict};
use crate::dom::{NodeId, Space};
use crate::scan::Scan;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "document-title",
    applies: |scan, id| scan.document.html() == Some(id),
    judge: title,
    together: None,
}];

fn title(scan: &Scan<'_>, html: NodeId) -> Verdict {
    let document = scan.document;
    let title = document.descendants(html).into_iter().find(|id| {
        document.element(*id).is_some_and(|element| element.name == "title" && element.space == Space::Html)
    });
    let has_text = title.is_some_and(|id| {
        document.children(id).iter().any(|text| document.text(*text).is_some_and(|t| !t.trim().is_empty()))
    });
    if has_text { Verdict::Passes } else { Verdict::breaks("The document has no title with text in it.") }
}
