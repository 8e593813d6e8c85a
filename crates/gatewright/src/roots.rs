//! Which directories are offered: `--root`, else the git top level, and the user's `[roots]` besides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use contract::Fault;
use exec::{Rights, Root};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The place of the first root: the first `--root`, else the git top level of the working directory, else none.
    pub fn first_path(&self) -> Option<PathBuf> {
        match self.0.first() {
            Some(arg) => Some(arg.path.clone()),
            None => std::env::current_dir().ok().and_then(|here| Root::git_top_level(&here)),
        }
    }

    /// The first root: what commands about the record, and calls that name no root, are about.
    pub fn first(&self) -> Result<Option<Arc<Root>>, Fault> {
        let name = self.0.first().map_or(UNNAMED, |arg| arg.name.as_str());
        self.first_path().map(|path| Root::open(&path, name, Rights::ReadWrite).map(Arc::new)).transpose()
    }

    /// The further roots, of the command line and of the user's configuration.
    pub fn others(&self, configured: &RootsSection) -> Result<Vec<Arc<Root>>, Fault> {
        let named = self.0.iter().skip(1).map(|arg| (arg.name.clone(), arg.path.clone(), Rights::ReadWrite));
        let named = named.chain(configured.iter().map(|(name, section)| {
            let rights = if section.read_only { Rights::Read } else { Rights::ReadWrite };
            (name.clone(), home(&section.path), rights)
        }));
        let mut taken = vec![self.0.first().map_or(UNNAMED, |arg| arg.name.as_str()).to_owned()];
        let mut roots: Vec<Arc<Root>> = Vec::new();
        for (name, path, rights) in named {
            if !is_name(&name) {
                return Err(Fault::invalid(format!("{name:?} is not a root's name"))
                    .suggest("Names begin with a lower-case letter and have letters, digits, `-` and `_`."));
            }
            if taken.contains(&name) {
                return Err(Fault::invalid(format!("two roots are called {name:?}"))
                    .suggest("Give every further root a name of its own: `--root NAME=DIR`."));
            }
            roots.push(Arc::new(Root::open(&path, &name, rights)?));
            taken.push(name);
        }
        Ok(roots)
    }
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
        assert_eq!(asked(&["/", "b=/", "a=/tmp"]).others(&RootsSection::new()).unwrap().len(), 2);
        assert!(asked(&["/", "/tmp"]).others(&RootsSection::new()).unwrap_err().message.contains("\"root\""));
        let section = RootSection { path: "/tmp".into(), read_only: true };
        let configured = RootsSection::from([("lib".to_owned(), section)]);
        let roots = asked(&["/"]).others(&configured).unwrap();
        assert_eq!((roots[0].name(), roots[0].rights()), ("lib", Rights::Read));
        assert!(asked(&["lib=/"]).others(&configured).is_err());
    }
}
