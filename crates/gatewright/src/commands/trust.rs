//! What a repository asks for that only a person may say: shown, accepted as it was shown, taken back.

use std::process::ExitCode;

use clap::Subcommand;
use contract::text::{counted, escaped_json, spelled_out};
use contract::{Code, Fault};
use exec::Root;
use serde_json::{Value, json};

use super::{CommandError, CommandResult, print_json};
use crate::cli::Format;
use crate::config;
use crate::plugged;
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};
use crate::trusted::{Item, Own, Standing};

/// Something a repository asks for, with its text where that says more than its value.
struct Asks {
    item: Item,
    text: Option<String>,
}

/// What is done with what a repository asks for.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Show it, item by item: what it decides, whether it is in force, and all that it says.
    Show {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Put items in force as they were last shown to you, such as `section:egress` or `plugin:NAME`.
    Accept {
        /// The items.
        names: Vec<String>,
        /// All that can be.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Have items inert again.
    Revoke {
        /// The items.
        #[arg(required = true)]
        names: Vec<String>,
    },
}

pub fn run(asked: &Asked, command: Option<TrustCommand>) -> CommandResult {
    let Some(root) = asked.first()? else {
        let message = "there is no repository that could ask for anything";
        return Err(Fault::new(Code::NoRoot, message)
            .suggest("Run this inside a git repository, or give --root DIR.")
            .into());
    };
    match command.unwrap_or(TrustCommand::Show { output: Format::default() }) {
        TrustCommand::Show { output } => show(&root, output),
        TrustCommand::Accept { names, all } => accept(&root, &names, all),
        TrustCommand::Revoke { names } => revoke(&root, &names),
    }
}

/// Everything that the repository asks for, sections first.
fn all(root: &Root) -> Result<Vec<Asks>, CommandError> {
    let sections = config::asked_for(root.path()).map_err(|e| CommandError::Usage(e.to_string()))?;
    let mut all: Vec<Asks> = sections.into_iter().map(|item| Asks { item, text: None }).collect();
    let plugins = plugged::asked_for(root.path()).into_iter();
    all.extend(plugins.map(|(item, text)| Asks { item, text: Some(text) }));
    Ok(all)
}

/// Whether a person can put it in force at all.
fn can_be(item: &Item) -> bool {
    item.kind == "plugin" || config::can_be_trusted(&item.name)
}

/// What being in force would mean.
fn meaning(item: &Item) -> &'static str {
    if item.kind == "plugin" {
        return "a plugin: programs as tools, each approved by itself before it is called";
    }
    match item.name.as_str() {
        "egress" => "hosts that plans may send requests to",
        "browser" => "which browser is started, and which private hosts its pages may reach",
        "secrets" => "environment variables whose values pages may be given, and where",
        "upstreams" => "other servers that are connected to, and with which credentials",
        "registries" => "where packages come from",
        "library" => "where patterns and skills come from",
        "skills" => "what code of skills is granted",
        "context" => "where what a team shares is sent",
        "github" => "which issues are asked for, and with which token",
        "plugins" => "which plugins are enabled, what they are told, and whether they may reach the network",
        "failures" => "what is recognised in what programs say",
        "cache" => "how long answers are kept",
        "session" | "ventures" => "how sessions are called, and what is worked on",
        _ => "how gatewright itself works",
    }
}

fn show(root: &Root, output: Format) -> CommandResult {
    let all = all(root)?;
    let mut own = Own::open(root)?;
    if output == Format::Json {
        let list: Vec<Value> = all
            .iter()
            .map(|asks| {
                let standing = own.here.standing(&asks.item);
                let (state, changes) = match standing {
                    Standing::Trusted if can_be(&asks.item) => ("trusted", Vec::new()),
                    Standing::Changed(how) => ("changed", how),
                    _ => ("inert", Vec::new()),
                };
                json!({ "item": asks.item.id(), "state": state, "hash": asks.item.hash(), "canBeTrusted": can_be(&asks.item),
                        "means": meaning(&asks.item), "says": asks.item.value, "changes": changes })
            })
            .collect();
        print_json(&json!(list))?;
    } else if all.is_empty() {
        say!("{GOOD}This repository asks for nothing that only you may say.{GOOD:#}");
    } else {
        for asks in &all {
            print(asks, &own.here.standing(&asks.item));
        }
        let gone: Vec<&str> =
            own.here.accepted().filter(|id| !all.iter().any(|asks| asks.item.id() == **id)).collect();
        for id in gone {
            say!("{DIM}{} was accepted, and is asked for no longer{DIM:#}", spelled_out(id));
        }
    }
    for asks in &all {
        own.here.show(&asks.item);
    }
    own.write()?;
    Ok(ExitCode::SUCCESS)
}

/// One item: in words, then all that it says, with nothing hidden in it.
fn print(asks: &Asks, standing: &Standing) {
    let item = &asks.item;
    let id = spelled_out(&item.id());
    match standing {
        _ if !can_be(item) => say!("{BOLD}{id}{BOLD:#} {BAD}is yours alone: it stays inert{BAD:#}"),
        Standing::Trusted => say!("{BOLD}{id}{BOLD:#} {GOOD}trusted{GOOD:#}"),
        Standing::Inert => say!("{BOLD}{id}{BOLD:#} {NOTE}inert{NOTE:#}"),
        Standing::Changed(_) => say!("{BOLD}{id}{BOLD:#} {BAD}changed since you trusted it: inert{BAD:#}"),
    }
    say!("  It decides {}.", meaning(item));
    if let Standing::Changed(how) = standing {
        for field in how {
            say!("  {NOTE}{}{NOTE:#}", spelled_out(field).replace('\n', "\\n"));
        }
    }
    match &asks.text {
        Some(text) => text.lines().for_each(|line| say!("    {}", spelled_out(line))),
        None => {
            let text = serde_json::to_string_pretty(&item.value).unwrap_or_default();
            escaped_json(&text).lines().for_each(|line| say!("    {line}"));
        }
    }
    say!("  {DIM}{}{DIM:#}", item.hash());
}

fn accept(root: &Root, names: &[String], everything: bool) -> CommandResult {
    if names.is_empty() && !everything {
        return Err(CommandError::Usage(
            "name what to accept, such as `section:egress`, or say --all".into(),
        ));
    }
    let all = all(root)?;
    let mut own = Own::open(root)?;
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|asks| asks.item.id() == **name)) {
        return Err(Fault::new(Code::NotFound, format!("this repository does not ask for {unknown:?}"))
            .suggest("`gatewright trust` shows what it asks for.")
            .into());
    }
    let (mut accepted, mut unseen) = (0, Vec::new());
    let chosen = all.iter().filter(|asks| everything || names.contains(&asks.item.id()));
    for asks in chosen {
        let item = &asks.item;
        if !can_be(item) {
            if everything {
                continue;
            }
            return Err(Fault::new(
                Code::Forbidden,
                format!("{} is yours alone: no repository says it", item.id()),
            )
            .suggest("Say it in your own configuration, if it is what you want.")
            .into());
        }
        if own.here.standing(item) == Standing::Trusted {
            continue;
        }
        if own.here.was_shown(item) {
            own.here.accept(item);
            accepted += 1;
            say!(
                "{GOOD}Trusted{GOOD:#} {}: in force as it is now, and inert again once it changes.",
                spelled_out(&item.id())
            );
        } else {
            print(asks, &own.here.standing(item));
            own.here.show(item);
            unseen.push(item.id());
        }
    }
    own.write()?;
    if unseen.is_empty() {
        say!("{DIM}{} accepted.{DIM:#}", counted(accepted, "item"));
        return Ok(ExitCode::SUCCESS);
    }
    let unseen = spelled_out(&unseen.join(", "));
    let message = format!("{unseen} was not shown to you as it is now: read it above");
    Err(Fault::new(Code::ApprovalRequired, message)
        .suggest("Run the same command again to accept it.")
        .into())
}

fn revoke(root: &Root, names: &[String]) -> CommandResult {
    let mut own = Own::open(root)?;
    for name in names {
        if !own.here.revoke(name) {
            return Err(Fault::new(Code::NotFound, format!("{name} is not trusted here"))
                .suggest("`gatewright trust` shows what is.")
                .into());
        }
        say!("{GOOD}Taken back{GOOD:#}: {name} is inert from now on.");
    }
    own.write()?;
    Ok(ExitCode::SUCCESS)
}
