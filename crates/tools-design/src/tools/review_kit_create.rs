//! Make a review kit of a change.
//!
//! Gathers what a change to a design system does into pages that stand alone: token differences with swatches and contrast, a
//! gallery of components with pictures before and now, accessibility, release notes, verdicts. Keeps the kit as
//! `kit://` and, applied, puts it on a temporary branch. The same change gives the same kit.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use contract::text::counted;
use contract::{Code, Digest, Fault, FileMode, RelPath, Toolset};
use exec::history;
use exec::reports::ReportFile;
use kit::limits::Limits;
use kit::{Answer, Change, ChangeDesk, Define, Doc, ReadDesk};
use kits::{Judgement, Kit, Missing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::review::before::{Here, here};
use crate::review::examples::{self, Examples};
use crate::review::{ReviewSection, gallery, notes, storybook, tokens, verdicts};
use crate::scan::{A11ySection, Rules, drive};

/// Where components come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The project's Storybook, else its examples.
    #[default]
    Auto,
    /// The project's Storybook.
    Storybook,
    /// Its examples.
    Builtin,
}

/// The arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Short, for branches and URLs.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9-]{0,39}$"))]
    feature_name: String,
    /// Such as `DS-42`.
    #[schemars(regex(pattern = r"^[A-Z]+-[0-9]+$"), length(max = 24))]
    ticket_id: String,
    /// Commit to compare with.
    #[serde(default)]
    base: Option<String>,
    /// Token files.
    #[serde(default)]
    source: Option<String>,
    /// Where components come from.
    #[serde(default)]
    gallery: Origin,
    /// Globs of example pages.
    #[serde(default)]
    #[schemars(length(max = 20))]
    examples: Vec<String>,
}

/// How a part of the kit came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is there.
    Made,
    /// It is not: `why` says why not.
    Skipped,
}

/// A part of the kit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    /// `tokens`, `gallery`, `notes`, `pages`.
    name: String,
    /// How it came out.
    state: State,
    /// Why it is not there, or what of it is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
    /// How long it took.
    milliseconds: u64,
}

/// What was judged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Judged {
    /// What.
    name: String,
    /// `fail`, `warn` or `pass`.
    verdict: String,
    /// Why.
    detail: String,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Where `gatewright kits serve` shows it.
    #[schemars(url)]
    review_kit_url: String,
    /// The temporary branch; absent outside a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_name: Option<String>,
    /// The kit as a resource.
    kit: String,
    /// How many files it has.
    file_count: u64,
    /// Their bytes.
    bytes: u64,
    /// What was judged, the worst first.
    verdicts: Vec<Judged>,
    /// The parts.
    parts: Vec<Part>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct ReviewKitCreate;

/// A kit of many components with a Storybook that is built first takes minutes.
const TIME: Duration = Duration::from_mins(11);

/// How much of it pictures may take: with five minutes for a Storybook there is time left to put the kit together.
const PICTURES: Duration = Duration::from_mins(5);

impl Define for ReviewKitCreate {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "review_kit_create";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("review_kit_create.rs");
    const ALIASES: &'static [&'static str] = &["reviewKit.create"];
    const LIMITS: Limits = Limits { timeout: TIME, ..Limits::WRITER };
    const PROGRAMS: &'static [&'static str] = &["node"];

    fn examples() -> Vec<Value> {
        vec![
            json!({ "featureName": "calm-buttons", "ticketId": "DS-42" }),
            json!({ "featureName": "calm-buttons", "ticketId": "DS-42", "base": "v1.4.0", "source": "tokens", "gallery": "builtin", "examples": ["examples/**/*.html"] }),
        ]
    }
}

impl Change for ReviewKitCreate {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let section: ReviewSection = desk.settings()?;
        let wants = match input.gallery {
            Origin::Builtin => false,
            Origin::Storybook => true,
            Origin::Auto => input.examples.is_empty() && storybook::is_there(&desk)?,
        };
        let built = if wants { Some(storybook::built(&desk).await?) } else { None };
        desk.blocking(move |desk| make(&input, &section, built, desk)).await
    }
}

/// What is known of the parts so far.
#[derive(Default)]
struct Parts {
    all: Vec<Part>,
    missing: Vec<Missing>,
}

impl Parts {
    fn add(&mut self, name: &str, began: Instant, is_made: bool, why: Vec<(&str, String)>) {
        let state = if is_made { State::Made } else { State::Skipped };
        self.missing
            .extend(why.iter().map(|(part, why)| Missing { part: (*part).to_owned(), why: why.clone() }));
        self.all.push(Part {
            name: name.to_owned(),
            state,
            why: why.into_iter().map(|(_, why)| why).collect(),
            milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }
}

fn make(
    input: &Input,
    section: &ReviewSection,
    built: Option<storybook::Built>,
    desk: &ChangeDesk,
) -> Result<Answer<Output>, Fault> {
    let where_it_is = here(desk, input.base.as_deref())?;
    let mut parts = Parts::default();
    let mut kit = Kit {
        feature: input.feature_name.clone(),
        ticket: input.ticket_id.clone(),
        project: project(desk),
        base: where_it_is.before.as_ref().map(|before| before.revision.clone()),
        head: where_it_is.head.clone(),
        has_changes: where_it_is.has_changes,
        ..Kit::default()
    };
    let broken;
    (kit.tokens, broken) = with_tokens(input, section, &where_it_is, desk, &mut parts)?;
    let mut files = with_gallery(input, section, built, &where_it_is, desk, &mut kit, &mut parts)?;
    let began = Instant::now();
    let (found, is_cut) = match &where_it_is.before {
        Some(before) => notes::of(desk, before.commit())?,
        None => (None, false),
    };
    kit.notes = found;
    let why = match (&kit.notes, &where_it_is.without) {
        (Some(_), _) if is_cut => Some(format!("only the last {} commits were read", notes::MAX_COMMITS)),
        (Some(_), _) => None,
        (None, Some(without)) => Some(without.clone()),
        (None, None) => Some("nothing was committed since the base".to_owned()),
    };
    parts.add("notes", began, kit.notes.is_some(), why.into_iter().map(|why| ("notes", why)).collect());
    kit.verdicts = verdicts::of(kit.tokens.as_ref(), kit.gallery.as_ref());
    kit.verdicts.splice(0..0, broken.map(|why| verdicts::broken("Tokens", why)));
    kit.missing = std::mem::take(&mut parts.missing);
    desk.check()?;
    let began = Instant::now();
    files = kits::build(&kit, files).map_err(|error| Fault::internal(format!("the kit's pages: {error}")))?;
    parts.add("pages", began, true, Vec::new());
    deliver(input, section, kit, files, parts, desk)
}

/// The tokens; where there are some that cannot be read, what is wrong with them.
fn with_tokens(
    input: &Input,
    section: &ReviewSection,
    here: &Here,
    desk: &ReadDesk,
    parts: &mut Parts,
) -> Result<(Option<kits::Tokens>, Option<String>), Fault> {
    let began = Instant::now();
    let source = match input.source.clone().or_else(|| section.source.clone()) {
        Some(source) => Some(source),
        None => crate::tokens::usual(desk)?,
    };
    let Some(source) = source else {
        let why = "no token files were found: name them as `source`".to_owned();
        parts.add("tokens", began, false, vec![("tokens", why)]);
        return Ok((None, None));
    };
    let (found, why) = match tokens::of(desk, &source, here.before.as_ref()) {
        Ok(found) => found,
        Err(fault) if fault.code == Code::InvalidSource => {
            parts.add("tokens", began, false, vec![("tokens", fault.message.clone())]);
            return Ok((None, Some(fault.message)));
        }
        Err(fault) => return Err(fault),
    };
    let alone = || "there is no commit to compare with: only what is there now is shown".to_owned();
    let why = why.or_else(|| here.before.is_none().then(alone));
    parts.add("tokens", began, true, why.into_iter().map(|why| ("tokens", why)).collect());
    Ok((Some(found), None))
}

fn with_gallery(
    input: &Input,
    section: &ReviewSection,
    built: Option<storybook::Built>,
    here: &Here,
    desk: &ChangeDesk,
    kit: &mut Kit,
    parts: &mut Parts,
) -> Result<BTreeMap<String, Vec<u8>>, Fault> {
    let began = Instant::now();
    let mut why: Vec<(&str, String)> = Vec::new();
    let stories =
        built.map(|built| built.and_then(|files| examples::of_storybook(files).map_err(|f| f.message)));
    let found: Examples = match stories {
        Some(Ok(stories)) => stories,
        Some(Err(reason)) if input.gallery == Origin::Storybook => {
            return Err(Fault::new(Code::InvalidSource, reason)
                .suggest("Mend the Storybook, or take the built-in gallery with `gallery: builtin`."));
        }
        other => {
            if let Some(Err(reason)) = other {
                why.push(("gallery", reason));
            }
            let globs = if input.examples.is_empty() { &section.examples } else { &input.examples };
            examples::of_files(desk, globs, here.before.as_ref())?
        }
    };
    if found.pages.is_empty() && found.gone.is_empty() {
        why.push(("gallery", "no example pages were found: name them as `examples`".to_owned()));
        parts.add("gallery", began, false, why);
        return Ok(BTreeMap::new());
    }
    let browsing = match gallery::browsing(desk, PICTURES) {
        Ok(browsing) => browsing,
        Err(Ok(reason)) => {
            why.push(("pictures", reason));
            parts.add("gallery", began, false, why);
            return Ok(BTreeMap::new());
        }
        Err(Err(fault)) => return Err(fault),
    };
    desk.progress(0.0, None, format!("looking at {}", counted(found.pages.len() as u64, "example")));
    let A11ySection { tags, rules, .. } = desk.settings()?;
    let made = gallery::make(&browsing, &found, here.before.as_ref(), Rules { tags, rules })?;
    why.extend(made.missing);
    parts.add("gallery", began, true, why);
    kit.gallery = Some(made.gallery);
    Ok(made.files)
}

/// The project's name: of its manifest, else of its folder.
fn project(desk: &ReadDesk) -> String {
    let manifest =
        RelPath::new("package.json").ok().and_then(|path| desk.view().read_optional(&path).ok().flatten());
    let named = manifest
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .and_then(|manifest| manifest["name"].as_str().map(str::to_owned))
        .filter(|name| !name.trim().is_empty());
    let root = desk.view().root();
    let folder = || root.path().file_name().map(|name| name.to_string_lossy().into_owned());
    named.or_else(folder).unwrap_or_else(|| root.name().to_owned())
}

/// Keeps the kit, drafts its branch and says what it is.
fn deliver(
    input: &Input,
    section: &ReviewSection,
    kit: Kit,
    files: BTreeMap<String, Vec<u8>>,
    parts: Parts,
    desk: &ChangeDesk,
) -> Result<Answer<Output>, Fault> {
    let listed = files.get("kit.json").map(Vec::as_slice).unwrap_or_default();
    let stem =
        format!("{}-{}", input.ticket_id.to_ascii_lowercase(), input.feature_name.trim_end_matches('-'));
    let name = format!("{stem}-{}", Digest::of(listed).short(8));
    let bytes = files.values().map(|bytes| bytes.len() as u64).sum();
    let count = files.len() as u64;
    let kept: Vec<ReportFile> = files
        .iter()
        .map(|(path, bytes)| ReportFile { name: path.clone(), mime: drive::mime(path), bytes: bytes.clone() })
        .collect();
    desk.keep_kit(&name, &kept)?;
    let branch = if kit.head.is_some() && exec::branch::check_possible(desk.view().root()).is_ok() {
        let folder = format!("review-kits/{}-{}", input.ticket_id, input.feature_name);
        let mut changes = Vec::with_capacity(files.len());
        // What an earlier kit left in the folder, where its branch was merged.
        let here = desk.repository()?.snapshot("HEAD", &history::Limits::default(), &AtomicBool::new(false));
        for path in here.map_err(kit::desk::unread)?.paths() {
            let within = path.strip_prefix(&folder).and_then(|path| path.strip_prefix('/'));
            if within.is_some_and(|within| !files.contains_key(within)) {
                changes.push((RelPath::new(path).map_err(|e| Fault::invalid(e.to_string()))?, None));
            }
        }
        for (path, bytes) in files {
            let path =
                RelPath::new(&format!("{folder}/{path}")).map_err(|e| Fault::internal(e.to_string()))?;
            changes.push((path, Some((bytes, FileMode::Regular))));
        }
        let branch = format!("sbx/kit-{name}");
        let message = format!("Review kit: {} {}", input.ticket_id, input.feature_name);
        desk.branch(&branch, &message, changes)?;
        Some(branch)
    } else {
        None
    };
    let url = format!("http://127.0.0.1:{}/{name}/index.html", section.port);
    let message = message(&kit, &name, count, branch.as_deref());
    let output = Output {
        review_kit_url: url,
        branch_name: branch,
        kit: format!("kit://{name}"),
        file_count: count,
        bytes,
        verdicts: kit
            .verdicts
            .iter()
            .map(|v| Judged {
                name: v.name.clone(),
                verdict: word(v.verdict).to_owned(),
                detail: v.detail.clone(),
            })
            .collect(),
        parts: parts.all,
    };
    let mut answer = Answer::new(message, output);
    answer.success = kit.verdicts.iter().all(|v| v.verdict != Judgement::Fail);
    Ok(answer)
}

const fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Fail => "fail",
        Judgement::Warn => "warn",
        Judgement::Pass => "pass",
    }
}

fn message(kit: &Kit, name: &str, files: u64, branch: Option<&str>) -> String {
    let mut message = format!("Review kit **{name}**: {}.", counted(files, "file"));
    for verdict in &kit.verdicts {
        message.push_str(&format!("\n- {} {}: {}", word(verdict.verdict), verdict.name, verdict.detail));
    }
    for missing in &kit.missing {
        message.push_str(&format!("\n- without {}: {}", missing.part, missing.why));
    }
    message.push_str(&format!("\n\nRead it as `kit://{name}`, or in a browser: `gatewright kits serve`."));
    if let Some(branch) = branch {
        message.push_str(&format!(" Its branch is `{branch}`."));
    }
    message
}
