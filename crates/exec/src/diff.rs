//! Unified diffs of a plan, to a budget.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use contract::effect::Change;
use contract::{Digest, Effect, State};
use similar::{Algorithm, TextDiff};

use crate::jail;
use crate::root::Root;

/// A file larger than this is described, not compared.
const MAX_COMPARED: u64 = 4 * 1024 * 1024;

/// Longest that one comparison may take before it settles for a coarser one.
const DEADLINE: Duration = Duration::from_millis(500);

/// Longest that all comparisons of one plan may take; files that are left after it are named, not compared.
const ALL: Duration = Duration::from_secs(5);

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
    let deadline = Instant::now() + ALL;
    for effect in effects {
        let left = budget.saturating_sub(diff.text.len());
        let text = match effect {
            Effect::Branch(branch) => {
                let mut text = format!("new branch {}\n", branch.name);
                for change in &branch.changes {
                    let sign = if change.after == State::Absent { '-' } else { '+' };
                    text.push_str(&format!("{sign} {}\n", change.path));
                }
                (text, 0)
            }
            Effect::Refs(refs) => (crate::refs::told::told(root, refs, blobs), 0),
            Effect::Push(push) => (crate::push::told(push), 0),
            Effect::Request(request) => {
                let body = blobs.get(&request.body).map(Vec::as_slice).unwrap_or_default();
                (format!("{} {}\n{}", request.method, request.url, sent(body, left, clean)), 0)
            }
            Effect::Put(c) | Effect::Remove(c) | Effect::Symlink(c) | Effect::Append(c) => {
                one(root, c, blobs, left, deadline, clean)
            }
        };
        let (text, unshown) = text;
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
        diff.total += unshown;
        *(if text.contains("\n+++ /dev/null\n") { &mut diff.removed } else { &mut diff.added }) += unshown;
    }
    diff
}

/// Most characters of a line of a member.
const WIDE: usize = 160;

/// Members of an object, the short ones first: a long text is what is cut, and never what it stands beside. Of a text each line is one.
fn members(object: serde_json::Map<String, serde_json::Value>) -> String {
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    let mut all: Vec<(String, String)> =
        object.into_iter().map(|(name, value)| (name, text(value))).collect();
    all.sort_by_key(|(name, value)| (value.len() > WIDE || value.contains('\n'), name.clone()));
    let mut out = String::new();
    for (name, value) in all {
        if value.len() <= WIDE && !value.contains('\n') {
            out.push_str(&format!("{name}: {value}\n"));
            continue;
        }
        out.push_str(&format!("{name}:\n"));
        for line in value.lines() {
            let line: Vec<char> = line.chars().collect();
            let parts = if line.is_empty() { vec![&line[..]] } else { line.chunks(WIDE).collect() };
            for part in parts {
                out.push_str(&format!("  {}\n", part.iter().collect::<String>()));
            }
        }
    }
    out
}

/// What a request says, a line for each member where it is a JSON object; bytes are counted.
fn sent(body: &[u8], budget: usize, clean: &dyn Fn(&str) -> String) -> String {
    let Ok(text) = std::str::from_utf8(body) else { return format!("  {} bytes\n", body.len()) };
    let parsed: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(text).ok();
    let (shown, left_out) = whole('+', &parsed.map_or_else(|| text.to_owned(), members), budget, clean);
    let mut said: String =
        shown.lines().skip(1).filter_map(|line| Some(format!("  {}\n", line.strip_prefix('+')?))).collect();
    if left_out > 0 {
        said.push_str(&format!("  and {left_out} more lines\n"));
    }
    said
}

/// How much more of a text than is shown is cleaned: whatever begins in what is shown ends in it.
const MARGIN: usize = 64 * 1024;

/// A text that is created or removed whole: no line of it needs comparing, and none that is not shown needs cleaning.
/// The second value is how many lines are left out.
fn whole(sign: char, text: &str, budget: usize, clean: &dyn Fn(&str) -> String) -> (String, u64) {
    let lines = text.lines().count();
    let enough = budget.saturating_add(MARGIN);
    let end = (enough..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = text[..end].rfind('\n').filter(|_| end < text.len()).map_or(end, |at| at + 1);
    let left_out = text[end..].lines().count();
    let range = if sign == '+' { format!("@@ -0,0 +1,{lines} @@") } else { format!("@@ -1,{lines} +0,0 @@") };
    let mut shown = clean(&text[..end]).lines().fold(range, |mut all, line| {
        all.push('\n');
        all.push(sign);
        all.push_str(line);
        all
    });
    if !text.is_empty() && !text.ends_with('\n') && end == text.len() {
        shown.push_str("\n\\ No newline at end of file");
    }
    shown.push('\n');
    (shown, left_out as u64)
}

fn one(
    root: &Root,
    change: &Change,
    blobs: &BTreeMap<Digest, Vec<u8>>,
    budget: usize,
    deadline: Instant,
    clean: &dyn Fn(&str) -> String,
) -> (String, u64) {
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
    let header = format!("--- {old}\n+++ {new}\n");
    let (Some(before), Some(after)) = (before, after) else {
        return (format!("{header}  large: {} becomes {}\n", change.before, change.after), 0);
    };
    let (Ok(before), Ok(after)) = (std::str::from_utf8(&before), std::str::from_utf8(&after)) else {
        return (format!("{header}  binary: {} becomes {}\n", change.before, change.after), 0);
    };
    match (before.is_empty(), after.is_empty()) {
        (true, false) => {
            let (text, left_out) = whole('+', after, budget, clean);
            return (header + &text, left_out);
        }
        (false, true) => {
            let (text, left_out) = whole('-', before, budget, clean);
            return (header + &text, left_out);
        }
        (true, true) if change.before == State::Absent || change.after == State::Absent => {
            return (header + "  an empty file\n", 0);
        }
        _ => {}
    }
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return (format!("{header}  not compared: {} becomes {}\n", change.before, change.after), 0);
    }
    let differ = before != after;
    let (before, after) = (clean(before), clean(after));
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DEADLINE.min(left))
        .diff_lines(before.as_str(), after.as_str());
    let text = compared.unified_diff().context_radius(3).header(&old, &new).to_string();
    match (text.is_empty(), differ) {
        (false, _) => (text, 0),
        (true, true) => (header + "  only what is redacted here differs\n", 0),
        (true, false) => (header + "  only the mode differs\n", 0),
    }
}
