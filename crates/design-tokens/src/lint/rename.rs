//! Other names for groups and tokens, wherever they stand and are referred to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::View;
use super::edit::{Edit, Repair};
use super::level::Style;
use super::naming::target;
use super::source::{Doc, Node, Site};
use crate::reference;

/// Places in files, by their numbers.
type Places = Vec<(usize, Range<usize>)>;

/// What stands where in the way of, and belongs to, names that could be others.
pub(super) struct Renames<'v> {
    view: &'v View<'v>,
    /// Where each path's last name stands in references; `None` where one of them could not be edited.
    references: BTreeMap<Vec<String>, Option<Places>>,
    /// Which names of one group would get the same name.
    targets: BTreeMap<Vec<String>, BTreeSet<&'v str>>,
    /// Where each path stands as a name, and the tokens below it.
    places: BTreeMap<&'v [String], (Vec<&'v Site<'v>>, BTreeSet<String>)>,
    paths: BTreeSet<&'v [String]>,
    /// How many names the longest path of ours has.
    longest: usize,
    /// Whether everything that may refer to a token was read.
    is_closed: bool,
}

impl<'v> Renames<'v> {
    pub(super) fn prepare(view: &'v View<'v>, odd: &[&'v Site<'v>], style: Style) -> Self {
        // What resolver documents and themes do not choose now is not read, and may refer to anything.
        let read: BTreeSet<usize> = view.sites.roots.iter().map(|(file, ..)| *file).collect();
        let is_closed = view.sites.all.iter().all(|site| site.is_whole)
            && (0..view.docs.len()).all(|file| read.contains(&file));
        let mut renames = Self {
            view,
            references: BTreeMap::new(),
            targets: BTreeMap::new(),
            places: odd.iter().map(|site| (site.path.as_slice(), <_>::default())).collect(),
            paths: view.sites.all.iter().map(|site| site.path.as_slice()).collect(),
            longest: odd.iter().map(|site| site.path.len()).max().unwrap_or_default(),
            is_closed,
        };
        if !is_closed {
            return renames;
        }
        for site in odd {
            if let Some(target) = target(site.name(), style) {
                renames.targets.entry(beside(&site.path, &target)).or_default().insert(site.name());
            }
        }
        for site in &view.sites.all {
            for length in 1..=site.path.len() {
                let Some((places, tokens)) =
                    site.path.get(..length).and_then(|path| renames.places.get_mut(path))
                else {
                    continue;
                };
                if length == site.path.len() {
                    places.push(site);
                }
                if site.is_token {
                    tokens.insert(site.id());
                }
            }
        }
        for (file, root, _) in &view.sites.roots {
            if let Some(doc) = view.docs.get(*file) {
                renames.collect(*file, doc, root, "");
            }
        }
        renames
    }

    /// Notes every reference below `node` that goes through a path of ours.
    fn collect(&mut self, file: usize, doc: &Doc, node: &Node, key: &str) {
        const TEXTS: [&str; 8] = [
            "$description",
            "description",
            "comment",
            "$deprecated",
            "deprecated_comment",
            "$type",
            "type",
            "$schema",
        ];
        if let Some(text) = node.text().filter(|_| !TEXTS.contains(&key)) {
            let inside = doc.inside(&node.range, text);
            for (names, ranges) in references(text) {
                for (length, range) in (1..=self.longest).zip(&ranges) {
                    let path = names.get(..length).unwrap_or_default();
                    if !self.places.contains_key(path) {
                        continue;
                    }
                    let place = inside
                        .as_ref()
                        .zip(range.as_ref())
                        .map(|(inside, range)| (file, inside.start + range.start..inside.start + range.end));
                    let all = self.references.entry(path.to_vec()).or_insert_with(|| Some(Vec::new()));
                    match place {
                        Some(place) => all.iter_mut().for_each(|all| all.push(place.clone())),
                        None => *all = None,
                    }
                }
            }
        }
        for item in node.items() {
            self.collect(file, doc, item, key);
        }
        for member in node.members() {
            self.collect(file, doc, &member.value, &member.key);
        }
    }

    /// What gives the name at `path` another spelling wherever it stands; `None` where that is not safe.
    pub(super) fn of(&self, path: &[String], target: &str) -> Option<Repair> {
        let new = beside(path, target);
        let is_free = !self.paths.contains(new.as_slice()) && self.targets.get(&new)?.len() == 1;
        let id = path.join(".");
        let is_below = |other: &String| {
            other.strip_prefix(&id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let settings = &self.view.options.contrast;
        let is_named = settings.iter().any(|pair| is_below(&pair.foreground) || is_below(&pair.background));
        if !self.is_closed || !is_free || is_named {
            return None;
        }
        let (places, tokens) = self.places.get(path)?;
        let mut edits = Vec::new();
        for site in places {
            let doc = self.view.docs.get(site.file)?;
            let inside = doc.inside(&site.key, site.name())?;
            let is_word = target.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !target.starts_with(|c: char| c.is_ascii_digit());
            // A name of JSON5 may stand without quotes.
            let text =
                if inside == site.key && !is_word { format!("\"{target}\"") } else { target.to_owned() };
            edits.push(Edit::new(site.file, inside, text));
        }
        match self.references.get(path) {
            None => {}
            Some(None) => return None,
            Some(Some(all)) => {
                edits.extend(all.iter().map(|(file, range)| Edit::new(*file, range.clone(), target)));
            }
        }
        Some(Repair { edits, renames: tokens.iter().cloned().collect() })
    }
}

/// The path of something that stands where the last of `path` does.
fn beside(path: &[String], name: &str) -> Vec<String> {
    let group = path.split_last().map(|(_, group)| group).unwrap_or_default();
    group.iter().cloned().chain([name.to_owned()]).collect()
}

/// The names of a reference, and where each stands in the text; `None` where it is not written as it is.
type Named = (Vec<String>, Vec<Option<Range<usize>>>);

/// Every reference in a text: `{a.b}`, wherever it stands, and a pointer.
fn references(text: &str) -> Vec<Named> {
    if text.starts_with('#') {
        let Ok(names) = reference::pointer(text) else { return Vec::new() };
        let mut at = 2;
        let ranges = text.split('/').skip(1).zip(&names).map(|(written, name)| {
            let range = at..at + written.len();
            at = range.end + 1;
            (written == name).then_some(range)
        });
        let ranges = ranges.collect();
        return vec![(names, ranges)];
    }
    let (mut all, mut from) = (Vec::new(), 0);
    while let Some(open) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at + 1) {
        let Some(close) = text.get(open..).and_then(|rest| rest.find('}')).map(|at| open + at) else { break };
        let mut at = open;
        let named = text.get(open..close).unwrap_or_default().split('.').map(|written| {
            let start = at + (written.len() - written.trim_start().len());
            at += written.len() + 1;
            let name = written.trim();
            (name.to_owned(), Some(start..start + name.len()))
        });
        all.push(named.unzip());
        from = close + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_wherever_they_stand() {
        let names = |text: &str| -> Vec<Vec<String>> {
            let check = |(names, ranges): Named| {
                let written: Vec<&str> = ranges.into_iter().map(|range| &text[range.unwrap()]).collect();
                assert_eq!(written, names);
                names
            };
            references(text).into_iter().map(check).collect()
        };
        assert_eq!(names("{a.b c}"), [["a", "b c"]]);
        assert_eq!(names("calc({ a . b } * {c.d})"), [["a", "b"], ["c", "d"]]);
        assert_eq!(names("#/a/b/$value"), [["a", "b", "$value"]]);
        assert_eq!(references("#/a~1b"), [(vec!["a/b".to_owned()], vec![None])]);
        assert!(references("no {reference").is_empty());
    }
}
