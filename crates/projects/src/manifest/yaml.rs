//! The few YAML files that are read, by their events: aliases are never expanded, so there is nothing for a bomb of
//! them to fill, and events and depth are bounded besides.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};

use super::text;

/// Most events that are taken from one file.
const MAX_EVENTS: usize = 50_000;

/// Deepest nesting, in flow or block style.
const MAX_DEPTH: usize = 64;

/// A YAML value, as far as it is looked at. Aliases, and keys that are no scalars, are `Other`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Yaml {
    Scalar(String),
    List(Vec<Yaml>),
    Map(BTreeMap<String, Yaml>),
    Other,
}

impl Yaml {
    pub(crate) fn get(&self, key: &str) -> Option<&Yaml> {
        if let Self::Map(map) = self { map.get(key) } else { None }
    }

    pub(crate) fn list(&self) -> &[Yaml] {
        if let Self::List(list) = self { list } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Scalar(text) = self { Some(text) } else { None }
    }
}

/// A collection that is not closed yet.
enum Open {
    List(Vec<Yaml>),
    Map(BTreeMap<String, Yaml>, Key),
}

/// The key that waits for its value.
enum Key {
    None,
    Scalar(String),
    Other,
}

/// The first document of a file. The error is a line, from 1, and what is wrong.
pub(crate) fn parse(bytes: &[u8]) -> Result<Yaml, (Option<usize>, String)> {
    let text = text(bytes)?;
    if brackets(text) > MAX_DEPTH {
        return Err((None, format!("values are nested more than {MAX_DEPTH} deep")));
    }
    let mut open: Vec<Open> = Vec::new();
    for (count, event) in Parser::new_from_str(text).enumerate() {
        let (event, span) = event.map_err(|e| (Some(e.marker().line()), e.info().to_owned()))?;
        if count == MAX_EVENTS || open.len() > MAX_DEPTH {
            return Err((Some(span.start.line()), "the file is too large or too deep to be read".to_owned()));
        }
        let closed = match event {
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(BTreeMap::new(), Key::None));
                continue;
            }
            Event::Scalar(value, ..) => Yaml::Scalar(value.into_owned()),
            Event::Alias(..) => Yaml::Other,
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Yaml::List(list),
                Some(Open::Map(map, _)) => Yaml::Map(map),
                None => Yaml::Other,
            },
            Event::DocumentEnd => break,
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(closed),
            Some(Open::List(list)) => list.push(closed),
            Some(Open::Map(map, key)) => match std::mem::replace(key, Key::None) {
                Key::None => {
                    *key = if let Yaml::Scalar(name) = closed { Key::Scalar(name) } else { Key::Other }
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
fn brackets(text: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_maps_are_read() {
        let found = parse(b"packages:\n  - 'a/*'\n  - \"!b\"\nother: {x: [1, 2]}\n? [k]\n: v\n").unwrap();
        let packages: Vec<_> = found.get("packages").unwrap().list().iter().filter_map(Yaml::text).collect();
        assert_eq!(packages, ["a/*", "!b"]);
        assert_eq!(found.get("other").and_then(|o| o.get("x")).map(|x| x.list().len()), Some(2));
    }

    #[test]
    fn d06_a_bomb_of_aliases_is_not_expanded() {
        let mut bomb = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for level in 1..30 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let found = parse(bomb.as_bytes()).unwrap();
        assert_eq!(found.get("a29").unwrap().list(), vec![Yaml::Other; 10]);
        let many = format!("a: &a 1\nb:\n{}", "  - *a\n".repeat(1_000_000));
        assert!(parse(many.as_bytes()).is_err());
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn an_error_has_its_line() {
        assert!(parse(b"a: 1\nb: [1, 2\nc: }\n").unwrap_err().0.is_some());
    }
}
