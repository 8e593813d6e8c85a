//! The project's own interpreter: a link in the root that leads to one of this machine's, as a virtual environment has it.
//!
//! What is started is what the link leads to, under the link's name: by that name Python finds the environment. So whatever
//! becomes of the link between the look and the start, nothing of the root is ever executed as a program of this machine.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use contract::{Code, Fault, RelPath};

use super::sight::{self, Surroundings};
use crate::root::Root;
use crate::state::StateDir;

/// Names by which the folders of the path lead to interpreters.
const NAMES: &[&str] = &["python3", "python", "pypy3"];

/// As a run of `root` would have it: the real place of the interpreter that `link` leads to.
pub fn of_root(link: &RelPath, root: &Root, state: &StateDir, path: &[PathBuf]) -> Result<PathBuf, Fault> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    real(link, &Surroundings { root: root.path(), state: state.of_all(), home: home.as_deref() }, path)
}

/// The real place of the interpreter that `link` in the root leads to; refused with the reason where it is not one of a trusted place.
pub(super) fn real(link: &RelPath, around: &Surroundings<'_>, path: &[PathBuf]) -> Result<PathBuf, Fault> {
    let refused = |why: &str| {
        Err(Fault::new(Code::Forbidden, format!("{link}: it is not started as an interpreter: {why}"))
            .about(link.as_str())
            .suggest("Make the environment anew, as `python3 -m venv` does: `python_venv {\"action\":\"create\",\"clear\":true}`."))
    };
    for above in link.ancestors() {
        let there = std::fs::symlink_metadata(around.root.join(above.as_str()));
        if !there.is_ok_and(|there| there.is_dir()) {
            return refused(&format!("{above} is no folder of the root"));
        }
    }
    let place = around.root.join(link.as_str());
    match std::fs::symlink_metadata(&place) {
        Err(_) => {
            let message = format!("{link}: there is no interpreter");
            return Err(Fault::new(Code::NotFound, message)
                .about(link.as_str())
                .suggest("Make the environment: `python_venv {\"action\":\"create\"}`."));
        }
        Ok(there) if !there.is_symlink() => {
            return refused("it is a file of the repository, and no link to an interpreter of this machine");
        }
        Ok(_) => {}
    }
    let Ok(real) = std::fs::canonicalize(&place) else {
        return refused("the link leads nowhere");
    };
    if real.starts_with(around.root) {
        return refused("the link leads to a file of the repository");
    }
    if real.starts_with(around.state) {
        return refused("the link leads to what programs left there");
    }
    let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !["python", "pypy"].iter().any(|begin| name.starts_with(begin)) {
        return refused(&format!("{} is no Python", real.display()));
    }
    if !is_trusted(&real, around, path) {
        return refused(&format!(
            "{} lies neither beside an interpreter on the PATH nor among the system's or the user's toolchains",
            real.display()
        ));
    }
    if let Some(open) = open_to_all(&real) {
        return refused(&format!("everybody may write {}", open.display()));
    }
    let runs = std::fs::metadata(&real).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if !runs {
        return refused(&format!("{} is no program", real.display()));
    }
    Ok(real)
}

/// Whether whoever runs gatewright put it there: a toolchain, or what lies where a name of the path leads to.
fn is_trusted(real: &Path, around: &Surroundings<'_>, path: &[PathBuf]) -> bool {
    let beside = |dir: &PathBuf| {
        let named = NAMES.iter().filter_map(|name| std::fs::canonicalize(dir.join(name)).ok());
        std::iter::once(dir.clone())
            .chain(named.filter_map(|named| named.parent().map(Path::to_owned)))
            .any(|dir| real.parent() == Some(&dir))
    };
    sight::is_of_toolchains(around, real) || path.iter().any(beside)
}

/// The file or a folder above that everybody may change.
fn open_to_all(real: &Path) -> Option<&Path> {
    real.ancestors().find(|place| {
        // In a folder with the sticky bit, what is somebody's stays theirs.
        std::fs::metadata(place).is_ok_and(|m| {
            let mode = m.permissions().mode();
            mode & 0o002 != 0 && (m.is_file() || mode & 0o1000 == 0)
        })
    })
}
