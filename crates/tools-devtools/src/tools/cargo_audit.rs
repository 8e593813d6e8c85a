//! Known vulnerabilities of crates.
//!
//! Holds the crates of Cargo.lock against the advisory database of this machine, by cargo-audit. Without that program or its database the
//! answer is "not known", never "none": fetching the database is the user's doing.

use contract::{Fault, RelPath, Toolset};
use deps::{Advisory, Audit, Auditor, State, audit};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cargo;
use crate::families::RUST;
use crate::packages::Failure;
use crate::packages::advisories::{Data, Told};
use crate::running::{Asked, configured, directory, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Known vulnerabilities, by crate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// Crates that are yanked or unmaintained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How much is known.
    pub data: Data,
}

/// The tool.
#[derive(Debug, Default)]
pub struct CargoAudit;

impl Define for CargoAudit {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "cargo_audit";
    const TOOLSET: Toolset = RUST;
    const DOC: Doc = doc!("cargo_audit.rs");
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["cargo"];
    const CACHES: &'static [Cache] = cargo::CACHES;
    const ASKED: &'static [&'static str] = &["directory", "timeout"];
    const LIST: Option<&'static str> = Some("advisories");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "." })]
    }
}

impl Run for CargoAudit {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, _input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        // Without network there is no database to be fetched.
        let command =
            cargo::command(&asked, words(&["audit", "--json", "--no-fetch", "--stale"]), Vec::new())?;
        let dir: Option<RelPath> = directory(asked.directory)?;
        let (locked, elsewhere) = desk
            .blocking(move |desk| {
                let path = crate::node::at(dir.as_ref(), "Cargo.lock")?;
                let settings = crate::node::at(dir.as_ref(), ".cargo/audit.toml")?;
                let settings = desk.view().read_optional(&settings)?;
                Ok((
                    desk.view().read_optional(&path)?.is_some(),
                    settings.is_some_and(|own| names_database(&own)),
                ))
            })
            .await?;
        if elsewhere {
            // A repository does not choose what it is held against.
            let why = ".cargo/audit.toml names another database (`[database]`): take that out";
            return Ok(answered(Audit::unknown(why)));
        }
        let ran = desk.run(configured(&desk, command).await?).await?;
        let mut audit = audit(Auditor::CargoAudit, &ran.stdout.bytes);
        if audit.state == State::None {
            let said = ran.stderr.text();
            audit = Audit::unknown(if said.contains("no such command") {
                "cargo-audit is not installed: `cargo install cargo-audit --locked`".to_owned()
            } else if said.contains("advisory database") || said.contains("advisory-db") {
                format!(
                    "the advisory database is not on this machine (`cargo audit fetch` by the user gets it): {}",
                    Failure::of(&ran).why
                )
            } else {
                audit.why.unwrap_or_else(|| Failure::of(&ran).why)
            });
        }
        if !locked && audit.state != State::None {
            audit = Audit::unknown("there is no Cargo.lock here: cargo_build makes one");
        }
        Ok(answered(audit))
    }
}

fn answered(audit: Audit) -> Answer<Output> {
    let told = Told::of(audit, vec!["the advisory database of this machine".to_owned()]);
    let mut message = told.message;
    match told.warnings.len() {
        0 => {}
        1 => message.push_str(" 1 crate is yanked, unmaintained or unsound."),
        many => message.push_str(&format!(" {many} crates are yanked, unmaintained or unsound.")),
    }
    let output = Output { advisories: told.advisories, warnings: told.warnings, data: told.data };
    Answer { success: told.success, ..Answer::new(message, output) }
}

/// Whether cargo-audit's settings have a `[database]`; what does not read as TOML it says itself.
fn names_database(settings: &[u8]) -> bool {
    let text = String::from_utf8_lossy(settings);
    toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("database"))
}
