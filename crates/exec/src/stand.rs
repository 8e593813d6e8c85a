//! Where tools stand that work in a clone of the repository: HEAD and the work tree are the user's, so that a tool which goes from branch
//! to branch has a place of its own. It is forgotten once the user goes elsewhere.

use std::collections::BTreeMap;

use contract::Fault;
use serde::{Deserialize, Serialize};

use crate::state::StateDir;

/// Most places that are kept of one.
const MOST: usize = 5;

/// The file in a root's state folder.
const FILE: &str = "stands.json";

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stand {
    /// The user's own branch, as it was then.
    head: Option<String>,
    places: Vec<String>,
}

type Stands = BTreeMap<String, Stand>;

impl StateDir {
    /// The branches where tools called `of` stand, the newest first: one may be gone, or have been rehearsed and never made.
    #[must_use]
    pub fn stands(&self, of: &str, head: Option<&str>) -> Vec<String> {
        let mut all: Stands = Self::read_json(&self.path().join(FILE)).unwrap_or_default();
        all.remove(of)
            .filter(|stand| stand.head.as_deref() == head)
            .map(|stand| stand.places)
            .unwrap_or_default()
    }

    /// Keeps where they stand.
    pub fn stand(&self, of: &str, head: Option<&str>, places: &[String]) -> Result<(), Fault> {
        let _alone = self.lock()?;
        let file = self.path().join(FILE);
        let mut all: Stands = Self::read_json(&file).unwrap_or_default();
        let places = places.iter().take(MOST).cloned().collect();
        all.insert(of.to_owned(), Stand { head: head.map(str::to_owned), places });
        Self::write_json(&file, &all)
    }
}
