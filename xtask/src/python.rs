//! Packages of the Python index that tests use: pinned in `xtask/python/<project>/requirements.txt`, installed into a
//! virtual environment at `target/python/<project>`.

use std::path::PathBuf;
use std::process::Command;

use crate::sh::{Done, has, step, target, top};

/// A list of pinned packages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Project(&'static str);

/// Clients of the protocol.
pub(crate) const CLIENTS: Project = Project("clients");

/// Toolchains and programs that tools run.
pub(crate) const DEVTOOLS: Project = Project("devtools");

impl Project {
    /// Installs its packages, unless they are there as the list says; returns the environment's interpreter.
    pub(crate) fn install(self) -> Done<PathBuf> {
        if !has("python3") {
            return Err("python3 is missing (Debian: apt-get install python3 python3-venv)".into());
        }
        let list = top().join("xtask/python").join(self.0).join("requirements.txt");
        let wanted = std::fs::read(&list).map_err(|e| format!("{}: {e}", list.display()))?;
        let place = target().join("python").join(self.0);
        let (python, stamp) = (place.join("bin/python"), place.join("installed.txt"));
        if python.is_file() && std::fs::read(&stamp).is_ok_and(|there| there == wanted) {
            return Ok(python);
        }
        let made = place.display().to_string();
        let args = ["-m", "venv", "--clear", &made];
        step("python3", Command::new("python3").args(args), &args)?;
        let list = list.display().to_string();
        let args = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            // The list is whole. Some versions of pip would look for a newer package where one is wanted with an extra.
            "--no-deps",
            "--require-hashes",
            "-r",
            &list,
        ];
        step(&python.display().to_string(), Command::new(&python).args(args), &args)?;
        std::fs::write(stamp, wanted).map_err(|e| e.to_string())?;
        Ok(python)
    }
}

/// Packages as their authors publish the sources of them, unpacked at `target/python/sources/<name>`: what tests set up as a stranger's.
pub(crate) fn sources() -> Done {
    let list = top().join("xtask/python/sources/requirements.txt");
    let wanted = std::fs::read(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let place = target().join("python/sources");
    let stamp = place.join("installed.txt");
    if std::fs::read(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    std::fs::create_dir_all(&place).map_err(|e| e.to_string())?;
    // Its environment has what builds them: pip asks that for their names.
    let python = DEVTOOLS.install()?;
    let (list, into) = (list.display().to_string(), place.display().to_string());
    let args = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-binary=:all:",
        "--no-build-isolation",
        "--require-hashes",
        "--dest",
        &into,
        "-r",
        &list,
    ];
    step(&python.display().to_string(), Command::new(&python).args(args), &args)?;
    for entry in std::fs::read_dir(&place).map_err(|e| e.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".tar.gz").and_then(|name| name.rsplit_once('-')).map(|(n, _)| n)
        else {
            continue;
        };
        let (archive, to) = (entry.path().display().to_string(), place.join(name));
        std::fs::create_dir_all(&to).map_err(|e| e.to_string())?;
        let to = to.display().to_string();
        let args = ["-xzf", &archive, "-C", &to, "--strip-components=1"];
        step("tar", Command::new("tar").args(args), &args)?;
    }
    std::fs::write(stamp, wanted).map_err(|e| e.to_string())
}
