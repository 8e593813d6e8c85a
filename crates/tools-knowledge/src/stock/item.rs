//! A pattern as an index knows it: what is told of it without its texts, and what its files were.

use contract::{Digest, Fault, RelPath};
use exec::census::Stamp;
use library::pattern::Found;
use library::quality::Score;
use library::{PatternId, Problem};
use serde::{Deserialize, Serialize};
use store_api::index::{Document, Known};

/// What the row of a file that is no pattern begins with: no id does.
const REFUSED: char = '?';

/// A pattern, without its texts.
#[derive(Debug, Clone, PartialEq)]
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
    /// Its files as they were when they were read.
    pub(crate) stamps: Vec<(RelPath, Stamp)>,
    /// The digest of their texts.
    pub(super) texts: String,
}

impl Item {
    /// About how many bytes of memory it takes: the names of its files stand in it twice.
    pub(super) fn bytes(&self) -> usize {
        let files =
            self.stamps.iter().map(|(path, _)| size_of::<(RelPath, Stamp)>() + 2 * path.as_str().len());
        let base = self.base.as_ref().map_or(0, |base| base.as_str().len());
        size_of::<Self>() + self.id.short().len() + self.description.len() + base + files.sum::<usize>()
    }
}

/// As it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<RelPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<RelPath>,
    found: Found,
    /// Bytes, both times, and which file it is.
    stamps: Vec<(RelPath, u64, i64, i64, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// What is kept of a file that is no pattern.
#[derive(Serialize, Deserialize)]
struct Refused {
    problems: Vec<Problem>,
}

/// `file` of a library's folder, from the root.
pub(super) fn place(base: Option<&RelPath>, file: &str) -> Result<RelPath, Fault> {
    let path = base.map_or_else(|| RelPath::new(file), |base| base.join(file));
    path.map_err(|why| Fault::internal(format!("{file}: {why}")))
}

/// Nanoseconds since 1970, as far as 64 bits go: until the year 2262.
fn nanoseconds(time: i128) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

/// What tells whether any of these files has changed: what the file system says of them, then the digest of their texts.
fn state(stamps: &[(RelPath, Stamp)], texts: &str) -> String {
    format!("{} {texts}", stamped(stamps))
}

/// The digest of the texts of a row's files.
pub(super) fn texts(known: &Known) -> &str {
    known.state.split_once(' ').map_or("", |(_, texts)| texts)
}

/// Whether the files of a row are as the file system says that they are now.
pub(super) fn is_stamped(known: &Known, stamps: &[(RelPath, Stamp)]) -> bool {
    known.state.split_once(' ').is_some_and(|(before, _)| before == stamped(stamps))
}

/// What the file system says of files, in short.
fn stamped(stamps: &[(RelPath, Stamp)]) -> String {
    let mut text = String::new();
    for (path, stamp) in stamps {
        text.push_str(path.as_str());
        let Stamp { len, modified, changed, inode } = stamp;
        text.push_str(&format!("\0{len} {modified} {changed} {inode}\n"));
    }
    Digest::of(text.as_bytes()).short(32)
}

fn written(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::internal(error.to_string()))
}

fn row(id: String, main: &RelPath, state: String, problems: &[Problem]) -> Known {
    let wrong = u32::try_from(problems.len()).unwrap_or(u32::MAX);
    Known { id, main: main.as_str().to_owned(), state, stated: 0, verified: false, wrong }
}

impl Item {
    /// A file of it, from the root.
    pub(crate) fn place(&self, file: &str) -> Result<RelPath, Fault> {
        place(self.base.as_ref(), file)
    }

    /// As it is kept, with what is wrong with it.
    pub(super) fn kept(&self, main: &RelPath, problems: Vec<Problem>) -> Result<Document, Fault> {
        let known = Known {
            stated: self.stated,
            verified: self.verified,
            ..row(self.id.short().to_owned(), main, state(&self.stamps, &self.texts), &problems)
        };
        let stamp = |(path, stamp): &(RelPath, Stamp)| {
            (path.clone(), stamp.len, nanoseconds(stamp.modified), nanoseconds(stamp.changed), stamp.inode)
        };
        let kept = Kept {
            description: self.description.clone(),
            quality: self.quality.map(Score::tenths),
            executable: self.executable.clone(),
            base: self.base.clone(),
            found: self.found.clone(),
            stamps: self.stamps.iter().map(stamp).collect(),
            problems,
        };
        Ok(Document { known, facts: written(&kept)? })
    }

    /// From what was kept; none, where that is no pattern, or not what this program writes.
    pub(super) fn of(document: &Document) -> Option<Self> {
        let Document { known, facts } = document;
        let kept: Kept = serde_json::from_str(facts).ok()?;
        let stamp = |(path, len, modified, changed, inode): (RelPath, u64, i64, i64, u64)| {
            (path, Stamp { len, modified: modified.into(), changed: changed.into(), inode })
        };
        Some(Self {
            id: PatternId::new(&known.id).ok()?,
            description: kept.description,
            quality: kept.quality.and_then(Score::from_tenths),
            executable: kept.executable,
            stated: known.stated,
            verified: known.verified,
            base: kept.base,
            found: kept.found,
            stamps: kept.stamps.into_iter().map(stamp).collect(),
            texts: texts(known).to_owned(),
        })
    }
}

/// The row of a file that is no pattern. Without stamps it is looked at each time: another file is in its way, that may go.
pub(super) fn refused(
    main: &RelPath,
    stamps: Option<&[(RelPath, Stamp)]>,
    problems: Vec<Problem>,
) -> Result<Document, Fault> {
    let state = stamps.map_or_else(String::new, |stamps| state(stamps, ""));
    let known = row(format!("{REFUSED}{main}"), main, state, &problems);
    Ok(Document { known, facts: written(&Refused { problems })? })
}

/// Whether a row is a pattern's.
pub(super) fn is_pattern(known: &Known) -> bool {
    !known.id.starts_with(REFUSED)
}

/// What is wrong with what a row is of.
pub(super) fn problems(document: &Document) -> Vec<Problem> {
    serde_json::from_str(&document.facts).map(|Refused { problems }| problems).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use library::pattern::{Layout, survey};

    #[test]
    fn a_pattern_comes_back_as_it_was_kept() {
        let found = survey(["database/rls.md", "database/rls.ts", "database/rls-SKILL.md"]).found.remove(0);
        assert!(matches!(found.layout, Layout::Files { .. }));
        let stamp = Stamp { len: 9, modified: -1, changed: 1_795_305_600_000_000_001, inode: u64::MAX };
        let path = RelPath::new("patterns/database/rls.md").unwrap();
        let item = Item {
            id: PatternId::new("database/rls").unwrap(),
            description: "One \"row\"".to_owned(),
            quality: Score::from_tenths(85),
            executable: Some(RelPath::new("patterns/database/rls.ts").unwrap()),
            stated: 4,
            verified: true,
            base: Some(RelPath::new("patterns").unwrap()),
            found,
            stamps: vec![(path.clone(), stamp)],
            texts: "ab".to_owned(),
        };
        let mut found = library::Problems::of("database/rls.md");
        found.whole(library::Code::CategoryInvalid, "none of the seven");
        let document = item.kept(&path, found.into_found()).unwrap();
        assert!(is_pattern(&document.known) && document.known.wrong == 1);
        assert_eq!(problems(&document).len(), 1);
        assert_eq!(Item::of(&document), Some(item.clone()));
        let other = Stamp { inode: 1, ..stamp };
        assert!(is_stamped(&document.known, &item.stamps) && texts(&document.known) == "ab");
        assert!(!is_stamped(&document.known, &[(path.clone(), other)]));
        let blocked = refused(&path, None, Vec::new()).unwrap();
        assert!(!is_stamped(&blocked.known, &[]));
        let refused = refused(&path, Some(&item.stamps), problems(&document)).unwrap();
        assert!(is_stamped(&refused.known, &item.stamps));
        assert!(!is_pattern(&refused.known) && Item::of(&refused).is_none());
        assert_eq!(problems(&refused), problems(&document));
    }
}
