//! What the tools of make have in common: a target, and how many jobs.

use contract::Fault;
use kit::{Answer, RunDesk};
use reports::Format;

use crate::findings::{self, Findings};
use crate::running::{Asked, reported};
use crate::settings::DevtoolsSection;

/// The program of every tool here.
pub(crate) const MAKE: &[&str] = &["make"];

/// Makes `target`.
pub(crate) async fn made(
    desk: &RunDesk,
    asked: &Asked<'_>,
    target: &str,
    parallel: Option<u32>,
) -> Result<Answer<Findings>, Fault> {
    let settings: DevtoolsSection = desk.settings()?;
    let target = settings.make_targets.get(target).map_or(target, String::as_str);
    let jobs = parallel.or(settings.parallel).map(|jobs| format!("-j{jobs}"));
    let command = asked.command("make", jobs.into_iter().collect(), vec![target.to_owned()])?;
    let (ran, report) = reported(desk, command, Format::Make).await?;
    Ok(findings::answer(&format!("`make {target}`"), &ran, report, false))
}
