//! `gatewright upstreams`: how the servers upstream are, and those that clients' files have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use contract::Fault;
use contract::text::{counted, spelled_out};
use gateway::Health;
use onboard::clients::{Client, Form, folder};
use onboard::servers::{Found, servers};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CommandError, CommandResult, print_json, runtime};
use crate::cli::Format;
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};
use crate::upstreams::UpstreamSection;
use crate::{approved, clients, compose, config};

/// Largest file of a client's.
const MAX_FILE: u64 = 4 * 1024 * 1024;

#[derive(Debug, Subcommand)]
pub enum UpstreamsCommand {
    /// Say of each that is configured how it is: those that are used are started, or connected to, and asked.
    List {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Show the servers that stand in files of clients as they would stand in your configuration. No value of a secret is taken.
    Import {
        /// Only this client's: claude-code, cursor, vscode, codex, claude-desktop, copilot. A repository's file is looked at only so.
        #[arg(long, value_name = "CLIENT")]
        from: Option<String>,
        /// Add them to your configuration.
        #[arg(long)]
        apply: bool,
        /// Take out of your configuration what was added to it last, as long as it stands there as it was added.
        #[arg(long, conflicts_with_all = ["from", "apply"])]
        undo: bool,
    },
}

pub fn run(asked: &Asked, command: UpstreamsCommand) -> CommandResult {
    match command {
        UpstreamsCommand::List { output } => list(asked, output),
        UpstreamsCommand::Import { undo: true, .. } => undo(),
        UpstreamsCommand::Import { from, apply, .. } => import(asked, from.as_deref(), apply),
    }
}

/// How one upstream is.
struct Told {
    state: &'static str,
    said: String,
    fix: Option<String>,
    health: Option<Health>,
    approved: usize,
}

impl Told {
    /// One that was not asked.
    fn of(upstream: &UpstreamSection, approved: usize) -> Self {
        let (state, said, fix) = match upstream.missing() {
            _ if !upstream.enabled => ("off", "its configuration has enabled = false".to_owned(), None),
            Some(variable) => {
                let fix = format!("Set {variable} where gatewright is started.");
                ("unset", format!("the environment variable {variable} is not set"), Some(fix))
            }
            None => ("unasked", "it was not asked".to_owned(), None),
        };
        Self { state, said, fix, health: None, approved }
    }

    fn heard(&mut self, how: Result<Health, Fault>) {
        match how {
            Ok(health) => {
                let era = if health.is_current { "2026-07-28" } else { "before 2026-07-28" };
                let mut said = format!(
                    "{} {}, protocol {era}, {} in {} ms",
                    spelled_out(&health.server),
                    spelled_out(&health.version),
                    counted(health.tools, "tool"),
                    health.took.as_millis()
                );
                if health.others > 0 {
                    said.push_str(&format!(", {} left out", health.others));
                }
                if health.noise > 0 {
                    said.push_str(&format!(", {} of noise", counted(health.noise, "line")));
                }
                (self.state, self.said, self.health) = ("well", said, Some(health));
            }
            Err(fault) => {
                self.state = "failed";
                self.said = spelled_out(&fault.message);
                self.fix = fault.suggestions.first().cloned();
            }
        }
    }

    fn json(&self, name: &str) -> Value {
        let health = self.health.as_ref().map(|health| {
            json!({
                "server": { "name": health.server, "version": health.version },
                "era": if health.is_current { "current" } else { "older" },
                "tools": health.tools,
                "leftOut": health.others,
                "noise": health.noise,
                "milliseconds": u64::try_from(health.took.as_millis()).unwrap_or(u64::MAX),
            })
        });
        json!({
            "name": name, "state": self.state, "message": self.said, "approved": self.approved, "health": health,
        })
    }
}

fn list(asked: &Asked, output: Format) -> CommandResult {
    let config = config::load(None).map_err(|e| Fault::invalid(e.to_string()))?;
    let own = approved::own()?;
    let approved =
        |name: &str| own.iter().filter(|(tool, _)| gateway::upstream_of(tool) == Some(name)).count();
    let mut told: BTreeMap<&str, Told> = BTreeMap::new();
    for (name, upstream) in &config.upstreams {
        told.insert(name, Told::of(upstream, approved(name)));
    }
    let root = asked.first()?;
    let gateway = compose::gateway(root.as_deref())?;
    if !gateway.is_empty() {
        // What it is told of them, they may say again.
        for (name, how) in runtime()?.block_on(gateway.health()) {
            if let Some(told) = told.get_mut(name) {
                told.heard(how);
            }
        }
    }
    let is_well = told.values().all(|told| matches!(told.state, "well" | "off"));
    if matches!(output, Format::Json) {
        print_json(&Value::Array(told.iter().map(|(name, told)| told.json(name)).collect()))?;
    } else if told.is_empty() {
        say!(
            "No upstream is configured. {NOTE}→{NOTE:#} `gatewright upstreams import` shows those that clients have."
        );
    } else {
        for (name, told) in &told {
            let mark = match told.state {
                "well" => format!("{GOOD}✓{GOOD:#}"),
                "off" => format!("{DIM}-{DIM:#}"),
                _ => format!("{BAD}✗{BAD:#}"),
            };
            let approved = counted(told.approved, "tool");
            say!("{mark} {BOLD}{name}{BOLD:#} {} {DIM}({approved} approved){DIM:#}", told.said);
            if let Some(fix) = &told.fix {
                say!("  {NOTE}→{NOTE:#} {fix}");
            }
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A file that may have servers in it.
struct Source {
    client: &'static str,
    file: PathBuf,
    form: Form,
    is_project: bool,
}

fn sources(root: Option<&Path>) -> Vec<Source> {
    let home = clients::home();
    let json = Form::Json { servers: "mcpServers", is_typed: false };
    let mut all = Vec::new();
    for client in Client::ALL.into_iter().filter(|client| *client != Client::Generic) {
        if let Ok(folder) = folder(client, &home) {
            let file = folder.join(client.file());
            all.push(Source { client: client.name(), file, form: client.form(), is_project: false });
        } else if let Some(root) = root {
            let file = root.join(client.file());
            all.push(Source { client: client.name(), file, form: client.form(), is_project: true });
        }
    }
    for (client, file) in [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("copilot", ".copilot/mcp-config.json"),
    ] {
        if let Some(home) = &home.home {
            all.push(Source { client, file: home.join(file), form: json, is_project: false });
        }
    }
    all
}

fn import(asked: &Asked, from: Option<&str>, apply: bool) -> CommandResult {
    let root = asked.first()?;
    let sources = sources(root.as_deref().map(exec::Root::path));
    if let Some(from) = from
        && !sources.iter().any(|source| source.client == from)
    {
        let known: BTreeSet<&str> = sources.iter().map(|source| source.client).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return Err(CommandError::Usage(format!("--from {from}: there are {known}")));
    }
    let config = config::load(None).map_err(|e| Fault::invalid(e.to_string()))?;
    let mut taken: BTreeSet<String> = compose::taken().into_iter().map(str::to_owned).collect();
    taken.extend(config.upstreams.keys().cloned());
    let redactor = audit::Redactor::new(&[], [0; 32]);
    let is_secret = |said: &str| !redactor.secrets(said.as_bytes()).is_empty();
    let mut found: Vec<Found> = Vec::new();
    for source in sources {
        // What a repository has is somebody else's word: it is asked for by name.
        let is_meant = from.map_or(!source.is_project, |from| from == source.client);
        if !is_meant || !source.file.is_file() {
            continue;
        }
        let shown = source.file.display();
        let read = exec::run::read_small(&source.file, MAX_FILE).map_err(|e| e.to_string());
        let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is no text".to_owned()));
        match text.and_then(|text| servers(source.form, &text, &taken, &is_secret)) {
            Ok(servers) => {
                say!(
                    "{BOLD}{}{BOLD:#} {DIM}{shown}{DIM:#}: {}",
                    source.client,
                    counted(servers.len(), "server")
                );
                taken.extend(servers.iter().map(|server| server.name.clone()));
                found.extend(servers);
            }
            Err(why) => say!("{BAD}✗{BAD:#} {shown}: {why}"),
        }
    }
    let mut added = String::new();
    for server in &found {
        let there = spelled_out(&server.there);
        if server.table.is_empty() {
            say!("\n{DIM}# {there}{DIM:#}");
        } else {
            say!("\n{DIM}# {there}{DIM:#}\n{}", spelled_out(server.table.trim_end()));
            added.push('\n');
            added.push_str(&server.table);
        }
        for note in &server.notes {
            say!("  {NOTE}→{NOTE:#} {}", spelled_out(note));
        }
    }
    if added.is_empty() {
        say!("\nThere is nothing to add.");
        return Ok(ExitCode::SUCCESS);
    }
    let file = config::user_path()
        .ok_or_else(|| Fault::invalid("there is no place for your configuration: HOME is not set"))?;
    if !apply {
        say!("\nNothing was written. `gatewright upstreams import --apply` adds this to {}.", file.display());
        return Ok(ExitCode::SUCCESS);
    }
    let before = if file.is_file() {
        let bytes = exec::run::read_small(&file, MAX_FILE)?;
        String::from_utf8(bytes).map_err(|_| Fault::invalid("your configuration is no text"))?
    } else {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        String::new()
    };
    let joined = if before.is_empty() || before.ends_with('\n') { before } else { format!("{before}\n") };
    let after = format!("{joined}{}", if joined.is_empty() { added.trim_start() } else { &added });
    let is_read = after.parse::<toml::Table>().is_ok();
    if !is_read {
        return Err(Fault::invalid("your configuration does not read with this added; nothing was written")
            .suggest("Add the tables above by hand.")
            .into());
    }
    // What is taken back is kept first: an import that cannot be taken back is not made.
    let is_new = joined.is_empty();
    let added = Added { text: after.get(joined.len()..).unwrap_or_default().to_owned(), is_new };
    let kept = serde_json::to_string(&added).map_err(|e| Fault::internal(e.to_string()))?;
    if let Some(folder) = imported()?.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    approved::write(&imported()?, &kept, 0o600)?;
    approved::write(&file, &after, 0o600)?;
    say!(
        "\n{GOOD}✓{GOOD:#} Added to {}. `gatewright upstreams list` says how they are; `gatewright upstreams import --undo` takes it back.",
        file.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// What an import added, kept so that it can be taken back.
#[derive(Debug, Serialize, Deserialize)]
struct Added {
    text: String,
    /// Whether there was no configuration before.
    is_new: bool,
}

/// Where that is kept.
fn imported() -> Result<PathBuf, Fault> {
    Ok(exec::StateDir::base()?.join("imported.json"))
}

fn undo() -> CommandResult {
    let place = imported()?;
    let nothing = || {
        Fault::invalid("there is no import to take back")
            .suggest("`gatewright upstreams import --apply` makes one; an older one is taken out by hand.")
    };
    if !place.is_file() {
        return Err(nothing().into());
    }
    let kept = exec::run::read_small(&place, MAX_FILE)?;
    let added: Added = serde_json::from_slice(&kept).map_err(|_| nothing())?;
    let file = config::user_path().ok_or_else(nothing)?;
    let text = String::from_utf8(exec::run::read_small(&file, MAX_FILE)?)
        .map_err(|_| Fault::invalid("your configuration is no text"))?;
    let mut parts = text.split(added.text.as_str());
    let (Some(before), Some(after), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Fault::invalid("what was added does not stand in your configuration as it was added")
            .suggest(format!("Take the tables out of {} by hand.", file.display()))
            .into());
    };
    let left = format!("{before}{after}");
    if added.is_new && left.trim().is_empty() {
        std::fs::remove_file(&file)?;
    } else {
        approved::write(&file, &left, 0o600)?;
    }
    std::fs::remove_file(&place)?;
    say!("{GOOD}✓{GOOD:#} Taken out of {}.", file.display());
    Ok(ExitCode::SUCCESS)
}
