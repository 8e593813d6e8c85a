//! Compare pages with pictures of them.
//!
//! Takes pictures of pages, files or stories in a confined headless browser and compares them with those in a folder of the
//! root: to the pixel, or as people see them. Says which changed, by how much and where, and leaves before, after and difference as a
//! report. `update` proposes the new pictures as a plan. Use it after changing what users see.

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
    picture: String,
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
        for place in here {
            desk.check()?;
            match drawn(&browsing, &tab, place, &input.mask) {
                Ok(png) => done.take(input, desk, &folder, place, &png, &browsing)?,
                Err(fault) if pages.len() == 1 || is_over(&fault, &tab) => return Err(fault),
                Err(fault) => done.compared.push(failed(place, &fault)),
            }
        }
    }
    done.answer(input, desk, &folder)
}

/// The picture of a page.
fn drawn(browsing: &Browsing<'_>, tab: &Tab, place: &Place, mask: &[String]) -> Result<Vec<u8>, Fault> {
    let _: Opened = browsing.open(tab, place)?;
    tab.quiet(mask)?;
    Ok(tab.picture(MAX_HEIGHT)?)
}

fn failed(place: &Place, fault: &Fault) -> Compared {
    Compared {
        url: place.shown(),
        picture: String::new(),
        state: State::Failed,
        pixels: None,
        share: None,
        area: None,
        error: Some(fault.message.clone()),
    }
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
        folder: &RelPath,
        place: &Place,
        png: &[u8],
        browsing: &Browsing<'_>,
    ) -> Result<(), Fault> {
        let window = browsing.window;
        let name = visual::name(&place.shown(), input.scheme.word(), (window.width, window.height));
        let path = folder.join(&name).map_err(|e| Fault::internal(e.to_string()))?;
        let after = visual::read(png, &place.shown())?;
        let standing = desk.view().read_optional(&path)?;
        let before = standing.as_deref().map(|bytes| visual::read(bytes, path.as_str())).transpose()?;
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
        if input.update && state != State::Same {
            // Written by us, so that the same picture always has the same bytes.
            desk.put(&path, visual::write(&after)?, FileMode::Regular)?;
            self.is_drawn = true;
        }
        self.compared.push(Compared {
            url: place.shown(),
            picture: path.to_string(),
            state,
            pixels: difference.as_ref().map(|d| d.pixels),
            share: difference.as_ref().map(|d| (d.share * 1e6).round() / 1e6),
            area: difference.as_ref().and_then(|d| d.area).map(|a| Area {
                x: a.x,
                y: a.y,
                width: a.width,
                height: a.height,
            }),
            error: None,
        });
        if let (State::Changed, Some(before), Some(Difference { shown, .. })) = (state, before, difference) {
            self.pairs.push(Pair { page: place.shown(), name, before, after, shown });
        }
        Ok(())
    }

    fn answer(mut self, input: &Input, desk: &ChangeDesk, folder: &RelPath) -> Result<Answer<Output>, Fault> {
        let browser = self.browser.unwrap_or_default();
        let note = folder.join("renderer.json").map_err(|e| Fault::internal(e.to_string()))?;
        let renderer = match desk.view().read_optional(&note)? {
            None => Renderer::Unknown,
            Some(bytes) => match serde_json::from_slice::<Value>(&bytes) {
                Ok(noted) if noted["browser"] == browser.as_str() => Renderer::Same,
                Ok(noted) if noted["browser"].is_string() => Renderer::Other,
                _ => Renderer::Unknown,
            },
        };
        if self.is_drawn && renderer != Renderer::Same {
            let text = format!("{:#}\n", json!({ "browser": browser }));
            desk.put(&note, text.into_bytes(), FileMode::Regular)?;
        }
        let report = if self.pairs.is_empty() { None } else { Some(report(&self.pairs, desk)?) };
        self.compared.sort_by_key(|page| match page.state {
            State::Failed => 0,
            State::Changed => 1,
            State::New => 2,
            State::Same => 3,
        });
        let count = |state| self.compared.iter().filter(|page| page.state == state).count() as u64;
        let (changed, new, unseen) = (count(State::Changed), count(State::New), count(State::Failed));
        let mut message = match (changed, new) {
            (0, 0) => format!("{} as before.", counted(count(State::Same), "page")),
            (0, new) => format!("{} without a picture to compare with.", counted(new, "page")),
            (changed, _) => format!("{} changed of {}.", counted(changed, "page"), self.compared.len()),
        };
        if unseen > 0 {
            message.push_str(&format!(" {} could not be seen.", counted(unseen, "page")));
        }
        if renderer == Renderer::Other && changed > 0 {
            message.push_str(" The pictures were drawn by another browser: what differs may be its doing.");
        }
        if !input.update && changed + new > 0 {
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
        answer.success = unseen == 0 && (changed == 0 || input.update);
        Ok(answer)
    }
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
