//! A base or a delta while a question is answered: its lists, and which of its documents are looked at.

use std::borrow::Cow;

use crate::SearchError;
use crate::analysed::Facts;
use crate::bytes::place;
use crate::plan::{LibraryView, Plan};
use crate::postings::{Cursor, Places};

/// What was fetched of a term.
#[derive(Debug, Clone, Copy)]
pub struct Blob<'b> {
    /// Its number in the library's vocabulary.
    pub term: u32,
    /// [`crate::TermBlobs::postings`].
    pub postings: &'b [u8],
    /// [`crate::TermBlobs::positions`]; empty where the plan does not need them.
    pub positions: &'b [u8],
}

/// The documents of a term of the plan.
pub(crate) struct List<'t> {
    postings: Cow<'t, [u8]>,
    positions: Cow<'t, [u8]>,
}

pub(crate) struct Tier<'t> {
    pub(crate) library: usize,
    pub(crate) view: LibraryView<'t>,
    pub(crate) is_delta: bool,
    /// One more than the greatest number of a document.
    pub(crate) documents: u32,
    /// By the plan's terms.
    lists: Vec<Option<List<'t>>>,
    /// The category that is asked for, if one is: in a base by its code, which no document has where there is none.
    category: Option<(u16, &'t str)>,
    minimum: u8,
    verified_only: bool,
    executable_only: bool,
}

/// Both tiers of every library, those without documents left out.
pub(crate) fn tiers<'t>(
    libraries: &[LibraryView<'t>],
    plan: &'t Plan,
    blobs: &'t [Vec<Blob<'t>>],
) -> Result<Vec<Tier<'t>>, SearchError> {
    if libraries.len() != plan.libraries || (blobs.len() != libraries.len() && !plan.terms.is_empty()) {
        return Err(SearchError::OtherLibraries {
            planned: plan.libraries,
            given: libraries.len().min(blobs.len()),
        });
    }
    let mut tiers = Vec::new();
    for (at, view) in libraries.iter().enumerate() {
        let mut of_base = Vec::with_capacity(plan.terms.len());
        let mut of_delta = Vec::with_capacity(plan.terms.len());
        for term in &plan.terms {
            of_base.push(match term.numbers.get(at).copied().flatten() {
                None => None,
                Some(number) => {
                    let blob = blobs.get(at).and_then(|of| of.iter().find(|blob| blob.term == number));
                    let blob = blob.ok_or(SearchError::Missing { library: at, term: number })?;
                    if term.has_positions && blob.positions.is_empty() {
                        return Err(SearchError::Missing { library: at, term: number });
                    }
                    Some(List { postings: blob.postings.into(), positions: blob.positions.into() })
                }
            });
            let blobs = view.delta.blobs(term.kind, &term.text);
            of_delta.push(blobs.map(|(p, at)| List { postings: p.into(), positions: at.into() }));
        }
        let tier = |is_delta, documents, lists| {
            let category = plan.filters.category.as_deref().map(|asked| {
                let code = view.columns.categories().iter().position(|c| c == asked);
                (code.and_then(|c| u16::try_from(c).ok()).unwrap_or(u16::MAX), asked)
            });
            Tier {
                library: at,
                view: *view,
                is_delta,
                documents,
                lists,
                category,
                minimum: plan.filters.minimum_quality.unwrap_or(0),
                verified_only: plan.filters.verified_only,
                executable_only: plan.filters.executable_only,
            }
        };
        let (base, delta) = (view.columns.documents(), view.delta.slots());
        tiers.push(tier(false, base, of_base));
        tiers.push(tier(true, delta, of_delta));
    }
    tiers.retain(|tier| tier.documents > 0);
    Ok(tiers)
}

impl Tier<'_> {
    pub(crate) fn cursor(&self, term: usize) -> Option<Cursor<'_>> {
        self.lists.get(term)?.as_ref().map(|list| Cursor::new(&list.postings))
    }

    pub(crate) fn places(&self, term: usize) -> Option<Places<'_>> {
        self.lists.get(term)?.as_ref().map(|list| Places::new(&list.postings, &list.positions))
    }

    /// Whether every document of it lives and is asked for.
    pub(crate) fn is_all_looked_at(&self) -> bool {
        let is_filtered =
            self.category.is_some() || self.minimum > 0 || self.verified_only || self.executable_only;
        !self.is_delta && !is_filtered && self.view.delta.dead() == 0
    }

    /// Whether a document lives and is one of those that are asked for.
    #[inline]
    pub(crate) fn is_looked_at(&self, document: u32) -> bool {
        let is_there = if self.is_delta {
            match (self.view.delta.slot(document), self.category) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(found), Some((_, asked))) => *found.category == *asked,
            }
        } else {
            !self.view.delta.is_dead(document)
                && self.category.is_none_or(|(code, _)| self.view.columns.category(document) == code)
        };
        if !is_there || !(self.minimum > 0 || self.verified_only || self.executable_only) {
            return is_there;
        }
        let facts = self.facts(document);
        (self.minimum == 0 || facts.quality.is_some_and(|q| q >= self.minimum))
            && (!self.verified_only || facts.verified)
            && (!self.executable_only || facts.executable)
    }

    #[inline]
    pub(crate) fn facts(&self, document: u32) -> Facts {
        if self.is_delta {
            self.view.delta.slot(document).map(|found| found.facts).unwrap_or_default()
        } else {
            self.view.columns.facts(document)
        }
    }

    pub(crate) fn id(&self, document: u32) -> String {
        if self.is_delta {
            self.view.delta.slot(document).map(|found| found.id().to_owned()).unwrap_or_default()
        } else {
            self.view.columns.id(document).unwrap_or_default()
        }
    }

    pub(crate) fn name(&self, document: u32) -> String {
        if self.is_delta {
            self.view.delta.slot(document).map(|found| found.name.to_string()).unwrap_or_default()
        } else {
            self.view.columns.name_of(document).unwrap_or_default()
        }
    }
}

/// A set of documents.
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn new(documents: u32) -> Self {
        Self(vec![0; place(documents).div_ceil(64)])
    }

    pub(crate) fn add(&mut self, document: u32) {
        if let Some(bits) = self.0.get_mut(place(document / 64)) {
            *bits |= 1 << (document % 64);
        }
    }

    #[inline]
    pub(crate) fn has(&self, document: u32) -> bool {
        self.0.get(place(document / 64)).is_some_and(|bits| bits >> (document % 64) & 1 == 1)
    }

    pub(crate) fn keep_only(&mut self, other: &Self) {
        for (bits, of_other) in self.0.iter_mut().zip(&other.0) {
            *bits &= of_other;
        }
    }
}
