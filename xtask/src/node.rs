//! Packages of the npm registry that tests and benches use: pinned in `xtask/npm/<project>`, installed into
//! `target/npm/<project>`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sh::{Done, has, step, target, top};

/// A folder of pinned packages and of the scripts that use them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Project(&'static str);

/// Token builders and token sets.
pub(crate) const TOKENS: Project = Project("tokens");

/// Clients of the protocol, and an authorization server.
pub(crate) const CLIENTS: Project = Project("clients");

/// Linters and test runners that tools run.
pub(crate) const DEVTOOLS: Project = Project("devtools");

/// Package managers whose programs are called as others' are: yarn 2 and later, and bun.
pub(crate) const MANAGERS: Project = Project("managers");

/// axe-core, and pages that the design tools look at.
pub(crate) const DESIGN: Project = Project("design");

/// A Storybook that review kits build.
pub(crate) const STORYBOOK: Project = Project("storybook");

/// The peers of the design bench, and the Node that they need.
pub(crate) const BENCH_DESIGN: Project = Project("bench-design");

/// The protocol's conformance suite, and the Node that it needs.
pub(crate) const CONFORMANCE: Project = Project("conformance");

/// The TypeScript peer of the protocol bench.
pub(crate) const PROTOCOL: Project = Project("protocol");

/// The reference servers of the protocol, upstream of gatewright.
pub(crate) const UPSTREAMS: Project = Project("upstreams");

impl Project {
    /// Where its packages and scripts are.
    pub(crate) fn dir(self) -> PathBuf {
        target().join("npm").join(self.0)
    }

    /// Installs its packages, unless they are there as the lock file says; its scripts are copied each time.
    pub(crate) fn install(self) -> Done<PathBuf> {
        for program in ["node", "npm"] {
            if !has(program) {
                return Err(format!("{program} is missing (Debian: apt-get install nodejs npm)"));
            }
        }
        let (from, to) = (top().join("xtask/npm").join(self.0), self.dir());
        let lock = std::fs::read(from.join("package-lock.json")).map_err(|e| e.to_string())?;
        copy(&from, &to)?;
        let stamp = to.join("installed.json");
        if std::fs::read(&stamp).is_ok_and(|there| there == lock) {
            return Ok(to);
        }
        let args =
            ["ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        // Browsers are the machine's own: whatever scripts say, none is fetched.
        let mut command = Command::new("npm");
        command.args(args).current_dir(&to).env("PUPPETEER_SKIP_DOWNLOAD", "1");
        step("npm", &mut command, &args)?;
        std::fs::write(stamp, lock).map_err(|e| e.to_string())?;
        Ok(to)
    }
}

fn copy(from: &Path, to: &Path) -> Done {
    let failed = |e: std::io::Error| format!("{}: {e}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            std::fs::copy(entry.path(), to.join(entry.file_name())).map_err(failed)?;
        }
    }
    Ok(())
}
