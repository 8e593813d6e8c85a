//! Scan for accessibility.
//!
//! Looks at pages with axe-core in a confined headless browser, frames included, or at files without one: what is broken,
//! how gravely, where, which WCAG criteria, and what somebody has to look at. A page is a URL or files of the root
//! (`root:site/**/*.html`); `tokens:SOURCE` checks the contrast that tokens declare. Use it after changing what users see.

use std::collections::BTreeMap;
use std::time::Instant;

use a11y::{Finding, Findings, Impact, Node};
use contract::text::counted;
use contract::{Code, Fault, Toolset};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use kit::{Answer, Define, Doc, Read, ReadDesk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::scan::browse::{Colors, Missing, Size};
use crate::scan::engine::Engine;
use crate::scan::look::InBrowser;
use crate::scan::outcome::{Baseline, Baselined, Doubt, Issue, Known};
use crate::scan::place::{Place, Wanted, wanted};
use crate::scan::seen::{Contrast, Looked, Scan, Seen, Stopped, millis};
use crate::scan::{A11ySection, Grade, Rules};
use crate::tokens::{self, TokensSection};

/// Most refused requests that are listed.
const BLOCKED: usize = 20;

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

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A URL, `root:PATH` or `tokens:SOURCE`.
    #[schemars(length(min = 1))]
    pub(crate) url: String,
    /// Further pages.
    #[serde(default)]
    #[schemars(length(max = 49))]
    pub(crate) urls: Vec<String>,
    /// Stories of the Storybook at `url`, by id.
    #[serde(default)]
    pub(crate) stories: Vec<String>,
    /// `url` is a sitemap.
    #[serde(default)]
    pub(crate) sitemap: bool,
    /// How to look.
    #[serde(default)]
    pub(crate) mode: Mode,
    /// Only rules with these tags (`wcag2aa`).
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Rules on or off, by id.
    #[serde(default)]
    pub(crate) rules: BTreeMap<String, bool>,
    /// Only within these selectors.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    /// Not within these selectors.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
    /// The window.
    #[serde(default)]
    pub(crate) viewport: Option<Size>,
    /// Preferred colours.
    #[serde(default)]
    pub(crate) scheme: Colors,
    /// A selector, `idle`, or milliseconds.
    #[serde(default)]
    pub(crate) wait: Option<String>,
    /// First: `click S`, `type S = TEXT`, `press KEY`.
    #[serde(default)]
    #[schemars(length(max = 30))]
    pub(crate) actions: Vec<String>,
    /// Header to the name of a secret.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Cookie to the name of a secret.
    #[serde(default)]
    pub(crate) cookies: BTreeMap<String, String>,
    /// Least impact that fails.
    #[serde(default)]
    pub(crate) threshold: Option<Grade>,
    /// File of known findings.
    #[serde(default)]
    pub(crate) baseline: Option<String>,
    /// Pictures with what was found.
    #[serde(default)]
    pub(crate) screenshots: bool,
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
    let is_web = pages.iter().any(|page| !page.is_file());
    if input.mode == Mode::Static {
        if is_web {
            return Err(Fault::invalid(
                "mode: pages by HTTP are looked at in a browser; static mode is for files",
            )
            .suggest("Name files as `root:PATH`, or leave `mode` out."));
        }
        return statically(input, pages, rules, desk, known);
    }
    let browser = InBrowser::begin(input, desk).and_then(|browser| browser.scan(pages, rules, known));
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
        && input.stories.is_empty()
        && input.headers.is_empty()
        && input.cookies.is_empty()
}

fn statically(
    input: &Input,
    pages: &[Place],
    rules: &Rules,
    desk: &ReadDesk,
    known: &mut Known<'_>,
) -> Result<Scan, Fault> {
    if !is_plain(input) {
        let message = "mode: `include`, `exclude`, `viewport`, `wait`, `actions`, `stories`, `headers`, `cookies` and `screenshots` need a browser";
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
