//! What a review kit is made of.
//!
//! - [`before`]: the state that a change is compared with.
//! - [`tokens`]: what it does to design tokens.
//! - [`examples`]: which pages show components: the project's examples, or the stories of its Storybook.
//! - [`gallery`]: how they look, before and now, and what is wrong with them.
//! - [`notes`]: what its commits say.
//! - [`verdicts`]: what is made of all that.
//! - [`storybook`]: the project's own Storybook, built in a confined run.

pub(crate) mod before;
pub(crate) mod examples;
pub(crate) mod gallery;
pub(crate) mod notes;
pub(crate) mod storybook;
pub(crate) mod tokens;
pub(crate) mod verdicts;

use kit::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where `gatewright kits serve` listens, unless the configuration says otherwise.
pub const PORT: u16 = 7420;

/// `[review]` in `gatewright.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ReviewSection {
    /// Globs of pages that show components, where a call names none.
    pub examples: Vec<String>,
    /// The token files, as for `tokens_build`, where a call names none.
    pub source: Option<String>,
    /// The port on which `gatewright kits serve` shows kits on this machine.
    pub port: u16,
}

impl Default for ReviewSection {
    fn default() -> Self {
        Self { examples: Vec::new(), source: None, port: PORT }
    }
}

impl Section for ReviewSection {
    const NAME: &'static str = "review";
}
