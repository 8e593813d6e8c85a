//! What the tools of failure analysis have in common.

use failures::Analysis;
use schemars::JsonSchema;
use serde::Deserialize;

/// What else is known of a run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Context {
    /// Files that it may be about.
    pub files: Vec<String>,
    /// Whether its time was over.
    pub timed_out: bool,
}

/// An analysis in words.
pub(crate) fn said(analysis: &Analysis) -> String {
    let percent = (analysis.confidence * 100.0).round();
    let mut text = match analysis.findings.first() {
        None => "Nothing that is known was recognised.".to_owned(),
        Some(first) => format!("{}: {} ({percent} % sure).", first.title, first.explanation),
    };
    for suggestion in &analysis.suggestions {
        text.push_str(&format!("\n- {}", suggestion.text));
    }
    text
}
