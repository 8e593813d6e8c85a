//! `gatewright library`.

use std::process::ExitCode;

use contract::text::{counted, spelled_out};
use serde_json::json;
use tools_knowledge::{Overview, overview};

use super::{CommandResult, print_json};
use crate::cli::{Format, LibraryCommand};
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};

pub fn run(asked: &Asked, command: &LibraryCommand) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    let desk = house.first().desk("index_pattern_library")?;
    let found = super::runtime()?.block_on(overview(&desk))?;
    match command {
        LibraryCommand::List { output } => list(&found, *output),
        LibraryCommand::Check { output } => check(&found, *output),
    }
}

fn list(found: &[Overview], output: Format) -> CommandResult {
    if output == Format::Json {
        let rows = found.iter().map(|one| {
            let problems = one.problems.len();
            json!({ "library": one.name, "places": one.places, "patterns": one.patterns, "problems": problems })
        });
        return print_json(&json!(rows.collect::<Vec<_>>()));
    }
    for one in found {
        let what = match one.patterns {
            Some(patterns) => counted(patterns, "pattern"),
            None => "not there".to_owned(),
        };
        let wrong = if one.problems.is_empty() {
            String::new()
        } else {
            format!(", {}", counted(one.problems.len(), "problem"))
        };
        say!("{BOLD}{:<16}{BOLD:#} {what}{wrong}", one.name);
        one.places.iter().for_each(|place| say!("{DIM}    {}{DIM:#}", spelled_out(place)));
    }
    say!("{NOTE}An id that several have is that of the first; LIBRARY:ID names another.{NOTE:#}");
    Ok(ExitCode::SUCCESS)
}

fn check(found: &[Overview], output: Format) -> CommandResult {
    let all = || found.iter().flat_map(|one| one.problems.iter().map(move |problem| (&one.name, problem)));
    if output == Format::Json {
        let rows = all().map(|(library, problem)| json!({ "library": library, "problem": problem }));
        print_json(&json!(rows.collect::<Vec<_>>()))?;
    } else {
        for (library, problem) in all() {
            say!("{BAD}{library}{BAD:#} {}", spelled_out(&problem.to_string()));
        }
        if all().next().is_none() {
            say!("{GOOD}Nothing is wrong.{GOOD:#}");
        }
    }
    Ok(if all().next().is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
