//! End to end: the real program, over the real protocol and the real command line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests start the program and look at the disk from outside")]
#![allow(clippy::case_sensitive_file_extension_comparisons, reason = "tests name their own files")]

mod agents;
mod bench;
mod choosing;
mod cli;
mod clients;
#[path = "../../../store/tests/it/cluster.rs"]
#[allow(dead_code, reason = "the store's own tests crash their servers, too")]
mod cluster;
#[cfg(feature = "wasm")]
mod components;
mod confirm;
mod design;
mod devtools;
mod disk;
mod docs;
mod doctor;
mod ends;
mod eras;
mod first_minute;
mod fleet;
mod frames;
mod gain;
mod git_spice;
mod headers;
mod http;
mod in_session;
mod knowledge;
mod oauth;
mod plain;
mod plugins;
mod plugins_live;
mod power;
mod programs;
mod reading;
mod recipes;
mod remote;
mod scripts;
mod secure;
mod selftest;
mod session;
mod setup;
mod stdio;
mod store;
mod strings;
mod tls;
mod trust;
mod upstreams;
mod wire;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What is listed to clients in a folder of design tokens.
const MENU: [&str; 7] = [
    "a11y_scan",
    "release_pack_verify",
    "review_kit_create",
    "tokens_build",
    "tool_call",
    "tool_read",
    "tools_search",
];

/// A scratch place with a root, and the program over it.
struct Place {
    scratch: TempDir,
}

const TOKENS: &str =
    r#"{ "space": { "$type": "dimension", "s": { "$value": { "value": 4, "unit": "px" } } } }"#;

impl Place {
    fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.root()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (name, value) in [("NAME", "Test"), ("EMAIL", "test@example.com")] {
            git.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        let out = git.output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    /// Makes the root a repository with all that is in it committed.
    fn commit(&self) {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "first"]);
    }

    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(scratch.path().join("root/tokens")).unwrap();
        std::fs::write(scratch.path().join("root/tokens/base.json"), TOKENS).unwrap();
        Self { scratch }
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    fn ledger(&self) -> PathBuf {
        let mut roots = std::fs::read_dir(self.scratch.path().join("state/gatewright")).unwrap();
        roots.next().unwrap().unwrap().path().join("ledger")
    }

    /// Has a command, and whatever it starts, keep everything in here.
    fn home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("XDG_STATE_HOME", self.scratch.path().join("state"))
            .env("XDG_CONFIG_HOME", self.scratch.path().join("config"))
            .env("XDG_DATA_HOME", self.scratch.path().join("data"))
            .env("HOME", self.scratch.path())
            .env("NO_COLOR", "1")
            .env_remove("LOG_LEVEL")
            .current_dir(self.scratch.path())
    }

    /// Has the user's configuration say this.
    fn configure(&self, text: &str) {
        let dir = self.scratch.path().join("config/gatewright");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("config.toml"), text).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright"));
        self.home(&mut command).args(["--root", self.root().to_str().unwrap()]);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// Standard output of a command that must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let out = self.run(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// Exit code and standard error of a command that must fail.
    fn fails(&self, args: &[&str]) -> (i32, String) {
        let out = self.run(args);
        assert!(!out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stdout));
        (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
    }
}

/// A folder of tokens whose build takes a while.
fn many_tokens(place: &Place, count: u32) {
    let tokens: Vec<String> =
        (0..count).map(|n| format!(r#""t{n}":{{"$type":"number","$value":{n}}}"#)).collect();
    std::fs::write(place.root().join("tokens/many.json"), format!("{{{}}}", tokens.join(","))).unwrap();
}

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        let mut options = std::fs::OpenOptions::new();
        let written = options
            .create(true)
            .append(true)
            .open(file)
            .and_then(|mut f| std::io::Write::write_all(&mut f, format!("{part}\n").as_bytes()));
        written.unwrap();
    }
}

fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
