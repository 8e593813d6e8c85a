//! Which files a linter is to look at where nobody says: those that are the project's, and not what it ignores.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cache::Namespace;
use contract::{Code, Fault, RelPath};
use exec::history::{HistoryError, Ignores, Limits};
use kit::desk::{Grounds, unread};
use kit::{ReadDesk, RunDesk};
use projects::Excludes;

use crate::running::Asked;
use crate::settings::DevtoolsSection;

/// Most files that are handed to a program one by one.
const MAX_FILES: usize = 2_000;

/// Most bytes of their names.
const MAX_BYTES: usize = 96 * 1024;

/// Most folders that are listed.
const MAX_FOLDERS: usize = 100_000;

/// Never a project's own.
const OTHERS: &[&str] = &["node_modules"];

/// What a linter looks at where nobody says.
pub(crate) struct Choice {
    /// How its files' names end.
    pub(crate) endings: &'static [&'static str],
    /// What it is given where they cannot be named one by one.
    pub(crate) otherwise: &'static str,
    /// Where the project may say itself which files are looked at, if the program has such a place.
    pub(crate) own: Option<OwnChoice>,
}

/// A setting of a linter by which a project says which files are looked at.
#[derive(Clone, Copy)]
pub(crate) struct OwnChoice {
    /// What its configuration is called, the first that is there counts: in the folder of the run, else in the nearest above.
    pub(crate) files: &'static [&'static str],
    /// The key in it.
    pub(crate) key: &'static str,
}

impl Choice {
    /// The files that a call names, else those that are found where it is to run; nothing where there are none.
    pub(crate) async fn given(
        &self,
        desk: &RunDesk,
        asked: &Asked<'_>,
        named: &[String],
    ) -> Result<Option<Vec<String>>, Fault> {
        let files = if named.is_empty() { self.files(desk, asked.directory).await? } else { named.to_vec() };
        Ok((!files.is_empty()).then_some(files))
    }

    /// The files below `directory`, seen from there: without what git ignores and what the configuration excludes.
    async fn files(&self, desk: &RunDesk, directory: Option<&str>) -> Result<Vec<String>, Fault> {
        let dir = crate::running::directory(directory)?;
        let (endings, otherwise, own) = (self.endings, self.otherwise, self.own);
        desk.blocking(move |desk| {
            let Some(files) = listed(desk, dir.as_ref(), endings, own)?.as_ref().clone() else {
                return Ok(vec![otherwise.to_owned()]);
            };
            let bytes: usize = files.iter().map(|file| file.len() + 1).sum();
            // Programs take some names for patterns or options.
            let is_odd =
                |file: &String| file.starts_with('-') || file.contains(['*', '?', '[', '{', '!', '\\']);
            if files.len() > MAX_FILES || bytes > MAX_BYTES || files.iter().any(is_odd) {
                return Ok(vec![otherwise.to_owned()]);
            }
            Ok(files)
        })
        .await
    }
}

/// The files; nothing where the project itself says which they are.
fn listed(
    desk: &ReadDesk,
    dir: Option<&RelPath>,
    endings: &[&str],
    own: Option<OwnChoice>,
) -> Result<Arc<Option<Vec<String>>>, Fault> {
    let excludes = desk.settings::<DevtoolsSection>()?.exclude_paths;
    let place = dir.map_or("", RelPath::as_str);
    let question = format!("{place:?} {endings:?} {excludes:?} {:?}", own.map(|own| own.key));
    let excludes = Excludes::new(&excludes)
        .map_err(|(pattern, why)| Fault::invalid(format!("exclude-paths: {pattern:?} is no glob: {why}")))?;
    desk.again(Namespace::FileLists, &[question.as_bytes()], |grounds| {
        if own.is_some_and(|own| chosen(grounds, dir, own)) {
            return Ok(None);
        }
        for rules in [".git/index", ".git/info/exclude", ".gitignore"] {
            grounds.depends.on(Path::new(rules));
        }
        let ignores = ignores(desk)?;
        let mut walk = Walk { grounds, excludes, ignores, endings, found: Vec::new() };
        for above in dir.into_iter().flat_map(RelPath::ancestors) {
            walk.rules(Some(&above));
        }
        walk.below(dir)?;
        let from = if place.is_empty() { 0 } else { place.len() + 1 };
        let mut found: Vec<String> =
            walk.found.iter().filter_map(|file| file.get(from..)).map(str::to_owned).collect();
        found.sort();
        Ok(Some(found))
    })
}

/// Whether the configuration that counts in `dir` says which files are looked at.
fn chosen(grounds: Grounds<'_>, dir: Option<&RelPath>, own: OwnChoice) -> bool {
    let above =
        dir.into_iter().flat_map(|dir| std::iter::once(dir.clone()).chain(dir.ancestors().into_iter().rev()));
    for place in above.map(Some).chain([None]) {
        for name in own.files {
            let path = place.as_ref().map_or_else(|| RelPath::new(name), |dir| dir.join(name));
            let Ok(path) = path else { continue };
            grounds.depends.before(Path::new(path.as_str()));
            let Ok(bytes) = grounds.view.read_optional(&path) else {
                grounds.depends.never_again();
                continue;
            };
            grounds.depends.read(Path::new(path.as_str()), bytes.as_deref());
            if let Some(bytes) = bytes {
                let text = String::from_utf8_lossy(&bytes);
                return text
                    .lines()
                    .any(|line| !line.trim_start().starts_with('#') && line.contains(own.key));
            }
        }
    }
    false
}

/// What the repository ignores; nothing, where there is none that may be read.
pub(crate) fn ignores(desk: &ReadDesk) -> Result<Option<Ignores>, Fault> {
    match desk.repository() {
        Ok(repository) => {
            let never = AtomicBool::new(false);
            match repository.ignores(&Limits::default(), &never) {
                Ok(ignores) => Ok(Some(ignores)),
                Err(HistoryError::NotARepository | HistoryError::Refused(_)) => Ok(None),
                Err(error) => Err(unread(error)),
            }
        }
        Err(fault) if matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => Ok(None),
        Err(fault) => Err(fault),
    }
}

struct Walk<'a> {
    grounds: Grounds<'a>,
    excludes: Excludes,
    ignores: Option<Ignores>,
    endings: &'a [&'a str],
    found: Vec<String>,
}

impl Walk<'_> {
    /// The ignore rules of a folder have a say.
    fn rules(&self, dir: Option<&RelPath>) {
        let path = dir.map_or_else(|| ".gitignore".to_owned(), |dir| format!("{dir}/.gitignore"));
        self.grounds.depends.on(Path::new(&path));
    }

    fn below(&mut self, dir: Option<&RelPath>) -> Result<(), Fault> {
        let (mut open, mut folders) = (vec![dir.cloned()], 0);
        while let Some(dir) = open.pop() {
            folders += 1;
            if folders > MAX_FOLDERS {
                let message = format!("more than {MAX_FOLDERS} folders are too many to be looked through");
                return Err(Fault::new(Code::TooLarge, message)
                    .suggest("Name a folder with `directory`, or `files`."));
            }
            let place = dir.as_ref().map_or(Path::new(""), |dir| Path::new(dir.as_str()));
            self.grounds.depends.before(place);
            self.rules(dir.as_ref());
            let entries = match self.grounds.view.list(dir.as_ref()) {
                Ok(entries) => entries,
                // One that is gone by now, or that cannot be looked into, has nothing for a linter. When that changes is not
                // seen, so the answer is not kept.
                Err(fault) if folders > 1 && matches!(fault.code, Code::NotFound | Code::PathNotAllowed) => {
                    self.grounds.depends.never_again();
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            let names = entries.iter().map(|entry| (entry.name.as_str(), exec::ondisk::kind(entry)));
            self.grounds.depends.listed(place, Some(names));
            for entry in entries {
                let path = match &dir {
                    None => RelPath::new(&entry.name),
                    Some(dir) => dir.join(&entry.name),
                };
                let Ok(path) = path else { continue };
                let wanted = entry.is_file && self.endings.iter().any(|end| entry.name.ends_with(end));
                let entered = entry.is_dir && !OTHERS.contains(&entry.name.as_str());
                if !(wanted || entered)
                    || self.excludes.has(path.as_str())
                    || self.ignored(&path, entry.is_dir)?
                {
                    continue;
                }
                if entry.is_dir {
                    open.push(Some(path));
                } else {
                    self.found.push(path.as_str().to_owned());
                }
            }
        }
        Ok(())
    }

    fn ignored(&self, path: &RelPath, is_dir: bool) -> Result<bool, Fault> {
        self.ignores
            .as_ref()
            .map_or(Ok(false), |ignores| ignores.is_ignored(path.as_str(), is_dir).map_err(unread))
    }
}
