//! Which module format a folder's files are, by the nearest `package.json`.

use std::collections::BTreeMap;

use super::json::Json;
use super::manifest::nested;
use super::message::Format;
use crate::packed::Packed;

/// The folders that have a `package.json` which can be read, as a tree by path component. A look-up walks a path once, so
/// paths of a hostile archive cost what they are long.
pub(super) struct Scopes<'a> {
    nodes: Vec<Node<'a>>,
}

#[derive(Default)]
struct Node<'a> {
    below: BTreeMap<&'a str, usize>,
    format: Option<Format>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new(packed: &'a Packed) -> Self {
        let mut scopes = Self { nodes: vec![Node::default()] };
        for (path, file) in packed.iter() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            // One that cannot be read is passed over, and the next one above counts.
            if let Some(manifest) = (name == "package.json").then(|| nested(&file.bytes)).flatten() {
                let is_module = manifest.get("type").and_then(Json::text) == Some("module");
                scopes.put(folder, if is_module { Format::Esm } else { Format::Cjs });
            }
        }
        scopes
    }

    fn put(&mut self, folder: &'a str, format: Format) {
        let mut at = 0;
        for name in components(folder) {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = *node.below.entry(name).or_insert(next);
            if at == next {
                self.nodes.push(Node::default());
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.format = Some(format);
        }
    }

    /// The format of files in a folder that say nothing themselves.
    pub(super) fn format(&self, folder: &str) -> Format {
        let mut found = None;
        let mut node = self.nodes.first();
        let mut names = components(folder);
        while let Some(here) = node {
            found = here.format.or(found);
            node = names.next().and_then(|name| here.below.get(name)).and_then(|at| self.nodes.get(*at));
        }
        found.unwrap_or(Format::Cjs)
    }
}

fn components(folder: &str) -> impl Iterator<Item = &str> {
    folder.split('/').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_manifest_that_can_be_read_decides() {
        let packed = Packed::new()
            .with("package.json", r#"{"type":"module"}"#)
            .with("a/package.json", "{}")
            .with("a/b/package.json", "{")
            .with("a/b/c/package.json", r#"{"type":"module"}"#)
            .with("d/package.json", "null");
        let scopes = Scopes::new(&packed);
        for (folder, format) in [
            ("", Format::Esm),
            ("x/y", Format::Esm),
            ("a", Format::Cjs),
            ("a/b", Format::Cjs),
            ("a/b/c/d", Format::Esm),
            ("a/bc", Format::Cjs),
            ("d", Format::Cjs),
        ] {
            assert_eq!(scopes.format(folder), format, "{folder}");
        }
    }
}
