//! A Python package verified: the wheel and the source distribution that its backend builds, twice, and everything that is said of them.

mod build;

use std::collections::BTreeSet;

use contract::{Code, Fault};
use kit::ReadDesk;
use packaging::python::build as python_build;
use packaging::python::project::{self, Project, ProjectError, Source};
use packaging::python::sdist::{self, Sdist};
use packaging::python::wheel::{self, Wheel};
use packaging::python::{api, bill, checks, version};
use packaging::sbom::Component;
use packaging::version::Scheme;
use packaging::{Check, Packed, Severity, paths};

use self::build::{Build, Twice};
use super::found::members;
use super::looking::Looking;
use super::past::{Past, Whose, shared};
use super::tree::Folder;
use super::{Archive, Asked, Verified, changes, secrets};

pub(crate) use self::build::{Builds, build_all};

/// The largest archive that passes without a word, where nobody set a budget: what `PyPI` takes, 100 MiB.
const BUDGET: u64 = 100 << 20;

/// What a workspace's top says for its members.
const SHARED: [&str; 2] = ["pyproject.toml", "uv.lock"];

/// Who says that a package is to be published nowhere.
const PRIVATE: &str = "Private ::";

/// A package that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Empty for the root's top.
    pub(crate) folder: String,
    pub(crate) project: Project,
    /// Whether it is a member of the workspace of uv at the top.
    is_member: bool,
}

/// What was found, and what stands in the way.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    pub(crate) found: Vec<Found>,
    /// Members of a workspace that cannot be read: folder and why.
    pub(crate) broken: Vec<(String, String)>,
    /// What could not be decided, and why.
    pub(crate) undecided: Vec<String>,
}

fn project_of(desk: &ReadDesk, folder: &str) -> Result<Option<Project>, Fault> {
    let tree = Folder::new(desk.view(), folder);
    match project::read(&tree) {
        Ok(project) => Ok(Some(project)),
        Err(ProjectError::Missing) => Ok(None),
        Err(error) => {
            let place = tree.path("pyproject.toml")?;
            Err(Fault::new(Code::InvalidSource, format!("{place}: {error}")).about(place.to_string()))
        }
    }
}

/// The folders of the workspace of uv at the top.
fn members_of(
    desk: &ReadDesk,
    top: &Project,
    undecided: &mut Vec<String>,
) -> Result<BTreeSet<String>, Fault> {
    let without = top.uv.exclude.iter().map(|pattern| format!("!{pattern}"));
    let patterns: Vec<String> = top.uv.members.iter().cloned().chain(without).collect();
    members(desk, &patterns, "pyproject.toml", undecided)
}

/// The packages that a call means: in the folder that it names, else at the root's top and of its workspace of uv, unless they are
/// published nowhere or the file only says what tools do. A `setup.py` that alone knows the name is one where it `is_alone` at the top: beside
/// packages of others it may be any script.
pub(crate) fn packages(desk: &ReadDesk, named: Option<&str>, is_alone: bool) -> Result<Packages, Fault> {
    let mut all = Packages::default();
    let is_script = |project: &Project| project.name.is_empty() && project.source == Source::SetupPy;
    if let Some(folder) = named {
        let project = project_of(desk, folder)?;
        let project = project.filter(|project| !project.name.is_empty() || is_script(project));
        let Some(project) = project else { return Ok(all) };
        let top = project_of(desk, "").ok().flatten().unwrap_or_default();
        let is_member = members_of(desk, &top, &mut Vec::new())?.contains(folder);
        all.found.push(Found { folder: folder.to_owned(), project, is_member });
        return Ok(all);
    }
    let is_package = |project: &Project| {
        let is_private = project.classifiers.iter().any(|classifier| classifier.starts_with(PRIVATE));
        !project.name.is_empty() && project.is_built() && !is_private
    };
    let Some(top) = project_of(desk, "")? else { return Ok(all) };
    let folders = members_of(desk, &top, &mut all.undecided)?;
    if is_package(&top) || is_alone && is_script(&top) {
        all.found.push(Found { folder: String::new(), project: top, is_member: false });
    }
    for folder in folders.into_iter().filter(|folder| !folder.is_empty()) {
        match project_of(desk, &folder) {
            Ok(Some(project)) if is_package(&project) => {
                all.found.push(Found { folder, project, is_member: true });
            }
            Ok(_) => {}
            Err(fault) if fault.code == Code::InvalidSource => all.broken.push((folder, fault.message)),
            Err(fault) => return Err(fault),
        }
    }
    Ok(all)
}

/// The project under its name: where only its `setup.py` knows that, the one that its wheel has.
fn named(found: &Found, builds: &Builds) -> Project {
    let mut project = found.project.clone();
    if project.name.is_empty() {
        let file =
            builds.of(found).ok().and_then(|build| wheel::read(&build.wheel.file, &build.wheel.first).ok());
        let said = file.as_ref().and_then(|wheel| wheel.metadata.get("Name"));
        let folder = found.folder.rsplit('/').next().filter(|name| !name.is_empty());
        said.or(folder).unwrap_or("setup.py").clone_into(&mut project.name);
    }
    project
}

/// Looks at one package.
pub(crate) fn verify(
    desk: &ReadDesk,
    found: &Found,
    asked: &Asked,
    past: Result<&Past, &str>,
    builds: &Builds,
) -> Result<Verified, Fault> {
    let project = &named(found, builds);
    let whose = Whose {
        package: &project.name,
        folder: &found.folder,
        scheme: Scheme::Python,
        shared: if found.is_member { shared("", &found.folder, &SHARED) } else { Vec::new() },
    };
    let mut looking = Looking::new(desk, asked, past, whose);
    looking.undecided.extend(project.undecided.iter().map(|why| format!("python.project: {why}")));
    if let Some((plugin, (_, told))) = python_build::from_tags(project, &asked.version) {
        let why = format!(
            "{plugin} takes the version from a tag and was told {told} here: tag the commit before it is built for others"
        );
        looking.undecided.push(format!("python.version.manifest: {why}"));
    }
    let built = match builds.of(found) {
        Ok(build) => contents(&mut looking, found, project, build),
        Err(why) => {
            let fix = "Install what it is built with beside Python (`build` and the backend), so that it builds without a network.";
            let detail = format!("it cannot be built: {why}");
            looking.checks.push(Check::failed("python.build", Severity::Error, detail).fix(fix));
            looking.checks.extend(checks::project(project, None, &asked.version));
            None
        }
    };
    let base = looking.before()?;
    if let (true, Ok(build)) = (built.is_some(), builds.of(found)) {
        compared(&mut looking, build, base.is_some());
    }
    looking.since(base.as_deref())?;
    let bill = billed(&mut looking, found, &project.name, built.as_ref().map(|(_, wheel)| wheel))?;
    let repository = project.repository().map(str::to_owned);
    let (archives, packed) = match built {
        Some((archives, wheel)) => (archives, wheel.packed),
        None => (Vec::new(), Packed::new()),
    };
    looking.verified("python", archives, &packed, bill, repository)
}

fn archive(twice: &Twice, packed: &Packed) -> Archive {
    Archive {
        name: twice.file.clone(),
        sha256: packaging::sha256(&twice.first),
        sha512: None,
        integrity: None,
        files: packed.len() as u64,
        unpacked: packed.size(),
        bytes: twice.first.clone(),
    }
}

/// What the archives say. `None` where the wheel cannot be read.
fn contents(
    looking: &mut Looking<'_>,
    found: &Found,
    project: &Project,
    build: &Build,
) -> Option<(Vec<Archive>, Wheel)> {
    let version = &looking.asked.version;
    let unread = |of: &str, why: String| {
        Check::failed(format!("python.{of}"), Severity::Error, why)
            .fix("Build it again, with a newer backend.")
    };
    let wheel = match wheel::read(&build.wheel.file, &build.wheel.first) {
        Ok(wheel) => wheel,
        Err(error) => {
            looking.checks.push(unread("wheel", error.to_string()));
            return None;
        }
    };
    let mut all = vec![checks::twice("wheel", &build.wheel.first, &build.wheel.second)];
    all.extend(wheel::check(&wheel));
    all.push(checks::metadata("wheel", &wheel.metadata, project, version));
    let mut archives = vec![archive(&build.wheel, &wheel.packed)];
    let mut source: Option<Sdist> = None;
    match &build.sdist {
        None => looking
            .undecided
            .push("python.sdist: `build` is not installed beside Python: only a wheel was made".to_owned()),
        Some(twice) => match sdist::read(&twice.file, &twice.first) {
            Err(error) => all.push(unread("sdist", error.to_string())),
            Ok(read) => {
                all.push(checks::twice("sdist", &twice.first, &twice.second));
                all.extend(sdist::check(&read));
                if let Some(metadata) = &read.metadata {
                    all.push(checks::metadata("sdist", metadata, project, version));
                }
                archives.push(archive(twice, &read.packed));
                source = Some(read);
            }
        },
    }
    all.extend(checks::project(project, Some(&wheel), version));
    let tree = Folder::new(looking.desk.view(), &found.folder);
    match checks::modules(&tree, &wheel, source.as_ref()) {
        Ok(found) => all.extend(found),
        Err(error) => looking.undecided.push(format!("python.wheel.modules: {error}")),
    }
    all.extend(paths::check("python", &wheel.packed));
    all.push(secrets::check("python", &wheel.packed, looking.desk));
    if let Some(source) = &source {
        let mut own = paths::check("python", &source.packed);
        own.push(secrets::check("python", &source.packed, looking.desk));
        for check in &mut own {
            check.id = check.id.replacen("python.", "python.sdist.", 1);
        }
        all.extend(own);
    }
    match &build.imported {
        None => {}
        Some(Ok(())) => all.push(Check::passed("python.smoke", "it can be imported from its wheel")),
        Some(Err(why)) if is_of_others(why, &wheel) => {
            looking.undecided.push(format!("python.smoke: {why}"));
        }
        Some(Err(why)) => all.push(
            Check::failed("python.smoke", Severity::Error, format!("it cannot be imported from its wheel: {why}"))
                .fix("Install the wheel in an empty environment and mend what is missing: a module that is not packed, or a dependency that is not named."),
        ),
    }
    looking.checks.extend(all);
    if let Some(first) = archives.first() {
        looking.sized("python", first, &wheel.packed, BUDGET);
    }
    if let (Some(second), Some(source)) = (archives.get(1), &source) {
        looking.sized("python.sdist", second, &source.packed, BUDGET);
    }
    Some((archives, wheel))
}

/// Whether an import failed by a module that is none of the wheel's own and may be one that it asks for: that may well not be installed
/// beside this Python. What it does not ask for will not be at its users' either.
fn is_of_others(why: &str, wheel: &Wheel) -> bool {
    let Some(module) = why.strip_suffix(build::NOT_INSTALLED) else { return false };
    let top = module.split('.').next().unwrap_or(module);
    let asks = wheel.metadata.all("Requires-Dist").any(|text| !is_for_extra(text));
    asks && !wheel::top_names(&wheel.packed).contains(top)
}

/// Whether a requirement is one of an extra alone.
fn is_for_extra(requirement: &str) -> bool {
    requirement.contains("extra ==") || requirement.contains("extra==")
}

/// Compares the public names with the last release's wheel.
fn compared(looking: &mut Looking<'_>, build: &Build, has_base: bool) {
    const ID: &str = "python.api";
    let Some(before) = &build.before else {
        if has_base {
            let why = "give the last release's wheel as `previous` (pip download --no-deps NAME==VERSION)";
            looking.undecided.push(format!("{ID}: {why}"));
        }
        return;
    };
    if let Some(previous) = &looking.asked.previous {
        let file = wheel::file_name(previous.as_str().rsplit('/').next().unwrap_or_default());
        let said = file.and_then(|file| version::parse(&file.version));
        let said = said.and_then(|said| version::to_semver(&said)).map(|said| said.to_string());
        looking.follows(said.as_deref());
    }
    let read = |printed: &Result<Vec<u8>, String>| match printed {
        Ok(printed) => api::read(printed).map_err(|error| error.to_string()),
        Err(why) => Err(why.clone()),
    };
    let (before, after) = match (read(before), read(&build.names)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) | (_, Err(why)) => {
            looking.undecided.push(format!("{ID}: {why}"));
            return;
        }
    };
    let difference = api::compare(&before, &after);
    looking.undecided.extend(difference.undecided.into_iter().map(|why| format!("{ID}: {why}")));
    let check = changes::told(ID, &difference.changes, &mut looking.asks);
    looking.checks.push(check);
}

type Billed = (Component, Vec<Component>);

fn billed(
    looking: &mut Looking<'_>,
    found: &Found,
    name: &str,
    wheel: Option<&Wheel>,
) -> Result<Billed, Fault> {
    let view = looking.desk.view();
    let mut lock = None;
    for folder in [found.folder.as_str(), ""] {
        for name in bill::FILES {
            if lock.is_none() {
                lock = view.read_optional(&Folder::new(view, folder).path(name)?)?.map(|bytes| (name, bytes));
            }
        }
    }
    let (mut license, mut requires) = (None, Vec::new());
    if let Some(wheel) = wheel {
        license = wheel.metadata.get("License-Expression").map(str::to_owned);
        let all = wheel.metadata.all("Requires-Dist");
        requires = all.map(|text| (text.to_owned(), is_for_extra(text))).collect();
    }
    let lock = lock.as_ref().map(|(name, bytes)| (*name, bytes.as_slice()));
    let version = looking.asked.version.to_string();
    let bill = bill::bill(name, Some(&version), license.as_deref(), &requires, lock);
    looking.undecided.extend(bill.gaps.into_iter().map(|gap| format!("python.sbom: {gap}")));
    Ok((bill.package, bill.components))
}
