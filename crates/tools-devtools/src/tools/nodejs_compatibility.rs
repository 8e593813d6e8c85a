//! Hold a Node project to a version of Node.
//!
//! Compares `engines.node` of the project and of every locked package with a version, or with the node that is here, and peers with what
//! the lock would give them. Returns what does not fit, and what could not be known. Runs nothing of the project.

use std::collections::BTreeSet;

use contract::text::counted;
use contract::{Code, Fault, RelPath, Toolset, Truncated};
use exec::run::Cache;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use nodejs_semver::{Range, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node;
use crate::node::peers::{self, Unmet};
use crate::running::{self, ALL_CACHES};
use crate::tools::nodejs_version;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// `20.11.0`, or a line: `20`; here's without.
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub node_version: Option<String>,
    /// Compare engines.
    #[serde(default = "yes")]
    pub check_engines: bool,
    /// Compare peers.
    #[serde(default = "yes")]
    pub check_deps: bool,
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

const fn yes() -> bool {
    true
}

/// Most of each list in one result.
const MAX_LISTED: usize = 50;

/// Most packages that are looked at where they are installed.
const MAX_INSTALLED: usize = 5_000;

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The version of node that was compared with.
    pub node: String,
    /// Packages whose engines were compared.
    pub compared: u64,
    /// Those that want another node.
    pub incompatible: Vec<Incompatible>,
    /// Peers that are missing or of another version.
    pub peers: Vec<Peer>,
    /// Why nothing, or not everything, is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_known: Option<String>,
    /// Packages whose range is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Incompatible>,
    /// What to know when reading this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A package that wants a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Incompatible {
    /// Its name.
    pub package: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The range of node that it wants.
    pub wants: String,
    /// Its place in the lock, or among what is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it is for development alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dev: bool,
}

/// A peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Peer {
    /// The place of the package that wants it.
    pub package: String,
    /// The package that is wanted.
    pub peer: String,
    /// The range that is wanted.
    pub wants: String,
    /// The version that it gets, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsCompatibility;

impl Define for NodejsCompatibility {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_compatibility";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_compatibility.rs");

    const PROGRAMS: &'static [&'static str] = &["node"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "nodeVersion": "20.11.0" }),
            json!({ "nodeVersion": "18", "checkDeps": false, "directory": "web" }),
            json!({ "checkEngines": false }),
        ]
    }
}

impl Read for NodejsCompatibility {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let dir = running::directory(input.directory.as_deref())?;
        let node = match &input.node_version {
            Some(version) => version.trim().trim_start_matches('v').to_owned(),
            None => here(&desk, dir.as_ref()).await?,
        };
        let version = read(&node)?;
        desk.blocking(move |desk| compared(desk, &input, dir.as_ref(), node, &version)).await
    }
}

async fn here(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<String, Fault> {
    let found = nodejs_version::versions(desk, dir, &["node"]).await?;
    found.into_iter().find_map(|tool| tool.version).ok_or_else(|| {
        Fault::new(Code::ToolExecutionFailed, "node is not installed here")
            .suggest("Say the version to compare with: `nodeVersion`.")
    })
}

/// A version; of a line (`20`, `20.11`) its newest, whichever that is.
fn read(text: &str) -> Result<Version, Fault> {
    let parts: Vec<&str> = text.split('.').filter(|part| !matches!(*part, "x" | "X" | "*")).collect();
    let whole = match parts.as_slice() {
        [major] => format!("{major}.99999.0"),
        [major, minor] => format!("{major}.{minor}.99999"),
        _ => text.to_owned(),
    };
    // The parser takes what stands behind three numbers for a pre-release.
    let core = whole.split(['-', '+']).next().unwrap_or_default();
    let is_one =
        core.split('.').count() == 3 && core.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Version::parse(&whole).ok().filter(|_| is_one).ok_or_else(|| {
        Fault::invalid(format!("nodeVersion: {text:?} is no version"))
            .suggest("Name one such as `20.11.0`, or a line such as `20`.")
    })
}

/// What is known of a package's wish.
fn holds(wants: &str, node: &Version) -> Option<bool> {
    // Versions of Node that are tried before their release are held to the ranges of those.
    Range::parse(wants).ok().map(|range| range.satisfies_with_prerelease(node, true))
}

fn compared(
    desk: &ReadDesk,
    input: &Input,
    dir: Option<&RelPath>,
    node: String,
    version: &Version,
) -> Result<Answer<Output>, Fault> {
    running::is_there(desk, dir)?;
    let manifest = node::manifest(desk, dir)?.ok_or_else(node::no_manifest)?;
    let managed = node::managed(desk, dir)?;
    let mut notes = Vec::new();
    let mut wishes: Vec<Incompatible> = Vec::new();
    let own = node::texts(manifest.engines.as_ref()).into_iter().find(|(name, _)| name == "node");
    if let Some((_, wants)) = own {
        let package =
            manifest.name.as_ref().and_then(Value::as_str).unwrap_or("the project itself").to_owned();
        let path = Some(node::at(dir, "package.json")?.to_string());
        wishes.push(Incompatible { package, version: None, wants, path, dev: false });
    }
    let lock = managed.lock.as_ref().map(|lock| locked(desk, lock)).transpose()?.flatten();
    // Those of yarn and bun name packages and say nothing of what these want.
    let says =
        lock.as_ref().is_some_and(|(_, lock)| matches!(lock.format, deps::Format::Npm | deps::Format::Pnpm));
    let mut not_known = None;
    match &lock {
        Some((_, lock)) if says => {
            if lock.format == deps::Format::Npm && lock.edition.as_deref() == Some("1") {
                notes.push(
                    "A lock of edition 1 says nothing of engines and peers: `npm install` writes a newer one."
                        .to_owned(),
                );
            }
            wishes.extend(lock.packages.iter().filter_map(|one| {
                let (package, dev) = (one.name.clone(), one.dev == Some(true));
                let (wants, path) = (one.engine.clone()?, one.place.clone());
                Some(Incompatible { package, version: one.version.clone(), wants, path, dev })
            }));
        }
        _ => {
            let why = match (managed.lock.as_ref(), &lock) {
                (Some(path), Some(_)) => format!("{path} says nothing of engines"),
                (Some(path), None) => format!("{path} is in no form that is read"),
                (None, _) => "There is no lock file".to_owned(),
            };
            let found = if input.check_engines { installed(desk, dir, &mut wishes)? } else { Vec::new() };
            notes.push(format!(
                "{why}: what is installed was compared ({}), and no peers.",
                counted(found.len() as u64, "package")
            ));
            if input.check_engines {
                let asks = node::dependencies(&manifest).iter().any(|(_, entries)| !entries.is_empty());
                not_known = missing(lock.as_ref().map(|(_, lock)| lock), &found, asks);
            }
        }
    }
    let peers = match &lock {
        Some((bytes, lock)) if input.check_deps && lock.format == deps::Format::Npm => {
            peers::unmet(bytes).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    if !input.check_engines {
        wishes.clear();
    }
    let compared = wishes.len() as u64;
    let (mut incompatible, mut unknown) = (Vec::new(), Vec::new());
    for wish in wishes {
        match holds(&wish.wants, version) {
            Some(true) => {}
            Some(false) => incompatible.push(wish),
            None => unknown.push(wish),
        }
    }
    Ok(told(Found { node, compared, incompatible, peers, unknown, not_known, notes }))
}

/// A lock file, where its format is one that is read here, and its bytes.
fn locked(desk: &ReadDesk, path: &RelPath) -> Result<Option<(Vec<u8>, deps::Lock)>, Fault> {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let Some(format) = deps::Format::of(name) else { return Ok(None) };
    let bytes = desk.view().read(path)?;
    let lock = deps::read(format, &bytes).map_err(|unread| {
        Fault::new(Code::InvalidSource, format!("{path}: {unread}")).about(path.as_str())
    })?;
    Ok(Some((bytes, lock)))
}

/// What was not there to be compared: locked packages that are not installed in their version, or all that the manifest `asks` for.
fn missing(lock: Option<&deps::Lock>, found: &[(String, Option<String>)], asks: bool) -> Option<String> {
    let way = "install them (`nodejs_install_deps`), or keep a lock of npm's or pnpm's, which say it";
    let Some(lock) = lock else {
        return (asks && found.is_empty())
            .then(|| format!("there is neither a lock nor an installed package to compare: {way}"));
    };
    let there: BTreeSet<(&str, Option<&str>)> =
        found.iter().map(|(name, version)| (name.as_str(), version.as_deref())).collect();
    let locked: BTreeSet<(&str, Option<&str>)> = lock
        .packages
        .iter()
        .filter(|one| one.source != deps::Source::Local)
        .map(|one| (one.name.as_str(), one.version.as_deref()))
        .collect();
    let absent = locked.difference(&there).count();
    (absent > 0).then(|| {
        let all = counted(locked.len() as u64, "locked package");
        format!("{absent} of {all} are not installed in their version: {way}")
    })
}

/// What there is to tell.
struct Found {
    node: String,
    compared: u64,
    incompatible: Vec<Incompatible>,
    peers: Vec<Unmet>,
    unknown: Vec<Incompatible>,
    not_known: Option<String>,
    notes: Vec<String>,
}

fn told(found: Found) -> Answer<Output> {
    let Found { node, compared, mut incompatible, peers, mut unknown, not_known, notes } = found;
    let mut text = match (incompatible.first(), &not_known) {
        (None, Some(why)) => format!(
            "Not known: {why}. {} that say which node they want run on {node}.",
            counted(compared, "package")
        ),
        (None, None) => {
            format!("{} that say which node they want run on {node}.", counted(compared, "package"))
        }
        (Some(first), _) => format!(
            "{} of {} do not run on {node}.\n\nFirst: `{}` wants {}.",
            incompatible.len(),
            counted(compared, "package"),
            first.package,
            first.wants
        ),
    };
    if let Some(first) = peers.first() {
        let has = first.has.as_deref().unwrap_or("nothing");
        text.push_str(&format!(
            "\n\n{} unmet: `{}` wants `{}` {} and gets {has}.",
            counted(peers.len() as u64, "peer"),
            if first.place.is_empty() { "the project itself" } else { &first.place },
            first.peer,
            first.wants
        ));
    }
    if let (Some(why), false) = (&not_known, incompatible.is_empty()) {
        text.push_str(&format!("\n\nNot known: {why}."));
    }
    if !unknown.is_empty() {
        text.push_str(&format!(
            "\n\nNot known of {}: their range is none.",
            counted(unknown.len() as u64, "package")
        ));
    }
    for note in &notes {
        text.push_str(&format!("\n\n{note}"));
    }
    let success = incompatible.is_empty() && peers.is_empty() && not_known.is_none();
    let total = (incompatible.len() + peers.len() + unknown.len()) as u64;
    let mut peers: Vec<Peer> = peers
        .into_iter()
        .map(|one| Peer { package: one.place, peer: one.peer, wants: one.wants, has: one.has })
        .collect();
    incompatible.truncate(MAX_LISTED);
    peers.truncate(MAX_LISTED);
    unknown.truncate(MAX_LISTED);
    let shown = (incompatible.len() + peers.len() + unknown.len()) as u64;
    let mut answer =
        Answer::new(text, Output { node, compared, incompatible, peers, not_known, unknown, notes });
    answer.success = success;
    if shown < total {
        let next = "nodejs_compatibility with `checkDeps` or `checkEngines` false".to_owned();
        answer.truncated = Some(Truncated { shown, total, next });
    }
    answer
}

/// What the packages say that lie in the nearest `node_modules`, those within packages too; which were looked at, and their versions.
fn installed(
    desk: &ReadDesk,
    dir: Option<&RelPath>,
    wishes: &mut Vec<Incompatible>,
) -> Result<Vec<(String, Option<String>)>, Fault> {
    let view = desk.view();
    let mut found = Vec::new();
    let mut nearest = None;
    for place in node::upwards(dir) {
        let modules = node::at(place.as_ref(), "node_modules")?;
        if view.is_folder(&modules) {
            nearest = Some(modules);
            break;
        }
    }
    let mut folders: Vec<RelPath> = nearest.into_iter().collect();
    while let Some(modules) = folders.pop() {
        for path in packages_in(desk, &modules)? {
            if found.len() >= MAX_INSTALLED {
                return Ok(found);
            }
            // Links of pnpm lead into its own folder of node_modules, and a manifest of others may be anything.
            let Ok(Some(manifest)) = node::manifest(desk, Some(&path)) else { continue };
            let named = path.as_str().strip_prefix(modules.as_str()).unwrap_or_default();
            let package = named.trim_start_matches('/').to_owned();
            let version = manifest.version.as_ref().and_then(Value::as_str).map(str::to_owned);
            found.push((package.clone(), version.clone()));
            if let Ok(within) = path.join("node_modules")
                && view.is_folder(&within)
            {
                folders.push(within);
            }
            let wants =
                node::texts(manifest.engines.as_ref()).into_iter().find(|(engine, _)| engine == "node");
            let Some((_, wants)) = wants else { continue };
            wishes.push(Incompatible { package, version, wants, path: Some(path.to_string()), dev: false });
        }
    }
    Ok(found)
}

/// The folders of packages in one `node_modules`.
fn packages_in(desk: &ReadDesk, modules: &RelPath) -> Result<Vec<RelPath>, Fault> {
    let view = desk.view();
    let mut folders = Vec::new();
    for entry in view.list(Some(modules))?.into_iter().filter(|entry| !entry.name.starts_with('.')) {
        let Ok(path) = modules.join(&entry.name) else { continue };
        if entry.name.starts_with('@') && entry.is_dir {
            folders
                .extend(view.list(Some(&path))?.into_iter().filter_map(|inner| path.join(&inner.name).ok()));
        } else {
            folders.push(path);
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_for_its_newest_version() {
        let at = |text| read(text).unwrap();
        for (version, wants, expected) in [
            ("20", ">=20.19", true),
            ("20.11", ">=20.11.1", true),
            ("20.11.0", ">=20.11.1", false),
            ("18.x", "^18.17 || >=20", true),
            ("20.20.2", ">=24", false),
            ("26.0.0-nightly.1", ">=24", true),
        ] {
            assert_eq!(holds(wants, &at(version)), Some(expected), "{version} {wants}");
        }
        assert_eq!(holds("node", &at("20")), None);
        for text in ["", "latest", ">=18", "1.2.3.4", "20; id"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
