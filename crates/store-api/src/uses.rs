//! Which patterns were used, how often and where: what makes one verified.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Answer;
use crate::error::StoreError;
use crate::once::{Done, Once};
use crate::text::{MAX_KEY, at_most, named};
use crate::time::Timestamp;

/// Most bytes of what is said of a use.
pub const MAX_CONTEXT: usize = 2_000;
/// Most patterns that are listed.
pub const MAX_LISTED: u32 = 100_000;

/// A use of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewUse {
    /// The library that has it.
    pub library: String,
    /// Its id in there, `category/name`.
    pub pattern: String,
    /// The name of the root that it was used in; never a path.
    pub project: Option<String>,
    /// What it was used for; empty, where nothing is said.
    pub context: String,
    /// How often it was used already, as its file says: what is counted here begins there, the first time.
    pub stated: u64,
}

impl NewUse {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        named("library", &self.library, MAX_KEY)?;
        named("pattern", &self.pattern, MAX_KEY)?;
        if let Some(project) = &self.project {
            named("project", project, MAX_KEY)?;
        }
        if i64::try_from(self.stated).is_err() {
            return Err(StoreError::Invalid {
                what: "uses of a pattern",
                why: "they are more than can be counted",
            });
        }
        at_most("what a pattern was used for", &self.context, MAX_CONTEXT)
    }
}

/// What is known of a pattern's uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// The library that has it.
    pub library: String,
    /// Its id in there.
    pub pattern: String,
    /// How often it had been used by its file when it was first recorded here.
    pub stated: u64,
    /// How often a use was recorded.
    pub recorded: u64,
    /// When the first use was recorded.
    pub first: Timestamp,
    /// When the last use was recorded.
    pub last: Timestamp,
    /// The roots that it was used in, by name.
    pub projects: Vec<String>,
}

impl Used {
    /// How often it was used, where its file says `stated` now: whoever writes counts back into files counts no use twice.
    #[must_use]
    pub fn count(&self, stated: u64) -> u64 {
        stated.max(self.stated.saturating_add(self.recorded))
    }
}

/// Uses of patterns.
pub trait Uses: Send + Sync {
    /// Records a use; what is known then.
    fn record_use(&self, used: NewUse, once: Option<Once>) -> Answer<Done<Used>>;

    /// What is known of one pattern's uses.
    fn used(&self, library: String, pattern: String) -> Answer<Option<Used>>;

    /// What is known of all, by library and pattern: at most [`MAX_LISTED`].
    fn all_used(&self) -> Answer<Arc<[Used]>>;
}
