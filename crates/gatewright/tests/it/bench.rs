//! A repository with a server over it, for the tests of tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::Place;
use super::wire::Wire;

/// A root that is a git repository, and a server over it that offers everything.
pub(crate) struct Bench {
    pub(crate) place: Place,
    /// Folders of programs before the machine's own.
    programs: Vec<PathBuf>,
    /// Variables of the server's.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Bench {
    /// A repository with `files`, all of them committed.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let place = Place::new();
        std::fs::remove_dir_all(place.root().join("tokens")).unwrap();
        let bench = Self { place, programs: Vec::new(), variables: Vec::new() };
        for (name, text) in files {
            bench.put(name, text);
        }
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.commit("first");
        bench
    }

    /// With this folder of programs before the machine's own.
    pub(crate) fn with(mut self, programs: PathBuf) -> Self {
        self.programs.push(programs);
        self
    }

    /// With a variable that tells of a place.
    pub(crate) fn telling(mut self, name: &'static str, place: PathBuf) -> Self {
        self.variables.push((name, place));
        self
    }

    /// With what npm installed for these tests as its own `node_modules`; nothing of it is on the PATH.
    pub(crate) fn with_node_modules(self) -> Option<Self> {
        let node = installed("the programs of npm", "npm/devtools/node_modules")?;
        let to = self.place.root().join("node_modules");
        let copied =
            |how: &str| Command::new("cp").arg(how).args([&node, &to]).output().unwrap().status.success();
        // Links where both are on one file system.
        if !copied("-al") {
            std::fs::remove_dir_all(&to).unwrap_or_default();
            assert!(copied("-a"));
        }
        Some(self)
    }

    /// For programs that take long the first time, on a machine that does something else as well: a call is waited for.
    pub(crate) fn patient(self) -> Self {
        self.place.configure("[limits]\ndetach-after = 900\n[devtools]\ntimeout = 600000\n");
        self
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.place.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.root().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.place.root().join(name)).ok()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.place.git(args)
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// What git says of the work tree: nothing, where no tool has left anything.
    pub(crate) fn dirt(&self) -> String {
        self.git(&["status", "--porcelain", "--ignored"])
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = self.place.command();
        let own = std::env::var_os("PATH").unwrap();
        let all = self.programs.iter().cloned().chain(std::env::split_paths(&own));
        command.env("PATH", std::env::join_paths(all).unwrap());
        command.envs(self.variables.iter().cloned());
        command
    }

    /// A server, after the handshake.
    pub(crate) fn serve(&self) -> Session {
        Session::over(&mut self.command())
    }
}

/// A session with a server.
pub(crate) struct Session(pub(crate) Wire);

impl Session {
    /// A server that `command` starts, after the handshake.
    pub(crate) fn over(command: &mut Command) -> Self {
        Self(Wire::greeted(command.args(["serve", "--toolsets", "all"]), &json!({})))
    }

    /// Calls a tool: the whole result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.0.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// What a call that is no error gives: its fields.
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {}", result["content"][0]["text"]);
        result["structuredContent"].clone()
    }

    /// The error of a call that must fail.
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()["error"].clone()
    }
}

/// What `cargo xtask test` installs for these tests, or a loud word that it is not there.
pub(crate) fn installed(what: &str, place: &str) -> Option<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| top.join("target"), PathBuf::from);
    let found = found(&target.join(place));
    if found.is_none() {
        super::skip(&format!("{what} (`cargo xtask test` installs them into target/)"));
    }
    found
}

/// A path in which one component may be `*`.
fn found(path: &Path) -> Option<PathBuf> {
    let mut here = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == "*" {
            here = std::fs::read_dir(&here).ok()?.flatten().next()?.path();
        } else {
            here.push(part);
        }
    }
    here.exists().then_some(here)
}
