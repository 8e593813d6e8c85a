//! Spellings of older dialects and types that are missing, and how they are written today.

use std::collections::{BTreeMap, BTreeSet};

use super::edit::{Edit, Repair};
use super::source::{Doc, Kind, Node, Site};
use super::{Raw, View, convert};
use crate::tree::Dialect;
use crate::value::Type;

/// What the compiler says of files of the stable format gets its repairs; files of older dialects are looked at here.
pub(super) fn check(view: &View<'_>, found: &mut Vec<Raw>, repairs: &mut Vec<Repair>) {
    let types = resolved(view);
    stable(view, &types, found, repairs);
    let plain: Vec<&Site<'_>> = view.sites.tokens().filter(|site| site.dialect == Dialect::Plain).collect();
    if plain.is_empty() {
        return;
    }
    let groups = typed_groups(view);
    let repair = migration(view, &types, &groups).map(|repair| {
        repairs.push(repair);
        repairs.len() - 1
    });
    for site in plain {
        older(site, &groups, repair, found);
    }
}

/// The type that each token came to have, by where it stands.
type Types = BTreeMap<(usize, usize), Type>;

fn resolved(view: &View<'_>) -> Types {
    let tokens = view.outcome.compiled.permutations().flat_map(|(_, tokens)| tokens.values());
    tokens.filter_map(|token| Some((view.outcome.diagnostics.byte(token.at)?, token.ty))).collect()
}

/// Repairs for what the compiler found in files of the stable format.
fn stable(view: &View<'_>, types: &Types, found: &mut [Raw], repairs: &mut Vec<Repair>) {
    let of_group = group_types(view);
    let mut siblings = BTreeMap::new();
    let mut of_token: BTreeMap<(usize, usize, &str), Option<usize>> = BTreeMap::new();
    for raw in found.iter_mut() {
        let Some(site) = view.sites.token_around(raw.file, raw.byte) else {
            if raw.code == "legacy-type" {
                let own = of_group.get(&(raw.file, raw.byte)).zip(view.docs.get(raw.file));
                let edit = own.and_then(|(own, doc)| type_edit(raw.file, doc, own, None));
                raw.repair = kept(edit.map(|edit| vec![edit]), repairs);
            }
            continue;
        };
        let Some(doc) = view.docs.get(site.file).filter(|_| site.dialect == Dialect::Dtcg) else { continue };
        let place = (site.file, site.key.start, raw.code);
        if let Some(known) = of_token.get(&place) {
            raw.repair = *known;
            continue;
        }
        let edits = match raw.code {
            "legacy-value" => {
                let ty = types.get(&(site.file, site.key.start));
                site.value().zip(ty).map(|(value, ty)| {
                    let mut edits = Vec::new();
                    convert::value(site.file, doc, &value.value, *ty, false, &mut edits);
                    edits
                })
            }
            "legacy-type" => {
                site.own_type().and_then(|own| type_edit(site.file, doc, &own.value, None)).map(|e| vec![e])
            }
            "missing-type" => missing_type(doc, site, &mut siblings).map(|edit| vec![edit]),
            _ => continue,
        };
        raw.repair = kept(edits, repairs);
        of_token.insert(place, raw.repair);
    }
}

fn kept(edits: Option<Vec<Edit>>, repairs: &mut Vec<Repair>) -> Option<usize> {
    let edits = edits.filter(|edits| !edits.is_empty())?;
    repairs.push(Repair { edits, renames: Vec::new() });
    Some(repairs.len() - 1)
}

/// What says the types of groups, by where it stands.
fn group_types<'v>(view: &View<'v>) -> BTreeMap<(usize, usize), &'v Node> {
    let groups = view.sites.all.iter().filter(|site| !site.is_token).map(|site| (site.file, site.node));
    let all = groups.chain(view.sites.roots.iter().map(|(file, root, _)| (*file, *root)));
    let types = all.filter_map(|(file, group)| Some((file, group.get("$type")?)));
    types.map(|(file, ty)| ((file, ty.range.start), ty)).collect()
}

/// The format's name for a type that a file calls otherwise. `known` is what the value came to be.
fn type_edit(file: usize, doc: &Doc, own: &Node, known: Option<Type>) -> Option<Edit> {
    let text = own.text()?;
    let ty =
        known.or_else(|| Type::named(text)).or_else(|| Type::legacy(text)).filter(|ty| *ty != Type::Text)?;
    let inside = doc.inside(&own.range, text)?;
    (ty.name() != text).then(|| Edit::new(file, inside, ty.name()))
}

/// The type of a token that has none: certain by its value's form, or that of all its siblings where the value fits it.
fn missing_type(
    doc: &Doc,
    site: &Site<'_>,
    siblings: &mut BTreeMap<(usize, usize), Option<Type>>,
) -> Option<Edit> {
    let value = site.value()?;
    let ty = convert::certain(doc, &value.value).or_else(|| {
        let only = siblings.entry((site.file, site.parent.range.start)).or_insert_with(|| {
            let types = site.parent.members().iter().filter_map(|member| member.value.get("$type")?.text());
            let types: BTreeSet<&str> = types.collect();
            types.first().filter(|_| types.len() == 1).and_then(|name| Type::named(name))
        });
        only.filter(|only| convert::is_clean(doc.written(&value.value.range), *only))
    })?;
    Some(typed(doc, site, ty))
}

/// Puts a type in front of a token's value, written as the members around it are.
fn typed(doc: &Doc, site: &Site<'_>, ty: Type) -> Edit {
    let at = site.value().map_or(site.node.range.start + 1, |value| value.at.start);
    let before = doc.text.get(..at).unwrap_or_default();
    let indent = before.rsplit('\n').next().unwrap_or_default();
    let gap = if before.contains('\n') && indent.chars().all(char::is_whitespace) {
        format!("{}{indent}", if before.ends_with(&format!("\r\n{indent}")) { "\r\n" } else { "\n" })
    } else {
        " ".to_owned()
    };
    Edit::new(site.file, at..at, format!("\"$type\": \"{}\",{gap}", ty.name()))
}

/// The groups that have a type, of every file.
fn typed_groups(view: &View<'_>) -> BTreeSet<Vec<String>> {
    let has = |node: &Node, plain: bool| {
        node.get("$type").is_some() || (plain && node.get("type").is_some_and(|ty| ty.text().is_some()))
    };
    let groups = view.sites.all.iter().filter(|site| !site.is_token);
    let groups =
        groups.filter(|site| has(site.node, site.dialect == Dialect::Plain)).map(|site| site.path.clone());
    let roots = view.sites.roots.iter().filter(|(_, root, dialect)| has(root, *dialect == Dialect::Plain));
    groups.chain(roots.map(|_| Vec::new())).collect()
}

/// Whether a token of an older dialect gets its type from itself, a reference or a group.
fn is_typed(site: &Site<'_>, typed: &BTreeSet<Vec<String>>) -> bool {
    site.own_type().is_some()
        || site.value().and_then(|value| value.value.text()).is_some_and(convert::is_reference)
        || (0..site.path.len()).any(|length| site.path.get(..length).is_some_and(|path| typed.contains(path)))
}

/// What is old about one token of an older dialect.
fn older(site: &Site<'_>, typed: &BTreeSet<Vec<String>>, repair: Option<usize>, found: &mut Vec<Raw>) {
    let id = site.id();
    let mut add = |code, byte, message, advice: String| {
        let token = Some(id.clone());
        found.push(Raw { code, file: site.file, byte, token, message, advice, repair, is_error: false });
    };
    if let Some(value) = site.value() {
        let message = format!("{id} has its value as `value`, as older dialects do");
        add("legacy-value", value.value.range.start, message, "write `$value`, in every file at once".into());
    }
    if let Some(own) = site.own_type() {
        let name = own.value.text().unwrap_or_default();
        let (message, advice) = match Type::named(name).or_else(|| Type::legacy(name)) {
            Some(ty) if ty.name() == name => {
                (format!("{id} has its type as `type`, as older dialects do"), "write `$type`".to_owned())
            }
            Some(ty) if ty != Type::Text => {
                (format!("{name:?} is not a type of the format"), format!("write {:?} as `$type`", ty.name()))
            }
            _ => (
                format!("{name:?} is not a type of the format"),
                "its values are passed on as text".to_owned(),
            ),
        };
        if own.key != "$type" || Type::named(name).is_none() {
            add("legacy-type", own.value.range.start, message, advice);
        }
    }
    if !is_typed(site, typed) {
        let message = format!("{id} has no type of its own, by reference or by group; it is guessed");
        add("missing-type", site.key.start, message, "add a type".into());
    }
}

/// Every file of an older dialect in the stable format's spelling. They go together: other programs read a source in one dialect.
fn migration(view: &View<'_>, types: &Types, typed_groups: &BTreeSet<Vec<String>>) -> Option<Repair> {
    let ids: BTreeSet<String> = view.sites.tokens().map(Site::id).collect();
    let mut edits = Vec::new();
    for (file, root, dialect) in &view.sites.roots {
        if *dialect == Dialect::Plain {
            members(*file, view.docs.get(*file)?, root, false, &mut edits)?;
        }
    }
    for site in view.sites.all.iter().filter(|site| site.dialect == Dialect::Plain) {
        let doc = view.docs.get(site.file)?;
        members(site.file, doc, site.node, site.is_token, &mut edits)?;
        let known = types.get(&(site.file, site.key.start)).copied();
        if let Some(own) = site.own_type() {
            edits.extend(type_edit(site.file, doc, &own.value, known.filter(|_| site.is_token)));
        }
        let Some(value) = site.value().filter(|_| site.is_token) else { continue };
        if let Some(ty) = known.filter(|ty| *ty != Type::Text) {
            if !is_typed(site, typed_groups) {
                edits.push(typed(doc, site, ty));
            }
            convert::value(site.file, doc, &value.value, ty, true, &mut edits);
        }
        unsuffixed(site.file, doc, &value.value, &ids, &mut edits)?;
    }
    (!edits.is_empty()).then_some(Repair { edits, renames: Vec::new() })
}

/// The format's names for the properties of a token or group. `None`: one of them has no place there.
fn members(file: usize, doc: &Doc, node: &Node, is_token: bool, edits: &mut Vec<Edit>) -> Option<()> {
    for member in node.members() {
        let name = match member.key.as_str() {
            "value" if is_token => "$value",
            "type" if is_token || member.value.text().is_some() => "$type",
            "comment" | "description" if is_token || member.value.text().is_some() => "$description",
            "deprecated" if is_token => "$deprecated",
            "deprecated_comment" if is_token => return None,
            _ => continue,
        };
        let inside = doc.inside(&member.at, &member.key)?;
        edits.push(Edit::new(file, inside, name));
    }
    Some(())
}

/// References without the `.value` at their end that older files of Style Dictionary have.
fn unsuffixed(
    file: usize,
    doc: &Doc,
    node: &Node,
    ids: &BTreeSet<String>,
    edits: &mut Vec<Edit>,
) -> Option<()> {
    if let Kind::Text(text) = &node.kind {
        // What was converted refers to nothing.
        let mut from = 0;
        while let Some(open) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at + 1) {
            let Some(close) = text.get(open..).and_then(|rest| rest.find('}')).map(|at| open + at) else {
                break;
            };
            from = close + 1;
            let path = text.get(open..close).unwrap_or_default();
            let Some(bare) = path.trim_end().strip_suffix(".value") else { continue };
            if !ids.contains(path.trim()) && ids.contains(bare.trim()) {
                let inside = doc.inside(&node.range, text)?;
                let end = inside.start + open + bare.len();
                edits.push(Edit::new(file, end..end + ".value".len(), ""));
            }
        }
    }
    let below = node.items().iter().chain(node.members().iter().map(|member| &member.value));
    for node in below {
        unsuffixed(file, doc, node, ids, edits)?;
    }
    Some(())
}
