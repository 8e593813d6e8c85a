//! An index brought up to date: what is read is what has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::{Fault, RelPath};
use library::{Code, Problem, Problems};
use search::{Analysed, Analyst};
use store_api::index::{Changes, Document, Known};

use super::item::{Item, is_pattern, is_stamped, refused, texts};
use super::keeper::{Keeper, Notes, Snapshot, Unkept};
use super::listing::Place;
use super::read::{Taken, take};
use super::report::Report;
use super::{Looking, Work};
use crate::libraries::Library;

/// So many changed patterns are slower to be changed than the index is to be made anew; in a larger library a twentieth of it.
const MANY: u64 = 2_000;

/// What has changed so far.
#[derive(Default)]
struct Changed {
    put: Vec<(Document, Option<Analysed>)>,
    gone: Vec<String>,
}

/// That another file has the same id.
pub(super) fn twice(place: &Place, id: &str, problems: &mut Vec<Problem>) {
    let mut twice = Problems::of(&place.found.main());
    let why = format!("`{id}` is another file of this library: rename one of the two");
    twice.whole(Code::Ambiguous, why);
    problems.extend(twice.into_found());
}

impl Changed {
    /// Writes it down, and gives the index as it is then.
    fn written(self, keeper: &Keeper, known: &Snapshot, notes: Notes) -> Result<Snapshot, Unkept> {
        let mut delta = known.delta.clone();
        let ids = self.gone.iter().map(String::as_str);
        let ids = ids.chain(self.put.iter().filter(|(_, a)| a.is_some()).map(|(d, _)| d.known.id.as_str()));
        let columns = known.view().columns;
        let dying: BTreeSet<u32> =
            ids.filter_map(|id| columns.number(id)).filter(|number| !delta.is_dead(*number)).collect();
        let dead = keeper.spans(known.generation, &dying.into_iter().collect::<Vec<_>>())?;
        for span in &dead {
            delta.retire(span.number, &span.terms)?;
        }
        for id in &self.gone {
            delta.remove(id);
        }
        let mut put = Vec::with_capacity(self.put.len());
        for (document, analysed) in self.put {
            put.push((document, analysed.as_ref().map(Analysed::encode)));
            if let Some(analysed) = analysed {
                delta.put(analysed);
            }
        }
        let told = serde_json::to_string(&notes).map_err(|error| Fault::internal(error.to_string()))?;
        let changes = Changes { put, gone: self.gone, dead, notes: told };
        let epoch = keeper.change(known.epoch, changes)?;
        Ok(known.changed(epoch, delta, notes))
    }
}

impl Work<'_> {
    /// Reads what has changed; nothing, where so much has that an index is better made anew.
    pub(super) fn change(&self, known: &Snapshot) -> Result<Option<(Snapshot, Report)>, Unkept> {
        let looking = self.looking;
        if looking.again == super::Again::All(None) || known.delta.is_full(known.view().columns) {
            return Ok(None);
        }
        let mut rows: BTreeMap<String, Known> = BTreeMap::new();
        self.keeper.each_known(known.generation, |row| {
            rows.insert(row.main.clone(), row);
        })?;
        let places = || self.listing.named.values().chain(&self.listing.unnamed);
        let mut differing = 0;
        for place in places() {
            let stamps = self.listing.stamps(place)?;
            differing += u64::from(rows.get(place.main.as_str()).is_none_or(|row| !is_stamped(row, &stamps)));
        }
        if differing > MANY.max(u64::from(known.view().documents()) / 20) {
            return Ok(None);
        }
        let (mut changed, mut report, mut analyst) = (Changed::default(), Report::default(), Analyst::new());
        let (mut ids, mut wrong) = (BTreeSet::new(), 0);
        for place in places() {
            looking.check()?;
            let stamps = self.listing.stamps(place)?;
            let row = rows.get(place.main.as_str());
            let row = row.filter(|row| self.is_as_it_was(row, place) && !ids.contains(&row.id));
            if let Some(row) = row.filter(|row| is_stamped(row, &stamps)) {
                wrong += u64::from(row.wrong);
                let category =
                    row.id.split_once('/').filter(|_| is_pattern(row)).map(|(category, _)| category);
                let counts = report.of(category.unwrap_or_else(|| place.category()));
                *if is_pattern(row) { &mut counts.skipped } else { &mut counts.failed } += 1;
                ids.insert(row.id.clone());
                continue;
            }
            let of_it = (&mut analyst, row.filter(|row| is_pattern(row)).map(texts));
            let document = match take(self.library, place, stamps.clone(), looking, of_it)? {
                Taken::Pattern(item, _, mut problems) if ids.contains(item.id.short()) => {
                    twice(place, item.id.short(), &mut problems);
                    report.of(item.id.category()).failed += 1;
                    (refused(&place.main, None, problems)?, None)
                }
                Taken::Pattern(item, analysed, problems) => {
                    let counts = report.of(item.id.category());
                    *if analysed.is_some() { &mut counts.indexed } else { &mut counts.skipped } += 1;
                    (item.kept(&place.main, problems)?, analysed)
                }
                Taken::Refused(problems) => {
                    report.of(place.category()).failed += 1;
                    (refused(&place.main, Some(&stamps), problems)?, None)
                }
            };
            wrong += u64::from(document.0.known.wrong);
            ids.insert(document.0.known.id.clone());
            changed.put.push(document);
        }
        for row in rows.values().filter(|row| !ids.contains(&row.id)) {
            if let Some((category, _)) = row.id.split_once('/').filter(|_| is_pattern(row)) {
                report.of(category).removed += 1;
            }
            changed.gone.push(row.id.clone());
        }
        let notes = self.notes(wrong);
        if changed.put.is_empty() && changed.gone.is_empty() && notes == known.notes {
            return Ok(Some((known.changed(known.epoch, known.delta.clone(), notes), report)));
        }
        Ok(Some((changed.written(self.keeper, known, notes)?, report)))
    }

    fn is_as_it_was(&self, row: &Known, place: &Place) -> bool {
        let category = row.id.split_once('/').map_or(place.category(), |(category, _)| category);
        let is_asked_for = self.looking.again.is_all(category);
        let counted = self.looking.uses(&row.id, row.stated);
        let is_counted = !is_pattern(row) || library::quality::is_verified(counted) == row.verified;
        !is_asked_for && is_counted
    }

    /// What is remembered beside the index.
    pub(super) fn notes(&self, wrong: u64) -> Notes {
        Notes {
            census: self.listing.census.clone(),
            files: self.listing.files(),
            verified: self.verified.to_owned(),
            wrong,
            names: self.listing.problems.clone(),
        }
    }
}

/// Reads these again, as far as their files are still there.
pub(super) fn some(
    keeper: &Keeper,
    library: &Library,
    looking: &Looking<'_>,
    known: &Snapshot,
    items: &[Arc<Item>],
) -> Result<Snapshot, Unkept> {
    let (mut changed, mut analyst) = (Changed::default(), Analyst::new());
    let ids: Vec<String> = items.iter().map(|item| item.id.short().to_owned()).collect();
    let rows = keeper.documents(known.generation, &ids)?;
    let rows: BTreeMap<&str, &Known> = rows.iter().map(|row| (row.known.id.as_str(), &row.known)).collect();
    let before: u64 = rows.values().map(|row| u64::from(row.wrong)).sum();
    let mut wrong = 0;
    for item in items {
        // What is kept now: whoever asks may have what was kept before.
        let row = rows.get(item.id.short()).copied().filter(|row| is_pattern(row));
        looking.check()?;
        let main = item.place(&item.found.main())?;
        if library.root.glance(&main).is_none() {
            changed.gone.push(item.id.short().to_owned());
            continue;
        }
        let files: Vec<RelPath> = item.stamps.iter().map(|(path, _)| path.clone()).collect();
        let stamps = files.into_iter().filter_map(|path| Some((path.clone(), library.root.glance(&path)?)));
        let stamps: Vec<_> = stamps.collect();
        let place = Place { found: item.found.clone(), base: item.base.clone(), main };
        if let Some(row) = row.filter(|row| is_stamped(row, &stamps)) {
            wrong += u64::from(row.wrong);
            continue;
        }
        let of_it = (&mut analyst, row.map(texts));
        let document = match take(library, &place, stamps.clone(), looking, of_it)? {
            Taken::Pattern(now, analysed, problems) if now.id == item.id => {
                (now.kept(&place.main, problems)?, analysed)
            }
            // It has another id now: who looks through the library finds it.
            Taken::Pattern(..) => {
                changed.gone.push(item.id.short().to_owned());
                continue;
            }
            Taken::Refused(problems) => {
                changed.gone.push(item.id.short().to_owned());
                (refused(&place.main, Some(&stamps), problems)?, None)
            }
        };
        wrong += u64::from(document.0.known.wrong);
        changed.put.push(document);
    }
    if changed.put.is_empty() && changed.gone.is_empty() {
        // Another process has read them: what this one knows of the library is what was before.
        if keeper.epoch()? != Some(known.epoch) {
            return Err(Unkept::Gone);
        }
        return Ok(known.changed(known.epoch, known.delta.clone(), known.notes.clone()));
    }
    // Whether anything else has changed nobody knows, nor whether what is away comes back as it was: the next look compares all.
    let mut notes = Notes { census: String::new(), ..known.notes.clone() };
    notes.wrong = (notes.wrong + wrong).saturating_sub(before);
    changed.written(keeper, known, notes)
}
