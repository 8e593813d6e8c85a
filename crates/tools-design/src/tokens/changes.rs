//! How the tokens of one build differ from those of another.

use std::collections::BTreeMap;

use design_tokens::Compiled;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LISTED;

/// One token whose value differs from the last build.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Changed {
    /// The token's path, and the mode where it is not the default.
    pub(crate) id: String,
    /// Before.
    pub(crate) before: String,
    /// After.
    pub(crate) after: String,
}

/// What differs from the last build of the same source; lists are cut, counts are not.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changes {
    /// How many tokens are new.
    pub(crate) added_count: u64,
    /// How many have another value.
    pub(crate) changed_count: u64,
    /// How many are gone.
    pub(crate) removed_count: u64,
    /// New tokens.
    pub(crate) added: Vec<String>,
    /// Tokens with another value.
    pub(crate) changed: Vec<Changed>,
    /// Tokens that are gone.
    pub(crate) removed: Vec<String>,
}

/// What a build leaves beside its files, for the next one to compare with.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) source: String,
    /// Per mode (the default's name is empty), every token's CSS text.
    pub(crate) tokens: BTreeMap<String, BTreeMap<String, String>>,
}

/// The CSS text of every token, by mode.
pub(crate) fn values(compiled: &Compiled) -> BTreeMap<String, BTreeMap<String, String>> {
    let css = |tokens: &design_tokens::Tokens| {
        tokens.iter().map(|(id, token)| (id.clone(), design_tokens::diff::shown(&token.value))).collect()
    };
    compiled.permutations().map(|(mode, tokens)| (mode.to_owned(), css(tokens))).collect()
}

/// What differs between two builds; without one before, everything is new.
pub(crate) fn compare(before: Option<&Manifest>, after: &Manifest) -> Changes {
    let mut changes = Changes::default();
    let empty = BTreeMap::new();
    for (mode, tokens) in &after.tokens {
        let old = before.and_then(|b| b.tokens.get(mode)).unwrap_or(&empty);
        let name = |id: &String| if mode.is_empty() { id.clone() } else { format!("{id} ({mode})") };
        for (id, value) in tokens {
            match old.get(id) {
                Some(same) if same == value => {}
                Some(other) => {
                    changes.changed_count += 1;
                    if changes.changed.len() < LISTED {
                        let (before, after) = (other.clone(), value.clone());
                        changes.changed.push(Changed { id: name(id), before, after });
                    }
                }
                None if mode.is_empty() => {
                    changes.added_count += 1;
                    if changes.added.len() < LISTED {
                        changes.added.push(id.clone());
                    }
                }
                None => {}
            }
        }
        for id in old.keys().filter(|id| mode.is_empty() && !tokens.contains_key(*id)) {
            changes.removed_count += 1;
            if changes.removed.len() < LISTED {
                changes.removed.push(id.clone());
            }
        }
    }
    changes
}
