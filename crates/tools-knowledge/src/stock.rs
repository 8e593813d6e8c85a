//! What one library holds, as it was looked through last: files are the truth, and this is made of them anew whenever they differ.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use contract::{Fault, RelPath};
use exec::census::{self, Ask, Stamp, census, glance};
use library::entry::{Entry, Read, Text, is_known, of_files, of_folder};
use library::markdown::MAX_DOCUMENT;
use library::pattern::{Found, Layout, is_entered, survey};
use library::quality::{Score, is_verified};
use library::{Category, Code, PatternId, Problem, Problems};
use search::{Analysed, Analyst, Memory};
use tokio_util::sync::CancellationToken;

use crate::indexing::Pattern;
pub(crate) use crate::indexing::executable;
use crate::libraries::Library;

/// Most files of one library that are looked through.
const MOST_FILES: usize = 3_500_000;
/// Folders below a library's, one below another, that are looked into.
const DEPTH: usize = 8;
/// Largest file that is read.
const MAX_FILE: u64 = MAX_DOCUMENT as u64;
/// A library of at most so many files is looked through for every question.
const SMALL: usize = 2_000;
/// A larger one is looked through again after this time.
const AGAIN: Duration = Duration::from_secs(5);
/// Most problems of a library that are kept.
const MAX_PROBLEMS: usize = 1_000;

/// A pattern, without its texts.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) id: PatternId,
    pub(crate) description: String,
    pub(crate) quality: Option<Score>,
    pub(crate) executable: Option<RelPath>,
    /// How often it was used, as its file says.
    pub(crate) stated: u64,
    pub(crate) verified: bool,
    /// The folder that its files are named from: the root where there is none.
    pub(crate) base: Option<RelPath>,
    pub(crate) found: Found,
    stamps: Vec<(RelPath, Stamp)>,
}

impl Item {
    /// A file of it, from the root.
    pub(crate) fn place(&self, file: &str) -> Result<RelPath, Fault> {
        place(self.base.as_ref(), file)
    }
}

/// `file` of a library's folder, from the root.
fn place(base: Option<&RelPath>, file: &str) -> Result<RelPath, Fault> {
    let path = base.map_or_else(|| RelPath::new(file), |base| base.join(file));
    path.map_err(|why| Fault::internal(format!("{file}: {why}")))
}

/// What is needed to look through a library.
pub(crate) struct Looking<'a> {
    /// Takes secrets out of texts: none of them is to be found.
    pub(crate) clean: &'a dyn Fn(&str) -> String,
    /// How often a pattern of this library was used, where that is recorded: by id, and what its file says now.
    pub(crate) uses: &'a dyn Fn(&str, u64) -> u64,
    /// Reads everything again, or what is in this category.
    pub(crate) again: Again<'a>,
    pub(crate) cancel: &'a CancellationToken,
}

/// What is read again that has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again<'a> {
    /// Nothing; a large library is not even looked through where that was done just now.
    Changed,
    /// Nothing, but it is looked through.
    Looked,
    /// All, or all of a category.
    All(Option<&'a str>),
}

/// What looking through a library came to, by category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report(BTreeMap<String, Counts>);

/// What became of patterns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) indexed: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
    pub(crate) removed: u64,
}

impl Report {
    fn of(&mut self, category: &str) -> &mut Counts {
        self.0.entry(category.to_owned()).or_default()
    }

    fn count(&mut self, category: &str, taken: &Taken) {
        let counts = self.of(category);
        *match taken {
            Taken::Kept(_) => &mut counts.skipped,
            Taken::Read(_) => &mut counts.indexed,
            Taken::Refused => &mut counts.failed,
        } += 1;
    }

    /// All of it, or of one category.
    pub(crate) fn sum(&self, only: Option<&str>) -> Counts {
        let of_it = self.0.iter().filter(|(category, _)| only.is_none_or(|only| only == *category));
        of_it.fold(Counts::default(), |sum, (_, counts)| sum.and(*counts))
    }
}

impl Counts {
    /// Both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            indexed: self.indexed + other.indexed,
            skipped: self.skipped + other.skipped,
            failed: self.failed + other.failed,
            removed: self.removed + other.removed,
        }
    }
}

/// What became of a pattern.
enum Taken {
    /// It is as it was.
    Kept(String),
    /// It was read.
    Read(String),
    /// It is none.
    Refused,
}

impl Taken {
    fn id(&self) -> Option<String> {
        match self {
            Self::Kept(id) | Self::Read(id) => Some(id.clone()),
            Self::Refused => None,
        }
    }
}

/// A library as it was looked through last.
#[derive(Default)]
pub(crate) struct Stock {
    /// By id.
    pub(crate) items: BTreeMap<String, Item>,
    /// Their ids, by the file that is read first.
    mains: BTreeMap<RelPath, String>,
    pub(crate) index: Memory,
    files: Vec<(RelPath, Stamp)>,
    /// Of names and places.
    of_names: Vec<Problem>,
    /// Of what is in files, by the file that is read first.
    of_files: BTreeMap<RelPath, Vec<Problem>>,
    analyst: Option<Analyst>,
    /// What an index is made of anew; none where changes are taken into the one that there is.
    gathered: Option<Vec<Analysed>>,
    looked: Option<Instant>,
}

impl Stock {
    /// All that is wrong, by file.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut all: Vec<Problem> = self.of_names.clone();
        all.extend(self.of_files.values().flatten().cloned());
        all.sort();
        all.truncate(MAX_PROBLEMS);
        all
    }

    /// Nothing of it is found until it can be read again.
    pub(crate) fn cannot_be_read(&mut self, library: &Library, fault: &Fault) {
        let mut problem = Problems::of(library.name.as_str());
        problem.whole(Code::TooLarge, fault.message.clone());
        *self = Self { of_names: problem.into_found(), ..Self::default() };
    }

    /// Brings it up to date.
    pub(crate) fn refresh(&mut self, library: &Library, looking: &Looking<'_>) -> Result<Report, Fault> {
        let is_large = self.files.len() > SMALL;
        if looking.again == Again::Changed && is_large && self.looked.is_some_and(|at| at.elapsed() < AGAIN) {
            let mut report = Report::default();
            self.items.values().for_each(|item| report.of(item.id.category()).skipped += 1);
            return Ok(report);
        }
        let mut report = Report::default();
        let (mut files, mut links, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut found: BTreeMap<String, (Found, Option<RelPath>)> = BTreeMap::new();
        let mut unnamed: Vec<(Found, Option<RelPath>)> = Vec::new();
        let mut stamps = BTreeMap::new();
        for base in &library.folders {
            let enters = |path: &RelPath| is_entered(path.file_name());
            let most = MOST_FILES.saturating_sub(files.len());
            let ask = Ask { base: base.as_ref(), depth: DEPTH, enters: &enters, most };
            let seen = census(&library.root, ask, looking.cancel)?;
            let below = |path: &RelPath| below(base.as_ref(), path).map(str::to_owned);
            let paths: Vec<String> = seen.files.iter().filter_map(|seen| below(&seen.path)).collect();
            let surveyed = survey(paths.iter().map(String::as_str));
            names.extend(surveyed.problems);
            for one in surveyed.found {
                match one.id(None) {
                    // A skill's category may stand in its file: it has its id when it was read.
                    Ok(id) if one.category.is_some() => {
                        found.entry(id.short().to_owned()).or_insert((one, base.clone()));
                    }
                    _ => unnamed.push((one, base.clone())),
                }
            }
            links.extend(seen.links.iter().filter_map(below));
            stamps.extend(seen.files.iter().map(|seen| (seen.path.clone(), seen.stamp)));
            files.extend(seen.files.into_iter().map(|seen| (seen.path, seen.stamp)));
        }
        names.extend(
            links
                .iter()
                .map(|link| {
                    let mut problem = Problems::of(link);
                    problem.whole(
                        Code::NameInvalid,
                        "it is a link that leads out of the library, or to a folder: it is not followed",
                    );
                    problem.into_found()
                })
                .flat_map(Vec::into_iter),
        );
        self.of_names = names;
        let mut before = BTreeMap::new();
        let was_left = self.gathered.is_some();
        if self.items.is_empty() || was_left || self.is_crowded() || looking.again == Again::All(None) {
            // Whatever was put to it one by one is slower to make and to search than an index that is made at once.
            before = std::mem::take(&mut self.items);
            self.gathered = Some(Vec::new());
        }
        let (mut seen, mut mains) = (BTreeSet::new(), BTreeMap::new());
        for (one, base) in found.into_values().chain(unnamed) {
            looking.check()?;
            let main = place(base.as_ref(), &one.main())?;
            let taken = self.take(library, &one, (base.as_ref(), &main), &stamps, (looking, &seen))?;
            seen.extend(taken.id());
            let id = taken.id();
            let category =
                id.as_ref().and_then(|id| id.split_once('/')).map(|(category, _)| category.to_owned());
            report.count(&category.or(one.category).unwrap_or_else(|| Category::NONE.to_owned()), &taken);
            mains.insert(main, id);
        }
        for item in before.values().filter(|item| !seen.contains(item.id.short())) {
            report.of(item.id.category()).removed += 1;
        }
        let gone: Vec<String> = self.items.keys().filter(|id| !seen.contains(*id)).cloned().collect();
        for id in gone {
            if let Some(item) = self.items.remove(&id) {
                report.of(item.id.category()).removed += 1;
            }
            self.index.remove(&id).map_err(unindexed)?;
        }
        if let Some(gathered) = self.gathered.take() {
            self.index = Memory::build(gathered).map_err(unindexed)?;
        }
        self.of_files.retain(|main, _| mains.contains_key(main));
        self.mains = mains.into_iter().filter_map(|(main, id)| Some((main, id?))).collect();
        self.files = files;
        self.looked = Some(Instant::now());
        Ok(report)
    }

    /// Takes a pattern in where it has changed; its id, where it is one.
    fn take(
        &mut self,
        library: &Library,
        found: &Found,
        (base, main): (Option<&RelPath>, &RelPath),
        stamps: &BTreeMap<RelPath, Stamp>,
        (looking, seen): (&Looking<'_>, &BTreeSet<String>),
    ) -> Result<Taken, Fault> {
        let mut own = Vec::new();
        for file in found.files() {
            let path = place(base, file)?;
            if let Some(stamp) = stamps.get(&path) {
                own.push((path, *stamp));
            }
        }
        let known =
            self.mains.get(main).and_then(|id| self.items.get(id)).filter(|item| item.found == *found);
        let known = known.filter(|item| {
            let counted = is_verified((looking.uses)(item.id.short(), item.stated)) == item.verified;
            item.stamps == own && counted && !looking.again.is_all(item.id.category())
        });
        if let Some(item) = known {
            return Ok(Taken::Kept(item.id.short().to_owned()));
        }
        let (read, texts) = read(library, found, base)?;
        let mut problems = read.problems;
        let Some(mut entry) = read.entry else {
            self.of_files.insert(main.clone(), problems);
            return Ok(Taken::Refused);
        };
        // Agent Skills have no category where they do not say so: that is nothing wrong.
        if !is_known(&entry.id) && entry.id.category() != Category::NONE {
            let mut unknown = Problems::of(&found.main());
            let why = format!(
                "`{}` is none of the seven categories: it is found without a category alone",
                entry.id.category()
            );
            unknown.whole(Code::CategoryInvalid, why);
            problems.extend(unknown.into_found());
        }
        entry.title = (looking.clean)(&entry.title);
        entry.tags = entry.tags.iter().map(|tag| (looking.clean)(tag)).collect();
        let id = entry.id.short().to_owned();
        if seen.contains(&id) {
            let mut twice = Problems::of(&found.main());
            twice.whole(
                Code::Ambiguous,
                format!("`{id}` is another file of this library: rename one of the two"),
            );
            problems.extend(twice.into_found());
            self.of_files.insert(main.clone(), problems);
            return Ok(Taken::Refused);
        }
        let executable = executable(found, &entry).map(|file| place(base, &file)).transpose()?;
        let verified = is_verified((looking.uses)(&id, entry.reuse_count));
        self.index_one(found, &entry, &texts, executable.is_some(), verified, looking)?;
        if problems.is_empty() {
            self.of_files.remove(main);
        } else {
            self.of_files.insert(main.clone(), problems);
        }
        let item = Item {
            description: entry.description,
            quality: entry.quality,
            executable,
            stated: entry.reuse_count,
            verified,
            base: base.cloned(),
            found: found.clone(),
            stamps: own,
            id: entry.id,
        };
        self.items.insert(id.clone(), item);
        Ok(Taken::Read(id))
    }

    fn index_one(
        &mut self,
        found: &Found,
        entry: &Entry,
        texts: &Texts,
        executable: bool,
        verified: bool,
        looking: &Looking<'_>,
    ) -> Result<(), Fault> {
        let (document, code) = ((looking.clean)(&texts.document), (looking.clean)(&texts.code));
        let description = (looking.clean)(&entry.description);
        let pattern = Pattern {
            name: &found.name,
            entry,
            description: &description,
            document: &document,
            code: &code,
            executable,
            verified,
        };
        let analyst = self.analyst.get_or_insert_with(Analyst::new);
        let analysed = pattern.as_document(|document| analyst.analyse(document));
        match &mut self.gathered {
            Some(gathered) => {
                gathered.push(analysed);
                Ok(())
            }
            None => self.index.put(analysed).map_err(unindexed),
        }
    }

    /// Whether so much has changed since the index was made that it is to be made anew.
    fn is_crowded(&self) -> bool {
        let view = self.index.view();
        view.delta.is_full(view.columns)
    }

    /// Whether what is known of a pattern is still what its files are.
    pub(crate) fn is_fresh(&self, library: &Library, id: &str) -> bool {
        self.items.get(id).is_some_and(|item| {
            item.stamps.iter().all(|(path, stamp)| glance(&library.root, path) == Some(*stamp))
        })
    }
}

impl Again<'_> {
    fn is_all(self, category: &str) -> bool {
        matches!(self, Self::All(only) if only.is_none_or(|only| only == category))
    }
}

impl Looking<'_> {
    fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::new(contract::Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }
}

fn unindexed(error: search::SearchError) -> Fault {
    Fault::internal(error.to_string())
}

/// `path` as it is named from a library's folder.
fn below<'p>(base: Option<&RelPath>, path: &'p RelPath) -> Option<&'p str> {
    match base {
        None => Some(path.as_str()),
        Some(base) => path.as_str().strip_prefix(base.as_str())?.strip_prefix('/'),
    }
}

/// The texts of a pattern.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) document: String,
    pub(crate) code: String,
}

/// Reads a pattern's files. What cannot be read is a problem of the pattern.
pub(crate) fn read(library: &Library, found: &Found, base: Option<&RelPath>) -> Result<(Read, Texts), Fault> {
    let mut problems = Vec::new();
    let mut text = |file: &str| -> Result<Option<String>, Fault> {
        let mut own = Problems::of(file);
        let why = match census::read(&library.root, &place(base, file)?, MAX_FILE) {
            Ok((bytes, _)) => match String::from_utf8(bytes) {
                Ok(text) => return Ok(Some(text)),
                Err(_) => (Code::FieldInvalid, "it is not UTF-8 text: save it as UTF-8".to_owned()),
            },
            Err(fault) if fault.code == contract::Code::TooLarge => {
                (Code::TooLarge, "it is larger than 1 MiB: split it".to_owned())
            }
            Err(fault) => (Code::FieldInvalid, format!("it cannot be read: {}", fault.message)),
        };
        own.whole(why.0, why.1);
        problems.extend(own.into_found());
        Ok(None)
    };
    let main = found.main();
    let Some(document) = text(&main)? else {
        return Ok((Read { entry: None, problems }, Texts::default()));
    };
    let (read, texts) = match &found.layout {
        Layout::Files { code, meta, .. } => {
            let meta_text = meta.as_deref().map(&mut text).transpose()?.flatten();
            let beside = meta.as_deref().zip(meta_text.as_deref()).map(|(file, text)| Text { file, text });
            let read = of_files(found, Text { file: &main, text: &document }, beside);
            let code = code.as_deref().map(&mut text).transpose()?.flatten().unwrap_or_default();
            (read, Texts { document, code })
        }
        Layout::Folder { .. } => {
            let read = of_folder(found, Text { file: &main, text: &document });
            let entry = read.entry.as_ref();
            let file = entry.and_then(|entry| executable(found, entry));
            let code = file.map(|file| text(&file)).transpose()?.flatten().unwrap_or_default();
            (read, Texts { document, code })
        }
    };
    let mut all = read.problems;
    all.extend(problems);
    Ok((Read { problems: all, ..read }, texts))
}
