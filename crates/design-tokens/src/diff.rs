//! What differs between two builds of the same source: added, removed, changed and renamed tokens, and what kind of
//! release they ask for.

use std::collections::{BTreeMap, BTreeSet};

use crate::compile::Compiled;
use crate::emit::css_value;
use crate::resolve::Token;
use crate::value::{Dimension, Type, Value};

/// What became of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is gone, and nothing took its place.
    Removed,
    /// It has another name, and the same value in every mode.
    Renamed,
    /// It has another value, type, reference or note of deprecation.
    Changed,
    /// It is new.
    Added,
}

/// What of a token is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// Its type.
    Type,
    /// Its value in some mode.
    Value,
    /// Which token it refers to; its value is the same.
    Reference,
    /// Whether it is deprecated.
    Deprecated,
}

/// What a release must say it is, by Semantic Versioning: names and types are what users build on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bump {
    /// Nothing differs.
    None,
    /// Values differ.
    Patch,
    /// There is something new to use, or something will go.
    Minor,
    /// Something that was there is gone, or has another name or type.
    Major,
}

/// A token's value on both sides, in one mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The mode; empty for the default.
    pub mode: String,
    /// CSS text before; `None` where the token is not there.
    pub before: Option<String>,
    /// CSS text after.
    pub after: Option<String>,
    /// How far apart: colours by [`crate::value::Color::distance`], lengths and times in the unit both have.
    pub distance: Option<f64>,
}

/// One token that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenChange {
    /// What became of it.
    pub kind: ChangeKind,
    /// Its path now; of a removed one, its path then.
    pub id: String,
    /// Its path before, of a renamed one.
    pub was: Option<String>,
    /// Its type now; of a removed one, then.
    pub ty: Type,
    /// What is not as it was; empty but for changed ones.
    pub aspects: Vec<Aspect>,
    /// Its values in the modes where they differ; of added, removed and renamed ones in every mode.
    pub values: Vec<Values>,
    /// What it asks of a release.
    pub bump: Bump,
}

/// All that differs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Difference {
    /// The tokens, the gravest kind first, by path.
    pub tokens: Vec<TokenChange>,
    /// Modes that are new.
    pub modes_added: Vec<String>,
    /// Modes that are gone.
    pub modes_removed: Vec<String>,
}

impl Difference {
    /// What the whole asks of a release.
    #[must_use]
    pub fn bump(&self) -> Bump {
        let of_modes = if !self.modes_removed.is_empty() {
            Bump::Major
        } else if !self.modes_added.is_empty() {
            Bump::Minor
        } else {
            Bump::None
        };
        self.tokens.iter().map(|t| t.bump).max().unwrap_or(Bump::None).max(of_modes)
    }

    /// How many tokens became `kind`.
    #[must_use]
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.tokens.iter().filter(|t| t.kind == kind).count()
    }
}

/// How alike two names must be where the value tells which is meant, and where several have it.
const ALIKE_ALONE: f64 = 0.7;
const ALIKE_AMONG: f64 = 0.85;

/// Most pairs of names with one value that are weighed; where there are more, nobody could say which is meant.
const MOST_PAIRS: usize = 250_000;

/// A value as both sides are compared by: the format's own JSON, without what is only a fallback.
fn compared(value: &Value) -> String {
    match value {
        Value::Color(color) => format!("{:?} {:?} {}", color.space, color.components, color.alpha),
        other => format!("{} {}", shown(other), other.to_json()),
    }
}

/// A value as people read it.
#[must_use]
pub fn shown(value: &Value) -> String {
    match value {
        Value::Typography(_) => value.to_json().to_string(),
        other => css_value(other),
    }
}

/// A build's token of one name, per mode.
type PerMode<'c> = BTreeMap<&'c str, &'c Token>;

fn by_mode<'c>(compiled: &'c Compiled, id: &str) -> PerMode<'c> {
    compiled.permutations().filter_map(|(mode, tokens)| Some((mode, tokens.get(id)?))).collect()
}

/// Every path that any mode has.
fn ids(compiled: &Compiled) -> BTreeSet<&str> {
    compiled.permutations().flat_map(|(_, tokens)| tokens.keys().map(String::as_str)).collect()
}

/// What differs from `before` to `after`.
#[must_use]
pub fn diff(before: &Compiled, after: &Compiled) -> Difference {
    let (old, new) = (ids(before), ids(after));
    let removed: Vec<&str> = old.difference(&new).copied().collect();
    let added: Vec<&str> = new.difference(&old).copied().collect();
    let renames = renames(before, after, &removed, &added);
    let mut tokens = Vec::new();
    for (from, to) in &renames {
        let (then, now) = (by_mode(before, from), by_mode(after, to));
        tokens.extend(change(ChangeKind::Renamed, to, Some(from), &then, &now, Vec::new(), Bump::Major));
    }
    for id in removed.iter().filter(|id| !renames.contains_key(*id)) {
        let then = by_mode(before, id);
        tokens.extend(change(ChangeKind::Removed, id, None, &then, &PerMode::new(), Vec::new(), Bump::Major));
    }
    let taken: BTreeSet<&str> = renames.values().copied().collect();
    for id in added.iter().filter(|id| !taken.contains(*id)) {
        let now = by_mode(after, id);
        tokens.extend(change(ChangeKind::Added, id, None, &PerMode::new(), &now, Vec::new(), Bump::Minor));
    }
    for id in old.intersection(&new) {
        let (then, now) = (by_mode(before, id), by_mode(after, id));
        let aspects = aspects(&then, &now, &renames);
        let bump = match aspects.first() {
            None => continue,
            Some(Aspect::Type) => Bump::Major,
            _ if aspects.contains(&Aspect::Deprecated) => Bump::Minor,
            Some(_) => Bump::Patch,
        };
        tokens.extend(change(ChangeKind::Changed, id, None, &then, &now, aspects, bump));
    }
    tokens.sort_by(|a, b| (a.kind, &a.id).cmp(&(b.kind, &b.id)));
    let modes = |compiled: &Compiled| -> BTreeSet<String> {
        compiled.modes.iter().map(|mode| mode.options.name.clone()).collect()
    };
    let (then, now) = (modes(before), modes(after));
    Difference {
        tokens,
        modes_added: now.difference(&then).cloned().collect(),
        modes_removed: then.difference(&now).cloned().collect(),
    }
}

fn change(
    kind: ChangeKind,
    id: &str,
    was: Option<&str>,
    before: &PerMode<'_>,
    after: &PerMode<'_>,
    aspects: Vec<Aspect>,
    bump: Bump,
) -> Option<TokenChange> {
    let ty = after.values().chain(before.values()).next()?.ty;
    let modes: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let mut values = Vec::new();
    for mode in modes {
        let (then, now) = (before.get(mode).map(|t| &t.value), after.get(mode).map(|t| &t.value));
        let same = then.map(compared) == now.map(compared);
        // A mode that says what the default says has nothing to add.
        let told = !mode.is_empty()
            && [(then, before), (now, after)]
                .iter()
                .all(|(value, side)| value.map(compared) == side.get("").map(|t| compared(&t.value)));
        if told || (same && kind == ChangeKind::Changed) {
            continue;
        }
        values.push(Values {
            mode: mode.to_owned(),
            before: then.map(shown),
            after: now.map(shown),
            distance: then.zip(now).and_then(|(then, now)| distance(then, now)),
        });
    }
    Some(TokenChange { kind, id: id.to_owned(), was: was.map(str::to_owned), ty, aspects, values, bump })
}

/// What is not as it was, the gravest first. A reference that only follows a renamed token is the same.
fn aspects(before: &PerMode<'_>, after: &PerMode<'_>, renames: &BTreeMap<&str, &str>) -> Vec<Aspect> {
    let mut found = BTreeSet::new();
    // A mode of one side alone is told as a mode.
    for (then, now) in before.iter().filter_map(|(mode, then)| Some((then, after.get(mode)?))) {
        if then.ty != now.ty {
            found.insert(Aspect::Type);
        }
        let followed = then.alias.as_deref().map(|id| renames.get(id).copied().unwrap_or(id));
        if compared(&then.value) != compared(&now.value) {
            found.insert(Aspect::Value);
        } else if followed != now.alias.as_deref() {
            found.insert(Aspect::Reference);
        }
        if then.deprecated != now.deprecated {
            found.insert(Aspect::Deprecated);
        }
    }
    found.into_iter().collect()
}

/// How far apart two values are, where a number says it.
fn distance(one: &Value, other: &Value) -> Option<f64> {
    let found = match (one, other) {
        (Value::Color(a), Value::Color(b)) => a.distance(b),
        (Value::Dimension(Dimension { value: a, unit }), Value::Dimension(b)) if *unit == b.unit => {
            b.value - a
        }
        (Value::Duration(a), Value::Duration(b)) if a.unit == b.unit => b.value - a.value,
        (Value::Number(a), Value::Number(b)) => b - a,
        (Value::FontWeight(a), Value::FontWeight(b)) => b.0 - a.0,
        _ => return None,
    };
    Some((found * 1e4).round() / 1e4)
}

/// How alike two paths are, from 0 to 1: by the parts that they do not share at their front and end. A token that only went
/// to another group, or got one around it, is as good as the same.
fn likeness(from: &str, to: &str) -> f64 {
    let (mut a, mut b): (Vec<&str>, Vec<&str>) = (from.split('.').collect(), to.split('.').collect());
    let own_name = a.last() == b.last();
    while !a.is_empty() && a.first() == b.first() {
        a.remove(0);
        b.remove(0);
    }
    while !a.is_empty() && a.last() == b.last() {
        a.pop();
        b.pop();
    }
    if own_name || a.is_empty() || b.is_empty() {
        return 0.9;
    }
    strsim::jaro_winkler(&a.join("."), &b.join("."))
}

/// Which removed tokens are still there under another name: same type, same value in every mode, names that are alike.
fn renames<'c>(
    before: &'c Compiled,
    after: &'c Compiled,
    removed: &[&'c str],
    added: &[&'c str],
) -> BTreeMap<&'c str, &'c str> {
    let signature = |compiled: &'c Compiled, id: &str| -> String {
        let tokens = by_mode(compiled, id);
        let per_mode: Vec<String> = tokens
            .iter()
            .map(|(mode, token)| format!("{mode:?} {} {}", token.ty.name(), compared(&token.value)))
            .collect();
        per_mode.join("\n")
    };
    let mut alike: BTreeMap<String, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for id in removed {
        alike.entry(signature(before, id)).or_default().0.push(id);
    }
    for id in added {
        if let Some(both) = alike.get_mut(&signature(after, id)) {
            both.1.push(id);
        }
    }
    let mut found = BTreeMap::new();
    for (gone, come) in alike.into_values() {
        if gone.len() * come.len() > MOST_PAIRS {
            continue;
        }
        let needed = if gone.len() == 1 && come.len() == 1 { ALIKE_ALONE } else { ALIKE_AMONG };
        let mut pairs: Vec<(f64, &str, &str)> = gone
            .iter()
            .flat_map(|from| come.iter().map(move |to| (likeness(from, to), *from, *to)))
            .filter(|(score, ..)| *score >= needed)
            .collect();
        // The most alike first; equally alike ones by name, so that the answer is always the same.
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let mut taken = BTreeSet::new();
        for (_, from, to) in pairs {
            if !found.contains_key(from) && taken.insert(to) {
                found.insert(from, to);
            }
        }
    }
    found
}
