//! What a user can choose; in `gatewright.toml` the section `[tokens]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lint::{Level, Style};

/// How token paths become names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Naming {
    /// `color-brand-primary`: words in lower case, joined with dashes.
    #[default]
    Kebab,
    /// `colorBrandPrimary`.
    Camel,
    /// `color_brand_primary`.
    Snake,
    /// The path's own spelling, joined with dashes and escaped where the language needs it.
    Preserve,
}

/// What becomes of references in CSS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum References {
    /// Kept as `var(--target)`.
    #[default]
    Var,
    /// Replaced by the value.
    Resolved,
}

/// One mode besides the default: its sources or contexts, and when it is in force.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ModeOptions {
    /// The mode's name, such as `dark`.
    pub name: String,
    /// Files that are laid over the source, relative to the root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// For resolver documents: modifier to context.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<String, String>,
    /// The selector under which the mode is in force. Default: `[data-theme="NAME"]`, unless `media` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// The media query under which the mode is in force, such as `(prefers-color-scheme: dark)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// `light` or `dark`: written as `color-scheme`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<String>,
    /// Put the colours that differ into the default block as `light-dark()`; needs `color-scheme = "dark"`.
    pub light_dark: bool,
}

/// Two tokens that are seen together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// The token in front.
    pub foreground: String,
    /// The token behind.
    pub background: String,
    /// The least WCAG contrast ratio; 4.5 where nothing is said.
    #[serde(default = "text_contrast")]
    pub minimum: f64,
}

const fn text_contrast() -> f64 {
    4.5
}

/// What a user can choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Options {
    /// Put in front of every name.
    pub prefix: String,
    /// How token paths become names.
    pub naming: Naming,
    /// What becomes of references in CSS.
    pub references: References,
    /// The selector of the default block.
    pub selector: String,
    /// The default block's `color-scheme`, such as `light`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<String>,
    /// Modes besides the default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<ModeOptions>,
    /// For resolver documents: the default's contexts, where the document has no default or another is wanted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<String, String>,
    /// Pixels per rem; given, every dimension in px is written in rem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub px_per_rem: Option<f64>,
    /// Also write `tokens.json` beside the JavaScript.
    pub json: bool,
    /// The outputs' file name, without extension.
    pub file: String,
    /// Pairs whose contrast is checked in every mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contrast: Vec<Contrast>,
    /// What the linter's rules count for, where not as they say themselves.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lint: BTreeMap<String, Level>,
    /// How names are to be spelled, for the rule `naming`.
    pub lint_naming: Style,
    /// How many aliases a token may be away from its value, for the rule `alias-depth`.
    pub lint_alias_depth: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            naming: Naming::default(),
            references: References::default(),
            selector: ":root".into(),
            color_scheme: None,
            modes: Vec::new(),
            contexts: BTreeMap::new(),
            px_per_rem: None,
            json: false,
            file: "tokens".into(),
            contrast: Vec::new(),
            lint: BTreeMap::new(),
            lint_naming: Style::default(),
            lint_alias_depth: 3,
        }
    }
}
