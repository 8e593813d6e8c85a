//! Real packages: those that `xtask/npm/bench-design/packages.txt` names, as npm has them, each unpacked into a repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::design::projects;
use crate::bench::samples::timed;
use crate::sh::{Done, step, target, top};

/// One `name@version` a line.
const LIST: &str = "xtask/npm/bench-design/packages.txt";

/// A package.
#[derive(Debug)]
pub(super) struct Package {
    /// `name@version`.
    pub(super) spec: String,
    /// The same, as npm names its archive.
    pub(super) stem: String,
    pub(super) version: String,
    /// The repository that it was unpacked into.
    pub(super) folder: PathBuf,
    /// What npm packs of that repository again.
    pub(super) archive: PathBuf,
}

/// The first `most` packages; those that are not here yet are fetched.
pub(super) fn fetch(most: usize, scratch: &Path) -> Done<Vec<Package>> {
    let list = std::fs::read_to_string(top().join(LIST)).map_err(|e| format!("{LIST}: {e}"))?;
    let specs: Vec<&str> = list.lines().map(str::trim).filter(|line| !line.is_empty()).take(most).collect();
    let store = target().join("bench-design-archives");
    std::fs::create_dir_all(&store).map_err(|e| format!("{}: {e}", store.display()))?;
    let missing: Vec<&str> = specs.iter().copied().filter(|spec| !fetched(&store, spec).is_file()).collect();
    if !missing.is_empty() {
        let place = store.display().to_string();
        let flags = ["pack", "--silent", "--ignore-scripts", "--pack-destination", &place];
        let args = [flags.as_slice(), missing.as_slice()].concat();
        step(
            "npm",
            Command::new("npm").args(&args).current_dir(&store).stdout(std::process::Stdio::null()),
            &args,
        )?;
    }
    specs.iter().map(|spec| unpack(&fetched(&store, spec), spec, scratch)).collect()
}

/// `@scope/name@1.0.0` is `scope-name-1.0.0`.
fn stem(spec: &str) -> String {
    let (name, version) = spec.rsplit_once('@').unwrap_or((spec, ""));
    format!("{}-{version}", name.trim_start_matches('@').replace('/', "-"))
}

fn fetched(store: &Path, spec: &str) -> PathBuf {
    store.join(format!("{}.tgz", stem(spec)))
}

fn unpack(archive: &Path, spec: &str, scratch: &Path) -> Done<Package> {
    let stem = stem(spec);
    let folder = scratch.join(&stem).join("repository");
    let packed = scratch.join(&stem).join("packed");
    for dir in [&folder, &packed] {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let (from, to) = (archive.display().to_string(), folder.display().to_string());
    timed(&folder, &["tar", "-xzf", &from, "-C", &to, "--strip-components=1", "--no-same-owner"])?;
    // Some archives have folders that nobody may enter.
    timed(&folder, &["chmod", "-R", "u+rwX,go-w", "."])?;
    projects::repository(&folder, "chore: as it was published")?;
    let manifest = std::fs::read(folder.join("package.json")).map_err(|e| format!("{spec}: {e}"))?;
    let manifest: Value = serde_json::from_slice(&manifest).map_err(|e| format!("{spec}: {e}"))?;
    let version = manifest["version"].as_str().unwrap_or_default().to_owned();
    let archive = packed.join(format!("{stem}.tgz"));
    Ok(Package { spec: spec.to_owned(), stem, version, folder, archive })
}
