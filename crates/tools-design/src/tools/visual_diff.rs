//! Compare pages with pictures of them.
//!
//! Takes pictures of pages, files or stories in a confined headless browser and compares them with those in a folder of the
//! root, or with the pages at a revision: to the pixel, or as people see them. Says what changed and where, and leaves before, after
//! and difference as a report. `update` proposes new pictures. Use it after changing what users see.

use browser::{Opened, Tab};
use contract::text::counted;
use contract::{Fault, FileMode, RelPath, Toolset};
use exec::reports::ReportFile;
use kit::limits::Limits;
use kit::{Answer, Change, ChangeDesk, Define, Doc};
use pictures::{Difference, Method, Picture, compare};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::scan::browse::{Ask, Browsing, Colors, MAX_HEIGHT, Missing, Size, is_over};
use crate::scan::place::{Home, Place, Wanted, wanted};
use crate::visual::since::Since;
use crate::visual::{self, Pair};

/// Where pictures are, unless a call says otherwise.
const BASE: &str = "visual";

/// How pictures are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Every bit counts.
    Exact,
    /// As people see it.
    #[default]
    Perceptual,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A URL or `root:PATH`.
    #[schemars(length(min = 1))]
    url: String,
    /// Further pages.
    #[serde(default)]
    #[schemars(length(max = 49))]
    urls: Vec<String>,
    /// Stories of the Storybook at `url`, by id.
    #[serde(default)]
    stories: Vec<String>,
    /// Folder of the pictures.
    #[serde(default = "base")]
    #[schemars(length(min = 1))]
    base: String,
    /// How to compare.
    #[serde(default)]
    method: How,
    /// Share of pixels that may differ.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: f64,
    /// The window.
    #[serde(default)]
    viewport: Option<Size>,
    /// Preferred colours.
    #[serde(default)]
    scheme: Colors,
    /// A selector, `idle`, or milliseconds.
    #[serde(default)]
    wait: Option<String>,
    /// First: `click S`, `type S = TEXT`, `press KEY`.
    #[serde(default)]
    #[schemars(length(max = 30))]
    actions: Vec<String>,
    /// Selectors of what is not compared.
    #[serde(default)]
    mask: Vec<String>,
    /// Whether to propose the new pictures.
    #[serde(default)]
    update: bool,
    /// Instead of pictures: the revision to compare with.
    #[serde(default)]
    #[schemars(length(min = 1))]
    since: Option<String>,
}

fn base() -> String {
    BASE.to_owned()
}

/// How a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As its picture.
    Same,
    /// Not as its picture.
    Changed,
    /// Without a picture to compare with.
    New,
    /// At the revision alone.
    Gone,
    /// Not to be seen: `error` says why.
    Failed,
}

/// Where something is, in pixels of the picture.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Area {
    /// From the left.
    x: u32,
    /// From the top.
    y: u32,
    /// How wide.
    width: u32,
    /// How high.
    height: u32,
}

/// A page and its picture.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Compared {
    /// The page.
    url: String,
    /// Its picture, relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    /// How it is.
    state: State,
    /// Pixels that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pixels: Option<u64>,
    /// Their share, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// Where they are.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    area: Option<Area>,
    /// Why it could not be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Whether the pictures were drawn by the same browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Renderer {
    /// They were.
    Same,
    /// By another, or another version: what differs may be its doing.
    Other,
    /// Nobody noted it.
    Unknown,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The pages, those that changed first.
    pages: Vec<Compared>,
    /// How many changed.
    changed_count: u64,
    /// How many have no picture yet.
    new_count: u64,
    /// What draws, with its version.
    browser: String,
    /// Whether the same drew the pictures.
    renderer: Renderer,
    /// Before, after and difference of those that changed: a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct VisualDiff;

impl Define for VisualDiff {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "visual_diff";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("visual_diff.rs");
    const ALIASES: &'static [&'static str] = &["visual.diff"];
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::WRITER;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "url": "root:app/index.html" }),
            json!({ "url": "root:site/**/*.html", "since": "main" }),
            json!({ "url": "root:storybook-static", "stories": ["button--*"], "scheme": "dark", "mask": [".clock"], "update": true }),
        ]
    }
}

impl Change for VisualDiff {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| run(&input, desk)).await
    }
}

fn run(input: &Input, desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let folder: RelPath = exec::view::path_argument(&input.base)?;
    let base = match &input.since {
        None => Base::Pictures(folder),
        Some(_) if input.update => {
            return Err(Fault::invalid("update: there is no picture to renew with `since`")
                .suggest("Leave out `since` to keep pictures, or `update` to compare with the revision."));
        }
        Some(revision) => Base::Revision(Box::new(Since::new(revision, desk)?)),
    };
    let ask = Ask {
        viewport: input.viewport,
        scheme: input.scheme,
        wait: input.wait.as_deref(),
        actions: &input.actions,
        stories: &input.stories,
        ..Ask::default()
    };
    let browsing = Browsing::begin(ask, desk, VisualDiff::LIMITS.timeout)
        .map_err(|(Missing::Part(fault) | Missing::Failed(fault))| fault)?;
    let all: Vec<String> = std::iter::once(&input.url).chain(&input.urls).cloned().collect();
    let Wanted::Pages(named) = wanted(&all, desk)? else {
        return Err(Fault::invalid("url: tokens have no picture"));
    };
    let pages = browsing.pages(&named)?;
    if let (Base::Revision(_), Some(place)) = (&base, pages.iter().find(|page| !page.is_file())) {
        return Err(Fault::invalid(format!(
            "since: {} is not of the root: nobody knows how it was",
            place.shown()
        ))
        .suggest("Name files of the root, such as `root:site/**/*.html` or `root:storybook-static`."));
    }
    let mut done = Done { browser: None, compared: Vec::new(), pairs: Vec::new(), is_drawn: false };
    for home in Home::ALL {
        let here: Vec<&Place> = pages.iter().filter(|page| page.home() == home).collect();
        if here.is_empty() {
            continue;
        }
        let tab = browsing.tab(home)?;
        if done.browser.is_none() {
            done.browser = Some(tab.product()?);
        }
        let then = match &base {
            Base::Pictures(_) => None,
            Base::Revision(since) => Some((since, browsing.tab_of(browsing.window.scheme, since.served())?)),
        };
        for place in here {
            desk.check()?;
            let seen = drawn(&browsing, &tab, place, &input.mask).and_then(|png| match &then {
                Some((since, tab)) if since.has(place) => {
                    let before = drawn(&browsing, tab, place, &input.mask);
                    Ok((png, Some(before.map_err(|fault| since.told(fault))?)))
                }
                _ => Ok((png, None)),
            });
            match seen {
                Ok((png, before)) => {
                    done.take(input, desk, &base, (place, &png, before.as_deref()), &browsing)?;
                }
                Err(fault) if pages.len() == 1 || is_over(&fault, &tab) => return Err(fault),
                Err(fault) => done.compared.push(failed(place, &fault)),
            }
        }
    }
    if let Base::Revision(since) = &base {
        let gone = since.gone(&all, &input.stories, &pages)?;
        done.compared.extend(gone.iter().map(|place| Compared::of(place, State::Gone)));
    }
    done.answer(input, desk, &base)
}

/// The picture of a page.
fn drawn(browsing: &Browsing<'_>, tab: &Tab, place: &Place, mask: &[String]) -> Result<Vec<u8>, Fault> {
    let _: Opened = browsing.open(tab, place)?;
    tab.quiet(mask)?;
    Ok(tab.picture(MAX_HEIGHT)?)
}

/// What pages are compared with.
enum Base {
    /// Pictures in a folder.
    Pictures(RelPath),
    /// What they were.
    Revision(Box<Since>),
}

impl Compared {
    fn of(place: &Place, state: State) -> Self {
        Self { url: place.shown(), picture: None, state, pixels: None, share: None, area: None, error: None }
    }
}

fn failed(place: &Place, fault: &Fault) -> Compared {
    Compared { error: Some(fault.message.clone()), ..Compared::of(place, State::Failed) }
}

/// What was compared so far.
struct Done {
    browser: Option<String>,
    compared: Vec<Compared>,
    pairs: Vec<Pair>,
    /// Whether a picture is proposed.
    is_drawn: bool,
}

impl Done {
    fn take(
        &mut self,
        input: &Input,
        desk: &ChangeDesk,
        base: &Base,
        (place, png, then): (&Place, &[u8], Option<&[u8]>),
        browsing: &Browsing<'_>,
    ) -> Result<(), Fault> {
        let window = browsing.window;
        let name = visual::name(&place.shown(), input.scheme.word(), (window.width, window.height));
        let after = visual::read(png, &place.shown())?;
        let (path, before) = match base {
            Base::Pictures(folder) => {
                let path = folder.join(&name).map_err(|e| Fault::internal(e.to_string()))?;
                let standing = desk.view().read_optional(&path)?;
                let before =
                    standing.as_deref().map(|bytes| visual::read(bytes, path.as_str())).transpose()?;
                (Some(path), before)
            }
            Base::Revision(_) => (None, then.map(|png| visual::read(png, &place.shown())).transpose()?),
        };
        let method = match input.method {
            How::Exact => Method::Exact,
            How::Perceptual => Method::Perceptual,
        };
        let difference = before.as_ref().map(|before| compare(before, &after, method));
        let state = match &difference {
            None => State::New,
            Some(d) if d.pixels > 0 && d.share > input.threshold => State::Changed,
            Some(_) => State::Same,
        };
        if let (true, Some(path)) = (input.update && state != State::Same, &path) {
            // Written by us, so that the same picture always has the same bytes.
            desk.put(path, visual::write(&after)?, FileMode::Regular)?;
            self.is_drawn = true;
        }
        self.compared.push(Compared {
            picture: path.map(|path| path.to_string()),
            pixels: difference.as_ref().map(|d| d.pixels),
            share: difference.as_ref().map(|d| (d.share * 1e6).round() / 1e6),
            area: difference.as_ref().and_then(|d| d.area).map(|a| Area {
                x: a.x,
                y: a.y,
                width: a.width,
                height: a.height,
            }),
            ..Compared::of(place, state)
        });
        if let (State::Changed, Some(before), Some(Difference { shown, .. })) = (state, before, difference) {
            self.pairs.push(Pair { page: place.shown(), name, before, after, shown });
        }
        Ok(())
    }

    fn answer(mut self, input: &Input, desk: &ChangeDesk, base: &Base) -> Result<Answer<Output>, Fault> {
        let browser = self.browser.unwrap_or_default();
        let renderer = match base {
            Base::Pictures(folder) => noted(desk, folder, &browser, self.is_drawn)?,
            Base::Revision(_) => Renderer::Same,
        };
        let report = if self.pairs.is_empty() { None } else { Some(report(&self.pairs, desk)?) };
        self.compared.sort_by_key(|page| match page.state {
            State::Failed => 0,
            State::Changed => 1,
            State::Gone => 2,
            State::New => 3,
            State::Same => 4,
        });
        let count = |state| self.compared.iter().filter(|page| page.state == state).count() as u64;
        let (changed, new, unseen) = (count(State::Changed), count(State::New), count(State::Failed));
        let gone = count(State::Gone);
        let mut message = match (changed, new) {
            (0, 0) => format!("{} as before.", counted(count(State::Same), "page")),
            (0, new) if input.since.is_some() => {
                format!("{} as before, {new} new.", counted(count(State::Same), "page"))
            }
            (0, new) => format!("{} without a picture to compare with.", counted(new, "page")),
            (changed, _) => format!("{} changed of {}.", counted(changed, "page"), self.compared.len()),
        };
        if gone > 0 {
            message.push_str(&format!(" {} gone.", counted(gone, "page")));
        }
        if unseen > 0 {
            message.push_str(&format!(" {} could not be seen.", counted(unseen, "page")));
        }
        if renderer == Renderer::Other && changed > 0 {
            message.push_str(" The pictures were drawn by another browser: what differs may be its doing.");
        }
        if !input.update && input.since.is_none() && changed + new > 0 {
            message.push_str(" With `update` the new pictures are proposed.");
        }
        let output = Output {
            pages: self.compared,
            changed_count: changed,
            new_count: new,
            browser,
            renderer,
            report: report.map(|handle| format!("report://{handle}")),
        };
        let mut answer = Answer::new(message, output);
        answer.success = unseen == 0 && (changed + gone == 0 || input.update);
        Ok(answer)
    }
}

/// Whether the pictures of a folder were drawn by this browser; says so beside those that are drawn now.
fn noted(desk: &ChangeDesk, folder: &RelPath, browser: &str, is_drawn: bool) -> Result<Renderer, Fault> {
    let note = folder.join("renderer.json").map_err(|e| Fault::internal(e.to_string()))?;
    let renderer = match desk.view().read_optional(&note)? {
        None => Renderer::Unknown,
        Some(bytes) => match serde_json::from_slice::<Value>(&bytes) {
            Ok(noted) if noted["browser"] == browser => Renderer::Same,
            Ok(noted) if noted["browser"].is_string() => Renderer::Other,
            _ => Renderer::Unknown,
        },
    };
    if is_drawn && renderer != Renderer::Same {
        let text = format!("{:#}\n", json!({ "browser": browser }));
        desk.put(&note, text.into_bytes(), FileMode::Regular)?;
    }
    Ok(renderer)
}

fn report(pairs: &[Pair], desk: &ChangeDesk) -> Result<String, Fault> {
    let title = format!("{} changed", counted(pairs.len() as u64, "page"));
    let mut files = vec![ReportFile {
        name: "report.html".to_owned(),
        mime: "text/html",
        bytes: visual::page(&title, pairs)?.into_bytes(),
    }];
    for pair in pairs {
        for (what, picture) in pair.pictures() {
            let name = format!("{}-{what}.png", pair.name.trim_end_matches(".png"));
            files.push(ReportFile { name, mime: "image/png", bytes: visual::write(picture)? });
        }
    }
    desk.keep_report(&title, &files)
}

impl Pair {
    /// Its pictures by what they are.
    pub(crate) fn pictures(&self) -> [(&'static str, &Picture); 3] {
        [("before", &self.before), ("after", &self.after), ("difference", &self.shown)]
    }
}
