//! What earlier sessions left in `.agent-artifacts/`: which sessions there are, and one of them read. What is in them was said
//! earlier by somebody and is no instruction.

pub(crate) mod measure;
pub(crate) mod shelf;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use contract::{Code, Fault, RelPath, State};
use exec::Root;
use exec::census::{self, Ask, Stamp, census};
use kit::ReadDesk;
use library::code::Block;
use library::markdown::MAX_DOCUMENT;
use library::session::{Files, MAX_PACK, Main, Session, read, read_pack, sessions};
use library::{Problems, ProjectName, SessionId};
use schemars::JsonSchema;
use search::{Analyst, Document, Memory};
use serde::Serialize;

use crate::project::within;

/// The folder, from a project's.
pub(crate) const FOLDER: &str = ".agent-artifacts";
/// Most sessions of a project that are looked through: the newest.
pub(crate) const MOST_SESSIONS: usize = 5_000;
/// Most files in the folder and in those of its sessions.
const MOST_FILES: usize = 100_000;
/// Most problems that are told.
pub(crate) const TOLD: usize = 20;
/// Ids that an unknown one may be meant for.
const NEAREST: usize = 3;
/// What a root is called that was given no name.
const UNNAMED: &str = "root";

/// A file that was passed over.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Bad {
    /// The file, in `.agent-artifacts/`.
    pub(crate) file: String,
    /// What is wrong with it.
    pub(crate) why: String,
}

/// Code of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The language; nothing where none is said.
    language: String,
    /// The code, or the first part of it.
    code: String,
    /// The file that it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The line of the session's document at which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Whether there is more of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

impl Source {
    /// A block, or its first `most` characters.
    pub(crate) fn of(block: Block, most: usize) -> Self {
        let (code, is_cut) = kit::markdown::front(&block.code, most);
        let code = code.to_owned();
        Self { language: block.language, code, file: block.file, line: block.line, is_cut }
    }

    /// The same where nothing says from which line.
    pub(crate) fn unplaced(self) -> Self {
        Self { line: None, ..self }
    }

    /// How many characters of it are shown.
    pub(crate) fn characters(&self) -> usize {
        self.code.chars().count()
    }
}

/// A language as a sentence names it.
pub(crate) fn named_language(language: &str) -> &str {
    if language.is_empty() { "no language" } else { language }
}

/// Last part of a root's place, where a project may be called so.
fn folder_of(root: &Root) -> Option<String> {
    let folder = root.path().file_name()?.to_str()?;
    ProjectName::new(folder).ok().map(|name| name.as_str().to_owned())
}

/// What the call's own root is called as a project.
fn own_name(root: &Root) -> String {
    let folder = || folder_of(root).unwrap_or_else(|| UNNAMED.to_owned());
    if root.name() == UNNAMED { folder() } else { root.name().to_owned() }
}

/// The project that a call means: its own root, by whichever name; another is `not_found`, as a call sees one root.
pub(crate) fn project(desk: &ReadDesk, given: Option<&str>) -> Result<String, Fault> {
    let root = desk.view().root();
    let own = own_name(root);
    match given {
        Some(given) if given != root.name() && folder_of(root).as_deref() != Some(given) => {
            let message =
                format!("project: this call's root is {own}, not {}", contract::text::visible(given));
            Err(Fault::new(Code::NotFound, message).suggest(format!(
                "Give `project: {own}`, or `root` with the name of the root whose sessions are meant."
            )))
        }
        _ => Ok(own),
    }
}

/// What a project below the root is called.
pub(crate) fn project_at(desk: &ReadDesk, folder: Option<&RelPath>) -> String {
    folder.map_or_else(|| own_name(desk.view().root()), |folder| folder.file_name().to_owned())
}

/// The sessions of a project, without what is in them.
pub(crate) struct Kept {
    base: RelPath,
    /// The newest first: those whose id begins with a date, by it; then the others, by when they were changed.
    pub(crate) found: Vec<Files>,
    stamps: BTreeMap<String, Stamp>,
    /// Links that are not followed.
    links: Vec<String>,
    /// What is no session's, though it is named like one, and links that are not followed.
    pub(crate) problems: Vec<Bad>,
}

/// Looks which sessions there are: none without a folder. At most 100,000 files; a folder that is a link is refused.
pub(crate) fn kept(desk: &ReadDesk, project: Option<&RelPath>) -> Result<Kept, Fault> {
    let base = within(project, FOLDER)?;
    let refused = |why: &str| {
        Err(Fault::new(Code::PathNotAllowed, format!("{base}: it is {why}: it is not looked into"))
            .about(base.as_str())
            .suggest("Make it a folder of its own."))
    };
    match desk.view().state(&base)? {
        State::Symlink { .. } => return refused("a link"),
        State::File { .. } => return refused("a file"),
        State::Absent | State::Directory { .. } => {}
    }
    let enters = |path: &RelPath| !path.file_name().starts_with('.');
    let ask = Ask { base: Some(&base), depth: 1, enters: &enters, most: MOST_FILES };
    let seen = census(desk.view().root(), ask, desk.cancelled())
        .map_err(|fault| fault.about(base.as_str()).suggest("Move older sessions elsewhere."))?;
    let below =
        |path: &RelPath| Some(path.as_str().strip_prefix(base.as_str())?.strip_prefix('/')?.to_owned());
    let stamps: BTreeMap<String, Stamp> =
        seen.files.iter().filter_map(|seen| Some((below(&seen.path)?, seen.stamp))).collect();
    let links: Vec<String> = seen.links.iter().filter_map(below).filter(|link| is_read(link)).collect();
    let all = sessions(stamps.keys().map(String::as_str));
    let mut problems: Vec<Bad> =
        all.problems.into_iter().map(|p| Bad { file: p.file, why: p.message }).collect();
    problems.extend(
        links.iter().map(|link| Bad { file: library::text::shown(link), why: NOT_FOLLOWED.to_owned() }),
    );
    let mut found = all.found;
    let modified = |files: &Files| stamps.get(main_of(files)).map(|stamp| stamp.modified);
    found.sort_by_cached_key(|files| {
        let date = files.id.date();
        let undated = if date.is_none() { modified(files) } else { None };
        Reverse((date, undated, files.id.clone()))
    });
    Ok(Kept { base, found, stamps, links, problems })
}

/// Whether what is called so is looked at: all at the top, and of a session's folder its documents, figures and raw files.
fn is_read(file: &str) -> bool {
    let ends = [".jsonl", ".log", ".txt"];
    file.split_once('/').is_none_or(|(_, file)| {
        matches!(
            file,
            "session-summary.md" | "finalization-pack.md" | "finalization-pack.json" | "metrics.json"
        ) || ends.iter().any(|end| file.ends_with(end))
    })
}

const NOT_FOLLOWED: &str =
    "it is a link that leads out of the root, to a folder or to nothing: it is not followed";

/// The file that says what a session was.
pub(crate) fn main_of(files: &Files) -> &str {
    match &files.main {
        Main::Markdown(file) | Main::Pack(file) => file,
    }
}

impl Kept {
    /// A session: `not_found` where there is none, `path_not_allowed` where a link that is not followed stands for it.
    pub(crate) fn get(&self, id: &SessionId) -> Result<&Files, Fault> {
        if let Some(files) = self.found.iter().find(|files| files.id == *id) {
            return Ok(files);
        }
        self.check_links(id)?;
        let fault = Fault::new(Code::NotFound, format!("sessionId: {} has no session {id}", self.base));
        let near = self.nearest(id);
        Err(match self.found.first() {
            None => fault.suggest("There is no session at all here: give another project, or `root`."),
            Some(_) if !near.is_empty() => fault.suggest(format!("Perhaps {} is meant.", near.join(" or "))),
            Some(newest) => fault.suggest(format!(
                "`search_artifacts` finds sessions by what they are about; the newest is `{}`.",
                newest.id
            )),
        })
    }

    /// Fails where a link that is not followed is one of this session's files.
    pub(crate) fn check_links(&self, id: &SessionId) -> Result<(), Fault> {
        let is_of_it = |link: &&String| {
            let behind = link.strip_prefix(id.as_str());
            behind.is_some_and(|rest| matches!(rest, "" | ".md" | ".metrics.json") || rest.starts_with('/'))
        };
        match self.links.iter().find(is_of_it) {
            Some(link) => {
                let path = format!("{}/{link}", self.base);
                Err(Fault::new(Code::PathNotAllowed, format!("{path}: {NOT_FOLLOWED}")).about(path))
            }
            None => Ok(()),
        }
    }

    fn nearest(&self, id: &SessionId) -> Vec<String> {
        let mut analyst = Analyst::new();
        let ids = self.found.iter().take(MOST_SESSIONS).map(|files| {
            let id = files.id.as_str();
            analyst.analyse(&Document { id, name: id, ..Document::default() })
        });
        // Without an index there is no advice: that is not what failed.
        let near = Memory::build(ids).map(|index| index.nearest(id.as_str(), NEAREST)).unwrap_or_default();
        near.into_iter().map(|id| format!("`{id}`")).collect()
    }

    /// A file, from the root.
    pub(crate) fn place(&self, file: &str) -> Result<RelPath, Fault> {
        self.base.join(file).map_err(|why| Fault::internal(format!("{file}: {why}")))
    }

    /// A file as it stood when the folder was looked at.
    pub(crate) fn stamp(&self, file: &str) -> Option<Stamp> {
        self.stamps.get(file).copied()
    }

    /// The text of a session's document: at most 1 MiB, or 4 MiB of a pack. What is no UTF-8 is replaced.
    pub(crate) fn text(&self, root: &Root, files: &Files) -> Result<(String, Stamp), Fault> {
        let most = match &files.main {
            Main::Markdown(_) => MAX_DOCUMENT,
            Main::Pack(_) => MAX_PACK,
        };
        let (bytes, stamp) = census::read(root, &self.place(main_of(files))?, most as u64)?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), stamp))
    }

    /// Reads a session's document.
    pub(crate) fn session(&self, files: &Files, text: &str) -> Result<Session, Fault> {
        match &files.main {
            Main::Markdown(_) => Ok(read(text)),
            Main::Pack(file) => {
                let mut problems = Problems::of(file);
                if let Some((session, _)) = read_pack(text, &mut problems) {
                    return Ok(session);
                }
                let place = self.place(file)?;
                let first = problems.found().first();
                let line = first.and_then(|p| p.line).map(|line| format!(":{line}")).unwrap_or_default();
                let why = first.map(|p| p.message.as_str()).unwrap_or_default();
                Err(Fault::new(Code::InvalidSource, format!("{place}{line}: {why}")).about(place.as_str()))
            }
        }
    }
}
