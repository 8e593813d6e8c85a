//! Packages of the npm registry that tests and benches use: pinned in `xtask/npm`, installed into `target/npm`.

use std::path::PathBuf;
use std::process::Command;

use crate::sh::{Done, has, step, target, top};

/// Where the packages are.
pub(crate) fn dir() -> PathBuf {
    target().join("npm")
}

/// Installs them, unless they are there as the lock file says.
pub(crate) fn install() -> Done {
    for program in ["node", "npm"] {
        if !has(program) {
            return Err(format!("{program} is missing (Debian: apt-get install nodejs npm)"));
        }
    }
    let (from, to) = (top().join("xtask/npm"), dir());
    let lock = std::fs::read(from.join("package-lock.json")).map_err(|e| e.to_string())?;
    std::fs::create_dir_all(&to).map_err(|e| e.to_string())?;
    for name in ["package.json", "package-lock.json", "style-dictionary.mjs", "terrazzo.mjs", "compare.mjs"] {
        std::fs::copy(from.join(name), to.join(name)).map_err(|e| format!("{name}: {e}"))?;
    }
    if std::fs::read(to.join("installed.json")).is_ok_and(|there| there == lock) {
        return Ok(());
    }
    let args =
        ["ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    step("npm", Command::new("npm").args(args).current_dir(&to), &args)?;
    std::fs::write(to.join("installed.json"), lock).map_err(|e| e.to_string())
}
