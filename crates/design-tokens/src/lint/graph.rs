//! What the resolved tokens show: values that stand twice, long chains of aliases, references to what is deprecated, values in
//! some modes only, descriptions that are missing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Raw, View};
use crate::diagnostic::At;
use crate::diff;
use crate::emit;
use crate::resolve::{Token, Tokens};

/// Most links of a chain that a message names.
const LINKS: usize = 6;

/// All of it.
pub(super) fn check(view: &View<'_>, found: &mut Vec<Raw>) {
    duplicates(view, found);
    depths(view, found);
    deprecated(view, found);
    modes(view, found);
    descriptions(view, found);
}

/// Two tokens that refer to nothing, of one type and one group at the top, with one value in every mode.
fn duplicates(view: &View<'_>, found: &mut Vec<Raw>) {
    let compiled = &view.outcome.compiled;
    let mut first: BTreeMap<(&str, &str, Vec<Option<String>>), &str> = BTreeMap::new();
    for (id, token) in &compiled.tokens {
        if refers(token) || token.deprecated.is_some() {
            continue;
        }
        let value = |tokens: &Tokens| tokens.get(id).map(|token| diff::shown(&token.value));
        let values: Vec<Option<String>> = compiled.permutations().map(|(_, tokens)| value(tokens)).collect();
        let shown = values.first().cloned().flatten().unwrap_or_default();
        let group = token.path.first().map(String::as_str).unwrap_or_default();
        let key = (group, token.ty.name(), values);
        match first.get(&key) {
            None => {
                first.insert(key, id);
            }
            Some(other) => {
                let message = format!("{id} has the value of {other}, {}", cut(&shown));
                let advice = format!("refer to it, {{{other}}}, or keep one of them");
                found.extend(view.about(token.at, "duplicate-value", id, message, advice));
            }
        }
    }
}

/// A value as a message shows it.
fn cut(value: &str) -> String {
    const MOST: usize = 60;
    let mut text: String = value.chars().take(MOST).collect();
    if value.chars().count() > MOST {
        text.push('…');
    }
    text
}

fn refers(token: &Token) -> bool {
    let mut any = false;
    emit::references(token, &mut |_| any = true);
    any
}

/// Chains of aliases that are longer than they may be.
fn depths(view: &View<'_>, found: &mut Vec<Raw>) {
    let most = view.options.lint_alias_depth as usize;
    let mut told = BTreeSet::new();
    for (_, tokens) in view.outcome.compiled.permutations() {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (id, token) in tokens {
            let depth = depth(id, tokens, &mut known);
            if depth <= most || !told.insert(token.at) {
                continue;
            }
            let mut chain = vec![id.as_str()];
            while let Some(next) = chain.last().and_then(|id| tokens.get(*id)?.alias.as_deref()) {
                chain.push(next);
                if chain.len() == LINKS && depth >= LINKS {
                    chain.push("…");
                    break;
                }
            }
            let message = format!("{id} is {depth} aliases away from its value: {}", chain.join(" → "));
            let advice = format!("refer to a token nearer to the value; {most} are allowed");
            found.extend(view.about(token.at, "alias-depth", id, message, advice));
        }
    }
}

/// How many aliases a token is away from its value. The compiler has refused circles.
fn depth<'t>(id: &'t str, tokens: &'t Tokens, known: &mut BTreeMap<&'t str, usize>) -> usize {
    let mut chain = Vec::new();
    let mut here = id;
    let mut depth = loop {
        if let Some(depth) = known.get(here) {
            break *depth;
        }
        chain.push(here);
        match tokens.get(here).and_then(|token| token.alias.as_deref()) {
            Some(next) if chain.len() <= tokens.len() => here = next,
            _ => break usize::MAX,
        }
    };
    for id in chain.into_iter().rev() {
        depth = depth.wrapping_add(1);
        known.insert(id, depth);
    }
    depth
}

/// Tokens in use that refer to deprecated ones.
fn deprecated(view: &View<'_>, found: &mut Vec<Raw>) {
    let mut told = BTreeSet::new();
    for (_, tokens) in view.outcome.compiled.permutations() {
        for (id, token) in tokens {
            if token.deprecated.is_some() {
                continue;
            }
            emit::references(token, &mut |target| {
                let Some(reason) = tokens.get(target).and_then(|token| token.deprecated.as_ref()) else {
                    return;
                };
                if told.insert((token.at, target.to_owned())) {
                    let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {}", cut(reason)));
                    let message = format!("{id} refers to {target}, which is deprecated{why}");
                    let advice = "refer to what takes its place";
                    found.extend(view.about(token.at, "deprecated-use", id, message, advice));
                }
            });
        }
    }
}

/// Tokens that one mode gives a value of their own, and another does not that gives one to others of their group.
fn modes(view: &View<'_>, found: &mut Vec<Raw>) {
    let compiled = &view.outcome.compiled;
    if compiled.modes.len() < 2 {
        return;
    }
    let own = |token: &Token, tokens: &Tokens, id: &str| tokens.get(id).is_some_and(|t| t.at != token.at);
    let mut of_group: BTreeMap<&[String], BTreeSet<usize>> = BTreeMap::new();
    let mut of_token: Vec<(&str, At, &[String], BTreeSet<usize>)> = Vec::new();
    for (id, token) in &compiled.tokens {
        let modes = compiled.modes.iter().enumerate();
        let has: BTreeSet<usize> =
            modes.filter(|(_, mode)| own(token, &mode.tokens, id)).map(|(number, _)| number).collect();
        if has.is_empty() {
            continue;
        }
        let group = token.path.split_last().map(|(_, group)| group).unwrap_or_default();
        of_group.entry(group).or_default().extend(&has);
        of_token.push((id, token.at, group, has));
    }
    let named = |modes: &mut dyn Iterator<Item = usize>| -> String {
        let names = modes.filter_map(|number| compiled.modes.get(number));
        names.map(|mode| mode.options.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    for (id, at, group, has) in of_token {
        let missing =
            named(&mut of_group.get(group).into_iter().flatten().copied().filter(|m| !has.contains(m)));
        if !missing.is_empty() {
            let message = format!(
                "{id} has a value of its own in {}, and none in {missing}, where others of its group have",
                named(&mut has.iter().copied())
            );
            let advice = format!("give it one in {missing}, if the default's is not meant");
            found.extend(view.about(at, "mode-missing", id, message, advice));
        }
    }
}

/// Tokens that nothing is said of.
fn descriptions(view: &View<'_>, found: &mut Vec<Raw>) {
    let mut seen = BTreeSet::new();
    for (_, tokens) in view.outcome.compiled.permutations() {
        for (id, token) in tokens {
            let is_said = token.description.as_deref().is_some_and(|text| !text.trim().is_empty());
            if seen.insert(id.as_str()) && !is_said {
                let message = format!("{id} has no description");
                found.extend(view.about(token.at, "missing-description", id, message, "add `$description`"));
            }
        }
    }
}
