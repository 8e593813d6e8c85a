//! What is known of rules, roles, attributes, elements and languages: facts of ARIA 1.2, HTML-AAM and the IANA Language Subtag
//! Registry in the state that axe-core 4.14 goes by, as data (`data/`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::finding::Impact;

/// One rule of axe-core's.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleFacts {
    pub(crate) impact: Impact,
    pub(crate) tags: Vec<String>,
    /// Whether it is asked where nobody chooses: enabled, and neither experimental nor deprecated.
    pub(crate) on_by_default: bool,
    /// Whether elements that no assistive technology sees are left out.
    #[serde(default = "yes")]
    pub(crate) exclude_hidden: bool,
    /// What it asks, in our words.
    pub(crate) help: String,
}

const fn yes() -> bool {
    true
}

/// One role.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleFacts {
    #[serde(rename = "type")]
    pub(crate) kind: RoleKind,
    #[serde(default)]
    pub(crate) required_attrs: Vec<String>,
    /// Those beyond the global and the required ones.
    #[serde(default)]
    pub(crate) allowed_attrs: Vec<String>,
    #[serde(default)]
    pub(crate) prohibited_attrs: Vec<String>,
    /// The roles one of which it has to own.
    #[serde(default)]
    pub(crate) required_owned: Vec<String>,
    /// The roles in one of which it has to be.
    #[serde(default)]
    pub(crate) required_context: Vec<String>,
    #[serde(default)]
    pub(crate) name_from_content: bool,
    #[serde(default)]
    pub(crate) accessible_name_required: bool,
    /// Whether what is in it is not told apart by assistive technologies.
    #[serde(default)]
    pub(crate) children_presentational: bool,
    #[serde(default)]
    pub(crate) deprecated: bool,
}

/// Of what sort a role is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleKind {
    Abstract,
    Widget,
    Composite,
    Structure,
    Landmark,
    Window,
    #[serde(other)]
    Other,
}

/// One `aria-*` attribute.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttributeFacts {
    #[serde(rename = "type")]
    pub(crate) kind: ValueKind,
    #[serde(default)]
    pub(crate) values: Vec<String>,
    #[serde(default)]
    pub(crate) global: bool,
    #[serde(default)]
    pub(crate) allow_empty: bool,
    pub(crate) min_value: Option<i64>,
    pub(crate) default_value: Option<String>,
    /// Whether capitals count: it is said of attributes whose values are words.
    pub(crate) case_insensitive: Option<bool>,
    #[serde(default)]
    pub(crate) deprecated: bool,
}

/// What an attribute's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ValueKind {
    Boolean,
    Nmtoken,
    Nmtokens,
    Idref,
    Idrefs,
    Int,
    Decimal,
    String,
}

/// One HTML element: what holds always, what holds where something else does, and what holds otherwise.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ElementFacts {
    /// The role that it has by itself, where that depends on nothing else.
    pub(crate) implicit_role: Option<String>,
    #[serde(flatten)]
    pub(crate) own: ElementPart,
    #[serde(default)]
    pub(crate) variants: Vec<Variant>,
    #[serde(default)]
    pub(crate) default: ElementPart,
}

/// What holds where something else does.
#[derive(Debug, Deserialize)]
pub(crate) struct Variant {
    #[serde(rename = "match")]
    pub(crate) when: Condition,
    #[serde(flatten)]
    pub(crate) part: ElementPart,
}

/// What may be said of an element.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ElementPart {
    pub(crate) allowed_roles: Option<AllowedRoles>,
    pub(crate) content_types: Option<Vec<String>>,
    pub(crate) naming_methods: Option<Vec<Naming>>,
    pub(crate) naming_prohibited: Option<bool>,
    pub(crate) allowed_aria_attrs: Option<Vec<String>>,
    pub(crate) implicit_attrs: Option<BTreeMap<String, String>>,
    /// What Chromium takes it for where it has no role of its own.
    pub(crate) chromium_role: Option<String>,
}

/// The roles that an element may be given.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum AllowedRoles {
    All(Any),
    These(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Any {
    Any,
    None,
}

/// Where an element has its name from by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Naming {
    SubtreeText,
    AltText,
    ValueText,
    TitleText,
    PlaceholderText,
    LabelText,
    SingleSpace,
    ButtonDefaultText,
    FieldsetLegendText,
    FigureText,
    SvgTitleText,
    TableCaptionText,
    TableSummaryText,
}

/// What has to hold of an element; all that is said.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Condition {
    pub(crate) has_attr: Option<String>,
    pub(crate) has_child: Option<String>,
    pub(crate) input_type: Vec<String>,
    pub(crate) attributes: BTreeMap<String, AttributeIs>,
    pub(crate) any_of: Vec<Condition>,
    pub(crate) has_accessible_name: bool,
    pub(crate) first_summary_of_details: bool,
}

/// What an attribute has to be.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum AttributeIs {
    Said(Presence),
    /// One of these values, or `absent`.
    OneOf(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Presence {
    Present,
    Absent,
    Filled,
}

/// The terms of `autocomplete`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Autocomplete {
    pub(crate) state_terms: BTreeSet<String>,
    pub(crate) standalone_terms: BTreeSet<String>,
    pub(crate) qualifiers: BTreeSet<String>,
    pub(crate) qualified_terms: BTreeSet<String>,
    pub(crate) locations: BTreeSet<String>,
    /// No terms, and yet in use: somebody has to look.
    pub(crate) free_terms: BTreeSet<String>,
}

/// The version of axe-core whose rules these are, as its pages about rules are numbered.
pub(crate) const VERSION: &str = "4.14";

/// Data that is compiled in: a test holds that it is read.
fn read<T: DeserializeOwned + Default>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_default()
}

/// Every rule by id.
pub(crate) fn rules() -> &'static BTreeMap<String, RuleFacts> {
    static RULES: OnceLock<BTreeMap<String, RuleFacts>> = OnceLock::new();
    RULES.get_or_init(|| read(include_str!("../data/rules.json")))
}

/// Every role by name, the abstract ones too.
pub(crate) fn roles() -> &'static BTreeMap<String, RoleFacts> {
    static ROLES: OnceLock<BTreeMap<String, RoleFacts>> = OnceLock::new();
    ROLES.get_or_init(|| read(include_str!("../data/roles.json")))
}

/// One role, of those that may be given; with its name as it lasts.
pub(crate) fn role(name: &str) -> Option<(&'static str, &'static RoleFacts)> {
    let (name, facts) = roles().get_key_value(name)?;
    (facts.kind != RoleKind::Abstract).then_some((name.as_str(), facts))
}

/// Every `aria-*` attribute by name.
pub(crate) fn attributes() -> &'static BTreeMap<String, AttributeFacts> {
    static ATTRIBUTES: OnceLock<BTreeMap<String, AttributeFacts>> = OnceLock::new();
    ATTRIBUTES.get_or_init(|| read(include_str!("../data/attributes.json")))
}

/// An HTML element by name.
pub(crate) fn element(name: &str) -> Option<&'static ElementFacts> {
    static ELEMENTS: OnceLock<BTreeMap<String, ElementFacts>> = OnceLock::new();
    ELEMENTS.get_or_init(|| read(include_str!("../data/elements.json"))).get(name)
}

/// Whether a primary language subtag is registered.
pub(crate) fn is_language(subtag: &str) -> bool {
    static LANGUAGES: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    LANGUAGES
        .get_or_init(|| include_str!("../data/languages.txt").split_whitespace().collect())
        .contains(subtag)
}

/// The terms of `autocomplete`.
pub(crate) fn autocomplete() -> &'static Autocomplete {
    static TERMS: OnceLock<Autocomplete> = OnceLock::new();
    TERMS.get_or_init(|| read(include_str!("../data/autocomplete.json")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_data_is_read() {
        assert_eq!((rules().len(), roles().len(), attributes().len()), (105, 142, 52));
        assert!(element("img").is_some_and(|img| img.variants.len() == 2) && element("$doc").is_none());
        assert!(is_language("en") && is_language("zzj") && !is_language("eng"));
        assert!(
            autocomplete().state_terms.contains("xon") && autocomplete().qualified_terms.contains("impp")
        );
        assert!(role("button").is_some() && role("widget").is_none());
    }
}
