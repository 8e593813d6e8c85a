//! Which files a library has, and which of them make which pattern. None of them is opened.

use std::collections::BTreeMap;

use contract::digest::Hasher;
use contract::{Fault, RelPath};
use exec::census::{Ask, Census, Seen, Stamp};
use exec::changes::Changes;
use library::category::Category;
use library::pattern::{Found, is_entered, survey};
use library::{Code, Problem, Problems};
use tokio_util::sync::CancellationToken;

use super::item::place;
use crate::libraries::Library;

/// Most files of one library that are looked through.
const MOST_FILES: usize = 3_500_000;
/// Folders below a library's, one below another, that are looked into.
const DEPTH: usize = 8;

/// Where a pattern is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) found: Found,
    pub(super) base: Option<RelPath>,
    /// The file that is read first, from the root.
    pub(super) main: RelPath,
}

impl Place {
    /// What it is filed under, as far as its place says.
    pub(super) fn category(&self) -> &str {
        self.found.category.as_deref().unwrap_or(Category::NONE)
    }
}

/// What a library has.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By id.
    pub(super) named: BTreeMap<String, Place>,
    /// Those whose id stands in a file.
    pub(super) unnamed: Vec<Place>,
    /// What is wrong with names and places.
    pub(super) problems: Vec<Problem>,
    /// What tells whether any file came, went or changed.
    pub(super) census: String,
    files: BTreeMap<RelPath, Stamp>,
}

/// What there is, before anybody asks what it makes.
pub(super) struct Counted {
    folders: Vec<(Option<RelPath>, Census)>,
    /// What tells whether any file came, went or changed.
    pub(super) census: String,
}

fn enters(path: &RelPath) -> bool {
    is_entered(path.file_name())
}

impl Counted {
    /// Counts what is there.
    pub(super) fn of(library: &Library, cancel: &CancellationToken) -> Result<Self, Fault> {
        let (mut folders, mut all, mut files) = (Vec::new(), Hasher::default(), 0);
        for base in &library.folders {
            let most = MOST_FILES.saturating_sub(files);
            let ask = Ask { base: base.as_ref(), depth: DEPTH, enters: &enters, most };
            let seen = library.root.census(ask, cancel)?;
            for link in &seen.links {
                all.update(link.as_str().as_bytes());
                all.update(b"\0link\n");
            }
            for Seen { path, stamp } in &seen.files {
                let Stamp { len, modified, changed, inode } = stamp;
                all.update(path.as_str().as_bytes());
                all.update(b"\0");
                for number in [i128::from(*len), *modified, *changed, i128::from(*inode)] {
                    all.update(&number.to_le_bytes());
                }
            }
            files += seen.files.len();
            folders.push((base.clone(), seen));
        }
        Ok(Self { folders, census: all.finish().to_string() })
    }

    /// Has the machine tell of changes of a library, from here on.
    pub(super) fn watched(library: &Library) -> Option<Changes> {
        let asks = library.folders.iter().map(|base| Ask {
            base: base.as_ref(),
            depth: DEPTH,
            enters: &enters,
            most: MOST_FILES,
        });
        library.root.watched(&asks.collect::<Vec<_>>())
    }

    /// Whether it has links: what those lead to is nothing that the machine tells of.
    pub(super) fn has_links(&self) -> bool {
        self.folders.iter().any(|(_, census)| !census.linked.is_empty() || !census.links.is_empty())
    }

    /// Whether the machine tells of every change of it.
    pub(super) fn is_watched(&self, library: &Library, changes: &Changes) -> bool {
        self.folders.iter().all(|(_, census)| library.root.are_watched(changes, census))
    }
}

impl Listing {
    /// What that makes.
    pub(super) fn of(counted: Counted) -> Result<Self, Fault> {
        let mut listing = Self { census: counted.census, ..Self::default() };
        for (base, seen) in counted.folders {
            let below = |path: &RelPath| below(base.as_ref(), path).map(str::to_owned);
            let paths: Vec<String> = seen.files.iter().filter_map(|seen| below(&seen.path)).collect();
            let surveyed = survey(paths.iter().map(String::as_str));
            listing.problems.extend(surveyed.problems);
            for found in surveyed.found {
                let main = place(base.as_ref(), &found.main())?;
                let is_named = found.category.is_some();
                let id = found.id(None);
                let place = Place { found, base: base.clone(), main };
                match id {
                    // A skill's category may stand in its file: it has its id when it was read.
                    Ok(id) if is_named => {
                        listing.named.entry(id.short().to_owned()).or_insert(place);
                    }
                    _ => listing.unnamed.push(place),
                }
            }
            listing.problems.extend(seen.links.iter().filter_map(below).flat_map(|link| is_a_link(&link)));
            listing.files.extend(seen.files.into_iter().map(|Seen { path, stamp }| (path, stamp)));
        }
        Ok(listing)
    }

    /// How many files there are.
    pub(super) fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// The files of a pattern, as they are.
    pub(super) fn stamps(&self, of: &Place) -> Result<Vec<(RelPath, Stamp)>, Fault> {
        let mut own = Vec::new();
        for file in of.found.files() {
            let path = place(of.base.as_ref(), file)?;
            if let Some(stamp) = self.files.get(&path) {
                own.push((path, *stamp));
            }
        }
        Ok(own)
    }
}

fn is_a_link(link: &str) -> Vec<Problem> {
    let mut problem = Problems::of(link);
    let why = "it is a link that leads out of the library, or to a folder: it is not followed";
    problem.whole(Code::NameInvalid, why);
    problem.into_found()
}

/// `path` as it is named from a library's folder.
fn below<'p>(base: Option<&RelPath>, path: &'p RelPath) -> Option<&'p str> {
    match base {
        None => Some(path.as_str()),
        Some(base) => path.as_str().strip_prefix(base.as_str())?.strip_prefix('/'),
    }
}
