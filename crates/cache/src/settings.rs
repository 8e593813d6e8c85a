//! The configuration's `cache` section.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::namespace::Namespace;

/// Most entries that may be configured.
pub const MAX_SIZE: usize = 100_000;

/// How much is kept, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    /// Whether anything is kept.
    pub enabled: bool,
    /// Most entries, over all namespaces.
    pub max_size: usize,
    /// Most memory, in mebibytes.
    #[serde(rename = "maxMemoryMB")]
    pub max_memory_mb: u64,
    /// Lifetimes by namespace, in milliseconds.
    pub ttl: BTreeMap<Namespace, u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, max_size: 500, max_memory_mb: 100, ttl: BTreeMap::new() }
    }
}

impl Settings {
    /// How long answers of a namespace last; zero keeps none.
    #[must_use]
    pub fn ttl(&self, namespace: Namespace) -> Duration {
        self.ttl.get(&namespace).map_or_else(|| namespace.default_ttl(), |ms| Duration::from_millis(*ms))
    }

    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_memory_mb.saturating_mul(1024 * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_is_read_and_an_unknown_key_is_refused() {
        let text = r#"{"enabled":true,"maxSize":9,"maxMemoryMB":2,"ttl":{"project-detection":1500}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!((settings.max_size, settings.max_bytes()), (9, 2 * 1024 * 1024));
        assert_eq!(settings.ttl(Namespace::ProjectDetection), Duration::from_millis(1500));
        assert_eq!(settings.ttl(Namespace::GitReads), Duration::from_secs(30));
        assert!(serde_json::from_str::<Settings>(r#"{"maxsize":9}"#).is_err());
        assert!(serde_json::from_str::<Settings>(r#"{"ttl":{"nothing":9}}"#).is_err());
    }
}
