//! Phrases, and how close together words stand: by their places.

use crate::SearchError;
use crate::places::read;
use crate::plan::Plan;
use crate::postings::Places;
use crate::tier::{Bits, Tier};

const DAMAGED: SearchError = SearchError::Corrupt("a list of places");

/// The documents of a tier that have every phrase; `None` when none is asked for.
pub(crate) fn required(tier: &Tier<'_>, plan: &Plan) -> Result<Option<Bits>, SearchError> {
    let mut all: Option<Bits> = None;
    for phrase in &plan.phrases {
        let mut found = Bits::new(tier.documents);
        if let Some(terms) = phrase {
            mark(tier, terms, &mut found)?;
        }
        match &mut all {
            Some(all) => all.keep_only(&found),
            None => all = Some(found),
        }
    }
    Ok(all)
}

/// The documents of a tier that have anything that is excluded; `None` when nothing is.
pub(crate) fn excluded(tier: &Tier<'_>, plan: &Plan) -> Result<Option<Bits>, SearchError> {
    if plan.excluded.is_empty() {
        return Ok(None);
    }
    let mut found = Bits::new(tier.documents);
    for terms in &plan.excluded {
        mark(tier, terms, &mut found)?;
    }
    Ok(Some(found))
}

/// Marks the documents where these terms stand one behind another in one field.
fn mark(tier: &Tier<'_>, terms: &[usize], found: &mut Bits) -> Result<(), SearchError> {
    if let [term] = terms {
        let Some(mut cursor) = tier.cursor(*term) else { return Ok(()) };
        while let Some(now) = cursor.now() {
            found.add(now.document);
            cursor.step();
        }
        return if cursor.is_damaged() { Err(DAMAGED) } else { Ok(()) };
    }
    let Some(mut cursors) = terms.iter().map(|t| tier.cursor(*t)).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let Some(mut places) = terms.iter().map(|t| tier.places(*t)).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let mut from = 0;
    'documents: loop {
        // The first document from here on that all have: whoever is behind goes on to whoever is ahead.
        let mut document = from;
        loop {
            let mut ahead = document;
            for cursor in &mut cursors {
                cursor.seek(ahead);
                match cursor.now() {
                    Some(now) => ahead = now.document,
                    None => break 'documents,
                }
            }
            if ahead == document && cursors.iter().all(|c| c.now().is_some_and(|n| n.document == document)) {
                break;
            }
            document = ahead;
        }
        if stand_together(&mut places, document)? {
            found.add(document);
        }
        from = document.saturating_add(1);
    }
    if cursors.iter().any(crate::postings::Cursor::is_damaged) { Err(DAMAGED) } else { Ok(()) }
}

/// Whether the terms, all of which the document has, stand one behind another somewhere in it.
fn stand_together(terms: &mut [Places<'_>], document: u32) -> Result<bool, SearchError> {
    let mut ends: Option<Vec<(u8, Vec<u32>)>> = None;
    for term in terms {
        let (posting, bytes) = term.of(document).ok_or(DAMAGED)?;
        let fields = read(posting.fields, bytes).ok_or(DAMAGED)?;
        let next = match ends {
            None => fields,
            Some(ends) => {
                let mut kept = Vec::new();
                for (bit, before) in ends {
                    let Some((_, here)) = fields.iter().find(|(of, _)| *of == bit) else { continue };
                    let follows =
                        |place: &u32| place.checked_sub(1).is_some_and(|b| before.binary_search(&b).is_ok());
                    let here: Vec<u32> = here.iter().copied().filter(follows).collect();
                    if !here.is_empty() {
                        kept.push((bit, here));
                    }
                }
                kept
            }
        };
        if next.is_empty() {
            return Ok(false);
        }
        ends = Some(next);
    }
    Ok(true)
}

/// How much is added for words that stand together, in thousandths: all of `most` where nothing is between them, nothing
/// where no field has them all. `terms` are the stems of all words that are asked for.
pub(crate) fn near(terms: &mut [Places<'_>], document: u32, most: u32) -> Result<u32, SearchError> {
    let words = crate::bytes::small(terms.len());
    let mut of_words = Vec::with_capacity(terms.len());
    for term in terms.iter_mut() {
        let Some((posting, bytes)) = term.of(document) else { return Ok(0) };
        of_words.push(read(posting.fields, bytes).ok_or(DAMAGED)?);
    }
    let mut best: Option<u32> = None;
    for bit in (0..8u8).map(|n| 1 << n) {
        let mut all: Vec<(u32, usize)> = Vec::new();
        let mut have = 0;
        for (word, fields) in of_words.iter().enumerate() {
            if let Some((_, places)) = fields.iter().find(|(of, _)| *of == bit) {
                have += 1;
                all.extend(places.iter().map(|place| (*place, word)));
            }
        }
        if have == of_words.len() {
            all.sort_unstable();
            best = smallest_window(&all, of_words.len()).into_iter().chain(best).min();
        }
    }
    Ok(best.map_or(0, |window| (most.saturating_mul(words) / window.max(1)).min(most)))
}

/// The fewest places in a row that have every word; places are in order.
fn smallest_window(all: &[(u32, usize)], words: usize) -> Option<u32> {
    let mut counts = vec![0u32; words];
    let (mut missing, mut from, mut best) = (words, all.iter(), None::<u32>);
    let mut first = from.next();
    for (place, word) in all {
        let count = counts.get_mut(*word)?;
        missing -= usize::from(*count == 0);
        *count += 1;
        while missing == 0 {
            let (start, left) = first?;
            let window = place - start + 1;
            best = Some(best.map_or(window, |b| b.min(window)));
            let count = counts.get_mut(*left)?;
            *count -= 1;
            missing += usize::from(*count == 0);
            first = from.next();
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_the_smallest() {
        assert_eq!(smallest_window(&[(0, 0), (5, 1), (6, 0), (20, 1)], 2), Some(2));
        assert_eq!(smallest_window(&[(0, 0), (9, 1), (10, 2)], 3), Some(11));
        assert_eq!(smallest_window(&[(0, 0), (9, 0)], 2), None);
        assert_eq!(smallest_window(&[(4, 0), (4, 1)], 2), Some(1));
    }
}
