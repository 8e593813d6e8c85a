//! A document that the team keeps.
//!
//! Reads one document of the store by scope (`global`, or a venture's code) and name. A long one comes in parts: `from` goes on.
//! `sod` lists those that there are.

use contract::{Code, Fault, Toolset, Truncated};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::document::Origin;
use store_api::{Context, Timestamp};

use crate::age;
use crate::here::Here;
use crate::settings::DocumentsSection;
use kit::markdown::{code, front, text};

/// Characters of a document that come at once.
const MOST: usize = 9_000;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// `global`, or a venture's code.
    #[schemars(length(min = 1, max = 120))]
    scope: String,
    /// Its name.
    #[schemars(length(min = 1, max = 120))]
    doc_name: String,
    /// The character to begin at.
    #[serde(default)]
    from: usize,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Its scope.
    scope: String,
    /// Its name.
    name: String,
    /// Its title.
    title: String,
    /// Its text, or the part that begins at `from`.
    content: String,
    /// How often it was changed.
    version: i64,
    /// Where the text is from.
    origin: Origin,
    /// When it was changed last.
    updated: Timestamp,
    /// Whole days since then.
    age_days: i64,
    /// Whether nobody looked at it for too long.
    stale: bool,
    /// The digest of the whole text.
    sha256: String,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Doc;

impl Define for Doc {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "doc";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("doc.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({ "scope": "global", "doc_name": "onboarding.md" })]
    }
}

impl Read for Doc {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let store = crate::sod::store(&desk)?;
        let here = Here::find(&desk).await?;
        let Some(document) = store.document(input.scope.clone(), input.doc_name.clone()).await? else {
            return Err(unknown(&*store, &here, input).await);
        };
        let max = desk.settings::<DocumentsSection>()?.max_age_days;
        let now = here.workplace.now();
        let age = age::days(document.row.updated.as_millis(), now).max(0);
        let total = document.content.chars().count();
        let rest: String = document.content.chars().skip(input.from).collect();
        let (part, is_cut) = front(&rest, MOST);
        let until = input.from + part.chars().count();
        let row = document.row;
        let stale = age::is_old(row.updated, now, i64::from(max));
        let mut message = format!(
            "**{}** ({}): version {}, {age} days old",
            text(&row.title),
            code(&row.name),
            row.version
        );
        message.push_str(if stale { ": stale." } else { "." });
        let mut answer = Answer::new(
            message,
            Output {
                scope: row.scope,
                name: row.name,
                title: row.title,
                content: part.to_owned(),
                version: row.version,
                origin: row.origin,
                updated: row.updated,
                age_days: age,
                stale,
                sha256: row.sha256,
            },
        );
        answer.truncated = is_cut.then(|| Truncated {
            shown: (until - input.from) as u64,
            total: total as u64,
            next: format!(
                "doc {{ \"scope\": \"{}\", \"doc_name\": \"{}\", \"from\": {until} }}",
                answer.output.scope, answer.output.name
            ),
        });
        Ok(answer)
    }
}

async fn unknown(store: &dyn Context, here: &Here, input: Input) -> Fault {
    let mut scopes = vec![input.scope.clone(), store_api::document::GLOBAL.to_owned()];
    scopes.extend(here.venture.iter().map(|venture| venture.code.clone()));
    scopes.sort();
    scopes.dedup();
    let fault =
        Fault::new(Code::NotFound, format!("there is no document {}/{}", input.scope, input.doc_name));
    match store.index(scopes, 20).await {
        Ok(index) if !index.rows.is_empty() => {
            let names: Vec<String> =
                index.rows.iter().map(|row| format!("{}/{}", row.scope, row.name)).collect();
            fault.suggest(format!("There are {}: {}.", index.total, names.join(", ")))
        }
        _ => fault.suggest("The store has no document yet."),
    }
}
