//! The hosts of a fleet: a file of the user's own.
//!
//! ```toml
//! [hosts.tower]
//! ssh = "ana@tower.example"
//! port = 22
//! path = ".local/bin/gatewright"
//! identity = "~/.ssh/fleet"
//! config = "fleet.ssh"
//! ```

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use exec::helper::ssh::{Destination, Unfit, Word};
use exec::run::read_small;
use serde::Deserialize;

use super::super::CommandError;
use crate::config::{self, suggestion, with_suggestion};

/// Largest file of hosts, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Most characters of a host's name.
const MAX_NAME: usize = 64;
/// The file's name, beside the user's configuration.
const FILE: &str = "fleet.toml";
/// Where the program is where a host does not say.
const PATH: &str = ".local/bin/gatewright";
/// What a file of hosts looks like.
const EXAMPLE: &str = "[hosts.tower]\nssh = \"ana@tower.example\"";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Hosts {
    #[serde(default)]
    hosts: BTreeMap<Name, Section>,
}

/// `[hosts.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Section {
    /// `host` or `user@host`, as ssh is given it.
    ssh: Destination,
    /// The port, where it is not ssh's.
    port: Option<NonZeroU16>,
    /// Where the program is on the host: absolute, or from the home there.
    path: Option<Place>,
    /// The private key.
    identity: Option<String>,
    /// ssh's configuration, instead of the user's.
    config: Option<String>,
}

/// What a host is called here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_name = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && text.len() <= MAX_NAME
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if is_name {
            Ok(Self(text))
        } else {
            Err(format!(
                "{text:?} is no name: letters, digits, `.`, `_` and `-`, beginning with a letter, a digit or `_`, at most {MAX_NAME}"
            ))
        }
    }
}

/// Where the program is on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Place(Word);

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let word: Word = text.parse().map_err(|unfit: Unfit| unfit.to_string())?;
        let below = word.as_str().strip_prefix('/').unwrap_or(word.as_str());
        let is_file = below.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if is_file {
            Ok(Self(word))
        } else {
            Err(format!("{text:?} names no file: every part of it is a name, none of them `.` or `..`"))
        }
    }
}

/// One host of the fleet.
#[derive(Debug, Clone)]
pub struct Host {
    /// What it is called here.
    pub name: String,
    /// How it is reached.
    pub ssh: exec::helper::ssh::Host,
    /// Where the program is on it.
    pub path: Word,
}

/// The file that is meant.
fn file(named: Option<&Path>) -> Result<PathBuf, CommandError> {
    named.map(Path::to_path_buf).or_else(|| Some(config::user_path()?.with_file_name(FILE))).ok_or_else(
        || {
            CommandError::Usage(
                "neither XDG_CONFIG_HOME nor HOME is set: name the file of hosts with --hosts".to_owned(),
            )
        },
    )
}

/// The hosts of a file, those that are named of them, sorted by name.
pub fn load(named: Option<&Path>, only: &[String]) -> Result<Vec<Host>, CommandError> {
    let file = file(named)?;
    let shown = file.display();
    let text = read_small(&file, MAX_FILE).map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let fix = if missing { format!(". Write it, such as:\n{EXAMPLE}") } else { String::new() };
        CommandError::Usage(format!("the hosts of {shown} cannot be read: {error}{fix}"))
    })?;
    let text =
        String::from_utf8(text).map_err(|_| CommandError::Usage(format!("{shown} is no UTF-8 text")))?;
    let folder = file.parent().map(std::path::absolute).transpose()?.unwrap_or_default();
    let hosts = parse(&text, &folder).map_err(|why| CommandError::Usage(format!("{shown}: {why}")))?;
    let known: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    if let Some(unknown) = only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(CommandError::Usage(format!(
            "{shown} has no host {unknown:?}{}",
            suggestion(unknown, &known)
        )));
    }
    Ok(hosts.into_iter().filter(|host| only.is_empty() || only.contains(&host.name)).collect())
}

/// Parses a file of hosts; paths in it are from `folder`.
fn parse(text: &str, folder: &Path) -> Result<Vec<Host>, String> {
    let read: Hosts = toml::from_str(text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("line {line}: {}", with_suggestion(e.message()))
    })?;
    if read.hosts.is_empty() {
        return Err(format!("it has no hosts. Write them, such as:\n{EXAMPLE}"));
    }
    let here = |text: String| match text.strip_prefix("~/").zip(std::env::var_os("HOME")) {
        Some((below, home)) => Path::new(&home).join(below),
        None => folder.join(text),
    };
    let mut taken: BTreeMap<(Destination, Option<NonZeroU16>, Place), Name> = BTreeMap::new();
    let mut hosts = Vec::new();
    for (name, section) in read.hosts {
        let Section { ssh, port, path, identity, config } = section;
        let path = path.map_or_else(|| Place::try_from(PATH.to_owned()), Ok)?;
        // Two at once would put each other back.
        if let Some(Name(other)) = taken.insert((ssh.clone(), port, path.clone()), name.clone()) {
            return Err(format!("{other} and {} are the same file of the same host: leave one out", name.0));
        }
        let ssh =
            exec::helper::ssh::Host { to: ssh, port, identity: identity.map(here), config: config.map(here) };
        hosts.push(Host { name: name.0, ssh, path: path.0 });
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Host>, String> {
        parse(text, Path::new("/folder"))
    }

    #[test]
    fn a_host_has_a_name_a_destination_and_a_place() {
        let hosts = read(
            "[hosts.tower]\nssh = 'ana@tower'\nport = 2222\npath = '/opt/gw/gatewright'\nidentity = 'key'\nconfig = '/etc/x'\n\
             [hosts.b-2]\nssh = 'b2'\n",
        )
        .unwrap();
        let [b, tower] = hosts.as_slice() else { panic!("{hosts:?}") };
        assert_eq!((b.name.as_str(), b.path.as_str(), b.ssh.port), ("b-2", ".local/bin/gatewright", None));
        assert_eq!((tower.path.as_str(), tower.ssh.to.as_str()), ("/opt/gw/gatewright", "ana@tower"));
        assert_eq!(tower.ssh.identity.as_deref(), Some(Path::new("/folder/key")));
        assert_eq!(tower.ssh.config.as_deref(), Some(Path::new("/etc/x")));
    }

    #[test]
    fn the_hosts_of_the_guide_are_understood() {
        let page = include_str!("../../../../../docs/guide/fleet.md");
        let hosts = read(page.split("```toml").nth(1).unwrap().split("```").next().unwrap()).unwrap();
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["laptop", "tower"]);
        assert_eq!(hosts[0].ssh.config.as_deref(), Some(Path::new("/folder/fleet.ssh")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, part) in [
            ("[hosts.a]\nssh = 'a'\npotr = 22\n", 3, "did you mean `port`?"),
            ("[hosts.a]\nssh = '-oProxyCommand=id'\n", 2, "is no destination"),
            ("[hosts.a]\nssh = 'a'\n\npath = 'a b'\n", 4, "a shell could act on"),
            ("[hosts.a]\nssh = 'a'\npath = '-rf'\n", 3, "a shell could act on"),
            ("[hosts.a]\nssh = 'a'\npath = '../gatewright'\n", 3, "names no file"),
            ("[hosts.a]\nssh = 'a'\npath = 'bin/'\n", 3, "names no file"),
            ("[hosts.a]\nssh = 'a'\nport = 0\n", 3, "nonzero"),
            ("\n[hosts.'-a']\nssh = 'a'\n", 2, "is no name"),
            ("[hosts.a]\nport = 22\n", 1, "missing field `ssh`"),
            ("[hosts.a\n", 1, ""),
            ("[host.a]\nssh = 'a'\n", 1, "did you mean `hosts`?"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.starts_with(&format!("line {line}: ")) && why.contains(part), "{text}: {why}");
        }
        assert!(read("").unwrap_err().contains("[hosts.tower]"));
        let same = read("[hosts.a]\nssh = 'x'\n[hosts.b]\nssh = 'x'\n").unwrap_err();
        assert!(same.contains("a and b are the same"), "{same}");
        assert!(read("[hosts.a]\nssh = 'x'\n[hosts.b]\nssh = 'x'\npath = 'other'\n").is_ok());
    }
}
