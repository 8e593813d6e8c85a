//! How much smaller a session became.

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// What a ratio was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ComputedFrom {
    /// `tokens { original, compressed }` of the metrics.
    Metrics,
    /// `compression { ratio, tokensBeforeFinalization }` of the pack.
    Pack,
    /// The session's raw files, counted against its summary.
    Files,
}

/// The compression of one session.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compression {
    /// Tokens before; none where only the ratio is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_tokens: Option<u64>,
    /// Tokens after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressed_tokens: Option<u64>,
    /// In percent: (original − compressed) / original × 100. Negative where it grew.
    pub compression_ratio: f64,
    /// Tokens that were saved; negative where it grew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub savings: Option<i64>,
    /// From what.
    pub computed_from: ComputedFrom,
}

/// Why there is no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoRatio {
    /// Nothing states it and nothing can be counted.
    #[error(
        "no metrics, no pack and no raw files: keep `tokens {{ original, compressed }}` in the session's metrics.json"
    )]
    Nothing,
    /// What is there cannot be one.
    #[error("the figures that are stated make no ratio: original tokens must be more than none")]
    Figures,
}

/// The ratio of a session, by the first that there is: its metrics, its pack, tokens counted of raw files and summary.
pub fn compression(
    metrics: Option<&Value>,
    pack: Option<&Value>,
    counted: Option<(u64, u64)>,
) -> Result<Compression, NoRatio> {
    let stated = metrics.and_then(|m| m.get("tokens"));
    if let Some(tokens) = stated {
        let count = |key: &str| tokens.get(key).and_then(number);
        if let Some(found) =
            count("original").zip(count("compressed")).and_then(|(o, c)| of(o, c, ComputedFrom::Metrics))
        {
            return Ok(found);
        }
    }
    let packed = pack.and_then(|p| p.get("compression"));
    if let Some(found) = packed.and_then(of_pack) {
        return Ok(found);
    }
    if let Some(found) =
        counted.and_then(|(original, compressed)| of(original, compressed, ComputedFrom::Files))
    {
        return Ok(found);
    }
    Err(if stated.is_some() || packed.is_some() || counted.is_some() {
        NoRatio::Figures
    } else {
        NoRatio::Nothing
    })
}

/// A whole number that is none below zero; `1000.0` is one.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        let whole = float.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&float);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and within both")]
        if whole { Some(float as u64) } else { None }
    })
}

fn of(original: u64, compressed: u64, computed_from: ComputedFrom) -> Option<Compression> {
    if original == 0 {
        return None;
    }
    let savings = i128::from(original) - i128::from(compressed);
    let savings = i64::try_from(savings).ok()?;
    #[allow(clippy::cast_precision_loss, reason = "a ratio; counts are far below 2^53")]
    let ratio = savings as f64 / original as f64 * 100.0;
    Some(Compression {
        original_tokens: Some(original),
        compressed_tokens: Some(compressed),
        compression_ratio: ratio,
        savings: Some(savings),
        computed_from,
    })
}

/// A ratio of at most 1 is a share, a greater one percent.
fn of_pack(stated: &Value) -> Option<Compression> {
    let ratio = stated.get("ratio")?.as_f64().filter(|r| r.is_finite() && *r <= 100.0)?;
    let percent = if ratio <= 1.0 { ratio * 100.0 } else { ratio };
    let before = stated.get("tokensBeforeFinalization").and_then(number).filter(|n| *n > 0);
    let after = stated.get("tokensAfterFinalization").and_then(number);
    match (before, after) {
        (Some(before), Some(after)) => of(before, after, ComputedFrom::Pack),
        (before, _) => {
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rounded, and never below zero: `as` saturates"
            )]
            let after = before.map(|before| (before as f64 * (1.0 - percent / 100.0)).round() as u64);
            let savings =
                before.zip(after).and_then(|(b, a)| i64::try_from(i128::from(b) - i128::from(a)).ok());
            Some(Compression {
                original_tokens: before,
                compressed_tokens: after,
                compression_ratio: percent,
                savings,
                computed_from: ComputedFrom::Pack,
            })
        }
    }
}

/// Sessions together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Aggregate {
    /// How many have a ratio.
    pub total_sessions: usize,
    /// The mean of their ratios, in percent; 0 of none.
    pub avg_compression_ratio: f64,
    /// The sum of what was saved; those that grew count against it.
    pub total_tokens_saved: i64,
    /// The number of the one with the highest ratio, the first of several.
    #[serde(skip)]
    pub best: Option<usize>,
    /// The number of the one with the lowest.
    #[serde(skip)]
    pub worst: Option<usize>,
}

/// Sessions together, `best` and `worst` as numbers in the slice.
pub fn aggregate(sessions: &[Compression]) -> Aggregate {
    let sum: f64 = sessions.iter().map(|s| s.compression_ratio).sum();
    #[allow(clippy::cast_precision_loss, reason = "a count of files")]
    let average = if sessions.is_empty() { 0.0 } else { sum / sessions.len() as f64 };
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    let ratio = |at: &usize| sessions.get(*at).map_or(0.0, |s| s.compression_ratio);
    order.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let worst = order.last().map(ratio);
    Aggregate {
        total_sessions: sessions.len(),
        avg_compression_ratio: average,
        total_tokens_saved: sessions.iter().filter_map(|s| s.savings).fold(0, i64::saturating_add),
        best: order.first().copied(),
        worst: order.iter().copied().find(|at| Some(ratio(at)) == worst),
    }
}
