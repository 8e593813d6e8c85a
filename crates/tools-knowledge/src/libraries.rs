//! Which libraries there are, and who finds what is in them.
//!
//! What a person keeps goes before what a repository brings: a clone must not put another text in the place of one that is known.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{Principal, RelPath};
use exec::{Rights, Root};
use kit::ReadDesk;
use library::id::LibraryName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose a library is. An earlier one goes before a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A team's.
    Team,
    /// The user's own.
    User,
    /// The repository's.
    Project,
}

/// A library of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What it is called.
    pub name: LibraryName,
    /// Whose it is.
    pub tier: Tier,
    /// Its folder. There may be none yet.
    pub path: PathBuf,
    /// Whether everyone who may call over HTTP finds what is in it.
    pub shared: bool,
}

/// The libraries of this machine: a service of the binary's.
#[derive(Debug, Default)]
pub struct Libraries {
    places: Vec<Place>,
    pub(crate) finder: crate::finder::Finder,
}

/// Folders of a repository that are its library.
const OF_PROJECT: [&str; 3] = [".shared-patterns", ".agents/skills", ".claude/skills"];

/// A library that a call may look into.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(crate) name: LibraryName,
    pub(crate) tier: Tier,
    pub(crate) root: Arc<Root>,
    /// Its folders below the root: the root itself where one is `None`.
    pub(crate) folders: Vec<Option<RelPath>>,
}

impl Libraries {
    /// These, in the order in which they go before one another.
    #[must_use]
    pub fn new(mut places: Vec<Place>) -> Self {
        places.sort_by(|a, b| (a.tier, &a.name).cmp(&(b.tier, &b.name)));
        Self { places, finder: crate::finder::Finder::default() }
    }

    /// Those that whoever calls may look into, the first one first: the repository's is that of the call's root. A folder that is not
    /// there is no library; that is no fault. Blocking.
    pub(crate) fn open_to(&self, desk: &ReadDesk) -> Vec<Library> {
        let is_own = matches!(desk.principal(), Principal::Local { .. });
        let opened = self.places.iter().filter(|place| is_own || place.shared).filter_map(|place| {
            let root = Root::open(&place.path, place.name.as_str(), Rights::Read).ok()?;
            let folders = vec![None];
            Some(Library { name: place.name.clone(), tier: place.tier, root: Arc::new(root), folders })
        });
        let mut all: Vec<Library> = opened.collect();
        all.extend(Self::of_project(desk));
        all
    }

    fn of_project(desk: &ReadDesk) -> Option<Library> {
        if !desk.has_root() {
            return None;
        }
        let root = Arc::clone(desk.view().root());
        let folders: Vec<Option<RelPath>> = OF_PROJECT.iter().filter_map(|name| RelPath::new(name).ok()).map(Some).collect();
        let name = LibraryName::new("project").ok()?;
        Some(Library { name, tier: Tier::Project, root, folders })
    }
}
