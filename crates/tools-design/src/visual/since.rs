//! Pages as they were at a revision.

use browser::Pages;
use contract::{Code, Fault, RelPath};
use exec::view::is_pattern;
use kit::ReadDesk;

use crate::review::before::{self, Before};
use crate::scan::drive;
use crate::scan::place::{self, Place};

/// A revision and its pages.
pub(crate) struct Since {
    before: Before,
}

impl Since {
    pub(crate) fn new(revision: &str, desk: &ReadDesk) -> Result<Self, Fault> {
        let here = before::here(desk, Some(revision))?;
        let before =
            here.before.ok_or_else(|| Fault::invalid(format!("since: nothing is known of {revision}")))?;
        Ok(Self { before })
    }

    /// What its pages see: its files and nothing else.
    pub(crate) fn served(&self) -> Pages {
        let before = self.before.clone();
        drive::served(move |path| before.read(path))
    }

    /// Whether there was such a page.
    pub(crate) fn has(&self, place: &Place) -> bool {
        match place {
            Place::Web(_) => false,
            Place::File(path) => self.before.has(path),
            Place::Story(frame, query) => {
                let all = self.stories(frame, &["*".to_owned()]);
                all.is_ok_and(|all| {
                    all.iter().any(|story| matches!(story, Place::Story(_, other) if other == query))
                })
            }
        }
    }

    /// The pages that were meant by the same names and are no more.
    pub(crate) fn gone(
        &self,
        names: &[String],
        stories: &[String],
        now: &[Place],
    ) -> Result<Vec<Place>, Fault> {
        let mut then = Vec::new();
        if stories.is_empty() {
            for name in names.iter().filter_map(|name| name.strip_prefix("root:")) {
                let path = name.trim_start_matches('/');
                let pattern = if path.split('/').any(is_pattern) {
                    path.to_owned()
                } else {
                    // Nothing is below the name of a file.
                    format!("{}/**/*.{{html,htm,xhtml}}", path.trim_end_matches('/'))
                };
                then.extend(self.before.glob(&pattern)?.into_iter().map(Place::File));
            }
        } else if let Some(Place::Story(frame, _)) = now.first() {
            then = self.stories(frame, stories)?;
        }
        then.retain(|place| !now.contains(place));
        then.sort_by_key(Place::shown);
        then.dedup();
        Ok(then)
    }

    /// The stories of the Storybook that was beside `frame`.
    fn stories(&self, frame: &RelPath, wanted: &[String]) -> Result<Vec<Place>, Fault> {
        let index =
            frame.parent().map_or_else(|| RelPath::new("index.json"), |folder| folder.join("index.json"));
        let index = index.map_err(|e| Fault::invalid(e.to_string()))?;
        let Some(text) = self.before.read(&index).and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(Vec::new());
        };
        match place::stories(&text, wanted, |query| Some(Place::Story(frame.clone(), query))) {
            Err(fault) if fault.code == Code::NotFound => Ok(Vec::new()),
            found => found,
        }
    }

    /// A fault of the page as it was.
    pub(crate) fn told(&self, mut fault: Fault) -> Fault {
        fault.message = format!("at {}: {}", self.before.revision.name, fault.message);
        fault
    }
}
