//! What is run on a host, and what its answers mean.
//!
//! The scripts are POSIX shell without a `'`. They answer with lines of their own, `gatewright:KEY=VALUE`: whatever else a host prints,
//! such as its profile's greeting, is passed over. Every line is another machine's word and is spelled out before it is shown.

use std::path::Path;
use std::time::Duration;

use contract::text::spelled_out;
use exec::helper::ssh::{self, Remote, Word};
use exec::helper::{HelperError, Input, Said};
use tokio_util::sync::CancellationToken;

use super::hosts::Host;

/// How long a look at a host may take, connecting included.
pub const GLANCE: Duration = Duration::from_mins(1);
/// Most characters of what a host says that are shown.
const SHOWN: usize = 400;

/// The file in question as `p`, also where its name begins like an option; its folder as `d`; how to answer; what ends a program that
/// hangs, where the host has it.
macro_rules! script {
    ($($line:literal)*) => {
        concat!(
            "p=$1; case $p in /*) ;; *) p=./$p ;; esac; d=${p%/*}; [ -n \"$d\" ] || d=/; ",
            "say() { echo \"gatewright:$1=$2\"; }; ",
            "sum() { sha256sum \"$1\" | cut -c 1-64; }; ",
            "brief=; long=; if command -v timeout >/dev/null; then brief=\"timeout 20\"; long=\"timeout 400\"; fi; ",
            $($line, " ",)*
            "say end yes"
        )
    };
}

/// What is there. `$1`: the program's place.
const LOOK: &str = script!(
    "say system \"$(uname -sm)\";"
    "if [ -d \"$p\" ]; then say place folder;"
    "elif [ -e \"$p\" ]; then say place file; say sha256 \"$(sum \"$p\")\";"
    "say version \"$($brief \"$p\" --version </dev/null 2>/dev/null | head -n 1)\";"
    "else say place none; fi;"
    // The nearest folder that is there: what is missing below it is made.
    "until [ -e \"$d\" ]; do case $d in */*) d=${d%/*} ;; *) d=. ;; esac; [ -n \"$d\" ] || d=/; done;"
    "if [ -d \"$d\" ] && [ -w \"$d\" ]; then say folder fine; else say folder \"$d\"; fi;"
    "m=${XDG_STATE_HOME:-$HOME/.local/state}/gatewright/machine;"
    "if [ -r \"$m\" ]; then say machine \"$(head -n 1 \"$m\")\"; fi;"
);

/// Puts a program there that is read from standard input. `$1`: its place, `$2`: a word that no other deployment has, `$3`: its SHA-256.
///
/// It goes on where the connection breaks, and comes to one of three ends: nothing happened, the new one is there and works, or the old one
/// is there again. A copy that is cut short ends like a whole one and is told by its digest.
const PUT: &str = script!(
    "n=$p.new.$2; o=$p.old; stop() { say stopped \"$1\"; exit 3; };"
    // What it starts may be ended by a signal, it itself not: it would leave something untried behind.
    "trap \"rm -f \\\"$n\\\"\" EXIT; trap : HUP INT TERM PIPE;"
    "umask 022;"
    "if [ -d \"$p\" ]; then stop directory; fi;"
    "mkdir -p \"$d\" || stop folder;"
    "cat > \"$n\" || stop copy;"
    "[ \"$(sum \"$n\")\" = \"$3\" ] || stop digest;"
    "chmod 755 \"$n\" || stop copy;"
    "$brief \"$n\" --version </dev/null >/dev/null || stop start;"
    "had=no; if [ -e \"$p\" ] || [ -L \"$p\" ]; then had=yes;"
    "if [ -d \"$o\" ]; then stop keep; fi;"
    "rm -f \"$o\"; ln \"$p\" \"$o\" 2>/dev/null || cp -p \"$p\" \"$o\" || stop keep; fi;"
    "mv -f \"$n\" \"$p\" || stop move;"
    "said=$($long \"$p\" selftest --output json </dev/null); code=$?;"
    "if [ $code -eq 0 ]; then say state deployed;"
    "elif [ $had = yes ]; then if mv -f \"$o\" \"$p\"; then say state restored; else say state broken; fi;"
    "elif rm -f \"$p\"; then say state removed; else say state broken; fi;"
    "say code $code; echo gatewright:selftest; printf \"%s\\n\" \"$said\";"
);

/// Why a host could not be dealt with, and what to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub why: String,
    pub advice: Option<String>,
}

impl Trouble {
    pub fn new(why: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { why: why.into(), advice: Some(advice.into()) }
    }
}

/// What is on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `uname -sm`.
    pub system: String,
    /// The file at the program's place.
    pub file: File,
    /// A folder that stands in the way: it may not be written to.
    pub blocked: Option<String>,
    /// The machine's id, where it has one.
    pub machine: Option<String>,
}

/// What is at the program's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum File {
    /// Nothing.
    None,
    /// A folder.
    Folder,
    /// A file, with what it says of itself.
    There { sha256: String, version: Option<String> },
}

/// How a deployment went on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// It is there and passed its own test; what it said then.
    Deployed(String),
    /// Its test failed, and what was there before is there again; what it said.
    Restored(String),
    /// Its test failed, there was nothing before, and it is gone; what it said.
    Removed(String),
}

/// How the hosts of a fleet are reached.
pub struct Reach<'r> {
    /// An empty folder.
    pub nowhere: &'r Path,
    /// Ends all of it.
    pub cancel: &'r CancellationToken,
}

impl Reach<'_> {
    fn run(&self, host: &Host, remote: Remote<'_>, input: Input, after: Duration) -> Result<Said, Trouble> {
        if self.cancel.is_cancelled() {
            return Err(Trouble::new("stopped before it was begun", "run it again"));
        }
        let said =
            ssh::run(&host.ssh, self.nowhere, remote, input, after, self.cancel).map_err(
                |error| match error {
                    HelperError::Missing(fault) => {
                        let advice = "install OpenSSH's client, such as Debian's package openssh-client";
                        Trouble::new(fault.message, advice)
                    }
                    late @ HelperError::Late { .. } => Trouble::new(late.to_string(), again(host)),
                    HelperError::Cancelled => Trouble::new("stopped before it had ended", again(host)),
                    other => Trouble { why: other.to_string(), advice: None },
                },
            )?;
        if said.code == Some(ssh::FAILED) { Err(told(&said.stderr, host)) } else { Ok(said) }
    }

    /// Looks at a host.
    pub fn look(&self, host: &Host) -> Result<Found, Trouble> {
        let words = [host.path.clone()];
        let said = self.run(host, Remote { script: LOOK, words: &words }, Input::Nothing, GLANCE)?;
        found(&String::from_utf8_lossy(&said.stdout)).ok_or_else(|| Trouble {
            why: format!("its shell did not answer as expected{}", tail(&said.stderr)),
            advice: Some(format!("can you run a command there, as in `ssh {} uname`?", host.ssh.to)),
        })
    }

    /// Puts a program there, whose SHA-256 is given.
    pub fn put(
        &self,
        host: &Host,
        program: Input,
        (name, sha256): (Word, Word),
        after: Duration,
    ) -> Result<Put, Trouble> {
        let words = [host.path.clone(), name, sha256];
        let said = self.run(host, Remote { script: PUT, words: &words }, program, after)?;
        put(&String::from_utf8_lossy(&said.stdout), &said.stderr, host)
    }
}

fn again(host: &Host) -> String {
    format!("see what is there now with `gatewright fleet status --only {}`, and try again", host.name)
}

/// The value of a line that the scripts wrote, spelled out; the first counts.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix("gatewright:")?.strip_prefix(key)?.strip_prefix('='))
}

fn shown(text: &str) -> String {
    spelled_out(text).chars().take(SHOWN).collect()
}

/// What [`LOOK`] said; nothing where it did not come to its end.
fn found(text: &str) -> Option<Found> {
    value(text, "end").filter(|end| *end == "yes")?;
    let file = match value(text, "place")? {
        "none" => File::None,
        "folder" => File::Folder,
        _ => File::There {
            sha256: value(text, "sha256").filter(|sha256| is_digest(sha256)).unwrap_or_default().to_owned(),
            version: value(text, "version").and_then(version),
        },
    };
    Some(Found {
        system: shown(value(text, "system")?),
        file,
        blocked: value(text, "folder").filter(|folder| *folder != "fine").map(shown),
        machine: value(text, "machine").map(shown).filter(|machine| !machine.is_empty()),
    })
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The version in what `gatewright --version` prints; nothing where it is another program's.
pub fn version(line: &str) -> Option<String> {
    let version = line.trim().strip_prefix("gatewright ")?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.len() <= 40
        && version.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    is_version.then(|| version.to_owned())
}

/// What [`PUT`] said.
fn put(text: &str, stderr: &str, host: &Host) -> Result<Put, Trouble> {
    if let Some(stopped) = value(text, "stopped") {
        return Err(refused(stopped, stderr, host));
    }
    let said = text.split_once("gatewright:selftest\n").map(|(_, said)| said.to_owned());
    match (value(text, "state"), said) {
        (Some("deployed"), Some(said)) => Ok(Put::Deployed(said)),
        (Some("restored"), Some(said)) => Ok(Put::Restored(said)),
        (Some("removed"), Some(said)) => Ok(Put::Removed(said)),
        (Some("broken"), _) => Err(Trouble::new(
            format!("its selftest failed, and what was there before could not be put back{}", tail(stderr)),
            format!("put it back by hand: `ssh {0} mv {1}.old {1}`", host.ssh.to, host.path),
        )),
        _ => Err(Trouble::new(format!("it did not come to an end{}", tail(stderr)), again(host))),
    }
}

/// Where a deployment stopped: everything on the host is as it was.
fn refused(at: &str, stderr: &str, host: &Host) -> Trouble {
    let (why, advice) = match at {
        "directory" => {
            ("a folder is at the program's place".to_owned(), "name the file itself as `path`".to_owned())
        }
        "folder" => ("its folder could not be made".to_owned(), writable(host)),
        "copy" => ("it could not be written there".to_owned(), writable(host)),
        "digest" => ("what arrived is not what was sent".to_owned(), "try again".to_owned()),
        "start" => (
            "the program does not start there".to_owned(),
            "it may need a later system: build it on one like that, and name it with --binary".to_owned(),
        ),
        "keep" => (format!("what is there could not be kept as {}.old", host.path), writable(host)),
        _ => ("it could not be put in its place".to_owned(), writable(host)),
    };
    Trouble::new(format!("{why}{}", tail(stderr)), advice)
}

/// What to do about a place that may not be written to.
pub fn writable(host: &Host) -> String {
    format!("let {} write there, or name another `path`", host.ssh.to)
}

/// The last lines of standard error, after a colon.
fn tail(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join("; ");
    if last.is_empty() { String::new() } else { format!(": {}", shown(&last)) }
}

/// Why there was no connection, by what ssh says of it.
fn told(stderr: &str, host: &Host) -> Trouble {
    let (name, to) = (&host.name, &host.ssh.to);
    let by_hand = match host.ssh.port {
        Some(port) => format!("`ssh -p {port} {to}`"),
        None => format!("`ssh {to}`"),
    };
    let says = |part: &str| stderr.contains(part);
    let (why, advice) = if says("REMOTE HOST IDENTIFICATION HAS CHANGED") || says("differs from the key") {
        (
            "its host key is another than before",
            "find out why before anything else: it may be another machine, or somebody between you and it"
                .to_owned(),
        )
    } else if says("Host key verification failed") || says("host key is known") {
        (
            "its host key is not known here",
            format!("connect once by hand with {by_hand}, compare the fingerprint, and accept it"),
        )
    } else if says("Permission denied") || says("Too many authentication failures") {
        (
            "it does not let you in",
            format!(
                "is your key in its authorized_keys, and in your agent (`ssh-add -l`)? Nobody is asked for a password: try {by_hand}"
            ),
        )
    } else if says("Connection refused") {
        ("it refuses connections", format!("is its ssh server running, and is the port right? Try {by_hand}"))
    } else if says("timed out") || says("No route to host") || says("is unreachable") {
        ("it cannot be reached", format!("is it on, and is the VPN up? Can you {by_hand} yourself?"))
    } else if says("Could not resolve") {
        (
            "its name is not known",
            format!("check `ssh` of [hosts.{name}]; is the VPN up, whose names it may be one of?"),
        )
    } else {
        ("there is no connection", format!("try {by_hand}"))
    };
    Trouble::new(format!("{why}{}", tail(stderr)), advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        let ssh = ssh::Host { to: "ana@tower".parse().unwrap(), port: None, identity: None, config: None };
        Host { name: "tower".to_owned(), ssh, path: "bin/gw".parse().unwrap() }
    }

    #[test]
    fn scripts_are_one_line_that_no_shell_reads_before_sh_does() {
        for script in [LOOK, PUT] {
            assert!(!script.contains('\'') && !script.contains('\n') && !script.contains('!'), "{script}");
            let read = std::process::Command::new("sh").args(["-n", "-c", script]).output().unwrap();
            assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        }
    }

    #[test]
    fn what_ssh_says_becomes_a_reason_and_a_next_step() {
        for (stderr, why, advice) in [
            (
                "No ED25519 host key is known for tower and you have requested strict checking.\r\nHost key verification failed.\r\n",
                "not known here",
                "fingerprint",
            ),
            (
                "@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n",
                "another than before",
                "find out why",
            ),
            ("ssh: connect to host tower port 22: Connection refused\n", "refuses", "port right"),
            ("ssh: connect to host tower port 22: Connection timed out\n", "cannot be reached", "VPN up"),
            (
                "Connection timed out during banner exchange\n",
                "cannot be reached",
                "`ssh ana@tower` yourself",
            ),
            ("ssh: connect to host tower port 22: No route to host\n", "cannot be reached", "VPN up"),
            ("ana@tower: Permission denied (publickey).\n", "does not let you in", "ssh-add"),
            (
                "ssh: Could not resolve hostname tower: Name or service not known\n",
                "name is not known",
                "[hosts.tower]",
            ),
            (
                "kex_exchange_identification: read: Connection reset by peer\n",
                "no connection: kex",
                "`ssh ana@tower`",
            ),
            ("", "there is no connection", "`ssh ana@tower`"),
        ] {
            let trouble = told(stderr, &host());
            assert!(trouble.why.contains(why), "{stderr}: {trouble:?}");
            assert!(trouble.advice.as_deref().unwrap().contains(advice), "{stderr}: {trouble:?}");
        }
        let hidden = told("\u{1b}]0;title\u{7}\u{202e}", &host());
        assert!(!hidden.why.contains('\u{1b}') && !hidden.why.contains('\u{202e}'), "{hidden:?}");
    }

    #[test]
    fn answers_are_found_among_whatever_else_a_host_prints() {
        let sha = "0123456789abcdef".repeat(4);
        let text = format!(
            "Welcome!\ngatewright:system=Linux x86_64\ngatewright:place=file\ngatewright:sha256={sha}\n\
             gatewright:version=gatewright 0.1.0\ngatewright:folder=fine\ngatewright:machine=mach_1\ngatewright:end=yes\n"
        );
        let there = File::There { sha256: sha, version: Some("0.1.0".to_owned()) };
        assert_eq!(
            found(&text).unwrap(),
            Found {
                system: "Linux x86_64".to_owned(),
                file: there,
                blocked: None,
                machine: Some("mach_1".to_owned())
            }
        );
        assert_eq!(found(&text.replace("gatewright:end=yes\n", "")), None, "it was cut");
        assert_eq!(found("bash: sh: command not found\n"), None);
        let other = found(&text.replace("gatewright 0.1.0", "busybox 1.2\u{1b}")).unwrap();
        assert!(matches!(other.file, File::There { version: None, .. }), "{other:?}");
        let blocked = found(&text.replace("folder=fine", "folder=/opt")).unwrap().blocked;
        assert_eq!(blocked.as_deref(), Some("/opt"));
        for (line, is) in [
            ("gatewright 1.2.3-rc.1", true),
            ("gatewright", false),
            ("gatewright x", false),
            ("cat 9", false),
        ] {
            assert_eq!(version(line).is_some(), is, "{line}");
        }
    }

    #[test]
    fn a_deployment_that_says_nothing_of_its_end_did_not_succeed() {
        let put = |text: &str| put(text, "", &host());
        let report =
            "gatewright:state=deployed\ngatewright:code=0\ngatewright:selftest\n{}\ngatewright:end=yes\n";
        assert!(matches!(put(report), Ok(Put::Deployed(said)) if said.starts_with("{}")));
        for broken in ["", "gatewright:state=deployed\n", "gatewright:state=great\ngatewright:selftest\n{}"] {
            assert!(put(broken).is_err(), "{broken}");
        }
        for (at, part) in [
            ("digest", "not what was sent"),
            ("start", "does not start"),
            ("copy", "written"),
            ("keep", ".old"),
        ] {
            assert!(put(&format!("gatewright:stopped={at}\n")).unwrap_err().why.contains(part));
        }
        let broken = put("gatewright:state=broken\n").unwrap_err();
        assert!(broken.advice.unwrap().contains("mv bin/gw.old bin/gw"));
    }
}
