//! Verify a release before it is made.
//!
//! Packs packages of npm, crates and Python packages as their registry would get them and checks the archives: file list, entry points, types,
//! secrets, junk, size, licence, changelog, tags, and whether the version goes as far as changed APIs and tokens ask. Each check says
//! what to do. Applied, a release without errors is put on a temporary branch with checksums, bill of materials and
//! provenance. Nothing is published.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::text::counted;
use contract::{Digest, Fault, Toolset};
use kit::limits::Limits;
use kit::{Answer, Change, ChangeDesk, Define, Doc};
use packaging::{Check as Found, Severity as Weight};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::release::found::{Ecosystem, Packages, packages};
use crate::release::npm::{self, Looked, Theirs};
use crate::release::past::Past;
use crate::release::told::{gathered, others, together};
use crate::release::{Asked, Verified, branch_files, branch_name, cargo, python, smoke, theirs};

/// Most checks that an answer lists.
const MAX_CHECKS: usize = 150;

/// How many failed checks the message spells out.
const SHOWN: usize = 12;

/// The arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The version to release.
    #[schemars(regex(
        pattern = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$"
    ))]
    version: String,
    /// Folder of the package.
    #[serde(default)]
    package: Option<String>,
    /// Whose rules it follows.
    #[serde(default)]
    ecosystem: Ecosystem,
    /// Tag or commit to compare with.
    #[serde(default)]
    base: Option<String>,
    /// Archive of the last release.
    #[serde(default)]
    previous: Option<String>,
    /// Token files, as for `tokens_build`.
    #[serde(default)]
    tokens: Option<String>,
    /// Import or build it from the archive, confined.
    #[serde(default)]
    smoke: bool,
    /// Most bytes, packed.
    #[serde(default)]
    budget: Option<u64>,
}

/// How much a failed check weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The release is not made.
    Error,
    /// Worth changing.
    Warning,
    /// Worth knowing.
    Note,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Stable.
    check_name: String,
    /// Whether nothing is wrong.
    passed: bool,
    /// What was found.
    details: String,
    /// Of a failed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// Of which package, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<String>,
    /// The files that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

/// A package that was packed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// Its name.
    name: String,
    /// Its folder; `.` for the top.
    folder: String,
    /// Whose rules it follows.
    ecosystem: String,
    /// The archive's name.
    archive: String,
    /// How many files it holds.
    files: u64,
    /// Bytes of the archive.
    packed_bytes: u64,
    /// Bytes of its files.
    unpacked_bytes: u64,
    /// The archive's digest.
    sha256: String,
    /// As its registry writes the digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    integrity: Option<String>,
}

/// How far the release must go.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bump {
    /// The release that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// `none`, `patch`, `minor` or `major`.
    required: String,
    /// What asks for it.
    because: Vec<String>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// As it was asked for.
    version: String,
    /// The checks, failed ones first.
    verification_checks: Vec<Verification>,
    /// How many failed with an error.
    error_count: u64,
    /// How many failed with a warning.
    warning_count: u64,
    /// What was packed.
    packages: Vec<Package>,
    /// How far the release must go, by package.
    bumps: BTreeMap<String, Bump>,
    /// What could not be decided.
    undecided: Vec<String>,
    /// The temporary branch; absent while errors stand in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_name: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct ReleasePackVerify;

/// A workspace of many packages is packed and built by its own programs, each a minute at most.
const TIME: Duration = Duration::from_mins(10);

impl Define for ReleasePackVerify {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "release_pack_verify";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("release_pack_verify.rs");
    const ALIASES: &'static [&'static str] = &["release.packVerify"];
    const LIMITS: Limits = Limits { timeout: TIME, ..Limits::WRITER };
    const PROGRAMS: &'static [&'static str] = &["node", "npm", "cargo", "python3"];

    fn examples() -> Vec<Value> {
        vec![
            json!({ "version": "1.2.3" }),
            json!({ "version": "2.0.0", "package": "packages/ui", "ecosystem": "npm", "previous": "ui-1.9.0.tgz", "tokens": "tokens", "smoke": true, "budget": 200_000 }),
        ]
    }
}

impl Change for ReleasePackVerify {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let asked = asked(&input)?;
        let named = input.package.clone();
        let (of_this, ecosystem) = (asked.clone(), input.ecosystem);
        let (found, past) = desk
            .blocking(move |desk| {
                let found = packages(desk, named.as_deref(), ecosystem, &of_this)?;
                Ok((found, Past::of(desk, of_this.previous.as_ref())?))
            })
            .await?;
        let Packages { npm: found, cargo: crates, python: projects, broken, undecided, others: left_out } =
            found;
        desk.progress(0.0, Some(2.0), "asking those that pack");
        let installed = if found.is_empty() { None } else { theirs::Npm::find(&desk).await? };
        let mut said = Vec::with_capacity(found.len());
        for package in &found {
            let listed = match &installed {
                Some(npm) => Some(npm.list(&desk, &package.folder).await?),
                None => None,
            };
            said.push(Theirs { version: installed.as_ref().map(|npm| npm.version.clone()), listed });
        }
        let packings = cargo::pack(&desk, &crates, asked.smoke).await?;
        let builds = python::build_all(&desk, &projects, &asked).await?;
        desk.progress(1.0, Some(2.0), "packing and checking");
        let of_all = asked.clone();
        let (mut looked, others) = desk
            .blocking(move |desk| {
                let past = past.as_ref().map_err(String::as_str);
                let mut looked = Vec::with_capacity(found.len());
                for (package, theirs) in found.iter().zip(&said) {
                    looked.push(npm::verify(desk, package, &of_all, past, theirs)?);
                }
                let of_crates =
                    crates.iter().map(|found| cargo::verify(desk, found, &of_all, past, &packings));
                let of_projects =
                    projects.iter().map(|found| python::verify(desk, found, &of_all, past, &builds));
                Ok((looked, of_crates.chain(of_projects).collect::<Result<Vec<Verified>, Fault>>()?))
            })
            .await?;
        if asked.smoke {
            for one in &mut looked {
                tried(one, &desk, installed.as_ref()).await?;
            }
        }
        desk.blocking(move |desk| {
            let verified: Vec<Verified> =
                looked.into_iter().map(|looked| looked.verified).chain(others).collect();
            answer(All { verified, broken, undecided, left_out }, &asked.version, desk)
        })
        .await
    }
}

/// Imports what was packed, where that can be done.
async fn tried(one: &mut Looked, desk: &ChangeDesk, npm: Option<&theirs::Npm>) -> Result<(), Fault> {
    let Looked { verified, manifest, packed } = one;
    if verified.archives.is_empty() {
        return Ok(());
    }
    if !theirs::has(desk, "node") {
        verified.undecided.push("npm.smoke: Node is not installed here".to_owned());
        return Ok(());
    }
    let workshop = match npm {
        Some(npm) => std::sync::Arc::clone(npm.workshop()),
        None => desk.workshop().await?,
    };
    verified.checks.push(smoke::check(desk, &workshop, &verified.folder, manifest, packed).await?);
    Ok(())
}

fn asked(input: &Input) -> Result<Asked, Fault> {
    let version = Version::parse(&input.version)
        .map_err(|error| Fault::invalid(format!("version: {}: {error}", input.version)))?;
    let previous = input.previous.as_deref().map(exec::view::path_argument).transpose()?;
    Ok(Asked {
        version,
        base: input.base.clone(),
        previous,
        tokens: input.tokens.clone(),
        budget: input.budget,
        smoke: input.smoke,
    })
}

/// All that was found of what a call means.
struct All {
    verified: Vec<Verified>,
    /// Folders whose manifest cannot be read, and why.
    broken: Vec<(String, String)>,
    undecided: Vec<String>,
    /// Packages that have another version: name and version.
    left_out: Vec<(String, String)>,
}

fn answer(all: All, version: &Version, desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let All { verified, broken, mut undecided, left_out } = all;
    let is_blocked = !broken.is_empty() || verified.iter().any(Verified::is_blocked);
    let branch = match (is_blocked, exec::branch::check_possible(desk.view().root())) {
        (true, _) => None,
        (false, Ok(())) => Some(draft(&verified, version, desk)?),
        // What was found stands without a branch.
        (false, Err(fault)) => {
            undecided.push(format!("release.branch: no branch is made: {}", fault.message));
            None
        }
    };
    let several = verified.len() + broken.len() > 1;
    let mut checks: Vec<(Found, Option<String>)> = Vec::new();
    checks.extend(others(&left_out, version).map(|check| (check, None)));
    for (folder, why) in broken {
        let check = Found::failed("release.manifest", Weight::Error, why)
            .fix("Mend it, or take the folder out of the workspace.");
        checks.push((check, Some(folder)));
    }
    let (mut packages, mut bumps) = (Vec::new(), BTreeMap::new());
    for package in verified {
        let name = several.then(|| package.name.clone());
        checks.extend(package.checks.into_iter().map(|check| (check, name.clone())));
        undecided.extend(package.undecided.into_iter().map(|why| match &name {
            Some(name) => format!("{name}: {why}"),
            None => why,
        }));
        if package.asks.from.is_some() {
            let bump = Bump {
                from: package.asks.from.as_ref().map(ToString::to_string),
                required: package.asks.required.word().to_owned(),
                because: package.asks.because,
            };
            // A crate and a package of npm may have one name.
            let is_taken = bumps.contains_key(&package.name);
            let prefix = if is_taken { format!("{}:", package.ecosystem) } else { String::new() };
            bumps.insert(format!("{prefix}{}", package.name), bump);
        }
        for archive in package.archives {
            packages.push(Package {
                name: package.name.clone(),
                folder: if package.folder.is_empty() { ".".to_owned() } else { package.folder.clone() },
                ecosystem: package.ecosystem.to_owned(),
                archive: archive.name,
                files: archive.files,
                packed_bytes: archive.bytes.len() as u64,
                unpacked_bytes: archive.unpacked,
                sha256: archive.sha256,
                integrity: archive.integrity,
            });
        }
    }
    let count = |weight| checks.iter().filter(|(c, _)| !c.passed && c.severity == weight).count() as u64;
    let (errors, warnings) = (count(Weight::Error), count(Weight::Warning));
    checks = gathered(checks);
    if several {
        checks = together(checks);
    }
    // The gravest first; what passed comes last, in the order in which it was looked at.
    checks.sort_by_key(|(check, _)| (check.passed, check.severity));
    let message = message(&checks, version, (errors, warnings), &packages, branch.as_deref());
    let more = checks.len().saturating_sub(MAX_CHECKS);
    if more > 0 {
        undecided.push(format!("{more} more checks are not listed: verify fewer packages, by `package`"));
        checks.truncate(MAX_CHECKS);
    }
    let output = Output {
        version: version.to_string(),
        verification_checks: checks.into_iter().map(shown).collect(),
        error_count: errors,
        warning_count: warnings,
        packages,
        bumps,
        undecided,
        branch_name: branch,
    };
    let mut answer = Answer::new(message, output);
    answer.success = !is_blocked;
    Ok(answer)
}

/// Drafts the branch, and says its name.
fn draft(verified: &[Verified], version: &Version, desk: &ChangeDesk) -> Result<String, Fault> {
    let files = branch_files(verified, version)?;
    let mut content = Vec::new();
    for (path, file) in &files {
        content.extend_from_slice(path.as_str().as_bytes());
        content.push(0);
        content.extend_from_slice(
            file.as_ref().map(|(bytes, _)| Digest::of(bytes).to_string()).unwrap_or_default().as_bytes(),
        );
    }
    // The same files on another commit are another branch.
    content.extend_from_slice(exec::branch::head(desk.view().root())?.unwrap_or_default().as_bytes());
    let name = match verified {
        [one] => one.name.as_str(),
        _ => "packages",
    };
    let branch = branch_name(name, version, &Digest::of(&content).short(8));
    let names: Vec<String> = verified.iter().map(|v| format!("{} {version}", v.name)).collect();
    desk.branch(&branch, &format!("Release artifacts: {}", names.join(", ")), files)?;
    Ok(branch)
}

fn shown((check, package): (Found, Option<String>)) -> Verification {
    Verification {
        check_name: check.id,
        passed: check.passed,
        details: check.detail,
        severity: (!check.passed).then_some(match check.severity {
            Weight::Error => Severity::Error,
            Weight::Warning => Severity::Warning,
            Weight::Note => Severity::Note,
        }),
        fix: check.fix,
        package,
        files: check.files,
    }
}

fn message(
    checks: &[(Found, Option<String>)],
    version: &Version,
    (errors, warnings): (u64, u64),
    packages: &[Package],
    branch: Option<&str>,
) -> String {
    let mut names: Vec<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    names.dedup();
    let names = if names.is_empty() { "the package".to_owned() } else { names.join(", ") };
    let mut message = if errors > 0 {
        format!(
            "**{names} {version} is not ready**: {}, {}.",
            counted(errors, "error"),
            counted(warnings, "warning")
        )
    } else {
        format!("**{names} {version} can be released**: {}.", counted(warnings, "warning"))
    };
    let failed: Vec<&(Found, Option<String>)> = checks.iter().filter(|(check, _)| !check.passed).collect();
    for (check, package) in failed.iter().take(SHOWN) {
        let word = match check.severity {
            Weight::Error => "error",
            Weight::Warning => "warning",
            Weight::Note => "note",
        };
        let package = package.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        message.push_str(&format!("\n- {word} `{}`: {package}{}", check.id, check.detail));
        if let Some(fix) = &check.fix {
            let stop = if check.detail.ends_with(['.', '!', '?']) { "" } else { "." };
            message.push_str(&format!("{stop} {fix}"));
        }
    }
    if failed.len() > SHOWN {
        message.push_str(&format!("\n- … showing {SHOWN} of {}", failed.len()));
    }
    if let Some(branch) = branch {
        message.push_str(&format!(
            "\n\nThe archive, checksums, bill of materials and provenance go to `{branch}`."
        ));
    } else if errors == 0 {
        message.push_str("\n\nNo branch is made here: `undecided` says why.");
    }
    message
}
