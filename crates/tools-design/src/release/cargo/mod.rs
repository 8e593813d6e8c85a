//! A crate verified: what Cargo packs of it, twice, and everything that is said of it.

mod pack;

use contract::{Code, Fault};
use kit::ReadDesk;
use packaging::cargo::api::{self, Api};
use packaging::cargo::manifest::{Manifest, Publish};
use packaging::cargo::members::{Members, MembersError, members};
use packaging::cargo::{archive, bill, checks};
use packaging::version::{Bump, Scheme};
use packaging::{Check, Packed, Severity, Tree, paths};

use super::looking::Looking;
use super::past::{Past, Whose, shared};
use super::tree::{Folder, Stored};
use super::{Archive, Asked, Verified, changes, secrets};

pub(crate) use self::pack::{Packings, pack};

/// Checks that need no archive, by how they begin.
const ALONE: [&str; 3] = ["cargo.manifest.name", "cargo.version", "cargo.dependencies"];

/// A crate that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Empty for the root's top.
    pub(crate) folder: String,
    pub(crate) manifest: Manifest,
    /// The top of its workspace.
    top: String,
    /// Members of its workspace that it needs and that may be published.
    needs: Vec<Needed>,
}

/// A member of a workspace that another needs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Needed {
    name: String,
    /// As Cargo is told of it.
    spec: String,
    /// Relative to the workspace's top.
    folder: String,
}

impl Found {
    fn new(folder: String, manifest: Manifest, top: &str, members: &Members) -> Self {
        let inside = folder.strip_prefix(top).unwrap_or(&folder).trim_start_matches('/');
        let needed =
            members.needed(inside).into_iter().filter_map(|at| Some((at, members.packages.get(at)?)));
        let needs = needed
            .filter(|(_, manifest)| may_be_published(manifest))
            .map(|(at, manifest)| Needed {
                name: manifest.name().to_owned(),
                spec: spec(manifest),
                folder: at.to_owned(),
            })
            .collect();
        Self { folder, manifest, top: top.to_owned(), needs }
    }

    /// As Cargo is told of it.
    fn spec(&self) -> String {
        spec(&self.manifest)
    }
}

fn spec(manifest: &Manifest) -> String {
    format!("{}@{}", manifest.name(), manifest.version())
}

fn may_be_published(manifest: &Manifest) -> bool {
    manifest.publish() != Publish::Nowhere
}

/// What was found, and what cannot be read: folder and why.
pub(crate) type Crates = (Vec<Found>, Vec<(String, String)>);

fn workspace(desk: &ReadDesk, top: &str) -> Result<Option<Members>, Fault> {
    match members(&Folder::new(desk.view(), top)) {
        Ok(members) => Ok(Some(members)),
        Err(MembersError::Missing) => Ok(None),
        Err(error) => {
            let place = if top.is_empty() { "Cargo.toml".to_owned() } else { format!("{top}/Cargo.toml") };
            Err(Fault::new(Code::InvalidSource, format!("{place}: {error}")).about(place))
        }
    }
}

/// The crates that a call means: the one in the folder that it names, else those of the top's workspace that may be published.
pub(crate) fn packages(desk: &ReadDesk, named: Option<&str>) -> Result<Crates, Fault> {
    let Some(folder) = named else {
        let Some(members) = workspace(desk, "")? else { return Ok(Crates::default()) };
        let found = members.packages.iter().filter(|(_, manifest)| may_be_published(manifest));
        let found =
            found.map(|(folder, manifest)| Found::new(folder.clone(), manifest.clone(), "", &members));
        return Ok((found.collect(), members.broken.clone().into_iter().collect()));
    };
    // A crate of a workspace that lies above it takes from that what it inherits; any other is a workspace of its own.
    let mut above = folder;
    while let Some((top, _)) = above.rsplit_once('/').or((!above.is_empty()).then_some(("", ""))) {
        let inside = folder.strip_prefix(top).unwrap_or(folder).trim_start_matches('/');
        if let Ok(Some(members)) = workspace(desk, top)
            && let Some(manifest) = members.packages.get(inside)
        {
            return Ok((vec![Found::new(folder.to_owned(), manifest.clone(), top, &members)], Vec::new()));
        }
        above = top;
    }
    let own = workspace(desk, folder)?.unwrap_or_default();
    let found =
        own.packages.get("").map(|manifest| Found::new(folder.to_owned(), manifest.clone(), folder, &own));
    Ok((found.into_iter().collect(), Vec::new()))
}

/// Looks at one crate.
pub(crate) fn verify(
    desk: &ReadDesk,
    found: &Found,
    asked: &Asked,
    past: Result<&Past, &str>,
    packings: &Packings,
) -> Result<Verified, Fault> {
    let manifest = &found.manifest;
    let whose = Whose {
        package: manifest.name(),
        folder: &found.folder,
        scheme: Scheme::SemVer,
        shared: shared(&found.top, &found.folder, &["Cargo.toml", "Cargo.lock"]),
    };
    let mut looking = Looking::new(desk, asked, past, whose);
    let (archive, packed) = match packed(&mut looking, found, packings) {
        Some((archive, packed)) => (Some(archive), packed),
        None => (None, Packed::new()),
    };
    if archive.is_some() {
        let own = checks::check(manifest, &packed, &asked.version)
            .map_err(|error| Fault::internal(format!("{}: {error}", manifest.name())))?;
        looking.checks.extend(own);
        looking.checks.extend(paths::check("cargo", &packed));
        looking.checks.push(secrets::check("cargo", &packed, desk));
        let head = past.ok().and_then(Past::head);
        looking.checks.extend(archive::vcs(&packed, head, &found.folder));
    }
    if archive.is_none() {
        // What the manifest alone decides is told all the same.
        let own = checks::check(manifest, &packed, &asked.version).unwrap_or_default();
        let alone = |check: &Check| ALONE.iter().any(|id| check.id.starts_with(id));
        looking.checks.extend(own.into_iter().filter(alone));
    }
    let base = looking.before()?;
    compared(&mut looking, found, &packed, base.as_deref())?;
    looking.since(base.as_deref())?;
    let bill = billed(&mut looking, found)?;
    let repository = manifest.text("repository").map(str::to_owned);
    looking.verified("cargo", archive.into_iter().collect(), &packed, bill, repository)
}

/// The archive, packed twice and read back.
fn packed(looking: &mut Looking<'_>, found: &Found, packings: &Packings) -> Option<(Archive, Packed)> {
    let (name, version) = (found.manifest.name(), found.manifest.version());
    let failed = |why: String, fix: &str| {
        Check::failed("cargo.pack", Severity::Error, format!("it cannot be packed: {why}")).fix(fix)
    };
    let packing = match packings.of(found) {
        Ok(packing) => packing,
        Err(why) => {
            let fix = "Mend what Cargo says; what it depends on must be on this machine (`cargo fetch`).";
            looking.checks.push(failed(why, fix));
            return None;
        }
    };
    looking.checks.push(archive::twice(&packing.first, &packing.second));
    let packed = match archive::read(&packing.first, name, version) {
        Ok(packed) => packed,
        Err(error) => {
            looking.checks.push(failed(error.to_string(), "Pack again with `cargo package`."));
            return None;
        }
    };
    if !packing.beside.is_empty() {
        let beside = packing.beside.join(", ");
        let why =
            format!("{name} was packed beside {beside}, which no registry at hand has: publish that before");
        looking.undecided.push(format!("cargo.pack: {why}"));
    }
    match &packing.listed {
        Ok(listed) => looking.checks.push(archive::agrees(&packed, listed)),
        Err(why) => looking.undecided.push(format!("cargo.files.equal: {why}")),
    }
    match &packing.built {
        None => {}
        Some(Ok(())) => looking.checks.push(Check::passed("cargo.smoke", "it builds from its archive")),
        Some(Err(why)) => looking.checks.push(
            Check::failed(
                "cargo.smoke",
                Severity::Error,
                format!("it does not build from its archive: {why}"),
            )
            .fix("Run `cargo package`: it builds what was packed, where only that is at hand."),
        ),
    }
    let archive = Archive {
        name: archive::file_name(name, version),
        sha256: packaging::sha256(&packing.first),
        sha512: None,
        integrity: None,
        files: packed.len() as u64,
        unpacked: packed.size(),
        bytes: packing.first.clone(),
    };
    looking.sized("cargo", &archive, &packed, archive::CRATES_IO_BYTES);
    Some((archive, packed))
}

/// Compares the public API with the last release: its archive, else what its commit holds.
fn compared(
    looking: &mut Looking<'_>,
    found: &Found,
    packed: &Packed,
    base: Option<&str>,
) -> Result<(), Fault> {
    const ID: &str = "cargo.api";
    let name = found.manifest.name();
    let before = match (&looking.asked.previous, base) {
        (Some(previous), _) => {
            let bytes = looking.desk.view().read(previous)?;
            let wrong = |error: String| {
                Fault::invalid(format!("previous: {previous}: {error}")).about(previous.as_str())
            };
            let (_, packed) = archive::read_any(&bytes).map_err(|error| wrong(error.to_string()))?;
            let manifest = packed.get("Cargo.toml").unwrap_or_default();
            let manifest = Manifest::read(manifest, None).map_err(|error| wrong(error.to_string()))?;
            let read = offered(&packed, &manifest);
            Some((manifest, read))
        }
        (None, Some(base)) => {
            let tree = Stored::open(looking.desk, base, &found.top)?;
            let members = members(&tree).unwrap_or_default();
            members.packages.into_iter().find(|(_, manifest)| manifest.name() == name).map(
                |(folder, manifest)| {
                    let at = [found.top.as_str(), &folder].into_iter().filter(|part| !part.is_empty());
                    let read = Stored::open(looking.desk, base, &at.collect::<Vec<_>>().join("/"))
                        .map_err(|fault| fault.message)
                        .and_then(|tree| offered(&tree, &manifest));
                    (manifest, read)
                },
            )
        }
        (None, None) => return Ok(()),
    };
    let Some((manifest, before)) = before else {
        looking.undecided.push(format!("{ID}: the last release's commit does not hold this crate"));
        return Ok(());
    };
    looking.follows(Some(manifest.version()));
    let after = if packed.is_empty() {
        offered(&Folder::new(looking.desk.view(), &found.folder), &found.manifest)
    } else {
        offered(packed, &found.manifest)
    };
    let (before, after) = match (before, after) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) | (_, Err(why)) => {
            looking.undecided.push(format!("{ID}: {why}"));
            return Ok(());
        }
    };
    let is_gone = before.is_some() && after.is_none();
    let difference = match (&before, &after) {
        (Some(before), Some(after)) => api::compare(before, after),
        _ => api::Difference::default(),
    };
    let mut all = difference.changes;
    all.extend(api::features(&manifest, &found.manifest));
    looking.undecided.extend(difference.undecided.into_iter().map(|why| format!("{ID}: {why}")));
    let mut check = changes::told(ID, &all, &mut looking.asks);
    if is_gone {
        "the library is gone: a major release".clone_into(&mut check.detail);
        changes::take(&mut looking.asks, Bump::Major, "API: the library is gone".to_owned());
    }
    looking.checks.push(check);
    Ok(())
}

/// The public API of a crate's library; none of a program, and none of a procedural macro, whose macros are its API.
fn offered(tree: &dyn Tree, manifest: &Manifest) -> Result<Option<Api>, String> {
    let targets = manifest.targets(tree).map_err(|error| error.to_string())?;
    match targets.library {
        Some((_, file)) => {
            api::exported(tree, &file, manifest.edition()).map(Some).map_err(|error| error.to_string())
        }
        None => Ok(None),
    }
}

type Billed = (packaging::sbom::Component, Vec<packaging::sbom::Component>);

fn billed(looking: &mut Looking<'_>, found: &Found) -> Result<Billed, Fault> {
    let view = looking.desk.view();
    let lock = view.read_optional(&Folder::new(view, &found.top).path("Cargo.lock")?)?;
    let siblings = workspace(looking.desk, &found.top)?.unwrap_or_default();
    let others = |name: &str| siblings.packages.values().find(|manifest| manifest.name() == name).cloned();
    let bill = bill::bill(&found.manifest, lock.as_deref(), &others);
    looking.undecided.extend(bill.gaps.into_iter().map(|gap| format!("cargo.sbom: {gap}")));
    Ok((bill.package, bill.components))
}
