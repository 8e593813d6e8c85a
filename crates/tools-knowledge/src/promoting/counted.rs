//! What is recorded of a pattern, written into its `-SKILL.md`.

use contract::{Code, Fault, FileMode};
use exec::View;
use kit::ChangeDesk;
use library::PatternId;
use library::code::language;
use library::entry::{Text, of_files};
use library::meta::{self, Changes, Meta};
use library::pattern::Layout;
use library::quality::{Criteria, Criterion, is_verified};
use library::{Problems, entry::Entry};
use store_api::uses::Used;

use super::files::read;
use super::{Done, Target, utf8};
use crate::libraries::Looked;
use crate::stock::Item;

/// Drafts uses, whether they verify it and what is judged into the file of the pattern `id` of `target`: known lines change, all else
/// stays. Where there is none it is made, once there is something to say.
pub(crate) fn write_back(
    desk: &ChangeDesk,
    target: &Target,
    looked: &Looked,
    (id, criteria, used): (&PatternId, &Criteria, &[Used]),
) -> Result<Done, Fault> {
    let (_, item) = looked.resolve(&id.within(&target.name))?;
    let Layout::Files { document, .. } = &item.found.layout else {
        let message = format!("{id} is an Agent Skill: its SKILL.md has no lines for uses and criteria");
        return Err(Fault::invalid(message).suggest("Change `metadata` in its front matter by hand."));
    };
    let view = desk.view();
    let file = format!("{}-SKILL.md", document.strip_suffix(".md").unwrap_or(document));
    let place = item.place(&file)?;
    let before =
        read(view, &place)?.map(|(bytes, mode)| Ok::<_, Fault>((utf8(&place, &bytes)?, mode))).transpose()?;
    let entry = entry(view, &item, document, before.as_ref().map(|(text, _)| Text { file: &file, text }))?;
    let own =
        used.iter().find(|used| used.library == target.name.as_str() && used.pattern == item.id.short());
    let count = own.map_or(entry.reuse_count, |used| used.count(entry.reuse_count));
    let mut judged = entry.criteria;
    for criterion in Criterion::ALL {
        if let Some(score) = criteria.get(criterion) {
            judged.set(criterion, score);
        }
    }
    // A score that is stated is of all five: without them the one that stands there holds.
    let quality = if criteria.is_empty() { None } else { judged.mean() };
    let done =
        |files| Done { id: item.id.clone(), quality: quality.or(entry.quality), files, uses: Some(count) };
    let (text, mode) = match before {
        Some((text, mode)) => {
            let stated = meta::read(&text, &mut Problems::of(&file));
            let changes = Changes {
                quality,
                reuse_count: (count > 0 || stated.reuse_count.is_some()).then_some(count),
                verified: (count > 0 || stated.verified.is_some()).then_some(is_verified(count)),
                criteria: *criteria,
                last_verified: None,
            };
            (meta::edit(&text, &changes), mode)
        }
        None if count == 0 && criteria.is_empty() => return Ok(done(Vec::new())),
        None => {
            let code = match &item.found.layout {
                Layout::Files { code: Some(code), .. } => code.rsplit_once('.').map(|(_, end)| language(end)),
                _ => None,
            };
            let made = Meta {
                category: Some(item.id.category().to_owned()),
                language: entry.language.clone().or(code),
                stated: quality,
                criteria: *criteria,
                reuse_count: Some(count),
                verified: Some(is_verified(count)),
                ..Meta::default()
            };
            (meta::create(&entry.title, &made), FileMode::Regular)
        }
    };
    desk.put(&place, text.into_bytes(), mode)?;
    Ok(done(vec![place]))
}

fn entry(view: &View, item: &Item, document: &str, beside: Option<Text<'_>>) -> Result<Entry, Fault> {
    let place = item.place(document)?;
    let gone = || Fault::new(Code::PatternNotFound, format!("{} is gone", item.id));
    let (bytes, _) = read(view, &place)?.ok_or_else(gone)?;
    let text = utf8(&place, &bytes)?;
    let read = of_files(&item.found, Text { file: document, text: &text }, beside);
    let why = read.problems.first().map(ToString::to_string).unwrap_or_default();
    read.entry.ok_or_else(|| Fault::new(Code::InvalidSource, format!("{} cannot be read: {why}", item.id)))
}
