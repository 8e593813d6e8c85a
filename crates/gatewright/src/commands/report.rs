//! `gatewright report`.

use std::path::Path;
use std::process::ExitCode;

use contract::{Fault, Principal};
use kit::Engine;

use super::CommandResult;
use crate::cli::ReportCommand;
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{BOLD, NOTE};

/// Most reports that are listed.
const LISTED: usize = 100;

pub fn run(asked: &Asked, command: ReportCommand) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    let engine = house.first();
    let owner = Principal::Local { uid: engine.uid() };
    match command {
        ReportCommand::List => {
            list(engine, &owner);
            Ok(ExitCode::SUCCESS)
        }
        ReportCommand::Export { report, folder } => export(engine, &owner, &report, &folder),
    }
}

fn list(engine: &Engine, owner: &Principal) {
    let reports = engine.state().reports(owner, LISTED);
    if reports.is_empty() {
        say!("{NOTE}No report is kept here.{NOTE:#} `gatewright call a11y_scan --url root:FILE` leaves one.");
    }
    for (handle, report) in reports {
        say!("{BOLD}report://{handle}{BOLD:#}  {}  {}", report.at, report.title);
    }
}

/// Writes a report's files into a folder. A file that is there already is left as it is, and that is an error.
fn export(engine: &Engine, owner: &Principal, report: &str, folder: &Path) -> CommandResult {
    let state = engine.state();
    let handle = match report {
        "last" => state.reports(owner, 1).into_iter().next().map(|(handle, _)| handle),
        named => Some(named.strip_prefix("report://").unwrap_or(named).to_owned()),
    };
    let handle = handle.ok_or_else(|| Fault::new(contract::Code::NotFound, "no report is kept here"))?;
    let kept = state.report(&handle, owner)?;
    std::fs::create_dir_all(folder)?;
    for file in &kept.files {
        let path = folder.join(&file.name);
        let bytes = state.report_file(file)?;
        let mut fresh = std::fs::File::create_new(&path).map_err(|e| {
            Fault::invalid(format!("{}: {e}", path.display())).suggest("Name a folder that is empty or new.")
        })?;
        std::io::Write::write_all(&mut fresh, &bytes)?;
        say!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
