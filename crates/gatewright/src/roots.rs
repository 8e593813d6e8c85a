//! Which directories are offered: `--root`, else the git top level, and the user's `[roots]` besides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use contract::{Code, Fault};
use exec::{Rights, Root, StateDir};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config;

/// The name of a root that was given none.
const UNNAMED: &str = "root";

/// `[roots.NAME]`: the user's alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RootSection {
    /// The directory: absolute, or from the home directory with `~/`.
    pub path: String,
    /// Whether tools may only look.
    #[serde(default)]
    pub read_only: bool,
}

/// The `[roots]` section.
pub type RootsSection = BTreeMap<String, RootSection>;

/// One `--root`: `DIR` or `NAME=DIR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootArg {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.len() <= 40 && text.chars().all(plain)
}

impl FromStr for RootArg {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A directory whose name has a `=` is still a directory: `./a=b` is no name.
        let (name, path) = text.split_once('=').filter(|(name, _)| is_name(name)).unwrap_or((UNNAMED, text));
        Ok(Self { name: name.to_owned(), path: path.into() })
    }
}

/// What a person asked for.
#[derive(Debug, Clone, Default)]
pub struct Asked(pub Vec<RootArg>);

impl Asked {
    /// What was asked for, with the names of configured roots in the place of directories that are not there.
    pub fn with_configured(self) -> Self {
        let plain = |arg: &RootArg| arg.name == UNNAMED && !arg.path.exists();
        if !self.0.iter().any(plain) {
            return self;
        }
        // A configuration that does not read is said by whoever needs it.
        let configured = config::load(None).map(|config| config.roots).unwrap_or_default();
        let named = |arg: RootArg| {
            let section =
                arg.path.to_str().filter(|_| plain(&arg)).and_then(|name| configured.get_key_value(name));
            match section {
                Some((name, section)) => RootArg { name: name.clone(), path: home(&section.path) },
                None => arg,
            }
        };
        Self(self.0.into_iter().map(named).collect())
    }

    /// The place of the first root: the first `--root`, else the git top level of the working directory, else none.
    pub fn first_path(&self) -> Option<PathBuf> {
        match self.0.first() {
            Some(arg) => Some(arg.path.clone()),
            None => std::env::current_dir().ok().and_then(|here| Root::git_top_level(&here)),
        }
    }

    /// The words of the command line that ask for the same.
    pub fn words(&self) -> Vec<String> {
        let word = |arg: &RootArg| {
            let name = if arg.name == UNNAMED { String::new() } else { format!("{}=", arg.name) };
            ["--root".to_owned(), format!("{name}{}", arg.path.display())]
        };
        self.0.iter().flat_map(word).collect()
    }

    /// The first root: what commands about the record, and calls that name no root, are about.
    pub fn first(&self) -> Result<Option<Arc<Root>>, Fault> {
        let name = self.0.first().map_or(UNNAMED, |arg| arg.name.as_str());
        let configured = config::load(None).map(|config| config.roots).unwrap_or_default();
        let read_only = self.0.first().is_some_and(|arg| {
            configured.get(&arg.name).is_some_and(|s| s.read_only && home(&s.path) == arg.path)
        });
        let rights = if read_only { Rights::Read } else { Rights::ReadWrite };
        self.first_path().map(|path| open(&path, name, rights)).transpose()
    }

    /// Every root: the first, the command line's further ones, then the user's configured ones. Where there is no first,
    /// the first configured one is it.
    pub fn all(&self, first: Option<Arc<Root>>, configured: &RootsSection) -> Result<Vec<Arc<Root>>, Fault> {
        let mut roots: Vec<Arc<Root>> = first.into_iter().collect();
        for arg in self.0.iter().skip(1) {
            check_name(&arg.name, &roots)?;
            roots.push(open(&arg.path, &arg.name, Rights::ReadWrite)?);
        }
        for (name, section) in configured {
            let rights = if section.read_only { Rights::Read } else { Rights::ReadWrite };
            if roots.iter().any(|root| root.name() == name && real(&home(&section.path)) == root.path()) {
                // Named on the command line, too.
                continue;
            }
            check_name(name, &roots)?;
            match open(&home(&section.path), name, rights) {
                Ok(root) => roots.push(root),
                // A disk that is not mounted does not keep the others from being worked on.
                Err(fault) => tracing::warn!("{}", fault.message),
            }
        }
        Ok(roots)
    }
}

fn check_name(name: &str, taken: &[Arc<Root>]) -> Result<(), Fault> {
    if !is_name(name) {
        return Err(Fault::invalid(format!("{name:?} is not a root's name"))
            .suggest("Names begin with a lower-case letter and have letters, digits, `-` and `_`."));
    }
    if taken.iter().any(|root| root.name() == name) {
        return Err(Fault::invalid(format!("two roots are called {name:?}"))
            .suggest("Give every further root a name of its own: `--root NAME=DIR`."));
    }
    Ok(())
}

/// Opens a root. One that holds gatewright's own state or configuration, or lies in it, is refused: what tools may
/// change there would decide what tools may do.
pub fn open(path: &Path, name: &str, rights: Rights) -> Result<Arc<Root>, Fault> {
    let root = Root::open(path, name, rights)?;
    let own = [StateDir::base().ok(), config::user_path().and_then(|p| p.parent().map(Path::to_owned))];
    for own in own.into_iter().flatten() {
        let own = real(&own);
        if own.starts_with(root.path()) || root.path().starts_with(&own) {
            let message =
                format!("the root {name:?} and gatewright's own files ({}) lie in each other", own.display());
            return Err(Fault::new(Code::PathNotAllowed, message).suggest(
                "Name a directory that does not hold them with --root, or move them with XDG_STATE_HOME and XDG_CONFIG_HOME.",
            ));
        }
    }
    Ok(Arc::new(root))
}

/// `path` with its links resolved as far as it exists.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(there), Ok(rest)) = (std::fs::canonicalize(above), path.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { there } else { there.join(rest) };
        }
    }
    path.to_owned()
}

fn home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_has_a_name_or_is_a_directory_with_an_equals_sign() {
        let parse = |text: &str| text.parse::<RootArg>().unwrap();
        assert_eq!(parse("lib=../x"), RootArg { name: "lib".into(), path: "../x".into() });
        assert_eq!(parse("./a=b"), RootArg { name: "root".into(), path: "./a=b".into() });
        assert_eq!(parse("/srv/app").name, "root");
    }

    #[test]
    fn roots_have_names_of_their_own() {
        let asked = |texts: &[&str]| Asked(texts.iter().map(|t| t.parse().unwrap()).collect());
        let place = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| {
            std::fs::create_dir(place.path().join(name)).unwrap();
            place.path().join(name).display().to_string()
        });
        let all = |asked: &Asked, configured: &RootsSection| asked.all(asked.first()?, configured);
        let none = RootsSection::new();
        assert_eq!(all(&asked(&[&a, &format!("b={b}")]), &none).unwrap().len(), 2);
        assert!(all(&asked(&[&a, &b]), &none).unwrap_err().message.contains("\"root\""));
        let section = |path: &str| RootSection { path: path.to_owned(), read_only: true };
        let configured =
            RootsSection::from([("gone".to_owned(), section("/nowhere")), ("lib".to_owned(), section(&b))]);
        let roots = all(&asked(&[&a]), &configured).unwrap();
        assert_eq!((roots[1].name(), roots[1].rights()), ("lib", Rights::Read));
        let only = Asked::default().all(None, &configured).unwrap();
        assert_eq!((only.len(), only[0].name()), (1, "lib"), "a root that is not there is left out");
        assert!(all(&asked(&[&format!("lib={a}")]), &configured).is_err());
    }

    #[test]
    fn a_root_never_holds_our_own_files() {
        let fault = Asked(vec!["/".parse().unwrap()]).first().unwrap_err();
        assert!(fault.code == Code::PathNotAllowed && fault.message.contains("own files"), "{fault:?}");
    }
}
