//! axe-core: where it comes from, and how it is asked. Nothing of it is in this program: it is MPL-2.0, and a project's own
//! version is what its people know.

use std::collections::BTreeMap;
use std::time::Duration;

use a11y::{Findings, Node, Rectangle};
use browser::{BrowserError, Frame, Page};
use contract::{Code, Digest, Fault, RelPath};
use kit::ReadDesk;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Rules;

/// Largest source that is taken for axe-core, in bytes.
const MAX_SOURCE: usize = 4 << 20;

/// Most frames of one page that are looked at.
const MAX_FRAMES: usize = 60;

/// How deep frames may be in frames.
const MAX_DEPTH: usize = 8;

/// How long axe-core may take in one frame.
const PATIENCE: Duration = Duration::from_mins(1);

/// What found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Engine {
    /// `axe-core`, or `static` for the rules that markup alone decides.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Where it comes from: `project`, `setup` or `configuration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// Whether it is a release of axe-core as it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verified: Option<bool>,
}

/// axe-core, ready to be put into a page.
#[derive(Debug, Clone)]
pub(crate) struct Axe {
    pub(crate) engine: Engine,
    source: String,
}

fn known(bytes: &[u8]) -> Option<&'static str> {
    a11y::engine::release(&Digest::of(bytes).to_string())
}

impl Axe {
    /// The user's own choice, else the project's, else the one that was set up.
    pub(crate) fn found(
        desk: &ReadDesk,
        configured: Option<Vec<u8>>,
        set_up: Option<Vec<u8>>,
    ) -> Result<Self, Fault> {
        let engine = |version: &str, from: &str, verified: bool| Engine {
            name: "axe-core".to_owned(),
            version: version.to_owned(),
            from: Some(from.to_owned()),
            verified: Some(verified),
        };
        let taken = |bytes: Vec<u8>, engine: Engine| {
            let source = String::from_utf8(bytes).ok().filter(|s| s.len() <= MAX_SOURCE);
            source.map(|source| Self { engine, source })
        };
        if let Some(bytes) = configured {
            let version = known(&bytes);
            let engine = engine(version.unwrap_or("unknown"), "configuration", version.is_some());
            return taken(bytes, engine)
                .ok_or_else(|| Fault::invalid("[browser] axe: the file is not axe-core's `axe.min.js`"));
        }
        let path =
            RelPath::new("node_modules/axe-core/axe.min.js").map_err(|e| Fault::internal(e.to_string()))?;
        let own = desk.view().read_optional(&path).unwrap_or_default();
        for (bytes, from) in [(own, "project"), (set_up, "setup")] {
            let Some(bytes) = bytes else { continue };
            let Some(version) = known(&bytes) else { continue };
            if let Some(axe) = taken(bytes, engine(version, from, true)) {
                return Ok(axe);
            }
        }
        Err(Fault::new(
            Code::ToolExecutionFailed,
            "axe-core, which looks at pages in the browser, is not there",
        )
        .suggest("`gatewright setup a11y` fetches it from the npm registry once, checked by its digest.")
        .suggest("Or have it in the project: `npm install --save-dev axe-core`.")
        .suggest("`mode: \"static\"` looks at files without it."))
    }
}

/// Which part of a page is looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

/// Looks at the page that is open.
pub(crate) fn look(page: &Page, axe: &Axe, rules: &Rules, part: &Part) -> Result<Findings, Fault> {
    let mut options = json!({ "resultTypes": ["violations", "incomplete"], "elementRef": false });
    if let Some(object) = options.as_object_mut() {
        if !rules.tags.is_empty() {
            object.insert("runOnly".into(), json!({ "type": "tag", "values": rules.tags }));
        }
        let chosen: serde_json::Map<String, Value> =
            rules.rules.iter().map(|(id, on)| (id.clone(), json!({ "enabled": on }))).collect();
        object.insert("rules".into(), Value::Object(chosen));
    }
    let mut context = serde_json::Map::new();
    for (name, list) in [("include", &part.include), ("exclude", &part.exclude)] {
        if !list.is_empty() {
            context.insert(name.into(), list.iter().map(|selector| json!([selector])).collect());
        }
    }
    let context = if context.is_empty() { Value::Null } else { Value::Object(context) };
    let main = page.main()?;
    let mut partials = Vec::new();
    visit(page, axe, (&main, 0), &context, &options, &mut partials)?;
    let finish = format!(
        "axe.finishRun(JSON.parse({}), {options}).then(r => JSON.stringify({{ violations: r.violations, incomplete: r.incomplete }}))",
        Value::from(format!("[{}]", partials.join(",")))
    );
    let said = page.evaluate(&main, &finish, PATIENCE).map_err(failed)?;
    let mut findings = a11y::engine::read(said.as_str().unwrap_or("{}"))
        .map_err(|e| Fault::new(Code::ToolExecutionFailed, e.to_string()))?;
    measure(page, &main, &mut findings);
    Ok(findings)
}

/// What a failure within axe-core means.
fn failed(error: BrowserError) -> Fault {
    match &error {
        BrowserError::Script(why) if why.contains("No elements found for include") => {
            Fault::new(Code::NotFound, "include: nothing on the page matches")
                .suggest("Check the selectors, or wait for what they name with `wait`.")
        }
        BrowserError::Script(why) if why.contains("unknown rule") || why.contains("Unknown rule") => {
            Fault::invalid(format!("rules: {why}"))
        }
        _ => error.into(),
    }
}

/// Looks at one frame, and then at those in it, in the order that `axe.finishRun` wants.
fn visit(
    page: &Page,
    axe: &Axe,
    (frame, depth): (&Frame, usize),
    context: &Value,
    options: &Value,
    partials: &mut Vec<String>,
) -> Result<(), Fault> {
    // An element or frame that is called `axe` is none: a page's names are seen in every world.
    let load = format!(
        "(() => {{ try {{ if (typeof axe.runPartial === 'function') return true }} catch {{}} {} ; return true }})()",
        axe.source
    );
    page.evaluate(frame, &load, PATIENCE).map_err(failed)?;
    let of = if context.is_null() { "document".to_owned() } else { context.to_string() };
    let frames = format!("JSON.stringify(axe.utils.getFrameContexts({of}, {options}))");
    let frames = page.evaluate(frame, &frames, PATIENCE).map_err(failed)?;
    let frames: Vec<Value> = serde_json::from_str(frames.as_str().unwrap_or("[]")).unwrap_or_default();
    let run = format!("axe.runPartial({of}, {options}).then(r => JSON.stringify(r))");
    let said = page.evaluate(frame, &run, PATIENCE).map_err(failed)?;
    partials.push(said.as_str().unwrap_or("null").to_owned());
    for inner in frames {
        let child = match page.child(frame, &selected(&inner["frameSelector"])) {
            Ok(Some(child)) if partials.len() < MAX_FRAMES && depth < MAX_DEPTH => child,
            Err(error @ (BrowserError::Cancelled | BrowserError::Ended(_) | BrowserError::Crashed)) => {
                return Err(error.into());
            }
            // axe-core says of such a frame that it could not be looked at.
            _ => {
                partials.push("null".to_owned());
                continue;
            }
        };
        let before = partials.len();
        if let Err(fault) = visit(page, axe, (&child, depth + 1), &inner["frameContext"], options, partials) {
            if matches!(fault.code, Code::Cancelled | Code::Timeout) {
                return Err(fault);
            }
            partials.truncate(before);
            partials.push("null".to_owned());
        }
    }
    Ok(())
}

/// The element that one of axe-core's selectors means: a text, or a list that leads into shadow trees.
fn selected(selector: &Value) -> String {
    format!("axe.utils.shadowSelect({selector})")
}

/// One of our selectors as axe-core has it.
fn as_axe(selector: &str) -> Value {
    match selector.split(" >>> ").collect::<Vec<_>>().as_slice() {
        [own] => json!(own),
        hosts => json!(hosts),
    }
}

/// The frame to which selectors lead, and where its top left corner is on the page, scrolled away or not.
fn reached(page: &Page, main: &Frame, chain: &[String]) -> Option<(Frame, (f64, f64))> {
    let part = |value: &Value, n: usize| value[n].as_f64().unwrap_or(0.0);
    let scrolled = page.evaluate(main, "[scrollX, scrollY]", PATIENCE).ok()?;
    let (mut frame, mut x, mut y) = (main.clone(), part(&scrolled, 0), part(&scrolled, 1));
    for selector in chain {
        let element = selected(&as_axe(selector));
        let corner = format!(
            "(e => {{ const r = e.getBoundingClientRect(); return [r.x + e.clientLeft, r.y + e.clientTop] }})({element})"
        );
        let corner = page.evaluate(&frame, &corner, PATIENCE).ok()?;
        frame = page.child(&frame, &element).ok()??;
        (x, y) = (x + part(&corner, 0), y + part(&corner, 1));
    }
    Some((frame, (x, y)))
}

/// Finds out where the elements are on the page. One that cannot be found any more has no place.
fn measure(page: &Page, main: &Frame, findings: &mut Findings) {
    let mut by_frame: BTreeMap<Vec<String>, Vec<&mut Node>> = BTreeMap::new();
    let all = findings.violations.iter_mut().chain(&mut findings.incomplete);
    for node in all.flat_map(|finding| &mut finding.nodes) {
        if let Some((_, frames)) = node.target.split_last() {
            by_frame.entry(frames.to_vec()).or_default().push(node);
        }
    }
    for (chain, nodes) in by_frame {
        let Some((frame, (left, top))) = reached(page, main, &chain) else { continue };
        let selectors: Vec<Value> =
            nodes.iter().map(|node| node.target.last().map_or(Value::Null, |own| as_axe(own))).collect();
        let expression = format!(
            "({}).map(s => {{ try {{ const r = axe.utils.shadowSelect(s).getBoundingClientRect(); \
             return [r.x, r.y, r.width, r.height] }} catch {{ return null }} }})",
            json!(selectors),
        );
        let Ok(found) = page.evaluate(&frame, &expression, PATIENCE) else { continue };
        for (node, place) in nodes.into_iter().zip(found.as_array().into_iter().flatten()) {
            let part = |n: usize, from: f64| place[n].as_f64().map(|n| ((n + from) * 10.0).round() / 10.0);
            if let (Some(x), Some(y), Some(width), Some(height)) =
                (part(0, left), part(1, top), part(2, 0.0), part(3, 0.0))
            {
                node.area = Some(Rectangle { x, y, width, height });
            }
        }
    }
}
