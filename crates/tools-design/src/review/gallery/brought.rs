//! What examples bring along into a kit.

use std::collections::BTreeMap;

use contract::RelPath;
use exec::history::Ignores;
use kit::ReadDesk;

use super::look::Look;
use crate::review::examples::{Example, Examples, Shelf};
use crate::scan::place::Place;
use crate::secrets;

/// The largest file that an example brings along, and all of them together, in bytes.
const MAX_ASSET: usize = 8 << 20;
const MAX_ASSETS: usize = 48 << 20;

/// What pages are made of beside themselves.
const OF_PAGES: [&str; 16] = [
    "css", "js", "mjs", "cjs", "wasm", "svg", "png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "woff",
    "woff2", "ttf",
];

/// What was brought along, and how much was not.
pub(super) struct Brought<'a> {
    desk: &'a ReadDesk,
    shelf: &'a Shelf,
    ignores: Option<Ignores>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    room: usize,
    too_large: usize,
    ignored: usize,
}

impl<'a> Brought<'a> {
    pub(super) fn new(desk: &'a ReadDesk, shelf: &'a Shelf, ignores: Option<Ignores>) -> Self {
        Self { desk, shelf, ignores, files: BTreeMap::new(), room: MAX_ASSETS, too_large: 0, ignored: 0 }
    }

    /// What was left behind, in words.
    pub(super) fn left(&self) -> impl Iterator<Item = String> {
        let said =
            |count: usize, what: &str| (count > 0).then(|| format!("{count} files of examples {what}"));
        let left = [
            said(self.too_large, "are too large to bring along"),
            said(self.ignored, "are ignored by git or hidden, and not brought along"),
        ];
        left.into_iter().flatten()
    }

    /// Brings a Storybook along, and says where its page is.
    pub(super) fn storybook(&mut self, examples: &Examples) -> Option<String> {
        let all = examples.storybook.as_ref()?;
        for (path, bytes) in all {
            let clean = secrets::taken_out(path, bytes, self.desk);
            let bytes = if is_page(path) { kits::guard_example(&clean) } else { clean };
            self.files.insert(format!("storybook/{path}"), bytes);
        }
        all.contains_key("index.html").then(|| "storybook/index.html".to_owned())
    }

    /// Whether a file that an example asks for may leave this machine. What git ignores is nobody's to publish, but for what a
    /// page is made of: styles, scripts, pictures and fonts are often built, or somebody else's.
    fn may_leave(&self, path: &RelPath) -> bool {
        let is_ignored = |rules: &Ignores| rules.is_ignored(path.as_str(), false).unwrap_or(true);
        let is_hidden = path.components().any(|part| part.starts_with('.'));
        let ending = path.as_str().rsplit_once('.').map_or("", |(_, ending)| ending);
        !is_hidden && (OF_PAGES.contains(&ending) || !self.ignores.as_ref().is_some_and(is_ignored))
    }

    /// Brings an example along with everything that it asked for, and says where it is.
    pub(super) fn page(&mut self, example: &Example, look: &Look) -> Option<String> {
        let path = match &example.place {
            Place::File(path) => path,
            Place::Story(_, query) => return Some(format!("storybook/iframe.html?{query}")),
            Place::Web(_) => return None,
        };
        for asked in look.asked.keys() {
            let to = format!("examples/{asked}");
            if self.files.contains_key(&to) || !kits::is_path(&to) {
                continue;
            }
            if !self.may_leave(asked) {
                self.ignored += 1;
                continue;
            }
            let Some(bytes) = (self.shelf)(asked) else { continue };
            if bytes.len() > MAX_ASSET || bytes.len() > self.room {
                self.too_large += 1;
                continue;
            }
            self.room -= bytes.len();
            let clean = secrets::taken_out(asked.as_str(), &bytes, self.desk);
            let clean = if is_page(asked.as_str()) { kits::guard_example(&clean) } else { clean };
            self.files.insert(to, clean);
        }
        let page = format!("examples/{path}");
        self.files.contains_key(&page).then_some(page)
    }
}

fn is_page(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "html" | "htm"))
}
