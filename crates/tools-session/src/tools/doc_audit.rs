//! Are the documents there, and true.
//!
//! Holds the documents that a repository must have against it: missing, stale (what they say is not so, their sources changed, nobody
//! looked for 90 days), fresh, written by hand. `fix` proposes those that can be generated; what somebody wrote is reported, never
//! overwritten.

use contract::text::counted;
use contract::{Code, Fault, FileMode, RelPath, Toolset};
use kit::{Answer, Change, ChangeDesk, Define, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::document::GLOBAL;
use store_api::{Context, Timestamp};

use crate::age;
use crate::audit::{self, Found};
use crate::here::Here;
use crate::settings::DocumentsSection;
use kit::markdown::{code, text};

/// Findings that are told of each document.
const MAX_FINDINGS: usize = 20;
/// Documents of the store that are listed of each venture.
const MAX_LISTED: u32 = 200;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A venture's code; without, the one of this repository.
    #[serde(default)]
    #[schemars(length(min = 1, max = 120))]
    venture: Option<String>,
    /// All ventures: of others, the documents in the store.
    #[serde(default)]
    all: bool,
    /// Propose what can be generated.
    #[serde(default)]
    fix: bool,
}

/// Where a document is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// A file.
    Repository,
    /// The store.
    Store,
}

/// How a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is as it should be.
    Present,
    /// There is none.
    Missing,
    /// Something speaks against it.
    Stale,
    /// Somebody wrote it, and nothing speaks against it.
    HandWritten,
}

/// Something that a document says and that is not so.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// What it is about.
    kind: String,
    /// As it is written there.
    text: String,
    /// The line, from 1.
    line: u32,
    /// What is so.
    why: String,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Held {
    /// Its name.
    name: String,
    /// Where it is kept.
    #[serde(rename = "where")]
    place: Where,
    /// Its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Whether it must be there: `required` or `recommended`.
    level: String,
    /// How it stands.
    state: State,
    /// Why, the strongest first.
    reasons: Vec<String>,
    /// What of it is not so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding>,
    /// Whether it can be generated.
    generates: bool,
}

/// The documents of a venture.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Audited {
    /// The venture's code.
    code: String,
    /// Its documents.
    documents: Vec<Held>,
}

/// How many of each.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Counts {
    /// As they should be.
    present: u64,
    /// Not there.
    missing: u64,
    /// With something against them.
    stale: u64,
    /// Written by hand, with nothing against them.
    hand_written: u64,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// By venture.
    ventures: Vec<Audited>,
    /// How many of each.
    counts: Counts,
    /// Paths that are proposed.
    generated: Vec<String>,
    /// Documents that somebody has to look at: nothing generates them, or somebody wrote them.
    reported: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct DocAudit;

impl DocAudit {
    /// The arguments with which a day proposes what is missing.
    pub(crate) fn fixing() -> (Input, Value) {
        (Input { venture: None, all: false, fix: true }, json!({ "fix": true }))
    }
}

impl Define for DocAudit {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "doc_audit";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("doc_audit.rs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "fix": true }), json!({ "all": true })]
    }
}

impl Change for DocAudit {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let store = crate::sod::store(&desk)?;
        let own = here.venture.as_ref().map(|venture| venture.code.clone());
        let mut ventures = Vec::new();
        let mut generated = Vec::new();
        let asked = input.venture.clone().or_else(|| own.clone());
        if input.all && input.venture.is_some() {
            return Err(Fault::invalid("venture: `all` names every one: leave out one of the two"));
        }
        if own.is_none() && !input.all {
            return Err(Fault::new(
                Code::NotFound,
                "this repository belongs to no venture that is configured",
            )
            .suggest("`ventures` lists those that are; name one with `venture`, or all with `all`."));
        }
        let others: Vec<String> = if input.all {
            here.workplace.ventures().keys().filter(|code| Some(*code) != own.as_ref()).cloned().collect()
        } else {
            asked.iter().filter(|code| Some(*code) != own.as_ref()).cloned().collect()
        };
        if let (Some(venture), true) = (&here.venture, input.all || asked == own) {
            let requirements = audit::requirements(&desk)?;
            let kept = audit::kept(&*store, venture, &requirements).await?;
            let (place, fix) = (here.clone(), input.fix);
            let (documents, made) = desk
                .blocking(move |desk| {
                    let found = audit::look(desk, &place, &requirements, &kept, desk.cancelled())?;
                    let made = if fix { proposed(desk, &found)? } else { Vec::new() };
                    Ok((found.iter().map(held).collect::<Vec<_>>(), made))
                })
                .await?;
            generated = made;
            ventures.push(Audited { code: venture.code.clone(), documents });
        } else if input.fix {
            return Err(Fault::invalid("fix: documents are generated from the repository that you are in")
                .suggest("`ventures` says where the other one is checked out."));
        }
        let max_age = i64::from(desk.settings::<DocumentsSection>()?.max_age_days);
        for code in others {
            if !here.workplace.ventures().contains_key(&code) {
                let known = here.workplace.ventures();
                let codes: Vec<&str> = known.keys().map(String::as_str).collect();
                return Err(Fault::new(
                    Code::NotFound,
                    format!("venture: there is none of the code {code:?}"),
                )
                .suggest(format!("The codes are {}.", codes.join(", "))));
            }
            ventures.push(stored(&*store, code, here.workplace.now(), max_age).await?);
        }
        Ok(answer(ventures, generated, input.fix))
    }
}

/// Drafts what can be generated into the repository; the paths.
fn proposed(desk: &ChangeDesk, found: &[Found]) -> Result<Vec<String>, Fault> {
    let mut made = Vec::new();
    for (path, document) in found.iter().filter_map(|found| found.heals.as_ref()) {
        let Some(path) = path else { continue };
        let file = RelPath::new(path).map_err(|e| Fault::invalid(format!("{path}: {e}")))?;
        desk.put(&file, document.text.clone().into_bytes(), FileMode::Regular)?;
        made.push(path.clone());
    }
    Ok(made)
}

fn held(found: &Found) -> Held {
    let said = &found.said;
    Held {
        name: said.name.clone(),
        place: if found.requirement.paths.is_empty() { Where::Store } else { Where::Repository },
        path: said.path.clone(),
        level: match said.level {
            documents::Level::Required => "required".to_owned(),
            documents::Level::Recommended | documents::Level::Off => "recommended".to_owned(),
        },
        state: match said.state {
            documents::State::Missing => State::Missing,
            documents::State::Stale => State::Stale,
            documents::State::Fresh => State::Present,
            documents::State::HandWritten => State::HandWritten,
        },
        reasons: said.reasons.iter().map(documents::Reason::text).collect(),
        findings: said
            .findings
            .iter()
            .take(MAX_FINDINGS)
            .map(|finding| Finding {
                kind: serde_json::to_value(finding.kind)
                    .ok()
                    .and_then(|kind| kind.as_str().map(str::to_owned))
                    .unwrap_or_default(),
                text: finding.text.clone(),
                line: finding.line,
                why: finding.why.clone(),
            })
            .collect(),
        generates: said.heals,
    }
}

/// The documents of a venture that is elsewhere, as far as the store has them.
async fn stored(store: &dyn Context, code: String, now: Timestamp, max_age: i64) -> Result<Audited, Fault> {
    let index = store.index(vec![code.clone()], MAX_LISTED).await?;
    let documents = index
        .rows
        .into_iter()
        .filter(|row| row.scope != GLOBAL)
        .map(|row| {
            let age = age::days(row.updated.as_millis(), now);
            let is_old = age::is_old(row.updated, now, max_age);
            Held {
                name: row.name,
                place: Where::Store,
                path: None,
                level: "recommended".to_owned(),
                state: if is_old { State::Stale } else { State::Present },
                reasons: is_old.then(|| format!("not looked at for {age} days")).into_iter().collect(),
                findings: Vec::new(),
                generates: false,
            }
        })
        .collect();
    Ok(Audited { code, documents })
}

fn answer(ventures: Vec<Audited>, generated: Vec<String>, fix: bool) -> Answer<Output> {
    let mut counts = Counts::default();
    let mut reported = Vec::new();
    let mut message = String::new();
    for venture in &ventures {
        if ventures.len() > 1 {
            message.push_str(&format!("**{}**\n", text(&venture.code)));
        }
        for document in &venture.documents {
            let word = match document.state {
                State::Present => {
                    counts.present += 1;
                    "present"
                }
                State::Missing => {
                    counts.missing += 1;
                    "missing"
                }
                State::Stale => {
                    counts.stale += 1;
                    "stale"
                }
                State::HandWritten => {
                    counts.hand_written += 1;
                    "written by hand"
                }
            };
            let name = document.path.as_deref().unwrap_or(&document.name);
            message.push_str(&format!("- {} {word}", code(name)));
            if !document.reasons.is_empty() {
                message.push_str(&format!(": {}", text(&document.reasons.join("; "))));
            }
            message.push('\n');
            for finding in &document.findings {
                message.push_str(&format!(
                    "  - line {}: {}: {}\n",
                    finding.line,
                    code(&finding.text),
                    text(&finding.why)
                ));
            }
            if matches!(document.state, State::Missing | State::Stale) && !document.generates {
                reported.push(name.to_owned());
            }
        }
    }
    let healing: usize =
        ventures.iter().flat_map(|venture| &venture.documents).filter(|d| d.generates).count();
    if message.is_empty() {
        message.push_str("No documents are required here, and the store has none.\n");
    }
    if !fix && healing > 0 {
        message.push_str(&format!("`fix` proposes {}.\n", counted(healing as u64, "document")));
    }
    let success = counts.missing == 0 && counts.stale == 0;
    let mut answer = Answer::new(message, Output { ventures, counts, generated, reported });
    answer.success = success;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_generates_is_reported() {
        let document = |name: &str, state, generates| Held {
            name: name.to_owned(),
            place: Where::Repository,
            path: Some(format!("{name}.md")),
            level: "required".to_owned(),
            state,
            reasons: Vec::new(),
            findings: Vec::new(),
            generates,
        };
        let documents = vec![
            document("a", State::Missing, true),
            document("b", State::Missing, false),
            document("c", State::Stale, false),
            document("d", State::HandWritten, false),
        ];
        let answer = answer(vec![Audited { code: "x".to_owned(), documents }], Vec::new(), false);
        assert_eq!(answer.output.reported, ["b.md", "c.md"]);
        assert_eq!(
            (answer.output.counts.missing, answer.output.counts.stale, answer.output.counts.hand_written),
            (2, 1, 1)
        );
        assert!(
            !answer.success && answer.message.contains("`fix` proposes 1 document"),
            "{}",
            answer.message
        );
    }
}
