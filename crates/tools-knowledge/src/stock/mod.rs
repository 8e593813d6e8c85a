//! What one library holds. Files are the truth; an index in the store is made of them, brought up to date wherever they differ, and
//! made anew where it is missing.

mod build;
mod change;
mod item;
mod keeper;
mod listing;
mod read;
mod remembered;
mod report;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Digest, Fault};
use kit::ReadDesk;
use library::quality::is_verified;
use library::{LibraryName, Problem, Problems};
use search::{Blob, Need};
use store_api::Indexes;
use store_api::index::{Known, Term, Whose};
use store_api::uses::Used;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use exec::changes::Changes;

use crate::libraries::Library;
use keeper::{Keeper, There};
use listing::{Counted, Listing};

pub(crate) use item::Item;
pub(crate) use keeper::{Snapshot, Unkept};
pub(crate) use read::{document, read};
pub(crate) use report::{Counts, Report};

/// A library of at most so many files is looked through for every question.
const SMALL: u64 = 2_000;
/// Of fewer files nobody has the machine tell.
const FEW: u64 = 32;
/// One of more files is not waited for even the first time that a process asks, where there is an index of it.
const HUGE: u64 = 100_000;
/// A large one is looked through again after this time; so is a small one, of which the machine tells nothing.
const AGAIN: Duration = Duration::from_secs(5);
/// A large one is looked through again after this time, where the machine tells that it changed.
const SOON: Duration = Duration::from_secs(1);
/// A large one is looked through again after this time, where the machine tells of no change.
const WATCHED: Duration = Duration::from_mins(1);
/// Most problems of a library that are told.
const MAX_PROBLEMS: u32 = 1_000;
/// How often an index that others change is read anew.
const TRIES: usize = 8;

/// What is needed to look through a library.
#[derive(Clone, Copy)]
pub(crate) struct Looking<'a> {
    pub(crate) desk: &'a ReadDesk,
    /// What is recorded of uses, by library and pattern.
    pub(crate) used: &'a [Used],
    /// The library's name.
    pub(crate) library: &'a LibraryName,
    /// What is read again.
    pub(crate) again: Again<'a>,
    pub(crate) cancel: &'a CancellationToken,
}

/// What is read again that has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again<'a> {
    /// Nothing; a large library is looked through beside the answer.
    Changed,
    /// Nothing, but it is looked through now.
    Looked,
    /// All, or all of a category.
    All(Option<&'a str>),
}

impl Again<'_> {
    fn is_all(self, category: &str) -> bool {
        matches!(self, Self::All(only) if only.is_none_or(|only| only == category))
    }
}

/// What is recorded of a pattern's uses.
pub(crate) fn used_of<'u>(used: &'u [Used], library: &str, id: &str) -> Option<&'u Used> {
    let at = used.binary_search_by(|used| (used.library.as_str(), used.pattern.as_str()).cmp(&(library, id)));
    at.ok().and_then(|at| used.get(at))
}

impl Looking<'_> {
    /// `text` without secrets: none of them is to be found.
    fn clean(&self, text: &str) -> String {
        self.desk.cleaned(text)
    }

    /// How often a pattern was used, where its file says `stated`.
    fn uses(&self, id: &str, stated: u64) -> u64 {
        used_of(self.used, self.library.as_str(), id).map_or(stated, |used| used.count(stated))
    }

    /// What tells whether other patterns have become verified.
    fn verified(&self) -> String {
        let of_it = self.used.iter().filter(|used| used.library == self.library.as_str());
        let verified = of_it.filter(|used| is_verified(used.count(0)));
        let all: Vec<&str> = verified.map(|used| used.pattern.as_str()).collect();
        Digest::of(all.join("\n").as_bytes()).short(32)
    }

    fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }
}

/// What a library holds.
pub(crate) struct Stock {
    keeper: Keeper,
    /// Whether this process answers many questions.
    lasts: bool,
    current: Mutex<Current>,
    /// Who looks through the library; others wait for what that gives.
    looking: Mutex<()>,
    /// Whether it is looked through beside answers.
    is_checking: AtomicBool,
}

/// A library, as it was looked at.
pub(crate) struct Seen {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) report: Report,
    /// Whether every file is as it says, just now.
    pub(crate) is_now: bool,
}

/// What is known of a library.
#[derive(Default, Clone)]
struct Current {
    snapshot: Option<Arc<Snapshot>>,
    looked: Option<Instant>,
    /// What tells of changes since it was looked through; nothing while it is.
    changes: Option<Arc<Changes>>,
    /// When it was found that the machine does not tell of this library.
    untold: Option<Instant>,
}

/// What an index was found to be.
enum Loaded {
    /// There is one.
    Index(Arc<Snapshot>),
    /// There is none that can be read, but something of this epoch may be in its place.
    Nothing(Option<i64>),
}

impl Stock {
    pub(crate) fn new(indexes: Arc<dyn Indexes>, whose: Whose, lasts: bool) -> Self {
        Self {
            keeper: Keeper::new(indexes, whose),
            lasts,
            current: Mutex::default(),
            looking: Mutex::default(),
            is_checking: AtomicBool::new(false),
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known is not what is kept. Either somebody has changed that, or it is damaged, and then it is let go of.
    pub(crate) fn forget(&self) {
        let known = self.current().snapshot.take();
        if let Some(known) = known
            && matches!(self.keeper.epoch(), Ok(Some(epoch)) if epoch == known.epoch)
        {
            // Where that fails, whoever reads it next comes here again.
            let _ = self.keeper.forget();
        }
    }

    /// Brings it up to date, and says what that came to. A large library that is known is looked through beside the answer.
    pub(crate) fn look(self: &Arc<Self>, library: &Library, looking: &Looking<'_>) -> Result<Seen, Fault> {
        if looking.again == Again::Changed {
            if let Some(snapshot) = self.unchanged(library, looking) {
                return Ok(Seen { snapshot, report: Report::default(), is_now: true });
            }
            if let Some(snapshot) = self.at_once(library, looking)? {
                return Ok(Seen { snapshot, report: Report::default(), is_now: false });
            }
        }
        let (snapshot, report) = self.look_now(library, looking)?;
        Ok(Seen { snapshot, report, is_now: true })
    }

    /// What is known of a library of which the machine would have told that it changed, and has not.
    fn unchanged(&self, library: &Library, looking: &Looking<'_>) -> Option<Arc<Snapshot>> {
        let Current { snapshot, looked, changes, .. } = self.current().clone();
        let (snapshot, looked, changes) = (snapshot?, looked?, changes?);
        let is_same = !library.root.have_changed(&changes) && snapshot.notes.verified == looking.verified();
        // Whoever looks through it meanwhile has taken that, and what it had heard.
        let is_still = {
            let now = self.current();
            let is_told = now.changes.as_ref().is_some_and(|still| Arc::ptr_eq(still, &changes));
            is_told && now.looked == Some(looked)
        };
        // The machine is not believed for ever: another way to a file is not told of.
        let most = if snapshot.notes.files > SMALL { WATCHED } else { AGAIN };
        (is_same && is_still && looked.elapsed() < most).then_some(snapshot)
    }

    /// The same, however large it is.
    fn look_now(&self, library: &Library, looking: &Looking<'_>) -> Result<(Arc<Snapshot>, Report), Fault> {
        let _one = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            match self.look_through(library, looking) {
                Ok(done) => return Ok(done),
                Err(Unkept::Gone) => self.forget(),
                Err(Unkept::Fault(fault)) => return Err(fault),
            }
        }
        Err(Fault::new(
            Code::Conflict,
            format!("the library {} is indexed by others all the time", library.name),
        )
        .suggest("Try again when the other gatewright has done."))
    }

    /// What is known of a library that is part of the program, and of any other that is large.
    fn at_once(
        self: &Arc<Self>,
        library: &Library,
        looking: &Looking<'_>,
    ) -> Result<Option<Arc<Snapshot>>, Fault> {
        let loaded = match self.loaded() {
            // Its files do not change while it runs.
            Ok(Loaded::Index(snapshot)) if library.is_built_in() => {
                let is_same =
                    self.current().looked.is_some() && snapshot.notes.verified == looking.verified();
                return Ok(is_same.then_some(snapshot));
            }
            Ok(Loaded::Index(snapshot)) if snapshot.notes.files > SMALL => snapshot,
            Err(Unkept::Fault(fault)) => return Err(fault),
            _ => return Ok(None),
        };
        let Current { looked, changes, .. } = self.current().clone();
        // Where the machine tells that something has changed, that is not long put off.
        let is_told = changes.is_some_and(|changes| library.root.have_changed(&changes));
        let wait = if is_told { SOON } else { AGAIN };
        match looked {
            Some(at) if at.elapsed() < wait => return Ok(Some(loaded)),
            None if loaded.notes.files <= HUGE => return Ok(None),
            _ => {}
        }
        if !self.is_checking.swap(true, Ordering::AcqRel) {
            let (stock, library, desk) = (Arc::clone(self), library.clone(), looking.desk.clone());
            let used = looking.used.to_vec();
            let check = move || {
                let cancel = CancellationToken::new();
                let (desk, used, name) = (&desk, &*used, &library.name);
                let again = Again::Changed;
                let looking = Looking { desk, used, library: name, again, cancel: &cancel };
                // What is wrong with it, who asks for it by name is told.
                let _ = stock.look_now(&library, &looking);
                stock.is_checking.store(false, Ordering::Release);
            };
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn_blocking(check)),
                Err(_) => check(),
            }
        }
        Ok(Some(loaded))
    }

    /// Whether it is being looked through beside answers.
    pub(crate) fn is_checking(&self) -> bool {
        self.is_checking.load(Ordering::Acquire)
    }

    /// The index that is known, else the one that is kept.
    fn loaded(&self) -> Result<Loaded, Unkept> {
        if let Some(snapshot) = &self.current().snapshot {
            return Ok(Loaded::Index(Arc::clone(snapshot)));
        }
        Ok(match self.keeper.there()? {
            There::Nothing => Loaded::Nothing(None),
            There::Unreadable(epoch) => Loaded::Nothing(Some(epoch)),
            There::Index(snapshot) => {
                self.current().snapshot = Some(Arc::clone(&snapshot));
                Loaded::Index(snapshot)
            }
        })
    }

    /// What tells of changes from here on. It is taken: where looking fails, nobody believes what it says afterwards.
    fn told(&self, library: &Library) -> Option<Arc<Changes>> {
        let (changes, looked, untold, files) = {
            let mut current = self.current();
            let files = current.snapshot.as_ref().map(|snapshot| snapshot.notes.files);
            (current.changes.take(), current.looked, current.untold, files)
        };
        if let Some(changes) = changes {
            changes.begin();
            return Some(changes);
        }
        // A process that asks once has nothing from being told later, and a small library is looked through as fast.
        let is_worth = (self.lasts || looked.is_some()) && files.is_some_and(|files| files >= FEW);
        if !is_worth || untold.is_some_and(|at| at.elapsed() < WATCHED) {
            return None;
        }
        let changes = Counted::watched(library).map(Arc::new);
        if changes.is_none() {
            self.current().untold = Some(Instant::now());
        }
        changes
    }

    fn look_through(
        &self,
        library: &Library,
        looking: &Looking<'_>,
    ) -> Result<(Arc<Snapshot>, Report), Unkept> {
        let changes = self.told(library);
        let counted = Counted::of(library, looking.cancel)?;
        let changes = changes.filter(|changes| counted.is_watched(library, changes));
        let untold = if counted.has_links() { Some(Instant::now()) } else { self.current().untold };
        let (verified, census) = (looking.verified(), counted.census.clone());
        let is_same = |known: &Snapshot| {
            looking.again == Again::Changed
                && known.notes.census == census
                && known.notes.verified == verified
        };
        let mut loaded = self.loaded()?;
        if let Loaded::Index(known) = &loaded
            && !is_same(known)
            && self.keeper.epoch()? != Some(known.epoch)
        {
            // Another process has been faster, it may have done all of it.
            self.current().snapshot = None;
            loaded = self.loaded()?;
        }
        let looked = Some(Instant::now());
        if let Loaded::Index(known) = &loaded
            && is_same(known)
        {
            let snapshot = Some(Arc::clone(known));
            *self.current() = Current { snapshot, looked, changes, untold };
            return Ok((Arc::clone(known), Report::default()));
        }
        let listing = Listing::of(counted)?;
        let work = Work { keeper: &self.keeper, library, looking, listing: &listing, verified: &verified };
        let (snapshot, report) = match loaded {
            Loaded::Index(known) => match work.change(&known)? {
                Some((snapshot, report)) => (Arc::new(snapshot), report),
                None => work.build(Some(known.epoch), Some(&known))?,
            },
            Loaded::Nothing(epoch) => work.build(epoch, None)?,
        };
        *self.current() = Current { snapshot: Some(Arc::clone(&snapshot)), looked, changes, untold };
        Ok((snapshot, report))
    }

    /// Looks at these alone, whose files have changed since they were looked at. Nobody is told of what else has.
    pub(crate) fn look_at(
        &self,
        library: &Library,
        looking: &Looking<'_>,
        items: &[Arc<Item>],
    ) -> Result<(), Unkept> {
        let _one = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let Loaded::Index(known) = self.loaded()? else { return Err(Unkept::Gone) };
        let changed = change::some(&self.keeper, library, looking, &known, items)?;
        self.current().snapshot = Some(Arc::new(changed));
        Ok(())
    }

    /// The lists that a question needs.
    pub(crate) fn terms(&self, of: &Snapshot, needs: &[Need]) -> Result<Vec<Arc<Term>>, Unkept> {
        if needs.is_empty() {
            return Ok(Vec::new());
        }
        self.keeper.terms(of, needs)
    }

    /// Patterns by their ids, in order: those that are there.
    pub(crate) fn items(&self, of: &Snapshot, ids: &[String]) -> Result<Vec<Arc<Item>>, Unkept> {
        self.keeper.items(of, ids)
    }

    /// Calls with what is known of every pattern, by id.
    pub(crate) fn each(&self, of: &Snapshot, mut on: impl FnMut(Known)) -> Result<(), Unkept> {
        self.keeper.each_known(of.generation, |known| {
            if item::is_pattern(&known) {
                on(known);
            }
        })
    }

    /// What is wrong, by file: the first ones.
    pub(crate) fn problems(&self, of: &Snapshot) -> Result<Vec<Problem>, Unkept> {
        let mut all = of.notes.names.clone();
        if of.notes.wrong > 0 {
            let documents = self.keeper.wrong(of.generation, MAX_PROBLEMS)?;
            all.extend(documents.iter().flat_map(item::problems));
        }
        all.sort();
        all.truncate(usize::try_from(MAX_PROBLEMS).unwrap_or(usize::MAX));
        Ok(all)
    }
}

impl Snapshot {
    /// How much is wrong.
    pub(crate) fn wrong(&self) -> u64 {
        self.notes.wrong + self.notes.names.len() as u64
    }

    /// Of a library that cannot be read: nothing of it is found until it can be.
    pub(crate) fn unread(library: &Library, fault: &Fault) -> Self {
        let mut problem = Problems::of(library.name.as_str());
        problem.whole(library::Code::TooLarge, fault.message.clone());
        Self::of_nothing(problem.into_found())
    }
}

impl Item {
    /// Whether its files are as they were when it was read.
    pub(crate) fn is_fresh(&self, library: &Library) -> bool {
        self.stamps.iter().all(|(path, stamp)| library.root.glance(path) == Some(*stamp))
    }
}

/// Lists as a question takes them.
pub(crate) fn blobs(terms: &[Arc<Term>]) -> Vec<Blob<'_>> {
    keeper::blobs(terms)
}

/// What an index is to be made of, or brought up to date with.
struct Work<'w> {
    keeper: &'w Keeper,
    library: &'w Library,
    looking: &'w Looking<'w>,
    listing: &'w Listing,
    verified: &'w str,
}
