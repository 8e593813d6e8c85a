//! What is hidden, from whom: by elements' nature, by attributes and by their own style. What style sheets and scripts do is
//! not seen.

use std::collections::BTreeMap;

use crate::dom::{Document, NodeId, Space};
use crate::scan::Scan;
use crate::style;
use crate::text::trim;

/// What is known of an element's visibility; of what it hands on, too.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct Sight {
    /// Not displayed at all.
    gone: bool,
    /// Not displayed by itself, as against by one that it is in.
    undisplayed: bool,
    /// Kept its place, and not shown.
    invisible: bool,
    /// Shows nothing of what is in it.
    closes: bool,
    /// It or one that it is in has aria-hidden.
    aria_hidden: bool,
    inert: bool,
    /// Not opaque at all, or clipped away.
    faded: bool,
    /// In a fieldset that is disabled.
    disabled: bool,
    /// An image map's area: whether it is hidden is its images' matter.
    area: Option<Area>,
}

#[derive(Debug, Clone, Copy)]
struct Area {
    reader: bool,
    screen: bool,
}

const NEVER: &[&str] = &["style", "script", "noscript", "template"];
const UNDISPLAYED: &[&str] = &[
    "area", "base", "basefont", "datalist", "head", "link", "meta", "noembed", "noframes", "param", "rp",
    "title",
];

/// Looks at every element once, from the top.
pub(crate) fn sights(document: &Document, elements: &[NodeId]) -> Vec<Sight> {
    let mut sights = vec![Sight::default(); document.len()];
    let mut areas = Vec::new();
    for id in elements {
        let parent = document.parent(*id);
        let above = parent.and_then(|p| sights.get(p.index()).copied()).unwrap_or_default();
        let sight = look(document, *id, parent, above);
        if let Some(slot) = sights.get_mut(id.index()) {
            *slot = sight;
        }
        if document.name(*id) == "area" {
            areas.push(*id);
        }
    }
    if !areas.is_empty() {
        look_at_areas(document, elements, &areas, &mut sights);
    }
    sights
}

fn look(document: &Document, id: NodeId, parent: Option<NodeId>, above: Sight) -> Sight {
    let name = document.name(id);
    let style = document.attribute(id, "style").unwrap_or("");
    let declared = |property, is_valid| {
        if style.is_empty() { None } else { style::value(style, property, is_valid) }
    };
    let visibility = declared("visibility", style::is_visibility);
    let content = declared("content-visibility", style::is_content_visibility);
    let until_found = document.attribute(id, "hidden").is_some_and(|v| v.eq_ignore_ascii_case("until-found"));
    let is_folded = parent.is_some_and(|p| {
        document.name(p) == "details" && !document.has(p, "open") && first_summary(document, p) != Some(id)
    });
    let is_undisplayed = match declared("display", style::is_display).as_deref() {
        Some("none") => true,
        Some("inherit" | "unset" | "revert" | "revert-layer") | None => is_undisplayed(document, id, name),
        Some(_) => is_hidden_input(document, id),
    };
    // Areas are never displayed: their images are.
    let is_gone = is_undisplayed && name != "area";
    Sight {
        gone: above.gone || above.closes || is_folded || is_gone || NEVER.contains(&name),
        undisplayed: is_undisplayed,
        invisible: match visibility.as_deref() {
            Some("hidden" | "collapse") => true,
            Some("visible" | "initial") => false,
            _ => above.invisible,
        },
        closes: above.closes
            || content.as_deref() == Some("hidden")
            || (until_found && !matches!(content.as_deref(), Some("visible" | "auto" | "initial"))),
        aria_hidden: above.aria_hidden || is_aria_hidden(document, id),
        inert: above.inert || document.has(id, "inert"),
        faded: above.faded || (!style.is_empty() && is_faded(style)),
        disabled: match parent.map(|p| (document.name(p), p)) {
            Some(("legend", _)) => false,
            Some(("fieldset", p)) if document.has(p, "disabled") => true,
            _ => above.disabled,
        },
        area: None,
    }
}

fn is_hidden_input(document: &Document, id: NodeId) -> bool {
    document.name(id) == "input"
        && document.attribute(id, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"))
}

/// Whether browsers do not display it where nobody says anything about it.
fn is_undisplayed(document: &Document, id: NodeId, name: &str) -> bool {
    let is_html = document.element(id).is_some_and(|element| element.space == Space::Html);
    if !is_html {
        return false;
    }
    let hidden = document.attribute(id, "hidden");
    let until_found = hidden.is_some_and(|value| value.eq_ignore_ascii_case("until-found"));
    (hidden.is_some() && !until_found && name != "embed")
        || UNDISPLAYED.contains(&name)
        || is_hidden_input(document, id)
        || (name == "audio" && !document.has(id, "controls"))
        || (name == "dialog" && !document.has(id, "open"))
        || document.has(id, "popover")
}

/// Whether it is not to be seen for all that it is displayed.
fn is_faded(style: &str) -> bool {
    let mut position = String::new();
    let (mut opacity, mut clip, mut path) = (false, false, false);
    for (name, value, _) in style::declarations(style) {
        match name.as_str() {
            "opacity" => opacity = crate::text::leading_float(&value) == Some(0.0),
            "position" => position = value,
            "clip" => clip = is_empty_rect(&value),
            "clip-path" => path = is_empty_shape(&value),
            _ => {}
        }
    }
    opacity || path || (clip && matches!(position.as_str(), "absolute" | "fixed"))
}

fn inside<'v>(value: &'v str, function: &str) -> Option<&'v str> {
    value.strip_prefix(function)?.trim_start().strip_prefix('(')?.strip_suffix(')')
}

fn is_empty_rect(value: &str) -> bool {
    let Some(sides) = inside(value, "rect") else { return false };
    let sides: Vec<f64> = sides
        .split([',', ' '])
        .filter(|side| !side.is_empty())
        .map(|side| crate::text::leading_float(side).unwrap_or(f64::NAN))
        .collect();
    matches!(sides.as_slice(), [top, right, bottom, left] if right - left <= 0.0 || bottom - top <= 0.0)
}

fn is_empty_shape(value: &str) -> bool {
    if let Some(circle) = inside(value, "circle") {
        return crate::text::leading_float(circle) == Some(0.0);
    }
    inside(value, "inset").is_some_and(|inset| crate::text::leading_float(inset).is_some_and(|n| n >= 50.0))
}

fn is_aria_hidden(document: &Document, id: NodeId) -> bool {
    document.attribute(id, "aria-hidden").is_some_and(|v| trim(v).eq_ignore_ascii_case("true"))
}

pub(crate) fn first_summary(document: &Document, details: NodeId) -> Option<NodeId> {
    document.child_elements(details).find(|child| document.name(*child) == "summary")
}

/// An area is seen where its map is used, and all images that use it are seen.
fn look_at_areas(document: &Document, elements: &[NodeId], areas: &[NodeId], sights: &mut [Sight]) {
    let mut images: BTreeMap<&str, Vec<Sight>> = BTreeMap::new();
    for id in elements.iter().filter(|id| document.name(**id) == "img") {
        let map = document.attribute(*id, "usemap").and_then(|map| map.strip_prefix('#'));
        if let (Some(map), Some(sight)) = (map, sights.get(id.index())) {
            images.entry(map).or_default().push(*sight);
        }
    }
    for id in areas {
        let map = document.ancestors(*id).find(|at| document.name(*at) == "map");
        let name = map.and_then(|map| document.attribute(map, "name")).filter(|name| !name.is_empty());
        let users = name.and_then(|name| images.get(name)).map_or(&[][..], Vec::as_slice);
        let none = |is_hidden: fn(&Sight) -> bool| users.is_empty() || users.iter().any(is_hidden);
        let is_shut = is_aria_hidden(document, *id) || document.has(*id, "inert");
        let area = Area {
            reader: is_shut || none(|image| !image.is_read()),
            screen: none(|image| !image.is_shown()),
        };
        if let Some(sight) = sights.get_mut(id.index()) {
            sight.area = Some(area);
        }
    }
}

impl Sight {
    fn is_hidden(&self) -> bool {
        self.gone || self.invisible
    }

    fn is_read(&self) -> bool {
        match self.area {
            Some(area) => !area.reader,
            None => !self.is_hidden() && !self.aria_hidden && !self.inert,
        }
    }

    fn is_shown(&self) -> bool {
        let is_hidden = self.area.map_or_else(|| self.is_hidden(), |area| area.screen);
        !is_hidden && !self.faded
    }
}

impl Scan<'_> {
    fn sight(&self, id: NodeId) -> Sight {
        self.sights.get(id.index()).copied().unwrap_or_default()
    }

    /// Whether nobody gets to see it.
    pub(crate) fn is_hidden(&self, id: NodeId) -> bool {
        self.sight(id).is_hidden()
    }

    /// Whether assistive technologies are told of it.
    pub(crate) fn is_read(&self, id: NodeId) -> bool {
        self.sight(id).is_read()
    }

    /// Whether it is to be seen on a screen.
    pub(crate) fn is_shown(&self, id: NodeId) -> bool {
        self.sight(id).is_shown()
    }

    pub(crate) fn is_inert(&self, id: NodeId) -> bool {
        self.sight(id).inert
    }

    /// Whether it is in a fieldset that is disabled, and not in its legend.
    pub(crate) fn is_in_disabled_fieldset(&self, id: NodeId) -> bool {
        self.sight(id).disabled
    }

    /// Whether it is not displayed by itself, as against by one that it is in.
    pub(crate) fn is_undisplayed(&self, id: NodeId) -> bool {
        self.sight(id).undisplayed
    }

    pub(crate) fn is_invisible(&self, id: NodeId) -> bool {
        self.sight(id).invisible
    }

    /// Whether it says itself that assistive technologies are not to be told of it.
    pub(crate) fn is_aria_hidden(&self, id: NodeId) -> bool {
        is_aria_hidden(self.document, id)
    }
}
