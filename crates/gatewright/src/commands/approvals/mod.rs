//! `gatewright approvals`: the definitions that a person has looked at.

mod accept;
mod looked;
mod plugins;
mod skills;

use std::process::ExitCode;

use contract::text::spelled_out;
use contract::{Code, Fault};
use kit::Registry;
use kit::approvals::SKILL;
use kit::lock::{self, Difference, Lock};
use kit::registry::{Registered, Roots};
use serde_json::{Value, json};

use self::plugins::PLUGIN;
use super::{CommandError, CommandResult, print_json};
use crate::approved::{self, Own};
use crate::cli::{ApprovalsCommand, Format};
use crate::compose::{self, Offer};
use crate::releases;
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};
use looked::Looked;
use skills::Skill;

pub fn run(asked: &Asked, command: ApprovalsCommand) -> CommandResult {
    match command {
        ApprovalsCommand::List { output } => list(&Looked::at_everything(asked)?.registry, output),
        ApprovalsCommand::Show { name } => match (name.strip_prefix(SKILL), name.strip_prefix(PLUGIN)) {
            (Some(id), _) => show_skill(asked, id),
            (None, Some(plugin)) => show_plugin(asked, plugin),
            (None, None) => show_one(asked, &name),
        },
        ApprovalsCommand::Diff { since: Some(version), output } => {
            let ours = compose::registry(&Offer::default(), Roots::One)?;
            show(&releases::definitions(&version)?.differences(&ours).map_err(internal)?, output)?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalsCommand::Diff { since: None, output } => diff(asked, output),
        ApprovalsCommand::Verify { frozen, output } => verify(asked, frozen, output),
        ApprovalsCommand::Accept { names, all } => accept::accept(asked, &names, all),
        ApprovalsCommand::Revoke { names } => accept::revoke(&names),
    }
}

fn internal(error: serde_json::Error) -> CommandError {
    Fault::internal(error.to_string()).into()
}

fn no_root() -> CommandError {
    Fault::new(Code::NoRoot, "there is no repository whose definitions could be looked at")
        .suggest("Run this inside a git repository, or give --root DIR.")
        .into()
}

/// The team's lock file.
fn team(asked: &Asked) -> Result<Option<Lock>, CommandError> {
    match asked.first()? {
        None => Ok(None),
        Some(root) => Ok(approved::team(root.path())?),
    }
}

/// Shows all that differs. What of it is others' was seen then, and can be approved as it was shown.
fn diff(asked: &Asked, output: Format) -> CommandResult {
    let looked = Looked::at_everything(asked)?;
    let mut own = Own::open()?;
    let mut found = looked.against_team(&team(asked)?.unwrap_or_default())?;
    for difference in looked.against_own(&own.lock)? {
        if !found.contains(&difference) {
            found.push(difference);
        }
    }
    for difference in &found {
        let shown = match difference {
            Difference::Added { tool, .. } | Difference::Changed { tool, .. } => tool,
            Difference::Renamed { to, .. } => to,
            Difference::Removed { .. } => continue,
        };
        if let Some(tool) = looked.registry.resolve(shown).filter(|tool| tool.tool.identity().is_some()) {
            own.seen.insert(shown.clone(), tool.hash()?);
        }
    }
    found.extend(changed_skills(asked, &own.lock));
    own.write()?;
    show(&found, output)?;
    let unknown = own.lock.iter().filter(|(name, _)| !looked.knows(name)).count();
    if unknown > 0 {
        let tools = contract::text::counted(unknown, "approved tool");
        tracing::warn!(
            "{tools} of upstreams that are not configured or not reached here: nothing is known of them"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// How skills that were approved differ from what was: `show` shows what they are now.
fn changed_skills(asked: &Asked, own: &Lock) -> Vec<Difference> {
    let differs = |(name, approved): (&str, &Value)| {
        let tool = format!("{SKILL}{name}");
        let Ok(skill) = Skill::look(asked, name) else { return Some(Difference::Removed { tool }) };
        let fields: Vec<String> =
            lock::changes(approved, &skill.0.identity).iter().map(ToString::to_string).collect();
        (!fields.is_empty()).then_some(Difference::Changed { tool, fields })
    };
    own.skills().filter_map(differs).collect()
}

fn show_one(asked: &Asked, name: &str) -> CommandResult {
    let looked = Looked::at_everything(asked)?;
    let tool = looked.registry.resolve(name).ok_or_else(|| looked.registry.unknown(name))?;
    print_definition(tool)?;
    if tool.tool.identity().is_some() {
        let mut own = Own::open()?;
        own.seen.insert(tool.head().name.to_string(), tool.hash()?);
        own.write()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows a plugin, whole: its tools can be approved as it was shown.
fn show_plugin(asked: &Asked, name: &str) -> CommandResult {
    let looked = Looked::at_everything(asked)?;
    let plugin = crate::plugged::named(&looked.plugins, name)?;
    plugins::print(&looked, plugin);
    let mut own = Own::open()?;
    for tool in plugins::tools(&looked, plugin) {
        own.seen.insert(tool.head().name.to_string(), tool.hash()?);
    }
    own.write()?;
    Ok(ExitCode::SUCCESS)
}

/// Shows a skill's code: it can be approved as it was shown.
fn show_skill(asked: &Asked, id: &str) -> CommandResult {
    let skill = Skill::look(asked, id)?;
    skill.print();
    let mut own = Own::open()?;
    own.seen.insert(skill.named(), skill.hash());
    own.write()?;
    Ok(ExitCode::SUCCESS)
}

/// All that a definition says, with nothing hidden in it.
fn print_definition(tool: &Registered) -> Result<(), CommandError> {
    say!("{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}", tool.head().name, tool.hash()?);
    let text = serde_json::to_string_pretty(&tool.definition().map_err(internal)?).map_err(internal)?;
    say!("{}", contract::text::escaped_json(&text));
    Ok(())
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
    let looked = Looked::at_everything(asked)?;
    let found = looked.against_team(&lock)?;
    show(&found, output)?;
    let unknown: Vec<&str> = lock.iter().map(|(name, _)| name).filter(|name| !looked.knows(name)).collect();
    if !unknown.is_empty() {
        let tools = contract::text::counted(unknown.len(), "tool");
        tracing::warn!("{tools} of upstreams that are not configured or not reached here: not verified");
    }
    let unreached =
        |name: &&str| gateway::upstream_of(name).is_some_and(|u| looked.silent.iter().any(|s| s == u));
    let failed = !found.is_empty() || frozen && unknown.iter().any(unreached);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn list(registry: &Registry, output: Format) -> CommandResult {
    let own = approved::own()?;
    let hash = |identity: &Value| contract::Digest::of(&contract::canonical::of(identity));
    if output == Format::Json {
        let mut tools: Vec<Value> = registry
            .iter()
            .map(|tool| {
                let head = tool.head();
                Ok(json!({ "name": head.name, "kind": head.kind, "hash": tool.hash()? }))
            })
            .collect::<Result<_, Fault>>()?;
        let skill = |(name, identity)| json!({ "name": format!("{SKILL}{name}"), "kind": "skill", "hash": hash(identity) });
        tools.extend(own.skills().map(skill));
        return print_json(&json!(tools));
    }
    for tool in registry.iter() {
        say!("{BOLD}{:<24}{BOLD:#} {}", tool.head().name.as_str(), tool.hash()?);
    }
    for (name, identity) in own.skills() {
        say!("{BOLD}{:<24}{BOLD:#} {}", format!("{SKILL}{name}"), hash(identity));
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
    for difference in differences {
        match difference {
            Difference::Added { tool, definition } => {
                say!("{GOOD}+ {tool}{GOOD:#}");
                if let Some(definition) = definition {
                    let text = serde_json::to_string_pretty(definition).map_err(internal)?;
                    contract::text::escaped_json(&text).lines().for_each(|line| say!("    {line}"));
                }
            }
            Difference::Removed { tool } => say!("{BAD}- {tool}{BAD:#}"),
            Difference::Renamed { from, to } => say!("{NOTE}{from} is now called {to}{NOTE:#}"),
            Difference::Changed { tool, fields } => {
                say!("{BOLD}{tool}{BOLD:#}");
                // What is new in it was written by others: nothing hides in it, and no line of it passes for one of ours.
                for field in fields {
                    say!("    {}", spelled_out(field).replace('\n', "\\n"));
                }
            }
        }
    }
    Ok(())
}
