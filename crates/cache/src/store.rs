//! The cache itself: what is kept, what goes, and who computes.

use std::any::Any;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use clru::CLruCache;
use serde::Serialize;

use crate::clock::{Clock, SystemClock};
use crate::depends::Depends;
use crate::fingerprint::{Files, Fingerprint, Sum};
use crate::metrics::{Counts, Metrics, NamespaceMetrics, rate};
use crate::namespace::Namespace;
use crate::settings::{MAX_SIZE, Settings};

/// What an answer is asked by, besides its namespace: a digest of everything that is not a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Sum);

impl Key {
    /// Of parts: the root, the arguments, the version of what computes. No two lists of parts give the same key.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        Self(Sum::of_parts(parts))
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The value.
    pub value: Arc<T>,
    /// Whether it was computed for an earlier call.
    pub warm: bool,
}

type Place = (Namespace, Key);

/// Answers of all namespaces, by least recent use. Cheap to share; every method may be called from any thread.
pub struct Cache {
    settings: Settings,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

struct State {
    kept: CLruCache<Place, Arc<Entry>>,
    bytes: u64,
    counts: [Counts; Namespace::ALL.len()],
    flights: BTreeMap<Place, Arc<Flight>>,
}

struct Entry {
    value: Arc<dyn Any + Send + Sync>,
    fingerprint: Mutex<Fingerprint>,
    /// When its computation began.
    since: Duration,
    bytes: u64,
}

/// A computation under way. Whoever asks for the same waits for it.
struct Flight {
    thread: ThreadId,
    landed: Mutex<Landed>,
    bell: Condvar,
}

/// What came of a computation.
#[derive(Default)]
enum Landed {
    #[default]
    Flying,
    /// An error, or a panic.
    Nothing,
    Value(Arc<Entry>),
}

enum Next {
    Check(Arc<Entry>),
    Wait(Arc<Flight>),
    Lead(Arc<Flight>),
    Alone,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Cache {
    /// An empty cache on the machine's clock.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::with_clock(settings, Arc::new(SystemClock::default()))
    }

    /// An empty cache on another clock.
    #[must_use]
    pub fn with_clock(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let most = NonZeroUsize::new(settings.max_size.min(MAX_SIZE)).unwrap_or(NonZeroUsize::MIN);
        let kept = CLruCache::new(most);
        let state = State { kept, bytes: 0, counts: Default::default(), flights: BTreeMap::new() };
        Self { settings, clock, state: Mutex::new(state) }
    }

    /// The answer to `key`: one that was computed before, while it is young enough and what it depends on is as it was;
    /// else what `compute` gives. Equal keys are computed once at a time; who comes meanwhile waits, and gets what was
    /// computed if that still holds when it is there.
    ///
    /// Errors are not kept: each caller that waited computes for itself. A computation may ask for other keys, in
    /// one direction only (two that wait for each other would wait for ever); asking for its own computes without
    /// keeping.
    pub fn get_or<T, E>(
        &self,
        namespace: Namespace,
        key: &Key,
        files: &dyn Files,
        compute: impl FnOnce(&Depends<'_>) -> Result<T, E>,
    ) -> Result<Answer<T>, E>
    where
        T: Serialize + Send + Sync + 'static,
    {
        let ttl = self.settings.ttl(namespace);
        let place = (namespace, *key);
        let keeps = self.settings.enabled && self.settings.max_size > 0 && !ttl.is_zero();
        loop {
            match if keeps { self.next(&place, ttl) } else { Next::Alone } {
                Next::Check(entry) => match self.good(&entry, files) {
                    Some(value) => {
                        self.lock().counts_of(namespace).hits += 1;
                        return Ok(Answer { value, warm: true });
                    }
                    None => self.lock().invalidate(&place, &entry),
                },
                Next::Wait(flight) => {
                    // What landed was looked at before this call, perhaps: it must hold now.
                    if let Some(entry) = flight.wait()
                        && let Some(value) = self.good(&entry, files)
                    {
                        self.lock().counts_of(namespace).hits += 1;
                        return Ok(Answer { value, warm: true });
                    }
                }
                Next::Lead(flight) => {
                    let mut lead = Lead { cache: self, place, flight, entry: None };
                    let since = self.clock.now();
                    let depends = Depends::new(files, &*self.clock);
                    let value = Arc::new(compute(&depends)?);
                    lead.entry = Some(Arc::new(Entry::new(&value, depends.fingerprint(), since)));
                    return Ok(Answer { value, warm: false });
                }
                Next::Alone => {
                    if keeps {
                        self.lock().counts_of(namespace).misses += 1;
                    }
                    let value = compute(&Depends::new(files, &*self.clock))?;
                    return Ok(Answer { value: Arc::new(value), warm: false });
                }
            }
        }
    }

    /// Drops the answers of one namespace, or all.
    pub fn clear(&self, namespace: Option<Namespace>) {
        let mut state = self.lock();
        let State { kept, bytes, counts, .. } = &mut *state;
        kept.retain(|(of, _), entry| {
            let stays = namespace.is_some_and(|wanted| wanted != *of);
            if !stays {
                *bytes = bytes.saturating_sub(entry.bytes);
                forget(counts, *of, entry);
            }
            stays
        });
    }

    /// What was done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let state = self.lock();
        let namespaces: Vec<_> = Namespace::ALL
            .into_iter()
            .zip(&state.counts)
            .map(|(namespace, counts)| NamespaceMetrics {
                namespace,
                ttl: u64::try_from(self.settings.ttl(namespace).as_millis()).unwrap_or(u64::MAX),
                entries: counts.entries,
                bytes: counts.bytes,
                hits: counts.hits,
                misses: counts.misses,
                hit_rate: rate(counts.hits, counts.misses),
                evictions: counts.evictions,
                invalidations: counts.invalidations,
                expirations: counts.expirations,
                rejected: counts.rejected,
            })
            .collect();
        let (hits, misses) = namespaces.iter().fold((0, 0), |(h, m), n| (h + n.hits, m + n.misses));
        Metrics {
            enabled: self.settings.enabled,
            entries: state.kept.len(),
            max_entries: self.settings.max_size.min(MAX_SIZE),
            bytes: state.bytes,
            max_bytes: self.settings.max_bytes(),
            hits,
            misses,
            hit_rate: rate(hits, misses),
            namespaces,
        }
    }

    /// What to do about a key.
    fn next(&self, place: &Place, ttl: Duration) -> Next {
        let mut state = self.lock();
        if let Some(entry) = state.kept.get(place).map(Arc::clone) {
            if self.clock.now().saturating_sub(entry.since) < ttl {
                return Next::Check(entry);
            }
            state.drop_entry(place);
            state.counts_of(place.0).expirations += 1;
        }
        match state.flights.get(place) {
            Some(flight) if flight.thread == thread::current().id() => Next::Alone,
            Some(flight) => Next::Wait(Arc::clone(flight)),
            None => {
                let flight = Arc::new(Flight {
                    thread: thread::current().id(),
                    landed: Mutex::default(),
                    bell: Condvar::new(),
                });
                state.flights.insert(*place, Arc::clone(&flight));
                state.counts_of(place.0).misses += 1;
                Next::Lead(flight)
            }
        }
    }

    /// The value, if it is of the type asked for and what it depends on is as it was.
    fn good<T: Send + Sync + 'static>(&self, entry: &Entry, files: &dyn Files) -> Option<Arc<T>> {
        let value = Arc::clone(&entry.value).downcast::<T>().ok()?;
        // A copy, so that nobody waits for another's look at the files.
        let mut fingerprint = guard(&entry.fingerprint).clone();
        if !fingerprint.holds(files, &*self.clock) {
            return None;
        }
        *guard(&entry.fingerprint) = fingerprint;
        Some(value)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        guard(&self.state)
    }
}

impl State {
    #[expect(
        clippy::indexing_slicing,
        reason = "there is one for each namespace: `indices_follow_the_order`"
    )]
    fn counts_of(&mut self, namespace: Namespace) -> &mut Counts {
        &mut self.counts[namespace.index()]
    }

    fn drop_entry(&mut self, place: &Place) {
        if let Some(entry) = self.kept.pop(place) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
            forget(&mut self.counts, place.0, &entry);
        }
    }

    /// Drops `stale`, unless another has taken its place meanwhile.
    fn invalidate(&mut self, place: &Place, stale: &Arc<Entry>) {
        if self.kept.peek(place).is_some_and(|entry| Arc::ptr_eq(entry, stale)) {
            self.drop_entry(place);
            self.counts_of(place.0).invalidations += 1;
        }
    }

    fn keep(&mut self, place: Place, entry: &Arc<Entry>, max_bytes: u64) {
        if entry.bytes > max_bytes {
            self.counts_of(place.0).rejected += 1;
            return;
        }
        self.drop_entry(&place);
        while self.kept.len() == self.kept.capacity() || self.bytes + entry.bytes > max_bytes {
            let Some((oldest, out)) = self.kept.pop_back() else { break };
            self.bytes = self.bytes.saturating_sub(out.bytes);
            forget(&mut self.counts, oldest.0, &out);
            self.counts_of(oldest.0).evictions += 1;
        }
        self.kept.put(place, Arc::clone(entry));
        self.bytes += entry.bytes;
        let counts = self.counts_of(place.0);
        counts.entries += 1;
        counts.bytes += entry.bytes;
    }
}

fn forget(counts: &mut [Counts], namespace: Namespace, entry: &Entry) {
    if let Some(counts) = counts.get_mut(namespace.index()) {
        counts.entries = counts.entries.saturating_sub(1);
        counts.bytes = counts.bytes.saturating_sub(entry.bytes);
    }
}

impl Entry {
    fn new<T: Serialize + Send + Sync + 'static>(
        value: &Arc<T>,
        fingerprint: Fingerprint,
        since: Duration,
    ) -> Self {
        let mut counter = Counter(0);
        // What cannot be written has no size that would fit.
        let size = serde_json::to_writer(&mut counter, &**value).map_or(u64::MAX, |()| counter.0);
        let bytes = size.saturating_add(fingerprint.bytes()).saturating_add(size_of::<Self>() as u64);
        Self { value: Arc::clone(value) as _, fingerprint: Mutex::new(fingerprint), since, bytes }
    }
}

impl Flight {
    fn wait(&self) -> Option<Arc<Entry>> {
        let mut landed = guard(&self.landed);
        loop {
            match &*landed {
                Landed::Flying => {}
                Landed::Nothing => return None,
                Landed::Value(entry) => return Some(Arc::clone(entry)),
            }
            landed = self.bell.wait(landed).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Who computes. However it ends, also by a panic, those who wait are woken.
struct Lead<'c> {
    cache: &'c Cache,
    place: Place,
    flight: Arc<Flight>,
    entry: Option<Arc<Entry>>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let entry = self.entry.take();
        {
            let mut state = self.cache.lock();
            state.flights.remove(&self.place);
            if let Some(entry) = entry.as_ref().filter(|e| !guard(&e.fingerprint).broken) {
                state.keep(self.place, entry, self.cache.settings.max_bytes());
            }
        }
        *guard(&self.flight.landed) = entry.map_or(Landed::Nothing, Landed::Value);
        self.flight.bell.notify_all();
    }
}

/// Counts what is written.
struct Counter(u64);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A panic elsewhere leaves nothing half done under these locks.
fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
