//! Captured runs: a header, what was said on standard output and on standard error.

use std::path::{Path, PathBuf};

use gatewright_failures::{Analysis, Analyzer, FailedRun};

pub(crate) struct Captured {
    pub(crate) name: String,
    command: Vec<String>,
    exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

impl Captured {
    fn read(path: &Path) -> Self {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let (header, rest) = text.split_once("--- stdout\n").unwrap();
        let (stdout, stderr) = rest.split_once("--- stderr\n").unwrap();
        let field =
            |name: &str| header.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        Self {
            name: path.strip_prefix(folder()).unwrap().display().to_string(),
            command: field("command:").split(' ').map(str::to_owned).collect(),
            exit: field("exit:").parse().unwrap(),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::read(&folder().join(name).with_extension("txt"))
    }

    pub(crate) fn run(&self) -> FailedRun<'_> {
        FailedRun {
            program: self.command.first().map_or("", String::as_str),
            args: self.command.get(1..).unwrap_or_default(),
            exit_code: Some(self.exit),
            stdout: &self.stdout,
            stderr: &self.stderr,
            ..FailedRun::default()
        }
    }

    pub(crate) fn analyze(&self) -> Analysis {
        analyzer().analyze(&self.run())
    }
}

pub(crate) fn analyzer() -> &'static Analyzer {
    static ANALYZER: std::sync::OnceLock<Analyzer> = std::sync::OnceLock::new();
    ANALYZER.get_or_init(|| Analyzer::new(&[]).unwrap())
}

/// The captured runs of a folder.
pub(crate) fn all(under: &str) -> Vec<Captured> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder().join(under))
        .unwrap_or_else(|_| panic!("no fixtures for {under}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Captured::read(path)).collect()
}

pub(crate) fn ids(analysis: &Analysis) -> Vec<&str> {
    analysis.findings.iter().map(|finding| finding.pattern.as_str()).collect()
}
