//! Record that a pattern was used.
//!
//! Three uses make it verified. Say so after a pattern was really used in a project, with what for.

use contract::{Fault, Toolset};
use kit::markdown::code;
use kit::{Answer, Define, Record, RecordDesk, doc};
use library::PatternId;
use library::quality::{is_verified, promoted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::Uses;
use store_api::once::Once;
use store_api::uses::NewUse;

use crate::libraries::{service, used};
use crate::project;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The id: `category/name`, with a library in front (`user:`) where another one is meant.
    pattern_id: PatternId,
    /// The project that it was used in: `.` for the root. Its name is kept, never its place.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096))]
    project_path: Option<String>,
    /// What it was used for.
    #[serde(default)]
    #[schemars(length(max = 500))]
    context: Option<String>,
    /// The same key within an hour is the same use.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,128}$"))]
    idempotency_key: Option<String>,
}

/// The pattern now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tracked {
    /// Its id.
    pattern_id: String,
    /// The library that has it.
    library: String,
    /// How often it was used.
    usage_count: u64,
    /// Whether this use made it verified.
    promoted: bool,
    /// Whether it is: three uses or more.
    verified: bool,
    /// Whether the use was recorded already under this key.
    replayed: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The pattern.
    data: Tracked,
}

/// The tool.
#[derive(Debug, Default)]
pub struct TrackPatternUsage;

impl Define for TrackPatternUsage {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "track_pattern_usage";
    const TOOLSET: Toolset = crate::PATTERNS;
    const DOC: kit::Doc = doc!("track_pattern_usage.rs");
    const ALIASES: &'static [&'static str] = &["trackPatternUsage"];
    const NEEDS_ROOT: bool = false;
    const PROJECT: Option<&'static str> = Some("projectPath");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "patternId": "database/rls-policy" }),
            json!({ "patternId": "backend/retry-backoff", "projectPath": ".", "context": "calls to the payment service" }),
        ]
    }
}

impl Record for TrackPatternUsage {
    type Store = dyn Uses;

    async fn record(&self, input: Input, desk: RecordDesk<dyn Uses>) -> Result<Answer<Output>, Fault> {
        let id = input.pattern_id.clone();
        let folder = input.project_path.as_deref().map(project::folder).transpose()?;
        let (libraries, known) = (service(&desk)?, used(&desk).await?);
        let wanted = id.clone();
        let (library, stated, project) = desk
            .blocking(move |desk| {
                let (library, item) = libraries.pattern(desk, &known, &wanted)?;
                let named = folder.map(|folder| {
                    project::check(desk, folder.as_ref())?;
                    let root = desk.view().root().name().to_owned();
                    Ok::<_, Fault>(folder.map_or(root.clone(), |folder| format!("{root}/{folder}")))
                });
                Ok((library.name.to_string(), item.stated, named.transpose()?))
            })
            .await?;
        let digest = contract::Digest::of(
            &json!([library, id.short(), project, input.context]).to_string().into_bytes(),
        );
        let once = input.idempotency_key.map(|key| Once {
            owner: desk.principal().key().to_string(),
            key,
            request: digest,
        });
        let used = NewUse {
            library: library.clone(),
            pattern: id.short().to_owned(),
            project,
            context: input.context.map(|context| desk.cleaned(&context)).unwrap_or_default(),
            stated,
        };
        let done = desk.store().record_use(used, once).await?;
        let count = done.value.count(stated);
        let data = Tracked {
            pattern_id: id.short().to_owned(),
            library,
            usage_count: count,
            promoted: promoted(count.saturating_sub(1), count),
            verified: is_verified(count),
            replayed: done.replayed,
        };
        let verified = if data.promoted {
            ": it is verified from now on"
        } else if data.verified {
            ": it is verified"
        } else {
            ""
        };
        let message = format!("{} was used {} times{verified}.", code(&data.pattern_id), data.usage_count);
        Ok(Answer::new(message, Output { data }))
    }
}
