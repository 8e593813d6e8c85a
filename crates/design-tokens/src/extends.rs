//! `$extends`: a group takes over what its target holds; what it says itself wins.

use crate::diagnostic::{At, Diagnostics};
use crate::reference;
use crate::resolve::MAX_TOKENS;
use crate::tree::{Child, Group};

/// Expands every `$extends` in `root`. A group in a cycle, or one that extends its own ancestor, is an error.
pub(crate) fn expand(root: &mut Group, diagnostics: &mut Diagnostics) {
    let source = root.clone();
    group_references(root, &source);
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found);
    if found.is_empty() {
        return;
    }
    let source = root.clone();
    let mut made = 0;
    for path in &found {
        let mut open = Vec::new();
        let expanded = expanded(&source, path, &mut open, &mut made, diagnostics);
        if let (Some(group), Some(place)) = (expanded, group_mut(root, path)) {
            *place = group;
        }
    }
}

/// An object that is nothing but `$ref` is an alias when its target is a token, and extends it when that is a group.
fn group_references(group: &mut Group, source: &Group) {
    for child in group.children.values_mut() {
        match child {
            Child::Group(below) => group_references(below, source),
            Child::Token(token) if token.is_ref => {
                let Some((at, text)) =
                    token.value.get("$ref").and_then(|n| Some((n.at, n.string()?.to_owned())))
                else {
                    continue;
                };
                let path = reference::pointer(&text).unwrap_or_default();
                if matches!(source.find(&path), Some(Child::Group(_))) {
                    let description = token.description.clone();
                    let extends = Some((at, text));
                    *child = Child::Group(Group { at: token.at, description, extends, ..Group::default() });
                }
            }
            Child::Token(_) => {}
        }
    }
}

fn collect(group: &Group, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    if group.extends.is_some() {
        found.push(path.clone());
        // What lies below is expanded with it.
        return;
    }
    for (name, child) in &group.children {
        if let Child::Group(below) = child {
            path.push(name.clone());
            collect(below, path, found);
            path.pop();
        }
    }
}

fn group_mut<'g>(group: &'g mut Group, path: &[String]) -> Option<&'g mut Group> {
    let Some((first, rest)) = path.split_first() else { return Some(group) };
    match group.children.get_mut(first)? {
        Child::Group(below) => group_mut(below, rest),
        Child::Token(_) => None,
    }
}

fn group_at<'g>(root: &'g Group, path: &[String]) -> Option<&'g Group> {
    match path {
        [] => Some(root),
        _ => match root.find(path)? {
            Child::Group(group) => Some(group),
            Child::Token(_) => None,
        },
    }
}

/// The group at `path` with its own and its descendants' `$extends` expanded.
fn expanded(
    source: &Group,
    path: &[String],
    open: &mut Vec<Vec<String>>,
    made: &mut usize,
    diagnostics: &mut Diagnostics,
) -> Option<Group> {
    let group = group_at(source, path)?;
    *made += group.children.len() + 1;
    if *made > MAX_TOKENS {
        if *made < usize::MAX / 2 {
            diagnostics.error(group.at, "too-many-tokens", "the groups extend to too many tokens", "");
            // Said once.
            *made = usize::MAX / 2;
        }
        return None;
    }
    let mut result = group.clone();
    result.extends = None;
    open.push(path.to_vec());
    for (name, child) in &group.children {
        if matches!(child, Child::Group(_)) {
            let mut below = path.to_vec();
            below.push(name.clone());
            if let Some(done) = expanded(source, &below, open, made, diagnostics) {
                result.children.insert(name.clone(), Child::Group(done));
            }
        }
    }
    if let Some((at, text)) = &group.extends {
        let target = target(source, *at, text, diagnostics)?;
        let ancestor = path.starts_with(&target) || target.starts_with(path);
        if ancestor || open.contains(&target) {
            let shown = |p: &[String]| {
                if p.is_empty() { "the root".to_owned() } else { format!("{{{}}}", p.join(".")) }
            };
            let chain = open.iter().map(|p| shown(p)).collect::<Vec<_>>().join(" → ");
            let message = format!("the group extends itself: {chain} → {}", shown(&target));
            diagnostics.error(*at, "extends-cycle", message, "extend a group that lies elsewhere");
            open.pop();
            return None;
        }
        if let Some(mut base) = expanded(source, &target, open, made, diagnostics) {
            // What the target only inherits would be lost in its new place.
            if base.ty.is_none()
                && let Some(ty) = inherited_type(source, &target)
            {
                give_type(&mut base, &ty);
            }
            let own_description = result.description.clone();
            base.description = None;
            base.at = result.at;
            base.merge(result, diagnostics);
            base.description = own_description;
            base.extends = None;
            result = base;
        }
    }
    open.pop();
    Some(result)
}

/// Gives `ty` to the tokens below that have no type of their own or by a group below.
fn give_type(group: &mut Group, ty: &(At, String)) {
    for child in group.children.values_mut() {
        match child {
            Child::Token(token) if token.ty.is_none() => token.ty = Some(ty.clone()),
            Child::Group(below) if below.ty.is_none() => give_type(below, ty),
            _ => {}
        }
    }
}

fn inherited_type(source: &Group, path: &[String]) -> Option<(At, String)> {
    (0..path.len()).rev().find_map(|n| group_at(source, &path[..n]).and_then(|g| g.ty.clone()))
}

fn target(source: &Group, at: At, text: &str, diagnostics: &mut Diagnostics) -> Option<Vec<String>> {
    let parsed = match reference::curly(text) {
        Some(path) => path,
        None => reference::pointer(text),
    };
    let path = match parsed {
        Ok(path) => path,
        Err(why) => {
            let message = format!("{text:?} is not a reference to a group: {why}");
            diagnostics.error(at, "extends-reference", message, "write `{group}` or `#/group`");
            return None;
        }
    };
    match (path.is_empty(), source.find(&path)) {
        (true, _) | (_, Some(Child::Group(_))) => Some(path),
        (_, Some(Child::Token(_))) => {
            let message = format!("{text} is a token; only a group can be extended");
            diagnostics.error(at, "extends-token", message, "name the group that holds it");
            None
        }
        (_, None) => {
            diagnostics.error(
                at,
                "extends-missing",
                format!("there is no group {text}"),
                "check the spelling",
            );
            None
        }
    }
}
