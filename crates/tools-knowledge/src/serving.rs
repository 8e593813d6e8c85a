//! Skills as they are, for clients that take them whole: which folders are served, and why others are not.
//!
//! A skill is served with its bytes exactly, or not at all: nothing is taken out of it on its way. Whatever would have to be left out or
//! changed stands between it and being served, and is told by `gatewright library check`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::{Code, Digest, Fault, RelPath};
use exec::census::{Ask, Census, Stamp};
use kit::ReadDesk;
use kit::resources::{Body, Content, Reading};
use kit::skills::{File, MAIN, MOST_BYTES, MOST_FILES, SCHEME, Served, Skill, missing, skill_of};
use library::pattern::is_entered;
use library::{LibraryName, Problem, Problems, folder, front};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::files::Files;
use crate::libraries::{BUILT_IN, Library, Looked, PROJECT, service, used};
use crate::stock::Again;

/// Folders below a skill's own, one below another, that are looked into.
const DEPTH: usize = 16;
/// Most files of one folder that are looked at, hidden ones among them.
const MOST_SEEN: usize = 4 * MOST_FILES;
/// Bytes that are read for one question before it ends with what was looked at: 64 MiB, that is a few seconds.
const MOST_AT_ONCE: u64 = 64 << 20;
/// Most files of skills that are remembered.
const MOST_KEPT: usize = 100_000;
/// What stands in a URI as it is (RFC 3986, 2.3).
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is known of skills that were looked at: a service of the binary's.
#[derive(Default)]
pub struct Serving(Mutex<BTreeMap<Key, Kept>>);

/// The place of the root from which it is looked at, since other roots have other secrets; the library's; the skill's URI.
type Key = (PathBuf, PathBuf, String);

/// The files of a folder as they stood.
type Stamps = Vec<(RelPath, Stamp)>;

/// A skill as it stood.
#[derive(Clone)]
struct Kept {
    stamps: Stamps,
    stands: Arc<Stands>,
}

/// What a folder comes to.
enum Stands {
    /// A skill, and where its files are, in the same order.
    Served(Skill, Vec<RelPath>),
    /// Why it is not served.
    Refused(Vec<Problem>),
}

/// A folder that may be a skill to be served.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    library: LibraryName,
    files: Files,
    /// From the library's root.
    folder: RelPath,
    /// As problems name it.
    shown: String,
    name: String,
    /// Of its `SKILL.md`.
    uri: String,
    /// The folder that has this URI, where it is another one.
    twin: Option<String>,
}

/// The folders with a `SKILL.md` of all libraries that were looked through, those of the program first. Blocking.
pub(crate) fn candidates(looked: &Looked) -> Result<Vec<Candidate>, Fault> {
    let mut all = Vec::new();
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for opened in &looked.libraries {
        let library = &opened.library;
        let holder = match (library.name.as_str(), &library.root) {
            (BUILT_IN, _) => BUILT_IN.to_owned(),
            (PROJECT, Files::Below(root)) => format!("{PROJECT}.{}", root.name()),
            ("user", _) => "user".to_owned(),
            (team, _) => format!("team.{team}"),
        };
        let mut found = Vec::new();
        let each = opened.stock.each(&opened.snapshot, |known| {
            let main = RelPath::new(&known.main).ok().filter(|main| main.file_name() == MAIN);
            if let Some(folder) = main.and_then(|main| main.parent()) {
                found.push((known.id, folder));
            }
        });
        opened.told(each)?;
        found.sort_unstable();
        for (_, folder) in found {
            let name = folder.file_name().to_owned();
            let shown = below(library, &folder).to_owned();
            let uri = format!("{SCHEME}://{holder}/{name}/{MAIN}");
            let twin = taken.get(&uri).cloned();
            taken.entry(uri.clone()).or_insert_with(|| shown.clone());
            let (library, files) = (library.name.clone(), library.root.clone());
            all.push(Candidate { library, files, folder, shown, name, uri, twin });
        }
    }
    all.sort_by_key(|one| one.library.as_str() != BUILT_IN);
    Ok(all)
}

/// `folder` as it is named from its library's folder.
fn below<'p>(library: &Library, folder: &'p RelPath) -> &'p str {
    let bases = library.folders.iter().flatten();
    let mut found = bases.filter_map(|base| folder.as_str().strip_prefix(base.as_str())?.strip_prefix('/'));
    found.next().unwrap_or(folder.as_str())
}

/// Nanoseconds since 1970 as RFC 3339; 1970 for what no date can be.
fn dated(nanoseconds: i128) -> String {
    jiff::Timestamp::from_nanosecond(nanoseconds).unwrap_or_default().to_string()
}

/// Why folders are not served, by library. Blocking.
pub(crate) fn refused(
    desk: &ReadDesk,
    candidates: &[Candidate],
) -> Result<Vec<(LibraryName, Problem)>, Fault> {
    let mut all = Vec::new();
    for one in candidates {
        if let Stands::Refused(problems) = &*one.examine(desk, None, &mut 0)?.stands {
            all.extend(problems.iter().map(|problem| (one.library.clone(), problem.clone())));
        }
    }
    Ok(all)
}

/// Not served, and why.
fn not_served(file: &str, why: &str) -> Vec<Problem> {
    let mut problems = Problems::of(file);
    problems
        .whole(library::Code::NotServed, format!("clients that take skills whole are not served it: {why}"));
    problems.into_found()
}

/// What its names alone stand against: it is not remembered.
fn refusal(problems: Vec<Problem>) -> Kept {
    Kept { stamps: Vec::new(), stands: Arc::new(Stands::Refused(problems)) }
}

impl Candidate {
    /// What it comes to now. What is read counts towards `spent`. Blocking.
    fn examine(&self, desk: &ReadDesk, known: Option<Kept>, spent: &mut u64) -> Result<Kept, Fault> {
        // Once more where a file was changed as it was looked at.
        for _ in 0..2 {
            let seen = match self.seen(desk)? {
                Ok(seen) => seen,
                Err(why) => return Ok(refusal(why)),
            };
            if let Some(kept) = known.clone().filter(|kept| kept.stamps == seen) {
                return Ok(kept);
            }
            if let Some(stands) = self.read(desk, &seen, spent)? {
                return Ok(Kept { stamps: seen, stands: Arc::new(stands) });
            }
        }
        Ok(refusal(not_served(&self.shown, "it changes all the time")))
    }

    /// `path` as problems name it.
    fn shown(&self, path: &RelPath) -> String {
        let rest = path.as_str().strip_prefix(self.folder.as_str()).unwrap_or_default();
        format!("{}{rest}", self.shown)
    }

    /// Its files, as far as their names and sizes let it be served.
    fn seen(&self, desk: &ReadDesk) -> Result<Result<Stamps, Vec<Problem>>, Fault> {
        if let Some(twin) = &self.twin {
            let why = format!("`{twin}` has the same name, and so the same URI: rename one of the two");
            return Ok(Err(not_served(&self.shown, &why)));
        }
        let enters = |path: &RelPath| is_entered(path.file_name());
        let ask = Ask { base: Some(&self.folder), depth: DEPTH, enters: &enters, most: MOST_SEEN };
        let too_many = || format!("it has more than {MOST_FILES} files");
        let census = match self.files.census(ask, desk.cancelled()) {
            Err(fault) if fault.code == Code::TooLarge => {
                return Ok(Err(not_served(&self.shown, &too_many())));
            }
            census => census?,
        };
        let Census { files, linked, links, unnamed, .. } = census;
        let is_hidden = |path: &RelPath| path.file_name().starts_with('.');
        if let Some(link) = linked.iter().chain(&links).find(|path| !is_hidden(path)) {
            return Ok(Err(not_served(&self.shown(link), "it is a link: put the file itself there")));
        }
        if unnamed > 0 {
            let why = "a name in it has characters that no URI of ours has: rename that file or folder";
            return Ok(Err(not_served(&self.shown, why)));
        }
        let files: Stamps = files
            .into_iter()
            .filter(|seen| !is_hidden(&seen.path))
            .map(|seen| (seen.path, seen.stamp))
            .collect();
        if files.len() > MOST_FILES {
            return Ok(Err(not_served(&self.shown, &too_many())));
        }
        if files.iter().map(|(_, stamp)| stamp.len).fold(0_u64, u64::saturating_add) > MOST_BYTES {
            let why = format!("its files are larger than {} MiB together", MOST_BYTES >> 20);
            return Ok(Err(not_served(&self.shown, &why)));
        }
        Ok(Ok(files))
    }

    /// Reads all of it; nothing where it is no longer what was seen.
    fn read(
        &self,
        desk: &ReadDesk,
        seen: &[(RelPath, Stamp)],
        spent: &mut u64,
    ) -> Result<Option<Stands>, Fault> {
        let prefix = self.uri.strip_suffix(MAIN).unwrap_or_default();
        let (mut files, mut problems, mut main) = (Vec::new(), Vec::new(), None);
        for (path, stamp) in seen {
            desk.check()?;
            let Ok((bytes, now)) = self.files.read(path, MOST_BYTES) else { return Ok(None) };
            if now != *stamp || bytes.len() as u64 != stamp.len {
                return Ok(None);
            }
            *spent = spent.saturating_add(stamp.len);
            if let Some(line) = secret(desk, &bytes) {
                let why = format!("line {line} looks like it holds a secret: take it out");
                problems.extend(not_served(&self.shown(path), &why));
            }
            let below = path.as_str().strip_prefix(self.folder.as_str()).unwrap_or_default();
            let below = below.trim_start_matches('/').to_owned();
            let encoded: Vec<String> =
                below.split('/').map(|part| utf8_percent_encode(part, &ESCAPED).to_string()).collect();
            files.push(File {
                uri: format!("{prefix}{}", encoded.join("/")),
                digest: Digest::of(&bytes),
                size: stamp.len,
                mime: mime(&below, &bytes),
                path: below,
            });
            if path.file_name() == MAIN && path.parent().as_ref() == Some(&self.folder) {
                main = Some((String::from_utf8(bytes), dated(stamp.modified)));
            }
        }
        // It went just now, where it is not there.
        let Some((Ok(text), since)) = main else { return Ok(None) };
        let main = format!("{}/{MAIN}", self.shown);
        let read = folder::read(&text, &self.name, &mut Problems::of(&main));
        let all = front::read(&text).ok().flatten();
        let (Some(read), Some(front)) = (read.filter(|read| read.conforms), all) else {
            let why = "its front matter is not as the specification of Agent Skills has it";
            problems.extend(not_served(&main, why));
            return Ok(Some(Stands::Refused(problems)));
        };
        if !problems.is_empty() {
            return Ok(Some(Stands::Refused(problems)));
        }
        let skill = Skill {
            uri: self.uri.clone(),
            name: read.name,
            description: read.description,
            front,
            files,
            since,
        };
        Ok(Some(Stands::Served(skill, seen.iter().map(|(path, _)| path.clone()).collect())))
    }
}

/// The line of what the redactor would take out, where there is anything: such bytes are not served, and others would not be exact.
fn secret(desk: &ReadDesk, bytes: &[u8]) -> Option<usize> {
    if desk.redactor().bytes(bytes).as_ref() == bytes {
        return None;
    }
    let at = desk.redactor().secrets(bytes).first().map_or(0, |secret| secret.range.start);
    Some(bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1)
}

/// The media type of a file: text is text, whatever its name says.
fn mime(name: &str, bytes: &[u8]) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    match (ending.as_str(), std::str::from_utf8(bytes).is_ok()) {
        ("md", true) => "text/markdown",
        ("json", true) => "application/json",
        ("html" | "htm", true) => "text/html",
        ("css", true) => "text/css",
        ("csv", true) => "text/csv",
        ("svg", true) => "image/svg+xml",
        (_, true) => "text/plain",
        ("png", false) => "image/png",
        ("jpg" | "jpeg", false) => "image/jpeg",
        ("gif", false) => "image/gif",
        ("webp", false) => "image/webp",
        ("pdf", false) => "application/pdf",
        _ => "application/octet-stream",
    }
}

fn key(desk: &ReadDesk, one: &Candidate) -> Key {
    (desk.view().root().path().to_owned(), one.files.path().to_owned(), one.uri.clone())
}

impl Serving {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `one` comes to now: looked at anew where anything of it has changed. Blocking.
    fn stands(&self, desk: &ReadDesk, one: &Candidate, spent: &mut u64) -> Result<Arc<Stands>, Fault> {
        let key = key(desk, one);
        let known = self.lock().get(&key).cloned();
        let kept = one.examine(desk, known, spent)?;
        let mut all = self.lock();
        if all.values().map(|kept| kept.stamps.len()).sum::<usize>() + kept.stamps.len() > MOST_KEPT {
            all.clear();
        }
        let stands = Arc::clone(&kept.stands);
        all.insert(key, kept);
        Ok(stands)
    }
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}

impl Served for Serving {
    fn tool(&self) -> &'static str {
        "load_skill"
    }

    fn uris(self: Arc<Self>, desk: ReadDesk) -> Reading<Vec<String>> {
        Box::pin(async move {
            let (libraries, used) = (service(&desk)?, used(&desk).await?);
            desk.blocking(move |desk| {
                let all = candidates(&libraries.look(desk, &used, Again::Changed)?)?;
                Ok(all.into_iter().filter(|one| one.twin.is_none()).map(|one| one.uri).collect())
            })
            .await
        })
    }

    fn skills(self: Arc<Self>, desk: ReadDesk, uris: Vec<String>) -> Reading<(Vec<Skill>, usize)> {
        Box::pin(async move {
            let (libraries, used) = (service(&desk)?, used(&desk).await?);
            // One that is asked for by its name may have come just now.
            let again = if uris.len() == 1 { Again::Looked } else { Again::Changed };
            desk.blocking(move |desk| {
                let wanted: BTreeSet<&String> = uris.iter().collect();
                let all = candidates(&libraries.look(desk, &used, again)?)?.into_iter();
                let all: BTreeMap<String, Candidate> = all
                    .filter(|one| one.twin.is_none() && wanted.contains(&one.uri))
                    .map(|one| (one.uri.clone(), one))
                    .collect();
                let (mut found, mut looked, mut spent) = (Vec::new(), 0, 0);
                for uri in &uris {
                    if spent > MOST_AT_ONCE {
                        break;
                    }
                    looked += 1;
                    let Some(one) = all.get(uri) else { continue };
                    if let Stands::Served(skill, _) = &*self.stands(desk, one, &mut spent)? {
                        found.push(skill.clone());
                    }
                }
                Ok((found, looked))
            })
            .await
        })
    }

    fn read(self: Arc<Self>, desk: ReadDesk, uri: String) -> Reading<Content> {
        Box::pin(async move {
            let main = skill_of(&uri).ok_or_else(|| missing(&uri))?;
            let (libraries, used) = (service(&desk)?, used(&desk).await?);
            desk.blocking(move |desk| {
                let all = candidates(&libraries.look(desk, &used, Again::Looked)?)?;
                let one = all.into_iter().find(|one| one.uri == main && one.twin.is_none());
                let one = one.ok_or_else(|| missing(&uri))?;
                for _ in 0..2 {
                    let stands = self.stands(desk, &one, &mut 0)?;
                    let Stands::Served(skill, places) = &*stands else { break };
                    let found = skill.files.iter().zip(places).find(|(file, _)| file.uri == uri);
                    let Some((file, place)) = found else { break };
                    let Ok((bytes, _)) = one.files.read(place, MOST_BYTES) else { continue };
                    // Nothing leaves that was not looked at.
                    if Digest::of(&bytes) == file.digest {
                        let body = String::from_utf8(bytes)
                            .map_or_else(|error| Body::Bytes(error.into_bytes()), Body::Text);
                        return Ok(Content { mime: file.mime.to_owned(), body });
                    }
                    // A clock that is too coarse to tell.
                    self.lock().remove(&key(desk, &one));
                }
                Err(missing(&uri))
            })
            .await
        })
    }
}
