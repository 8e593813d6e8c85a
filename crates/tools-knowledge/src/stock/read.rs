//! A pattern's files, read and analysed.

use contract::digest::Hasher;
use contract::{Fault, RelPath};
use exec::census::Stamp;
use library::category::Category;
use library::entry::{Entry, Read, Text, is_known, of_files, of_folder};
use library::markdown::MAX_DOCUMENT;
use library::pattern::{Found, Layout};
use library::quality::is_verified;
use library::{Code, Problem, Problems};
use search::{Analysed, Analyst};

use super::Looking;
use super::item::{Item, place};
use super::listing::Place;
use crate::indexing::{Pattern, executable};
use crate::libraries::Library;

/// Largest file that is read.
const MAX_FILE: u64 = MAX_DOCUMENT as u64;

/// The texts of a pattern.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) document: String,
    pub(crate) code: String,
    /// Of all that was read.
    digest: String,
}

/// What became of a place that was read.
pub(super) enum Taken {
    /// It is a pattern, and what is wrong with it all the same. Its words only where they may be others than before.
    Pattern(Box<Item>, Option<Analysed>, Vec<Problem>),
    /// It is none, and why.
    Refused(Vec<Problem>),
}

/// Reads a pattern and analyses it, unless its texts are those of `before`.
pub(super) fn take(
    library: &Library,
    at: &Place,
    stamps: Vec<(RelPath, Stamp)>,
    looking: &Looking<'_>,
    (analyst, before): (&mut Analyst, Option<&str>),
) -> Result<Taken, Fault> {
    let Place { found, base, .. } = at;
    let (read, texts) = read(library, found, base.as_ref())?;
    let mut problems = read.problems;
    let Some(mut entry) = read.entry else { return Ok(Taken::Refused(problems)) };
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
    entry.title = looking.clean(&entry.title);
    entry.tags = entry.tags.iter().map(|tag| looking.clean(tag)).collect();
    let executable = executable(found, &entry).map(|file| place(base.as_ref(), &file)).transpose()?;
    let verified = is_verified(looking.uses(entry.id.short(), entry.reuse_count));
    let description = looking.clean(&entry.description);
    let analysed = (before != Some(texts.digest.as_str())).then(|| {
        let (document, code) = (looking.clean(&texts.document), looking.clean(&texts.code));
        let pattern = Pattern {
            name: &found.name,
            entry: &entry,
            description: &description,
            document: &document,
            code: &code,
            executable: executable.is_some(),
            verified,
        };
        pattern.as_document(|document| analyst.analyse(document))
    });
    let item = Item {
        description,
        quality: entry.quality,
        executable,
        stated: entry.reuse_count,
        verified,
        base: base.clone(),
        found: found.clone(),
        stamps,
        texts: texts.digest,
        id: entry.id,
    };
    Ok(Taken::Pattern(Box::new(item), analysed, problems))
}

/// The document of a pattern alone; nothing where it cannot be read.
pub(crate) fn document(library: &Library, found: &Found, base: Option<&RelPath>) -> Option<String> {
    let (bytes, _) = library.root.read(&place(base, &found.main()).ok()?, MAX_FILE).ok()?;
    String::from_utf8(bytes).ok()
}

/// Reads a pattern's files. What cannot be read is a problem of the pattern.
pub(crate) fn read(library: &Library, found: &Found, base: Option<&RelPath>) -> Result<(Read, Texts), Fault> {
    let (mut problems, mut digest) = (Vec::new(), Hasher::default());
    let mut text = |file: &str| -> Result<Option<String>, Fault> {
        let mut own = Problems::of(file);
        let why = match library.root.read(&place(base, file)?, MAX_FILE) {
            Ok((bytes, _)) => match String::from_utf8(bytes) {
                Ok(text) => {
                    digest.update(format!("{file}\0{}\0", text.len()).as_bytes());
                    digest.update(text.as_bytes());
                    return Ok(Some(text));
                }
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
    let (read, document, code) = match &found.layout {
        Layout::Files { code, meta, .. } => {
            let meta_text = meta.as_deref().map(&mut text).transpose()?.flatten();
            let beside = meta.as_deref().zip(meta_text.as_deref()).map(|(file, text)| Text { file, text });
            let read = of_files(found, Text { file: &main, text: &document }, beside);
            let code = code.as_deref().map(&mut text).transpose()?.flatten().unwrap_or_default();
            (read, document, code)
        }
        Layout::Folder { .. } => {
            let read = of_folder(found, Text { file: &main, text: &document });
            let entry = read.entry.as_ref();
            let file = entry.and_then(|entry: &Entry| executable(found, entry));
            let code = file.map(|file| text(&file)).transpose()?.flatten().unwrap_or_default();
            (read, document, code)
        }
    };
    let mut all = read.problems;
    all.extend(problems);
    let texts = Texts { document, code, digest: digest.finish().short(32) };
    Ok((Read { problems: all, ..read }, texts))
}
