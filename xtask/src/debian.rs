//! Programs that tests run and that Debian packages: installed where this user may, and named where not.

use std::process::Command;

use crate::sh::{Done, step};

/// A program, by its name or its place, and the package that has it.
const PROGRAMS: [(&str, &str); 16] = [
    ("gh", "gh"),
    ("strace", "strace"),
    ("git", "git"),
    ("make", "make"),
    ("gcc", "gcc"),
    ("go-staticcheck", "go-staticcheck"),
    // Of the same release: staticcheck reads no later Go than it was built for.
    ("go", "golang-go"),
    ("chromium-headless-shell", "chromium-headless-shell"),
    // Without a font pages have no text: the browser's package only recommends one.
    ("fc-list", "fontconfig fonts-liberation"),
    ("initdb", "postgresql"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("secret-tool", "libsecret-tools"),
    ("gnome-keyring-daemon", "gnome-keyring"),
    ("dbus-run-session", "dbus-daemon"),
    // A package of others, as its authors wrote it.
    ("/usr/share/gocode/src/github.com/pkg/errors/errors.go", "golang-github-pkg-errors-dev"),
];

/// Installs what is missing; returns what could not be, with the command that would.
pub(crate) fn install() -> Vec<String> {
    let missing: Vec<&str> =
        PROGRAMS.iter().filter(|(program, _)| !is_there(program)).map(|(_, p)| *p).collect();
    if missing.is_empty() {
        return missing.iter().map(ToString::to_string).collect();
    }
    if let Err(why) = apt(&missing) {
        println!("  {why}");
    }
    PROGRAMS
        .iter()
        .filter(|(program, _)| !is_there(program))
        .map(|(program, package)| format!("{program} is missing (Debian: apt-get install {package})"))
        .collect()
}

/// Installs a package that no test needs.
pub(crate) fn install_one(package: &str) -> Done {
    apt(&[package])
}

/// Where Debian keeps the programs of PostgreSQL's server, by version: off the PATH.
const SERVERS: &str = "/usr/lib/postgresql";

/// Where systems keep servers: on the PATH of root alone.
const DAEMONS: &str = "/usr/sbin";

/// Whether it is on the PATH, or where Debian hides it: not every program of these answers when it is asked for its version.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let servers =
        std::fs::read_dir(SERVERS).into_iter().flatten().flatten().map(|dir| dir.path().join("bin"));
    std::env::split_paths(&path).chain(servers).chain([DAEMONS.into()]).any(|dir| dir.join(program).is_file())
}

fn apt(packages: &[&str]) -> Done {
    let quiet = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(std::process::Stdio::null());
        step("apt-get", &mut command, args)
    };
    quiet(&["update", "-qq"])?;
    quiet(&[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat())
}
