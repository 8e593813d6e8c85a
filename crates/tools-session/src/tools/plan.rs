//! The plan of the week.
//!
//! Reads `docs/planning/WEEKLY_PLAN.md` (or what `[documents] weekly-plan` names) and says whether it is valid, stale after seven
//! days, or missing, with its sections.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::here::Here;
use crate::weekly::{DatedBy, Freshness, Section, Weekly};
use kit::markdown::{code, text};

/// The arguments: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Whether it is of this week.
    freshness: Freshness,
    /// Where it is, or should be.
    path: String,
    /// How old it is, in whole days.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_days: Option<i64>,
    /// What its date is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    dated_by: Option<DatedBy>,
    /// Its parts.
    sections: Vec<Section>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Plan;

impl Define for Plan {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "plan";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("plan.rs");
    const LIST: Option<&'static str> = Some("sections");

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for Plan {
    async fn read(&self, _: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let Weekly { freshness, path, age_days, dated_by, sections } =
            Weekly::look(&desk, here.workplace.now()).await?;
        let days = age_days.unwrap_or_default();
        let mut message = match freshness {
            Freshness::Missing => {
                format!("There is no {}: write one, with the day in its first heading.", code(&path))
            }
            Freshness::Stale => format!("{} is stale: {days} days old.", code(&path)),
            Freshness::Valid => format!("{} is valid: {days} days old.", code(&path)),
        };
        if !sections.is_empty() {
            message.push('\n');
        }
        for section in sections.iter().filter(|section| section.level > 0) {
            message.push_str(&format!(
                "{}- {}\n",
                "  ".repeat(usize::from(section.level) - 1),
                text(&section.heading)
            ));
        }
        Ok(Answer::new(message, Output { freshness, path, age_days, dated_by, sections }))
    }
}
