//! Plugins, for those who write them: a file that works to begin with, what is wrong with one, and which there are.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use contract::text::spelled_out;
use contract::{Code, Fault};
use plugins::{MAX_FILE, Manifest, Plugin};
use serde_json::{Map, Value, json};

use super::{CommandError, CommandResult, print_json};
use crate::approved;
use crate::cli::Format;
use crate::compose;
use crate::plugged::{self, Found, State};
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};

/// What is done with plugins.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Write a plugin's file that works, to begin with.
    New {
        /// Its name, such as `word-count`.
        name: String,
        /// The program that it runs. Default: the name.
        #[arg(long)]
        program: Option<String>,
        /// Among this repository's, rather than your own.
        #[arg(long)]
        project: bool,
    },
    /// Hold a file to its examples and refusals, and show each argument list.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// List plugins: where each comes from, its state and its tools.
    List {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Print the JSON Schema of a plugin's file.
    Schema,
}

pub fn run(asked: &Asked, command: PluginCommand) -> CommandResult {
    match command {
        PluginCommand::New { name, program, project } => new(asked, &name, program.as_deref(), project),
        PluginCommand::Check { file } => check(&file),
        PluginCommand::List { output } => list(asked, output),
        PluginCommand::Schema => print_json(&plugins::schema()),
    }
}

/// A plugin that works: its program's version, and its program over a path.
fn template(name: &str, program: &str) -> String {
    format!(
        r#"# A plugin of gatewright's: a program as tools. `gatewright plugin check FILE` holds it to its examples.
schema = 1

[plugin]
name = "{name}"
version = "0.1.0"
description = "What {program} does here: say it for those who read the list of tools."
required-server-version = ">=0.1"
required-commands = ["{program}"]

[[tool]]
name = "version"
title = "Version of {program}"
description = "Which {program} this machine has."
kind = "read"            # read: what it writes is thrown away; run: it is the proposal, and `writes` says of which paths
program = "{program}"
args = ["--version"]
output = {{ parser = "text" }}
example = [{{ argv = ["--version"] }}]

[[tool]]
name = "path"
title = "{program} over a path"
description = "Runs {program} over a file or folder of the repository."
kind = "read"
program = "{program}"
args = ["--", "{{path}}"]   # a value is one word, whatever is in it; `--` ends the options
input.path = {{ type = "path", required = true, description = "File or folder below the root." }}
output = {{ parser = "text", findings-exit = [1] }}
example = [{{ input = {{ path = "README.md" }}, argv = ["--", "README.md"] }}]
refuses = [{{ input = {{ path = "../secret" }}, why = "leaves the root" }}]
"#
    )
}

fn new(asked: &Asked, name: &str, program: Option<&str>, project: bool) -> CommandResult {
    let program = program.unwrap_or(name);
    let mut text = template(name, program);
    let read = |text: &str| Plugin::read(text, env!("CARGO_PKG_VERSION"));
    if let Err(bad) = read(&text) {
        // A program with a grammar of ours may take no path there: its version it has.
        let short = text.rfind("\n[[tool]]").map(|at| text[..at].to_owned()).unwrap_or_default();
        if read(&short).is_err() {
            return Err(CommandError::Usage(bad.to_string()));
        }
        text = short;
    }
    let folder = if project {
        let root = asked.first()?.ok_or_else(|| {
            Fault::new(Code::NoRoot, "there is no repository").suggest("Run this in one, or give --root DIR.")
        })?;
        plugged::project_folder(root.path())
    } else {
        plugged::user_folder().ok_or_else(|| {
            Fault::new(Code::NotFound, "there is no folder of yours for configuration")
                .suggest("Set HOME or XDG_CONFIG_HOME.")
        })?
    };
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{name}.toml"));
    let mut fresh = std::fs::File::create_new(&file).map_err(|e| {
        Fault::new(Code::Conflict, format!("{}: {e}", file.display()))
            .suggest("Give the plugin another name, or edit the file that is there.")
    })?;
    fresh.write_all(text.as_bytes())?;
    say!("{GOOD}Written{GOOD:#}: {}", file.display());
    say!("Edit it, then `gatewright plugin check {}`.", file.display());
    if project {
        say!("It is the repository's: `gatewright trust accept plugin:{name}` puts it in force.");
    }
    say!("`gatewright approvals accept plugin:{name}` has its tools called.");
    Ok(ExitCode::SUCCESS)
}

fn check(file: &Path) -> CommandResult {
    let there = std::fs::metadata(file).map_err(|e| unreadable(file, &e.to_string()))?;
    if !there.is_file() || there.len() > MAX_FILE {
        return Err(unreadable(file, &format!("it is no file of at most {MAX_FILE} bytes")).into());
    }
    let text = std::fs::read_to_string(file).map_err(|e| unreadable(file, &e.to_string()))?;
    let wrong = |bad: plugins::BadPlugin| {
        Fault::invalid(format!("{}: {bad}", file.display()))
            .suggest("`gatewright plugin schema` prints what a file may say.")
    };
    if Manifest::is_one(&text) {
        let manifest = Manifest::read(&text, env!("CARGO_PKG_VERSION")).map_err(wrong)?;
        manifest.told().iter().for_each(|line| say!("{}", spelled_out(line)));
        return Ok(ExitCode::SUCCESS);
    }
    let plugin = Plugin::read(&text, env!("CARGO_PKG_VERSION")).map_err(wrong)?;
    plugin.told().iter().for_each(|line| say!("{}", spelled_out(line)));
    let defaults = plugin.configured(&Map::new()).unwrap_or_default();
    for tool in &plugin.tools {
        say!("\n{BOLD}{}{BOLD:#}", tool.name);
        for example in &tool.file.example {
            let argv = tool.argv(&example.input, &defaults, None).map_err(Fault::invalid)?;
            let given = Value::Object(example.input.clone());
            say!("  {GOOD}holds{GOOD:#}   {given} makes {} {}", tool.file.program, json!(argv));
        }
        for refusal in &tool.file.refuses {
            let given = Value::Object(refusal.input.clone());
            let why = tool.argv(&refusal.input, &defaults, None).err().unwrap_or_default();
            say!("  {GOOD}refused{GOOD:#} {given}: {}", spelled_out(&why));
        }
    }
    match plugged::identities(&plugin.file.plugin.required_commands, None) {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(why) => {
            say!("\n{NOTE}It would be unhealthy here{NOTE:#}: {}", spelled_out(&why));
            Ok(ExitCode::from(1))
        }
    }
}

fn unreadable(file: &Path, why: &str) -> Fault {
    Fault::new(Code::NotFound, format!("{}: {why}", file.display())).suggest("Name a plugin's file.")
}

/// What became of a plugin: a word, and why.
fn state(found: &Found, is_approved: bool) -> (&'static str, String) {
    match &found.state {
        State::Ready(_) if is_approved => ("ready", String::new()),
        State::Ready(_) => (
            "unapproved",
            format!("`gatewright approvals accept plugin:{}` has its tools called", found.name),
        ),
        State::Unhealthy(_, why) => ("unhealthy", why.clone()),
        State::Disabled(why) => ("disabled", (*why).to_owned()),
        State::Inert(how) if how.is_empty() => {
            ("inert", "the repository's: `gatewright trust` shows it".to_owned())
        }
        State::Inert(how) => ("changed", format!("since you trusted it: {}", how.join("; "))),
        State::Shadowed(by) => ("shadowed", format!("by the {}'s of its name", by.word())),
        State::Faulty(why) => ("faulty", why.clone()),
    }
}

fn list(asked: &Asked, output: Format) -> CommandResult {
    let root = asked.first()?;
    let all = compose::plugins(root.as_deref())?;
    let own = approved::own()?;
    let row = |found: &Found| {
        let tools: Vec<String> = found.hosted().map(plugged::Hosting::names).unwrap_or_default();
        let is_approved = found.hosted().is_some_and(|hosted| {
            hosted.tools().iter().all(|tool| own.definition(tool.head().name.as_str()) == tool.identity())
        });
        (tools, state(found, is_approved))
    };
    if output == Format::Json {
        let rows = all.iter().map(|found| {
            let (tools, (state, why)) = row(found);
            json!({ "name": found.name, "origin": found.origin, "file": found.file, "state": state, "why": why, "tools": tools })
        });
        return print_json(&rows.collect::<Value>());
    }
    if all.is_empty() {
        let places: Vec<PathBuf> = plugged::user_folder()
            .into_iter()
            .chain(root.map(|root| plugged::project_folder(root.path())))
            .collect();
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        say!(
            "There is no plugin in {}: `gatewright plugin new NAME --program PROGRAM` writes one.",
            places.join(", ")
        );
    }
    for found in &all {
        let (tools, (state, why)) = row(found);
        let colour = if state == "ready" { GOOD } else { BAD };
        say!(
            "{BOLD}{}{BOLD:#} {colour}{state}{colour:#} {DIM}{} {}{DIM:#}",
            spelled_out(&found.name),
            found.origin.word(),
            found.file.display()
        );
        if !why.is_empty() {
            say!("  {}", spelled_out(&why));
        }
        for tool in tools {
            say!("  {tool}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
