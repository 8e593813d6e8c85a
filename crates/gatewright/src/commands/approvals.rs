//! `gatewright approvals`: the definitions that a person has looked at.

use std::process::ExitCode;
use std::sync::Arc;

use contract::{Code, Fault, Kind};
use gateway::Gateway;
use kit::Registry;
use kit::lock::{self, Difference, Lock};
use kit::registry::Roots;
use serde_json::{Value, json};

use super::{CommandError, CommandResult, print_json, runtime};
use crate::cli::{ApprovalsCommand, Format};
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};
use crate::{approved, releases, upstreams};

pub fn run(asked: &Asked, command: ApprovalsCommand) -> CommandResult {
    match command {
        ApprovalsCommand::List { output } => list(&Looked::at_everything()?.registry, output),
        ApprovalsCommand::Diff { since: Some(version), output } => {
            let ours = compose::registry(&Offer::default(), Roots::One)?;
            show(&differences(&releases::definitions(&version)?, &ours)?, output)?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalsCommand::Diff { since: None, output } => {
            let looked = Looked::at_everything()?;
            show(&looked.differences(&team(asked)?.unwrap_or_default(), &approved::own()?)?, output)?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalsCommand::Verify { frozen, output } => verify(asked, frozen, output),
        ApprovalsCommand::Accept { names, all } => accept(asked, &names, all),
    }
}

/// Every definition there is: ours, and what the upstreams say now.
struct Looked {
    registry: Registry,
    /// Upstreams that could not be asked.
    silent: Vec<String>,
    /// Upstreams that were.
    asked: Vec<String>,
}

impl Looked {
    fn at_everything() -> Result<Self, CommandError> {
        let mut registry = compose::registry(&Offer::default(), Roots::One)?;
        let gateway = Arc::new(compose::gateway()?);
        let (mut silent, mut asked) = (Vec::new(), Vec::new());
        if !gateway.is_empty() {
            let runtime = runtime()?;
            let asking = Arc::clone(&gateway);
            runtime.block_on(ask(&asking, &mut registry, &mut silent, &mut asked));
        }
        Ok(Self { registry, silent, asked })
    }

    /// Whether a name that a lock file has can be said anything about here.
    fn knows(&self, name: &str) -> bool {
        name.split_once("__").is_none_or(|(upstream, _)| self.asked.iter().any(|known| known == upstream))
    }

    /// How what there is differs from what was accepted: by the team, and of others' tools by the user.
    fn differences(&self, team: &Lock, own: &Lock) -> Result<Vec<Difference>, CommandError> {
        let mut found: Vec<Difference> = differences(team, &self.registry)?
            .into_iter()
            .filter(|difference| match difference {
                // Whether a tool of others may be called is not the team's to add.
                Difference::Added { tool } => self.is_ours(tool),
                Difference::Removed { tool } => self.knows(tool),
                Difference::Renamed { .. } | Difference::Changed { .. } => true,
            })
            .collect();
        for difference in differences(own, &self.registry)? {
            let counts = match &difference {
                Difference::Added { tool } | Difference::Changed { tool, .. } => !self.is_ours(tool),
                Difference::Removed { tool } => self.knows(tool),
                Difference::Renamed { to, .. } => !self.is_ours(to),
            };
            if counts && !found.contains(&difference) {
                found.push(difference);
            }
        }
        Ok(found)
    }

    fn is_ours(&self, name: &str) -> bool {
        self.registry.resolve(name).is_none_or(|tool| tool.spec().kind != Kind::Foreign)
    }
}

/// Asks every upstream what it offers.
async fn ask(gateway: &Gateway, registry: &mut Registry, silent: &mut Vec<String>, asked: &mut Vec<String>) {
    for (name, offered) in gateway.offered().await {
        match offered {
            Ok(offered) => {
                upstreams::add(registry, offered, |_| true);
                asked.push(name.to_owned());
            }
            Err(fault) => {
                tracing::warn!("{}", fault.message);
                silent.push(name.to_owned());
            }
        }
    }
}

fn internal(error: serde_json::Error) -> CommandError {
    Fault::internal(error.to_string()).into()
}

/// The team's lock file.
fn team(asked: &Asked) -> Result<Option<Lock>, CommandError> {
    match asked.first()? {
        None => Ok(None),
        Some(root) => Ok(approved::read(&approved::team(root.path()))?),
    }
}

fn differences(lock: &Lock, registry: &Registry) -> Result<Vec<Difference>, CommandError> {
    lock.differences(registry).map_err(internal)
}

fn no_root() -> CommandError {
    Fault::new(Code::NoRoot, "there is no repository whose definitions could be looked at")
        .suggest("Run this inside a git repository, or give --root DIR.")
        .into()
}

fn verify(asked: &Asked, frozen: bool, output: Format) -> CommandResult {
    if asked.first()?.is_none() {
        return Err(no_root());
    }
    let there = team(asked)?;
    if there.is_none() && frozen {
        let message = format!("there is no {} to verify against", lock::FILE);
        return Err(Fault::new(Code::NotFound, message)
            .suggest("`gatewright approvals accept --all` writes it; review and commit it.")
            .into());
    }
    let Some(lock) = there else {
        say!("{DIM}There is no {}: nothing to verify.{DIM:#}", lock::FILE);
        return Ok(ExitCode::SUCCESS);
    };
    let looked = Looked::at_everything()?;
    // What the team looked at, and nothing that is one user's alone.
    let found: Vec<Difference> = looked
        .differences(&lock, &Lock::default())?
        .into_iter()
        .filter(|d| !matches!(d, Difference::Added { tool } if !looked.is_ours(tool)))
        .collect();
    let unseen = lock.iter().filter(|(name, _)| !looked.knows(name)).count();
    if unseen > 0 {
        tracing::warn!(
            "{unseen} definitions of upstreams that are not configured or not reached here were not verified"
        );
    }
    show(&found, output)?;
    let unreached = frozen
        && lock.iter().any(|(name, _)| looked.silent.iter().any(|u| name.starts_with(&format!("{u}__"))));
    Ok(if found.is_empty() && !unreached { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn list(registry: &Registry, output: Format) -> CommandResult {
    if output == Format::Json {
        let tools: Vec<Value> = registry
            .iter()
            .map(|tool| json!({ "name": tool.spec().name, "kind": tool.spec().kind, "hash": tool.hash }))
            .collect();
        return print_json(&json!(tools));
    }
    for tool in registry.iter() {
        say!("{BOLD}{:<24}{BOLD:#} {}", tool.spec().name.as_str(), tool.hash);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(differences: &[Difference], output: Format) -> Result<(), CommandError> {
    if output == Format::Json {
        return print_json(&json!(differences)).map(|_| ());
    }
    if differences.is_empty() {
        say!("{GOOD}Every definition is as it was.{GOOD:#}");
    }
    // What an upstream says of its tools is shown to a person before anybody approved it: nothing hides in it.
    let plain = |text: &str| contract::text::spelled_out(text);
    for difference in differences {
        match difference {
            Difference::Added { tool } => say!("{GOOD}+ {tool}{GOOD:#}"),
            Difference::Removed { tool } => say!("{BAD}- {tool}{BAD:#}"),
            Difference::Renamed { from, to } => say!("{NOTE}{from} is now called {to}{NOTE:#}"),
            Difference::Changed { tool, fields } => {
                say!("{BOLD}{tool}{BOLD:#}");
                for field in fields {
                    say!("    {}", plain(field));
                }
            }
        }
    }
    Ok(())
}

/// What is ours goes into the team's lock file, what is others' into the user's own approvals too.
fn accept(asked: &Asked, names: &[String], all: bool) -> CommandResult {
    if names.is_empty() && !all {
        return Err(CommandError::Usage("name the tools to accept, or say --all".into()));
    }
    let looked = Looked::at_everything()?;
    let registry = &looked.registry;
    let file = asked.first()?.map(|root| approved::team(root.path()));
    // A file that does not read is replaced only when everything is accepted anew.
    let (mut lock, has_team) = match &file {
        Some(file) if !all => approved::read(file)?.map_or((Lock::default(), false), |lock| (lock, true)),
        Some(_) => (Lock::default(), true),
        None => (Lock::default(), false),
    };
    let mut own = if all { approved::own().unwrap_or_default() } else { approved::own()? };
    let every: Vec<String> = registry.iter().map(|tool| tool.spec().name.to_string()).collect();
    let names = if all { &every } else { names };
    let (mut ours, mut others) = (0, 0);
    for name in names {
        let resolved = registry.resolve(name);
        let is_other = resolved.map_or(name.contains("__"), |tool| tool.spec().kind == Kind::Foreign);
        let mut changed = false;
        if is_other {
            changed |= own.accept(registry, name).map_err(internal)?;
            others += 1;
        } else {
            if file.is_none() {
                return Err(no_root());
            }
            ours += 1;
        }
        if !is_other || has_team {
            changed |= lock.accept(registry, name).map_err(internal)?;
        }
        if resolved.is_none() && !changed {
            return Err(registry.unknown(name).into());
        }
    }
    let tools = |count: usize| contract::text::counted(count, "tool");
    if others > 0 {
        approved::write(&approved::file()?, &own)?;
        say!("{GOOD}Approved{GOOD:#} {} of upstreams: they are called from now on.", tools(others));
    }
    if let Some(file) = file.filter(|_| ours > 0 || has_team) {
        approved::write(&file, &lock)?;
        say!("{GOOD}Accepted{GOOD:#} {}; review and commit {}.", tools(ours + others), lock::FILE);
    }
    Ok(ExitCode::SUCCESS)
}
