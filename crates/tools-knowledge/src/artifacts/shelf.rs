//! Sessions to be searched: an index in memory for each root, made anew of what changed on disk at every question.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use contract::Fault;
use exec::Root;
use exec::census::Stamp;
use kit::ReadDesk;
use library::markdown::Markdown;
use library::session::{Files, Main, Session};
use search::{Analyst, Answer, Document, Memory, Order, Query};

use super::{Bad, Kept, MOST_SESSIONS, main_of};

/// Most bytes of documents of one root that are indexed, the newest sessions' first: 64 MiB. An index takes less than its texts.
const MOST_BYTES: u64 = 64 << 20;
/// Roots whose sessions are kept; the one that was asked for longest ago gives way.
const MOST_ROOTS: usize = 4;

/// A session, without its texts.
#[derive(Debug, Clone)]
pub(crate) struct Brief {
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) has_code: bool,
}

struct Item {
    main: String,
    stamp: Option<Stamp>,
    /// What it is, or why it cannot be read.
    read: Result<Brief, String>,
}

/// The sessions of a root as they were looked through last.
#[derive(Default)]
pub(crate) struct Shelf {
    items: BTreeMap<String, Item>,
    index: Memory,
    asked: u64,
}

/// The shelves of all roots that were asked for. One question at a time: what a second one waits for is the first reading.
#[derive(Clone, Default)]
pub(crate) struct Shelves(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    shelves: BTreeMap<PathBuf, Shelf>,
    asked: u64,
}

impl std::fmt::Debug for Shelves {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelves").finish_non_exhaustive()
    }
}

impl Shelves {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(|poisoned| {
            // Whoever panicked may have left half of a shelf.
            let mut known = poisoned.into_inner();
            *known = Known::default();
            self.0.clear_poison();
            known
        })
    }

    /// Brings the root's shelf up to date with what is kept there, and looks into it.
    pub(crate) fn with<T>(
        &self,
        desk: &ReadDesk,
        kept: &Kept,
        look: impl FnOnce(&Shelf) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut known = self.lock();
        known.asked += 1;
        let now = known.asked;
        let root = desk.view().root();
        if !known.shelves.contains_key(root.path()) && known.shelves.len() >= MOST_ROOTS {
            let oldest = known.shelves.iter().min_by_key(|(_, shelf)| shelf.asked);
            if let Some(oldest) = oldest.map(|(place, _)| place.clone()) {
                known.shelves.remove(&oldest);
            }
        }
        let own = known.shelves.entry(root.path().to_owned()).or_default();
        own.asked = now;
        own.refresh(desk, root, kept)?;
        look(own)
    }
}

/// The sessions that are looked through: the newest, as many as may be.
pub(crate) fn within_bounds(kept: &Kept) -> &[Files] {
    let mut bytes = 0_u64;
    let fits = |files: &&Files| {
        bytes = bytes.saturating_add(kept.stamp(main_of(files)).map_or(0, |stamp| stamp.len));
        bytes <= MOST_BYTES
    };
    let count = kept.found.iter().take(MOST_SESSIONS).take_while(fits).count();
    kept.found.get(..count).unwrap_or_default()
}

impl Shelf {
    fn refresh(&mut self, desk: &ReadDesk, root: &Root, kept: &Kept) -> Result<(), Fault> {
        let wanted: BTreeMap<&str, &Files> =
            within_bounds(kept).iter().map(|files| (files.id.as_str(), files)).collect();
        let gone: Vec<String> =
            self.items.keys().filter(|id| !wanted.contains_key(id.as_str())).cloned().collect();
        for id in gone {
            self.items.remove(&id);
            self.index.remove(&id).map_err(unindexed)?;
        }
        let mut analyst = None;
        for (id, files) in wanted {
            let main = main_of(files);
            let is_known = |item: &Item| item.main == main && item.stamp == kept.stamp(main);
            if self.items.get(id).is_some_and(is_known) {
                continue;
            }
            desk.check()?;
            let (read, stamp) = match kept.text(root, files) {
                Ok((text, stamp)) => {
                    // What is a secret is not to be found.
                    let text = desk.cleaned(&text);
                    let read = kept.session(files, &text).map(|session| (session, text));
                    (read, Some(stamp))
                }
                Err(fault) => (Err(fault), kept.stamp(main)),
            };
            let read = match read {
                Ok((session, text)) => {
                    self.put(analyst.get_or_insert_with(Analyst::new), files, &session, &text)?;
                    Ok(brief(files, &session))
                }
                Err(fault) => {
                    self.index.remove(id).map_err(unindexed)?;
                    Err(fault.message)
                }
            };
            self.items.insert(id.to_owned(), Item { main: main.to_owned(), stamp, read });
        }
        Ok(())
    }

    fn put(
        &mut self,
        analyst: &mut Analyst,
        files: &Files,
        session: &Session,
        text: &str,
    ) -> Result<(), Fault> {
        let code: Vec<&str> = session.code_blocks.iter().map(|block| block.code.as_str()).collect();
        let lists = [&session.decisions, &session.implementations, &session.challenges, &session.next_steps];
        let items: Vec<&str> = lists.into_iter().flatten().map(String::as_str).collect();
        let (items, code) = (items.join("\n"), code.join("\n"));
        // A document may say more than its known sections; a pack says nothing besides.
        let markdown = Markdown::of(if matches!(files.main, Main::Markdown(_)) { text } else { "" });
        let body = markdown.slice(&markdown.body());
        let headings: Vec<&str> =
            markdown.headings().iter().map(|heading| markdown.title_of(heading)).collect();
        let document = Document {
            id: files.id.as_str(),
            name: files.id.as_str(),
            title: session.title.as_deref().unwrap_or_default(),
            description: &session.summary,
            headings: &headings,
            code: &code,
            body: if body.is_empty() { &items } else { body },
            executable: !session.code_blocks.is_empty(),
            ..Document::default()
        };
        self.index.put(analyst.analyse(&document)).map_err(unindexed)
    }

    /// A session that can be read.
    pub(crate) fn brief(&self, id: &str) -> Option<&Brief> {
        self.items.get(id)?.read.as_ref().ok()
    }

    /// The sessions that have one of the words, by score.
    pub(crate) fn search(&self, query: &Query, most: usize) -> Result<Answer, Fault> {
        self.index.search(query, Order::Score, most).map_err(unindexed)
    }

    /// Sessions that cannot be read.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Bad> + '_ {
        self.items.values().filter_map(|item| {
            let why = item.read.as_ref().err()?;
            Some(Bad { file: item.main.clone(), why: why.clone() })
        })
    }
}

/// What a list shows of a session: without a title its id stands for one.
fn brief(files: &Files, session: &Session) -> Brief {
    Brief {
        title: session.title.clone().unwrap_or_else(|| files.id.as_str().to_owned()),
        summary: session.short(),
        has_code: !session.code_blocks.is_empty(),
    }
}

fn unindexed(error: search::SearchError) -> Fault {
    Fault::internal(error.to_string())
}
