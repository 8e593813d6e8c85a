//! Where programs come from: folders that whoever runs gatewright put on the PATH, and never the root.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use contract::{Code, Fault};

/// Where programs are looked for: the absolute folders of `PATH` that lie outside `root` and that only their owner or
/// a group may write.
#[must_use]
pub fn trusted_path(root: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
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
                .suggest(format!("Install {program} so that it is on the PATH, then try again."))
        })
}
