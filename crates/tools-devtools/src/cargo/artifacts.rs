//! What a build made of the workspace's own packages, as cargo's messages name it.

use std::path::Path;

use exec::run::Ran;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most artifacts in one result.
const MAX_ARTIFACTS: usize = 100;

/// A file that was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The target's name.
    pub target: String,
    /// What it is, such as `bin` or `lib`.
    pub kind: String,
    /// Where it is, below the root.
    pub path: String,
    /// Whether it was there already.
    pub fresh: bool,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<Target>,
    #[serde(default)]
    filenames: Vec<String>,
    #[serde(default)]
    fresh: bool,
    manifest_path: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// What was built, by cargo's JSON messages on standard output: of packages below `root` alone.
pub(crate) fn artifacts(ran: &Ran, root: &Path) -> Vec<Artifact> {
    read(&ran.stdout.bytes, root)
}

fn read(stdout: &[u8], root: &Path) -> Vec<Artifact> {
    let messages =
        stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Message>(line).ok());
    let mut all = Vec::new();
    for message in messages.filter(|message| message.reason == "compiler-artifact") {
        let Some(target) = message.target else { continue };
        let is_own = message.manifest_path.is_some_and(|manifest| Path::new(&manifest).starts_with(root));
        let is_asked_for = !target.kind.iter().any(|kind| kind == "custom-build");
        for file in message.filenames.iter().filter(|_| is_own && is_asked_for) {
            // What only cargo reads again (metadata, what belongs to a program's debugging) is nobody's build.
            let Ok(path) = Path::new(file).strip_prefix(root) else { continue };
            if path.extension().is_some_and(|end| end == "rmeta") || all.len() >= MAX_ARTIFACTS {
                continue;
            }
            all.push(Artifact {
                target: target.name.clone(),
                kind: target.kind.first().cloned().unwrap_or_default(),
                path: path.display().to_string(),
                fresh: message.fresh,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_built_of_the_roots_own_packages_is_named() {
        let line = |manifest: &str, kind: &str, file: &str| {
            serde_json::json!({ "reason": "compiler-artifact", "manifest_path": manifest, "fresh": true,
                "target": { "name": "shop", "kind": [kind] }, "filenames": [file] })
            .to_string()
        };
        let said = [
            line("/w/Cargo.toml", "bin", "/w/target/debug/shop"),
            line("/w/Cargo.toml", "lib", "/w/target/debug/libshop.rmeta"),
            line("/w/Cargo.toml", "custom-build", "/w/target/debug/build/x/build-script-build"),
            line("/home/run/.cargo/registry/src/x/Cargo.toml", "lib", "/w/target/debug/deps/libx.rlib"),
            "{\"reason\":\"build-finished\",\"success\":true}".to_owned(),
            "not json".to_owned(),
        ]
        .join("\n");
        let all = read(said.as_bytes(), Path::new("/w"));
        let expected = Artifact {
            target: "shop".into(),
            kind: "bin".into(),
            path: "target/debug/shop".into(),
            fresh: true,
        };
        assert_eq!(all, [expected]);
    }
}
