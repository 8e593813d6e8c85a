//! Where programs come from: folders that whoever runs gatewright put on the PATH, and never the root.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use contract::{Code, Fault};

/// Where programs are looked for: of `folders`, those of `PATH`, the absolute ones that lie outside `root` and that only their
/// owner or a group may write.
#[must_use]
pub fn trusted(folders: &[PathBuf], root: &Path) -> Vec<PathBuf> {
    folders
        .iter()
        .filter(|dir| dir.is_absolute())
        .filter_map(|dir| std::fs::canonicalize(dir).ok())
        .filter(|dir| !dir.starts_with(root))
        .filter(|dir| std::fs::metadata(dir).is_ok_and(|m| m.is_dir() && m.permissions().mode() & 0o002 == 0))
        .fold(Vec::new(), |mut dirs, dir| {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
            dirs
        })
}

/// How a program is installed on this system, as its own documentation or the system's packages have it.
fn install(program: &str) -> String {
    let debian = Path::new("/etc/debian_version").exists();
    let apt = |package: &str| format!("`apt-get install {package}`");
    match program {
        "golangci-lint" => {
            "`go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest`".into()
        }
        "govulncheck" => "`go install golang.org/x/vuln/cmd/govulncheck@latest`".into(),
        "staticcheck" => "`go install honnef.co/go/tools/cmd/staticcheck@latest`".into(),
        "actionlint" => "`go install github.com/rhysd/actionlint/cmd/actionlint@latest`".into(),
        "go" | "gofmt" if debian => apt("golang-go"),
        "node" | "npm" if debian => apt("nodejs npm"),
        "make" | "gcc" | "shellcheck" | "git" if debian => apt(program),
        "eslint" | "mocha" | "jest" | "vitest" | "typescript" => {
            format!("`npm install --save-dev {program}`")
        }
        "markdownlint" => "`npm install --global markdownlint-cli`".into(),
        "commitlint" => "`npm install --save-dev @commitlint/cli @commitlint/config-conventional`".into(),
        "yamllint" | "pytest" | "ruff" | "mypy" | "bandit" | "pip-audit" => {
            format!("`pip install {program}`")
        }
        "cargo" | "rustfmt" => "`rustup` (https://rustup.rs)".into(),
        _ => "its own documentation says how.".into(),
    }
}

/// What is in a file of this machine that the user named, at most `most` bytes of it.
pub fn read_small(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let size = std::fs::metadata(path)?.len();
    if size > most {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    std::fs::read(path)
}

/// The first of `places` at which a program is, without links.
#[must_use]
pub fn placed(places: &[&Path]) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    places.iter().find(|path| is_program(path)).and_then(|path| std::fs::canonicalize(path).ok())
}

/// Everything called `program` in `path`, whether or not it can be run, links that lead nowhere among it: together with the
/// folders of `path` it decides what [`find`] says.
#[must_use]
pub fn candidates(program: &str, path: &[PathBuf]) -> Vec<PathBuf> {
    path.iter().map(|dir| dir.join(program)).filter(|file| std::fs::symlink_metadata(file).is_ok()).collect()
}

/// The absolute place of `program` in `path`. One that is really in `dir`'s tree is not taken: tools write there.
pub fn find(program: &str, path: &[PathBuf], dir: &Path) -> Result<PathBuf, Fault> {
    let executable = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    let outside = |file: &PathBuf| std::fs::canonicalize(file).is_ok_and(|real| !real.starts_with(dir));
    let is_plain = !program.is_empty() && !program.contains('/');
    path.iter()
        .filter(|_| is_plain)
        .map(|dir| dir.join(program))
        .find(|file| executable(file) && outside(file))
        .ok_or_else(|| {
            Fault::new(Code::ToolExecutionFailed, format!("the program {program:?} is not installed"))
                .suggest(format!("Install {program} so that it is on the PATH: {}", install(program)))
        })
}
