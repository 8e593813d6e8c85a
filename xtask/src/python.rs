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
