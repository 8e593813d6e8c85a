//! Where in a document's fields a word stands: of each field of its mask, in order, how often, and the distances.

use crate::bytes::{Reader, put};

/// Writes the places of one word in one field, which are in order.
pub(crate) fn write(out: &mut Vec<u8>, places: &[u32]) {
    put(out, crate::bytes::small(places.len()));
    let mut last = 0;
    for place in places {
        put(out, place.saturating_sub(last));
        last = *place;
    }
}

/// Reads the places of every field of the mask: `(bit, places)`, or `None` where they are none.
pub(crate) fn read(mask: u8, bytes: &[u8]) -> Option<Vec<(u8, Vec<u32>)>> {
    let mut reader = Reader::new(bytes);
    let mut found = Vec::new();
    for bit in (0..8u8).map(|n| 1 << n).filter(|bit| mask & bit != 0) {
        let count = reader.number()?;
        let mut places = Vec::new();
        let mut last = 0u32;
        for i in 0..count {
            let step = reader.number()?;
            if i > 0 && step == 0 {
                return None;
            }
            last = last.checked_add(step)?;
            places.push(last);
        }
        found.push((bit, places));
    }
    reader.is_empty().then_some(found)
}

/// Whether [`read`] reads them, and each field has one.
pub(crate) fn are_well_formed(mask: u8, bytes: &[u8]) -> bool {
    read(mask, bytes).is_some_and(|fields| fields.iter().all(|(_, places)| !places.is_empty()))
}
