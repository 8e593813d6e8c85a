//! How components look, before and now, and what is wrong with them.
//!
//! - [`look`]: pages looked at.
//! - [`pictures`]: what of that is pictures.
//! - [`found`]: what of that is findings.
//! - [`brought`]: what examples bring along into a kit.

mod brought;
mod found;
mod look;
mod pictures;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use contract::Fault;
use kits::{Component, Example as Shown, Gallery};

use self::brought::Brought;
use self::found::Found;
use self::look::{Looking, Looks, SCHEMES, key};
use super::before::Before;
use super::examples::{Example, Examples, Shelf};
use crate::consumers;
use crate::scan::Rules;
use crate::scan::browse::{Ask, Browsing, Missing};
use crate::scan::engine::Axe;
use crate::scan::place::Place;

/// A gallery, the files that it shows, and what could not be had.
pub(crate) struct Made {
    pub(crate) gallery: Gallery,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Part and reason.
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// A browser for the gallery, or why there is none.
pub(crate) fn browsing(desk: &kit::ReadDesk, time: Duration) -> Result<Browsing<'_>, Result<String, Fault>> {
    // A story shows itself when its script has run; files of examples are there at once.
    Browsing::begin(Ask { wait: Some("idle"), ..Ask::default() }, desk, time).map_err(|missing| match missing
    {
        Missing::Part(fault) => Ok(fault.message),
        Missing::Failed(fault) => Err(fault),
    })
}

/// Makes the gallery.
pub(crate) fn make(
    browsing: &Browsing<'_>,
    examples: &Examples,
    before: Option<&Before>,
    rules: Rules,
) -> Result<Made, Fault> {
    let desk = browsing.desk;
    let mut missing = Vec::new();
    let axe = match Axe::found(desk, browsing.pool.axe()?, browsing.pool.axe_set_up()) {
        Ok(axe) => Some(axe),
        Err(fault) => {
            missing.push(("accessibility", fault.message));
            None
        }
    };
    let looking = Looking { browsing, axe, rules, before };
    let (now, mut is_late) = looking.all(&examples.pages, &examples.shelf, |_, _| true)?;
    // Of a Storybook's build nothing was committed as a rule: there is nothing to compare with.
    let then = match before.filter(|_| examples.storybook.is_none() && !is_late) {
        None => BTreeMap::new(),
        Some(before) => {
            let older = before.clone();
            let shelf: Shelf = Arc::new(move |path| older.read(path));
            let all: Vec<Example> = examples.pages.iter().chain(&examples.gone).cloned().collect();
            let (then, late) = looking.all(&all, &shelf, |example, scheme| {
                let Place::File(path) = &example.place else { return false };
                let was_seen = || now.get(&key(example, scheme)).and_then(|look| look.as_ref().ok());
                before.has(path)
                    && (is_gone(examples, example) || was_seen().is_some_and(|l| looking.differs(l)))
            })?;
            is_late = late;
            then
        }
    };
    if is_late {
        missing.push(("pictures", "the time for them was up: name fewer with `examples`".to_owned()));
    }
    let brought = Brought::new(desk, &examples.shelf, consumers::ignores(desk)?);
    let making = Making { looking: &looking, examples, brought, missing };
    making.put_together(now, then)
}

fn is_gone(examples: &Examples, example: &Example) -> bool {
    examples.gone.iter().any(|gone| gone.place == example.place)
}

/// Puts a gallery together.
struct Making<'a> {
    looking: &'a Looking<'a>,
    examples: &'a Examples,
    brought: Brought<'a>,
    missing: Vec<(&'static str, String)>,
}

impl Making<'_> {
    fn put_together(mut self, mut now: Looks, mut then: Looks) -> Result<Made, Fault> {
        let mut components: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
        for example in &self.examples.pages {
            let shown = self.shown(example, &mut now, &mut then)?;
            components.entry(example.component.clone()).or_default().push(shown);
        }
        for example in &self.examples.gone {
            let shown = self.last_of(example, &mut then)?;
            components.entry(example.component.clone()).or_default().push(shown);
        }
        let storybook = self.brought.storybook(self.examples);
        self.missing.extend(self.brought.left().map(|why| ("gallery", why)));
        if self.examples.nameless > 0 {
            let why = format!("{} stories have ids that are too long", self.examples.nameless);
            self.missing.push(("gallery", why));
        }
        if self.examples.more > 0 {
            let why = format!("{} more examples: name fewer with `examples`", self.examples.more);
            self.missing.push(("gallery", why));
        }
        let origin = if self.examples.storybook.is_some() { "storybook" } else { "examples" };
        let gallery = Gallery {
            origin: origin.to_owned(),
            storybook,
            components: components.into_iter().map(|(name, examples)| Component { name, examples }).collect(),
        };
        Ok(Made { gallery, files: self.brought.files, missing: self.missing })
    }

    /// An example as it is now, beside what it was.
    fn shown(&mut self, example: &Example, now: &mut Looks, then: &mut Looks) -> Result<Shown, Fault> {
        let source = source(&example.place);
        let mut shown = Shown { title: example.title.clone(), source, ..Shown::default() };
        let mut found = Found::default();
        // Of a Storybook's build nothing was committed.
        let before = self.looking.before.filter(|_| self.examples.storybook.is_none());
        let had = before.is_some_and(|b| matches!(&example.place, Place::File(path) if b.has(path)));
        for (_, word) in SCHEMES {
            let key = key(example, word);
            let look = match now.remove(&key) {
                Some(Ok(look)) => look,
                Some(Err(why)) => {
                    self.missing.push(("pictures", format!("{} ({word}): {why}", shown.source)));
                    continue;
                }
                None => continue,
            };
            let earlier = match then.remove(&key).transpose() {
                Ok(earlier) => earlier,
                Err(why) => {
                    self.missing.push(("pictures", format!("{} ({word}) at the base: {why}", shown.source)));
                    None
                }
            };
            let is_same = had && earlier.is_none() && !self.looking.differs(&look);
            if word == "light" {
                shown.page = self.brought.page(example, &look);
            }
            if let Some(findings) = &look.findings {
                found.now(findings);
                if is_same {
                    found.before(findings);
                }
            }
            if let Some(findings) = earlier.as_ref().and_then(|look| look.findings.as_ref()) {
                found.before(findings);
            }
            let files = &mut self.brought.files;
            let mut pictures = pictures::of(&shown.source, word, &look, earlier.as_ref(), is_same, files)?;
            pictures.is_new = !had && before.is_some();
            shown.pictures.push(pictures);
        }
        shown.undecided = found.undecided;
        shown.findings = found.into_findings();
        Ok(shown)
    }

    /// An example that is not there any more.
    fn last_of(&mut self, example: &Example, then: &mut Looks) -> Result<Shown, Fault> {
        let source = source(&example.place);
        let mut shown = Shown { title: example.title.clone(), source, ..Shown::default() };
        for (_, word) in SCHEMES {
            if let Some(Ok(look)) = then.remove(&key(example, word)) {
                let files = &mut self.brought.files;
                shown.pictures.push(pictures::last(&shown.source, word, &look, files)?);
            }
        }
        Ok(shown)
    }
}

fn source(place: &Place) -> String {
    match place {
        Place::File(path) => path.to_string(),
        Place::Story(_, query) => {
            let id = query.strip_prefix("id=").and_then(|q| q.split('&').next()).unwrap_or(query);
            format!("story:{id}")
        }
        Place::Web(url) => url.clone(),
    }
}
