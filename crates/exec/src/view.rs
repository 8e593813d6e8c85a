//! A tool's read-only window on a root. It remembers the digest of everything that was read through it, so that a
//! plan made from it can be held to what it was made from.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::DirExt as _;
use contract::{Code, Fault, Observation, RelPath, State};
use globset::{GlobBuilder, GlobMatcher};
use tokio_util::sync::CancellationToken;

use crate::jail::{self, Entry};
use crate::root::Root;

/// Most files that one glob may match.
pub const MAX_MATCHES: usize = 20_000;

/// Most directory entries that one glob may look at.
const MAX_VISITED: usize = 500_000;

/// A read-only window on one root.
#[derive(Debug)]
pub struct View {
    root: Arc<Root>,
    seen: Mutex<BTreeMap<Option<RelPath>, Observation>>,
    cancel: CancellationToken,
}

impl View {
    /// A window on `root` that closes when `cancel` is cancelled.
    #[must_use]
    pub fn new(root: Arc<Root>, cancel: CancellationToken) -> Self {
        Self { root, seen: Mutex::default(), cancel }
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// Everything that was looked at, sorted by path.
    #[must_use]
    pub fn observed(&self) -> Vec<Observation> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Reads a file. What was read is remembered, and so is that there was none.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, Fault> {
        self.alive()?;
        self.root.check_only(path)?;
        match jail::read(self.root.dir(), path) {
            Ok((bytes, metadata)) => {
                self.remember(Some(path.clone()), &jail::file_state(&bytes, &metadata));
                Ok(bytes)
            }
            Err(fault) => {
                if fault.code == Code::NotFound {
                    // Nothing, or a link that leads nowhere.
                    let there = jail::state(self.root.dir(), path).unwrap_or(State::Absent);
                    self.remember(Some(path.clone()), &there);
                }
                Err(fault)
            }
        }
    }

    /// Reads a file that may be absent.
    pub fn read_optional(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Fault> {
        match self.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(fault) if fault.code == Code::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Reads a file as UTF-8 text.
    pub fn read_text(&self, path: &RelPath) -> Result<String, Fault> {
        String::from_utf8(self.read(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Fault::invalid(format!("{path} is not UTF-8 text (byte {at})"))
                .about(path.as_str())
                .suggest("Save the file as UTF-8.")
        })
    }

    /// What is at `path`; the last component is not followed.
    pub fn state(&self, path: &RelPath) -> Result<State, Fault> {
        self.alive()?;
        self.root.check_only(path)?;
        let state = jail::state(self.root.dir(), path)?;
        self.remember(Some(path.clone()), &state);
        Ok(state)
    }

    /// The names in a directory (`None`: the root's top), sorted.
    pub fn list(&self, path: Option<&RelPath>) -> Result<Vec<Entry>, Fault> {
        self.alive()?;
        self.root.check_listed()?;
        let dot = RelPath::new("here").map_err(|e| Fault::internal(e.to_string()))?;
        let named = path.unwrap_or(&dot);
        let dir = match path {
            None => self.root.dir().try_clone(),
            // Component by component, so that no link leads a walk in a circle.
            Some(path) => path.components().try_fold(
                self.root.dir().try_clone().map_err(|e| jail::fault(named, &e))?,
                |dir, component| dir.open_dir_nofollow(component),
            ),
        };
        let dir = dir.map_err(|e| {
            if let (std::io::ErrorKind::NotFound, Some(path)) = (e.kind(), path) {
                self.remember(Some(path.clone()), &State::Absent);
            }
            jail::fault(named, &e)
        })?;
        let (entries, listing) = jail::listing(&dir, named)?;
        self.remember(path.cloned(), &State::Directory { listing });
        Ok(entries)
    }

    /// Whether `path` is a folder now. Nothing of this becomes a precondition.
    #[must_use]
    pub fn is_folder(&self, path: &RelPath) -> bool {
        self.root.check_only(path).is_ok()
            && self.root.dir().metadata(path.as_str()).is_ok_and(|there| there.is_dir())
    }

    /// When a file was changed last, in milliseconds since 1970 in UTC; `None` where there is none.
    pub fn modified(&self, path: &RelPath) -> Option<i64> {
        use cap_std::fs::MetadataExt as _;
        self.root.check_only(path).ok()?;
        let there = self.root.dir().symlink_metadata(path.as_str()).ok()?;
        Some(there.mtime().saturating_mul(1_000).saturating_add(there.mtime_nsec() / 1_000_000))
    }

    /// How many bytes a file has; `None` where there is no regular file. Nothing is read, and nothing of this becomes a precondition.
    #[must_use]
    pub fn size(&self, path: &RelPath) -> Option<u64> {
        self.root.check_only(path).ok()?;
        let there = self.root.dir().symlink_metadata(path.as_str()).ok()?;
        there.is_file().then(|| there.len())
    }

    /// What tells one state of the root, or of a folder in it, from another: a sum over the times and names of its files, and how many there are.
    /// Folders whose name begins with a dot or is among `without` are left out; nothing is read, and nothing of this becomes a
    /// precondition.
    pub fn stamp(&self, from: Option<&RelPath>, without: &[&str], most: usize) -> Result<(u64, u64), Fault> {
        use cap_std::fs::MetadataExt as _;
        self.root.check_listed()?;
        let (mut sum, mut files) = (0_u64, 0_u64);
        let mut open = vec![from.map_or_else(String::new, ToString::to_string)];
        while let Some(prefix) = open.pop() {
            if self.cancel.is_cancelled() {
                return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
            }
            let dir = match prefix.as_str() {
                "" => self.root.dir().try_clone(),
                below => self.root.dir().open_dir(below),
            };
            let Ok(entries) = dir.and_then(|dir| dir.entries()) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
                let Ok(there) = entry.metadata() else { continue };
                if there.is_dir() {
                    if !name.starts_with('.') && !without.contains(&name.as_str()) {
                        open.push(path);
                    }
                    continue;
                }
                files += 1;
                if usize::try_from(files).is_ok_and(|files| files > most) {
                    let message = format!("more than {most} files are too many to be watched");
                    return Err(
                        Fault::new(Code::TooLarge, message).suggest("Name a folder with `directory`.")
                    );
                }
                let text = format!("{path} {} {} {}", there.len(), there.mtime(), there.mtime_nsec());
                let digest = contract::Digest::of(text.as_bytes());
                let part = digest.as_bytes().first_chunk::<8>().copied().unwrap_or_default();
                // Of all files, in whatever order they come.
                sum = sum.wrapping_add(u64::from_le_bytes(part));
            }
        }
        Ok((sum, files))
    }

    /// The regular files that `pattern` matches (`*`, `?`, `[…]`, `{a,b}`, `**`), sorted. Links are not followed.
    ///
    /// Every directory looked at is remembered, so that a file that appears later is a conflict.
    pub fn glob(&self, pattern: &str) -> Result<Vec<RelPath>, Fault> {
        let wanted = Pattern::new(pattern)?;
        if !is_pattern(pattern) {
            // A plain path: nothing else could match, so no folder is walked through for it.
            let path = path_argument(pattern)?;
            let is_file = matches!(self.state(&path)?, State::File { .. });
            return Ok(if is_file { vec![path] } else { Vec::new() });
        }
        let (mut found, mut visited) = (Vec::new(), 0usize);
        let mut open = vec![wanted.base.clone()];
        while let Some(dir) = open.pop() {
            let entries = match self.list(dir.as_ref()) {
                Ok(entries) => entries,
                Err(fault) if fault.code == Code::NotFound => continue,
                Err(fault) => return Err(fault),
            };
            visited += entries.len();
            if visited > MAX_VISITED {
                return Err(Fault::new(
                    Code::TooLarge,
                    format!("{pattern}: looks at more than {MAX_VISITED} entries"),
                )
                .suggest("Begin the pattern with the folder that holds the files."));
            }
            for entry in entries {
                let path = match &dir {
                    None => RelPath::new(&entry.name),
                    Some(dir) => dir.join(&entry.name),
                };
                let Ok(path) = path else { continue };
                if entry.is_dir && !OTHERS.contains(&entry.name.as_str()) {
                    open.push(Some(path));
                } else if entry.is_file && wanted.matcher.is_match(path.as_str()) {
                    found.push(path);
                }
            }
            if found.len() > MAX_MATCHES {
                return Err(Fault::new(
                    Code::TooLarge,
                    format!("{pattern}: matches more than {MAX_MATCHES} files"),
                ));
            }
        }
        found.sort();
        Ok(found)
    }

    fn alive(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    fn remember(&self, path: Option<RelPath>, state: &State) {
        let observation = Observation::of(path.clone(), state);
        // The first look counts: a file that moved between two looks is a conflict either way.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_insert(observation);
    }
}

/// Folders that hold other people's work or a build's: no pattern looks into them, unless it names them.
const OTHERS: &[&str] = &["node_modules", "target"];

/// A glob over paths below a root: `*`, `?`, `[…]`, `{a,b}` within a name, `**` over folders.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The fixed front part.
    base: Option<RelPath>,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Reads a pattern; refused where it climbs or its front part is no path below the root.
    pub fn new(pattern: &str) -> Result<Self, Fault> {
        // The fixed front part must itself be a path beneath the root.
        let mut fixed: Vec<&str> = pattern.split('/').take_while(|part| !is_pattern(part)).collect();
        if !is_pattern(pattern) {
            path_argument(pattern)?;
            // Of a plain path the last part is the file.
            fixed.pop();
        }
        let base = if fixed.is_empty() { None } else { Some(path_argument(&fixed.join("/"))?) };
        if pattern.split('/').any(|part| part == "..") {
            return Err(Fault::new(Code::PathNotAllowed, format!("{pattern}: the pattern climbs with `..`")));
        }
        let matcher = GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(false)
            .build()
            .map_err(|e| Fault::invalid(format!("{pattern}: {}", e.kind())))?
            .compile_matcher();
        Ok(Self { base, matcher })
    }

    /// Whether a file at `path` is found by it, as [`View::glob`] finds it.
    #[must_use]
    pub fn finds(&self, path: &str) -> bool {
        let below = match &self.base {
            None => path,
            Some(base) => match path.strip_prefix(base.as_str()).and_then(|rest| rest.strip_prefix('/')) {
                Some(below) => below,
                None => return false,
            },
        };
        let folders = below.rsplit_once('/').map_or("", |(folders, _)| folders);
        !folders.split('/').any(|folder| OTHERS.contains(&folder)) && self.matcher.is_match(path)
    }
}

/// Whether `part` has a glob's special characters.
#[must_use]
pub fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '[', '{'])
}

/// A path that a caller gave: refused with the policy fault that names it.
pub fn path_argument(text: &str) -> Result<RelPath, Fault> {
    RelPath::new(text).map_err(|why| {
        Fault::new(Code::PathNotAllowed, format!("{}: {why}", contract::text::visible(text)))
            .suggest("Give a plain path relative to the root, such as `tokens/colors.json`.")
    })
}
