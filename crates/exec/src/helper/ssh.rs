//! OpenSSH's client: one fixed script on a host that the user named.
//!
//! What stands in a command line on the other side is a text of ours and [`Word`]s, in whose alphabet nothing means anything to a shell.
//! Nobody is asked anything, an unknown host key ends it, and nothing of the user's is forwarded there.

use std::fmt;
use std::net::Ipv6Addr;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{HelperError, Input, Program, Said, fed};

/// What ssh itself exits with, whatever was to be run: the connection failed.
pub const FAILED: i32 = 255;
/// Most characters of a word.
const MAX_WORD: usize = 255;
/// Most characters of a user's name.
const MAX_USER: usize = 32;

/// How it is spoken to. The first value that ssh finds counts: these stand before what the user configured.
const MANNERS: [&str; 9] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "StrictHostKeyChecking=yes",
    // A line that went dead is noticed within a minute.
    "ServerAliveInterval=15",
    "LogLevel=ERROR",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    // A connection of its own: a shared one would be held open by a process that outlives this one.
    "ControlMaster=no",
    "ControlPath=none",
];

/// Why a text is not what it is to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// No destination.
    #[error(
        "{0:?} is no destination: it is `host` or `user@host`, of letters, digits, `.`, `_` and `-`, each beginning with a letter, a \
         digit or `_`; for a port there is `port`"
    )]
    Destination(String),
    /// No word.
    #[error(
        "{0:?} has characters that a shell could act on: letters, digits, `.`, `_`, `-` and `/` are allowed, `-` not as the first"
    )]
    Word(String),
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Where ssh connects to: `host` or `user@host`. A host may be one of the user's ssh configuration, a name, or an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Destination(String);

impl Destination {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Destination {
    type Err = Unfit;

    fn from_str(text: &str) -> Result<Self, Unfit> {
        let is_name = |name: &str, most: usize| {
            name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && name.len() <= most
                && name.chars().all(is_plain)
        };
        let (user, host) = text.split_once('@').map_or((None, text), |(user, host)| (Some(user), host));
        let is_host = is_name(host, MAX_WORD) || host.parse::<Ipv6Addr>().is_ok();
        if is_host && user.is_none_or(|user| is_name(user, MAX_USER)) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Unfit::Destination(text.to_owned()))
        }
    }
}

/// A word that stands in a command line as it is: at most 255 of `A-Z a-z 0-9 . _ - /`, the first of which is no `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Word(String);

impl Word {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Word {
    type Err = Unfit;

    fn from_str(text: &str) -> Result<Self, Unfit> {
        let is_word = !text.is_empty()
            && text.len() <= MAX_WORD
            && !text.starts_with('-')
            && text.chars().all(|c| is_plain(c) || c == '/');
        if is_word { Ok(Self(text.to_owned())) } else { Err(Unfit::Word(text.to_owned())) }
    }
}

macro_rules! texts {
    ($($of:ident),*) => {$(
        impl TryFrom<String> for $of {
            type Error = Unfit;

            fn try_from(text: String) -> Result<Self, Unfit> {
                text.parse()
            }
        }

        impl fmt::Display for $of {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

texts!(Destination, Word);

/// A host, as its user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Where it is.
    pub to: Destination,
    /// Its port, where it is not the one that ssh's configuration says.
    pub port: Option<NonZeroU16>,
    /// The private key to use, and no other.
    pub identity: Option<PathBuf>,
    /// ssh's configuration, instead of the user's and the system's.
    pub config: Option<PathBuf>,
}

/// What is run over there: a POSIX shell's script, and its `$1`, `$2`, ….
#[derive(Debug, Clone, Copy)]
pub struct Remote<'w> {
    /// One line of ours without a `'`, which stands within quotes, so that the user's own shell there, whichever it is, reads none of it.
    pub script: &'static str,
    /// What it is given.
    pub words: &'w [Word],
}

impl Remote<'_> {
    /// The command line.
    fn line(&self) -> String {
        let mut line = format!("sh -c '{}' gatewright", self.script);
        for word in self.words {
            line.push(' ');
            line.push_str(word.as_str());
        }
        line
    }
}

/// ssh's arguments.
fn args(host: &Host, remote: Remote<'_>) -> Vec<String> {
    let mut args = vec!["-T".to_owned(), "-a".to_owned(), "-x".to_owned()];
    let path = |path: &Path| path.to_string_lossy().into_owned();
    if let Some(config) = &host.config {
        args.extend(["-F".to_owned(), path(config)]);
    }
    for option in MANNERS {
        args.extend(["-o".to_owned(), option.to_owned()]);
    }
    if let Some(identity) = &host.identity {
        args.extend(["-o".to_owned(), "IdentitiesOnly=yes".to_owned(), "-i".to_owned(), path(identity)]);
    }
    if let Some(port) = host.port {
        args.extend(["-p".to_owned(), port.to_string()]);
    }
    args.extend(["--".to_owned(), host.to.to_string(), remote.line()]);
    args
}

/// Runs a script on `host`, which reads `input`; started in the empty folder `nowhere`, for `after` at most. Blocking.
///
/// A code of [`FAILED`] is ssh's own: its standard error says why. What the script says comes from another machine and may be anything.
pub fn run(
    host: &Host,
    nowhere: &Path,
    remote: Remote<'_>,
    input: Input,
    after: Duration,
    cancel: &CancellationToken,
) -> Result<Said, HelperError> {
    let args = args(host, remote);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    fed(Program::Ssh, (nowhere, nowhere), &args, input, after, cancel)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_destination_is_a_host_and_perhaps_a_user_and_never_an_option() {
        for fine in ["build", "ana@build-1.example", "_svc@10.0.0.7", "root@::1", "2001:db8::7", "a_b@c_d"] {
            assert_eq!(fine.parse::<Destination>().unwrap().as_str(), fine);
        }
        let long = "h".repeat(256);
        for wrong in [
            "",
            "@",
            "ana@",
            "@build",
            "-oProxyCommand=id",
            "ana@-oProxyCommand=id",
            "-l@build",
            "a@b@c",
            "build;id",
            "$(id)",
            "a b",
            "build:22",
            "ssh://build",
            "ana@build\n",
            ".hidden",
            "b\u{fc}ro",
            "[::1]",
            "%h",
            &long,
        ] {
            assert_eq!(wrong.parse::<Destination>(), Err(Unfit::Destination(wrong.to_owned())));
        }
    }

    #[test]
    fn arguments_say_what_ssh_may_not_and_end_before_the_destination() {
        let host = Host {
            to: "ana@build".parse().unwrap(),
            port: NonZeroU16::new(2222),
            identity: Some("/keys/fleet".into()),
            config: Some("/fleet.config".into()),
        };
        let words = ["a/b".parse().unwrap(), "0f".parse().unwrap()];
        let args = args(&host, Remote { script: "echo \"$1\"", words: &words });
        let tail = &args[args.len() - 3..];
        assert_eq!(tail, ["--", "ana@build", "sh -c 'echo \"$1\"' gatewright a/b 0f"]);
        for option in
            ["BatchMode=yes", "ConnectTimeout=10", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes"]
        {
            assert!(args.windows(2).any(|pair| pair == ["-o", option]), "{option}: {args:?}");
        }
        for pair in [["-F", "/fleet.config"], ["-i", "/keys/fleet"], ["-p", "2222"]] {
            assert!(args.windows(2).any(|there| there == pair), "{pair:?}: {args:?}");
        }
    }

    #[test]
    fn what_is_no_regular_file_is_not_given_to_a_helper() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Input::File(std::fs::File::open(dir.path()).unwrap());
        assert!(matches!(folder.into_stdio(Program::Ssh), Err(HelperError::Input { .. })));
        let large = tempfile::tempfile().unwrap();
        large.set_len(super::super::MAX_INPUT + 1).unwrap();
        assert!(matches!(Input::File(large).into_stdio(Program::Ssh), Err(HelperError::Input { .. })));
        assert!(Input::File(tempfile::tempfile().unwrap()).into_stdio(Program::Ssh).is_ok());
    }

    proptest! {
        #[test]
        fn a_word_is_the_same_to_a_shell_as_to_us(text in "\\PC{0,40}|[A-Za-z0-9._/-]{1,40}") {
            let is_word = !text.is_empty()
                && !text.starts_with('-')
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
            prop_assert_eq!(text.parse::<Word>().is_ok(), is_word);
            if is_word {
                let split = std::process::Command::new("sh")
                    .args(["-c", &format!("printf '[%s]' {text}")])
                    .output()
                    .unwrap();
                prop_assert_eq!(String::from_utf8(split.stdout).unwrap(), format!("[{text}]"));
            }
        }

        #[test]
        fn whatever_is_taken_as_a_destination_is_no_option_and_one_word(text in "[-@:.%A-Za-z0-9_ ;$]{0,20}") {
            if let Ok(to) = text.parse::<Destination>() {
                prop_assert!(!to.as_str().starts_with('-') && !to.as_str().contains("@-"));
                prop_assert!(to.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b"._-@:".contains(&b)));
            }
        }
    }
}
