//! An index made anew: patterns are read one after another in the order of their ids, and none is held.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::Fault;
use search::{Analyst, Builder, Encoded};
use store_api::index::{Document, Facts, Piece, Span, Term};

use super::Work;
use super::change::twice;
use super::item::{is_pattern, refused};
use super::keeper::{FORMAT, Snapshot, There, Unkept};
use super::listing::Place;
use super::read::{Taken, take};
use super::report::Report;

/// Rows that go into the store at once.
const ROWS: usize = 1_000;
/// Bytes of lists that go into the store at once, but for the last.
const BYTES: usize = 4 * 1024 * 1024;

/// A generation that is being written.
struct Writing<'w> {
    work: &'w Work<'w>,
    generation: i64,
    rows: Vec<Document>,
    wrong: u64,
}

impl Writing<'_> {
    fn add(&mut self, document: Document) -> Result<(), Unkept> {
        self.wrong += u64::from(document.known.wrong);
        self.rows.push(document);
        if self.rows.len() >= ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Unkept> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.work.keeper.put(self.generation, Piece::Documents(std::mem::take(&mut self.rows)))
    }

    /// Writes lists in pieces.
    fn pieces<T>(
        &self,
        all: impl Iterator<Item = T>,
        size: impl Fn(&T) -> usize,
        piece: impl Fn(Vec<T>) -> Piece,
    ) -> Result<(), Unkept> {
        let (mut some, mut bytes) = (Vec::new(), 0);
        for one in all {
            bytes += size(&one);
            some.push(one);
            if some.len() >= ROWS || bytes >= BYTES {
                self.work.looking.check()?;
                self.work.keeper.put(self.generation, piece(std::mem::take(&mut some)))?;
                bytes = 0;
            }
        }
        if some.is_empty() { Ok(()) } else { self.work.keeper.put(self.generation, piece(some)) }
    }

    fn lists(&self, encoded: &Encoded) -> Result<(), Unkept> {
        let terms = encoded.terms().map(|term| Term {
            number: term.term,
            postings: term.postings,
            positions: term.positions,
        });
        self.pieces(terms, |term| term.postings.len() + term.positions.len(), Piece::Terms)?;
        let spans = (0..).zip(encoded.document_terms()).map(|(number, terms)| Span { number, terms });
        self.pieces(spans, |span| span.terms.len(), Piece::Spans)
    }
}

impl Work<'_> {
    /// Makes the index anew; `before` is the one that it comes in the place of, `expected` its epoch.
    pub(super) fn build(
        &self,
        expected: Option<i64>,
        before: Option<&Snapshot>,
    ) -> Result<(Arc<Snapshot>, Report), Unkept> {
        let (mut report, mut analyst, mut builder) = (Report::default(), Analyst::new(), Builder::new());
        let generation = self.keeper.begin()?;
        let mut writing = Writing { work: self, generation, rows: Vec::new(), wrong: 0 };
        let places = self.in_order(&mut analyst, &mut report, &mut writing)?;
        for (id, place) in &places {
            self.looking.check()?;
            let stamps = self.listing.stamps(place)?;
            match take(self.library, place, stamps.clone(), self.looking, (&mut analyst, None))? {
                Taken::Pattern(item, Some(analysed), problems) if item.id.short() == id => {
                    builder.add(&analysed)?;
                    report.of(item.id.category()).indexed += 1;
                    writing.add(item.kept(&place.main, problems)?)?;
                }
                // It has become another one since: the next look takes it.
                Taken::Pattern(..) => {}
                Taken::Refused(problems) => {
                    report.of(place.category()).failed += 1;
                    writing.add(refused(&place.main, Some(&stamps), problems)?)?;
                }
            }
        }
        writing.flush()?;
        if let Some(before) = before {
            self.count_gone(before, &places, &mut report)?;
        }
        drop(places);
        let encoded = builder.finish()?;
        writing.lists(&encoded)?;
        let notes = self.notes(writing.wrong);
        let facts = Facts {
            format: FORMAT,
            vocabulary: encoded.vocabulary().to_vec(),
            columns: encoded.columns().to_vec(),
            notes: serde_json::to_string(&notes).map_err(|error| Fault::internal(error.to_string()))?,
        };
        drop(encoded);
        self.keeper.finish(expected, generation, facts)?;
        match self.keeper.there()? {
            There::Index(snapshot) => Ok((snapshot, report)),
            There::Nothing | There::Unreadable(_) => Err(Unkept::Gone),
        }
    }

    /// All places by id: those whose id stands in a file are read for it first.
    fn in_order<'p>(
        &'p self,
        analyst: &mut Analyst,
        report: &mut Report,
        writing: &mut Writing<'_>,
    ) -> Result<BTreeMap<String, &'p Place>, Unkept> {
        let named = self.listing.named.iter().map(|(id, place)| (id.clone(), place));
        let mut places: BTreeMap<String, &Place> = named.collect();
        for place in &self.listing.unnamed {
            self.looking.check()?;
            let stamps = self.listing.stamps(place)?;
            match take(self.library, place, stamps.clone(), self.looking, (&mut *analyst, None))? {
                Taken::Pattern(item, _, mut problems) if places.contains_key(item.id.short()) => {
                    twice(place, item.id.short(), &mut problems);
                    report.of(item.id.category()).failed += 1;
                    writing.add(refused(&place.main, None, problems)?)?;
                }
                Taken::Pattern(item, ..) => {
                    places.insert(item.id.short().to_owned(), place);
                }
                Taken::Refused(problems) => {
                    report.of(place.category()).failed += 1;
                    writing.add(refused(&place.main, Some(&stamps), problems)?)?;
                }
            }
        }
        Ok(places)
    }

    /// Counts what the index before had and this one has not.
    fn count_gone(
        &self,
        before: &Snapshot,
        places: &BTreeMap<String, &Place>,
        report: &mut Report,
    ) -> Result<(), Unkept> {
        let mut gone = BTreeSet::new();
        self.keeper.each_known(before.generation, |known| {
            if is_pattern(&known) && !places.contains_key(&known.id) {
                gone.insert(known.id);
            }
        })?;
        for id in gone {
            let category = id.split_once('/').map_or(id.as_str(), |(category, _)| category);
            report.of(category).removed += 1;
        }
        Ok(())
    }
}
