//! Set this repository and its clients up.
//!
//! Proposes gatewright.toml and the entries of clients' files, in seven phases with checks and a score; every other byte of those
//! files stays. A person applies it: by `gatewright init`, or by answering the question that the client asks.

use contract::{Fault, Toolset};
use kit::choice::{Choice, Offered};
use kit::{Answer, Change, ChangeDesk, Define, Doc, doc};
use onboard::{Check, Client, Options, Outcome, Phase, Scope, State, wizard};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{SETUP, facts};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the catalogue's own inputs")]
pub struct Input {
    /// Have the user choose clients; else answer with the choices.
    #[serde(default)]
    pub interactive: bool,
    /// Name the calls that install the project's dependencies.
    #[serde(default)]
    pub auto_install: bool,
    /// Propose gatewright.toml where there is none.
    #[serde(default = "yes")]
    pub generate_config: bool,
    /// Hold the outcome to what it should be.
    #[serde(default = "yes")]
    pub validate_setup: bool,
    /// Say that what is replaced is kept, and how it comes back.
    #[serde(default = "yes")]
    pub backup_existing: bool,
    /// Only rehearse.
    #[serde(default)]
    pub dry_run: bool,
    /// Do not look for the project's programs.
    #[serde(default)]
    pub skip_tool_verification: bool,
    /// The clients to set up; else those that the repository shows traces of. Codex and Claude Desktop, whose files are the user's own,
    /// are named alone.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub clients: Vec<Client>,
}

const fn yes() -> bool {
    true
}

/// What comes of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// All seven, in order.
    phases: Vec<Phase>,
    /// What was looked at.
    checks: Vec<Check>,
    /// 0 to 100.
    score: u32,
    /// Files that the plan puts.
    files: Vec<String>,
    /// What is worth knowing.
    notes: Vec<String>,
    /// What can be chosen, where `interactive` asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<Client>>,
    /// Calls to make next.
    next: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct OnboardingWizard;

impl Define for OnboardingWizard {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "onboarding_wizard";
    const TOOLSET: Toolset = SETUP;
    const DOC: Doc = doc!("onboarding_wizard.rs");
    const PERSON_APPLIES: bool = true;
    const LIBRARY: Option<fn(&Map<String, Value>) -> Option<&str>> = Some(annex);

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "clients": ["cursor", "vscode"], "generateConfig": false }),
            json!({ "clients": ["codex"] }),
        ]
    }
}

/// The name under which the binary offers the folder of a user's file.
#[must_use]
pub const fn annex_of(client: Client) -> Option<&'static str> {
    match client {
        Client::Codex => Some("client-codex"),
        Client::ClaudeDesktop => Some("client-claude-desktop"),
        Client::ClaudeCode | Client::Cursor | Client::Vscode | Client::Generic => None,
    }
}

fn annex(arguments: &Map<String, Value>) -> Option<&str> {
    let [only] = arguments.get("clients")?.as_array()?.as_slice() else { return None };
    annex_of(Client::named(only.as_str()?)?)
}

impl Change for OnboardingWizard {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| look(&input, desk)).await
    }
}

fn look(input: &Input, desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let home = desk.home();
    let traced = facts::traced(home.view())?;
    let clients = if input.clients.is_empty() { traced.clone() } else { input.clients.clone() };
    let users: Vec<&str> =
        clients.iter().filter(|client| client.scope() == Scope::User).map(|client| client.name()).collect();
    if users.len() > usize::from(clients.len() == 1) {
        return Err(Fault::invalid(format!(
            "clients: {} is named alone: its file is the user's own",
            users.join(", ")
        ))
        .suggest("Make one call for the repository's clients, and one for each of these."));
    }
    if let ([user], false) = (users.as_slice(), desk.is_in_library()) {
        return Err(Fault::new(
            contract::Code::NotFound,
            format!("clients: {user} has no folder here that could be opened"),
        )
        .suggest("Start the client once: it makes the folder of its configuration."));
    }
    let facts = facts::gathered(desk, home, &clients)?;
    let options = Options {
        generate: input.generate_config,
        back_up: input.backup_existing,
        verify: !input.skip_tool_verification,
        validate: input.validate_setup,
        propose: true,
    };
    let outcome = wizard(&facts, options);
    if !input.interactive {
        facts::propose(desk, &outcome.files)?;
    }
    let mut next = Vec::new();
    if input.auto_install {
        next.extend(
            facts
                .project
                .package_managers
                .iter()
                .map(|manager| format!("{} of `{}`", install(&manager.name), manager.from)),
        );
    }
    let choices = input.interactive.then(|| Client::ALL.to_vec());
    let mut answer = answered(input, outcome, choices, next);
    answer.choice = input.interactive.then(|| offered(&clients));
    Ok(answer)
}

/// What the user is asked: the clients whose files are the repository's, those that it shows traces of chosen already.
fn offered(clients: &[Client]) -> Choice {
    let of_repository = Client::ALL.into_iter().filter(|client| client.scope() == Scope::Project);
    let options = of_repository.map(|client| Offered {
        name: client.name().to_owned(),
        title: format!("{} ({})", client.name(), client.file()),
        chosen: clients.contains(&client),
    });
    Choice {
        text: "Which clients are to be set up in this repository?".to_owned(),
        options: options.collect(),
        argument: "clients".to_owned(),
        instead_of: "interactive".to_owned(),
        besides: Map::default(),
    }
}

/// The call that installs what a package manager manages.
fn install(manager: &str) -> &'static str {
    match manager {
        "uv" | "poetry" | "pipenv" | "pip" => "python_install_deps",
        _ => "nodejs_install_deps",
    }
}

fn answered(
    input: &Input,
    outcome: Outcome,
    choices: Option<Vec<Client>>,
    next: Vec<String>,
) -> Answer<Output> {
    let files: Vec<String> = outcome.files.iter().map(|file| file.path.clone()).collect();
    let mut message = match (files.as_slice(), input.interactive) {
        (_, true) => "Choose `clients`, then call again without `interactive`.".to_owned(),
        ([], false) => format!("Nothing is to be written. Score: {}.", outcome.score),
        (files, false) => format!("To be written: {}. Score: {}.", files.join(", "), outcome.score),
    };
    let wrong = outcome.checks.iter().filter(|check| matches!(check.state, State::Error | State::Warning));
    for check in wrong {
        message.push_str(&format!(
            "\n- {}: {}. {}",
            check.name,
            check.said,
            check.fix.as_deref().unwrap_or_default()
        ));
    }
    let success = outcome.checks.iter().all(|check| check.state != State::Error);
    let Outcome { phases, checks, score, notes, .. } = outcome;
    let mut answer = Answer::new(message, Output { phases, checks, score, files, notes, choices, next });
    answer.success = success;
    answer
}
