//! Accepting, and taking back. A tool of another's is approved only as it was shown: what it says may change between a
//! person's look and their word.

use std::process::ExitCode;
use std::sync::Arc;

use contract::{Code, Fault, Kind};
use kit::approvals::SKILL;
use kit::lock::Lock;
use kit::registry::Registered;

use super::looked::Looked;
use super::plugins::{self, PLUGIN};
use super::skills::Skill;
use super::{internal, no_root, print_definition};
use crate::approved::{self, Own};
use crate::commands::{CommandError, CommandResult};
use crate::plugged;
use crate::roots::Asked;
use crate::term::GOOD;

/// Fewest characters of a hash that name a definition.
const HASH: usize = 12;

/// Accepts what is named; `all` is everything of gatewright's own.
pub fn accept(here: &Asked, names: &[String], all: bool) -> CommandResult {
    if names.is_empty() && !all {
        return Err(CommandError::Usage("name the tools to accept, or say --all".into()));
    }
    let looked = Looked::at_everything(here)?;
    let root = here.first()?;
    let mut team = Team::of(root.as_deref(), all)?;
    let mut own = Own::open()?;
    if all {
        for tool in looked.registry.iter().filter(|tool| tool.head().kind != Kind::Foreign) {
            team.accept(tool)?;
        }
    }
    let mut unseen = Vec::new();
    for asked in names {
        let (name, hash) =
            asked.split_once('@').map_or((asked.as_str(), None), |(name, hash)| (name, Some(hash)));
        if let Some(plugin) = name.strip_prefix(PLUGIN) {
            let plugin = plugged::named(&looked.plugins, plugin)?;
            let tools = plugins::tools(&looked, plugin);
            let shown = |tool: &Arc<Registered>| {
                Ok::<_, Fault>(own.seen.get(tool.head().name.as_str()) == Some(&tool.hash()?))
            };
            let are_known =
                tools.iter().map(shown).collect::<Result<Vec<_>, _>>()?.into_iter().all(|known| known);
            for tool in &tools {
                if are_known {
                    own.approve(&looked, tool)?;
                    team.follow(tool)?;
                } else {
                    own.seen.insert(tool.head().name.to_string(), tool.hash()?);
                }
            }
            if !are_known {
                plugins::print(&looked, plugin);
                unseen.push(name.to_owned());
            }
            continue;
        }
        if let Some(id) = name.strip_prefix(SKILL) {
            let skill = Skill::look(here, id)?;
            let said = skill.hash().to_string();
            let is_known = match hash {
                Some(hash) => hash.len() >= HASH && said.starts_with(hash),
                None => own.seen.get(&skill.named()) == Some(&skill.hash()),
            };
            if is_known {
                own.lock.accept_skill(&skill.0.name, &skill.0.identity);
                team.follow_skill(&skill);
                say!("{GOOD}Approved{GOOD:#} {}: its code runs from now on.", skill.named());
            } else {
                skill.print();
                own.seen.insert(skill.named(), skill.hash());
                unseen.push(skill.named());
            }
            continue;
        }
        let Some(tool) = looked.registry.resolve(name) else {
            team.drop_gone(&looked, name)?;
            continue;
        };
        if tool.head().kind != Kind::Foreign {
            team.accept(tool)?;
            continue;
        }
        let said = tool.hash()?.to_string();
        let is_known = match hash {
            Some(hash) => hash.len() >= HASH && said.starts_with(hash),
            None => own.seen.get(name) == Some(&tool.hash()?),
        };
        if is_known {
            own.approve(&looked, tool)?;
            team.follow(tool)?;
        } else {
            print_definition(tool)?;
            own.seen.insert(name.to_owned(), tool.hash()?);
            unseen.push(name.to_owned());
        }
    }
    own.write()?;
    team.write()?;
    if unseen.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let message = format!("{} was not shown to you as it is now: read it above", unseen.join(", "));
    Err(Fault::new(Code::ApprovalRequired, message)
        .suggest("Run the same command again to approve it.")
        .into())
}

impl Own {
    fn approve(&mut self, looked: &Looked, tool: &Registered) -> Result<(), CommandError> {
        let name = tool.head().name.as_str();
        // A tool that was renamed is not approved under its old name any longer.
        let renamed = looked.against_own(&self.lock)?.into_iter().find_map(|difference| match difference {
            kit::lock::Difference::Renamed { from, to } if to == name => Some(from),
            _ => None,
        });
        if let Some(from) = renamed {
            self.lock.remove(&from);
        }
        self.lock.accept(tool).map_err(internal)?;
        say!("{GOOD}Approved{GOOD:#} {name}: it is called from now on.");
        Ok(())
    }
}

/// The repository's lock file, where there is a repository.
struct Team<'a> {
    root: Option<&'a exec::Root>,
    lock: Lock,
    is_there: bool,
    accepted: usize,
}

impl<'a> Team<'a> {
    /// With `all`, a file that does not read is replaced; what it says of tools of others stays otherwise.
    fn of(root: Option<&'a exec::Root>, all: bool) -> Result<Self, CommandError> {
        let there = match root.map(|root| approved::team(root.path())).transpose() {
            Ok(there) => there.flatten(),
            Err(fault) if all && fault.code == Code::InvalidArgument => None,
            Err(fault) => return Err(fault.into()),
        };
        let is_there = there.is_some();
        let mut lock = there.unwrap_or_default();
        if all {
            let ours: Vec<String> = lock
                .iter()
                .map(|(name, _)| name.to_owned())
                .filter(|name| {
                    gateway::upstream_of(name).is_none() && !plugins::is_of_one(lock.definition(name))
                })
                .collect();
            for name in &ours {
                lock.remove(name);
            }
        }
        Ok(Self { root, lock, is_there, accepted: 0 })
    }

    fn accept(&mut self, tool: &Registered) -> Result<(), CommandError> {
        if self.root.is_none() {
            return Err(no_root());
        }
        self.lock.accept(tool).map_err(internal)?;
        self.accepted += 1;
        Ok(())
    }

    /// What a user approves of others' stands in the team's file, too, where there is one: it is reviewed with the rest.
    fn follow(&mut self, tool: &Registered) -> Result<(), CommandError> {
        if self.is_there { self.accept(tool) } else { Ok(()) }
    }

    /// The same of a skill.
    fn follow_skill(&mut self, skill: &Skill) {
        if self.is_there && self.lock.accept_skill(&skill.0.name, &skill.0.identity) {
            self.accepted += 1;
        }
    }

    /// A tool of gatewright's own that is gone is dropped. What others do not offer now may be back tomorrow.
    fn drop_gone(&mut self, looked: &Looked, name: &str) -> Result<(), CommandError> {
        if gateway::upstream_of(name).is_some() {
            let why = if looked.knows(name) {
                "its upstream does not offer it"
            } else {
                "its upstream cannot be asked"
            };
            return Err(Fault::new(Code::NotFound, format!("{name}: {why}"))
                .suggest(format!("`gatewright approvals revoke {name}` takes an approval back."))
                .into());
        }
        if !self.lock.remove(name) {
            return Err(looked.registry.unknown(name).into());
        }
        self.accepted += 1;
        Ok(())
    }

    fn write(&self) -> Result<(), CommandError> {
        let (Some(root), true) = (self.root, self.accepted > 0) else { return Ok(()) };
        approved::write_team(root.path(), &self.lock)?;
        let tools = contract::text::counted(self.accepted, "definition");
        say!("{GOOD}Accepted{GOOD:#} {tools}; review and commit {}.", kit::lock::FILE);
        Ok(())
    }
}

/// Takes approvals of tools of others back.
pub fn revoke(names: &[String]) -> CommandResult {
    let mut own = Own::open()?;
    for name in names {
        own.seen.remove(name);
        let is_there = match (name.strip_prefix(SKILL), name.strip_prefix(PLUGIN)) {
            (Some(skill), _) => own.lock.remove_skill(skill),
            (None, Some(plugin)) => {
                let of_it = plugins::approved(&own.lock, plugin);
                for tool in &of_it {
                    own.seen.remove(tool);
                    own.lock.remove(tool);
                }
                !of_it.is_empty()
            }
            (None, None) => own.lock.remove(name),
        };
        if !is_there {
            return Err(Fault::new(Code::NotFound, format!("{name} is not approved"))
                .suggest("`gatewright approvals diff` says what differs from what is.")
                .into());
        }
        say!("{GOOD}Taken back{GOOD:#}: {name} is not called from now on.");
    }
    own.write()?;
    Ok(ExitCode::SUCCESS)
}
