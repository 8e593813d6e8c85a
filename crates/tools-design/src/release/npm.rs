//! A package of npm verified: what would be packed, packed twice, and everything that is said of it.

use std::collections::BTreeSet;

use contract::{Code, Fault};
use kit::ReadDesk;
use packaging::npm::list::workspaces as npm_workspaces;
use packaging::npm::list::{Listing, Options, Rules, list_in};
use packaging::npm::manifest::{self, Manifest};
use packaging::npm::tarball::{self, Tarball};
use packaging::npm::{bill, lint, types, workspaces};
use packaging::version::Scheme;
use packaging::{Check, Packed, Severity, Tree, paths};

use super::found::members;
use super::looking::Looking;
use super::past::{Past, Whose, shared};
use super::theirs::Listed;
use super::tree::{Folder, Stored};
use super::{Archive, Asked, Verified, changes, secrets};

/// The largest archive that passes without a word, where nobody set a budget: 10 MiB.
const BUDGET: u64 = 10 << 20;

/// How many files a check names.
const NAMED: usize = 20;

/// What a workspace's top says for its members: manifests, and the lock files of npm, yarn, pnpm and bun.
const SHARED: [&str; 8] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-workspace.yaml",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
];

/// A package that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Empty for the root's top.
    pub(crate) folder: String,
    pub(crate) manifest: Manifest,
    /// Whether it is a member of the top's workspace.
    is_member: bool,
}

/// What was found, and what could not be told.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    pub(crate) found: Vec<Found>,
    /// Members of a workspace that cannot be read: folder and why.
    pub(crate) broken: Vec<(String, String)>,
    /// What could not be decided, and why.
    pub(crate) undecided: Vec<String>,
}

fn manifest_of(desk: &ReadDesk, folder: &str) -> Result<Option<Manifest>, Fault> {
    let path = Folder::new(desk.view(), folder).path("package.json")?;
    let Some(bytes) = desk.view().read_optional(&path)? else { return Ok(None) };
    Manifest::read(&bytes)
        .map(Some)
        .map_err(|error| Fault::new(Code::InvalidSource, format!("{path}: {error}")).about(path.to_string()))
}

/// The packages of npm that a call means: the folder that it names, else the top's, else those of its workspaces that may be
/// published.
pub(crate) fn packages(desk: &ReadDesk, named: Option<&str>) -> Result<Packages, Fault> {
    let mut all = Packages::default();
    let pnpm = desk.view().read_optional(&Folder::new(desk.view(), "").path("pnpm-workspace.yaml")?)?;
    if let Some(folder) = named {
        let Some(manifest) = manifest_of(desk, folder)? else { return Ok(all) };
        let top = manifest_of(desk, "").ok().flatten();
        let patterns = workspaces::patterns(top.as_ref(), pnpm.as_deref());
        let is_member = members(desk, &patterns, "package.json", &mut Vec::new())?.contains(folder);
        all.found.push(Found { folder: folder.to_owned(), manifest, is_member });
        return Ok(all);
    }
    let top = manifest_of(desk, "")?;
    let patterns = workspaces::patterns(top.as_ref(), pnpm.as_deref());
    // The top of a workspace often has no name: it is not meant to be published. A package without one is told so.
    let is_package =
        |manifest: &Manifest| !manifest.is_private() && (patterns.is_empty() || !manifest.name().is_empty());
    if let Some(manifest) = top.filter(is_package) {
        all.found.push(Found { folder: String::new(), manifest, is_member: false });
    }
    for folder in members(desk, &patterns, "package.json", &mut all.undecided)? {
        match manifest_of(desk, &folder) {
            Ok(Some(manifest)) if !manifest.is_private() => {
                all.found.push(Found { folder, manifest, is_member: true });
            }
            Ok(_) => {}
            Err(fault) if fault.code == Code::InvalidSource => all.broken.push((folder, fault.message)),
            Err(fault) => return Err(fault),
        }
    }
    Ok(all)
}

/// What npm itself says of a package, where it was asked.
pub(crate) struct Theirs {
    /// Its version; `None` where there is none.
    pub(crate) version: Option<String>,
    /// What it would pack, or why it would not.
    pub(crate) listed: Option<Result<Listed, String>>,
}

/// A package that was packed, and what is said of it so far.
pub(crate) struct Looked {
    pub(crate) verified: Verified,
    pub(crate) manifest: Manifest,
    /// What is in the archive, read back from it.
    pub(crate) packed: Packed,
}

/// Looks at one package.
pub(crate) fn verify(
    desk: &ReadDesk,
    found: &Found,
    asked: &Asked,
    past: Result<&Past, &str>,
    theirs: &Theirs,
) -> Result<Looked, Fault> {
    let whose = Whose {
        package: found.manifest.name(),
        folder: &found.folder,
        scheme: Scheme::SemVer,
        shared: if found.is_member { shared("", &found.folder, &SHARED) } else { Vec::new() },
    };
    let mut package = Package {
        looking: Looking::new(desk, asked, past, whose),
        found,
        rules: theirs.version.as_deref().map_or(Rules::V11, Rules::of_npm),
    };
    let (archive, packed) = match package.pack(theirs)? {
        Some((archive, packed)) => (Some(archive), packed),
        None => (None, Packed::new()),
    };
    if archive.is_some() {
        package.contents(&packed);
    }
    let base = package.looking.before()?;
    package.api(&packed, base.as_deref())?;
    package.looking.since(base.as_deref())?;
    let bill = package.bill()?;
    let repository = found.manifest.repository().map(str::to_owned);
    let verified =
        package.looking.verified("npm", archive.into_iter().collect(), &packed, bill, repository)?;
    Ok(Looked { verified, manifest: found.manifest.clone(), packed })
}

struct Package<'a> {
    looking: Looking<'a>,
    found: &'a Found,
    rules: Rules,
}

impl Package<'_> {
    /// Packs twice, and reads back what was packed.
    fn pack(&mut self, theirs: &Theirs) -> Result<Option<(Archive, Packed)>, Fault> {
        const TWICE: &str = "npm.pack.twice";
        let first = match self.once() {
            Ok(tarball) => tarball,
            Err(why) => {
                self.looking.checks.push(
                    Check::failed("npm.pack", Severity::Error, format!("it cannot be packed: {why}"))
                        .fix("Mend what package.json says of its files."),
                );
                return Ok(None);
            }
        };
        self.looking.desk.check()?;
        let second = self.once();
        let same = second.as_ref().is_ok_and(|second| second.bytes == first.bytes);
        self.looking.checks.push(if same {
            Check::passed(
                TWICE,
                format!("packed twice, the same bytes: sha256 {}", packaging::sha256(&first.bytes)),
            )
        } else {
            Check::failed(TWICE, Severity::Error, "packed twice, it was not the same")
                .fix("Something writes to the package's folder meanwhile: stop watchers and builds.")
        });
        let packed = match tarball::read(&first.bytes) {
            Ok(packed) => packed,
            Err(error) => {
                return Err(Fault::internal(format!("our own archive does not read back: {error}")));
            }
        };
        self.listed(&packed, theirs);
        let archive = Archive {
            name: first.file_name.clone(),
            sha256: packaging::sha256(&first.bytes),
            sha512: Some(packaging::sha512(&first.bytes)),
            integrity: Some(first.integrity.clone()),
            files: packed.len() as u64,
            unpacked: packed.size(),
            bytes: first.bytes,
        };
        self.looking.sized("npm", &archive, &packed, BUDGET);
        Ok(Some((archive, packed)))
    }

    fn once(&self) -> Result<Tarball, String> {
        let top = Folder::new(self.looking.desk.view(), "");
        let listing = listing(&top, &self.found.folder, self.rules)?;
        match tarball::write(&listing, |path| top.file(path)) {
            Ok(written) => written.map_err(|e| e.to_string()),
            Err(fault) => Err(fault.message),
        }
    }

    /// Compares with npm's own list.
    fn listed(&mut self, packed: &Packed, theirs: &Theirs) {
        const ID: &str = "npm.files.equal";
        let ours: BTreeSet<&str> = packed.iter().map(|(path, _)| path).collect();
        let version = theirs.version.as_deref().unwrap_or_default();
        match &theirs.listed {
            None => self
                .looking
                .undecided
                .push(format!("{ID}: npm is not installed here; the list is what npm 12 would pack")),
            Some(Err(why)) => self.looking.undecided.push(format!("{ID}: {why}")),
            Some(Ok(listed)) => {
                let other: BTreeSet<&str> = listed.files.iter().map(String::as_str).collect();
                if ours == other {
                    self.looking.checks.push(Check::passed(
                        ID,
                        format!("npm {version} packs the same {} files", ours.len()),
                    ));
                    return;
                }
                let differ: Vec<String> =
                    ours.symmetric_difference(&other).map(ToString::to_string).collect();
                let mut check = Check::failed(
                    ID,
                    Severity::Error,
                    format!("npm {version} packs {} files, and we {}: {} differ", other.len(), ours.len(), differ.len()),
                )
                .fix("Names that cannot be written everywhere are left out here: rename them. Else this is a defect of ours: report it.");
                check.files = differ.into_iter().take(NAMED).collect();
                self.looking.checks.push(check);
            }
        }
    }

    /// What the archive's files say.
    fn contents(&mut self, packed: &Packed) {
        let manifest = &self.found.manifest;
        self.looking.checks.extend(manifest::check(manifest, packed, &self.looking.asked.version));
        self.looking.checks.extend(paths::check("npm", packed));
        self.looking.checks.push(secrets::check("npm", packed, self.looking.desk));
        match lint::lint(packed) {
            Ok(messages) => self.looking.group(
                "npm.publint",
                "entry points lead where they should",
                messages.iter().map(lint::Message::to_check),
            ),
            Err(error) => self.looking.undecided.push(format!("npm.publint: {error}")),
        }
        match types::analyze(packed) {
            Ok(analysis) if analysis.has_types => {
                self.looking
                    .undecided
                    .extend(analysis.undecided.iter().map(|why| format!("npm.types: {why}")));
                self.looking.group(
                    "npm.types",
                    "types are found however they are asked for",
                    analysis.problems.iter().map(|problem| of_types(problem, manifest, packed)),
                );
            }
            Ok(_) => self.looking.checks.push(Check::passed("npm.types", "the package has no types")),
            Err(error) => self.looking.undecided.push(format!("npm.types: {error}")),
        }
    }

    /// Compares what is exported with the last release: its archive, else what its commit holds.
    fn api(&mut self, packed: &Packed, base: Option<&str>) -> Result<(), Fault> {
        const ID: &str = "npm.api";
        let before = match (&self.looking.asked.previous, base) {
            (Some(previous), _) => {
                let bytes = self.looking.desk.view().read(previous)?;
                let read = tarball::read(&bytes).map_err(|error| {
                    Fault::invalid(format!("previous: {previous}: {error}")).about(previous.as_str())
                });
                Some(read?)
            }
            (None, Some(base)) => {
                committed(&Stored::open(self.looking.desk, base, "")?, &self.found.folder, self.rules)
            }
            (None, None) => return Ok(()),
        };
        let Some(before) = before else {
            self.looking
                .undecided
                .push(format!("{ID}: the last release's commit does not hold this package"));
            return Ok(());
        };
        let version = before.get("package.json").and_then(|bytes| Manifest::read(bytes).ok());
        self.looking.follows(version.as_ref().map(Manifest::version));
        let leads = |packed: &Packed| manifest_leads(packed);
        if self.looking.asked.previous.is_none() && !leads(&before) && leads(packed) {
            self.looking.undecided.push(format!(
                "{ID}: what is built is not committed: give the last release's archive as `previous` (npm pack {}@VERSION)",
                self.found.manifest.name()
            ));
            return Ok(());
        }
        match changes::api(&before, packed, &mut self.looking.asks) {
            Ok(check) => self.looking.checks.push(check),
            Err(why) => self.looking.undecided.push(format!("{ID}: {why}")),
        }
        Ok(())
    }

    fn bill(&mut self) -> Result<(packaging::sbom::Component, Vec<packaging::sbom::Component>), Fault> {
        let top = Folder::new(self.looking.desk.view(), "");
        let own = Folder::new(self.looking.desk.view(), &self.found.folder);
        let mut lock = None;
        for (tree, folder) in [(&own, ""), (&top, self.found.folder.as_str())] {
            for name in ["package-lock.json", "npm-shrinkwrap.json"] {
                if lock.is_none() {
                    lock = self
                        .looking
                        .desk
                        .view()
                        .read_optional(&tree.path(name)?)?
                        .map(|bytes| (bytes, folder));
                }
            }
        }
        let (bytes, folder) =
            lock.as_ref().map_or((None, ""), |(bytes, folder)| (Some(bytes.as_slice()), *folder));
        let bill = bill::bill(&self.found.manifest, bytes, folder);
        self.looking.undecided.extend(bill.gaps.into_iter().map(|gap| format!("npm.sbom: {gap}")));
        Ok((bill.package, bill.components))
    }
}

/// What a problem of the types weighs. A package that offers nothing under its own name (a folder of styles or of tokens) is
/// not meant to be imported by it.
fn of_types(problem: &types::Problem, manifest: &Manifest, packed: &Packed) -> Check {
    const OFFERS: [&str; 5] = ["exports", "main", "module", "types", "typings"];
    let mut check = problem.to_check();
    let is_own = matches!(problem, types::Problem::NoResolution { entry, .. } if entry == ".");
    let offers = OFFERS.iter().any(|field| manifest.get(field).is_some())
        || ["index.js", "index.d.ts"].iter().any(|file| packed.has(file));
    if is_own && !offers {
        check.severity = Severity::Note;
        check.fix = Some("Nothing to do where only its files are meant to be used; else say in `exports` what is imported.".into());
    }
    check
}

/// What npm packs of a folder: of a workspace, with what its top has to say.
fn listing(top: &dyn Tree, folder: &str, rules: Rules) -> Result<Listing, String> {
    let mut options = Options::new(rules);
    let members = npm_workspaces(top).unwrap_or_default();
    if members.values().any(|member| member == folder) {
        options.selected.push(folder.to_owned());
    }
    list_in(top, folder, &options).map_err(|e| e.to_string())
}

/// What npm would have packed of a commit; `None` where that cannot be said.
fn committed(tree: &dyn Tree, folder: &str, rules: Rules) -> Option<Packed> {
    let mut packed = Packed::new();
    for listed in listing(tree, folder, rules).ok()?.files {
        packed.put(&listed.path, &tree.read(&listed.source).ok()??, listed.executable);
    }
    Some(packed)
}

/// Whether the entry points of a package lead to files that it holds.
fn manifest_leads(packed: &Packed) -> bool {
    packaging::npm::exports::exported(packed)
        .is_ok_and(|entries| entries.values().any(|names| !names.is_empty()))
}
