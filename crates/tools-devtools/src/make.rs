//! What the tools of make have in common: a target, and how many jobs.

use contract::Fault;
use kit::{Answer, RunDesk};
use reports::Format;

use crate::findings::{self, Findings};
use crate::own::Own;
use crate::running::{Asked, reported};
use crate::settings::DevtoolsSection;

/// The programs of every tool here: make, and whatever the project does instead.
pub(crate) const MAKE: &[&str] = grammar::NAMES;

/// Makes `target`, or does what the project says is done for it.
pub(crate) async fn made(
    desk: &RunDesk,
    asked: &Asked<'_>,
    target: &str,
    parallel: Option<u32>,
) -> Result<Answer<Findings>, Fault> {
    let settings: DevtoolsSection = desk.settings()?;
    let named = settings.make_targets.get(target);
    let own = if named.is_none() { Own::of(&settings, target)? } else { None };
    let jobs = |jobs: u32| vec![format!("-j{jobs}")];
    let flags = parallel.or(settings.parallel).map(jobs).unwrap_or_default();
    let (what, command, format) = match own {
        None => {
            let target = named.map_or(target, String::as_str);
            (format!("`make {target}`"), asked.command("make", flags, vec![target.to_owned()])?, Format::Make)
        }
        Some(own) => {
            let is_make = own.format() == Format::Make;
            if parallel.is_some() && !is_make {
                return Err(own.unable("parallel"));
            }
            let flags = if is_make { flags } else { Vec::new() };
            (format!("`{}`", own.line()), own.command(desk, asked, flags)?, own.format())
        }
    };
    let (ran, report) = reported(desk, command, format).await?;
    Ok(findings::answer(&what, &ran, report, false))
}
