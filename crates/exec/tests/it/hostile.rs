//! What a hostile repository has in its git folder. The tests of the whole program include this file.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What is appended to the repository's own configuration.
const CONFIG: &str = include_str!("hostile.gitconfig");

/// What each of it starts.
pub(crate) const EVIL: &str = "echo ran >> \"$(git rev-parse --show-toplevel)/canary\"; cat";

/// The hooks that git would call.
const HOOKS: [&str; 5] =
    ["post-index-change", "pre-commit", "post-checkout", "commit-msg", "fsmonitor-watchman"];

/// What starts in the repository at `place` leaves a `canary` there, once this was done.
pub(crate) fn arm(place: &Path) {
    let git = place.join(".git");
    let mut config = File::options().append(true).open(git.join("config")).unwrap();
    config.write_all(CONFIG.as_bytes()).unwrap();
    fs::create_dir_all(git.join("hooks")).unwrap();
    for hook in HOOKS {
        let hook = git.join("hooks").join(hook);
        fs::write(&hook, format!("#!/bin/sh\n{EVIL}\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
