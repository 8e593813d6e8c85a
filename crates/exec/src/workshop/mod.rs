//! What programs work over instead of the root: what they write there is looked at, never in the root itself.
//!
//! - [`layers`]: the root with a layer on top that takes what is written (overlayfs), where the machine has that.
//! - [`copy`]: a private copy, where it has not. What it shows is the same.
//! - [`persist`]: what of it outlives the call without a plan: declared paths that the project ignores.
//!
//! A path that a program changed and that somebody else has changed in the root meanwhile is a conflict. What a program
//! has only *read* is not known, and is no precondition of its plan. Directories come and go with the files in them: an
//! empty one that a program makes is not proposed.

mod clone;
mod copy;
mod layers;
pub mod persist;
mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::Dir;
use contract::{Code, Fault, Mode, Principal, RelPath, State};
use launcher::Bound;
use tokio_util::sync::CancellationToken;

use crate::draft::Draft;
use crate::kept::{Clean, KeptRun};
use crate::root::Root;
use crate::run::launch::{self, Setup};
use crate::run::sight::Surroundings;
use crate::run::{self, Cache, Command, Launcher, Level, Ran};
use crate::scratch::Scratch;
use crate::state::{StateDir, broken};

use crate::view::View;
pub use clone::Cloning;
pub(crate) use layers::sweep;

/// Where a program finds its home, where nothing of this machine's homes is.
const HOME: &str = "/home/run";

/// Where it finds the caches that its tool declares.
const CACHES: &str = "/home/caches";

/// Most bytes of a file that programs leave in a command's home.
pub const MAX_LEFT: u64 = 64 << 20;

/// On which terms programs run.
#[derive(Clone)]
pub struct Terms {
    /// The only programs that run.
    pub programs: Arc<[Arc<str>]>,
    /// Folders outside the root that they find again.
    pub caches: &'static [Cache],
    /// How they are started.
    pub launcher: Arc<Launcher>,
    /// Variables from the configuration.
    pub environment: BTreeMap<String, String>,
    /// Whose calls they are: whoever may read what they said.
    pub owner: Principal,
    /// Takes secrets out of what they say before it is kept.
    pub clean: Clean,
    /// Where they change the project's record: how. They get a clone of it.
    pub cloning: Option<Arc<Cloning>>,
}

/// What programs work over.
pub struct Workshop {
    root: Arc<Root>,
    state: StateDir,
    // In this order they go: what lies on the floor lies in the place.
    floor: Floor,
    place: Scratch,
    level: Level,
    terms: Terms,
    path: Vec<PathBuf>,
    home: Option<PathBuf>,
    runs: AtomicU32,
    clone: Option<Mutex<clone::Throwaway>>,
    /// What the project leaves out of its record, once that was asked; none where it keeps none.
    ignored: OnceLock<Option<history::Ignores>>,
    /// One at a time: a layer is mounted once.
    running: Mutex<()>,
    cancel: CancellationToken,
}

enum Floor {
    Layers(layers::Layers),
    Copy(copy::Copy),
}

/// What stands where a program changed something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    File(Mode),
    Link(String),
    Gone,
}

/// The end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Its last bytes.
    pub bytes: Vec<u8>,
    /// Whether there are more before: then they begin anywhere.
    pub is_cut: bool,
}

/// What a run left that no plan can express.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unplannable {
    /// Where, as the program had it.
    pub path: String,
    /// Why no plan can have it.
    pub why: String,
    /// Whether the only reason is that its owner changed it meanwhile: another call may fare better.
    pub moved: bool,
}

impl Unplannable {
    /// What no plan can ever have.
    pub(crate) fn never(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), why: why.into(), moved: false }
    }
}

/// What programs changed, by path, and what of it no plan can have.
type Changed = (BTreeMap<String, Left>, Vec<Unplannable>);

fn at(path: &str, error: &std::io::Error) -> Fault {
    let shown = if path.is_empty() { "." } else { path };
    Fault::new(Code::FilesystemError, format!("{shown}: it could not be copied: {}", error.kind()))
        .about(shown)
}

/// Folders below folders that are looked into; what lies deeper is said and not looked at.
const MAX_DEPTH: usize = 128;

/// Most entries that are looked at.
const MAX_ENTRIES: usize = 2_000_000;

/// What a look at what programs left may cost.
struct Budget<'a> {
    cancel: &'a CancellationToken,
    entries: usize,
}

impl<'a> Budget<'a> {
    const fn new(cancel: &'a CancellationToken) -> Self {
        Self { cancel, entries: 0 }
    }

    /// Counts an entry.
    fn take(&mut self) -> Result<(), Fault> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(Fault::new(
                Code::TooLarge,
                format!("programs left more than {MAX_ENTRIES} files and folders"),
            ));
        }
        if self.entries.is_multiple_of(256) && self.cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
        }
        Ok(())
    }
}

/// Whether a folder lies too deep to be looked into.
fn is_too_deep(path: &str) -> bool {
    path.matches('/').count() >= MAX_DEPTH
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Opens the directory `path` below `top`, one component at a time and no link. Handles are not kept: a wide tree has
/// more folders than a process may have handles.
fn open_dir(top: &Dir, path: &str) -> std::io::Result<Dir> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.fold(top.try_clone(), |dir, part| dir.and_then(|dir| dir.open_dir_nofollow(part)))
}

impl Workshop {
    /// Makes what programs work over, of what `view` is a window on.
    pub fn open(
        view: &View,
        state: &StateDir,
        terms: Terms,
        cancel: &CancellationToken,
    ) -> Result<Self, Fault> {
        let root = Arc::clone(view.root());
        let place = state.scratch()?;
        ["home", "stage", "streams"]
            .iter()
            .try_for_each(|part| std::fs::create_dir(place.path().join(part)))
            .map_err(|e| broken("scratch folder", &e))?;
        let level = terms.launcher.level(&place.path().join("stage"))?;
        let layers = match level {
            Level::Full => layers::Layers::open(&root, place.path(), &terms.launcher)?,
            _ => None,
        };
        let floor = match layers {
            Some(layers) => Floor::Layers(layers),
            None => Floor::Copy(copy::Copy::of(&root, place.path(), level, cancel)?),
        };
        let clone = match &terms.cloning {
            Some(_) if level < Level::Full => {
                let message =
                    "a clone of the repository needs a world of its own, which this machine does not make";
                return Err(Fault::new(Code::ConfinementUnavailable, message)
                    .suggest("`gatewright doctor` says why this machine makes no namespaces."));
            }
            Some(cloning) => Some(Mutex::new(clone::Throwaway::of(&root, place.path(), cloning)?)),
            None => None,
        };
        let path = terms.launcher.path(root.path());
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.and_then(|home| std::fs::canonicalize(home).ok());
        let (state, cancel, runs, running) =
            (state.clone(), cancel.clone(), AtomicU32::new(0), Mutex::default());
        Ok(Self {
            root,
            state,
            floor,
            place,
            level,
            terms,
            path,
            home,
            runs,
            clone,
            ignored: OnceLock::new(),
            running,
            cancel,
        })
    }

    /// Whether what is written goes to a layer over the root, rather than to a copy.
    #[must_use]
    pub const fn is_layered(&self) -> bool {
        matches!(self.floor, Floor::Layers(_))
    }

    /// Where programs find the root.
    #[must_use]
    pub fn seen_root(&self) -> PathBuf {
        match &self.floor {
            Floor::Copy(copy) if self.level < Level::Full => copy.place().to_owned(),
            _ => self.root.path().to_owned(),
        }
    }

    /// Where `program` is found, on the trusted path.
    pub fn find(&self, program: &str) -> Result<PathBuf, Fault> {
        run::find(program, &self.path, self.root.path())
    }

    /// Runs a program that the tool declares. It blocks. Its whole output is kept.
    pub fn run(&self, command: &Command) -> Result<Ran, Fault> {
        if !self.terms.programs.contains(&command.program) {
            return Err(Fault::internal(format!(
                "the tool does not declare the program {}",
                command.program
            )));
        }
        let _one = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let streams = self.place.path().join("streams").join(number.to_string());
        let named = self.with_inputs(command)?;
        let mut ran = launch::run(&named, self.setup(command, number, &streams)?, &self.cancel)?;
        ran.line.truncate(1);
        ran.line.extend(command.args.iter().map(|arg| arg.replace(run::INPUT, "")));
        let seen = self.seen_root();
        let clean = if seen == self.root.path() {
            Arc::clone(&self.terms.clean)
        } else {
            // In what it says the copy is called what it is a copy of.
            let (seen, real) = (seen.display().to_string(), self.root.path().display().to_string());
            let inner = Arc::clone(&self.terms.clean);
            let renamed = move |bytes: &[u8]| inner(&replaced(bytes, &seen, &real));
            for stream in [&mut ran.stdout, &mut ran.stderr] {
                stream.bytes = replaced(
                    &stream.bytes,
                    &self.seen_root().display().to_string(),
                    &self.root.path().display().to_string(),
                );
            }
            Arc::new(renamed)
        };
        ran.handle = Some(self.state.keep_run(&KeptRun::of(&ran), &ran, &self.terms.owner, &clean)?);
        Ok(ran)
    }

    /// Puts a command's inputs into its home, and their places into its arguments.
    fn with_inputs(&self, command: &Command) -> Result<Command, Fault> {
        let mut named = command.clone();
        let seen =
            if self.level == Level::Full { PathBuf::from(HOME) } else { self.place.path().join("home") };
        for (name, bytes) in &command.inputs {
            // A run before this one may have put anything there.
            let file = self.place.path().join("home").join(name);
            let _ = std::fs::remove_file(&file);
            std::fs::File::create_new(&file)
                .and_then(|mut file| std::io::Write::write_all(&mut file, bytes))
                .map_err(|e| broken("scratch folder", &e))?;
            let (stands, place) = (format!("{}{name}", run::INPUT), seen.join(name).display().to_string());
            for word in named.args.iter_mut().chain(named.env.values_mut()) {
                let flag = word.strip_suffix(&stands).filter(|flag| flag.is_empty() || flag.ends_with('='));
                if let Some(flag) = flag {
                    *word = format!("{flag}{place}");
                }
            }
        }
        Ok(named)
    }

    /// Names of what programs wrote in `folder`: what they did not touch is not among them.
    #[must_use]
    pub fn wrote(&self, folder: &RelPath) -> Vec<String> {
        let top = match &self.floor {
            Floor::Layers(layers) => layers.upper(),
            Floor::Copy(copy) => copy.place(),
        };
        let names = Dir::open_ambient_dir(top, cap_std::ambient_authority())
            .and_then(|top| open_dir(&top, folder.as_str()))
            .and_then(|dir| {
                dir.entries()?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>()
            });
        let names = names.unwrap_or_default().into_iter().filter_map(|name| name.into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// What programs left of a command's input, or in its place: at most [`MAX_LEFT`] bytes of a plain file.
    pub fn left(&self, name: &str) -> Result<Vec<u8>, Fault> {
        let absent = || Fault::new(Code::NotFound, format!("{name}: no program left it"));
        let home = Dir::open_ambient_dir(self.place.path().join("home"), cap_std::ambient_authority())
            .map_err(|e| broken("scratch folder", &e))?;
        let mut options = cap_std::fs::OpenOptions::new();
        // Neither a link nor a pipe that nobody writes to.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = home.open_with(name, &options).map_err(|_| absent())?;
        let there = file.metadata().map_err(|e| broken("scratch folder", &e))?;
        if !there.is_file() {
            return Err(absent());
        }
        if there.len() > MAX_LEFT {
            return Err(Fault::new(Code::TooLarge, format!("{name}: {} bytes were left of it", there.len())));
        }
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_LEFT), &mut bytes)
            .map_err(|e| broken("scratch folder", &e))?;
        Ok(bytes)
    }

    /// Whether the project's own rules, as they are in the root, leave `path` out of its record. No run changes them there.
    #[must_use]
    pub fn ignores(&self, path: &RelPath) -> bool {
        let rules = self.ignored.get_or_init(|| {
            let repository = history::Repo::open(self.root.path()).ok()?;
            repository.ignores(&history::Limits::default(), &AtomicBool::new(false)).ok()
        });
        rules.as_ref().is_some_and(|rules| rules.is_ignored(path.as_str(), false).unwrap_or(false))
    }

    /// The last bytes that the program which runs now, or ran last, has said on both streams: `most` of each at most.
    #[must_use]
    pub fn tail(&self, most: usize) -> Vec<Tail> {
        let number = self.runs.load(Ordering::Relaxed).saturating_sub(1);
        let stream = self.place.path().join("streams").join(number.to_string());
        let read = |ending: &str| {
            use std::io::{Read as _, Seek as _, SeekFrom};
            let mut file = std::fs::File::open(stream.with_extension(ending)).ok()?;
            let length = file.metadata().ok()?.len();
            let from = length.saturating_sub(most as u64);
            file.seek(SeekFrom::Start(from)).ok()?;
            let mut bytes = Vec::new();
            file.take(most as u64).read_to_end(&mut bytes).ok()?;
            Some(Tail { bytes, is_cut: from > 0 })
        };
        ["out", "err"].into_iter().filter_map(read).collect()
    }

    fn setup(&self, command: &Command, number: u32, streams: &Path) -> Result<Setup<'_>, Fault> {
        let full = self.level == Level::Full;
        let home = self.place.path().join("home");
        let seen_home = if full { PathBuf::from(HOME) } else { home.clone() };
        let mut env: BTreeMap<String, String> = self.terms.environment.clone();
        env.insert("HOME".into(), seen_home.display().to_string());
        env.insert("TMPDIR".into(), if full { "/tmp".into() } else { seen_home.display().to_string() });
        let mut writable = vec![Bound { from: home, at: seen_home.clone() }];
        for cache in self.terms.caches.iter().filter(|cache| !command.without.contains(&cache.name)) {
            let from = self.state.cache(cache.name)?;
            // Not below its home: what a run may write, it may also put a link in the way of.
            let at = if full { Path::new(CACHES).join(cache.name) } else { from.clone() };
            env.insert(cache.variable.to_owned(), at.display().to_string());
            writable.push(Bound { from, at });
        }
        let root = self.seen_root();
        let (overlay, lands) = match &self.floor {
            Floor::Layers(layers) => (Some(layers.overlay(&self.root)), layers.upper().to_owned()),
            Floor::Copy(copy) => {
                writable.push(Bound { from: copy.place().to_owned(), at: root.clone() });
                (None, copy.place().to_owned())
            }
        };
        let mut shown = Vec::new();
        if let Some(clone) = self.throwaway() {
            let (read, written) = clone.bounds(&root);
            shown = read;
            writable.extend(written);
        }
        // The record of the project is there to be read: commands that change it have other ways.
        let git = self.root.path().join(".git");
        let is_plain = std::fs::symlink_metadata(&git).is_ok_and(|there| there.is_dir() || there.is_file());
        let readable = if is_plain && full && self.clone.is_none() { vec![git] } else { Vec::new() };
        let record = if full && self.clone.is_none() {
            let into = self.place.path().join("git").join(number.to_string());
            record::of(self.root.path(), command.dir.as_ref(), &into).map_err(|e| broken("git folder", &e))?
        } else {
            // There it is a copy, and made without; or a clone.
            record::Record::default()
        };
        shown.extend(record.shown);
        Ok(Setup {
            launcher: &self.terms.launcher,
            level: self.level,
            around: Surroundings {
                root: self.root.path(),
                state: self.state.of_all(),
                home: self.home.as_deref(),
            },
            path: &self.path,
            root,
            overlay,
            writable,
            readable,
            shown,
            hidden: record.hidden,
            env,
            stage: self.state.nowhere()?,
            streams: streams.to_owned(),
            lands,
        })
    }

    /// Reads a file as programs left it, by the rules for reading the root.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, Fault> {
        match &self.floor {
            Floor::Layers(layers) => layers.read(&self.root, path),
            Floor::Copy(copy) => copy.read(path),
        }
    }

    fn throwaway(&self) -> Option<std::sync::MutexGuard<'_, clone::Throwaway>> {
        self.clone.as_ref().map(|clone| clone.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn changed(&self) -> Result<Changed, Fault> {
        match &self.floor {
            Floor::Layers(layers) => layers.changed(&self.root, &self.cancel),
            Floor::Copy(copy) => copy.changed(&self.cancel),
        }
    }

    /// What the programs changed, as a draft against `view`, and what of it no plan can express. What persists is left
    /// out: `persists` says of a path whether it does.
    pub fn changes(
        &self,
        view: &View,
        persists: &dyn Fn(&RelPath) -> bool,
    ) -> Result<(Draft, Vec<Unplannable>), Fault> {
        if let (Some(clone), Some(cloning)) = (self.throwaway(), &self.terms.cloning) {
            return clone.changes(view, cloning);
        }
        let mut draft = Draft::default();
        let (changed, mut unplannable) = self.changed()?;
        for (path, left) in &changed {
            if RelPath::new(path).is_ok_and(|path| persists(&path)) {
                continue;
            }
            match self.propose(&mut draft, view, path, left) {
                Ok(()) => {}
                Err(fault)
                    if matches!(
                        fault.code,
                        Code::PathNotAllowed | Code::TooLarge | Code::Forbidden | Code::Conflict
                    ) =>
                {
                    let moved = fault.code == Code::Conflict;
                    unplannable.push(Unplannable { path: path.clone(), why: fault.message, moved });
                }
                Err(fault) => return Err(fault),
            }
        }
        unplannable.sort();
        unplannable.dedup();
        Ok((draft, unplannable))
    }

    /// Whether what stands in the root is what stood there before the first program started.
    fn is_untouched(&self, path: &RelPath, standing: &State) -> bool {
        match &self.floor {
            Floor::Layers(layers) => layers.is_untouched(&self.root, path, standing),
            Floor::Copy(copy) => copy.is_untouched(&self.root, path, standing),
        }
    }

    fn propose(&self, draft: &mut Draft, view: &View, path: &str, left: &Left) -> Result<(), Fault> {
        let path = RelPath::new(path).map_err(|e| Fault::new(Code::PathNotAllowed, e.to_string()))?;
        let standing = view.state(&path)?;
        if let State::Directory { .. } = standing {
            let message = format!("{path}: a directory is there, and no plan replaces one");
            return Err(Fault::new(Code::PathNotAllowed, message));
        }
        let bytes = match left {
            Left::File(mode) => {
                let bytes = self.read(&path)?;
                if standing
                    == (State::File {
                        digest: contract::Digest::of(&bytes),
                        bytes: bytes.len() as u64,
                        mode: *mode,
                    })
                {
                    // Written as it was.
                    return Ok(());
                }
                Some((bytes, *mode))
            }
            Left::Link(target) if standing == (State::Symlink { target: target.clone() }) => return Ok(()),
            Left::Gone if standing == State::Absent => return Ok(()),
            Left::Link(_) | Left::Gone => None,
        };
        if !self.is_untouched(&path, &standing) {
            let message = format!("{path}: it changed while the program ran");
            return Err(Fault::new(Code::Conflict, message).about(path.as_str()));
        }
        match (left, bytes) {
            (Left::File(_), Some((bytes, mode))) => draft.put_exactly(view, &path, bytes, mode),
            (Left::Link(target), _) => draft.symlink(view, &path, target),
            _ => draft.remove(view, &path),
        }
    }
}

/// How far programs would be confined, and over what they would be rehearsed.
#[derive(Debug, Clone)]
pub struct Tried {
    /// What this machine offers.
    pub offer: run::Offer,
    /// Whether a layer can be laid over the root; nothing where there is none.
    pub layered: Option<bool>,
}

/// Tries what a run in `root` would have.
pub fn tried(launcher: &Launcher, state: &StateDir, root: Option<&Root>) -> Result<Tried, Fault> {
    let place = state.scratch()?;
    let empty = place.path().join("stage");
    std::fs::create_dir(&empty).map_err(|e| broken("scratch folder", &e))?;
    let offer = launcher.offer(&empty).clone();
    let layers = match root {
        Some(root) if offer.level == Level::Full => layers::Layers::open(root, place.path(), launcher)?,
        _ => None,
    };
    let layered = root.map(|_| layers.is_some());
    Ok(Tried { offer, layered })
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains(from) { text.replace(from, to).into_bytes() } else { bytes.to_owned() }
}
