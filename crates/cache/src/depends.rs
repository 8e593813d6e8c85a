//! Notes what an answer is computed from, while it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::clock::Clock;
use crate::fingerprint::{Facts, Files, Fingerprint, Kind, MAX_HASHED, Part, Seen, Sum, settled};

/// What the answer that is being computed depends on.
///
/// Either the reader says around each look what it does ([`before`](Self::before), then [`read`](Self::read),
/// [`head`](Self::head) or [`listed`](Self::listed)), which costs no second look; or it names paths that will be looked
/// at by [`on`](Self::on), before that. What is not named is not watched.
pub struct Depends<'a> {
    files: &'a dyn Files,
    clock: &'a dyn Clock,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    /// Facts before the first look at each path, and when they were taken.
    before: BTreeMap<PathBuf, (Option<Facts>, SystemTime)>,
    seen: BTreeMap<(PathBuf, Part), Option<Sum>>,
    broken: bool,
}

impl std::fmt::Debug for Depends<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Depends").finish_non_exhaustive()
    }
}

impl<'a> Depends<'a> {
    pub(crate) fn new(files: &'a dyn Files, clock: &'a dyn Clock) -> Self {
        Self { files, clock, noted: Mutex::default() }
    }

    /// `path` is about to be looked at.
    pub fn before(&self, path: &Path) {
        if self.with(|noted| noted.before.contains_key(path)) {
            return;
        }
        let taken = self.clock.wall();
        let facts = self.files.facts(path);
        self.with(|noted| match facts {
            Ok(facts) => {
                noted.before.entry(path.to_owned()).or_insert((facts, taken));
            }
            Err(_) => noted.broken = true,
        });
    }

    /// The whole of a file was read; `None`: there is none.
    pub fn read(&self, path: &Path, bytes: Option<&[u8]>) {
        self.saw(
            path,
            Part::Whole,
            bytes.filter(|b| b.len() as u64 <= MAX_HASHED).map(Sum::of),
            bytes.is_some(),
        );
    }

    /// The first `limit` bytes of a file were read; `None`: there is none.
    pub fn head(&self, path: &Path, limit: usize, bytes: Option<&[u8]>) {
        self.saw(path, Part::Head(limit), bytes.map(Sum::of), bytes.is_some());
    }

    /// A folder was listed; `None`: there is none.
    pub fn listed<'e>(&self, dir: &Path, entries: Option<impl IntoIterator<Item = (&'e str, Kind)>>) {
        let there = entries.is_some();
        self.saw(dir, Part::Listing, entries.map(Sum::of_listing), there);
    }

    /// The answer depends on a whole file, or on the names in a folder, which is looked at now.
    pub fn on(&self, path: &Path) {
        self.before(path);
        let facts = self.with(|noted| noted.before.get(path).map(|(facts, _)| *facts));
        let part = match facts {
            None => return,
            Some(None) => return self.saw(path, Part::Whole, None, false),
            Some(Some(facts)) if facts.kind == Kind::Folder => Part::Listing,
            Some(Some(facts)) if facts.size > MAX_HASHED => return self.saw(path, Part::Whole, None, true),
            Some(Some(_)) => Part::Whole,
        };
        match self.files.sum(path, part) {
            Ok(sum) => self.saw(path, part, sum, sum.is_some()),
            Err(_) => self.with(|noted| noted.broken = true),
        }
    }

    /// The answer depends on the facts of a path alone: its kind, size, times and which file it is.
    pub fn on_facts(&self, path: &Path) {
        self.before(path);
        self.with(|noted| {
            noted.seen.insert((path.to_owned(), Part::Facts), None);
        });
    }

    /// The answer must not be given again: something that it depends on cannot be watched.
    pub fn never_again(&self) {
        self.with(|noted| noted.broken = true);
    }

    fn saw(&self, path: &Path, part: Part, sum: Option<Sum>, there: bool) {
        self.with(|noted| {
            // A file that came or went between the facts and the look, or was not announced.
            let as_noted = noted.before.get(path).is_some_and(|(facts, _)| match (facts, part) {
                (None, _) => !there,
                // Reading a folder and listing a file find nothing, lawfully.
                (Some(facts), Part::Listing) => there || facts.kind != Kind::Folder,
                (Some(facts), _) => there || facts.kind != Kind::File,
            });
            let again = noted.seen.insert((path.to_owned(), part), sum);
            noted.broken |= !as_noted || again.is_some_and(|first| first != sum);
        });
    }

    pub(crate) fn fingerprint(self) -> Fingerprint {
        let noted = self.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Noted { before, seen, mut broken } = noted;
        let mut found = Vec::with_capacity(seen.len());
        for ((path, part), sum) in seen {
            match before.get(&path) {
                Some((facts, taken)) => {
                    let settled = facts.is_none_or(|facts| settled(&facts, *taken));
                    found.push(Seen { path, part, facts: *facts, settled, sum });
                }
                None => broken = true,
            }
        }
        Fingerprint { seen: found, broken }
    }

    fn with<R>(&self, what: impl FnOnce(&mut Noted) -> R) -> R {
        what(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
