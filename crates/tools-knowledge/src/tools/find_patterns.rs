//! Find the pattern that fits.
//!
//! Searches names, tags, descriptions, headings, code and texts of all libraries, forgives typos, splits identifiers, and says of each hit why
//! it was found. `comprehensive` also guesses at unfinished and misspelt words, prefers words that stand together, and shows where. Words in
//! "quotes" stand so; -words must not be there. Then `load_skill` for the one.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::Category;
use schemars::JsonSchema;
use search::{Filters, Order};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::finding::{Asked, Index, Shown, answered, find};

/// How hard to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// What is asked for.
    #[default]
    Fast,
    /// What may be meant, too.
    Comprehensive,
}

impl From<Mode> for search::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Fast => Self::Fast,
            Mode::Comprehensive => Self::Comprehensive,
        }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What to look for.
    #[schemars(length(min = 1, max = 256))]
    query: String,
    /// How hard to look.
    #[serde(default)]
    mode: Mode,
    /// Those that are filed there.
    #[serde(default)]
    category: Option<Category>,
    /// Those of this quality and better.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    min_quality: Option<f64>,
    /// Only those that were used three times or more.
    #[serde(default)]
    verified_only: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The patterns, the best first.
    data: Vec<Shown>,
    /// How it was looked for.
    search_mode: Mode,
    /// What was looked through.
    index: Index,
}

/// The tool.
#[derive(Debug, Default)]
pub struct FindPatterns;

impl Define for FindPatterns {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "find_patterns";
    const TOOLSET: Toolset = crate::PATTERNS;
    const DOC: kit::Doc = doc!("find_patterns.rs");
    const ALIASES: &'static [&'static str] = &["findPatterns"];
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("data");
    const PAGE: u32 = 10;
    const MOST: u32 = 50;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "query": "useAuthToken refresh" }),
            json!({ "query": "paginate large tables", "mode": "comprehensive", "category": "database", "minQuality": 7.0 }),
        ]
    }
}

impl Read for FindPatterns {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let filters = Filters {
            category: input.category.map(|filed| filed.as_str().to_owned()),
            minimum_quality: input.min_quality.map(tenths),
            verified_only: input.verified_only,
            executable_only: false,
        };
        let asked = Asked {
            text: Some(input.query.clone()),
            mode: input.mode.into(),
            filters,
            order: Order::Score,
            explains: true,
        };
        let found = find(&desk, asked).await?;
        let search_mode = input.mode;
        Ok(answered(found, Some(&input.query), |data, index| Output { data, search_mode, index }))
    }
}

/// In tenths, up: what is asked for is reached.
fn tenths(quality: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 100")]
    let tenths = (quality * 10.0).ceil().clamp(0.0, 100.0) as u8;
    tenths
}
