//! One place of an output: what is shown of it and what was captured there. Nothing leaves unmasked.

use std::{collections::BTreeMap, ops::Range};

use regex::{Captures, Regex};

use crate::{
    analysis::{Match, Stream},
    source::secrets,
};

/// The longest excerpt, in characters.
pub const EXCERPT_CHARS: usize = 240;
/// The longest capture, in characters.
const CAPTURE_CHARS: usize = 200;
/// How far before and after a match secrets are looked for, in bytes.
const AROUND: usize = 4_096;
/// What stands for a secret.
pub(crate) const MASK: &str = "[secret]";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Where {
    pub(crate) stream: Stream,
    pub(crate) line: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Place {
    at: Where,
    excerpt: String,
    root: Option<String>,
    dir: Option<String>,
    pub(crate) captures: BTreeMap<String, String>,
}

impl Place {
    pub(crate) fn new(
        at: Where,
        line: &str,
        whole: Range<usize>,
        root: Option<&str>,
        dir: Option<&str>,
    ) -> Self {
        let dir = dir.map(|dir| dir.trim_matches('/').to_owned()).filter(|dir| !dir.is_empty());
        let root = root.map(|root| root.trim_end_matches('/')).filter(|root| !root.is_empty());
        let excerpt = relative(&excerpt(line, whole), root);
        Self { at, excerpt, root: root.map(str::to_owned), dir, captures: BTreeMap::new() }
    }

    /// Adds the named groups of a line; a name that is there already stays. A `file` is said relative to the root.
    pub(crate) fn add(&mut self, line: &str, regex: &Regex, captures: &Captures<'_>) {
        let whole = captures.get(0).map_or(0..0, |whole| whole.range());
        let around = window(line, whole);
        let hidden: Vec<Range<usize>> = secrets::ranges(line.get(around.clone()).unwrap_or_default())
            .into_iter()
            .map(|range| range.start + around.start..range.end + around.start)
            .collect();
        for (group, name) in captures.iter().zip(regex.capture_names()) {
            let (Some(group), Some(name)) = (group, name) else { continue };
            let overlaps = |range: &Range<usize>| range.start < group.end() && group.start() < range.end;
            let said = if hidden.iter().any(overlaps) { MASK.to_owned() } else { clean(group.as_str()) };
            let said = if name == "file" {
                paths::placed(&said, self.root.as_deref(), self.dir.as_deref())
            } else {
                relative(&said, self.root.as_deref())
            };
            // A file that is not below the root is nobody's to change, and its path is not said.
            if !said.is_empty() && (name != "file" || paths::is_relative(&said)) {
                self.captures.entry(name.to_owned()).or_insert(said);
            }
        }
    }

    /// Where the program said only the end of a path, and one known file ends so, that is the file.
    pub(crate) fn resolve(&mut self, files: &[String]) {
        if let Some(file) = self.captures.get_mut("file")
            && let Some(known) = paths::resolve(file, files)
        {
            *file = known;
        }
    }

    /// As it is said in the folder `dir`, where its file has another name.
    pub(crate) fn from(&self, dir: &str) -> Self {
        let mut place = self.clone();
        if let Some(file) = place.captures.get_mut("file") {
            *file = paths::from(file, dir);
        }
        place
    }

    pub(crate) fn said(&self, pattern: &str) -> Match {
        Match {
            pattern: pattern.to_owned(),
            stream: self.at.stream,
            line: self.at.line,
            excerpt: self.excerpt.clone(),
            captures: self.captures.clone(),
        }
    }
}

fn window(line: &str, whole: Range<usize>) -> Range<usize> {
    let start = line.floor_char_boundary(whole.start.saturating_sub(AROUND));
    let end =
        line.ceil_char_boundary(whole.end.min(whole.start + AROUND).saturating_add(AROUND).min(line.len()));
    start..end
}

/// What is shown of a line: all of it, or what is around the match; secrets masked.
pub(crate) fn excerpt(line: &str, whole: Range<usize>) -> String {
    let around = window(line, whole.clone());
    let text = line.get(around.clone()).unwrap_or_default();
    let long = text.chars().nth(EXCERPT_CHARS).is_some();
    let from =
        if long { text.floor_char_boundary((whole.start - around.start).saturating_sub(60)) } else { 0 };
    let mut shown = String::new();
    if from + around.start > 0 {
        shown.push('…');
    }
    let mut at = 0;
    for range in secrets::ranges(text) {
        shown.push_str(text.get(at.max(from)..range.start).unwrap_or_default());
        if range.end > from {
            shown.push_str(MASK);
        }
        at = range.end;
    }
    shown.push_str(text.get(at.max(from)..).unwrap_or_default());
    let shown: String = shown.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match shown.char_indices().nth(EXCERPT_CHARS - 1) {
        Some((end, _)) if shown.chars().nth(EXCERPT_CHARS).is_some() => {
            format!("{}…", shown.get(..end).unwrap_or_default())
        }
        _ => shown,
    }
}

fn clean(said: &str) -> String {
    said.trim().chars().filter(|c| !c.is_control()).take(CAPTURE_CHARS).collect()
}

/// Without the root in front of paths.
fn relative(text: &str, root: Option<&str>) -> String {
    match root {
        Some(root) => text.replace(&format!("{root}/"), ""),
        None => text.to_owned(),
    }
}

/// Paths as programs say them.
pub(crate) mod paths {
    /// Relative to the root where it is below it, without `./` in front.
    pub(crate) fn said(path: &str, root: Option<&str>) -> String {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let below = root.and_then(|root| path.strip_prefix(root)).and_then(|rest| rest.strip_prefix('/'));
        let mut path = below.unwrap_or(path);
        while let Some(rest) = path.strip_prefix("./") {
            path = rest;
        }
        path.to_owned()
    }

    /// The same, of a program that ran in the folder `dir` of the root.
    pub(crate) fn placed(path: &str, root: Option<&str>, dir: Option<&str>) -> String {
        let plain = path.strip_prefix("file://").unwrap_or(path);
        let said = said(path, root);
        match dir {
            Some(dir) if !plain.starts_with('/') && is_relative(&said) => format!("{dir}/{said}"),
            _ => said,
        }
    }

    /// What the folder `dir` calls a file of the root.
    pub(crate) fn from(file: &str, dir: &str) -> String {
        let shared = file.split('/').zip(dir.split('/')).take_while(|(file, dir)| file == dir).count();
        let up = dir.split('/').skip(shared).map(|_| "..");
        up.chain(file.split('/').skip(shared)).collect::<Vec<_>>().join("/")
    }

    /// Whether it can be an affected file: relative, and not out of the root.
    pub(crate) fn is_relative(path: &str) -> bool {
        let drive = path.as_bytes().get(1) == Some(&b':');
        !path.is_empty()
            && !path.starts_with(['/', '\\', '<', '[', '~'])
            && !drive
            && !path.contains("://")
            && path.split('/').all(|part| part != "..")
    }

    /// The one known file that is or ends with this path.
    pub(crate) fn resolve(path: &str, files: &[String]) -> Option<String> {
        if files.iter().any(|file| file == path) {
            return None;
        }
        let mut ends =
            files.iter().filter(|file| file.strip_suffix(path).is_some_and(|front| front.ends_with('/')));
        let only = ends.next()?;
        ends.next().is_none().then(|| only.clone())
    }
}
