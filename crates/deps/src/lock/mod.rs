//! Lock files in one vocabulary.

mod bun;
mod cargo;
mod npm;
mod pipfile;
mod pnpm;
mod python;
mod requirements;
mod yaml;
mod yarn;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::version::Ecosystem;

/// The largest lock that is read, in bytes. The largest seen in public repositories lie below 10 MiB.
pub const MAX_BYTES: usize = 64 << 20;

/// How many packages a lock may hold.
pub const MAX_PACKAGES: usize = 200_000;

/// Formats of lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `package-lock.json` and `npm-shrinkwrap.json`, lockfileVersion 1 to 3.
    Npm,
    /// `Cargo.lock`, versions 1 to 4.
    Cargo,
    /// `uv.lock`.
    Uv,
    /// `poetry.lock`, with the digests of 1.x at its end too.
    Poetry,
    /// `pylock.toml` (PEP 751).
    Pylock,
    /// `Pipfile.lock`.
    Pipfile,
    /// `pnpm-lock.yaml`, versions 6 and 9.
    Pnpm,
    /// `yarn.lock`, of yarn 1 and of later ones.
    Yarn,
    /// `bun.lock`, the text form.
    Bun,
    /// `requirements.txt` of pip.
    Requirements,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Npm,
        Self::Cargo,
        Self::Uv,
        Self::Poetry,
        Self::Pylock,
        Self::Pipfile,
        Self::Pnpm,
        Self::Yarn,
        Self::Bun,
        Self::Requirements,
    ];

    /// The format of a file by its name, without folders; none where it is no lock that is read here.
    pub fn of(file: &str) -> Option<Self> {
        match file {
            "package-lock.json" | "npm-shrinkwrap.json" => Some(Self::Npm),
            "Cargo.lock" => Some(Self::Cargo),
            "uv.lock" => Some(Self::Uv),
            "poetry.lock" => Some(Self::Poetry),
            "Pipfile.lock" => Some(Self::Pipfile),
            "pylock.toml" => Some(Self::Pylock),
            "pnpm-lock.yaml" => Some(Self::Pnpm),
            "yarn.lock" => Some(Self::Yarn),
            "bun.lock" => Some(Self::Bun),
            _ if file.starts_with("requirements") && file.strip_suffix(".txt").is_some() => {
                Some(Self::Requirements)
            }
            // PEP 751: `pylock.NAME.toml`, where the name has no dot.
            _ => file
                .strip_prefix("pylock.")
                .and_then(|rest| rest.strip_suffix(".toml"))
                .filter(|name| !name.is_empty() && !name.contains('.'))
                .map(|_| Self::Pylock),
        }
    }

    /// Whose rules its versions follow.
    pub const fn ecosystem(self) -> Ecosystem {
        match self {
            Self::Npm | Self::Pnpm | Self::Yarn | Self::Bun => Ecosystem::Npm,
            Self::Cargo => Ecosystem::Cargo,
            Self::Uv | Self::Poetry | Self::Pylock | Self::Pipfile | Self::Requirements => Ecosystem::Python,
        }
    }
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A registry.
    Registry,
    /// A repository of git or of another version control.
    Git,
    /// An archive at an address.
    Url,
    /// The project itself, a member of its workspace, or another local folder or file.
    Local,
    /// The lock does not say (npm's `bundled`).
    Unknown,
}

/// A package that a lock pins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Package {
    /// Its own name, not an alias.
    pub name: String,
    /// Its version; none where the lock holds none (a local package, a branch).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// The host of its address, without credentials or port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Digests of what may be installed, as the lock writes them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub digests: BTreeSet<String>,
    /// Whether it is for development alone; none where the lock does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<bool>,
    /// Whether it has install scripts; none where the lock does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<bool>,
    /// The range of interpreters it wants (npm's `engines.node`, Python's `requires-python`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Its place in the tree of npm (`node_modules/a/node_modules/b`): text of the file, not to be opened as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Package {
    fn new(name: String, version: Option<String>, source: Source) -> Self {
        let digests = BTreeSet::new();
        Self {
            name,
            version,
            source,
            host: None,
            digests,
            dev: None,
            scripts: None,
            engine: None,
            place: None,
        }
    }
}

/// A lock file, read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lock {
    /// Its format.
    pub format: Format,
    /// The version of the format that the file states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edition: Option<String>,
    /// What it pins, by name, version and place.
    pub packages: Vec<Package>,
}

/// Why a lock was not read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// More than [`MAX_BYTES`].
    #[error("the lock has {0} bytes; at most {MAX_BYTES} are read")]
    Large(usize),
    /// More than [`MAX_PACKAGES`].
    #[error("the lock holds {0} packages; at most {MAX_PACKAGES} are read")]
    Many(usize),
    /// No text of that format.
    #[error("the lock cannot be read: {0}; let its package manager write it anew")]
    Malformed(String),
    /// An edition of the format that nobody here knows.
    #[error("edition {0} of this lock is not known here; known are {1}")]
    Edition(String, &'static str),
}

/// Reads a lock. A byte order mark at its start is passed over.
pub fn read(format: Format, bytes: &[u8]) -> Result<Lock, Unread> {
    if bytes.len() > MAX_BYTES {
        return Err(Unread::Large(bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(malformed)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (edition, mut packages) = match format {
        Format::Npm => npm::read(text)?,
        Format::Cargo => cargo::read(text)?,
        Format::Uv => python::uv(text)?,
        Format::Poetry => python::poetry(text)?,
        Format::Pylock => python::pylock(text)?,
        Format::Pipfile => pipfile::read(text)?,
        Format::Pnpm => pnpm::read(text)?,
        Format::Yarn => yarn::read(text)?,
        Format::Bun => bun::read(text)?,
        Format::Requirements => requirements::read(text)?,
    };
    within(packages.len())?;
    packages.sort_by(|a, b| (&a.name, &a.version, &a.place).cmp(&(&b.name, &b.version, &b.place)));
    Ok(Lock { format, edition, packages })
}

/// What a format gives: the edition it states and its packages.
type Read = Result<(Option<String>, Vec<Package>), Unread>;

fn within(packages: usize) -> Result<(), Unread> {
    if packages > MAX_PACKAGES { Err(Unread::Many(packages)) } else { Ok(()) }
}

/// The first line of a parser's complaint: the rest quotes the file.
fn malformed(error: impl std::fmt::Display) -> Unread {
    Unread::Malformed(error.to_string().lines().next().unwrap_or_default().chars().take(200).collect())
}

/// `NAME@REST`, where the name may begin with `@`.
fn named(text: &str) -> Option<(&str, &str)> {
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The host of an address, in small letters, without user, password and port.
fn host(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let bare = match host.strip_prefix('[').and_then(|v6| v6.split_once(']')) {
        Some((v6, _)) => v6,
        None => host.split_once(':').map_or(host, |(bare, _)| bare),
    };
    (!bare.is_empty()).then(|| bare.to_ascii_lowercase())
}
