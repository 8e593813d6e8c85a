//! What the keyboard gets to.

use crate::dom::NodeId;
use crate::scan::Scan;
use crate::text::leading_int;

/// The kinds of `input` that there are; any other is a text field.
const INPUT_TYPES: &[&str] = &[
    "hidden",
    "text",
    "search",
    "tel",
    "url",
    "email",
    "password",
    "date",
    "month",
    "week",
    "time",
    "datetime-local",
    "number",
    "range",
    "color",
    "checkbox",
    "radio",
    "file",
    "submit",
    "image",
    "reset",
    "button",
];

const CAN_BE_DISABLED: &[&str] =
    &["button", "command", "fieldset", "keygen", "optgroup", "option", "select", "textarea", "input"];

impl Scan<'_> {
    /// What kind of `input` it is.
    pub(crate) fn input_type(&self, id: NodeId) -> &'static str {
        let said = self.attribute(id, "type").unwrap_or("");
        INPUT_TYPES.iter().find(|kind| kind.eq_ignore_ascii_case(said)).copied().unwrap_or("text")
    }

    /// The number in `tabindex`.
    pub(crate) fn tabindex(&self, id: NodeId) -> Option<i64> {
        self.attribute(id, "tabindex").and_then(leading_int)
    }

    fn is_disabled(&self, id: NodeId) -> bool {
        (self.has(id, "disabled") && self.is_one_of(id, CAN_BE_DISABLED))
            || self.is_inert(id)
            || self.is_in_disabled_fieldset(id)
            || (self.name(id) != "area" && self.is_hidden(id))
    }

    /// Whether it takes the focus without being told to.
    pub(crate) fn is_natively_focusable(&self, id: NodeId) -> bool {
        let takes_it = match self.name(id) {
            "a" | "area" => self.has(id, "href"),
            "input" => self.input_type(id) != "hidden",
            "textarea" | "select" | "summary" | "button" => true,
            "details" => !self.holds_summary(id),
            _ => false,
        };
        takes_it && !self.is_disabled(id)
    }

    /// Whether it can have the focus.
    pub(crate) fn is_focusable(&self, id: NodeId) -> bool {
        self.is_natively_focusable(id) || (self.tabindex(id).is_some() && !self.is_disabled(id))
    }

    /// Whether the Tab key gets there.
    pub(crate) fn is_in_tab_order(&self, id: NodeId) -> bool {
        self.tabindex(id).is_none_or(|n| n >= 0) && self.is_focusable(id)
    }

    /// Whether a dialog lies over the page.
    pub(crate) fn has_open_modal(&self) -> bool {
        *self.modal.get_or_init(|| {
            self.elements.iter().any(|id| {
                let is_modal = self.name(*id) == "dialog"
                    || self.is(*id, "role", "dialog")
                    || self.is(*id, "aria-modal", "true");
                is_modal && self.is_shown(*id)
            })
        })
    }
}
