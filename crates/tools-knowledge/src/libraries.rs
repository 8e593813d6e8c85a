//! Which libraries there are, who finds what is in them, and what stands for an id.
//!
//! What a person keeps goes before what a repository brings: a clone must not put another text in the place of one that is known.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use contract::{Code, Fault, Principal, RelPath};
use exec::{Rights, Root};
use kit::ReadDesk;
use library::{LibraryName, PatternId};
use schemars::JsonSchema;
use search::{Answer, Blob, LibraryView, Order, Plan, Query};
use serde::{Deserialize, Serialize};
use store_api::index::{Term, Whose};
use store_api::uses::Used;
use store_api::{Indexes, StoreError, Uses};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::files::{BuiltIn, Files};
use crate::serving;
use crate::stock::{Again, Item, Looking, Report, Seen, Snapshot, Stock, Unkept, blobs};

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
    /// Whether tools may change it.
    pub write: bool,
}

impl Place {
    /// Whether whoever calls may look into it.
    #[must_use]
    pub const fn is_open_to(&self, principal: &Principal) -> bool {
        self.shared || matches!(principal, Principal::Local { .. })
    }
}

/// The libraries of this machine, and what is known of all that were looked into: a service of the binary's.
#[derive(Default)]
pub struct Libraries {
    places: Vec<Place>,
    built_in: Option<Library>,
    lasts: bool,
    /// By the place of the root, and the library's name.
    known: Mutex<BTreeMap<Key, Arc<Stock>>>,
}

/// The place of a library's root, and its name.
type Key = (PathBuf, LibraryName);

/// Folders of a repository that are its library.
const OF_PROJECT: [&str; 3] = [".shared-patterns", ".agents/skills", ".claude/skills"];
/// The name of a repository's library.
pub(crate) const PROJECT: &str = "project";
/// The name of what is part of the program.
pub(crate) const BUILT_IN: &str = "gatewright";
/// Ids that are suggested for one that is unknown.
const NEAREST: usize = 3;

/// A library that a call may look into.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(crate) name: LibraryName,
    pub(crate) root: Files,
    /// Its folders below the root: the root itself where one is `None`.
    pub(crate) folders: Vec<Option<RelPath>>,
}

impl Libraries {
    /// These, in the order in which they go before one another.
    #[must_use]
    pub fn new(mut places: Vec<Place>) -> Self {
        places.sort_by(|a, b| (a.tier, &a.name).cmp(&(b.tier, &b.name)));
        Self { places, built_in: None, lasts: false, known: Mutex::default() }
    }

    /// The same in a process that answers many questions: it has the machine tell of changes from the first one on.
    #[must_use]
    pub const fn that_last(mut self, lasts: bool) -> Self {
        self.lasts = lasts;
        self
    }

    /// The same, and what is part of the program: everyone finds it, after all others.
    #[must_use]
    pub fn with_built_in(mut self, files: BuiltIn) -> Self {
        let library = |name| Library { name, root: Files::BuiltIn(files), folders: vec![None] };
        self.built_in = LibraryName::new(BUILT_IN).ok().map(library);
        self
    }

    /// Those that are configured.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Those that whoever calls may look into, the first one first: the repository's is that of the call's root. A folder that is not
    /// there is no library; that is no fault.
    fn open_to(&self, desk: &ReadDesk) -> Vec<Library> {
        let open = self.places.iter().filter(|place| place.is_open_to(desk.principal()));
        let opened = open.filter_map(|place| {
            let root = Root::open(&place.path, place.name.as_str(), Rights::Read).ok()?;
            let folders = vec![None];
            Some(Library { name: place.name.clone(), root: Files::Below(Arc::new(root)), folders })
        });
        let mut all: Vec<Library> = opened.collect();
        all.extend(of_project(desk));
        all.extend(self.built_in.clone());
        all
    }

    fn stock(&self, desk: &ReadDesk, library: &Library) -> Result<Arc<Stock>, Fault> {
        let indexes = desk
            .service::<dyn Indexes>()
            .ok_or_else(|| Fault::internal("nothing was provided that keeps indexes"))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (library.root.path().to_owned(), library.name.clone());
        let whose = Whose { place: key.0.to_string_lossy().into_owned(), name: key.1.to_string() };
        Ok(Arc::clone(known.entry(key).or_insert_with(|| Arc::new(Stock::new(indexes, whose, self.lasts)))))
    }

    /// Looks through all that the call may look into. Blocking, within a runtime.
    pub(crate) fn look(&self, desk: &ReadDesk, used: &[Used], again: Again<'_>) -> Result<Looked, Fault> {
        self.look_into(self.open_to(desk), desk, used, again)
    }

    /// The same as [`Self::look`] with [`Again::Changed`], and what is recorded of uses: the libraries are opened while that is read.
    pub(crate) fn look_with(&self, desk: &ReadDesk, using: Using) -> Result<(Looked, Arc<[Used]>), Fault> {
        let open = self.open_to(desk);
        let used = using.wait()?;
        Ok((self.look_into(open, desk, &used, Again::Changed)?, used))
    }

    fn look_into(
        &self,
        libraries: Vec<Library>,
        desk: &ReadDesk,
        used: &[Used],
        again: Again<'_>,
    ) -> Result<Looked, Fault> {
        let mut looked = Looked { libraries: Vec::new(), reports: Vec::new() };
        for library in libraries {
            let stock = self.stock(desk, &library)?;
            let looking = Looking { desk, used, library: &library.name, again, cancel: desk.cancelled() };
            let Seen { snapshot, report, is_now } = match stock.look(&library, &looking) {
                // One library's fault is not the others'.
                Err(fault) if fault.code == Code::TooLarge => {
                    let snapshot = Arc::new(Snapshot::unread(&library, &fault));
                    Seen { snapshot, report: Report::default(), is_now: false }
                }
                done => done?,
            };
            looked.libraries.push(Opened { library, stock, snapshot, is_now });
            looked.reports.push(report);
        }
        Ok(looked)
    }

    /// The pattern of an id as its files are now, and the library that has it. Blocking, within a runtime.
    pub(crate) fn pattern(
        &self,
        desk: &ReadDesk,
        used: &[Used],
        id: &PatternId,
    ) -> Result<(Library, Arc<Item>), Fault> {
        self.pattern_in(self.look(desk, used, Again::Changed)?, desk, used, id)
    }

    /// The same, first in what was looked at already.
    pub(crate) fn pattern_in(
        &self,
        mut looked: Looked,
        desk: &ReadDesk,
        used: &[Used],
        id: &PatternId,
    ) -> Result<(Library, Arc<Item>), Fault> {
        let mut again = Again::Changed;
        loop {
            let found = looked.resolve(id);
            let is_fresh = found.as_ref().is_ok_and(|(opened, item)| opened.is_fresh(item));
            // What is not there, or is otherwise, may have come or changed just now.
            if is_fresh || again == Again::Looked {
                return found.map(|(opened, item)| (opened.library.clone(), item));
            }
            if let Ok((opened, item)) = found {
                opened.look_at(desk, used, &[item])?;
            } else {
                again = Again::Looked;
            }
            looked = self.look(desk, used, again)?;
        }
    }
}

impl Library {
    /// Whether it is part of the program.
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.root, Files::BuiltIn(_))
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
    let root = Files::Below(Arc::clone(desk.view().root()));
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

/// The libraries that a call may look into, the first one first; those that are not there, too.
pub async fn overview(desk: &ReadDesk) -> Result<Vec<Overview>, Fault> {
    let (libraries, used) = (service(desk)?, used(desk).await?);
    desk.blocking(move |desk| overview_of(desk, &libraries, &used)).await
}

fn overview_of(desk: &ReadDesk, libraries: &Libraries, used: &[Used]) -> Result<Vec<Overview>, Fault> {
    let looked = libraries.look(desk, used, Again::Looked)?;
    let refused = serving::refused(desk, &serving::candidates(&looked)?)?;
    let told = |name: &LibraryName, places: Vec<String>| {
        let found = looked.libraries.iter().find(|opened| opened.library.name == *name);
        Ok::<_, Fault>(Overview {
            name: name.to_string(),
            places,
            patterns: found.map(|opened| u64::from(opened.snapshot.view().documents())),
            problems: found.map(Opened::problems).transpose()?.unwrap_or_default(),
        })
    };
    let kept = libraries.places.iter().map(|place| told(&place.name, vec![place.path.display().to_string()]));
    let mut all = kept.collect::<Result<Vec<Overview>, Fault>>()?;
    if let Some(library) = of_project(desk) {
        let place =
            |folder: &Option<RelPath>| folder.as_ref().map_or_else(|| ".".to_owned(), ToString::to_string);
        all.push(told(&library.name, library.folders.iter().map(place).collect())?);
    }
    if let Some(own) = &libraries.built_in {
        all.push(told(&own.name, vec!["part of the program".to_owned()])?);
    }
    for (library, problem) in refused {
        if let Some(one) = all.iter_mut().find(|one| one.name == library.as_str()) {
            one.problems.push(problem);
        }
    }
    for one in &mut all {
        one.problems.sort();
    }
    Ok(all)
}

/// The service.
pub(crate) fn service(desk: &ReadDesk) -> Result<Arc<Libraries>, Fault> {
    desk.service::<Libraries>().ok_or_else(|| Fault::internal("no libraries were provided"))
}

/// What is recorded of uses, by library and pattern.
pub(crate) async fn used(desk: &ReadDesk) -> Result<Arc<[Used]>, Fault> {
    let store = desk.service::<dyn Uses>().ok_or_else(no_uses)?;
    Ok(store.all_used().await?)
}

/// What is recorded of uses, perhaps being read.
pub(crate) enum Using {
    Read(Result<Arc<[Used]>, StoreError>),
    Reading(JoinHandle<Result<Arc<[Used]>, StoreError>>),
}

impl Using {
    /// Begins to read it. What the store has at hand needs nobody who waits for it.
    pub(crate) async fn of(desk: &ReadDesk) -> Result<Self, Fault> {
        let store = desk.service::<dyn Uses>().ok_or_else(no_uses)?;
        let mut answer = store.all_used();
        Ok(match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
            Poll::Ready(used) => Self::Read(used),
            Poll::Pending => Self::Reading(tokio::spawn(answer)),
        })
    }

    /// What it is. Blocking, within a runtime.
    fn wait(self) -> Result<Arc<[Used]>, Fault> {
        let internal = |error: &dyn std::error::Error| Fault::internal(error.to_string());
        let read = match self {
            Self::Read(read) => read,
            Self::Reading(reading) => {
                let runtime = Handle::try_current().map_err(|error| internal(&error))?;
                runtime.block_on(reading).map_err(|error| internal(&error))?
            }
        };
        Ok(read?)
    }
}

fn no_uses() -> Fault {
    Fault::internal("no store of uses was provided")
}

/// The libraries that a call may look into, as they are now, the first one first.
pub(crate) struct Looked {
    pub(crate) libraries: Vec<Opened>,
    pub(crate) reports: Vec<Report>,
}

/// A library as it is now.
pub(crate) struct Opened {
    pub(crate) library: Library,
    pub(crate) stock: Arc<Stock>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// Whether every file is as it says, just now.
    pub(crate) is_now: bool,
}

impl Opened {
    /// Whether a pattern's files are as they were when it was read.
    pub(crate) fn is_fresh(&self, item: &Item) -> bool {
        self.is_now || item.is_fresh(&self.library)
    }

    /// All that is wrong, by file.
    pub(crate) fn problems(&self) -> Result<Vec<library::Problem>, Fault> {
        self.told(self.stock.problems(&self.snapshot))
    }

    /// Patterns by their ids, in order: those that are there.
    pub(crate) fn items(&self, ids: &[String]) -> Result<Vec<Arc<Item>>, Fault> {
        self.told(self.stock.items(&self.snapshot, ids))
    }

    /// Looks at patterns again whose files have changed. Blocking, within a runtime.
    pub(crate) fn look_at(&self, desk: &ReadDesk, used: &[Used], changed: &[Arc<Item>]) -> Result<(), Fault> {
        let (library, again, cancel) = (&self.library, Again::Changed, desk.cancelled());
        let looking = Looking { desk, used, library: &library.name, again, cancel };
        match self.stock.look_at(library, &looking, changed) {
            Ok(()) => Ok(()),
            Err(Unkept::Fault(fault)) => Err(fault),
            // Somebody else was faster.
            Err(Unkept::Gone) => {
                self.stock.forget();
                Ok(())
            }
        }
    }

    /// What was asked of an index; one that somebody else has made anew meanwhile is read again by the next call.
    pub(crate) fn told<T>(&self, answer: Result<T, Unkept>) -> Result<T, Fault> {
        answer.map_err(|unkept| match unkept {
            Unkept::Fault(fault) => fault,
            Unkept::Gone => {
                self.stock.forget();
                let message = format!("the index of the library {} was just made anew", self.library.name);
                Fault::new(Code::Conflict, message).suggest("Ask again.")
            }
        })
    }
}

impl Looked {
    /// The indexes, as a question sees them.
    pub(crate) fn views(&self) -> Vec<LibraryView<'_>> {
        self.libraries.iter().map(|opened| opened.snapshot.view()).collect()
    }

    /// Answers a question. [`Unkept::Gone`] where another process has made an index anew: look again.
    pub(crate) fn search(&self, query: &Query, order: Order, most: usize) -> Result<Answer, Unkept> {
        let views = self.views();
        let plan = Plan::new(query, &views);
        let answer = self.answer(&views, &plan, order, most)?;
        if answer.total > 0 || !plan.is_cut() {
            return Ok(answer);
        }
        // The words that were looked for are there, but not where it was asked for.
        self.answer(&views, &Plan::thorough(query, &views), order, most)
    }

    fn answer(
        &self,
        views: &[LibraryView<'_>],
        plan: &Plan,
        order: Order,
        most: usize,
    ) -> Result<Answer, Unkept> {
        let mut terms: Vec<Vec<Arc<Term>>> = Vec::with_capacity(views.len());
        for (at, Opened { stock, snapshot, .. }) in self.libraries.iter().enumerate() {
            let found = stock.terms(snapshot, &plan.needs(at));
            terms.push(found.inspect_err(|_| stock.forget())?);
        }
        let blobs: Vec<Vec<Blob<'_>>> = terms.iter().map(|terms| blobs(terms)).collect();
        Ok(search::answer(views, plan, &blobs, order, most)?)
    }

    /// The libraries that have a pattern of this id, as indices, the first one first.
    pub(crate) fn owners(&self, short: &str) -> Vec<usize> {
        let has = self.libraries.iter().map(|opened| opened.snapshot.view().has(short));
        has.enumerate().filter_map(|(at, has)| has.then_some(at)).collect()
    }

    /// What an id stands for: in the library that it names, else in the first one that has it.
    pub(crate) fn resolve(&self, id: &PatternId) -> Result<(&Opened, Arc<Item>), Fault> {
        let named = id.library();
        let open =
            self.libraries.iter().filter(|opened| named.as_ref().is_none_or(|n| *n == opened.library.name));
        for opened in open.filter(|opened| opened.snapshot.view().has(id.short())) {
            if let Some(item) = opened.items(&[id.short().to_owned()])?.pop() {
                return Ok((opened, item));
            }
        }
        Err(self.unknown(id))
    }

    fn unknown(&self, id: &PatternId) -> Fault {
        if let Some(name) = id.library()
            && !self.libraries.iter().any(|opened| opened.library.name == name)
        {
            let names: Vec<&str> = self.libraries.iter().map(|opened| opened.library.name.as_str()).collect();
            let message = format!("there is no library {name} here; there are: {}", names.join(", "));
            return Fault::new(Code::PatternNotFound, message);
        }
        let categories = self.categories();
        if !categories.contains_key(id.category()) {
            return category_invalid(id.category(), categories.keys().map(String::as_str));
        }
        let near = search::nearest(&self.views(), id.short(), NEAREST);
        let mut near: Vec<String> = near.into_iter().map(|(_, id)| format!("`{id}`")).collect();
        near.dedup();
        let fault = Fault::new(Code::PatternNotFound, format!("there is no pattern {id}"));
        if near.is_empty() {
            fault.suggest("`find_patterns` finds patterns by what they are about.")
        } else {
            fault.suggest(format!("Perhaps {} is meant.", near.join(" or ")))
        }
    }

    /// How many patterns each category has.
    pub(crate) fn categories(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for (category, count) in self.views().iter().flat_map(LibraryView::categories) {
            *all.entry(category).or_default() += count;
        }
        all
    }

    /// Whether a library has a pattern of the same id as one behind it.
    pub(crate) fn is_shadowing(&self) -> bool {
        let views = self.views();
        views.iter().enumerate().any(|(at, view)| {
            views.get(at + 1..).unwrap_or_default().iter().any(|behind| view.shares_with(behind))
        })
    }
}

/// No library has such a category.
pub(crate) fn category_invalid<'k>(category: &str, known: impl Iterator<Item = &'k str>) -> Fault {
    let known: Vec<&str> = known.collect();
    let fault = Fault::new(Code::CategoryInvalid, format!("no library here has a category {category}"));
    if known.is_empty() {
        fault.suggest("There is no pattern at all: `gatewright library list` says where they are looked for.")
    } else {
        fault.suggest(format!("There are: {}.", known.join(", ")))
    }
}
