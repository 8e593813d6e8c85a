//! Which files hold the tokens that a caller names, in the work tree or in a commit.

use std::sync::atomic::AtomicBool;

use contract::{Code, Fault, RelPath, State};
use design_tokens::Loader;
use exec::history::{Limits, Snapshot};
use exec::view::{self, Pattern, View};
use kit::ReadDesk;
use kit::desk::unread;
use serde_json::Value;

/// Where token files are read.
pub(crate) trait Files: Sync {
    /// Whether `path` is a folder; `None` where there is nothing.
    fn is_folder(&self, path: &RelPath) -> Result<Option<bool>, Fault>;
    /// The files that a pattern matches, sorted.
    fn glob(&self, pattern: &str) -> Result<Vec<RelPath>, Fault>;
    /// A file's bytes; `None` where there is none.
    fn bytes(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Fault>;
}

impl Files for View {
    fn is_folder(&self, path: &RelPath) -> Result<Option<bool>, Fault> {
        Ok(match self.state(path)? {
            State::Absent => None,
            State::Directory { .. } => Some(true),
            _ => Some(false),
        })
    }

    fn glob(&self, pattern: &str) -> Result<Vec<RelPath>, Fault> {
        Self::glob(self, pattern)
    }

    fn bytes(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Fault> {
        self.read_optional(path)
    }
}

/// The files of a commit.
pub(crate) struct Committed<'d> {
    pub(crate) snapshot: Snapshot,
    /// Opens the repository for each file: a handle of it stays on one thread, and tokens are compiled on another.
    pub(crate) desk: &'d ReadDesk,
}

impl Files for Committed<'_> {
    fn is_folder(&self, path: &RelPath) -> Result<Option<bool>, Fault> {
        Ok(self.snapshot.is_folder(path.as_str()))
    }

    fn glob(&self, pattern: &str) -> Result<Vec<RelPath>, Fault> {
        let pattern = Pattern::new(pattern)?;
        let found = self.snapshot.paths().filter(|path| pattern.finds(path));
        Ok(found.filter_map(|path| RelPath::new(path).ok()).take(view::MAX_MATCHES).collect())
    }

    fn bytes(&self, path: &RelPath) -> Result<Option<Vec<u8>>, Fault> {
        let never = AtomicBool::new(false);
        self.desk
            .repository()?
            .stored(&self.snapshot, path.as_str(), &Limits::default(), &never)
            .map_err(|error| unread(error).about(path.as_str()))
    }
}

/// The files that `source` means: a folder's resolver document where it has exactly one, else all its token files.
pub(super) fn sources(source: &str, files: &dyn Files) -> Result<Vec<String>, Fault> {
    let named = |paths: Vec<RelPath>| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    if source.split('/').any(view::is_pattern) {
        let found = named(files.glob(source)?);
        return if found.is_empty() { Err(nothing(source)) } else { Ok(found) };
    }
    let path = view::path_argument(source)?;
    match files.is_folder(&path)? {
        Some(true) => {
            if has_themes(&path, files)? {
                return Ok(vec![format!("{path}/$themes.json")]);
            }
            let resolvers = files.glob(&format!("{path}/*.resolver.json"))?;
            if let [one] = resolvers.as_slice() {
                return Ok(vec![one.to_string()]);
            }
            let mut found = named(files.glob(&format!("{path}/**/*.{{json,json5,jsonc,tokens}}"))?);
            // Tokens Studio's index files hold no tokens.
            found.retain(|f| {
                !f.rsplit('/').next().is_some_and(|n| matches!(n, "$themes.json" | "$metadata.json"))
            });
            if found.is_empty() { Err(nothing(source)) } else { Ok(found) }
        }
        None => Err(nothing(source)),
        Some(false) => Ok(vec![path.to_string()]),
    }
}

/// Whether the folder is Tokens Studio's, with themes that say which of its files count. An empty list says nothing.
fn has_themes(folder: &RelPath, files: &dyn Files) -> Result<bool, Fault> {
    let Ok(path) = folder.join("$themes.json") else { return Ok(false) };
    let bytes = files.bytes(&path)?.unwrap_or_default();
    Ok(serde_json::from_slice::<Vec<Value>>(&bytes).is_ok_and(|themes| !themes.is_empty()))
}

fn nothing(source: &str) -> Fault {
    Fault::new(Code::NotFound, format!("{source}: no token file there"))
        .about(source)
        .suggest("Name a file, a folder or a glob relative to the root, such as `tokens/**/*.json`.")
}

/// Reads files that others name from where the tool looks.
pub(crate) struct From<'f>(pub(crate) &'f dyn Files);

impl Loader for From<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        let path = view::path_argument(name).map_err(|f| f.message)?;
        let bytes = self.0.bytes(&path).map_err(|f| f.message)?;
        let bytes = bytes.ok_or_else(|| format!("{name}: not found"))?;
        String::from_utf8(bytes).map_err(|_| format!("{name}: the file is not UTF-8 text"))
    }
}

/// Where projects usually keep their tokens: the first of these folders that holds token files.
const USUAL: [&str; 3] = ["tokens", "design-tokens", "src/tokens"];

/// Where the root's tokens are, if they are in a usual place.
pub(crate) fn usual(desk: &ReadDesk) -> Result<Option<String>, Fault> {
    usual_below(desk, "")
}

/// As [`usual`], in a folder of the root. Nothing of places that are not there becomes a precondition.
pub(crate) fn usual_below(desk: &ReadDesk, folder: &str) -> Result<Option<String>, Fault> {
    usual_of(folder, |path| Ok(desk.view().is_folder(path)), desk.view())
}

/// As [`usual`], in a commit.
pub(super) fn usual_then(files: &dyn Files) -> Result<Option<String>, Fault> {
    usual_of("", |path| Ok(files.is_folder(path)? == Some(true)), files)
}

fn usual_of(
    folder: &str,
    is_folder: impl Fn(&RelPath) -> Result<bool, Fault>,
    files: &dyn Files,
) -> Result<Option<String>, Fault> {
    for name in USUAL {
        let at = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let path = view::path_argument(&at)?;
        if is_folder(&path)? && !files.glob(&format!("{at}/**/*.{{json,jsonc,json5,tokens}}"))?.is_empty() {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
