//! The clients whose configuration is known: where it is, and what an entry looks like.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What our entry is called in every client's file.
pub const NAME: &str = "gatewright";

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Claude Code, for all who work on the repository: `.mcp.json`.
    ClaudeCode,
    /// Cursor: `.cursor/mcp.json`.
    Cursor,
    /// VS Code: `.vscode/mcp.json`.
    Vscode,
    /// Any client that reads `.mcp.json`.
    Generic,
    /// Codex: the user's `config.toml`.
    Codex,
    /// Claude Desktop: the user's `claude_desktop_config.json`.
    ClaudeDesktop,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In the repository, for all who work on it.
    Project,
    /// The user's own, for all their repositories.
    User,
}

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON, with comments where the client takes them; servers are below this key.
    Json {
        /// The key.
        servers: &'static str,
        /// Whether an entry says that it is of the type `stdio`.
        is_typed: bool,
    },
    /// TOML; servers are tables below this one.
    Toml {
        /// The table.
        servers: &'static str,
    },
}

/// How the server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Cursor, Self::Vscode, Self::Generic, Self::Codex, Self::ClaudeDesktop];

    /// What calls and the command line name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Generic => "generic",
            Self::Codex => "codex",
            Self::ClaudeDesktop => "claude-desktop",
        }
    }

    /// What people call it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Generic => "clients that read .mcp.json",
            Self::Codex => "Codex",
            Self::ClaudeDesktop => "Claude Desktop",
        }
    }

    /// The client of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Whose its file is.
    #[must_use]
    pub const fn scope(self) -> Scope {
        match self {
            Self::ClaudeCode | Self::Cursor | Self::Vscode | Self::Generic => Scope::Project,
            Self::Codex | Self::ClaudeDesktop => Scope::User,
        }
    }

    /// Its file, below the repository or below [`folder`].
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Generic => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => "config.toml",
            Self::ClaudeDesktop => "claude_desktop_config.json",
        }
    }

    /// What its file is written in.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::ClaudeCode | Self::Generic => Form::Json { servers: "mcpServers", is_typed: true },
            Self::Cursor | Self::ClaudeDesktop => Form::Json { servers: "mcpServers", is_typed: false },
            Self::Vscode => Form::Json { servers: "servers", is_typed: true },
            Self::Codex => Form::Toml { servers: "mcp_servers" },
        }
    }

    /// What shows, at a repository's top, that the client is used there.
    #[must_use]
    pub const fn traces(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["CLAUDE.md", ".claude"],
            Self::Cursor => &[".cursor", ".cursorrules"],
            Self::Vscode => &[".vscode"],
            Self::Generic => &[".mcp.json"],
            Self::Codex => &[".codex"],
            Self::ClaudeDesktop => &[],
        }
    }
}

/// What says where a user's files are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Home {
    /// `linux`, `macos` or `windows`, as `std::env::consts::OS` has it.
    pub os: String,
    /// `HOME`; `USERPROFILE` on Windows.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub config: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `APPDATA`.
    pub roaming: Option<PathBuf>,
    /// `LOCALAPPDATA`.
    pub local: Option<PathBuf>,
    /// Names in `LOCALAPPDATA\Packages` that begin with `Claude_`.
    pub packages: Vec<String>,
}

/// Why a user's file has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nowhere {
    /// The variable is not set, or no absolute path.
    #[error("{0} is not set to an absolute path")]
    Unset(&'static str),
    /// More than one place may be meant.
    #[error("{0} may be meant: edit the one that is in use by hand")]
    Several(String),
    /// The client's file is the repository's.
    #[error("the client's file is in the repository")]
    Project,
}

/// The folder that a user's file of `client` is in. It need not be there.
pub fn folder(client: Client, home: &Home) -> Result<PathBuf, Nowhere> {
    let set = |place: &Option<PathBuf>, name| {
        place.clone().filter(|place| is_absolute(place)).ok_or(Nowhere::Unset(name))
    };
    match client {
        Client::Codex => match set(&home.codex, "CODEX_HOME") {
            Ok(place) => Ok(place),
            Err(_) => Ok(set(&home.home, "HOME")?.join(".codex")),
        },
        Client::ClaudeDesktop => match home.os.as_str() {
            "macos" => Ok(set(&home.home, "HOME")?.join("Library/Application Support/Claude")),
            // Installed as a package it sees a folder of its own in the place of the common one.
            "windows" => match home.packages.as_slice() {
                [] => Ok(set(&home.roaming, "APPDATA")?.join("Claude")),
                [package] => Ok(set(&home.local, "LOCALAPPDATA")?
                    .join("Packages")
                    .join(package)
                    .join("LocalCache")
                    .join("Roaming")
                    .join("Claude")),
                several => Err(Nowhere::Several(several.join(", "))),
            },
            _ => match set(&home.config, "XDG_CONFIG_HOME") {
                Ok(place) => Ok(place.join("Claude")),
                Err(_) => Ok(set(&home.home, "HOME")?.join(".config/Claude")),
            },
        },
        Client::ClaudeCode | Client::Cursor | Client::Vscode | Client::Generic => Err(Nowhere::Project),
    }
}

/// Whether a path is absolute where it is used, which for Windows' paths is not here.
fn is_absolute(place: &Path) -> bool {
    let text = place.to_string_lossy();
    place.is_absolute() || text.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"))
}
