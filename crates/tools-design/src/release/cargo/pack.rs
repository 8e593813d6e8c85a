//! Packing by Cargo itself, in a confined run without network.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::run::Command;
use kit::ReadDesk;
use packaging::cargo::archive;

use super::Found;
use crate::release::theirs::has;

/// How long packing a crate may take, or building it, and several of them together.
const TIME: Duration = Duration::from_mins(1);
const MOST: Duration = Duration::from_mins(8);

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
    let mut packed = Vec::with_capacity(members.len());
    for ((found, way), archives) in members.iter().zip(&ways).zip(archives) {
        let spec = found.spec();
        let args = ["package", "--list", "--allow-dirty", "--package", &spec];
        let listed = cargo.said(&args, TIME).await?.map(|text| archive::list(&text));
        let asked: BTreeSet<String> = members.iter().map(|found| found.spec()).collect();
        let beside = way.iter().flatten().filter(|spec| !asked.contains(*spec)).cloned().collect();
        let packing = archives.map(|(first, second)| Packing { first, second, listed, built: None, beside });
        packed.push((found.folder.clone(), packing));
    }
    if is_built {
        let good =
            ways.iter().zip(&packed).map(|(way, (_, packing))| way.as_ref().ok().filter(|_| packing.is_ok()));
        let mut built = cargo.built(good.collect()).await?.into_iter();
        for (_, packing) in &mut packed {
            let of_this = built.next().flatten();
            if let Ok(packing) = packing {
                packing.built = of_this;
            }
        }
    }
    Ok(packed)
}

impl Cargo<'_> {
    /// Packs all, two times; and says of each together with what it can be packed, or why it cannot.
    async fn packed(&self, members: &[&Found]) -> Result<Vec<Result<Vec<String>, String>>, Fault> {
        let with_needs = |found: &Found| {
            let mut specs = vec![found.spec()];
            specs.extend(found.needs.iter().cloned());
            specs
        };
        let all: Vec<String> = members.iter().map(|found| found.spec()).collect();
        if members.len() > 1 && self.twice(&all).await?.is_ok() {
            return Ok(members
                .iter()
                .map(|found| Ok(with_needs(found).into_iter().filter(|spec| all.contains(spec)).collect()))
                .collect());
        }
        // One that is refused takes nobody with it, and one that needs another's new version has that beside it.
        let mut ways = Vec::with_capacity(members.len());
        for found in members {
            let alone = vec![found.spec()];
            let whole = with_needs(found);
            let mut way = self.twice(&alone).await?.map(|()| alone);
            if way.is_err() && whole.len() > 1 {
                way = self.twice(&whole).await?.map(|()| whole);
            }
            ways.push(way);
        }
        Ok(ways)
    }

    /// Packs some of the crates, two times.
    async fn twice(&self, specs: &[String]) -> Result<Result<(), String>, Fault> {
        for number in ["1", "2"] {
            if let Err(why) = self.package(number, specs, &["--no-verify"]).await? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Builds from their archives those that were packed, each as it was: together, as one may need the other's new version; where that
    /// fails, one by one.
    async fn built(&self, ways: Vec<Option<&Vec<String>>>) -> Result<Vec<Option<Result<(), String>>>, Fault> {
        let all: Vec<String> =
            ways.iter().copied().flatten().flatten().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let count = ways.iter().flatten().count();
        let together = if all.is_empty() { Ok(()) } else { self.package("built", &all, &[]).await? };
        if together.is_ok() || count == 1 {
            return Ok(ways.into_iter().map(|way| way.map(|_| together.clone())).collect());
        }
        let mut built = Vec::with_capacity(ways.len());
        for way in ways {
            built.push(match way {
                Some(specs) => Some(self.package("built", specs, &[]).await?),
                None => None,
            });
        }
        Ok(built)
    }

    async fn package(
        &self,
        folder: &str,
        specs: &[String],
        more: &[&str],
    ) -> Result<Result<(), String>, Fault> {
        let target = format!("{TARGET}/{folder}");
        let mut args = vec!["package", "--allow-dirty", "--target-dir", target.as_str()];
        args.extend(more);
        args.extend(specs.iter().flat_map(|spec| ["--package", spec.as_str()]));
        let count = u32::try_from(specs.len()).unwrap_or(u32::MAX);
        Ok(self.said(&args, TIME.saturating_mul(count).min(MOST)).await?.map(drop))
    }

    /// An archive as it was packed.
    fn read(&self, number: &str, file: &str) -> Result<Vec<u8>, String> {
        let below = format!("{TARGET}/{number}/package/{file}");
        let path = if self.top.is_empty() { below } else { format!("{}/{below}", self.top) };
        let path = RelPath::new(&path).map_err(|error| error.to_string())?;
        self.workshop.read(&path).map_err(|fault| fault.message)
    }

    /// What Cargo printed; or what it said was wrong.
    async fn said(&self, args: &[&str], time: Duration) -> Result<Result<String, String>, Fault> {
        let mut command = Command::new("cargo", args);
        command.args.push("--offline".to_owned());
        command.timeout = time;
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
