//! YAML as package managers write it, by its events: aliases are never expanded, depth and events are bounded.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};

use super::{MAX_PACKAGES, Unread, malformed};

/// Most events: some dozens for each package that is allowed.
const MAX_EVENTS: usize = MAX_PACKAGES * 64;

/// Deepest nesting. Locks nest four deep.
const MAX_DEPTH: usize = 32;

/// A value, as far as it is looked at.
pub(super) enum Yaml {
    Scalar(String),
    Map(BTreeMap<String, Yaml>),
    /// Lists, aliases, and keys that are no scalars.
    Other,
}

impl Yaml {
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        if let Self::Map(map) = self { map.get(key) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Scalar(text) = self { Some(text) } else { None }
    }

    /// The scalar at `key`.
    pub(super) fn said(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::text)
    }

    pub(super) fn is_true(&self, key: &str) -> Option<bool> {
        self.said(key).map(|said| said == "true")
    }
}

/// A collection that is not closed yet; of lists nothing is kept.
enum Open {
    List,
    Map(BTreeMap<String, Yaml>, Key),
}

/// The key that waits for its value.
#[derive(Default)]
enum Key {
    #[default]
    None,
    Scalar(String),
    Other,
}

/// The first document.
pub(super) fn parse(text: &str) -> Result<Yaml, Unread> {
    if flow_depth(text) > MAX_DEPTH {
        return Err(malformed(format!("values are nested more than {MAX_DEPTH} deep")));
    }
    let mut open: Vec<Open> = Vec::new();
    for (count, event) in Parser::new_from_str(text).enumerate() {
        let (event, _) = event.map_err(malformed)?;
        if count >= MAX_EVENTS || open.len() > MAX_DEPTH {
            return Err(malformed("it is too large or too deep"));
        }
        let closed = match event {
            Event::SequenceStart(..) => {
                open.push(Open::List);
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(BTreeMap::new(), Key::None));
                continue;
            }
            Event::Scalar(value, ..) => Yaml::Scalar(value.into_owned()),
            Event::Alias(..) => Yaml::Other,
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Map(map, _)) => Yaml::Map(map),
                _ => Yaml::Other,
            },
            Event::DocumentEnd => break,
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(closed),
            Some(Open::List) => {}
            Some(Open::Map(map, waiting)) => match std::mem::take(waiting) {
                Key::None => {
                    *waiting = if let Yaml::Scalar(name) = closed { Key::Scalar(name) } else { Key::Other }
                }
                Key::Scalar(name) => {
                    map.insert(name, closed);
                }
                Key::Other => {}
            },
        }
    }
    Ok(Yaml::Other)
}

/// An upper bound of how deep flow collections nest, before the parser is asked: it is slow on deep ones.
fn flow_depth(text: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => now += 1,
            b']' | b'}' => now = now.saturating_sub(1),
            _ => continue,
        }
        most = most.max(now);
    }
    most
}
