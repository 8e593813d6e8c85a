//! How two releases of a library differ.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::Names;
use super::shape::Shape;
use super::signature::loose;
use super::{Api, Entry, Key};
pub use crate::difference::{ApiChange, Difference, What, bump};
use crate::version::Bump;

/// Where an item of one release has its description.
fn described<'a>(api: &'a Api, key: &Key) -> Option<(&'a Key, &'a Vec<Entry>)> {
    let (key, entries) = api.entries.get_key_value(key)?;
    if let [Entry { shape: Shape::Alias(path), .. }] = entries.as_slice() {
        let (found, entries) = api.entries.get_key_value(&(path.clone(), key.1))?;
        return Some((found, entries));
    }
    Some((key, entries))
}

/// The paths that one item has, by its first.
fn paths(api: &Api) -> BTreeMap<&str, &[String]> {
    let named =
        api.items.iter().filter_map(|item| Some((item.public.first()?.as_str(), item.public.as_slice())));
    named.collect()
}

/// Where a name of one release is in the other: by itself, or, as a type's member, below another path of that type (`paths` are
/// those of the release that the name is of).
fn found_in<'a>(
    other: &'a Api,
    key: &Key,
    paths: &BTreeMap<&str, &[String]>,
) -> Option<(&'a Key, &'a Vec<Entry>)> {
    if let Some(found) = described(other, key) {
        return Some(found);
    }
    let (of, name) = key.0.rsplit_once("::")?;
    paths.get(of)?.iter().find_map(|path| {
        let main = match other.entries.get(&(path.clone(), false))?.first().map(|e| &e.shape) {
            Some(Shape::Alias(main)) => main,
            _ => path,
        };
        described(other, &(format!("{main}::{name}"), key.1))
    })
}

/// The differences between two releases of a library.
pub fn compare(before: &Api, after: &Api) -> Difference {
    let mut by_path: BTreeMap<&str, &str> = BTreeMap::new();
    for item in &before.items {
        for path in &item.public {
            by_path.insert(path, item.public.first().unwrap_or(path));
        }
    }
    let old = |i: usize| {
        let item = before.items.get(i);
        item.map(|item| item.public.first().unwrap_or(&item.place).clone()).unwrap_or_default()
    };
    // An item that has one of its old paths still is what it was, whatever new paths it has.
    let new = |i: usize| {
        let Some(item) = after.items.get(i) else { return String::new() };
        let known = item.public.iter().find_map(|path| by_path.get(path.as_str()));
        known.map_or_else(|| item.public.first().unwrap_or(&item.place).clone(), ToString::to_string)
    };
    let names = Names { before: &old, after: &new };
    let mut found = Difference::default();
    for side in [before, after] {
        found.undecided.extend(side.undecided.iter().cloned());
    }
    items(before, after, &names, &mut found);
    implementations(before, after, &names, &mut found);
    hidden(before, after, &mut found);
    if before.no_std && !after.no_std {
        let how = vec!["it needs the standard library now (#![no_std] is gone)".to_owned()];
        found.changes.push(ApiChange::new("the crate".to_owned(), What::Changed { how }, Bump::Major));
    } else if after.no_std && !before.no_std {
        let how = vec!["it does without the standard library".to_owned()];
        found.changes.push(ApiChange::new("the crate".to_owned(), What::Changed { how }, Bump::Minor));
    }
    found.undecided.sort();
    found.undecided.dedup();
    found
}

fn items(before: &Api, after: &Api, names: &Names<'_>, found: &mut Difference) {
    let shown = |key: &Key| key.0.clone();
    let (old, new) = (paths(before), paths(after));
    let made = Made::new(before, after);
    for (key, entries) in &before.entries {
        let Some((_, is)) = found_in(after, key, &old) else {
            let gone = !entries.iter().all(|e| matches!(e.shape, Shape::Module));
            // A module's names are reported themselves; an empty one is nobody's.
            if gone && made.by_macro(&key.0) {
                found.undecided.push(format!("{} is not written out any more: a macro may make it", key.0));
            } else if gone {
                found.changes.push(ApiChange::new(shown(key), What::Removed, Bump::Major));
            }
            continue;
        };
        let Some((main, was)) = described(before, key) else { continue };
        // What has several paths is compared under its first; under others only if they lead elsewhere now.
        if main != key {
            let follows = described(after, main).is_some_and(|(_, there)| std::ptr::eq(there, is));
            if follows {
                continue;
            }
        }
        pairs(key, was, is, names, found);
    }
    for (key, entries) in &after.entries {
        if found_in(before, key, &new).is_none() && !entries.iter().all(|e| matches!(e.shape, Shape::Module))
        {
            found.changes.push(ApiChange::new(shown(key), What::Added, Bump::Minor));
        }
    }
}

/// What macros are given that they were not given before.
struct Made<'a>(Vec<&'a str>);

impl<'a> Made<'a> {
    fn new(before: &'a Api, after: &'a Api) -> Self {
        Self(after.invoked.difference(&before.invoked).map(|(_, text)| text.as_str()).collect())
    }

    /// Whether one of them names the last name of a path.
    fn by_macro(&self, text: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let name = text
            .split(|c| !is_word(c))
            .rfind(|word| word.len() > 1 && word.starts_with(char::is_alphabetic) && !is_label(word));
        name.is_some_and(|name| {
            self.0.iter().any(|given| given.split(|c| !is_word(c)).any(|word| word == name))
        })
    }
}

/// `S0`, `T1`: what parameters are called in signatures.
fn is_label(word: &str) -> bool {
    word.strip_prefix(['S', 'T', 'U'])
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Compares what one name is under each condition.
fn pairs(key: &Key, was: &[Entry], is: &[Entry], names: &Names<'_>, found: &mut Difference) {
    let mut left: Vec<&Entry> = is.iter().collect();
    let mut unmatched = Vec::new();
    for entry in was {
        let same_gate = left.iter().position(|e| e.gate == entry.gate);
        let place = same_gate.or_else(|| (was.len() == 1 && is.len() == 1).then_some(0));
        let Some(place) = place else {
            unmatched.push(entry);
            continue;
        };
        let other = left.remove(place);
        let (unknown, changes): (Vec<_>, Vec<_>) =
            names.shapes(&entry.shape, &other.shape).into_iter().partition(|(bump, _)| *bump == Bump::None);
        found.undecided.extend(unknown.into_iter().map(|(_, why)| format!("{}: {why}", key.0)));
        if let Some(asks) = changes.iter().map(|(bump, _)| *bump).max() {
            let how = changes.into_iter().map(|(_, why)| why).collect();
            found.changes.push(ApiChange::new(key.0.clone(), What::Changed { how }, asks));
        }
        if entry.gate != other.gate {
            let say = |gate: &Option<String>| gate.clone().unwrap_or_else(|| "always".to_owned());
            found.undecided.push(format!(
                "{} was there under the condition `{}` and is under `{}`",
                key.0,
                say(&entry.gate),
                say(&other.gate)
            ));
        }
        if let (Shape::Macro(was), Shape::Macro(is)) = (&entry.shape, &other.shape)
            && was != is
        {
            if was.iter().all(|arm| is.contains(arm)) {
                let how = vec!["it takes more than before".to_owned()];
                found.changes.push(ApiChange::new(key.0.clone(), What::Changed { how }, Bump::Minor));
            } else {
                found.undecided.push(format!(
                    "what {} takes is written otherwise: whether it takes the same is not known",
                    key.0
                ));
            }
        }
    }
    if !unmatched.is_empty() || !left.is_empty() {
        found.undecided.push(format!("{} is there under other conditions (`cfg`) than before", key.0));
    }
}

fn implementations(before: &Api, after: &Api, names: &Names<'_>, found: &mut Difference) {
    let was: BTreeMap<String, &super::Implemented> =
        before.implemented.iter().map(|(s, i)| (loose(&names.was(s)), i)).collect();
    let is: BTreeMap<String, &super::Implemented> =
        after.implemented.iter().map(|(s, i)| (loose(&names.is(s)), i)).collect();
    // What went or came with its type is told of there.
    let items =
        |api: &Api| -> BTreeSet<String> { api.entries.keys().map(|(path, _)| path.clone()).collect() };
    let (old, new) = (items(before), items(after));
    let made = Made::new(before, after);
    let mentions = |text: &str, set: &BTreeSet<String>, other: &BTreeSet<String>| {
        let of = text.rsplit_once(" for ").map_or(text, |(_, of)| of);
        let head = |text: &str| {
            text.split(['<', ' ', '(', '&']).find(|t| !t.is_empty()).unwrap_or_default().to_owned()
        };
        [head(of), head(text)].iter().any(|path| set.contains(path) && !other.contains(path))
    };
    for (text, implemented) in &was {
        match is.get(text) {
            None => {
                let head = text.split_once("for ").map_or(text.as_str(), |(of, _)| of.trim_end());
                let blanket = is.iter().any(|(other, i)| {
                    i.is_blanket && other.starts_with(head.split('<').next().unwrap_or(head))
                });
                if mentions(text, &old, &new) {
                } else if blanket || made.by_macro(text) {
                    found.undecided.push(format!("impl {text} is not written out any more: a macro or an implementation for all may give it"));
                } else {
                    found.changes.push(ApiChange::new(format!("impl {text}"), What::Removed, Bump::Major));
                }
            }
            Some(other) => {
                let mut how = Vec::new();
                let mut asks = Bump::None;
                let bounds: BTreeSet<String> =
                    implemented.bounds.iter().map(|b| loose(&names.was(b))).collect();
                let now: BTreeSet<String> = other.bounds.iter().map(|b| loose(&names.is(b))).collect();
                // What `derive` asks of parameters is not written anywhere.
                if implemented.derived == other.derived {
                    for bound in now.difference(&bounds) {
                        let loose = bound.contains(":?");
                        asks = asks.max(if loose { Bump::Minor } else { Bump::Major });
                        how.push(format!("it asks for `{bound}`"));
                    }
                    for bound in bounds.difference(&now) {
                        let loose = bound.contains(":?");
                        asks = asks.max(if loose { Bump::Major } else { Bump::Minor });
                        how.push(format!("it no longer asks for `{bound}`"));
                    }
                }
                for (name, ty) in &implemented.types {
                    let (was, is) = (names.was(ty), other.types.get(name).map(|ty| names.is(ty)));
                    if is.as_ref().is_some_and(|is| loose(is) != loose(&was)) {
                        asks = Bump::Major;
                        how.push(format!("{name} was `{was}` and is `{}`", is.unwrap_or_default()));
                    }
                }
                if !how.is_empty() {
                    found.changes.push(ApiChange::new(format!("impl {text}"), What::Changed { how }, asks));
                }
            }
        }
    }
    for (text, implemented) in &is {
        if !was.contains_key(text) && !mentions(text, &new, &old) {
            let asks = if implemented.is_blanket { Bump::Major } else { Bump::Minor };
            found.changes.push(ApiChange::new(format!("impl {text}"), What::Added, asks));
        }
    }
}

/// What macros and attributes of others make is not known: it is said where they are given something else.
fn hidden(before: &Api, after: &Api, found: &mut Difference) {
    let changed: BTreeSet<(&str, &str)> = before
        .invoked
        .symmetric_difference(&after.invoked)
        .map(|(place, text)| (place.as_str(), text.split('!').next().unwrap_or_default()))
        .collect();
    for (place, name) in changed {
        found.undecided.push(format!("what `{name}!` makes in {place}: it is given something else"));
    }
    for (path, attributes) in &before.attributes {
        let now = after.attributes.get(path);
        if after.entries.contains_key(&(path.clone(), false)) && now != Some(attributes) {
            found.undecided.push(format!("what the attributes of {path} make of it: they are others"));
        }
    }
}
