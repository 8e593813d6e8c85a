//! Looking at pages in a browser: which they are, what is done on each, and what was found.

use std::sync::Arc;
use std::time::{Duration, Instant};

use a11y::Findings;
use browser::page::Blocked;
use browser::{Credential, Given, Page, Pool, Scheme, Tab, Window};
use contract::{Code, Fault, RelPath};
use exec::address::Reach;
use exec::run::Level;
use kit::ReadDesk;

use super::Rules;
use super::drive::{self, Action, Wait};
use super::engine::{self, Axe, Part};
use super::outcome::{Known, Outcome};
use super::place::{self, Place};
use super::seen::{Looked, Scan, Seen, Stopped, millis};
use crate::tools::a11y_scan::{Colors, Input, Mode};

/// What Storybook sets on a page once a story is shown, or its failure is.
const STORY_SHOWN: &str = "body.sb-show-main, body.sb-show-errordisplay";

/// Most sitemaps of an index that are read.
const MAX_SITEMAPS: usize = 10;

/// Highest picture of a page, in CSS pixels.
const MAX_HEIGHT: u32 = 8_000;

/// A call ends this long before its time is up, to say what it has.
const MARGIN: Duration = Duration::from_secs(2);

/// Why pages could not be looked at in a browser.
pub(crate) enum Missing {
    /// There is none, or no axe-core.
    Part(Fault),
    /// Something else.
    Failed(Fault),
}

/// All that a scan in a browser needs.
pub(crate) struct InBrowser<'i> {
    input: &'i Input,
    desk: &'i ReadDesk,
    pool: Arc<Pool>,
    axe: Axe,
    wait: Option<Wait>,
    actions: Vec<Action>,
    credentials: Vec<Credential>,
    window: Window,
    deadline: Instant,
}

impl<'i> InBrowser<'i> {
    pub(crate) fn begin(input: &'i Input, desk: &'i ReadDesk) -> Result<Self, Missing> {
        let mut wait = input.wait.as_deref().map(Wait::read).transpose().map_err(Missing::Failed)?;
        if wait.is_none() && !input.stories.is_empty() {
            wait = Some(Wait::For(STORY_SHOWN.to_owned()));
        }
        let actions = input.actions.iter().map(|a| Action::read(a)).collect::<Result<_, _>>();
        let actions: Vec<Action> = actions.map_err(Missing::Failed)?;
        let pool = desk.service::<Pool>().ok_or_else(|| {
            Missing::Part(Fault::new(Code::ToolExecutionFailed, "no browser is provided here"))
        })?;
        pool.possible().map_err(Missing::Part)?;
        let mut credentials = Vec::new();
        for (named, is_cookie) in [(&input.headers, false), (&input.cookies, true)] {
            for (name, secret) in named {
                credentials.push(pool.credential(name, secret, is_cookie).map_err(Missing::Failed)?);
            }
        }
        let configured = pool.axe().map_err(Missing::Failed)?;
        let axe = Axe::found(desk, configured, pool.axe_set_up()).map_err(Missing::Part)?;
        let window = Window {
            width: input.viewport.map_or(1280, |v| v.width),
            height: input.viewport.map_or(800, |v| v.height),
            scheme: match input.scheme {
                Colors::Light => Scheme::Light,
                Colors::Dark => Scheme::Dark,
            },
        };
        let deadline = Instant::now() + kit::limits::Limits::DEFAULT.timeout.saturating_sub(MARGIN);
        Ok(Self { input, desk, pool, axe, wait, actions, credentials, window, deadline })
    }

    /// A tab from which files see nothing but the root, and pages by HTTP nothing of it.
    fn tab(&self, is_file: bool) -> Result<Tab, Fault> {
        let (reach, pages) = if is_file {
            (Reach::nothing(), Some(drive::files(self.desk)))
        } else {
            (self.pool.reach(self.desk.principal()), None)
        };
        let given = Given { pages, credentials: self.credentials.clone() };
        let owner = self.desk.principal().key().to_string();
        let tab =
            self.pool.tab(&owner, &reach, (self.window, given), (self.deadline, self.desk.cancelled()))?;
        self.desk.note_level(Level::Full);
        Ok(tab)
    }

    /// The pages that are meant by those that were named.
    fn pages(&self, named: &[Place]) -> Result<Vec<Place>, Fault> {
        let first = named.first().ok_or_else(|| Fault::invalid("url: no page is named"))?;
        if !self.input.stories.is_empty() {
            return self.stories(first);
        }
        if self.input.sitemap {
            let Place::Web(url) = first else {
                return Err(Fault::invalid(
                    "sitemap: it names pages by HTTP; name files as `root:site/**/*.html`",
                ));
            };
            let tab = self.tab(false)?;
            let (mut pages, more) = place::sitemap(&drive::text(&tab, url)?)?;
            for url in more.iter().take(MAX_SITEMAPS) {
                pages.extend(place::sitemap(&drive::text(&tab, url)?)?.0);
            }
            if pages.is_empty() {
                return Err(Fault::new(Code::NotFound, format!("sitemap: {url} names no page")));
            }
            return place::at_most(pages.into_iter().map(Place::Web).collect());
        }
        Ok(named.to_vec())
    }

    fn stories(&self, base: &Place) -> Result<Vec<Place>, Fault> {
        let wanted = &self.input.stories;
        match base {
            Place::Web(url) => {
                let base = url.split(['?', '#']).next().unwrap_or(url);
                let base = base.trim_end_matches("index.html").trim_end_matches('/');
                let tab = self.tab(false)?;
                let index = drive::text(&tab, &format!("{base}/index.json"))?;
                place::stories(&index, wanted, |query| {
                    Some(Place::Web(format!("{base}/iframe.html?{query}")))
                })
            }
            Place::File(page) | Place::Story(page, _) => {
                let beside = |name: &str| {
                    let path = page.parent().map_or_else(|| RelPath::new(name), |folder| folder.join(name));
                    path.map_err(|e| Fault::invalid(e.to_string()))
                };
                let index = self.desk.view().read_text(&beside("index.json")?)?;
                let frame = beside("iframe.html")?;
                place::stories(&index, wanted, |query| Some(Place::Story(frame.clone(), query)))
            }
        }
    }

    pub(crate) fn scan(
        &self,
        named: &[Place],
        rules: &Rules,
        known: &mut Known<'_>,
    ) -> Result<Scan, Missing> {
        let pages = self.pages(named).map_err(Missing::Failed)?;
        let mut scan = Scan::new(Mode::Browser, self.axe.engine.clone());
        let part = Part { include: self.input.include.clone(), exclude: self.input.exclude.clone() };
        for is_file in [true, false] {
            let here: Vec<&Place> = pages.iter().filter(|page| page.is_file() == is_file).collect();
            if here.is_empty() {
                continue;
            }
            let tab = self.tab(is_file).map_err(Missing::Failed)?;
            for place in here {
                #[expect(clippy::cast_precision_loss, reason = "a few dozen pages")]
                self.desk.progress(scan.pages.len() as f64, Some(pages.len() as f64), place.shown());
                let began = Instant::now();
                let looked = self.look(&tab, place, rules, &part);
                scan.blocked.extend(tab.blocked().into_iter().map(stopped));
                let looked = looked.map(|(opened, findings, picture)| {
                    scan.seen.push(Seen { page: place.shown(), findings: findings.clone(), picture });
                    (opened, findings)
                });
                match told(place, looked, began, &mut scan.outcome, known) {
                    Ok(page) => scan.pages.push(page),
                    // Of one page, that is the answer; of several, the others have theirs.
                    Err(fault) if pages.len() == 1 || is_over(&fault, &tab) => {
                        return Err(Missing::Failed(fault));
                    }
                    Err(fault) => scan.pages.push(unlooked(place, &fault, began)),
                }
            }
        }
        Ok(scan)
    }

    fn look(&self, tab: &Page, place: &Place, rules: &Rules, part: &Part) -> Result<LookedAt, Fault> {
        let opened = drive::open(tab, &place.url(), self.wait.as_ref(), &self.actions)?;
        let findings = engine::look(tab, &self.axe, rules, part)?;
        let picture = self.input.screenshots.then(|| tab.picture(MAX_HEIGHT)).transpose()?;
        Ok((opened, findings, picture.map(|png| (png, self.window.width))))
    }
}

/// A page that was looked at: where it was, what was found, and its picture with its width.
type LookedAt = (browser::Opened, Findings, Option<(Vec<u8>, u32)>);

/// Whether nothing more can be looked at.
fn is_over(fault: &Fault, page: &Page) -> bool {
    matches!(fault.code, Code::Cancelled) || page.is_over()
}

fn stopped(blocked: Blocked) -> Stopped {
    Stopped { url: blocked.url.chars().take(300).collect(), why: blocked.why.to_owned() }
}

fn told(
    place: &Place,
    looked: Result<(browser::Opened, Findings), Fault>,
    began: Instant,
    outcome: &mut Outcome,
    known: &mut Known<'_>,
) -> Result<Looked, Fault> {
    let (opened, findings) = looked?;
    let url = place.shown();
    let issue_count = outcome.add(&url, findings, known);
    Ok(Looked { url, status: opened.status, issue_count, milliseconds: millis(began), error: None })
}

fn unlooked(place: &Place, fault: &Fault, began: Instant) -> Looked {
    Looked {
        url: place.shown(),
        status: None,
        issue_count: 0,
        milliseconds: millis(began),
        error: Some(fault.message.clone()),
    }
}
