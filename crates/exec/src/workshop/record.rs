//! The project's git folder as programs find it: to be read, without what would make git start a program of the repository's choice.
//!
//! A program that a tool runs may call git, as Go does to say what was built. Then git runs what its configuration names: a
//! monitor, filters, drivers; and hooks. None of it is there for whoever works over the root: the configuration is reduced to keys that
//! say how to read (`history::harmless_configuration`), and hooks are hidden.

use std::io;
use std::path::{Path, PathBuf};

use contract::RelPath;
use launcher::Bound;

/// The files of a git folder that name programs.
const CONFIGURATIONS: [&str; 2] = ["config", "config.worktree"];

/// Most configuration files of submodules that are looked for.
const MAX_MODULES: usize = 200;

/// How deep below `.git/modules`.
const MAX_DEPTH: usize = 6;

/// Largest configuration that is read, in bytes.
pub(super) const MAX_CONFIG: u64 = 1 << 20;

/// What stands in the place of what is in git folders.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Harmless configurations.
    pub(super) shown: Vec<Bound>,
    /// Hooks, and configurations for which there is no other.
    pub(super) hidden: Vec<PathBuf>,
}

/// What is to be put over the git folders of `root` and of the folders on the way to `dir`. The files for it are written to `into`.
pub(super) fn of(root: &Path, dir: Option<&RelPath>, into: &Path) -> io::Result<Record> {
    let mut record = Record::default();
    let on_the_way = dir.iter().flat_map(|dir| dir.ancestors()).chain(dir.cloned());
    let places = std::iter::once(root.to_owned()).chain(on_the_way.map(|dir| root.join(dir.as_str())));
    for place in places {
        let git = place.join(".git");
        if is_folder(&git) {
            record.cover(&git, into)?;
            record.modules(&git.join("modules"), into)?;
        }
    }
    Ok(record)
}

/// Whether a file of this name, in a git folder, may name programs.
pub(super) fn is_configuration(name: &str) -> bool {
    CONFIGURATIONS.contains(&name)
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

impl Record {
    /// The configuration and hooks of one git folder.
    fn cover(&mut self, git: &Path, into: &Path) -> io::Result<()> {
        let hooks = git.join("hooks");
        if is_folder(&hooks) {
            self.hidden.push(hooks);
        }
        for name in CONFIGURATIONS {
            let config = git.join(name);
            let Ok(there) = std::fs::symlink_metadata(&config) else { continue };
            if !there.is_file() || there.len() > MAX_CONFIG {
                // Git would read it all the same, wherever it leads.
                self.hidden.push(git.to_owned());
                return Ok(());
            }
            let harmless = history::harmless_configuration(&std::fs::read(&config)?);
            std::fs::create_dir_all(into)?;
            let file = into.join(self.shown.len().to_string());
            std::fs::write(&file, harmless)?;
            self.shown.push(Bound { from: file, at: config });
        }
        Ok(())
    }

    /// Those of submodules.
    fn modules(&mut self, top: &Path, into: &Path) -> io::Result<()> {
        let mut open = vec![(top.to_owned(), 0)];
        while let Some((dir, depth)) = open.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                if path.join("HEAD").exists() {
                    self.cover(&path, into)?;
                }
                let name = entry.file_name();
                if depth < MAX_DEPTH && name != "objects" && name != "refs" && name != "logs" {
                    open.push((path, depth + 1));
                }
                if self.shown.len() > MAX_MODULES {
                    // More than anybody has: none of them is there.
                    self.hidden.push(top.to_owned());
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
