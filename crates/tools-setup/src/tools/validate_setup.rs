//! Check how this repository is set up.
//!
//! Holds gatewright.toml, the clients' entries and the project's programs to what they should be, and says what is wrong with what to
//! do, and a score. Use it when a client does not see the tools.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use onboard::{Check, Options, Seen, State, migrate, score, wizard};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{SETUP, facts};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A configuration of the old kind to look at as well.
    #[serde(default = "usual")]
    pub config_path: String,
}

fn usual() -> String {
    migrate::FILE.to_owned()
}

/// How it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What was looked at.
    checks: Vec<Check>,
    /// 0 to 100.
    score: u32,
    /// What is worth knowing.
    notes: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct ValidateSetup;

impl Define for ValidateSetup {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "validate_setup";
    const TOOLSET: Toolset = SETUP;
    const DOC: Doc = doc!("validate_setup.rs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "configPath": "tools/.mcp-devtools.json" })]
    }
}

impl Read for ValidateSetup {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| look(&input, desk)).await
    }
}

fn look(input: &Input, desk: &ReadDesk) -> Result<Answer<Output>, Fault> {
    let clients = facts::traced(desk.view())?;
    let facts = facts::gathered(desk, desk, &clients)?;
    let outcome = wizard(&facts, Options { propose: false, ..Options::default() });
    let mut checks = outcome.checks;
    let mut notes = outcome.notes;
    match facts::seen(desk.view(), &input.config_path)? {
        Seen::Absent => {}
        Seen::Unfit(why) => notes.push(format!("{}: {why}", input.config_path)),
        Seen::Bytes(bytes) => {
            let read = migrate::migrate(&String::from_utf8_lossy(&bytes));
            let said = match read {
                Ok(_) => "it is of the program that came before: `gatewright init` takes it over".to_owned(),
                Err(why) => why,
            };
            checks.push(Check {
                name: input.config_path.clone(),
                state: State::Warning,
                said,
                fix: Some("Remove it once gatewright.toml says what it said.".to_owned()),
            });
        }
    }
    let score = score(&checks);
    let wrong: Vec<&Check> =
        checks.iter().filter(|check| matches!(check.state, State::Error | State::Warning)).collect();
    let mut message =
        format!("Score: {score}. {} of {} checks are fine.", checks.len() - wrong.len(), checks.len());
    for check in wrong {
        message.push_str(&format!(
            "\n- {}: {}. {}",
            check.name,
            check.said,
            check.fix.as_deref().unwrap_or_default()
        ));
    }
    let success = checks.iter().all(|check| check.state != State::Error);
    let mut answer = Answer::new(message, Output { checks, score, notes });
    answer.success = success;
    Ok(answer)
}
