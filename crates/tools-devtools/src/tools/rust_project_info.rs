//! What a Rust project is.
//!
//! Describes a package or workspace as cargo reads it: packages, targets, features, oldest compiler, dependencies, toolchain, lock file.
//! Looks nothing up and builds nothing.

use std::collections::BTreeMap;
use std::path::Path;

use contract::text::counted;
use contract::{Code, Fault, RelPath, Toolset, Truncated};
use exec::run::{Cache, Command};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cargo;
use crate::families::RUST;
use crate::running::{self, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Most packages in one result.
const MAX_PACKAGES: usize = 40;

/// Most characters of what cargo says of a manifest that it does not understand.
const MAX_SAID: usize = 600;

/// The project.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The workspace's folder below the root.
    pub workspace: String,
    /// Packages of the workspace.
    pub packages: Vec<Package>,
    /// The toolchain.
    pub toolchain: Toolchain,
    /// The lock file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Locked>,
}

/// A package.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Edition of the language.
    pub edition: String,
    /// Oldest compiler that it says it builds with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rust_version: Option<String>,
    /// Its folder below the root.
    pub folder: String,
    /// What it is licensed under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Whether it may be published.
    pub publishable: bool,
    /// Its targets.
    pub targets: Vec<Target>,
    /// Its features, and what each switches on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, Vec<String>>,
    /// What it depends on.
    pub dependencies: Dependencies,
}

/// A target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// What it is, such as `lib` or `bin`.
    pub kind: Vec<String>,
}

/// How many dependencies there are of each kind.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Dependencies {
    /// Of the package itself.
    pub normal: u64,
    /// Of its tests.
    pub dev: u64,
    /// Of its build script.
    pub build: u64,
}

/// The toolchain.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Toolchain {
    /// cargo's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cargo: Option<String>,
    /// rustc's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// What the project asks for (`rust-toolchain.toml`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Whether nextest is installed.
    pub nextest: bool,
}

/// A lock file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Locked {
    /// Packages of others in it.
    pub packages: u64,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct RustProjectInfo;

impl Define for RustProjectInfo {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "rust_project_info";
    const TOOLSET: Toolset = RUST;
    const DOC: Doc = doc!("rust_project_info.rs");

    const PROGRAMS: &'static [&'static str] = &["cargo", "rustc"];
    const CACHES: &'static [Cache] = cargo::CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "cli" })]
    }
}

impl Read for RustProjectInfo {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let dir = running::directory(input.directory.as_deref())?;
        let at = dir.clone();
        desk.blocking(move |desk| running::is_there(desk, at.as_ref())).await?;
        let workshop = desk.workshop().await?;
        let command = |program, args: &[&str]| {
            let mut command = Command::new(program, &[]);
            command.args = words(args);
            command.dir.clone_from(&dir);
            cargo::offline(command)
        };
        let metadata = ["metadata", "--format-version", "1", "--no-deps"];
        let ran = desk.run_in(&workshop, command("cargo", &metadata)).await?;
        if !ran.is_success() {
            let said: String = ran.stderr.text().chars().take(MAX_SAID).collect();
            return Err(Fault::new(
                Code::InvalidSource,
                format!("cargo does not understand it: {}", said.trim()),
            )
            .suggest("Name the folder of a Cargo.toml with `directory`, or mend the manifest."));
        }
        let said: Metadata = serde_json::from_slice(&ran.stdout.bytes)
            .map_err(|error| Fault::new(Code::ToolExecutionFailed, format!("cargo metadata: {error}")))?;
        let version = async |program| {
            let ran = desk.run_in(&workshop, command(program, &["--version"])).await.ok()?;
            let text = ran.stdout.text();
            ran.is_success().then(|| text.split(' ').nth(1).map(str::to_owned)).flatten()
        };
        let mut toolchain = Toolchain {
            cargo: version("cargo").await,
            rustc: version("rustc").await,
            ..Toolchain::default()
        };
        toolchain.nextest =
            exec::run::find("cargo-nextest", &desk.programs(), desk.view().root().path()).is_ok();
        desk.blocking(move |desk| Ok(told(desk, said, toolchain))).await
    }
}

fn told(desk: &ReadDesk, said: Metadata, mut toolchain: Toolchain) -> Answer<Output> {
    let root = desk.view().root().path();
    let below = |path: &str| {
        let path = Path::new(path).strip_prefix(root).map(|path| path.display().to_string());
        path.unwrap_or_default()
    };
    let workspace = below(&said.workspace_root);
    let read = |name: &str| -> Option<Vec<u8>> {
        let path = if workspace.is_empty() { name.to_owned() } else { format!("{workspace}/{name}") };
        desk.view().read(&RelPath::new(&path).ok()?).ok()
    };
    toolchain.asked = ["rust-toolchain.toml", "rust-toolchain"].iter().find_map(|name| asked(&read(name)?));
    let lock = read("Cargo.lock").map(|bytes| locked(&bytes));
    let total = said.packages.len();
    let packages: Vec<Package> =
        said.packages.into_iter().take(MAX_PACKAGES).map(|package| package.told(&below)).collect();
    let others = lock.as_ref().map_or_else(
        || "no lock file".to_owned(),
        |lock| format!("{} of others in its lock file", counted(lock.packages, "package")),
    );
    let message = match packages.as_slice() {
        [one] => format!("`{}` {}: {others}.", one.name, one.version),
        _ => format!("A workspace of {}: {others}.", counted(total as u64, "package")),
    };
    let shown = packages.len();
    let mut answer = Answer::new(message, Output { workspace, packages, toolchain, lock });
    if shown < total {
        let next = "rust_project_info with a `directory`".to_owned();
        answer.truncated = Some(Truncated { shown: shown as u64, total: total as u64, next });
    }
    answer
}

/// The channel that a toolchain file asks for (rustup's book, "Overrides"): as TOML, or as one word.
fn asked(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let table = text.parse::<toml::Table>().ok();
    let channel = table.as_ref().and_then(|table| table.get("toolchain")?.get("channel")?.as_str());
    let word = || Some(text.trim()).filter(|text| !text.is_empty() && !text.contains(char::is_whitespace));
    channel.or_else(|| if table.is_some() { None } else { word() }).map(str::to_owned)
}

fn locked(bytes: &[u8]) -> Locked {
    match deps::read(deps::Format::Cargo, bytes) {
        Ok(lock) => {
            let others = lock.packages.iter().filter(|package| package.source != deps::Source::Local);
            Locked { packages: others.count() as u64, problem: None }
        }
        Err(unread) => Locked { packages: 0, problem: Some(unread.to_string()) },
    }
}

/// What `cargo metadata` prints, as far as it is told (cargo's reference, "cargo metadata").
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Said>,
    workspace_root: String,
}

#[derive(Deserialize)]
struct Said {
    name: String,
    version: String,
    edition: String,
    rust_version: Option<String>,
    manifest_path: String,
    license: Option<String>,
    publish: Option<Vec<String>>,
    #[serde(default)]
    targets: Vec<SaidTarget>,
    #[serde(default)]
    features: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    dependencies: Vec<SaidDependency>,
}

#[derive(Deserialize)]
struct SaidTarget {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct SaidDependency {
    kind: Option<String>,
}

impl Said {
    fn told(self, below: &dyn Fn(&str) -> String) -> Package {
        let mut dependencies = Dependencies::default();
        for dependency in &self.dependencies {
            match dependency.kind.as_deref() {
                Some("dev") => dependencies.dev += 1,
                Some("build") => dependencies.build += 1,
                _ => dependencies.normal += 1,
            }
        }
        let manifest = Path::new(&self.manifest_path);
        Package {
            folder: manifest.parent().map(|dir| below(&dir.display().to_string())).unwrap_or_default(),
            name: self.name,
            version: self.version,
            edition: self.edition,
            rust_version: self.rust_version,
            license: self.license,
            publishable: self.publish.is_none_or(|registries| !registries.is_empty()),
            targets: self
                .targets
                .into_iter()
                .map(|target| Target { name: target.name, kind: target.kind })
                .collect(),
            features: self.features,
            dependencies,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_asked_for_in_either_form() {
        assert_eq!(asked(b"[toolchain]\nchannel = \"1.95.0\"\n").as_deref(), Some("1.95.0"));
        assert_eq!(asked(b"nightly-2026-01-01\n").as_deref(), Some("nightly-2026-01-01"));
        assert_eq!(asked(b"[toolchain]\nprofile = \"minimal\"\n"), None);
        assert_eq!(asked(b"\xff"), None);
    }
}
