//! List patterns of the libraries.
//!
//! The best first: by quality, then by name. `keyword` keeps those that have one of its words; without it all are listed. To find the one
//! that fits best, with why it fits, ask `find_patterns`; `load_skill` reads one.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::Category;
use schemars::JsonSchema;
use search::{Filters, Mode, Order};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::finding::{Asked, Index, Shown, answered, find};

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Words: those that have one of them.
    #[serde(default)]
    #[schemars(length(min = 1, max = 256))]
    keyword: Option<String>,
    /// Those that are filed there.
    #[serde(default)]
    category: Option<Category>,
    /// Only those that have code that can be run.
    #[serde(default)]
    include_executable: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The patterns.
    data: Vec<Shown>,
    /// What was looked through.
    index: Index,
}

/// The tool.
#[derive(Debug, Default)]
pub struct SearchPatterns;

impl Define for SearchPatterns {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "search_patterns";
    const TOOLSET: Toolset = crate::PATTERNS;
    const DOC: kit::Doc = doc!("search_patterns.rs");
    const ALIASES: &'static [&'static str] = &["searchPatterns"];
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("data");
    const PAGE: u32 = 20;
    const MOST: u32 = 200;

    fn examples() -> Vec<Value> {
        vec![json!({ "category": "security" }), json!({ "keyword": "retry", "includeExecutable": true })]
    }
}

impl Read for SearchPatterns {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let filters = Filters {
            category: input.category.map(|filed| filed.as_str().to_owned()),
            executable_only: input.include_executable,
            ..Filters::default()
        };
        let asked = Asked {
            text: input.keyword.clone(),
            mode: Mode::Fast,
            filters,
            order: Order::Quality,
            explains: false,
        };
        let found = find(&desk, asked).await?;
        Ok(answered(found, input.keyword.as_deref(), |data, index| Output { data, index }))
    }
}
