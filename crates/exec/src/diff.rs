//! Unified diffs of a plan, to a budget.

use std::collections::BTreeMap;

use contract::effect::Change;
use contract::{Digest, Effect, State};
use similar::{Algorithm, TextDiff};

use crate::jail;
use crate::root::Root;

/// A file larger than this is described, not compared.
const MAX_COMPARED: u64 = 4 * 1024 * 1024;

/// Longest that one comparison may take before it settles for a coarser one.
const DEADLINE: std::time::Duration = std::time::Duration::from_millis(500);

/// A plan's diff, and how much of it is shown.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Unified diffs, one after the other, cut at a hunk or line when they are too long.
    pub text: String,
    /// Lines shown.
    pub shown: u64,
    /// Lines there are.
    pub total: u64,
    /// Lines added, over the whole plan.
    pub added: u64,
    /// Lines removed, over the whole plan.
    pub removed: u64,
}

/// The diff of `effects` against what stands in `root`; new bytes come from `blobs`. At most `budget` characters are shown.
///
/// `clean` takes secrets out of whole texts before they are compared: a hunk may show the end of a key without its
/// beginning, which nobody would recognise.
#[must_use]
pub fn of(
    root: &Root,
    effects: &[Effect],
    blobs: &BTreeMap<Digest, Vec<u8>>,
    budget: usize,
    clean: &dyn Fn(&str) -> String,
) -> Diff {
    let mut diff = Diff::default();
    for effect in effects {
        let text = match effect {
            Effect::Branch(branch) => {
                let mut text = format!("new branch {}\n", branch.name);
                for change in &branch.changes {
                    let sign = if change.after == State::Absent { '-' } else { '+' };
                    text.push_str(&format!("{sign} {}\n", change.path));
                }
                text
            }
            Effect::Request(request) => format!("{} {}\n", request.method, request.url),
            Effect::Put(c) | Effect::Remove(c) | Effect::Symlink(c) | Effect::Append(c) => {
                one(root, c, blobs, clean)
            }
        };
        for line in text.lines() {
            diff.total += 1;
            diff.added += u64::from(line.starts_with('+') && !line.starts_with("+++ "));
            diff.removed += u64::from(line.starts_with('-') && !line.starts_with("--- "));
            if diff.shown + 1 == diff.total && diff.text.len() + line.len() < budget {
                diff.text.push_str(line);
                diff.text.push('\n');
                diff.shown += 1;
            }
        }
    }
    diff
}

fn one(
    root: &Root,
    change: &Change,
    blobs: &BTreeMap<Digest, Vec<u8>>,
    clean: &dyn Fn(&str) -> String,
) -> String {
    let before = match &change.before {
        State::File { bytes, .. } if *bytes <= MAX_COMPARED => {
            jail::read(root.dir(), &change.path).ok().map(|(bytes, _)| bytes)
        }
        State::Absent => Some(Vec::new()),
        State::Symlink { target } => Some(format!("{target}\n").into_bytes()),
        _ => None,
    };
    let after = match &change.after {
        State::File { digest, bytes, .. } if *bytes <= MAX_COMPARED => blobs.get(digest).cloned(),
        State::Absent => Some(Vec::new()),
        State::Symlink { target } => Some(format!("{target}\n").into_bytes()),
        _ => None,
    };
    let name = |side: &str, state: &State| match state {
        State::Absent => "/dev/null".to_owned(),
        _ => format!("{side}/{}", change.path),
    };
    let (old, new) = (name("a", &change.before), name("b", &change.after));
    let (Some(before), Some(after)) = (before, after) else {
        return format!("--- {old}\n+++ {new}\n  large: {} becomes {}\n", change.before, change.after);
    };
    let (Ok(before), Ok(after)) = (std::str::from_utf8(&before), std::str::from_utf8(&after)) else {
        return format!("--- {old}\n+++ {new}\n  binary: {} becomes {}\n", change.before, change.after);
    };
    let differ = before != after;
    let (before, after) = (clean(before), clean(after));
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DEADLINE)
        .diff_lines(before.as_str(), after.as_str());
    let text = compared.unified_diff().context_radius(3).header(&old, &new).to_string();
    match (text.is_empty(), differ) {
        (false, _) => text,
        (true, true) => format!("--- {old}\n+++ {new}\n  only what is redacted here differs\n"),
        (true, false) => format!("--- {old}\n+++ {new}\n  only the mode differs\n"),
    }
}
