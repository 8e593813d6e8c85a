//! Take a setup back.
//!
//! Proposes to put every file back as it was before a call of the setup tools was applied. A person applies it; folders that the setup
//! made are removed by `gatewright init --undo` alone.

use contract::{Fault, Toolset, TranscriptId};
use kit::{Answer, Change, ChangeDesk, Define, Doc, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::SETUP;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The `metadata.transcript` of the call that was applied: with it the bytes of before are kept.
    #[schemars(length(min = 1, max = 100))]
    pub backup_path: String,
}

/// What would be taken back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The call whose changes are taken back.
    backup_path: String,
}

/// The tool.
#[derive(Debug, Default)]
pub struct RollbackSetup;

impl Define for RollbackSetup {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "rollback_setup";
    const TOOLSET: Toolset = SETUP;
    const DOC: Doc = doc!("rollback_setup.rs");
    const PERSON_APPLIES: bool = true;

    fn examples() -> Vec<Value> {
        vec![json!({ "backupPath": "1b4e28ba-2fa1-41d2-883f-0016d3cca427" })]
    }
}

impl Change for RollbackSetup {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let Ok(transcript) = input.backup_path.parse::<TranscriptId>() else {
            return Err(Fault::invalid(format!("backupPath: {:?} names no call", input.backup_path))
                .suggest("Give the `metadata.transcript` of the call that applied the setup; `gatewright audit tail` lists them."));
        };
        desk.blocking(move |desk| desk.take_back(&transcript)).await?;
        let message = format!("The plan takes back what {} changed.", input.backup_path);
        Ok(Answer::new(message, Output { backup_path: input.backup_path }))
    }
}
