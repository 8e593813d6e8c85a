//! Packing by Cargo itself, in a confined run without network.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::run::Command;
use kit::ReadDesk;
use packaging::cargo::archive;

use super::Found;
use crate::release::theirs::has;

/// How long packing may take, and building what was packed.
const TIME: Duration = Duration::from_mins(1);

/// Where Cargo builds, below the top of a workspace; none of it stays.
const TARGET: &str = "target/gatewright-release";

/// A crate as Cargo packed it.
pub(super) struct Packing {
    pub(super) first: Vec<u8>,
    pub(super) second: Vec<u8>,
    /// What `cargo package --list` names.
    pub(super) listed: Result<Vec<String>, String>,
    /// Whether it builds from its archive, where that was asked.
    pub(super) built: Option<Result<(), String>>,
}

/// All crates as Cargo packed them, by folder; or why it did not.
#[derive(Default)]
pub(crate) struct Packings(BTreeMap<String, Result<Packing, String>>);

impl Packings {
    pub(super) fn of(&self, found: &Found) -> Result<&Packing, String> {
        match self.0.get(&found.folder) {
            Some(Ok(packing)) => Ok(packing),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it was not packed".to_owned()),
        }
    }
}

/// Packs all crates, twice. Those of one workspace are packed together: a release often moves several versions at once, of which
/// no registry has any yet.
pub(crate) async fn pack(desk: &ReadDesk, all: &[Found], is_built: bool) -> Result<Packings, Fault> {
    let mut packings = Packings::default();
    let mut tops: BTreeMap<&str, Vec<&Found>> = BTreeMap::new();
    for found in all {
        tops.entry(&found.top).or_default().push(found);
    }
    for (top, members) in tops {
        for (folder, packing) in of_workspace(desk, top, &members, is_built).await? {
            packings.0.insert(folder, packing);
        }
    }
    Ok(packings)
}

type Packed = Vec<(String, Result<Packing, String>)>;

async fn of_workspace(
    desk: &ReadDesk,
    top: &str,
    members: &[&Found],
    is_built: bool,
) -> Result<Packed, Fault> {
    let all = |why: &str| members.iter().map(|found| (found.folder.clone(), Err(why.to_owned()))).collect();
    if !has(desk, "cargo") {
        return Ok(all("Cargo is not installed here"));
    }
    let workshop = desk.workshop().await?;
    let specs: Vec<String> =
        members.iter().map(|f| format!("{}@{}", f.manifest.name(), f.manifest.version())).collect();
    let together: Vec<usize> = (0..specs.len()).collect();
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    if let Err(why) = twice(desk, &workshop, top, &specs, &together).await? {
        if specs.len() == 1 {
            return Ok(all(&why));
        }
        // One that is refused takes nobody with it: those that need no other's new version pack alone.
        for at in together {
            if let Err(why) = twice(desk, &workshop, top, &specs, &[at]).await? {
                refused.insert(at, why);
            }
        }
    }
    // All archives are read before anything of the packages is run.
    let mut archives = Vec::with_capacity(members.len());
    for (at, found) in members.iter().enumerate() {
        let file = archive::file_name(found.manifest.name(), found.manifest.version());
        let read = |number: &str| {
            let below = format!("{TARGET}/{number}/package/{file}");
            let path = if top.is_empty() { below } else { format!("{top}/{below}") };
            let path = RelPath::new(&path).map_err(|error| error.to_string())?;
            workshop.read(&path).map_err(|fault| fault.message)
        };
        archives.push(match refused.remove(&at) {
            Some(why) => Err(why),
            None => read("1").and_then(|first| Ok((first, read("2")?))),
        });
    }
    let mut lists = Vec::with_capacity(specs.len());
    for spec in &specs {
        let args = ["package", "--list", "--allow-dirty", "--package", spec.as_str()];
        lists.push(said(desk, &workshop, top, &args).await?.map(|text| archive::list(&text)));
    }
    let mut built = None;
    if is_built {
        // Together, as they are packed: one may need the other's new version.
        let target = format!("{TARGET}/built");
        let mut args = vec!["package", "--allow-dirty", "--target-dir", target.as_str()];
        let packed = specs.iter().zip(&archives).filter(|(_, archives)| archives.is_ok());
        args.extend(packed.flat_map(|(spec, _)| ["--package", spec.as_str()]));
        built = Some(said(desk, &workshop, top, &args).await?.map(drop));
    }
    let packings = members.iter().zip(archives).zip(lists).map(|((found, archives), listed)| {
        let packing = archives.map(|(first, second)| Packing { first, second, listed, built: built.clone() });
        (found.folder.clone(), packing)
    });
    Ok(packings.collect())
}

/// Packs some of the crates, two times.
async fn twice(
    desk: &ReadDesk,
    workshop: &Arc<Workshop>,
    top: &str,
    specs: &[String],
    which: &[usize],
) -> Result<Result<(), String>, Fault> {
    for number in ["1", "2"] {
        let target = format!("{TARGET}/{number}");
        let mut args = vec!["package", "--no-verify", "--allow-dirty", "--target-dir", target.as_str()];
        let named = which.iter().filter_map(|at| specs.get(*at));
        args.extend(named.flat_map(|spec| ["--package", spec.as_str()]));
        if let Err(why) = said(desk, workshop, top, &args).await? {
            return Ok(Err(why));
        }
    }
    Ok(Ok(()))
}

/// What Cargo printed; or what it said was wrong.
async fn said(
    desk: &ReadDesk,
    workshop: &Arc<Workshop>,
    top: &str,
    args: &[&str],
) -> Result<Result<String, String>, Fault> {
    let mut command = Command::new("cargo", args);
    command.args.push("--offline".to_owned());
    command.timeout = TIME;
    command.env = [("CARGO_TERM_COLOR".to_owned(), "never".to_owned())].into();
    if !top.is_empty() {
        command.dir = Some(RelPath::new(top).map_err(|e| Fault::invalid(e.to_string()))?);
    }
    let ran = match desk.run_in(workshop, command).await {
        Ok(ran) => ran,
        Err(fault)
            if matches!(fault.code, Code::Timeout | Code::ToolExecutionFailed | Code::ResourceExhausted) =>
        {
            return Ok(Err(fault.message));
        }
        Err(fault) => return Err(fault),
    };
    if ran.is_success() {
        return Ok(Ok(ran.stdout.text()));
    }
    let stderr = ran.stderr.text();
    let from = stderr.find("error").unwrap_or_default();
    let words: Vec<&str> = stderr
        .get(from..)
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .take(8)
        .collect();
    Ok(Err(words.join(" ").chars().take(500).collect()))
}
