//! Names and texts of elements: accname-1.2, as axe-core reads it.

use std::collections::BTreeSet;

use crate::catalogue::Naming;
use crate::dom::NodeId;
use crate::role::{facts, is_none};
use crate::scan::Scan;
use crate::text::{clean, tokens};

/// Deepest nesting that a name is put together from: the parser lets little more through, and references can lead back up.
const MAX_DEPTH: u16 = 640;

/// The roles whose content is a value.
const VALUED: &[&str] =
    &["textbox", "progressbar", "scrollbar", "slider", "spinbutton", "combobox", "listbox"];

/// Elements whose texts run on into those beside them.
const PHRASING: &[&str] = &[
    "a", "abbr", "area", "audio", "b", "bdi", "bdo", "br", "button", "canvas", "cite", "code", "data",
    "datalist", "del", "dfn", "em", "embed", "i", "iframe", "ins", "kbd", "label", "link", "map", "mark",
    "math", "meter", "noscript", "object", "output", "picture", "progress", "q", "ruby", "s", "samp",
    "script", "select", "slot", "small", "span", "strong", "sub", "sup", "svg", "template", "textarea",
    "time", "u", "var", "video", "wbr",
];

const WITHOUT_TEXT: &[&str] =
    &["head", "title", "template", "script", "style", "iframe", "object", "video", "audio", "noscript"];
const SEEN_ROLES: &[&str] =
    &["checkbox", "img", "meter", "progressbar", "scrollbar", "radio", "slider", "spinbutton", "textbox"];
const SEEN_ELEMENTS: &[&str] = &[
    "img", "iframe", "object", "video", "audio", "canvas", "svg", "math", "button", "select", "textarea",
    "keygen", "progress", "meter",
];

/// Which kinds of `input` hold text that somebody may have typed, openly.
fn is_text_input(kind: &str) -> bool {
    !matches!(
        kind,
        "button"
            | "checkbox"
            | "color"
            | "file"
            | "hidden"
            | "image"
            | "password"
            | "radio"
            | "reset"
            | "submit"
    )
}

/// How a name is come by.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The element whose name it is.
    start: NodeId,
    in_label: bool,
    in_labelledby: bool,
    /// Whether what is hidden counts: it does where a reference leads to it. Said once.
    hidden_too: Option<bool>,
    /// Whether what is inside counts whatever its role. Said once.
    subtree: Option<bool>,
    depth: u16,
}

impl Way {
    fn to(start: NodeId) -> Self {
        Self { start, in_label: false, in_labelledby: false, hidden_too: None, subtree: None, depth: 0 }
    }
}

type Seen = BTreeSet<NodeId>;

impl Scan<'_> {
    /// The element's name.
    pub(crate) fn accessible_name(&self, id: NodeId) -> String {
        self.name_by(id, Way::to(id), &mut Seen::new())
    }

    /// What the element holds, where that may name it.
    pub(crate) fn text_inside(&self, id: NodeId) -> String {
        clean(&self.subtree_text(id, Way::to(id), &mut Seen::new()))
    }

    /// What the element holds, whatever its role is.
    pub(crate) fn any_text_inside(&self, id: NodeId) -> String {
        let way = Way { subtree: Some(true), ..Way::to(id) };
        clean(&self.subtree_text(id, way, &mut Seen::new()))
    }

    /// The texts of the elements that aria-labelledby names.
    pub(crate) fn labelledby_text(&self, id: NodeId) -> String {
        clean(&self.references_text(id, Way::to(id), &mut Seen::new()))
    }

    /// The text of one label, for the element that it labels.
    pub(crate) fn text_of_label(&self, label: NodeId, of: NodeId) -> String {
        clean(&self.name_by(label, Way { in_label: true, ..Way::to(of) }, &mut Seen::new()))
    }

    /// The texts of all labels.
    pub(crate) fn labels_text(&self, id: NodeId) -> String {
        clean(&self.label_text(id, Way::to(id), &mut Seen::new()))
    }

    /// The text that the `title` attribute names it by.
    pub(crate) fn title_text(&self, id: NodeId) -> &str {
        let may_name = self.name(id) == "iframe" || !self.is_presentational(id);
        self.attribute(id, "title").filter(|_| may_name).unwrap_or("")
    }

    /// Whether aria-labelledby or aria-label gives a text.
    pub(crate) fn has_aria_name(&self, id: NodeId) -> bool {
        self.has_filled(id, "aria-label")
            || (self.has(id, "aria-labelledby") && !self.labelledby_text(id).is_empty())
    }

    fn name_by(&self, id: NodeId, mut way: Way, seen: &mut Seen) -> String {
        if let Some(text) = self.document.text(id) {
            return text.to_owned();
        }
        if way.depth >= MAX_DEPTH {
            // What lies deeper is not known, and so nothing is.
            self.spend(usize::MAX);
        }
        if !self.spend(1) || self.document.element(id).is_none() {
            return String::new();
        }
        way.depth += 1;
        if way.in_labelledby && way.hidden_too.is_none() {
            way.hidden_too = Some(!self.is_read(id));
        }
        let is_never = self.is_one_of(id, &["style", "script", "noscript", "template"]);
        if !self.is_read(id) && (is_never || way.hidden_too != Some(true)) {
            return String::new();
        }
        let is_start = id == way.start;
        for step in [
            Self::references_text,
            Self::aria_label_text,
            Self::native_text,
            Self::value_text,
            Self::subtree_text,
        ] {
            let mut found = step(self, id, way, seen);
            if is_start {
                found = clean(&found);
            }
            if !found.is_empty() {
                return found;
            }
        }
        self.title_text(id).to_owned()
    }

    fn references_text(&self, id: NodeId, way: Way, seen: &mut Seen) -> String {
        if way.in_label || way.in_labelledby || !self.has(id, "aria-labelledby") {
            return String::new();
        }
        let way = Way { in_labelledby: true, ..way };
        let is_fresh = seen.is_empty();
        let texts: Vec<String> = self
            .referenced(id, "aria-labelledby")
            .into_iter()
            .map(|target| {
                if is_fresh {
                    self.name_by(target, way, &mut Seen::new())
                } else {
                    self.name_by(target, way, seen)
                }
            })
            .filter(|text| !text.is_empty())
            .collect();
        texts.join(" ")
    }

    fn aria_label_text(&self, id: NodeId, _: Way, _: &mut Seen) -> String {
        self.attribute(id, "aria-label").unwrap_or("").to_owned()
    }

    fn native_text(&self, id: NodeId, way: Way, seen: &mut Seen) -> String {
        let methods = self.naming_methods(id);
        if methods.is_empty() || self.is_presentational(id) {
            return String::new();
        }
        let attribute = |name| self.attribute(id, name).unwrap_or("").to_owned();
        for method in methods {
            let found = match method {
                Naming::AltText => attribute("alt"),
                Naming::ValueText => attribute("value"),
                Naming::PlaceholderText => attribute("placeholder"),
                Naming::TableSummaryText => attribute("summary"),
                Naming::TitleText => self.title_text(id).to_owned(),
                Naming::SingleSpace => " ".to_owned(),
                Naming::ButtonDefaultText => match self.input_type(id) {
                    "submit" | "image" => "Submit".to_owned(),
                    "reset" => "Reset".to_owned(),
                    _ => String::new(),
                },
                Naming::SvgTitleText => self.part_text(id, "title", way, seen),
                Naming::TableCaptionText => self.part_text(id, "caption", way, seen),
                Naming::FigureText => self.part_text(id, "figcaption", way, seen),
                Naming::FieldsetLegendText => self.part_text(id, "legend", way, seen),
                Naming::LabelText => self.label_text(id, way, seen),
                Naming::SubtreeText => self.subtree_text(id, way, seen),
            };
            if !found.is_empty() {
                return found;
            }
        }
        String::new()
    }

    /// The name of the part that names the whole, unless another of the same kind comes first.
    fn part_text(&self, id: NodeId, part: &str, way: Way, seen: &mut Seen) -> String {
        let own = self.name(id);
        let inside = self.document.descendants(id);
        self.spend(inside.len());
        let first = inside.into_iter().find(|at| self.is_one_of(*at, &[part, own]));
        first.filter(|at| self.name(*at) == part).map_or_else(String::new, |at| self.name_by(at, way, seen))
    }

    fn label_text(&self, id: NodeId, way: Way, seen: &mut Seen) -> String {
        if way.in_label || way.in_labelledby || !seen.insert(id) {
            return String::new();
        }
        let mut labels = self.labels_for(id).to_vec();
        labels.extend(self.closest_named(id, "label").filter(|label| !labels.contains(label)));
        labels.sort_by_key(|label| self.place(*label));
        let way = Way { in_label: true, ..way };
        let texts = labels.into_iter().map(|label| self.name_by(label, way, seen));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn subtree_text(&self, id: NodeId, mut way: Way, seen: &mut Seen) -> String {
        let role = self.role(id);
        if !seen.insert(id) || self.is_embedded(id) || role.is_some_and(|role| VALUED.contains(&role)) {
            return String::new();
        }
        if way.subtree != Some(true) && !way.in_labelledby && !is_named_from_content(role) {
            return String::new();
        }
        way.subtree = way.subtree.or(Some(!way.in_label && !way.in_labelledby));
        let mut out = String::new();
        for child in self.owned(id) {
            let text = self.name_by(child, way, seen);
            if text.is_empty() {
                continue;
            }
            let runs_on = self.document.element(child).is_none_or(|child| PHRASING.contains(&&*child.name));
            if !runs_on && !out.is_empty() && !out.ends_with(' ') && !text.starts_with(' ') {
                out.push(' ');
            }
            out.push_str(&text);
            if !runs_on && !text.ends_with(' ') {
                out.push(' ');
            }
        }
        out
    }

    /// What a control in a text holds, which is said with the text.
    fn value_text(&self, id: NodeId, way: Way, seen: &mut Seen) -> String {
        let Some(role) = self.role(id) else { return String::new() };
        if id == way.start || role == "progressbar" || !VALUED.contains(&role) {
            return String::new();
        }
        match self.name(id) {
            "textarea" => return self.raw_text(id),
            "input" if self.input_type(id) == "range" => return format!("{}", self.range_value(id)),
            "input" if is_text_input(self.input_type(id)) => {
                return self.attribute(id, "value").unwrap_or("").to_owned();
            }
            "select" => return self.selected_text(id),
            _ => {}
        }
        match role {
            "textbox" => self.visible_text(id, true),
            "listbox" => self.chosen_text(id, way, seen),
            "combobox" => {
                let lists = self.owned(id);
                let list = lists.into_iter().find(|at| self.role(*at) == Some("listbox"));
                list.map_or_else(String::new, |list| self.chosen_text(list, way, seen))
            }
            _ if self.explicit_role(id).is_some() => {
                self.attribute(id, "aria-valuenow").map_or_else(String::new, |now| {
                    let is_number = now.bytes().any(|b| b.is_ascii_digit());
                    let number = now.trim().parse::<f64>().ok().filter(|n| is_number && n.is_finite());
                    format!("{}", number.unwrap_or(0.0))
                })
            }
            _ => String::new(),
        }
    }

    fn raw_text(&self, id: NodeId) -> String {
        self.document.children(id).iter().filter_map(|child| self.document.text(*child)).collect()
    }

    /// Where a slider stands: in the middle, if nobody says.
    fn range_value(&self, id: NodeId) -> f64 {
        let number = |name| {
            let value = self.attribute(id, name)?;
            value.parse::<f64>().ok().filter(|n| n.is_finite() && value.bytes().any(|b| b.is_ascii_digit()))
        };
        let least = number("min").unwrap_or(0.0);
        let most = number("max").unwrap_or(100.0).max(least);
        number("value").unwrap_or(f64::midpoint(least, most)).clamp(least, most)
    }

    fn selected_text(&self, select: NodeId) -> String {
        let mut options = self.document.descendants(select);
        self.spend(options.len());
        options.retain(|at| self.name(*at) == "option");
        let chosen: Vec<NodeId> = options.iter().copied().filter(|at| self.has(*at, "selected")).collect();
        let chosen = match (chosen.as_slice(), options.first()) {
            ([], Some(first)) => vec![*first],
            ([.., last], _) if !self.has(select, "multiple") => vec![*last],
            _ => chosen,
        };
        chosen.into_iter().map(|option| self.visible_text(option, false)).collect::<Vec<_>>().join(" ")
    }

    fn chosen_text(&self, list: NodeId, way: Way, seen: &mut Seen) -> String {
        let chosen = self.owned(list).into_iter().find(|at| {
            self.role(*at) == Some("option")
                && self.attribute(*at, "aria-selected").is_some_and(|v| v.trim().eq_ignore_ascii_case("true"))
        });
        chosen.map_or_else(String::new, |option| self.name_by(option, way, seen))
    }

    /// The text in the element that is read out, or else shown; without what attributes say.
    pub(crate) fn visible_text(&self, id: NodeId, is_read: bool) -> String {
        let sees = |at: NodeId| if is_read { self.is_read(at) } else { self.is_shown(at) };
        let mut out = String::new();
        let mut open = vec![(id, sees(id))];
        while let Some((at, is_seen)) = open.pop() {
            if !self.spend(1) {
                break;
            }
            match self.document.text(at) {
                Some(text) if is_seen => out.push_str(text),
                Some(_) => {}
                None if self.name(at) == "br" && at != id => out.push(' '),
                None => {
                    let is_seen = sees(at);
                    open.extend(self.document.children(at).iter().rev().map(|child| (*child, is_seen)));
                }
            }
        }
        clean(&out)
    }

    /// The text that aria-labelledby or aria-label put beside it; nothing where there is none.
    pub(crate) fn aria_text(&self, id: NodeId) -> Option<String> {
        let texts = self.referenced(id, "aria-labelledby").into_iter().map(|at| self.visible_text(at, false));
        let joined = clean(&texts.collect::<Vec<_>>().join(" "));
        let own = || clean(self.attribute(id, "aria-label").unwrap_or(""));
        Some(joined).filter(|text| !text.is_empty()).or_else(|| Some(own()).filter(|text| !text.is_empty()))
    }

    /// The text that labels it on the page.
    pub(crate) fn label_shown(&self, id: NodeId) -> Option<String> {
        let read = |label: Option<NodeId>| {
            label.map(|label| self.visible_text(label, true)).filter(|text| !text.is_empty())
        };
        self.aria_text(id)
            .or_else(|| read(self.labels_for(id).first().copied()))
            .or_else(|| read(self.closest_named(id, "label")))
    }

    /// Whether a text that is not blank is directly in it, and is shown as such.
    pub(crate) fn has_readable_text(&self, id: NodeId) -> bool {
        self.document.has_own_text(id) && !self.is_one_of(id, WITHOUT_TEXT)
    }

    /// Whether there is something to perceive in the element itself.
    pub(crate) fn has_own_content(&self, id: NodeId, with_aria: bool) -> bool {
        self.has_readable_text(id) || self.is_seen_element(id) || (with_aria && self.aria_text(id).is_some())
    }

    /// Whether there is something to perceive in the element or in what it holds.
    pub(crate) fn has_content(&self, id: NodeId, with_aria: bool) -> bool {
        self.has_own_content(id, with_aria)
            || self
                .document
                .descendants(id)
                .into_iter()
                .any(|at| self.spend(1) && self.has_own_content(at, true))
    }

    /// Whether it shows something without any text.
    pub(crate) fn is_seen_element(&self, id: NodeId) -> bool {
        match self.explicit_role(id) {
            Some(role) => SEEN_ROLES.contains(&role),
            None => {
                self.is_one_of(id, SEEN_ELEMENTS)
                    || (self.name(id) == "input" && self.input_type(id) != "hidden")
            }
        }
    }

    /// The ids that an attribute names, whether they exist or not.
    pub(crate) fn named_ids(&self, id: NodeId, attribute: &str) -> Vec<String> {
        self.attribute(id, attribute).map(tokens).unwrap_or_default()
    }
}

fn is_named_from_content(role: Option<&str>) -> bool {
    role.is_none_or(is_none) || facts(role).is_none_or(|facts| facts.name_from_content)
}
