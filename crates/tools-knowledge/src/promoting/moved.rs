//! A pattern of a project's library, taken into another.

use contract::{Code, Fault, RelPath};
use kit::ChangeDesk;
use library::PatternId;
use library::entry::{Read, Text, of_files, of_folder};
use library::pattern::Layout;

use super::files::{ENDS, File, below, check_secrets, put, read};
use super::{Done, Target, admitted, utf8};
use crate::libraries::{Looked, PROJECT};
use crate::stock::Item;

/// The files of a pattern as they are named in the library that takes it, and those that it does not have.
struct Gathered {
    files: Vec<File>,
    /// From the root that is changed: they must not be there.
    others: Vec<RelPath>,
    read: Read,
    /// The file that is read first, in the library.
    main: String,
}

/// Drafts all files of the pattern `id` of the repository's library into `target`.
pub(crate) fn promote(
    desk: &ChangeDesk,
    target: &Target,
    looked: &Looked,
    id: &PatternId,
) -> Result<Done, Fault> {
    let (source, item) = looked.resolve(id)?;
    if source.library.name.as_str() != PROJECT {
        return Err(Fault::internal(format!("{id} is none of the project's")));
    }
    let gathered = match &item.found.layout {
        Layout::Files { document, .. } => three(desk, target, &item, document)?,
        Layout::Folder { folder, .. } => folder_of(desk, target, &item, folder)?,
    };
    let short = || PatternId::new(id.short()).map_err(|why| Fault::internal(why.to_string()));
    let Gathered { files, others, read, main } = gathered;
    let why = read.problems.first().map(ToString::to_string).unwrap_or_default();
    let entry =
        read.entry.ok_or_else(|| Fault::new(Code::InvalidSource, format!("{id} cannot be read: {why}")))?;
    let quality = admitted(id, entry.quality, &entry.criteria)?;
    check_secrets(desk, &files)?;
    target.check_free(looked, &short()?, &target.place(&main)?)?;
    let files = put(desk, target, files, &others)?;
    Ok(Done { id: short()?, quality: Some(quality), files, uses: None })
}

/// `{name}.md` and what stands beside it.
fn three(desk: &ChangeDesk, target: &Target, item: &Item, document: &str) -> Result<Gathered, Fault> {
    let view = desk.home().view();
    let stem = document.strip_suffix(".md").unwrap_or(document);
    let named = |end: &str| format!("{}{end}", item.id.short());
    let (mut files, mut others): (Vec<File>, Vec<RelPath>) = (Vec::new(), Vec::new());
    for end in ENDS {
        // Beside a `.ts` a `.js` is none of the pattern's.
        let is_second = end == ".js" && files.iter().any(|file| file.name == named(".ts"));
        match read(view, &item.place(&format!("{stem}{end}"))?) {
            Ok(Some((bytes, mode))) if !is_second => files.push(File { name: named(end), bytes, mode }),
            Err(fault) if !is_second => return Err(fault),
            _ => others.push(target.place(&named(end))?),
        }
    }
    // A skill's folder would be the same pattern.
    others.push(target.place(&named("/SKILL.md"))?);
    let text = |end: &str| -> Result<Option<String>, Fault> {
        let file = files.iter().find(|file| file.name == named(end));
        file.map(|file| utf8(&item.place(&format!("{stem}{end}"))?, &file.bytes)).transpose()
    };
    let (document_text, meta) = (text(".md")?.unwrap_or_default(), text("-SKILL.md")?);
    let meta_file = format!("{stem}-SKILL.md");
    let beside = meta.as_deref().map(|text| Text { file: &meta_file, text });
    let read = of_files(&item.found, Text { file: document, text: &document_text }, beside);
    Ok(Gathered { files, others, read, main: named(".md") })
}

/// A folder with a `SKILL.md`.
fn folder_of(desk: &ChangeDesk, target: &Target, item: &Item, folder: &str) -> Result<Gathered, Fault> {
    let view = desk.home().view();
    let own = item.place(folder)?;
    // What its folder does not say its file does: of those without a category the place is the same everywhere.
    let above = item.found.category.as_deref().unwrap_or(library::Category::NONE);
    let to = format!("{above}/{}", item.found.name);
    let mut files = Vec::new();
    for path in below(view, &own)? {
        let Some((bytes, mode)) = read(view, &path)? else { continue };
        let rest = path.as_str().strip_prefix(own.as_str()).unwrap_or_default();
        files.push(File { name: format!("{to}{rest}"), bytes, mode });
    }
    let main = format!("{to}/SKILL.md");
    let there = target.place(&to)?;
    let mut others = below(desk.view(), &there)?;
    let placed = files.iter().map(|file| target.place(&file.name)).collect::<Result<Vec<_>, _>>()?;
    others.retain(|path| !placed.contains(path));
    // A pattern of files would be the same.
    others.push(target.place(&format!("{to}.md"))?);
    let first =
        files.iter().find(|file| file.name == main).map(|file| file.bytes.as_slice()).unwrap_or_default();
    let name = item.found.main();
    let text = utf8(&item.place(&name)?, first)?;
    let read = of_folder(&item.found, Text { file: &name, text: &text });
    Ok(Gathered { files, others, read, main })
}
