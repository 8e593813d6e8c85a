//! The example in a scratch folder, and a server over it that keeps everything there: what `quickstart` shows and `selftest` tries.

use std::path::{Path, PathBuf};

use ::audit::ledger::KeyFile;
use ::audit::verify::{Report, With, verify};
use ::audit::{Anchor, LedgerError};
use rmcp::model::{CallToolRequestParams, CallToolResult, object};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::Value;

/// The example, as it is in the repository.
const EXAMPLE: [(&str, &str); 6] = [
    ("tokens/base.json", include_str!("../../../../examples/harbor/tokens/base.json")),
    ("tokens/semantic.json", include_str!("../../../../examples/harbor/tokens/semantic.json")),
    ("themes/dark.json", include_str!("../../../../examples/harbor/themes/dark.json")),
    ("gatewright.toml", include_str!("../../../../examples/harbor/gatewright.toml")),
    ("app/index.html", include_str!("../../../../examples/harbor/app/index.html")),
    ("app/app.css", include_str!("../../../../examples/harbor/app/app.css")),
];

/// A repository without a commit: what `git init` makes of it that is read.
const REPOSITORY: [(&str, &str); 2] = [
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"),
];

/// What did not go as it should.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// Whatever it is, in its own words.
pub fn wrong(what: impl std::fmt::Display) -> Wrong {
    Wrong(what.to_string())
}

/// A client of the server.
pub type Client = RunningService<RoleClient, ()>;

/// Where it is.
pub struct Place {
    /// The copy of the example.
    pub root: PathBuf,
    /// What the server keeps.
    pub state: PathBuf,
}

impl Place {
    /// Writes the example below `scratch`.
    pub fn make(scratch: &Path) -> std::io::Result<Self> {
        let place = Self { root: scratch.join("harbor"), state: scratch.join("state") };
        place.write(&EXAMPLE)?;
        Ok(place)
    }

    /// Makes the example a repository. No program is needed for that.
    pub fn make_repository(&self) -> std::io::Result<()> {
        self.write(&REPOSITORY)?;
        ["objects", "refs/heads"]
            .into_iter()
            .try_for_each(|dir| std::fs::create_dir_all(self.root.join(".git").join(dir)))
    }

    fn write(&self, files: &[(&str, &str)]) -> std::io::Result<()> {
        for (name, text) in files {
            let path = self.root.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    /// This program over the example, with nothing of the user's: neither configuration nor state nor store. It ends with its command.
    pub fn command(&self) -> std::io::Result<tokio::process::Command> {
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GATEWRIGHT_"))
        {
            command.env_remove(name);
        }
        command.env("XDG_STATE_HOME", &self.state).env("XDG_CONFIG_HOME", self.state.join("config"));
        command.env("LOG_LEVEL", "error").arg("--root").arg(&self.root).kill_on_drop(true);
        Ok(command)
    }

    /// Starts a server and greets it over standard input and output.
    pub async fn connect(&self) -> Result<Client, Wrong> {
        let mut command = self.command().map_err(wrong)?;
        command.arg("serve");
        ().serve(TokioChildProcess::new(command).map_err(wrong)?).await.map_err(wrong)
    }

    /// The record of what was called.
    pub fn ledger(&self) -> std::io::Result<PathBuf> {
        for entry in std::fs::read_dir(self.state.join("gatewright"))? {
            let ledger = entry?.path().join("ledger");
            if ledger.is_dir() {
                return Ok(ledger);
            }
        }
        Err(std::io::Error::other("there is no record"))
    }
}

/// What a tool answered.
pub struct Answer {
    /// The result, or the fault.
    pub value: Value,
    /// Where the record stood.
    pub anchor: Option<Anchor>,
    /// Whether it is a fault.
    pub is_fault: bool,
}

/// Calls a tool.
pub async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<Answer, Wrong> {
    let params = CallToolRequestParams::new(tool).with_arguments(object(arguments));
    let result: CallToolResult = client.call_tool(params).await.map_err(wrong)?;
    let anchor = result.meta.as_ref().and_then(|m| m.0.get("gatewright/anchor").cloned());
    let anchor = anchor.and_then(|a| serde_json::from_value(a).ok());
    let is_fault = result.is_error.unwrap_or_default();
    result.structured_content.map(|value| Answer { value, anchor, is_fault }).ok_or_else(|| {
        wrong(result.content.first().and_then(|c| c.as_text()).map_or("no content", |t| t.text.as_str()))
    })
}

/// What the record at `ledger` says of itself, held against an anchor.
pub fn verified(ledger: &Path, anchor: &Anchor) -> Result<Report, LedgerError> {
    let initial_key = KeyFile::read(&ledger.join(::audit::ledger::INITIAL_KEY)).ok();
    let with = With { initial_key, anchors: vec![anchor.clone()], public_key: None };
    verify(ledger, &with, |_| {})
}
