//! The document of an API.

use std::collections::BTreeMap;

use super::Body;
use super::openapi::{Api, Field, Operation, Type, read};
use crate::mark::Source;
use crate::md::{code, head, row, text};

/// Most descriptions of one document.
const MAX_APIS: usize = 8;

pub(super) fn body(sources: &[(Source, String)]) -> Body {
    let (mut apis, mut left_out) = (Vec::new(), Vec::new());
    for (source, content) in sources {
        let path = &source.path;
        match super::data::read(path, content).and_then(|value| read(&value)) {
            Ok(_) if apis.len() == MAX_APIS => {
                left_out.push(format!("{path}: only {MAX_APIS} descriptions are shown"));
            }
            Ok(api) => {
                if api.more > 0 {
                    left_out.push(format!("{path}: {} operations and types more than are shown", api.more));
                }
                apis.push((path, api));
            }
            Err(why) => left_out.push(format!("{path}: {why}")),
        }
    }
    let mut out = String::from("# API\n\n");
    for (path, api) in &apis {
        let title = if api.title.trim().is_empty() { code(path) } else { text(&api.title, 200) };
        let version =
            if api.version.is_empty() { String::new() } else { format!(" {}", text(&api.version, 60)) };
        out.push_str(&format!("## {title}{version}\n\nDescribed in {}.", code(path)));
        if !api.servers.is_empty() {
            let servers: Vec<String> = api.servers.iter().take(10).map(|s| code(s)).collect();
            out.push_str(&format!(" Served at {}.", servers.join(", ")));
        }
        out.push_str("\n\n");
        if !api.about.trim().is_empty() {
            out.push_str(&format!("{}\n\n", text(&api.about, 1_000)));
        }
        operations(api, &mut out);
        types(api, &mut out);
    }
    Body { says: !apis.is_empty(), text: out, left_out }
}

/// Operations by tag, in the order of tags as they come.
fn operations(api: &Api, out: &mut String) {
    let mut order: Vec<&str> = Vec::new();
    let mut by_tag: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
    for operation in &api.operations {
        if !by_tag.contains_key(operation.tag.as_str()) {
            order.push(&operation.tag);
        }
        by_tag.entry(&operation.tag).or_default().push(operation);
    }
    for tag in order {
        let name = if tag.is_empty() { "Operations".to_owned() } else { text(tag, 100) };
        out.push_str(&format!("### {name}\n\n"));
        for operation in by_tag.get(tag).into_iter().flatten() {
            one(operation, out);
        }
    }
}

fn one(operation: &Operation, out: &mut String) {
    out.push_str(&format!("#### {}\n\n", code(&format!("{} {}", operation.method, operation.path))));
    let mut lines = Vec::new();
    if operation.is_deprecated {
        lines.push("Deprecated.".to_owned());
    }
    if !operation.summary.trim().is_empty() {
        lines.push(text(&operation.summary, 400));
    }
    if let Some((kind, is_required)) = &operation.body {
        let must = if *is_required { "" } else { ", optional" };
        lines.push(format!("Body: {}{must}.", if kind.is_empty() { "any".to_owned() } else { code(kind) }));
    }
    if !lines.is_empty() {
        out.push_str(&format!("{}\n\n", lines.join("\n\n")));
    }
    if !operation.parameters.is_empty() {
        out.push_str(&head(&["parameter", "in", "type", "required", "meaning"]));
        for field in &operation.parameters {
            let [name, kind, must, about] = cells(field);
            out.push_str(&row(&[name, text(&field.place, 20), kind, must, about]));
        }
        out.push('\n');
    }
    if !operation.answers.is_empty() {
        out.push_str(&head(&["answer", "type", "meaning"]));
        for (status, about, kind) in &operation.answers {
            out.push_str(&row(&[code(status), code(kind), text(about, 200)]));
        }
        out.push('\n');
    }
}

fn cells(field: &Field) -> [String; 4] {
    let must = if field.is_required { "yes" } else { "no" };
    [code(&field.name), code(&field.kind), must.to_owned(), text(&field.about, 200)]
}

fn types(api: &Api, out: &mut String) {
    if api.types.is_empty() {
        return;
    }
    out.push_str("### Types\n\n");
    for Type { name, kind, about, fields } in &api.types {
        out.push_str(&format!("#### {}\n\n", code(name)));
        if !about.trim().is_empty() {
            out.push_str(&format!("{}\n\n", text(about, 400)));
        }
        if fields.is_empty() {
            let kind = if kind.is_empty() { "Any value".to_owned() } else { code(kind) };
            out.push_str(&format!("{kind}.\n\n"));
            continue;
        }
        out.push_str(&head(&["property", "type", "required", "meaning"]));
        for field in fields {
            out.push_str(&row(&cells(field)));
        }
        out.push('\n');
    }
}
