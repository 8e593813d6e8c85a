//! Propose a gatewright.toml.
//!
//! Proposes the project's configuration where there is none, with what `.mcp-devtools.json` said. A person applies it: by
//! `gatewright init`, or by answering the question that the client asks.

use contract::{Fault, Toolset};
use kit::{Answer, Change, ChangeDesk, Define, Doc, doc};
use onboard::{Check, Options, wizard};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{SETUP, facts};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {}

/// The configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The text that the plan puts, where there is no gatewright.toml.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// How gatewright.toml stands.
    checks: Vec<Check>,
    /// What was not taken over, and why.
    notes: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GenerateConfig;

impl Define for GenerateConfig {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "generate_config";
    const TOOLSET: Toolset = SETUP;
    const DOC: Doc = doc!("generate_config.rs");
    const PERSON_APPLIES: bool = true;

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Change for GenerateConfig {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let Input {} = input;
        desk.blocking(|desk| {
            let facts = facts::gathered(desk, desk, &[])?;
            let outcome = wizard(&facts, Options { verify: false, ..Options::default() });
            facts::propose(desk, &outcome.files)?;
            let text = outcome.files.first().map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
            let mut message = outcome
                .checks
                .first()
                .map_or_else(String::new, |check| format!("{}: {}.", check.name, check.said));
            for note in &outcome.notes {
                message.push_str(&format!("\n- {note}"));
            }
            let mut answer =
                Answer::new(message, Output { text, checks: outcome.checks, notes: outcome.notes });
            answer.success = outcome.score == 100;
            Ok(answer)
        })
        .await
    }
}
