//! What must hold of whole repositories and any text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::indexing_slicing, reason = "tests may panic")]
#![allow(clippy::disallowed_methods, reason = "tests look at this repository itself")]
#![allow(unreachable_pub, reason = "shared with the example")]

mod audits;
mod disk;
mod generated;
mod properties;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use gatewright_documents::{
    Audited, Entry, EntryKind, Ground, Look, LookError, audit, capabilities, defaults, heal,
};

/// A repository in memory.
#[derive(Debug, Clone, Default)]
pub struct Files(pub BTreeMap<String, String>);

impl Files {
    fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }
}

impl Look for Files {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        Ok(self.0.get(path).map(|text| text.clone().into_bytes()))
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let begin = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let below = self.0.range(begin.clone()..).map_while(|(path, _)| path.strip_prefix(begin.as_str()));
        let entries: BTreeSet<Entry> = below
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => Entry { name: folder.to_owned(), kind: EntryKind::Folder },
                None => Entry { name: rest.to_owned(), kind: EntryKind::File },
            })
            .collect();
        Ok(entries.into_iter().collect())
    }
}

/// Audits a repository by the defaults.
fn audited(files: &Files) -> Vec<Audited> {
    let ground = Ground::survey(files).unwrap();
    audit(&ground, &defaults(), &capabilities(&ground), &|_| None)
}

/// Heals what can be healed; the paths that were written.
fn healed(files: &mut Files) -> Vec<String> {
    let before = files.clone();
    let ground = Ground::survey(&before).unwrap();
    let mut written = Vec::new();
    for said in audit(&ground, &defaults(), &capabilities(&ground), &|_| None) {
        let requirement = defaults().into_iter().find(|r| r.name == said.name).unwrap();
        if let Some((Some(path), made)) = heal(&ground, &requirement, &said) {
            files.0.insert(path.clone(), made.text);
            written.push(path);
        }
    }
    written
}

/// A project with an API and a database.
fn project() -> Files {
    Files::of(&[
        ("README.md", "# Acme\n\n[![x](y)](z)\n\nAcme keeps the shop's books in order.\n"),
        ("Cargo.toml", "[package]\nname = \"acme\"\nversion = \"0.1.0\"\nrust-version = \"1.85\"\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("Makefile", ".PHONY: test\n## runs <b>all</b> | tests\ntest:\n\tcargo test\n"),
        (
            "api/openapi.yaml",
            "openapi: 3.1.0\ninfo: {title: Acme, version: '1'}\npaths:\n  /orders/{id}:\n    get:\n      summary: One order\n      parameters:\n        - {name: id, in: path, required: true, schema: {type: integer, format: int64}}\n      responses:\n        '200': {description: Found, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}\ncomponents:\n  schemas:\n    Order:\n      type: object\n      required: [id]\n      properties:\n        id: {type: integer}\n        state: {enum: [open, paid]}\n",
        ),
        (
            "db/migrations/0001_orders.sql",
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL);\n",
        ),
    ])
}
