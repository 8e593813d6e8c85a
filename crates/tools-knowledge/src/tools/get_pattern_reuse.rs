//! How often patterns were used.
//!
//! By the uses that were recorded and by what their files say: which ones carry, and which ones nobody needs.

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::kinds::List;
use kit::markdown::text;
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::PatternId;
use library::quality::{Score, is_verified};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::Timestamp;

use crate::libraries::{service, used};
use crate::stock::Again;

/// What comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SortBy {
    /// What was used most.
    #[default]
    ReuseCount,
    /// What was used last.
    Recent,
    /// By category and name.
    Category,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// One pattern.
    #[serde(default)]
    #[schemars(
        length(min = 3, max = 160),
        regex(
            pattern = r"^(?:[a-z][a-z0-9-]{0,39}:)?[a-z0-9]+(?:-[a-z0-9]+)*/[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$"
        )
    )]
    pattern_id: Option<String>,
    /// Those that were used as often, or more.
    #[serde(default = "one")]
    min_reuse_count: u64,
    /// What comes first.
    #[serde(default)]
    sort_by: SortBy,
}

const fn one() -> u64 {
    1
}

/// A pattern and its uses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reused {
    /// Its id.
    pattern_id: String,
    /// The library that has it.
    library: String,
    /// What it is filed under.
    category: String,
    /// How often it was used.
    reuse_count: u64,
    /// How often of that was recorded here.
    recorded: u64,
    /// Where, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    projects: Vec<String>,
    /// When the first use was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_used: Option<Timestamp>,
    /// When the last use was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<Timestamp>,
    /// 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    /// Whether it was used three times or more.
    verified: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The patterns.
    data: Vec<Reused>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetPatternReuse;

impl Define for GetPatternReuse {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_pattern_reuse";
    const TOOLSET: Toolset = crate::METRICS;
    const DOC: kit::Doc = doc!("get_pattern_reuse.rs");
    const ALIASES: &'static [&'static str] = &["getPatternReuse"];
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("data");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "minReuseCount": 3, "sortBy": "recent" })]
    }
}

impl Read for GetPatternReuse {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let (libraries, used) = (service(&desk)?, used(&desk).await?);
        let id = input.pattern_id.as_deref().map(PatternId::new).transpose();
        let id = id.map_err(|e| Fault::invalid(format!("patternId: {e}")))?;
        desk.blocking(move |desk| {
            let looked = libraries.look(desk, &used, Again::Changed)?;
            let held = looked.hold();
            let only = id.as_ref().map(|id| held.resolve(id)).transpose()?;
            let only = only.map(|(library, item)| (library.name.clone(), item.id.short().to_owned()));
            let mut all = Vec::new();
            for (library, stock) in held.iter() {
                for (id, item) in &stock.items {
                    if only.as_ref().is_some_and(|(name, only)| *name != library.name || only != id) {
                        continue;
                    }
                    let recorded =
                        used.iter().find(|u| u.library == library.name.as_str() && u.pattern == *id);
                    let count = recorded.map_or(item.stated, |used| used.count(item.stated));
                    // Of a pattern that is asked for by its id, also that it was never used.
                    if only.is_none() && count < input.min_reuse_count {
                        continue;
                    }
                    all.push(Reused {
                        pattern_id: id.clone(),
                        library: library.name.to_string(),
                        category: item.id.category().to_owned(),
                        reuse_count: count,
                        recorded: recorded.map_or(0, |used| used.recorded),
                        projects: recorded.map(|used| used.projects.clone()).unwrap_or_default(),
                        first_used: recorded.map(|used| used.first),
                        last_used: recorded.map(|used| used.last),
                        quality: item.quality.map(|score: Score| f64::from(score.tenths()) / 10.0),
                        verified: is_verified(count),
                    });
                }
            }
            all.sort_by(|a, b| {
                let first = match input.sort_by {
                    SortBy::ReuseCount => b.reuse_count.cmp(&a.reuse_count),
                    SortBy::Recent => b.last_used.cmp(&a.last_used),
                    SortBy::Category => std::cmp::Ordering::Equal,
                };
                first.then_with(|| (&a.pattern_id, &a.library).cmp(&(&b.pattern_id, &b.library)))
            });
            let total = all.len() as u64;
            let mut message = format!("{}.\n", counted(total, "pattern"));
            for one in all.iter().take(20) {
                let verified = if one.verified { ", verified" } else { "" };
                message.push_str(&format!(
                    "- **{}**: used {} times{verified}\n",
                    text(&one.pattern_id),
                    one.reuse_count
                ));
            }
            let mut answer = Answer::new(message, Output { data: all });
            answer.results = Some(total);
            answer.list = Some(List { field: "data".to_owned(), total, offset: 0 });
            Ok(answer)
        })
        .await
    }
}
