//! The first minute in a repository that nobody set up: committed sources of real packages of four ecosystems, each set up, used through
//! the very command that its client is told, and taken back without a trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::bench::{Bench, installed};
use super::wire::Wire;
use super::{exists, skip};

/// Where Debian puts sources of Go.
const GO: &str = "/usr/share/gocode/src/github.com/pkg/errors";

/// A repository with the package that lies at `from`, all of it committed, and nothing of ours.
fn repository(from: &Path, more: &[(&str, &str)]) -> Bench {
    let bench = Bench::new(&[]).patient();
    let copied = Command::new("cp").arg("-rL").arg(from.join(".")).arg(bench.place.root()).output().unwrap();
    assert!(copied.status.success(), "{copied:?}");
    let opened = Command::new("chmod").args(["-R", "u+w"]).arg(bench.place.root()).output().unwrap();
    assert!(opened.status.success(), "{opened:?}");
    for (name, text) in more {
        bench.put(name, text);
    }
    bench.commit("a package of others");
    match std::env::home_dir() {
        // Toolchains are found by it.
        Some(home) => bench.telling("HOME", home),
        None => bench,
    }
}

/// Every file below `root` with its bytes, but git's own and what was built: caches that the package ignores stay.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let is_kept = [".git", "target", "__pycache__", ".pytest_cache", ".ruff_cache"]
                .iter()
                .any(|name| entry.file_name() == *name);
            if kind.is_dir() && !is_kept {
                open.push(path);
            } else if kind.is_file() {
                found.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Sets it up, has `used` use it as its client would, and takes it back.
fn first_minute(
    bench: &Bench,
    kind: &str,
    used: impl FnOnce(&mut dyn FnMut(&str, Value) -> Value, &[String]),
) {
    let root = bench.place.root();
    let before = files(&root);
    let said = bench.place.ok(&["init", "--yes", "--client", "claude-code"]);
    assert!(said.contains("A server started as the clients start it answers"), "{said}");
    let client: Value = serde_json::from_str(&bench.read(".mcp.json").unwrap()).unwrap();
    let entry = &client["mcpServers"]["gatewright"];
    let args: Vec<&str> = entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut command = bench.command();
    let mut started = Command::new(entry["command"].as_str().unwrap());
    started.args(args).current_dir(&root);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => started.env(name, value),
            None => started.env_remove(name),
        };
    }
    drop(std::mem::replace(&mut command, Command::new("true")));
    let mut wire = Wire::greeted(&mut started, &json!({}));
    let listed = wire.request("tools/list", json!({}));
    let menu: Vec<String> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
        .collect();
    assert!(menu.len() <= 16, "{menu:?}");
    let mut call = |tool: &str, arguments: Value| {
        let answer = wire.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"]["structuredContent"].clone()
    };
    let detected = call("detect_project", json!({}));
    assert_eq!(detected["project"]["type"], kind, "{detected:#}");
    let valid = call("validate_setup", json!({}));
    assert_eq!(valid["success"], true, "{valid:#}");
    used(&mut call, &menu);
    wire.finish();
    bench.place.ok(&["init", "--undo"]);
    assert!(!exists(&root.join("gatewright.toml")) && !exists(&root.join(".mcp.json")));
    assert_eq!(files(&root), before, "no trace is left");
}

#[test]
fn a_real_package_of_node_is_set_up_tested_and_left_as_it_was() {
    let Some(from) = installed("a package of npm", "npm/clients/node_modules/process-warning") else {
        return;
    };
    let bench = repository(&from, &[(".gitignore", "node_modules/\n")]);
    // It has tests for two runners, and only Node's own is there.
    bench
        .place
        .configure("[limits]\ndetach-after = 900\n[devtools]\ntimeout = 600000\ntest-runner = \"node\"\n");
    first_minute(&bench, "node", |call, menu| {
        assert!(menu.iter().any(|tool| tool.starts_with("nodejs_") || tool == "run_tests"), "{menu:?}");
        let scripts = call("nodejs_scripts", json!({ "list": true }));
        assert!(scripts.to_string().contains("test:unit"), "{scripts:#}");
        let tests = call("nodejs_test", json!({}));
        assert!(tests["counts"]["passed"].as_u64().unwrap() > 0, "{tests:#}");
    });
}

#[test]
fn a_real_package_of_rust_is_set_up_tested_and_left_as_it_was() {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.map(|home| home.join("registry/src")).and_then(|all| std::fs::read_dir(all).ok());
    let crates = sources
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|registry| std::fs::read_dir(registry.path()).ok());
    let found =
        crates.flatten().flatten().find(|entry| entry.file_name().to_string_lossy().starts_with("shlex-2"));
    let Some(found) = found else { return skip("the sources of the crate shlex, which this project uses") };
    let bench = repository(&found.path(), &[(".gitignore", "target/\n")]);
    first_minute(&bench, "rust", |call, menu| {
        assert!(menu.iter().any(|tool| tool.starts_with("cargo_")), "{menu:?}");
        let checked = call("cargo_check", json!({}));
        assert_eq!(
            (&checked["success"], &checked["status"]),
            (&json!(true), &json!("completed")),
            "{checked:#}"
        );
        let tests = call("cargo_test", json!({}));
        assert_eq!(tests["success"], true, "{tests:#}");
        assert!(tests["counts"]["passed"].as_u64().unwrap() > 5, "{tests:#}");
    });
}

#[test]
fn a_real_package_of_go_is_set_up_tested_and_left_as_it_was() {
    if !exists(Path::new(GO)) {
        return skip("the Go package errors (Debian: apt-get install golang-github-pkg-errors-dev)");
    }
    let bench = repository(Path::new(GO), &[("go.mod", "module github.com/pkg/errors\n\ngo 1.19\n")]);
    first_minute(&bench, "go", |call, menu| {
        assert!(menu.iter().any(|tool| tool == "go_test"), "{menu:?}");
        let vetted = call("go_vet", json!({}));
        assert_eq!(vetted["status"], "completed", "{vetted:#}");
        let tests = call("go_test", json!({ "package": "./..." }));
        assert!(tests["counts"]["passed"].as_u64().unwrap() > 10, "{tests:#}");
    });
}

#[test]
fn a_real_package_of_python_is_set_up_tested_and_left_as_it_was() {
    let Some(from) = installed("the sources of a package of Python", "python/sources/iniconfig") else {
        return;
    };
    let Some(programs) = installed("the programs of Python", "python/devtools/bin") else { return };
    let bench =
        repository(&from, &[(".gitignore", "__pycache__/\n.pytest_cache/\n.ruff_cache/\n")]).with(programs);
    first_minute(&bench, "python", |call, menu| {
        assert!(menu.iter().any(|tool| tool.starts_with("python_") || tool == "run_tests"), "{menu:?}");
        let info = call("python_project_info", json!({}));
        assert!(info.to_string().contains("iniconfig"), "{info:#}");
        let linted = call("python_lint", json!({}));
        assert_eq!(linted["status"], "completed", "{linted:#}");
        let tests = call("python_test", json!({}));
        assert!(tests["counts"]["total"].as_u64().unwrap() > 10, "{tests:#}");
    });
}
