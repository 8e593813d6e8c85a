//! Scan for accessibility.
//!
//! Looks at pages with axe-core in a confined headless browser, frames included, or at files without one: what is broken,
//! how gravely, where, which WCAG criteria, and what somebody has to look at. Pages are `https://…`, `http://…`, or files of the
//! root (`root:site/**/*.html`); `tokens:SOURCE` checks the contrast that tokens declare. Use it after changing what users see.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use a11y::report::{self, Looker, PageFindings};
use a11y::{Finding, Findings, Impact, Node};
use browser::page::Blocked;
use browser::{Page, Pool, Scheme, Window};
use contract::text::counted;
use contract::{Code, Fault, Toolset};
use exec::address::Reach;
use exec::reports::ReportFile;
use exec::run::Level;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use kit::{Answer, Define, Doc, Read, ReadDesk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::scan::drive::{self, Action, Wait};
use crate::scan::engine::{self, Axe, Engine, Part};
use crate::scan::outcome::{Baseline, Baselined, Doubt, Issue, Known, Outcome};
use crate::scan::place::{Place, Wanted, wanted};
use crate::scan::{A11ySection, Grade, Rules};
use crate::tokens::{self, TokensSection};

/// Most refused requests that are listed.
const BLOCKED: usize = 20;

/// Highest picture of a page, in CSS pixels.
const MAX_HEIGHT: u32 = 8_000;

/// A call ends this long before its time is up, to say what it has.
const MARGIN: Duration = Duration::from_secs(2);

/// How pages are looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// In a browser where there is one, else statically.
    #[default]
    Auto,
    /// In a browser.
    Browser,
    /// By markup alone.
    Static,
}

/// Which colours are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Colors {
    /// Light ones.
    #[default]
    Light,
    /// Dark ones.
    Dark,
}

/// A window's size.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// CSS pixels.
    #[schemars(range(min = 200, max = 4000))]
    width: u32,
    /// CSS pixels.
    #[schemars(range(min = 200, max = 4000))]
    height: u32,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// `https://…`, `root:PATH` or `tokens:SOURCE`.
    #[schemars(length(min = 1))]
    url: String,
    /// Further pages.
    #[serde(default)]
    #[schemars(length(max = 49))]
    urls: Vec<String>,
    /// How to look.
    #[serde(default)]
    mode: Mode,
    /// Only rules with these tags (`wcag2aa`).
    #[serde(default)]
    tags: Vec<String>,
    /// Rules on or off, by id.
    #[serde(default)]
    rules: BTreeMap<String, bool>,
    /// Only within these selectors.
    #[serde(default)]
    include: Vec<String>,
    /// Not within these selectors.
    #[serde(default)]
    exclude: Vec<String>,
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
    /// Least impact that fails.
    #[serde(default)]
    threshold: Option<Grade>,
    /// File of known findings.
    #[serde(default)]
    baseline: Option<String>,
    /// Pictures with what was found.
    #[serde(default)]
    screenshots: bool,
}

/// A page that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Looked {
    /// The page.
    url: String,
    /// Its HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Rules that are broken on it.
    issue_count: u64,
    /// How long it took.
    milliseconds: u64,
    /// Why it was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A request of a page that was not let through.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stopped {
    /// What was asked for.
    url: String,
    /// Why not.
    why: String,
}

/// Two colours of tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contrast {
    /// The token in front.
    foreground: String,
    /// The token behind it.
    background: String,
    /// The mode; absent for the default.
    #[serde(skip_serializing_if = "String::is_empty")]
    mode: String,
    /// WCAG contrast ratio.
    ratio: f64,
    /// The least that it may be.
    minimum: f64,
    /// Whether it is at least that.
    passes: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// As it was named.
    url: String,
    /// Rules that are broken, on all pages.
    issue_count: u64,
    /// The issues, the gravest first.
    issues: Vec<Issue>,
    /// What somebody has to look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<Doubt>,
    /// How it was looked: `browser` or `static`.
    mode: Mode,
    /// What looked.
    engine: Engine,
    /// The pages.
    pages: Vec<Looked>,
    /// Rules that static mode cannot decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<String>,
    /// Requests of pages that were not let through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked: Vec<Stopped>,
    /// Colour pairs of tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contrast: Vec<Contrast>,
    /// What the baseline did.
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Baselined>,
    /// All of it, as files: a resource with a page for people, SARIF and pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct A11yScan;

impl Define for A11yScan {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "a11y_scan";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("a11y_scan.rs");
    const ALIASES: &'static [&'static str] = &["a11y.scan"];
    const OPEN_WORLD: bool = true;
    const LIST: Option<&'static str> = Some("issues");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "url": "root:app/index.html" }),
            json!({ "url": "http://localhost:6006/iframe.html?id=button--primary", "scheme": "dark", "wait": "#storybook-root *" }),
            json!({ "url": "tokens:tokens" }),
        ]
    }
}

impl Read for A11yScan {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| scan(&input, desk)).await
    }
}

/// What was looked at, before it is told.
struct Scan {
    mode: Mode,
    engine: Engine,
    outcome: Outcome,
    pages: Vec<Looked>,
    blocked: Vec<Stopped>,
    contrast: Vec<Contrast>,
    undecided: Vec<String>,
    seen: Vec<Seen>,
}

/// A page as it goes into the report.
struct Seen {
    page: String,
    findings: Findings,
    picture: Option<(Vec<u8>, u32)>,
}

impl Scan {
    fn new(mode: Mode, engine: Engine) -> Self {
        Self {
            mode,
            engine,
            outcome: Outcome::default(),
            pages: Vec::new(),
            blocked: Vec::new(),
            contrast: Vec::new(),
            undecided: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Keeps what was found as files.
    fn report(&self, desk: &ReadDesk) -> Result<Option<String>, Fault> {
        if self.seen.is_empty() {
            return Ok(None);
        }
        let looker = Looker { name: &self.engine.name, version: &self.engine.version };
        let pages: Vec<PageFindings<'_>> = self
            .seen
            .iter()
            .map(|seen| PageFindings {
                page: &seen.page,
                findings: &seen.findings,
                picture: seen.picture.as_ref().map(|(png, width)| (png.as_slice(), *width)),
            })
            .collect();
        let title = match self.seen.as_slice() {
            [one] => format!("Accessibility of {}", one.page),
            all => format!("Accessibility of {}", counted(all.len() as u64, "page")),
        };
        let sarif = report::sarif(&pages, looker).to_string();
        let page = report::html(&title, &pages, looker);
        let mut files = vec![
            ReportFile { name: "report.html".to_owned(), mime: "text/html", bytes: page.into_bytes() },
            ReportFile {
                name: "report.sarif".to_owned(),
                mime: "application/sarif+json",
                bytes: sarif.into_bytes(),
            },
        ];
        for (number, seen) in self.seen.iter().enumerate() {
            if let Some((png, _)) = &seen.picture {
                let name = format!("page-{}.png", number + 1);
                files.push(ReportFile { name, mime: "image/png", bytes: png.clone() });
            }
        }
        desk.keep_report(&title, &files).map(|handle| Some(format!("report://{handle}")))
    }
}

fn scan(input: &Input, desk: &ReadDesk) -> Result<Answer<Output>, Fault> {
    let section: A11ySection = desk.settings()?;
    let mut rules = Rules { tags: section.tags, rules: section.rules };
    if !input.tags.is_empty() {
        rules.tags.clone_from(&input.tags);
    }
    rules.rules.extend(input.rules.clone());
    let baseline = input.baseline.as_deref().or(section.baseline.as_deref());
    let baseline = baseline.map(|path| Baseline::read(path, desk)).transpose()?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut known = Known::new(baseline.as_ref(), today);
    let names: Vec<String> = std::iter::once(&input.url).chain(&input.urls).cloned().collect();
    let scanned = match wanted(&names, desk)? {
        Wanted::Tokens(source) => of_tokens(&source, desk, &mut known)?,
        Wanted::Pages(pages) => of_pages(input, &pages, &rules, desk, &mut known)?,
    };
    let threshold = input.threshold.or(section.threshold).unwrap_or(Grade::Minor);
    let report = scanned.report(desk)?;
    Ok(answer(input, scanned, known, threshold, report))
}

fn of_pages(
    input: &Input,
    pages: &[Place],
    rules: &Rules,
    desk: &ReadDesk,
    known: &mut Known<'_>,
) -> Result<Scan, Fault> {
    let is_web = pages.iter().any(|page| matches!(page, Place::Web(_)));
    if input.mode == Mode::Static {
        if is_web {
            return Err(Fault::invalid(
                "mode: pages by HTTP are looked at in a browser; static mode is for files",
            )
            .suggest("Name files as `root:PATH`, or leave `mode` out."));
        }
        return statically(input, pages, rules, desk, known);
    }
    let browser = in_browser(input, pages, rules, desk, known);
    match browser {
        // What is missing is a part of the machine's, and files can be looked at without it.
        Err(Missing::Part(_)) if input.mode == Mode::Auto && !is_web && is_plain(input) => {
            statically(input, pages, rules, desk, known)
        }
        Err(Missing::Part(fault) | Missing::Failed(fault)) => Err(fault),
        Ok(scan) => Ok(scan),
    }
}

/// Whether nothing was asked for that needs a browser.
fn is_plain(input: &Input) -> bool {
    input.include.is_empty()
        && input.exclude.is_empty()
        && input.actions.is_empty()
        && input.wait.is_none()
        && input.viewport.is_none()
        && !input.screenshots
}

/// Why pages could not be looked at in a browser.
enum Missing {
    /// There is none, or no axe-core.
    Part(Fault),
    /// Something else.
    Failed(Fault),
}

fn in_browser(
    input: &Input,
    pages: &[Place],
    rules: &Rules,
    desk: &ReadDesk,
    known: &mut Known<'_>,
) -> Result<Scan, Missing> {
    let wait = input.wait.as_deref().map(Wait::read).transpose().map_err(Missing::Failed)?;
    let actions: Vec<Action> =
        input.actions.iter().map(|a| Action::read(a)).collect::<Result<_, _>>().map_err(Missing::Failed)?;
    let pool = desk
        .service::<Pool>()
        .ok_or_else(|| Missing::Part(Fault::new(Code::ToolExecutionFailed, "no browser is provided here")))?;
    pool.possible().map_err(Missing::Part)?;
    let configured = pool.axe().map_err(Missing::Failed)?;
    let axe = Axe::found(desk, configured, pool.axe_set_up()).map_err(Missing::Part)?;
    let mut scan = Scan::new(Mode::Browser, axe.engine.clone());
    let window = Window {
        width: input.viewport.map_or(1280, |v| v.width),
        height: input.viewport.map_or(800, |v| v.height),
        scheme: match input.scheme {
            Colors::Light => Scheme::Light,
            Colors::Dark => Scheme::Dark,
        },
    };
    let deadline = Instant::now() + A11yScan::LIMITS.timeout.saturating_sub(MARGIN);
    let owner = desk.principal().key().to_string();
    let part = Part { include: input.include.clone(), exclude: input.exclude.clone() };
    // Files reach nothing but the root; pages by HTTP do not see it.
    for is_file in [true, false] {
        let here: Vec<&Place> = pages.iter().filter(|p| matches!(p, Place::File(_)) == is_file).collect();
        if here.is_empty() {
            continue;
        }
        let (reach, served) = if is_file {
            (Reach::nothing(), Some(drive::files(desk)))
        } else {
            (pool.reach(desk.principal()), None)
        };
        let tab = pool
            .tab(&owner, &reach, (window, served), (deadline, desk.cancelled()))
            .map_err(Missing::Failed)?;
        desk.note_level(Level::Full);
        for place in here {
            let done = scan.pages.len();
            #[expect(clippy::cast_precision_loss, reason = "a few dozen pages")]
            desk.progress(done as f64, Some(pages.len() as f64), place.shown());
            let began = Instant::now();
            let looked = drive::open(&tab, &place.url(), wait.as_ref(), &actions)
                .and_then(|opened| Ok((opened, engine::look(&tab, &axe, rules, &part)?)))
                .and_then(|(opened, findings)| {
                    let picture = input.screenshots.then(|| tab.picture(MAX_HEIGHT)).transpose()?;
                    let picture = picture.map(|png| (png, window.width));
                    scan.seen.push(Seen { page: place.shown(), findings: findings.clone(), picture });
                    Ok((opened, findings))
                });
            scan.blocked.extend(tab.blocked().into_iter().map(stopped));
            let one = told(place, looked, began, &mut scan.outcome, known);
            match one {
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

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn statically(
    input: &Input,
    pages: &[Place],
    rules: &Rules,
    desk: &ReadDesk,
    known: &mut Known<'_>,
) -> Result<Scan, Fault> {
    if !is_plain(input) {
        let message =
            "mode: `include`, `exclude`, `viewport`, `wait`, `actions` and `screenshots` need a browser";
        return Err(
            Fault::invalid(message).suggest("Leave them out, or install Chromium: `gatewright doctor`.")
        );
    }
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let engine = Engine { name: "static".to_owned(), version, from: None, verified: None };
    let mut scan = Scan::new(Mode::Static, engine);
    for place in pages {
        desk.check()?;
        let Place::File(path) = place else { continue };
        let began = Instant::now();
        let text = desk.view().read_text(path)?;
        let findings = a11y::check(&text, &|id, tags, by_default| rules.asks(id, tags, by_default));
        let url = place.shown();
        scan.seen.push(Seen { page: url.clone(), findings: findings.clone(), picture: None });
        let issue_count = scan.outcome.add(&url, findings, known);
        scan.pages.push(Looked { url, status: None, issue_count, milliseconds: millis(began), error: None });
    }
    scan.undecided = a11y::undecided().into_iter().map(str::to_owned).collect();
    Ok(scan)
}

/// The contrast of every pair that tokens declare, in every mode.
fn of_tokens(source: &str, desk: &ReadDesk, known: &mut Known<'_>) -> Result<Scan, Fault> {
    let TokensSection(options) = desk.settings()?;
    let compiled = tokens::read(source, desk.view(), &options)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let engine = Engine { name: "static".to_owned(), version, from: None, verified: None };
    let mut scan = Scan::new(Mode::Static, engine);
    let began = Instant::now();
    let mut nodes = Vec::new();
    for pair in compiled.contrast(&options) {
        let Some(ratio) = pair.ratio else { continue };
        let passes = ratio + 0.005 >= pair.minimum;
        if !passes {
            let mode = if pair.mode.is_empty() { String::new() } else { format!(" ({})", pair.mode) };
            nodes.push(Node {
                target: vec![format!("{} on {}{mode}", pair.foreground, pair.background)],
                html: String::new(),
                line: None,
                area: None,
                why: vec![format!("The contrast is {ratio:.2}; at least {} is needed.", pair.minimum)],
            });
        }
        scan.contrast.push(Contrast {
            foreground: pair.foreground,
            background: pair.background,
            mode: pair.mode,
            ratio: (ratio * 100.0).round() / 100.0,
            minimum: pair.minimum,
            passes,
        });
    }
    if scan.contrast.is_empty() {
        return Err(Fault::new(Code::NotFound, format!("tokens:{source}: no pair of colours is declared"))
            .suggest("Declare pairs as `[[tokens.contrast]]` in gatewright.toml, or name tokens `on-primary` beside `primary`."));
    }
    scan.contrast.sort_by(|a, b| (a.passes, &a.foreground, &a.mode).cmp(&(b.passes, &b.foreground, &b.mode)));
    let url = format!("tokens:{source}");
    let mut findings = Findings::default();
    if !nodes.is_empty() {
        findings.violations.push(Finding {
            rule: "color-contrast".to_owned(),
            impact: Impact::Serious,
            help: "Text and its background must differ enough in lightness.".to_owned(),
            help_url: "https://dequeuniversity.com/rules/axe/4.14/color-contrast?application=axeAPI"
                .to_owned(),
            criteria: vec!["1.4.3".to_owned()],
            tags: vec!["wcag2aa".to_owned(), "wcag143".to_owned()],
            nodes,
        });
    }
    let issue_count = scan.outcome.add(&url, findings, known);
    scan.pages.push(Looked { url, status: None, issue_count, milliseconds: millis(began), error: None });
    Ok(scan)
}

fn answer(
    input: &Input,
    scan: Scan,
    known: Known<'_>,
    threshold: Grade,
    report: Option<String>,
) -> Answer<Output> {
    let issues = scan.outcome.issues();
    let failing = issues.iter().filter(|issue| issue.impact >= threshold).count();
    let unlooked = scan.pages.iter().filter(|page| page.error.is_some()).count();
    let looked = counted((scan.pages.len() - unlooked) as u64, "page");
    let mut message = if issues.is_empty() {
        format!("Nothing that breaks a rule was found on {looked}.")
    } else {
        let worst: Vec<String> = issues
            .iter()
            .take(3)
            .map(|issue| {
                let impact = format!("{:?}", issue.impact).to_lowercase();
                format!("`{}` ({impact}, {} ×)", issue.id, issue.node_count)
            })
            .collect();
        let issues = counted(issues.len() as u64, "issue");
        format!("{issues} on {looked}: {}.", worst.join(", "))
    };
    let incomplete = scan.outcome.doubts();
    if !incomplete.is_empty() {
        message
            .push_str(&format!(" {} to be looked at by somebody.", counted(incomplete.len() as u64, "rule")));
    }
    if scan.mode == Mode::Static && scan.contrast.is_empty() {
        message.push_str(&format!(
            " By markup alone: {} could not be asked without a browser.",
            counted(scan.undecided.len() as u64, "rule")
        ));
    }
    if unlooked > 0 {
        message.push_str(&format!(" {} could not be looked at.", counted(unlooked as u64, "page")));
    }
    let mut blocked = scan.blocked;
    blocked.truncate(BLOCKED);
    let output = Output {
        url: input.url.clone(),
        issue_count: issues.len() as u64,
        issues,
        incomplete,
        mode: scan.mode,
        engine: scan.engine,
        pages: scan.pages,
        undecided: scan.undecided,
        blocked,
        contrast: scan.contrast,
        baseline: known.told(),
        report,
    };
    let mut answer = Answer::new(message, output);
    answer.success = failing == 0 && unlooked == 0;
    answer
}
