//! Ids that an unknown one may be meant for.

use std::collections::BTreeMap;

use fst::{IntoStreamer, Map, Streamer as _};

use crate::near::typo_distance;
use crate::plan::LibraryView;
use crate::reach::{MOST, Near};

/// Documents of one name that are suggested at most.
const OF_A_NAME: usize = 64;

/// The ids that are nearest to one that is unknown, by distance (neighbours exchanged count one), then by letters, with
/// their libraries' places; at most `most`. An id is also near when its name is, and then by one farther where its category
/// is another. Goes through the part of the ids
/// that can still be near, and through the column of names once.
#[must_use]
pub fn nearest(libraries: &[LibraryView<'_>], id: &str, most: usize) -> Vec<(usize, String)> {
    let asked = id.to_lowercase();
    let name = last_part(&asked);
    let mut found: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for (at, library) in libraries.iter().enumerate() {
        let mut keep = |id: String, distance: usize| {
            let known = found.entry((at, id)).or_insert(distance);
            *known = distance.min(*known);
        };
        each(library.columns.ids(), &asked, &mut |id, number| {
            let is_alive = u32::try_from(number).is_ok_and(|number| !library.delta.is_dead(number));
            if let Some(distance) = typo_distance(&asked, &id.to_lowercase(), MOST).filter(|_| is_alive) {
                keep(id.to_owned(), distance);
            }
        });
        let mut names: BTreeMap<u64, usize> = BTreeMap::new();
        each(library.columns.names(), name, &mut |other, place| {
            if let Some(distance) = typo_distance(name, &other.to_lowercase(), most_of_name(name)) {
                names.insert(place, distance);
            }
        });
        if !names.is_empty() {
            let mut left = OF_A_NAME;
            for number in 0..library.columns.documents() {
                let Some(distance) = names.get(&u64::from(library.columns.name_place(number))) else {
                    continue;
                };
                if left > 0
                    && !library.delta.is_dead(number)
                    && let Some(id) = library.columns.id(number)
                {
                    left -= 1;
                    keep(id, distance + 1);
                }
            }
        }
        for document in library.delta.each() {
            if let Some(distance) = typo_distance(&asked, &document.id.to_lowercase(), MOST) {
                keep(document.id.to_string(), distance);
            }
            if let Some(distance) = typo_distance(name, &document.name.to_lowercase(), most_of_name(name)) {
                keep(document.id.to_string(), distance + 1);
            }
        }
    }
    let mut ranked: Vec<(usize, String, usize)> =
        found.into_iter().map(|((library, id), distance)| (distance, id, library)).collect();
    ranked.sort();
    ranked.truncate(most);
    ranked.into_iter().map(|(_, id, library)| (library, id)).collect()
}

/// How far a name may be: a short one is another soon.
fn most_of_name(name: &str) -> usize {
    match name.chars().count() {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

fn last_part(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(_, name)| name)
}

/// Calls with the keys of a map that are near.
fn each(map: &Map<Vec<u8>>, word: &str, on: &mut dyn FnMut(&str, u64)) {
    let mut stream = map.search(Near::new(word, MOST)).into_stream();
    while let Some((key, value)) = stream.next() {
        if let Ok(text) = std::str::from_utf8(key) {
            on(text, value);
        }
    }
}
