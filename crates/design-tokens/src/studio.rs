//! Tokens Studio's themes: which sets are in force, and colours that are modified.
//!
//! A theme belongs to a group (`theme` where it names none); one theme of each group is in force, the first unless
//! `contexts` chooses another, just as one context of each modifier of a resolver document is. The sets that the themes
//! in force have switched on are merged in the order of `tokenSetOrder`. Sets that a theme has as `source` only are
//! written too: what refers to them needs them.

use std::collections::BTreeMap;

use crate::compile::Loader;
use crate::diagnostic::{At, Diagnostics};
use crate::json::{self, Node};
use crate::resolve::Map;
use crate::tree::{self, Group};

/// The group of a theme that names none.
const GROUP: &str = "theme";

/// The themes of `root`: a `$themes.json`, or the `$themes` of a single file.
fn themes(root: &Node) -> Option<&[Node]> {
    let all = root.array().or_else(|| root.get("$themes")?.array())?;
    all.iter().any(|theme| theme.get("selectedTokenSets").is_some()).then_some(all)
}

/// Whether `root` has themes.
pub(crate) fn has_themes(root: &Node) -> bool {
    themes(root).is_some()
}

/// Reads the tree of the themes that `chosen` (group to theme) puts in force.
pub(crate) fn tree(
    name: &str,
    root: &Node,
    chosen: &BTreeMap<String, String>,
    loader: &dyn Loader,
    diagnostics: &mut Diagnostics,
) -> Group {
    let mut groups: Map<Vec<&Node>> = Map::default();
    for theme in themes(root).unwrap_or_default() {
        let group = theme.get("group").and_then(Node::string).filter(|g| !g.is_empty()).unwrap_or(GROUP);
        groups.entry(group.to_owned()).or_default().push(theme);
    }
    for (group, theme) in chosen {
        check_choice(root.at, &groups, group, theme, diagnostics);
    }
    let in_force: Vec<&Node> = groups
        .iter()
        .filter_map(|(group, themes)| {
            let wanted = chosen.iter().find(|(g, _)| g.eq_ignore_ascii_case(group)).map(|(_, theme)| theme);
            wanted.map_or(themes.first(), |name| themes.iter().find(|t| is_called(t, name))).copied()
        })
        .collect();
    let mut merged = Group { at: root.at, ..Group::default() };
    for set in ordered(name, root, &in_force, loader, diagnostics) {
        let group = if root.array().is_some() {
            let Some(node) = file(name, &set, root.at, loader, diagnostics) else { continue };
            tree::read(&node, diagnostics)
        } else {
            match root.get(&set) {
                Some(node) => tree::read(node, diagnostics),
                None => {
                    missing(root.at, &set, "there is no such set", diagnostics);
                    continue;
                }
            }
        };
        merged.merge(group, diagnostics);
    }
    merged
}

fn is_called(theme: &Node, name: &str) -> bool {
    theme.get("name").and_then(Node::string).is_some_and(|n| n.eq_ignore_ascii_case(name))
}

fn check_choice(at: At, groups: &Map<Vec<&Node>>, group: &str, theme: &str, diagnostics: &mut Diagnostics) {
    let Some((_, themes)) = groups.iter().find(|(g, _)| g.eq_ignore_ascii_case(group)) else {
        let known = groups.keys().cloned().collect::<Vec<_>>().join(", ");
        let message = format!("there is no group of themes {group:?}");
        return diagnostics.error(at, "studio-theme", message, format!("the groups are {known}"));
    };
    if !themes.iter().any(|t| is_called(t, theme)) {
        let known: Vec<&str> = themes.iter().filter_map(|t| t.get("name")?.string()).collect();
        let message = format!("there is no theme {theme:?} in the group {group:?}");
        diagnostics.error(at, "studio-theme", message, format!("the themes are {}", known.join(", ")));
    }
}

/// The sets that are in force, in the order in which they are laid over each other.
fn ordered(
    name: &str,
    root: &Node,
    in_force: &[&Node],
    loader: &dyn Loader,
    diagnostics: &mut Diagnostics,
) -> Vec<String> {
    let mut selected: Vec<String> = Vec::new();
    for theme in in_force {
        for (set, (_, state)) in theme.get("selectedTokenSets").and_then(Node::object).into_iter().flatten() {
            if matches!(state.string(), Some("enabled" | "source")) && !selected.contains(set) {
                selected.push(set.clone());
            }
        }
    }
    let metadata = match root.array() {
        None => root.get("$metadata").cloned(),
        Some(_) => loader
            .relative(name, "$metadata.json")
            .ok()
            .and_then(|(name, text)| json::parse(&name, &text, diagnostics)),
    };
    let order = metadata.as_ref().and_then(|m| m.get("tokenSetOrder")?.array()).unwrap_or_default();
    let place = |set: &String| order.iter().position(|n| n.string() == Some(set)).unwrap_or(usize::MAX);
    selected.sort_by_key(place);
    selected
}

fn file(name: &str, set: &str, at: At, loader: &dyn Loader, diagnostics: &mut Diagnostics) -> Option<Node> {
    match loader.relative(name, &format!("{set}.json")) {
        Ok((name, text)) => json::parse(&name, &text, diagnostics),
        Err(why) => {
            missing(at, set, &why, diagnostics);
            None
        }
    }
}

fn missing(at: At, set: &str, why: &str, diagnostics: &mut Diagnostics) {
    let message = format!("a theme has the set {set:?}: {why}");
    diagnostics.error(at, "studio-set", message, "add the set, or take it out of the theme");
}

/// How a token's colour is modified: `$extensions` → `studio.tokens` → `modify`.
pub(crate) fn modifier(extensions: &Node) -> Option<&Node> {
    extensions.get("studio.tokens")?.get("modify").filter(|m| m.object().is_some())
}
