//! What the cache did, for `get_performance_metrics`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::namespace::Namespace;

/// What the cache did since it began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    /// Whether anything is kept.
    pub enabled: bool,
    /// Answers kept now.
    pub entries: usize,
    /// Most answers kept.
    pub max_entries: usize,
    /// Memory of the answers, in bytes.
    pub bytes: u64,
    /// Most memory, in bytes.
    pub max_bytes: u64,
    /// Answers given again.
    pub hits: u64,
    /// Answers computed.
    pub misses: u64,
    /// Hits among all, 0 to 1.
    pub hit_rate: f64,
    /// The same by namespace.
    pub namespaces: Vec<NamespaceMetrics>,
}

/// What one namespace did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceMetrics {
    /// Which one.
    pub namespace: Namespace,
    /// Lifetime of its answers, in milliseconds.
    pub ttl: u64,
    /// Answers kept now.
    pub entries: usize,
    /// Memory of its answers, in bytes.
    pub bytes: u64,
    /// Answers given again.
    pub hits: u64,
    /// Answers computed.
    pub misses: u64,
    /// Hits among all, 0 to 1.
    pub hit_rate: f64,
    /// Answers dropped to make room.
    pub evictions: u64,
    /// Answers dropped because files changed.
    pub invalidations: u64,
    /// Answers dropped because of age.
    pub expirations: u64,
    /// Answers too large to keep.
    pub rejected: u64,
}

/// The counters behind one namespace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) evictions: u64,
    pub(crate) invalidations: u64,
    pub(crate) expirations: u64,
    pub(crate) rejected: u64,
}

/// Hits among all; 0 where there were none.
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub(crate) fn rate(hits: u64, misses: u64) -> f64 {
    if hits == 0 { 0.0 } else { hits as f64 / (hits as f64 + misses as f64) }
}
