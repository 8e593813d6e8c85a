//! Packing by Cargo itself, in a confined run without network.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::run::Command;
use kit::ReadDesk;
use packaging::cargo::archive;

use super::{Found, Needed};
use crate::release::theirs::has;

/// How long packing may take, and building what was packed of one crate.
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
    /// What nobody asked for and had to be packed beside it, as `name@version`: no registry that is at hand has it.
    pub(super) beside: Vec<String>,
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

/// Cargo at the top of a workspace.
struct Cargo<'a> {
    desk: &'a ReadDesk,
    workshop: Arc<Workshop>,
    top: &'a str,
}

async fn of_workspace(
    desk: &ReadDesk,
    top: &str,
    members: &[&Found],
    is_built: bool,
) -> Result<Packed, Fault> {
    if !has(desk, "cargo") {
        let why = "Cargo is not installed here";
        return Ok(members.iter().map(|found| (found.folder.clone(), Err(why.to_owned()))).collect());
    }
    let cargo = Cargo { desk, workshop: desk.workshop().await?, top };
    let ways = cargo.packed(members).await?;
    // All archives are read before anything of the packages is run.
    let mut archives = Vec::with_capacity(members.len());
    for (found, way) in members.iter().zip(&ways) {
        let file = archive::file_name(found.manifest.name(), found.manifest.version());
        archives.push(match way {
            Err(why) => Err(why.clone()),
            Ok(_) => cargo.read("1", &file).and_then(|first| Ok((first, cargo.read("2", &file)?))),
        });
    }
    let asked: BTreeSet<String> = members.iter().map(|found| found.spec()).collect();
    let mut packed = Vec::with_capacity(members.len());
    for ((found, way), archives) in members.iter().zip(ways).zip(archives) {
        let (spec, beside) = (found.spec(), way.unwrap_or_default());
        let args = ["package", "--list", "--allow-dirty", "--package", &spec];
        let listed = cargo.said(&args).await?.map(|text| archive::list(&text));
        let built =
            if is_built && archives.is_ok() { Some(cargo.built(&spec, &beside).await?) } else { None };
        let beside = beside.iter().map(|needed| needed.spec.clone()).filter(|spec| !asked.contains(spec));
        let beside = beside.collect();
        let packing = archives.map(|(first, second)| Packing { first, second, listed, built, beside });
        packed.push((found.folder.clone(), packing));
    }
    Ok(packed)
}

impl Cargo<'_> {
    /// Packs all, two times; and says of each beside which of those that it needs it can be packed, or why it cannot.
    async fn packed<'f>(&self, members: &[&'f Found]) -> Result<Vec<Result<Vec<&'f Needed>, String>>, Fault> {
        let all: Vec<String> = members.iter().map(|found| found.spec()).collect();
        if members.len() > 1 && self.twice(&all).await?.is_ok() {
            let beside =
                |found: &'f Found| found.needs.iter().filter(|needed| all.contains(&needed.spec)).collect();
            return Ok(members.iter().map(|found| Ok(beside(found))).collect());
        }
        // One that is refused takes nobody with it, and one that needs another's new version has that beside it.
        let mut ways = Vec::with_capacity(members.len());
        for found in members {
            let mut way = self.twice(&[found.spec()]).await?.map(|()| Vec::new());
            if way.is_err() && !found.needs.is_empty() {
                let mut specs = vec![found.spec()];
                specs.extend(found.needs.iter().map(|needed| needed.spec.clone()));
                way = self.twice(&specs).await?.map(|()| found.needs.iter().collect());
            }
            ways.push(way);
        }
        Ok(ways)
    }

    /// Packs some of the crates, two times.
    async fn twice(&self, specs: &[String]) -> Result<Result<(), String>, Fault> {
        for number in ["1", "2"] {
            let target = format!("{TARGET}/{number}");
            let mut args = vec!["package", "--no-verify", "--allow-dirty", "--target-dir", target.as_str()];
            args.extend(specs.iter().flat_map(|spec| ["--package", spec.as_str()]));
            if let Err(why) = self.said(&args).await? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Builds a crate from its archive. What it needs of its workspace is patched in: Cargo would unpack new versions where a confined run
    /// may not write.
    async fn built(&self, spec: &str, beside: &[&Needed]) -> Result<Result<(), String>, Fault> {
        let target = format!("{TARGET}/built");
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let patches: Vec<String> = beside
            .iter()
            .map(|needed| {
                let folder = if needed.folder.is_empty() { "." } else { needed.folder.as_str() };
                format!("patch.crates-io.{}.path={}", quoted(&needed.name), quoted(folder))
            })
            .collect();
        let mut args = vec!["package", "--allow-dirty", "--target-dir", target.as_str(), "--package", spec];
        args.extend(patches.iter().flat_map(|patch| ["--config", patch.as_str()]));
        Ok(self.said(&args).await?.map(drop))
    }

    /// An archive as it was packed.
    fn read(&self, number: &str, file: &str) -> Result<Vec<u8>, String> {
        let below = format!("{TARGET}/{number}/package/{file}");
        let path = if self.top.is_empty() { below } else { format!("{}/{below}", self.top) };
        let path = RelPath::new(&path).map_err(|error| error.to_string())?;
        self.workshop.read(&path).map_err(|fault| fault.message)
    }

    /// What Cargo printed; or what it said was wrong.
    async fn said(&self, args: &[&str]) -> Result<Result<String, String>, Fault> {
        let mut command = Command::new("cargo", args);
        command.args.push("--offline".to_owned());
        command.timeout = TIME;
        command.env = [("CARGO_TERM_COLOR".to_owned(), "never".to_owned())].into();
        if !self.top.is_empty() {
            command.dir = Some(RelPath::new(self.top).map_err(|e| Fault::invalid(e.to_string()))?);
        }
        let ran = match self.desk.run_in(&self.workshop, command).await {
            Ok(ran) => ran,
            Err(fault)
                if matches!(
                    fault.code,
                    Code::Timeout | Code::ToolExecutionFailed | Code::ResourceExhausted
                ) =>
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
}
