//! Which libraries there are, who finds what is in them, and what stands for an id.
//!
//! What a person keeps goes before what a repository brings: a clone must not put another text in the place of one that is known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::{Code, Fault, Principal, RelPath};
use exec::{Rights, Root};
use kit::ReadDesk;
use library::{LibraryName, PatternId};
use schemars::JsonSchema;
use search::LibraryView;
use serde::{Deserialize, Serialize};
use store_api::Uses;
use store_api::uses::Used;

use crate::stock::{Again, Item, Looking, Report, Stock};

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

/// The libraries of this machine, and what is known of all that were looked into: a service of the binary's.
#[derive(Default)]
pub struct Libraries {
    places: Vec<Place>,
    /// By the place of the root, and the library's name.
    known: Mutex<BTreeMap<Key, Arc<Mutex<Stock>>>>,
}

/// The place of a library's root, and its name.
type Key = (PathBuf, LibraryName);

/// Folders of a repository that are its library.
const OF_PROJECT: [&str; 3] = [".shared-patterns", ".agents/skills", ".claude/skills"];
/// The name of a repository's library.
pub(crate) const PROJECT: &str = "project";
/// Ids that are suggested for one that is unknown.
const NEAREST: usize = 3;

/// A library that a call may look into.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(crate) name: LibraryName,
    pub(crate) root: Arc<Root>,
    /// Its folders below the root: the root itself where one is `None`.
    pub(crate) folders: Vec<Option<RelPath>>,
}

impl Libraries {
    /// These, in the order in which they go before one another.
    #[must_use]
    pub fn new(mut places: Vec<Place>) -> Self {
        places.sort_by(|a, b| (a.tier, &a.name).cmp(&(b.tier, &b.name)));
        Self { places, known: Mutex::default() }
    }

    /// Those that are configured.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Those that whoever calls may look into, the first one first: the repository's is that of the call's root. A folder that is not
    /// there is no library; that is no fault.
    fn open_to(&self, desk: &ReadDesk) -> Vec<Library> {
        let is_own = matches!(desk.principal(), Principal::Local { .. });
        let opened = self.places.iter().filter(|place| is_own || place.shared).filter_map(|place| {
            let root = Root::open(&place.path, place.name.as_str(), Rights::Read).ok()?;
            let folders = vec![None];
            Some(Library { name: place.name.clone(), root: Arc::new(root), folders })
        });
        let mut all: Vec<Library> = opened.collect();
        all.extend(of_project(desk));
        all
    }

    fn stock(&self, library: &Library) -> Arc<Mutex<Stock>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (library.root.path().to_owned(), library.name.clone());
        Arc::clone(known.entry(key).or_default())
    }

    /// Looks through all that the call may look into. Blocking.
    pub(crate) fn look(&self, desk: &ReadDesk, used: &[Used], again: Again<'_>) -> Result<Looked, Fault> {
        let mut looked = Looked { libraries: Vec::new(), stocks: Vec::new(), reports: Vec::new() };
        for library in self.open_to(desk) {
            let stock = self.stock(&library);
            let count = |id: &str, stated: u64| {
                let one = used.binary_search_by(|used| {
                    (used.library.as_str(), used.pattern.as_str()).cmp(&(library.name.as_str(), id))
                });
                one.ok().and_then(|at| used.get(at)).map_or(stated, |used| used.count(stated))
            };
            let looking =
                Looking { clean: &|text| desk.cleaned(text), uses: &count, again, cancel: desk.cancelled() };
            let report = {
                let mut stock = stock.lock().unwrap_or_else(PoisonError::into_inner);
                match stock.refresh(&library, &looking) {
                    Err(fault) if fault.code != Code::Cancelled => {
                        // One library's fault is not the others'.
                        stock.cannot_be_read(&library, &fault);
                        Report::default()
                    }
                    done => done?,
                }
            };
            looked.libraries.push(library);
            looked.stocks.push(stock);
            looked.reports.push(report);
        }
        Ok(looked)
    }
}

impl std::fmt::Debug for Libraries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Libraries").field("places", &self.places).finish_non_exhaustive()
    }
}

fn of_project(desk: &ReadDesk) -> Option<Library> {
    if !desk.has_root() {
        return None;
    }
    let root = Arc::clone(desk.view().root());
    let folders = OF_PROJECT.iter().filter_map(|name| RelPath::new(name).ok()).map(Some).collect();
    let name = LibraryName::new(PROJECT).ok()?;
    Some(Library { name, root, folders })
}

/// A library as a person is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// What it is called.
    pub name: String,
    /// Where it is looked for.
    pub places: Vec<String>,
    /// How many patterns it has; `None` where there is no such folder.
    pub patterns: Option<u64>,
    /// What is wrong with its files.
    pub problems: Vec<library::Problem>,
}

/// The libraries that a call may look into, the first one first; those that are not there, too. Blocking.
pub fn overview(desk: &ReadDesk) -> Result<Vec<Overview>, Fault> {
    let libraries = service(desk)?;
    let looked = libraries.look(desk, &[], Again::Looked)?;
    let held = looked.hold();
    let there = |name: &LibraryName| held.iter().find(|(library, _)| library.name == *name);
    let told = |name: &LibraryName, places: Vec<String>| {
        let found = there(name);
        Overview {
            name: name.to_string(),
            places,
            patterns: found.map(|(_, stock)| stock.items.len() as u64),
            problems: found.map(|(_, stock)| stock.problems()).unwrap_or_default(),
        }
    };
    let kept = libraries.places.iter().map(|place| told(&place.name, vec![place.path.display().to_string()]));
    let mut all: Vec<Overview> = kept.collect();
    all.extend(of_project(desk).map(|library| {
        let place =
            |folder: &Option<RelPath>| folder.as_ref().map_or_else(|| ".".to_owned(), ToString::to_string);
        told(&library.name, library.folders.iter().map(place).collect())
    }));
    Ok(all)
}

/// The service.
pub(crate) fn service(desk: &ReadDesk) -> Result<Arc<Libraries>, Fault> {
    desk.service::<Libraries>().ok_or_else(|| Fault::internal("no libraries were provided"))
}

/// What is recorded of uses, by library and pattern.
pub(crate) async fn used(desk: &ReadDesk) -> Result<Vec<Used>, Fault> {
    let store = desk.service::<dyn Uses>().ok_or_else(|| Fault::internal("no store of uses was provided"))?;
    Ok(store.all_used().await?)
}

/// The libraries that a call may look into, as they are now.
pub(crate) struct Looked {
    pub(crate) libraries: Vec<Library>,
    stocks: Vec<Arc<Mutex<Stock>>>,
    pub(crate) reports: Vec<Report>,
}

/// The same, while nobody changes what is known of them.
pub(crate) struct Held<'l> {
    pub(crate) libraries: &'l [Library],
    pub(crate) stocks: Vec<MutexGuard<'l, Stock>>,
}

impl Looked {
    /// Holds them. Everybody takes them in the same order.
    pub(crate) fn hold(&self) -> Held<'_> {
        let stocks = self.stocks.iter().map(|stock| stock.lock().unwrap_or_else(PoisonError::into_inner));
        Held { libraries: &self.libraries, stocks: stocks.collect() }
    }
}

impl Held<'_> {
    /// Each with what it holds, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Library, &Stock)> {
        self.libraries.iter().zip(self.stocks.iter().map(|stock| &**stock))
    }

    /// The libraries that have a pattern of this id, as indices, the first one first.
    pub(crate) fn owners(&self, short: &str) -> Vec<usize> {
        let has = self.stocks.iter().map(|stock| stock.items.contains_key(short));
        has.enumerate().filter_map(|(at, has)| has.then_some(at)).collect()
    }

    /// What an id stands for: in the library that it names, else in the first one that has it.
    pub(crate) fn resolve(&self, id: &PatternId) -> Result<(&Library, &Item), Fault> {
        let named = id.library();
        let found = self.iter().find_map(|(library, stock)| {
            let fits = named.as_ref().is_none_or(|name| *name == library.name);
            if fits { Some((library, stock.items.get(id.short())?)) } else { None }
        });
        found.ok_or_else(|| self.unknown(id))
    }

    fn unknown(&self, id: &PatternId) -> Fault {
        if let Some(name) = id.library()
            && !self.libraries.iter().any(|library| library.name == name)
        {
            let names: Vec<&str> = self.libraries.iter().map(|library| library.name.as_str()).collect();
            let message = format!("there is no library {name} here; there are: {}", names.join(", "));
            return Fault::new(Code::PatternNotFound, message);
        }
        let categories: BTreeSet<&str> = self
            .stocks
            .iter()
            .flat_map(|stock| stock.items.values().map(|item| item.id.category()))
            .collect();
        if !categories.contains(id.category()) {
            return category_invalid(id.category(), &categories);
        }
        let views: Vec<LibraryView<'_>> = self.stocks.iter().map(|stock| stock.index.view()).collect();
        let mut near: Vec<String> = search::nearest(&views, id.short(), NEAREST)
            .into_iter()
            .map(|(_, id)| format!("`{id}`"))
            .collect();
        near.dedup();
        let fault = Fault::new(Code::PatternNotFound, format!("there is no pattern {id}"));
        if near.is_empty() {
            fault.suggest("`find_patterns` finds patterns by what they are about.")
        } else {
            fault.suggest(format!("Perhaps {} is meant.", near.join(" or ")))
        }
    }

    /// All that is wrong, by library.
    pub(crate) fn problems(&self) -> Vec<(LibraryName, library::Problem)> {
        self.iter()
            .flat_map(|(library, stock)| stock.problems().into_iter().map(|p| (library.name.clone(), p)))
            .collect()
    }
}

/// No library has such a category.
pub(crate) fn category_invalid(category: &str, known: &BTreeSet<&str>) -> Fault {
    let known: Vec<&str> = known.iter().copied().collect();
    let fault = Fault::new(Code::CategoryInvalid, format!("no library here has a category {category}"));
    if known.is_empty() {
        fault.suggest("There is no pattern at all: `gatewright library list` says where they are looked for.")
    } else {
        fault.suggest(format!("There are: {}.", known.join(", ")))
    }
}
