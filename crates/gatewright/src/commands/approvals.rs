//! `gatewright approvals`: the definitions that a team has looked at.

use std::path::PathBuf;
use std::process::ExitCode;

use contract::{Code, Fault};
use kit::Registry;
use kit::lock::{self, Difference, Lock};
use kit::registry::Roots;
use serde_json::{Value, json};

use super::{CommandError, CommandResult, print_json};
use crate::cli::{ApprovalsCommand, Format};
use crate::compose::{self, Offer};
use crate::releases;
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};

pub fn run(asked: &Asked, command: ApprovalsCommand) -> CommandResult {
    let registry = compose::registry(&Offer::default(), Roots::One)?;
    match command {
        ApprovalsCommand::List { output } => list(&registry, output),
        ApprovalsCommand::Diff { since: Some(version), output } => {
            show(&differences(&releases::definitions(&version)?, &registry)?, output)?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalsCommand::Diff { since: None, output } => {
            let differences = differences(&read(&file(asked)?)?.unwrap_or_default(), &registry)?;
            show(&differences, output)?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalsCommand::Verify { frozen, output } => {
            let there = read(&file(asked)?)?;
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
            let differences = differences(&lock, &registry)?;
            show(&differences, output)?;
            Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
        ApprovalsCommand::Accept { names, all } => accept(&registry, &file(asked)?, &names, all),
    }
}

fn internal(error: serde_json::Error) -> CommandError {
    Fault::internal(error.to_string()).into()
}

fn file(asked: &Asked) -> Result<PathBuf, CommandError> {
    let root = asked.first()?.ok_or_else(|| {
        Fault::new(Code::NoRoot, "there is no repository whose definitions could be looked at")
            .suggest("Run this inside a git repository, or give --root DIR.")
    })?;
    Ok(root.path().join(lock::FILE))
}

fn read(file: &std::path::Path) -> Result<Option<Lock>, CommandError> {
    refuse_link(file)?;
    match std::fs::read_to_string(file) {
        Ok(text) => Lock::read(&text).map(Some).map_err(|e| {
            Fault::invalid(e.to_string())
                .suggest("Restore the file from git, or accept anew: `gatewright approvals accept --all`.")
                .into()
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// A repository may ship a link that leads anywhere.
fn refuse_link(file: &std::path::Path) -> Result<(), CommandError> {
    match std::fs::symlink_metadata(file) {
        Ok(there) if !there.is_file() => {
            let message = format!("{} is a link or a folder, not a file", lock::FILE);
            Err(Fault::new(Code::PathNotAllowed, message).suggest("Remove it, and accept anew.").into())
        }
        _ => Ok(()),
    }
}

fn differences(lock: &Lock, registry: &Registry) -> Result<Vec<Difference>, CommandError> {
    lock.differences(registry).map_err(internal)
}

fn list(registry: &Registry, output: Format) -> CommandResult {
    if output == Format::Json {
        let tools: Vec<Value> = registry
            .iter()
            .map(
                |tool| json!({ "name": tool.spec().name, "kind": tool.spec().kind, "hash": tool.definition }),
            )
            .collect();
        return print_json(&json!(tools));
    }
    for tool in registry.iter() {
        say!("{BOLD}{:<24}{BOLD:#} {}", tool.spec().name.as_str(), tool.definition);
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
            Difference::Added { tool } => say!("{GOOD}+ {tool}{GOOD:#}"),
            Difference::Removed { tool } => say!("{BAD}- {tool}{BAD:#}"),
            Difference::Renamed { from, to } => say!("{NOTE}{from} is now called {to}{NOTE:#}"),
            Difference::Changed { tool, fields } => {
                say!("{BOLD}{tool}{BOLD:#}");
                for field in fields {
                    say!("    {field}");
                }
            }
        }
    }
    Ok(())
}

fn accept(registry: &Registry, file: &std::path::Path, names: &[String], all: bool) -> CommandResult {
    // A file that does not read is replaced only when everything is accepted anew.
    let mut lock = if all { Lock::default() } else { read(file)?.unwrap_or_default() };
    let every: Vec<String> = registry.iter().map(|tool| tool.spec().name.to_string()).collect();
    let names = if all { &every } else { names };
    if names.is_empty() {
        return Err(CommandError::Usage("name the tools to accept, or say --all".into()));
    }
    for name in names {
        let known = registry.resolve(name).is_some();
        let changed = lock.accept(registry, name).map_err(internal)?;
        if !known && !changed {
            return Err(registry.unknown(name).into());
        }
    }
    refuse_link(file)?;
    // Beside, and renamed: whatever comes to stand there meanwhile is replaced, never followed.
    let fresh = file.with_extension("lock.new");
    let _ = std::fs::remove_file(&fresh);
    let mut options = std::fs::OpenOptions::new();
    let mut writer = options.write(true).create_new(true).open(&fresh)?;
    std::io::Write::write_all(&mut writer, lock.to_text().map_err(internal)?.as_bytes())?;
    std::fs::rename(&fresh, file)?;
    let tools = if names.len() == 1 { "tool" } else { "tools" };
    say!("{GOOD}Accepted{GOOD:#} {} {tools}; review and commit {}.", names.len(), lock::FILE);
    Ok(ExitCode::SUCCESS)
}
