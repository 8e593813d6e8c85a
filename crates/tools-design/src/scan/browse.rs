//! Pages in a browser, whatever is done with them: which they are, and how each is opened.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::page::Blocked;
use browser::{Credential, Given, Opened, Page, Pages, Pool, Scheme, Tab, Window};
use contract::{Code, Fault, RelPath};
use exec::address::Reach;
use exec::run::Level;
use kit::ReadDesk;
use schemars::JsonSchema;
use serde::Deserialize;

use super::drive::{self, Action, Wait};
use super::place::{self, Home, Place};
use super::seen::Stopped;

/// Which colours are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Colors {
    /// Light ones.
    #[default]
    Light,
    /// Dark ones.
    Dark,
}

impl Colors {
    /// The word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// A window's size.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Size {
    /// CSS pixels.
    #[schemars(range(min = 200, max = 4000))]
    pub(crate) width: u32,
    /// CSS pixels.
    #[schemars(range(min = 200, max = 4000))]
    pub(crate) height: u32,
}

/// How pages are to be opened.
#[derive(Debug, Default)]
pub(crate) struct Ask<'i> {
    pub(crate) viewport: Option<Size>,
    pub(crate) scheme: Colors,
    pub(crate) wait: Option<&'i str>,
    pub(crate) actions: &'i [String],
    pub(crate) headers: Option<&'i BTreeMap<String, String>>,
    pub(crate) cookies: Option<&'i BTreeMap<String, String>>,
    pub(crate) stories: &'i [String],
    pub(crate) sitemap: bool,
}

/// What Storybook sets on a page once a story is shown, or its failure is.
const STORY_SHOWN: &str = "body.sb-show-main, body.sb-show-errordisplay";

/// Most sitemaps of an index that are read.
const MAX_SITEMAPS: usize = 10;

/// Highest picture of a page, in CSS pixels.
pub(crate) const MAX_HEIGHT: u32 = 8_000;

/// A call ends this long before its time is up, to say what it has.
const MARGIN: Duration = Duration::from_secs(2);

/// Why pages could not be looked at in a browser.
pub(crate) enum Missing {
    /// There is none, or no axe-core.
    Part(Fault),
    /// Something else.
    Failed(Fault),
}

/// All that pages in a browser need.
pub(crate) struct Browsing<'i> {
    pub(crate) desk: &'i ReadDesk,
    pub(crate) pool: Arc<Pool>,
    pub(crate) window: Window,
    ask: Ask<'i>,
    wait: Option<Wait>,
    actions: Vec<Action>,
    credentials: Vec<Credential>,
    deadline: Instant,
}

impl<'i> Browsing<'i> {
    pub(crate) fn begin(ask: Ask<'i>, desk: &'i ReadDesk, timeout: Duration) -> Result<Self, Missing> {
        let mut wait = ask.wait.map(Wait::read).transpose().map_err(Missing::Failed)?;
        if wait.is_none() && !ask.stories.is_empty() {
            wait = Some(Wait::For(STORY_SHOWN.to_owned()));
        }
        let actions = ask.actions.iter().map(|a| Action::read(a)).collect::<Result<_, _>>();
        let actions: Vec<Action> = actions.map_err(Missing::Failed)?;
        let pool = desk.service::<Pool>().ok_or_else(|| {
            Missing::Part(Fault::new(Code::ToolExecutionFailed, "no browser is provided here"))
        })?;
        pool.possible().map_err(Missing::Part)?;
        let mut credentials = Vec::new();
        for (named, is_cookie) in [(ask.headers, false), (ask.cookies, true)] {
            for (name, secret) in named.into_iter().flatten() {
                credentials.push(
                    pool.credential(desk.principal(), name, secret, is_cookie).map_err(Missing::Failed)?,
                );
            }
        }
        let window = Window {
            width: ask.viewport.map_or(1280, |v| v.width),
            height: ask.viewport.map_or(800, |v| v.height),
            scheme: match ask.scheme {
                Colors::Light => Scheme::Light,
                Colors::Dark => Scheme::Dark,
            },
        };
        let deadline = Instant::now() + timeout.saturating_sub(MARGIN);
        Ok(Self { desk, pool, window, ask, wait, actions, credentials, deadline })
    }

    /// Opens a page and brings it to where it is to be looked at.
    pub(crate) fn open(&self, tab: &Page, place: &Place) -> Result<Opened, Fault> {
        drive::open(tab, &place.url(), self.wait.as_ref(), &self.actions)
    }

    /// A tab from which files see nothing but the root, and pages by HTTP nothing of it.
    ///
    /// This machine's loopback is reached by pages of it alone: one from elsewhere could look at what is served here.
    pub(crate) fn tab(&self, home: Home) -> Result<Tab, Fault> {
        let (reach, pages) = match home {
            Home::Root => (Reach::nothing(), Some(drive::files(self.desk))),
            Home::Here => (self.pool.reach(self.desk.principal()), None),
            Home::Web => (Reach::public(), None),
        };
        let credentials = if home == Home::Root { Vec::new() } else { self.credentials.clone() };
        let given = Given { pages, credentials };
        let owner = self.desk.principal().key().to_string();
        let tab =
            self.pool.tab(&owner, &reach, (self.window, given), (self.deadline, self.desk.cancelled()))?;
        self.desk.note_level(Level::Full);
        Ok(tab)
    }

    /// A tab that sees what `pages` gives and nothing else, in the colours of `scheme`.
    pub(crate) fn tab_of(&self, scheme: Scheme, pages: Pages) -> Result<Tab, Fault> {
        let given = Given { pages: Some(pages), credentials: Vec::new() };
        let owner = self.desk.principal().key().to_string();
        let (window, until) = (Window { scheme, ..self.window }, (self.deadline, self.desk.cancelled()));
        let tab = self.pool.tab(&owner, &Reach::nothing(), (window, given), until)?;
        self.desk.note_level(Level::Full);
        Ok(tab)
    }

    /// The pages that are meant by those that were named.
    pub(crate) fn pages(&self, named: &[Place]) -> Result<Vec<Place>, Fault> {
        let first = named.first().ok_or_else(|| Fault::invalid("url: no page is named"))?;
        if !self.ask.stories.is_empty() {
            return self.stories(first);
        }
        if self.ask.sitemap {
            let base_home = first.home();
            let Place::Web(url) = first else {
                return Err(Fault::invalid(
                    "sitemap: it names pages by HTTP; name files as `root:site/**/*.html`",
                ));
            };
            let tab = self.tab(base_home)?;
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
        let base_home = base.home();
        let wanted = self.ask.stories;
        match base {
            Place::Web(url) => {
                let base = url.split(['?', '#']).next().unwrap_or(url);
                let base = base.trim_end_matches("index.html").trim_end_matches('/');
                let tab = self.tab(base_home)?;
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
}

/// Whether nothing more can be looked at.
pub(crate) fn is_over(fault: &Fault, page: &Page) -> bool {
    matches!(fault.code, Code::Cancelled) || page.is_over()
}

pub(crate) fn stopped(blocked: Blocked) -> Stopped {
    Stopped { url: blocked.url.chars().take(300).collect(), why: blocked.why.to_owned() }
}
